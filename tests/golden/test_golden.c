/* The encodings against reference values of the field's own code; tests/golden/README.md says where each comes from.
 * Every case loops over all rows of its tables and counts them, so that an empty or renamed table cannot pass. */
#include "../golden.h"
#include "cases.h"
#include "ropescope/attention.h"

/* ---- frequency tables (a_*, b_*) --------------------------------------------------------------------------------- */

static void compare_pairs(const char *name, const rs_encoding *encoding, const rs_table *values, size_t begin,
                          size_t end) {
  cr_assert_eq(encoding->rotary_dim / 2, end - begin, "%s: %zu pairs, expected %zu", name, encoding->rotary_dim / 2,
               end - begin);
  for (size_t row = begin; row < end; row++) {
    size_t j = golden_size(values, row, "i");
    double expected = golden_number(values, row, "inv_freq_f64"), got = encoding->omega[j];
    cr_assert(close_to(got, expected, 1e-12, 0), "%s pair %zu: got %.17g, expected %.17g", name, j, got, expected);
  }
}

Test(golden, inv_freq__huggingface_cases__agree_to_1e_12) {
  rs_table *cases = golden_read("a_invfreq_cases.csv"), *values = golden_read("a_invfreq_values.csv");
  rs_table *factors = golden_read("a_longrope_factors.csv");
  size_t compared = 0, softmax = 0;
  for (size_t row = 0; row < cases->rows; row++) {
    const char *name = golden_text(cases, row, "case");
    size_t begin, end;
    golden_case(values, name, &begin, &end);
    rs_model model = case_model(cases, row);
    rs_recipe recipe = case_recipe(cases, row, factors, &model);
    rs_encoding *encoding = encode_recipe(&recipe, &model, case_length(cases, row), NULL);
    compare_pairs(name, encoding, values, begin, end);
    compared += end - begin;
    double amp = golden_number(cases, row, "attention_factor_out");
    cr_assert(close_to(encoding->amp, amp, 1e-12, 0), "%s attention factor: got %.17g, expected %.17g", name,
              encoding->amp, amp);
    double scale = golden_number(cases, row, "softmax_scale_mult"), on_logits = isnan(scale) ? 1 : scale;
    cr_assert(close_to(encoding->logit_scale[0], on_logits, 1e-12, 0), "%s softmax scale: got %.17g, expected %.17g",
              name, encoding->logit_scale[0], on_logits);
    softmax += !isnan(scale);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
  cr_assert_eq(compared, values->rows, "%zu of %zu values compared", compared, values->rows);
  cr_assert_gt(softmax, 0u, "no case has a softmax scale");
  rs_table_free(factors);
  rs_table_free(values);
  rs_table_free(cases);
}

/* The base that a geometric ladder was made with: omega_j = base^(-2j/R) at the last pair. */
static double base_of(const rs_encoding *encoding) {
  double dims = (double)encoding->rotary_dim;
  return pow(encoding->omega[encoding->rotary_dim / 2 - 1], -dims / (dims - 2));
}

Test(golden, ntk_base__yarn_repository__agrees_to_1e_12) {
  rs_table *table = golden_read("b_ntk_base.csv");
  for (size_t row = 0; row < table->rows; row++) {
    rs_model model = plain_model(golden_size(table, row, "dim"), golden_number(table, row, "base"), 4096);
    rs_text words = {0};
    add_setting(table, row, "scale", "factor", &words);
    rs_encoding *encoding = encode("ntk", rs_text_string(&words), &model, 1);
    double got = base_of(encoding), expected = golden_number(table, row, "ntk_base_f64");
    cr_assert(close_to(got, expected, 1e-12, 0), "%s: got %.17g, expected %.17g", golden_text(table, row, "case"), got,
              expected);
    rs_encoding_free(encoding);
    rs_text_clear(&words);
  }
  rs_table_free(table);
}

/* The number that follows `key` in the method column, as in "orig=4096;"; NaN without it. */
static double noted(const char *text, const char *key) {
  const char *found = strstr(text, key);
  return found != NULL ? strtod(found + strlen(key), NULL) : NAN;
}

/* b_ntk_invfreq's method texts, by how they begin or end, and the recipe each means. */
static const struct {
  const char *mark, *method, *settings;
  bool factor; /* the param column is the factor; else the scale follows the length */
} ntk_methods[] = {
    {"ntk_aware", "ntk", "", true},
    {"part_ntk", "ntk_by_parts_v1", "", true},
    {"ntk fixed", "ntk_fixed", "", true},
    {"mixed_b=", "ntk_mixed", "mixed_b=0.625", true},
    {"dynamic_yarn", "yarn", "scale=dynamic", false},
};

static rs_encoding *encode_ntk(const rs_table *table, size_t row) {
  const char *text = golden_text(table, row, "method");
  double original = fmax(noted(text, "orig_ctx="), noted(text, "orig=")); /* fmax passes over a NaN */
  double length = noted(text, "seq_len=");
  rs_model model = plain_model(golden_size(table, row, "dim"), golden_number(table, row, "base"),
                               isnan(original) ? 4096 : (size_t)original);
  for (size_t i = 0; i < RS_COUNT(ntk_methods); i++) {
    if (strstr(text, ntk_methods[i].mark) == NULL) continue;
    rs_text words = {0};
    rs_text_puts(&words, ntk_methods[i].settings);
    if (ntk_methods[i].factor) add_setting(table, row, "param", "factor", &words);
    rs_encoding *encoding =
        encode(ntk_methods[i].method, rs_text_string(&words), &model, isnan(length) ? 1 : (size_t)length);
    rs_text_clear(&words);
    return encoding;
  }
  cr_assert(false, "no recipe for method %s", text);
  return NULL;
}

Test(golden, inv_freq__ntk_family__agrees_to_1e_12) {
  rs_table *table = golden_read("b_ntk_invfreq.csv");
  size_t temperatures = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "case");
    rs_encoding *encoding = encode_ntk(table, begin);
    double amp = noted(golden_text(table, begin, "method"), "mscale="), expected = isnan(amp) ? 1 : amp;
    compare_pairs(golden_text(table, begin, "case"), encoding, table, begin, end);
    cr_assert(close_to(encoding->amp, expected, 1e-12, 0), "%s amp: got %.17g, expected %.17g",
              golden_text(table, begin, "case"), encoding->amp, expected);
    temperatures += !isnan(amp);
    rs_encoding_free(encoding);
  }
  cr_assert_eq(temperatures, 1u, "dynamic yarn was not compared");
  rs_table_free(table);
}

