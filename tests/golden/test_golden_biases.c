/* ALiBi, T5's buckets and Swin's indices against the field's own code: every row of their tables, counted. */
#include "../golden.h"

/* ---- ALiBi (e_*) ------------------------------------------------------------------------------------------------- */

static rs_encoding *encode_alibi(size_t heads, size_t length, const char *settings) {
  rs_model model = plain_model(64, 1e4, 2048);
  model.heads = heads;
  return encode("alibi", settings, &model, length);
}

/* MPT raises 2 to each power; the original and bloom multiply up, which costs them 5.4e-15 by head 110 of 112. */
static const struct {
  const char *column;
  double tolerance;
} slopes[] = {{"slope_mpt_f64", 1e-15}, {"slope_orig_f64", 1e-14}, {"slope_bloom_f64", 1e-14},
              {"slope_mpt_f32", 5e-6},  {"slope_bloom_f32", 5e-6}, {"slope_ggml_f32", 5e-6}};

Test(golden, alibi_slopes__original_bloom_mpt__agree) {
  rs_table *table = golden_read("e_alibi_slopes.csv");
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "n_heads");
    size_t heads = golden_size(table, begin, "n_heads");
    rs_encoding *encoding = encode_alibi(heads, 1, "");
    cr_assert_leq(end - begin, heads);
    for (size_t row = begin; row < end; row++)
      for (size_t i = 0; i < RS_COUNT(slopes); i++) {
        size_t head = golden_size(table, row, "head");
        double expected = golden_number(table, row, slopes[i].column), got = encoding->bias_table[head];
        cr_assert(close_to(got, expected, slopes[i].tolerance, 0), "%zu heads, head %zu, %s: got %.17g, expected %.17g",
                  heads, head, slopes[i].column, got, expected);
      }
    rs_encoding_free(encoding);
  }
  rs_table_free(table);
}

/* Each form against the code that has it. */
static const struct {
  const char *column, *settings;
  double tolerance;
} biases[] = {{"bias_distance_f64", "", 1e-15},
              {"bias_bloom_f64", "bias_form=position", 1e-15},
              {"bias_bloom_f32", "bias_form=position", 5e-6},
              {"bias_orig_fairseq_f32", "bias_form=position", 5e-6},
              {"bias_mpt_f32", "bias_form=end", 5e-6}};

static void compare_bias(const rs_table *table, size_t begin, size_t end, size_t form) {
  size_t heads = golden_size(table, begin, "n_heads"), length = golden_size(table, begin, "n");
  size_t head = golden_size(table, begin, "head"), query = golden_size(table, begin, "i_query");
  rs_encoding *encoding = encode_alibi(heads, length, biases[form].settings);
  double row_of_bias[64];
  cr_assert(end - begin == query + 1 && length <= RS_COUNT(row_of_bias), "row %zu: %zu keys", begin, end - begin);
  rs_encoding_bias_row(encoding, head, query, 0, query + 1, row_of_bias);
  for (size_t row = begin; row < end; row++) {
    size_t key = golden_size(table, row, "j_key");
    double expected = golden_number(table, row, biases[form].column), got = row_of_bias[key];
    cr_assert(close_to(got, expected, biases[form].tolerance, 0),
              "%zu heads, head %zu, query %zu, key %zu, %s: got %.17g, expected %.17g", heads, head, query, key,
              biases[form].column, got, expected);
  }
  rs_encoding_free(encoding);
}

Test(golden, alibi_bias__each_form__agrees_with_its_code) {
  rs_table *table = golden_read("e_alibi_bias.csv");
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "case,head,i_query");
    for (size_t form = 0; form < RS_COUNT(biases); form++) compare_bias(table, begin, end, form);
  }
  rs_table_free(table);
}

