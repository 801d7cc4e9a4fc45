/* What a model says of sequences that are given. Padding is left out, not masked: nothing reads it. */
#include "model/model.h"

#include <string.h>

static rs_status check_tokens(const char *subject, const int32_t *tokens, size_t count, size_t length,
                              size_t vocabulary, rs_err *err) {
  for (size_t i = 0; i < count * length; i++)
    if (tokens[i] < 0 || (size_t)tokens[i] >= vocabulary)
      return rs_fail_on(err, RS_INPUT, subject, "token %d of sequence %zu at position %zu: the vocabulary has %zu",
                        (int)tokens[i], i / length, i % length, vocabulary);
  return RS_OK;
}

bool rs_reader_single(const rs_transformer *t) {
  return t->shape.classes > 0 && rs_shape_answers(&t->shape, SIZE_MAX) == 1;
}

static rs_status check(const rs_transformer *t, const rs_reader_in *in, rs_err *err) {
  size_t vocabulary = t->shape.vocabulary;
  bool vision = t->shape.form == RS_VISION;
  if (in->length < 1 || in->last < 1 || in->last > in->length)
    return rs_fail(err, RS_INPUT, "the last %zu of %zu tokens: must be between 1 and as many as there are", in->last,
                   in->length);
  if (rs_reader_single(t) && in->last != 1)
    return rs_fail(err, RS_INPUT, "the last %zu tokens: the model says one class a sequence", in->last);
  if (vision ? in->patches == NULL : in->tokens == NULL)
    return rs_fail(err, RS_INPUT, "the model reads %s", vision ? "images" : "token ids");
  if ((t->shape.form == RS_ENCODER_DECODER) != (in->source != NULL))
    return rs_fail(err, RS_INPUT, "the model %s tokens of an encoder and of a decoder",
                   in->source != NULL ? "does not read" : "reads");
  if (!vision) RS_TRY(check_tokens("tokens", in->tokens, in->count, in->length, vocabulary, err));
  if (in->source != NULL) RS_TRY(check_tokens("source", in->source, in->count, in->source_length, vocabulary, err));
  for (size_t i = 0; i < in->count * in->length && in->types != NULL; i++)
    if (in->types[i] < 0 || (size_t)in->types[i] >= t->shape.token_types)
      return rs_fail_on(err, RS_INPUT, "types", "token type %d of sequence %zu at position %zu: there are %zu",
                        (int)in->types[i], i / in->length, i % in->length, t->shape.token_types);
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

size_t rs_reader_width(const rs_transformer *t) {
  return t->shape.classes > 0 ? t->shape.classes : t->shape.width;
}

/* Where answers go. */
typedef struct receiver {
  void (*take)(void *context, const double *row);
  void *context;
} receiver;

/* Room for what one sequence is read with. */
typedef struct room {
  rs_pass *pass;
  double *states; /* (L, d) of a model without classes; else NULL */
  double *zeros;  /* (width,) the answer of padding */
  rs_arena arena; /* that holds both */
} room;

static void clear_room(room *r) {
  rs_pass_free(r->pass);
  rs_arena_clear(&r->arena);
}

static rs_status make_room(const rs_context *context, const rs_transformer *t, size_t length, room *r, rs_err *err) {
  *r = (room){.pass = NULL};
  r->zeros = rs_arena_take(&r->arena, rs_reader_width(t), sizeof *r->zeros);
  if (t->shape.classes == 0) r->states = rs_arena_take(&r->arena, length, t->shape.width * sizeof *r->states);
  rs_status status = rs_arena_check(&r->arena, err);
  if (status == RS_OK) status = rs_pass_create(context, 1, false, &r->pass, err);
  if (status != RS_OK) clear_room(r);
  return status;
}

/* One sequence of `length` tokens, from its answer `skipped` on. */
static void read_one(const room *r, const rs_transformer *t, const rs_batch *batch, size_t length, size_t skipped,
                     const receiver *to) {
  const rs_pass_out out = {.take = r->states == NULL ? to->take : NULL,
                           .context = to->context,
                           .skipped = r->states == NULL ? skipped : 0,
                           .states = r->states};
  rs_forward(r->pass, batch, &out);
  for (size_t i = skipped; i < length && r->states != NULL; i++) to->take(to->context, r->states + i * t->shape.width);
}

static rs_batch batch_of(const rs_transformer *t, const rs_reader_in *in, size_t s) {
  size_t patches = in->rows * in->columns * t->shape.patch_numbers;
  return (rs_batch){.sequences = 1,
                    .tokens = in->tokens != NULL ? in->tokens + s * in->length : NULL,
                    .source = in->source != NULL ? in->source + s * in->source_length : NULL,
                    .patches = in->patches != NULL ? in->patches + s * patches : NULL,
                    .types = in->types != NULL ? in->types + s * in->length : NULL};
}

/* Sequences [first, first + count), which share a context. */
static rs_status read_in(const rs_context *context, const rs_transformer *t, const rs_reader_in *in, size_t first,
                         size_t count, const receiver *to, rs_err *err) {
  size_t length = length_of(in, first), skipped = in->length - in->last;
  bool single = rs_reader_single(t);
  room r;
  RS_TRY(make_room(context, t, length, &r, err));
  for (size_t s = first; s < first + count; s++) {
    const rs_batch batch = batch_of(t, in, s);
    if (single || skipped < length) read_one(&r, t, &batch, length, single ? 0 : skipped, to);
    for (size_t i = skipped > length ? skipped : length; i < in->length && !single; i++) to->take(to->context, r.zeros);
  }
  clear_room(&r);
  return RS_OK;
}

static rs_status make_context(const rs_transformer *t, const rs_reader_in *in, size_t first, rs_context **context,
                              rs_err *err) {
  size_t lead = rs_shape_lead(&t->shape);
  rs_token_run image[] = {{.modality = RS_TEXT, .tokens = lead},
                          {.modality = RS_IMAGE,
                           .tokens = in->rows * in->columns,
                           .frames = 1,
                           .rows = in->rows,
                           .columns = in->columns,
                           .seconds_per_frame = 1,
                           .ids_per_second = 1}};
  bool classed = lead > 0;
  rs_token_layout layout = {.runs = image + !classed, .count = in->patches != NULL ? 1 + classed : 0};
  size_t length = length_of(in, first);
  if (in->ids != NULL) {
    layout.ids = (double *)in->ids + first * in->length * RS_AXES;
    layout.id_count = length;
  }
  return rs_context_create(t, NULL, length, in->source_length, &layout, context, err);
}

static rs_status read_alike(const rs_transformer *t, const rs_reader_in *in, size_t first, size_t count,
                            const receiver *to, rs_err *err) {
  rs_context *context;
  RS_TRY(make_context(t, in, first, &context, err));
  rs_status status = read_in(context, t, in, first, count, to, err);
  rs_context_free(context);
  return status;
}

rs_status rs_read_rows(const rs_transformer *transformer, const rs_reader_in *in,
                       void (*take)(void *context, const double *row), void *context, rs_err *err) {
  const receiver to = {take, context};
  RS_TRY(check(transformer, in, err));
  for (size_t first = 0, count; first < in->count; first += count) {
    count = alike(in, first);
    RS_TRY(read_alike(transformer, in, first, count, &to, err));
  }
  return RS_OK;
}

/* An array that is filled row by row. */
typedef struct rows_left {
  double *next;
  size_t width;
} rows_left;

static void keep_row(void *context, const double *row) {
  rows_left *left = context;
  memcpy(left->next, row, left->width * sizeof *row);
  left->next += left->width;
}

rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *answers, rs_err *err) {
  rows_left left = {answers, rs_reader_width(transformer)};
  return rs_read_rows(transformer, in, keep_row, &left, err);
}

rs_status rs_reader_context(const rs_transformer *transformer, const rs_reader_in *in, rs_context **context,
                            rs_batch *batch, rs_err *err) {
  *context = NULL;
  RS_TRY(check(transformer, in, err));
  *batch = batch_of(transformer, in, 0);
  return make_context(transformer, in, 0, context, err);
}
