/* Learned vectors of the patches of a grid: one a patch (joint; ViT, arXiv:2010.11929, section 3.1), or one a row plus
 * one a column (sum; Pix2Struct's code, NaViT arXiv:2307.06304 section 2.1). A picture of another grid gets the table
 * resized to it (ViT, section 3.2). Frames of a video repeat.
 *
 * Text: the first token, where text opens the layout, is the class token and has a row of its own, which is never
 * resized. All other text has none and gets zeros, as DINOv2's register tokens do (arXiv:2309.16588, its code).
 *
 * Training changes the table as it was trained; what stands at other grids follows it. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum combination { JOINT, SUM, COMBINATIONS } combination;

typedef struct params {
  rs_real_list table_grid; /* [rows, columns] patches; rs_grid_rule */
  combination combine;
  rs_resize resize;
  rs_learned_table learned;
} params;

/* A grid's vectors, joint (rows * columns, width), or sum (rows + columns, width), the rows' first. */
typedef struct patch_grid {
  size_t rows, columns;
  size_t first;                 /* its first vector among those of all grids */
  rs_resizer *patches;          /* joint: from the grid of the table; owned */
  rs_resizer *downs, *acrosses; /* sum: the rows' and the columns'; owned */
} patch_grid;

/* The vectors a token is given, of those of all grids: their sum. SIZE_MAX: none. */
typedef struct token_vectors {
  size_t first, second;
} token_vectors;

typedef struct state {
  size_t length, width;
  bool joint;
  size_t rows, columns; /* of the table */
  double *trained;      /* (1 + the table's vectors, width): the class token's first; owned */
  patch_grid *grids;    /* (grid_count,) of the pictures; owned */
  size_t grid_count;
  double *vectors;       /* (1 + the grids' vectors, width): the class token's first; owned */
  token_vectors *tokens; /* (length,) owned */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  RS_TRY(rs_table_grid_check(binding, offsetof(params, table_grid), p->combine == JOINT, err));
  return rs_learned_table_check(binding, offsetof(params, learned), model, err);
}

/* ---- the table as trained ---------------------------------------------------------------------------------------- */

static size_t vectors_of(bool joint, size_t rows, size_t columns) {
  return joint ? rows * columns : rows + columns;
}

static size_t trained_vectors(const state *s) {
  return vectors_of(s->joint, s->rows, s->columns);
}

/* The sizes, without any vectors; there is a picture. */
static state sizes_of(const rs_stage_in *in) {
  const params *p = in->params;
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(in->tokens, &begin);
  bool natural = p->table_grid.word == RS_GRID_OWN;
  return (state){.length = in->length,
                 .width = in->width,
                 .joint = p->combine == JOINT,
                 .rows = natural ? picture->rows : (size_t)p->table_grid.list[0],
                 .columns = natural ? picture->columns : (size_t)p->table_grid.list[1]};
}

/* What was given: the vectors, or one more in front of them for the class token. */
static rs_status copy_given(const rs_real_list *given, state *s, rs_err *err) {
  size_t count = trained_vectors(s), size = count * s->width;
  bool class_token = given->count == size + s->width;
  if (!class_token && given->count != size)
    return rs_fail(err, RS_DOMAIN,
                   "learned_2d: the table has %zu numbers; a grid of %zu x %zu takes %zu vectors of %zu (and may have "
                   "one more, first, for the class token)",
                   given->count, s->rows, s->columns, count, s->width);
  memcpy(s->trained + (class_token ? 0 : s->width), given->list, given->count * sizeof *given->list);
  return RS_OK;
}

/* The stream holds the class token's row, then the vectors; a table of rows and one of columns are drawn each for
 * itself. */
static void draw(const rs_learned_table *learned, state *s) {
  size_t width = s->width, count = trained_vectors(s);
  double *vectors = s->trained + width;
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 0, count, width, 0, 1, s->trained);
  if (s->joint) {
    rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1, count, width, 0, count, vectors);
    return;
  }
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1, s->rows, width, 0, s->rows, vectors);
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 1 + s->rows, s->columns, width, 0, s->columns,
                        vectors + s->rows * width);
}

static rs_status fill_trained(const params *p, state *s, rs_err *err) {
  s->trained = rs_alloc(1 + trained_vectors(s), s->width * sizeof *s->trained, err);
  if (s->trained == NULL) return RS_MEMORY;
  if (p->learned.table.list != NULL) return copy_given(&p->learned.table, s, err);
  draw(&p->learned, s);
  return RS_OK;
}

/* ---- all grids --------------------------------------------------------------------------------------------------- */

