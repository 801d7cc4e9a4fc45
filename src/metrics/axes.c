/* How fast each pair turns along time, rows and columns: M-RoPE gives a pair one axis, RoPE-Mixed a direction. */
#include "metric_list.h"

#include <math.h>

bool rs_trained_on_tokens(const rs_encoding *encoding) {
  const rs_freq_kind *kind = encoding->method->freq;
  return kind != NULL && kind->axis == NULL && kind->mix == NULL;
}

bool rs_axes_readable(const rs_encoding *encoding) {
  bool mixed = encoding->axis_weight != NULL;
  return encoding->rotary_dim > 0 && encoding->views == 1 && encoding->gain_q[0] == NULL &&
         (mixed || !encoding->own_places);
}

double rs_axis_weight(const rs_encoding *encoding, size_t pair, size_t axis) {
  if (encoding->axis_weight == NULL) return encoding->axis[pair] == axis;
  return fabs(encoding->axis_weight[pair * RS_AXES + axis]);
}
