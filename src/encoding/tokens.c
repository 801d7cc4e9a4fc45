/* Position ids of mixed text, image and video tokens. The usual scheme is that of Qwen2-VL and Qwen2.5-VL
 * (arXiv:2409.12191, section 2.1; arXiv:2502.13923, section 2.1.2); where references differ, Qwen's own code and vLLM
 * agree and are followed. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t rs_token_layout_tokens(const rs_token_layout *layout) {
  size_t tokens = 0;
  for (size_t i = 0; i < layout->count; i++) tokens += layout->runs[i].tokens;
  return tokens;
}

rs_status rs_token_layout_check(const rs_token_layout *layout, size_t length, rs_err *err) {
  size_t tokens = rs_token_layout_tokens(layout);
  if (layout->ids != NULL && layout->id_count != length)
    return rs_fail(err, RS_DOMAIN, "there are position ids for %zu tokens, the length is %zu", layout->id_count,
                   length);
  if (tokens <= length) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "the token layout has %zu tokens, the length is only %zu", tokens, length);
}

size_t rs_token_layout_reach(const rs_token_layout *layout, size_t length) {
  double last = 0;
  for (size_t i = 0; i < layout->id_count * RS_AXES && layout->ids != NULL; i++) last = fmax(last, layout->ids[i]);
  return layout->ids != NULL ? (size_t)floor(last) + 1 : length;
}

const rs_token_run *rs_token_layout_picture(const rs_token_layout *layout, size_t *begin) {
  *begin = 0;
  for (size_t i = 0; i < layout->count; i++) {
    if (layout->runs[i].modality != RS_TEXT) return &layout->runs[i];
    *begin += layout->runs[i].tokens;
  }
  return NULL;
}

const rs_token_run *rs_token_layout_run(const rs_token_layout *layout, size_t token, size_t *offset) {
  *offset = token;
  for (size_t i = 0; i < layout->count; i++) {
    if (*offset < layout->runs[i].tokens) return &layout->runs[i];
    *offset -= layout->runs[i].tokens;
  }
  return NULL;
}

void rs_token_layout_clear(rs_token_layout *layout) {
  free(layout->runs);
  free(layout->ids);
  *layout = (rs_token_layout){0};
}

/* Text: all axes count on alike. Returns the next free id. */
static double text_ids(size_t tokens, double start, double (*ids)[RS_AXES]) {
  for (size_t i = 0; i < tokens; i++)
    for (size_t a = 0; a < RS_AXES; a++) ids[i][a] = start + (double)i;
  return start + (double)tokens;
}

/* Where token i of a run stands in its grid. */
typedef struct cell {
  double frame, row, column;
} cell;

static cell cell_at(const rs_token_run *run, size_t i) {
  return (cell){(double)(i / (run->columns * run->rows)), (double)(i / run->columns % run->rows),
                (double)(i % run->columns)};
}

static double largest_of(const rs_token_run *run, double (*ids)[RS_AXES], double least) {
  double largest = least;
  for (size_t i = 0; i < run->tokens; i++)
    for (size_t a = 0; a < RS_AXES; a++) largest = fmax(largest, ids[i][a]);
  return largest;
}

static void set_ids(double *ids, double t, double h, double w) {
  ids[0] = t;
  ids[1] = h;
  ids[2] = w;
}

/* The id of a frame, past the run's start. Qwen's own code, transformers and vLLM up to late 2025 multiply float32
 * tensors from the left and cut the product; newer vLLM multiplies the two rates first, in doubles. A product that
 * ought to be whole falls short of it or not, as the rounding has it: frame 3, at 2/3 s a frame and 25 ids a second,
 * gets 50 or 49. */
static double time_id(const rs_token_run *run, rs_id_arithmetic arithmetic, double frame, double seconds) {
  if (arithmetic == RS_IDS_F64) return floor(frame * (seconds * run->ids_per_second));
  float time = (float)frame * (float)seconds;
  return floorf(time * (float)run->ids_per_second);
}

/* Each scheme fills the ids of one run of vision that starts at `start` and returns where the next run starts. */

/* Frame, row and column count from the same start; the next run starts past the largest id. */
static double qwen2_vl_ids(const rs_token_run *run, const rs_id_rule *rule, double start, double (*ids)[RS_AXES]) {
  for (size_t i = 0; i < run->tokens; i++) {
    cell place = cell_at(run, i);
    set_ids(ids[i], start + time_id(run, rule->arithmetic, place.frame, run->seconds_per_frame), start + place.row,
            start + place.column);
  }
  return largest_of(run, ids, start) + 1;
}

