/* Frequency kinds beyond the golden tables, and what can be done to any of them: gains, mixed axes, whole wavelengths,
 * cached keys, running products, dialects. Expected values are made here from the papers' formulas. */
#include "../golden.h"

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static void check_ladder(const rs_encoding *encoding, double theta, const char *what) {
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double expected = exp(-2 * (double)j / (double)encoding->rotary_dim * log(theta)), got = encoding->omega[j];
    cr_assert(close_to(got, expected, 1e-13, 0), "%s pair %zu: got %.17g, expected %.17g", what, j, got, expected);
  }
}

/* First distance at which sum_j cos(distance * omega_j) is negative. */
static size_t first_negative(const rs_encoding *encoding) {
  for (size_t m = 1; m < 1 << 16; m++) {
    double sum = 0;
    for (size_t j = 0; j < encoding->rotary_dim / 2; j++) sum += cos((double)m * encoding->omega[j]);
    if (sum < 0) return m;
  }
  return 0;
}

/* Liu et al.: 2 ceil(R/2 log_10000(L0 / 2 pi)) critical dims; the base keeps their continuous number. Its kernel first
 * turns negative at 9937 tokens for L0 = 4096 and s = 8 (a published comparison of extension methods). */
Test(frequencies, critical_base__llama2_times_8__base_and_first_violation) {
  rs_model model = plain_model(128, 1e4, 4096);
  rs_encoding *encoding = encode("critical_base", "factor=8", &model, 4096), *same, *by_length;
  double dims = log(4096 / (2 * M_PI)) / log(1e4), base = pow(32768 / (2 * M_PI), 1 / dims);
  cr_assert(close_to(base, 192144.5, 1e-6, 0), "%.9g", base);
  check_ladder(encoding, base, "critical_base");
  cr_assert_eq(first_negative(encoding), 9937u, "%zu", first_negative(encoding));
  same = encode("critical_base", "factor=1", &model, 4096);
  check_ladder(same, 1e4, "factor 1");
  by_length = encode("critical_base", "scale=dynamic", &model, 32768);
  check_ladder(by_length, base, "scale dynamic");
  rs_encoding *shorter = encode("critical_base", "", &model, 100);
  check_ladder(shorter, 1e4, "within L0");
  rs_encoding_free(shorter);
  rs_encoding_free(by_length);
  rs_encoding_free(same);
  rs_encoding_free(encoding);
}

Test(frequencies, abf_and_p_rope__defaults__are_the_papers) {
  rs_model model = plain_model(16, 1e4, 64);
  rs_encoding *abf = encode("abf", "", &model, 8), *p_rope = encode("p_rope", "", &model, 8);
  check_ladder(abf, 5e5, "abf");
  cr_assert(close_to(abf->omega_trained[1], pow(1e4, -0.125), 1e-14, 0), "what was trained is the model's base");
  for (size_t j = 0; j < 8; j++) {
    double expected = j < 6 ? pow(1e4, -2 * (double)j / 16) : 0;
    cr_assert(close_to(p_rope->omega[j], expected, 1e-14, 0), "p_rope pair %zu: %g", j, p_rope->omega[j]);
  }
  rs_encoding_free(p_rope);
  rs_encoding_free(abf);
}

Test(frequencies, deepseek_and_dynamic_yarn__defaults__are_yarn_with_them) {
  rs_model model = plain_model(64, 1e4, 64);
  double g = 0.1 * log(4) + 1;
  rs_encoding *deepseek = encode("deepseek_yarn", "factor=4", &model, 8), *yarn = encode("yarn", "factor=4", &model, 8);
  rs_encoding *dynamic = encode("dynamic_yarn", "", &model, 256), *within = encode("dynamic_yarn", "", &model, 32);
  cr_assert(deepseek->amp == 1 && close_to(deepseek->logit_scale[7], g * g, 1e-15, 0), "%g %g", deepseek->amp,
            deepseek->logit_scale[7]);
  cr_assert(close_to(dynamic->amp, g, 1e-15, 0) && within->amp == 1);
  cr_assert_arr_eq(deepseek->omega, yarn->omega, 32 * sizeof(double));
  cr_assert_arr_eq(dynamic->omega, yarn->omega, 32 * sizeof(double));
  check_ladder(within, 1e4, "dynamic_yarn within L0");
  rs_encoding_free(within);
  rs_encoding_free(dynamic);
  rs_encoding_free(yarn);
  rs_encoding_free(deepseek);
}

