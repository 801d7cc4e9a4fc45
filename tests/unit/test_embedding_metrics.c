/* test_embedding_metrics.c: embedding_shift, embedding_distance and embedding_columns against explicit rotations,
 * normal equations, all pairs, and sums of geometric series. */
#include "../measured.h"

static rs_encoding *encode_picture(const char *method, const char *settings, size_t width, size_t rows,
                                   size_t columns) {
  rs_model model = plain_model(width, 1e4, 64);
  rs_token_run runs[] = {text_run(1), image_run(rows, columns)};
  return encode_runs(method, settings, &model, runs, 2, 2);
}

static rs_encoding *encode_rows(const double *table, size_t rows, size_t width) {
  rs_model model = plain_model(width, 1e4, 64);
  rs_recipe recipe = make_recipe("learned", "");
  recipe_set_list(&recipe, "table", table, rows * width);
  rs_encoding *encoding = encode_recipe(&recipe, &model, rows, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

static void fill_random(double *table, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; i++) table[i] = draw_real(&seed, -1, 2);
}

static void release(measured *m, rs_encoding *encoding) {
  rs_curve_clear(&m->result.curve);
  rs_encoding_free(encoding);
}

/* measure() reads words, and a list is none. */
static measured measure_shift(const rs_encoding *encoding, const double *by, size_t count, rs_status *status,
                              rs_err *err) {
  measured m = {.kind = rs_metric_find("embedding_shift")};
  bound_params parameters;
  bound_make(&parameters, &m.kind->kind);
  bound_list(&parameters, "shift", by, count);
  m.result.curve.columns = m.kind->curve_count;
  rs_metric_in in = {encoding, parameters.binding.fields, NULL, 0, NULL, 0, 0};
  *status = m.kind->check(&parameters.binding, err);
  if (*status == RS_OK) *status = m.kind->finish(&in, NULL, &m.result, err);
  bound_clear(&parameters);
  return m;
}

/* ---- embedding_shift --------------------------------------------------------------------------------------------- */

/* Block rotations by k omega, and the sinusoid of position n + k by the paper's formula. */
Test(embedding_shift, sinusoid__matrix__turns_each_pair_by_k_omega) {
  static const double by[] = {5};
  enum { WIDTH = 8, LENGTH = 300 };
  rs_model model = plain_model(WIDTH, 1e4, 64);
  rs_encoding *encoding = encode("sinusoidal", "", &model, LENGTH);
  rs_embedding_shift shift;
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 1, &shift, NULL), RS_OK);
  cr_assert(shift.rotations && shift.places == LENGTH - 5 && shift.width == WIDTH);
  for (size_t r = 0; r < WIDTH; r++)
    for (size_t c = 0; c < WIDTH; c++) {
      double turn = 5 * exp(-log(10000) * (double)(r / 2 * 2) / WIDTH);
      double expected = r == c ? cos(turn) : c == (r ^ 1) ? (r < c ? sin(turn) : -sin(turn)) : 0;
      agrees(shift.matrix[r * WIDTH + c], expected, "matrix");
    }
  for (size_t n = 0; n + 5 < LENGTH; n++)
    for (size_t r = 0; r < WIDTH; r++) {
      long double omega = expl(-logl(10000) * (long double)(r / 2) * 2 / WIDTH), sum = 0;
      for (size_t c = 0; c < WIDTH; c++) {
        long double angle = (long double)n * expl(-logl(10000) * (long double)(c / 2) * 2 / WIDTH);
        sum += shift.matrix[r * WIDTH + c] * (c % 2 == 0 ? sinl(angle) : cosl(angle));
      }
      agrees((double)sum, r % 2 == 0 ? sinl((n + 5) * omega) : cosl((n + 5) * omega), "PE(n + 5)");
    }
  cr_assert(shift.largest_error < 1e-15 * 8 && shift.residual < 1e-15 * 8);
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
}

