/* Oracles that no law can replace: the cosine integral and published numbers. */
#include <gsl/gsl_sf_expint.h>

#include "../fixtures/seed.h"
#include "../golden.h"

/* B_m / (d / 2), d = 128, base 10^4, to the printed digits; and its limit for d -> infinity,
 * [Ci(m) - Ci(m / base)] / ln(base), with the end correction of the trapezoid rule. */
Test(laws, mean_cosine__published_values_and_limit__agree) {
  static const struct {
    size_t distance;
    double printed;
  } cases[] = {{1, .9702}, {10, .6691}, {1000, .1590}, {4096, -.0529}};
  rs_model model = plain_model(128, 1e4, 4096), wide = plain_model(32768, 1e4, 4096);
  rs_encoding *encoding = encode("rope", "", &model, 4200), *limit = encode("rope", "", &wide, 4200);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t m = cases[i].distance;
    double got = rs_encoding_mean_cosine(encoding, m + 100, 100);
    cr_assert(close_to(got, cases[i].printed, 0, 5.1e-5), "m = %zu: got %g, printed %g", m, got, cases[i].printed);
    double m_real = (double)m, expected = (gsl_sf_Ci(m_real) - gsl_sf_Ci(m_real / 1e4)) / log(1e4);
    double end = (cos(m_real) - cos(m_real / 1e4)) / 32768; /* half the first step less half the last */
    got = rs_encoding_mean_cosine(limit, m, 0);
    cr_assert(close_to(got - end, expected, 0, 1e-5), "m = %zu: got %.9g, limit %.9g", m, got - end, expected);
  }
  rs_encoding_free(limit);
  model.rotary_dim = 32;
  rs_encoding *partial = encode("rope", "", &model, 8);
  double sum = 48; /* pairs past R/2 are not turned */
  for (size_t j = 0; j < 16; j++) sum += cos(5 * pow(1e4, -(double)j / 16));
  cr_assert(close_to(rs_encoding_mean_cosine(partial, 6, 1), sum / 64, 1e-14, 0));
  rs_encoding_free(partial);
  rs_encoding_free(encoding);
}

/* The first m with B_m < 0. */
Test(laws, mean_cosine__first_violation__is_as_published) {
  static const struct {
    double base;
    size_t first;
  } cases[] = {{500, 171}, {1e4, 1707}, {5e5, 18438}, {1e6, 27115}, {1e7, 144660}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = plain_model(128, cases[i].base, 4096);
    rs_encoding *encoding = encode("rope", "", &model, cases[i].first + 1);
    size_t m = 0;
    while (m <= cases[i].first && rs_encoding_mean_cosine(encoding, m, 0) >= 0) m++;
    cr_assert_eq(m, cases[i].first, "base %g: first violation at %zu, published %zu", cases[i].base, m, cases[i].first);
    rs_encoding_free(encoding);
  }
}

/* The NTK-aware base, to the printed digits, read back from the slowest pair. */
Test(laws, ntk__base__is_as_published) {
  static const double printed[][2] = {{2, 20221}, {4, 40890}, {8, 82685}, {16, 167199}, {32, 338097}};
  rs_model model = plain_model(128, 1e4, 4096);
  for (size_t i = 0; i < RS_COUNT(printed); i++) {
    char settings[32];
    snprintf(settings, sizeof settings, "scale=%g", printed[i][0]);
    rs_encoding *encoding = encode("ntk", settings, &model, 1);
    double base = pow(encoding->omega[63], -128.0 / 126);
    cr_assert_eq(round(base), printed[i][1], "s = %g: base %.3f, printed %g", printed[i][0], base, printed[i][1]);
    rs_encoding_free(encoding);
  }
}

/* How much of pair j was interpolated: 0 kept, 1 divided by s. */
static double share_of(const rs_encoding *encoding, size_t j) {
  double plain = encoding->omega_trained[j], divided = plain / encoding->scale;
  return (plain - encoding->omega[j]) / (plain - divided);
}

/* The ends of YaRN's ramp, from the line through two blended pairs; the last pair kept and the first divided whole
 * stand at its whole ends. Its temperature is printed to five digits. */
