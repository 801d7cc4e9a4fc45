/* test_metrics.c: every metric against values recomputed here from first principles, and against published numbers.
 */
#include <criterion/criterion.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ropescope/metrics.h"

/* ---- encodings --------------------------------------------------------------------------------------------------- */

static void *obtain(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  cr_assert_not_null(memory);
  return memory;
}

/* Llama-2's geometry, at any head dim and number of heads. */
static rs_model model_of(size_t heads, size_t dims) {
  return (rs_model){.heads = heads,
                    .head_dim = dims,
                    .rotary_dim = dims,
                    .rope_theta = 10000,
                    .train_length = 4096,
                    .max_length = 4096};
}

/* `settings` are name, value pairs that end at the first NULL. */
static rs_encoding *encode_layout(const char *method, const rs_model *model, size_t length,
                                  const char *const settings[], const rs_token_layout *tokens) {
  rs_recipe recipe;
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(method), NULL), RS_OK, "%s", method);
  for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2)
    cr_assert_eq(rs_recipe_set(&recipe, settings[i], settings[i + 1], &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_encoding_create(&recipe, model, length, tokens, NULL, &encoding, &err), RS_OK, "%s", err.message);
  rs_recipe_clear(&recipe);
  return encoding;
}

static rs_encoding *encode(const char *method, const rs_model *model, size_t length, const char *const settings[]) {
  return encode_layout(method, model, length, settings, NULL);
}

/* ---- running a metric -------------------------------------------------------------------------------------------- */

/* One metric with its settings, state and result. */
typedef struct bench {
  const rs_metric_kind *kind;
  const rs_param *params[8];
  rs_settings settings;
  rs_metric_in in;
  void *state;
  rs_result result;
  size_t head;
} bench;

/* Columns of the curve's CSV: a sampled one is followed by its standard error. */
static size_t curve_columns(const rs_metric_kind *kind) {
  size_t columns = kind->curve_count;
  for (size_t i = 0; i < kind->curve_count; i++) columns += kind->curve[i].sampled;
  return columns;
}

static void bench_open(bench *b, const char *metric, const rs_encoding *encoding, const size_t *edges, size_t bins) {
  *b = (bench){.kind = rs_metric_find(metric)};
  cr_assert_not_null(b->kind, "%s", metric);
  for (size_t i = 0; i < b->kind->kind.param_count; i++) b->params[i] = &b->kind->kind.params[i];
  cr_assert_eq(rs_settings_init(&b->settings, b->params, b->kind->kind.param_count, NULL), RS_OK);
  b->in = (rs_metric_in){encoding, &b->settings, &b->head, 1, edges, bins, 0};
  b->state = b->kind->state_size != NULL ? obtain(1, b->kind->state_size(&b->in)) : NULL;
  b->result.curve.columns = curve_columns(b->kind);
}

static void bench_set(bench *b, const char *name, const char *value) {
  int index = rs_settings_find(&b->settings, name);
  cr_assert_geq(index, 0);
  cr_assert_eq(rs_value_parse(b->params[index], value, &b->settings.values[index], NULL), RS_OK);
}

static void bench_feed(bench *b, const rs_observation *observation) {
  for (size_t i = 0; i < observation->count; i++) b->kind->row(&b->in, b->state, &observation->rows[i]);
}

static void bench_finish(bench *b) {
  rs_err err = {0};
  cr_assert_eq(b->kind->finish(&b->in, b->state, &b->result, &err), RS_OK, "%s", err.message);
}

static void bench_close(bench *b) {
  rs_curve_clear(&b->result.curve);
  rs_settings_clear(&b->settings);
  free(b->state);
}

static double cell(const bench *b, size_t row, size_t column) {
  cr_assert(row < b->result.curve.rows && column < b->result.curve.columns);
  return b->result.curve.cells[row * b->result.curve.columns + column];
}

/* The scalar `index` of a metric that reads the tables alone. */
static double table_scalar(const char *metric, const rs_encoding *encoding, size_t index) {
  bench b;
  bench_open(&b, metric, encoding, NULL, 0);
  bench_finish(&b);
  double value = b.result.value[index];
  bench_close(&b);
  return value;
}

/* The same for a method of Llama-2's geometry at a length. */
static double llama2(const char *metric, size_t index, const char *method, size_t length,
                     const char *const settings[]) {
  rs_model model = model_of(1, 128);
  rs_encoding *encoding = encode(method, &model, length, settings);
  double value = table_scalar(metric, encoding, index);
  rs_encoding_free(encoding);
  return value;
}

/* Equal, a NaN to a NaN, up to `slack` of the larger of 1 and the value. */
static void agrees(double got, long double want, double slack, const char *what) {
  bool same = isnan(want) ? isnan(got) : fabsl(got - want) <= slack * fmaxl(1, fabsl(want));
  if (!same) cr_assert_fail("%s: %.17g, should be %.17Lg", what, got, want);
}

/* ---- the catalogue ----------------------------------------------------------------------------------------------- */

static const struct {
  const char *unit, *in_name;
} units[] = {{"nats", "_nats"}, {"tokens", "_tokens"},
             {"rad", "_rad"},   {"pairs", "_pairs"},
             {"keys", "_keys"}, {"frames", "_frames"},
             {"rows", "_rows"}, {"columns", "_columns"},
             {"ids", "_ids"},   {"1", ""},
             {"", ""},          {"rad/token", "_rad_per_token"}};

static void check_column(const rs_column *column) {
  cr_assert(column->name != NULL && column->unit != NULL && column->summary != NULL);
  cr_assert(strlen(column->name) > 0 && strlen(column->summary) > 0, "%s", column->name);
  bool known = false;
  for (size_t i = 0; i < RS_COUNT(units); i++) {
    if (strcmp(column->unit, units[i].unit) != 0) continue;
    known = true;
    cr_assert_not_null(strstr(column->name, units[i].in_name), "%s is in %s", column->name, column->unit);
  }
  cr_assert(known, "%s has the unknown unit %s", column->name, column->unit);
}

Test(catalogue, columns__of_every_metric__have_name_unit_and_summary) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  cr_assert_geq(count, 16);
  for (size_t i = 0; i < count; i++) {
    const rs_metric_kind *kind = kinds[i];
    cr_assert_eq(rs_metric_find(kind->kind.name), kind);
    cr_assert(strlen(kind->kind.summary) > 0 && strlen(kind->kind.reference) > 0 && kind->kind.version > 0);
    cr_assert(kind->scalar_count <= RS_METRIC_SCALARS && kind->scalar_count + kind->curve_count > 0);
    cr_assert(kind->curve_count == 0 ? kind->index_count == 0 : kind->index_count < kind->curve_count);
    cr_assert_eq(kind->row != NULL, kind->state_size != NULL);
    for (size_t c = 0; c < kind->scalar_count; c++) check_column(&kind->scalars[c]);
    for (size_t c = 0; c < kind->curve_count; c++) check_column(&kind->curve[c]);
    for (size_t c = 0; c < kind->index_count; c++) cr_assert_not(kind->curve[c].sampled);
  }
  cr_assert_null(rs_metric_find("perplexity"));
}

