/* How angles spread over the circle: shares of equal parts, and how far one such spread is from another. Wu et al.,
 * "Extending Context Window of Large Language Models from a Distributional Perspective", arXiv:2410.01490, sections 3.1
 * and 3.2; counted as their code does (github.com/1180301012/DPRoPE). */
#include "ropescope/math.h"

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

void rs_angle_shares(const rs_angle_count *how, double omega, const double *positions, size_t count, double *shares) {
  rs_turns turn = rs_turns_of(omega);
  for (size_t b = 0; b < how->parts; b++) shares[b] = how->start;
  for (size_t i = 0; i < count; i++) {
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
