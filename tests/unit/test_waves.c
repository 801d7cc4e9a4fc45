/* Which encodings are sums of waves over the distance, and that the sum is their mean cosine. */
#include "../golden.h"

enum { LENGTH = 300 };

/* Waves against the mean cosine between every pair of a few queries and all keys. */
static void check_waves(const rs_encoding *e, size_t expected, const char *what) {
  rs_wave waves[16];
  rs_decay *decay;
  size_t count = rs_encoding_waves(e, waves);
  cr_assert_eq(count, expected, "%s: %zu waves, should be %zu", what, count, expected);
  cr_assert_eq(rs_encoding_decay(e, &decay, NULL), RS_OK);
  cr_assert_eq(decay != NULL, count > 0, "%s", what);
  for (size_t m = 0; m < e->length && decay != NULL; m += 23)
    for (size_t n = 0; n <= m; n++) {
      double sum = 0;
      for (size_t j = 0; j < count; j++)
        sum += waves[j].amplitude * cos(waves[j].omega * (double)(m - n) + waves[j].phase);
      double mean = rs_encoding_mean_cosine(e, m, n), half = (double)(e->head_dim / 2);
      cr_assert(close_to(sum / half, mean, 0, 1e-13), "%s: %zu, %zu", what, m, n);
      cr_assert(close_to(rs_decay_at(decay, m - n) / half, mean, 0, 1e-15), "%s: %zu, %zu", what, m, n);
    }
  rs_decay_free(decay);
}

/* 12 of 16 dims turn. */
Test(waves, methods__that_count_tokens__are_sums_of_waves) {
  static const struct {
    const char *method, *settings;
    size_t waves;
  } cases[] = {
      {"rope", "", 7},
      {"rope", "rotary_dim=16", 8},
      {"nope", "", 1},
      {"alibi", "", 1},
      {"pi", "factor=8", 7},
      {"pi", "factor=8 interpolate=positions", 0},
      {"pi", "factor=1 interpolate=positions", 7},
      {"dynamic_ntk", "", 7},
      {"yarn", "factor=8", 7},
      {"p_rope", "", 7},
      {"mrope", "", 7}, /* text stands at the same id on every axis */
      {"xpos", "", 0},
      {"rope_mixed", "freq_x=1,0.5,0.2,0.1,0.05,0.01 freq_y=0.3,1,0.1,0.2,0,0.02", 0},
      {"self_extend", "window=8 group=4", 0},
      {"rerope", "window=16", 0},
      {"dual_chunk", "chunk_size=64 local_size=8", 0},
      {"random_rope", "", 0},
      {"dynamic_ntk", "cached_keys=32", 0},
  };
  rs_model model = plain_model(16, 1e4, 64);
  model.rotary_dim = 12;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode(cases[i].method, cases[i].settings, &model, LENGTH);
    check_waves(encoding, cases[i].waves, cases[i].method);
    rs_encoding_free(encoding);
  }
}

/* Short formats that change no position are nothing to the distance; those of angles and tables are. */
Test(waves, precision__where_it_breaks_the_distance__there_are_none) {
  static const struct {
    rs_precision precision;
    size_t waves;
  } cases[] = {{{.inv_freq = RS_BF16}, 6}, {{.positions = RS_F32}, 6}, {{.positions = RS_BF16}, 0},
               {{.angle = RS_F32}, 0},     {{.table = RS_F32}, 0},     {{.running = true}, 0}};
  rs_model model = plain_model(12, 1e4, 64);
  rs_recipe recipe = make_recipe("rope", "");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = NULL;
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, &cases[i].precision, &encoding, NULL), RS_OK);
    check_waves(encoding, cases[i].waves, "precision");
    rs_encoding_free(encoding);
  }
  rs_recipe_clear(&recipe);
}

Test(waves, picture__rows_and_columns__are_no_distance) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = LENGTH - 6},
                         {.modality = RS_IMAGE, .tokens = 6, .frames = 1, .rows = 2, .columns = 3}};
  rs_token_layout layout = {.runs = runs, .count = RS_COUNT(runs)};
  rs_model model = plain_model(16, 1e4, 64);
  model.mrope_section[0] = 2;
  model.mrope_section[1] = model.mrope_section[2] = 3;
  rs_recipe recipe = make_recipe("mrope", "");
  rs_encoding *pictures = encode_recipe(&recipe, &model, LENGTH, &layout);
  rs_encoding *text = encode_recipe(&recipe, &model, LENGTH, NULL);
  check_waves(pictures, 0, "picture");
  check_waves(text, 8, "text");
  rs_encoding_free(pictures);
  rs_encoding_free(text);
  rs_recipe_clear(&recipe);
}
