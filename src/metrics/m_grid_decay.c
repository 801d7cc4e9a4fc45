/* The positional kernel over a picture or a film: the patch in the middle of the middle frame, as the query, against
 * every patch of the run, before and after it. What M-RoPE (Qwen2-VL, arXiv:2409.12191, section 2.1) shares out among
 * frames, rows and columns is seen here side by side. */
#include "metric_list.h"

#include <math.h>

enum { FRAME, ROW, COLUMN }; /* as the axes t, h, w */

typedef enum run_choice { FIRST_RUN, FIRST_VIDEO, RUN_CHOICES } run_choice;

static const char *const run_words[RUN_CHOICES + 1] = {[FIRST_RUN] = "first", [FIRST_VIDEO] = "video"};

typedef struct params {
  run_choice run;
  size_t most_rows;
} params;

/* A vision run in the tokens of an encoding. */
typedef struct grid {
  const rs_metric_in *in; /* NULL where nothing but patches is counted */
  size_t begin;           /* its first token */
  size_t side[RS_AXES];   /* frames, rows, columns */
  size_t middle[RS_AXES]; /* of two middles the later one, for queries look back */
  size_t step[RS_AXES];   /* of the patches that are shown: each so many from the middle */
} grid;

static size_t token_at(const grid *g, size_t frame, size_t row, size_t column) {
  return g->begin + (frame * g->side[ROW] + row) * g->side[COLUMN] + column;
}

static double kernel(const grid *g, size_t query, size_t key) {
  return rs_encoding_mean_cosine(g->in->encoding, query, key);
}

static size_t middle_token(const grid *g) {
  return token_at(g, g->middle[FRAME], g->middle[ROW], g->middle[COLUMN]);
}

/* ---- which patches ----------------------------------------------------------------------------------------------- */

static size_t first_shown(const grid *g, size_t axis) {
  return g->middle[axis] % g->step[axis];
}

static double shown_patches(const grid *g) {
  double count = 1;
  for (size_t a = 0; a < RS_AXES; a++) count *= (double)((g->side[a] - 1 - first_shown(g, a)) / g->step[a] + 1);
  return count;
}

/* Leaves out frames, evenly, then rows and columns alike, until `most` patches are left. */
static void thin_out(grid *g, double most) {
  while (shown_patches(g) > most) {
    bool one_frame = g->step[FRAME] > g->side[FRAME];
    g->step[FRAME] += !one_frame;
    g->step[ROW] += one_frame;
    g->step[COLUMN] += one_frame;
  }
}

/* The run that is shown, and in *begin its first token; NULL where the layout has none. */
static const rs_token_run *find_run(run_choice choice, const rs_token_layout *layout, size_t *begin) {
  *begin = 0;
  for (size_t i = 0; i < layout->count; *begin += layout->runs[i++].tokens) {
    rs_modality modality = layout->runs[i].modality;
    if (modality == RS_VIDEO || (modality == RS_IMAGE && choice == FIRST_RUN)) return &layout->runs[i];
  }
  return NULL;
}

