/* test_evidence.c: forecasts and leave-one-model-out on a table that can be worked out by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"

#define HEAD                                                                                                           \
  "model,group,head_dim,rotary_dim,rope_theta,train_length,model_recipe,task,recipe,length_tokens,loss_increase_nats," \
  "low_nats,high_nats,tuned_at\n"

/* Eight dims, base 100: turns of 1, .316, .1 and .0316 rad, of which the last two do not go full circle in 60 tokens;
 * all but the last do in 64. */
#define A(recipe, length, increase, low, high)                                                                         \
  "a,one,8,8,100,64,,text," recipe "," length "," increase "," low "," high ",\n"
#define B(recipe, length, increase, low, high)                                                                         \
  "b,two,16,8,100,32,,text," recipe "," length "," increase "," low "," high ",\n"
#define C(recipe, length, increase, low, high)                                                                         \
  "c,three,8,8,100,64,,text," recipe "," length "," increase "," low "," high ",\n"

static const char rows[] = HEAD A("{name: rerope}", "128", "-0.2", "-0.3", "-0.1")
    A("{name: rerope}", "256", "0.1", "0", "0.2") A("\"{name: pi, scale: auto}\"", "128", "0.5", "0.45", "0.55")
        A("unchanged", "128", "2", "", "") B("{name: rerope}", "64", "0.3", "0.2", "0.4")
            B("\"{name: yarn, scale: auto}\"", "64", "0.32", "0.2", "0.44") B("unchanged", "64", "6", "6", "inf")
                B("\"{name: yarn, beta_fast: 8, scale: auto}\"", "64", "-0.3", "-0.35", "-0.25")
                    C("{name: rerope}", "128", "-0.1", "", "") C("unchanged", "128", "1", "", "")
                        C("\"{name: pi, scale: auto}\"", "128", "1.5", "", "");

static rs_evidence *read_rows(const char *text) {
  rs_evidence *evidence;
  rs_err err = {0};
  cr_assert_eq(rs_evidence_read(text, strlen(text), &evidence, &err), RS_OK, "%s", err.message);
  return evidence;
}

static rs_model model_of(size_t head_dim, size_t train_length) {
  return (rs_model){.name = "asked",
                    .heads = 1,
                    .head_dim = head_dim,
                    .rotary_dim = 8,
                    .rope_theta = 100,
                    .train_length = train_length,
                    .max_length = train_length};
}

/* The distances by hand: half of the pairs are slow at 32 tokens and a quarter at 64. */
static double weight(double octaves, double slow, double trained, double dims, double variant) {
  return exp(-(octaves * octaves / 0.49 + slow * slow / 0.16 + trained * trained / 36 + dims * dims / 9 + variant) / 2);
}

static double tamed(double nats) {
  return asinh(nats / 0.1);
}

static rs_forecast foretell(const rs_evidence *evidence, const rs_model *model, double length, const char *method) {
  const rs_evidence_of of = {model, (double)model->train_length, length};
  rs_recipe recipe = {0};
  rs_forecast forecast;
  rs_err err = {0};
  if (method != NULL) {
    cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(method), &err), RS_OK);
    cr_assert_eq(rs_recipe_resolve(&recipe, model, &err), RS_OK);
  }
  cr_assert_eq(rs_evidence_forecast(evidence, &of, method != NULL ? &recipe : NULL, &forecast, &err), RS_OK, "%s",
               err.message);
  rs_recipe_clear(&recipe);
  return forecast;
}

