/* What a model says of sequences that are given. Padding is left out, not masked: nothing reads it. */
#include "ropescope/model.h"

#include <stdlib.h>
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
  for (size_t i = 0; i < in->count * in->length && in->types != NULL; i++)
    if (in->types[i] < 0 || (size_t)in->types[i] >= t->shape.token_types)
      return rs_fail(err, RS_INPUT, "token type %d of sequence %zu at position %zu: there are %zu", (int)in->types[i],
                     i / in->length, i % in->length, t->shape.token_types);
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

/* Numbers of each answer. */
static size_t width_of(const rs_transformer *t) {
  return t->shape.classes > 0 ? t->shape.classes : t->shape.width;
}

/* One sequence, from its answer `skipped` on. `states` has room for all of its last states. */
static void read_one(rs_pass *pass, const rs_transformer *t, const rs_batch *batch, size_t length, size_t skipped,
                     double *states, double *answers) {
  bool classes = t->shape.classes > 0;
  const rs_pass_out out = {
      .logits = classes ? answers : NULL, .skipped = classes ? skipped : 0, .states = classes ? NULL : states};
  rs_forward(pass, batch, &out);
  if (!classes)
    memcpy(answers, states + skipped * t->shape.width, (length - skipped) * t->shape.width * sizeof *answers);
}

/* Sequences [first, first + count), which share a context. */
static rs_status read_in(const rs_context *context, const rs_transformer *t, const rs_reader_in *in, size_t first,
                         size_t count, double *answers, rs_err *err) {
  size_t length = length_of(in, first), skipped = in->length - in->last;
  double *states = rs_alloc(length, t->shape.width * sizeof *states, err);
  rs_pass *pass;
  rs_status status = states != NULL ? rs_pass_create(context, 1, false, &pass, err) : RS_MEMORY;
  for (size_t s = first; s < first + count && status == RS_OK && skipped < length; s++) {
    const rs_batch batch = {.sequences = 1,
                            .tokens = in->tokens + s * in->length,
                            .types = in->types != NULL ? in->types + s * in->length : NULL};
    read_one(pass, t, &batch, length, skipped, states, answers + s * in->last * width_of(t));
  }
  if (status == RS_OK) rs_pass_free(pass);
  free(states);
  return status;
}

static rs_status read_alike(const rs_transformer *t, const rs_reader_in *in, size_t first, size_t count,
                            double *answers, rs_err *err) {
  rs_token_layout layout = {.id_count = length_of(in, first)};
  rs_context *context;
  if (in->ids != NULL) layout.ids = (double *)in->ids + first * in->length * RS_AXES;
  RS_TRY(rs_context_create(t, NULL, layout.id_count, 0, in->ids != NULL ? &layout : NULL, &context, err));
  rs_status status = read_in(context, t, in, first, count, answers, err);
  rs_context_free(context);
  return status;
}

rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *answers, rs_err *err) {
  RS_TRY(check(transformer, in, err));
  memset(answers, 0, in->count * in->last * width_of(transformer) * sizeof *answers);
  for (size_t first = 0, count; first < in->count; first += count) {
    count = alike(in, first);
    RS_TRY(read_alike(transformer, in, first, count, answers, err));
  }
  return RS_OK;
}