/* transformers since #43972: seconds are truncated before the product, and the next run starts past the larger side. */
static double hf_ids(const rs_token_run *run, const rs_id_rule *rule, double start, double (*ids)[RS_AXES]) {
  double seconds = floor(run->seconds_per_frame);
  for (size_t i = 0; i < run->tokens; i++) {
    cell place = cell_at(run, i);
    set_ids(ids[i], start + time_id(run, rule->arithmetic, place.frame, seconds), start + place.row,
            start + place.column);
  }
  return start + (double)(run->rows > run->columns ? run->rows : run->columns);
}

/* "Revisiting Multimodal Positional Encoding", arXiv:2510.23095, and its code: rows and columns of every picture count
 * from 0; the next run starts where Qwen2-VL's would. */
static double spatial_reset_ids(const rs_token_run *run, const rs_id_rule *rule, double start, double (*ids)[RS_AXES]) {
  for (size_t i = 0; i < run->tokens; i++) {
    cell place = cell_at(run, i);
    set_ids(ids[i], start + time_id(run, rule->arithmetic, place.frame, run->seconds_per_frame), place.row,
            place.column);
  }
  double sides = (double)(run->rows > run->columns ? run->rows : run->columns);
  return start + fmax(time_id(run, rule->arithmetic, (double)(run->frames - 1), run->seconds_per_frame) + 1, sides);
}

/* VideoRoPE, arXiv:2502.05173, as in its code: frames `step` apart, each centred on the diagonal where text stands; the
 * next run starts past the last frame, whatever its rows and columns reached. */
static double videorope_ids(const rs_token_run *run, const rs_id_rule *rule, double start, double (*ids)[RS_AXES]) {
  double middle_row = (double)((run->rows - 1) / 2), middle_column = (double)((run->columns - 1) / 2);
  for (size_t i = 0; i < run->tokens; i++) {
    cell place = cell_at(run, i);
    double t = start + rule->step * place.frame;
    set_ids(ids[i], t, t + place.row - middle_row, t + place.column - middle_column);
  }
  return start + rule->step * (double)(run->frames - 1) + 1;
}

static const double ROUNDING = 1e-9; /* of sums that ought to be whole; steps of the paper are powers of two */

/* V2PE, arXiv:2412.09616, and its code: one axis, on which a vision token advances by `step` where text advances by 1;
 * text goes on at whole ids. */
static double v2pe_ids(const rs_token_run *run, const rs_id_rule *rule, double start, double (*ids)[RS_AXES]) {
  for (size_t i = 0; i < run->tokens; i++) {
    double id = start - 1 + rule->step * (double)(i + 1);
    set_ids(ids[i], id, id, id);
  }
  return ceil(start - 1 + rule->step * (double)run->tokens - ROUNDING) + 1;
}

static double (*const schemes[])(const rs_token_run *run, const rs_id_rule *rule, double start,
                                 double (*ids)[RS_AXES]) = {
    [RS_IDS_QWEN2_VL] = qwen2_vl_ids,   [RS_IDS_HF] = hf_ids,     [RS_IDS_SPATIAL_RESET] = spatial_reset_ids,
    [RS_IDS_VIDEOROPE] = videorope_ids, [RS_IDS_V2PE] = v2pe_ids,
};

rs_status rs_token_positions(const rs_token_layout *layout, const rs_id_rule *rule, size_t length, double *ids,
                             uint32_t *run, rs_err *err) {
  static const rs_id_rule usual = {.scheme = RS_IDS_QWEN2_VL};
  size_t token = 0;
  double(*rows)[RS_AXES] = (double(*)[RS_AXES])ids, start = 0;
  if (rule == NULL) rule = &usual;
  RS_TRY(rs_token_layout_check(layout, length, err));
  for (size_t i = 0; i <= layout->count; i++) {
    const rs_token_run *next = i < layout->count ? &layout->runs[i] : NULL;
    size_t count = next != NULL ? next->tokens : length - token;
    for (size_t k = 0; k < count && run != NULL; k++) run[token + k] = (uint32_t)i;
    bool text = next == NULL || next->modality == RS_TEXT;
    start = text ? text_ids(count, start, rows + token) : schemes[rule->scheme](next, rule, start, rows + token);
    token += count;
  }
  if (layout->ids != NULL) memcpy(ids, layout->ids, length * RS_AXES * sizeof *ids);
  return RS_OK;
}