Test(evidence, forecast__is_the_mean_of_groups_by_hand) {
  rs_evidence *evidence = read_rows(rows);
  rs_model model = model_of(8, 64);
  double spread;
  cr_assert_eq(rs_evidence_spread(evidence, SIZE_MAX, &spread, NULL), RS_OK);
  rs_forecast f = foretell(evidence, &model, 128, "rerope");
  /* Group one has a row at the place itself and one an octave away; two differs in all traits; three is at the place.
   */
  double near = weight(0, 0, 0, 0, 0), far = weight(1, 0, 0, 0, 0), two = weight(0, 0.25, 1, 1, 0);
  double one = (near * tamed(-0.2) + far * tamed(0.1)) / (near + far);
  double t = (near * one + two * tamed(0.3) + near * tamed(-0.1)) / (near + two + near);
  cr_expect_float_eq(f.increase, 0.1 * sinh(t), 1e-12, "%.15g", f.increase);
  cr_expect_float_eq(f.low, 0.1 * sinh(t - spread), 1e-12);
  cr_expect_float_eq(f.high, 0.1 * sinh(t + spread), 1e-12);
  cr_expect_eq(f.models, 3);
  cr_expect_str_eq(f.from, "a, c, b");
  /* The recipe that no row has is as far as either variant; the unchanged model is a way of its own. */
  f = foretell(evidence, &model, 128, "yarn");
  double same = weight(0, 0.25, 1, 1, 0), other = weight(0, 0.25, 1, 1, 1);
  cr_expect_float_eq(f.increase, 0.1 * sinh((same * tamed(0.32) + other * tamed(-0.3)) / (same + other)), 1e-12);
  f = foretell(evidence, &model, 128, NULL);
  cr_expect_float_eq(f.increase, 0.1 * sinh((near * tamed(2) + two * tamed(6) + near * tamed(1)) / (near + two + near)),
                     1e-12);
  f = foretell(evidence, &model, 128, "self_extend");
  cr_expect(f.models == 0 && isnan(f.increase));
  /* Three widths away nothing is evidence. */
  f = foretell(evidence, &model, 64 * 64, "rerope");
  cr_expect(f.models == 0 && isnan(f.increase));
  f = foretell(evidence, &model, 90, "rerope"); /* 0.49 octaves beyond training */
  cr_expect(f.models == 0 && isnan(f.increase));
  f = foretell(evidence, &model, 91, "rerope"); /* 0.51 */
  cr_expect_eq(f.models, 3);
  rs_evidence_free(evidence);
}

Test(evidence, spread__holds_four_fifths_of_what_groups_foretell) {
  static const char few[] =
      HEAD A("unchanged", "128", "2", "", "") B("unchanged", "64", "6", "", "") C("unchanged", "128", "1", "", "");
  rs_evidence *evidence = read_rows(few);
  double spread, two = weight(0, 0.25, 1, 1, 0);
  /* a by b and c, b by a and c, c by a and b: the largest of three is what 80 % stay within. */
  double a = fabs(tamed(2) - (two * tamed(6) + tamed(1)) / (two + 1));
  double b = fabs(tamed(6) - (tamed(2) + tamed(1)) / 2);
  double c = fabs(tamed(1) - (tamed(2) + two * tamed(6)) / (1 + two));
  cr_assert_eq(rs_evidence_spread(evidence, SIZE_MAX, &spread, NULL), RS_OK);
  cr_expect_float_eq(spread, fmax(a, fmax(b, c)), 1e-12, "%.15g of %.15g %.15g %.15g", spread, a, b, c);
  cr_assert_eq(rs_evidence_spread(evidence, 1, &spread, NULL), RS_OK); /* without b: each by the other */
  cr_expect_float_eq(spread, tamed(2) - tamed(1), 1e-12);
  rs_evidence_free(evidence);
}

static const rs_judgement *judged(const rs_judgement *all, const char *name) {
  for (size_t p = 0; p < RS_PREDICTORS; p++)
    if (strcmp(all[p].name, name) == 0) return &all[p];
  cr_assert_fail("no %s", name);
  return NULL;
}

/* Tables: a at 128 (rerope < pi < unchanged), a at 256 (one row), b (yarn 8 < rerope, yarn < unchanged, rerope and yarn
 * not apart), c (rerope < unchanged < pi). */