/* The names of `columns`, with those of the standard errors, appended to `names`. */
static size_t add_names(const rs_column *columns, size_t count, char names[][64], size_t used) {
  for (size_t i = 0; i < count; i++) {
    snprintf(names[used++], sizeof names[0], "%s", columns[i].name);
    if (columns[i].sampled) snprintf(names[used++], sizeof names[0], "%s_se", columns[i].name);
  }
  return used;
}

static void check_unique(char names[][64], size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) cr_assert_str_neq(names[i], names[j]);
}

Test(catalogue, names__of_summary_columns_and_of_each_curve__are_unique) {
  size_t count, used = 0;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  char summary[256][64], curve[32][64];
  for (size_t i = 0; i < count; i++) {
    used = add_names(kinds[i]->scalars, kinds[i]->scalar_count, summary, used);
    check_unique(curve, add_names(kinds[i]->curve, kinds[i]->curve_count, curve, 0));
    for (size_t j = 0; j < i; j++) cr_assert_str_neq(kinds[i]->kind.name, kinds[j]->kind.name);
  }
  check_unique(summary, used);
}

Test(curve, added_rows__are_kept_in_order) {
  rs_curve curve = {.columns = 3};
  for (size_t i = 0; i < 1000; i++) {
    double row[] = {(double)i, 2.0 * i, -1.0 * i};
    cr_assert_eq(rs_curve_add(&curve, row, NULL), RS_OK);
  }
  cr_assert_eq(curve.rows, 1000);
  for (size_t i = 0; i < 3000; i++)
    cr_assert_eq(curve.cells[i], (double)(i / 3) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : -1));
  rs_curve_clear(&curve);
  cr_assert(curve.cells == NULL && curve.rows == 0 && curve.capacity == 0 && curve.columns == 3);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* Turn of pair j between positions that are `distance` apart. */
static long double turn(const rs_encoding *e, size_t j, long double distance) {
  return j < e->rotary_dim / 2 ? distance * e->omega[j] : 0;
}

static long double mean_cosine(const rs_encoding *e, long double distance) {
  long double sum = 0;
  for (size_t j = 0; j < e->head_dim / 2; j++) sum += cosl(turn(e, j, distance));
  return sum / (e->head_dim / 2);
}

/* Mean over k of |S_k|, each S_k summed afresh. */
static long double roformer_bound(const rs_encoding *e, long double distance) {
  long double mean = 0;
  for (size_t k = 1; k <= e->head_dim / 2; k++) {
    long double real = 0, imaginary = 0;
    for (size_t j = 0; j < k; j++) {
      real += cosl(turn(e, j, distance));
      imaginary += sinl(turn(e, j, distance));
    }
    mean += sqrtl(real * real + imaginary * imaginary) / (e->head_dim / 2);
  }
  return mean;
}

static void open_decay(bench *b, const rs_encoding *encoding, const char *distances) {
  bench_open(b, "decay", encoding, NULL, 0);
  bench_set(b, "distances", distances);
  bench_finish(b);
}

/* As published: RoFormer's C(m) and the mean cosine B_m / (d/2), d = 128, base 1e4. */
Test(decay, roformer_geometry__bound_and_mean_cosine__are_the_published_ones) {
  static const double bound[][2] = {{0, 32.5}, {10, 17.954}, {100, 10.227}, {1000, 4.471}};
  static const double cosine[][2] = {{0, 1}, {1, 0.9702}, {10, 0.6691}, {1000, 0.1590}, {4096, -0.0529}};
  rs_model model = model_of(1, 128);
  rs_encoding *encoding = encode("rope", &model, 4097, NULL);
  bench b;
  open_decay(&b, encoding, "all");
  cr_assert_eq(b.result.curve.rows, 4097);
  for (size_t i = 0; i < RS_COUNT(bound); i++) agrees(cell(&b, (size_t)bound[i][0], 2), bound[i][1], 5e-4 / 4, "C(m)");
  for (size_t i = 0; i < RS_COUNT(cosine); i++) agrees(cell(&b, (size_t)cosine[i][0], 1), cosine[i][1], 5e-5, "B_m");
  agrees(cell(&b, 0, 2), 32.5, 1e-15, "C(0)");
  agrees(b.result.value[0], cell(&b, 4096, 1), 0, "mean_cosine_at_length");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* Every row of the curve, for methods with one view, where the relative position is the distance. */
static void check_decay(const rs_encoding *encoding, const char *distances) {
  bench b;
  open_decay(&b, encoding, distances);
  for (size_t i = 0; i < b.result.curve.rows; i++) {
    double distance = cell(&b, i, 0);
    cr_assert(i == 0 ? distance == 0 : distance > cell(&b, i - 1, 0));
    agrees(cell(&b, i, 1), mean_cosine(encoding, distance), 1e-13, "mean_cosine");
    agrees(cell(&b, i, 2), roformer_bound(encoding, distance), 1e-13, "roformer_bound");
    agrees(cell(&b, i, 3), NAN, 0, "bias_nats");
  }
  agrees(b.result.value[0], mean_cosine(encoding, encoding->length - 1.0L), 1e-13, "mean_cosine_at_length");
  bench_close(&b);
}

Test(decay, rotary_methods__every_distance__is_recomputed) {
  static const char *const partial[] = {"rotary_dim", "6", NULL};
  static const char *const *const settings[] = {NULL, partial};
  static const char *const methods[] = {"rope", "pi", "ntk", "yarn"};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t s = 0; s < RS_COUNT(settings); s++) {
      rs_model model = model_of(2, 16);
      rs_encoding *encoding = encode(methods[i], &model, 300, settings[s]);
      check_decay(encoding, "all");
      check_decay(encoding, "log");
      rs_encoding_free(encoding);
    }
}

