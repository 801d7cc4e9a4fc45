/* test_embeddings.c: embeddings of patches and learned tables, each against a formula written down here another way. */
#include "../fixtures/picture_worlds.h"
#include "../golden.h"

/* ---- embeddings of patches --------------------------------------------------------------------------------------- */

Test(sinusoidal_2d, any_token__is_its_row_and_column) {
  rs_model model = model_of_width(2, 6);
  enum { WIDTH = 12 };
  for (int sum = 0; sum < 2; sum++) {
    rs_encoding *encoding = encode_mixed("sinusoidal_2d", sum ? "combine=sum" : "", &model);
    double *rows = rows_of(encoding);
    for (size_t n = 0; n < LENGTH; n++)
      for (size_t c = 0; c < WIDTH; c++) {
        int row, column;
        place_of(n, &row, &column);
        size_t block = sum ? WIDTH : WIDTH / 2, half = block / 2, k = c % block % half;
        double omega = exp(-log(10000.0) * (double)k / (double)half);
        double (*wave)(double) = c % block < half ? sin : cos;
        double expected = sum         ? wave(row * omega) + wave(column * omega)
                          : c < block ? wave(column * omega)
                                      : wave(row * omega);
        if (row < 0) expected = 0;
        cr_assert(close_to(rows[n * WIDTH + c], expected, 0, 4e-15), "sum %d token %zu channel %zu: %.17g, not %.17g",
                  sum, n, c, rows[n * WIDTH + c], expected);
      }
    free(rows);
    rs_encoding_free(encoding);
  }
}

/* Each channel is the sum of its waves, and partners are the other of sine and cosine. */
Test(waves, any_embedding_of_them__channels__are_their_sums) {
  static const struct {
    const char *method, *settings;
    size_t sums;
  } cases[] = {{"sinusoidal", "", 1},
               {"sinusoidal", "embedding_layout=halves", 1},
               {"sinusoidal", "embedding_layout=tensor2tensor", 1},
               {"sinusoidal_2d", "", 1},
               {"sinusoidal_2d", "combine=sum", 2}};
  enum { WIDTH = 12 };
  rs_model model = model_of_width(2, 6);
  rs_embed_wave wave, partner;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_mixed(cases[i].method, cases[i].settings, &model);
    double *rows = rows_of(encoding);
    for (size_t n = 0; n < LENGTH; n++) {
      size_t count = 0, before = 0;
      int row, column;
      place_of(n, &row, &column);
      if (row < 0 && strcmp(cases[i].method, "sinusoidal_2d") == 0) continue;
      const double at[] = {(double)n, row, column};
      double sums[WIDTH] = {0};
      for (; rs_encoding_wave(encoding, count, &wave); before = wave.channel, count++) {
        cr_assert(wave.channel >= before && wave.channel < WIDTH);
        sums[wave.channel] += wave.cosine ? cos(wave.omega * at[wave.axis]) : sin(wave.omega * at[wave.axis]);
        for (size_t j = 0; rs_encoding_wave(encoding, j, &partner); j++)
          if (partner.channel == wave.partner && partner.axis == wave.axis)
            cr_assert(partner.partner == wave.channel && partner.cosine != wave.cosine && partner.omega == wave.omega);
      }
      cr_assert_eq(count, cases[i].sums * WIDTH);
      for (size_t c = 0; c < WIDTH; c++) cr_assert(close_to(rows[n * WIDTH + c], sums[c], 0, 1e-14));
    }
    free(rows);
    rs_encoding_free(encoding);
  }
  rs_encoding *learned = encode_mixed("learned_2d", "", &model), *rope = encode_mixed("rope", "", &model);
  cr_assert(!rs_encoding_wave(learned, 0, &wave) && !rs_encoding_wave(rope, 0, &wave));
  rs_encoding_free(learned);
  rs_encoding_free(rope);
}

