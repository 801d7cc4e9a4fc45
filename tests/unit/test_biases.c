/* Biases and logit scales: each against its formula told anew (biases.h), against numbers worked out by hand or read in
 * the field's code, and what is said of values that cannot be. Tables of the field's own are the golden suite's matter.
 */
#include "../biases.h"
#include "../golden.h"

enum { LENGTH = 40, HEADS = 6 };

static rs_model test_model(size_t heads) {
  rs_model model = plain_model(16, 1e4, 64);
  model.heads = heads;
  return model;
}

static double bias_at(const rs_encoding *encoding, size_t head, size_t query, size_t key) {
  double bias;
  encoding->method->bias->row(encoding, head, query, key, key + 1, &bias);
  return bias;
}

static rs_token_run vision_run(rs_modality modality, size_t frames, size_t rows, size_t columns) {
  return (rs_token_run){.modality = modality,
                        .tokens = frames * rows * columns,
                        .frames = frames,
                        .rows = rows,
                        .columns = columns,
                        .seconds_per_frame = 1,
                        .ids_per_second = 1};
}

/* As `encode`, on two pictures of different shape, text between and after them, and a video of two frames. */
static rs_encoding *encode_mixed(const char *method, const char *settings, const rs_model *model, size_t length) {
  rs_token_run runs[] = {vision_run(RS_IMAGE, 1, 2, 4),
                         {.modality = RS_TEXT, .tokens = 3},
                         vision_run(RS_IMAGE, 1, 3, 2),
                         vision_run(RS_VIDEO, 2, 2, 2)};
  rs_token_layout layout = {runs, RS_COUNT(runs)};
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding = encode_recipe(&recipe, model, length, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* ---- every bias against its formula ------------------------------------------------------------------------------ */

static const char *const recipes[][2] = {
    {"alibi", ""},
    {"alibi", "bias_max=3 slope_factor=0.3"},
    {"alibi", "bias_form=position slope_factor=inv_sqrt_dim"},
    {"alibi", "bias_form=end"},
    {"alibi", "bias_form=position slope_format=bf16 bias_format=bf16 slope_factor=inv_sqrt_dim"},
    {"alibi", "slope_format=f16"},
    {"alibi", "bias_format=bf16 slope_factor=0.3"},
    {"alibi", "bias_format=f32"},
    {"t5", ""},
    {"t5", "bidirectional=true"},
    {"t5", "num_buckets=8 max_distance=20"},
    {"t5", "num_buckets=2 max_distance=4 init_sd=1"},
    {"relative", ""},
    {"relative", "clip=1"},
    {"relative", "clip=100"},
    {"swin", ""},
    {"kerple_log", ""},
    {"kerple_power", ""},
    {"fire", ""},
    {"fire", "threshold=5 c=0.7 mlp_width=3"},
    {"sandwich", ""},
    {"sandwich", "sandwich_dim=2"},
    {"sandwich", "sandwich_dim=18"},
};

/* All heads, queries and keys, also those after the query; and the same in any part of a row. */
static void check_rows(const rs_encoding *e, const char *settings) {
  double whole[LENGTH], part[LENGTH];
  for (size_t head = 0; head < e->heads; head++)
    for (size_t m = 0; m < LENGTH; m++) {
      e->method->bias->row(e, head, m, 0, LENGTH, whole);
      for (size_t n = 0; n < LENGTH; n++) {
        double expected = (double)expected_bias(e, head, m, n);
        cr_assert(close_to(whole[n], expected, 1e-13, 1e-13), "%s %s head %zu (%zu, %zu): got %.17g, expected %.17g",
                  e->method->name, settings, head, m, n, whole[n], expected);
      }
      e->method->bias->row(e, head, m, 7, 31, part);
      cr_assert_eq(memcmp(part, whole + 7, 24 * sizeof *part), 0, "%s %s (%zu, 7...30)", e->method->name, settings, m);
      part[0] = 77;
      e->method->bias->row(e, head, m, 9, 9, part);
      cr_assert_eq(part[0], 77, "%s writes an empty row", e->method->name);
    }
}

Test(biases, every_kind__any_query_and_key__is_the_formula) {
  rs_model model = test_model(HEADS);
  size_t count, checked = 0, methods;
  const rs_method *all = rs_methods(&methods);
  for (size_t i = 0; i < RS_COUNT(recipes); i++) {
    rs_encoding *encoding = encode_mixed(recipes[i][0], recipes[i][1], &model, LENGTH);
    check_rows(encoding, recipes[i][1]);
    rs_encoding_free(encoding);
  }
  rs_bias_kinds(&count);
  for (size_t i = 0; i < methods; i++) {
    bool known = false;
    for (size_t r = 0; r < RS_COUNT(recipes); r++) known |= strcmp(recipes[r][0], all[i].name) == 0;
    cr_assert_eq(known, all[i].bias != NULL, "%s", all[i].name);
    checked += known;
  }
  cr_assert_eq(checked, count);
}

/* What the bidirectional mask relies on: these depend on the distance, whichever side. FIRE's does once the query is
 * below the threshold. */
Test(biases, symmetric_kinds__keys_after_the_query__are_as_those_before) {
  static const char *const symmetric[][2] = {{"alibi", ""},          {"kerple_log", ""},
                                             {"kerple_power", ""},   {"sandwich", ""},
                                             {"fire", ""},           {"alibi", "bias_form=distance"},
                                             {"relative", "clip=4"}, {"t5", "bidirectional=true"}};
  rs_model model = test_model(3);
  for (size_t i = 0; i < RS_COUNT(symmetric); i++) {
    rs_encoding *e = encode(symmetric[i][0], symmetric[i][1], &model, LENGTH);
    size_t differ = 0;
    for (size_t m = 0; m < LENGTH; m++)
      for (size_t n = 0; n < m; n++) differ += bias_at(e, 2, m, n) != bias_at(e, 2, n, m);
    bool sided = i >= 6; /* a learned table has both sides */
    cr_assert_eq(differ == 0, !sided, "%s: %zu pairs differ", symmetric[i][0], differ);
    rs_encoding_free(e);
  }
}

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
  cr_assert_eq(e->bias_size, 5u * 7, "the largest grid is 3 x 4");
  for (size_t head = 0; head < 2; head++) {
    const double *table = e->bias_table + head * 35;
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
  recipe = make_recipe("kerple_power", "");
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
  rs_recipe recipe = make_recipe("kerple_power", "");
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

/* ---- drawn tables ------------------------------------------------------------------------------------------------ */

static void mean_and_sd(const double *numbers, size_t count, double *mean, double *sd) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[i];
  *mean = sum / (double)count;
  for (size_t i = 0; i < count; i++) squares += (numbers[i] - *mean) * (numbers[i] - *mean);
  *sd = sqrt(squares / (double)count);
}

Test(drawn, learned_tables__have_the_spread_asked_for) {
  static const struct {
    const char *method, *settings;
    double sd;
  } cases[] = {{"t5", "num_buckets=4000 max_distance=9000", 0.03125}, /* 1/sqrt(64 * 16) */
               {"t5", "num_buckets=4000 max_distance=9000 init_sd=2", 2},
               {"relative", "clip=2000", 0.02},
               {"relative", "clip=2000 init_sd=inv_sqrt_width", 0.03125},
               {"relative", "clip=2000 init_sd=0", 0}};
  rs_model model = test_model(64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *e = encode(cases[i].method, cases[i].settings, &model, 8);
    double mean, sd;
    mean_and_sd(e->bias_table, 64 * e->bias_size, &mean, &sd);
    cr_assert(close_to(sd, cases[i].sd, 0.01, 0), "%s %s: sd %g", cases[i].method, cases[i].settings, sd);
    cr_assert(close_to(mean, 0, 0, 0.01 * sd), "mean %g", mean);
    rs_encoding_free(e);
  }
}

/* Uniform over the ranges of the authors' initialisation: 2 U and U, clamped at 0.01 (p also at 2). */
Test(drawn, kerple__numbers__are_uniform_in_their_ranges) {
  enum { MANY = 4000 };
  static const char *const methods[] = {"kerple_log", "kerple_power"};
  rs_model model = test_model(MANY);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *e = encode(methods[i], "table_seed=3", &model, 4);
    size_t clamped = 0;
    for (size_t column = 0; column < 2; column++) {
      static double numbers[MANY];
      double mean, sd, span = (column == 0) == (i == 0) ? 2 : 1, least = 9, most = 0; /* r1, r2; a, p */
      for (size_t h = 0; h < MANY; h++) {
        numbers[h] = e->bias_table[2 * h + column];
        least = fmin(least, numbers[h]);
        most = fmax(most, numbers[h]);
        clamped += numbers[h] == 0.01;
      }
      mean_and_sd(numbers, MANY, &mean, &sd);
      cr_assert(close_to(mean, span / 2, 0.03, 0) && close_to(sd, span / sqrt(12), 0.03, 0), "%s column %zu: %g +- %g",
                methods[i], column, mean, sd);
      cr_assert(least == 0.01 && most < span && most > 0.99 * span, "%s column %zu: %g to %g", methods[i], column,
                least, most);
    }
    cr_assert(clamped > 20 && clamped < 120, "%zu", clamped);
    rs_encoding_free(e);
  }
}

/* torch's linear layers: within 1/sqrt(inputs), 1 input and 32 units. Heads share the first layer only. */
Test(drawn, fire__weights__are_those_of_torch_layers) {
  enum { MANY = 100 };
  rs_model model = test_model(MANY);
  rs_encoding *e = encode("fire", "", &model, 4);
  double second[MANY * 32], mean, sd, most[2] = {0}, second_most = 0;
  for (size_t h = 0; h < MANY; h++) {
    const double *of_head = e->bias_table + 97 * h;
    cr_assert_eq(memcmp(of_head, e->bias_table, 64 * sizeof(double)), 0, "head %zu", h);
    memcpy(second + 32 * h, of_head + 64, 32 * sizeof(double));
    cr_assert_leq(fabs(of_head[96]), sqrt(1 / 32.0));
  }
  for (size_t k = 0; k < 64; k++) most[k / 32] = fmax(most[k / 32], fabs(e->bias_table[k]));
  for (size_t k = 0; k < MANY * 32; k++) second_most = fmax(second_most, fabs(second[k]));
  mean_and_sd(second, MANY * 32, &mean, &sd);
  cr_assert(most[0] > 0.9 && most[0] < 1 && most[1] > 0.9 && most[1] < 1, "w1 to %g, b1 to %g", most[0], most[1]);
  cr_assert(second_most > 0.99 * sqrt(1 / 32.0) && second_most < sqrt(1 / 32.0), "%g", second_most);
  cr_assert(close_to(sd, sqrt(1 / 96.0), 0.03, 0) && fabs(mean) < 0.01, "%g +- %g", mean, sd);
  rs_encoding_free(e);
}

/* The same seed gives the same numbers at any length; another seed, and another head, others. */
Test(drawn, every_drawn_bias__depends_on_seed_and_head_alone) {
  static const char *const methods[] = {"t5", "relative", "swin", "kerple_log", "kerple_power", "fire"};
  rs_model model = test_model(3);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *e = encode_mixed(methods[i], "", &model, 30), *longer = encode_mixed(methods[i], "", &model, LENGTH);
    rs_encoding *other = encode_mixed(methods[i], "table_seed=1", &model, 30);
    size_t bytes = 3 * e->bias_size * sizeof(double);
    cr_assert_eq(memcmp(e->bias_table, longer->bias_table, bytes), 0, "%s", methods[i]);
    for (size_t k = 0; k < 3 * e->bias_size; k++)
      cr_assert_neq(e->bias_table[k], other->bias_table[k], "%s %zu", methods[i], k);
    for (size_t h = 1; h < 3; h++)
      cr_assert_neq(e->bias_table[h * e->bias_size + e->bias_size - 1], e->bias_table[e->bias_size - 1], "%s",
                    methods[i]);
    rs_encoding_free(other);
    rs_encoding_free(longer);
    rs_encoding_free(e);
  }
}

