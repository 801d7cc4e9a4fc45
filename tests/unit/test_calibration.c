/* test_calibration.c: heads fitted under plain RoPE and read under other methods: what became of wanted curves
 * against sums written out here. */
#include <stdlib.h>
#include <string.h>

#include "fixtures/bound.h"
#include "table_metric.h"

enum { DIMS = 128, PAIRS = DIMS / 2, TRAINED = 2048 };

static double ladder(size_t pair) {
  return pow(1e4, -2.0 * (double)pair / DIMS);
}

static rs_encoding *encode(const char *method, size_t length, const char *const settings[]) {
  rs_model model = table_model(DIMS, 1e4, TRAINED);
  return table_encode(method, &model, length, settings, NULL, NULL);
}

/* ---- what a fitted head comes to, written out -------------------------------------------------------------------- */

typedef struct head {
  rs_wave_fit fit;
  double wanted[TRAINED];
} head;

static void fit_head(head *h, double ridge) {
  double omega[PAIRS];
  for (size_t j = 0; j < PAIRS; j++) omega[j] = ladder(j);
  rs_wave_fit_in in = {omega, PAIRS, h->wanted, TRAINED, RS_SOLVER_QR, ridge};
  cr_assert_eq(rs_wave_fit_create(&in, &h->fit, NULL), RS_OK);
}

static double logit(const head *h, double distance) {
  double sum = 0;
  for (size_t j = 0; j < PAIRS; j++)
    sum += h->fit.cosine[j] * cos(distance * ladder(j)) + h->fit.sine[j] * sin(distance * ladder(j));
  return sum;
}

/* ---- calibration ------------------------------------------------------------------------------------------------- */

static double wanted_at(const char *curve, double x) {
  if (strcmp(curve, "local") == 0) return 8 * exp(-x / 100);
  return strcmp(curve, "peak") == 0 ? 8 * exp(-(x - 1000) * (x - 1000) / 2e4) : 8;
}

static long double weights(const double *logits, size_t count, long double *out) {
  long double sum = 0;
  for (size_t x = 0; x < count; x++) sum += out[x] = expl(logits[x]);
  for (size_t x = 0; x < count; x++) out[x] /= sum;
  return sum;
}

/* Every scalar from the curves. `factor` multiplies the logits. */
static void check_scalars(const rs_result *r, const char *curve, const head *h, size_t length, double scale,
                          double factor) {
  double *wanted = calloc(length, sizeof *wanted), *got = calloc(length, sizeof *got);
  long double *p = calloc(length, sizeof *p), *q = calloc(length, sizeof *q);
  double fit = 0, sums[2] = {0}, most[2] = {0}, shared = 0, kl = 0, rank = 0, top = -INFINITY, summit = 0;
  size_t peak = strcmp(curve, "peak") == 0 ? 1000 : 0;
  for (size_t x = 0; x < length; x++) {
    wanted[x] = wanted_at(curve, (double)x);
    got[x] = factor * logit(h, (double)x / scale);
    sums[x >= TRAINED] += pow(got[x] - wanted[x], 2);
    if (x >= TRAINED) most[1] = fmax(most[1], fabs(got[x]));
    if (got[x] > top) top = got[summit = (double)x, x];
  }
  for (size_t x = 0; x < TRAINED; x++) {
    fit += pow(logit(h, (double)x) - wanted_at(curve, (double)x), 2) / TRAINED;
    most[0] = fmax(most[0], fabs(logit(h, (double)x)));
  }
  weights(wanted, length, p);
  weights(got, length, q);
  for (size_t x = 0; x < length; x++) {
    kl += (double)(p[x] * logl(p[x] / q[x]));
    shared += (double)fminl(p[x], q[x]);
    rank += got[x] > got[peak];
  }
  double inner = length < TRAINED ? (double)length : TRAINED;
  table_agrees(r->value[0], sqrt(fit), 1e-7, "fit");
  table_agrees(r->value[1], sqrt(sums[0] / inner), 1e-7, "inside");
  table_agrees(r->value[2], length > TRAINED ? sqrt(sums[1] / ((double)length - TRAINED)) : NAN, 1e-7, "outside");
  table_agrees(r->value[3], length > TRAINED ? most[1] / most[0] : NAN, 1e-7, "blow-up");
  cr_assert_float_eq(r->value[4], kl, 1e-8);
  table_agrees(r->value[5], shared, 1e-7, "shared weight");
  table_agrees(r->value[6], strcmp(curve, "flat") == 0 ? NAN : rank, 0, "rank");
  /* A flat curve's fit is the same forwards and backwards: two distances share its top but for rounding. */
  cr_assert(r->value[7] == summit || fabs(got[(size_t)r->value[7]] - top) < 1e-9, "argmax: %g, should be %g",
            r->value[7], summit);
  free(wanted);
  free(got);
  free(p);
  free(q);
}

