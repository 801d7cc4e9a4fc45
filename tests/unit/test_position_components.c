/* test_position_components.c: principal components of tables against numpy's, what they are of a 2-D sinusoid, and
 * similarities of chosen positions and of all. */
#include "../measured.h"

/* A table of a class token and (rows, columns) patches, or without the class token. */
static rs_encoding *encode_grid(const double *table, bool class_token, size_t rows, size_t columns, size_t width) {
  rs_model model = plain_model(width, 1e4, 64);
  rs_recipe recipe = make_recipe("learned_2d", "");
  rs_token_run runs[] = {text_run(1), image_run(rows, columns)};
  rs_token_layout layout = {.runs = runs, .count = 2};
  recipe_set_list(&recipe, "table", table, ((class_token ? 1 : 0) + rows * columns) * width);
  rs_encoding *encoding = encode_recipe(&recipe, &model, 1 + rows * columns, &layout);
  rs_recipe_clear(&recipe);
  return encoding;
}

static rs_encoding *encode_sinusoids(const char *settings, size_t width, size_t rows, size_t columns) {
  rs_model model = plain_model(width, 1e4, 64);
  rs_token_run runs[] = {text_run(1), image_run(rows, columns)};
  return encode_runs("sinusoidal_2d", settings, &model, runs, 2, 0);
}

static void done(measured *m, rs_encoding *encoding) {
  rs_curve_clear(&m->result.curve);
  rs_encoding_free(encoding);
}

/* ---- components -------------------------------------------------------------------------------------------------- */

/* Rows of a case: its table, then of each component the share and the scores. */
static void check_case(const rs_table *golden, size_t begin, size_t end) {
  size_t rows = golden_size(golden, begin, "rows"), columns = golden_size(golden, begin, "columns");
  size_t width = golden_size(golden, begin, "width"), patches = rows * columns, numbers = (1 + patches) * width;
  const char *name = golden_text(golden, begin, "case");
  double *table = calloc(numbers, sizeof *table);
  for (size_t i = 0; i < numbers; i++) table[i] = golden_number(golden, begin + i, "value");
  rs_encoding *encoding = encode_grid(table, true, rows, columns, width);
  measured m = measure("position_components", "", encoding), shares = measure("position_pca", "", encoding);
  cr_assert_eq(m.result.curve.rows, 3 * patches, "%s", name);
  cr_assert_eq(end - begin, numbers + 3 * (1 + patches), "%s", name);
  for (size_t r = 0; r < 3 * patches; r++) {
    size_t k = r / patches, p = r % patches, at = begin + numbers + k * (1 + patches);
    double share = golden_number(golden, at, "value"), score = golden_number(golden, at + 1 + p, "value");
    agrees(cell(&m, r, 0), k + 1, "component");
    agrees(cell(&m, r, 1), 1 + p, "token");
    agrees(cell(&m, r, 2), p / columns, "row");
    agrees(cell(&m, r, 3), p % columns, "column");
    cr_assert(close_to(cell(&m, r, 4), share, 1e-12, 0), "%s share %zu: %.17g, not %.17g", name, k, cell(&m, r, 4),
              share);
    cr_assert(close_to(cell(&m, r, 5), score, 1e-10, 1e-11), "%s score %zu of %zu: %.17g, not %.17g", name, k, p,
              cell(&m, r, 5), score);
    cr_assert(close_to(cell(&shares, k, 1), share, 1e-11, 0), "%s: as position_pca", name);
  }
  rs_curve_clear(&shares.result.curve);
  done(&m, encoding);
  free(table);
}

Test(position_components, tables_of_other_grids__as_numpys_svd) {
  rs_table *golden = golden_read("components/components.csv");
  size_t cases = 0;
  for (size_t begin = 0, end; begin < golden->rows; begin = end, cases++)
    check_case(golden, begin, end = golden_run(golden, begin, "case"));
  cr_assert_eq(cases, 3u);
  rs_table_free(golden);
}

/* Half of the channels see the row alone, half the column; so do the first two components, one each. Of a square grid
 * they have equal variance, and come apart all the same. */