Test(frequencies, dynamic_pi__long_and_short__divides_beyond_training_only) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *far = encode("dynamic_pi", "", &model, 192), *near = encode("dynamic_pi", "", &model, 32);
  check_ladder(near, 1e4, "near");
  for (size_t j = 0; j < 4; j++) cr_assert(close_to(far->omega[j], near->omega[j] / 3, 1e-15, 0), "pair %zu", j);
  rs_encoding_free(near);
  rs_encoding_free(far);
}

Test(frequencies, longrope__switch_length__tells_short_from_long) {
  rs_model model = plain_model(4, 100, 8);
  static const struct {
    const char *settings;
    size_t length;
    double divisor;
  } cases[] = {
      {"", 8, 2}, {"", 9, 4}, {"switch_length=0", 1, 4}, {"switch_length=20", 20, 2}, {"switch_length=20", 21, 4}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text words = {0};
    rs_text_printf(&words, "short_factor=2,2 long_factor=4,4 %s", cases[c].settings);
    rs_encoding *encoding = encode("longrope", rs_text_string(&words), &model, cases[c].length);
    cr_assert_eq(encoding->omega[0], 1 / cases[c].divisor, "case %zu: %g", c, encoding->omega[0]);
    rs_encoding_free(encoding);
    rs_text_clear(&words);
  }
}

/* ---- whole wavelengths ------------------------------------------------------------------------------------------- */

Test(frequencies, resonance__every_pair__turns_full_circle_in_whole_tokens) {
  rs_model model = plain_model(32, 1e4, 4096);
  static const char *const cases[][3] = {
      {"resonance", "", "rope"}, {"resonance_yarn", "factor=8", "yarn"}, {"pi", "factor=3 wavelengths=whole", "pi"}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_encoding *whole = encode(cases[c][0], cases[c][1], &model, 8);
    rs_encoding *exact = encode(cases[c][2], c == 1 ? "factor=8" : c == 2 ? "factor=3" : "", &model, 8);
    for (size_t j = 0; j < 16; j++) {
      double tokens = 2 * M_PI / whole->omega[j], before = 2 * M_PI / exact->omega[j];
      cr_assert(fabs(tokens - round(tokens)) < 1e-9 * tokens, "%s pair %zu: %.17g tokens", cases[c][0], j, tokens);
      cr_assert(fabs(tokens - before) <= 0.5 + 1e-9, "%s pair %zu: %g became %g", cases[c][0], j, before, tokens);
    }
    rs_encoding_free(exact);
    rs_encoding_free(whole);
  }
  rs_encoding *fast = encode("rope_mixed", "wavelengths=whole freq_x=20,1 freq_y=0,0 rotary_dim=4", &model, 8);
  cr_assert(close_to(fast->omega[0], 2 * M_PI, 1e-15, 0), "a wavelength below half a token becomes one: %g",
            fast->omega[0]);
  rs_encoding_free(fast);
  rs_encoding *partial = encode("p_rope", "wavelengths=whole", &model, 8);
  cr_assert_eq(partial->omega[15], 0, "a pair that does not turn has no wavelength to round");
  rs_encoding_free(partial);
}

/* ---- xPos -------------------------------------------------------------------------------------------------------- */

