/* Biases one by one, against numbers worked out by hand or read in the field's code. */
#include "../fixtures/bias_worlds.h"
#include "../golden.h"

/* ---- ALiBi ------------------------------------------------------------------------------------------------------- */

Test(alibi, forms__keys_up_to_the_query__differ_by_a_constant_of_the_row) {
  rs_model model = test_model(5);
  rs_encoding *distance = encode("alibi", "", &model, LENGTH), *end = encode("alibi", "bias_form=end", &model, LENGTH);
  rs_encoding *position = encode("alibi", "bias_form=position", &model, LENGTH);
  for (size_t h = 0; h < 5; h++)
    for (size_t m = 0; m < LENGTH; m++)
      for (size_t n = 0; n < LENGTH; n++) {
        double slope = distance->bias_table[h], rise = bias_at(position, h, m, n) - bias_at(position, h, m, 0);
        cr_assert(close_to(rise, slope * (double)n, 1e-14, 0), "head %zu (%zu, %zu)", h, m, n);
        cr_assert(close_to(bias_at(end, h, m, n) - bias_at(end, h, m, 0), rise, 1e-12, 1e-14));
        if (n > m) continue;
        cr_assert(close_to(bias_at(distance, h, m, n) - bias_at(distance, h, m, 0), rise, 1e-12, 1e-14));
        cr_assert_leq(bias_at(end, h, m, n), 0);
      }
  cr_assert_eq(bias_at(end, 0, LENGTH - 1, LENGTH - 1), 0, "the last token of all");
  cr_assert_eq(bias_at(position, 0, 17, 0), 0, "the first");
  rs_encoding_free(position);
  rs_encoding_free(end);
  rs_encoding_free(distance);
}

/* transformers' Falcon, 71 heads: with bfloat16 everywhere a bias at position 4000 is up to 19 off, or 1 %. */
Test(alibi, falcon__bfloat16__errs_as_measured_in_its_code) {
  enum { FALCON_7B = 71, FAR = 4001 };
  rs_model model = test_model(FALCON_7B);
  static const char *const settings[] = {"bias_form=position slope_format=bf16 bias_format=bf16",
                                         "bias_form=position slope_format=bf16", "bias_form=position"};
  static const double most[] = {19.161388845715464, 6.484534669484674}, share[] = {0.009734789146716665};
  rs_encoding *exact = encode("alibi", settings[2], &model, FAR);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *rounded = encode("alibi", settings[i], &model, FAR);
    double off = 0, relative = 0;
    for (size_t h = 0; h < FALCON_7B; h++)
      for (size_t n = 1; n < FAR; n++) {
        double want = bias_at(exact, h, FAR - 1, n), error = fabs(bias_at(rounded, h, FAR - 1, n) - want);
        off = fmax(off, error);
        relative = fmax(relative, error / want);
      }
    cr_assert(close_to(off, most[i], 1e-9, 0), "%s: %.17g", settings[i], off);
    if (i == 0) cr_assert(close_to(relative, share[0], 1e-9, 0), "%.17g", relative);
    rs_encoding_free(rounded);
  }
  rs_encoding_free(exact);
}

/* By hand, one of 3 heads: slope 2^-4 = 0.0625, 2^-8, 2^-2; D = 16, so the factor is 1/4. 0.3 is no bfloat16: the slope
 * 2^(-0.5) = 0.70710678 rounds to 181/256. */
Test(alibi, formats_and_factor__by_hand) {
  rs_model three = test_model(3), sixteen = test_model(16);
  rs_encoding *e = encode("alibi", "slope_factor=inv_sqrt_dim", &three, 8);
  static const double slopes[] = {0.0625, 0.00390625, 0.25};
  for (size_t h = 0; h < 3; h++) cr_assert_eq(bias_at(e, h, 7, 2), -5 * slopes[h] / 4, "head %zu", h);
  rs_encoding_free(e);
  e = encode("alibi", "slope_format=bf16 slope_factor=0.3", &sixteen, 8);
  cr_assert_eq(bias_at(e, 0, 7, 2), 0.3 * (181.0 / 256 * -5), "%.17g", bias_at(e, 0, 7, 2));
  cr_assert_eq(e->bias_table[0], 0.3 * (181.0 / 256), "the factor is not rounded");
  rs_encoding_free(e);
  e = encode("alibi", "bias_format=bf16 bias_form=position", &three, 600); /* 513 -> 512, 0.0625 is exact */
  cr_assert_eq(bias_at(e, 0, 599, 513), 32);
  rs_encoding_free(e);
}

