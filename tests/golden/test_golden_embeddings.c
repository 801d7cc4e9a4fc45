/* Sinusoidal embeddings and tables on other grids against the field's own code: every row, counted. */
#include "../golden.h"

/* ---- sinusoidal embeddings (g_*) --------------------------------------------------------------------------------- */

static const char *embedding_layout(const char *text) {
  if (strncmp(text, "interleaved", strlen("interleaved")) == 0) return "embedding_layout=interleaved";
  return strcmp(text, "halves_marian") == 0 ? "embedding_layout=halves" : "embedding_layout=tensor2tensor";
}

Test(golden, sinusoid__three_layouts__agree_to_1e_12) {
  rs_table *table = golden_read("g_sinusoid1d.csv");
  size_t layouts = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end, layouts++) {
    end = golden_run(table, begin, "case,layout");
    const char *layout = golden_text(table, begin, "layout");
    size_t width = golden_size(table, begin, "dim"), positions = golden_size(table, begin, "n_pos");
    rs_model model = plain_model(width / 2, 1e4, positions);
    model.heads = 2; /* the token is as wide as all heads together */
    rs_encoding *encoding = encode("sinusoidal", embedding_layout(layout), &model, positions);
    double *all = calloc(positions * width, sizeof *all);
    rs_err err = {0};
    cr_assert_eq(rs_encoding_embed(encoding, 0, positions, all, &err), RS_OK, "%s", err.message);
    for (size_t row = begin; row < end; row++) {
      size_t position = golden_size(table, row, "position"), dim = golden_size(table, row, "j");
      double got = all[position * width + dim], expected = golden_number(table, row, "value_f64");
      cr_assert(close_to(got, expected, 0, 1e-12), "%s %s position %zu dim %zu: got %.17g, expected %.17g",
                golden_text(table, begin, "case"), layout, position, dim, got, expected);
    }
    free(all);
    rs_encoding_free(encoding);
  }
  cr_assert_eq(layouts, 6u, "%zu layouts compared", layouts);
  rs_table_free(table);
}

/* One case of MAE's table, as a layout of a class token, where it has one, and a square picture. */
static void check_mae(const rs_table *table, size_t begin, size_t end) {
  const char *name = golden_text(table, begin, "case");
  size_t grid = golden_size(table, begin, "grid_size"), width = golden_size(table, begin, "dim");
  size_t class_token = golden_size(table, begin, "cls_token"), length = class_token + grid * grid;
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1},
                         {.modality = RS_IMAGE, .tokens = grid * grid, .frames = 1, .rows = grid, .columns = grid}};
  rs_token_layout layout = {.runs = class_token ? runs : runs + 1, .count = 1 + class_token};
  rs_model model = plain_model(width / 2, 1e4, 8);
  model.heads = 2;
  rs_recipe recipe = make_recipe("sinusoidal_2d", "");
  rs_encoding *encoding = encode_recipe(&recipe, &model, length, &layout);
  double *all = calloc(length * width, sizeof *all);
  cr_assert_eq(rs_encoding_embed(encoding, 0, length, all, NULL), RS_OK);
  cr_assert_eq(end - begin, length * width, "%s: %zu numbers", name, end - begin);
  for (size_t row = begin; row < end; row++) {
    size_t position = golden_size(table, row, "row"), dim = golden_size(table, row, "j");
    double got = all[position * width + dim], expected = golden_number(table, row, "value_f64");
    cr_assert(close_to(got, expected, 0, 1e-15 * 8), "%s row %zu dim %zu: got %.17g, expected %.17g", name, position,
              dim, got, expected); /* sines and cosines of at most 6 rad, and omega to one rounding */
  }
  free(all);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

Test(golden, sinusoid_2d__mae__agrees_to_8e_15) {
  rs_table *table = golden_read("g_mae_2d.csv");
  size_t cases = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end, cases++) {
    end = golden_run(table, begin, "case");
    check_mae(table, begin, end);
  }
  cr_assert_eq(cases, 2u, "%zu cases compared", cases);
  rs_table_free(table);
}