/* Sun et al., eq. 13: q.k = sum_j zeta_j^((m-n)/512) (turned pair), from two rotated vectors. */
Test(frequencies, xpos__query_and_key__score_decays_by_zeta) {
  enum { LENGTH = 300, DIMS = 8 };
  rs_model model = plain_model(DIMS, 1e4, 64);
  rs_encoding *xpos = encode("xpos", "", &model, LENGTH), *rope = encode("rope", "", &model, LENGTH);
  uint64_t state = 5;
  for (size_t turn = 0; turn < 200; turn++) {
    size_t m = draw_size(&state, 0, LENGTH - 1), n = draw_size(&state, 0, m);
    double q[DIMS], k[DIMS], tq[DIMS], tk[DIMS], pq[DIMS], pk[DIMS], got = 0, expected = 0;
    for (size_t d = 0; d < DIMS; d++) {
      q[d] = draw_real(&state, -1, 1);
      k[d] = draw_real(&state, -1, 1);
    }
    rs_encoding_rotate_token(xpos, RS_QUERY_SIDE, 0, m, q, tq);
    rs_encoding_rotate_token(xpos, RS_KEY_SIDE, 0, n, k, tk);
    rs_encoding_rotate_token(rope, RS_QUERY_SIDE, 0, m, q, pq);
    rs_encoding_rotate_token(rope, RS_KEY_SIDE, 0, n, k, pk);
    for (size_t d = 0; d < DIMS; d++) {
      double zeta = ((double)(d % (DIMS / 2)) * 2 / DIMS + 0.4) / 1.4;
      got += tq[d] * tk[d];
      expected += pow(zeta, (double)(m - n) / 512) * pq[d] * pk[d];
    }
    cr_assert(close_to(got, expected, 1e-12, 1e-13), "m %zu n %zu: got %.17g, expected %.17g", m, n, got, expected);
    double c, s, zeta = (0.25 + 0.4) / 1.4, gain = pow(zeta, (double)(m - n) / 512);
    rs_encoding_turn(xpos, m, n, 1, &c, &s);
    cr_assert(close_to(c, gain * cos((double)(m - n) * xpos->omega[1]), 1e-12, 1e-13), "turn of m %zu n %zu", m, n);
    cr_assert(close_to(s, gain * sin((double)(m - n) * xpos->omega[1]), 1e-12, 1e-13), "turn of m %zu n %zu", m, n);
  }
  rs_encoding_free(rope);
  rs_encoding_free(xpos);
}

Test(frequencies, xpos__too_long_for_doubles__is_a_domain_error) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_recipe recipe = make_recipe("xpos", "xpos_scale_base=1");
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_encoding_create(&recipe, &model, 1118, NULL, NULL, &encoding, &err), RS_OK, "%s", err.message);
  rs_encoding_free(encoding);
  cr_assert_eq(rs_encoding_create(&recipe, &model, 1120, NULL, NULL, &encoding, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "xpos: gains at length 1120 leave the range of doubles");
  rs_recipe_clear(&recipe);
}

/* ---- two axes ---------------------------------------------------------------------------------------------------- */

enum { ROWS = 3, COLUMNS = 5, PATCHES = ROWS * COLUMNS };

