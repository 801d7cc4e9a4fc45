/* Formulas of frequencies in tiny worlds, written out from the papers. */
#ifndef ROPESCOPE_TESTS_TINY_FREQUENCIES_H
#define ROPESCOPE_TESTS_TINY_FREQUENCIES_H

#include <math.h>

#include "tiny.h"

static inline double ladder(double theta, double dims, size_t j) {
  return exp(-2 * (double)j / dims * log(theta));
}

static inline double plain(const tiny *t, size_t j) {
  return ladder(THETA, (double)t->rotary, j);
}

static inline double abf(const tiny *t, size_t j) {
  return ladder(500000, (double)t->rotary, j);
}

static inline double half_of_head(const tiny *t, size_t j) {
  return j < t->dims / 4 ? ladder(THETA, (double)t->dims, j) : 0;
}

static inline double half_of_head_divided(const tiny *t, size_t j) {
  return half_of_head(t, j) / 3;
}

static inline double whole(double omega) {
  return 2 * M_PI / round(2 * M_PI / omega); /* no wavelength here is a half */
}

static inline double resonance(const tiny *t, size_t j) {
  return whole(plain(t, j));
}

static inline double divided(const tiny *t, size_t j) {
  return plain(t, j) / S;
}

/* max(1, L / L0) */
static inline double stretch(const tiny *t) {
  return t->length > L0 ? (double)t->length / L0 : 1;
}

static inline double divided_dynamically(const tiny *t, size_t j) {
  return plain(t, j) / stretch(t);
}

static inline double ntk_of(const tiny *t, double s, size_t j) {
  double dims = (double)t->rotary;
  return ladder(THETA * pow(s, dims / (dims - 2)), dims, j);
}

static inline double ntk(const tiny *t, size_t j) {
  return ntk_of(t, S, j);
}

static inline double dynamic_ntk(const tiny *t, size_t j) {
  return ntk_of(t, S * stretch(t) - (S - 1), j);
}

static inline double ntk_fixed(const tiny *t, size_t j) {
  return ladder(THETA * S, (double)t->rotary, j) / pow(S, 2 / (double)t->rotary);
}

static inline double ntk_mixed(const tiny *t, size_t j) {
  double pairs = (double)t->rotary / 2;
  return plain(t, j) / exp(log(S) * pow((double)(j + 1) / pairs, 0.625));
}

/* The wave, in whole tokens, that is nearest to 2 L0; the first of those. */
static inline double riflex(const tiny *t, size_t j) {
  size_t nearest = 0;
  for (size_t i = 1; i < t->rotary / 2; i++)
    if (fabs(round(2 * M_PI / plain(t, i)) - 2 * L0) < fabs(round(2 * M_PI / plain(t, nearest)) - 2 * L0)) nearest = i;
  return j == nearest ? 0.9 * 2 * M_PI / (S * L0) : plain(t, j);
}

static inline double riflex_first(const tiny *t, size_t j) {
  return j == 0 ? 0.5 * 2 * M_PI / (S * L0) : plain(t, j);
}

static inline double critical_base(const tiny *t, size_t j) {
  double trained = log(L0 / (2 * M_PI)), wanted = log(S * L0 / (2 * M_PI));
  return ladder(pow(THETA, wanted / trained), (double)t->rotary, j);
}

enum { FIFTHS = 5 };

/* Shares of the circle's fifths, each from 2^-14 counts, that n positions fall in. */
static inline void fifths(double omega, size_t n, double *share) {
  for (size_t b = 0; b < FIFTHS; b++) share[b] = 0x1p-14 / (double)n;
  for (size_t m = 0; m < n; m++) {
    double turns = (double)m * omega / (2 * M_PI);
    share[(size_t)((turns - floor(turns)) * FIFTHS)] += 1 / (double)n;
  }
}

static inline double relative_entropy(const double *p, const double *q) {
  double sum = 0;
  for (size_t b = 0; b < FIFTHS; b++) sum += p[b] * (log(p[b]) - log(q[b]));
  return sum;
}

/* Kept or divided, in S * L0 = 17.5, that is 18 positions. */
static inline double nearer_in_angles(const tiny *t, size_t j) {
  double trained[FIFTHS], kept[FIFTHS], shrunk[FIFTHS], omega = plain(t, j);
  fifths(omega, L0, trained);
  fifths(omega, 18, kept);
  fifths(omega / S, 18, shrunk);
  return relative_entropy(trained, shrunk) < relative_entropy(trained, kept) ? omega / S : omega;
}

static inline double clamp01(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The code's ramp between the pairs that turn `fast` and `slow` times in L0 tokens. */
static inline double ramp(const tiny *t, double fast, double slow, bool rounded, size_t j) {
  double dims = (double)t->rotary, low = dims * log(L0 / (fast * 2 * M_PI)) / (2 * log(THETA));
  double high = dims * log(L0 / (slow * 2 * M_PI)) / (2 * log(THETA));
  low = fmax(rounded ? floor(low) : low, 0);
  high = fmin(rounded ? ceil(high) : high, dims - 1);
  if (low == high) high += 0.001;
  return clamp01(((double)j - low) / (high - low));
}

static inline double blend(double from, double to, double share) {
  return from * (1 - share) + to * share;
}

static inline double by_parts_of(const tiny *t, double s, size_t j) {
  return blend(plain(t, j), plain(t, j) / s, ramp(t, 0.8, 0.05, false, j));
}

static inline double by_parts(const tiny *t, size_t j) {
  return by_parts_of(t, S, j);
}

static inline double by_parts_dynamic(const tiny *t, size_t j) {
  return by_parts_of(t, stretch(t), j);
}

static inline double by_parts_whole(const tiny *t, size_t j) {
  return whole(by_parts(t, j));
}

static inline double by_rotations(const tiny *t, size_t j) {
  double turns = L0 * plain(t, j) / (2 * M_PI);
  return blend(plain(t, j) / S, plain(t, j), clamp01((turns - 0.05) / (0.8 - 0.05)));
}

static inline double by_parts_v1(const tiny *t, size_t j) {
  double inner = blend(ntk(t, j), divided(t, j), ramp(t, 1.25, 0.75, true, j));
  return blend(plain(t, j), inner, ramp(t, 16, 2, true, j));
}

static inline double llama3(const tiny *t, size_t j) {
  double wavelength = 2 * M_PI / plain(t, j), smooth = (L0 / wavelength - 1) / (4 - 1);
  if (wavelength < L0 / 4.0) return plain(t, j);
  return wavelength > L0 ? divided(t, j) : (1 - smooth) * divided(t, j) + smooth * plain(t, j);
}

static inline double longrope(const tiny *t, size_t j) {
  static const double shorter[] = {1, 1.25, 1.5}, longer[] = {2, 4, 8};
  return plain(t, j) / (t->length > L0 ? longer[j] : shorter[j]);
}

static inline double listed(const tiny *t, size_t j) {
  static const double list[] = {0.3, 1.6, 0};
  (void)t;
  return list[j];
}

static inline double one(const tiny *t, size_t j) {
  (void)t;
  (void)j;
  return 1;
}

/* 3 patches a side where there were 2: steps of half the size. */
static inline double half(const tiny *t, size_t j) {
  (void)t;
  (void)j;
  return 0.5;
}

#endif
