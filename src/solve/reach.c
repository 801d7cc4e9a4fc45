/* How far given frequencies reach, by three criteria, and which base reaches how far by those that have a closed form.
 * A context of `length` tokens has distances 0 .. length - 1. */
#include "ropescope/solve.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR = 32768 }; /* distances that one thread looks at before others are woken: most violations are there */

rs_status rs_reach_first_violation(const rs_turning *turning, uint64_t most, uint64_t *length, rs_err *err) {
  rs_decay *decay;
  rs_wave *waves = rs_alloc(turning->pairs + 1, sizeof *waves, err);
  *length = 0;
  if (waves == NULL) return RS_MEMORY;
  for (size_t j = 0; j < turning->pairs; j++) waves[j] = (rs_wave){1, turning->omega[j], 0};
  waves[turning->pairs] = (rs_wave){.amplitude = (double)turning->still};
  rs_status status = rs_decay_create(waves, turning->pairs + (turning->still > 0), &decay, err);
  free(waves);
  if (status != RS_OK) return status;
  uint64_t near = most < NEAR ? most : NEAR;
  *length = rs_decay_first_below(decay, 0, 1, near);
  if (*length == near && near < most) *length = rs_decay_first_below(decay, 0, near, most);
  rs_decay_free(decay);
  return RS_OK;
}

double rs_reach_critical(const rs_turning *turning) {
  size_t pair = rs_critical_pair(turning->trained, turning->pairs, turning->train_length);
  return pair < turning->pairs ? 2 * M_PI / turning->omega[pair] : INFINITY;
}

/* Pair j stays in range while (length - 1) omega_j <= L0 trained_j. */
double rs_reach_in_range(const rs_turning *turning) {
  double reach = INFINITY;
  for (size_t j = 0; j < turning->pairs; j++)
    reach = fmin(reach, floor(rs_angle_range(turning->train_length * turning->trained[j]) / turning->omega[j]) + 1);
  return reach;
}

/* 2 pi b^(2j/R) = length at the critical pair j. */
double rs_base_critical(size_t pair, size_t pairs, double length) {
  return pow(length / (2 * M_PI), (double)pairs / (double)pair);
}

/* (length - 1) b^(-2j/R) = L0 theta^(-2j/R): of all pairs past it, the critical one asks for most. */
double rs_base_in_range(double theta, size_t pair, size_t pairs, double train_length, double length) {
  return theta * pow((length - 1) / train_length, (double)pairs / (double)pair);
}
