/* Learned vectors of the patches of a grid: one a patch (joint; ViT, arXiv:2010.11929, section 3.1), or one a row plus
 * one a column (sum; Pix2Struct's code, NaViT arXiv:2307.06304 section 2.1). A picture of another grid gets the table
 * resized to it (ViT, section 3.2). Frames of a video repeat.
 *
 * Text: the first token, where text opens the layout, is the class token and has a row of its own, which is never
 * resized. All other text has none and gets zeros, as DINOv2's register tokens do (arXiv:2309.16588, its code).
 *
 * The state's table has the class token's row first, then one block of rows for each grid among the pictures. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOINT = 1024 * 1024 }; /* vectors of a joint table: far above any published one (64 x 64) */

typedef enum grid_rule { GRID_OWN, GRID_RULES } grid_rule;
typedef enum combination { JOINT, SUM, COMBINATIONS } combination;
enum { AS_IT_IS = RS_BICUBIC_ALIGN + 1, RESIZES }; /* resize: none; the words before it are those of rs_resize */

typedef struct params {
  rs_real_list table_grid; /* [rows, columns] patches; grid_rule */
  combination combine;
  int resize; /* rs_resize, or AS_IT_IS */
  rs_learned_table learned;
} params;

/* The vectors of all tokens. */
typedef struct state {
  size_t length, width;
  double *table; /* (rows, width), several tokens may share one; owned */
  size_t *row;   /* (length,) each token's row; SIZE_MAX: zeros; owned */
} state;

/* A grid, its vectors as trained: joint (rows * columns, width), or sum (rows + columns, width), the rows' first. */
typedef struct trained {
  size_t rows, columns, count, width;
  double *vectors; /* owned */
  bool joint;
} trained;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  const rs_real_list *grid = &p->table_grid;
  size_t place = offsetof(params, table_grid);
  if (grid->list != NULL) {
    if (grid->count != 2) return rs_binding_fail(binding, place, err, "must be [rows, columns]");
    if (grid->list[0] != floor(grid->list[0]) || grid->list[1] != floor(grid->list[1]))
      return rs_binding_fail(binding, place, err, "must be whole numbers");
    if (p->combine == JOINT && grid->list[0] * grid->list[1] > MOST_JOINT)
      return rs_binding_fail(binding, place, err, "has more than %d patches", MOST_JOINT);
  }
  return rs_learned_table_check(binding, offsetof(params, learned), model, err);
}

/* ---- the table as trained ---------------------------------------------------------------------------------------- */

/* What was given: the vectors, or one more in front of them for the class token. */
static rs_status copy_given(const rs_real_list *given, trained *t, double *class_row, rs_err *err) {
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
static void draw(const rs_learned_table *learned, trained *t, double *class_row) {
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 0, t->count, t->width, 0, 1, class_row);
  if (t->joint) {
    rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1, t->count, t->width, 0, t->count, t->vectors);
    return;
  }
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1, t->rows, t->width, 0, t->rows, t->vectors);
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1 + t->rows, t->columns, t->width, 0, t->columns,
                        t->vectors + t->rows * t->width);
}

/* Its shape, without the vectors; there is a picture. */
static trained shape_of(const rs_stage_in *in) {
  const params *p = in->params;
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(in->tokens, &begin);
  bool own = p->table_grid.word == GRID_OWN;
  trained t = {.rows = own ? picture->rows : (size_t)p->table_grid.list[0],
               .columns = own ? picture->columns : (size_t)p->table_grid.list[1],
               .width = in->width,
               .joint = p->combine == JOINT};
  t.count = t.joint ? t.rows * t.columns : t.rows + t.columns;
  return t;
}