static rs_encoding *encode_picture(const char *method, const char *settings, const rs_model *model) {
  rs_token_run run = {RS_IMAGE, PATCHES, 1, ROWS, COLUMNS, 1, 1};
  rs_token_layout layout = {&run, 1};
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding = encode_recipe(&recipe, model, PATCHES, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* Heo et al., eq. 7: the even complex pairs turn by the column, the odd ones by the row; in blocks here, as in the
 * authors' code. */
Test(frequencies, axial__patches__half_the_pairs_by_column_half_by_row) {
  static const struct {
    const char *settings;
    bool row_first;
    double theta;
  } cases[] = {{"", false, 100}, {"axis_order=hw rope_theta=10000 pair_layout=half_split", true, 10000}};
  rs_model model = plain_model(16, 1e4, 64);
  model.mrope_section[0] = 2; /* of the language model; a vision tower does not read it */
  model.mrope_section[1] = model.mrope_section[2] = 3;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_encoding *encoding = encode_picture("axial", cases[c].settings, &model);
    cr_assert_eq(encoding->pair_layout, c == 0 ? RS_INTERLEAVED : RS_HALF_SPLIT);
    for (size_t j = 0; j < 8; j++) {
      double omega = pow(cases[c].theta, -(double)(j % 4) / 4);
      cr_assert(close_to(encoding->omega[j], omega, 1e-14, 0), "pair %zu: %g", j, encoding->omega[j]);
      cr_assert_eq(encoding->omega_trained[j], encoding->omega[j]);
      for (size_t n = 0; n < PATCHES; n++) {
        bool row = (j < 4) == cases[c].row_first;
        double place = row ? (double)(n / COLUMNS) : (double)(n % COLUMNS);
        double got = encoding->pos_k[0][n * encoding->axes + encoding->axis[j]];
        cr_assert_eq(got, place, "case %zu pair %zu patch %zu: %g", c, j, n, got);
      }
    }
    rs_encoding_free(encoding);
  }
  rs_recipe recipe = make_recipe("axial", "rotary_dim=6");
  rs_err err = {0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "rotary_dim");
  cr_assert_str_eq(err.message, "is 6: row and column share the pairs, so it must be a multiple of 4");
  rs_recipe_clear(&recipe);
}

Test(frequencies, rope_mixed__patches__turn_by_column_and_row_together) {
  static const double fx[] = {1, -0.5, 0, 0.03}, fy[] = {0.2, 0.5, 0, -2};
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *encoding = encode_picture("rope_mixed", "freq_x=1,-0.5,0,0.03 freq_y=0.2,0.5,0,-2", &model);
  double x[8] = {1, 0, 1, 0, 1, 0, 1, 0}, out[8];
  for (size_t n = 0; n < PATCHES; n++) {
    rs_encoding_rotate_token(encoding, RS_KEY_SIDE, 0, n, x, out);
    for (size_t j = 0; j < 4; j++) {
      double angle = (double)(n % COLUMNS) * fx[j] + (double)(n / COLUMNS) * fy[j];
      cr_assert(close_to(out[2 * j], cos(angle), 0, 1e-14) && close_to(out[2 * j + 1], sin(angle), 0, 1e-14),
                "patch %zu pair %zu: %g %g", n, j, out[2 * j], out[2 * j + 1]);
    }
  }
  rs_encoding_free(encoding);
}

Test(frequencies, lists_for_each_pair__missing_or_short__name_the_list) {
  static const char *const cases[][3] = {{"", "freq_x", "is missing: it has one frequency for each pair"},
                                         {"freq_x=1,2,3,4", "freq_y", "is missing: it has one frequency for each pair"},
                                         {"freq_x=1,2,3 freq_y=1,2,3,4", "freq_x", "has 3 numbers, but 4 pairs turn"},
                                         {"freq_x=1,2,3,4 freq_y=1", "freq_y", "has 1 number, but 4 pairs turn"}};
  rs_model model = plain_model(8, 1e4, 64);
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe("rope_mixed", cases[c][0]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s", cases[c][0]);
    cr_assert(strcmp(err.subject, cases[c][1]) == 0 && strcmp(err.message, cases[c][2]) == 0, "%s: %s", err.subject,
              err.message);
    rs_recipe_clear(&recipe);
  }
}

/* ---- cached keys ------------------------------------------------------------------------------------------------- */

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
      {"dynamic_yarn", ""},
      {"dynamic_yarn", "temperature=logits"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,2,3,4"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,2,3,4 short_mscale=1.5 long_mscale=2"},
      {"rope", ""},
      {"dynamic_pi", "wavelengths=whole"}};
  for (size_t c = 0; c < RS_COUNT(cases); c++)
    for (size_t prompt = 1; prompt <= 25; prompt += c == 3 ? 1 : 6)
      check_cached(cases[c][0], cases[c][1], &model, prompt, 20);
}

/* A prompt as long as the context leaves nothing to age: every method, and every dialect of it. */
static void check_unaged(const rs_method *method, const char *dialect) {
  enum { LENGTH = 24 };
  rs_model model = plain_model(8, 100, 16);
  double x[8] = {1, 0.5, -2, 1, 0.25, 3, -1, 1}, got[8], expected[8];
  rs_encoding *made[2];
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
    rs_status status = rs_encoding_create(&recipe, &model, LENGTH, NULL, NULL, &made[aged], &err);
    bool refuses = strcmp(dialect, "gpt_oss") == 0; /* so short a ladder has no ramp within the pairs */
    cr_assert(status == RS_OK || refuses, "%s %s: %s", method->name, dialect, err.message);
    rs_recipe_clear(&recipe);
  }
  for (size_t n = 0; n < LENGTH && made[0] != NULL; n++)
    for (int side = RS_QUERY_SIDE; side <= RS_KEY_SIDE; side++) {
      rs_encoding_rotate_token(made[0], (rs_side)side, 0, n, x, expected);
      rs_encoding_rotate_token(made[1], (rs_side)side, 0, n, x, got);
      for (size_t d = 0; d < 8; d++)
        cr_assert(close_to(got[d], expected[d], 1e-12, 1e-12), "%s %s token %zu dim %zu: got %.17g, expected %.17g",
                  method->name, dialect, n, d, got[d], expected[d]);
      cr_assert_eq(made[0]->logit_scale[n], made[1]->logit_scale[n]);
    }
  rs_encoding_free(made[1]);
  rs_encoding_free(made[0]);
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
  rs_token_layout layout = {&run, 1};
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
  rs_token_layout layout = {&run, 1};
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