/* ---- rotation (c_*) ---------------------------------------------------------------------------------------------- */

static void read_column(const rs_table *table, size_t begin, size_t count, const char *column, double *out) {
  for (size_t i = 0; i < count; i++) out[i] = golden_number(table, begin + i, column);
}

/* One vector (q or k) of the rows [begin, begin + D), rotated and compared with its two columns. The f64 column's own
 * error grows with the position (1.5e-10 at 10^6), the exact one allows for the rounding of omega alone. */
static void compare_rotation(const rs_table *table, size_t begin, const rs_encoding *encoding, const char *vector) {
  char in[16], f64[16], exact[16];
  snprintf(in, sizeof in, "%s_in", vector);
  snprintf(f64, sizeof f64, "%s_out_f64", vector);
  snprintf(exact, sizeof exact, "%s_out_exact", vector);
  double x[128], got[128], position = golden_number(table, begin, "position");
  double allowed = 4e-15 + 2.3e-16 * 4 * position;
  cr_assert_leq(encoding->head_dim, RS_COUNT(x));
  read_column(table, begin, encoding->head_dim, in, x);
  rs_encoding_rotate(encoding, &position, x, got);
  for (size_t d = 0; d < encoding->head_dim; d++) {
    double reference = golden_number(table, begin + d, f64), truth = golden_number(table, begin + d, exact);
    cr_assert(close_to(got[d], reference, 0, 1e-9), "%s %s position %g dim %zu: got %.17g, f64 %.17g",
              golden_text(table, begin, "case"), vector, position, d, got[d], reference);
    cr_assert(close_to(got[d], truth, 0, fmin(allowed, 1e-9)), "%s %s position %g dim %zu: got %.17g, exact %.17g",
              golden_text(table, begin, "case"), vector, position, d, got[d], truth);
  }
  rs_encoding_rotate(encoding, &position, x, x);
  cr_assert_arr_eq(x, got, encoding->head_dim * sizeof *x, "rotating in place gives other numbers");
}

