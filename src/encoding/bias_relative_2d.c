/* Swin: one learned number for each head and relative row and column, between tokens of one picture. Liu et al.,
 * arXiv:2103.14030, eq. 4; the index as in the authors' code. Each frame of a vision run is one window; between frames,
 * between runs and with text there is no bias. All windows read one table, made for the largest. */
#include "kinds.h"

typedef struct params {
  rs_learned_bias learned;
} params;

/* The largest grid of the layout; 0 x 0 without a vision run. */
typedef struct grid {
  size_t rows, columns;
} grid;

typedef struct state {
  const rs_token_layout *tokens;
  size_t heads;
  grid most;           /* Wh x Ww */
  const double *table; /* ((2 Wh - 1)(2 Ww - 1), H) */
} state;

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

static size_t rows_of(grid most) {
  return most.rows > 0 ? (2 * most.rows - 1) * (2 * most.columns - 1) : 1;
}

static size_t table_size(const rs_stage_in *in) {
  return rows_of(largest_grid(in->tokens)) * in->heads;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model; /* how many values there must be depends on the pictures */
  return rs_learned_bias_check(binding, offsetof(params, learned), err);
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  grid most = largest_grid(in->tokens);
  if (most.rows == 0)
    return rs_fail(err, RS_DOMAIN, "%s needs an image or a video (tokens: [{image: [16, 24]}])", in->method);
  *(state *)out = (state){in->tokens, in->heads, most, table};
  return rs_learned_bias_fill(in, &p->learned, rows_of(most), table, err);
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

/* A key's place is (dy + Wh - 1)(2 Ww - 1) + (dx + Ww - 1): dy and dx are query less key, Wh x Ww is the largest grid.
 */
static view view_from(const state *s, size_t query) {
  grid sides;
  size_t first;
  if (!frame_of(s->tokens, query, &first, &sides)) return (view){0};
  size_t row = (query - first) / sides.columns, column = (query - first) % sides.columns;
  size_t width = 2 * s->most.columns - 1;
  return (view){.first = first,
                .end = first + sides.rows * sides.columns,
                .columns = sides.columns,
                .corner = (row + s->most.rows - 1) * width + column + s->most.columns - 1,
                .width = width};
}

static size_t place_of(const view *v, size_t key) {
  return v->corner - (key - v->first) / v->columns * v->width - (key - v->first) % v->columns;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  view v = view_from(s, query);
  for (size_t n = begin; n < end; n++)
    bias[n - begin] = n >= v.first && n < v.end ? s->table[place_of(&v, n) * s->heads + head] : 0;
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"bias.table", rows_of(s->most), s->heads};
  return 1;
}

static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  view v = view_from(s, query);
  for (size_t n = begin > v.first ? begin : v.first; n < end && n < v.end; n++)
    arrays[0][place_of(&v, n) * s->heads + head] += by_bias[n - begin];
}

static const rs_param specs[] = {
    RS_LEARNED_BIAS_SPECS(params, learned, "(2 rows - 1)(2 columns - 1) of the largest picture", "0.02", "0.02: Swin"),
};

const rs_bias_kind rs_bias_relative_2d = {
    .kind = {.name = "relative_2d",
             .summary = "one learned number for each head, relative row and column within a picture",
             .reference = "Swin, arXiv:2103.14030, eq. 4",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