Test(position_components, sinusoids__first_two_vary_along_one_axis_each) {
  static const size_t grids[][2] = {{14, 14}, {9, 14}, {14, 9}, {5, 5}};
  for (size_t g = 0; g < RS_COUNT(grids); g++) {
    size_t rows = grids[g][0], columns = grids[g][1], patches = rows * columns;
    rs_encoding *encoding = encode_sinusoids("", 64, rows, columns);
    measured m = measure("position_components", "components=2", encoding);
    double down[2] = {0}, across[2] = {0}; /* largest step of the scores to the next row, and to the next column */
    cr_assert_eq(m.result.curve.rows, 2 * patches);
    for (size_t k = 0; k < 2; k++)
      for (size_t p = 0; p < patches; p++) {
        double here = cell(&m, k * patches + p, 5);
        if (p + columns < patches) down[k] = fmax(down[k], fabs(cell(&m, k * patches + p + columns, 5) - here));
        if ((p + 1) % columns > 0) across[k] = fmax(across[k], fabs(cell(&m, k * patches + p + 1, 5) - here));
      }
    size_t of_row = down[0] > across[0] ? 0 : 1;
    cr_expect(across[of_row] < 1e-12 && down[of_row] > 0.1, "%zu x %zu: %g, %g", rows, columns, across[of_row],
              down[of_row]);
    cr_expect(down[1 - of_row] < 1e-12 && across[1 - of_row] > 0.1, "%zu x %zu", rows, columns);
    cr_expect(close_to(scalar(&m, "first_component_axis"), 1, 1e-12, 0));
    cr_expect(close_to(scalar(&m, "second_component_axis"), 1, 1e-12, 0));
    if (rows != columns) cr_expect_eq(of_row, columns > rows, "the longer side varies more");
    if (rows == columns) cr_expect_eq(of_row, 1, "the column's channels come first");
    done(&m, encoding);
  }
}

/* 3 row + column in one channel: rows explain 9 / 10 of the variance of a square. */
Test(position_components, both_axes_in_one__the_larger_share) {
  double table[16 * 2] = {0};
  for (size_t p = 0; p < 16; p++) table[2 * p] = -3 * (double)(p / 4) + (double)(p % 4);
  rs_encoding *encoding = encode_grid(table, false, 4, 4, 2);
  measured m = measure("position_components", "", encoding);
  cr_assert_eq(m.result.curve.rows, 16, "one component: the others are nothing");
  cr_expect(close_to(scalar(&m, "first_component_axis"), 0.9, 1e-14, 0));
  cr_expect(isnan(scalar(&m, "second_component_axis")));
  for (size_t p = 0; p < 16; p++)
    cr_expect(close_to(cell(&m, p, 5), table[2 * p] + 3, 1e-14, 1e-14), "%zu: channel 0 points upwards", p);
  done(&m, encoding);
}

/* Half of a turned pair of equal variance: any basis is right, and the same one comes of any of them. */
Test(position_components, equal_variances__basis_begins_at_a_channel) {
  static const double turns[] = {0, 0.3, 1, 2.5};
  for (size_t t = 0; t < RS_COUNT(turns); t++) {
    double table[9 * 4], c = cos(turns[t]), s = sin(turns[t]);
    for (size_t p = 0; p < 9; p++) { /* row and column, in channels 1 and 3, turned within the patches' plane */
      double row = (double)(p / 3) - 1, column = (double)(p % 3) - 1;
      table[4 * p] = table[4 * p + 2] = 0;
      table[4 * p + 1] = c * row - s * column;
      table[4 * p + 3] = s * row + c * column;
    }
    rs_encoding *encoding = encode_grid(table, false, 3, 3, 4);
    measured m = measure("position_components", "", encoding);
    cr_assert_eq(m.result.curve.rows, 18);
    for (size_t p = 0; p < 9; p++) {
      agrees(cell(&m, p, 5), table[4 * p + 1], "channel 1");
      agrees(cell(&m, 9 + p, 5), table[4 * p + 3], "channel 3");
    }
    done(&m, encoding);
  }
}

Test(position_components, sequences_and_rotations__lines_or_nothing) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *text = encode("sinusoidal", "", &model, 40), *turning = encode("rope", "", &model, 40);
  measured m = measure("position_components", "components=1", text), none = measure("position_components", "", turning);
  cr_assert_eq(m.result.curve.rows, 40);
  cr_expect(cell(&m, 7, 1) == 7 && isnan(cell(&m, 7, 2)) && isnan(cell(&m, 7, 3)) && !isnan(cell(&m, 7, 5)));
  all_scalars_are_nan(&m, "a sequence has no axes");
  cr_assert_eq(none.result.curve.rows, 0);
  all_scalars_are_nan(&none, "nothing is added");
  rs_encoding *zeros = encode("learned", "init=zeros", &model, 8);
  measured nothing = measure("position_components", "", zeros);
  cr_assert_eq(nothing.result.curve.rows, 0, "no variance, no components");
  done(&nothing, zeros);
  done(&m, text);
  done(&none, turning);
}

/* ---- similarities ------------------------------------------------------------------------------------------------ */

/* By long doubles, as the formula has it. */
static double cosine(const double *a, const double *b, size_t width) {
  long double ab = 0, aa = 0, bb = 0;
  for (size_t c = 0; c < width; c++)
    ab += (long double)a[c] * b[c], aa += (long double)a[c] * a[c], bb += (long double)b[c] * b[c];
  return (double)(ab / sqrtl(aa * bb));
}

