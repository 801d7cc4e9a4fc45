/* test_api_statistics.c: statistics of given rows against a softmax written out, for every type and stride. */
#include "api.h"

#include <math.h>

enum { L = 37, D = 16, H = 4, KV = 2 };

static const char config[] = "{\"model_type\": \"llama\", \"num_attention_heads\": 4, \"hidden_size\": 64, "
                             "\"rope_theta\": 1000.0, \"max_position_embeddings\": 512}";

/* Multiples of 1/8 up to 2: every type holds them. */
static double number(size_t seed, size_t i) {
  return (double)((int)((seed * 7919 + i * 104729 + i * i * 31) % 33) - 16) / 8;
}

static double q[H][L][D], k[KV][L][D];

static void fill(void) {
  for (size_t i = 0; i < H * L * D; i++) (&q[0][0][0])[i] = number(1, i);
  for (size_t i = 0; i < KV * L * D; i++) (&k[0][0][0])[i] = number(2, i);
}

static void rotate(const double *x, double position, double *out) {
  for (size_t j = 0; j < D / 2; j++) {
    double angle = position * pow(1000, -(double)j / (D / 2)), c = cos(angle), s = sin(angle);
    out[j] = x[j] * c - x[j + D / 2] * s;
    out[j + D / 2] = x[j] * s + x[j + D / 2] * c;
  }
}

/* What one row comes to. */
typedef struct row {
  double max, sum, entropy, target;
  size_t argmax;
} row;

static row plain_row(size_t head, size_t m, size_t window, double scale, double cap, const double *sink,
                     size_t target) {
  double turned[D], logits[L], keys[D];
  row out = {.max = -INFINITY};
  rotate(q[head][m], (double)m, turned);
  for (size_t n = m + 1 > window ? m + 1 - window : 0; n <= m; n++) {
    double sum = 0;
    rotate(k[head / (H / KV)][n], (double)n, keys);
    for (size_t d = 0; d < D; d++) sum += turned[d] * keys[d];
    logits[n] = cap > 0 ? cap * tanh(sum * scale / cap) : sum * scale;
    if (logits[n] > out.max) out = (row){.max = logits[n], .argmax = n};
  }
  double top = sink != NULL && *sink > out.max ? *sink : out.max, z = sink != NULL ? exp(*sink - top) : 0, dot = 0;
  if (sink != NULL) dot = z * *sink;
  for (size_t n = m + 1 > window ? m + 1 - window : 0; n <= m; n++) {
    z += exp(logits[n] - top);
    dot += exp(logits[n] - top) * logits[n];
  }
  out.sum = top + log(z);
  out.entropy = out.sum - dot / z;
  bool seen = target < L && target <= m && m - target < window;
  out.target = seen ? exp(logits[target] - out.sum) : NAN;
  return out;
}

static ropescope_attention plain(const ropescope_recipe *recipe) {
  return (ropescope_attention){.size = sizeof(ropescope_attention),
                               .recipe = recipe,
                               .q = {q, ROPESCOPE_F64, L * D, D, 1},
                               .k = {k, ROPESCOPE_F64, L * D, D, 1},
                               .length = L,
                               .head_dim = D,
                               .heads = H,
                               .kv_heads = KV,
                               .exact = 1};
}

static void check(const ropescope_attention *in, size_t window, const size_t *targets, double tolerance) {
  ropescope_statistics *seen = NULL;
  double max[L], sum[L], entropy[L], argmax[L], position[L], weight[L];
  GOOD(ropescope_statistics_create(in, &seen, &error));
  size_t queries = ropescope_statistics_queries(seen);
  double scale = in->softmax_scale != 0 ? in->softmax_scale : 1 / sqrt(D);
  for (size_t h = 0; h < in->heads; h++) {
    cr_assert_eq(ropescope_statistics_values(seen, h, ROPESCOPE_MAX_LOGIT, max, L), queries);
    ropescope_statistics_values(seen, h, ROPESCOPE_LOG_SUM_EXP, sum, L);
    ropescope_statistics_values(seen, h, ROPESCOPE_ENTROPY, entropy, L);
    ropescope_statistics_values(seen, h, ROPESCOPE_ARGMAX, argmax, L);
    ropescope_statistics_values(seen, h, ROPESCOPE_QUERY_POSITION, position, L);
    ropescope_statistics_values(seen, h, ROPESCOPE_TARGET_WEIGHT, weight, L);
    for (size_t i = 0; i < queries; i++) {
      const double *sink = in->learned_sinks != NULL ? &in->learned_sinks[h] : NULL;
      row r =
          plain_row(h, (size_t)position[i], window, scale, in->soft_cap, sink, targets != NULL ? targets[i] : SIZE_MAX);
      cr_assert_float_eq(max[i], r.max, tolerance);
      cr_assert_float_eq(sum[i], r.sum, tolerance);
      cr_assert_float_eq(entropy[i], r.entropy, tolerance, "head %zu, query %g: %.12g, not %.12g", h, position[i],
                         entropy[i], r.entropy);
      cr_assert_eq((size_t)argmax[i], r.argmax);
      cr_assert(isnan(weight[i]) ? isnan(r.target) : fabs(weight[i] - r.target) < tolerance);
    }
  }
  ropescope_statistics_free(seen);
}