Test(decay, log_distances__are_the_log_edges) {
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("rope", &model, 1000, NULL);
  size_t *edges, bins;
  cr_assert_eq(rs_log_edges(1000, 3, &edges, &bins, NULL), RS_OK);
  bench b;
  bench_open(&b, "decay", encoding, NULL, 0);
  bench_set(&b, "per_octave", "3");
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, bins + 1);
  for (size_t i = 0; i < bins; i++) cr_assert_eq(cell(&b, i, 0), (double)edges[i]);
  cr_assert(cell(&b, bins, 0) == 999 && cell(&b, bins, 1) == b.result.value[0], "and the first key of all");
  bench_close(&b);
  free(edges);
  rs_encoding_free(encoding);
}

/* Self-Extend is read through the view of each key: at the last query m, floor(m/G) + w - floor(w/G) - floor(n/G)
 * beyond the window. */
Test(decay, self_extend__far_keys__stand_in_groups) {
  static const char *const settings[] = {"group", "4", "window", "10", NULL};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("self_extend", &model, 100, settings);
  bench b;
  open_decay(&b, encoding, "all");
  for (size_t x = 0; x < 100; x++) {
    double relative = x < 10 ? (double)x : (double)(99 / 4 + 10 - 10 / 4) - (double)((99 - x) / 4);
    agrees(cell(&b, x, 1), mean_cosine(encoding, relative), 1e-13, "mean_cosine");
    agrees(cell(&b, x, 2), roformer_bound(encoding, relative), 1e-13, "roformer_bound");
  }
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* Nothing turns; the bias is the mean over the simulated heads, slopes 2^-2, 2^-6 of H = 4, heads 0 and 2. */
Test(decay, alibi_and_nope__kernel_is_one__bias_is_the_mean_of_heads) {
  static const size_t heads[] = {0, 2};
  static const char *const methods[] = {"alibi", "nope"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_model model = model_of(4, 12);
    rs_encoding *encoding = encode(methods[i], &model, 50, NULL);
    bench b;
    bench_open(&b, "decay", encoding, NULL, 0);
    b.in.heads = heads;
    b.in.head_count = RS_COUNT(heads);
    bench_finish(&b);
    for (size_t row = 0; row < b.result.curve.rows; row++) {
      agrees(cell(&b, row, 1), 1, 0, "mean_cosine");
      agrees(cell(&b, row, 2), 3.5, 1e-15, "roformer_bound");
      agrees(cell(&b, row, 3), i == 0 ? -cell(&b, row, 0) * (0.25 + 1 / 64.0) / 2 : NAN, 1e-15, "bias_nats");
    }
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* logit / sqrt(D) of the last query against every key when all contents are 1: what attention makes of the kernel.
 * Release with free(). */
static double *constant_row(const rs_encoding *encoding) {
  size_t length = encoding->length, dims = encoding->head_dim, query = length - 1;
  double *ones = obtain(length * dims, sizeof *ones), *row = obtain(length, sizeof *row), needle;
  for (size_t i = 0; i < length * dims; i++) ones[i] = 1;
  rs_attention_job job = {.encoding = encoding, .queries = &query, .query_count = 1, .q = ones, .k = ones};
  cr_assert_eq(rs_reference_row(&job, 0, row, &needle, NULL), RS_OK);
  for (size_t n = 0; n < length; n++) row[n] /= sqrt((double)dims);
  free(ones);
  return row;
}

/* In every precision the curve is what attention to equal contents does, not what it would do in double. */
Test(decay, short_formats__kernel__is_that_of_attention_to_equal_contents) {
  static const char *const methods[] = {"rope", "self_extend", "pi"};
  static const rs_format formats[] = {RS_F64, RS_F32, RS_BF16, RS_F16};
  rs_model model = model_of(1, 16);
  model.train_length = 512;
  for (size_t i = 0; i < RS_COUNT(methods) * 16; i++) {
    const rs_precision precision = {.angle = formats[i % 4], .table = formats[i / 4 % 4]};
    rs_recipe recipe;
    rs_encoding *encoding = NULL;
    cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(methods[i / 16]), NULL), RS_OK);
    cr_assert_eq(rs_encoding_create(&recipe, &model, 2000, NULL, &precision, &encoding, NULL), RS_OK);
    double *row = constant_row(encoding), largest = 0;
    bench b;
    open_decay(&b, encoding, "all");
    for (size_t x = 0; x < 2000; x++) {
      agrees(cell(&b, x, 1), row[1999 - x], 1e-12, "mean_cosine of the curve");
      agrees(rs_encoding_mean_cosine(encoding, 1999, 1999 - x), row[1999 - x], 1e-12, "mean_cosine");
      if (i < 16) largest = fmax(largest, fabs(cell(&b, x, 1) - (double)mean_cosine(encoding, x)));
    }
    agrees(b.result.value[0], row[0], 1e-12, "mean_cosine_at_length");
    if (i == 0) cr_assert_lt(largest, 1e-13, "double: off by %g", largest);
    if (i > 1 && i < 16) cr_assert_gt(largest, 1e-9, "setting %zu has no error: %g", i, largest);
    bench_close(&b);
    free(row);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

/* Men et al., arXiv:2405.14591, and what scalings make of it. */
Test(first_violation, published_geometries__distances__are_found) {
  static const char *const base_500[] = {"rope_theta", "500", NULL}, *const base_5e5[] = {"rope_theta", "5e5", NULL};
  static const char *const by_8[] = {"scale", "8", NULL};
  static const struct {
    const char *method, *const *settings;
    size_t length;
    double expected;
  } cases[] = {{"rope", NULL, 4096, 1707},    {"rope", NULL, 1708, 1707},   {"rope", NULL, 1707, NAN},
               {"rope", base_500, 1000, 171}, {"rope", base_500, 171, NAN}, {"rope", base_5e5, 20000, 18438},
               {"pi", by_8, 32768, 13649},    {"ntk", by_8, 32768, 5732},   {"yarn", by_8, 32768, 8886},
               {"nope", NULL, 4096, NAN},     {"alibi", NULL, 4096, NAN},   {"sinusoidal", NULL, 100, NAN},
               {"rope", NULL, 1, NAN}};
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    agrees(llama2("first_violation", 0, cases[i].method, cases[i].length, cases[i].settings), cases[i].expected, 0,
           cases[i].method);
}

/* The first of all integers, also where most pairs do not turn or the first token is already past it. */
Test(first_violation, small_heads__first_negative__is_the_one_a_plain_search_finds) {
  static const char *const thetas[] = {"1.5", "3", "10", "100"};
  for (size_t dims = 2; dims <= 12; dims += 2)
    for (size_t t = 0; t < RS_COUNT(thetas); t++) {
      const char *const settings[] = {"rope_theta", thetas[t], NULL};
      rs_model model = model_of(1, dims);
      rs_encoding *encoding = encode("rope", &model, 200, settings);
      double expected = NAN;
      for (size_t m = 199; m >= 1; m--)
        if (mean_cosine(encoding, m) < 0) expected = (double)m;
      agrees(table_scalar("first_violation", encoding, 0), expected, 0, thetas[t]);
      rs_encoding_free(encoding);
    }
}

/* Stretched to 2 rad a token, the very next key is past a quarter turn. */
Test(first_violation, fast_pair__neighbour__is_the_first) {
  static const char *const half[] = {"scale", "0.5", NULL};
  rs_model model = model_of(1, 2);
  rs_encoding *encoding = encode("pi", &model, 10, half);
  agrees(table_scalar("first_violation", encoding, 0), 1, 0, "cos 2 < 0");
  rs_encoding_free(encoding);
}

/* ---- three axes -------------------------------------------------------------------------------------------------- */

enum { VISION_TOKENS = 44, VISION_DIMS = 24 };

/* 2 text, a video of 3 x 2 x 7 patches to the end; t, h and w reach differently far. `ids` (L, 3). */
static rs_encoding *encode_vision(double *ids) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 2}, {RS_VIDEO, 42, 3, 2, 7, 5, 1}};
  rs_token_layout layout = {runs, RS_COUNT(runs)};
  rs_model model = model_of(1, VISION_DIMS);
  model.train_length = 10;
  cr_assert_eq(rs_token_positions(&layout, NULL, VISION_TOKENS, ids, NULL, NULL), RS_OK);
  return encode_layout("mrope", &model, VISION_TOKENS, NULL, &layout);
}

