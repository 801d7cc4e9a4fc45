/* Formulas of positions in tiny worlds, written out from the papers. */
#ifndef ROPESCOPE_TESTS_TINY_POSITIONS_H
#define ROPESCOPE_TESTS_TINY_POSITIONS_H

#include <math.h>

#include "tiny.h"
#include "tiny_frequencies.h"

static inline void divided_places(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  *q = (double)m / S;
  *k = (double)n / S;
}

/* window = 2, group = 3 */
static inline void grouped(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  if (m - n < 2) return;
  *q = (double)(m / 3 + 2 - 2 / 3);
  *k = (double)(n / 3);
}

/* How far a bent map puts two tokens apart, as a place of the query beside the key's. */
static inline void apart(double distance, size_t n, double *q, double *k) {
  *q = (double)n + distance;
  *k = (double)n;
}

/* window = 2 */
static inline void clamped(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  apart(fmin((double)(m - n), 2), n, q, k);
}

/* window = 2, a quarter of what is beyond */
static inline void leaking(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n);
  apart(d < 2 ? d : 2 + (d - 2) / 4, n, q, k);
}

static inline void ceiling(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  apart(fmin((double)(m - n), L0), n, q, k);
}

/* Chunks of 3, positions up to 4: exact within a chunk, up to 4 - n mod 3 in the next, that constant beyond. */
static inline void chunked(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n), most = 4 - (double)(n % 3);
  apart(m / 3 == n / 3 ? d : m / 3 == n / 3 + 1 ? fmin(d, most) : most, n, q, k);
}

/* shift = 3, local = 1 */
static inline void shifted(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n);
  apart(d < 3 ? d : d - 3 + 1, n, q, k);
}

/* t, h, w of a token; the picture starts at id 1, the text after it at 3. */
static inline double id(const tiny *t, size_t n, size_t axis) {
  if (!t->picture || n == 0) return (double)n;
  if (n >= PICTURE) return (double)(3 + n - PICTURE);
  return axis == 0 ? 1 : axis == 1 ? 1 + (double)((n - 1) / COLUMNS) : 1 + (double)((n - 1) % COLUMNS);
}

/* Thirds of at most three pairs: t, h, w in this order. */
static inline void thirds(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = id(t, m, j);
  *k = id(t, n, j);
}

/* MRoPE-I: the same thirds; rows and columns from 0. */
static inline void reset_thirds(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  bool vision_m = t->picture && m > 0 && m < PICTURE, vision_n = t->picture && n > 0 && n < PICTURE;
  *q = id(t, m, j) - (vision_m && j > 0 ? 1 : 0);
  *k = id(t, n, j) - (vision_n && j > 0 ? 1 : 0);
}

/* VideoRoPE: one pair t; two h, t; three h, w, t. A single frame takes one id of t, and text goes on from there. */
static inline void spatial_first(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  static const size_t axes[][3] = {{0}, {1, 0}, {1, 2, 0}};
  size_t axis = axes[t->rotary / 2 - 1][j];
  *q = id(t, m, axis) - (t->picture && m >= PICTURE ? 1 : 0);
  *k = id(t, n, axis) - (t->picture && n >= PICTURE ? 1 : 0);
}

/* V2PE: a patch every quarter of an id; text at the next whole one. */
static inline double quartered(const tiny *t, size_t n) {
  if (!t->picture || n == 0) return (double)n;
  return n < PICTURE ? (double)n / 4 : (double)(2 + n - PICTURE);
}

static inline void quarters(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)j;
  *q = quartered(t, m);
  *k = quartered(t, n);
}

/* One pair for the column, one for the row. */
static inline void column_and_row(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = id(t, m, j == 0 ? 2 : 1);
  *k = id(t, n, j == 0 ? 2 : 1);
}

static inline double mixed_place(const tiny *t, size_t n, size_t j) {
  static const double fx[] = {1, -0.5, 0.25}, fy[] = {0.2, 0.5, -2};
  return id(t, n, 2) * fx[j] + id(t, n, 1) * fy[j];
}

static inline void mixed(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = mixed_place(t, m, j);
  *k = mixed_place(t, n, j);
}

/* Each token keeps the frequencies of the context it came into: L / L0 of its own. In units of today's. */
static inline void as_cached(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  tiny at_query = *t, at_key = *t;
  at_query.length = m + 1;
  at_key.length = n + 1;
  *q = (double)m * dynamic_ntk(&at_query, j) / dynamic_ntk(t, j);
  *k = (double)n * dynamic_ntk(&at_key, j) / dynamic_ntk(t, j);
}

#endif
