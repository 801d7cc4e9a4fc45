/* test_curve_rows.c: what metrics say before a run of how long their curves get, and of what rows must hold. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/bound.h"
#include "../fixtures/vision_model.h"
#include "../golden.h"
#include "metrics/metrics.h"

/* ---- what rows must hold ----------------------------------------------------------------------------------------- */

static size_t four(const void *params) {
  (void)params;
  return 4;
}

static size_t eight(const void *params) {
  (void)params;
  return 8;
}

static void no_row(void *state, const rs_row *row) {
  (void)state;
  (void)row;
}

static const rs_metric_kind first_four = {.kind.name = "first_four", .row = no_row, .sinks = four};
static const rs_metric_kind also_four = {.kind.name = "also_four", .row = no_row, .sinks = four};
static const rs_metric_kind first_eight = {.kind.name = "first_eight", .row = no_row, .sinks = eight};

Test(row_needs, metrics__each_adds_its_own) {
  rs_row_needs needs = {0};
  bound_params sink;
  bound_make(&sink, &rs_metric_find("sink_mass")->kind);
  bound_set(&sink, "tokens", "1");
  cr_assert_eq(rs_row_needs_add(&needs, rs_metric_find("sink_mass"), sink.binding.fields, NULL), RS_OK);
  cr_expect_eq(needs.sinks, 1);
  needs = (rs_row_needs){0};
  bound_set(&sink, "tokens", "7");
  cr_assert_eq(rs_row_needs_add(&needs, rs_metric_find("alias"), NULL, NULL), RS_OK);
  cr_expect(!needs.rows && !needs.moments && needs.sinks == 0, "alias reads tables");
  cr_assert_eq(rs_row_needs_add(&needs, rs_metric_find("sink_mass"), sink.binding.fields, NULL), RS_OK);
  cr_expect(needs.rows && !needs.moments && needs.sinks == 7, "sink_mass: %zu", needs.sinks);
  cr_assert_eq(rs_row_needs_add(&needs, rs_metric_find("entropy_scaling"), NULL, NULL), RS_OK);
  cr_expect(needs.rows && needs.moments && needs.sinks == 7, "entropy_scaling adds moments");
  bound_clear(&sink);
}