Test(golden, rotation__both_layouts_whole_and_partial__agrees) {
  rs_table *table = golden_read("c_rope_apply.csv");
  size_t layouts[2] = {0}, partial = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "case,layout,position");
    rs_model model = plain_model(golden_size(table, begin, "head_dim"), golden_number(table, begin, "rope_theta"), 64);
    model.rotary_dim = golden_size(table, begin, "rotary_dim");
    model.pair_layout = golden_is(table, begin, "layout", "interleaved") ? RS_INTERLEAVED : RS_HALF_SPLIT;
    cr_assert_eq(end - begin, model.head_dim, "row %zu: %zu dims", begin, end - begin);
    rs_encoding *encoding = encode("rope", "", &model, 1);
    compare_rotation(table, begin, encoding, "q");
    compare_rotation(table, begin, encoding, "k");
    layouts[model.pair_layout]++;
    partial += model.rotary_dim < model.head_dim;
    rs_encoding_free(encoding);
  }
  cr_assert(layouts[0] > 0 && layouts[0] == layouts[1] && partial > 0, "%zu half-split, %zu interleaved, %zu partial",
            layouts[0], layouts[1], partial);
  rs_table_free(table);
}

/* ---- M-RoPE (d_*) ------------------------------------------------------------------------------------------------ */

static double largest(const double *values, size_t count) {
  double most = -INFINITY;
  for (size_t i = 0; i < count; i++) most = fmax(most, values[i]);
  return most;
}

/* Which columns each way of counting must give: Qwen's own code and vLLM's agree with each other everywhere, Hugging
 * Face's counts on differently after long videos. */
static const struct {
  const char *code;
  rs_id_scheme scheme;
} counters[] = {{"qwen", RS_IDS_QWEN2_VL}, {"vllm", RS_IDS_QWEN2_VL}, {"hf5", RS_IDS_HF}};

/* One prompt as `code` counts it, and the delta with which decoding goes on. Returns its tokens. */
static size_t compare_prompt(const rs_table *prompts, const rs_table *table, const rs_table *deltas, size_t row,
                             size_t counter) {
  const char *name = golden_text(deltas, row, "case"), *code = counters[counter].code, *axes = "thw";
  size_t length = golden_size(deltas, row, "seq_len"), begin, end;
  rs_id_rule rule = {.scheme = counters[counter].scheme};
  rs_token_layout layout = golden_layout(prompts, name);
  double *ids = calloc(length, RS_AXES * sizeof *ids);
  rs_err err = {0};
  char column[16];
  golden_case(table, name, &begin, &end);
  cr_assert_eq(rs_token_layout_tokens(&layout), length, "%s: %zu tokens", name, rs_token_layout_tokens(&layout));
  cr_assert_eq(end - begin, length, "%s: %zu rows", name, end - begin);
  cr_assert_eq(rs_token_positions(&layout, &rule, length, ids, NULL, &err), RS_OK, "%s: %s", name, err.message);
  for (size_t i = 0; i < length * RS_AXES; i++) {
    snprintf(column, sizeof column, "%c_%s", axes[i % RS_AXES], code);
    double expected = golden_number(table, begin + i / RS_AXES, column);
    cr_assert_eq(ids[i], expected, "%s token %zu %s: got %g, expected %g", name, i / RS_AXES, column, ids[i], expected);
  }
  snprintf(column, sizeof column, "delta_%s", code);
  double delta = largest(ids, length * RS_AXES) + 1 - (double)length;
  cr_assert_eq(delta, golden_number(deltas, row, column), "%s %s: got %g", name, column, delta);
  free(ids);
  rs_token_layout_clear(&layout);
  return length;
}

Test(golden, mrope_positions__qwen_vllm_hf_prompts__agree_exactly) {
  rs_table *prompts = golden_read("d_mrope_prompts.csv"), *table = golden_read("d_mrope_pos.csv");
  rs_table *deltas = golden_read("d_mrope_delta.csv");
  for (size_t counter = 0; counter < RS_COUNT(counters); counter++) {
    size_t compared = 0;
    for (size_t row = 0; row < deltas->rows; row++) compared += compare_prompt(prompts, table, deltas, row, counter);
    cr_assert_eq(compared, table->rows, "%zu of %zu tokens compared", compared, table->rows);
  }
  rs_table_free(deltas);
  rs_table_free(table);
  rs_table_free(prompts);
}

