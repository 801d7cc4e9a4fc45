/* Learned vectors of the patches of a grid: one a patch (joint; ViT, arXiv:2010.11929, section 3.1), or one a row plus
 * one a column (sum; Pix2Struct's code, NaViT arXiv:2307.06304 section 2.1). A picture of another grid gets the table
 * resized to it (ViT, section 3.2). Frames of a video repeat.
 *
 * Text: the first token, where text opens the layout, is the class token and has a row of its own, which is never
 * resized. All other text has none and gets zeros, as DINOv2's register tokens do (arXiv:2309.16588, its code).
 *
 * The encoding's embed_table has the class token's row first, then one block of rows for each grid among the pictures.
 */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOINT, SUM };                      /* combine */
enum { AS_IT_IS = RS_BICUBIC_ALIGN + 1 }; /* resize: none; the words before it are those of rs_resize */
enum { MOST_JOINT = 1024 * 1024 };        /* vectors of a joint table: far above any published one (64 x 64) */

/* A grid, its vectors as trained: joint (rows * columns, width), or sum (rows + columns, width), the rows' first. */
typedef struct trained {
  size_t rows, columns, count, width;
  double *vectors; /* owned */
  bool joint;
} trained;

static size_t vectors_of(bool joint, size_t rows, size_t columns) {
  return joint ? rows * columns : rows + columns;
}

static rs_status check_grid(const rs_settings *settings, rs_err *err) {
  const rs_value *grid = rs_setting(settings, "table_grid");
  if (!grid->set || grid->choice >= 0) return RS_OK;
  if (grid->count != 2) return rs_fail_on(err, RS_INPUT, "table_grid", "must be [rows, columns]");
  for (size_t i = 0; i < 2; i++)
    if (grid->list[i] != floor(grid->list[i])) return rs_fail_on(err, RS_INPUT, "table_grid", "must be whole numbers");
  if (rs_setting_choice(settings, "combine") == JOINT && grid->list[0] * grid->list[1] > MOST_JOINT)
    return rs_fail_on(err, RS_INPUT, "table_grid", "has more than %d patches", MOST_JOINT);
  return RS_OK;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(check_grid(settings, err));
  return rs_learned_check(settings, model, err);
}

/* ---- the table as trained ---------------------------------------------------------------------------------------- */

/* What was given: the vectors, or one more in front of them for the class token. */
static rs_status take_given(const rs_value *given, trained *t, double *class_row, rs_err *err) {
  size_t size = t->count * t->width;
  bool class_token = given->count == size + t->width;
  if (!class_token && given->count != size)
    return rs_fail(err, RS_DOMAIN,
                   "learned_2d: the table has %zu numbers; a grid of %zu x %zu takes %zu vectors of %zu (and may have "
                   "one more, first, for the class token)",
                   given->count, t->rows, t->columns, t->count, t->width);
  if (class_token) memcpy(class_row, given->list, t->width * sizeof *class_row);
  memcpy(t->vectors, given->list + (class_token ? t->width : 0), size * sizeof *t->vectors);
  return RS_OK;
}

/* The stream holds the class token's row, then the vectors; a table of rows and one of columns are drawn each for
 * itself. */
static void draw(const rs_settings *settings, trained *t, double *class_row) {
  rs_learned_draw(settings, RS_PURPOSE_TABLE_2D, 0, t->count, t->width, 0, 1, class_row);
  if (t->joint) {
    rs_learned_draw(settings, RS_PURPOSE_TABLE_2D, 1, t->count, t->width, 0, t->count, t->vectors);
    return;
  }
  rs_learned_draw(settings, RS_PURPOSE_TABLE_2D, 1, t->rows, t->width, 0, t->rows, t->vectors);
  rs_learned_draw(settings, RS_PURPOSE_TABLE_2D, 1 + t->rows, t->columns, t->width, 0, t->columns,
                  t->vectors + t->rows * t->width);
}

