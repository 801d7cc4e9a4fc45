/* What a model says of sequences that are given. Padding is left out, not masked: nothing reads it. */
#include "ropescope/model.h"

#include <string.h>

static rs_status check(const rs_transformer *t, const rs_reader_in *in, rs_err *err) {
  size_t vocabulary = t->shape.vocabulary;
  if (in->length < 1 || in->last < 1 || in->last > in->length)
    return rs_fail(err, RS_INPUT, "the last %zu of %zu tokens: must be between 1 and as many as there are", in->last,
                   in->length);
  for (size_t i = 0; i < in->count * in->length; i++)
    if (in->tokens[i] < 0 || (size_t)in->tokens[i] >= vocabulary)
      return rs_fail(err, RS_INPUT, "token %d of sequence %zu at position %zu: the vocabulary has %zu",
                     (int)in->tokens[i], i / in->length, i % in->length, vocabulary);
  for (size_t s = 0; s < in->count && in->lengths != NULL; s++)
    if (in->lengths[s] < 1 || in->lengths[s] > in->length)
      return rs_fail(err, RS_INPUT, "sequence %zu has %zu of %zu tokens: at least 1", s, in->lengths[s], in->length);
  return RS_OK;
}

static size_t length_of(const rs_reader_in *in, size_t sequence) {
  return in->lengths != NULL ? in->lengths[sequence] : in->length;
}

/* How many sequences from `first` on have one length and the same positions. */
static size_t alike(const rs_reader_in *in, size_t first) {
  size_t end = first + 1;
  while (end < in->count && in->ids == NULL && length_of(in, end) == length_of(in, first)) end++;
  return end - first;
}

/* Sequences [first, first + count), which share a context. */
static rs_status read_alike(const rs_transformer *t, const rs_reader_in *in, size_t first, size_t count, double *logits,
                            rs_err *err) {
  size_t length = length_of(in, first), skipped = in->length - in->last, each = in->last * t->shape.classes;
  rs_token_layout layout = {.id_count = length};
  rs_context *context;
  rs_pass *pass = NULL;
  if (in->ids != NULL) layout.ids = (double *)in->ids + first * in->length * RS_AXES;
  RS_TRY(rs_context_create(t, NULL, length, 0, layout.ids != NULL ? &layout : NULL, &context, err));
  rs_status status = rs_pass_create(context, 1, false, &pass, err);
  for (size_t s = first; s < first + count && status == RS_OK && skipped < length; s++) {
    const rs_batch batch = {.sequences = 1, .tokens = in->tokens + s * in->length};
    const rs_pass_out out = {.logits = logits + s * each, .skipped = skipped};
    rs_forward(pass, &batch, &out);
  }
  rs_pass_free(pass);
  rs_context_free(context);
  return status;
}

rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *logits, rs_err *err) {
  RS_TRY(check(transformer, in, err));
  memset(logits, 0, in->count * in->last * transformer->shape.classes * sizeof *logits);
  for (size_t first = 0, count; first < in->count; first += count) {
    count = alike(in, first);
    RS_TRY(read_alike(transformer, in, first, count, logits, err));
  }
  return RS_OK;
}
