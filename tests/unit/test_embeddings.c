/* test_embeddings.c: tables carried to other grids, embeddings of patches and learned tables, and the metrics that look
 * at position tables, each against a formula written down here another way. What torch and MAE make of them is the
 * golden suite's matter. */
#include "../golden.h"
#include "ropescope/metrics.h"

#include <gsl/gsl_linalg.h>

static double *obtain(size_t count) {
  double *numbers = calloc(count > 0 ? count : 1, sizeof *numbers);
  cr_assert_not_null(numbers);
  return numbers;
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

enum { MODES = 4 };

static double *resized(const double *in, size_t rows, size_t columns, size_t channels, int mode, size_t new_rows,
                       size_t new_columns) {
  double *out = obtain(new_rows * new_columns * channels);
  rs_err err = {0};
  cr_assert_eq(rs_resize_2d(in, rows, columns, channels, (rs_resize)mode, new_rows, new_columns, out, &err), RS_OK,
               "%s", err.message);
  return out;
}

/* Keys' kernel, from its definition by its two cubics in powers of |x|. */
static double keys(double a, double x) {
  x = fabs(x);
  if (x <= 1) return (a + 2) * pow(x, 3) - (a + 3) * pow(x, 2) + 1;
  return x < 2 ? a * pow(x, 3) - 5 * a * pow(x, 2) + 8 * a * x - 4 * a : 0;
}

/* What sample i weighs in output o: the kernel summed over all samples of a line that repeats its border for ever (or,
 * with antialias, is not there), in continuous coordinates. */
static double weight_of(int mode, size_t size, size_t new_size, size_t o, size_t i) {
  double ratio = (double)size / (double)new_size, at = ((double)o + 0.5) * ratio - 0.5, sum = 0, own = 0;
  double wide = mode == RS_BICUBIC_ANTIALIAS && ratio > 1 ? ratio : 1;
  if (mode == RS_BICUBIC_ALIGN) at = new_size > 1 ? (double)o * ((double)size - 1) / ((double)new_size - 1) : 0;
  for (int k = -8; k < (int)size + 8; k++) {
    double far = (at - (double)k) / wide;
    double weight =
        mode == RS_BILINEAR ? fmax(0, 1 - fabs(far)) : keys(mode == RS_BICUBIC_ANTIALIAS ? -0.5 : -0.75, far);
    bool inside = k >= 0 && k < (int)size;
    if (mode == RS_BICUBIC_ANTIALIAS && !inside) continue;
    size_t sample = k < 0 ? 0 : k >= (int)size ? size - 1 : (size_t)k;
    sum += weight;
    if (sample == i) own += weight;
  }
  return own / sum;
}

/* Impulses show every weight, on unequal axes. */
Test(resize, impulse__every_mode_and_size__is_the_product_of_two_kernels) {
  static const size_t sizes[][4] = {{4, 3, 7, 5}, {5, 4, 2, 9}, {3, 6, 3, 2}, {1, 4, 3, 4},
                                    {6, 1, 4, 1}, {7, 5, 1, 1}, {2, 2, 4, 3}};
  for (size_t s = 0; s < RS_COUNT(sizes); s++)
    for (int mode = 0; mode < MODES; mode++) {
      size_t rows = sizes[s][0], columns = sizes[s][1], tall = sizes[s][2], wide = sizes[s][3], cells = rows * columns;
      double *in = obtain(cells * cells); /* channel i is the impulse at cell i */
      for (size_t i = 0; i < cells; i++) in[i * cells + i] = 1;
      double *out = resized(in, rows, columns, cells, mode, tall, wide);
      for (size_t o = 0; o < tall * wide; o++)
        for (size_t i = 0; i < cells; i++) {
          double expected = weight_of(mode, rows, tall, o / wide, i / columns) *
                            weight_of(mode, columns, wide, o % wide, i % columns);
          cr_assert(close_to(out[o * cells + i], expected, 1e-13, 1e-14),
                    "mode %d, %zu x %zu to %zu x %zu: cell %zu of output %zu weighs %.17g, should be %.17g", mode, rows,
                    columns, tall, wide, i, o, out[o * cells + i], expected);
        }
      free(in);
      free(out);
    }
}

/* By hand: two samples 0 and 1 on four places. */
Test(resize, two_samples_to_four__by_hand) {
  static const double in[] = {0, 1};
  static const double shares[] = {0, 0.25, 0.75, 1};
  double *linear = resized(in, 1, 2, 1, RS_BILINEAR, 1, 4), *cubic = resized(in, 1, 2, 1, RS_BICUBIC, 1, 4);
  double *align = resized(in, 2, 1, 1, RS_BICUBIC_ALIGN, 4, 1);
  for (size_t i = 0; i < 4; i++) {
    cr_assert_eq(linear[i], shares[i]);
    cr_assert(close_to(cubic[i] + cubic[3 - i], 1, 0, 1e-15), "the two samples are each other's mirror image");
    cr_assert(close_to(align[i] + align[3 - i], 1, 0, 1e-15));
  }
  /* Place 0 lies at -1/4, between samples -1 and 0, both the border's 0, as is sample -2: only sample 1 counts, 5/4
   * away: -3/4 (125/64) + 15/4 (25/16) - 6 (5/4) + 3 = -27/256. */
  cr_assert_eq(cubic[0], -27.0 / 256);
  cr_assert(align[0] == 0 && align[3] == 1, "first on first, last on last");
  free(linear);
  free(cubic);
  free(align);
}

Test(resize, same_grid__every_mode__is_the_table_itself) {
  uint64_t state = 5;
  double in[5 * 3 * 2];
  for (size_t i = 0; i < RS_COUNT(in); i++) in[i] = draw_real(&state, -1, 1);
  for (int mode = 0; mode < MODES; mode++) {
    double *out = resized(in, 5, 3, 2, mode, 5, 3);
    cr_assert_arr_eq(out, in, sizeof in, "mode %d", mode);
    free(out);
  }
  rs_err err = {0};
  cr_assert_eq(rs_resize_2d(in, 1, 1, SIZE_MAX / 4, RS_BICUBIC, 1, 8, in, &err), RS_MEMORY);
}

/* ---- embeddings of patches --------------------------------------------------------------------------------------- */

static rs_token_run picture_run(rs_modality modality, size_t frames, size_t rows, size_t columns) {
  return (rs_token_run){modality, frames * rows * columns, frames, rows, columns, 1, 1};
}

/* 1 text, a picture of 3 x 4, 2 text, a film of 2 frames of 2 x 3, then text to the end: 30 tokens. */
enum { LENGTH = 30, IMAGE_AT = 1, FILM_AT = 15, TEXT_AT = 27 };

static rs_token_layout mixed_layout(rs_token_run runs[4]) {
  runs[0] = runs[2] = (rs_token_run){.modality = RS_TEXT, .tokens = 1};
  runs[2].tokens = 2;
  runs[1] = picture_run(RS_IMAGE, 1, 3, 4);
  runs[3] = picture_run(RS_VIDEO, 2, 2, 3);
  return (rs_token_layout){runs, 4};
}

static rs_encoding *encode_with(rs_recipe *recipe, const rs_model *model, size_t length,
                                const rs_token_layout *layout) {
  rs_encoding *encoding = encode_recipe(recipe, model, length, layout);
  rs_recipe_clear(recipe);
  return encoding;
}

static rs_encoding *encode_mixed(const char *method, const char *settings, const rs_model *model) {
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs);
  rs_recipe recipe = make_recipe(method, settings);
  return encode_with(&recipe, model, LENGTH, &layout);
}