static rs_status make_trained(const rs_encoding *encoding, trained *t, double *class_row, rs_err *err) {
  const rs_settings *settings = &encoding->settings;
  const rs_value *grid = rs_setting(settings, "table_grid"), *given = rs_setting(settings, "table");
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(&encoding->tokens, &begin);
  bool own = grid->choice >= 0;
  t->joint = rs_setting_choice(settings, "combine") == JOINT;
  t->width = encoding->width;
  t->rows = own ? picture->rows : (size_t)grid->list[0];
  t->columns = own ? picture->columns : (size_t)grid->list[1];
  t->count = vectors_of(t->joint, t->rows, t->columns);
  t->vectors = rs_alloc(t->count, t->width * sizeof *t->vectors, err);
  if (t->vectors == NULL) return RS_MEMORY;
  if (given->set) return take_given(given, t, class_row, err);
  draw(settings, t, class_row);
  return RS_OK;
}

/* ---- the table of one grid --------------------------------------------------------------------------------------- */

/* The table's own first rows and columns, as absolute indices. */
static rs_status cut(const trained *t, size_t rows, size_t columns, double *out, rs_err *err) {
  size_t width = t->width;
  if (rows > t->rows || columns > t->columns)
    return rs_fail(err, RS_DOMAIN, "learned_2d: a picture of %zu x %zu is beyond the table of %zu x %zu (resize: none)",
                   rows, columns, t->rows, t->columns);
  if (!t->joint) memcpy(out, t->vectors, rows * width * sizeof *out);
  if (!t->joint) memcpy(out + rows * width, t->vectors + t->rows * width, columns * width * sizeof *out);
  for (size_t y = 0; t->joint && y < rows; y++)
    memcpy(out + y * columns * width, t->vectors + y * t->columns * width, columns * width * sizeof *out);
  return RS_OK;
}

/* The vectors of another grid, in the order of trained.vectors. */
static rs_status fit(const rs_settings *settings, const trained *t, size_t rows, size_t columns, double *out,
                     rs_err *err) {
  int resize = rs_setting_choice(settings, "resize");
  rs_resize mode = (rs_resize)resize;
  if (resize == AS_IT_IS || (rows == t->rows && columns == t->columns)) return cut(t, rows, columns, out, err);
  if (t->joint) return rs_resize_2d(t->vectors, t->rows, t->columns, t->width, mode, rows, columns, out, err);
  RS_TRY(rs_resize_2d(t->vectors, t->rows, 1, t->width, mode, rows, 1, out, err));
  return rs_resize_2d(t->vectors + t->rows * t->width, t->columns, 1, t->width, mode, columns, 1, out + rows * t->width,
                      err);
}

/* out (rows, columns, width): the vector of each patch. */
static rs_status spread(const rs_settings *settings, const trained *t, size_t rows, size_t columns, double *out,
                        rs_err *err) {
  size_t width = t->width;
  if (t->joint) return fit(settings, t, rows, columns, out, err);
  double *sides = rs_alloc(rows + columns, width * sizeof *sides, err);
  if (sides == NULL) return RS_MEMORY;
  rs_status status = fit(settings, t, rows, columns, sides, err);
  for (size_t i = 0; i < rows * columns && status == RS_OK; i++) {
    const double *row = sides + i / columns * width, *column = sides + (rows + i % columns) * width;
    for (size_t c = 0; c < width; c++) out[i * width + c] = row[c] + column[c];
  }
  free(sides);
  return status;
}

/* ---- all grids --------------------------------------------------------------------------------------------------- */

/* The first row of the block of each run's grid, in `first` (runs); text has none. Returns the rows of all blocks and
 * the class token's. */
static size_t place_blocks(const rs_token_layout *layout, size_t *first) {
  size_t rows = 1;
  for (size_t i = 0; i < layout->count; i++) {
    const rs_token_run *run = &layout->runs[i];
    size_t twin = 0;
    first[i] = 0;
    if (run->modality == RS_TEXT) continue;
    while (layout->runs[twin].modality == RS_TEXT || layout->runs[twin].rows != run->rows ||
           layout->runs[twin].columns != run->columns)
      twin++;
    first[i] = twin < i ? first[twin] : rows;
    if (twin == i) rows += run->rows * run->columns;
  }
  return rows;
}