Test(api_statistics, rows_are_those_of_a_softmax_written_out, .init = fill) {
  static const size_t few[] = {3, 20, 36}, targets[] = {0, 20, 1}, apart[] = {0, 9, 11};
  static const double sinks[H] = {0.5, -1, 3, 0};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  check(&in, L, NULL, 1e-10);
  in.soft_cap = 2;
  check(&in, L, NULL, 1e-10);
  in.soft_cap = 0;
  in.learned_sinks = sinks;
  check(&in, L, NULL, 1e-10);
  in.learned_sinks = NULL;
  in.softmax_scale = 0.4;
  check(&in, L, NULL, 1e-10);
  in.softmax_scale = 0;
  in.mask = ROPESCOPE_MASK_WINDOW;
  in.window = 5;
  check(&in, 5, NULL, 1e-10);
  in.queries = few;
  in.query_count = 3;
  in.targets = targets;
  check(&in, 5, targets, 1e-10);
  in.targets = NULL;
  in.queries = apart; /* of which the last two alone are as close as three can be */
  check(&in, 5, NULL, 1e-10);
  ropescope_recipe_free(recipe);
}

/* The last rows of q alone, which stand at the last positions. */
Test(api_statistics, the_last_queries, .init = fill) {
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  in.q.data = &q[0][L - 5][0];
  in.query_tokens = 5;
  in.first_query = L - 5;
  check(&in, L, NULL, 1e-10);
  ropescope_recipe_free(recipe);
}

/* One query, of which every second number is meant: there is no other row whose stride could tell. */
Test(api_statistics, one_query__at_a_stride__is_the_same, .init = fill) {
  static double apart[H][2 * D];
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  for (size_t h = 0; h < H; h++)
    for (size_t d = 0; d < D; d++) {
      apart[h][2 * d] = q[h][L - 1][d];
      apart[h][2 * d + 1] = 7;
    }
  in.q = (ropescope_rows){apart, ROPESCOPE_F64, 2 * D, 2 * D, 2};
  in.query_tokens = 1;
  in.first_query = L - 1;
  check(&in, L, NULL, 1e-10);
  ropescope_recipe_free(recipe);
}

/* Sinks are as many as heads: what stands behind them is not read. */
Test(api_statistics, learned_sinks__end_with_the_heads, .init = fill) {
  static const double sinks[H + 1] = {0.5, -1, 3, 0, NAN};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  in.learned_sinks = sinks;
  check(&in, L, NULL, 1e-10);
  ropescope_recipe_free(recipe);
}

/* A normal binary16, or 0. */
static uint16_t half_bits(double x) {
  if (x == 0) return 0;
  int exponent = ilogb(x);
  unsigned rest = (unsigned)((fabs(ldexp(x, -exponent)) - 1) * 1024);
  return (uint16_t)((x < 0 ? 0x8000u : 0) | (unsigned)(exponent + 15) << 10 | rest);
}

/* The same numbers as float, 16 bits, and backwards: the same bits come of them. */
Test(api_statistics, every_type_and_stride_gives_the_same_bits, .init = fill) {
  static float f32[KV][L][D];
  static uint16_t bf16[KV][L][D];
  static double turned[D][L][KV];
  static uint16_t f16[KV][L][D];
  for (size_t h = 0; h < KV; h++)
    for (size_t n = 0; n < L; n++)
      for (size_t d = 0; d < D; d++) {
        uint32_t bits;
        f32[h][n][d] = (float)k[h][n][d];
        f16[h][n][d] = half_bits(k[h][n][d]);
        memcpy(&bits, &f32[h][n][d], sizeof bits);
        bf16[h][n][d] = (uint16_t)(bits >> 16);
        turned[d][L - 1 - n][h] = k[h][n][d];
      }
  const ropescope_rows rows[] = {{k, ROPESCOPE_F64, L * D, D, 1},
                                 {f32, ROPESCOPE_F32, L * D, D, 1},
                                 {bf16, ROPESCOPE_BF16, L * D, D, 1},
                                 {f16, ROPESCOPE_F16, L * D, D, 1},
                                 {&turned[0][L - 1][0], ROPESCOPE_F64, 1, -KV, L * KV}};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  double first[H][L], other[L];
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    ropescope_attention in = plain(recipe);
    ropescope_statistics *seen = NULL;
    in.k = rows[r];
    GOOD(ropescope_statistics_create(&in, &seen, &error));
    for (size_t h = 0; h < H; h++) {
      ropescope_statistics_values(seen, h, ROPESCOPE_ENTROPY, r == 0 ? first[h] : other, L);
      for (size_t i = 0; i < L && r > 0; i++) cr_assert_eq(other[i], first[h][i], "form %zu", r);
    }
    ropescope_statistics_free(seen);
  }
  ropescope_recipe_free(recipe);
}