/* A model with the row's sections; `pairs` of them turn. ggml has a fourth section, which is empty here. */
static rs_model mrope_model(const rs_table *table, size_t row, size_t head_dim, size_t rotary_dim, double theta) {
  rs_model model = plain_model(head_dim, theta, 32768);
  double sections[RS_AXES + 1] = {0};
  cr_assert_geq(read_list(golden_text(table, row, "sections"), sections, RS_AXES + 1), (size_t)RS_AXES);
  cr_assert_eq(sections[RS_AXES], 0);
  for (size_t a = 0; a < RS_AXES; a++) model.mrope_section[a] = (size_t)sections[a];
  bool alternate = golden_is(table, row, "layout", "interleaved") || golden_is(table, row, "layout", "ggml_imrope");
  model.axis_layout = alternate ? RS_AXES_INTERLEAVED : RS_AXES_CONTIGUOUS;
  model.rotary_dim = rotary_dim;
  return model;
}

/* ggml's axis 3 is an id that is 0 for these models: its pairs do not turn. All others do. */
Test(golden, mrope_axis__hf_vllm_glm_ggml__agrees_exactly) {
  rs_table *table = golden_read("d_mrope_axis.csv");
  size_t compared = 0, idle = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "case");
    const char *name = golden_text(table, begin, "case"), *layout = golden_text(table, begin, "layout");
    rs_model model = mrope_model(table, begin, 2 * (end - begin), 2 * (end - begin), 1e6);
    rs_encoding *encoding =
        encode("mrope", strcmp(layout, "ggml_imrope") == 0 ? "mrope_tail=unrotated" : "", &model, 1);
    for (size_t row = begin; row < end; row++) {
      size_t pair = golden_size(table, row, "pair"), axis = golden_size(table, row, "axis");
      bool turns = encoding->omega[pair] > 0;
      cr_assert_eq(turns, axis < RS_AXES, "%s %s pair %zu: omega %g", name, layout, pair, encoding->omega[pair]);
      cr_assert(!turns || encoding->axis[pair] == axis, "%s %s pair %zu: got %u, expected %zu", name, layout, pair,
                encoding->axis[pair], axis);
      idle += !turns;
    }
    compared++;
    rs_encoding_free(encoding);
  }
  cr_assert_eq(compared, 6u, "%zu layouts compared", compared);
  cr_assert_gt(idle, 0u, "no pair of axis 3");
  rs_table_free(table);
}

static void compare_mrope_row(const rs_table *table, size_t row, const rs_encoding *encoding) {
  static const char *const axes[] = {"t", "h", "w"};
  const char *name = golden_text(table, row, "case");
  size_t pair = golden_size(table, row, "pair"), token = golden_size(table, row, "token");
  const double *ids = encoding->pos_k[0] + token * encoding->axes;
  double c, s, cosine = golden_number(table, row, "cos_f64"), sine = golden_number(table, row, "sin_f64");
  cr_assert_eq(encoding->axis[pair], golden_size(table, row, "axis"), "%s pair %zu: axis %u", name, pair,
               encoding->axis[pair]);
  for (size_t a = 0; a < RS_AXES; a++)
    cr_assert_eq(ids[a], golden_number(table, row, axes[a]), "%s token %zu %s: got %g", name, token, axes[a], ids[a]);
  rs_encoding_cos_sin(encoding, pair, ids[encoding->axis[pair]], &c, &s);
  cr_assert(close_to(c, cosine, 0, 1e-12), "%s token %zu pair %zu cos: got %.17g, expected %.17g", name, token, pair, c,
            cosine);
  cr_assert(close_to(s, sine, 0, 1e-12), "%s token %zu pair %zu sin: got %.17g, expected %.17g", name, token, pair, s,
            sine);
}

