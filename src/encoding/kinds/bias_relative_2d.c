/* Swin: one learned number for each head and relative row and column, between tokens of one picture. Liu et al.,
 * arXiv:2103.14030, eq. 4; the index as in the authors' code. Each frame of a vision run is one window; between frames,
 * between runs and with text there is no bias. All windows read one table, that of the largest.
 *
 * Where the table was trained for another window it is resized to the largest's relative rows and columns, as that code
 * does when it loads one: a step in a larger window is then a smaller part of the table. */
#include "encoding/kinds.h"

#include <stdlib.h>

typedef struct params {
  rs_real_list table_grid; /* [rows, columns] patches; rs_grid_rule */
  rs_resize resize;
  rs_learned_bias learned;
} params;

typedef struct grid {
  size_t rows, columns;
} grid;

/* Tables of a window Wh x Ww are ((2 Wh - 1)(2 Ww - 1), H). */
typedef struct state {
  const rs_token_layout *tokens;
  size_t heads;
  grid trained, window; /* that of the table, and the one it is read for */
  const double *table;  /* as trained */
  double *read;         /* for the window */
  double *by_head;      /* (H, rows of it) the same turned over: the keys of a row stand together; owned */
  rs_resizer *resizer;  /* from one to the other; NULL: they are the same; owned */
} state;

/* The largest grid of the layout; 0 x 0 without a vision run. */
static grid largest_grid(const rs_token_layout *tokens) {
  grid largest = {0, 0};
  for (size_t i = 0; i < tokens->count; i++) {
    const rs_token_run *run = &tokens->runs[i];
    if (run->modality == RS_TEXT) continue;
    largest.rows = run->rows > largest.rows ? run->rows : largest.rows;
    largest.columns = run->columns > largest.columns ? run->columns : largest.columns;
  }
  return largest;
}

static size_t rows_of(grid window) {
  return window.rows > 0 ? (2 * window.rows - 1) * (2 * window.columns - 1) : 1;
}

static grid trained_grid(const rs_stage_in *in) {
  const rs_real_list *given = &((const params *)in->params)->table_grid;
  return given->list != NULL ? (grid){(size_t)given->list[0], (size_t)given->list[1]} : largest_grid(in->tokens);
}

/* What the table is read for: resize: none reads it as it is. */
static grid read_grid(const rs_stage_in *in) {
  bool crops = ((const params *)in->params)->resize == RS_CROP;
  return crops ? trained_grid(in) : largest_grid(in->tokens);
}

static bool same_grid(grid a, grid b) {
  return a.rows == b.rows && a.columns == b.columns;
}

/* The table as trained, then the one that is read. */
static size_t table_size(const rs_stage_in *in) {
  grid trained = trained_grid(in), window = read_grid(in);
  return in->heads * (rows_of(trained) + (same_grid(trained, window) ? 0 : rows_of(window)));
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model; /* how many values there must be depends on the pictures */
  RS_TRY(rs_table_grid_check(binding, offsetof(params, table_grid), true, err));
  return rs_learned_bias_check(binding, offsetof(params, learned), err);
}

static double numbers(const rs_stage_in *in) {
  return (double)(in->heads * rows_of(read_grid(in)));
}

static void learned_changed(void *prepared) {
  state *s = prepared;
  size_t rows = rows_of(s->window);
  if (s->resizer != NULL) rs_resizer_apply(s->resizer, s->table, s->heads, s->read);
  for (size_t place = 0; place < rows; place++)
    for (size_t h = 0; h < s->heads; h++) s->by_head[h * rows + place] = s->read[place * s->heads + h];
}

static rs_status make_resizer(rs_resize mode, state *s, rs_err *err) {
  if (same_grid(s->trained, s->window)) return RS_OK;
  return rs_resizer_create(mode, 2 * s->trained.rows - 1, 2 * s->trained.columns - 1, 2 * s->window.rows - 1,
                           2 * s->window.columns - 1, &s->resizer, err);
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  grid most = largest_grid(in->tokens), trained = trained_grid(in), window = read_grid(in);
  if (most.rows == 0)
    return rs_fail(err, RS_DOMAIN, "%s needs an image or a video (tokens: [{image: [16, 24]}])", in->method);
  if (most.rows > window.rows || most.columns > window.columns)
    return rs_fail(err, RS_DOMAIN, "%s: a picture of %zu x %zu is beyond the table of %zu x %zu (resize: none)",
                   in->method, most.rows, most.columns, window.rows, window.columns);
  state *s = out;
  *s = (state){.tokens = in->tokens, .heads = in->heads, .trained = trained, .window = window, .table = table};
  s->read = table + (same_grid(trained, window) ? 0 : rows_of(trained) * in->heads);
  RS_TRY(rs_learned_bias_fill(in, &p->learned, rows_of(trained), table, err));
  RS_TRY(make_resizer(p->resize, s, err));
  s->by_head = rs_alloc(s->heads * rows_of(window), sizeof *s->by_head, err);
  if (s->by_head == NULL) return RS_MEMORY;
  learned_changed(s);
  return RS_OK;
}

