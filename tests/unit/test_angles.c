/* test_angles.c: metrics of what scaling does to the angles, against formulas written out here and published numbers.
 */
#include <string.h>

#include "../table_metric.h"

/* ---- frequencies ------------------------------------------------------------------------------------------------- */

enum { BASE, NTK_FACTOR, AMPLITUDE, LOGIT_GAIN, KEPT, BLENDED, DIVIDED, RAMP_LOW, RAMP_HIGH };
enum { PAIR, AXIS, OMEGA, TRAINED, WAVELENGTH, DIVISOR, INTERPOLATED, TURNS, COLUMNS };

static rs_result frequencies(const char *method, rs_model model, size_t length, const char *const settings[]) {
  return table_measure("frequencies", table_encode(method, &model, length, settings, NULL, NULL), NULL, 0);
}

static const char *const by_8[] = {"factor", "8", NULL};

static void scalars_are(rs_result *result, const double want[9], const char *what) {
  for (size_t i = 0; i < 9; i++) table_agrees(result->value[i], want[i], 1e-12, what);
  rs_curve_clear(&result->curve);
}

Test(frequencies, plain_and_scaled_ladders__scalars__are_the_closed_forms) {
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_result rope = frequencies("rope", llama, 8192, NULL);
  scalars_are(&rope, (double[]){1e4, 1, 1, 1, NAN, NAN, NAN, NAN, NAN}, "rope has no s");
  rs_result pi = frequencies("pi", llama, 8192, by_8);
  scalars_are(&pi, (double[]){1e4, 1, 1, 1, 0, 0, 64, NAN, NAN}, "pi");
  double base = 1e4 * pow(8, 128.0 / 126);
  rs_result ntk = frequencies("ntk", llama, 8192, by_8);
  scalars_are(&ntk, (double[]){base, 8, 1, 1, 1, 62, 1, NAN, NAN}, "ntk");
  rs_result larger = frequencies("abf", llama, 8192, (const char *[]){"rope_theta", "1e6", NULL});
  scalars_are(&larger, (double[]){1e6, pow(100, 126.0 / 128), 1, 1, NAN, NAN, NAN, NAN, NAN}, "abf");
  rs_result none = frequencies("nope", llama, 8192, NULL);
  scalars_are(&none, (double[]){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, "nope");
}

/* The frequencies lie on one ladder within float32 or on none; one pair has no base. */
Test(frequencies, what_is_no_ladder__base__is_nan) {
  const rs_model llama = table_model(128, 1e4, 4096);
  static const char *const methods[] = {"yarn", "resonance", "p_rope", "llama3", "ntk_mixed"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = table_encode(methods[i], &llama, 32768, NULL, NULL, NULL);
    table_agrees(table_scalar_of("frequencies", "ladder_base", encoding, NULL, 0), NAN, 0, methods[i]);
  }
  rs_model pair = table_model(2, 1e4, 4096);
  rs_encoding *encoding = table_encode("rope", &pair, 64, NULL, NULL, NULL);
  table_agrees(table_scalar_of("frequencies", "ladder_base", encoding, NULL, 0), NAN, 0, "one pair");
  rs_precision f32 = {.inv_freq = RS_F32};
  encoding = table_encode("rope", &llama, 64, NULL, NULL, &f32);
  table_agrees(table_scalar_of("frequencies", "ladder_base", encoding, NULL, 0), 1e4, 1e-6, "float32");
}

/* The ramp's ends by the YaRN code's formula, which every model card can be worked out from: floor and ceiling of
 * R ln(L0 / (2 pi r)) / (2 ln theta) at r = 32 and 1. */
Test(frequencies, yarn__ramp_read_off_the_table__is_the_codes) {
  static const struct {
    double dims, theta, train;
    const char *truncate;
    double low, high;
  } cases[] = {
      {128, 1e4, 4096, "true", 20, 46},                 /* Llama-2 */
      {128, 1e4, 2048, "true", 16, 41},                 /* Llama-1 */
      {128, 1e6, 32768, "true", 23, 40},                /* Qwen2.5 */
      {64, 150000, 4096, "false", 8.092779, 17.398025}, /* gpt-oss */
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = table_model((size_t)cases[i].dims, cases[i].theta, (size_t)cases[i].train);
    const char *settings[] = {"factor", "32", "truncate", cases[i].truncate, NULL};
    rs_result result = frequencies("yarn", model, 64, settings);
    table_agrees(result.value[RAMP_LOW], cases[i].low, 1e-7, "ramp_low");
    table_agrees(result.value[RAMP_HIGH], cases[i].high, 1e-7, "ramp_high");
    table_agrees(result.value[AMPLITUDE], 0.1 * log(32) + 1, 1e-15, "amplitude");
    table_agrees(result.value[LOGIT_GAIN], pow(0.1 * log(32) + 1, 2), 1e-15, "logit_gain");
    double kept = floor(cases[i].low) + 1, divided = cases[i].dims / 2 - ceil(cases[i].high);
    table_agrees(result.value[KEPT], kept, 0, "kept_pairs");
    table_agrees(result.value[DIVIDED], divided, 0, "divided_pairs");
    table_agrees(result.value[BLENDED], cases[i].dims / 2 - kept - divided, 0, "blended_pairs");
    rs_curve_clear(&result.curve);
  }
}

/* Llama-3.1: 8 (s), 1 and 4 rotations in 8192 tokens; a ramp in the wavelength is no line over pairs. */
Test(frequencies, llama3__bands__are_29_kept_6_blended_29_divided) {
  const char *settings[] = {"factor", "8", "low_freq_factor", "1", "high_freq_factor", "4", NULL};
  rs_result result = frequencies("llama3", table_model(128, 5e5, 8192), 64, settings);
  scalars_are(&result, (double[]){NAN, NAN, 1, 1, 29, 6, 29, NAN, NAN}, "llama3");
}

/* s = 1 leaves everything as it is, and says nothing of shares. */
Test(frequencies, factor_one__bands__are_nan) {
  rs_result result = frequencies("yarn", table_model(128, 1e4, 4096), 64, (const char *[]){"factor", "1", NULL});
  scalars_are(&result, (double[]){1e4, 1, 1, 1, NAN, NAN, NAN, NAN, NAN}, "yarn, s = 1");
}

Test(frequencies, curve__each_pair__is_the_blend_written_out) {
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_result result = frequencies("yarn", llama, 64, by_8);
  cr_assert_eq(result.curve.rows, 64);
  cr_assert_eq(result.curve.columns, COLUMNS);
  for (size_t j = 0; j < 64; j++) {
    const double *row = result.curve.cells + j * COLUMNS;
    double trained = pow(1e4, -2.0 * j / 128), share = j < 20 ? 0 : j > 46 ? 1 : (j - 20.0) / 26;
    double omega = trained * ((1 - share) + share / 8);
    table_agrees(row[PAIR], j, 0, "pair");
    table_agrees(row[AXIS], 0, 0, "axis");
    table_agrees(row[OMEGA], omega, 1e-14, "omega");
    table_agrees(row[TRAINED], trained, 1e-14, "trained");
    table_agrees(row[WAVELENGTH], 2 * M_PI / omega, 1e-14, "wavelength");
    table_agrees(row[DIVISOR], trained / omega, 1e-14, "divisor");
    cr_assert_float_eq(row[INTERPOLATED], share, 1e-14, "interpolated %zu: %.17g", j, row[INTERPOLATED]);
    table_agrees(row[TURNS], 4096 * trained / (2 * M_PI), 1e-14, "turns");
  }
  rs_curve_clear(&result.curve);
}

/* Pairs that stand still have neither wavelength nor divisor; M-RoPE's pairs say which axis they read; keys that
 * were cached under other frequencies give each pair a place of its own. */
Test(frequencies, curve__still_pairs_and_axes__are_told) {
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_result result = frequencies("p_rope", llama, 64, (const char *[]){"rotary_fraction", "0.75", NULL});
  const double *last = result.curve.cells + 63 * COLUMNS;
  table_agrees(last[OMEGA], 0, 0, "omega");
  table_agrees(last[WAVELENGTH], NAN, 0, "wavelength");
  table_agrees(last[DIVISOR], NAN, 0, "divisor");
  rs_curve_clear(&result.curve);
  rs_model vision = llama;
  memcpy(vision.mrope_section, (size_t[]){16, 24, 24}, sizeof vision.mrope_section);
  result = frequencies("rope", vision, 64, NULL);
  for (size_t j = 0; j < 64; j++)
    table_agrees(result.curve.cells[j * COLUMNS + AXIS], j < 16 ? 0 : j < 40 ? 1 : 2, 0, "axis");
  rs_curve_clear(&result.curve);
  result = frequencies("axial", llama, 64, NULL);
  table_agrees(result.curve.cells[TRAINED], NAN, 0, "trained on patches");
  table_agrees(result.curve.cells[TURNS], NAN, 0, "not on tokens");
  rs_curve_clear(&result.curve);
  result = frequencies("dynamic_ntk", llama, 64, (const char *[]){"cached_keys", "16", NULL});
  for (size_t j = 0; j < 64; j++) table_agrees(result.curve.cells[j * COLUMNS + AXIS], NAN, 0, "a place of its own");
  rs_curve_clear(&result.curve);
}

/* The temperature by position counts at the last query: ln 16384 / ln 4096 = 7 / 6. */
Test(frequencies, logit_factor__log_n__is_that_of_the_last_query) {
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_result result = frequencies("yarn", llama, 16384, (const char *[]){"factor", "4", "logit_scale", "log_n", NULL});
  double g = 0.1 * log(4) + 1;
  table_agrees(result.value[LOGIT_GAIN], g * g * 7 / 6, 1e-14, "logit_gain");
  table_agrees(result.value[AMPLITUDE], g, 1e-15, "amplitude");
  rs_curve_clear(&result.curve);
}

/* ---- dprope ------------------------------------------------------------------------------------------------------ */

/* Shares of the circle for omega times each distance, in long double. */
static void shares_of(double omega, const double *distances, size_t count, size_t parts, double start, double *out) {
  for (size_t b = 0; b < parts; b++) out[b] = start / (double)count;
  for (size_t i = 0; i < count; i++) {
    long double turns = (long double)omega * distances[i] / (2 * 3.14159265358979323846264338327950288L);
    out[(size_t)((turns - floorl(turns)) * parts)] += 1 / (double)count;
  }
}

static double divergence(const double *p, const double *q, size_t parts) {
  double sum = 0;
  for (size_t b = 0; b < parts; b++) sum += p[b] * (log(p[b]) - log(q[b]));
  return sum;
}

Test(dprope, cached_keys_and_endless_contexts__are_refused) {
  rs_recipe recipe;
  rs_encoding *encoding;
  rs_err err = {0};
  const rs_model model = table_model(8, 1e4, 4096);
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("dprope"), NULL), RS_OK);
  cr_assert_eq(rs_recipe_set(&recipe, "factor", "1e6", NULL), RS_OK);
  cr_assert_eq(rs_recipe_check(&recipe, &model, NULL), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &model, 64, NULL, NULL, &encoding, &err), RS_DOMAIN);
  cr_assert_eq(rs_recipe_set(&recipe, "cached_keys", "consistent", NULL), RS_OK);
  cr_assert_eq(rs_recipe_check(&recipe, &model, NULL), RS_OK);
  cr_assert_eq(rs_recipe_set(&recipe, "cached_keys", "8", NULL), RS_OK);
  err = (rs_err){0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "cached_keys");
  rs_recipe_clear(&recipe);
}

