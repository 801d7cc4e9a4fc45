/* Keys turned as when they came, and the ids of V2PE. Expected values are made here from the papers' formulas. */
#include "../golden.h"

/* Token n entered the cache when the context had max(prompt, n + 1) tokens: an encoding of that length tells how it was
 * turned and multiplied. */
static void check_cached(const char *method, const char *settings, const rs_model *model, size_t prompt,
                         size_t length) {
  rs_text words = {0};
  rs_text_printf(&words, "%s cached_keys=%zu", settings, prompt);
  rs_encoding *cached = encode(method, rs_text_string(&words), model, length);
  double x[8] = {1, 0.5, -2, 1, 0.25, 3, -1, 1}, got[8], expected[8];
  for (size_t n = 0; n < length; n++) {
    size_t came = n + 1 > prompt ? n + 1 : prompt < length ? prompt : length;
    rs_encoding *then = encode(method, settings, model, came);
    for (int side = RS_QUERY_SIDE; side <= RS_KEY_SIDE; side++) {
      rs_encoding_rotate_token(cached, (rs_side)side, 0, n, x, got);
      rs_encoding_rotate_token(then, (rs_side)side, 0, n, x, expected);
      for (size_t d = 0; d < 8; d++)
        cr_assert(close_to(got[d], expected[d], 1e-12, 1e-12), "%s %s token %zu dim %zu: got %.17g, expected %.17g",
                  method, rs_text_string(&words), n, d, got[d], expected[d]);
    }
    cr_assert(close_to(cached->logit_scale[n], then->logit_scale[n], 1e-15, 0), "%s token %zu", method, n);
    rs_encoding_free(then);
  }
  rs_encoding_free(cached);
  rs_text_clear(&words);
}

Test(frequencies, cached_keys__length_dependent_methods__are_turned_as_when_they_came) {
  rs_model model = plain_model(8, 100, 8);
  static const char *const cases[][2] = {
      {"dynamic_ntk", "factor=2"},
      {"yarn", "scale=dynamic"},
      {"yarn", "scale=dynamic temperature=logits"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,2,3,4"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,2,3,4 short_mscale=1.5 long_mscale=2"},
      {"rope", ""},
      {"pi", "scale=dynamic wavelengths=whole"}};
  for (size_t c = 0; c < RS_COUNT(cases); c++)
    for (size_t prompt = 1; prompt <= 25; prompt += c == 3 ? 1 : 6)
      check_cached(cases[c][0], cases[c][1], &model, prompt, 20);
}

/* A prompt as long as the context leaves nothing to age: every method, and every dialect of it. */
static void check_unaged(const rs_method *method, const char *dialect) {
  enum { LENGTH = 24 };
  rs_model model = plain_model(8, 100, 16);
  double x[8] = {1, 0.5, -2, 1, 0.25, 3, -1, 1}, got[8], expected[8];
  rs_encoding *encodings[2];
  for (int aged = 0; aged < 2; aged++) {
    rs_recipe recipe = make_recipe(method->name, aged ? "cached_keys=24" : "");
    if (rs_settings_find(&recipe.settings, "short_factor") >= 0) recipe_set_word(&recipe, "short_factor", "1,1,1,1");
    if (rs_settings_find(&recipe.settings, "long_factor") >= 0) recipe_set_word(&recipe, "long_factor", "1,2,3,4");
    if (rs_settings_find(&recipe.settings, "inv_freq") >= 0) recipe_set_word(&recipe, "inv_freq", "1,.5,.2,0");
    if (rs_settings_find(&recipe.settings, "freq_x") >= 0) recipe_set_word(&recipe, "freq_x", "1,.5,.2,0");
    if (rs_settings_find(&recipe.settings, "freq_y") >= 0) recipe_set_word(&recipe, "freq_y", "1,.25,0,0");
    if (*dialect != '\0') recipe_set_word(&recipe, "dialect", dialect);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK, "%s %s", method->name, dialect);
    rs_err err = {0};
    rs_status status = rs_encoding_create(&recipe, &model, LENGTH, NULL, NULL, &encodings[aged], &err);
    bool refuses = strcmp(dialect, "gpt_oss") == 0; /* so short a ladder has no ramp within the pairs */
    cr_assert(status == RS_OK || refuses, "%s %s: %s", method->name, dialect, err.message);
    rs_recipe_clear(&recipe);
  }
  for (size_t n = 0; n < LENGTH && encodings[0] != NULL; n++)
    for (int side = RS_QUERY_SIDE; side <= RS_KEY_SIDE; side++) {
      rs_encoding_rotate_token(encodings[0], (rs_side)side, 0, n, x, expected);
      rs_encoding_rotate_token(encodings[1], (rs_side)side, 0, n, x, got);
      for (size_t d = 0; d < 8; d++)
        cr_assert(close_to(got[d], expected[d], 1e-12, 1e-12), "%s %s token %zu dim %zu: got %.17g, expected %.17g",
                  method->name, dialect, n, d, got[d], expected[d]);
      cr_assert_eq(encodings[0]->logit_scale[n], encodings[1]->logit_scale[n]);
    }
  rs_encoding_free(encodings[1]);
  rs_encoding_free(encodings[0]);
}

Test(frequencies, cached_keys__whole_prompt__changes_nothing) {
  size_t count, rows;
  const rs_method *methods = rs_methods(&count);
  const rs_dialect *dialects = rs_dialects(&rows);
  for (size_t m = 0; m < count; m++) {
    if (methods[m].freq == NULL || methods[m].pos->views > 1) continue;
    check_unaged(&methods[m], "");
    for (size_t d = 0; d < rows; d++)
      if (rs_dialect_fits(&dialects[d], &methods[m])) check_unaged(&methods[m], dialects[d].name);
  }
}

