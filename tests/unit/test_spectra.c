/* test_spectra.c: spectra, and by how much two of them differ. */
#include "../fixtures/sides.h"
#include "../golden.h"

/* ---- spectra ----------------------------------------------------------------------------------------------------- */

/* Every rotary method's spectrum is what its encoding holds, and the mean cosine is the encoding's. */
Test(compare, spectrum__every_method__is_the_encoding_s) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  rs_model model = plain_model(16, 10000, 64);
  model.rotary_dim = 12;
  for (size_t i = 0; i < count; i++) {
    enum { TOKENS = 300 };
    const char *settings = strcmp(methods[i].name, "longrope") == 0 ? "short_factor=1,1,1,1,1,1 long_factor=2,2,2,3,3,3"
                           : strcmp(methods[i].name, "explicit") == 0
                               ? "inv_freq=1,.5,.25,.1,.01,0 attention_factor=1.5"
                           : strcmp(methods[i].name, "rope_mixed") == 0 ? "freq_x=1,.5,.25,.1,.01,0 freq_y=0,.5,1,2,3,0"
                           : strcmp(methods[i].name, "string") == 0     ? "shift=20"
                           : strcmp(methods[i].name, "pi") == 0         ? "interpolate=positions"
                                                                        : "";
    rs_recipe recipe = make_recipe(methods[i].name, settings);
    rs_spectrum spectrum;
    rs_err err = {0};
    rs_status status = rs_spectrum_make(&recipe, &model, TOKENS, &spectrum, &err);
    if (methods[i].freq == NULL) {
      cr_assert_eq(status, RS_UNSUPPORTED, "%s", methods[i].name);
      cr_assert_null(spectrum.omega);
      rs_recipe_clear(&recipe);
      continue;
    }
    cr_assert_eq(status, RS_OK, "%s: %s", methods[i].name, err.message);
    rs_encoding *encoding = encode_recipe(&recipe, &model, TOKENS, NULL);
    cr_assert(spectrum.pairs == 6 && spectrum.head_dim == 16 && spectrum.amp == encoding->amp, "%s", methods[i].name);
    cr_assert_eq(spectrum.logit_factor, encoding->logit_scale[0]);
    bool bent = encoding->views > 1 || strcmp(methods[i].name, "random_rope") == 0;
    if (!bent && encoding->gain_q[0] == NULL && !encoding->own_places)
      for (size_t query = 1; query < TOKENS; query += 298) {
        rs_divergence divergence = rs_spectrum_at(&spectrum, &spectrum, (double)query);
        cr_assert(close_to(divergence.mean_a, rs_encoding_mean_cosine(encoding, query, 0), 0, 1e-12),
                  "%s at %zu: %g, not %g", methods[i].name, query, divergence.mean_a,
                  rs_encoding_mean_cosine(encoding, query, 0));
        cr_assert(divergence.angle == 0 && divergence.mean_a == divergence.mean_b);
      }
    for (size_t j = 0; j < 6; j++) cr_assert_eq(spectrum.axis[j], encoding->own_places ? 0 : encoding->axis[j]);
    for (size_t j = 0; j < 6 && encoding->own_places; j++) /* of columns and rows mixed */
      cr_assert(close_to(spectrum.omega[j], encoding->omega[j], 1e-15, 0), "%s: pair %zu turns by %g", methods[i].name,
                j, spectrum.omega[j]);
    rs_encoding_free(encoding);
    rs_spectrum_clear(&spectrum);
    rs_recipe_clear(&recipe);
  }
}

/* ggml's pairs that read no axis stand still. */
Test(compare, spectrum__idle_pairs__do_not_turn) {
  rs_model model = plain_model(64, 10000, 64);
  side all, idle;
  make_side("mrope", "mrope_section=16,8,8 mrope_layout=interleaved", &model, 64, &all);
  make_side("mrope", "mrope_section=16,8,8 mrope_layout=interleaved dialect=llamacpp", &model, 64, &idle);
  rs_difference d = rs_spectrum_compare(&all.spectrum, &idle.spectrum, rtol);
  cr_assert(d.differs & RS_DIFFERS_FREQUENCY);
  cr_assert(idle.spectrum.omega[d.first] == 0 && d.largest == 1 && d.first > 20, "%zu", d.first);
  d = rs_spectrum_compare(&idle.spectrum, &all.spectrum, rtol);
  cr_assert(isinf(d.largest));
  side_clear(&all);
  side_clear(&idle);
}

