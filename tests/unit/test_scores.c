/* test_scores.c: metrics of scores and temperature, and the sources made for them, against values recomputed here from
 * first principles, closed forms and published numbers. */
#include <criterion/criterion.h>
#include <gsl/gsl_sf_bessel.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "../table_metric.h"
#include "ropescope/metrics.h"

/* ---- running a metric -------------------------------------------------------------------------------------------- */

static void *obtain(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  cr_assert_not_null(memory);
  return memory;
}

static rs_model model_of(size_t heads, size_t dims) {
  return (rs_model){.heads = heads,
                    .head_dim = dims,
                    .rotary_dim = dims,
                    .rope_theta = 10000,
                    .train_length = 4096,
                    .max_length = 4096};
}

/* `settings` are name, value pairs that end at the first NULL. */
static rs_encoding *encode(const char *method, const rs_model *model, size_t length, const char *const settings[]) {
  return table_encode(method, model, length, settings, NULL, NULL);
}

typedef struct bench {
  const rs_metric_kind *kind;
  const rs_param *params[8];
  rs_settings settings;
  size_t head;
  rs_metric_in in;
  void *state;
  rs_result result;
} bench;

static void bench_open(bench *b, const char *metric, const rs_encoding *encoding, const size_t *edges, size_t bins) {
  *b = (bench){.kind = rs_metric_find(metric)};
  cr_assert_not_null(b->kind, "%s", metric);
  for (size_t i = 0; i < b->kind->kind.param_count; i++) b->params[i] = &b->kind->kind.params[i];
  cr_assert_eq(rs_settings_init(&b->settings, b->params, b->kind->kind.param_count, NULL), RS_OK);
  b->in = (rs_metric_in){
      .encoding = encoding, .settings = &b->settings, .heads = &b->head, .head_count = 1, .edges = edges, .bins = bins};
  b->state = b->kind->state_size != NULL ? obtain(1, b->kind->state_size(&b->in)) : NULL;
  b->result.curve.columns = b->kind->curve_count;
}

static rs_value *bench_value(bench *b, const char *name) {
  int index = rs_settings_find(&b->settings, name);
  cr_assert_geq(index, 0, "%s", name);
  return &b->settings.values[index];
}

static void bench_set(bench *b, const char *name, const char *text) {
  cr_assert_eq(rs_value_parse(b->params[rs_settings_find(&b->settings, name)], text, bench_value(b, name), NULL),
               RS_OK);
}