/* False where there is no run to show. */
static bool make_grid(const params *p, const rs_token_layout *layout, grid *g) {
  size_t begin;
  const rs_token_run *run = find_run(p->run, layout, &begin);
  if (run == NULL) return false;
  *g = (grid){NULL, begin, {run->frames, run->rows, run->columns}, {0}, {1, 1, 1}};
  for (size_t a = 0; a < RS_AXES; a++) g->middle[a] = g->side[a] / 2;
  thin_out(g, (double)p->most_rows);
  return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Root mean square of K(a, b) - K(b, a) over the offsets of the curve in the middle frame, a rows and b columns, a !=
 * b, that fit into the picture both ways. */
static double spatial_asymmetry(const grid *g) {
  size_t query = middle_token(g), frame = g->middle[FRAME];
  double squares = 0, count = 0;
  for (size_t row = first_shown(g, ROW); row < g->side[ROW]; row += g->step[ROW])
    for (size_t column = first_shown(g, COLUMN); column < g->side[COLUMN]; column += g->step[COLUMN]) {
      /* A swapped offset below 0 wraps to a number past every side. */
      size_t swapped_row = g->middle[ROW] + column - g->middle[COLUMN];
      size_t swapped_column = g->middle[COLUMN] + row - g->middle[ROW];
      if (swapped_row == row || swapped_row >= g->side[ROW] || swapped_column >= g->side[COLUMN]) continue;
      double difference = kernel(g, query, token_at(g, frame, row, column)) -
                          kernel(g, query, token_at(g, frame, swapped_row, swapped_column));
      squares += difference * difference;
      count++;
    }
  return count > 0 ? sqrt(squares / count) : NAN;
}

/* The largest K(dt, 0, 0) past its first local minimum, from the first frame on: that of the frames where it rises.
 * Sums of falling cosines fall in double precision too, for rounding keeps order; in short formats their noise counts
 * as a rise. */
static double temporal_recurrence(const grid *g) {
  size_t row = g->middle[ROW], column = g->middle[COLUMN], query = token_at(g, 0, row, column);
  double before = INFINITY, highest = NAN;
  for (size_t frame = 0; frame < g->side[FRAME]; frame++) {
    double k = kernel(g, query, token_at(g, frame, row, column));
    if (k > before) highest = fmax(highest, k);
    before = k;
  }
  return highest;
}

/* K at distance 1 on an axis, from the middle backwards. */
static double neighbour(const grid *g, size_t axis) {
  size_t place[RS_AXES] = {g->middle[FRAME], g->middle[ROW], g->middle[COLUMN]};
  if (place[axis] == 0) return NAN;
  place[axis]--;
  return kernel(g, middle_token(g), token_at(g, place[FRAME], place[ROW], place[COLUMN]));
}

static rs_status add_patch(const grid *g, size_t frame, size_t row, size_t column, rs_curve *curve, rs_err *err) {
  size_t query = middle_token(g), key = token_at(g, frame, row, column);
  double cells[] = {(double)frame - (double)g->middle[FRAME], (double)row - (double)g->middle[ROW],
                    (double)column - (double)g->middle[COLUMN], kernel(g, query, key), rs_mean_bias(g->in, query, key)};
  return rs_curve_add(curve, cells, err);
}

static rs_status add_patches(const grid *g, rs_curve *curve, rs_err *err) {
  for (size_t frame = first_shown(g, FRAME); frame < g->side[FRAME]; frame += g->step[FRAME])
    for (size_t row = first_shown(g, ROW); row < g->side[ROW]; row += g->step[ROW])
      for (size_t column = first_shown(g, COLUMN); column < g->side[COLUMN]; column += g->step[COLUMN])
        RS_TRY(add_patch(g, frame, row, column, curve, err));
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  grid g;
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  bool turns = encoding->rotary_dim > 0, nothing = !turns && encoding->method->bias == NULL;
  /* Several views say nothing of keys after the query. */
  if (nothing || encoding->views > 1 || !make_grid(in->params, &encoding->tokens, &g)) return RS_OK;
  g.in = in;
  RS_TRY(add_patches(&g, &result->curve, err));
  if (!turns) return RS_OK;
  result->value[0] = spatial_asymmetry(&g);
  result->value[1] = temporal_recurrence(&g);
  for (size_t a = 0; a < RS_AXES; a++) result->value[2 + a] = neighbour(&g, a);
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  grid g;
  return make_grid(given, in->tokens, &g) ? (size_t)shown_patches(&g) : 0;
}

/* ---- what it says of itself -------------------------------------------------------------------------------------- */

static const rs_param specs[] = {
    {RS_FIELD(params, run), .unit = "", RS_WORDS(run_words), .fallback = "first",
     .summary = "which run of the tokens: the first image or video, or the first video (a frame with timestamp_tokens "
                "is an image)"},
    {RS_FIELD(params, most_rows), .unit = "rows", .min = 1, .max = 1e9, .fallback = "16384",
     .summary = "a run with more patches is shown in evenly spaced frames, then rows and columns"},
};

static const rs_column scalars[] = {
    RS_COLUMN("spatial_asymmetry", "1",
              "root mean square of K(a,b) - K(b,a) over offsets of a rows and b columns, a != b; 0 where rows and "
              "columns are treated alike",
              .better = RS_LOWER),
    RS_COLUMN("temporal_recurrence", "1",
              "largest mean cosine between a patch of the first frame and its place in later frames, past the first "
              "local minimum; empty when it never rises",
              .better = RS_LOWER),
    RS_COLUMN("mean_cosine_next_frame", "1", "mean cosine one frame apart, same row and column"),
    RS_COLUMN("mean_cosine_next_row", "1", "mean cosine one row apart, same frame and column"),
    RS_COLUMN("mean_cosine_next_column", "1", "mean cosine one column apart, same frame and row"),
};

static const rs_column curve[] = {
    RS_COLUMN("dt_frames", "frames", "frame of the key - frame of the query", .integer = true, .map = RS_MAP_PANEL),
    RS_COLUMN("dh_rows", "rows", "row of the key - row of the query", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("dw_columns", "columns", "column of the key - column of the query", .integer = true, .map = RS_MAP_X),
    RS_COLUMN("mean_cosine", "1", "K = sum_j cos(angle_j) / (D/2); pairs that do not turn count as 1"),
    RS_COLUMN("bias_nats", "nats", "bias on the logit, mean over the simulated heads; empty where the method has none"),
};

const rs_metric_kind rs_metric_grid_decay = {
    .kind = {.name = "grid_decay",
             .summary = "the kernel over frames, rows and columns of an image or video, seen from its middle patch",
             .reference = "Qwen2-VL, arXiv:2409.12191, section 2.1; VideoRoPE, arXiv:2502.05173 (temporal pairs that "
                          "come round)",
             RS_KIND(specs, params)},
    .needs_picture = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, RS_AXES),
    .curve_rows = curve_rows,
    .finish = finish,
};
