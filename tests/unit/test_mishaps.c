/* test_mishaps.c: what goes wrong with tables in practice, each made here by its formula. The cause that made a table
 * is named, and no other beside it but those that make the same table. */
#include "../fixtures/sides.h"

enum { PAIRS = 64, DIMS = 128, TRAINED = 4096, SERVED = 32768 };
static const double theta = 10000, s = 8;

static double plain(double base, size_t j) {
  return pow(base, -2.0 * (double)j / DIMS);
}

static double pair_of(double base, double length, double rotations) {
  return DIMS * log(length / (rotations * 2 * M_PI)) / (2 * log(base));
}

/* YaRN's code, with everything in which ports of it differ. */
typedef struct by_parts {
  double base, length, fast, slow;
  bool whole;
} by_parts;

static double yarn(by_parts p, size_t j) {
  double low = pair_of(p.base, p.length, p.fast), high = pair_of(p.base, p.length, p.slow);
  if (p.whole) low = floor(low), high = ceil(high);
  low = fmax(low, 0);
  high = fmin(high, DIMS - 1);
  double r = fmin(fmax(((double)j - low) / (high - low), 0), 1);
  return plain(p.base, j) * (1 - r) + plain(p.base, j) / s * r;
}

static const by_parts usual = {10000, TRAINED, 32, 1, true};

static double as_usual(size_t j) {
  return yarn(usual, j);
}

static double exchanged(size_t j) {
  return yarn((by_parts){theta, TRAINED, 1, 32, true}, j);
}

static double other_betas(size_t j) {
  return yarn((by_parts){theta, TRAINED, 16, 2, true}, j);
}

static double odd_betas(size_t j) {
  return yarn((by_parts){theta, TRAINED, 23.5, 1.75, false}, j);
}

static double unrounded(size_t j) {
  return yarn((by_parts){theta, TRAINED, 32, 1, false}, j);
}

static double on_ntk(size_t j) {
  return yarn((by_parts){theta * pow(s, 128.0 / 126), TRAINED, 32, 1, true}, j);
}

static double of_served_length(size_t j) {
  return yarn((by_parts){theta, SERVED, 32, 1, true}, j);
}

static double geometric(size_t j) {
  double low = floor(pair_of(theta, TRAINED, 32)), high = ceil(pair_of(theta, TRAINED, 1));
  return plain(theta, j) * pow(s, -fmin(fmax(((double)j - low) / (high - low), 0), 1));
}

/* Base 400: the ramp's end, 64 ln(4096 / 2 pi) / ln 400 = 69.2, lies past the last pair. */
static double cut_short(size_t j) {
  double low = floor(pair_of(400, TRAINED, 32)), r = fmin(fmax(((double)j - low) / (PAIRS - 1 - low), 0), 1);
  return plain(400, j) * (1 - r + r / s);
}

static double divided_twice(size_t j) {
  return as_usual(j) * (as_usual(j) / plain(theta, j));
}

static double interpolated(size_t j) {
  return plain(theta, j) / s;
}

static double interpolated_twice(size_t j) {
  return plain(theta, j) / s / s;
}

static double in_turns(size_t j) {
  return as_usual(j) / (2 * M_PI);
}

static double periods(size_t j) {
  return 1 / as_usual(j);
}

/* Bits are cut from the double's 52, half to even. */
static double cut(double value, int bits) {
  int exponent;
  double mantissa = frexp(value, &exponent);
  return ldexp(rint(ldexp(mantissa, bits)), exponent - bits);
}

static double in_bf16(size_t j) {
  return cut(as_usual(j), 8);
}

static double in_f16(size_t j) { /* none of these is so small that float16 has fewer bits */
  return cut(plain(100, j), 11);
}

static double over_two_less(size_t j) {
  return pow(theta, -(double)j / 63);
}

static double same(size_t j) {
  return as_usual(j);
}

typedef struct planted {
  const char *method, *settings;
  double (*at)(size_t j);
  double amp;               /* NaN: not told */
  const char *cause, *also; /* also: gives the same table; NULL: nothing does */
} planted;

static void expect_best(const rs_causes *causes, const planted *p) {
  bool named = false;
  cr_expect_gt(causes->count, 0u, "%s: no cause; shape: %s", p->cause, causes->shape);
  for (size_t i = 0; i < causes->count; i++) {
    const char *text = causes->items[i].text;
    bool it = strstr(text, p->cause) != NULL;
    named |= it;
    cr_expect(it || (p->also != NULL && strstr(text, p->also) != NULL), "%s: %s is named, too", p->cause, text);
    cr_expect(causes->items[i].whole, "%s: %s explains not all", p->cause, text);
  }
  cr_expect(named, "%s is not named, but %s", p->cause, causes->count > 0 ? causes->items[0].text : "nothing");
}

