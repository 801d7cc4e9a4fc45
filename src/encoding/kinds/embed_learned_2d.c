/* Learned vectors of the patches of a grid: one a patch (joint; ViT, arXiv:2010.11929, section 3.1), one a row plus one
 * a column (sum; Pix2Struct's code, NaViT arXiv:2307.06304 section 2.1), or half a vector a row with half a one a
 * column behind it (concat; ViT's 2-D embedding, appendix D.4). A picture of another grid gets the table resized to it
 * (ViT, section 3.2); rows and columns of concat linearly unless the recipe says otherwise. Frames of a video repeat.
 *
 * Text: the first token, where text opens the layout, is the class token and has a row of its own, which is never
 * resized. All other text has none and gets zeros, as DINOv2's register tokens do (arXiv:2309.16588, its code).
 *
 * Training changes the table as it was trained; what stands at other grids follows it. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum combination { JOINT, SUM, CONCAT, COMBINATIONS } combination;

typedef struct params {
  rs_real_list table_grid; /* [rows, columns] patches; rs_grid_rule */
  combination combine;
  rs_resize resize;
  rs_learned_table learned;
} params;

/* A grid's vectors: joint (rows * columns, channels); sum and concat (rows + columns, channels), the rows' first. */
typedef struct patch_grid {
  size_t rows, columns;
  size_t first;                 /* its first vector among those of all grids */
  rs_resizer *patches;          /* joint: from the grid of the table; owned */
  rs_resizer *downs, *acrosses; /* sum, concat: the rows' and the columns'; owned */
} patch_grid;

/* The vectors a token is given, of those of all grids: their sum, or the second behind the first. SIZE_MAX: none. */
typedef struct token_vectors {
  size_t first, second;
} token_vectors;

typedef struct state {
  size_t length, width;
  combination combine;
  size_t channels;      /* numbers of a vector: the width; concat: half of it */
  size_t class_vectors; /* the class token has `width` numbers: 1 vector; concat: 2 */
  size_t rows, columns; /* of the table */
  double *trained;      /* (class_vectors + the table's vectors, channels): the class token's first; owned */
  patch_grid *grids;    /* (grid_count,) of the pictures; owned */
  size_t grid_count;
  double *vectors;       /* (class_vectors + the grids' vectors, channels): the class token's first; owned */
  token_vectors *tokens; /* (length,) owned */
} state;

/* ---- the table as trained ---------------------------------------------------------------------------------------- */

static size_t vectors_of(combination combine, size_t rows, size_t columns) {
  return combine == JOINT ? rows * columns : rows + columns;
}

static size_t trained_vectors(const state *s) {
  return vectors_of(s->combine, s->rows, s->columns);
}

/* The sizes, without any vectors; there is a picture. */
static state sizes_of(const params *p, size_t length, size_t width, const rs_token_layout *tokens) {
  size_t begin, parts = p->combine == CONCAT ? 2 : 1;
  const rs_token_run *picture = rs_token_layout_picture(tokens, &begin);
  bool natural = p->table_grid.word == RS_GRID_OWN;
  return (state){.length = length,
                 .width = width,
                 .combine = p->combine,
                 .channels = width / parts,
                 .class_vectors = parts,
                 .rows = natural ? picture->rows : (size_t)p->table_grid.list[0],
                 .columns = natural ? picture->columns : (size_t)p->table_grid.list[1]};
}

/* Whether a given table begins with the class token's numbers. RS_DOMAIN where it does not suit the grid, or no token
 * is there to have them; the message begins behind the table's name. */
