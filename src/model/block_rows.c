/* Queries and keys of one block, as attention reads them, from one text. */
#include "context.h"
#include "model/model.h"

#include <math.h>

rs_status rs_block_check(const rs_shape *shape, size_t block, rs_err *err) {
  if (block >= shape->decoder.count)
    return rs_fail(err, RS_DOMAIN, "layer %zu: the model has %zu (0 to %zu)", block, shape->decoder.count,
                   shape->decoder.count - 1);
  const rs_head_shape *heads = &shape->decoder.blocks[block].attention;
  if (heads->qk_norm_turned && heads->qk_norm.kind == RS_NORM_RMS)
    return rs_fail(err, RS_UNSUPPORTED,
                   "layer %zu: queries and keys get weights behind the rotation: no rows before it have its scores",
                   block);
  return RS_OK;
}

void rs_block_sinks(const rs_transformer *transformer, size_t block, double *sinks) {
  const rs_head_shape *shape = &transformer->shape.decoder.blocks[block].attention;
  size_t place = transformer->places->decoder.blocks[block].attention.sinks;
  for (size_t h = 0; h < shape->heads && shape->sinks; h++)
    sinks[h] = transformer->format == RS_F64 ? ((const double *)transformer->values)[place + h]
                                             : (double)((const float *)transformer->values)[place + h];
}

rs_given_rows rs_block_head(const rs_head_shape *shape, size_t head, const double *q, const double *k,
                            const double *sinks) {
  size_t dims = shape->head_dim, shared = head / (shape->heads / shape->kv_heads);
  double scale = shape->score_scale;
  return (rs_given_rows){
      .q = q + head * dims,
      .k = k + shared * dims,
      .q_step = shape->heads * dims,
      .k_step = shape->kv_heads * dims,
      .factor = scale != 0 ? scale * sqrt((double)dims) : 1,
      .rule = {.soft_cap = shape->soft_cap, .sinks = shape->sinks, .learned_sink = shape->sinks ? sinks[head] : 0}};
}

static rs_status check_text(const rs_transformer *t, const int32_t *tokens, size_t length, rs_err *err) {
  if (t->shape.form != RS_DECODER)
    return rs_fail(err, RS_UNSUPPORTED, "the model is no decoder: no text alone gives its blocks what they read");
  for (size_t n = 0; n < length; n++)
    if (tokens[n] < 0 || (size_t)tokens[n] >= t->shape.vocabulary)
      return rs_fail_on(err, RS_INPUT, "tokens", "token %zu (from 0) is %d, the vocabulary has %zu", n, (int)tokens[n],
                        t->shape.vocabulary);
  return RS_OK;
}

rs_status rs_read_block(const rs_transformer *transformer, const int32_t *tokens, size_t length, size_t block,
                        double *q, double *k, rs_err *err) {
  const rs_batch batch = {.sequences = 1, .tokens = tokens};
  const rs_pass_out out = {.block = block, .q = q, .k = k};
  rs_context *context;
  rs_pass *pass;
  RS_TRY(rs_block_check(&transformer->shape, block, err));
  RS_TRY(check_text(transformer, tokens, length, err));
  RS_TRY(rs_context_create(transformer, NULL, length, 0, NULL, &context, err));
  rs_status status = rs_pass_create(context, 1, false, &pass, err);
  if (status == RS_OK) rs_forward(pass, &batch, &out);
  if (status == RS_OK) rs_pass_free(pass);
  rs_context_free(context);
  return status;
}