/* Whether no run of pictures before this one has its grid. */
static bool is_new_grid(const rs_token_layout *layout, size_t index) {
  const rs_token_run *run = &layout->runs[index], *before = layout->runs;
  if (run->modality == RS_TEXT) return false;
  for (; before < run; before++)
    if (before->modality != RS_TEXT && before->rows == run->rows && before->columns == run->columns) return false;
  return true;
}

/* Vectors of all grids, without the class token's. */
static size_t all_vectors(const rs_token_layout *layout, bool joint) {
  size_t sum = 0;
  for (size_t i = 0; i < layout->count; i++)
    if (is_new_grid(layout, i)) sum += vectors_of(joint, layout->runs[i].rows, layout->runs[i].columns);
  return sum;
}

static rs_status make_grid(rs_resize mode, const state *s, patch_grid *g, rs_err *err) {
  bool same = g->rows == s->rows && g->columns == s->columns;
  if (mode == RS_CROP && (g->rows > s->rows || g->columns > s->columns))
    return rs_fail(err, RS_DOMAIN, "learned_2d: a picture of %zu x %zu is beyond the table of %zu x %zu (resize: none)",
                   g->rows, g->columns, s->rows, s->columns);
  if (same) mode = RS_CROP;
  if (s->joint) return rs_resizer_create(mode, s->rows, s->columns, g->rows, g->columns, &g->patches, err);
  RS_TRY(rs_resizer_create(mode, s->rows, 1, g->rows, 1, &g->downs, err));
  return rs_resizer_create(mode, s->columns, 1, g->columns, 1, &g->acrosses, err);
}

static rs_status make_grids(const rs_token_layout *layout, rs_resize mode, state *s, rs_err *err) {
  size_t next = 1; /* the class token's comes first */
  s->grids = rs_alloc(layout->count, sizeof *s->grids, err);
  if (s->grids == NULL) return RS_MEMORY;
  for (size_t i = 0; i < layout->count; i++) {
    if (!is_new_grid(layout, i)) continue;
    patch_grid *g = &s->grids[s->grid_count++];
    *g = (patch_grid){.rows = layout->runs[i].rows, .columns = layout->runs[i].columns, .first = next};
    RS_TRY(make_grid(mode, s, g, err));
    next += vectors_of(s->joint, g->rows, g->columns);
  }
  return RS_OK;
}

static const patch_grid *grid_of(const state *s, const rs_token_run *run) {
  const patch_grid *g = s->grids;
  while (g->rows != run->rows || g->columns != run->columns) g++;
  return g;
}

static token_vectors vectors_at(bool joint, const patch_grid *g, size_t patch) {
  if (joint) return (token_vectors){g->first + patch, SIZE_MAX};
  return (token_vectors){g->first + patch / g->columns, g->first + g->rows + patch % g->columns};
}

static void point_tokens(const rs_token_layout *layout, state *s) {
  for (size_t n = 0; n < s->length; n++) s->tokens[n] = (token_vectors){SIZE_MAX, SIZE_MAX};
  if (layout->runs[0].modality == RS_TEXT) s->tokens[0].first = 0;
  for (size_t i = 0, token = 0; i < layout->count; token += layout->runs[i++].tokens) {
    const rs_token_run *run = &layout->runs[i];
    if (run->modality == RS_TEXT) continue;
    const patch_grid *g = grid_of(s, run);
    for (size_t k = 0; k < run->tokens && token + k < s->length; k++)
      s->tokens[token + k] = vectors_at(s->joint, g, k % (run->rows * run->columns));
  }
}

/* From the table as trained to the vectors of all grids. */
static void resize_all(const state *s) {
  size_t width = s->width;
  const double *table = s->trained + width;
  memcpy(s->vectors, s->trained, width * sizeof *s->vectors);
  for (const patch_grid *g = s->grids; g < s->grids + s->grid_count; g++) {
    double *to = s->vectors + g->first * width;
    if (s->joint) {
      rs_resizer_apply(g->patches, table, width, to);
      continue;
    }
    rs_resizer_apply(g->downs, table, width, to);
    rs_resizer_apply(g->acrosses, table + s->rows * width, width, to + g->rows * width);
  }
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL)
    return rs_fail(err, RS_DOMAIN, "learned_2d: there is no image or video among the tokens");
  *s = sizes_of(in);
  RS_TRY(fill_trained(p, s, err));
  RS_TRY(make_grids(in->tokens, p->resize, s, err));
  s->vectors = rs_alloc(1 + all_vectors(in->tokens, s->joint), s->width * sizeof *s->vectors, err);
  s->tokens = rs_alloc(s->length, sizeof *s->tokens, err);
  if (s->vectors == NULL || s->tokens == NULL) return RS_MEMORY;
  point_tokens(in->tokens, s);
  resize_all(s);
  return RS_OK;
}

