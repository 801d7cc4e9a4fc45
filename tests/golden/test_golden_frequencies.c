/* Frequency tables and rotations against reference values of the field's own code; tests/golden/README.md says where
 * each comes from. Every case loops over all rows of its tables and counts them, so that an empty or renamed table
 * cannot pass. */
#include "../golden.h"
#include "cases.h"
#include "column.h"

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