static rs_status find_class_token(const params *p, const state *s, const rs_token_layout *tokens, bool *found,
                                  rs_err *err) {
  size_t given = p->learned.table.count, count = trained_vectors(s), size = count * s->channels;
  *found = given == size + s->width;
  if (!*found && given != size)
    return rs_fail(
        err, RS_DOMAIN,
        "has %zu numbers; a grid of %zu x %zu takes %zu vectors of %zu (and may have %s more, first, for the "
        "class token)%s",
        given, s->rows, s->columns, count, s->channels, s->class_vectors == 1 ? "one" : "two",
        p->table_grid.word == RS_GRID_OWN ? "; table_grid says which grid it was made for" : "");
  if (!*found || tokens->runs[0].modality == RS_TEXT) return RS_OK;
  return rs_fail(err, RS_DOMAIN,
                 "begins with %zu numbers of a class token, but no text opens the tokens (put {text: 1} before the "
                 "picture, or leave these numbers out)",
                 s->width);
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  size_t width = rs_model_width(model);
  if (p->combine == CONCAT && width % 2 != 0)
    return rs_binding_fail(binding, offsetof(params, combine), err,
                           "concat gives half of the width to rows and half to columns, and %zu is odd (joint and sum "
                           "take any width)",
                           width);
  RS_TRY(rs_table_grid_check(binding, offsetof(params, table_grid), p->combine == JOINT, err));
  return rs_learned_table_check(binding, offsetof(params, learned), model, p->combine == CONCAT ? 2 : 1, err);
}

static rs_status fit(const rs_binding *binding, size_t width, const rs_token_layout *tokens, rs_err *err) {
  const params *p = binding->fields;
  size_t begin;
  bool class_token;
  rs_err why = {0};
  if (p->learned.table.list == NULL || rs_token_layout_picture(tokens, &begin) == NULL) return RS_OK;
  const state sizes = sizes_of(p, 0, width, tokens);
  if (find_class_token(p, &sizes, tokens, &class_token, &why) == RS_OK) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, learned) + offsetof(rs_learned_table, table), err, "%s",
                         why.message);
}

/* What was given: the vectors, behind those of the class token where it has some. */
static rs_status copy_given(const params *p, const rs_token_layout *tokens, state *s, rs_err *err) {
  const rs_real_list *given = &p->learned.table;
  bool class_token;
  rs_err why = {0};
  if (find_class_token(p, s, tokens, &class_token, &why) != RS_OK)
    return rs_fail(err, why.status, "learned_2d: the table %s", why.message);
  memcpy(s->trained + (class_token ? 0 : s->width), given->list, given->count * sizeof *given->list);
  return RS_OK;
}

/* The stream holds the class token's row, then the vectors; a table of rows and one of columns are drawn each for
 * itself. */
static void draw(const rs_learned_table *learned, state *s) {
  size_t channels = s->channels, count = trained_vectors(s), above = s->class_vectors;
  double *vectors = s->trained + s->width;
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, 0, count, s->width, 0, 1, s->trained);
  if (s->combine == JOINT) {
    rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, above, count, channels, 0, count, vectors);
    return;
  }
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, above, s->rows, channels, 0, s->rows, vectors);
  rs_learned_table_draw(learned, RS_PURPOSE_TABLE_2D, above + s->rows, s->columns, channels, 0, s->columns,
                        vectors + s->rows * channels);
}