/* Thirds of the 12 pairs read t, h, w. */
static size_t axis_of(size_t pair) {
  return pair / 4;
}

Test(three_axes, decay__of_mrope__reads_each_pair_on_its_axis) {
  double ids[VISION_TOKENS * RS_AXES];
  rs_encoding *encoding = encode_vision(ids);
  bench b;
  open_decay(&b, encoding, "all");
  for (size_t x = 0; x < VISION_TOKENS; x++) {
    const double *q = ids + (VISION_TOKENS - 1) * RS_AXES, *k = ids + (VISION_TOKENS - 1 - x) * RS_AXES;
    long double real = 0, imaginary = 0, bound = 0;
    for (size_t j = 0; j < VISION_DIMS / 2; j++) {
      long double angle = (q[axis_of(j)] - k[axis_of(j)]) * powl(10000, -2.0L * j / VISION_DIMS);
      real += cosl(angle);
      imaginary += sinl(angle);
      bound += hypotl(real, imaginary) / (VISION_DIMS / 2);
    }
    agrees(cell(&b, x, 1), real / (VISION_DIMS / 2), 1e-13, "mean_cosine");
    agrees(cell(&b, x, 2), bound, 1e-13, "roformer_bound");
  }
  bench_close(&b);
  rs_encoding_free(encoding);
}