/* The angles that are fitted know nothing of the ladder. */
Test(embedding_shift, every_layout__rotations_that_are_fitted__are_the_matrix) {
  static const char *const layouts[] = {"", "embedding_layout=halves", "embedding_layout=tensor2tensor",
                                        "embedding_offset=2"};
  enum { WIDTH = 12, LENGTH = 100 };
  rs_model model = plain_model(WIDTH, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(layouts); i++) {
    rs_encoding *encoding = encode("sinusoidal", layouts[i], &model, LENGTH);
    measured m = measure("embedding_shift", "", encoding);
    cr_assert(scalar(&m, "embedding_shift_error") < 1e-14 && scalar(&m, "embedding_rotation_error") < 1e-13);
    cr_assert(scalar(&m, "embedding_shift_residual") < 1e-15 && scalar(&m, "embedding_rotation_residual") < 1e-14);
    scalar_is(&m, "embedding_shift_rank", NAN, "known");
    scalar_is(&m, "embedding_shift_positions", LENGTH - 1, "next");
    for (size_t c = 0; c < WIDTH; c++) {
      size_t j = i == 1 || i == 2 ? c % 6 : c / 2;
      agrees(cell(&m, c, 3), powl(10000, -(long double)j / (i == 2 ? 5 : 6)), "angle");
      agrees(cell(&m, c, 6), cell(&m, c, 5), "turned");
    }
    release(&m, encoding);
  }
}

/* Gauss-Jordan on the normal equations of four channels: `count` rows, and what each is to become. */
static void solve_normal(const double *from, const double *to, size_t count, long double out[4][4]) {
  long double a[4][8] = {{0}};
  for (size_t n = 0; n < count; n++)
    for (size_t i = 0; i < 4; i++)
      for (size_t j = 0; j < 4; j++) {
        a[i][j] += (long double)from[n * 4 + i] * from[n * 4 + j];
        a[i][4 + j] += (long double)from[n * 4 + i] * to[n * 4 + j];
      }
  for (size_t p = 0; p < 4; p++) {
    long double pivot = a[p][p];
    for (size_t j = 0; j < 8; j++) a[p][j] /= pivot;
    for (size_t i = 0; i < 4; i++) {
      long double factor = a[i][p];
      for (size_t j = 0; j < 8 && i != p; j++) a[i][j] -= factor * a[p][j];
    }
  }
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) out[i][j] = a[j][4 + i];
}

Test(embedding_shift, learned_table__matrix_and_residual__are_those_of_normal_equations) {
  enum { ROWS = 23, LAG = 3 };
  static const double by[] = {LAG};
  double table[ROWS * 4];
  long double expected[4][4], all = 0, off = 0, worst[4] = {0};
  fill_random(table, RS_COUNT(table), 1706);
  solve_normal(table, table + LAG * 4, ROWS - LAG, expected);
  rs_encoding *encoding = encode_rows(table, ROWS, 4);
  rs_embedding_shift shift;
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 1, &shift, NULL), RS_OK);
  cr_assert(!shift.rotations && shift.places == ROWS - LAG && shift.rank == 4);
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) agrees(shift.matrix[i * 4 + j], expected[i][j], "matrix");
  for (size_t n = 0; n + LAG < ROWS; n++)
    for (size_t i = 0; i < 4; i++) {
      long double error = table[(n + LAG) * 4 + i];
      all += error * error;
      for (size_t j = 0; j < 4; j++) error -= expected[i][j] * table[n * 4 + j];
      off += error * error;
      worst[i] = fmaxl(worst[i], fabsl(error));
    }
  for (size_t i = 0; i < 4; i++) agrees(shift.error[i], worst[i], "error");
  agrees(shift.residual, sqrtl(off / all), "residual");
  agrees(shift.largest_error, fmaxl(fmaxl(worst[0], worst[1]), fmaxl(worst[2], worst[3])), "largest");
  cr_assert(shift.residual > 0.1);
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
}