static rs_status fill_trained(const params *p, const rs_token_layout *tokens, state *s, rs_err *err) {
  s->trained = rs_alloc(s->class_vectors + trained_vectors(s), s->channels * sizeof *s->trained, err);
  if (s->trained == NULL) return RS_MEMORY;
  if (p->learned.table.list != NULL) return copy_given(p, tokens, s, err);
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
static size_t all_vectors(const rs_token_layout *layout, combination combine) {
  size_t sum = 0;
  for (size_t i = 0; i < layout->count; i++)
    if (is_new_grid(layout, i)) sum += vectors_of(combine, layout->runs[i].rows, layout->runs[i].columns);
  return sum;
}

static rs_status make_grid(rs_resize mode, const state *s, patch_grid *g, rs_err *err) {
  bool same = g->rows == s->rows && g->columns == s->columns;
  if (mode == RS_CROP && (g->rows > s->rows || g->columns > s->columns))
    return rs_fail(err, RS_DOMAIN, "learned_2d: a picture of %zu x %zu is beyond the table of %zu x %zu (resize: none)",
                   g->rows, g->columns, s->rows, s->columns);
  if (same) mode = RS_CROP;
  if (s->combine == JOINT) return rs_resizer_create(mode, s->rows, s->columns, g->rows, g->columns, &g->patches, err);
  RS_TRY(rs_resizer_create(mode, s->rows, 1, g->rows, 1, &g->downs, err));
  return rs_resizer_create(mode, s->columns, 1, g->columns, 1, &g->acrosses, err);
}

static rs_status make_grids(const rs_token_layout *layout, rs_resize mode, state *s, rs_err *err) {
  size_t next = s->class_vectors;
  s->grids = rs_alloc(layout->count, sizeof *s->grids, err);
  if (s->grids == NULL) return RS_MEMORY;
  for (size_t i = 0; i < layout->count; i++) {
    if (!is_new_grid(layout, i)) continue;
    patch_grid *g = &s->grids[s->grid_count++];
    *g = (patch_grid){.rows = layout->runs[i].rows, .columns = layout->runs[i].columns, .first = next};
    RS_TRY(make_grid(mode, s, g, err));
    next += vectors_of(s->combine, g->rows, g->columns);
  }
  return RS_OK;
}

static const patch_grid *grid_of(const state *s, const rs_token_run *run) {
  const patch_grid *g = s->grids;
  while (g->rows != run->rows || g->columns != run->columns) g++;
  return g;
}

static token_vectors vectors_at(combination combine, const patch_grid *g, size_t patch) {
  if (combine == JOINT) return (token_vectors){g->first + patch, SIZE_MAX};
  return (token_vectors){g->first + patch / g->columns, g->first + g->rows + patch % g->columns};
}

static void point_tokens(const rs_token_layout *layout, state *s) {
  for (size_t n = 0; n < s->length; n++) s->tokens[n] = (token_vectors){SIZE_MAX, SIZE_MAX};
  if (layout->runs[0].modality == RS_TEXT) s->tokens[0] = (token_vectors){0, s->combine == CONCAT ? 1 : SIZE_MAX};
  for (size_t i = 0, token = 0; i < layout->count; token += layout->runs[i++].tokens) {
    const rs_token_run *run = &layout->runs[i];
    if (run->modality == RS_TEXT) continue;
    const patch_grid *g = grid_of(s, run);
    for (size_t k = 0; k < run->tokens && token + k < s->length; k++)
      s->tokens[token + k] = vectors_at(s->combine, g, k % (run->rows * run->columns));
  }
}

/* From the table as trained to the vectors of all grids. */
static void resize_all(const state *s) {
  size_t channels = s->channels;
  const double *table = s->trained + s->width;
  memcpy(s->vectors, s->trained, s->width * sizeof *s->vectors);
  for (const patch_grid *g = s->grids; g < s->grids + s->grid_count; g++) {
    double *to = s->vectors + g->first * channels;
    if (s->combine == JOINT) {
      rs_resizer_apply(g->patches, table, channels, to);
      continue;
    }
    rs_resizer_apply(g->downs, table, channels, to);
    rs_resizer_apply(g->acrosses, table + s->rows * channels, channels, to + g->rows * channels);
  }
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL)
    return rs_fail(err, RS_DOMAIN, "learned_2d: there is no image or video among the tokens");
  *s = sizes_of(p, in->length, in->width, in->tokens);
  RS_TRY(fill_trained(p, in->tokens, s, err));
  RS_TRY(make_grids(in->tokens, p->resize, s, err));
  s->vectors = rs_alloc(s->class_vectors + all_vectors(in->tokens, s->combine), s->channels * sizeof *s->vectors, err);
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
  state s = sizes_of(in->params, in->length, in->width, in->tokens);
  size_t vectors = trained_vectors(&s) + all_vectors(in->tokens, s.combine) + 2 * s.class_vectors;
  return (double)s.channels * (double)vectors;
}

/* Where in its row the token's second vector begins. */
static size_t second_at(const state *s) {
  return s->combine == CONCAT ? s->channels : 0;
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  const state *s = prepared;
  size_t channels = s->channels;
  for (size_t i = 0; i < count; i++, out += s->width) {
    token_vectors token = s->tokens[begin + i];
    double *second = out + second_at(s);
    memset(out, 0, s->width * sizeof *out);
    if (token.first != SIZE_MAX) memcpy(out, s->vectors + token.first * channels, channels * sizeof *out);
    for (size_t c = 0; token.second != SIZE_MAX && c < channels; c++)
      second[c] += s->vectors[token.second * channels + c];
  }
  return RS_OK;
}

