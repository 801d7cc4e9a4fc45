/* Blocks, back: what forward.c computed, in the other order. `g`, w->back.x, is the gradient by a block's output at
 * first; each part adds what it gives to the gradient by its input, and at the end g is that by the block's input. */
#include "work.h"

#include <string.h>

/* One block of one stack. */
typedef struct block_back {
  rs_work *w;
  const real *values;
  real *gradient;
  const rs_block *shape;
  const rs_block_place *place;
  const rs_block_work *work;
  size_t attend, cross; /* among the context's */
  size_t rows, sequences, length, d;
  rs_rows source;
  size_t source_length;
} block_back;

static rs_rows tight(const real *data, size_t columns) {
  return (rs_rows){(real *)data, columns};
}

static rs_rows normed(const rs_norm_work *work, const real *x, size_t d) {
  return tight(work->y != NULL ? work->y : x, d);
}

/* g += the gradient by x of norm(x), given that by the norm's output in w->back.branch. */
static void norm_to_input(const block_back *b, const rs_norm *norm, rs_norm_place place, const rs_norm_work *work,
                          const real *x) {
  const rs_back_work *back = &b->w->back;
  rs_norm_rows_back(b->values, norm, place, b->rows, 1, b->d, tight(x, b->d), work, tight(back->branch, b->d),
                    tight(back->x, b->d), b->gradient);
}

/* w->back.narrow = the gradient by the inputs of a part's last matrix: g itself, or through the norm behind the part,
 * comes to that matrix. */
static void part_to_inputs(const block_back *b, const rs_linear_place *matrix, rs_rows inputs, const rs_norm *norm,
                           rs_norm_place place, const rs_norm_work *work, const real *before) {
  const rs_back_work *back = &b->w->back;
  rs_rows g = tight(back->x, b->d);
  if (norm->kind != RS_NORM_NONE) {
    memset(back->behind, 0, b->rows * b->d * sizeof(real));
    rs_norm_rows_back(b->values, norm, place, b->rows, 1, b->d, tight(before, b->d), work, g, tight(back->behind, b->d),
                      b->gradient);
    g.data = back->behind;
  }
  rs_linear_back(b->w->context, matrix, b->rows, inputs, g, tight(back->narrow, matrix->inputs), false, b->gradient);
}

/* w->back.branch = the gradient by x, which the feed-forward read. */
static void feed_forward_back(const block_back *b, rs_rows x) {
  const rs_feed_forward *shape = &b->shape->feed_forward;
  const rs_block_work *work = b->work;
  const rs_back_work *back = &b->w->back;
  size_t up = shape->gated ? 2 * shape->width : shape->width;
  part_to_inputs(b, &b->place->down, tight(work->active, shape->width), &b->shape->after_feed_forward,
                 b->place->after_feed_forward, &work->after_feed_forward, work->fed);
  rs_curve_call call = {
      .gated = shape->gated, .rows = b->rows, .width = shape->width, .x_step = up, .slopes = work->up};
  rs_real_kernel()->curve_back(&call, back->narrow, shape->width, back->wide, up);
  rs_linear_back(b->w->context, &b->place->up, b->rows, x, tight(back->wide, up), tight(back->branch, b->d), false,
                 b->gradient);
}

/* What heads read, and where the gradients by it go. */
typedef struct heads_back {
  size_t attend; /* among the context's */
  const rs_attention_place *place;
  const rs_attention_work *work;
  rs_rows q, k, v; /* as the products gave them */
  rs_rows dq, dk, dv;
  size_t key_rows, key_length;
} heads_back;

/* Gradients by queries and keys through their norms; h->dq and h->dk get them. */
static void qk_norm_back(const block_back *b, const heads_back *h, rs_rows dq, rs_rows dk) {
  const rs_head_shape *shape = &b->shape->attention;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim;
  bool whole = shape->qk_span == RS_QK_PROJECTION;
  for (size_t r = 0; r < b->rows; r++) memset(h->dq.data + r * h->dq.step, 0, queries * sizeof(real));
  for (size_t r = 0; r < h->key_rows; r++) memset(h->dk.data + r * h->dk.step, 0, keys * sizeof(real));
  rs_norm_rows_back(b->values, &shape->qk_norm, h->place->q_norm, b->rows, whole ? 1 : shape->heads,
                    whole ? queries : shape->head_dim, h->q, &h->work->q_norm, dq, h->dq, b->gradient);
  rs_norm_rows_back(b->values, &shape->qk_norm, h->place->k_norm, h->key_rows, whole ? 1 : shape->kv_heads,
                    whole ? keys : shape->head_dim, h->k, &h->work->k_norm, dk, h->dk, b->gradient);
}

