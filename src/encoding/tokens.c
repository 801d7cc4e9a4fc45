/* Position ids of mixed text, image and video tokens, as Qwen2-VL and Qwen2.5-VL count them (arXiv:2409.12191,
 * section 2.1; arXiv:2502.13923, section 2.1.2). Where references differ, Qwen's own code and vLLM agree and are
 * followed. */
#include "ropescope/encoding.h"

#include <math.h>
#include <stdlib.h>

size_t rs_token_layout_tokens(const rs_token_layout *layout) {
  size_t tokens = 0;
  for (size_t i = 0; i < layout->count; i++) tokens += layout->runs[i].tokens;
  return tokens;
}

void rs_token_layout_clear(rs_token_layout *layout) {
  free(layout->runs);
  *layout = (rs_token_layout){0};
}

/* Text: all axes count on alike. Returns the next free id. */
static double text_ids(size_t tokens, double start, double (*ids)[RS_AXES]) {
  for (size_t i = 0; i < tokens; i++)
    for (size_t a = 0; a < RS_AXES; a++) ids[i][a] = start + (double)i;
  return start + (double)tokens;
}

/* A grid: frame, row and column count from the same start. Returns the largest id of any axis plus 1. */
static double grid_ids(const rs_token_run *run, double start, double (*ids)[RS_AXES]) {
  double largest = start;
  for (size_t i = 0; i < run->tokens; i++) {
    size_t column = i % run->columns, row = i / run->columns % run->rows, frame = i / (run->columns * run->rows);
    ids[i][0] = start + floor((double)frame * run->ids_per_frame); /* truncated after the product, not before */
    ids[i][1] = start + (double)row;
    ids[i][2] = start + (double)column;
    for (size_t a = 0; a < RS_AXES; a++) largest = fmax(largest, ids[i][a]);
  }
  return largest + 1;
}

rs_status rs_token_positions(const rs_token_layout *layout, size_t length, double *ids, uint32_t *run, rs_err *err) {
  size_t tokens = rs_token_layout_tokens(layout), token = 0;
  double(*rows)[RS_AXES] = (double(*)[RS_AXES])ids, start = 0;
  if (tokens > length)
    return rs_fail(err, RS_DOMAIN, "the token layout has %zu tokens, the length is only %zu", tokens, length);
  for (size_t i = 0; i <= layout->count; i++) {
    const rs_token_run *next = i < layout->count ? &layout->runs[i] : NULL;
    size_t count = next != NULL ? next->tokens : length - token;
    for (size_t k = 0; k < count && run != NULL; k++) run[token + k] = (uint32_t)i;
    bool text = next == NULL || next->modality == RS_TEXT;
    start = text ? text_ids(count, start, rows + token) : grid_ids(next, start, rows + token);
    token += count;
  }
  return RS_OK;
}