Test(golden, mrope_cos_sin__qwen_prompts__agree_to_1e_12) {
  rs_table *prompts = golden_read("d_mrope_prompts.csv"), *table = golden_read("d_mrope_cossin.csv");
  for (size_t begin = 0, end; begin < table->rows; begin = end) {
    end = golden_run(table, begin, "case,sections");
    rs_model model = mrope_model(table, begin, golden_size(table, begin, "head_dim"),
                                 golden_size(table, begin, "rotary_dim"), golden_number(table, begin, "rope_theta"));
    rs_token_layout layout = golden_layout(prompts, golden_text(table, begin, "case"));
    rs_recipe recipe = make_recipe("mrope", "");
    rs_encoding *encoding = encode_recipe(&recipe, &model, rs_token_layout_tokens(&layout), &layout);
    cr_assert_eq(encoding->axes, (size_t)RS_AXES);
    for (size_t row = begin; row < end; row++) compare_mrope_row(table, row, encoding);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
    rs_token_layout_clear(&layout);
  }
  rs_table_free(table);
  rs_table_free(prompts);
}

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
  encoding->method->bias->row(encoding, head, query, 0, query + 1, row_of_bias);
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
      encoding->method->bias->row(encoding, head, attended - 1, rank, rank + 1, &bias);
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
      encoding->method->bias->row(encoding, 0, FARTHEST, key, key + 1, &bucket);
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
    rs_encoding *encoding = encode_indices("swin", "", (2 * (size_t)height - 1) * (2 * width - 1),
                                           BEFORE + tokens + AFTER, &(rs_token_layout){runs, RS_COUNT(runs)});
    for (size_t row = begin; row < end; row++) {
      size_t query = BEFORE + golden_size(table, row, "i"), key = BEFORE + golden_size(table, row, "j");
      double index;
      encoding->method->bias->row(encoding, 0, query, key, key + 1, &index);
      cr_assert_eq(index, golden_number(table, row, "relative_position_index"), "%ux%u, %zu and %zu: %g", height, width,
                   query - BEFORE, key - BEFORE, index);
    }
    rs_encoding_free(encoding);
  }
  rs_table_free(table);
}

/* ---- sinusoidal embeddings (g_*) --------------------------------------------------------------------------------- */

static const char *embedding_layout(const char *text) {
  if (strncmp(text, "interleaved", strlen("interleaved")) == 0) return "embedding_layout=interleaved";
  return strcmp(text, "halves_marian") == 0 ? "embedding_layout=halves" : "embedding_layout=tensor2tensor";
}

Test(golden, sinusoid__three_layouts__agree_to_1e_12) {
  rs_table *table = golden_read("g_sinusoid1d.csv");
  size_t layouts = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end, layouts++) {
    end = golden_run(table, begin, "case,layout");
    const char *layout = golden_text(table, begin, "layout");
    size_t width = golden_size(table, begin, "dim"), positions = golden_size(table, begin, "n_pos");
    rs_model model = plain_model(width / 2, 1e4, positions);
    model.heads = 2; /* the token is as wide as all heads together */
    rs_encoding *encoding = encode("sinusoidal", embedding_layout(layout), &model, positions);
    double *all = calloc(positions * width, sizeof *all);
    rs_err err = {0};
    cr_assert_eq(encoding->method->embed->fill(encoding, 0, positions, all, &err), RS_OK, "%s", err.message);
    for (size_t row = begin; row < end; row++) {
      size_t at = golden_size(table, row, "position"), dim = golden_size(table, row, "j");
      double got = all[at * width + dim], expected = golden_number(table, row, "value_f64");
      cr_assert(close_to(got, expected, 0, 1e-12), "%s %s position %zu dim %zu: got %.17g, expected %.17g",
                golden_text(table, begin, "case"), layout, at, dim, got, expected);
    }
    free(all);
    rs_encoding_free(encoding);
  }
  cr_assert_eq(layouts, 6u, "%zu layouts compared", layouts);
  rs_table_free(table);
}

