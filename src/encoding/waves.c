/* Where the positional kernel depends on the distance alone, it is a sum of waves over the integers, which has a kernel
 * of its own (kernel/kernel.h). Everything else is read pair by pair (turn.c). */
#include "kinds.h"

#include <stdlib.h>

/* Every token stands at its own index, on every axis. */
static bool counts(const rs_encoding *encoding, const double *positions) {
  for (size_t m = 0; m < encoding->length; m++)
    for (size_t a = 0; a < encoding->axes; a++)
      if (positions[m * encoding->axes + a] != (double)m) return false;
  return true;
}

/* Short formats err in each absolute angle, a gain is one of absolute positions, and views differ in their positions.
 */
bool rs_encoding_of_distance(const rs_encoding *encoding) {
  const rs_precision *precision = &encoding->precision;
  if (precision->running || precision->angle != RS_F64 || precision->table != RS_F64) return false;
  if (encoding->views != 1 || encoding->gain_q[0] != NULL) return false;
  return counts(encoding, encoding->pos_q[0]) && counts(encoding, encoding->pos_k[0]);
}

size_t rs_encoding_waves(const rs_encoding *encoding, rs_wave *waves) {
  size_t pairs = encoding->rotary_dim / 2, all = encoding->head_dim / 2, count = 0;
  if (!rs_encoding_of_distance(encoding)) return 0;
  for (size_t j = 0; j < pairs; j++) waves[count++] = (rs_wave){.amplitude = 1, .omega = encoding->omega[j]};
  if (all > pairs) waves[count++] = (rs_wave){.amplitude = (double)(all - pairs)};
  return count;
}

rs_status rs_encoding_decay(const rs_encoding *encoding, rs_decay **decay, rs_err *err) {
  *decay = NULL;
  rs_wave *waves = rs_alloc(encoding->rotary_dim / 2 + 1, sizeof *waves, err);
  if (waves == NULL) return RS_MEMORY;
  size_t count = rs_encoding_waves(encoding, waves);
  rs_status status = count > 0 ? rs_decay_create(waves, count, decay, err) : RS_OK;
  free(waves);
  return status;
}