/* All rows, (length, width); asked for at once and one by one they are the same. */
static double *rows_of(const rs_encoding *encoding) {
  size_t width = encoding->width, length = encoding->length;
  double *all = obtain(length * width), *one = obtain(width);
  cr_assert_eq(encoding->method->embed->fill(encoding, 0, length, all, NULL), RS_OK);
  for (size_t n = length; n-- > 0;) {
    cr_assert_eq(encoding->method->embed->fill(encoding, n, 1, one, NULL), RS_OK);
    cr_assert_arr_eq(one, all + n * width, width * sizeof *one, "row %zu", n);
  }
  free(one);
  return all;
}

static rs_model model_of_width(size_t heads, size_t dims) {
  rs_model model = plain_model(dims, 1e4, 16);
  model.heads = heads;
  return model;
}

/* Row and column of each token of the mixed layout; -1: text. */
static void place_of(size_t token, int *row, int *column) {
  *row = *column = -1;
  if (token >= IMAGE_AT && token < IMAGE_AT + 12)
    *row = (int)(token - IMAGE_AT) / 4, *column = (int)(token - IMAGE_AT) % 4;
  if (token >= FILM_AT && token < TEXT_AT) *row = (int)(token - FILM_AT) % 6 / 3, *column = (int)(token - FILM_AT) % 3;
}

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
       "the class token)",
       1, false},
      {"learned", "train_length=29", "learned: position 29 is beyond the table of 29 rows", 2, false},
      {"learned", "table=1,2,3,4,5,6", "learned: position 29 is beyond the table of 1 rows", 1, false},
  };
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs), text = {runs, 1};
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

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

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

