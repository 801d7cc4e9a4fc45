/* test_scores.c: metrics of scores against values recomputed here from first principles, closed forms and published
 * numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/obtain.h"
#include "../fixtures/score_bench.h"
#include "attention/attention.h"

/* ---- the wide limit of the mean cosine --------------------------------------------------------------------------- */

/* The mean of cos(m b^-u) over 0 <= u <= 1 by the midpoint rule, which errs by (m ln b / n)^2 / 24. */
static long double mean_over_ladder(long double m, long double base) {
  enum { POINTS = 400000 };
  long double sum = 0, omega = powl(base, -0.5L / POINTS), step = powl(base, -1.0L / POINTS);
  for (size_t i = 0; i < POINTS; i++, omega *= step) sum += cosl(m * omega);
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
    bound_set(&b.parameters, "per_octave", "2");
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

static const char *const partial[] = {"rotary_dim", "8", NULL}, *const ssmax[] = {"logit_scale", "ssmax", NULL},
                         *const partial_yarn[] = {"scale", "8", "rotary_dim", "8", NULL},
                         *const small_groups[] = {"group", "4", "window", "10", NULL};

/* Every stage that acts on scores: frequencies, views, gains, amp (also where R < D), temperatures, biases. */
static const struct {
  const char *method, *const *settings;
} stages[] = {
    {"rope", NULL},  {"rope", partial}, {"yarn", by_8},  {"yarn", partial_yarn}, {"self_extend", small_groups},
    {"xpos", NULL},  {"nope", ssmax},   {"alibi", NULL}, {"sandwich", NULL},     {"nope", NULL},
    {"rope", ssmax}, {"pi", by_8}};

Test(equal_contents, every_stage__field__is_that_of_the_reference_row) {
  enum { LENGTH = 701, HEADS = 4 };
  static const char *const contents[] = {"sqrt_dim", "1", "0"};
  static const double sizes[] = {1, 0.5, 0}; /* D = 16: size^2 sqrt(16) = 4, 1, 0 */
  static const size_t heads[] = {1, 3};
  for (size_t i = 0; i < RS_COUNT(stages) * RS_COUNT(contents); i++) {
    rs_model model = model_of(HEADS, 16);
    size_t c = i % RS_COUNT(contents), s = i / RS_COUNT(contents);
    rs_encoding *encoding = encode(stages[s].method, &model, LENGTH, stages[s].settings);
    double field = 0, share = i % 2 ? 0.5 : 0.99;
    for (size_t h = 0; h < 2; h++) {
      double *logits = equal_logits(encoding, heads[h], sizes[c]);
      field += field_of(logits, LENGTH, share) / 2;
      free(logits);
    }
    bench b;
    bench_open(&b, "receptive_field", encoding, NULL, 0);
    b.in.heads = heads;
    b.in.head_count = 2;
    bound_set(&b.parameters, "content", contents[c]);
    bound_set(&b.parameters, "share", i % 2 ? "0.5" : "0.99");
    bench_finish(&b);
    agrees(b.result.value[0], field, 0, stages[s].method);
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
    bound_set(&b.parameters, "share", shares[i]);
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
  rs_encoding_free(added);
  rs_encoding_free(one);
}
