/* Positions, axes and rotations of M-RoPE against the field's own code: every row of their tables, counted. */
#include "../golden.h"

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