/* What has no embedding is undefined, and says why. */
Test(embeddings_2d, without_a_place__are_domain_errors) {
  static const struct {
    const char *method, *settings, *message;
    size_t heads;
    bool text;
  } cases[] = {
      {"sinusoidal_2d", "", "sinusoidal_2d: there is no image or video among the tokens", 2, true},
      {"sinusoidal_2d", "combine=sum", "sinusoidal_2d: there is no image or video among the tokens", 2, true},
      {"sinusoidal_2d", "", "sinusoidal_2d: combine: concat needs a width that 4 divides, not 6", 1, false},
      {"learned_2d", "", "learned_2d: there is no image or video among the tokens", 2, true},
      {"learned_2d", "resize=none table_grid=3,3",
       "learned_2d: a picture of 3 x 4 is beyond the table of 3 x 3 (resize: none)", 2, false},
      {"learned_2d", "resize=none table_grid=2,9 combine=sum",
       "learned_2d: a picture of 3 x 4 is beyond the table of 2 x 9 (resize: none)", 2, false},
      {"learned_2d", "table=1,2,3,4,5,6",
       "learned_2d: the table has 6 numbers; a grid of 3 x 4 takes 12 vectors of 6 (and may have one more, first, for "
       "the class token); table_grid says which grid it was made for",
       1, false},
      {"learned", "train_length=29", "learned: position 29 is beyond the table of 29 rows", 2, false},
      {"learned", "table=1,2,3,4,5,6", "learned: position 29 is beyond the table of 1 rows", 1, false},
  };
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs), text = {.runs = runs, .count = 1};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of_width(cases[i].heads, 6);
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_OK, "%s", err.message);
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, cases[i].text ? &text : &layout, NULL, &encoding, &err),
                 RS_DOMAIN, "case %zu", i);
    cr_assert_str_eq(err.message, cases[i].message, "case %zu: %s", i, err.message);
    rs_recipe_clear(&recipe);
  }
  rs_model odd = model_of_width(1, 6);
  rs_encoding_free(encode_mixed("sinusoidal_2d", "combine=sum", &odd)); /* which every width has */
}

Test(learned, settings_that_contradict__name_the_parameter) {
  static const struct {
    const char *method, *settings, *subject, *message;
  } cases[] = {
      {"learned", "table=1,2,3", "table", "has 3 numbers: not whole rows of heads * head_dim = 4"},
      {"learned", "table=1,2,3,4 init=zeros", "init", "has no effect with a table (leave one of them out)"},
      {"learned", "table=1,2,3,4 init_sd=1", "init_sd", "has no effect with a table (leave one of them out)"},
      {"learned_2d", "table=1,2,3,4 table_seed=1", "table_seed", "has no effect with a table (leave one of them out)"},
      {"learned", "init=zeros init_sd=1", "init_sd", "has no effect with init: zeros (leave one of them out)"},
      {"learned", "init=zeros table_seed=1", "table_seed", "has no effect with init: zeros (leave one of them out)"},
      {"learned_2d", "init=xavier init_sd=1", "init_sd", "has no effect with init: xavier (leave one of them out)"},
      {"learned_2d", "table_grid=3", "table_grid", "must be [rows, columns]"},
      {"learned_2d", "table_grid=3,2.5", "table_grid", "must be whole numbers"},
      {"learned_2d", "table_grid=1025,1024", "table_grid", "has more than 1048576 patches"},
  };
  static const char *const fine[][2] = {{"learned", "init=xavier table_seed=3"},
                                        {"learned", "init=truncated_normal init_sd=1 table_seed=3"},
                                        {"learned_2d", "table_grid=1024,1024"},
                                        {"learned_2d", "table_grid=1025,1024 combine=sum"}};
  rs_model model = model_of_width(2, 2);
  for (size_t i = 0; i < RS_COUNT(cases) + RS_COUNT(fine); i++) {
    bool wrong = i < RS_COUNT(cases);
    const char *const *good = wrong ? NULL : fine[i - RS_COUNT(cases)];
    rs_recipe recipe = make_recipe(wrong ? cases[i].method : good[0], "");
    char words[128], *state = NULL;
    snprintf(words, sizeof words, "%s", wrong ? cases[i].settings : good[1]);
    for (char *word = strtok_r(words, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
      char *value = strchr(word, '=');
      *value++ = '\0';
      recipe_set_word(&recipe, word, value);
      recipe.settings.values[rs_settings_find(&recipe.settings, word)].given = true; /* as the config does */
    }
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), wrong ? RS_INPUT : RS_OK, "case %zu: %s", i, err.message);
    if (wrong) cr_assert_str_eq(err.subject, cases[i].subject);
    if (wrong) cr_assert_str_eq(err.message, cases[i].message, "case %zu: %s", i, err.message);
    rs_recipe_clear(&recipe);
  }
}

