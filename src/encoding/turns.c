/* Tables of turns: the cosines and sines of whole runs of tokens, for loops that turn many rows by them.
 *
 * Where positions go up by one, as they do in text, RS_STEPS tokens share one cosine and sine: each is their first
 * token's angle plus that of so many whole steps, by the addition theorem. It errs by what the two angles do (3e-16
 * each) and by its own products, and takes a fifth of the time. Which tokens share is a matter of their numbers and
 * positions alone, not of the run that is asked for. */
#include "kernel/kernel.h"
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

enum { GATHERED = 64 }; /* coordinates at a time, on the stack */

/* cos and sin are rs_rotate_kernel's. */
static bool plain(const rs_encoding *encoding) {
  const rs_precision *precision = &encoding->precision;
  return !precision->running && precision->angle == RS_F64 && precision->table == RS_F64;
}

/* Aligned to lines: two loads a line would be a quarter of the time. */
rs_status rs_steps_fill(rs_encoding *encoding, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2, count = RS_STEPS * pairs;
  if (pairs == 0 || encoding->own_places || !plain(encoding)) return RS_OK;
  encoding->steps = aligned_alloc(RS_STEPS * sizeof(double), 2 * count * sizeof(double));
  if (encoding->steps == NULL) return rs_fail(err, RS_MEMORY, "out of memory: %zu steps of %zu pairs", count, pairs);
  for (size_t i = 0; i < count; i++)
    rs_cos_sin((double)(i / pairs), encoding->omega[i % pairs], &encoding->steps[i], &encoding->steps[count + i]);
  return RS_OK;
}

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

static void multiply(double *cosine, double *sine, size_t count, const double *factor, size_t step) {
  for (size_t i = 0; i < count; i++) {
    cosine[i] *= factor[i * step];
    sine[i] *= factor[i * step];
  }
}

/* With amp. */
static void one_token(const rs_encoding *encoding, const double *position, double *cosine, double *sine) {
  const rs_rotate_kernel *kernel = rs_kernels_get()->rotate;
  size_t pairs = encoding->rotary_dim / 2;
  if (!plain(encoding))
    for (size_t j = 0; j < pairs; j++)
      rs_encoding_cos_sin(encoding, j, position[encoding->axis[j]], &cosine[j], &sine[j]);
  else if (encoding->own_places)
    kernel->cos_sin(position, encoding->omega, pairs, cosine, sine);
  else if (encoding->axes == 1)
    kernel->cos_sin_at(position[0], encoding->omega, pairs, cosine, sine);
  else
    mixed_axes(encoding, position, cosine, sine);
  if (encoding->amp != 1) multiply(cosine, sine, pairs, &encoding->amp, 0);
}

/* Turns a row on by `steps`, steps + 1, ... tokens, as the next `rows` rows of a table, or one in place. */
static void advance(const rs_encoding *encoding, const double *from_cosine, const double *from_sine, size_t steps,
                    size_t rows, double *cosine, double *sine) {
  size_t pairs = encoding->rotary_dim / 2;
  const double *step = encoding->steps + steps * pairs;
  rs_kernels_get()->rotate->add_angles(from_cosine, from_sine, step, step + RS_STEPS * pairs, rows, pairs, cosine,
                                       sine);
}

/* Whether others may share its angles: from a fraction of a position the sum would not be exact. */
static bool leads(const rs_encoding *encoding, const double *position) {
  bool whole = encoding->steps != NULL;
  for (size_t a = 0; a < encoding->axes && whole; a++) whole = position[a] == floor(position[a]);
  return whole;
}

/* Whether the token stands `steps` positions past `first` on every axis. */
static bool follows(const rs_encoding *encoding, const double *first, size_t steps) {
  const double *position = first + steps * encoding->axes;
  bool same = true;
  for (size_t a = 0; a < encoding->axes; a++) same &= position[a] - first[a] == (double)steps;
  return same;
}

/* Tokens [begin, end) of the RS_STEPS that begin at `first`. The first's angles wait in the row of the first token that
 * follows it, which gets its own last. */
static void some_tokens(const rs_encoding *encoding, const double *first, size_t begin, size_t end, double *cosine,
                        double *sine) {
  size_t pairs = encoding->rotary_dim / 2, held = end;
  double *held_cosine = NULL, *held_sine = NULL;
  bool shared = leads(encoding, first);
  for (size_t t = begin, next; t < end; t = next) {
    double *c = cosine + (t - begin) * pairs, *s = sine + (t - begin) * pairs;
    for (next = t; next < end && shared && follows(encoding, first, next);) next++;
    if (next > t && held < end) {
      advance(encoding, held_cosine, held_sine, t, next - t, c, s);
      continue;
    }
    one_token(encoding, next > t ? first : first + t * encoding->axes, c, s);
    if (next > t) held = t, held_cosine = c, held_sine = s;
    next = t + 1;
  }
  if (held > 0 && held < end) advance(encoding, held_cosine, held_sine, held, 1, held_cosine, held_sine);
}

void rs_encoding_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end, double *cosine,
                       double *sine) {
  const double *positions = side == RS_QUERY_SIDE ? encoding->pos_q[view] : encoding->pos_k[view];
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  size_t pairs = encoding->rotary_dim / 2;
  for (size_t token = begin, next; token < end; token = next) {
    size_t first = token - token % RS_STEPS, row = (token - begin) * pairs;
    next = first + RS_STEPS < end ? first + RS_STEPS : end;
    some_tokens(encoding, positions + first * encoding->axes, token - first, next - first, cosine + row, sine + row);
  }
  if (gains != NULL) multiply(cosine, sine, (end - begin) * pairs, gains + begin * pairs, 1);
}