/* The places of patches are no token numbers: maps that cut by token, and gains, are for text. */
Test(frequencies, vision_ids_on_one_axis__beside_maps_for_text__are_unsupported) {
  static const char *const methods[] = {"self_extend", "rerope", "dual_chunk", "string", "random_rope", "xpos"};
  rs_model model = plain_model(8, 1e4, 64);
  rs_token_run run = {RS_IMAGE, 12, 1, 3, 4, 1, 1};
  rs_token_layout layout = {.runs = &run, .count = 1};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_recipe recipe = make_recipe(methods[i], "vision_ids=v2pe");
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_encoding_create(&recipe, &model, 20, &layout, NULL, &encoding, &err), RS_UNSUPPORTED, "%s",
                 methods[i]);
    cr_assert_eq(rs_encoding_create(&recipe, &model, 20, NULL, NULL, &encoding, &err), RS_OK, "%s on text", methods[i]);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

/* One axis is V2PE's own, whatever sections a model has. */
Test(frequencies, v2pe__model_with_sections__has_one_axis) {
  rs_model model = plain_model(16, 1e4, 64);
  model.mrope_section[0] = 2;
  model.mrope_section[1] = model.mrope_section[2] = 3;
  for (int resolved = 0; resolved < 2; resolved++) {
    rs_recipe recipe = make_recipe("v2pe", ""), sections = make_recipe("mrope", "");
    if (resolved) cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    if (resolved) cr_assert_eq(rs_recipe_resolve(&sections, &model, NULL), RS_OK);
    rs_encoding *encoding = encode_recipe(&recipe, &model, 8, NULL), *mrope = encode_recipe(&sections, &model, 8, NULL);
    cr_assert(encoding->axes == 1 && !encoding->sections && mrope->axes == 3 && mrope->sections, "resolved %d",
              resolved);
    cr_assert(mrope->axis[1] == 0 && mrope->axis[2] == 1 && mrope->axis[5] == 2, "the model's own, not thirds");
    cr_assert_eq(rs_setting(&sections.settings, "mrope_section")->count, resolved ? 3u : 0u);
    rs_encoding_free(mrope);
    rs_encoding_free(encoding);
    rs_recipe_clear(&sections);
    rs_recipe_clear(&recipe);
  }
}

/* 300 steps of 0.07 are 21 ids, though the product is a hair more. */
Test(frequencies, v2pe__steps_that_ought_to_be_whole__are) {
  rs_token_run run = {RS_IMAGE, 300, 1, 15, 20, 1, 1};
  rs_token_layout layout = {.runs = &run, .count = 1};
  double ids[301][RS_AXES];
  cr_assert_eq(rs_token_positions(&layout, &(rs_id_rule){.scheme = RS_IDS_V2PE, .step = 0.07}, 301, ids[0], NULL, NULL),
               RS_OK);
  cr_assert_eq(ids[300][0], 21, "%.17g", ids[300][0]);
}

Test(frequencies, settings_without_effect__are_refused) {
  static const char *const cases[][3] = {{"pi", "factor=2 interpolate=positions cached_keys=4", "cached_keys"},
                                         {"pi", "factor=2 interpolate=positions wavelengths=whole", "wavelengths"},
                                         {"rope", "vision_step=2", "vision_step"},
                                         {"mrope", "vision_ids=videorope id_arithmetic=f64", "id_arithmetic"},
                                         {"explicit", "inv_freq=1,1,1,1 rope_theta=5", "rope_theta"},
                                         {"axial", "mrope_section=0,2,2", "mrope_section"}};
  rs_model model = plain_model(8, 1e4, 64);
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe(cases[c][0], cases[c][1]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s %s", cases[c][0], cases[c][1]);
    cr_assert(strcmp(err.subject, cases[c][2]) == 0 && strncmp(err.message, "has no effect with", 18) == 0, "%s: %s",
              err.subject, err.message);
    rs_recipe_clear(&recipe);
  }
}

Test(frequencies, cached_keys__longrope_switch__near_keys_no_longer_fit) {
  rs_model model = plain_model(8, 100, 8);
  const char *lists = "short_factor=1,1,1,1 long_factor=4,4,4,4 attention_factor=1";
  rs_text words = {0};
  rs_text_printf(&words, "%s cached_keys=1", lists);
  rs_encoding *consistent = encode("longrope", lists, &model, 9),
              *cached = encode("longrope", rs_text_string(&words), &model, 9);
  double same = rs_encoding_mean_cosine(consistent, 8, 7), mixed = rs_encoding_mean_cosine(cached, 8, 7), expected = 0;
  for (size_t j = 0; j < 4; j++) expected += cos((8.0 / 4 - 7) * pow(100, -(double)j / 4)) / 4;
  cr_assert(close_to(mixed, expected, 1e-13, 0), "%.17g, expected %.17g", mixed, expected);
  cr_assert(same > 0.99 && mixed < 0.6, "%g %g", same, mixed);
  rs_encoding_free(cached);
  rs_encoding_free(consistent);
  rs_text_clear(&words);
}

Test(frequencies, cached_keys__several_views__are_unsupported) {
  rs_model model = plain_model(8, 100, 8);
  rs_recipe recipe = make_recipe("self_extend", "cached_keys=4");
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_encoding_create(&recipe, &model, 20, NULL, NULL, &encoding, &err), RS_UNSUPPORTED);
  cr_assert_str_eq(err.message, "cached_keys is defined for one view of the positions, self_extend has 2");
  rs_recipe_clear(&recipe);
}