Test(laws, yarn__ramp__ends_as_published) {
  static const struct {
    const char *model, *settings;
    size_t dims;
    double theta;
    size_t train;
    double low, high;
  } cases[] = {{"Llama-2 4k", "factor=4", 128, 1e4, 4096, 20, 46},
               {"Llama-1 2k", "factor=8", 128, 1e4, 2048, 16, 41},
               {"Qwen2.5 32k", "factor=4", 128, 1e6, 32768, 23, 40},
               {"gpt-oss", "factor=32 truncate=false", 64, 150000, 4096, 8.092779, 17.398025},
               {"ramp past the last pair", "factor=4", 128, 1e4, 1000000, 59, 84}}; /* R - 1 caps it, not R/2 - 1 */
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = plain_model(cases[i].dims, cases[i].theta, cases[i].train);
    rs_encoding *encoding = encode("yarn", cases[i].settings, &model, 1);
    size_t kept = 0, divided = 0, pairs = cases[i].dims / 2;
    for (size_t j = 0; j < pairs; j++) {
      if (encoding->omega[j] == encoding->omega_trained[j]) kept = j;
      if (close_to(share_of(encoding, j), 1, 1e-12, 0) && divided == 0) divided = j;
    }
    cr_assert_eq(kept, floor(cases[i].low), "%s: pairs to %zu are kept", cases[i].model, kept);
    cr_assert_eq(divided, cases[i].high < (double)pairs ? ceil(cases[i].high) : 0, "%s: pairs from %zu are divided",
                 cases[i].model, divided);
    double one = share_of(encoding, kept + 2), slope = share_of(encoding, kept + 3) - one;
    double low = (double)(kept + 2) - one / slope, high = low + 1 / slope;
    cr_assert(close_to(low, cases[i].low, 0, 1e-6), "%s: low = %.9g", cases[i].model, low);
    cr_assert(close_to(high, cases[i].high, 0, 1e-6), "%s: high = %.9g", cases[i].model, high);
    rs_encoding_free(encoding);
  }
  static const double temperatures[][2] = {{2, 1.06931}, {4, 1.13863}, {8, 1.20794}, {16, 1.27726}, {32, 1.34657}};
  for (size_t i = 0; i < RS_COUNT(temperatures); i++) {
    char settings[32];
    snprintf(settings, sizeof settings, "factor=%g", temperatures[i][0]);
    rs_model model = plain_model(128, 1e4, 4096);
    rs_encoding *encoding = encode("yarn", settings, &model, 1);
    cr_assert(close_to(encoding->amp, temperatures[i][1], 0, 5e-6), "s = %g: %g", temperatures[i][0], encoding->amp);
    rs_encoding_free(encoding);
  }
}

/* Corners of the code that YaRN's ports share: equal betas make a ramp 0.001 pairs wide, on which pair 1 is put half
 * way; s <= 1 has no temperature. */
Test(laws, yarn__degenerate_ramp_and_scale__as_in_the_code) {
  rs_model model = plain_model(4, 100, 4096);
  char settings[128];
  double beta = 4096 / (8 * atan(1)) * pow(100, -0.9995 / 2);
  snprintf(settings, sizeof settings, "factor=4 truncate=false beta_fast=%.17g beta_slow=%.17g", beta, beta);
  rs_encoding *encoding = encode("yarn", settings, &model, 1);
  cr_assert(close_to(share_of(encoding, 1), 0.5, 1e-6, 0), "share %g", share_of(encoding, 1));
  rs_encoding_free(encoding);
  encoding = encode("yarn", "factor=4 attention_factor=1.25 mscale=2 mscale_all_dim=1", &model, 1);
  cr_assert_eq(encoding->amp, 1.25, "a given attention factor replaces every formula");
  rs_encoding_free(encoding);
  static const char *const calm[][2] = {{"yarn", "scale=0.5"},
                                        {"yarn", "scale=1"},
                                        {"yarn", "scale=0.5 mscale=2 mscale_all_dim=1 mscale_softmax=true"},
                                        {"longrope", "factor=0.5 short_factor=1,1 long_factor=1,1"}};
  for (size_t i = 0; i < RS_COUNT(calm); i++) {
    encoding = encode(calm[i][0], calm[i][1], &model, 1);
    cr_assert(encoding->amp == 1 && encoding->logit_scale[0] == 1, "%s %s: amp %g", calm[i][0], calm[i][1],
              encoding->amp);
    rs_encoding_free(encoding);
  }
}