Test(mishaps, tables_made_by_formula__their_cause_alone_is_named) {
  const double g = 0.1 * log(8) + 1;
  const planted cases[] = {
      {"yarn", "factor=8", exchanged, NAN, "with beta_fast and beta_slow exchanged", NULL},
      {"yarn", "factor=8", other_betas, NAN, "with beta_fast: 16, beta_slow: 2, truncate: true", NULL},
      {"yarn", "factor=8", odd_betas, NAN, "with beta_fast: 23.5, beta_slow: 1.75, truncate: false", NULL},
      {"yarn", "factor=8", unrounded, NAN, "with truncate: false", "in dialect gpt_oss"},
      {"yarn", "factor=8", on_ntk, NAN, "on an NTK-aware base", NULL},
      {"yarn", "factor=8", of_served_length, NAN, "with train_length: 32768 (max_length", NULL},
      {"yarn", "factor=8 rope_theta=400", cut_short, NAN, "with the ramp's end held at the last pair", NULL},
      {"yarn", "factor=8", geometric, NAN, "geometric, as xAI's yarn_log", NULL},
      {"yarn", "factor=8", divided_twice, NAN, "with the scaling applied twice", NULL},
      {"yarn", "factor=8", in_turns, NAN, "in turns, not in radians", NULL},
      {"yarn", "factor=8", periods, NAN, "with periods in place of frequencies", NULL},
      {"yarn", "factor=8", in_bf16, NAN, "with frequencies rounded to bfloat16", NULL},
      {"rope", "rope_theta=100", in_f16, NAN, "with frequencies rounded to float16", NULL},
      {"yarn", "factor=8", interpolated, NAN, "as pi with s = 8", "as ntk_by_parts_v1"},
      {"pi", "factor=8", interpolated_twice, NAN, "applied twice", "with s = 64"},
      {"rope", "", over_two_less, NAN, "as exponents over R - 2 make it", "as ntk with s"},
      {"yarn", "factor=8", same, 0.07 * log(8) + 1, "0.07 ln s + 1", NULL},
      {"yarn", "factor=8", same, 8, "with attention_factor: 8 (s itself", NULL},
      {"yarn", "factor=8", same, sqrt(1 + log(8) / log(4096)), "sqrt(1 + ln s / ln train_length)", NULL},
      {"yarn", "factor=8", same, g * g, "with the attention factor squared", NULL},
  };
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double list[PAIRS];
    side a;
    rs_spectrum dump;
    make_side(cases[i].method, cases[i].settings, &model, SERVED, &a);
    for (size_t j = 0; j < PAIRS; j++) list[j] = cases[i].at(j);
    cr_assert_eq(rs_spectrum_list(list, PAIRS, &dump, NULL), RS_OK);
    dump.amp = cases[i].amp;
    rs_compared b = {.length = SERVED, .spectrum = &dump};
    rs_causes causes = causes_of(&a.compared, &b);
    expect_best(&causes, &cases[i]);
    rs_spectrum_clear(&dump);
    side_clear(&a);
  }
}

/* Keys whose numbers stand in each other's place. At 32768 tokens the long list counts. */
Test(mishaps, lists_exchanged__is_named) {
  rs_text settings = {0};
  rs_model model = small_model();
  double list[PAIRS];
  side a;
  rs_spectrum dump;
  for (int l = 0; l < 2; l++)
    for (int j = 0; j < PAIRS; j++)
      rs_text_printf(&settings, "%s%g", j > 0 ? "," : l ? " long_factor=" : "short_factor=", 1 + l * 3 + 0.01 * j);
  make_side("longrope", rs_text_string(&settings), &model, SERVED, &a);
  for (int j = 0; j < PAIRS; j++) list[j] = plain(theta, (size_t)j) / (1 + 0.01 * j);
  cr_assert_eq(rs_spectrum_list(list, PAIRS, &dump, NULL), RS_OK);
  rs_compared b = {.length = SERVED, .spectrum = &dump};
  rs_causes causes = causes_of(&a.compared, &b);
  expect_cause(&causes, "with short_factor and long_factor exchanged", "exchanged");
  expect_cause(&causes, "at 4096 tokens, the train_length", "short list");
  rs_spectrum_clear(&dump);
  rs_text_clear(&settings);
  side_clear(&a);
}

/* Sections that are read in another order: axes by hand. */
Test(mishaps, sections_in_another_order__is_named) {
  static const struct {
    size_t sections[3]; /* of pairs that read t, h, w, as they follow each other */
    const char *cause;
  } cases[] = {{{24, 16, 24}, "with mrope_section: 24,16,24 (read as h, t, w"},
               {{24, 24, 16}, "with mrope_section: 24,24,16 (read as h, w, t"},
               {{64, 0, 0}, "with mrope_section: none (the sections are not read"}};
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    side a, b;
    make_side("mrope", "mrope_section=16,24,24", &model, SERVED, &a);
    make_side("mrope", "mrope_section=16,24,24", &model, SERVED, &b);
    for (size_t axis = 0, j = 0; axis < 3; axis++)
      for (size_t k = 0; k < cases[i].sections[axis]; k++) b.spectrum.axis[j++] = (uint16_t)axis;
    b.compared.recipe = NULL;
    rs_causes causes = causes_of(&a.compared, &b.compared);
    expect_cause(&causes, cases[i].cause, cases[i].cause);
    side_clear(&a);
    side_clear(&b);
  }
}

/* Two of 65536 dims with nothing in common: what is left out is counted. */
Test(mishaps, wide_heads__are_bounded_and_said) {
  rs_model wide = plain_model(65536, 10000, 131072);
  side a, b;
  make_side("rope", "", &wide, 131072, &a);
  make_side("yarn", "factor=3.7 rope_theta=777777 beta_fast=17 train_length=9999", &wide, 131072, &b);
  rs_causes causes = causes_of(&a.compared, &b.compared);
  cr_expect_gt(causes.untried, 1000u, "%zu", causes.untried);
  side_clear(&a);
  side_clear(&b);
}