/* The context is s L0 tokens, to the nearest whole one; every choice again, in long double. */
Test(dprope, each_pair__choice__is_the_nearer_spread_written_out) {
  enum { PAIRS = 24, L0 = 11, FACTORS = 4 };
  const rs_model model = table_model(2 * PAIRS, 50, L0);
  static const char *const factors[] = {"1.6", "2.5", "2.3", "4.7"}; /* 17.6, 27.5, 25.3 and 51.7 tokens */
  static const size_t lengths[] = {18, 28, 25, 52};
  double places[64], trained[7], kept[7], divided[7];
  size_t divisions = 0;
  for (size_t m = 0; m < 64; m++) places[m] = (double)m;
  for (size_t i = 0; i < FACTORS; i++) {
    const char *settings[] = {"factor", factors[i], "angle_bins", "7", NULL};
    rs_encoding *encoding = table_encode("dprope", &model, 40, settings, NULL, NULL);
    for (size_t j = 0; j < PAIRS; j++) {
      double omega = pow(50, -(double)j / PAIRS), s = atof(factors[i]);
      shares_of(omega, places, L0, 7, 0x1p-14, trained);
      shares_of(omega, places, lengths[i], 7, 0x1p-14, kept);
      shares_of(omega / s, places, lengths[i], 7, 0x1p-14, divided);
      bool divide = divergence(trained, divided, 7) < divergence(trained, kept, 7);
      table_agrees(encoding->omega[j], divide ? omega / s : omega, 1e-14, "omega");
      divisions += divide;
    }
    rs_encoding_free(encoding);
  }
  cr_assert(divisions > PAIRS && divisions < FACTORS * PAIRS, "%zu", divisions);
}