static void release(void *prepared) {
  state *s = prepared;
  rs_resizer_free(s->resizer);
  free(s->by_head);
}

/* The frame that holds `token`, as its first token and its sides; false for text. */
static bool frame_of(const rs_token_layout *tokens, size_t token, size_t *first, grid *sides) {
  size_t offset;
  const rs_token_run *run = rs_token_layout_run(tokens, token, &offset);
  if (run == NULL || run->modality == RS_TEXT) return false;
  *sides = (grid){run->rows, run->columns};
  *first = token - offset % (run->rows * run->columns);
  return true;
}

/* Where in the table a query finds the keys of its frame. */
typedef struct view {
  size_t first, end;    /* tokens of the frame; none for text */
  size_t columns;       /* of the frame */
  size_t corner, width; /* the first token's place, and places from one row to the next */
} view;

/* A key's place is (dy + Wh - 1)(2 Ww - 1) + (dx + Ww - 1): dy and dx are query less key, Wh x Ww is the window. */
static view view_from(const state *s, size_t query) {
  grid sides;
  size_t first;
  if (!frame_of(s->tokens, query, &first, &sides)) return (view){0};
  size_t row = (query - first) / sides.columns, column = (query - first) % sides.columns;
  size_t width = 2 * s->window.columns - 1;
  return (view){.first = first,
                .end = first + sides.rows * sides.columns,
                .columns = sides.columns,
                .corner = (row + s->window.rows - 1) * width + column + s->window.columns - 1,
                .width = width};
}

static size_t place_of(const view *v, size_t key) {
  return v->corner - (key - v->first) / v->columns * v->width - (key - v->first) % v->columns;
}

/* Of the keys of a frame those of one row stand together: a division a row, not one a key. */
static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  view v = view_from(s, query);
  const double *table = s->by_head + head * rows_of(s->window);
  size_t n = begin;
  for (; n < end && n < v.first; n++) bias[n - begin] = 0;
  while (n < end && n < v.end) {
    size_t left = v.columns - (n - v.first) % v.columns, stop = end - n < left ? end : n + left;
    for (size_t place = place_of(&v, n); n < stop; n++, place--) bias[n - begin] = table[place];
  }
  for (; n < end; n++) bias[n - begin] = 0;
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"bias.table", rows_of(s->trained), s->heads};
  return 1;
}

static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  view v = view_from(s, query);
  for (size_t n = begin > v.first ? begin : v.first; n < end && n < v.end; n++) {
    size_t place = place_of(&v, n);
    if (s->resizer == NULL)
      arrays[0][place * s->heads + head] += by_bias[n - begin];
    else
      rs_resizer_gradient(s->resizer, place / v.width, place % v.width, &by_bias[n - begin], 1, s->heads,
                          arrays[0] + head);
  }
}

static void table_grid(const void *prepared, size_t *rows, size_t *columns) {
  const state *s = prepared;
  *rows = s->trained.rows;
  *columns = s->trained.columns;
}

static const rs_param specs[] = {
    {RS_FIELD(params, table_grid), RS_TABLE_GRID,
     .summary = "[rows, columns] of the window the table was trained for; own: those of the largest picture"},
    {RS_FIELD(params, resize), RS_TABLE_RESIZE,
     .summary = "how the table is carried to a largest picture of another grid (bicubic: Swin); none: relative rows "
                "and columns index it as it is, and there is none beyond"},
    RS_LEARNED_BIAS_SPECS(params, learned, "(2 rows - 1)(2 columns - 1) of that window", "0.02", "0.02: Swin"),
};

const rs_bias_kind rs_bias_relative_2d = {
    .kind = {.name = "relative_2d",
             .summary = "one learned number for each head, relative row and column within a picture",
             .reference = "Swin, arXiv:2103.14030, eq. 4",
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .numbers = numbers,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .row = row,
    .learned = learned,
    .learned_changed = learned_changed,
    .gradient = gradient,
    .grid = table_grid,
};