/* What each implementation does, as parameters. */
Test(alibi, dialects__set_what_they_always_do) {
  static const struct {
    const char *dialect, *form, *slopes, *products;
    double factor; /* NaN: inv_sqrt_dim */
  } cases[] = {{"falcon", "position", "bf16", "bf16", NAN},
               {"bloom", "position", "f64", "f64", 1},
               {"mpt", "end", "f64", "f64", 1},
               {"llamacpp", "distance", "f64", "f64", 1}};
  rs_model model = test_model(4);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("alibi", "");
    rs_text text = {0};
    rs_err err = {0};
    recipe_set_word(&recipe, "dialect", cases[i].dialect);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK, "%s", err.message);
    for (size_t p = 0; p < recipe.settings.count; p++)
      if (strncmp(recipe.settings.params[p]->name, "bias_f", 6) == 0 ||
          strcmp(recipe.settings.params[p]->name, "slope_format") == 0)
        rs_value_write(recipe.settings.params[p], &recipe.settings.values[p], &text), rs_text_puts(&text, " ");
    char want[64];
    snprintf(want, sizeof want, "%s %s %s ", cases[i].form, cases[i].slopes, cases[i].products);
    cr_assert_str_eq(rs_text_string(&text), want, "%s: %s", cases[i].dialect, rs_text_string(&text));
    const rs_value *factor = rs_setting(&recipe.settings, "slope_factor");
    cr_assert(isnan(cases[i].factor) ? factor->choice == 0 : factor->number == cases[i].factor, "%s", cases[i].dialect);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
  rs_recipe recipe = make_recipe("alibi", "dialect=mpt bias_form=position");
  rs_err err = {0};
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "bias_form");
  rs_recipe_clear(&recipe);
}

/* ---- T5, relative, Swin ------------------------------------------------------------------------------------------ */

