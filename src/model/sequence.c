/* Whole sequences: from tokens or patches through the stacks to classes and losses, and back. */
#include "context.h"
#include "work.h"

#include <math.h>
#include <string.h>

/* Sequences [first, first + count) of a batch. */
typedef struct chunk {
  const rs_batch *batch;
  size_t first, count;
} chunk;

static rs_rows tight(const real *data, size_t columns) {
  return (rs_rows){(real *)data, columns};
}

static const rs_shape *shape_of(const rs_work *w) {
  return &w->context->transformer->shape;
}

static const real *values_of(const rs_work *w) {
  return w->context->transformer->values;
}

/* ---- embeddings -------------------------------------------------------------------------------------------------- */

/* What embeddings are made in: before their norm, where they have one. */
static real *embedded(const rs_stack_work *stack) {
  return stack->embedded != NULL ? stack->embedded : stack->blocks[0].x;
}

static void read_blocks(const rs_mapped_matrix *matrix, size_t row, size_t first, size_t count, real *to) {
  enum { PART = 256 };
  float part[PART];
  for (size_t i = 0; i < count; i += PART) {
    size_t numbers = count - i < PART ? count - i : PART;
    rs_mapped_blocks(matrix, row, first + i, numbers, part);
    for (size_t n = 0; n < numbers; n++) to[i + n] = (real)part[n];
  }
}

/* Numbers [first, first + count) of a row of the tensor. */
static void read_row(const rs_transformer *t, size_t tensor, size_t row, size_t first, size_t count, real *to) {
  const real *values = t->values;
  size_t columns = t->tensors[tensor].columns;
  rs_stored_matrix stored = {values, RS_REAL_FORMAT, 1, columns};
  if (t->mapped && t->matrices[tensor].blocks != NULL) {
    read_blocks(&t->matrices[tensor], row, first, count, to);
    return;
  }
  if (t->mapped)
    (void)rs_mapped_rows(&t->matrices[tensor], row, 1, &stored);
  else
    stored.numbers = values + t->tensors[tensor].offset + row * columns;
  const char *numbers = stored.numbers;
  rs_real_kernel()->widen(numbers + first * stored.input_step * rs_format_bytes(stored.format), stored.format,
                          stored.input_step, count, to);
}

static void embed_tokens(const rs_work *w, const int32_t *tokens, size_t rows, real *x) {
  const rs_transformer *t = w->context->transformer;
  size_t e = rs_embedding_width(&t->shape);
  real scale = (real)t->shape.embedding_scale;
#pragma omp parallel for schedule(static) if (rs_shares(rows))
  for (size_t r = 0; r < rows; r++) {
    read_row(t, t->places->embeddings, (size_t)tokens[r], 0, e, x + r * e);
    for (size_t i = 0; i < e && scale != 1; i++) x[r * e + i] *= scale;
  }
}

/* The class token, if any, that of distillation, if any, then the patches, each by the matrix. */
static void embed_patches(const rs_work *w, const chunk *part, real *x) {
  const rs_shape *shape = shape_of(w);
  const rs_places *places = w->context->transformer->places;
  size_t d = shape->width, n = shape->patch_numbers, length = w->context->decoder.length, lead = rs_shape_lead(shape);
  size_t patches = length - lead;
  const float *from = part->batch->patches + part->first * patches * n;
  for (size_t i = 0; i < part->count * patches * n; i++) w->decoder.patches[i] = (real)from[i];
  for (size_t s = 0; s < part->count; s++) {
    real *row = x + s * length * d;
    if (!shape->patches_alone) memcpy(row, values_of(w) + places->class_token, d * sizeof *row);
    if (shape->distillation_token) memcpy(row + d, values_of(w) + places->distillation_token, d * sizeof *row);
    rs_linear(w->context, &places->patches, patches, tight(w->decoder.patches + s * patches * n, n),
              tight(row + lead * d, d), false);
  }
}

