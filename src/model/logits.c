/* What a model says of sequences that are given. */
#include "ropescope/model.h"

static rs_status check(const rs_transformer *t, const rs_reader_in *in, rs_err *err) {
  size_t vocabulary = t->shape.vocabulary;
  if (in->length < 1 || in->last < 1 || in->last > in->length)
    return rs_fail(err, RS_INPUT, "the last %zu of %zu tokens: must be between 1 and as many as there are", in->last,
                   in->length);
  for (size_t i = 0; i < in->count * in->length; i++)
    if (in->tokens[i] < 0 || (size_t)in->tokens[i] >= vocabulary)
      return rs_fail(err, RS_INPUT, "token %d of sequence %zu at position %zu: the vocabulary has %zu",
                     (int)in->tokens[i], i / in->length, i % in->length, vocabulary);
  return RS_OK;
}

rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *logits, rs_err *err) {
  rs_context *context;
  rs_pass *pass = NULL;
  RS_TRY(check(transformer, in, err));
  RS_TRY(rs_context_create(transformer, NULL, in->length, 0, NULL, &context, err));
  rs_status status = rs_pass_create(context, 1, false, &pass, err);
  const rs_batch batch = {.sequences = in->count, .tokens = in->tokens};
  const rs_pass_out out = {.logits = logits, .skipped = in->length - in->last};
  if (status == RS_OK) rs_forward(pass, &batch, &out);
  rs_pass_free(pass);
  rs_context_free(context);
  return status;
}