/* ---- running products -------------------------------------------------------------------------------------------- */

/* ggml's angle: float32 throughout, one product a pair. */
Test(frequencies, running_product__float32__errs_as_ggml_does) {
  rs_model model = plain_model(128, 1e4, 64);
  const rs_precision precision = {RS_F32, RS_F64, RS_F64, RS_F64, true};
  rs_recipe recipe = make_recipe("pi", "factor=8");
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_encoding_create(&recipe, &model, 8, NULL, &precision, &encoding, &err), RS_OK, "%s", err.message);
  double worst = 0;
  for (float position = 0; position < 100000; position = position * 3 + 1) {
    float angle = position, ratio = (float)pow(1e4, -2.0 / 128);
    for (size_t j = 0; j < 64; j++, angle *= ratio) {
      double c, s, expected = (double)(angle * (1.0f / 8)), exact = (double)position * encoding->omega[j];
      rs_encoding_cos_sin(encoding, j, (double)position, &c, &s);
      cr_assert(close_to(c, cos(expected), 0, 1e-15) && close_to(s, sin(expected), 0, 1e-15), "position %g pair %zu",
                (double)position, j);
      worst = fmax(worst, position > 0 ? fabs(expected / exact - 1) : 0);
    }
  }
  cr_assert(worst > 1e-6 && worst < 5e-6, "the product drifts by %g", worst);
  double c, s;
  rs_encoding_turn(encoding, 7, 2, 3, &c, &s);
  cr_assert(close_to(c, cos(5 * encoding->omega[3]), 1e-6, 0) && c != cos(5 * encoding->omega[3]));
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

/* ---- what multiplies cos and sin -------------------------------------------------------------------------------- */

/* YaRN's and LongRoPE's factors by every key that has a say, worked out by hand from each code base. */
Test(frequencies, amplitude__each_key__is_what_its_code_makes_of_it) {
  const double ln4 = log(4);
  const struct {
    const char *method, *settings;
    size_t length;
    double amp, on_logits;
  } cases[] = {
      {"yarn", "factor=4", 8, 0.1 * ln4 + 1, 1},
      {"yarn", "factor=4 temperature=logits", 8, 1, pow(0.1 * ln4 + 1, 2)},
      {"yarn", "factor=4 attention_factor=1.5", 8, 1.5, 1},
      {"yarn", "factor=4 attn_factor=2", 8, 2 * (0.1 * ln4 + 1), 1},
      {"yarn", "factor=4 attention_factor=1.5 attn_factor=2", 8, 3, 1},
      {"yarn", "factor=0.25", 8, 1, 1},
      {"yarn", "factor=0.25 magnitude=any", 8, 1 - 0.1 * ln4, 1},
      {"yarn", "factor=4 mscale=0.5", 8, 0.1 * ln4 + 1, 1},
      {"yarn", "factor=4 mscale=0.5 mscale_alone=true", 8, 0.05 * ln4 + 1, 1},
      {"yarn", "factor=4 mscale=0 mscale_alone=true", 8, 0.1 * ln4 + 1, 1},
      {"yarn", "factor=4 mscale=0.5 mscale_all_dim=2", 8, (0.05 * ln4 + 1) / (0.2 * ln4 + 1), 1},
      {"yarn", "factor=4 mscale=1 mscale_all_dim=2 mscale_softmax=true", 8, (0.1 * ln4 + 1) / (0.2 * ln4 + 1),
       pow(0.2 * ln4 + 1, 2)},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1", 8, sqrt(1 + ln4 / log(64)), 1},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1 factor=1", 8, 1, 1},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1 short_mscale=1.5 long_mscale=3", 64, 1.5, 1},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1 short_mscale=1.5 long_mscale=3", 65, 3, 1},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1 long_mscale=3 attention_factor=2", 65, 2, 1},
  };
  rs_model model = plain_model(8, 1e4, 64);
  model.max_length = 256;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_encoding *encoding = encode(cases[c].method, cases[c].settings, &model, cases[c].length);
    cr_assert(close_to(encoding->amp, cases[c].amp, 1e-14, 0), "%s %s: amp %.17g, expected %.17g", cases[c].method,
              cases[c].settings, encoding->amp, cases[c].amp);
    cr_assert(close_to(encoding->logit_scale[0], cases[c].on_logits, 1e-14, 0), "%s %s: logits %.17g, expected %.17g",
              cases[c].method, cases[c].settings, encoding->logit_scale[0], cases[c].on_logits);
    rs_encoding_free(encoding);
  }
}