Test(row_needs, different_numbers_of_first_keys__are_refused_naming_both) {
  rs_row_needs needs = {0};
  rs_err err = {0};
  cr_assert_eq(rs_row_needs_add(&needs, &first_four, NULL, NULL), RS_OK);
  cr_assert_eq(rs_row_needs_add(&needs, &also_four, NULL, NULL), RS_OK);
  cr_assert_eq(rs_row_needs_add(&needs, &first_eight, NULL, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "first_eight needs the weight of the first 8 keys, and another metric that of 4 (rows "
                                "hold one of them)");
  cr_expect_eq(needs.sinks, 4);
}

/* ---- curves ------------------------------------------------------------------------------------------------------ */

enum { HEADS = 2, MODELS_DIMS = 16, PER_OCTAVE = 3 };

/* An encoding to draw curves of. */
typedef struct world {
  const char *method, *settings;
  rs_token_run runs[3];
  size_t run_count, length;
} world;

static const world worlds[] = {
    {"rope", "", {{0}}, 0, 1},
    {"rope", "", {{0}}, 0, 1500},
    {"alibi", "", {{0}}, 0, 40},
    {"sinusoidal", "", {{0}}, 0, 2500},
    {"mrope", "", {{RS_TEXT, 3, 0, 0, 0, 1, 1}, {RS_IMAGE, 12, 1, 3, 4, 1, 1}, {RS_VIDEO, 30, 5, 2, 3, 1, 1}}, 3, 60},
    {"sinusoidal_2d", "", {{RS_IMAGE, 150 * 70, 1, 150, 70, 1, 1}}, 1, 150 * 70},
};

/* Parameters that lengthen or shorten a curve. */
static const struct {
  const char *metric, *name, *text;
} variations[] = {
    {"decay", "distances", "all"},
    {"decay", "per_octave", "100"},
    {"decay", "per_octave", "1"}, /* the first key of all stands beside the bins */
    {"axis_decay", "distances", "all"},
    {"axis_decay", "reach", "77"},
    {"grid_decay", "run", "video"},
    {"grid_decay", "most_rows", "9"},
    {"calibration", "per_octave", "2"},
    {"shift_invariance", "shift", "40"},
    {"shift_invariance", "per_octave", "50"},
    {"shift_invariance", "per_octave", "1"},
};

static rs_encoding *encode_world(const world *w, const rs_model *model) {
  rs_token_run runs[3];
  memcpy(runs, w->runs, sizeof runs);
  rs_token_layout layout = {.runs = runs, .count = w->run_count};
  rs_recipe recipe = make_recipe(w->method, w->settings);
  rs_encoding *encoding = encode_recipe(&recipe, model, w->length, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* Rows of the curve as it comes out, and in *most what the metric said. Metrics of heads are shown none. */
static size_t rows_of(const rs_metric_kind *kind, const void *params, const rs_encoding *encoding, size_t *most) {
  static const size_t heads[] = {0};
  rs_result result = {.curve.columns = kind->curve_count};
  rs_err err = {0};
  void *state = NULL;
  size_t *edges, bins;
  cr_assert_eq(rs_log_edges(encoding->length, PER_OCTAVE, &edges, &bins, NULL), RS_OK);
  for (size_t i = 0; i < kind->curve_count; i++) result.curve.columns += kind->curve[i].sampled;
  rs_metric_in in = {encoding, params, heads, 1, edges, bins, 0};
  if (kind->prepare != NULL) cr_assert_eq(kind->prepare(&in, &state, NULL), RS_OK);
  cr_assert_eq(kind->finish(&in, state, &result, &err), RS_OK, "%s: %s", kind->kind.name, err.message);
  *most = kind->curve_rows(params, &(rs_curve_in){.length = encoding->length,
                                                  .pairs = encoding->head_dim / 2,
                                                  .width = encoding->width,
                                                  .bins = rs_log_bins(encoding->length, PER_OCTAVE),
                                                  .tokens = &encoding->tokens});
  size_t rows = result.curve.rows;
  rs_curve_clear(&result.curve);
  free(edges);
  free(state);
  return rows;
}

/* No curve is longer than the metric says, and the longest of them is at least half of that. */
static void check_curves(const rs_metric_kind *kind, const char *name, const char *text,
                         rs_encoding *const *encodings) {
  bound_params parameters;
  double nearest = 0;
  bound_make(&parameters, &kind->kind);
  if (name != NULL) bound_set(&parameters, name, text);
  for (size_t w = 0; w < RS_COUNT(worlds); w++) {
    if (kind->needs_picture && worlds[w].run_count == 0) continue;
    size_t most, rows = rows_of(kind, parameters.binding.fields, encodings[w], &most);
    cr_expect_leq(rows, most, "%s %s=%s of %s at %zu: %zu rows, not %zu", kind->kind.name, name, text, worlds[w].method,
                  worlds[w].length, rows, most);
    if (most > 0 && (double)rows / (double)most > nearest) nearest = (double)rows / (double)most;
  }
  bool needs_heads = rs_metric_observes(kind) && strcmp(kind->kind.name, "distance_mass") != 0;
  if (!needs_heads) cr_expect_geq(nearest, 0.5, "%s %s=%s: %g", kind->kind.name, name, text, nearest);
  bound_clear(&parameters);
}

Test(curve_rows, of_every_metric__bound_what_comes_out) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  rs_encoding *encodings[RS_COUNT(worlds)];
  rs_model model = vision_model();
  model.heads = HEADS;
  for (size_t w = 0; w < RS_COUNT(worlds); w++) encodings[w] = encode_world(&worlds[w], &model);
  for (size_t i = 0; i < count; i++) {
    cr_expect_eq(kinds[i]->curve_count > 0, kinds[i]->curve_rows != NULL, "%s", kinds[i]->kind.name);
    if (kinds[i]->curve_rows != NULL && kinds[i]->read == NULL) check_curves(kinds[i], NULL, NULL, encodings);
  }
  for (size_t v = 0; v < RS_COUNT(variations); v++)
    check_curves(rs_metric_find(variations[v].metric), variations[v].name, variations[v].text, encodings);
  for (size_t w = 0; w < RS_COUNT(worlds); w++) rs_encoding_free(encodings[w]);
}
