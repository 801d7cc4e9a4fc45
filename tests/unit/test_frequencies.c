/* Frequency kinds beyond the golden tables, and what can be done to any of them: gains, mixed axes, whole
 * wavelengths, running products. Expected values are made here from the papers' formulas. */
#include "../fixtures/patches.h"
#include "../fixtures/threads.h"
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

/* Time axes of published models: HunyuanVideo's k = 4 by its 66th frame, CogVideoX's k = 2 by its 26th (github.com/
 * thu-ml/RIFLEx); k counts from 1. */
Test(frequencies, riflex__published_axes__their_pair_is_slowed) {
  static const struct {
    double theta;
    const char *settings;
    size_t trained, pair;
    double omega;
  } cases[] = {{256, "factor=2", 33, 3, 0.9 * 2 * M_PI / 66},
               {256, "factor=2 repetition=66", 20, 3, 0.9 * 2 * M_PI / 40},
               {1e4, "factor=2", 13, 1, 0.9 * 2 * M_PI / 26},
               {1e4, "factor=2 intrinsic_pair=2 margin=1", 13, 2, 2 * M_PI / 26},
               {1e4, "factor=1", 13, 8, 0}}; /* none */
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = plain_model(16, cases[i].theta, cases[i].trained);
    rs_encoding *encoding = encode("riflex", cases[i].settings, &model, cases[i].trained);
    for (size_t j = 0; j < 8; j++) {
      double want = j == cases[i].pair ? cases[i].omega : pow(cases[i].theta, -2.0 * (double)j / 16);
      cr_expect(close_to(encoding->omega[j], want, 1e-14, 0), "%s: pair %zu is %g, not %g", cases[i].settings, j,
                encoding->omega[j], want);
    }
    rs_encoding_free(encoding);
  }
}

/* HunyuanVideo's 128 dims as if they were one ladder: pair 27 has the wavelength nearest to 66, 2 pi 256^(27/64)
 * = 65.2, and reads rows. Slowing it down would leave time's pair 3, 50.3, as it was. */