static void check_calibration(const char *method, const char *curve, size_t length, double scale, double factor) {
  static const char *const by_two[] = {"scale", "2", NULL};
  const char *const settings[] = {"wanted", curve, "per_octave", "4", NULL};
  head h;
  for (size_t x = 0; x < TRAINED; x++) h.wanted[x] = wanted_at(curve, (double)x);
  fit_head(&h, 1);
  rs_result r = table_measure("calibration", encode(method, length, scale > 1 ? by_two : NULL), settings, 0);
  check_scalars(&r, curve, &h, length, scale, factor);
  for (size_t i = 0; i < r.curve.rows; i++) {
    const double *row = r.curve.cells + 4 * i;
    table_agrees(row[1], wanted_at(curve, row[0]), 1e-12, "wanted");
    table_agrees(row[2], row[0] < TRAINED ? logit(&h, row[0]) : NAN, 1e-7, "fitted");
    table_agrees(row[3], factor * logit(&h, row[0] / scale), 1e-7, "got");
  }
  cr_assert_gt(r.curve.rows, 20);
  rs_curve_clear(&r.curve);
  rs_wave_fit_clear(&h.fit);
}

Test(calibration, every_curve__moved__is_the_sum_written_out) {
  static const char *const curves[] = {"local", "peak", "flat"};
  for (size_t i = 0; i < RS_COUNT(curves); i++) {
    check_calibration("rope", curves[i], 2 * TRAINED, 1, 1);
    check_calibration("rope", curves[i], 1500, 1, 1);
    check_calibration("pi", curves[i], 2 * TRAINED, 2, 1);
  }
}

/* YaRN's temperature, (0.1 ln 2 + 1)^2, on the logits: equal at the query itself, where nothing is turned. */
Test(calibration, yarn__logit_at_distance_0__has_the_temperature) {
  static const char *const by_two[] = {"scale", "2", NULL};
  rs_result r = table_measure("calibration", encode("yarn", 2 * TRAINED, by_two), NULL, 0);
  table_agrees(r.curve.cells[3] / r.curve.cells[2], pow(0.1 * log(2) + 1, 2), 1e-12, "temperature");
  rs_curve_clear(&r.curve);
}

Test(calibration, logit_scale__of_the_last_query__multiplies) {
  static const char *const log_n[] = {"logit_scale", "log_n", NULL};
  rs_encoding *encoding = encode("rope", 2 * TRAINED, log_n);
  double scale = encoding->logit_scale[2 * TRAINED - 1];
  rs_result r = table_measure("calibration", encoding, NULL, 0);
  cr_assert_gt(scale, 1.05);
  table_agrees(r.curve.cells[3] / r.curve.cells[2], scale, 1e-12, "log-n scaling");
  rs_curve_clear(&r.curve);
}

/* Keys that were cached at shorter lengths turn by no one distance: they are read one by one, to the same factor. */
Test(calibration, logit_scale__of_keys_read_one_by_one__multiplies) {
  static const char *const cached[] = {"logit_scale", "log_n", "cached_keys", "1", NULL};
  rs_encoding *encoding = encode("rope", 2 * TRAINED, cached);
  double scale = encoding->logit_scale[2 * TRAINED - 1];
  cr_assert(!rs_encoding_of_distance(encoding));
  rs_result r = table_measure("calibration", encoding, NULL, 0);
  cr_assert_gt(scale, 1.05);
  table_agrees(r.curve.cells[3] / r.curve.cells[2], scale, 1e-12, "log-n scaling");
  rs_curve_clear(&r.curve);
}

