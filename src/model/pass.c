/* Passes: the arrays of one thread, in floats or doubles as the model is. */
#include "context.h"

#include <stdlib.h>

struct rs_pass {
  const rs_pass_kind *kind;
  void *work;
};

rs_status rs_pass_create(const rs_context *context, size_t sequences, bool training, rs_pass **pass, rs_err *err) {
  *pass = NULL;
  if (training) RS_TRY(rs_shape_trains(&context->transformer->shape, err));
  if (training && context->transformer->mapped)
    return rs_fail(err, RS_UNSUPPORTED, "the model's weights stay in their file: it cannot be trained");
  rs_pass *fresh = *pass = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  fresh->kind = context->transformer->format == RS_F64 ? &rs_pass_kind_f64 : &rs_pass_kind_f32;
  rs_status status = fresh->kind->create(context, sequences, training, &fresh->work, err);
  if (status == RS_OK) return RS_OK;
  rs_pass_free(fresh);
  *pass = NULL;
  return status;
}

void rs_pass_free(rs_pass *pass) {
  if (pass == NULL) return;
  pass->kind->release(pass->work);
  free(pass);
}

void rs_forward(rs_pass *pass, const rs_batch *batch, const rs_pass_out *out) {
  pass->kind->forward(pass->work, batch, out);
}

double rs_backward(rs_pass *pass, const rs_batch *batch, double weight, void *gradient, size_t *targets) {
  return pass->kind->backward(pass->work, batch, weight, gradient, targets);
}