Test(three_axes, ood_angles__of_mrope__reach_of_each_axis_counts) {
  double ids[VISION_TOKENS * RS_AXES], reach[RS_AXES] = {0};
  rs_encoding *encoding = encode_vision(ids);
  for (size_t m = 0; m < VISION_TOKENS; m++)
    for (size_t n = 0; n <= m; n++)
      for (size_t a = 0; a < RS_AXES; a++) reach[a] = fmax(reach[a], fabs(ids[m * RS_AXES + a] - ids[n * RS_AXES + a]));
  cr_assert(reach[0] > reach[2] && reach[2] > reach[1]);
  bench b;
  bench_open(&b, "ood_angles", encoding, NULL, 0);
  bench_finish(&b);
  for (size_t j = 0; j < VISION_DIMS / 2; j++) {
    long double omega = powl(10000, -2.0L * j / VISION_DIMS);
    agrees(cell(&b, j, 1), 10 * omega, 1e-14, "trained_rad");
    agrees(cell(&b, j, 2), reach[axis_of(j)] * omega, 1e-14, "reached_rad");
  }
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* NTK-aware scaling (bloc97, 2023): Llama-2 stretched from 4096 tokens by s. */
Test(ood_angles, llama2_stretched__pairs_and_overshoot__are_the_published_ones) {
  static const char *const by[][3] = {{"scale", "2"}, {"scale", "8"}, {"scale", "32"}};
  static const struct {
    const char *method;
    size_t scale;
    double pairs, overshoot;
  } cases[] = {{"ntk", 0, NAN, 1.12}, {"ntk", 1, 17, 4.11}, {"ntk", 2, NAN, 8.45}, {"pi", 0, 0, 0},  {"pi", 1, 0, 0},
               {"pi", 2, 0, 0},       {"yarn", 0, 0, 0},    {"yarn", 1, 0, 0},     {"yarn", 2, 0, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t length = 4096 * (size_t)atoi(by[cases[i].scale][1]);
    double pairs = llama2("ood_angles", 0, cases[i].method, length, by[cases[i].scale]);
    if (!isnan(cases[i].pairs)) agrees(pairs, cases[i].pairs, 0, cases[i].method);
    double overshoot = llama2("ood_angles", 1, cases[i].method, length, by[cases[i].scale]);
    cr_assert_float_eq(overshoot, cases[i].overshoot, 0.005, "%s: %g rad", cases[i].method, overshoot);
  }
}

/* A reach of the trained length is that of training; one token further, every pair that has not gone full circle is
 * out. */
Test(ood_angles, rope_around_the_trained_length__curve__is_recomputed) {
  static const size_t lengths[] = {1000, 4096, 4097, 4098, 9000};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    rs_model model = model_of(1, 128);
    rs_encoding *encoding = encode("rope", &model, lengths[i], NULL);
    double pairs = 0, largest = 0;
    bench b;
    bench_open(&b, "ood_angles", encoding, NULL, 0);
    bench_finish(&b);
    cr_assert_eq(b.result.curve.rows, 64);
    for (size_t j = 0; j < 64; j++) {
      long double omega = powl(10000, -2.0L * j / 128), trained = 4096 * omega, reached = (lengths[i] - 1) * omega;
      bool outside = trained < 2 * M_PI && lengths[i] > 4097;
      pairs += outside;
      largest = fmax(largest, outside ? (double)(reached - trained) : 0);
      agrees(cell(&b, j, 0), j, 0, "pair");
      agrees(cell(&b, j, 1), trained, 1e-14, "trained_rad");
      agrees(cell(&b, j, 2), reached, 1e-14, "reached_rad");
      agrees(cell(&b, j, 3), outside ? reached - trained : 0, 1e-13, "overshoot_rad");
    }
    agrees(b.result.value[0], pairs, 0, "ood_pairs");
    agrees(b.result.value[1], largest, 1e-13, "ood_overshoot_rad");
    cr_assert_eq(pairs, lengths[i] > 4097 ? 18 : 0); /* pairs 46 .. 63: wavelengths beyond 4096 tokens */
    bench_close(&b);
    rs_encoding_free(encoding);
  }
  agrees(llama2("ood_angles", 0, "nope", 9000, NULL), 0, 0, "nope");
}

/* Distances that are stretched or capped to the trained length itself; a third of an angle has no exact double. */
Test(ood_angles, reach_of_the_trained_length__any_way_it_comes__is_in_range) {
  static const char *const third[] = {"factor", "3", NULL}, *const seventh[] = {"factor", "7", NULL};
  static const char *const window[] = {"group", "8", "window", "512", NULL};
  static const struct {
    const char *method, *const *settings;
    size_t length; /* the longest in range */
  } cases[] = {{"rope", NULL, 4097},
               {"pi", third, 3 * 4096 + 1},
               {"pi", seventh, 7 * 4096 + 1},
               {"yarn", third, 3 * 4096 + 1},
               {"self_extend", window, 8 * (4096 - 512 + 64) + 8}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    agrees(llama2("ood_angles", 0, cases[i].method, cases[i].length, cases[i].settings), 0, 0, cases[i].method);
    agrees(llama2("ood_angles", 1, cases[i].method, cases[i].length, cases[i].settings), 0, 0, cases[i].method);
    cr_expect_gt(llama2("ood_angles", 0, cases[i].method, cases[i].length + 1, cases[i].settings), 0, "%s",
                 cases[i].method);
  }
}

Test(local_resolution, drop_at_distance_one__and_the_share_kept__are_recomputed) {
  static const char *const by_4[] = {"scale", "4", NULL}, *const partial[] = {"rotary_dim", "32", NULL};
  static const struct {
    const char *method, *const *settings;
    double divisor; /* of every omega */
    size_t turning;
  } cases[] = {{"rope", NULL, 1, 64}, {"pi", by_4, 4, 64}, {"rope", partial, 1, 16}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    long double drop = 0, trained = 0;
    for (size_t j = 0; j < cases[i].turning; j++) {
      long double omega = powl(10000, -(long double)j / cases[i].turning);
      trained += (1 - cosl(omega)) / 64;
      drop += (1 - cosl(omega / cases[i].divisor)) / 64;
    }
    agrees(llama2("local_resolution", 0, cases[i].method, 500, cases[i].settings), drop, 1e-14, "drop");
    agrees(llama2("local_resolution", 1, cases[i].method, 500, cases[i].settings), drop / trained, 1e-13, "kept");
  }
  agrees(llama2("local_resolution", 1, "rope", 500, NULL), 1, 0, "plain RoPE keeps all, to the last bit");
  agrees(llama2("local_resolution", 0, "rope", 500, NULL), 1 - 0.9702, 5e-5, "1 - B_1 / (d/2)");
}

Test(local_resolution, nothing_turns_or_one_token__is_undefined) {
  for (size_t index = 0; index < 2; index++) {
    agrees(llama2("local_resolution", index, "nope", 500, NULL), NAN, 0, "nope");
    agrees(llama2("local_resolution", index, "alibi", 500, NULL), NAN, 0, "alibi");
    agrees(llama2("local_resolution", index, "rope", 1, NULL), NAN, 0, "one token");
  }
}

/* ---- observed rows ----------------------------------------------------------------------------------------------- */

static rs_observation *observe(rs_attention_job *job) {
  rs_engine *engine;
  rs_observation *observation;
  rs_err err = {0};
  const rs_encoding *e = job->encoding;
#ifdef _OPENMP
  omp_set_num_threads(1); /* more would only wait for each other beside the other cases */
#endif
  job->scores = RS_SCORES_F64;
  job->moments = true;
  cr_assert_eq(rs_engine_create(e->length, e->head_dim, e->views, &engine, NULL), RS_OK);
  cr_assert_eq(rs_engine_run(engine, job, &observation, &err), RS_OK, "%s", err.message);
  rs_engine_free(engine);
  return observation;
}

/* Every integer its own bin. */
static size_t *every_distance(size_t length) {
  size_t *edges = obtain(length + 1, sizeof *edges);
  for (size_t i = 0; i <= length; i++) edges[i] = i;
  return edges;
}

static double *constant(size_t count, double value) {
  double *out = obtain(count, sizeof *out);
  for (size_t i = 0; i < count; i++) out[i] = value;
  return out;
}

static double *gaussian(uint64_t seed, size_t count) {
  double *out = obtain(count, sizeof *out);
  rs_gaussian_fill((rs_stream){seed, 0x7e57, 0}, 0, count, out);
  return out;
}

/* ALiBi, arXiv:2108.12409, section 3, through the engine: equal content under ALiBi falls off as (1 - e^-m) e^(-m x),
 * and 99 % of it lies within ceil(ln 100 / m) tokens. */
static void check_alibi(size_t head, const rs_encoding *encoding, const size_t *edges, double window) {
  size_t length = encoding->length, last = length - 1, reached = 0;
  double *q = constant(8, 1), *k = constant(8 * length, 1), sum = 0;
  rs_attention_job job = {.encoding = encoding, .head = head, .queries = &last, .query_count = 1, .q = q, .k = k};
  job.edges = edges;
  job.bins = length;
  rs_observation *observation = observe(&job);
  bench b;
  bench_open(&b, "distance_mass", encoding, edges, length);
  bench_feed(&b, observation);
  bench_finish(&b);
  long double slope = powl(2, -(head + 1.0L)), lost = expl(-slope * length);
  for (size_t x = 0; x < length; x++) {
    long double expected = (1 - expl(-slope)) * expl(-slope * x) / (1 - lost);
    cr_assert_float_eq(cell(&b, x, 2), (double)expected, 1e-14, "head %zu, distance %zu", head, x);
    cr_assert(isnan(cell(&b, x, 3)), "one row has no standard error");
    sum += cell(&b, x, 2);
    reached += sum < 0.99;
  }
  cr_assert_eq((double)(reached + 1), window, "head %zu: %zu", head, reached + 1);
  agrees(b.result.value[0], logl(2) / slope, 0.2, "median: ln 2 / m up to its token");
  bench_close(&b);
  rs_observation_free(observation);
  free(q);
  free(k);
}

Test(distance_mass, alibi_equal_content__weights_and_windows__are_those_of_the_paper) {
  static const double windows[] = {10, 19, 37, 74, 148, 295, 590, 1179};
  rs_model model = model_of(8, 8);
  rs_encoding *encoding = encode("alibi", &model, 8192, NULL);
  size_t *edges = every_distance(8192);
  for (size_t head = 0; head < 8; head++) check_alibi(head, encoding, edges, windows[head]);
  free(edges);
  rs_encoding_free(encoding);
}

/* Rows as the engine might have made them, for the arithmetic of the metrics alone. */
enum { ROWS = 5, BINS = 3 };

typedef struct made_rows {
  rs_row rows[ROWS];
  double weight[ROWS][BINS], keys[ROWS][BINS], mean[ROWS][BINS], squares[ROWS][BINS];
  rs_observation observation;
} made_rows;

static const size_t made_edges[BINS + 1] = {0, 4, 16, 100};

static void make_rows(made_rows *made) {
  static const double weights[ROWS][BINS] = {
      {0.2, 0.3, 0.5}, {0.1, 0.1, 0.8}, {1, 0, 0}, {0.25, 0.5, 0.25}, {0.05, 0.15, 0.8}};
  *made = (made_rows){.observation = {.rows = made->rows, .count = ROWS, .bins = BINS}};
  memcpy(made->weight, weights, sizeof weights);
  for (size_t i = 0; i < ROWS; i++) {
    double x = (double)i;
    made->rows[i] = (rs_row){.query = 10 * i,
                             .keys = i == 2 ? 1 : 10 * i + 2,
                             .entropy = i == 2 ? 0 : 0.5 + 0.3 * x * x,
                             .sink_weight = 1 / (x + 1),
                             .needle_planted = true,
                             .has_needle = i != 3,
                             .needle_distance = i == 4 ? 99 : 4 * i,
                             .needle_logit = i == 3 ? 1e9 : 2 - x,
                             .needle_weight = i == 3 ? 0 : 0.1 * x + 0.05,
                             .needle_rank = i == 3 ? 0 : i / 2,
                             .bin_weight = made->weight[i],
                             .bin_keys = made->keys[i],
                             .bin_mean = made->mean[i],
                             .bin_squares = made->squares[i]};
  }
}

/* Value and standard error of scalar `index`: mean and sd / sqrt(n) of a sample. */
static void check_sample(const bench *b, size_t index, const double *sample, size_t count, const char *what) {
  long double mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++) mean += sample[i] / (long double)count;
  for (size_t i = 0; i < count; i++) squares += (sample[i] - mean) * (sample[i] - mean);
  agrees(b->result.value[index], count > 0 ? mean : NAN, 1e-14, what);
  agrees(b->result.error[index], count > 1 ? sqrtl(squares / (count - 1) / count) : NAN, 1e-14, what);
}