Test(evidence, shares__are_those_by_hand) {
  rs_evidence *evidence = read_rows(rows);
  rs_judgement all[RS_PREDICTORS];
  rs_err err = {0};
  cr_assert_eq(rs_evidence_judge(evidence, all, &err), RS_OK, "%s", err.message);
  const rs_judgement *bend = judged(all, "bend the map"), *seen = judged(all, "evidence");
  cr_expect_eq(bend->pairs, 3 + 5 + 3);
  cr_expect_eq(bend->serious_pairs, 2);
  cr_expect_eq(bend->tables, 3);
  /* a: rerope before both, pi and unchanged a coin; b: rerope before unchanged, wrong about yarn 8, three coins. */
  cr_expect_float_eq(bend->right, (2.5 / 3 + (1 + 0 + 3 * 0.5) / 5 + 2.5 / 3) / 3, 1e-12, "%g", bend->right);
  cr_expect_float_eq(bend->serious, (0 + 0.5) / 2, 1e-12);
  cr_expect_float_eq(bend->best, (1 + 0 + 1) / 3.0, 1e-12);
  cr_expect(isnan(bend->coverage));
  cr_expect_float_eq(bend->group_right[1], 2.5 / 5, 1e-12);
  cr_expect_str_eq(rs_evidence_group(evidence, 2), "three");
  cr_expect_null(rs_evidence_group(evidence, 3));
  /* Evidence foretells nothing of yarn, which group two alone has: four coins, and unchanged after rerope. Of c it says
   * what a and b have: pi (of a alone, .5) before unchanged, which is wrong there. */
  cr_expect_float_eq(seen->group_right[1], (1 + 4 * 0.5) / 5, 1e-12, "%g", seen->group_right[1]);
  cr_expect_float_eq(seen->group_right[2], 2 / 3.0, 1e-12);
  cr_expect_eq(seen->rows, 9);
  cr_expect(seen->coverage >= 0 && seen->coverage <= 1);
  rs_evidence_free(evidence);
}

Test(evidence, wrong_tables__are_refused_by_line) {
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"model,group\n", "evidence.csv has no column head_dim"},
      {HEAD, "evidence.csv has no rows"},
      {HEAD A("unchanged", "128", "x", "", ""), "evidence.csv:2: loss_increase_nats = x: is no number"},
      {HEAD A("unchanged", "128", "1", "", "") A("{name: yurn}", "128", "1", "", ""), "evidence.csv:3"},
      {HEAD A("unchanged", "", "1", "", ""), "evidence.csv:2: length_tokens = "},
      {HEAD A("unchanged", "128", "nan", "", ""), "evidence.csv:2: loss_increase_nats"},
      {HEAD A("unchanged", "64", "1", "", ""), "evidence.csv:2: loss_increase_nats and length_tokens"},
      {HEAD "a,one,-1,8,100,64,,text,unchanged,128,1,,,\n", "evidence.csv:2: head_dim"},
      {HEAD "a,one,8,8,100,0,,text,unchanged,128,1,,,\n", "evidence.csv:2: head_dim"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_evidence *evidence;
    rs_err err = {0};
    cr_expect_eq(rs_evidence_read(cases[i].text, strlen(cases[i].text), &evidence, &err), RS_INPUT);
    cr_expect_null(evidence);
    cr_expect_not_null(strstr(err.message, cases[i].words), "%s", err.message);
  }
}

/* Rows of windows and of tuned models are no evidence of ways without tuning. */
Test(evidence, windows_and_tuned_rows__are_passed_over) {
  static const char text[] = HEAD A("window", "128", "0", "0", "0")
      A("unchanged", "128", "1", "", "") "a,one,8,8,100,64,,text,unchanged,128,9,,,128\n";
  rs_evidence *evidence = read_rows(text);
  rs_model model = model_of(8, 64);
  rs_forecast f = foretell(evidence, &model, 128, NULL);
  cr_expect_float_eq(f.increase, 1, 1e-12, "%g", f.increase);
  rs_evidence_free(evidence);
}

/* The table that is shipped can be read, and says how far its forecasts are off. */
Test(evidence, shipped_table__is_read) {
  rs_evidence *evidence;
  rs_err err = {0};
  rs_text root = {0};
  double spread;
  rs_text_printf(&root, "%s/..", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(setenv("ROPESCOPE_DATADIR", rs_text_string(&root), 1), 0);
  rs_text_clear(&root);
  cr_assert_eq(rs_evidence_load(&evidence, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_evidence_spread(evidence, SIZE_MAX, &spread, &err), RS_OK);
  cr_expect(spread > 0 && spread < 5, "%g", spread);
  rs_evidence_free(evidence);
}