/* ---- tables on other grids (h_*) --------------------------------------------------------------------------------- */

/* The input of a case, (rows, columns, channels). */
static double *read_grid(const rs_table *table, const char *name, size_t size[3]) {
  size_t begin, end;
  golden_case(table, name, &begin, &end);
  size[0] = golden_size(table, begin, "src_h");
  size[1] = golden_size(table, begin, "src_w");
  size[2] = golden_size(table, begin, "channels");
  cr_assert_eq(end - begin, size[0] * size[1] * size[2]);
  double *grid = calloc(end - begin, sizeof *grid);
  for (size_t row = begin; row < end; row++) {
    size_t y = golden_size(table, row, "y"), x = golden_size(table, row, "x"), c = golden_size(table, row, "c");
    grid[(y * size[1] + x) * size[2] + c] = golden_number(table, row, "value");
  }
  return grid;
}

static rs_resize resize_mode(const char *word) {
  static const char *const words[] = {"bicubic", "bilinear", "bicubic_antialias", "bicubic_align"};
  size_t mode = 0;
  while (mode < RS_COUNT(words) && strcmp(words[mode], word) != 0) mode++;
  cr_assert_lt(mode, RS_COUNT(words), "%s", word);
  return (rs_resize)mode;
}

/* A value is a sum of up to 169 products of weights (whose sizes sum to less than 2) and entries (less than 3), which
 * may cancel to nothing: some roundings of 6, so 2e-14 beside the relative
 * 1e-12. float32 also rounds the places between the samples: 5e-6 of entries of about 1. */
static void check_resized(const rs_table *table, size_t begin, size_t end, const double *grid, const size_t size[3]) {
  size_t rows = golden_size(table, begin, "dst_h"), columns = golden_size(table, begin, "dst_w");
  const char *name = golden_text(table, begin, "case"), *mode = golden_text(table, begin, "mode");
  double *got = calloc(rows * columns * size[2], sizeof *got);
  rs_resizer *resizer;
  cr_assert_eq(rs_resizer_create(resize_mode(mode), size[0], size[1], rows, columns, &resizer, NULL), RS_OK);
  rs_resizer_apply(resizer, grid, size[2], got);
  rs_resizer_free(resizer);
  for (size_t row = begin; row < end; row++) {
    size_t y = golden_size(table, row, "y"), x = golden_size(table, row, "x"), c = golden_size(table, row, "c");
    double value = got[(y * columns + x) * size[2] + c], expected = golden_number(table, row, "value_f64");
    cr_assert(close_to(value, expected, 1e-12, 2e-14), "%s %s to %zu x %zu at %zu, %zu, %zu: got %.17g, expected %.17g",
              name, mode, rows, columns, y, x, c, value, expected);
    cr_assert(close_to(value, golden_number(table, row, "value_f32"), 0, 5e-6), "%s %s: float32 at %zu, %zu, %zu", name,
              mode, y, x, c);
  }
  free(got);
}

Test(golden, resize__every_mode__agrees_to_1e_12) {
  rs_table *in = golden_read("h_bicubic_in.csv"), *out = golden_read("h_bicubic_out.csv");
  size_t modes[4] = {0};
  for (size_t begin = 0, end; begin < out->rows; begin = end) {
    size_t size[3];
    end = golden_run(out, begin, "case,mode,dst_h,dst_w");
    double *grid = read_grid(in, golden_text(out, begin, "case"), size);
    check_resized(out, begin, end, grid, size);
    modes[resize_mode(golden_text(out, begin, "mode"))]++;
    free(grid);
  }
  for (size_t i = 0; i < RS_COUNT(modes); i++) cr_assert_geq(modes[i], 2u, "mode %zu: %zu grids", i, modes[i]);
  rs_table_free(in);
  rs_table_free(out);
}