/* A list as a word of a recipe: "0,1,2,...". */
static rs_encoding *encode_list(const char *method, const char *settings, const char *name, const double *list,
                                size_t count, const rs_model *model, size_t length) {
  rs_recipe recipe = make_recipe(method, settings);
  recipe_set_list(&recipe, name, list, count);
  rs_encoding *encoding = encode_recipe(&recipe, model, length, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* 4 buckets a side for distances to 16: 0, 1, then 2...5, then 6 and more: ln(n/2) / ln 8 * 2 = 1 at n = 2 sqrt 8.
 * Values stand bucket by bucket, two heads each, as in the checkpoint. */
Test(t5, small_table__by_hand) {
  static const double values[] = {0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105, 6, 106, 7, 107};
  static const size_t before[] = {0, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
  rs_model model = test_model(2);
  rs_encoding *e =
      encode_list("t5", "num_buckets=8 max_distance=16 bidirectional=true", "values", values, 16, &model, LENGTH);
  rs_encoding *causal = encode_list("t5", "num_buckets=4 max_distance=16", "values", values, 8, &model, LENGTH);
  for (size_t d = 0; d < RS_COUNT(before); d++)
    for (size_t head = 0; head < 2; head++) {
      double base = head == 1 ? 100 : 0, bucket = (double)before[d];
      cr_assert_eq(bias_at(e, head, 20, 20 - d), base + bucket, "distance %zu", d);
      cr_assert_eq(bias_at(e, head, 20, 20 + d), base + (d > 0 ? 4 : 0) + bucket, "distance -%zu", d);
      cr_assert_eq(bias_at(causal, head, 20, 20 - d), base + bucket, "distance %zu", d);
      cr_assert_eq(bias_at(causal, head, 20, 20 + d), base, "after the query all count as distance 0");
    }
  rs_encoding_free(causal);
  rs_encoding_free(e);
}

Test(t5, unscaled_dot__takes_the_root_of_the_dim_back) {
  rs_model model = test_model(2);
  rs_encoding *scaled = encode("t5", "logit_scale=log_n train_length=4", &model, 32);
  rs_encoding *unscaled = encode("t5", "unscaled_dot=true logit_scale=log_n train_length=4", &model, 32);
  for (size_t m = 0; m < 32; m++) {
    double sharpened = fmax(1, log2((double)m + 1) / 2);
    cr_assert(close_to(scaled->logit_scale[m], sharpened, 1e-15, 0));
    cr_assert(close_to(unscaled->logit_scale[m], 4 * sharpened, 1e-15, 0), "query %zu: %g", m,
              unscaled->logit_scale[m]);
  }
  cr_assert_eq(scaled->bias_size, 2u * 32);
  cr_assert_eq(memcmp(scaled->bias_table, unscaled->bias_table, 2 * 32 * sizeof(double)), 0);
  rs_encoding_free(unscaled);
  rs_encoding_free(scaled);
}

/* Key less query, as in the paper: the first row of the table is for keys far before the query. */
Test(relative, small_table__by_hand) {
  static const double values[] = {-2, 8, -1, 9, 0, 10, 1, 11, 2, 12};
  rs_model model = test_model(2);
  rs_encoding *e = encode_list("relative", "clip=2", "values", values, RS_COUNT(values), &model, 12);
  for (size_t m = 0; m < 12; m++)
    for (size_t n = 0; n < 12; n++) {
      double clipped = fmax(-2, fmin(2, (double)n - (double)m));
      cr_assert_eq(bias_at(e, 0, m, n), clipped, "(%zu, %zu): %g", m, n, bias_at(e, 0, m, n));
      cr_assert_eq(bias_at(e, 1, m, n), clipped + 10, "(%zu, %zu)", m, n);
    }
  rs_encoding_free(e);
}

/* Two pictures share offsets, not shapes: a step down is the same number in both. Text, other pictures and other frames
 * see nothing. Tokens: 2 x 4 picture 0...7, text 8...10, 3 x 2 picture 11...16, video frames 17...20 and 21...24. */
Test(swin, several_pictures__share_one_table) {
  rs_model model = test_model(2);
  rs_encoding *e = encode_mixed("swin", "", &model, LENGTH);
  cr_assert_eq(e->bias_size, 5u * 7 * 2, "the largest grid is 3 x 4");
  for (size_t head = 0; head < 2; head++) {
    double table[35];
    for (size_t i = 0; i < 35; i++) table[i] = e->bias_table[2 * i + head];
    cr_assert_eq(bias_at(e, head, 4, 0), table[3 * 7 + 3], "down one, in the first");
    cr_assert_eq(bias_at(e, head, 13, 11), table[3 * 7 + 3], "and in the second");
    cr_assert_eq(bias_at(e, head, 15, 11), table[4 * 7 + 3], "down two");
    cr_assert_eq(bias_at(e, head, 0, 3), table[2 * 7 + 0], "the key three to the right");
    cr_assert_eq(bias_at(e, head, 3, 0), table[2 * 7 + 6]);
    cr_assert_eq(bias_at(e, head, 22, 21), table[2 * 7 + 4], "within the second frame");
    cr_assert_eq(bias_at(e, head, 21, 24), table[1 * 7 + 2], "the key down and right");
    cr_assert_eq(bias_at(e, head, 5, 5), table[2 * 7 + 3]);
    static const size_t strangers[][2] = {{7, 8},   {8, 7},   {8, 9},   {10, 11}, {11, 7},  {17, 16},
                                          {20, 21}, {21, 20}, {25, 24}, {24, 25}, {30, 31}, {30, 30}};
    for (size_t i = 0; i < RS_COUNT(strangers); i++)
      cr_assert_eq(bias_at(e, head, strangers[i][0], strangers[i][1]), 0, "(%zu, %zu)", strangers[i][0],
                   strangers[i][1]);
  }
  rs_encoding_free(e);
}

/* A window of one row: numbers for -1, 0, 1 columns between query and key, in a picture of three. Five relative columns
 * lie at 3/5 (o + 1/2) - 1/2 among them; beyond the border its own number counts. */
Test(swin, larger_picture__table_is_resized__by_hand) {
  static const double values[] = {0, 100, 10, 110, 30, 130}, expected[] = {0, 4, 10, 22, 30};
  rs_token_run run = vision_run(RS_IMAGE, 1, 1, 3);
  const rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = test_model(2);
  rs_recipe recipe = make_recipe("swin", "table_grid=1,2 resize=bilinear");
  recipe_set_list(&recipe, "values", values, RS_COUNT(values));
  rs_encoding *e = encode_recipe(&recipe, &model, 3, &layout);
  for (size_t m = 0; m < 3; m++)
    for (size_t n = 0; n < 3; n++)
      for (size_t head = 0; head < 2; head++) {
        double want = expected[m + 2 - n] + (head == 1 ? 100 : 0);
        cr_assert(close_to(bias_at(e, head, m, n), want, 1e-14, 1e-14), "(%zu, %zu): %g", m, n, bias_at(e, head, m, n));
      }
  rs_encoding_free(e);
  rs_recipe_clear(&recipe);
}

/* A smaller picture reads the middle of the table: values are their own row and column. */
Test(swin, resize_none__table_is_read_as_it_is) {
  double values[5 * 7];
  for (size_t i = 0; i < RS_COUNT(values); i++) values[i] = (double)i;
  rs_token_run run = vision_run(RS_IMAGE, 1, 2, 3);
  const rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = test_model(1);
  rs_recipe recipe = make_recipe("swin", "table_grid=3,4 resize=none");
  recipe_set_list(&recipe, "values", values, RS_COUNT(values));
  rs_encoding *e = encode_recipe(&recipe, &model, 6, &layout);
  for (size_t m = 0; m < 6; m++)
    for (size_t n = 0; n < 6; n++)
      cr_assert_eq(bias_at(e, 0, m, n), (double)((m / 3 + 2 - n / 3) * 7 + m % 3 + 3 - n % 3), "(%zu, %zu)", m, n);
  rs_encoding_free(e);
  rs_recipe_clear(&recipe);
}

Test(swin, resize_none__larger_pictures__are_refused) {
  static const struct {
    const char *settings, *message;
  } cases[] = {{"table_grid=2,4 resize=none", "swin: a picture of 3 x 4 is beyond the table of 2 x 4 (resize: none)"},
               {"table_grid=3,3 resize=none", "swin: a picture of 3 x 4 is beyond the table of 3 x 3 (resize: none)"},
               {"table_grid=3,4 resize=none", NULL}};
  rs_token_run run = vision_run(RS_IMAGE, 1, 3, 4);
  const rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = test_model(1);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("swin", cases[i].settings);
    rs_encoding *e = NULL;
    rs_err err = {0};
    rs_status status = rs_encoding_create(&recipe, &model, 12, &layout, NULL, &e, &err);
    cr_expect_eq(status, cases[i].message == NULL ? RS_OK : RS_DOMAIN, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message == NULL ? "" : cases[i].message);
    rs_encoding_free(e);
    rs_recipe_clear(&recipe);
  }
}

/* ---- KERPLE, FIRE, Sandwich -------------------------------------------------------------------------------------- */

Test(kerple, given_numbers__by_hand_and_clamped) {
  static const double r1[] = {1, 2, -5}, r2[] = {1, 0.5, 0};
  static const double a[] = {2, 0.125, -5}, p[] = {0.5, 7, -1};
  rs_model model = test_model(3);
  rs_recipe recipe = make_recipe("kerple_log", "");
  recipe_set_list(&recipe, "r1", r1, 3);
  recipe_set_list(&recipe, "r2", r2, 3);
  rs_encoding *log_form = encode_recipe(&recipe, &model, LENGTH, NULL);
  rs_recipe_clear(&recipe);
  recipe = make_recipe("kerple_log", "kernel=power");
  recipe_set_list(&recipe, "a", a, 3);
  recipe_set_list(&recipe, "p", p, 3);
  rs_encoding *power_form = encode_recipe(&recipe, &model, LENGTH, NULL);
  rs_recipe_clear(&recipe);
  const struct {
    const rs_encoding *encoding;
    size_t head, distance;
    double expected;
  } cases[] = {{log_form, 0, 0, 0},
               {log_form, 0, 1, -M_LN2},
               {log_form, 0, 7, -3 * M_LN2},
               {log_form, 1, 6, -4 * M_LN2},
               {log_form, 2, 30, -0.01 * log(1.3)}, /* both at least 0.01 */
               {power_form, 0, 0, 0},
               {power_form, 0, 9, -6},
               {power_form, 1, 8, -8}, /* p at most 2 */
               {power_form, 2, 1, -0.01},
               {power_form, 2, 32, -0.01 * pow(32, 0.01)}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double got = bias_at(cases[i].encoding, cases[i].head, 35, 35 - cases[i].distance);
    cr_assert(close_to(got, cases[i].expected, 1e-14, 0), "case %zu: got %.17g, expected %.17g", i, got,
              cases[i].expected);
    got = bias_at(cases[i].encoding, cases[i].head, 3, 3 + cases[i].distance);
    cr_assert(close_to(got, cases[i].expected, 1e-14, 0), "case %zu, after the query", i);
  }
  rs_encoding_free(power_form);
  rs_encoding_free(log_form);
}

/* p = 1 and ALiBi's slopes. */
Test(kerple, power_one__is_alibi) {
  static const double slopes[] = {0.25, 0.0625, 0.015625}, ones[] = {1, 1, 1, 1};
  rs_model model = test_model(4);
  rs_recipe recipe = make_recipe("kerple_log", "kernel=power");
  double a[4] = {slopes[0], slopes[1], slopes[2], 0.01}; /* ALiBi's fourth, 2^-8, is below the clamp */
  recipe_set_list(&recipe, "a", a, 4);
  recipe_set_list(&recipe, "p", ones, 4);
  rs_encoding *power = encode_recipe(&recipe, &model, LENGTH, NULL), *alibi = encode("alibi", "", &model, LENGTH);
  for (size_t h = 0; h < 3; h++)
    for (size_t n = 0; n < LENGTH; n++) cr_assert_eq(bias_at(power, h, 20, n), bias_at(alibi, h, 20, n), "%zu", n);
  rs_encoding_free(alibi);
  rs_encoding_free(power);
  rs_recipe_clear(&recipe);
}

/* Two units, two heads: w1 (1, -1), b1 (0, 0.5), w2 (2, 4; 10, 20), b2 (0.25, -1); c = 1, threshold 3. At query 3 or
 * before, key distance 1: u = ln 2 / ln 4 = 1/2, units (1/2, 0); at distance 0: units (0, 1/2); at query 7, distance 7:
 * u = 1, units (1, 0). */
Test(fire, small_network__by_hand) {
  static const double weights[] = {1, -1, 0, 0.5, 2, 4, 10, 20, 0.25, -1};
  static const struct {
    size_t query, key;
    double expected[2];
  } cases[] = {{3, 2, {1.25, 4}}, {1, 0, {1.25, 4}}, {0, 1, {1.25, 4}}, {2, 2, {2.25, 9}},
               {9, 9, {2.25, 9}}, {7, 0, {2.25, 9}}, {3, 0, {2.25, 9}}, {0, 15, {4.25, 19}}};
  rs_model model = test_model(2);
  rs_encoding *e =
      encode_list("fire", "mlp_width=2 c=1 threshold=3", "weights", weights, RS_COUNT(weights), &model, LENGTH);
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    for (size_t head = 0; head < 2; head++) { /* eps moves u by up to 2e-6 */
      double got = bias_at(e, head, cases[i].query, cases[i].key);
      cr_assert(close_to(got, cases[i].expected[head], 0, 5e-5), "(%zu, %zu) head %zu: %.17g", cases[i].query,
                cases[i].key, head, got);
    }
  double u = (bias_at(e, 0, 7, 0) - 0.25) / 2; /* the listing's eps, exactly */
  cr_assert(close_to(u, 3 * M_LN2 / (3 * M_LN2 + 1e-6), 1e-14, 0), "%.17g", u);
  rs_encoding_free(e);
}

/* Units that switch at the same place, at 0, nowhere, and off again: the straight lines between are the network. */
Test(fire, units_that_switch_anyhow__quick_rows_are_the_network) {
  static const double weights[] = {1,    1,    -1,   0,    0,   2,   -3,  0.5, /* w1 */
                                   -0.5, -0.5, 0.25, 0.75, -1,  0,   0,   -1,  /* b1: the last switches past u = 1 */
                                   3,    -7,   11,   13,   17,  -19, 23,  -29, /* w2 */
                                   0.1,  0.2,  0.3,  0.4,  0.5, 0.6, 0.7, 0.8, 0.5, -0.25};
  rs_model model = test_model(2);
  rs_encoding *e =
      encode_list("fire", "mlp_width=8 c=1 threshold=3", "weights", weights, RS_COUNT(weights), &model, LENGTH);
  for (size_t head = 0; head < 2; head++)
    for (size_t m = 0; m < LENGTH; m++) {
      double row[LENGTH], quick[LENGTH];
      rs_encoding_bias_row(e, head, m, 0, LENGTH, row);
      rs_encoding_quick_bias_row(e, head, m, 0, LENGTH, quick);
      for (size_t n = 0; n < LENGTH; n++)
        cr_assert(close_to(quick[n], row[n], 1e-14, 1e-13), "(%zu, %zu) head %zu: %.17g, not %.17g", m, n, head,
                  quick[n], row[n]);
    }
  rs_encoding_free(e);
}

/* What the engine reads once for all queries. */
Test(alibi, positional_forms__depend_on_the_key_alone) {
  static const char *const forms[] = {"bias_form=distance", "bias_form=position", "bias_form=end bias_format=bf16"};
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    rs_encoding *e = encode("alibi", forms[i], &model, LENGTH);
    size_t differ = 0;
    for (size_t n = 0; n < LENGTH; n++) differ += bias_at(e, 1, 3, n) != bias_at(e, 1, 11, n);
    cr_assert_eq(differ == 0, rs_encoding_bias_of_key(e), "%s: %zu differ", forms[i], differ);
    cr_assert_eq(rs_encoding_bias_of_key(e), i > 0);
    rs_encoding_free(e);
  }
}

/* As attention-gym computes it for 12 heads (its values, run by hand): the first head's ratio is 8/12. */
Test(sandwich, twelve_heads__values_of_attention_gym) {
  static const struct {
    size_t distance;
    double expected;
  } cases[] = {{0, 96}, {1, 93.1405}, {2, 86.0728}, {10, 64.23}, {100, 45.8152}, {1000, 15.2666}};
  rs_model model = test_model(12);
  rs_encoding *e = encode("sandwich", "", &model, 1001);
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    for (size_t head = 0; head < 12; head++) {
      double got = bias_at(e, head, 1000, 1000 - cases[i].distance), expected = cases[i].expected / (double)(head + 1);
      cr_assert(close_to(got, expected, 0, 6e-5), "head %zu, distance %zu: %.17g", head, cases[i].distance, got);
    }
  rs_encoding_free(e);
}

/* The sum is B_m: what plain RoPE of that head dim gives to all-one vectors, per pair. */
Test(sandwich, one_head__is_the_mean_cosine_of_rope) {
  rs_model model = plain_model(24, 1e4, 64);
  rs_encoding *e = encode("sandwich", "sandwich_dim=24", &model, 500), *rope = encode("rope", "", &model, 500);
  for (size_t n = 0; n < 500; n += 7)
    cr_assert(close_to(bias_at(e, 0, 499, n), 12 * rs_encoding_mean_cosine(rope, 499, n) / 8, 0, 1e-13), "%zu", n);
  rs_encoding_free(rope);
  rs_encoding_free(e);
}