/* 1000.6 is nearest to key 1001, which has the larger logit of its neighbours. */
Test(calibration, peak_between_keys__rank__is_of_the_nearest) {
  static const char *const settings[] = {"wanted", "peak", "at", "1000.6", NULL};
  head h;
  for (size_t x = 0; x < TRAINED; x++) h.wanted[x] = 8 * exp(-((double)x - 1000.6) * ((double)x - 1000.6) / 2e4);
  fit_head(&h, 1);
  double ranks[2] = {0};
  for (size_t x = 0; x < TRAINED; x++)
    for (size_t i = 0; i < 2; i++) ranks[i] += logit(&h, (double)x) > logit(&h, 1000.0 + (double)i);
  cr_assert_neq(ranks[0], ranks[1]);
  double got = table_scalar_of("calibration", "calibration_peak_rank", encode("rope", TRAINED, NULL), settings, 0);
  cr_assert_eq(got, ranks[1], "%g, %g or %g", got, ranks[0], ranks[1]);
  rs_wave_fit_clear(&h.fit);
}

Test(calibration, noise__outside__is_not_defined) {
  static const char *const noise[] = {"wanted", "noise", "gain", "2", NULL};
  rs_result r = table_measure("calibration", encode("rope", 2 * TRAINED, NULL), noise, 9);
  double drawn[TRAINED];
  rs_gaussian_fill((rs_stream){9, RS_PURPOSE_CURVE, 0}, 0, TRAINED, drawn);
  table_agrees(r.curve.cells[4 * 5 + 1], 2 * drawn[(size_t)r.curve.cells[4 * 5]], 0, "noise");
  table_agrees(r.value[0], r.value[1], 1e-9, "plain RoPE inside is what was fitted");
  cr_assert(r.value[1] > 1.8 && r.value[1] < 2.1, "128 functions take little of 2048 numbers: %g", r.value[1]);
  for (size_t i = 4; i < 7; i++) cr_assert(isnan(r.value[i]), "%zu", i);
  cr_assert(isnan(r.value[2]) && r.value[3] > 0);
  rs_curve_clear(&r.curve);
}

Test(calibration, no_rotation__result__is_not_defined) {
  rs_result r = table_measure("calibration", encode("alibi", TRAINED, NULL), NULL, 0);
  for (size_t i = 0; i < 8; i++) cr_assert(isnan(r.value[i]));
}

/* Pairs that turn by patches have no plain RoPE of tokens that a head could have been fitted under: axial ones turn two
 * by two at one rate, and least squares by them is singular. */
Test(calibration, pairs_of_patches__results__are_not_defined) {
  rs_result result = table_measure("calibration", encode("axial", 64, NULL), NULL, 0);
  for (size_t c = 0; c < rs_metric_find("calibration")->scalar_count; c++)
    table_agrees(result.value[c], NAN, 0, "axial");
  cr_assert_eq(result.curve.rows, 0);
}

/* ---- the source -------------------------------------------------------------------------------------------------- */

typedef struct made_source {
  bound_params parameters;
  rs_source_in in;
} made_source;

static void source_make(made_source *m, const char *curve, size_t dims, rs_pair_layout layout, size_t number) {
  const rs_source_kind *kind = rs_source_find("calibrated");
  *m = (made_source){0};
  bound_make(&m->parameters, &kind->kind);
  bound_set(&m->parameters, "wanted", curve);
  m->in = (rs_source_in){.params = m->parameters.binding.fields,
                         .seed = 3,
                         .head = number,
                         .head_dim = dims,
                         .length = 64,
                         .rotary_dim = DIMS,
                         .rope_theta = 1e4,
                         .pair_layout = layout,
                         .train_length = TRAINED};
  cr_assert_eq(rs_source_prepare(kind, &m->in, NULL), RS_OK);
}

static void source_free(made_source *m) {
  rs_source_release(rs_source_find("calibrated"), &m->in);
  bound_clear(&m->parameters);
}

