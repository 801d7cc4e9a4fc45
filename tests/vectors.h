/* Vectors of distance told anew, in long double and one number at a time: what unit and property tests compare the
 * library with. Numbers that are learned are read from the encoding's table, which holds its arrays one behind the
 * other. */
#ifndef ROPESCOPE_TESTS_VECTORS_H
#define ROPESCOPE_TESTS_VECTORS_H

#include "encoding/encoding.h"

#include <math.h>
#include <string.h>

static inline bool are_vectors(const rs_encoding *e, const char *kind) {
  return e->method->vectors != NULL && strcmp(e->method->vectors->kind.name, kind) == 0;
}

/* n - m, no farther than the parameter `clip` where there is one. */
static inline long clipped_distance(const rs_encoding *e, size_t m, size_t n) {
  const rs_value *clip = rs_setting(&e->settings, "clip");
  long ahead = (long)n - (long)m, most = clip->set ? (long)clip->number : (long)e->length;
  return ahead > most ? most : ahead < -most ? -most : ahead;
}

/* Number `dim` of the vector that a head reads for the query at m and the key at n. */
static inline long double vector_number(const rs_encoding *e, size_t head, size_t m, size_t n, size_t dim) {
  long ahead = clipped_distance(e, m, n);
  if (are_vectors(e, "shaw")) {
    long clip = (long)rs_setting(&e->settings, "clip")->number;
    return e->vector_table[(size_t)(clip + ahead) * e->head_dim + dim];
  }
  const double *row = e->vector_table + (head * e->head_dim + dim) * e->width; /* of W_r */
  long double sum = 0;
  for (size_t j = 0; j < e->width / 2; j++) {
    long double angle = -ahead * powl(10000, -2 * (long double)j / e->width);
    sum += row[j] * sinl(angle) + row[e->width / 2 + j] * cosl(angle);
  }
  return sum;
}

/* Number `dim` of what is added to the value of the key at n. */
static inline long double value_vector_number(const rs_encoding *e, size_t m, size_t n, size_t dim) {
  if (!are_vectors(e, "shaw") || rs_setting(&e->settings, "on_values")->number != 1) return 0;
  long clip = (long)rs_setting(&e->settings, "clip")->number;
  return e->vector_table[(size_t)(2 * clip + 1 + clip + clipped_distance(e, m, n)) * e->head_dim + dim];
}

/* u (`position` false) or v of the head. */
static inline long double added_number(const rs_encoding *e, size_t head, bool position, size_t dim) {
  if (!are_vectors(e, "transformer_xl")) return 0;
  size_t all = e->heads * e->head_dim;
  return e->vector_table[all * e->width + (position ? all : 0) + head * e->head_dim + dim];
}

/* What is added to q.k, before the scales; q and k (D,). */
static inline long double expected_vectors(const rs_encoding *e, size_t head, size_t m, size_t n, const long double *q,
                                           const long double *k) {
  long double sum = 0;
  if (e->method->vectors == NULL) return 0;
  bool both = are_vectors(e, "shaw") && rs_setting(&e->settings, "read_by")->choice == 1;
  for (size_t d = 0; d < e->head_dim; d++) {
    long double r = vector_number(e, head, m, n, d);
    sum += added_number(e, head, false, d) * k[d] + (q[d] + added_number(e, head, true, d)) * r;
    if (both) sum += k[d] * r;
  }
  return sum;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* What `by` the number that vector_number gives comes to by what is learned, arrays in the order of the encoding's. */
static inline void add_by_vector(const rs_encoding *e, size_t head, size_t m, size_t n, size_t dim, double by,
                                 double *const *learned) {
  long ahead = clipped_distance(e, m, n);
  if (are_vectors(e, "shaw")) {
    long clip = (long)rs_setting(&e->settings, "clip")->number;
    learned[0][(size_t)(clip + ahead) * e->head_dim + dim] += by;
    return;
  }
  double *row = learned[0] + (head * e->head_dim + dim) * e->width;
  for (size_t j = 0; j < e->width / 2; j++) {
    double angle = -(double)ahead * pow(10000, -2 * (double)j / (double)e->width);
    row[j] += by * sin(angle);
    row[e->width / 2 + j] += by * cos(angle);
  }
}

/* The same of value_vector_number, */
static inline void add_by_value_vector(const rs_encoding *e, size_t m, size_t n, size_t dim, double by,
                                       double *const *learned) {
  if (!are_vectors(e, "shaw") || rs_setting(&e->settings, "on_values")->number != 1) return;
  long clip = (long)rs_setting(&e->settings, "clip")->number;
  learned[1][(size_t)(clip + clipped_distance(e, m, n)) * e->head_dim + dim] += by;
}

/* and of added_number. */
static inline void add_by_added(const rs_encoding *e, size_t head, bool position, size_t dim, double by,
                                double *const *learned) {
  if (are_vectors(e, "transformer_xl")) learned[position ? 2 : 1][head * e->head_dim + dim] += by;
}

#endif