/* One case of MAE's table, as a layout of a class token, where it has one, and a square picture. */
static void check_mae(const rs_table *table, size_t begin, size_t end) {
  const char *name = golden_text(table, begin, "case");
  size_t grid = golden_size(table, begin, "grid_size"), width = golden_size(table, begin, "dim");
  size_t class_token = golden_size(table, begin, "cls_token"), length = class_token + grid * grid;
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1},
                         {.modality = RS_IMAGE, .tokens = grid * grid, .frames = 1, .rows = grid, .columns = grid}};
  rs_token_layout layout = {class_token ? runs : runs + 1, 1 + class_token};
  rs_model model = plain_model(width / 2, 1e4, 8);
  model.heads = 2;
  rs_recipe recipe = make_recipe("sinusoidal_2d", "");
  rs_encoding *encoding = encode_recipe(&recipe, &model, length, &layout);
  double *all = calloc(length * width, sizeof *all);
  cr_assert_eq(encoding->method->embed->fill(encoding, 0, length, all, NULL), RS_OK);
  cr_assert_eq(end - begin, length * width, "%s: %zu numbers", name, end - begin);
  for (size_t row = begin; row < end; row++) {
    size_t at = golden_size(table, row, "row"), dim = golden_size(table, row, "j");
    double got = all[at * width + dim], expected = golden_number(table, row, "value_f64");
    cr_assert(close_to(got, expected, 0, 1e-15 * 8), "%s row %zu dim %zu: got %.17g, expected %.17g", name, at, dim,
              got, expected); /* sines and cosines of at most 6 rad, and omega to one rounding */
  }
  free(all);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

Test(golden, sinusoid_2d__mae__agrees_to_8e_15) {
  rs_table *table = golden_read("g_mae_2d.csv");
  size_t cases = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end, cases++) {
    end = golden_run(table, begin, "case");
    check_mae(table, begin, end);
  }
  cr_assert_eq(cases, 2u, "%zu cases compared", cases);
  rs_table_free(table);
}

/* ---- tables on other grids (h_*) --------------------------------------------------------------------------------- */

/* The input of a case, (rows, columns, channels). */
static double *read_grid(const rs_table *table, const char *name, size_t size[3]) {
  size_t begin, end;
  golden_case(table, name, &begin, &end);
  size[0] = golden_size(table, begin, "src_h");
  size[1] = golden_size(table, begin, "src_w");
  size[2] = golden_size(table, begin, "channels");
  cr_assert_eq(end - begin, size[0] * size[1] * size[2]);
  double *grid = calloc(end - begin, sizeof *grid);
  for (size_t row = begin; row < end; row++) {
    size_t y = golden_size(table, row, "y"), x = golden_size(table, row, "x"), c = golden_size(table, row, "c");
    grid[(y * size[1] + x) * size[2] + c] = golden_number(table, row, "value");
  }
  return grid;
}

static rs_resize resize_mode(const char *word) {
  static const char *const words[] = {"bicubic", "bilinear", "bicubic_antialias", "bicubic_align"};
  size_t mode = 0;
  while (mode < RS_COUNT(words) && strcmp(words[mode], word) != 0) mode++;
  cr_assert_lt(mode, RS_COUNT(words), "%s", word);
  return (rs_resize)mode;
}

/* A value is a sum of up to 169 products of weights (whose sizes sum to less than 2) and entries (less than 3), which
 * may cancel to nothing: some roundings of 6, so 2e-14 beside the relative
 * 1e-12. float32 also rounds the places between the samples: 5e-6 of entries of about 1. */
static void check_resized(const rs_table *table, size_t begin, size_t end, const double *grid, const size_t size[3]) {
  size_t rows = golden_size(table, begin, "dst_h"), columns = golden_size(table, begin, "dst_w");
  const char *name = golden_text(table, begin, "case"), *mode = golden_text(table, begin, "mode");
  double *got = calloc(rows * columns * size[2], sizeof *got);
  rs_err err = {0};
  cr_assert_eq(rs_resize_2d(grid, size[0], size[1], size[2], resize_mode(mode), rows, columns, got, &err), RS_OK, "%s",
               err.message);
  for (size_t row = begin; row < end; row++) {
    size_t y = golden_size(table, row, "y"), x = golden_size(table, row, "x"), c = golden_size(table, row, "c");
    double value = got[(y * columns + x) * size[2] + c], expected = golden_number(table, row, "value_f64");
    cr_assert(close_to(value, expected, 1e-12, 2e-14), "%s %s to %zu x %zu at %zu, %zu, %zu: got %.17g, expected %.17g",
              name, mode, rows, columns, y, x, c, value, expected);
    cr_assert(close_to(value, golden_number(table, row, "value_f32"), 0, 5e-6), "%s %s: float32 at %zu, %zu, %zu", name,
              mode, y, x, c);
  }
  free(got);
}

