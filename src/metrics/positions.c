/* Which positions the metrics of positions look at. */
#include "metrics.h"

rs_position_set rs_positions_of(const rs_encoding *encoding) {
  rs_position_set set = {.count = encoding->length};
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(&encoding->tokens, &begin);
  if (picture == NULL || begin + picture->rows * picture->columns > encoding->length) return set;
  return (rs_position_set){begin, picture->rows * picture->columns, picture->rows, picture->columns};
}

size_t rs_even_sample(size_t i, size_t most, size_t count) {
  if (count <= most) return i;
  return most > 1 ? i * (count - 1) / (most - 1) : 0;
}