static rs_status fill_trained(const params *p, trained *t, double *class_row, rs_err *err) {
  t->vectors = rs_alloc(t->count, t->width * sizeof *t->vectors, err);
  if (t->vectors == NULL) return RS_MEMORY;
  if (p->learned.table.list != NULL) return copy_given(&p->learned.table, t, class_row, err);
  draw(&p->learned, t, class_row);
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
static rs_status fit(int resize, const trained *t, size_t rows, size_t columns, double *out, rs_err *err) {
  rs_resize mode = (rs_resize)resize;
  if (resize == AS_IT_IS || (rows == t->rows && columns == t->columns)) return cut(t, rows, columns, out, err);
  if (t->joint) return rs_resize_2d(t->vectors, t->rows, t->columns, t->width, mode, rows, columns, out, err);
  RS_TRY(rs_resize_2d(t->vectors, t->rows, 1, t->width, mode, rows, 1, out, err));
  return rs_resize_2d(t->vectors + t->rows * t->width, t->columns, 1, t->width, mode, columns, 1, out + rows * t->width,
                      err);
}

/* out (rows, columns, width): the vector of each patch. */
static rs_status spread(int resize, const trained *t, size_t rows, size_t columns, double *out, rs_err *err) {
  size_t width = t->width;
  if (t->joint) return fit(resize, t, rows, columns, out, err);
  double *sides = rs_alloc(rows + columns, width * sizeof *sides, err);
  if (sides == NULL) return RS_MEMORY;
  rs_status status = fit(resize, t, rows, columns, sides, err);
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

static rs_status fill_blocks(const rs_token_layout *tokens, int resize, const trained *t, const size_t *first,
                             double *table, rs_err *err) {
  size_t next = 1;
  for (size_t i = 0; i < tokens->count; i++) {
    const rs_token_run *run = &tokens->runs[i];
    if (run->modality == RS_TEXT || first[i] != next) continue; /* its grid has its block already */
    RS_TRY(spread(resize, t, run->rows, run->columns, table + next * t->width, err));
    next += run->rows * run->columns;
  }
  return RS_OK;
}

static void point_tokens(const rs_token_layout *tokens, const size_t *first, state *s) {
  for (size_t n = 0; n < s->length; n++) s->row[n] = SIZE_MAX;
  if (tokens->runs[0].modality == RS_TEXT) s->row[0] = 0;
  for (size_t i = 0, token = 0; i < tokens->count; token += tokens->runs[i++].tokens) {
    const rs_token_run *run = &tokens->runs[i];
    for (size_t k = 0; run->modality != RS_TEXT && k < run->tokens && token + k < s->length; k++)
      s->row[token + k] = first[i] + k % (run->rows * run->columns);
  }
}

static rs_status make_tables(const rs_stage_in *in, trained *t, const size_t *first, size_t rows, state *s,
                             rs_err *err) {
  const params *p = in->params;
  s->table = rs_alloc(rows, s->width * sizeof *s->table, err);
  s->row = rs_alloc(s->length, sizeof *s->row, err);
  if (s->table == NULL || s->row == NULL) return RS_MEMORY;
  RS_TRY(fill_trained(p, t, s->table, err));
  RS_TRY(fill_blocks(in->tokens, p->resize, t, first, s->table, err));
  point_tokens(in->tokens, first, s);
  return RS_OK;
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  state *s = out;
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL)
    return rs_fail(err, RS_DOMAIN, "learned_2d: there is no image or video among the tokens");
  *s = (state){.length = in->length, .width = in->width};
  trained t = shape_of(in);
  size_t *first = rs_alloc(in->tokens->count, sizeof *first, err);
  if (first == NULL) return RS_MEMORY;
  size_t rows = place_blocks(in->tokens, first);
  rs_status status = make_tables(in, &t, first, rows, s, err);
  free(t.vectors);
  free(first);
  return status;
}

static void release(void *prepared) {
  state *s = prepared;
  free(s->table);
  free(s->row);
}

/* The table as trained, and at most one vector a token. */
static double numbers(const rs_stage_in *in) {
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL) return 0;
  return (double)in->width * ((double)shape_of(in).count + 1 + (double)rs_token_layout_tokens(in->tokens));
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  const state *s = prepared;
  size_t width = s->width;
  for (size_t i = 0; i < count; i++) {
    size_t row = s->row[begin + i];
    if (row == SIZE_MAX)
      memset(out + i * width, 0, width * sizeof *out);
    else
      memcpy(out + i * width, s->table + row * width, width * sizeof *out);
  }
  return RS_OK;
}

static const char *const grids[GRID_RULES + 1] = {[GRID_OWN] = "own"};
static const char *const combinations[COMBINATIONS + 1] = {[JOINT] = "joint", [SUM] = "sum"};
static const char *const resizes[RESIZES + 1] = {[RS_BICUBIC] = "bicubic",
                                                 [RS_BILINEAR] = "bilinear",
                                                 [RS_BICUBIC_ANTIALIAS] = "bicubic_antialias",
                                                 [RS_BICUBIC_ALIGN] = "bicubic_align",
                                                 [AS_IT_IS] = "none"};

static const rs_param specs[] = {
    {RS_FIELD(params, table_grid), .unit = "patches", RS_WORDS(grids), .min = 1,
     .max = 8192, /* per side; Pix2Struct has 4096 */
     .fallback = "own", .summary = "[rows, columns] the table was trained for; own: those of the first picture"},
    {RS_FIELD(params, combine), .unit = "", RS_WORDS(combinations), .fallback = "joint",
     .summary = "one vector a patch (ViT), or one a row plus one a column (Pix2Struct, NaViT)"},
    {RS_FIELD(params, resize), .unit = "", RS_WORDS(resizes), .fallback = "bicubic",
     .summary =
         "how the table is carried to a picture of another grid, as torch does it; none: row and column index it "
         "as it is, and there is none beyond"},
    RS_LEARNED_TABLE_SPECS(params, learned),
};

const rs_embed_kind rs_embed_learned_2d = {
    .kind = {.name = "learned_2d",
             .summary =
                 "one vector a patch, or a row and a column, resized to the picture's grid; zeros for text but the "
                 "class token",
             .reference = "ViT, arXiv:2010.11929, sections 3.1 and 3.2; Pix2Struct, arXiv:2210.03347 (its code)",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .numbers = numbers,
    .fill = fill,
};