Test(similarity_matrix, any_table__each_with_each) {
  enum { ROWS = 3, COLUMNS = 5, WIDTH = 6, N = ROWS * COLUMNS };
  double table[N * WIDTH], mean = 0;
  uint64_t state = 19;
  for (size_t i = 0; i < RS_COUNT(table); i++) table[i] = draw_real(&state, -1, 2);
  rs_encoding *encoding = encode_grid(table, false, ROWS, COLUMNS, WIDTH);
  measured m = measure("similarity_matrix", "", encoding),
           all = measure("position_similarity", "references=all", encoding);
  cr_assert(m.result.curve.rows == N * N && all.result.curve.rows == N * N);
  for (size_t r = 0; r < N * N; r++) {
    double want = cosine(table + r / N * WIDTH, table + r % N * WIDTH, WIDTH);
    agrees(cell(&m, r, 0), 1 + r / N, "token");
    agrees(cell(&m, r, 1), 1 + r % N, "other");
    agrees(cell(&m, r, 2), want, "similarity");
    agrees(cell(&all, r, 0), 1 + r / N, "reference");
    agrees(cell(&all, r, 4), want, "map");
    if (r / N != r % N) mean += want / (N * (N - 1));
  }
  agrees(scalar(&m, "matrix_similarity"), mean, "mean of pairs");
  rs_curve_clear(&all.result.curve);
  done(&m, encoding);
}

/* Above 512 positions some are taken, both ends among them. */
Test(similarity_matrix, long_sequences__are_sampled) {
  rs_model model = plain_model(4, 1e4, 64);
  rs_encoding *encoding = encode("rope", "", &model, 1023);
  measured m = measure("similarity_matrix", "", encoding);
  cr_assert_eq(m.result.curve.rows, 512 * 512);
  agrees(cell(&m, 512 * 512 - 1, 0), 1022, "the last");
  agrees(cell(&m, 512 * 512 - 1, 2), 1, "itself");
  agrees(cell(&m, 1, 1), 2, "every other");
  agrees(cell(&m, 1, 2), (cosl(2) + cosl(0.02L)) / 2, "two turns of two tokens");
  done(&m, encoding);
}

static rs_status references_of(const rs_encoding *encoding, const double *list, size_t count, measured *m,
                               rs_err *err) {
  *m = (measured){.kind = rs_metric_find("position_similarity")};
  bound_params parameters;
  bound_make(&parameters, &m->kind->kind);
  bound_list(&parameters, "references", list, count);
  m->result.curve.columns = m->kind->curve_count;
  const rs_metric_in in = {encoding, parameters.binding.fields, NULL, 0, NULL, 0, 0};
  rs_status status = m->kind->check(&parameters.binding, err);
  if (status == RS_OK) status = m->kind->finish(&in, NULL, &m->result, err);
  bound_clear(&parameters);
  return status;
}

/* Rows and columns, and not the other way round. */
Test(position_similarity, chosen_references__in_the_order_given) {
  static const double chosen[] = {2, 3, 0, 4}, past[] = {4, 2}, odd[] = {1, 2, 3}, between[] = {0.5, 1},
                      place[] = {0, 7};
  rs_encoding *encoding = encode_sinusoids("", 8, 3, 5);
  measured m;
  rs_err err = {0};
  cr_assert_eq(references_of(encoding, chosen, 4, &m, &err), RS_OK, "%s", err.message);
  cr_assert_eq(m.result.curve.rows, 30);
  for (size_t r = 0; r < 30; r++) agrees(cell(&m, r, 0), r < 15 ? 1 + 2 * 5 + 3 : 1 + 4, "reference");
  agrees(cell(&m, 13, 4), 1, "itself");
  rs_curve_clear(&m.result.curve);
  cr_expect_eq(references_of(encoding, past, 2, &m, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "references: [4, 2] is outside of 3 x 5 positions ([0, 0] to [2, 4])");
  rs_curve_clear(&m.result.curve);
  cr_expect_eq(references_of(encoding, odd, 3, &m, NULL), RS_INPUT);
  cr_expect_eq(references_of(encoding, between, 2, &m, NULL), RS_INPUT);
  rs_encoding_free(encoding);
  rs_model model = plain_model(4, 1e4, 64);
  encoding = encode("rope", "", &model, 9);
  cr_assert_eq(references_of(encoding, place, 2, &m, NULL), RS_OK, "a sequence is one row");
  agrees(cell(&m, 0, 0), 7, "reference");
  done(&m, encoding);
  encoding = encode("rope", "", &model, 1025);
  m = (measured){.kind = rs_metric_find("position_similarity")};
  bound_params parameters;
  bound_make(&parameters, &m.kind->kind);
  bound_set(&parameters, "references", "all");
  const rs_metric_in in = {encoding, parameters.binding.fields, NULL, 0, NULL, 0, 0};
  err = (rs_err){0};
  cr_expect_eq(m.kind->finish(&in, NULL, &m.result, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "references: all is for up to 1024 positions, not 1025 (list some)");
  bound_clear(&parameters);
  rs_encoding_free(encoding);
}