Test(frequencies, riflex__ladder_that_axes_share__is_refused) {
  rs_model model = plain_model(128, 256, 33);
  rs_recipe recipe = make_recipe("riflex", "factor=2 mrope_section=8,28,28");
  rs_err err = {0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "mrope_section");
  cr_assert_not_null(strstr(err.message, "riflex would slow down pair 27, which reads h"), "%s", err.message);
  rs_recipe_clear(&recipe);
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

Test(frequencies, yarn__of_deepseek_and_dynamic__have_its_frequencies) {
  rs_model model = plain_model(64, 1e4, 64);
  double g = 0.1 * log(4) + 1;
  rs_encoding *deepseek = encode("yarn", "factor=4 mscale=1 mscale_all_dim=1 mscale_softmax=true", &model, 8),
              *yarn = encode("yarn", "factor=4", &model, 8);
  rs_encoding *dynamic = encode("yarn", "scale=dynamic", &model, 256),
              *within = encode("yarn", "scale=dynamic", &model, 32);
  cr_assert(deepseek->amp == 1 && close_to(deepseek->logit_scale[7], g * g, 1e-15, 0), "%g %g", deepseek->amp,
            deepseek->logit_scale[7]);
  cr_assert(close_to(dynamic->amp, g, 1e-15, 0) && within->amp == 1);
  cr_assert_arr_eq(deepseek->omega, yarn->omega, 32 * sizeof(double));
  cr_assert_arr_eq(dynamic->omega, yarn->omega, 32 * sizeof(double));
  check_ladder(within, 1e4, "dynamic within L0");
  rs_encoding_free(within);
  rs_encoding_free(dynamic);
  rs_encoding_free(yarn);
  rs_encoding_free(deepseek);
}

Test(frequencies, pi_of_dynamic_scale__long_and_short__divides_beyond_training_only) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *far = encode("pi", "scale=dynamic", &model, 192), *near = encode("pi", "scale=dynamic", &model, 32);
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
  static const char *const cases[][3] = {{"resonance", "", "rope"},
                                         {"yarn", "factor=8 wavelengths=whole", "yarn"},
                                         {"pi", "factor=3 wavelengths=whole", "pi"}};
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

/* Gains that threads share out, and that queries and keys on both sides of the middle share: zeta_j^(+-(n -
 * middle)/512) for each token, also where keys are not where queries are, whatever the threads. */
Test(frequencies, xpos__long_context__gains_are_those_of_one_thread_and_of_the_formula) {
  enum { LENGTH = 5001, DIMS = 8, PAIRS = DIMS / 2 };
  rs_model model = plain_model(DIMS, 1e4, 64);
  use_threads(1);
  rs_encoding *one = encode("xpos", "", &model, LENGTH);
  use_threads(5);
  rs_encoding *five = encode("xpos", "", &model, LENGTH);
  size_t size = LENGTH * PAIRS * sizeof(double);
  cr_expect_arr_eq(one->gain_q[0], five->gain_q[0], size, "queries");
  cr_expect_arr_eq(one->gain_k[0], five->gain_k[0], size, "keys");
  for (size_t n = 0; n < LENGTH; n++)
    for (size_t j = 0; j < PAIRS; j++) {
      double rate = log(((double)j / PAIRS + 0.4) / 1.4) / 512, from_middle = (double)n - (LENGTH - 1) / 2.0;
      cr_assert_eq(five->gain_q[0][n * PAIRS + j], exp(rate * from_middle), "query %zu pair %zu", n, j);
      cr_assert_eq(five->gain_k[0][n * PAIRS + j], exp(-rate * from_middle), "key %zu pair %zu", n, j);
    }
  rs_encoding_free(five);
  rs_encoding_free(one);
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

/* RandAR's code at its defaults: 16 pairs an axis, two of which stay, and 16 patches a side that grow to 32, so that
 * linspace(0, 15, 32) steps by 15/31. Rows come first. */
Test(frequencies, axial_with_kept_pairs__larger_picture__slow_pairs_of_both_axes_keep_their_edges) {
  static const struct {
    const char *settings;
    size_t length, kept;
    double step;
  } cases[] = {{"kept_pairs=2", 1024, 2, 15.0 / 31},
               {"", 1024, 0, 1},
               {"kept_pairs=2", 256, 2, 1}, /* of training */
               {"kept_pairs=2", 64, 2, 1},  /* smaller */
               {"trained_side=8 side=16 kept_pairs=5", 64, 5, 7.0 / 15},
               {"kept_pairs=16", 1024, 16, 1}};
  rs_model model = plain_model(64, 5e5, 256);
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text words = {0};
    rs_text_printf(&words, "rope_theta=10000 axis_order=hw %s", cases[c].settings);
    rs_encoding *encoding = encode("axial", rs_text_string(&words), &model, cases[c].length);
    rs_text_clear(&words);
    cr_assert_eq(encoding->pair_layout, RS_INTERLEAVED);
    for (size_t j = 0; j < 32; j++) {
      double omega = pow(10000, -(double)(j % 16) / 16) * (j % 16 < cases[c].kept ? 1 : cases[c].step);
      cr_assert(close_to(encoding->omega[j], omega, 1e-14, 0), "case %zu pair %zu: %g", c, j, encoding->omega[j]);
      cr_assert_eq(encoding->axis[j], j < 16 ? 1 : 2, "case %zu pair %zu", c, j);
    }
    rs_encoding_free(encoding);
  }
  rs_recipe recipe = make_recipe("axial", "kept_pairs=17");
  rs_err err = {0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "kept_pairs");
  cr_assert_str_eq(err.message, "must be at most 16, the pairs of an axis");
  rs_recipe_clear(&recipe);
  recipe = make_recipe("axial", "side=32");
  err = (rs_err){0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.subject, "side");
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

/* Heo et al.'s init_random_2d_freqs: a ladder along an angle of the head's, and the same across it. */
Test(frequencies, rope_mixed__drawn__is_a_ladder_along_each_heads_angle) {
  enum { HEADS = 3, PAIRS = 4 };
  rs_model model = plain_model(8, 1e4, 64);
  model.heads = HEADS;
  double angles[HEADS];
  rs_encoding *encoding = encode_picture("rope_mixed", "table_seed=5", &model);
  cr_assert_eq(encoding->tables, (size_t)HEADS);
  for (size_t h = 0; h < HEADS; h++) {
    const double *x = encoding->mixed + h * PAIRS, *y = x + HEADS * PAIRS;
    angles[h] = atan2(y[0], x[0]);
    for (size_t j = 0; j < PAIRS; j++) {
      double length = j % 2 == 0 ? 1 : pow(10, -0.5), angle = angles[h] + (j < 2 ? 0 : M_PI / 2);
      cr_expect(close_to(x[j], length * cos(angle), 0, 1e-14) && close_to(y[j], length * sin(angle), 0, 1e-14),
                "head %zu pair %zu: %g %g", h, j, x[j], y[j]);
    }
  }
  cr_expect(angles[0] != angles[1] && angles[1] != angles[2]);
  rs_encoding_free(encoding);
}

/* Given head by head, each head turns by its own, and by nothing else. */
Test(frequencies, rope_mixed__of_each_head__is_that_heads_alone) {
  static const char *const heads[] = {"freq_x=1,-0.5,0,0.03 freq_y=0.2,0.5,0,-2", "freq_x=2,3,4,5 freq_y=0,1,0,1"};
  rs_model model = plain_model(8, 1e4, 64);
  model.heads = 2;
  rs_encoding *both =
      encode_picture("rope_mixed", "learned=false freq_x=1,-0.5,0,0.03,2,3,4,5 freq_y=0.2,0.5,0,-2,0,1,0,1", &model);
  for (size_t h = 0; h < RS_COUNT(heads); h++) {
    rs_encoding *one = encode_picture("rope_mixed", heads[h], &model), view = rs_encoding_of_head(both, h);
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8], want[8];
    for (size_t n = 0; n < PATCHES; n++) {
      rs_encoding_rotate_token(one, RS_QUERY_SIDE, 0, n, x, want);
      rs_encoding_rotate_token(&view, RS_QUERY_SIDE, 0, n, x, got);
      cr_expect_arr_eq(got, want, sizeof got, "head %zu, patch %zu", h, n);
    }
    rs_encoding_free(one);
  }
  rs_encoding_free(both);
}

Test(frequencies, lists_for_each_pair__missing_or_short__name_the_list) {
  static const char *const cases[][3] = {
      {"rotary_dim=6", "freq_x", "is missing: frequencies of 3 pairs cannot be drawn, half along an angle"},
      {"freq_x=1,2,3,4", "freq_y", "is missing, but freq_x is given"},
      {"freq_y=1,2,3,4", "freq_x", "is missing, but freq_y is given"},
      {"freq_x=1,2,3 freq_y=1,2,3,4", "freq_x", "has 3 numbers, but 4 pairs turn (of 2 heads: 8)"},
      {"freq_x=1,2,3,4 freq_y=1", "freq_y", "has 1 number, but 4 pairs turn (of 2 heads: 8)"},
      {"freq_x=1,2,3,4 freq_y=1,2,3,4,5,6,7,8", "freq_y", "has 8 numbers, but freq_x has 4"},
      {"freq_x=1,2,3,4 freq_y=1,2,3,4 table_seed=1", "table_seed",
       "has no effect with freq_x and freq_y (leave one of them out)"}};
  rs_model model = plain_model(8, 1e4, 64);
  model.heads = 2;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe("rope_mixed", cases[c][0]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s", cases[c][0]);
    cr_assert(strcmp(err.subject, cases[c][1]) == 0 && strcmp(err.message, cases[c][2]) == 0, "%s: %s", err.subject,
              err.message);
    rs_recipe_clear(&recipe);
  }
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