/* Every patch that has another one row and two columns on, and no patch twice. */
Test(embedding_shift, learned_picture__fit__is_to_all_of_its_patches) {
  enum { ROWS = 4, COLUMNS = 5, PAIRS = 3 * 3 };
  static const double by[] = {1, 2};
  rs_encoding *encoding = encode_picture("learned_2d", "", 4, ROWS, COLUMNS);
  double table[ROWS * COLUMNS * 4], from[PAIRS * 4], to[PAIRS * 4];
  long double expected[4][4];
  rs_embedding_shift shift;
  cr_assert_eq(rs_encoding_embed(encoding, 1, ROWS * COLUMNS, table, NULL), RS_OK);
  for (size_t p = 0; p < PAIRS; p++) {
    memcpy(from + p * 4, table + (p / 3 * COLUMNS + p % 3) * 4, 4 * sizeof *from);
    memcpy(to + p * 4, table + ((p / 3 + 1) * COLUMNS + p % 3 + 2) * 4, 4 * sizeof *to);
  }
  solve_normal(from, to, PAIRS, expected);
  cr_assert(rs_embedding_shift_find(encoding, by, 2, &shift, NULL) == RS_OK && shift.places == PAIRS);
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) agrees(shift.matrix[i * 4 + j], expected[i][j], "matrix");
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
}

/* Two channels that are the same share alike in the least of all matrices that fit; too few positions fit any. */
Test(embedding_shift, dependent_channels_or_few_positions__matrix__is_the_least) {
  enum { ROWS = 20 };
  double table[ROWS * 4];
  static const double by[] = {1};
  rs_embedding_shift shift;
  fill_random(table, RS_COUNT(table), 35);
  for (size_t n = 0; n < ROWS; n++) table[n * 4 + 3] = table[n * 4 + 1];
  rs_encoding *encoding = encode_rows(table, ROWS, 4);
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 1, &shift, NULL), RS_OK);
  cr_assert_eq(shift.rank, 3);
  for (size_t i = 0; i < 4; i++) agrees(shift.matrix[i * 4 + 1], shift.matrix[i * 4 + 3], "shared alike");
  for (size_t j = 0; j < 4; j++) agrees(shift.matrix[4 + j], shift.matrix[12 + j], "channels that are the same");
  cr_assert(shift.residual > 0.1 && fabs(shift.matrix[1]) > 1e-3);
  for (size_t i = 0; i < 4; i++) /* what is left of each channel is orthogonal to all of them */
    for (size_t j = 0; j < 4; j++) {
      double sum = 0;
      for (size_t n = 0; n + 1 < ROWS; n++) {
        double error = table[(n + 1) * 4 + i];
        for (size_t k = 0; k < 4; k++) error -= shift.matrix[i * 4 + k] * table[n * 4 + k];
        sum += error * table[n * 4 + j];
      }
      cr_assert(fabs(sum) < 1e-13, "%g", sum);
    }
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
  fill_random(table, RS_COUNT(table), 36);
  encoding = encode_rows(table, 3, 4);
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 1, &shift, NULL), RS_OK);
  cr_assert(shift.rank == 2 && shift.places == 2 && shift.residual < 1e-14);
  for (size_t i = 0; i < 4; i++) { /* rows of the least matrix lie in the span of both positions */
    double gram[2][2] = {{0}}, at[2] = {0}, norm = 0;
    for (size_t k = 0; k < 4; k++) {
      norm += shift.matrix[i * 4 + k] * shift.matrix[i * 4 + k];
      for (size_t a = 0; a < 2; a++) {
        at[a] += shift.matrix[i * 4 + k] * table[a * 4 + k];
        for (size_t b = 0; b < 2; b++) gram[a][b] += table[a * 4 + k] * table[b * 4 + k];
      }
    }
    double det = gram[0][0] * gram[1][1] - gram[0][1] * gram[0][1];
    double within = (gram[1][1] * at[0] * at[0] - 2 * gram[0][1] * at[0] * at[1] + gram[0][0] * at[1] * at[1]) / det;
    agrees(norm, within, "norm in the span");
  }
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
}