/* ---- how tables are drawn ---------------------------------------------------------------------------------------- */

/* The distribution function of the drawn numbers over init_sd (or over xavier's bound). */
static double law_of(int init, double x) {
  enum { NORMAL, TRUNCATED, ZEROS };
  double below = 0.5 * erfc(-x / sqrt(2)), cut = 0.5 * erfc(2 / sqrt(2));
  if (init == NORMAL) return below;
  return init == TRUNCATED ? (below - cut) / (1 - 2 * cut) : (x + 1) / 2;
}

/* Kolmogorov's distance of n = 51200 numbers from their law is below 1.95 / sqrt(n) but once in a thousand seeds. */
Test(learned, each_init__has_its_law) {
  static const char *const words[] = {"init_sd=0.5", "init=truncated_normal init_sd=0.5", "init=zeros", "init=xavier"};
  enum { ROWS = 400, WIDTH = 128, COUNT = ROWS * WIDTH };
  rs_model model = model_of_width(2, WIDTH / 2);
  model.train_length = ROWS;
  for (int init = 0; init < 4; init++) {
    rs_encoding *encoding = encode("learned", words[init], &model, ROWS);
    double *all = rows_of(encoding), unit = init == 3 ? sqrt(6.0 / (ROWS + WIDTH)) : 0.5, far = 0;
    qsort(all, COUNT, sizeof *all, compare_numbers);
    for (size_t i = 0; i < COUNT && init != 2; i++)
      far = fmax(far, fabs(law_of(init, all[i] / unit) - ((double)i + 0.5) / COUNT));
    cr_assert_lt(far, 1.95 / sqrt(COUNT), "%s: %g", words[init], far);
    double edge = fmax(-all[0], all[COUNT - 1]) / unit;
    if (init == 0) cr_assert_gt(edge, 3.5, "%g", edge);
    if (init == 1) cr_assert(edge < 2 && edge > 1.99, "%g", edge);
    if (init == 2) cr_assert_eq(edge, 0);
    if (init == 3) cr_assert(edge <= 1 && edge > 0.999, "%g", edge);
    free(all);
    rs_encoding_free(encoding);
  }
}

/* ---- learned tables of patches ----------------------------------------------------------------------------------- */

/* `grids`: what each patch of the picture and of the film's frames gets, (12, W) and (6, W); `first`: the class
 * token's, or NULL. */
static void check_rows(const rs_encoding *encoding, const double *first, const double *image, const double *film,
                       const char *what) {
  double *rows = rows_of(encoding);
  for (size_t n = 0; n < LENGTH; n++)
    for (size_t c = 0; c < W; c++) {
      double expected = n == 0 && first != NULL ? first[c] : 0;
      if (n >= IMAGE_AT && n < IMAGE_AT + 12) expected = image[(n - IMAGE_AT) * W + c];
      if (n >= FILM_AT && n < TEXT_AT) expected = film[(n - FILM_AT) % 6 * W + c];
      cr_assert(close_to(rows[n * W + c], expected, 1e-14, 0), "%s: token %zu channel %zu: %.17g, not %.17g", what, n,
                c, rows[n * W + c], expected);
    }
  free(rows);
}

