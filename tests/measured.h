/* What the tests of metrics of tables share: one metric run on one encoding, its numbers by name, hand-made layouts of
 * tokens. A mistake here fails the running test. */
#ifndef ROPESCOPE_TESTS_MEASURED_H
#define ROPESCOPE_TESTS_MEASURED_H

#include "fixtures/bound.h"
#include "golden.h"

#include "metrics/metrics.h"

/* ---- running a metric -------------------------------------------------------------------------------------------- */

typedef struct measured {
  rs_result result;
  const rs_metric_kind *kind;
} measured;

/* `settings` as in "run=video most_rows=9". */
static inline measured measure_heads(const char *metric, const char *settings, const rs_encoding *encoding,
                                     const size_t *heads, size_t head_count) {
  measured m = {.kind = rs_metric_find(metric)};
  bound_params parameters;
  rs_err err = {0};
  cr_assert_not_null(m.kind, "no metric %s", metric);
  bound_make(&parameters, &m.kind->kind);
  char *words = strdup(settings), *state = NULL;
  for (char *word = strtok_r(words, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
    char *text = strchr(word, '=');
    *text++ = '\0';
    bound_set(&parameters, word, text);
  }
  m.result.curve.columns = m.kind->curve_count;
  rs_metric_in in = {encoding, parameters.binding.fields, heads, head_count, NULL, 0, 0};
  cr_assert_eq(m.kind->finish(&in, NULL, &m.result, &err), RS_OK, "%s: %s", metric, err.message);
  bound_clear(&parameters);
  free(words);
  return m;
}

static inline measured measure(const char *metric, const char *settings, const rs_encoding *encoding) {
  static const size_t first = 0;
  return measure_heads(metric, settings, encoding, &first, 1);
}

static inline double cell(const measured *m, size_t row, size_t column) {
  cr_assert(row < m->result.curve.rows && column < m->result.curve.columns);
  return m->result.curve.cells[row * m->result.curve.columns + column];
}

static inline double scalar(const measured *m, const char *name) {
  for (size_t i = 0; i < m->kind->scalar_count; i++)
    if (strcmp(m->kind->scalars[i].name, name) == 0) return m->result.value[i];
  cr_assert_fail("no scalar %s", name);
  return NAN;
}

/* Equal to 1e-13, a NaN to a NaN. */
static inline void agrees(double got, long double want, const char *what) {
  bool same = isnan(want) ? isnan(got) : fabsl(got - want) <= 1e-13L * fmaxl(1, fabsl(want));
  if (!same) cr_assert_fail("%s: %.17g, should be %.17Lg", what, got, want);
}

static inline void scalar_is(const measured *m, const char *name, long double want, const char *where) {
  char what[512];
  snprintf(what, sizeof what, "%s %s", where, name);
  agrees(scalar(m, name), want, what);
}

static inline void all_scalars_are_nan(const measured *m, const char *where) {
  for (size_t i = 0; i < m->kind->scalar_count; i++) scalar_is(m, m->kind->scalars[i].name, NAN, where);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static inline rs_token_run text_run(size_t tokens) {
  return (rs_token_run){.modality = RS_TEXT, .tokens = tokens, .seconds_per_frame = 1, .ids_per_second = 1};
}

static inline rs_token_run image_run(size_t rows, size_t columns) {
  return (rs_token_run){RS_IMAGE, rows * columns, 1, rows, columns, 1, 1};
}

static inline rs_token_run video_run(size_t frames, size_t rows, size_t columns, double seconds, double ids) {
  return (rs_token_run){RS_VIDEO, frames * rows * columns, frames, rows, columns, seconds, ids};
}

/* The encoding of a method on a model for these runs and `after` tokens of text. */
static inline rs_encoding *encode_runs(const char *method, const char *settings, const rs_model *model,
                                       rs_token_run *runs, size_t count, size_t after) {
  rs_token_layout layout = {.runs = runs, .count = count};
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding = encode_recipe(&recipe, model, rs_token_layout_tokens(&layout) + after, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

#endif
