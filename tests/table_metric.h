/* One metric of tables on one encoding, for tests: both from names and values as a config has them. */
#ifndef ROPESCOPE_TESTS_TABLE_METRIC_H
#define ROPESCOPE_TESTS_TABLE_METRIC_H

#include <criterion/criterion.h>
#include <math.h>

#include "fixtures/bound.h"
#include "metrics/metrics.h"

/* A model that turns all of its head; Llama-2's is (128, 1e4, 4096). */
static inline rs_model table_model(size_t dims, double theta, size_t train_length) {
  return (rs_model){.heads = 1,
                    .head_dim = dims,
                    .rotary_dim = dims,
                    .rope_theta = theta,
                    .train_length = train_length,
                    .max_length = train_length};
}

/* `settings` are name, value pairs that end at the first NULL; `tokens` and `precision` may be NULL. */
static inline rs_encoding *table_encode(const char *method, const rs_model *model, size_t length,
                                        const char *const settings[], const rs_token_layout *tokens,
                                        const rs_precision *precision) {
  rs_recipe recipe;
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(method), NULL), RS_OK, "%s", method);
  for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2)
    cr_assert_eq(rs_recipe_set(&recipe, settings[i], settings[i + 1], &err), RS_OK, "%s", err.message);
  rs_status status = rs_encoding_create(&recipe, model, length, tokens, precision, &encoding, &err);
  cr_assert_eq(status, RS_OK, "%s: %s", method, err.message);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* Of given turns, in rad a token, as many as the model has pairs. */
static inline rs_encoding *table_encode_turns(const rs_model *model, size_t length, const double *turns) {
  rs_recipe recipe;
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("explicit"), NULL), RS_OK);
  int index = rs_settings_find(&recipe.settings, "inv_freq");
  rs_status status =
      rs_value_list(recipe.settings.params[index], turns, model->rotary_dim / 2, &recipe.settings.values[index], &err);
  if (status == RS_OK) status = rs_encoding_create(&recipe, model, length, NULL, NULL, &encoding, &err);
  cr_assert_eq(status, RS_OK, "%s", err.message);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* What the metric says of the encoding, which is freed; release with rs_curve_clear(&result.curve). */
static inline rs_result table_measure(const char *metric, rs_encoding *encoding, const char *const settings[],
                                      uint64_t seed) {
  const rs_metric_kind *kind = rs_metric_find(metric);
  bound_params parameters;
  rs_err err = {0};
  rs_result result = {.curve.columns = kind->curve_count};
  bound_make(&parameters, &kind->kind);
  for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2)
    bound_set(&parameters, settings[i], settings[i + 1]);
  rs_metric_in in = {.encoding = encoding, .params = parameters.binding.fields, .seed = seed};
  cr_assert_eq(kind->finish(&in, NULL, &result, &err), RS_OK, "%s: %s", metric, err.message);
  bound_clear(&parameters);
  rs_encoding_free(encoding);
  return result;
}

/* Scalar `name` of what table_measure says; the curve is released. */
static inline double table_scalar_of(const char *metric, const char *name, rs_encoding *encoding,
                                     const char *const settings[], uint64_t seed) {
  const rs_metric_kind *kind = rs_metric_find(metric);
  rs_result result = table_measure(metric, encoding, settings, seed);
  rs_curve_clear(&result.curve);
  for (size_t i = 0; i < kind->scalar_count; i++)
    if (strcmp(kind->scalars[i].name, name) == 0) return result.value[i];
  cr_assert_fail("%s has no %s", metric, name);
  return NAN;
}

/* Equal, a NaN to a NaN, up to `slack` of the value (absolute where that is 0). */
static inline void table_agrees(double got, double want, double slack, const char *what) {
  double room = slack * (want != 0 ? fabs(want) : 1);
  if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= room))
    cr_assert_fail("%s: %.17g, should be %.17g", what, got, want);
}

#endif