/* ---- dialects ---------------------------------------------------------------------------------------------------- */

Test(dialects, table__each_entry__names_methods_and_parameters_that_exist) {
  size_t count, methods;
  const rs_dialect *dialects = rs_dialects(&count);
  const rs_method *all = rs_methods(&methods);
  cr_assert_gt(count, 10u);
  for (size_t d = 0; d < count; d++) {
    size_t fitting = 0;
    for (size_t m = 0; m < methods; m++) {
      if (!rs_dialect_fits(&dialects[d], &all[m])) continue;
      rs_recipe recipe = make_recipe(all[m].name, "");
      recipe_set_word(&recipe, "dialect", dialects[d].name);
      for (size_t i = 0; i < RS_COUNT(dialects[d].settings) && dialects[d].settings[i].name != NULL; i++) {
        int index = rs_settings_find(&recipe.settings, dialects[d].settings[i].name);
        cr_assert_geq(index, 0, "%s: %s has no %s", dialects[d].name, all[m].name, dialects[d].settings[i].name);
      }
      fitting++;
      rs_recipe_clear(&recipe);
    }
    cr_assert_gt(fitting, 0u, "%s %s fits no method", dialects[d].name, dialects[d].method);
    cr_assert(dialects[d].summary != NULL && dialects[d].reference != NULL);
  }
}

Test(dialects, resolve__given_published_and_default__in_that_order) {
  rs_model model = plain_model(16, 1e4, 64);
  model.published = make_recipe("yarn", "factor=4 truncate=false attention_factor=1 attn_factor=2");
  static const struct {
    const char *settings;
    double truncate, attention, attn;
  } cases[] = {{"", 0, 1, 2},
               {"dialect=hf", 0, 1, 1},
               {"dialect=vllm", 0, NAN, 2},
               {"dialect=llamacpp", 1, NAN, 2},
               {"dialect=llamacpp truncate=true", 1, NAN, 2},
               {"dialect=vllm truncate=true attn_factor=3", 1, NAN, 3}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe("yarn", cases[c].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK, "%s: %s", cases[c].settings, err.message);
    const double got[] = {
        rs_setting_number(&recipe.settings, "truncate"), rs_setting_number(&recipe.settings, "attention_factor"),
        rs_setting_number(&recipe.settings, "attn_factor"), rs_setting_number(&recipe.settings, "factor")};
    const double expected[] = {cases[c].truncate, cases[c].attention, cases[c].attn, 4};
    for (size_t i = 0; i < 4; i++)
      cr_assert(got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])), "%s number %zu: %g, expected %g",
                cases[c].settings, i, got[i], expected[i]);
    cr_assert_not(rs_setting_true(&recipe.settings, "mscale_alone"), "%s: DeepSeek's rule for another model",
                  cases[c].settings);
    rs_recipe_clear(&recipe);
  }
  rs_recipe_clear(&model.published);
}

