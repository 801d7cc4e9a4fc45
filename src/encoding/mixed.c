/* Pairs that mix the axes of a picture: pair j of a head turns by column * x[j] + row * y[j]. Such a pair gets one
 * frequency, the length of (x, y), and a coordinate of its own, the patch's along (x, y), so that everything after
 * reads one plain form. Where heads have x and y of their own they have tables of their own, one behind the other, and
 * what turns one head reads the encoding as that head has it. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

enum { T, H, W };

void rs_mixed_lengths(rs_encoding *encoding) {
  size_t count = encoding->tables * (encoding->rotary_dim / 2);
  for (size_t i = 0; i < count; i++) {
    double x = encoding->mixed[i], y = encoding->mixed[count + i], length = hypot(x, y);
    encoding->omega[i] = length;
    encoding->axis_weight[i * RS_AXES + T] = 0;
    encoding->axis_weight[i * RS_AXES + H] = length > 0 ? y / length : 0;
    encoding->axis_weight[i * RS_AXES + W] = length > 0 ? x / length : 0;
  }
}

rs_status rs_mixed_fill(rs_encoding *encoding, const rs_freq_in *in, rs_err *err) {
  const rs_freq_kind *kind = encoding->method->freq;
  size_t pairs = encoding->rotary_dim / 2, count = encoding->tables * pairs;
  encoding->mixed = rs_alloc(count, 2 * sizeof *encoding->mixed, err);
  encoding->axis_weight = rs_alloc(count, RS_AXES * sizeof *encoding->axis_weight, err);
  if (encoding->mixed == NULL || encoding->axis_weight == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++)
    kind->mix(in, i / pairs, i % pairs, &encoding->mixed[i], &encoding->mixed[count + i]);
  rs_mixed_lengths(encoding);
  return RS_OK;
}

static void move_tokens(const rs_encoding *encoding, double *positions) {
  size_t pairs = encoding->rotary_dim / 2, length = encoding->length;
  for (size_t t = 0; t < encoding->tables; t++)
    for (size_t n = 0; n < length; n++) {
      const double *p = encoding->places + n * RS_AXES, *weight = encoding->axis_weight + t * pairs * RS_AXES;
      double *out = positions + (t * length + n) * pairs;
      for (size_t j = 0; j < pairs; j++, weight += RS_AXES)
        out[j] = weight[T] * p[T] + weight[H] * p[H] + weight[W] * p[W];
    }
}

void rs_mixed_move(rs_encoding *encoding) {
  move_tokens(encoding, encoding->pos_q[0]);
  move_tokens(encoding, encoding->pos_k[0]);
}

rs_status rs_mixed_place(rs_encoding *encoding, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2, count = encoding->tables * encoding->length;
  if (encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "mixed frequencies are defined for one view of the positions, %s has %zu",
                   encoding->method->name, encoding->views);
  double *q = rs_alloc(count, pairs * sizeof *q, err), *k = rs_alloc(count, pairs * sizeof *k, err);
  if (q == NULL || k == NULL) {
    free(q);
    free(k);
    return RS_MEMORY;
  }
  encoding->places = encoding->pos_q[0];
  free(encoding->pos_k[0]);
  encoding->pos_q[0] = q;
  encoding->pos_k[0] = k;
  rs_mixed_move(encoding);
  return RS_OK;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

rs_encoding rs_encoding_of_head(const rs_encoding *encoding, size_t head) {
  rs_encoding view = *encoding;
  if (encoding->tables == 1) return view;
  size_t pairs = encoding->rotary_dim / 2, place = head * encoding->length * pairs;
  view.omega += head * pairs;
  view.omega_exact += head * pairs;
  view.omega_trained += head * pairs;
  view.axis_weight += head * pairs * RS_AXES;
  view.pos_q[0] += place;
  view.pos_k[0] += place;
  view.tables = 1;
  return view;
}

/* ---- what is learned --------------------------------------------------------------------------------------------- */

size_t rs_mixed_learned(const rs_encoding *encoding, rs_learned *out) {
  const rs_freq_kind *kind = encoding->method->freq;
  if (encoding->mixed == NULL || kind->learned == NULL || !kind->learned(encoding->params->freq.fields)) return 0;
  if (encoding->wavelengths != RS_WAVES_EXACT) return 0; /* whole ones change by jumps */
  out[0] = (rs_learned){"freq.x", encoding->tables, encoding->rotary_dim / 2};
  out[1] = (rs_learned){"freq.y", encoding->tables, encoding->rotary_dim / 2};
  return 2;
}

void rs_mixed_gradient(const rs_encoding *encoding, size_t head, size_t begin, size_t end, const double *gradient,
                       double *const *learned) {
  size_t pairs = encoding->rotary_dim / 2;
  double *x = learned[0] + head * pairs, *y = learned[1] + head * pairs;
  for (size_t n = begin; n < end; n++, gradient += pairs)
    for (size_t j = 0; j < pairs; j++) {
      x[j] += gradient[j] * encoding->places[n * RS_AXES + W];
      y[j] += gradient[j] * encoding->places[n * RS_AXES + H];
    }
}
