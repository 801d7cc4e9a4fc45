/* Dialects against what each engine itself computed for the published, edge and random cases: a_crossimpl_values.csv
 * (float32 frequencies) and a_crossimpl_summary.csv (what multiplies cos and sin). A case is what a model publishes;
 * the recipe is the same method in the engine's dialect. */
#include "../golden.h"
#include "cases.h"

/* float32 tables; ggml's, by atan2 of its cos and sin at position 1, are off by 3e-6 of a running product. */
static const double FREQUENCY = 5e-6, AMPLITUDE = 5e-7;

/* An engine's column, its name in the summary, and the dialect. */
static const struct {
  const char *column, *summary, *dialect;
} engines[] = {
    {"hf_f32", "hf_transformers", "hf"},
    {"vllm_f32", "vllm", "vllm"},
    {"yarnrepo_f32", "yarnrepo", "authors"},
    {"ggml_f32", "ggml", "llamacpp"},
    {"native_f32", "deepseek-ai/DeepSeek-V3", "deepseek"},
    {"native_f32", "openai/gpt-oss", "gpt_oss"},
    {"native_f32", "meta-llama/llama-models", ""},
};

/* What multiplies cos and sin; NaN where the engine does not do this case. */
static double amplitude_of(const rs_table *summary, const char *name, const char *engine) {
  for (size_t row = 0; row < summary->rows; row++)
    if (golden_is(summary, row, "case", name) && golden_is(summary, row, "impl", engine))
      return golden_number(summary, row, "mscale_on_cos_sin");
  return NAN;
}

/* The tables of a published recipe as an engine reads it. */
static rs_encoding *encode_published(rs_model *model, const char *dialect, size_t length) {
  rs_recipe recipe = make_recipe(model->published.method->name, "");
  rs_err err = {0};
  if (*dialect != '\0') recipe_set_word(&recipe, "dialect", dialect);
  cr_assert_eq(rs_recipe_resolve(&recipe, model, &err), RS_OK, "%s: %s", dialect, err.message);
  rs_encoding *encoding = encode_recipe(&recipe, model, length, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

static void compare_engine(const rs_table *values, size_t begin, size_t end, const char *column, const char *what,
                           const rs_encoding *encoding) {
  cr_assert_eq(end - begin, encoding->rotary_dim / 2, "%s: %zu pairs", what, end - begin);
  for (size_t row = begin; row < end; row++) {
    double expected = golden_number(values, row, column), got = encoding->omega[row - begin];
    cr_assert(close_to(got, expected, FREQUENCY, 1e-12), "%s pair %zu: got %.9g, expected %.9g", what, row - begin, got,
              expected);
  }
}

Test(dialects, every_engine__published_cases__agree_to_float32) {
  rs_table *cases = golden_read("a_invfreq_cases.csv"), *factors = golden_read("a_longrope_factors.csv");
  rs_table *values = golden_read("a_crossimpl_values.csv"), *summary = golden_read("a_crossimpl_summary.csv");
  size_t compared = 0;
  for (size_t row = 0; row < cases->rows; row++) {
    const char *name = golden_text(cases, row, "case");
    rs_model model = case_model(cases, row);
    model.published = case_recipe(cases, row, factors, &model);
    bool deepseek = *golden_text(cases, row, "softmax_scale_mult") != '\0';
    for (size_t e = 0; e < RS_COUNT(engines); e++) {
      double amplitude = amplitude_of(summary, name, engines[e].summary);
      if (isnan(amplitude)) continue;
      size_t begin, end;
      char what[128];
      golden_case(values, name, &begin, &end);
      snprintf(what, sizeof what, "%s %s", name, engines[e].summary);
      /* The ggml column is the kernel alone, without what llama.cpp's code for DeepSeek passes to it. */
      if (deepseek)
        recipe_set_word(&model.published, "mscale_softmax", strcmp(engines[e].summary, "ggml") == 0 ? "false" : "true");
      rs_encoding *encoding = encode_published(&model, engines[e].dialect, case_length(cases, row));
      compare_engine(values, begin, end, engines[e].column, what, encoding);
      cr_assert(close_to(encoding->amp, amplitude, AMPLITUDE, 0), "%s: amplitude %.9g, expected %.9g", what,
                encoding->amp, amplitude);
      compared++;
      rs_encoding_free(encoding);
    }
    rs_recipe_clear(&model.published);
  }
  cr_assert_eq(compared, summary->rows, "%zu of %zu summaries compared", compared, summary->rows);
  rs_table_free(summary);
  rs_table_free(values);
  rs_table_free(factors);
  rs_table_free(cases);
}

/* The running product's own float32 error, not only its size, where no float32 ramp adds another: angles at position 1
 * by atan2 of float32 cos and sin, as the reference has them. */
static double running_error(const rs_table *values, size_t begin, const rs_recipe *recipe, const rs_model *model,
                            size_t length) {
  const rs_precision precision = {RS_F32, RS_F64, RS_F64, RS_F32, true};
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  double worst = 0;
  cr_assert_eq(rs_encoding_create(recipe, model, length, NULL, &precision, &encoding, &err), RS_OK, "%s", err.message);
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double c, s, expected = golden_number(values, begin + j, "ggml_f32");
    rs_encoding_cos_sin(encoding, j, 1, &c, &s);
    worst = fmax(worst, fabs(atan2(s, c) / expected - 1));
  }
  rs_encoding_free(encoding);
  return worst;
}

Test(dialects, running_product__ggml__agrees_closer_than_its_error) {
  rs_table *cases = golden_read("a_invfreq_cases.csv"), *factors = golden_read("a_longrope_factors.csv");
  rs_table *values = golden_read("a_crossimpl_values.csv"), *summary = golden_read("a_crossimpl_summary.csv");
  size_t compared = 0;
  for (size_t row = 0; row < cases->rows; row++) {
    const char *name = golden_text(cases, row, "case");
    const char *type = golden_text(cases, row, "rope_type");
    bool ramped = strcmp(type, "yarn") == 0 || strcmp(type, "llama3") == 0;
    if (ramped || isnan(amplitude_of(summary, name, "ggml"))) continue;
    size_t begin, end;
    rs_model model = case_model(cases, row);
    rs_recipe recipe = case_recipe(cases, row, factors, &model), ggml = make_recipe(recipe.method->name, "");
    model.published = recipe;
    golden_case(values, name, &begin, &end);
    recipe_set_word(&ggml, "dialect", "llamacpp");
    cr_assert_eq(rs_recipe_resolve(&ggml, &model, NULL), RS_OK);
    double error = running_error(values, begin, &ggml, &model, case_length(cases, row));
    cr_assert_lt(error, 3e-7, "%s: %g", name, error);
    compared++;
    rs_recipe_clear(&ggml);
    rs_recipe_clear(&recipe);
  }
  cr_assert_eq(compared, 14u, "%zu", compared);
  rs_table_free(summary);
  rs_table_free(values);
  rs_table_free(factors);
  rs_table_free(cases);
}