Test(dialects, resolve__against_the_dialect_or_unknown__names_the_parameter) {
  static const char *const cases[][4] = {
      {"yarn", "dialect=llamacpp truncate=false", "truncate",
       "is not in the power of dialect llamacpp, which always has true (leave one of them out)"},
      {"yarn", "dialect=vllm attention_factor=1", "attention_factor",
       "is not in the power of dialect vllm, which does not read it (leave one of them out)"},
      {"alibi", "dialect=gpt_oss", "dialect", NULL},
      {"rope", "dialect=deepseek", "dialect", "deepseek is not known to differ for rope (known: hf, vllm, llamacpp)"}};
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe(cases[c][0], cases[c][1]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_INPUT, "%s was accepted", cases[c][1]);
    cr_assert_str_eq(err.subject, cases[c][2]);
    if (cases[c][3] != NULL) cr_assert_str_eq(err.message, cases[c][3], "%s", err.message);
    rs_recipe_clear(&recipe);
  }
}

/* The largest relative difference of two dialects' frequencies, |a / b - 1|. */
static double apart(const char *method, const char *one, const char *other, const rs_model *model) {
  const char *const settings[] = {one, other};
  rs_encoding *made[2];
  double worst = 0;
  for (size_t i = 0; i < 2; i++) {
    rs_recipe recipe = make_recipe(method, settings[i]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, model, &err), RS_OK, "%s", err.message);
    made[i] = encode_recipe(&recipe, model, 8, NULL);
    rs_recipe_clear(&recipe);
  }
  for (size_t j = 0; j < made[0]->rotary_dim / 2; j++)
    worst = fmax(worst, fabs(made[0]->omega[j] / made[1]->omega[j] - 1));
  rs_encoding_free(made[0]);
  rs_encoding_free(made[1]);
  return worst;
}

/* Published disagreements: gpt-oss's untruncated ramp 76 %, vLLM's ramp of 4 L0 for Qwen2.5-VL 124 %. */
Test(dialects, known_disagreements__have_their_size) {
  rs_model gpt_oss = plain_model(64, 150000, 4096), qwen = plain_model(128, 1e6, 32768);
  qwen.mrope_section[0] = 16;
  qwen.mrope_section[1] = qwen.mrope_section[2] = 24;
  double truncation = apart("yarn", "factor=32 dialect=llamacpp", "factor=32 dialect=gpt_oss", &gpt_oss);
  double enlarged = apart("yarn", "factor=4 dialect=vllm", "factor=4 dialect=hf", &qwen);
  cr_assert(close_to(truncation, 0.76268, 1e-4, 0), "%g", truncation);
  cr_assert(enlarged > 1.2 && enlarged < 1.28, "%g", enlarged);
  qwen.mrope_section[0] = qwen.mrope_section[1] = qwen.mrope_section[2] = 0;
  cr_assert_eq(apart("yarn", "factor=4 dialect=vllm", "factor=4 dialect=hf", &qwen), 0, "without sections");
}

Test(dialects, llamacpp__scale_below_1__lowers_the_amplitude) {
  rs_model model = plain_model(64, 1e4, 4096);
  rs_recipe recipe = make_recipe("yarn", "factor=0.5 dialect=llamacpp");
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
  rs_encoding *encoding = encode_recipe(&recipe, &model, 8, NULL);
  cr_assert(close_to(encoding->amp, 1 - 0.1 * log(2), 1e-14, 0), "%.17g", encoding->amp);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

Test(dialects, general__beside_a_method_of_its_own_ids__leaves_them) {
  rs_model model = plain_model(16, 1e4, 64);
  static const char *const methods[] = {"v2pe", "videorope", "mrope_i", "mrope"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_recipe plain = make_recipe(methods[i], ""), hf = make_recipe(methods[i], "dialect=hf");
    cr_assert_eq(rs_recipe_resolve(&hf, &model, NULL), RS_OK);
    bool same = rs_setting_choice(&plain.settings, "vision_ids") == rs_setting_choice(&hf.settings, "vision_ids");
    cr_assert_eq(same, i < 3, "%s", methods[i]);
    rs_recipe_clear(&hf);
    rs_recipe_clear(&plain);
  }
}

Test(dialects, gpt_oss__ramp_outside_the_pairs__is_refused) {
  rs_model model = plain_model(64, 1e4, 128);
  rs_recipe recipe = make_recipe("yarn", "factor=2 dialect=gpt_oss");
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &model, 8, NULL, NULL, &encoding, &err), RS_DOMAIN);
  cr_assert_eq(strncmp(err.message, "the ramp from pair -", 20), 0, "%s", err.message);
  rs_recipe_clear(&recipe);
}