/* From the gradient by the heads' outputs, in w->back.narrow. */
static void run_heads_back(const block_back *b, const heads_back *h) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim;
  bool norm = shape->qk_norm.kind != RS_NORM_NONE;
  rs_rows q = norm ? tight(h->work->q_norm.y, queries) : h->q, k = norm ? tight(h->work->k_norm.y, keys) : h->k;
  rs_rows dq = norm ? tight(back->normed, queries) : h->dq;
  rs_rows dk = norm ? tight(back->normed + b->rows * queries, keys) : h->dk;
  for (size_t s = 0; s < b->sequences; s++) {
    size_t m = s * b->length, n = s * h->key_length;
    rs_attend_call call = {.q = q.data + m * q.step,
                           .k = k.data + n * k.step,
                           .v = h->v.data + n * h->v.step,
                           .q_step = q.step,
                           .k_step = k.step,
                           .v_step = h->v.step,
                           .sinks = h->place->sinks != RS_NOWHERE ? b->values + h->place->sinks : NULL,
                           .out = h->work->out + m * queries,
                           .out_step = queries,
                           .level = h->work->level + m * shape->heads};
    rs_attend_gradients to = {.dout = back->narrow + m * queries,
                              .dout_step = queries,
                              .dq = dq.data + m * dq.step,
                              .dk = dk.data + n * dk.step,
                              .dv = h->dv.data + n * h->dv.step,
                              .dq_step = dq.step,
                              .dk_step = dk.step,
                              .dv_step = h->dv.step,
                              .dsinks = h->place->sinks != RS_NOWHERE ? b->gradient + h->place->sinks : NULL,
                              .sums = b->w->learned.sums[h->attend]};
    RS_OF_REAL(rs_attend_backward)(b->w->context->attends[h->attend].attend, &call, &to, b->w->scratch);
  }
  if (norm) qk_norm_back(b, h, dq, dk);
}

/* w->back.branch = the gradient by the block's normed input, plus what stands there where `add`. */
static void self_attention_back(const block_back *b, bool add) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_attention_work *work = &b->work->attention;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim, all = queries + 2 * keys;
  const heads_back h = {.attend = b->attend,
                        .place = &b->place->attention,
                        .work = work,
                        .q = tight(work->qkv, all),
                        .k = tight(work->qkv + queries, all),
                        .v = tight(work->qkv + queries + keys, all),
                        .dq = tight(back->wide, all),
                        .dk = tight(back->wide + queries, all),
                        .dv = tight(back->wide + queries + keys, all),
                        .key_rows = b->rows,
                        .key_length = b->length};
  run_heads_back(b, &h);
  rs_linear_back(b->w->context, &b->place->attention.qkv, b->rows, normed(&b->work->before_attention, b->work->x, b->d),
                 tight(back->wide, all), tight(back->branch, b->d), add, b->gradient);
}

static void cross_attention_back(const block_back *b) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_attention_work *work = &b->work->cross;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim;
  size_t source_rows = b->sequences * b->source_length;
  const heads_back h = {.attend = b->cross,
                        .place = &b->place->cross,
                        .work = work,
                        .q = tight(work->qkv, queries),
                        .k = tight(work->kv, 2 * keys),
                        .v = tight(work->kv + keys, 2 * keys),
                        .dq = tight(back->wide, queries),
                        .dk = tight(back->keys, 2 * keys),
                        .dv = tight(back->keys + keys, 2 * keys),
                        .key_rows = source_rows,
                        .key_length = b->source_length};
  rs_linear_back(b->w->context, &b->place->cross.output, b->rows, tight(work->out, queries), tight(back->x, b->d),
                 tight(back->narrow, queries), false, b->gradient);
  run_heads_back(b, &h);
  rs_linear_back(b->w->context, &b->place->cross.kv, source_rows, b->source, tight(back->keys, 2 * keys),
                 tight(back->source, b->d), true, b->gradient);
  rs_linear_back(b->w->context, &b->place->cross.q, b->rows, normed(&b->work->before_cross, b->work->middle, b->d),
                 tight(back->wide, queries), tight(back->branch, b->d), false, b->gradient);
  norm_to_input(b, &b->shape->before_cross, b->place->before_cross, &b->work->before_cross, b->work->middle);
}

static void run_block_back(const block_back *b) {
  const rs_block *shape = b->shape;
  const rs_block_place *place = b->place;
  const rs_block_work *work = b->work;
  size_t queries = shape->attention.heads * shape->attention.head_dim;
  const real *middle = shape->cross ? work->crossed : work->middle;
  const real *fed_by = shape->parallel ? work->x : middle; /* what the norm before the feed-forward reads */
  bool shared = shape->parallel && shape->before_feed_forward.kind == RS_NORM_NONE;
  const rs_norm_work *before = shared ? &work->before_attention : &work->before_feed_forward;
  feed_forward_back(b, normed(before, fed_by, b->d));
  if (!shape->parallel) norm_to_input(b, &shape->before_feed_forward, place->before_feed_forward, before, fed_by);
  if (shape->cross) cross_attention_back(b);
  part_to_inputs(b, &place->attention.output, tight(work->attention.out, queries), &shape->after_attention,
                 place->after_attention, &work->after_attention, work->attended);
  if (shape->parallel && !shared)
    norm_to_input(b, &shape->before_feed_forward, place->before_feed_forward, before, fed_by);
  self_attention_back(b, shared);
  norm_to_input(b, &shape->before_attention, place->before_attention, &work->before_attention, work->x);
}

void rs_stack_backward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                       rs_stack_work *stack, size_t sequences, rs_rows source, real *gradient) {
  const rs_transformer *t = w->context->transformer;
  for (size_t i = shape->count; i-- > 0;) {
    const block_back back = {.w = w,
                             .values = t->values,
                             .gradient = gradient,
                             .shape = &shape->blocks[i],
                             .place = &place->blocks[i],
                             .work = &stack->blocks[i],
                             .attend = context->attend[i],
                             .cross = context->cross[i],
                             .rows = sequences * context->length,
                             .sequences = sequences,
                             .length = context->length,
                             .d = t->shape.width,
                             .source = source,
                             .source_length = w->context->encoder.length};
    run_block_back(&back);
  }
}
