/* What encodings say of their size, and what they answer where a stage is empty. */
#include "../golden.h"

enum { LENGTH = 90 };

/* What a bias holds beside its table: Swin's once more, as it is read for 4 x 5; of FIRE's 9 units a logarithm for each
 * token, and for each head 10 lines of three numbers, four words that say where they are, and room to sort in. */
static double numbers_of_bias(const rs_encoding *e) {
  if (strcmp(e->method->name, "swin") == 0) return 3 * 7 * 9;
  return strcmp(e->method->name, "fire") == 0 ? LENGTH + 3 * (3 * 10 + 4) + 2 * 9 : 0;
}

/* Numbers in the tables that grow with the length or the heads, counted in the encoding itself. */
static double numbers_held(const rs_encoding *e) {
  double numbers = (double)e->length + (double)(e->bias_size + e->vector_size), pairs = (double)e->rotary_dim / 2;
  numbers += numbers_of_bias(e);
  if (e->head_scale != NULL) numbers += (double)e->heads;
  for (size_t v = 0; v < e->views; v++)
    numbers += 2 * (double)e->length * ((double)(e->tables * e->axes) + (e->gain_q[v] != NULL ? pairs : 0));
  if (e->places != NULL) numbers += (double)e->length * RS_AXES;
  return numbers;
}

Test(bytes, encodings__tell_what_they_hold) {
  static const char *const cases[][2] = {
      {"nope", ""},
      {"nope", "logit_scale=ssmax"},
      {"rope", ""},
      {"rope", "rotary_dim=6"},
      {"rope", "cached_keys=20"},
      {"rope", "mrope_section=2,3,3"},
      {"rope", "mrope_section=none"},
      {"mrope", ""},
      {"mrope", "cached_keys=20"},
      {"xpos", ""},
      {"axial", ""},
      {"rope_mixed", "freq_x=1,2,3,4,5,6,7,8 freq_y=1,2,3,4,5,6,7,8"},
      {"rope_mixed", "freq_x=1,2,3,4,5,6,7,8 freq_y=1,2,3,4,5,6,7,8 learned=false cached_keys=20"},
      {"rope_mixed", "learned=false"},
      {"yarn", "factor=4"},
      {"self_extend", ""},
      {"dual_chunk", ""},
      {"alibi", ""},
      {"t5", "num_buckets=12"},
      {"relative", "clip=7"},
      {"swin", ""},
      {"swin", "table_grid=3,7"},
      {"kerple_log", ""},
      {"fire", "mlp_width=9"},
      {"sandwich", ""},
      {"shaw", "clip=7"},
      {"shaw", "on_values=false"},
      {"transformer_xl", ""},
      {"sinusoidal", ""},
      {"sinusoidal_2d", ""},
  };
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 3}, {RS_IMAGE, 20, 1, 4, 5, 1, 1}};
  const rs_token_layout tokens = {.runs = runs, .count = RS_COUNT(runs)}, *layouts[] = {&tokens, NULL};
  rs_model model = plain_model(16, 1e4, 64);
  model.heads = 3;
  size_t compared = 0;
  for (size_t i = 0; i < 2 * RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i / 2][0], cases[i / 2][1]);
    rs_encoding *encoding = NULL;
    rs_status status = rs_encoding_create(&recipe, &model, LENGTH, layouts[i % 2], NULL, &encoding, NULL);
    if (status == RS_OK) {
      double bytes = rs_encoding_bytes(&recipe, &model, LENGTH, layouts[i % 2]);
      cr_expect_eq(bytes, 8 * numbers_held(encoding), "%s %s: %g", cases[i / 2][0], cases[i / 2][1], bytes);
      compared++;
    }
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
  cr_expect_eq(compared, 2 * RS_COUNT(cases) - 3, "three need a picture");
}

/* A table of its own size for training, and one of the pictures' grids, each with the class token's row. */
Test(bytes, learned_2d__its_tables__count) {
  rs_token_run run = {RS_IMAGE, 20, 1, 4, 5, 1, 1};
  rs_token_layout tokens = {.runs = &run, .count = 1};
  rs_model model = plain_model(16, 1e4, 64);
  static const struct {
    const char *settings;
    double vectors;
  } cases[] = {{"", 21 + 21},
               {"table_grid=7,8", 57 + 21},
               {"table_grid=7,8 combine=sum", 16 + 10},
               {"table_grid=7,8 combine=concat", (2 + 15 + 2 + 9) / 2.0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("learned_2d", cases[i].settings);
    double width = (double)(model.heads * model.head_dim), plain = 8.0 * LENGTH * 3;
    cr_expect_eq(rs_encoding_bytes(&recipe, &model, LENGTH, &tokens), plain + 8 * width * cases[i].vectors, "%s",
                 cases[i].settings);
    cr_expect_eq(rs_encoding_bytes(&recipe, &model, LENGTH, NULL), plain, "no picture: %s", cases[i].settings);
    rs_recipe_clear(&recipe);
  }
}

Test(stages, empty__no_bias_and_no_embedding) {
  rs_model model = plain_model(16, 1e4, 64);
  rs_encoding *encoding = encode("rope", "", &model, 9);
  double bias[4] = {1, 2, 3, 4}, row[64];
  cr_assert_leq(encoding->width, RS_COUNT(row));
  row[0] = row[encoding->width - 1] = 5;
  rs_encoding_bias_row(encoding, 0, 8, 2, 5, bias);
  cr_expect(bias[0] == 0 && bias[1] == 0 && bias[2] == 0 && bias[3] == 4);
  cr_expect_not(rs_encoding_bias_of_distance(encoding) || rs_encoding_bias_of_key(encoding));
  cr_expect(isnan(rs_encoding_slope(encoding, 0)));
  cr_expect_eq(rs_encoding_embed(encoding, 8, 1, row, NULL), RS_OK);
  cr_expect(row[0] == 0 && row[encoding->width - 1] == 0);
  rs_encoding_free(encoding);
}

Test(stages, slopes__of_alibi_alone) {
  rs_model model = plain_model(16, 1e4, 64);
  model.heads = 2;
  rs_encoding *alibi = encode("alibi", "slope_factor=3", &model, 9), *t5 = encode("t5", "", &model, 9);
  cr_expect_eq(rs_encoding_slope(alibi, 0), 3 * 0x1p-4);
  cr_expect_eq(rs_encoding_slope(alibi, 1), 3 * 0x1p-8);
  cr_expect(rs_encoding_bias_of_distance(alibi) && rs_encoding_bias_of_distance(t5));
  cr_expect_not(rs_encoding_bias_of_key(alibi) || rs_encoding_bias_of_key(t5));
  cr_expect(isnan(rs_encoding_slope(t5, 0)));
  rs_encoding_free(alibi);
  rs_encoding_free(t5);
}