/* ---- values that cannot be --------------------------------------------------------------------------------------- */

Test(biases, contradictions__name_the_parameter) {
  static const struct {
    const char *method, *settings, *subject, *message;
  } cases[] = {
      {"t5", "num_buckets=3 bidirectional=true", "num_buckets", "must be at least 4 where bidirectional"},
      {"t5", "max_distance=16", "max_distance", "must exceed 16: shorter distances have a bucket each"},
      {"t5", "max_distance=8 bidirectional=true", "max_distance",
       "must exceed 8: shorter distances have a bucket each"},
      {"t5", "values=1,2,3", "values", "has 3 numbers, but 2 heads need 32 each"},
      {"relative", "clip=1 values=1,2,3", "values", "has 3 numbers, but 2 heads need 3 each"},
      {"relative", "clip=1 values=1,2,3,4,5,6 table_seed=1", "table_seed",
       "has no effect with values (leave one of them out)"},
      {"relative", "clip=1 values=1,2,3,4,5,6 init_sd=1", "init_sd",
       "has no effect with values (leave one of them out)"},
      {"swin", "values=1,2 init_sd=1", "init_sd", "has no effect with values (leave one of them out)"},
      {"kerple_log", "r1=1", "r1", "has 1 number, but 2 heads need 1 each"},
      {"kerple_log", "r2=1,2,3", "r2", "has 3 numbers, but 2 heads need 1 each"},
      {"kerple_log", "r1=1,1 r2=1,2 table_seed=3", "table_seed",
       "has no effect with r1 and r2 (leave one of them out)"},
      {"kerple_power", "a=1", "a", "has 1 number, but 2 heads need 1 each"},
      {"kerple_power", "p=1", "p", "has 1 number, but 2 heads need 1 each"},
      {"kerple_power", "a=1,1 p=1,2 table_seed=3", "table_seed", "has no effect with a and p (leave one of them out)"},
      {"fire", "mlp_width=2 weights=1,2", "weights", "has 2 numbers, but w1, b1 (2 each), w2 (2 x 2) and b2 are 10"},
      {"fire", "mlp_width=1 weights=1,2,3,4,5,6 table_seed=0", "table_seed",
       "has no effect with weights (leave one of them out)"},
      {"sandwich", "sandwich_dim=3", "sandwich_dim", "must be even"},
      {"rope", "logit_scale_factor=1", "logit_scale_factor",
       "has no effect with logit_scale: none (leave one of them out)"},
      {"nope", "logit_scale_length=9", "logit_scale_length",
       "has no effect with logit_scale: none (leave one of them out)"},
      {"rope", "logit_scale=log_n logit_scale_factor=1", "logit_scale_factor",
       "has no effect with logit_scale: log_n (leave one of them out)"},
      {"rope", "logit_scale=ssmax logit_scale_factor=1 logit_scale_length=4", "logit_scale_length",
       "has no effect with logit_scale_factor (leave one of them out)"},
      {"rope", "logit_scale=entropy_invariant logit_scale_factor=1 logit_scale_length=4", "logit_scale_length",
       "has no effect with logit_scale_factor (leave one of them out)"},
  };
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s %s was accepted", cases[i].method,
                 cases[i].settings);
    cr_assert_str_eq(err.subject, cases[i].subject, "%s %s: %s", cases[i].method, cases[i].settings, err.subject);
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].method, cases[i].settings, err.message);
    rs_recipe_clear(&recipe);
  }
}

