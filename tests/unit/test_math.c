/* Random numbers, float formats, angles and sums, each against an independent way to the same result. */
#include "../golden.h"
#include "../turns.h"
#include "base/base.h"

#include <float.h>

/* ---- random numbers: Philox4x64-10 written out anew from the paper ----------------------------------------------- */

__extension__ typedef unsigned __int128 wide_word;

static uint64_t high_word(uint64_t a, uint64_t b) {
  return (uint64_t)(((wide_word)a * b) >> 64);
}

/* Salmon et al., SC 2011, section 3.3: ten rounds, the key bumped by Weyl constants between them. */
static void philox(const uint64_t in[4], const uint64_t key[2], uint64_t out[4]) {
  static const uint64_t multiplier[2] = {0xd2e7470ee14c6c93u, 0xca5a826395121157u};
  static const uint64_t weyl[2] = {0x9e3779b97f4a7c15u, 0xbb67ae8584caa73bu};
  uint64_t c[4] = {in[0], in[1], in[2], in[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    uint64_t next[4] = {high_word(multiplier[1], c[2]) ^ c[1] ^ k[0], multiplier[1] * c[2],
                        high_word(multiplier[0], c[0]) ^ c[3] ^ k[1], multiplier[0] * c[0]};
    memcpy(c, next, sizeof c);
    for (int i = 0; i < 2; i++) k[i] += weyl[i];
  }
  memcpy(out, c, sizeof c);
}

/* The published known answers (Random123 1.14, tests/kat_vectors, "philox4x64 10"). */
Test(math, philox__known_answers__oracle_agrees) {
  static const struct {
    uint64_t counter[4], key[2], expected[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x16554d9eca36314cu, 0xdb20fe9d672d0fdcu, 0xd7e772cee186176bu, 0x7e68b68aec7ba23bu}},
      {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
       {UINT64_MAX, UINT64_MAX},
       {0x87b092c3013fe90bu, 0x438c3c67be8d0224u, 0x9cc7d7c69cd777b6u, 0xa09caebf594f0ba0u}},
      {{0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u},
       {0x452821e638d01377u, 0xbe5466cf34e90c6cu},
       {0xa528f45403e61d95u, 0x38c72dbd566e9788u, 0xa5a1610e72fd18b5u, 0x57bd43b5e52b7fe6u}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    uint64_t got[4];
    philox(cases[i].counter, cases[i].key, got);
    for (size_t w = 0; w < 4; w++)
      cr_assert_eq(got[w], cases[i].expected[w], "case %zu word %zu: got %016lx", i, w, (unsigned long)got[w]);
  }
  rs_stream zero = {0};
  for (size_t w = 0; w < 4; w++)
    cr_assert_eq(rs_uniform(zero, w), (double)(cases[0].expected[w] >> 11) / 9007199254740992.0, "word %zu", w);
}

/* The four words behind elements 4 * block ... of a stream, as random.c documents its counter and key. */
static void words_of(rs_stream stream, uint64_t block, uint64_t out[4]) {
  const uint64_t counter[4] = {block, stream.head, stream.purpose, 0}, key[2] = {stream.seed, 0};
  philox(counter, key, out);
}

static long double unit(uint64_t word) {
  return (long double)(word >> 11) / 9007199254740992.0L;
}

Test(math, streams__random_ones__are_philox_and_box_muller) {
  uint64_t state = 2;
  const long double turn = 2 * acosl(-1);
  for (size_t i = 0; i < 2000; i++) {
    rs_stream stream = draw_stream(&state);
    uint64_t block = draw_bits(&state) >> (2 + i % 60), words[4];
    double got[4], even[4];
    words_of(stream, block, words);
    rs_gaussian_fill(stream, 4 * block, 4, got);
    rs_uniform_block(stream, block, even);
    for (size_t w = 0; w < 4; w++) {
      cr_assert_eq(rs_uniform(stream, 4 * block + w), (double)unit(words[w]), "uniform %zu of turn %zu", w, i);
      cr_assert_eq(even[w], (double)unit(words[w]), "uniform %zu of the block of turn %zu", w, i);
      long double radius = sqrtl(-2 * logl(1 - unit(words[w & 2]))), angle = turn * unit(words[w | 1]);
      double expected = (double)(radius * (w & 1 ? sinl(angle) : cosl(angle)));
      cr_assert(close_to(got[w], expected, 0, 1e-14), "gaussian %zu of turn %zu: got %.17g, expected %.17g", w, i,
                got[w], expected);
    }
  }
}

Test(math, gaussian_fill__any_cut__gives_the_same_numbers) {
  enum { COUNT = 257 };
  rs_stream stream = {.seed = 7, .purpose = 3, .head = 1};
  double whole[COUNT], part[COUNT + 2];
  rs_gaussian_fill(stream, 0, COUNT, whole);
  for (size_t first = 0; first < 20; first++)
    for (size_t count = 0; first + count <= COUNT; count += 1 + count / 5) {
      part[0] = part[count + 1] = 123;
      rs_gaussian_fill(stream, first, count, part + 1);
      cr_assert_arr_eq(part + 1, whole + first, count * sizeof *part, "from %zu, %zu numbers", first, count);
      cr_assert(part[0] == 123 && part[count + 1] == 123, "wrote outside its %zu numbers", count);
    }
}

/* Mean, variance, skewness and excess kurtosis within five standard errors, neighbours and streams uncorrelated. */
Test(math, gaussian_fill__million_numbers__have_normal_moments) {
  enum { COUNT = 1 << 20 };
  double *x = malloc(COUNT * sizeof *x), *other = malloc(COUNT * sizeof *other);
  rs_gaussian_fill((rs_stream){.seed = 1}, 0, COUNT, x);
  rs_gaussian_fill((rs_stream){.seed = 1, .head = 1}, 0, COUNT, other);
  double power[5] = {0}, neighbours = 0, across = 0, beyond = 0, root = sqrt(COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    for (int p = 1; p <= 4; p++) power[p] += pow(x[i], p) / COUNT;
    neighbours += x[i] * x[(i + 1) % COUNT] / COUNT;
    across += x[i] * other[i] / COUNT;
    beyond += fabs(x[i]) > 1.959963984540054; /* 5 % */
  }
  cr_assert_lt(fabs(power[1]) * root, 5, "mean %g", power[1]);
  cr_assert_lt(fabs(power[2] - 1) * root, 5 * sqrt(2), "variance %g", power[2]);
  cr_assert_lt(fabs(power[3]) * root, 5 * sqrt(15), "third moment %g", power[3]);
  cr_assert_lt(fabs(power[4] - 3) * root, 5 * sqrt(96), "fourth moment %g", power[4]);
  cr_assert_lt(fabs(neighbours) * root, 5, "correlation of neighbours %g", neighbours);
  cr_assert_lt(fabs(across) * root, 5, "correlation of heads %g", across);
  cr_assert_lt(fabs(beyond / COUNT - 0.05) * root, 5 * sqrt(0.05 * 0.95), "share in the tails %g", beyond / COUNT);
  free(other);
  free(x);
}

/* ---- float formats ----------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* A double near what a short format can hold: any float, a tie between two, a hair beside it, or any double. */
static double draw_near(uint64_t *state, size_t turn, int dropped_bits) {
  uint32_t code = (uint32_t)draw_bits(state);
  if (turn % 5 == 1) code &= 0x807fffffu;                       /* subnormal in binary32 and bfloat16 */
  if (turn % 5 == 2) code = (code & 0x83ffffffu) + 0x33000000u; /* about binary16's subnormals */
  if (turn % 5 == 3) code = (code & 0x80ffffffu) + 0x47000000u; /* about binary16's largest */
  code = (code >> dropped_bits << dropped_bits) | (turn % 2 ? 1u << (dropped_bits - 1) : 0);
  float near;
  memcpy(&near, &code, sizeof near);
  double value = near;
  if (turn % 7 == 3) value = nextafter(value, INFINITY);
  if (turn % 7 == 4) value = nextafter(value, -INFINITY);
  if (turn % 7 == 5) value *= 1 + draw_real(state, -1e-3, 1e-3);
  return isfinite(value) ? value : 1;
}

/* The number behind a positive 16-bit float: `bits` of mantissa, and `least`, the exponent of its smallest step. Its
 * infinity comes out as the power of two that would follow the largest number. */
static double decode(uint32_t code, int bits, int least) {
  uint32_t exponent = code >> bits, mantissa = code & ((1u << bits) - 1);
  return exponent == 0 ? ldexp(mantissa, least) : ldexp(mantissa + (1u << bits), (int)exponent - 1 + least);
}

/* The nearest of all 16-bit codes, found by bisection; of two equally near the even one. */
static double nearest_code(double value, int bits, int least) {
  uint32_t infinity = ((1u << (15 - bits)) - 1) << bits, low = 0, high = infinity;
  double size = fmin(fabs(value), decode(infinity, bits, least));
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    *(decode(middle, bits, least) <= size ? &low : &high) = middle;
  }
  double below = size - decode(low, bits, least), above = decode(high, bits, least) - size;
  uint32_t nearest = above < below || (above == below && high % 2 == 0) ? high : low;
  return copysign(nearest == infinity ? INFINITY : decode(nearest, bits, least), value);
}