static void open_rows(bench *b, const char *metric, const made_rows *made, size_t count) {
  bench_open(b, metric, NULL, made_edges, BINS);
  rs_observation some = made->observation;
  some.count = count;
  bench_feed(b, &some);
  bench_finish(b);
}

Test(entropy, rows__mean_share_and_effective_tokens__are_recomputed) {
  made_rows made;
  make_rows(&made);
  for (size_t count = 0; count <= ROWS; count++) {
    double entropy[ROWS] = {0}, share[ROWS] = {0}, effective[ROWS] = {0}, sink[ROWS] = {0};
    size_t shares = 0;
    for (size_t i = 0; i < count; i++) {
      entropy[i] = made.rows[i].entropy;
      effective[i] = exp(entropy[i]);
      sink[i] = made.rows[i].sink_weight;
      if (made.rows[i].keys > 1) share[shares++] = entropy[i] / log((double)made.rows[i].keys); /* ln 1 = 0 */
    }
    bench b;
    open_rows(&b, "entropy", &made, count);
    check_sample(&b, 0, entropy, count, "entropy_nats");
    check_sample(&b, 1, share, shares, "entropy_share");
    bench_close(&b);
    open_rows(&b, "effective_tokens", &made, count);
    check_sample(&b, 0, effective, count, "effective_tokens");
    bench_close(&b);
    open_rows(&b, "sink_mass", &made, count);
    check_sample(&b, 0, sink, count, "sink_mass");
    bench_close(&b);
  }
}

/* The mean weights are .32 .21 .47: half is reached .18 into the .21 of bin 4 .. 16. */
Test(distance_mass, rows__mean_weights_and_median__are_recomputed) {
  made_rows made;
  make_rows(&made);
  bench b;
  open_rows(&b, "distance_mass", &made, ROWS);
  for (size_t bin = 0; bin < BINS; bin++) {
    double sample[ROWS];
    for (size_t i = 0; i < ROWS; i++) sample[i] = made.weight[i][bin];
    b.result.value[1] = cell(&b, bin, 2);
    b.result.error[1] = cell(&b, bin, 3);
    check_sample(&b, 1, sample, ROWS, "weight");
    agrees(cell(&b, bin, 0), made_edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), made_edges[bin + 1], 0, "distance_end_tokens");
  }
  agrees(b.result.value[0], 4 + 12 * 0.18L / 0.21L, 1e-13, "median_distance_tokens");
  bench_close(&b);
  open_rows(&b, "distance_mass", &made, 3); /* .433 .133 .433 */
  agrees(b.result.value[0], 4 + 12 * (0.5L - 1.3L / 3) / (0.4L / 3), 1e-13, "median_distance_tokens");
  bench_close(&b);
  open_rows(&b, "distance_mass", &made, 0);
  agrees(b.result.value[0], NAN, 0, "no rows, no median");
  bench_close(&b);
}

/* ---- logits against distance ------------------------------------------------------------------------------------- */

