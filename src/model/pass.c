/* Passes: the arrays of one thread, in floats or doubles as the model is. */
#include "context.h"
#include "passes.h"

#include <stdlib.h>

struct rs_pass {
  const rs_pass_kind *kind;
  void *work;
};

static bool sums_normed(const rs_stack *stack) {
  for (size_t i = 0; i < stack->count; i++)
    if (stack->blocks[i].norm_sums) return true;
  return false;
}

static bool has_detours(const rs_stack *stack) {
  for (size_t i = 0; i < stack->count; i++)
    if (stack->blocks[i].feed_forward.experts.count > 0 || stack->blocks[i].attention.latent.kv_rank > 0) return true;
  return false;
}

/* What published models have and no way back is there for. */
static rs_status check_trained(const rs_shape *shape, rs_err *err) {
  bool sums = sums_normed(&shape->encoder) || sums_normed(&shape->decoder);
  bool experts = has_detours(&shape->encoder) || has_detours(&shape->decoder);
  if (shape->classes > 0 && shape->token_types == 0 && !sums && !experts) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED, "a model %s is read, and not trained",
                 sums                     ? "with norms of sums"
                 : experts                ? "with experts or narrow layers"
                 : shape->token_types > 0 ? "with token types"
                                          : "without classes");
}

rs_status rs_pass_create(const rs_context *context, size_t sequences, bool training, rs_pass **pass, rs_err *err) {
  *pass = NULL;
  if (training) RS_TRY(check_trained(&context->transformer->shape, err));
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