/* Adds a row of the tensor. */
static void add_row(const rs_transformer *t, size_t tensor, size_t row, real *x) {
  enum { BLOCK = 256 };
  size_t columns = t->tensors[tensor].columns;
  real numbers[BLOCK];
  for (size_t first = 0; first < columns; first += BLOCK) {
    size_t count = columns - first < BLOCK ? columns - first : BLOCK;
    read_row(t, tensor, row, first, count, numbers);
    rs_real_kernel()->add(numbers, count, x + first);
  }
}

/* A vector for the type of each token. */
static void add_types(const rs_work *w, const int32_t *types, size_t rows, real *x) {
  const rs_transformer *t = w->context->transformer;
  size_t e = rs_embedding_width(&t->shape);
  for (size_t r = 0; r < rows && t->shape.token_types > 0; r++)
    add_row(t, t->places->token_types, types != NULL ? (size_t)types[r] : 0, x + r * e);
}

/* Padding has a vector of its own, and no position. */
static void add_counted(const rs_work *w, const rs_stack_context *context, const int32_t *tokens, real *x) {
  const rs_shape *shape = shape_of(w);
  const rs_transformer *t = w->context->transformer;
  size_t d = rs_embedding_width(shape), position = 0;
  for (size_t r = 0; r < context->length; r++, x += d) {
    if (tokens[r] == shape->padding) {
      add_row(t, t->places->padding_position, 0, x);
      continue;
    }
    for (size_t i = 0; i < d; i++) x[i] += (real)context->added[position * d + i];
    position++;
  }
}

static void add_positions(const rs_work *w, const rs_stack_context *context, const int32_t *tokens, size_t sequences,
                          real *x) {
  size_t count = context->length * rs_embedding_width(shape_of(w));
  for (size_t s = 0; s < sequences && context->added != NULL; s++)
    if (shape_of(w)->leaves_padding)
      add_counted(w, context, tokens + s * context->length, x + s * count);
    else
      for (size_t i = 0; i < count; i++) x[s * count + i] += (real)context->added[i];
}

/* Embeddings through their norm and matrix, where they have such, to the first block. */
static void finish_embeddings(const rs_work *w, const rs_stack_work *stack, size_t rows) {
  const rs_shape *shape = shape_of(w);
  const rs_places *places = w->context->transformer->places;
  size_t e = rs_embedding_width(shape);
  if (stack->embedded == NULL) return;
  rs_rows x = tight(stack->blocks[0].x, shape->width);
  rs_rows y = rs_norm_rows(values_of(w), &shape->embedding_norm, places->embedding_norm, rows, 1, e,
                           tight(stack->embedded, e), &stack->embedding_norm);
  if (shape->embedding_width > 0)
    rs_linear(w->context, &places->embedding_projection, rows, y, x, false);
  else
    rs_rows_copy(y, rows, e, x);
}

static void embed(const rs_work *w, const chunk *part, bool encoder) {
  const rs_stack_context *context = encoder ? &w->context->encoder : &w->context->decoder;
  const rs_stack_work *stack = encoder ? &w->encoder : &w->decoder;
  size_t rows = part->count * context->length;
  real *x = embedded(stack);
  const int32_t *tokens = encoder ? part->batch->source : part->batch->tokens;
  if (shape_of(w)->form == RS_VISION)
    embed_patches(w, part, x);
  else
    embed_tokens(w, tokens += part->first * context->length, rows, x);
  if (!encoder)
    add_types(w, part->batch->types != NULL ? part->batch->types + part->first * context->length : NULL, rows, x);
  add_positions(w, context, tokens, part->count, x);
  finish_embeddings(w, stack, rows);
  rs_rows_drop(rs_drop_at(w, encoder, 0, RS_DROP_EMBEDDINGS), context->length, rows, shape_of(w)->width,
               stack->blocks[0].x);
}

