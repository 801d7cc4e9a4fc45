/* Which positions the metrics of positions look at. */
#include "metric_list.h"

rs_position_set rs_positions_of(const rs_token_layout *tokens, size_t length) {
  rs_position_set set = {.count = length};
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(tokens, &begin);
  if (picture == NULL || begin + picture->rows * picture->columns > length) return set;
  return (rs_position_set){begin, picture->rows * picture->columns, picture->rows, picture->columns};
}

size_t rs_even_sample(size_t i, size_t most, size_t count) {
  if (count <= most) return i;
  return most > 1 ? i * (count - 1) / (most - 1) : 0;
}

void rs_last_distances(const rs_encoding *encoding, size_t axis, double *out) {
  size_t last = encoding->length - 1, axes = encoding->axes;
  rs_segment segments[RS_VIEWS];
  size_t count = rs_encoding_segments(encoding, last, segments);
  for (size_t i = 0; i < count; i++) {
    const double *q = encoding->pos_q[segments[i].view], *k = encoding->pos_k[segments[i].view];
    for (size_t n = segments[i].begin; n < segments[i].end; n++) out[n] = q[last * axes + axis] - k[n * axes + axis];
  }
}