/* The film's grid of 2 x 3 from the picture's of 3 x 4, by each way to resize; with and without a class token's row. */
Test(learned_2d, joint_table__other_grids__get_it_resized) {
  static const char *const ways[] = {"bicubic", "bilinear", "bicubic_antialias"};
  double *table = counted(13);
  for (int way = 0; way < 3; way++)
    for (size_t class_token = 0; class_token < 2; class_token++) {
      char words[32];
      snprintf(words, sizeof words, "resize=%s", ways[way]);
      rs_encoding *encoding = encode_table(words, table, 12 + class_token);
      const double *image = table + class_token * W;
      double *film = resized(image, 3, 4, W, way, 2, 3);
      check_rows(encoding, class_token ? table : NULL, image, film, words);
      free(film);
      rs_encoding_free(encoding);
    }
  free(table);
}

Test(learned_2d, resize_none__takes_the_first_rows_and_columns) {
  double *table = counted(4 * 5 + 1), image[12 * W], film[6 * W];
  for (size_t i = 0; i < 12 * W; i++) image[i] = table[(1 + i / W / 4 * 5 + i / W % 4) * W + i % W];
  for (size_t i = 0; i < 6 * W; i++) film[i] = table[(1 + i / W / 3 * 5 + i / W % 3) * W + i % W];
  rs_encoding *encoding = encode_table("resize=none table_grid=4,5", table, 21);
  check_rows(encoding, table, image, film, "joint");
  rs_encoding_free(encoding);
  for (size_t i = 0; i < 12 * W; i++)
    image[i] = table[(1 + i / W / 4) * W + i % W] + table[(1 + 4 + i / W % 4) * W + i % W];
  for (size_t i = 0; i < 6 * W; i++)
    film[i] = table[(1 + i / W / 3) * W + i % W] + table[(1 + 4 + i / W % 3) * W + i % W];
  encoding = encode_table("resize=none table_grid=4,5 combine=sum", table, 10);
  check_rows(encoding, table, image, film, "sum");
  rs_encoding_free(encoding);
  free(table);
}

/* The film's 2 rows and 3 columns from 3 and 4, each side for itself. */
Test(learned_2d, sum_of_sides__other_grids__get_each_side_resized) {
  double *table = counted(8), image[12 * W], film[6 * W];
  table[3] = -50, table[17] = 123; /* nothing linear: bicubic must show */
  double *rows = resized(table + W, 3, 1, W, RS_BICUBIC, 2, 1),
         *columns = resized(table + 4 * W, 4, 1, W, RS_BICUBIC, 3, 1);
  for (size_t i = 0; i < 12 * W; i++)
    image[i] = table[(1 + i / W / 4) * W + i % W] + table[(4 + i / W % 4) * W + i % W];
  for (size_t i = 0; i < 6 * W; i++) film[i] = rows[i / W / 3 * W + i % W] + columns[i / W % 3 * W + i % W];
  rs_encoding *encoding = encode_table("combine=sum", table, 8);
  check_rows(encoding, table, image, film, "sum");
  rs_encoding_free(encoding);
  free(rows);
  free(columns);
  free(table);
}

/* Drawn tables: the class token's row is one of them; the same grid the same table, wherever it stands; a table of
 * another grid is drawn for that grid. */