static void bench_list(bench *b, const char *name, const double *list, size_t count) {
  cr_assert_eq(rs_value_list(b->params[rs_settings_find(&b->settings, name)], list, count, bench_value(b, name), NULL),
               RS_OK);
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

/* Equal, a NaN to a NaN, up to `slack` of the larger of 1 and the value. */
static void agrees(double got, long double want, double slack, const char *what) {
  bool same = isnan(want) ? isnan(got) : fabsl(got - want) <= slack * fmaxl(1, fabsl(want));
  if (!same) cr_assert_fail("%s: %.17g, should be %.17Lg", what, got, want);
}

/* ---- the wide limit of the mean cosine --------------------------------------------------------------------------- */

/* The mean of cos(m b^-u) over 0 <= u <= 1 by the midpoint rule, which errs by (m ln b / n)^2 / 24. */
static long double mean_over_ladder(long double m, long double base) {
  enum { POINTS = 400000 };
  long double sum = 0;
  for (size_t i = 0; i < POINTS; i++) sum += cosl(m * powl(base, -(i + 0.5L) / POINTS));
  return sum / POINTS;
}

Test(wide_limit, plain_ladders__curve__is_the_mean_over_the_ladder) {
  static const char *const theta_300[] = {"rope_theta", "300", NULL}, *const partial[] = {"rotary_dim", "4", NULL};
  static const struct {
    const char *method, *const *settings;
    long double base, turning;
  } cases[] = {{"rope", NULL, 10000, 1}, {"rope", theta_300, 300, 1}, {"rope", partial, 10000, 0.25}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 16);
    rs_encoding *encoding = encode(cases[i].method, &model, 60, cases[i].settings);
    bench b;
    bench_open(&b, "decay", encoding, NULL, 0);
    bench_set(&b, "per_octave", "2");
    bench_finish(&b);
    for (size_t row = 0; row < b.result.curve.rows; row++) {
      long double want = 1 - cases[i].turning + cases[i].turning * mean_over_ladder(cell(&b, row, 0), cases[i].base);
      agrees(cell(&b, row, 4), want, 1e-7, "wide_limit");
      agrees(cell(&b, row, 5), fabsl(cell(&b, row, 1) - want), 1e-7, "wide_limit_gap");
    }
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* From tables of the cosine integral (Abramowitz and Stegun, table 5.1): Ci(10) = -0.0454564330, Ci(0.001) = gamma +
 * ln 0.001 - 2.5e-7 = -6.3305398641. */
Test(wide_limit, ten_tokens__is_the_tabulated_cosine_integral) {
  rs_model model = model_of(1, 128);
  rs_encoding *encoding = encode("rope", &model, 11, NULL);
  bench b;
  bench_open(&b, "decay", encoding, NULL, 0);
  bench_finish(&b);
  agrees(cell(&b, b.result.curve.rows - 1, 4), (-0.0454564330L + 6.3305398641L) / logl(10000), 1e-9, "m = 10");
  agrees(cell(&b, 0, 4), 1, 0, "m = 0");
  bench_close(&b);
  rs_encoding_free(encoding);
}

Test(wide_limit, no_plain_ladder__is_empty) {
  static const char *const by_4[] = {"scale", "4", NULL}, *const window[] = {"group", "4", "window", "10", NULL};
  static const struct {
    const char *method, *const *settings;
    size_t dims;
  } cases[] = {{"pi", by_4, 16},    {"yarn", by_4, 16}, {"self_extend", window, 16}, {"nope", NULL, 16},
               {"alibi", NULL, 16}, {"rope", NULL, 2},  {"xpos", NULL, 16}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, cases[i].dims);
    rs_encoding *encoding = encode(cases[i].method, &model, 100, cases[i].settings);
    bench b;
    bench_open(&b, "decay", encoding, NULL, 0);
    bench_finish(&b);
    for (size_t k = 0; k < 2 * b.result.curve.rows; k++) agrees(cell(&b, k / 2, 4 + k % 2), NAN, 0, cases[i].method);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* ---- receptive field and resolution ------------------------------------------------------------------------------ */

/* logit by distance of q = k = `size` in every dim, at the last query, by the reference row. Release with free(). */
static double *equal_logits(const rs_encoding *encoding, size_t head, double size) {
  size_t length = encoding->length, dims = encoding->head_dim, query = length - 1;
  double *x = obtain(length * dims, sizeof *x), *row = obtain(length, sizeof *row), needle;
  for (size_t i = 0; i < length * dims; i++) x[i] = size;
  rs_attention_job job = {.encoding = encoding, .head = head, .queries = &query, .query_count = 1, .q = x, .k = x};
  cr_assert_eq(rs_reference_row(&job, 0, row, &needle, NULL), RS_OK);
  for (size_t n = 0; n < length / 2; n++) {
    double swap = row[n];
    row[n] = row[length - 1 - n];
    row[length - 1 - n] = swap;
  }
  free(x);
  return row;
}

static double field_of(const double *logits, size_t length, long double share) {
  long double all = 0, near = 0;
  for (size_t x = 0; x < length; x++) all += expl(logits[x]);
  for (size_t x = 0; x < length; x++) {
    near += expl(logits[x]);
    if (near >= share * all) return x + 1.0;
  }
  return length;
}

static long double resolution_of(const double *s, size_t length) {
  long double above = 0, below = 0;
  for (size_t i = 0; i + 1 < length; i++) {
    above += expl(s[i]) * (expl(s[i]) - expl(s[i + 1]));
    below += expl(s[i]);
  }
  return above / (below * below);
}

static const char *const by_8[] = {"scale", "8", NULL}, *const partial[] = {"rotary_dim", "8", NULL},
                         *const ssmax[] = {"logit_scale", "ssmax", NULL},
                         *const partial_yarn[] = {"scale", "8", "rotary_dim", "8", NULL},
                         *const small_groups[] = {"group", "4", "window", "10", NULL};

/* Every stage that acts on scores: frequencies, views, gains, amp (also where R < D), temperatures, biases. */
static const struct {
  const char *method, *const *settings;
} stages[] = {
    {"rope", NULL},  {"rope", partial}, {"yarn", by_8},  {"yarn", partial_yarn}, {"self_extend", small_groups},
    {"xpos", NULL},  {"nope", ssmax},   {"alibi", NULL}, {"sandwich", NULL},     {"nope", NULL},
    {"rope", ssmax}, {"pi", by_8}};

Test(equal_contents, every_stage__field_and_resolution__are_those_of_the_reference_row) {
  enum { LENGTH = 701, HEADS = 4 };
  static const char *const contents[] = {"sqrt_dim", "1", "0"};
  static const double sizes[] = {1, 0.5, 0}; /* D = 16: size^2 sqrt(16) = 4, 1, 0 */
  static const size_t heads[] = {1, 3};
  for (size_t i = 0; i < RS_COUNT(stages) * RS_COUNT(contents); i++) {
    rs_model model = model_of(HEADS, 16);
    size_t c = i % RS_COUNT(contents), s = i / RS_COUNT(contents);
    rs_encoding *encoding = encode(stages[s].method, &model, LENGTH, stages[s].settings);
    double field = 0, share = i % 2 ? 0.5 : 0.99;
    long double resolution = 0;
    for (size_t h = 0; h < 2; h++) {
      double *logits = equal_logits(encoding, heads[h], sizes[c]);
      field += field_of(logits, LENGTH, share) / 2;
      resolution += resolution_of(logits, LENGTH) / 2;
      free(logits);
    }
    bench b;
    bench_open(&b, "receptive_field", encoding, NULL, 0);
    b.in.heads = heads;
    b.in.head_count = 2;
    bench_set(&b, "content", contents[c]);
    bench_set(&b, "share", i % 2 ? "0.5" : "0.99");
    bench_finish(&b);
    agrees(b.result.value[0], field, 0, stages[s].method);
    bench_close(&b);
    bench_open(&b, "attention_resolution", encoding, NULL, 0);
    b.in.heads = heads;
    b.in.head_count = 2;
    bench_set(&b, "content", contents[c]);
    bench_finish(&b);
    agrees(b.result.value[0], resolution, 1e-13, stages[s].method);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* ceil(ln 100 / slope) for the slopes 1/2 ... 1/256 of 8 heads. */
Test(receptive_field, alibi__windows__are_those_of_the_paper_at_any_length) {
  static const double windows[] = {10, 19, 37, 74, 148, 295, 590, 1179};
  static const size_t lengths[] = {8192, 20000};
  rs_model model = model_of(8, 8);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *encoding = encode("alibi", &model, lengths[i], NULL);
    for (size_t head = 0; head < 8; head++) {
      bench b;
      bench_open(&b, "receptive_field", encoding, NULL, 0);
      b.in.heads = &head;
      bench_finish(&b);
      agrees(b.result.value[0], windows[head], 0, "alibi");
      cr_assert_eq(ceil(log(100) * exp2(head + 1.0)), windows[head]);
      bench_close(&b);
    }
    rs_encoding_free(encoding);
  }
}

/* Equal weights: half of 4 keys is 2 of them exactly. */
Test(receptive_field, share_reached_exactly__needs_no_further_key) {
  static const char *const shares[] = {"0.5", "0.51", "0.25", "1", "0"};
  static const double fields[] = {2, 3, 1, 4, 0};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 4, NULL);
  for (size_t i = 0; i < RS_COUNT(shares); i++) {
    bench b;
    bench_open(&b, "receptive_field", encoding, NULL, 0);
    bench_set(&b, "share", shares[i]);
    bench_finish(&b);
    agrees(b.result.value[0], fields[i], 0, shares[i]);
    bench_close(&b);
  }
  rs_encoding_free(encoding);
}

Test(equal_contents, added_embeddings_or_one_token__are_undefined) {
  rs_model model = model_of(1, 8);
  rs_encoding *added = encode("sinusoidal", &model, 50, NULL), *one = encode("rope", &model, 1, NULL);
  bench b;
  bench_open(&b, "receptive_field", added, NULL, 0);
  bench_finish(&b);
  agrees(b.result.value[0], NAN, 0, "sinusoidal");
  bench_close(&b);
  bench_open(&b, "receptive_field", one, NULL, 0);
  bench_finish(&b);
  agrees(b.result.value[0], 1, 0, "one token");
  bench_close(&b);
  for (size_t i = 0; i < 2; i++) {
    bench_open(&b, "attention_resolution", i == 0 ? added : one, NULL, 0);
    bench_finish(&b);
    agrees(b.result.value[0], NAN, 0, "attention_resolution");
    cr_assert_eq(b.result.curve.rows, 0);
    bench_close(&b);
  }
  rs_encoding_free(added);
  rs_encoding_free(one);
}

/* zeta_j^(distance/512), zeta_j = (2j/d + 0.4) / 1.4; 1 for methods without gains. */
Test(attention_resolution, curve__is_the_gain_of_each_pair) {
  rs_model model = model_of(1, 16);
  static const char *const methods[] = {"xpos", "rope"}, *const distances[] = {"512", "100"};
  for (size_t i = 0; i < 4; i++) {
    rs_encoding *encoding = encode(methods[i / 2], &model, 513, NULL);
    bench b;
    bench_open(&b, "attention_resolution", encoding, NULL, 0);
    bench_set(&b, "gain_distance", distances[i % 2]);
    bench_finish(&b);
    cr_assert_eq(b.result.curve.rows, 8);
    for (size_t j = 0; j < 8; j++) {
      long double zeta = (j / 8.0L + 0.4L) / 1.4L, power = i % 2 ? 100 / 512.0L : 1;
      agrees(cell(&b, j, 0), j, 0, "pair");
      agrees(cell(&b, j, 1), i < 2 ? powl(zeta, power) : 1, 1e-13, "gain");
    }
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

typedef struct sim {
  const rs_source_kind *kind;
  const rs_param *params[8];
  rs_settings settings;
  rs_source_in in;
} sim;

static void sim_open(sim *s, const char *source, size_t dims, size_t length, uint64_t seed) {
  *s = (sim){.kind = rs_source_find(source)};
  cr_assert_not_null(s->kind, "%s", source);
  for (size_t i = 0; i < s->kind->kind.param_count; i++) s->params[i] = &s->kind->kind.params[i];
  cr_assert_eq(rs_settings_init(&s->settings, s->params, s->kind->kind.param_count, NULL), RS_OK);
  s->in = (rs_source_in){.settings = &s->settings,
                         .seed = seed,
                         .head_dim = dims,
                         .length = length,
                         .rotary_dim = dims,
                         .rope_theta = 10000};
}

static void sim_set(sim *s, const char *name, const char *text) {
  int index = rs_settings_find(&s->settings, name);
  cr_assert_geq(index, 0, "%s", name);
  cr_assert_eq(rs_value_parse(s->params[index], text, &s->settings.values[index], NULL), RS_OK);
}

/* Feeds queries [first, length) of a source to a metric. */
static void feed(bench *b, const sim *s, size_t first) {
  const rs_encoding *e = b->in.encoding;
  size_t length = e->length, dims = e->head_dim, count = length - first;
  size_t *queries = obtain(count, sizeof *queries), *at = obtain(count, sizeof *at);
  double *q = obtain(count * dims, sizeof *q), *k = obtain(length * dims, sizeof *k),
         *needles = obtain(count * dims, sizeof *needles);
  s->kind->keys(&s->in, 0, length / 3, k); /* in two parts: any part is the same */
  s->kind->keys(&s->in, length / 3, length, k + length / 3 * dims);
  for (size_t i = 0; i < count; i++) {
    queries[i] = first + i;
    s->kind->query(&s->in, first + i, q + i * dims);
    if (s->kind->needle != NULL) at[i] = s->kind->needle(&s->in, first + i, q + i * dims, needles + i * dims);
  }
  rs_attention_job job = {.encoding = e,
                          .queries = queries,
                          .query_count = count,
                          .q = q,
                          .k = k,
                          .needle_at = s->kind->needle != NULL ? at : NULL,
                          .needle_key = needles,
                          .edges = b->in.edges,
                          .bins = b->in.bins,
                          .moments = true,
                          .scores = RS_SCORES_F64};
  rs_engine *engine;
  rs_observation *observation;
#ifdef _OPENMP
  omp_set_num_threads(1); /* more would only wait for each other beside the other cases */
#endif
  cr_assert_eq(rs_engine_create(length, dims, e->views, &engine, NULL), RS_OK);
  cr_assert_eq(rs_engine_run(engine, &job, &observation, NULL), RS_OK);
  for (size_t i = 0; i < observation->count; i++) b->kind->row(&b->in, b->state, &observation->rows[i]);
  rs_observation_free(observation);
  rs_engine_free(engine);
  free(queries);
  free(at);
  free(q);
  free(k);
  free(needles);
}

static double length_of(const double *x, size_t dims) {
  double squares = 0;
  for (size_t d = 0; d < dims; d++) squares += x[d] * x[d];
  return sqrt(squares);
}

/* The directions are those of the free source; lengths are fixed at sd sqrt(D) = 2 * 4 where they are to be. */
Test(gaussian, fixed_norms__lengths_are_exact__directions_are_kept) {
  static const char *const words[] = {"free", "queries", "both"};
  enum { DIMS = 16, LENGTH = 20 };
  double keys[3][LENGTH * DIMS], queries[3][DIMS];
  for (size_t i = 0; i < 3; i++) {
    sim s;
    sim_open(&s, "gaussian", DIMS, LENGTH, 5);
    sim_set(&s, "sd", "2");
    sim_set(&s, "norm", words[i]);
    s.kind->keys(&s.in, 0, LENGTH, keys[i]);
    s.kind->query(&s.in, 7, queries[i]);
    rs_settings_clear(&s.settings);
  }
  for (size_t i = 0; i < 3; i++) {
    double ratio = length_of(queries[i], DIMS) / length_of(queries[0], DIMS);
    for (size_t d = 0; d < DIMS; d++) agrees(queries[i][d], ratio * queries[0][d], 1e-14, "query's direction");
    if (i > 0) agrees(length_of(queries[i], DIMS), 8, 1e-14, "query's length");
    for (size_t n = 0; n < LENGTH; n++) {
      const double *key = keys[i] + n * DIMS, *free_key = keys[0] + n * DIMS;
      double of_key = length_of(key, DIMS) / length_of(free_key, DIMS);
      for (size_t d = 0; d < DIMS; d++) agrees(key[d], of_key * free_key[d], 1e-14, "key's direction");
      agrees(length_of(key, DIMS), i == 2 ? 8 : length_of(free_key, DIMS), 1e-14, "key's length");
    }
  }
  cr_assert(fabs(length_of(queries[0], DIMS) - 8) > 0.01 && fabs(length_of(keys[0], DIMS) - 8) > 0.01);
}

/* e^g / (e^g + n - 1) of n = m + 2 keys with the needle, at the depth that was asked for; rotation leaves g times the
 * mean cosine. */
Test(gap, one_key_above_a_flat_row__weight__is_the_closed_form) {
  static const char *const methods[] = {"nope", "rope"};
  static const size_t edges[] = {0, 400};
  rs_model model = model_of(1, 16);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *encoding = encode(methods[i], &model, 400, NULL);
    sim s;
    bench b;
    sim_open(&s, "gap", 16, 400, 0);
    sim_set(&s, "gap", "5");
    sim_set(&s, "depth", "0.25");
    bench_open(&b, "needle", encoding, edges, 1);
    b.result.curve.columns = 9; /* with standard errors */
    feed(&b, &s, 399);
    bench_finish(&b);
    long double g = 5 * (i == 0 ? 1 : rs_encoding_mean_cosine(encoding, 399, 99));
    agrees(b.result.value[0], expl(g) / (expl(g) + 400), 1e-14, "needle_weight");
    agrees(b.result.value[3], g, 1e-14, "needle_logit_nats");
    bench_close(&b);
    rs_settings_clear(&s.settings);
    rs_encoding_free(encoding);
  }
}

/* ---- where the largest logit stands ------------------------------------------------------------------------------ */

/* Proposition 3.1 of arXiv:2410.06205 for random contents, both pair layouts, also where a part of the head is still;
 * under interpolation by s the same head looks s times as far. */
Test(argmax_distance, lookback__largest_logit__stands_at_the_distance) {
  enum { LENGTH = 300 };
  static const size_t edges[] = {0, 10, 16, 17, 100, LENGTH};
  static const char *const by_4[] = {"scale", "4", NULL};
  for (size_t i = 0; i < 12; i++) {
    rs_model model = model_of(1, 32);
    model.pair_layout = i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT;
    model.rotary_dim = i % 3 == 2 ? 16 : 32;
    bool stretched = i % 4 >= 2;
    rs_encoding *encoding = encode(stretched ? "pi" : "rope", &model, LENGTH, stretched ? by_4 : NULL);
    sim s;
    bench b;
    sim_open(&s, "lookback", 32, LENGTH, i);
    sim_set(&s, "distance", stretched ? "4" : "16");
    s.in.pair_layout = model.pair_layout;
    s.in.rotary_dim = model.rotary_dim;
    bench_open(&b, "argmax_distance", encoding, edges, 5);
    feed(&b, &s, 200);
    bench_finish(&b);
    agrees(b.result.value[0], 16, 0, "argmax_distance_tokens");
    agrees(b.result.error[0], 0, 0, "its standard error");
    agrees(b.result.value[1], 16, 0, "argmax_mode_tokens");
    agrees(b.result.value[2], 1, 0, "argmax_mode_share");
    for (size_t bin = 0; bin < 5; bin++) agrees(cell(&b, bin, 2), bin == 2, 0, "share");
    bench_close(&b);
    rs_settings_clear(&s.settings);
    rs_encoding_free(encoding);
  }
}

/* Each key is the one content of the queries, turned by r tokens of the model's own RoPE. */
Test(lookback, keys__are_the_content_turned_by_the_distance) {
  enum { DIMS = 12, LENGTH = 9 };
  for (size_t i = 0; i < 4; i++) {
    rs_model model = model_of(1, DIMS);
    model.rope_theta = 300;
    model.rotary_dim = i < 2 ? DIMS : 8;
    model.pair_layout = i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT;
    rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
    sim s;
    double keys[LENGTH * DIMS], query[DIMS], other[DIMS], turned[DIMS];
    const double distance = 57;
    sim_open(&s, "lookback", DIMS, LENGTH, 3);
    sim_set(&s, "distance", "57");
    s.in.rope_theta = model.rope_theta;
    s.in.rotary_dim = model.rotary_dim;
    s.in.pair_layout = model.pair_layout;
    s.kind->keys(&s.in, 0, LENGTH, keys);
    s.kind->query(&s.in, 2, query);
    s.kind->query(&s.in, 7, other);
    rs_encoding_rotate(encoding, &distance, query, turned);
    for (size_t d = 0; d < DIMS; d++) {
      agrees(other[d], query[d], 0, "all queries are one");
      for (size_t n = 0; n < LENGTH; n++) agrees(keys[n * DIMS + d], turned[d], 1e-14, "key");
    }
    rs_settings_clear(&s.settings);
    rs_encoding_free(encoding);
  }
}

/* Distances 3, 5, 5, 2 (a later key), 3, 9: mean 4.5, modes 3 and 5. */
Test(argmax_distance, rows__mean_mode_and_shares__are_recomputed) {
  static const size_t queries[] = {3, 9, 15, 4, 10, 9}, argmax[] = {0, 4, 10, 6, 7, 0}, edges[] = {0, 3, 4, 16};
  static const double shares[] = {1 / 6.0, 2 / 6.0, 3 / 6.0};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 16, NULL);
  bench b;
  bench_open(&b, "argmax_distance", encoding, edges, 3);
  for (size_t i = 0; i < 6; i++) {
    rs_row row = {.query = queries[i], .argmax = argmax[i]};
    b.kind->row(&b.in, b.state, &row);
  }
  bench_finish(&b);
  agrees(b.result.value[0], 4.5, 1e-15, "argmax_distance_tokens");
  agrees(b.result.error[0], sqrtl(31.5L / 5 / 6), 1e-14, "its standard error");
  agrees(b.result.value[1], 3, 0, "argmax_mode_tokens");
  agrees(b.result.value[2], 2 / 6.0L, 1e-15, "argmax_mode_share");
  for (size_t bin = 0; bin < 3; bin++) {
    agrees(cell(&b, bin, 0), edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), edges[bin + 1], 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), shares[bin], 1e-15, "share");
  }
  bench_close(&b);
  bench_open(&b, "argmax_distance", encoding, edges, 3);
  bench_finish(&b);
  for (size_t i = 0; i < 3; i++) agrees(b.result.value[i], NAN, 0, "no rows");
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* ---- entropy and temperature ------------------------------------------------------------------------------------- */

/* Two rows made by hand: bins of (3, mean 1, squares 2) and (2, mean 4, squares 1): all squares 3 + 9 * 6/5 = 13.8 over
 * 4; and a row of one key, which has no variance. */
Test(entropy_scaling, rows__variance_and_deficit__are_recomputed) {
  static const size_t edges[] = {0, 8, 5120};
  double keys[][2] = {{3, 2}, {2, 0}, {1, 0}}, mean[][2] = {{1, 4}, {7, 0}, {2, 0}},
         squares[][2] = {{2, 1}, {0.5, 0}, {0, 0}};
  static const double entropy[] = {1.25, 0.5, 0};
  static const size_t seen[] = {5, 2, 1};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("yarn", &model, 32768, by_8);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 2);
  for (size_t i = 0; i < 3; i++) {
    rs_row row = {.keys = seen[i], .entropy = entropy[i], .bin_keys = keys[i], .bin_mean = mean[i]};
    row.bin_squares = squares[i];
    b.kind->row(&b.in, b.state, &row);
  }
  bench_finish(&b);
  long double variance = (13.8L / 4 + 0.5L) / 2, log_keys = (logl(5) + logl(2)) / 3, root = 0.1L * logl(8) + 1;
  long double content = variance / (root * root * root * root);
  agrees(b.result.value[0], sqrtl(variance), 1e-14, "row_logit_sd_nats");
  agrees(b.result.value[1], (1.75L - logl(5) - logl(2)) / 3, 1e-14, "entropy_deficit_nats");
  agrees(b.result.value[2], NAN, 0, "frozen: 1.975 > 2 * 0.7675");
  agrees(b.result.value[3], NAN, 0, "frozen");
  cr_assert_gt(variance, 2 * log_keys);
  agrees(b.result.value[4], root * root, 1e-14, "logit_factor");
  agrees(b.result.value[5], sqrtl(1 + 2 * logl(8) / content), 1e-14, "keeping_factor");
  agrees(b.result.value[6], sqrtl(2 * logl(8) / (root * root * root * root - 1)), 1e-14, "matching_sd_nats");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* log_n sharpens late queries alone: rows of one content, each times its own query's factor, have that content's
 * variance, whichever queries are looked at. */
Test(entropy_scaling, factors_that_grow__content__is_the_same_at_every_query) {
  static const char *const grows[] = {"logit_scale", "log_n", NULL};
  static const size_t edges[] = {0, 32768}, queries[] = {9, 4095, 16383, 32767};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("rope", &model, 32768, grows);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  for (size_t i = 0; i < RS_COUNT(queries); i++) {
    double factor = fmax(1, log((double)queries[i] + 1) / log(4096)), keys = 5, mean = 0, squares = 4 * factor * factor;
    rs_row row = {.query = queries[i], .keys = 5, .entropy = 1, .bin_keys = &keys, .bin_mean = &mean};
    row.bin_squares = &squares;
    b.kind->row(&b.in, b.state, &row);
  }
  bench_finish(&b);
  agrees(b.result.value[4], 1.25, 1e-14, "logit_factor");
  agrees(b.result.value[5], sqrtl(1 + 2 * logl(8)), 1e-14, "keeping_factor: v = 1");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* An amp on a quarter of the head is no factor of the logits: none is named, and nothing is made of it. */
Test(logit_factor, amp_on_a_part_of_the_head__is_empty) {
  static const char *const part[] = {"factor", "8", "rotary_dim", "4", NULL};
  static const struct {
    const char *metric;
    size_t scalar;
  } cases[] = {{"frequencies", 3}, {"sphere_entropy", 0}, {"simplex_contraction", 0}, {"simplex_contraction", 1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 16);
    rs_encoding *encoding = encode("yarn", &model, 64, part);
    bench b;
    bench_open(&b, cases[i].metric, encoding, NULL, 0);
    bench_finish(&b);
    agrees(b.result.value[cases[i].scalar], NAN, 0, cases[i].metric);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* Entropies of Gaussian rows are measured, not assumed: iid N(0, 1) logits of 4096 keys lose half a nat; on spheres of
 * 128 dims what is lost is ln 0F1(; d/2; d/4) less its slope, -0.4942 (von Mises and Fisher's entropy), where
 * kexue.fm/archives/8823 has -0.24 sqrt(128) = -2.7. */
/* Logits that are all alike keep their entropy under no factor. */
Test(entropy_scaling, no_spread__no_factor_keeps_entropy) {
  static const size_t edges[] = {0, 5120};
  double keys = 5, mean = 3, squares = 0;
  rs_row row = {.keys = 5, .entropy = log(5), .bin_keys = &keys, .bin_mean = &mean, .bin_squares = &squares};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 8192, NULL);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  b.kind->row(&b.in, b.state, &row);
  bench_finish(&b);
  agrees(b.result.value[0], 0, 0, "row_logit_sd_nats");
  agrees(b.result.value[5], NAN, 0, "keeping_factor");
  bench_close(&b);
  rs_encoding_free(encoding);
}

Test(entropy_scaling, gaussian_sources__deficits__are_the_closed_forms) {
  enum { LENGTH = 4096, DIMS = 128, QUERIES = 32, SEEDS = 4 };
  static const size_t edges[] = {0, 64, LENGTH};
  static const char *const norms[] = {"queries", "both"};
  static const double expected[] = {-0.5, -0.4942};
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  for (size_t i = 0; i < 2; i++) {
    bench b;
    bench_open(&b, "entropy_scaling", encoding, edges, 2);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      sim s;
      sim_open(&s, "gaussian", DIMS, LENGTH, seed);
      sim_set(&s, "norm", norms[i]);
      feed(&b, &s, LENGTH - QUERIES);
      rs_settings_clear(&s.settings);
    }
    bench_finish(&b);
    cr_assert_float_eq(b.result.value[0], 1, 0.01, "sd %g", b.result.value[0]);
    cr_assert_float_eq(b.result.value[1], expected[i], 0.005, "%g", b.result.value[1]);
    cr_assert_float_eq(b.result.value[2], -0.5, 0.01, "%g", b.result.value[2]);
    cr_assert_float_eq(b.result.value[3], log(LENGTH) - 0.5, 0.015, "%g", b.result.value[3]);
    agrees(b.result.value[4], 1, 0, "logit_factor");
    agrees(b.result.value[5], 1, 1e-15, "at train_length nothing is to be kept");
    agrees(b.result.value[6], NAN, 0, "matching_sd_nats");
    cr_assert(b.result.error[1] > 0 && b.result.error[1] < 0.003);
    bench_close(&b);
  }
  rs_encoding_free(encoding);
}

/* Logits that are all alike have the entropy of the length, whatever multiplies them. */
Test(entropy_scaling, equal_logits__keeping_factor__is_empty) {
  static const size_t edges[] = {0, 8192};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 8192, NULL);
  double keys = 5, mean = 3, squares = 0;
  rs_row row = {.query = 8191, .keys = 5, .entropy = log(5), .bin_keys = &keys, .bin_mean = &mean};
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  row.bin_squares = &squares;
  b.kind->row(&b.in, b.state, &row);
  bench_finish(&b);
  agrees(b.result.value[0], 0, 0, "row_logit_sd_nats");
  agrees(b.result.value[5], NAN, 0, "keeping_factor");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* No spread of logits makes a factor of 1 right beyond train_length, nor one above 1 below it; without rows nothing is
 * known of the logits. */
Test(entropy_scaling, no_matching_factor__is_empty) {
  static const size_t edges[] = {0, 8};
  static const struct {
    const char *method, *const *settings;
    size_t length;
  } cases[] = {{"nope", NULL, 8192}, {"yarn", by_8, 2048}, {"nope", NULL, 4096}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 8);
    rs_encoding *encoding = encode(cases[i].method, &model, cases[i].length, cases[i].settings);
    bench b;
    bench_open(&b, "entropy_scaling", encoding, edges, 1);
    bench_finish(&b);
    for (size_t c = 0; c < 7; c++)
      if (c != 4) agrees(b.result.value[c], NAN, 0, b.kind->scalars[c].name);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* ln E[e^(kappa t)] - kappa E[t e^(kappa t)] / E[e^(kappa t)] by the trapezium rule in the angle, whose density is
 * sin^(d-2); smooth and periodic, so that it converges faster than any power. */
static long double sphere_deficit(long double dims, long double lambda) {
  enum { POINTS = 4000 };
  long double weight = 0, sum = 0, first = 0, kappa = lambda * dims;
  for (size_t i = 1; i < POINTS; i++) {
    long double angle = M_PIl * i / POINTS, density = powl(sinl(angle), dims - 2), t = cosl(angle);
    weight += density;
    sum += density * expl(kappa * (t - 1));
    first += density * t * expl(kappa * (t - 1));
  }
  return logl(sum / weight) + kappa - kappa * first / sum;
}

/* In 4 dims E[e^(kappa t)] = 2 I_1(kappa) / kappa, whose logarithm has the slope I_2 / I_1. A factor so large that the
 * series would take 10^8 terms, and 10^13 of the largest. */
Test(sphere_entropy, huge_factor__is_the_bessel_function) {
  static const char *const large[] = {"factor", "8", "attention_factor", "1e4", NULL};
  static const char *const largest[] = {"factor", "8", "attention_factor", "1e6", NULL};
  rs_model model = model_of(1, 4);
  rs_encoding *encoding = encode("yarn", &model, 64, large);
  double kappa = 2e8, first = gsl_sf_bessel_I1_scaled(kappa), second = gsl_sf_bessel_In_scaled(2, kappa);
  bench b;
  bench_open(&b, "sphere_entropy", encoding, NULL, 0);
  bench_finish(&b);
  agrees(b.result.value[0], log(2 * first / kappa) + kappa * (first - second) / first, 1e-7, "2e8");
  bench_close(&b);
  rs_encoding_free(encoding);
  encoding = encode("yarn", &model, 64, largest);
  bench_open(&b, "sphere_entropy", encoding, NULL, 0);
  bench_finish(&b);
  cr_expect_lt(b.result.value[0], -40);
  bench_close(&b);
  rs_encoding_free(encoding);
}

Test(sphere_entropy, curve__is_the_integral_over_the_sphere) {
  static const double lambdas[] = {0.01, 0.3, 1, 4};
  static const size_t dims[] = {4, 64, 128};
  for (size_t i = 0; i < 3; i++) {
    rs_model model = model_of(1, dims[i]);
    rs_encoding *encoding = encode("yarn", &model, 100, by_8);
    long double d = dims[i], root = 0.1L * logl(8) + 1, own = root * root / sqrtl(d);
    bench b;
    bench_open(&b, "sphere_entropy", encoding, NULL, 0);
    bench_list(&b, "lambdas", lambdas, 4);
    bench_finish(&b);
    cr_assert_eq(b.result.curve.rows, 5);
    agrees(b.result.value[0], sphere_deficit(d, own), 1e-11, "sphere_deficit_nats");
    for (size_t row = 0; row < 5; row++) {
      long double lambda = row == 0 ? own : lambdas[row - 1], want = sphere_deficit(d, lambda);
      agrees(cell(&b, row, 0), lambda, 1e-15, "lambda");
      agrees(cell(&b, row, 1), want, 1e-11, "deficit_nats");
      agrees(cell(&b, row, 2), -d / 2 * logl((1 + sqrtl(1 + 4 * lambda * lambda)) / 2), 1e-14, "wide_deficit_nats");
      agrees(cell(&b, row, 3), -0.24L * lambda * d, 1e-14, "linear_deficit_nats");
      agrees(cell(&b, row, 4), want / (-0.24L * lambda * d), 1e-10, "share_of_linear");
      if (i == 2) cr_assert_float_eq(cell(&b, row, 2), cell(&b, row, 1), 0.02 * fabs(cell(&b, row, 1)));
    }
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

static long double misfit(long double sd, const double *scales, size_t count, long double slope) {
  long double sum = 0;
  for (size_t i = 0; i < count; i++) {
    long double root = slope * logl(scales[i]) + 1;
    sum += powl(sqrtl(1 + 2 * logl(scales[i]) / (sd * sd)) - root * root, 2);
  }
  return sum;
}

/* 1.8338 by golden section in an independent program; nothing near it fits better. */
Test(temperature_law, fit__is_the_least_misfit) {
  static const double octaves[] = {2, 4, 8, 16, 32}, others[] = {3, 10, 100}, sds[] = {1};
  for (size_t i = 0; i < 2; i++) {
    rs_model model = model_of(1, 8);
    rs_encoding *encoding = encode("nope", &model, 10, NULL);
    const double *scales = i == 0 ? octaves : others;
    size_t count = i == 0 ? 5 : 3;
    long double slope = i == 0 ? 0.1L : 0.2L;
    bench b;
    bench_open(&b, "temperature_law", encoding, NULL, 0);
    if (i == 1) bench_list(&b, "scales", others, 3);
    if (i == 1) bench_set(&b, "slope", "0.2");
    bench_list(&b, "sds", sds, 1);
    bench_finish(&b);
    double sd = b.result.value[0];
    if (i == 0) cr_assert_float_eq(sd, 1.8338, 5e-5, "%.8g", sd);
    cr_assert_lt(misfit(sd, scales, count, slope), misfit(sd * 1.0001L, scales, count, slope));
    cr_assert_lt(misfit(sd, scales, count, slope), misfit(sd / 1.0001L, scales, count, slope));
    cr_assert_eq(b.result.curve.rows, 2 * count);
    for (size_t row = 0; row < 2 * count; row++) {
      long double of = row < count ? 1 : sd, s = scales[row % count], f = powl(slope * logl(s) + 1, 2);
      agrees(cell(&b, row, 0), of, 0, "logit_sd_nats");
      agrees(cell(&b, row, 1), s, 0, "length_ratio");
      agrees(cell(&b, row, 2), f, 1e-14, "law_factor");
      agrees(cell(&b, row, 3), sqrtl(1 + 2 * logl(s) / (of * of)), 1e-14, "keeping_factor");
      agrees(cell(&b, row, 4), logl(s) - of * of * (f * f - 1) / 2, 1e-13, "entropy_change_nats");
      agrees(cell(&b, row, 5), sqrtl(2 * logl(s) / (f * f - 1)), 1e-14, "matching_sd_nats");
    }
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

Test(temperature_law, no_slope__fits_no_logits) {
  static const double sd = 2;
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 10, NULL);
  bench b;
  bench_open(&b, "temperature_law", encoding, NULL, 0);
  bench_set(&b, "slope", "0");
  bench_finish(&b);
  agrees(b.result.value[0], NAN, 0, "a factor of 1");
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
  bench_open(&b, "temperature_law", encoding, NULL, 0);
  bench_set(&b, "slope", "0");
  bench_list(&b, "sds", &sd, 1);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, 5);
  agrees(cell(&b, 0, 5), NAN, 0, "no sd is right for a factor of 1");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* ---- tokens that run together ------------------------------------------------------------------------------------ */

enum { TOKENS = 12 };

/* One layer of attention on TOKENS explicit unit vectors of pairwise overlap rho: coordinate 0 is shared. */
static void attend(long double rho, long double beta, long double *self_weight, long double *cosine) {
  long double x[TOKENS][TOKENS + 1] = {{0}}, y[2][TOKENS + 1] = {{0}}, dot[3] = {0};
  for (size_t i = 0; i < TOKENS; i++) {
    x[i][0] = sqrtl(rho);
    x[i][i + 1] = sqrtl(1 - rho);
  }
  for (size_t i = 0; i < 2; i++) {
    long double weight[TOKENS], sum = 0;
    for (size_t k = 0; k < TOKENS; k++) {
      long double overlap = 0;
      for (size_t c = 0; c <= TOKENS; c++) overlap += x[i][c] * x[k][c];
      sum += weight[k] = expl(beta * overlap);
    }
    if (i == 0) *self_weight = weight[0] / sum;
    for (size_t k = 0; k < TOKENS; k++)
      for (size_t c = 0; c <= TOKENS; c++) y[i][c] += weight[k] / sum * x[k][c];
  }
  for (size_t c = 0; c <= TOKENS; c++) {
    dot[0] += y[0][c] * y[1][c];
    dot[1] += y[0][c] * y[0][c];
    dot[2] += y[1][c] * y[1][c];
  }
  *cosine = dot[0] / sqrtl(dot[1] * dot[2]);
}

Test(simplex_contraction, a_few_tokens__weight_and_cosine__are_those_of_the_layer) {
  static const double overlaps[] = {0, 0.1, 0.5, 0.9}, gammas[] = {0, 0.5, 1, 2, 5};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("rope", &model, TOKENS, NULL);
  bench b;
  bench_open(&b, "simplex_contraction", encoding, NULL, 0);
  bench_list(&b, "overlaps", overlaps, 4);
  bench_list(&b, "gammas", gammas, 5);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, 20);
  for (size_t i = 0; i < 20; i++) {
    long double self, cosine, rho = overlaps[i / 5];
    attend(rho, gammas[i % 5] * logl(TOKENS), &self, &cosine);
    agrees(cell(&b, i, 0), rho, 0, "overlap");
    agrees(cell(&b, i, 1), gammas[i % 5], 0, "gamma");
    agrees(cell(&b, i, 2), self, 1e-14, "self_weight");
    agrees(cell(&b, i, 3), cosine, 1e-13, "cosine_after");
    agrees(cell(&b, i, 4), 1 / (1 - rho), 1e-15, "critical_gamma");
    agrees(cell(&b, i, 5), 4 * rho / (1 + 3 * rho), 1e-15, "critical_cosine");
  }
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* The encoding's own: sqrt(D) = 4, or what is given, times its factor at the last query. */
Test(simplex_contraction, own_gamma__is_the_logit_of_a_token_with_itself_over_ln_n) {
  static const char *const scaled[] = {"logit_scale", "ssmax", "logit_scale_factor", "2", NULL};
  static const struct {
    const char *method, *const *settings, *self;
    double factor, gamma_times_log;
  } cases[] = {{"rope", NULL, "sqrt_dim", 1, 4}, {"rope", NULL, "7", 1, 7}, {"nope", scaled, "0.25", 2, NAN}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 16);
    rs_encoding *encoding = encode(cases[i].method, &model, 1000, cases[i].settings);
    double gamma = isnan(cases[i].gamma_times_log) ? 0.5 : cases[i].gamma_times_log / log(1000);
    bench b;
    bench_open(&b, "simplex_contraction", encoding, NULL, 0);
    bench_set(&b, "self_logit", cases[i].self);
    bench_finish(&b);
    agrees(b.result.value[0], gamma, 1e-14, "contraction_gamma");
    agrees(b.result.value[1], gamma > 1 ? 1 - 1 / gamma : NAN, 1e-14, "critical_overlap");
    cr_assert_eq(b.result.curve.rows, 3);
    for (size_t row = 0; row < 3; row++) agrees(cell(&b, row, 1), gamma, 1e-14, "gamma");
    bench_close(&b);
    rs_encoding_free(encoding);
  }
  rs_model model = model_of(1, 16);
  rs_encoding *one = encode("rope", &model, 1, NULL);
  bench b;
  bench_open(&b, "simplex_contraction", one, NULL, 0);
  bench_finish(&b);
  agrees(b.result.value[0], NAN, 0, "one token");
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
  rs_encoding_free(one);
}

/* arXiv:2510.05554 at n = 1e6: critical gamma 1 / (1 - rho), self weight 1/2, cosines .5000 .8000 .9412. */
Test(simplex_contraction, a_million_tokens_at_criticality__cosines__are_the_published_ones) {
  static const double overlaps[] = {0.2, 0.5, 0.8}, cosines[] = {0.5, 0.8, 0.9412};
  rs_model model = model_of(1, 2);
  rs_encoding *encoding = encode("nope", &model, 1000000, NULL);
  for (size_t i = 0; i < 3; i++) {
    double gamma = 1 / (1 - overlaps[i]);
    bench b;
    bench_open(&b, "simplex_contraction", encoding, NULL, 0);
    bench_list(&b, "overlaps", &overlaps[i], 1);
    bench_list(&b, "gammas", &gamma, 1);
    bench_finish(&b);
    cr_assert_float_eq(cell(&b, 0, 2), 0.5, 1e-6);
    cr_assert_float_eq(cell(&b, 0, 3), cosines[i], 5e-5);
    bench_close(&b);
  }
  rs_encoding_free(encoding);
}
