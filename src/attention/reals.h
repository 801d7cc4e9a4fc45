/* Arrays of float or double, by the format that a job is computed in. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_REALS_H
#define ROPESCOPE_ATTENTION_REALS_H

#include "base/base.h"

typedef struct rs_reals {
  void *data; /* 64-byte aligned; owned */
  size_t bytes;
} rs_reals;

/* Room for `count` numbers of `size` bytes, contents lost. Release with rs_reals_clear. */
rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err);
void rs_reals_clear(rs_reals *reals);

/* Entry `index` of an array of numbers of `real_bytes` each. */
static inline void rs_real_put(void *reals, size_t real_bytes, size_t index, double value) {
  if (real_bytes == sizeof(float))
    ((float *)reals)[index] = (float)value;
  else
    ((double *)reals)[index] = value;
}

#endif