/* The paper's own ramp (eq. 18): linear in the rotations a pair makes in training. */
Test(laws, yarn__ramp_of_the_paper__is_linear_in_rotations) {
  uint64_t seed = seed_of_run(), state = seed;
  for (size_t turn = 0; turn < 100; turn++) {
    rs_model model = plain_model(128, pow(10, draw_real(&state, 2, 7)), draw_size(&state, 512, 65536));
    double slow = draw_real(&state, 0.1, 4), fast = slow + draw_real(&state, 0.1, 60);
    char settings[128];
    snprintf(settings, sizeof settings, "ramp=paper factor=8 beta_slow=%.17g beta_fast=%.17g", slow, fast);
    rs_encoding *encoding = encode("ntk_by_parts", settings, &model, 1);
    for (size_t j = 0; j < 64; j++) {
      double rotations = (double)model.train_length * pow(model.rope_theta, -(double)j / 64) / (8 * atan(1));
      double gamma = rotations < slow ? 0 : rotations > fast ? 1 : (rotations - slow) / (fast - slow);
      cr_assert(close_to(1 - share_of(encoding, j), gamma, 0, 1e-9), "seed %lu %s pair %zu: %g, expected %g",
                (unsigned long)seed, settings, j, 1 - share_of(encoding, j), gamma);
    }
    rs_encoding_free(encoding);
  }
}

/* Llama-3.1 keeps pairs 0..28, blends 29..34, divides 35..63. */
Test(laws, llama3__bands__are_as_published) {
  rs_model model = plain_model(128, 5e5, 8192);
  rs_encoding *encoding = encode("llama3", "factor=8 low_freq_factor=1 high_freq_factor=4", &model, 1);
  for (size_t j = 0; j < 64; j++) {
    double plain = encoding->omega_trained[j], got = encoding->omega[j];
    bool right = j <= 28 ? got == plain : j <= 34 ? got < plain && got > plain / 8 : got == plain / 8;
    cr_assert(right, "pair %zu: %.17g of %.17g", j, got, plain);
  }
  rs_encoding_free(encoding);
  char settings[96]; /* equal ends (Llama-4), and pair 0 exactly on them: kept, not divided by zero */
  snprintf(settings, sizeof settings, "factor=8 low_freq_factor=%.17g high_freq_factor=%.17g", 8192 / (2 * M_PI),
           8192 / (2 * M_PI));
  encoding = encode("llama3", settings, &model, 1);
  cr_assert_eq(encoding->omega[0], 1, "got %g", encoding->omega[0]);
  cr_assert_eq(encoding->omega[1], encoding->omega_trained[1] / 8);
  rs_encoding_free(encoding);
}

/* The distance within which ALiBi keeps 99 % of the weight of equal keys, ceil(ln 100 / slope). */
Test(laws, alibi__windows_of_eight_heads__are_as_published) {
  static const double printed[] = {10, 19, 37, 74, 148, 295, 590, 1179};
  rs_model model = plain_model(64, 1e4, 2048);
  model.heads = RS_COUNT(printed);
  rs_encoding *encoding = encode("alibi", "", &model, 4096);
  for (size_t h = 0; h < RS_COUNT(printed); h++) {
    double bias[4096], within = 0, all = 0;
    rs_encoding_bias_row(encoding, h, 4095, 0, 4096, bias);
    for (size_t distance = 0; distance < 4096; distance++) {
      all += exp(bias[4095 - distance]);
      within += distance < (size_t)printed[h] ? exp(bias[4095 - distance]) : 0;
    }
    double last = exp(bias[4095 - ((size_t)printed[h] - 1)]);
    cr_assert(within / all >= 0.99 && (within - last) / all < 0.99, "head %zu: %g within %g tokens", h, within / all,
              printed[h]);
  }
  rs_encoding_free(encoding);
}