static double expected_round(rs_format format, double value) {
  switch (format) {
  case RS_F32: return (double)(float)value;
  case RS_F16: return nearest_code(value, 10, -24);
  case RS_BF16: return nearest_code(value, 7, -133);
  default: return value;
  }
}

static const char *const format_names[] = {"f64", "f32", "bf16", "f16"};

static void check_round(rs_format format, double value) {
  double got = rs_round(format, value), expected = expected_round(format, value);
  cr_assert_eq(bits_of(got), bits_of(expected), "%s of %a: got %a, expected %a", format_names[format], value, got,
               expected);
}

Test(math, round__edges__ties_to_even_subnormals_and_infinities) {
  static const double edges[] = {
      0,           0x1p-149,       0x1p-150,        0x1.8p-150,
      0x1.8p-149,  0x1p-151,       0x1.fffffep-127, 0x1.ffffffp-127,
      0x1p-126,    0x1p-133,       0x1p-134,        0x1.8p-134,
      0x1.8p-133,  0x1p-24,        0x1p-25,         0x1.8p-25,
      0x1.8p-24,   0x1p-14,        0x1.ffcp-15,     0x1.ffep-15,
      65504,       65519.999,      65520,           65536,
      1e300,       0x1p-1074,      0x1.fffffefp127, 0x1.ffffffp127,
      0x1.fep127,  0x1.feffffp127, 0x1.ffp127,      0x1.fffffep127,
      1 + 0x1p-8,  1 + 0x1.8p-7,   1 + 0x1p-11,     1 + 0x1.8p-10,
      1 + 0x1p-24, 1 + 0x1.8p-23,  DBL_MAX,         257,
      256.5,       2049,           16777217,        0.1,
  };
  for (size_t i = 0; i < RS_COUNT(edges); i++)
    for (rs_format format = RS_F64; format <= RS_F16; format++)
      for (int side = -1; side <= 1; side++) {
        double value = side == 0 ? edges[i] : nextafter(edges[i], side * INFINITY);
        if (!isfinite(value)) continue;
        check_round(format, value);
        check_round(format, -value);
      }
  for (rs_format format = RS_F64; format <= RS_F16; format++) {
    cr_assert(isnan(rs_round(format, NAN)));
    cr_assert_eq(rs_round(format, INFINITY), INFINITY);
    cr_assert_eq(rs_round(format, -INFINITY), -INFINITY);
  }
  cr_assert_eq(rs_round(RS_BF16, 257), 256, "bfloat16 loses integers above 256");
}