enum { W = 4 }; /* width of the tables below: 2 heads of 2 */

/* 1000 i + c at channel c of vector i. */
static double *counted(size_t vectors) {
  double *table = obtain(vectors * W);
  for (size_t i = 0; i < vectors * W; i++) table[i] = (double)(1000 * (i / W) + i % W) + 7;
  return table;
}

static rs_encoding *encode_table(const char *settings, const double *table, size_t vectors) {
  rs_model model = model_of_width(2, 2);
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs);
  rs_recipe recipe = make_recipe("learned_2d", settings);
  recipe_set_list(&recipe, "table", table, vectors * W);
  return encode_with(&recipe, &model, LENGTH, &layout);
}

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
  rs_encoding *own = encode_mixed("learned_2d", "table_seed=4", &model);
  rs_encoding *same = encode_mixed("learned_2d", "table_seed=4 table_grid=3,4 resize=bilinear", &model);
  rs_encoding *other = encode_mixed("learned_2d", "table_seed=5", &model);
  rs_encoding *small = encode_mixed("learned_2d", "table_seed=4 table_grid=2,3", &model);
  double *a = rows_of(own), *b = rows_of(same), *c = rows_of(other), *d = rows_of(small);
  cr_assert_arr_eq(a, b, (IMAGE_AT + 12) * W * sizeof *a, "the resize of the other grid is another matter");
  cr_assert(a[0] != 0 && a[0] != c[0] && a[W] != c[W] && a[0] != a[W]);
  cr_assert_arr_eq(a, d, W * sizeof *a, "the class token is not resized");
  cr_assert_arr_eq(a + W, d + FILM_AT * W, 6 * W * sizeof *a, "the first vectors of the stream");
  double *up = resized(d + FILM_AT * W, 2, 3, W, RS_BICUBIC, 3, 4);
  for (size_t i = 0; i < 12 * W; i++) cr_assert(close_to(d[W + i], up[i], 1e-14, 1e-17), "%zu", i);
  free(a), free(b), free(c), free(d), free(up);
  rs_encoding_free(own), rs_encoding_free(same), rs_encoding_free(other), rs_encoding_free(small);
}