Test(biases, edges_that_are_allowed__pass) {
  static const char *const cases[][2] = {{"t5", "num_buckets=2 max_distance=2"},
                                         {"t5", "num_buckets=4 max_distance=2 bidirectional=true"},
                                         {"t5", "num_buckets=2 max_distance=2 values=1,2,3,4"},
                                         {"kerple_log", "r1=1,1 table_seed=3"}, /* r2 is drawn */
                                         {"kerple_power", "p=1,1 table_seed=3"},
                                         {"fire", "mlp_width=1 weights=1,2,3,4,5,6"},
                                         {"rope", "logit_scale=llama4 logit_scale_factor=1 logit_scale_length=4"},
                                         {"rope", "logit_scale=ministral logit_scale_factor=0 logit_scale_length=1"},
                                         {"rope", "logit_scale=log_n logit_scale_length=2"}};
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) rs_encoding_free(encode(cases[i][0], cases[i][1], &model, 8));
}

Test(biases, undefined_recipes__say_why) {
  static const struct {
    const char *method, *settings;
    size_t length;
    bool pictures;
    rs_status status;
    const char *subject, *message;
  } cases[] = {
      {"swin", "", 8, false, RS_DOMAIN, "", "swin needs an image or a video (tokens: [{image: [16, 24]}])"},
      {"swin", "", 3, true, RS_DOMAIN, "", "the token layout has 4 tokens, the length is only 3"},
      {"swin", "values=1,2", 8, true, RS_DOMAIN, "", "swin: values has 2 numbers, but 2 heads need 9 each"},
      {"rope", "logit_scale=ssmax train_length=1", 8, false, RS_DOMAIN, "",
       "ssmax divides by the ln of train_length, which must exceed 1"},
      {"rope", "logit_scale=entropy_invariant logit_scale_length=1", 8, false, RS_DOMAIN, "",
       "entropy_invariant divides by the ln of logit_scale_length, which must exceed 1"},
      {"rope", "logit_scale=log_n logit_scale_length=1", 8, false, RS_DOMAIN, "",
       "log_n divides by the ln of logit_scale_length, which must exceed 1"},
  };
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_token_run run = vision_run(RS_IMAGE, 1, 2, 2);
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_encoding_create(&recipe, &model, cases[i].length, &(rs_token_layout){&run, cases[i].pictures}, NULL,
                                    &encoding, &err),
                 cases[i].status, "case %zu: %s", i, err.message);
    cr_assert_str_eq(err.message, cases[i].message, "%s", err.message);
    cr_assert_str_eq(err.subject, cases[i].subject);
    cr_assert_null(encoding);
    rs_recipe_clear(&recipe);
  }
  rs_token_run text = {.modality = RS_TEXT, .tokens = 4};
  rs_recipe recipe = make_recipe("swin", "");
  rs_encoding *encoding;
  cr_assert_eq(rs_encoding_create(&recipe, &model, 8, &(rs_token_layout){&text, 1}, NULL, &encoding, NULL), RS_DOMAIN,
               "text alone is no picture");
  rs_recipe_clear(&recipe);
}