Test(math, round__random_values__agree_with_a_search_of_all_codes) {
  uint64_t state = 3;
  for (size_t i = 0; i < 300000; i++) {
    check_round(RS_F16, draw_near(&state, i, 13));
    check_round(RS_BF16, draw_near(&state, i, 16));
    check_round(RS_F32, draw_near(&state, i, 16) * (1 + draw_real(&state, 0, 1e-6)));
  }
}

/* ---- angles ------------------------------------------------------------------------------------------------------ */

/* cos and sin of position * omega in long double: omega is cut so that both products are exact (a position below 2^31
 * times 32 bits), and the two angles are added by the addition theorem. */
static void exact_cos_sin(double position, double omega, long double *cosine, long double *sine) {
  double scale = ldexp(1, 31 - ilogb(omega)), high = trunc(omega * scale) / scale;
  long double a = (long double)position * high, b = (long double)position * (omega - high);
  *cosine = cosl(a) * cosl(b) - sinl(a) * sinl(b);
  *sine = sinl(a) * cosl(b) + cosl(a) * sinl(b);
}

static void check_cos_sin(double position, double omega) {
  double c, s;
  long double cosine, sine;
  exact_cos_sin(position, omega, &cosine, &sine);
  rs_cos_sin(position, omega, &c, &s);
  cr_assert(fabsl(c - cosine) <= 1e-15L && fabsl(s - sine) <= 1e-15L,
            "%.17g * %.17g: got (%.17g, %.17g), expected (%.19Lg, %.19Lg)", position, omega, c, s, cosine, sine);
}