/* The engine's own reference under plain RoPE of the model, in which 32 of 160 dims do not turn. */
static void check_logits(const char *curve, rs_pair_layout layout) {
  enum { WIDE = 160, LENGTH = 3000, QUERY = LENGTH - 1 };
  made_source m;
  head h;
  rs_model model = table_model(WIDE, 1e4, TRAINED);
  model.rotary_dim = DIMS;
  model.pair_layout = layout;
  rs_encoding *rope = table_encode("rope", &model, LENGTH, NULL, NULL, NULL);
  double *q = calloc(WIDE, sizeof *q), *k = calloc(WIDE * LENGTH, sizeof *k), *logits = calloc(LENGTH, sizeof *logits);
  size_t query = QUERY, edges[] = {0, LENGTH};
  double needle;
  source_make(&m, curve, WIDE, layout, 0);
  rs_source_find("calibrated")->query(&m.in, QUERY, q);
  rs_source_find("calibrated")->keys(&m.in, 0, 1000, k);
  rs_source_find("calibrated")->keys(&m.in, 1000, LENGTH, k + 1000 * WIDE);
  rs_attention_job job = {.encoding = rope,
                          .mask = {RS_CAUSAL, 0, 0},
                          .queries = &query,
                          .query_count = 1,
                          .q = q,
                          .k = k,
                          .edges = edges,
                          .bins = 1,
                          .scores = RS_SCORES_F64};
  cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
  for (size_t x = 0; x < TRAINED; x++) h.wanted[x] = strcmp(curve, "noise") != 0 ? wanted_at(curve, (double)x) : NAN;
  if (strcmp(curve, "noise") == 0) {
    rs_gaussian_fill((rs_stream){3, RS_PURPOSE_CURVE, 0}, 0, TRAINED, h.wanted);
    for (size_t x = 0; x < TRAINED; x++) h.wanted[x] *= 8;
  }
  fit_head(&h, 1);
  for (size_t x = 0; x < LENGTH; x++)
    cr_assert_float_eq(logits[QUERY - x], logit(&h, (double)x), 1e-8, "%s at %zu: %g", curve, x, logits[QUERY - x]);
  rs_wave_fit_clear(&h.fit);
  source_free(&m);
  rs_encoding_free(rope);
  free(q);
  free(k);
  free(logits);
}

Test(calibrated, logits__under_plain_rope__are_the_fitted_curve) {
  static const char *const curves[] = {"local", "peak", "flat", "noise"};
  for (size_t i = 0; i < RS_COUNT(curves); i++) {
    check_logits(curves[i], RS_HALF_SPLIT);
    check_logits(curves[i], RS_INTERLEAVED);
  }
}

/* Large on one side would leave floats less: the same size on both. */
Test(calibrated, query_and_key__of_a_pair__are_of_one_size) {
  made_source m;
  double q[DIMS], k[DIMS];
  source_make(&m, "local", DIMS, RS_INTERLEAVED, 0);
  rs_source_find("calibrated")->query(&m.in, 7, q);
  rs_source_find("calibrated")->keys(&m.in, 5, 6, k);
  for (size_t j = 0; j < PAIRS; j++)
    cr_assert_float_eq(hypot(q[2 * j], q[2 * j + 1]), hypot(k[2 * j], k[2 * j + 1]), 1e-12);
  source_free(&m);
}

/* Query and key, (2, DIMS). */
static void read_head(const made_source *m, double *out) {
  const rs_source_kind *kind = rs_source_find("calibrated");
  kind->query(&m->in, 0, out);
  kind->keys(&m->in, 0, 1, out + DIMS);
}

Test(calibrated, heads__of_noise__differ_and_of_curves_do_not) {
  static const char *const curves[] = {"noise", "peak"};
  for (size_t i = 0; i < RS_COUNT(curves); i++) {
    made_source a, b;
    source_make(&a, curves[i], DIMS, RS_HALF_SPLIT, 0);
    source_make(&b, curves[i], DIMS, RS_HALF_SPLIT, 1);
    double first[2 * DIMS], second[2 * DIMS];
    read_head(&a, first);
    read_head(&b, second);
    cr_assert_eq(memcmp(first, second, sizeof first) == 0, i == 1);
    source_free(&a);
    source_free(&b);
  }
}

Test(calibrated, undetermined_head__prepare__says_why) {
  const rs_source_kind *kind = rs_source_find("calibrated");
  made_source m;
  rs_err err = {0};
  source_make(&m, "local", DIMS, RS_HALF_SPLIT, 0);
  rs_source_in none = m.in, few = m.in;
  none.rotary_dim = 0;
  cr_assert_eq(rs_source_prepare(kind, &none, NULL), RS_DOMAIN);
  cr_assert_null(none.state);
  few.train_length = 100;
  bound_number(&m.parameters, "ridge", 0);
  cr_assert_eq(rs_source_prepare(kind, &few, &err), RS_DOMAIN);
  cr_assert_not_null(strstr(err.message, "ridge"), "%s", err.message);
  source_free(&m);
}
