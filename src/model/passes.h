/* The passes of one arithmetic, as pass.c calls them. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_PASSES_H
#define ROPESCOPE_MODEL_PASSES_H

#include "model/model.h"

typedef struct rs_pass_kind {
  rs_status (*create)(const rs_context *context, size_t sequences, bool training, void **work, rs_err *err);
  void (*release)(void *work); /* NULL is nothing to release */
  void (*forward)(void *work, const rs_batch *batch, const rs_pass_out *out);
  double (*backward)(void *work, const rs_batch *batch, double weight, void *gradient, size_t *targets);
} rs_pass_kind;

extern const rs_pass_kind rs_pass_kind_f32, rs_pass_kind_f64;

#endif
