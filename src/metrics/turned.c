/* How far the pairs turn between the last query and its keys, where each pair has one distance: what metrics of changed
 * rotary angles share. */
#include "metric_list.h"

#include <math.h>

enum { NEAR = 8 };

/* Pairs that mix axes, or read places of their own, have no one distance. */
bool rs_turns_readable(const rs_encoding *encoding) {
  return encoding->rotary_dim > 1 && !encoding->own_places && encoding->axis_weight == NULL;
}

double rs_turned(const rs_encoding *encoding, size_t pair, size_t m) {
  size_t query = encoding->length - 1, key = query - m, axes = encoding->axes, axis = encoding->axis[pair];
  size_t view = rs_encoding_view(encoding, query, key);
  double distance = encoding->pos_q[view][query * axes + axis] - encoding->pos_k[view][key * axes + axis];
  return distance * encoding->omega[pair];
}

double rs_new_angle_turns(const rs_encoding *encoding) {
  const double turn = 2 * M_PI;
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0;
  for (size_t j = 0; j < pairs; j++) {
    double trained = encoding->train_length * encoding->omega_trained[j];
    if (trained < turn) sum += fmin(fmax(0, rs_turned(encoding, j, encoding->length - 1) - trained), turn) / turn;
  }
  return sum / (double)pairs;
}

double rs_near_turn(const rs_encoding *encoding) {
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0, weights = 0;
  for (size_t m = 1; m <= NEAR && m < encoding->length; m++) {
    double lost = 0;
    for (size_t j = 0; j < pairs; j++)
      lost += 1 - cos(rs_turned(encoding, j, m) - encoding->omega_trained[j] * (double)m);
    sum += lost / (double)pairs / (double)m;
    weights += 1 / (double)m;
  }
  return weights > 0 ? sum / weights : 0;
}

double rs_last_logit_factor(const rs_encoding *encoding) {
  size_t last = encoding->length - 1;
  double factor = rs_logit_factor(encoding, last);
  return isnan(factor) ? encoding->amp * encoding->amp * encoding->logit_scale[last] : factor;
}