/* A factorised table under xavier has a bound for each side: 6 rows, 1 column, width 4. */
Test(learned_2d, sum_of_sides__drawn__are_tables_of_their_own) {
  rs_token_run run = picture_run(RS_IMAGE, 1, 6, 1);
  rs_token_layout layout = {&run, 1};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "combine=sum init=xavier");
  rs_encoding *encoding = encode_with(&recipe, &model, 6, &layout);
  double *rows = rows_of(encoding), tall = sqrt(6.0 / (6 + W)), one = sqrt(6.0 / (1 + W)), stream[(1 + 6 + 1) * W];
  rs_stream numbers = {.seed = 0, .purpose = 0x6c6532};
  for (size_t i = 0; i < RS_COUNT(stream); i++) stream[i] = 2 * rs_uniform(numbers, i) - 1;
  for (size_t i = 0; i < 6 * W; i++)
    cr_assert(close_to(rows[i], tall * stream[W + i] + one * stream[7 * W + i % W], 1e-14, 1e-16), "%zu", i);
  cr_assert_eq(encoding->embed_row[0], 1u, "no class token: the picture comes first");
  free(rows);
  rs_encoding_free(encoding);
}

/* Pictures of one grid share their vectors. */
Test(learned_2d, equal_grids__are_made_once) {
  rs_token_run runs[] = {picture_run(RS_IMAGE, 1, 2, 3), picture_run(RS_IMAGE, 1, 3, 2), picture_run(RS_VIDEO, 2, 2, 3),
                         picture_run(RS_IMAGE, 1, 1, 3)};
  rs_token_layout layout = {runs, 4};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "");
  rs_encoding *encoding = encode_with(&recipe, &model, 29, &layout);
  static const size_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1,        2,       3,
                                    4, 5, 6, 1, 2, 3, 4, 5, 6, 13, 14, 15, SIZE_MAX, SIZE_MAX};
  for (size_t n = 0; n < RS_COUNT(expected); n++)
    cr_assert_eq(encoding->embed_row[n], expected[n], "token %zu: row %zu", n, encoding->embed_row[n]);
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

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static rs_result measure(const char *metric, const rs_encoding *encoding) {
  const rs_metric_kind *kind = rs_metric_find(metric);
  cr_assert_not_null(kind);
  rs_settings none = {0};
  rs_metric_in in = {.encoding = encoding, .settings = &none};
  rs_result result = {.curve.columns = kind->curve_count};
  rs_err err = {0};
  cr_assert_eq(kind->finish(&in, NULL, &result, &err), RS_OK, "%s", err.message);
  return result;
}

static double mean_cosine_kernel(size_t width, double distance) {
  double sum = 0;
  for (size_t k = 0; k < width / 2; k++) sum += cos(distance * pow(10000, -2 * (double)k / (double)width));
  return sum / (double)(width / 2);
}