Test(api_statistics, metrics_and_mass, .init = fill) {
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  ropescope_statistics *seen = NULL;
  in.metrics = "[entropy, distance_mass]";
  in.by_distance = 1;
  GOOD(ropescope_statistics_create(&in, &seen, &error));
  const ropescope_frame *summary = ropescope_statistics_summary(seen);
  size_t bins = ropescope_statistics_bins(seen), column = ropescope_frame_find(summary, "entropy_nats");
  double sum = 0, entropy[L], mass[L * L];
  for (size_t h = 0; h < H; h++) {
    ropescope_statistics_values(seen, h, ROPESCOPE_ENTROPY, entropy, L);
    for (size_t i = 0; i < L; i++) sum += entropy[i] / (H * L);
    cr_assert_eq(ropescope_statistics_mass(seen, h, mass, L * L), L * bins);
    for (size_t i = 0; i < L; i++) {
      double whole = 0;
      for (size_t b = 0; b < bins; b++) whole += mass[i * bins + b];
      cr_assert_float_eq(whole, 1, 1e-12);
    }
  }
  cr_assert_float_eq(ropescope_frame_number(summary, 0, column), sum, 1e-12);
  for (size_t c = 0; c < ropescope_frame_columns(summary); c++) { /* the text of each field is its number */
    const char *text = ropescope_frame_text(summary, 0, c);
    double number = ropescope_frame_number(summary, 0, c);
    cr_expect(isnan(number) ? *text == '\0' : strtod(text, NULL) == number, "%s", ropescope_frame_name(summary, c));
  }
  cr_assert_str_eq(ropescope_frame_unit(summary, column), "nats");
  cr_assert_str_eq(ropescope_statistics_curve_name(seen, 0), "distance_mass");
  cr_assert_gt(ropescope_frame_rows(ropescope_statistics_curve(seen, 0)), 0);
  cr_assert_null(ropescope_statistics_curve(seen, 1));
  ropescope_statistics_free(seen);
  ropescope_recipe_free(recipe);
}

/* Of the queries that are observed, each weight, as the map of a sweep has them; those that are not have no row. */
Test(api_statistics, attention_map, .init = fill) {
  static const size_t queries[] = {1, L - 1};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  ropescope_statistics *seen = NULL;
  in.metrics = "[attention_map]";
  in.queries = queries, in.query_count = 2;
  GOOD(ropescope_statistics_create(&in, &seen, &error));
  const ropescope_frame *summary = ropescope_statistics_summary(seen), *map = ropescope_statistics_curve(seen, 0);
  size_t weight = ropescope_frame_find(map, "weight"), query = ropescope_frame_find(map, "query_token");
  cr_assert_float_eq(ropescope_frame_number(summary, 0, ropescope_frame_find(summary, "map_mass")), 1, 1e-12);
  cr_assert_eq(ropescope_frame_rows(map), H * (2 + L));
  for (size_t h = 0; h < H; h++) {
    double sums[2] = {0};
    for (size_t i = 0; i < 2 + L; i++) {
      size_t place = h * (2 + L) + i;
      cr_assert_eq(ropescope_frame_number(map, place, query), i < 2 ? 1 : L - 1);
      sums[i >= 2] += ropescope_frame_number(map, place, weight);
    }
    cr_expect(fabs(sums[0] - 1) < 1e-12 && fabs(sums[1] - 1) < 1e-12);
  }
  ropescope_statistics_free(seen);
  ropescope_recipe_free(recipe);
}

Test(api_statistics, what_does_not_fit_is_refused, .init = fill) {
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  static const size_t descending[] = {5, 4}, beyond[] = {L};
  ropescope_attention in[9];
  static const char *const subjects[] = {"size",    "head_dim", "heads",   "kv_heads", "queries",
                                         "queries", "window",   "targets", "q"};
  for (size_t i = 0; i < 9; i++) in[i] = plain(recipe);
  in[0].size--;
  in[1].head_dim = 8;
  in[2].heads = H + 1;
  in[3].kv_heads = 3;
  in[4].queries = descending, in[4].query_count = 2;
  in[5].queries = beyond, in[5].query_count = 1;
  in[6].mask = ROPESCOPE_MASK_BAND;
  in[7].queries = descending + 1, in[7].query_count = 1, in[7].targets = beyond;
  q[1][2][3] = NAN;
  for (size_t i = 0; i < 9; i++) {
    ropescope_statistics *seen = NULL;
    FAILS(ropescope_statistics_create(&in[i], &seen, &error), ROPESCOPE_INPUT);
    cr_assert_null(seen);
    cr_assert_str_eq(ropescope_error_subject(error), subjects[i], "%s", ropescope_error_message(error));
    if (i == 8) cr_assert_not_null(strstr(ropescope_error_message(error), "head 1, token 2, dim 3"));
    ropescope_error_free(error);
  }
  ropescope_recipe_free(recipe);
}