/* ---- logit scales ------------------------------------------------------------------------------------------------ */

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
  static const char *const words[] = {"log_n", "ssmax", "llama4", "ministral", "entropy_invariant"};
  rs_model model = test_model(1);
  model.train_length = 16;
  size_t count;
  rs_lscale_kinds(&count);
  cr_assert_eq(count, RS_COUNT(words));
  for (size_t i = 0; i < count; i++) {
    char settings[128];
    snprintf(settings, sizeof settings, "logit_scale=%s", words[i]);
    rs_encoding *alone = encode("nope", settings, &model, 100);
    cr_assert_str_eq(rs_lscale_chosen(&alone->settings)->kind.name, words[i]);
    snprintf(settings, sizeof settings, "logit_scale=%s factor=4 temperature=logits", words[i]);
    rs_encoding *both = encode("yarn", settings, &model, 100),
                *log_n = encode("nope", "logit_scale=log_n", &model, 100);
    double own = pow(0.1 * log(4) + 1, 2);
    for (size_t m = 0; m < 100; m++) {
      cr_assert(close_to(both->logit_scale[m], own * alone->logit_scale[m], 1e-14, 0), "%s query %zu", words[i], m);
      if (i == 4 && m >= 15) cr_assert(close_to(alone->logit_scale[m], log_n->logit_scale[m], 1e-14, 0), "%zu", m);
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
    double factor = rs_setting_number(&recipe.settings, "logit_scale_factor");
    double length = rs_setting_number(&recipe.settings, "logit_scale_length");
    cr_assert(isnan(cases[i].factor) ? isnan(factor) : factor == cases[i].factor, "%s: %g", cases[i].settings, factor);
    cr_assert(isnan(cases[i].length) ? isnan(length) : length == cases[i].length, "%s: %g", cases[i].settings, length);
    rs_recipe_clear(&recipe);
  }
  rs_recipe_clear(&model.published);
}
