/* How far given frequencies reach, by three criteria, and which base reaches how far by those that have a closed form.
 * A context of `length` tokens has distances 0 .. length - 1. */
#include "advice/advice.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR = 32768 }; /* distances that one thread looks at before others are woken: most violations are there */

/* Tables of the sum. */
static rs_status make_sum(const rs_turning *turning, rs_decay **sum, rs_err *err) {
  RS_FREED rs_wave *waves = rs_alloc(turning->pairs + 1, sizeof *waves, err);
  if (waves == NULL) return RS_MEMORY;
  for (size_t j = 0; j < turning->pairs; j++) waves[j] = (rs_wave){1, turning->omega[j], 0};
  waves[turning->pairs] = (rs_wave){.amplitude = (double)turning->still};
  return rs_decay_create(waves, turning->pairs + (turning->still > 0), sum, err);
}

static uint64_t first_negative(const rs_decay *sum, uint64_t most) {
  uint64_t near = most < NEAR ? most : NEAR, length = rs_decay_first_below(sum, 0, 1, near);
  return length == near && near < most ? rs_decay_first_below(sum, 0, near, most) : length;
}

/* Whether as many pairs stand still as turn, so that no sum is negative. */
static bool stays_positive(const rs_turning *turning) {
  size_t still = turning->still;
  for (size_t j = 0; j < turning->pairs; j++) still += turning->omega[j] == 0;
  return 2 * still >= turning->pairs + turning->still;
}

rs_status rs_reach_first_violation(const rs_turning *turning, uint64_t most, uint64_t *length, rs_err *err) {
  RS_HELD(rs_decay) sum = NULL;
  *length = most;
  if (stays_positive(turning)) return RS_OK;
  RS_TRY(make_sum(turning, &sum, err));
  *length = first_negative(sum, most);
  return RS_OK;
}

/* ---- many settings that are nearly alike ------------------------------------------------------------------------- */

enum { BLOCK = 256 }; /* distances that are summed together */

/* How far from its place a negative sum is looked for, in parts of the distance: settings of a search differ by as
 * much.
 */
static const double moved = 1e-3;

/* The least sum at distances [begin, begin + BLOCK), each wave turned on from one to the next; *least gets where. */
static double least_of_block(const rs_turning *turning, uint64_t begin, uint64_t length, uint64_t *least) {
  size_t count = length - begin < BLOCK ? (size_t)(length - begin) : BLOCK, lowest = 0;
  double sums[BLOCK] = {0};
  for (size_t j = 0; j < turning->pairs; j++) {
    double angle = (double)begin * turning->omega[j], real = cos(angle), imaginary = sin(angle);
    double cosine = cos(turning->omega[j]), sine = sin(turning->omega[j]);
    for (size_t i = 0; i < count; i++) {
      double next = real * cosine - imaginary * sine;
      sums[i] += real;
      imaginary = real * sine + imaginary * cosine;
      real = next;
    }
  }
  for (size_t i = 1; i < count; i++)
    if (sums[i] < sums[lowest]) lowest = i;
  *least = begin + lowest;
  return sums[lowest] + (double)turning->still;
}

/* Whether there is a negative sum about *hint, in blocks to both sides of it, the nearest first. */
static bool is_negative_about(const rs_turning *turning, uint64_t length, uint64_t *hint) {
  const double certain = 1e-6 * (double)turning->pairs; /* far more than rounding at distances below 2^28 */
  uint64_t first = *hint > BLOCK / 2 ? *hint - BLOCK / 2 : 1, least;
  size_t blocks = (size_t)(moved * (double)*hint) / BLOCK + 1;
  for (size_t b = 0; b <= 2 * blocks; b++) {
    uint64_t away = (b + 1) / 2 * BLOCK;
    bool below = b % 2 == 0;
    if (below ? first < away + 1 : first + away >= length) continue;
    if (least_of_block(turning, below ? first - away : first + away, length, &least) >= -certain) continue;
    *hint = least;
    return true;
  }
  return false;
}

/* The distance of the least sum in [begin, end): what is negative there stays so longest. */
static rs_status find_least(const rs_decay *sum, uint64_t begin, uint64_t end, uint64_t *least, rs_err *err) {
  double lowest = INFINITY, *sums = rs_alloc(NEAR, sizeof *sums, err);
  if (sums == NULL) return RS_MEMORY;
  for (; begin < end; begin += NEAR) {
    size_t count = end - begin < NEAR ? (size_t)(end - begin) : NEAR;
    rs_decay_range(sum, begin, count, sums);
    for (size_t i = 0; i < count; i++) {
      if (sums[i] >= lowest) continue;
      lowest = sums[i];
      *least = begin + i;
    }
  }
  free(sums);
  return RS_OK;
}

rs_status rs_reach_serves(const rs_turning *turning, uint64_t length, uint64_t *hint, bool *serves, rs_err *err) {
  RS_HELD(rs_decay) sum = NULL;
  *serves = false;
  if (*hint > 0 && *hint < length && is_negative_about(turning, length, hint)) return RS_OK;
  RS_TRY(make_sum(turning, &sum, err));
  uint64_t reach = first_negative(sum, length);
  *serves = reach >= length;
  *hint = 0;
  return *serves ? RS_OK : find_least(sum, reach, length, hint, err);
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
