/* test_ids.c: the tables of an encoding at given ids are those that tokens of these numbers have in a text that reaches
 * to the last of them. */
#include "golden.h"

enum { TOKENS = 6, HEADS = 2, REACH = 41 };

static const double ids[TOKENS] = {0, 3, 4, 5, 19, 40};

static double axes[TOKENS * RS_AXES];

static rs_encoding *encode_at(const char *method, const char *settings, const rs_model *model, bool given) {
  for (size_t i = 0; i < TOKENS * RS_AXES; i++) axes[i] = ids[i / RS_AXES];
  const rs_token_layout layout = {.ids = axes, .id_count = TOKENS};
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_resolve(&recipe, model, &err), RS_OK, "%s", err.message);
  cr_assert_eq(
      rs_encoding_create(&recipe, model, given ? TOKENS : REACH, given ? &layout : NULL, NULL, &encoding, &err), RS_OK,
      "%s: %s", method, err.message);
  rs_recipe_clear(&recipe);
  return encoding;
}

static void expect_biases(const rs_encoding *given, const rs_encoding *plain, const char *method) {
  double row[TOKENS], quick[TOKENS], all[REACH], all_quick[REACH];
  for (size_t m = 0; m < TOKENS; m++)
    for (size_t h = 0; h < HEADS; h++) {
      rs_encoding_bias_row(given, h, m, 1, TOKENS, row);
      rs_encoding_quick_bias_row(given, h, m, 1, TOKENS, quick);
      rs_encoding_bias_row(plain, h, (size_t)ids[m], 0, REACH, all);
      rs_encoding_quick_bias_row(plain, h, (size_t)ids[m], 0, REACH, all_quick);
      for (size_t n = 1; n < TOKENS; n++) {
        cr_expect_eq(row[n - 1], all[(size_t)ids[n]], "%s: query %zu, key %zu", method, m, n);
        cr_expect_eq(quick[n - 1], all_quick[(size_t)ids[n]], "%s: query %zu, key %zu", method, m, n);
      }
    }
}

Test(ids, tables__of_the_tokens_with_these_numbers) {
  static const struct {
    const char *method, *settings;
  } cases[] = {{"rope", ""},
               {"yarn", "scale=auto"},
               {"dynamic_ntk", ""},
               {"pi", "factor=3"},
               {"xpos", ""},
               {"longrope", "short_factor=1,2,3,4 long_factor=5,6,7,8 factor=4"},
               {"alibi", ""},
               {"alibi", "bias_form=position"},
               {"alibi", "bias_form=end slope_format=bf16"},
               {"t5", ""},
               {"kerple_log", ""},
               {"fire", ""},
               {"sandwich", ""},
               {"learned", "train_length=64"},
               {"sinusoidal", ""},
               {"rope", "logit_scale=llama4 logit_scale_length=4"},
               {"rope", "logit_scale=ministral logit_scale_length=4"}};
  rs_model model = plain_model(8, 100, 16);
  model.heads = HEADS;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    const char *method = cases[c].method;
    rs_encoding *given = encode_at(method, cases[c].settings, &model, true);
    rs_encoding *plain = encode_at(method, cases[c].settings, &model, false);
    double *added = calloc(TOKENS * given->width + 1, sizeof *added), *row = calloc(given->width + 1, sizeof *row);
    cr_expect_eq(given->length, TOKENS);
    cr_expect(given->scale == plain->scale || isnan(plain->scale), "%s: %g, %g", method, given->scale, plain->scale);
    for (size_t j = 0; j < plain->rotary_dim / 2; j++) cr_expect_eq(given->omega[j], plain->omega[j], "%s", method);
    cr_assert_eq(rs_encoding_embed(given, 1, TOKENS - 1, added, NULL), RS_OK);
    for (size_t n = 0; n < TOKENS; n++) {
      size_t token = (size_t)ids[n];
      cr_expect_eq(given->logit_scale[n], plain->logit_scale[token], "%s: token %zu", method, n);
      if (plain->rotary_dim > 0) cr_expect_eq(given->pos_k[0][n], plain->pos_k[0][token], "%s: token %zu", method, n);
      if (n == 0) continue;
      cr_assert_eq(rs_encoding_embed(plain, token, 1, row, NULL), RS_OK);
      cr_expect_arr_eq(added + (n - 1) * given->width, row, given->width * sizeof *row, "%s: token %zu", method, n);
    }
    expect_biases(given, plain, method);
    cr_expect_not(rs_encoding_bias_of_distance(given), "%s", method);
    free(added);
    free(row);
    rs_encoding_free(given);
    rs_encoding_free(plain);
  }
}

/* The largest of all axes, and the length without ids. */
Test(ids, reach) {
  double given[] = {0, 1, 2, 3, 9.5, 4, -3, -2, -1};
  rs_token_layout layout = {.ids = given, .id_count = 3};
  cr_expect_eq(rs_token_layout_reach(&layout, 3), 10);
  layout.id_count = 1;
  cr_expect_eq(rs_token_layout_reach(&layout, 1), 3);
  layout = (rs_token_layout){.ids = given + 6, .id_count = 1};
  cr_expect_eq(rs_token_layout_reach(&layout, 1), 1);
  layout = (rs_token_layout){0};
  cr_expect_eq(rs_token_layout_reach(&layout, 7), 7);
}
