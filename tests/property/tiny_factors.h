/* Formulas of gains, temperatures, biases and embeddings in tiny worlds, written out from the papers. */
#ifndef ROPESCOPE_TESTS_TINY_FACTORS_H
#define ROPESCOPE_TESTS_TINY_FACTORS_H

#include <math.h>

#include "tiny.h"
#include "tiny_frequencies.h"

static inline double xpos(const tiny *t, size_t m, size_t n, size_t j) {
  double zeta = (2 * (double)j / (double)t->rotary + 0.4) / 1.4;
  return pow(zeta, ((double)m - (double)n) / 512);
}

static inline double g_of(double s) {
  return 0.1 * log(s) + 1;
}

static inline double yarn_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return g_of(S) * g_of(S);
}

static inline double yarn_squared_dynamically(const tiny *t, size_t m, size_t n, size_t j) {
  (void)m;
  (void)n;
  (void)j;
  return g_of(stretch(t)) * g_of(stretch(t));
}

static inline double one_and_a_half_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return 2.25;
}

static inline double longrope_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return 1 + log(4) / log(L0); /* max_length = 4 L0 */
}

static inline double on_softmax(const tiny *t, size_t m) {
  (void)t;
  (void)m;
  return g_of(S) * g_of(S);
}

static inline double log_n(const tiny *t, size_t m) {
  (void)t;
  return fmax(1, log((double)m + 1) / log(L0));
}

static inline double entropy_invariant(const tiny *t, size_t m) {
  (void)t;
  return log((double)m + 1) / log(L0);
}

/* s = 1 / mean of ln 1 .. ln L0 */
static inline double ssmax(const tiny *t, size_t m) {
  (void)t;
  double sum = 0;
  for (size_t n = 1; n <= L0; n++) sum += log((double)n);
  return log((double)m + 1) * L0 / sum;
}

/* beta = 0.5, every 3 tokens */
static inline double llama4(const tiny *t, size_t m) {
  (void)t;
  return 1 + 0.5 * log((double)(1 + (m + 1) / 3));
}

static inline double ministral(const tiny *t, size_t m) {
  (void)t;
  return 1 + 0.5 * log((double)(1 + m / 3));
}

static inline double alibi(const tiny *t, size_t m, size_t n) {
  (void)t;
  return -fabs((double)m - (double)n) / 256; /* the second of two heads */
}

static inline double sinusoid(const tiny *t, size_t n, size_t d) {
  double angle = (double)n / pow(10000, (double)(d - d % 2) / (double)(HEADS * t->dims));
  return d % 2 ? cos(angle) : sin(angle);
}

/* MAE: the first half of the channels is the column's, the second the row's; in each half sines, then cosines. */
static inline double patch_concat(const tiny *t, size_t n, size_t d) {
  size_t half = HEADS * t->dims / 2, quarter = half / 2, k = d % half % quarter;
  if (n == 0 || n >= PICTURE) return 0;
  double place = (double)(d < half ? (n - 1) % COLUMNS : (n - 1) / COLUMNS);
  double angle = place / pow(10000, (double)k / (double)quarter);
  return d % half < quarter ? sin(angle) : cos(angle);
}

/* The whole width for the column, and once more for the row. */
static inline double patch_sum(const tiny *t, size_t n, size_t d) {
  size_t half = HEADS * t->dims / 2;
  double omega = pow(10000, -(double)(d % half) / (double)half);
  double x = (double)((n - 1) % COLUMNS) * omega, y = (double)((n - 1) / COLUMNS) * omega;
  if (n == 0 || n >= PICTURE) return 0;
  return d < half ? sin(x) + sin(y) : cos(x) + cos(y);
}

#endif