Test(compare, difference__by_hand__says_where_and_how_much) {
  double a[] = {1, 0.5, 0.25, 0, 0.1}, b[] = {1, 0.5 * (1 + 9e-7), 0.2, 0, 0.15};
  uint16_t axis_a[] = {0, 1, 2, 0, 0}, axis_b[] = {0, 1, 2, 0, 1};
  rs_spectrum one, other;
  cr_assert_eq(rs_spectrum_list(a, 5, &one, NULL), RS_OK);
  cr_assert_eq(rs_spectrum_list(b, 5, &other, NULL), RS_OK);
  cr_assert(one.head_dim == 10 && isnan(one.amp) && isnan(one.logit_factor) && one.pair_layout < 0 && one.axis == NULL);
  rs_difference d = rs_spectrum_compare(&one, &other, rtol);
  cr_assert(d.differs == RS_DIFFERS_FREQUENCY && d.count == 2 && d.first == 2 && d.last == 4 && d.worst == 4);
  cr_assert(close_to(d.largest, 0.5, 1e-12, 0));
  cr_assert_eq(rs_spectrum_compare(&one, &other, 1e-7).count, 3u);
  cr_assert_eq(rs_spectrum_compare(&one, &other, 0.5).differs, 0u);
  /* what one side does not know is not compared */
  one.amp = 2;
  one.pair_layout = RS_INTERLEAVED;
  cr_assert_eq(rs_spectrum_compare(&one, &other, rtol).differs, RS_DIFFERS_FREQUENCY + 0u);
  other.amp = 2.1;
  cr_assert_eq(rs_spectrum_compare(&one, &other, 0.5).differs, 0u);
  cr_assert_eq(rs_spectrum_compare(&one, &other, rtol).differs, RS_DIFFERS_FREQUENCY + 0u + RS_DIFFERS_AMPLITUDE);
  other.pair_layout = RS_HALF_SPLIT;
  cr_assert_eq(rs_spectrum_compare(&one, &other, 0.5).differs, RS_DIFFERS_LAYOUT + 0u);
  one.logit_factor = 1;
  other.logit_factor = 4;
  cr_assert(rs_spectrum_compare(&one, &other, 0.5).differs & RS_DIFFERS_AMPLITUDE);
  one.axis = axis_a;
  other.axis = axis_b;
  cr_assert(rs_spectrum_compare(&one, &other, 0.5).differs & RS_DIFFERS_AXIS);
  one.axis = other.axis = NULL;
  /* 10 tokens: pair 4 parts by 0.5 rad, pair 2 by 0.5; 100: pair 2 by 5 - 2 pi, pair 4 by 5 - 2 pi */
  rs_divergence divergence = rs_spectrum_at(&one, &other, 4);
  cr_assert(close_to(divergence.angle, 0.2, 1e-9, 0) && (divergence.pair == 2 || divergence.pair == 4));
  divergence = rs_spectrum_at(&one, &other, 100);
  cr_assert(close_to(divergence.angle, 2 * M_PI - 5, 1e-9, 0), "%g", divergence.angle);
  other.pairs = 4;
  d = rs_spectrum_compare(&one, &other, 0.5);
  cr_assert((d.differs & RS_DIFFERS_FREQUENCY) && isinf(d.largest) && d.count == 0);
  rs_spectrum_clear(&one);
  rs_spectrum_clear(&other);
}

Test(compare, fold__lists_of_whole_heads__become_pairs) {
  static const struct {
    double list[6];
    size_t count;
    int layout;
  } cases[] = {{{1, .5, .1, 1, .5, .1}, 6, RS_HALF_SPLIT},
               {{1, 1, .5, .5, .1, .1}, 6, RS_INTERLEAVED},
               {{1, 1, .5, .5, .1, .2}, 6, -1},
               {{1, .5, .1, 1, .5, .2}, 6, -1},
               {{1, 1, .5}, 3, -1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_spectrum s;
    cr_assert_eq(rs_spectrum_list(cases[i].list, cases[i].count, &s, NULL), RS_OK);
    cr_assert_eq(rs_spectrum_fold(&s, rtol), cases[i].layout, "case %zu", i);
    cr_assert_eq(s.pairs, cases[i].layout < 0 ? cases[i].count : cases[i].count / 2);
    for (size_t j = 0; j < s.pairs && cases[i].layout >= 0; j++)
      cr_assert_eq(s.omega[j], ((double[]){1, .5, .1})[j], "case %zu", i);
    rs_spectrum_clear(&s);
  }
}

/* ---- engines' dumps ---------------------------------------------------------------------------------------------- */

Test(compare, difference__of_heads_of_another_width__is_one) {
  rs_model narrow = plain_model(16, 1e4, 64), wide = plain_model(32, 1e4, 64);
  rs_recipe recipe = make_recipe("rope", "");
  rs_spectrum one, other;
  wide.rotary_dim = 16;
  cr_assert_eq(rs_spectrum_make(&recipe, &narrow, 8, &one, NULL), RS_OK);
  cr_assert_eq(rs_spectrum_make(&recipe, &wide, 8, &other, NULL), RS_OK);
  cr_assert_eq(rs_spectrum_compare(&one, &other, 1e-6).differs, RS_DIFFERS_WIDTH + 0u);
  cr_assert_eq(rs_spectrum_compare(&one, &one, 1e-6).differs, 0u);
  rs_spectrum_clear(&other);
  rs_spectrum_clear(&one);
  rs_recipe_clear(&recipe);
}