/* Means and spreads of joined rows are those of all their logits together. */
Test(score_by_distance, joined_rows__mean_and_sd__are_those_of_all_logits) {
  enum { LENGTH = 60, DIMS = 4 };
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  static const size_t edges[] = {0, 1, 5, 40, 59, LENGTH};
  size_t queries[LENGTH];
  for (size_t i = 0; i < LENGTH; i++) queries[i] = i;
  double *q = gaussian(1, LENGTH * DIMS), *k = gaussian(2, LENGTH * DIMS), logits[LENGTH], needle;
  rs_attention_job job = {.encoding = encoding, .queries = queries, .query_count = LENGTH, .q = q, .k = k};
  job.edges = edges;
  job.bins = RS_COUNT(edges) - 1;
  rs_observation *observation = observe(&job);
  bench b;
  bench_open(&b, "score_by_distance", encoding, edges, job.bins);
  bench_feed(&b, observation);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, job.bins);
  for (size_t bin = 0; bin <= job.bins; bin++) { /* the last: all of them */
    size_t least = bin < job.bins ? edges[bin] : 0, most = bin < job.bins ? edges[bin + 1] : LENGTH;
    long double count = 0, sum = 0, squares = 0;
    for (size_t m = 0; m < LENGTH; m++) {
      cr_assert_eq(rs_reference_row(&job, m, logits, &needle, NULL), RS_OK);
      for (size_t n = 0; n <= m; n++)
        if (m - n >= least && m - n < most) {
          count += 1;
          sum += logits[n];
          squares += (long double)logits[n] * logits[n];
        }
    }
    long double mean = sum / count, sd = count > 1 ? sqrtl((squares - count * mean * mean) / (count - 1)) : NAN;
    agrees(bin < job.bins ? cell(&b, bin, 3) : b.result.value[0], mean, 1e-13, "mean");
    agrees(bin < job.bins ? cell(&b, bin, 4) : b.result.value[1], sd, 1e-12, "sd");
    if (bin == job.bins) break;
    agrees(cell(&b, bin, 0), least, 0, "distance_tokens");
    agrees(cell(&b, bin, 1), most, 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), count, 0, "logits");
  }
  bench_close(&b);
  rs_observation_free(observation);
  rs_encoding_free(encoding);
  free(q);
  free(k);
}

/* The gaussian source, as a sweep would feed it: one head and seed. */
static void feed_gaussian(bench *b, const rs_encoding *encoding, const size_t *edges, size_t bins, uint64_t seed) {
  const rs_source_kind *source = rs_source_find("gaussian");
  const rs_param *params[] = {&source->kind.params[0], &source->kind.params[1]};
  rs_settings settings;
  cr_assert_eq(rs_settings_init(&settings, params, 2, NULL), RS_OK);
  size_t length = encoding->length, dims = encoding->head_dim, *queries = every_distance(length);
  rs_source_in in = {.settings = &settings, .seed = seed, .head_dim = dims, .length = length};
  double *q = obtain(length * dims, sizeof *q), *k = obtain(length * dims, sizeof *k);
  source->keys(&in, 0, length, k);
  for (size_t m = 0; m < length; m++) source->query(&in, m, q + m * dims);
  rs_attention_job job = {.encoding = encoding, .queries = queries, .query_count = length, .q = q, .k = k};
  job.edges = edges;
  job.bins = bins;
  rs_observation *observation = observe(&job);
  bench_feed(b, observation);
  rs_observation_free(observation);
  rs_settings_clear(&settings);
  free(queries);
  free(q);
  free(k);
}

/* Barbero et al., arXiv:2410.06205, proposition 3.2: iid Gaussian q and k score 0 on average with sd 1 (sqrt(d) before
 * the division) at every distance: RoPE alone does not decay. Logits of one query share |q|^2, keys are used by every
 * query: the fourth moments add about 3 / D to the variance of a product, hence the slack of the sd. */
Test(score_by_distance, gaussian_source_under_rope__mean_zero_and_sd_one__at_every_distance) {
  enum { SEEDS = 24, LENGTH = 160, DIMS = 32 };
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  size_t *edges, bins;
  cr_assert_eq(rs_log_edges(LENGTH, 4, &edges, &bins, NULL), RS_OK);
  bench b;
  bench_open(&b, "score_by_distance", encoding, edges, bins);
  for (uint64_t seed = 0; seed < SEEDS; seed++) feed_gaussian(&b, encoding, edges, bins, seed);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, bins);
  for (size_t i = 0; i < bins; i++) {
    double count = cell(&b, i, 2);
    cr_assert_float_eq(cell(&b, i, 3), 0, 5 / sqrt(count), "distance %g", cell(&b, i, 0));
    cr_assert_float_eq(cell(&b, i, 4), 1, 5 / sqrt(2 * count) + 5 * sqrt(1.0 / (DIMS * SEEDS * (LENGTH / 2))),
                       "distance %g: %g", cell(&b, i, 0), cell(&b, i, 4));
  }
  agrees(b.result.value[0], 0, 0.01, "logit_mean_nats");
  agrees(b.result.value[1], 1, 0.01, "logit_sd_nats");
  bench_close(&b);
  free(edges);
  rs_encoding_free(encoding);
}

/* The random energy model: q = (1, .., 1) sigma makes the logits exactly iid N(0, sigma^2). The mean over rows of 4096
 * keys is ln n - sigma^2 / 2 for sigma = 1; for sigma = 2 the formula is 0.034 low: 6.352 +- 0.003 over 10^4 rows of an
 * independent program (rows scatter by 0.26, hence 6.382 from a few of them). */
Test(entropy, gaussian_logits__is_ln_n_less_half_the_variance) {
  enum { LENGTH = 4096, DIMS = 4, DRAWS = 200 };
  static const double cases[][4] = {{1, 7.818, 7.820, 7.818},
                                    {2, 6.352, 6.382, 6.318}}; /* of many rows, of a few, formula */
  static const size_t edges[] = {0, LENGTH};
  const size_t last = LENGTH - 1;
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("nope", &model, LENGTH, NULL);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *q = constant(DIMS, cases[i][0]), sigma2 = cases[i][0] * cases[i][0];
    bench b;
    bench_open(&b, "entropy", encoding, edges, 1);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
      double *k = gaussian(seed, LENGTH * DIMS);
      rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
      job.edges = edges;
      job.bins = 1;
      rs_observation *observation = observe(&job);
      bench_feed(&b, observation);
      rs_observation_free(observation);
      free(k);
    }
    bench_finish(&b);
    cr_assert_float_eq(log(LENGTH) - sigma2 / 2, cases[i][3], 5e-4);
    cr_assert_float_eq(b.result.value[0], cases[i][1], 5 * b.result.error[0], "%g", b.result.value[0]);
    cr_assert_float_eq(b.result.value[0], cases[i][2], 0.005 + 5 * b.result.error[0], "%g", b.result.value[0]);
    cr_assert_float_eq(b.result.error[0], i == 0 ? 0.0202 / sqrt(DRAWS) : 0.262 / sqrt(DRAWS), 0.2 * b.result.error[0]);
    agrees(b.result.value[1], b.result.value[0] / log(LENGTH), 1e-12, "entropy_share");
    bench_close(&b);
    free(q);
  }
  rs_encoding_free(encoding);
}

/* ---- the needle -------------------------------------------------------------------------------------------------- */