Test(golden, resize__every_mode__agrees_to_1e_12) {
  rs_table *in = golden_read("h_bicubic_in.csv"), *out = golden_read("h_bicubic_out.csv");
  size_t modes[4] = {0};
  for (size_t begin = 0, end; begin < out->rows; begin = end) {
    size_t size[3];
    end = golden_run(out, begin, "case,mode,dst_h,dst_w");
    double *grid = read_grid(in, golden_text(out, begin, "case"), size);
    check_resized(out, begin, end, grid, size);
    modes[resize_mode(golden_text(out, begin, "mode"))]++;
    free(grid);
  }
  for (size_t i = 0; i < RS_COUNT(modes); i++) cr_assert_geq(modes[i], 2u, "mode %zu: %zu grids", i, modes[i]);
  rs_table_free(in);
  rs_table_free(out);
}

/* ---- attention rows (i_*) ---------------------------------------------------------------------------------------- */

enum { TOKENS = 64, DIMS = 32, HEADS = 4 };

/* One head's q and k, (TOKENS, DIMS) each. */
static void read_head(const rs_table *in, size_t head, double *q, double *k) {
  for (size_t i = 0; i < TOKENS * DIMS; i++) {
    size_t row = head * TOKENS * DIMS + i;
    cr_assert(golden_size(in, row, "head") == head && golden_size(in, row, "row") == i / DIMS &&
                  golden_size(in, row, "dim") == i % DIMS,
              "i_attn_in row %zu is out of order", row);
    q[i] = golden_number(in, row, "q");
    k[i] = golden_number(in, row, "k");
  }
}

