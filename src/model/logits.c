/* What a model says of sequences that are given, document by document. Padding is left out, not masked: nothing reads
 * it. */
#include "model/model.h"

#include <stdlib.h>
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
  if (in->ids != NULL && t->shape.leaves_padding)
    return rs_fail_on(err, RS_UNSUPPORTED, "ids", "the model counts its positions by which tokens are padding's");
  return RS_OK;
}

/* Answers to several documents of one sequence need each token to have one, and an encoder's documents to be known. */
static rs_status check_documents(const rs_transformer *t, const rs_reader_in *in, const rs_documents *documents,
                                 rs_err *err) {
  for (size_t s = 0; s < in->count; s++) {
    size_t count = documents->orders[s].documents;
    if (count == 1 || !(rs_reader_single(t) || in->source != NULL)) continue;
    return rs_fail_on(err, RS_UNSUPPORTED, in->documents != NULL ? "documents" : "ids",
                      "sequence %zu has %zu documents, and the model %s", s, count,
                      in->source != NULL ? "reads an encoder's tokens beside them, whose documents are not said"
                                         : "says one class a sequence");
  }
  return RS_OK;
}

size_t rs_reader_width(const rs_transformer *t) {
  return t->shape.classes > 0 ? t->shape.classes : t->shape.width;
}

/* Where answers go. */
typedef struct receiver {
  void (*take)(void *context, size_t answer, const double *row);
  void *context;
} receiver;

/* What is read, and room for it. */
typedef struct reader {
  const rs_transformer *transformer;
  const rs_reader_in *in;
  const receiver *to;
  const rs_document *document; /* that is read, */
  size_t row;                  /* and its token that is answered next */
  rs_pass *pass;
  double *states; /* (L, d) of a model without classes; else NULL */
  rs_arena arena; /* that holds them */
} reader;

static void clear_room(reader *r) {
  rs_pass_free(r->pass);
  rs_arena_clear(&r->arena);
  r->pass = NULL;
}

static rs_status make_room(const rs_context *context, size_t length, reader *r, rs_err *err) {
  const rs_shape *shape = &r->transformer->shape;
  r->states = NULL;
  if (shape->classes == 0) r->states = rs_arena_take(&r->arena, length, shape->width * sizeof *r->states);
  rs_status status = rs_arena_check(&r->arena, err);
  if (status == RS_OK) status = rs_pass_create(context, 1, false, &r->pass, err);
  if (status != RS_OK) clear_room(r);
  return status;
}

/* Whether the token at this place of its sequence is among the last, and its answer is wanted. */
static bool is_wanted(const rs_reader_in *in, size_t place) {
  return place >= in->length - in->last;
}

static size_t answer_of(const rs_reader_in *in, size_t sequence, size_t place) {
  return sequence * in->last + place - (in->length - in->last);
}

static void take_row(void *context, const double *row) {
  reader *r = context;
  size_t sequence = r->document->sequence, place = r->document->places[r->row++];
  if (rs_reader_single(r->transformer))
    r->to->take(r->to->context, sequence, row);
  else if (is_wanted(r->in, place))
    r->to->take(r->to->context, answer_of(r->in, sequence, place), row);
}

static rs_batch batch_of(const rs_transformer *t, const rs_reader_in *in, const rs_document *d) {
  size_t patches = in->rows * in->columns * t->shape.patch_numbers;
  return (rs_batch){.sequences = 1,
                    .tokens = d->tokens,
                    .source = in->source != NULL ? in->source + d->sequence * in->source_length : NULL,
                    .patches = in->patches != NULL ? in->patches + d->sequence * patches : NULL,
                    .types = d->types};
}

/* Reads no document of which nothing is wanted; of another what is before the first token that is goes unanswered. */
static void read_document(reader *r, const rs_document *document) {
  size_t width = r->transformer->shape.width, first = 0;
  const rs_batch batch = batch_of(r->transformer, r->in, document);
  bool single = rs_reader_single(r->transformer);
  while (!single && first < document->count && !is_wanted(r->in, document->places[first])) first++;
  if (first == document->count) return;
  r->document = document;
  r->row = first;
  const rs_pass_out out = {.take = r->states == NULL ? take_row : NULL,
                           .context = r,
                           .skipped = r->states == NULL ? first : 0,
                           .states = r->states};
  rs_forward(r->pass, &batch, &out);
  for (size_t i = first; i < document->count && r->states != NULL; i++) take_row(r, r->states + i * width);
}

/* Whether the two share a context. */
static bool alike(const rs_document *a, const rs_document *b) {
  return a->count == b->count && a->ids == NULL && b->ids == NULL;
}