Test(learned_2d, drawn_table__is_a_function_of_its_seed_and_grid) {
  rs_model model = model_of_width(2, 2);
  rs_encoding *drawn = encode_mixed("learned_2d", "table_seed=4", &model);
  rs_encoding *same = encode_mixed("learned_2d", "table_seed=4 table_grid=3,4 resize=bilinear", &model);
  rs_encoding *other = encode_mixed("learned_2d", "table_seed=5", &model);
  rs_encoding *small = encode_mixed("learned_2d", "table_seed=4 table_grid=2,3", &model);
  double *a = rows_of(drawn), *b = rows_of(same), *c = rows_of(other), *d = rows_of(small);
  cr_assert_arr_eq(a, b, (IMAGE_AT + 12) * W * sizeof *a, "the resize of the other grid is another matter");
  cr_assert(a[0] != 0 && a[0] != c[0] && a[W] != c[W] && a[0] != a[W]);
  cr_assert_arr_eq(a, d, W * sizeof *a, "the class token is not resized");
  cr_assert_arr_eq(a + W, d + FILM_AT * W, 6 * W * sizeof *a, "the first vectors of the stream");
  double *up = resized(d + FILM_AT * W, 2, 3, W, RS_BICUBIC, 3, 4);
  for (size_t i = 0; i < 12 * W; i++) cr_assert(close_to(d[W + i], up[i], 1e-14, 1e-17), "%zu", i);
  free(a), free(b), free(c), free(d), free(up);
  rs_encoding_free(drawn), rs_encoding_free(same), rs_encoding_free(other), rs_encoding_free(small);
}

/* A factorised table under xavier has a bound for each side: 6 rows, 1 column, width 4. */
Test(learned_2d, sum_of_sides__drawn__are_tables_of_their_own) {
  rs_token_run run = picture_run(RS_IMAGE, 1, 6, 1);
  rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "combine=sum init=xavier");
  rs_encoding *encoding = encode_with(&recipe, &model, 6, &layout);
  double *rows = rows_of(encoding), tall = sqrt(6.0 / (6 + W)), one = sqrt(6.0 / (1 + W)), stream[(1 + 6 + 1) * W];
  rs_stream numbers = {.seed = 0, .purpose = 0x6c6532};
  for (size_t i = 0; i < RS_COUNT(stream); i++) stream[i] = 2 * rs_uniform(numbers, i) - 1;
  for (size_t i = 0; i < 6 * W; i++)
    cr_assert(close_to(rows[i], tall * stream[W + i] + one * stream[7 * W + i % W], 1e-14, 1e-16), "%zu", i);
  free(rows);
  rs_encoding_free(encoding);
}

/* Pictures of one grid share their vectors. */
Test(learned_2d, equal_grids__share_their_vectors) {
  rs_token_run runs[] = {picture_run(RS_IMAGE, 1, 2, 3), picture_run(RS_IMAGE, 1, 3, 2), picture_run(RS_VIDEO, 2, 2, 3),
                         picture_run(RS_IMAGE, 1, 1, 3)};
  rs_token_layout layout = {.runs = runs, .count = 4};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "");
  rs_encoding *encoding = encode_with(&recipe, &model, 29, &layout);
  static const size_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1,        2,       3,
                                    4, 5, 6, 1, 2, 3, 4, 5, 6, 13, 14, 15, SIZE_MAX, SIZE_MAX};
  static const double zeros[W];
  double *rows = rows_of(encoding);
  for (size_t n = 0; n < RS_COUNT(expected); n++) {
    bool none = memcmp(rows + n * W, zeros, sizeof zeros) == 0;
    cr_assert_eq(none, expected[n] == SIZE_MAX, "token %zu", n);
    for (size_t k = 0; k < n; k++) {
      bool same = memcmp(rows + n * W, rows + k * W, W * sizeof *rows) == 0;
      cr_assert_eq(same, expected[n] == expected[k], "tokens %zu and %zu", k, n);
    }
  }
  free(rows);
  rs_encoding_free(encoding);
}

Test(learned, given_table__is_what_is_added) {
  double *table = counted(5);
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned", "");
  recipe_set_list(&recipe, "table", table, 5 * W);
  rs_encoding *encoding = encode_with(&recipe, &model, 5, NULL);
  double *rows = rows_of(encoding);
  cr_assert_arr_eq(rows, table, 5 * W * sizeof *table);
  free(rows);
  free(table);
  rs_encoding_free(encoding);
}
