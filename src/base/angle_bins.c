/* How angles spread over the circle: shares of equal parts, and how far one such spread is from another. Wu et al.,
 * "Extending Context Window of Large Language Models from a Distributional Perspective", arXiv:2410.01490, sections 3.1
 * and 3.2; counted as their code does (github.com/1180301012/DPRoPE). */
#include "base/base.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide_word;

/* 2^-32 of a turn. Angles that stand on the border of two parts, as those of whole wavelengths do, are below it or
 * above by what omega was rounded; all of them go above. */
#define BORDER (UINT64_C(1) << 32)

static size_t part_of(size_t parts, rs_turns turn, double omega, double position) {
  return (size_t)((wide_word)(rs_turns_at(turn, omega, position).high + BORDER) * parts >> 64);
}

/* In float32 throughout: the product, the remainder by a float32 2 pi, the part. */
static size_t part_in_single(size_t parts, double omega, double position) {
  const float whole = (float)(2 * M_PI), scale = (float)((double)parts / (2 * M_PI));
  float angle = fmodf((float)position * (float)omega, whole);
  size_t part = (size_t)floorf(scale * (angle < 0 ? angle + whole : angle));
  return part < parts ? part : parts - 1;
}

/* Counts of the angles of positions 0 .. count - 1, added to `counts` (parts,): each is the last one and `step`,
 * exactly. Both ways count the same. */
static void count_steps(size_t parts, wide_word step, size_t count, double *counts) {
  wide_word angle = (wide_word)BORDER << 64;
  for (size_t i = 0; i < count; i++, angle += step) counts[(size_t)((angle >> 64) * parts >> 64)] += 1;
}

/* All positions of a part at once, by one division; step > 0. */
static void count_stays(size_t parts, wide_word step, size_t count, double *counts) {
  wide_word angle = (wide_word)BORDER << 64;
  for (size_t i = 0, stay; i < count; i += stay, angle += step * stay) {
    size_t part = (size_t)((angle >> 64) * parts >> 64);
    wide_word border = (((wide_word)(part + 1) << 64) + parts - 1) / parts; /* a whole turn is 2^64 and wraps to 0 */
    wide_word more = ((border << 64) - angle - 1) / step;                   /* positions until then */
    stay = more < count - i ? (size_t)more + 1 : count - i;
    counts[part] += (double)stay;
  }
}

static void count_first(size_t parts, rs_turns turn, size_t count, double *counts) {
  enum { DIVISION = 16 }; /* positions that count_steps counts in the time of one of count_stays' parts */
  wide_word step = (wide_word)turn.high << 64 | turn.low;
  bool slow = step > 0 && turn.high < UINT64_MAX / DIVISION / parts;
  (slow ? count_stays : count_steps)(parts, step, count, counts);
}

void rs_angle_shares(const rs_angle_count *how, double omega, const double *positions, size_t count, double *shares) {
  rs_turns turn = rs_turns_of(omega);
  bool plain = positions == NULL && !how->single;
  for (size_t b = 0; b < how->parts; b++) shares[b] = how->start;
  if (plain) count_first(how->parts, turn, count, shares);
  for (size_t i = 0; i < count && !plain; i++) {
    double position = positions != NULL ? positions[i] : (double)i;
    shares[how->single ? part_in_single(how->parts, omega, position) : part_of(how->parts, turn, omega, position)] += 1;
  }
  for (size_t b = 0; b < how->parts; b++) shares[b] /= (double)count;
}

double rs_relative_entropy(const double *p, const double *q, size_t count) {
  rs_sum sum = {0};
  for (size_t b = 0; b < count; b++)
    if (p[b] > 0) rs_sum_add(&sum, p[b] * log(p[b] / q[b]));
  return rs_sum_total(&sum);
}