/* A worked example that is said to be a rotation: (0.5, 0.1) has another length than (0.468, 0.241). */
Test(embedding_shift, two_vectors__rotation__keeps_the_length) {
  static const double table[] = {0.5, 0.1, 0.468, 0.241};
  rs_encoding *encoding = encode_rows(table, 2, 2);
  measured m = measure("embedding_shift", "", encoding);
  long double length = hypotl(0.5L, 0.1L), other = hypotl(0.468L, 0.241L);
  for (size_t c = 0; c < 2; c++) {
    agrees(cell(&m, c, 6), table[2 + c] * length / other, "the same direction");
    agrees(cell(&m, c, 3), atan2l(0.241L, 0.468L) - atan2l(0.1L, 0.5L), "angle");
    agrees(cell(&m, c, 4), table[c], "first");
    agrees(cell(&m, c, 5), table[2 + c], "shifted");
    agrees(cell(&m, c, 2), table[2 + c] * (1 - length / other), "error");
  }
  scalar_is(&m, "embedding_rotation_residual", 1 - length / other, "example");
  scalar_is(&m, "embedding_rotation_error", 0.468L * (1 - length / other), "example");
  release(&m, encoding);
}

/* Halves of a picture's table turn by the columns' and by the rows' shift; a sum of both only where these are alike. */
Test(embedding_shift, pictures__rows_and_columns__turn_by_their_own) {
  enum { WIDTH = 8, ROWS = 6, COLUMNS = 7 };
  static const double by[] = {2, 3}, alike[] = {2, 2};
  rs_embedding_shift shift;
  rs_encoding *encoding = encode_picture("sinusoidal_2d", "", WIDTH, ROWS, COLUMNS);
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 2, &shift, NULL), RS_OK);
  cr_assert(shift.rotations && shift.places == 4 * 4 && shift.largest_error < 1e-14);
  for (size_t c = 0; c < WIDTH; c++) {
    long double turn = (c < 4 ? 3 : 2) * powl(10000, -(long double)(c % 2) / 2);
    agrees(shift.matrix[c * WIDTH + c], cosl(turn), "cosine");
    agrees(shift.matrix[c * WIDTH + (c ^ 2)], c % 4 < 2 ? sinl(turn) : -sinl(turn), "sine");
    agrees(shift.angle[c], turn, "angle");
  }
  rs_embedding_shift_clear(&shift);
  measured m = measure("embedding_shift", "", encoding);
  agrees(cell(&m, 0, 3), 1, "next: one column");
  agrees(cell(&m, 4, 3), 0, "and no row");
  release(&m, encoding);
  encoding = encode_picture("sinusoidal", "", WIDTH, ROWS, COLUMNS);
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 2, &shift, NULL), RS_OK);
  agrees(shift.matrix[1], sinl(2 * COLUMNS + 3), "tokens in raster order");
  cr_assert(shift.largest_error < 1e-14);
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
  encoding = encode_picture("sinusoidal_2d", "combine=sum", WIDTH, ROWS, COLUMNS);
  cr_assert_eq(rs_embedding_shift_find(encoding, alike, 2, &shift, NULL), RS_OK);
  cr_assert(shift.rotations && shift.largest_error < 1e-14);
  rs_embedding_shift_clear(&shift);
  cr_assert_eq(rs_embedding_shift_find(encoding, by, 2, &shift, NULL), RS_OK);
  cr_assert(!shift.rotations && shift.largest_error > 0.5);
  rs_embedding_shift_clear(&shift);
  rs_encoding_free(encoding);
}

Test(embedding_shift, shifts_that_are_none__are_refused) {
  static const struct {
    double by[3];
    size_t count;
    bool picture;
    const char *message;
  } cases[] = {
      {{1, 1}, 2, false, "a sequence is shifted by one number of tokens, as in 1"},
      {{1}, 1, true, "a picture is shifted by rows and columns, as in 0,1"},
      {{10}, 1, false, "a shift by 10 leaves no two of 10 positions: choose a whole number below that"},
      {{3, 0}, 2, true, "a shift by 3 leaves no two of 3 rows: choose a whole number below that"},
      {{0, 4}, 2, true, "a shift by 4 leaves no two of 4 columns: choose a whole number below that"},
      {{1.5}, 1, false, "must be whole numbers, not 1.5"},
      {{1, 1, 1}, 3, true, "takes one number, or rows and columns, not 3"},
  };
  rs_model model = plain_model(8, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_status status;
    rs_err err = {0};
    rs_encoding *encoding =
        cases[i].picture ? encode_picture("sinusoidal_2d", "", 8, 3, 4) : encode("sinusoidal", "", &model, 10);
    measured m = measure_shift(encoding, cases[i].by, cases[i].count, &status, &err);
    cr_assert_eq(status, cases[i].count == 3 || cases[i].by[0] == 1.5 ? RS_INPUT : RS_DOMAIN);
    cr_assert_not_null(strstr(err.message, cases[i].message), "%s", err.message);
    release(&m, encoding);
  }
}

