/* FIRE's network as it is read at length: between the places where one of its units switches on or off, it is a
 * straight line of u. Private to bias_fire.c. */
#ifndef ROPESCOPE_ENCODING_FIRE_LINES_H
#define ROPESCOPE_ENCODING_FIRE_LINES_H

#include "kinds.h"

/* One head's network: b2 + sum of w2 relu(w1 u + b1). */
typedef struct rs_fire_net {
  const double *w1, *b1, *w2; /* (units,) */
  double b2;
  size_t units;
} rs_fire_net;

/* The lines of one head: line i holds from u = from[i] on; from[0] is 0. */
typedef struct rs_fire_lines {
  size_t count;                  /* 1 to units + 1 */
  double *from, *slope, *height; /* (units + 1,): height at u = 0 */
} rs_fire_lines;

/* A unit and where it switches. */
typedef struct rs_fire_switch {
  double at;
  size_t unit;
} rs_fire_switch;

/* Fills the lines; `scratch` (units). Slopes and heights are sums of the products of the units that are on, rounded
 * once. */
void rs_fire_lines_fill(const rs_fire_net *net, rs_fire_switch *scratch, rs_fire_lines *lines);

/* out[i], or out[-i] where `down`, = the network at logs[i] / norm, i < count; `logs` ascend, 0 or more. */
void rs_fire_lines_read(const rs_fire_lines *lines, const double *logs, double norm, size_t count, bool down,
                        double *out);

#endif