/* Opens the needle metric on one query that sees n - 1 equal keys and a needle with logit g. */
static void open_needle(bench *b, size_t n, double g) {
  enum { DIMS = 4 };
  const size_t edges[] = {0, n / 2, n - 1}, last = n - 2, at = n / 4;
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("nope", &model, n - 1, NULL);
  double *q = constant(DIMS, 1), *k = constant(DIMS * (n - 1), 0), needle[DIMS] = {g * 2, 0, 0, 0};
  rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
  job.edges = edges;
  job.bins = 2;
  job.needle_at = &at;
  job.needle_key = needle;
  rs_observation *observation = observe(&job);
  bench_open(b, "needle", encoding, edges, 2);
  bench_feed(b, observation);
  bench_finish(b);
  rs_observation_free(observation);
  rs_encoding_free(encoding);
  free(q);
  free(k);
}

/* A needle under softmax: weight e^g / (e^g + n - 1), half at n = 1 + e^g. A tie counts as a win: no other key is
 * larger. */
Test(needle, known_logit_among_equal_keys__weight__is_the_closed_form) {
  static const double logits[] = {-3, 0, 1, 5, 20};
  static const size_t sizes[] = {8, 100, 5001};
  for (size_t i = 0; i < RS_COUNT(logits); i++)
    for (size_t s = 0; s < RS_COUNT(sizes); s++) {
      long double n = sizes[s], g = logits[i], want = expl(g) / (expl(g) + n - 1);
      bench b;
      open_needle(&b, sizes[s], logits[i]);
      agrees(b.result.value[0], want, 1e-14, "needle_weight");
      agrees(b.result.value[1], g < 0 ? n - 1 : 0, 0, "needle_rank");
      agrees(b.result.value[2], g >= 0, 0, "needle_win_rate");
      agrees(b.result.value[3], g, 1e-15, "needle_logit_nats");
      for (size_t e = 0; e < 4; e++) agrees(b.result.error[e], NAN, 0, "one row has no standard error");
      cr_assert_eq(b.result.curve.rows, 1);
      agrees(cell(&b, 0, 0), sizes[s] / 2, 0, "three quarters back: the second bin");
      agrees(cell(&b, 0, 3), want, 1e-14, "weight");
      bench_close(&b);
    }
}

/* SSMax in the same terms (arXiv:2501.19399): g = 1.1 ln n holds the needle at any length. */
Test(needle, ssmax_logits__weights__are_the_published_ones) {
  static const double cases[][2] = {{1024, 0.667}, {8192, 0.711}, {65536, 0.752}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    bench b;
    open_needle(&b, (size_t)cases[i][0], 1.1 * log(cases[i][0]));
    cr_assert_float_eq(b.result.value[0], cases[i][1], 5e-4, "n = %g: %g", cases[i][0], b.result.value[0]);
    bench_close(&b);
  }
}

/* A hidden needle (row 3) weighs 0 and never wins, and has neither rank nor logit. Distances 0, 4, 8, 12 and 99. */
Test(needle, rows__of_seen_and_hidden_needles__are_averaged_each_over_its_own) {
  static const size_t members[BINS][3] = {{0}, {1, 2, 3}, {4}}, sizes[BINS] = {1, 3, 1};
  made_rows made;
  make_rows(&made);
  bench b;
  open_rows(&b, "needle", &made, ROWS);
  static const double weight[] = {0.05, 0.15, 0.25, 0, 0.45}, rank[] = {0, 0, 1, 2}, win[] = {1, 1, 0, 0, 0};
  static const double logit[] = {2, 1, 0, -2};
  check_sample(&b, 0, weight, 5, "needle_weight");
  check_sample(&b, 1, rank, 4, "needle_rank");
  check_sample(&b, 2, win, 5, "needle_win_rate");
  check_sample(&b, 3, logit, 4, "needle_logit_nats");
  cr_assert_eq(b.result.curve.rows, BINS);
  for (size_t bin = 0; bin < BINS; bin++) {
    double weights[3], ranks[3], wins[3], *const samples[] = {weights, ranks, wins};
    size_t seen = 0;
    for (size_t i = 0; i < sizes[bin]; i++) {
      size_t row = members[bin][i];
      weights[i] = weight[row];
      wins[i] = win[row];
      if (row != 3) ranks[seen++] = (double)made.rows[row].needle_rank;
    }
    agrees(cell(&b, bin, 0), made_edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), made_edges[bin + 1], 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), sizes[bin], 0, "needles");
    for (size_t c = 0; c < 3; c++) {
      b.result.value[4] = cell(&b, bin, 3 + 2 * c);
      b.result.error[4] = cell(&b, bin, 4 + 2 * c);
      check_sample(&b, 4, samples[c], c == 1 ? seen : sizes[bin], "a curve's sample");
    }
  }
  bench_close(&b);
}

/* ---- nothing to report ------------------------------------------------------------------------------------------- */

Test(undefined, no_rows__sampled_scalars__are_nan_and_curves_empty) {
  made_rows made;
  make_rows(&made);
  static const char *const metrics[] = {"entropy", "effective_tokens", "sink_mass", "needle", "score_by_distance"};
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    bench b;
    open_rows(&b, metrics[i], &made, 0);
    for (size_t s = 0; s < b.kind->scalar_count; s++) {
      agrees(b.result.value[s], NAN, 0, b.kind->scalars[s].name);
      if (b.kind->scalars[s].sampled) agrees(b.result.error[s], NAN, 0, b.kind->scalars[s].name);
    }
    cr_assert_eq(b.result.curve.rows, 0);
    bench_close(&b);
  }
}

Test(undefined, rows_without_needles__needle_metric__is_nan) {
  made_rows made;
  make_rows(&made);
  for (size_t i = 0; i < ROWS; i++) made.rows[i].needle_planted = made.rows[i].has_needle = false;
  bench b;
  open_rows(&b, "needle", &made, ROWS);
  for (size_t s = 0; s < b.kind->scalar_count; s++) agrees(b.result.value[s], NAN, 0, b.kind->scalars[s].name);
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
}

/* A needle that the mask hides from every query: it was planted, so its weight and wins are 0, not unknown. */
Test(undefined, needle_hidden_from_all__weight_is_zero__rank_is_nan) {
  made_rows made;
  make_rows(&made);
  for (size_t i = 0; i < ROWS; i++) {
    made.rows[i].has_needle = false;
    made.rows[i].needle_weight = 0;
  }
  bench b;
  open_rows(&b, "needle", &made, ROWS);
  static const double expected[] = {0, NAN, 0, NAN};
  for (size_t s = 0; s < 4; s++) agrees(b.result.value[s], expected[s], 0, b.kind->scalars[s].name);
  bench_close(&b);
}