/* ---- embedding_distance ------------------------------------------------------------------------------------------ */

/* All pairs of rows, in order: the first of those that are nearest. */
static void nearest_rows(const rs_encoding *encoding, size_t begin, size_t count, double found[3]) {
  size_t width = encoding->width;
  double *rows = calloc(count * width, sizeof *rows);
  cr_assert_eq(rs_encoding_embed(encoding, begin, count, rows, NULL), RS_OK);
  found[0] = INFINITY;
  for (size_t i = 0; i < count; i++)
    for (size_t j = i + 1; j < count; j++) {
      long double sum = 0;
      for (size_t c = 0; c < width; c++)
        sum += ((long double)rows[i * width + c] - rows[j * width + c]) * (rows[i * width + c] - rows[j * width + c]);
      if (sqrtl(sum) > found[0] - 1e-12) continue; /* offsets that are alike differ by rounding */
      found[0] = (double)sqrtl(sum);
      found[1] = (double)(begin + i);
      found[2] = (double)(begin + j);
    }
  free(rows);
}

static void expect_nearest(rs_encoding *encoding, size_t begin, size_t count, const char *what) {
  double expected[3] = {0};
  measured m = measure("embedding_distance", "", encoding);
  nearest_rows(encoding, begin, count, expected);
  scalar_is(&m, "embedding_least_distance", expected[0], what);
  scalar_is(&m, "embedding_nearest_token", expected[1], what);
  scalar_is(&m, "embedding_nearest_other_token", expected[2], what);
  release(&m, encoding);
}

Test(embedding_distance, any_table__nearest_two__are_those_of_all_pairs) {
  static const char *const layouts[] = {"", "embedding_layout=halves", "embedding_layout=tensor2tensor"};
  for (size_t width = 2; width <= 38; width += 12) {
    rs_model model = plain_model(width, 1e4, 64);
    for (size_t i = 0; i < RS_COUNT(layouts); i++)
      expect_nearest(encode("sinusoidal", layouts[i], &model, 700), 0, 700, layouts[i]);
    for (uint64_t seed = 0; seed < 8; seed++) {
      double *table = calloc(90 * width, sizeof *table);
      fill_random(table, 90 * width, seed);
      if (seed == 7) memcpy(table + 3 * width, table + 50 * width, width * sizeof *table);
      if (seed >= 6) memcpy(table + 80 * width, table + 17 * width, width * sizeof *table);
      expect_nearest(encode_rows(table, 90, width), 0, 90, "drawn");
      free(table);
    }
  }
  for (int offset = 0; offset < 2; offset++) { /* several tiles; lengths of 1e9 beside distances of 1 */
    double table[300 * 10];
    fill_random(table, RS_COUNT(table), 2017);
    for (size_t i = 0; i < RS_COUNT(table); i++) table[i] += offset * 0x1p30;
    expect_nearest(encode_rows(table, 300, 10), 0, 300, "tiles");
  }
  double line[128 * 2] = {0}; /* shuffled steps of .6, and of .5 between the first 64 and the others */
  for (size_t i = 0; i < 128; i++) line[i * 37 % 128 * 2] = 0.6 * (double)i - (i >= 64 ? 0.1 : 0);
  expect_nearest(encode_rows(line, 128, 2), 0, 128, "between two tiles");
  expect_nearest(encode_picture("sinusoidal_2d", "", 8, 40, 9), 1, 360, "rows are nearer");
  expect_nearest(encode_picture("sinusoidal_2d", "", 8, 9, 40), 1, 360, "columns are nearer");
  expect_nearest(encode_picture("learned_2d", "", 8, 9, 9), 1, 81, "learned");
}