/* Sines and cosines of one position against another's: the mean of cos(omega (m - n)), and the norms are equal. */
Test(position_similarity, sinusoids__is_the_mean_cosine_kernel) {
  rs_model model = model_of_width(4, 16);
  rs_encoding *encoding = encode("sinusoidal", "", &model, 41);
  rs_result result = measure("position_similarity", encoding);
  static const double references[] = {0, 20, 40};
  rs_moments others = {0};
  cr_assert_eq(result.curve.rows, 3u * 41);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    double expected = mean_cosine_kernel(64, row[0] - row[1]);
    cr_assert(row[0] == references[i / 41] && row[1] == (double)(i % 41) && isnan(row[2]) && isnan(row[3]), "row %zu",
              i);
    cr_assert(close_to(row[4], expected, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], expected);
    if (row[0] != row[1]) rs_moments_add(&others, expected);
  }
  cr_assert(close_to(result.value[0], mean_cosine_kernel(64, 1), 1e-14, 0));
  cr_assert(isnan(result.value[1]));
  cr_assert(close_to(result.value[2], others.mean, 1e-13, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* concat: the mean of both axes' kernels. The corners and the centre of the first frame, of 3 x 4 patches at token 1.
 */
Test(position_similarity, picture__corners_and_centre__against_every_patch) {
  rs_model model = model_of_width(2, 16);
  rs_encoding *encoding = encode_mixed("sinusoidal_2d", "", &model);
  rs_result result = measure("position_similarity", encoding);
  static const double references[] = {1, 4, 7, 9, 12};
  cr_assert_eq(result.curve.rows, 5u * 12, "%zu rows", result.curve.rows);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    int down = (int)(row[0] - 1) / 4, right = (int)(row[0] - 1) % 4;
    double expected = (mean_cosine_kernel(16, row[2] - down) + mean_cosine_kernel(16, row[3] - right)) / 2;
    cr_assert(row[0] == references[i / 12] && row[1] == (double)(1 + i % 12) && row[2] == (double)(i % 12 / 4) &&
                  row[3] == (double)(i % 4),
              "row %zu: %g %g %g %g", i, row[0], row[1], row[2], row[3]);
    cr_assert(close_to(row[4], expected, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], expected);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* By hand, on unequal axes: vectors of a 2 x 2 picture, and their cosines. Zero vectors have none. */
Test(position_similarity, neighbours__by_hand) {
  double table[4 * W] = {1, 0, 0, 0, /**/ 3, 4, 0, 0, /**/ 0, 2, 0, 0, /**/ 0, 0, 0, 0};
  rs_token_run run = picture_run(RS_IMAGE, 1, 2, 2);
  rs_token_layout layout = {&run, 1};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "");
  recipe_set_list(&recipe, "table", table, RS_COUNT(table));
  rs_encoding *encoding = encode_with(&recipe, &model, 4, &layout);
  rs_result result = measure("position_similarity", encoding);
  cr_assert(close_to(result.value[0], 0.6, 1e-15, 0), "columns: 3/5 in row 0, nothing in row 1; %g", result.value[0]);
  cr_assert(close_to(result.value[1], 0, 0, 1e-15), "rows: 0 in column 0, nothing in column 1; %g", result.value[1]);
  cr_assert(close_to(result.value[2], (0.6 + 0 + 0.8) / 3, 1e-15, 0), "each pair twice; %g", result.value[2]);
  cr_assert_eq(result.curve.rows, 4u * 4, "the centre is a corner");
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* A rotation sees the same from both sides, and any two tokens in either order. */
Test(position_similarity, rotary__is_the_mean_cosine_in_either_order) {
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs);
  rs_model model = plain_model(12, 100, 64);
  rs_recipe recipe = make_recipe("mrope", "mrope_section=2,1,3");
  rs_encoding *encoding = encode_with(&recipe, &model, LENGTH, &layout);
  rs_result result = measure("position_similarity", encoding);
  static const int axes[] = {0, 0, 1, 2, 2, 2};
  cr_assert_eq(result.curve.rows, 60u);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    double turn[3] = {0, row[2] - (double)((int)(row[0] - 1) / 4), row[3] - (double)((int)(row[0] - 1) % 4)}, sum = 0;
    for (size_t j = 0; j < 6; j++) sum += cos(turn[axes[j]] * pow(100, -(double)j / 6)) / 6;
    cr_assert(close_to(row[4], sum, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], sum);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

Test(position_metrics, methods_without_a_table__report_nothing) {
  /* Keys as they were cached have gains of their own under yarn: no pure rotation. */
  static const char *const methods[][2] = {
      {"nope", ""}, {"alibi", ""}, {"self_extend", ""}, {"yarn", "scale=dynamic cached_keys=4"}, {"rope", ""}};
  rs_model model = plain_model(8, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = encode(methods[i][0], methods[i][1], &model, 16);
    rs_result pca = measure("position_pca", encoding), similarity = measure("position_similarity", encoding);
    bool rotates = i == 4;
    cr_assert(pca.curve.rows == 0 && isnan(pca.value[0]) && isnan(pca.value[1]), "%s", methods[i][0]);
    cr_assert_eq(similarity.curve.rows > 0, rotates, "%s", methods[i][0]);
    for (size_t k = 0; k < 3 && !rotates; k++) cr_assert(isnan(similarity.value[k]), "%s", methods[i][0]);
    rs_curve_clear(&similarity.curve);
    rs_encoding_free(encoding);
  }
}

/* Long sequences: fewer rows, ascending, each distance on both sides; neighbours are still one apart. */
Test(position_similarity, long_sequence__is_thinned) {
  enum { LONG = 5000 };
  rs_model model = model_of_width(1, 4);
  rs_encoding *encoding = encode("sinusoidal", "", &model, LONG);
  rs_result result = measure("position_similarity", encoding);
  bool near[2] = {false, false};
  cr_assert(result.curve.rows > 300 && result.curve.rows < 1500, "%zu rows", result.curve.rows);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i, *before = i > 0 ? row - 5 : NULL;
    cr_assert(before == NULL || before[0] < row[0] || before[1] < row[1], "row %zu does not ascend", i);
    cr_assert(row[1] >= 0 && row[1] < LONG);
    cr_assert(close_to(row[4], mean_cosine_kernel(4, row[0] - row[1]), 0, 1e-12), "row %zu", i);
    if (row[0] == LONG / 2) near[0] |= row[1] == LONG / 2 - 1, near[1] |= row[1] == LONG / 2 + 1;
  }
  cr_assert(near[0] && near[1]);
  cr_assert(close_to(result.value[0], mean_cosine_kernel(4, 1), 1e-12, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* Large pictures: every row and column of the sample, both ends among them. */
Test(position_similarity, large_picture__is_sampled_evenly) {
  rs_token_run run = picture_run(RS_IMAGE, 1, 200, 2);
  rs_token_layout layout = {&run, 1};
  rs_model model = model_of_width(1, 4);
  rs_recipe recipe = make_recipe("sinusoidal_2d", "");
  rs_encoding *encoding = encode_with(&recipe, &model, 400, &layout);
  rs_result result = measure("position_similarity", encoding);
  cr_assert_eq(result.curve.rows, 5u * 128 * 2, "%zu", result.curve.rows);
  for (size_t i = 0; i < 256; i++) {
    const double *row = result.curve.cells + 5 * i;
    cr_assert(row[2] == floor((double)(i / 2) * 199 / 127) && row[3] == (double)(i % 2), "row %zu: %g", i, row[2]);
    cr_assert_eq(row[1], 2 * row[2] + row[3]);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* ---- principal components ---------------------------------------------------------------------------------------- */

static rs_encoding *encode_sequence(const double *table, size_t rows, size_t width) {
  rs_model model = model_of_width(1, width);
  rs_recipe recipe = make_recipe("learned", "");
  recipe_set_list(&recipe, "table", table, rows * width);
  return encode_with(&recipe, &model, rows, NULL);
}

/* Two directions with variances 4 : 1 about a mean far from zero. */
Test(position_pca, known_table__has_its_shares) {
  static const double table[] = {109, 50, 7, 3, /**/ 91, 50, 7, 3, /**/ 100, 54.5, 7, 3, /**/ 100, 45.5, 7, 3};
  rs_encoding *encoding = encode_sequence(table, 4, 4);
  rs_result result = measure("position_pca", encoding);
  static const double shares[] = {0.8, 0.2, 0, 0};
  cr_assert_eq(result.curve.rows, 4u);
  for (size_t i = 0; i < 4; i++) {
    const double *row = result.curve.cells + 3 * i;
    cr_assert(row[0] == (double)(i + 1) && close_to(row[1], shares[i], 1e-14, 1e-15), "%zu: %.17g", i, row[1]);
    cr_assert(close_to(row[2], i == 0 ? 0.8 : 1, 1e-14, 0));
  }
  cr_assert(result.value[0] == 2 && close_to(result.value[1], 1, 1e-14, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* More positions than are read, all on one line: one component. */
Test(position_pca, rank_one__is_one_component) {
  enum { ROWS = 3000 };
  double *table = obtain(ROWS * 2);
  for (size_t i = 0; i < ROWS; i++) table[2 * i] = 3 * (double)i, table[2 * i + 1] = -4 * (double)i;
  rs_encoding *encoding = encode_sequence(table, ROWS, 2);
  rs_result result = measure("position_pca", encoding);
  cr_assert(result.curve.rows == 2 && close_to(result.curve.cells[1], 1, 1e-14, 0));
  cr_assert_eq(result.value[0], 1);
  free(table);
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
  rs_model model = model_of_width(1, 4);
  encoding = encode("learned", "init=zeros", &model, 8);
  result = measure("position_pca", encoding);
  cr_assert(result.curve.rows == 0 && isnan(result.value[0]) && isnan(result.value[1]), "no variance, no shares");
  rs_encoding_free(encoding);
}

/* Against singular values of the centred table itself, by Jacobi's method; more positions than channels, and fewer. */
Test(position_pca, any_table__shares_are_squared_singular_values) {
  static const size_t sizes[][2] = {{12, 6}, {7, 24}, {16, 16}};
  for (size_t s = 0; s < RS_COUNT(sizes); s++) {
    size_t rows = sizes[s][0], width = sizes[s][1], side = rows < width ? rows : width, far = rows + width - side;
    rs_model model = model_of_width(1, width);
    rs_encoding *encoding = encode("learned", "table_seed=9", &model, rows);
    double *table = rows_of(encoding), total = 0, sum = 0, running = 0;
    rs_result result = measure("position_pca", encoding);
    gsl_matrix *a = gsl_matrix_calloc(far, side), *q = gsl_matrix_alloc(side, side);
    gsl_vector *values = gsl_vector_alloc(side);
    for (size_t c = 0; c < width; c++) {
      double mean = 0;
      for (size_t i = 0; i < rows; i++) mean += table[i * width + c] / (double)rows;
      for (size_t i = 0; i < rows; i++)
        gsl_matrix_set(a, rows >= width ? i : c, rows >= width ? c : i, table[i * width + c] - mean);
    }
    gsl_linalg_SV_decomp_jacobi(a, q, values);
    for (size_t i = 0; i < side; i++) total += pow(gsl_vector_get(values, i), 2);
    cr_assert_eq(result.curve.rows, side);
    for (size_t i = 0; i < side; i++) {
      const double *row = result.curve.cells + 3 * i;
      double expected = pow(gsl_vector_get(values, i), 2) / total;
      running += expected;
      cr_assert(close_to(row[1], expected, 1e-12, 1e-14), "%zu x %zu: %zu: %.17g, not %.17g", rows, width, i, row[1],
                expected);
      cr_assert(close_to(row[2], running, 1e-12, 0));
      if (i < 2) cr_assert(i == 0 || close_to(result.value[1], running, 1e-12, 0));
      if (i + 1 == result.value[0]) cr_assert(running >= 0.9 && running - expected < 0.9);
      sum += row[1];
    }
    cr_assert(close_to(sum, 1, 1e-14, 0));
    cr_assert(result.value[0] >= 1);
    gsl_matrix_free(a), gsl_matrix_free(q), gsl_vector_free(values);
    free(table);
    rs_curve_clear(&result.curve);
    rs_encoding_free(encoding);
  }
}

/* The class token's vector is no position of the picture: it would be a second direction. */
Test(position_pca, picture__leaves_text_out) {
  double table[13 * W] = {9, 9, 9, 9};
  for (size_t i = 1; i < 13; i++) table[i * W] = 5, table[i * W + 1] = (double)i;
  rs_encoding *encoding = encode_table("", table, 13);
  rs_result result = measure("position_pca", encoding);
  cr_assert_eq(result.curve.rows, (size_t)W);
  cr_assert(close_to(result.curve.cells[1], 1, 1e-14, 0), "%g", result.curve.cells[1]);
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}
