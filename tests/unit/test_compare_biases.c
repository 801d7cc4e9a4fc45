/* test_compare_biases.c: two recipes that add biases: where they part, and why, by the slopes of their papers. */
#include "../golden.h"
#include "advice/advice.h"

#include <math.h>
#include <string.h>

enum { HEADS = 8, LENGTH = 4096, LONG = 131072 };

typedef struct biased {
  rs_recipe recipe;
  rs_compared side;
} biased;

static void make(const char *method, const char *settings, const rs_model *model, size_t length, biased *out) {
  out->recipe = make_recipe(method, settings);
  cr_assert_eq(rs_recipe_resolve(&out->recipe, model, NULL), RS_OK);
  out->side = (rs_compared){.recipe = &out->recipe, .model = model, .length = length};
}

static rs_bias_difference compare(const char *a, const char *b, rs_causes *causes) {
  rs_model model = {
      .heads = HEADS, .head_dim = 64, .rotary_dim = 64, .rope_theta = 1e4, .train_length = 2048, .max_length = LENGTH};
  biased sides[2];
  rs_bias_difference out;
  rs_err err = {0};
  make("alibi", a, &model, LENGTH, &sides[0]);
  make("alibi", b, &model, LENGTH, &sides[1]);
  cr_assert_eq(rs_biases_compare(&sides[0].side, &sides[1].side, 1e-6, &out, causes, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < 2; i++) rs_recipe_clear(&sides[i].recipe);
  return out;
}

/* Slopes of 8 heads are 2^(-h b / 8), h = 1 ... 8, for bias_max b. */
Test(compare_biases, slopes__are_compared_by_head_and_distance) {
  rs_causes causes;
  rs_bias_difference d = compare("", "slope_factor=3", &causes);
  cr_expect(d.differs && d.count == HEADS && d.head == 0, "%zu heads, most in %zu", d.count, d.head);
  cr_expect(close_to(d.a, -0.5 * (double)d.distance, 1e-12, 0), "%g at %zu", d.a, d.distance);
  cr_expect(close_to(d.b, -1.5 * (double)d.distance, 1e-12, 0), "%g at %zu", d.b, d.distance);
  cr_expect(close_to(d.largest, (double)d.distance, 1e-12, 0));
  d = compare("", "bias_max=16", &causes); /* 2^-h and 2^-2h: most apart at h = 1 */
  cr_expect_eq(d.head, 0);
  cr_expect(close_to(d.b, -0.25 * (double)d.distance, 1e-12, 0), "%g at %zu", d.b, d.distance);
}

/* A single head that differs is a difference. The slope of one head is 2^-8. */
Test(compare_biases, slopes__of_one_head__are_compared) {
  rs_model model = {
      .heads = 1, .head_dim = 64, .rotary_dim = 64, .rope_theta = 1e4, .train_length = 2048, .max_length = LENGTH};
  biased sides[2];
  rs_bias_difference d;
  rs_causes causes;
  make("alibi", "", &model, LENGTH, &sides[0]);
  make("alibi", "slope_factor=3", &model, LENGTH, &sides[1]);
  cr_assert_eq(rs_biases_compare(&sides[0].side, &sides[1].side, 1e-6, &d, &causes, NULL), RS_OK);
  cr_expect(d.differs && d.count == 1 && d.head == 0, "%zu heads", d.count);
  cr_expect(close_to(d.largest, ldexp((double)d.distance, -7), 1e-12, 0), "%g at %zu", d.largest, d.distance);
  for (size_t i = 0; i < 2; i++) rs_recipe_clear(&sides[i].recipe);
}

/* BLOOM adds slope n, MPT slope (n - (L - 1)): the same to a softmax. */
Test(compare_biases, constants_of_rows__are_no_difference) {
  rs_causes causes;
  static const char *const forms[] = {"bias_form=position", "bias_form=end", ""};
  static const bool shifted[] = {true, false, false};
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    rs_bias_difference d = compare("", forms[i], &causes);
    cr_expect(!d.differs && d.count == 0 && causes.count == 0, "%s", forms[i]);
    cr_expect_eq(d.shifted, shifted[i], "%s", forms[i]);
  }
}

/* What ports do otherwise, each named, and nothing else named before it. */
Test(compare_biases, what_ports_do__is_named) {
  static const struct {
    const char *a, *b, *cause;
  } cases[] = {
      {"", "bias_max=16", "B is A with bias_max: 16 (A has 8)"},
      {"bias_max=16", "", "B is A with bias_max: 8 (A has 16)"},
      {"", "slope_format=bf16 bias_max=6", "B is A with the other side's bias_max, slope_format"},
      {"", "slope_factor=2",
       "B is A with slope_factor: 2 (the bias added twice, as transformers' eager Falcon does; A has 1)"},
      {"slope_factor=2", "", "B is A with slope_factor: 1 (the bias added once, where it was added twice; A has 2)"},
      {"", "dialect=falcon",
       "B is A in dialect falcon: slope times position, slopes, positions and products in bfloat16, all of it divided "
       "by sqrt(D)"},
      {"", "slope_factor=inv_sqrt_dim", "B is A with slope_factor: inv_sqrt_dim (A has 1)"},
      {"bias_max=6", "bias_max=6 slope_format=bf16", "B is A with slope_format: bf16 (A has f64)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_causes causes;
    rs_bias_difference d = compare(cases[i].a, cases[i].b, &causes);
    cr_expect(d.differs, "%s", cases[i].cause);
    cr_assert_gt(causes.count, 0u, "%s", cases[i].cause);
    cr_expect_str_eq(causes.items[0].text, cases[i].cause);
    cr_expect(causes.items[0].whole);
  }
}

/* No change of ALiBi's makes Sandwich's sums; and other heads have no head in common. */
Test(compare_biases, nothing_known__names_nothing) {
  rs_model model = {
      .heads = HEADS, .head_dim = 64, .rotary_dim = 64, .rope_theta = 1e4, .train_length = 2048, .max_length = LENGTH};
  rs_model wider = model;
  biased sides[3];
  rs_bias_difference out;
  rs_causes causes;
  wider.heads = 2 * HEADS;
  make("alibi", "", &model, LONG, &sides[0]); /* where bias_format f16 is past its range */
  make("sandwich", "", &model, LONG, &sides[1]);
  make("alibi", "", &wider, LONG, &sides[2]);
  cr_assert_eq(rs_biases_compare(&sides[0].side, &sides[1].side, 1e-6, &out, &causes, NULL), RS_OK);
  cr_expect(out.differs && causes.count == 0);
  cr_assert_eq(rs_biases_compare(&sides[0].side, &sides[2].side, 1e-6, &out, &causes, NULL), RS_OK);
  cr_expect(out.differs && causes.count == 0 && isnan(out.largest));
  for (size_t i = 0; i < 3; i++) rs_recipe_clear(&sides[i].recipe);
}

Test(compare_biases, what_is_learned_or_turns__is_not_compared) {
  static const struct {
    const char *method;
    bool comparable;
  } cases[] = {{"alibi", true},       {"sandwich", true}, {"t5", false},
               {"kerple_log", false}, {"rope", false},    {"nope", false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, "");
    cr_expect_eq(rs_biases_comparable(&recipe), cases[i].comparable, "%s", cases[i].method);
    rs_recipe_clear(&recipe);
  }
}