static void release(void *prepared) {
  state *s = prepared;
  for (size_t i = 0; i < s->grid_count; i++) {
    rs_resizer_free(s->grids[i].patches);
    rs_resizer_free(s->grids[i].downs);
    rs_resizer_free(s->grids[i].acrosses);
  }
  free(s->grids);
  free(s->trained);
  free(s->vectors);
  free(s->tokens);
}

/* The table as trained, and the grids', each with the class token's. */
static double numbers(const rs_stage_in *in) {
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL) return 0;
  state s = sizes_of(in);
  return (double)in->width * ((double)trained_vectors(&s) + (double)all_vectors(in->tokens, s.joint) + 2);
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  const state *s = prepared;
  size_t width = s->width;
  for (size_t i = 0; i < count; i++, out += width) {
    token_vectors token = s->tokens[begin + i];
    if (token.first == SIZE_MAX)
      memset(out, 0, width * sizeof *out);
    else
      memcpy(out, s->vectors + token.first * width, width * sizeof *out);
    for (size_t c = 0; token.second != SIZE_MAX && c < width; c++) out[c] += s->vectors[token.second * width + c];
  }
  return RS_OK;
}

/* ---- what training changes --------------------------------------------------------------------------------------- */

static size_t learned_rows(const void *prepared) {
  return 1 + trained_vectors(prepared);
}

static void learned_get(const void *prepared, double *table) {
  const state *s = prepared;
  memcpy(table, s->trained, learned_rows(s) * s->width * sizeof *table);
}

static void learned_set(void *prepared, const double *table) {
  const state *s = prepared;
  memcpy(s->trained, table, learned_rows(s) * s->width * sizeof *table);
  resize_all(s);
}

/* From the gradient by one of the vectors of all grids to the table. */
static void vector_gradient(const state *s, size_t vector, const double *by_vector, double *table) {
  size_t width = s->width, last = s->grid_count - 1;
  double *vectors = table + width;
  if (vector == 0) {
    for (size_t c = 0; c < width; c++) table[c] += by_vector[c];
    return;
  }
  while (s->grids[last].first > vector) last--;
  const patch_grid *g = &s->grids[last];
  size_t place = vector - g->first;
  if (s->joint)
    rs_resizer_gradient(g->patches, place / g->columns, place % g->columns, by_vector, width, width, vectors);
  else if (place < g->rows)
    rs_resizer_gradient(g->downs, place, 0, by_vector, width, width, vectors);
  else
    rs_resizer_gradient(g->acrosses, place - g->rows, 0, by_vector, width, width, vectors + s->rows * width);
}

static void gradient(const void *prepared, size_t begin, size_t count, const double *by_rows, double *table) {
  const state *s = prepared;
  for (size_t i = 0; i < count; i++) {
    token_vectors token = s->tokens[begin + i];
    if (token.first != SIZE_MAX) vector_gradient(s, token.first, by_rows + i * s->width, table);
    if (token.second != SIZE_MAX) vector_gradient(s, token.second, by_rows + i * s->width, table);
  }
}

static void grid(const void *prepared, size_t *rows, size_t *columns) {
  const state *s = prepared;
  *rows = s->rows;
  *columns = s->columns;
}

static const char *const combinations[COMBINATIONS + 1] = {[JOINT] = "joint", [SUM] = "sum"};

static const rs_param specs[] = {
    {RS_FIELD(params, table_grid), RS_TABLE_GRID,
     .summary = "[rows, columns] the table was trained for; own: those of the first picture"},
    {RS_FIELD(params, combine), .unit = "", RS_WORDS(combinations), .fallback = "joint",
     .summary = "one vector a patch (ViT), or one a row plus one a column (Pix2Struct, NaViT)"},
    {RS_FIELD(params, resize), RS_TABLE_RESIZE,
     .summary = "how the table is carried to a picture of another grid, as torch does it; none: row and column index "
                "it as it is, and there is none beyond"},
    RS_LEARNED_TABLE_SPECS(params, learned),
};

const rs_embed_kind rs_embed_learned_2d = {
    .kind = {.name = "learned_2d",
             .summary = "one vector a patch, or a row and a column, resized to the picture's grid; zeros for text but "
                        "the class token",
             .reference = "ViT, arXiv:2010.11929, sections 3.1 and 3.2; Pix2Struct, arXiv:2210.03347 (its code)",
             RS_KIND(specs, params)},
    .check = check,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .numbers = numbers,
    .fill = fill,
    .learned_rows = learned_rows,
    .learned_get = learned_get,
    .learned_set = learned_set,
    .gradient = gradient,
    .grid = grid,
};