/* What is added for a row and for a column tells them not apart: row 0, column 1 is row 1, column 0. */
Test(embedding_distance, summed_sinusoids__two_patches__are_the_same) {
  rs_encoding *encoding = encode_picture("sinusoidal_2d", "combine=sum", 64, 5, 5);
  measured m = measure("embedding_distance", "", encoding);
  scalar_is(&m, "embedding_least_distance", 0, "sum");
  scalar_is(&m, "embedding_nearest_token", 1 + 1, "sum");
  scalar_is(&m, "embedding_nearest_other_token", 1 + 5, "sum");
  scalar_is(&m, "embedding_largest_value", 2, "cosines of 0");
  release(&m, encoding);
}

/* The offset of 1000 turns of the first pair: 6283.185 tokens, at which the others turn whole numbers of times, too. */
Test(embedding_distance, eight_channels__nearest__is_not_the_neighbour) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *encoding = encode("sinusoidal", "", &model, 10000);
  measured m = measure("embedding_distance", "", encoding);
  long double sum = 0;
  for (int j = 0; j < 4; j++) sum += 2 - 2 * cosl(6283 * powl(10, -j));
  scalar_is(&m, "embedding_least_distance", sqrtl(sum), "6283 tokens on");
  scalar_is(&m, "embedding_nearest_token", 0, "the first");
  scalar_is(&m, "embedding_nearest_other_token", 6283, "6283 tokens on");
  cr_assert(scalar(&m, "embedding_least_value") >= -1 && scalar(&m, "embedding_least_value") < -0.99999);
  scalar_is(&m, "embedding_largest_value", 1, "cosines of 0");
  release(&m, encoding);
  encoding = encode("sinusoidal", "", &model, 1);
  m = measure("embedding_distance", "", encoding);
  scalar_is(&m, "embedding_least_distance", NAN, "one position");
  scalar_is(&m, "embedding_nearest_token", NAN, "one position");
  scalar_is(&m, "embedding_least_value", 0, "one position");
  release(&m, encoding);
}

/* ---- embedding_columns ------------------------------------------------------------------------------------------- */

/* sum over n < length of exp(i x n), a geometric series. */
static void series(long double x, size_t length, long double *real, long double *imaginary) {
  long double half = x / 2, size = x == 0 ? (long double)length : sinl((long double)length * half) / sinl(half);
  *real = size * cosl((long double)(length - 1) * half);
  *imaginary = size * sinl((long double)(length - 1) * half);
}

/* The inner product of channels a and b of the paper's layout. */
static long double inner(size_t a, size_t b, size_t width, size_t length) {
  long double x = powl(10000, -(long double)(a / 2 * 2) / width), y = powl(10000, -(long double)(b / 2 * 2) / width);
  long double less, less_sine, more, more_sine;
  series(x - y, length, &less, &less_sine);
  series(x + y, length, &more, &more_sine);
  if (a % 2 == 0 && b % 2 == 0) return (less - more) / 2;
  if (a % 2 == 1 && b % 2 == 1) return (less + more) / 2;
  return (more_sine + (a % 2 == 0 ? less_sine : -less_sine)) / 2;
}

Test(embedding_columns, sinusoid__products__are_sums_of_geometric_series) {
  enum { WIDTH = 12 };
  static const size_t lengths[] = {17, 40, 700};
  rs_model model = plain_model(WIDTH, 1e4, 64);
  for (size_t l = 0; l < RS_COUNT(lengths); l++) {
    size_t length = lengths[l];
    long double largest = 0, mean = 0;
    rs_encoding *encoding = encode("sinusoidal", "", &model, length);
    measured m = measure("embedding_columns", "", encoding);
    cr_assert_eq(m.result.curve.rows, WIDTH);
    for (size_t a = 0; a < WIDTH; a++) {
      long double best = 0;
      for (size_t b = 0; b < WIDTH; b++) {
        if (a == b) continue;
        long double product =
            inner(a, b, WIDTH, length) / sqrtl(inner(a, a, WIDTH, length) * inner(b, b, WIDTH, length));
        if (fabsl(product) > fabsl(best)) best = product;
        mean += fabsl(product) / (WIDTH * (WIDTH - 1));
        if (b == (size_t)cell(&m, a, 2)) agrees(cell(&m, a, 3), fabsl(product), "with the channel it names");
      }
      agrees(cell(&m, a, 3), fabsl(best), "product");
      agrees(cell(&m, a, 1), 2 * M_PIl * powl(10000, (long double)(a / 2 * 2) / WIDTH), "wavelength");
      if (fabsl(best) > fabsl(largest)) largest = best;
    }
    scalar_is(&m, "column_product", largest, "sinusoid");
    agrees(scalar(&m, "column_product_mean"), mean, "mean");
    agrees(cell(&m, (size_t)scalar(&m, "column_product_channel"), 3), fabsl(largest), "of the channel it names");
    agrees(inner((size_t)scalar(&m, "column_product_channel"), (size_t)scalar(&m, "column_product_other_channel"),
                 WIDTH, length) > 0,
           largest > 0, "sign");
    cr_assert(scalar(&m, "column_product_channel") < scalar(&m, "column_product_other_channel"));
    release(&m, encoding);
  }
}

