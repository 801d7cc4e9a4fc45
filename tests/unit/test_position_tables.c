/* test_position_tables.c: embedding and channel_axes against tables given here, weights of the bicubic kernel worked
 * out by hand, and MAE's order of rows and columns. */
#include "../measured.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A learned table (rows, columns, width) carried to a picture of `to_rows` x `to_columns`, with text before it. */
static rs_encoding *encode_table(const double *table, size_t rows, size_t columns, size_t width, size_t to_rows,
                                 size_t to_columns) {
  const double grid[] = {(double)rows, (double)columns};
  rs_model model = plain_model(width, 1e4, 64);
  rs_recipe recipe = make_recipe("learned_2d", "");
  rs_token_run runs[] = {text_run(3), image_run(to_rows, to_columns)};
  rs_token_layout layout = {.runs = runs, .count = 2};
  recipe_set_list(&recipe, "table_grid", grid, 2);
  recipe_set_list(&recipe, "table", table, rows * columns * width);
  rs_encoding *encoding = encode_recipe(&recipe, &model, 5 + to_rows * to_columns, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

static rs_encoding *encode_picture(const char *method, const char *settings, size_t width, size_t rows,
                                   size_t columns) {
  rs_model model = plain_model(width, 1e4, 64);
  rs_token_run runs[] = {text_run(1), image_run(rows, columns)};
  return encode_runs(method, settings, &model, runs, 2, 2);
}

/* ---- embedding --------------------------------------------------------------------------------------------------- */

/* measure() reads words, and a list is none. */
static measured measure_channels(const rs_encoding *encoding, const double *channels, size_t count, rs_status *status) {
  measured m = {.kind = rs_metric_find("embedding")};
  bound_params parameters;
  bound_make(&parameters, &m.kind->kind);
  bound_list(&parameters, "channels", channels, count);
  m.result.curve.columns = m.kind->curve_count;
  rs_metric_in in = {encoding, parameters.binding.fields, NULL, 0, NULL, 0, 0};
  *status = m.kind->check(&parameters.binding, NULL);
  if (*status == RS_OK) *status = m.kind->finish(&in, NULL, &m.result, NULL);
  bound_clear(&parameters);
  return m;
}

/* Row major, channel by channel, from the first patch on; norms of all patches. */
Test(embedding, given_table__values_and_norms__are_its_own) {
  enum { ROWS = 3, COLUMNS = 4, WIDTH = 8 };
  double table[ROWS * COLUMNS * WIDTH], least = INFINITY, most = 0, mean = 0;
  uint64_t state = 768;
  for (size_t i = 0; i < RS_COUNT(table); i++) table[i] = draw_real(&state, -1, 2);
  for (size_t p = 0; p < ROWS * COLUMNS; p++) {
    double squares = 0;
    for (size_t c = 0; c < WIDTH; c++) squares += table[p * WIDTH + c] * table[p * WIDTH + c];
    least = fmin(least, sqrt(squares));
    most = fmax(most, sqrt(squares));
    mean += sqrt(squares) / (ROWS * COLUMNS);
  }
  rs_encoding *encoding = encode_table(table, ROWS, COLUMNS, WIDTH, ROWS, COLUMNS);
  measured m = measure("embedding", "", encoding);
  cr_assert_eq(m.result.curve.rows, 4 * ROWS * COLUMNS);
  for (size_t r = 0; r < m.result.curve.rows; r++) {
    size_t patch = r % (ROWS * COLUMNS), channel = r / (ROWS * COLUMNS) * 2; /* 0, 2, 4, 6 of 8 */
    agrees(cell(&m, r, 0), channel, "channel");
    agrees(cell(&m, r, 1), 3 + patch, "token");
    agrees(cell(&m, r, 2), patch / COLUMNS, "row");
    agrees(cell(&m, r, 3), patch % COLUMNS, "column");
    agrees(cell(&m, r, 4), table[patch * WIDTH + channel], "value");
  }
  scalar_is(&m, "embedding_norm", mean, "table");
  scalar_is(&m, "embedding_least_norm", least, "table");
  scalar_is(&m, "embedding_largest_norm", most, "table");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

Test(embedding, chosen_channels__they__are_shown_in_the_order_given) {
  static const double good[] = {5, 0}, past[] = {8}, between[] = {1.5}, seventeen[17] = {0};
  rs_encoding *encoding = encode_picture("sinusoidal_2d", "", 8, 2, 2);
  rs_status status;
  measured m = measure_channels(encoding, good, 2, &status);
  cr_assert(status == RS_OK && m.result.curve.rows == 8);
  cr_assert(cell(&m, 0, 0) == 5 && cell(&m, 4, 0) == 0);
  agrees(cell(&m, 5, 4), sinl(1), "channel 0, column 1"); /* MAE: sines of the column first */
  rs_curve_clear(&m.result.curve);
  m = measure_channels(encoding, past, 1, &status);
  cr_assert_eq(status, RS_DOMAIN, "there is no channel 8");
  m = measure_channels(encoding, between, 1, &status);
  cr_assert_eq(status, RS_INPUT, "nor 1.5");
  m = measure_channels(encoding, seventeen, 16, &status);
  cr_assert_eq(status, RS_OK);
  rs_curve_clear(&m.result.curve);
  m = measure_channels(encoding, seventeen, 17, &status);
  cr_assert_eq(status, RS_INPUT, "too many");
  rs_encoding_free(encoding);
}

/* Halving a row of 14 samples it half way between two patches: output o at 2 o + 1/2. Keys' kernel with a = -0.75 is
 * a x^3 - 5a x^2 + 8a x - 4a beyond 1 and (a + 2) x^3 - (a + 3) x^2 + 1 within: -0.09375 at 1.5, 0.59375 at 0.5, and 0
 * from 2 on. An impulse at patch 6 is 1.5 from output 2, 0.5 from output 3, and 2.5 or more from all others. */
Test(embedding, impulse_halved__weights__are_those_of_the_half_step) {
  double impulse[14 * 4] = {0};
  impulse[6 * 4 + 1] = 1;
  rs_encoding *encoding = encode_table(impulse, 1, 14, 4, 1, 7);
  static const double channel[] = {1};
  static const double expected[] = {0, 0, -0.09375, 0.59375, 0, 0, 0};
  rs_status status;
  measured m = measure_channels(encoding, channel, 1, &status);
  cr_assert(status == RS_OK && m.result.curve.rows == 7);
  for (size_t x = 0; x < 7; x++) agrees(cell(&m, x, 4), expected[x], "half step");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

Test(embedding, long_sequences_and_large_pictures__some__are_shown) {
  rs_model model = plain_model(4, 1e4, 64);
  rs_encoding *text = encode("sinusoidal", "", &model, 5000), *picture = encode_picture("sinusoidal_2d", "", 4, 3, 200);
  measured a = measure("embedding", "", text), b = measure("embedding", "", picture);
  cr_assert_eq(a.result.curve.rows, 4 * 2048);
  cr_assert(cell(&a, 0, 1) == 0 && cell(&a, 2047, 1) == 4999 && isnan(cell(&a, 0, 2)) && isnan(cell(&a, 0, 3)));
  cr_assert_eq(b.result.curve.rows, 4 * 3 * 64);
  cr_assert(cell(&b, 63, 3) == 199 && cell(&b, 64, 2) == 1 && cell(&b, 191, 2) == 2 && cell(&b, 191, 1) == 600);
  scalar_is(&b, "embedding_norm", sqrtl(2), "two sinusoids");
  rs_curve_clear(&a.result.curve);
  rs_curve_clear(&b.result.curve);
  rs_encoding_free(text);
  rs_encoding_free(picture);
}

/* ---- channel_axes ------------------------------------------------------------------------------------------------ */

/* value = r row + c column + b where both are odd; channels in order. Of a grid of 4 x 2: rows have variance 5/4,
 * columns 1/4; row * column of centred -1.5 .. 1.5 and -.5 .. .5 is orthogonal to both, with variance 5/16. */
Test(channel_axes, rows_columns_and_products__shares__are_by_hand) {
  static const double weights[][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, -1, 0},
                                      {0, 0, 1}, {1, 0, 2}, {0, 0, 0}, {0, 3, 1}};
  double table[8 * 8];
  for (size_t p = 0; p < 8; p++)
    for (size_t c = 0; c < 8; c++) {
      double row = (double)(p / 2) - 1.5, column = (double)(p % 2) - 0.5;
      table[p * 8 + c] = 0.1 + weights[c][0] * row + weights[c][1] * column + weights[c][2] * row * column;
    }
  rs_encoding *encoding = encode_table(table, 4, 2, 8, 4, 2);
  measured m = measure("channel_axes", "", encoding);
  long double row_sum[2] = {0}, column_sum[2] = {0}, count[2] = {0};
  cr_assert_eq(m.result.curve.rows, 8);
  for (size_t c = 0; c < 8; c++) {
    long double row = weights[c][0] * weights[c][0] * 1.25L, column = weights[c][1] * weights[c][1] * 0.25L;
    long double both = weights[c][2] * weights[c][2] * 0.3125L, all = row + column + both;
    agrees(cell(&m, c, 0), c, "channel");
    agrees(cell(&m, c, 1), all > 0 ? row / all : NAN, "row_share");
    agrees(cell(&m, c, 2), all > 0 ? column / all : NAN, "column_share");
    agrees(cell(&m, c, 3), all > 0 ? both / all : NAN, "joint_share");
    agrees(cell(&m, c, 4), all, "variance");
    if (all == 0) continue;
    row_sum[c / 4] += row / all;
    column_sum[c / 4] += column / all;
    count[c / 4]++;
  }
  scalar_is(&m, "first_half_row_share", row_sum[0] / count[0], "table");
  scalar_is(&m, "first_half_column_share", column_sum[0] / count[0], "table");
  scalar_is(&m, "second_half_row_share", row_sum[1] / count[1], "table");
  scalar_is(&m, "second_half_column_share", column_sum[1] / count[1], "table");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* MAE's code: "w goes first". */
Test(channel_axes, mae_table__first_half__is_the_column) {
  rs_encoding *encoding = encode_picture("sinusoidal_2d", "", 16, 5, 7);
  measured m = measure("channel_axes", "", encoding);
  for (size_t c = 0; c < 16; c++) {
    agrees(cell(&m, c, 1), c < 8 ? 0 : 1, "row_share");
    agrees(cell(&m, c, 2), c < 8 ? 1 : 0, "column_share");
  }
  scalar_is(&m, "first_half_row_share", 0, "MAE");
  scalar_is(&m, "first_half_column_share", 1, "MAE");
  scalar_is(&m, "second_half_row_share", 1, "MAE");
  scalar_is(&m, "second_half_column_share", 0, "MAE");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* The sum of two sinusoids has no product: rows and columns alike in every channel of a square. */
Test(channel_axes, summed_sinusoids__rows_and_columns__share_alike) {
  rs_encoding *encoding = encode_picture("sinusoidal_2d", "combine=sum", 8, 6, 6);
  measured m = measure("channel_axes", "", encoding);
  for (size_t c = 0; c < 8; c++) {
    agrees(cell(&m, c, 1), 0.5, "row_share");
    agrees(cell(&m, c, 2), 0.5, "column_share");
  }
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* ---- nothing to read --------------------------------------------------------------------------------------------- */

Test(position_tables, nothing_added__no_rows__and_nan) {
  static const char *const metrics[] = {"embedding", "channel_axes"};
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    rs_encoding *encoding = encode_picture("rope", "", 8, 2, 2);
    measured m = measure(metrics[i], "", encoding);
    cr_assert_eq(m.result.curve.rows, 0);
    all_scalars_are_nan(&m, metrics[i]);
    rs_encoding_free(encoding);
  }
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *text = encode("sinusoidal", "", &model, 10);
  measured m = measure("channel_axes", "", text);
  cr_assert_eq(m.result.curve.rows, 0, "no picture");
  all_scalars_are_nan(&m, "no picture");
  rs_encoding_free(text);
}