static rs_status fill_blocks(const rs_encoding *encoding, const trained *t, const size_t *first, rs_err *err) {
  size_t next = 1;
  for (size_t i = 0; i < encoding->tokens.count; i++) {
    const rs_token_run *run = &encoding->tokens.runs[i];
    if (run->modality == RS_TEXT || first[i] != next) continue; /* its grid has its block already */
    RS_TRY(spread(&encoding->settings, t, run->rows, run->columns, encoding->embed_table + next * t->width, err));
    next += run->rows * run->columns;
  }
  return RS_OK;
}

static void point_tokens(rs_encoding *encoding, const size_t *first) {
  const rs_token_layout *layout = &encoding->tokens;
  for (size_t n = 0; n < encoding->length; n++) encoding->embed_row[n] = SIZE_MAX;
  if (layout->runs[0].modality == RS_TEXT) encoding->embed_row[0] = 0;
  for (size_t i = 0, token = 0; i < layout->count; token += layout->runs[i++].tokens) {
    const rs_token_run *run = &layout->runs[i];
    for (size_t k = 0; run->modality != RS_TEXT && k < run->tokens && token + k < encoding->length; k++)
      encoding->embed_row[token + k] = first[i] + k % (run->rows * run->columns);
  }
}

static rs_status make_tables(rs_encoding *encoding, trained *t, const size_t *first, size_t rows, rs_err *err) {
  encoding->embed_table = rs_alloc(rows, encoding->width * sizeof *encoding->embed_table, err);
  encoding->embed_row = rs_alloc(encoding->length, sizeof *encoding->embed_row, err);
  if (encoding->embed_table == NULL || encoding->embed_row == NULL) return RS_MEMORY;
  RS_TRY(make_trained(encoding, t, encoding->embed_table, err));
  RS_TRY(fill_blocks(encoding, t, first, err));
  point_tokens(encoding, first);
  return RS_OK;
}

static rs_status prepare(rs_encoding *encoding, rs_err *err) {
  size_t begin;
  if (rs_token_layout_picture(&encoding->tokens, &begin) == NULL)
    return rs_fail(err, RS_DOMAIN, "learned_2d: there is no image or video among the tokens");
  trained t = {0};
  size_t *first = rs_alloc(encoding->tokens.count, sizeof *first, err);
  if (first == NULL) return RS_MEMORY;
  size_t rows = place_blocks(&encoding->tokens, first);
  rs_status status = make_tables(encoding, &t, first, rows, err);
  free(t.vectors);
  free(first);
  return status;
}

static rs_status fill(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  size_t width = encoding->width;
  for (size_t i = 0; i < count; i++) {
    size_t row = encoding->embed_row[begin + i];
    if (row == SIZE_MAX)
      memset(out + i * width, 0, width * sizeof *out);
    else
      memcpy(out + i * width, encoding->embed_table + row * width, width * sizeof *out);
  }
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "table_grid",
     .type = RS_REALS,
     .unit = "patches",
     RS_WORD_LIST("own"),
     .min = 1,
     .max = 8192, /* per side; Pix2Struct has 4096 */
     .fallback = "own",
     .summary = "[rows, columns] the table was trained for; own: those of the first picture"},
    {.name = "combine",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("joint", "sum"),
     .fallback = "joint",
     .summary = "one vector a patch (ViT), or one a row plus one a column (Pix2Struct, NaViT)"},
    {.name = "resize",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("bicubic", "bilinear", "bicubic_antialias", "bicubic_align", "none"),
     .fallback = "bicubic",
     .summary =
         "how the table is carried to a picture of another grid, as torch does it; none: row and column index it "
         "as it is, and there is none beyond"},
    RS_LEARNED_PARAMS,
};

const rs_embed_kind rs_embed_learned_2d = {
    .kind = {.name = "learned_2d",
             .summary =
                 "one vector a patch, or a row and a column, resized to the picture's grid; zeros for text but the "
                 "class token",
             .reference = "ViT, arXiv:2010.11929, sections 3.1 and 3.2; Pix2Struct, arXiv:2210.03347 (its code)",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .prepare = prepare,
    .fill = fill,
};