/* The way back from w->back.x, the gradient by what the first block read. */
static void embed_back(rs_work *w, const chunk *part, bool encoder, real *gradient) {
  const rs_shape *shape = shape_of(w);
  const rs_places *places = w->context->transformer->places;
  const rs_stack_context *context = encoder ? &w->context->encoder : &w->context->decoder;
  const rs_stack_work *stack = encoder ? &w->encoder : &w->decoder;
  size_t d = shape->width, length = context->length, rows = part->count * length;
  real *dx = w->back.x;
  rs_rows_drop(rs_drop_at(w, encoder, 0, RS_DROP_EMBEDDINGS), length, rows, d, dx);
  if (stack->embedded != NULL) {
    memset(w->back.behind, 0, rows * d * sizeof(real));
    rs_norm_rows_back(values_of(w), &shape->embedding_norm, places->embedding_norm, rows, 1, d,
                      tight(stack->embedded, d), &stack->embedding_norm, tight(dx, d), tight(w->back.behind, d),
                      gradient);
    dx = w->back.behind;
  }
  double *added = w->learned.added[encoder ? 0 : 1];
  for (size_t i = 0; i < rows * d && added != NULL; i++) added[i % (length * d)] += (double)dx[i];
  if (shape->form != RS_VISION) {
    const int32_t *tokens = (encoder ? part->batch->source : part->batch->tokens) + part->first * length;
    real scale = (real)shape->embedding_scale,
         *table = gradient + w->context->transformer->tensors[places->embeddings].offset;
    for (size_t r = 0; r < rows; r++)
      for (size_t i = 0; i < d; i++) table[(size_t)tokens[r] * d + i] += scale * dx[r * d + i];
    return;
  }
  for (size_t s = 0; s < part->count; s++) {
    size_t lead = rs_shape_lead(shape), patches = length - lead, n = shape->patch_numbers;
    const real *row = dx + s * length * d;
    if (!shape->patches_alone) rs_real_kernel()->add(row, d, gradient + places->class_token);
    if (shape->distillation_token) rs_real_kernel()->add(row + d, d, gradient + places->distillation_token);
    rs_linear_back(w->context, &places->patches, patches, tight(w->decoder.patches + s * patches * n, n),
                   tight(dx + (s * length + lead) * d, d), (rs_rows){0}, false, gradient);
  }
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

/* Rows that say a class: every token, or one a sequence. */
static size_t answers_of(const rs_work *w) {
  return rs_shape_answers(shape_of(w), w->context->decoder.length);
}

/* The last states behind their norm. */
static rs_rows final_states(const rs_work *w) {
  const rs_norm_work *norm = &w->decoder.final_norm;
  return tight(norm->y != NULL ? norm->y : w->decoder.last, shape_of(w)->width);
}

/* One of a model's heads: which token's states it reads, and its matrix. */
typedef enum head { CLASS_HEAD, TAUGHT_HEAD } head;

static size_t heads_of(const rs_work *w) {
  return shape_of(w)->prediction == RS_PREDICTS_CLASS ? 1 : 2;
}

static const rs_linear_place *matrix_of(const rs_work *w, head h) {
  const rs_places *places = w->context->transformer->places;
  return h == TAUGHT_HEAD ? &places->taught_output : &places->output;
}

/* Among rows of all tokens those that a head reads, one an answer; where it reads a mean, `means` (sequences, d). */
static rs_rows rows_of(const rs_work *w, head h, rs_rows all, real *means) {
  size_t length = w->context->decoder.length;
  if (h == TAUGHT_HEAD) return (rs_rows){all.data + all.step, all.step * length};
  return means != NULL ? tight(means, shape_of(w)->width) : (rs_rows){all.data, all.step * (length / answers_of(w))};
}

static rs_rows from_row(rs_rows rows, size_t first) {
  return (rs_rows){rows.data + first * rows.step, rows.step};
}

/* w->pooled = the mean of each sequence's states but those of its first tokens, z = 1/N sum z_i. */
static void pool_states(const rs_work *w, size_t sequences) {
  size_t d = shape_of(w)->width, length = w->context->decoder.length, lead = rs_shape_lead(shape_of(w));
  rs_rows states = final_states(w);
  for (size_t s = 0; s < sequences && w->pooled != NULL; s++)
    for (size_t i = 0; i < d; i++) {
      double sum = 0;
      for (size_t n = lead; n < length; n++) sum += (double)states.data[(s * length + n) * states.step + i];
      w->pooled[s * d + i] = (real)(sum / (double)(length - lead));
    }
}

/* The way back from means to states: each of N has 1/N of it. */
static void unpool(const rs_work *w, size_t sequences, rs_rows dstates) {
  size_t d = shape_of(w)->width, length = w->context->decoder.length, lead = rs_shape_lead(shape_of(w));
  for (size_t s = 0; s < sequences && w->pooled != NULL; s++)
    for (size_t n = lead; n < length; n++)
      for (size_t i = 0; i < d; i++)
        dstates.data[(s * length + n) * dstates.step + i] += w->by_pooled[s * d + i] / (real)(length - lead);
}

/* to (rows, C) = the logits of a head. */
static void say_classes(const rs_work *w, head h, rs_rows states, size_t rows, real *to) {
  const rs_shape *shape = shape_of(w);
  size_t count = rows * shape->classes;
  rs_linear(w->context, matrix_of(w, h), rows, states, tight(to, shape->classes), false);
  real scale = (real)shape->output_scale;
  for (size_t i = 0; i < count && scale != 1; i++) to[i] *= scale;
  if (shape->output_cap > 0)
    rs_real_kernel()->cap_rows(shape->output_cap, rows, shape->classes, to, shape->classes, w->cap_slopes);
}

static double log_sum(const real *logits, size_t count) {
  double top = (double)logits[0], sum = 0;
  for (size_t i = 1; i < count; i++) top = fmax(top, (double)logits[i]);
  for (size_t i = 0; i < count; i++) sum += exp((double)logits[i] - top);
  return top + log(sum);
}

/* w->logits with w->taught: the mean of both (transformers), or the log of the mean of their softmaxes (DeiT, section
 * 5.2: "fusion"). */
static void join_heads(const rs_work *w, size_t rows) {
  size_t classes = shape_of(w)->classes;
  bool logits = shape_of(w)->prediction == RS_PREDICTS_LOGITS;
  for (size_t r = 0; r < rows; r++) {
    real *a = w->logits + r * classes, *b = w->taught + r * classes;
    double below_a = logits ? 0 : log_sum(a, classes), below_b = logits ? 0 : log_sum(b, classes);
    for (size_t i = 0; i < classes; i++) {
      double x = (double)a[i] - below_a, y = (double)b[i] - below_b;
      a[i] = (real)(logits ? (x + y) / 2 : fmax(x, y) + log1p(exp(-fabs(x - y))) - M_LN2);
    }
  }
}

/* The rows' targets, none where the batch has none; of the taught head: what the teacher says where there is one. */
static void take_targets(const rs_work *w, const chunk *part, head h, size_t first, size_t rows) {
  size_t start = part->first * answers_of(w) + first;
  const int32_t *targets = part->batch->targets, *taught = part->batch->taught;
  for (size_t r = 0; r < rows; r++) {
    w->targets[r] = targets != NULL ? targets[start + r] : RS_NO_TARGET;
    if (h == TAUGHT_HEAD && w->targets[r] >= 0) w->targets[r] = taught[start + r];
  }
}

static void keep_classes(const rs_work *w, const rs_pass_out *out, size_t start, size_t rows) {
  size_t classes = shape_of(w)->classes;
  if (out->losses != NULL) memcpy(out->losses + start, w->losses, rows * sizeof *out->losses);
  if (out->answers != NULL) memcpy(out->answers + start, w->answers, rows * sizeof *out->answers);
  for (size_t i = 0; i < rows * classes && out->logits != NULL; i++)
    out->logits[start * classes + i] = (double)w->logits[i];
  for (size_t r = 0; r < rows && out->take != NULL; r++) {
    for (size_t i = 0; i < classes; i++) w->row[i] = (double)w->logits[r * classes + i];
    out->take(out->context, w->row);
  }
}

/* Answers [begin, end) of the chunk's; the first goes to place `to`. */
static void read_answers(const rs_work *w, const chunk *part, const rs_pass_out *out, size_t begin, size_t end,
                         size_t to) {
  size_t classes = shape_of(w)->classes;
  for (size_t first = begin; first < end; first += HEAD_ROWS) {
    size_t rows = end - first < HEAD_ROWS ? end - first : HEAD_ROWS;
    say_classes(w, CLASS_HEAD, from_row(rows_of(w, CLASS_HEAD, final_states(w), w->pooled), first), rows, w->logits);
    if (heads_of(w) > 1) {
      say_classes(w, TAUGHT_HEAD, from_row(rows_of(w, TAUGHT_HEAD, final_states(w), NULL), first), rows, w->taught);
      join_heads(w, rows);
    }
    take_targets(w, part, CLASS_HEAD, first, rows);
    rs_real_kernel()->cross_entropy(w->logits, classes, rows, classes, w->targets, 0, w->losses, w->answers);
    keep_classes(w, out, to + first - begin, rows);
  }
}

static bool says_classes(const rs_pass_out *out) {
  return out->losses != NULL || out->answers != NULL || out->logits != NULL || out->take != NULL;
}

static void read_classes(const rs_work *w, const chunk *part, const rs_pass_out *out) {
  size_t each = answers_of(w), wanted = each - out->skipped;
  if (!says_classes(out)) return;
  pool_states(w, part->count);
  if (out->skipped == 0) {
    read_answers(w, part, out, 0, part->count * each, part->first * each);
    return;
  }
  for (size_t s = 0; s < part->count; s++)
    read_answers(w, part, out, s * each + out->skipped, (s + 1) * each, (part->first + s) * wanted);
}

/* The sum of the chunk's losses at one head; `dstates` gets the gradient by the states that it reads. */
static double head_back(const rs_work *w, const chunk *part, head h, double weight, rs_rows dstates, real *gradient,
                        size_t *targets) {
  const rs_shape *shape = shape_of(w);
  size_t answers = part->count * answers_of(w), classes = shape->classes;
  real scale = (real)shape->output_scale;
  rs_rows all = rows_of(w, h, final_states(w), w->pooled);
  double sum = 0;
  for (size_t first = 0; first < answers; first += HEAD_ROWS) {
    size_t rows = answers - first < HEAD_ROWS ? answers - first : HEAD_ROWS;
    rs_rows states = from_row(all, first);
    say_classes(w, h, states, rows, w->logits);
    take_targets(w, part, h, first, rows);
    rs_real_kernel()->cross_entropy(w->logits, classes, rows, classes, w->targets, weight, w->losses, NULL);
    for (size_t i = 0; i < rows * classes && w->cap_slopes != NULL; i++) w->logits[i] *= w->cap_slopes[i];
    for (size_t i = 0; i < rows * classes && scale != 1; i++) w->logits[i] *= scale;
    rs_linear_back(w->context, matrix_of(w, h), rows, states, tight(w->logits, classes), from_row(dstates, first),
                   false, gradient);
    for (size_t r = 0; r < rows; r++)
      if (w->targets[r] >= 0) {
        sum += w->losses[r];
        ++*targets;
      }
  }
  return sum;
}

/* The sum of the chunk's losses, of two heads the mean of both: (CE(class, y) + CE(taught, what the teacher says)) / 2;
 * `dstates`, zero before, gets the gradient by the states. */
static double classes_back(const rs_work *w, const chunk *part, double weight, rs_rows dstates, real *gradient,
                           size_t *targets) {
  size_t heads = heads_of(w), again = 0;
  double each = weight / (double)heads;
  pool_states(w, part->count);
  double sum = head_back(w, part, CLASS_HEAD, each, rows_of(w, CLASS_HEAD, dstates, w->by_pooled), gradient, targets);
  if (heads > 1)
    sum = (sum + head_back(w, part, TAUGHT_HEAD, each, rows_of(w, TAUGHT_HEAD, dstates, NULL), gradient, &again)) / 2;
  unpool(w, part->count, dstates);
  return sum;
}

/* ---- forwards ---------------------------------------------------------------------------------------------------- */

static void run_stack(rs_work *w, const chunk *part, bool encoder, rs_rows source) {
  const rs_context *context = w->context;
  const rs_shape *shape = shape_of(w);
  const rs_places *places = context->transformer->places;
  const rs_stack *stack = encoder ? &shape->encoder : &shape->decoder;
  const rs_stack_place *place = encoder ? &places->encoder : &places->decoder;
  const rs_stack_context *at = encoder ? &context->encoder : &context->decoder;
  rs_stack_work *arrays = encoder ? &w->encoder : &w->decoder;
  embed(w, part, encoder);
  rs_stack_forward(w, stack, place, at, arrays, part->count, source);
  if (arrays->end < stack->count) return;
  (void)rs_norm_rows(values_of(w), &stack->final_norm, place->final_norm, part->count * at->length, 1, shape->width,
                     tight(arrays->last, shape->width), &arrays->final_norm);
}

/* The encoder's states behind their norm; none without an encoder. */
static rs_rows source_states(const rs_work *w) {
  const rs_stack_work *encoder = &w->encoder;
  if (encoder->rows == 0) return (rs_rows){0};
  return tight(encoder->final_norm.y != NULL ? encoder->final_norm.y : encoder->last, shape_of(w)->width);
}

static void run(rs_work *w, const chunk *part) {
  if (w->encoder.rows > 0) run_stack(w, part, true, (rs_rows){0});
  run_stack(w, part, false, source_states(w));
}

static chunk next_chunk(rs_work *w, const rs_batch *batch, size_t first) {
  size_t left = batch->sequences - first;
  RS_ASSERT(w->training || batch->drop.share == 0);
  w->drop = batch->drop;
  w->drop.sequence += first;
  return (chunk){batch, first, left < w->sequences ? left : w->sequences};
}

static void keep_states(const rs_work *w, const chunk *part, double *states) {
  size_t each = w->context->decoder.length * shape_of(w)->width;
  for (size_t i = 0; i < part->count * each && states != NULL; i++)
    states[part->first * each + i] = (double)final_states(w).data[i];
}

static void forward(void *arrays, const rs_batch *batch, const rs_pass_out *out) {
  rs_work *w = arrays;
  for (size_t first = 0; first < batch->sequences; first += w->sequences) {
    chunk part = next_chunk(w, batch, first);
    bool rows = first == 0 && (out->q != NULL || out->k != NULL), states = says_classes(out) || out->states != NULL;
    w->kept = rows ? out : NULL;
    w->decoder.end = rows && !states && out->rows == NULL ? out->block + 1 : shape_of(w)->decoder.count;
    if (rows || states) run(w, &part);
    if (!states) continue;
    read_classes(w, &part, out);
    keep_states(w, &part, out->states);
  }
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

/* From w->back.branch, the gradient by the stack's states behind their final norm. */
static void stack_back(rs_work *w, const chunk *part, bool encoder, rs_rows source, real *gradient) {
  const rs_context *context = w->context;
  const rs_shape *shape = shape_of(w);
  const rs_places *places = context->transformer->places;
  const rs_stack *stack = encoder ? &shape->encoder : &shape->decoder;
  const rs_stack_place *place = encoder ? &places->encoder : &places->decoder;
  const rs_stack_context *at = encoder ? &context->encoder : &context->decoder;
  rs_stack_work *arrays = encoder ? &w->encoder : &w->decoder;
  size_t d = shape->width, rows = part->count * at->length;
  memset(w->back.x, 0, rows * d * sizeof(real));
  rs_norm_rows_back(values_of(w), &stack->final_norm, place->final_norm, rows, 1, d, tight(arrays->last, d),
                    &arrays->final_norm, tight(w->back.branch, d), tight(w->back.x, d), gradient);
  rs_stack_backward(w, stack, place, at, arrays, part->count, source, gradient);
  embed_back(w, part, encoder, gradient);
}

static double chunk_back(rs_work *w, const chunk *part, double weight, real *gradient, size_t *targets) {
  size_t d = shape_of(w)->width, source_rows = part->count * w->context->encoder.length;
  w->kept = NULL;
  w->decoder.end = shape_of(w)->decoder.count;
  run(w, part);
  memset(w->back.branch, 0, part->count * w->context->decoder.length * d * sizeof(real));
  double loss = classes_back(w, part, weight, tight(w->back.branch, d), gradient, targets);
  if (w->encoder.rows > 0) memset(w->back.source, 0, source_rows * d * sizeof(real));
  stack_back(w, part, false, source_states(w), gradient);
  if (w->encoder.rows == 0) return loss;
  memcpy(w->back.branch, w->back.source, source_rows * d * sizeof(real));
  stack_back(w, part, true, (rs_rows){0}, gradient);
  return loss;
}

/* ---- what recipes learn ------------------------------------------------------------------------------------------ */

static void reset_learned(const rs_work *w) {
  const rs_context *context = w->context;
  const rs_transformer *t = context->transformer;
  size_t d = t->shape.width;
  for (size_t i = 0; i < context->attend_count; i++)
    if (w->learned.sums[i] != NULL) rs_attend_sums_reset(w->learned.sums[i]);
  if (w->learned.added[0] != NULL) memset(w->learned.added[0], 0, context->encoder.length * d * sizeof(double));
  if (w->learned.added[1] != NULL) memset(w->learned.added[1], 0, context->decoder.length * d * sizeof(double));
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    double *array =
        tensor->init == RS_INIT_LEARNED ? w->learned.arrays[tensor->recipe * RS_LEARNED + tensor->learned] : NULL;
    if (array != NULL) memset(array, 0, tensor->rows * tensor->columns * sizeof *array);
  }
}

static void added_back(const rs_work *w, const rs_stack *shape, const rs_stack_context *stack, const double *added) {
  if (added == NULL) return;
  size_t recipe = rs_stack_recipe(shape);
  rs_encoding_embed_gradient(stack->encodings[recipe], 0, stack->length, added,
                             w->learned.arrays + recipe * RS_LEARNED);
}

static void learned_back(const rs_work *w, real *gradient) {
  const rs_context *context = w->context;
  const rs_transformer *t = context->transformer;
  for (size_t i = 0; i < context->attend_count; i++)
    if (w->learned.sums[i] != NULL)
      rs_attend_sums_finish(context->attends[i].attend, w->learned.sums[i],
                            w->learned.arrays + context->attends[i].recipe * RS_LEARNED);
  added_back(w, &t->shape.encoder, &context->encoder, w->learned.added[0]);
  added_back(w, &t->shape.decoder, &context->decoder, w->learned.added[1]);
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    if (tensor->init != RS_INIT_LEARNED) continue;
    const double *array = w->learned.arrays[tensor->recipe * RS_LEARNED + tensor->learned];
    for (size_t k = 0; k < tensor->rows * tensor->columns; k++) gradient[tensor->offset + k] += (real)array[k];
  }
}

static double backward(void *arrays, const rs_batch *batch, double weight, void *gradient, size_t *targets) {
  rs_work *w = arrays;
  double loss = 0;
  *targets = 0;
  reset_learned(w);
  for (size_t first = 0; first < batch->sequences; first += w->sequences) {
    chunk part = next_chunk(w, batch, first);
    loss += chunk_back(w, &part, weight, gradient, targets);
  }
  learned_back(w, gradient);
  return loss;
}

static rs_status create(const rs_context *context, size_t sequences, bool training, void **out, rs_err *err) {
  rs_work *w;
  rs_status status = rs_work_create(context, sequences, training, &w, err);
  *out = w;
  return status;
}

static void release(void *w) {
  rs_work_free(w);
}

const rs_pass_kind RS_OF_REAL(rs_pass_kind) = {
    .create = create, .release = release, .forward = forward, .backward = backward};
