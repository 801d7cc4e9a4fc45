/* Tables of turns: the cosines and sines of whole runs of tokens, for loops that turn many rows by them. */
#include "kinds.h"
#include "ropescope/kernel.h"

enum { GATHERED = 64 }; /* coordinates at a time, on the stack */

/* Pairs that read different axes: each one's coordinate beside its frequency. */
static void mixed_axes(const rs_encoding *encoding, const double *position, double *cosine, double *sine) {
  const rs_rotate_kernel *kernel = rs_kernels_get()->rotate;
  size_t pairs = encoding->rotary_dim / 2;
  double place[GATHERED];
  for (size_t first = 0; first < pairs; first += GATHERED) {
    size_t count = pairs - first < GATHERED ? pairs - first : GATHERED;
    for (size_t j = 0; j < count; j++) place[j] = position[encoding->axis[first + j]];
    kernel->cos_sin(place, encoding->omega + first, count, cosine + first, sine + first);
  }
}

static void one_token(const rs_encoding *encoding, const double *position, double *cosine, double *sine) {
  const rs_precision *precision = &encoding->precision;
  const rs_rotate_kernel *kernel = rs_kernels_get()->rotate;
  size_t pairs = encoding->rotary_dim / 2;
  if (precision->running || precision->angle != RS_F64 || precision->table != RS_F64)
    for (size_t j = 0; j < pairs; j++)
      rs_encoding_cos_sin(encoding, j, position[encoding->axis[j]], &cosine[j], &sine[j]);
  else if (encoding->own_places)
    kernel->cos_sin(position, encoding->omega, pairs, cosine, sine);
  else if (encoding->axes == 1)
    kernel->cos_sin_at(position[0], encoding->omega, pairs, cosine, sine);
  else
    mixed_axes(encoding, position, cosine, sine);
}

static void multiply(double *cosine, double *sine, size_t count, double amp, const double *gain) {
  for (size_t i = 0; i < count; i++) {
    double factor = gain != NULL ? amp * gain[i] : amp;
    cosine[i] *= factor;
    sine[i] *= factor;
  }
}

void rs_encoding_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end, double *cosine,
                       double *sine) {
  const double *positions = side == RS_QUERY_SIDE ? encoding->pos_q[view] : encoding->pos_k[view];
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  size_t pairs = encoding->rotary_dim / 2;
  for (size_t token = begin; token < end; token++, cosine += pairs, sine += pairs) {
    one_token(encoding, positions + token * encoding->axes, cosine, sine);
    if (gains != NULL || encoding->amp != 1)
      multiply(cosine, sine, pairs, encoding->amp, gains != NULL ? gains + token * pairs : NULL);
  }
}