/* Of a model that turns by one position, ids of time, row and column would be read by the first alone. */
static rs_status check_axes(const rs_transformer *t, const rs_context *context, const rs_document *document,
                            rs_err *err) {
  size_t axes = 1;
  for (size_t b = 0; b < t->shape.decoder.count; b++) {
    const rs_encoding *encoding = rs_context_block_encoding(context, b);
    axes = encoding->axes > axes ? encoding->axes : axes;
  }
  for (size_t i = 0; i < document->count && document->ids != NULL && axes == 1; i++) {
    const double *id = document->ids + i * RS_AXES;
    if (id[1] != id[0] || id[2] != id[0])
      return rs_fail_on(err, RS_INPUT, "ids",
                        "the model has one position a token, and those of token %zu of sequence %zu are %g, %g and %g",
                        document->places[i], document->sequence, id[0], id[1], id[2]);
  }
  return RS_OK;
}

static rs_status make_context(const rs_transformer *t, const rs_reader_in *in, const rs_document *document,
                              rs_context **context, rs_err *err) {
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
  const rs_token_layout layout = {.runs = image + !classed,
                                  .count = in->patches != NULL ? 1 + classed : 0,
                                  .ids = (double *)document->ids,
                                  .id_count = document->ids != NULL ? document->count : 0};
  RS_TRY(rs_context_create(t, NULL, document->count, in->source_length, &layout, context, err));
  rs_status status = check_axes(t, *context, document, err);
  if (status == RS_OK) return RS_OK;
  rs_context_free(*context);
  *context = NULL;
  return status;
}

/* Document number `first` and those behind it that are alike, which are marked. */
static rs_status read_alike(reader *r, const rs_documents *documents, size_t first, bool *done, rs_err *err) {
  const rs_document *items = documents->items;
  rs_context *context;
  RS_TRY(make_context(r->transformer, r->in, &items[first], &context, err));
  rs_status status = make_room(context, items[first].count, r, err);
  for (size_t d = first; d < documents->count && status == RS_OK; d++) {
    if (done[d] || (d > first && !alike(&items[first], &items[d]))) continue;
    read_document(r, &items[d]);
    done[d] = true;
  }
  clear_room(r);
  rs_context_free(context);
  return status;
}

/* Answers of padding are 0. */
static rs_status say_padding(const reader *r, rs_err *err) {
  const rs_reader_in *in = r->in;
  RS_FREED double *zeros = rs_alloc(rs_reader_width(r->transformer), sizeof *zeros, err);
  if (zeros == NULL) return RS_MEMORY;
  for (size_t i = 0; i < in->count * in->length && in->present != NULL && !rs_reader_single(r->transformer); i++)
    if (!in->present[i] && is_wanted(in, i % in->length))
      r->to->take(r->to->context, answer_of(in, i / in->length, i % in->length), zeros);
  return RS_OK;
}

rs_status rs_read_rows(const rs_transformer *transformer, const rs_reader_in *in, const rs_documents *documents,
                       void (*take)(void *context, size_t answer, const double *row), void *context, rs_err *err) {
  const receiver to = {take, context};
  reader r = {.transformer = transformer, .in = in, .to = &to};
  RS_TRY(check(transformer, in, err));
  RS_TRY(check_documents(transformer, in, documents, err));
  RS_FREED bool *done = rs_alloc(documents->count, sizeof *done, err);
  if (done == NULL) return RS_MEMORY;
  for (size_t first = 0; first < documents->count; first++)
    if (!done[first]) RS_TRY(read_alike(&r, documents, first, done, err));
  return say_padding(&r, err);
}

/* An array that is filled row by row. */
typedef struct row_array {
  double *rows;
  size_t width;
} row_array;

static void keep_row(void *context, size_t answer, const double *row) {
  const row_array *array = context;
  memcpy(array->rows + answer * array->width, row, array->width * sizeof *row);
}

rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *answers, rs_err *err) {
  row_array array = {answers, rs_reader_width(transformer)};
  RS_OWNED(rs_documents) documents = {0};
  RS_TRY(check(transformer, in, err));
  RS_TRY(rs_documents_find(in, &documents, err));
  return rs_read_rows(transformer, in, &documents, keep_row, &array, err);
}

rs_status rs_reader_context(const rs_transformer *transformer, const rs_reader_in *in, const rs_documents *documents,
                            rs_context **context, rs_batch *batch, rs_err *err) {
  *context = NULL;
  RS_TRY(check(transformer, in, err));
  RS_TRY(check_documents(transformer, in, documents, err));
  if (documents->orders[0].documents > 1)
    return rs_fail(err, RS_UNSUPPORTED, "sequence 0 has %zu documents, and one is shown at a time",
                   documents->orders[0].documents);
  *batch = batch_of(transformer, in, documents->items);
  return make_context(transformer, in, documents->items, context, err);
}