/* All causal rows of one head. Release with rs_observation_free. */
static rs_observation *observe(const rs_encoding *encoding, size_t head, const double *q, const double *k) {
  size_t queries[TOKENS], *edges, bins;
  for (size_t i = 0; i < TOKENS; i++) queries[i] = i;
  rs_err err = {0};
  rs_engine *engine = NULL;
  rs_observation *seen = NULL;
  cr_assert_eq(rs_log_edges(TOKENS, 4, &edges, &bins, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_engine_create(TOKENS, DIMS, encoding->views, &engine, &err), RS_OK, "%s", err.message);
  rs_attention_job job = {.encoding = encoding,
                          .head = head,
                          .mask = {.kind = RS_CAUSAL},
                          .queries = queries,
                          .query_count = TOKENS,
                          .q = q,
                          .k = k,
                          .edges = edges,
                          .bins = bins,
                          .sinks = 1,
                          .scores = RS_SCORES_F64};
  cr_assert_eq(rs_engine_run(engine, &job, &seen, &err), RS_OK, "%s", err.message);
  rs_engine_free(engine);
  free(edges);
  return seen;
}

static void compare_row(const rs_table *rows, size_t at, const rs_row *got) {
  const double found[] = {got->entropy, got->log_sum_exp, exp(got->max_logit - got->log_sum_exp)};
  static const char *const columns[] = {"entropy_nats_f64", "logsumexp_f64", "max_weight_f64"};
  const char *variant = golden_text(rows, at, "variant");
  size_t head = golden_size(rows, at, "head"), query = golden_size(rows, at, "row");
  for (size_t i = 0; i < RS_COUNT(columns); i++) {
    double expected = golden_number(rows, at, columns[i]);
    cr_assert(close_to(found[i], expected, 1e-12, 1e-12), "%s head %zu row %zu %s: got %.17g, expected %.17g", variant,
              head, query, columns[i], found[i], expected);
  }
  cr_assert_eq(got->argmax, golden_size(rows, at, "argmax"), "%s head %zu row %zu argmax: got %zu", variant, head,
               query, got->argmax);
}

static const struct {
  const char *variant, *method, *settings;
} variants[] = {
    {"nope", "nope", ""},
    {"rope_half", "rope", "rope_theta=10000"},
    {"yarn_half", "yarn", "rope_theta=10000 factor=4 train_length=16"},
    {"alibi", "alibi", ""},
};

Test(golden, attention_rows__torch_softmax__agree_to_1e_12) {
  rs_table *in = golden_read("i_attn_in.csv"), *rows = golden_read("i_attn_rows.csv");
  rs_table *known = golden_read("i_attn_variants.csv");
  static double q[TOKENS * DIMS], k[TOKENS * DIMS];
  cr_assert_eq(known->rows, RS_COUNT(variants));
  cr_assert_eq(rows->rows, RS_COUNT(variants) * HEADS * TOKENS, "%zu rows", rows->rows);
  for (size_t v = 0; v < RS_COUNT(variants); v++) {
    rs_model model = plain_model(DIMS, 1e4, 4096);
    model.heads = HEADS;
    rs_encoding *encoding = encode(variants[v].method, variants[v].settings, &model, TOKENS);
    for (size_t head = 0; head < HEADS; head++) {
      size_t first = (v * HEADS + head) * TOKENS;
      read_head(in, head, q, k);
      cr_assert(golden_is(rows, first, "variant", variants[v].variant), "row %zu is %s", first,
                golden_text(rows, first, "variant"));
      rs_observation *seen = observe(encoding, head, q, k);
      for (size_t i = 0; i < TOKENS; i++) compare_row(rows, first + i, &seen->rows[i]);
      rs_observation_free(seen);
    }
    rs_encoding_free(encoding);
  }
  rs_table_free(known);
  rs_table_free(rows);
  rs_table_free(in);
}

/* out[d] = sum over keys of softmax weight times v, from the reference row's logits. */
static void weighted_values(const rs_attention_job *job, size_t query, const double *v, double *out) {
  double logits[TOKENS], needle, largest = -INFINITY, total = 0;
  cr_assert_eq(rs_reference_row(job, query, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < TOKENS; n++) largest = fmax(largest, logits[n]);
  for (size_t d = 0; d < DIMS; d++) out[d] = 0;
  for (size_t n = 0; n < TOKENS; n++) {
    double weight = exp(logits[n] - largest);
    total += weight;
    for (size_t d = 0; d < DIMS; d++) out[d] += weight * v[n * DIMS + d];
  }
  for (size_t d = 0; d < DIMS; d++) out[d] /= total;
}

Test(golden, attention_outputs__torch_softmax_times_v__agree_to_1e_12) {
  rs_table *in = golden_read("i_attn_in.csv"), *table = golden_read("i_attn_out.csv");
  static double q[TOKENS * DIMS], k[TOKENS * DIMS], v[TOKENS * DIMS];
  size_t queries[TOKENS], row = 0;
  for (size_t i = 0; i < TOKENS; i++) queries[i] = i;
  for (size_t variant = 0; variant < RS_COUNT(variants); variant++) {
    rs_model model = plain_model(DIMS, 1e4, 4096);
    model.heads = HEADS;
    rs_encoding *encoding = encode(variants[variant].method, variants[variant].settings, &model, TOKENS);
    for (size_t head = 0; head < HEADS; head++) {
      read_head(in, head, q, k);
      read_column(in, head * TOKENS * DIMS, TOKENS * DIMS, "v", v);
      rs_attention_job job = {
          .encoding = encoding, .head = head, .queries = queries, .query_count = TOKENS, .q = q, .k = k};
      for (double got[DIMS]; row < table->rows && golden_size(table, row, "head") == head; row += DIMS) {
        size_t query = golden_size(table, row, "row");
        weighted_values(&job, query, v, got);
        for (size_t d = 0; d < DIMS; d++) {
          double expected = golden_number(table, row + d, "out_f64");
          cr_assert(close_to(got[d], expected, 1e-12, 1e-13) && golden_size(table, row + d, "dim") == d,
                    "%s head %zu row %zu dim %zu: got %.17g, expected %.17g", variants[variant].variant, head, query, d,
                    got[d], expected);
        }
      }
    }
    rs_encoding_free(encoding);
  }
  cr_assert_eq(row, table->rows, "%zu of %zu rows compared", row, table->rows);
  rs_table_free(table);
  rs_table_free(in);
}