/* Whole periods of one and two turns over eight positions are orthogonal; one position less and they are not. */
Test(embedding_columns, whole_periods__products__are_zero) {
  double table[8 * 4];
  for (size_t n = 0; n < 8; n++)
    for (size_t c = 0; c < 4; c++) {
      double angle = 2 * M_PI * (double)((c / 2 + 1) * n) / 8;
      table[n * 4 + c] = c % 2 == 0 ? sin(angle) : cos(angle);
    }
  rs_encoding *whole = encode_rows(table, 8, 4), *part = encode_rows(table, 7, 4);
  measured m = measure("embedding_columns", "", whole);
  cr_assert(fabs(scalar(&m, "column_product")) < 1e-15, "%g", scalar(&m, "column_product"));
  agrees(cell(&m, 0, 1), NAN, "a table that was given has no wavelength");
  release(&m, whole);
  m = measure("embedding_columns", "", part);
  cr_assert(fabs(scalar(&m, "column_product")) > 0.1);
  release(&m, part);
}

/* Sines are 0 at the first position: a channel without length has no product. */
Test(embedding_columns, one_position_or_sums__what_has_none__is_empty) {
  rs_model model = plain_model(4, 1e4, 64);
  rs_encoding *encoding = encode("sinusoidal", "", &model, 1);
  measured m = measure("embedding_columns", "", encoding);
  agrees(cell(&m, 0, 3), NAN, "sine");
  agrees(cell(&m, 0, 2), NAN, "sine");
  agrees(cell(&m, 1, 3), 1, "cosine with the other");
  scalar_is(&m, "column_product_channel", 1, "cosines");
  scalar_is(&m, "column_product_other_channel", 3, "cosines");
  release(&m, encoding);
  encoding = encode_picture("sinusoidal_2d", "combine=sum", 8, 3, 3);
  m = measure("embedding_columns", "", encoding);
  for (size_t c = 0; c < 8; c++) agrees(cell(&m, c, 1), NAN, "a sum of two waves has no wavelength");
  release(&m, encoding);
}

/* ---- nothing to read, or too much -------------------------------------------------------------------------------- */

Test(embedding_metrics, nothing_added_or_too_much__nan_or_refused) {
  static const char *const metrics[] = {"embedding_shift", "embedding_distance", "embedding_columns"};
  rs_model model = plain_model(4096, 1e4, 100000);
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    rs_encoding *rope = encode_picture("rope", "", 8, 2, 2), *large = encode("learned", "", &model, 100000);
    measured m = measure(metrics[i], "", rope);
    cr_assert_eq(m.result.curve.rows, 0);
    all_scalars_are_nan(&m, metrics[i]);
    release(&m, rope);
    rs_result result = {.curve.columns = m.kind->curve_count};
    rs_err err = {0};
    bound_params parameters;
    bound_make(&parameters, &m.kind->kind);
    rs_metric_in in = {large, parameters.binding.fields, NULL, 0, NULL, 0, 0};
    cr_assert_eq(m.kind->finish(&in, NULL, &result, &err), RS_DOMAIN);
    cr_assert_not_null(strstr(err.message, "choose a smaller length"), "%s", err.message);
    bound_clear(&parameters);
    rs_encoding_free(large);
  }
}
