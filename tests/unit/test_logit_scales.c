/* Logit scales: each kind by hand, and what goes with it. */
#include "../fixtures/bias_worlds.h"
#include "../golden.h"

/* By hand; D = 16, trained at 64 tokens. */
Test(logit_scale, each_kind__by_hand) {
  const double mean64 = 3.2057531169162687; /* (ln 1 + ... + ln 64) / 64 = ln(64!) / 64 */
  const struct {
    const char *settings;
    size_t query;
    double expected;
  } cases[] = {
      {"log_n", 63, 1},
      {"log_n", 255, 4.0 / 3},
      {"log_n logit_scale_length=16", 255, 2},
      {"log_n logit_scale_length=16", 15, 1},
      {"log_n logit_scale_length=16", 3, 1},
      {"ssmax", 0, 0},
      {"ssmax", 63, 6 * M_LN2 / mean64},
      {"ssmax logit_scale_length=2", 7, 3 * M_LN2 / (M_LN2 / 2)},
      {"ssmax logit_scale_factor=0.43", 127, 0.43 * 7 * M_LN2},
      {"llama4", 8190, 1},
      {"llama4", 8191, 1 + 0.1 * M_LN2},
      {"llama4", 3 * 8192 - 1, 1 + 0.2 * M_LN2},
      {"llama4 logit_scale_length=10 logit_scale_factor=2", 8, 1},
      {"llama4 logit_scale_length=10 logit_scale_factor=2", 9, 1 + 2 * M_LN2},
      {"llama4 logit_scale_length=10 logit_scale_factor=2", 18, 1 + 2 * M_LN2},
      {"llama4 logit_scale_length=10 logit_scale_factor=2", 69, 1 + 6 * M_LN2},
      {"ministral", 63, 1},
      {"ministral", 64, 1 + 0.1 * M_LN2},
      {"ministral train_length=128", 127, 1},
      {"ministral logit_scale_length=10 logit_scale_factor=2", 9, 1},
      {"ministral logit_scale_length=10 logit_scale_factor=2", 10, 1 + 2 * M_LN2},
      {"ministral logit_scale_length=10 logit_scale_factor=2", 70, 1 + 6 * M_LN2},
      {"entropy_invariant", 63, 1},
      {"entropy_invariant", 7, 0.5},
      {"entropy_invariant", 0, 0},
      {"entropy_invariant logit_scale_length=512", 7, 1.0 / 3},
      {"entropy_invariant logit_scale_factor=2", 7, 2 * 3 * M_LN2 / 4},
  };
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char settings[128];
    snprintf(settings, sizeof settings, "logit_scale=%s", cases[i].settings);
    rs_encoding *e = encode("rope", settings, &model, cases[i].query + 1);
    double got = e->logit_scale[cases[i].query];
    cr_assert(close_to(got, cases[i].expected, 1e-14, 0), "%s query %zu: got %.17g, expected %.17g", settings,
              cases[i].query, got, cases[i].expected);
    rs_encoding_free(e);
  }
}

/* The default s leaves logits alone on average over the training context; for 1024 tokens it is the paper's 0.168. */
Test(logit_scale, ssmax__default__is_one_on_average) {
  rs_model model = test_model(1);
  for (size_t length = 2; length <= 1024; length *= 2) {
    model.train_length = length;
    rs_encoding *e = encode("nope", "logit_scale=ssmax", &model, length);
    double sum = 0;
    for (size_t m = 0; m < length; m++) sum += e->logit_scale[m];
    cr_assert(close_to(sum / (double)length, 1, 1e-13, 0), "length %zu: %.17g", length, sum / (double)length);
    if (length == 1024) cr_assert_float_eq(e->logit_scale[1] / M_LN2, 0.16847, 5e-6);
    rs_encoding_free(e);
  }
}

/* entropy_invariant is log_n where that is not clamped; each acts on top of a method's own temperature. */
Test(logit_scale, every_kind__multiplies_what_the_method_has) {
  rs_model model = test_model(1);
  model.train_length = 16;
  size_t count;
  const rs_lscale_kind *const *kinds = rs_lscale_kinds(&count);
  cr_assert_gt(count, 0);
  for (size_t i = 0; i < count; i++) {
    const char *word = kinds[i]->kind.name;
    bool invariant = strcmp(word, "entropy_invariant") == 0;
    char settings[128];
    snprintf(settings, sizeof settings, "logit_scale=%s", word);
    rs_encoding *alone = encode("nope", settings, &model, 100);
    cr_assert_str_eq(rs_lscale_chosen(&alone->settings)->kind.name, word);
    snprintf(settings, sizeof settings, "logit_scale=%s factor=4 temperature=logits", word);
    rs_encoding *both = encode("yarn", settings, &model, 100),
                *log_n = encode("nope", "logit_scale=log_n", &model, 100);
    double factor = pow(0.1 * log(4) + 1, 2);
    for (size_t m = 0; m < 100; m++) {
      cr_assert(close_to(both->logit_scale[m], factor * alone->logit_scale[m], 1e-14, 0), "%s query %zu", word, m);
      if (invariant && m >= 15) cr_assert(close_to(alone->logit_scale[m], log_n->logit_scale[m], 1e-14, 0), "%zu", m);
    }
    rs_encoding_free(log_n);
    rs_encoding_free(both);
    rs_encoding_free(alone);
  }
}

/* A logit scale of one's own does not take the numbers of the published one. */
Test(logit_scale, published__numbers__go_with_their_kind) {
  static const struct {
    const char *settings;
    double factor, length;
  } cases[] = {{"", 0.2, 30},
               {"logit_scale_factor=0.5", 0.5, 30},
               {"logit_scale_length=7", 0.2, 7},
               {"logit_scale=ssmax", NAN, NAN},
               {"logit_scale=none", NAN, NAN},
               {"logit_scale=ministral logit_scale_length=7", NAN, 7}};
  rs_model model = test_model(1);
  model.published = make_recipe("rope", "logit_scale=ministral logit_scale_factor=0.2 logit_scale_length=30");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("rope", cases[i].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK, "%s", err.message);
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_OK, "%s: %s", cases[i].settings, err.message);
    double factor = rs_setting(&recipe.settings, "logit_scale_factor")->number;
    double length = rs_setting(&recipe.settings, "logit_scale_length")->number;
    cr_assert(isnan(cases[i].factor) ? isnan(factor) : factor == cases[i].factor, "%s: %g", cases[i].settings, factor);
    cr_assert(isnan(cases[i].length) ? isnan(length) : length == cases[i].length, "%s: %g", cases[i].settings, length);
    rs_recipe_clear(&recipe);
  }
  rs_recipe_clear(&model.published);
}