/* Bloom counts positions over the mask: what is attended has the bias of a context of its own. */
Test(golden, alibi_bloom_padding__attended_keys__are_a_context_of_their_own) {
  rs_table *table = golden_read("e_alibi_bloom_padding.csv");
  size_t padded = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    unsigned heads, head;
    cr_assert_eq(sscanf(golden_text(table, begin, "n_heads"), "%u:%u", &heads, &head), 2);
    end = golden_run(table, begin, "n_heads,row");
    size_t attended = 0, rank = 0;
    for (size_t row = begin; row < end; row++) attended += golden_size(table, row, "mask");
    rs_encoding *encoding = encode_alibi(heads, attended, "bias_form=position");
    for (size_t row = begin; row < end; row++) {
      double bias;
      if (golden_size(table, row, "mask") == 0) continue;
      rs_encoding_bias_row(encoding, head, attended - 1, rank, rank + 1, &bias);
      cr_assert(close_to(bias, golden_number(table, row, "bias_bloom_f32"), 5e-6, 0), "row %zu: got %g", row, bias);
      rank++;
    }
    padded += attended < end - begin;
    rs_encoding_free(encoding);
  }
  cr_assert_gt(padded, 0u);
  rs_table_free(table);
}

/* ---- learned tables (f_*) ---------------------------------------------------------------------------------------- */

/* One head whose table holds its own indices: the bias is the index. */
static rs_encoding *encode_indices(const char *method, const char *settings, size_t rows, size_t length,
                                   const rs_token_layout *tokens) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_recipe recipe = make_recipe(method, settings);
  double *indices = calloc(rows, sizeof *indices);
  for (size_t i = 0; i < rows; i++) indices[i] = (double)i;
  recipe_set_list(&recipe, "values", indices, rows);
  rs_encoding *encoding = encode_recipe(&recipe, &model, length, tokens);
  cr_assert_eq(encoding->bias_size, rows, "%s: %zu rows", method, encoding->bias_size);
  rs_recipe_clear(&recipe);
  free(indices);
  return encoding;
}

Test(golden, t5_buckets__every_relative_position__exact) {
  enum { FARTHEST = 400 };
  rs_table *table = golden_read("f_t5_bucket.csv");
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    char settings[128];
    end = golden_run(table, begin, "case");
    size_t buckets = golden_size(table, begin, "num_buckets");
    snprintf(settings, sizeof settings, "num_buckets=%zu max_distance=%zu bidirectional=%s", buckets,
             golden_size(table, begin, "max_distance"), golden_size(table, begin, "bidirectional") ? "true" : "false");
    rs_encoding *encoding = encode_indices("t5", settings, buckets, 2 * FARTHEST + 1, NULL);
    for (size_t row = begin; row < end; row++) {
      double relative = golden_number(table, row, "relative_position"), bucket;
      cr_assert_leq(fabs(relative), FARTHEST);
      size_t key = (size_t)(FARTHEST + relative);
      rs_encoding_bias_row(encoding, 0, FARTHEST, key, key + 1, &bucket);
      cr_assert_eq(bucket, golden_number(table, row, "bucket_f32"), "%s, %g: bucket %g", settings, relative, bucket);
      cr_assert_eq(bucket, golden_number(table, row, "bucket_f64"), "%s, %g: bucket %g", settings, relative, bucket);
    }
    rs_encoding_free(encoding);
  }
  rs_table_free(table);
}

/* The picture stands after some text, and before some. */
Test(golden, swin_indices__every_window__exact) {
  enum { BEFORE = 3, AFTER = 2 };
  rs_table *table = golden_read("f_swin_index.csv");
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    unsigned height, width;
    cr_assert_eq(sscanf(golden_text(table, begin, "case"), "%ux%u", &height, &width), 2);
    end = golden_run(table, begin, "case");
    size_t tokens = (size_t)height * width;
    cr_assert_eq(end - begin, tokens * tokens);
    rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = BEFORE},
                           {.modality = RS_IMAGE, .tokens = tokens, .frames = 1, .rows = height, .columns = width}};
    rs_encoding *encoding =
        encode_indices("swin", "", (2 * (size_t)height - 1) * (2 * width - 1), BEFORE + tokens + AFTER,
                       &(rs_token_layout){.runs = runs, .count = RS_COUNT(runs)});
    for (size_t row = begin; row < end; row++) {
      size_t query = BEFORE + golden_size(table, row, "i"), key = BEFORE + golden_size(table, row, "j");
      double index;
      rs_encoding_bias_row(encoding, 0, query, key, key + 1, &index);
      cr_assert_eq(index, golden_number(table, row, "relative_position_index"), "%ux%u, %zu and %zu: %g", height, width,
                   query - BEFORE, key - BEFORE, index);
    }
    rs_encoding_free(encoding);
  }
  rs_table_free(table);
}