Test(math, cos_sin__positions_to_2_31__good_to_1e_15) {
  uint64_t state = 4;
  for (size_t i = 0; i < 200000; i++) {
    double position = floor(ldexp(draw_real(&state, 0.5, 1), (int)draw_size(&state, 0, 31)));
    double omega = i % 2 ? pow(10000, -draw_real(&state, 0, 1)) : draw_real(&state, 0.5, 1);
    check_cos_sin(i % 3 ? position : -position, omega);
  }
  check_cos_sin(0x1p31 - 1, 1 - 0x1p-53);
  double c, s;
  rs_cos_sin(0, 0.3, &c, &s);
  cr_assert(c == 1 && s == 0);
  rs_cos_sin(5, 0, &c, &s);
  cr_assert(c == 1 && s == 0);
  rs_cos_sin(1, 1.5707963267948966, &c, &s);
  cr_assert(close_to(s, 1, 1e-15, 0) && s > 0, "a quarter turn is +1, got %g", s);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* radians / (2 pi) modulo 1, rounded down to 128 bits by mpmath at 2600 bits; one with each word of
 * 1 / (2 pi) on top. */
Test(math, turns__known_doubles__oracle_agrees) {
  static const struct {
    double radians;
    rs_turns turns;
  } cases[] = {
      {1, {0x28be60db9391054a, 0x7f09d5f47d4d3770}},
      {-1, {0xd7419f246c6efab5, 0x80f62a0b82b2c88f}},
      {3, {0x7a3b2292bab30fdf, 0x7d1d81dd77e7a650}},
      {0x1.3c083126e978dp-40, {0x0000000000324c4d, 0x54b2f88766b79cb9}},
      {0x1.e459c57e28a47p-14, {0x00013458e2f59024, 0x2be23e83ce94c516}},
      {0x1p-100, {0, 0x00000000028be60d}},
      {0x1.4484bfeebc2a0p-100, {0, 0x00000000033a6134}},
      {0x1p-1074, {0, 0}},
      {0, {0, 0}},
      {0x1.921fb54442d18p+2, {0xfffffffffffffd30, 0xea0a394645e27a99}},
      {0x1.921fb54442d19p+2, {0x0000000000000760, 0x82411e2a87351a5c}},
      {0x1.0000000000001p+62, {0x9945e3cb636877d8, 0x350dfb4ec8a1f9df}},
      {0x1.f2a7452e6b439p+52, {0x95a2fd6c86cc13f8, 0xe61806c05e40388c}},
      {0x1.65132269e0d37p+116, {0xcdbd39aa303e169b, 0x70b3c39c8ca19813}},
      {0x1.0c5c7a6a3a451p+180, {0x82951fefa31b923f, 0x9f5b52b245e77c85}},
      {0x1.d23f0128b2f33p+244, {0xe9e56cef4359c507, 0xb3bd4a823d757294}},
      {0x1.1818e892f902bp+308, {0x2aa6d860bfbd5718, 0xf56d00e7e12b89c5}},
      {0x1.953195d9dc9f9p+372, {0xe2b241c62da70a32, 0x9a45db6368c1d265}},
      {0x1.e8e250ed90475p+436, {0x31e12aa9fecaf9c0, 0xc698d659541cf23e}},
      {0x1.36f6781e74ef5p+500, {0xa0f0da716ecc3f7b, 0x126d56b433a380f1}},
      {0x1.1600a099950d9p+564, {0x62622220699065ff, 0x67721726ea68a0fe}},
      {0x1.6b0d56f03675bp+628, {0x0370b079169e094c, 0x5b2354409d28ad6d}},
      {0x1.3d9c111e20b8fp+692, {0x89d71cfe97de6d1e, 0x08544b304553bc03}},
      {0x1.8d1161738f7d9p+756, {0x861a9242bab76267, 0x7fd50ec375dc56e9}},
      {0x1.0f21d6cad4a27p+820, {0x242cc622e2dc0b9d, 0x21d8459dc01770d9}},
      {0x1.90c19d3ac94afp+884, {0x5d2eb4211b310fd9, 0xf3fc247e840d9e1e}},
      {0x1.f28c11fb17c23p+948, {0xb7b654f36b605dde, 0x682d41492b1efa2a}},
      {0x1.a170b39263059p+1012, {0x2f4812096470a06d, 0xe4deb4d1211ed08a}},
      {-0x1.7e43c8800759cp+996, {0x58fa9dc4740bef62, 0x0d2575d6f08c2987}},
      {0x1.fffffffffffffp+1023, {0x7fcc3ea616b1ae40, 0x8c8ae8d7a2bd826a}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_turns got = rs_turns_of(cases[i].radians), off = rs_turns_subtract(got, cases[i].turns);
    cr_assert(off.high == 0 && off.low <= (cases[i].radians < 0), "%a: %016lx %016lx", cases[i].radians,
              (unsigned long)got.high, (unsigned long)got.low);
  }
}

/* Multiples against sums, which carry and borrow in their own way. */
Test(math, turns__random_multiples__are_sums) {
  uint64_t state = 12;
  for (size_t i = 0; i < 2000; i++) {
    rs_turns one = {draw_bits(&state) >> i % 64, i % 5 ? draw_bits(&state) : UINT64_MAX - i % 3}, sum = {0, 0};
    uint64_t times = draw_bits(&state) >> i % 64;
    for (int bit = 63; bit >= 0; bit--) {
      sum = rs_turns_add(sum, sum);
      if (times >> bit & 1) sum = rs_turns_add(sum, one);
    }
    rs_turns got = rs_turns_times(one, times), back = rs_turns_subtract(rs_turns_add(got, one), one);
    cr_assert(got.high == sum.high && got.low == sum.low, "turn %zu", i);
    cr_assert(got.high == back.high && got.low == back.low, "turn %zu", i);
  }
}

static void check_turns(uint64_t position, double omega, double phase) {
  double c, s;
  long_turn expected = long_turn_at(position, omega, phase);
  rs_turns_cos_sin(rs_turns_add(rs_turns_times(rs_turns_of(omega), position), rs_turns_of(phase)), &c, &s);
  cr_assert(fabsl(c - expected.cosine) <= 1.5e-16L && fabsl(s - expected.sine) <= 1.5e-16L,
            "%lu * %.17g + %.17g: got (%.17g, %.17g), expected (%.19Lg, %.19Lg)", (unsigned long)position, omega, phase,
            c, s, expected.cosine, expected.sine);
}

Test(math, turns__any_position__cos_and_sin_are_good_to_15e_17) {
  uint64_t state = 13;
  for (size_t i = 0; i < 100000; i++) {
    uint64_t position = i % 2 ? draw_bits(&state) >> (33 + i % 31) : draw_bits(&state) >> (i % 64);
    double omega = i % 3 ? pow(10000, -draw_real(&state, 0, 1.2)) : draw_real(&state, -7, 7);
    check_turns(position, omega, i % 4 ? draw_real(&state, -10, 10) : 0);
  }
  check_turns(UINT64_MAX, 1 - 0x1p-53, 0);
  check_turns((uint64_t)1 << 31, 1, -1e6);
  double c, s;
  rs_turns_cos_sin((rs_turns){0}, &c, &s);
  cr_assert(c == 1 && s == 0);
  rs_turns_cos_sin((rs_turns){(uint64_t)1 << 62, 0}, &c, &s);
  cr_assert(fabs(c) <= 1e-16 && s == 1, "a quarter turn: (%g, %g)", c, s);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

Test(math, sum__cancelling_terms__loses_nothing) {
  static const double terms[][4] = {
      {1, 1e100, 1, -1e100}, {1e100, 1, -1e100, 1}, {1, 1e-17, -1, 1e-17}, {-1, -1e100, -1, 1e100}};
  static const double totals[] = {2, 2, 2e-17, -2};
  for (size_t i = 0; i < RS_COUNT(totals); i++) {
    rs_sum sum = {0};
    for (size_t t = 0; t < 4; t++) rs_sum_add(&sum, terms[i][t]);
    cr_assert_eq(rs_sum_total(&sum), totals[i], "case %zu: got %.17g", i, rs_sum_total(&sum));
  }
  rs_sum tenths = {0};
  for (size_t i = 0; i < 10000000; i++) rs_sum_add(&tenths, 0.1);
  cr_assert(close_to(rs_sum_total(&tenths), 1e6, 1e-15, 0), "got %.17g", rs_sum_total(&tenths));
}

Test(math, dot__any_count__is_the_sum_of_all_products) {
  enum { MOST = 40 };
  double a[MOST], b[MOST];
  for (size_t count = 0; count <= MOST; count++) {
    double sum = 0; /* of whole numbers: exact in any order */
    for (size_t i = 0; i < count; i++) sum += (a[i] = (double)i + 1) * (b[i] = (double)(i * i) - 40);
    cr_assert_eq(rs_dot(a, b, count), sum, "%zu", count);
  }
}

Test(math, moments__random_samples__agree_with_two_passes) {
  uint64_t state = 5;
  rs_moments none = {0}, one = {0};
  cr_assert(isnan(rs_moments_mean(&none)) && isnan(rs_moments_sd(&none)) && isnan(rs_moments_se(&none)));
  rs_moments_add(&one, 3);
  cr_assert(rs_moments_mean(&one) == 3 && isnan(rs_moments_sd(&one)) && isnan(rs_moments_se(&one)));
  for (size_t count = 2; count < 200; count++) {
    double values[200], shift = pow(10, draw_real(&state, 0, 6));
    long double mean = 0, squares = 0;
    rs_moments moments = {0};
    for (size_t i = 0; i < count; i++) {
      values[i] = shift + draw_real(&state, -1, 1);
      mean += values[i] / (long double)count;
      rs_moments_add(&moments, values[i]);
    }
    for (size_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    double sd = (double)sqrtl(squares / (long double)(count - 1));
    cr_assert(close_to(rs_moments_mean(&moments), (double)mean, 1e-14, 0), "mean of %zu", count);
    cr_assert(close_to(rs_moments_sd(&moments), sd, 1e-9, 0), "sd of %zu: %g, %g", count, rs_moments_sd(&moments), sd);
    cr_assert(close_to(rs_moments_se(&moments), sd / sqrt((double)count), 1e-9, 0), "se of %zu", count);
  }
}