/* ---- what training changes --------------------------------------------------------------------------------------- */

static size_t learned_rows(const void *prepared) {
  const state *s = prepared;
  return s->class_vectors + trained_vectors(s);
}

static size_t learned_columns(const void *prepared) {
  return ((const state *)prepared)->channels;
}

static void learned_get(const void *prepared, double *table) {
  const state *s = prepared;
  memcpy(table, s->trained, learned_rows(s) * s->channels * sizeof *table);
}

static void learned_set(void *prepared, const double *table) {
  const state *s = prepared;
  memcpy(s->trained, table, learned_rows(s) * s->channels * sizeof *table);
  resize_all(s);
}

/* From the gradient by one of the vectors of all grids to the table. */
static void vector_gradient(const state *s, size_t vector, const double *by_vector, double *table) {
  size_t channels = s->channels, last = s->grid_count - 1;
  double *vectors = table + s->width;
  if (vector < s->class_vectors) {
    for (size_t c = 0; c < channels; c++) table[vector * channels + c] += by_vector[c];
    return;
  }
  while (s->grids[last].first > vector) last--;
  const patch_grid *g = &s->grids[last];
  size_t place = vector - g->first;
  if (s->combine == JOINT)
    rs_resizer_gradient(g->patches, place / g->columns, place % g->columns, by_vector, channels, channels, vectors);
  else if (place < g->rows)
    rs_resizer_gradient(g->downs, place, 0, by_vector, channels, channels, vectors);
  else
    rs_resizer_gradient(g->acrosses, place - g->rows, 0, by_vector, channels, channels, vectors + s->rows * channels);
}

static void gradient(const void *prepared, size_t begin, size_t count, const double *by_rows, double *table) {
  const state *s = prepared;
  for (size_t i = 0; i < count; i++) {
    token_vectors token = s->tokens[begin + i];
    const double *by_row = by_rows + i * s->width;
    if (token.first != SIZE_MAX) vector_gradient(s, token.first, by_row, table);
    if (token.second != SIZE_MAX) vector_gradient(s, token.second, by_row + second_at(s), table);
  }
}

static void grid(const void *prepared, size_t *rows, size_t *columns) {
  const state *s = prepared;
  *rows = s->rows;
  *columns = s->columns;
}

static const char *defaults(const rs_settings *settings, const char **value) {
  *value = rs_resize_words[RS_BILINEAR];
  return rs_setting(settings, "combine")->choice == CONCAT ? "resize" : NULL;
}

static const char *const combinations[COMBINATIONS + 1] = {[JOINT] = "joint", [SUM] = "sum", [CONCAT] = "concat"};

static const rs_param specs[] = {
    {RS_FIELD(params, table_grid), RS_TABLE_GRID,
     .summary = "[rows, columns] the table was trained for; own: those of the first picture"},
    {RS_FIELD(params, combine), .unit = "", RS_WORDS(combinations), .fallback = "joint",
     .summary = "one vector a patch (ViT), one a row plus one a column (Pix2Struct, NaViT), or half a one a row, then "
                "half a one a column (ViT's 2-D embedding; an even width)"},
    {RS_FIELD(params, resize), RS_TABLE_RESIZE,
     .summary = "how the table is carried to a picture of another grid, as torch does it; none: row and column index "
                "it as it is, and there is none beyond; for combine: concat the default is bilinear: rows and columns "
                "each linearly"},
    RS_LEARNED_TABLE_SPECS(params, learned),
};

const rs_embed_kind rs_embed_learned_2d = {
    .kind = {.name = "learned_2d",
             .summary = "one vector a patch, or a row and a column, resized to the picture's grid; zeros for text but "
                        "the class token",
             .reference = "ViT, arXiv:2010.11929, sections 3.1 and 3.2; Pix2Struct, arXiv:2210.03347 (its code)",
             RS_KIND(specs, params)},
    .check = check,
    .defaults = defaults,
    .fit = fit,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .numbers = numbers,
    .fill = fill,
    .learned_rows = learned_rows,
    .learned_columns = learned_columns,
    .learned_get = learned_get,
    .learned_set = learned_set,
    .gradient = gradient,
    .grid = grid,
};
