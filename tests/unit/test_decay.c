/* test_decay.c: the kernel over distance against values recomputed here from first principles, and against published
 * numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/metric_bench.h"
#include "../fixtures/obtain.h"
#include "attention/attention.h"

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

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
  bound_set(&b->parameters, "distances", distances);
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
  bound_set(&b.parameters, "per_octave", "3");
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

/* Nothing turns: the kernel is empty, where 1 would read as best, and nope has no curve. The bias is the mean over the
 * simulated heads, slopes 2^-2, 2^-6 of H = 4, heads 0 and 2. */
Test(decay, alibi_and_nope__kernel_is_empty__bias_is_the_mean_of_heads) {
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
    agrees(b.result.value[0], NAN, 0, "mean_cosine_at_length");
    cr_assert_eq(b.result.curve.rows > 0, i == 0);
    for (size_t row = 0; row < b.result.curve.rows; row++) {
      for (size_t c = 1; c < b.kind->curve_count; c++)
        if (c != 3) agrees(cell(&b, row, c), NAN, 0, b.kind->curve[c].name);
      agrees(cell(&b, row, 3), -cell(&b, row, 0) * (0.25 + 1 / 64.0) / 2, 1e-15, "bias_nats");
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
