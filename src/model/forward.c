/* Blocks, forwards: x + attention, then x + feed-forward, each behind its norms. */
#include "context.h"
#include "work.h"

#include <string.h>

/* One block of one stack. */
typedef struct block_run {
  rs_work *w;
  const real *values;
  const rs_block *shape;
  const rs_block_place *place;
  rs_block_work *work;
  const rs_attend *attend, *cross;
  size_t rows, sequences, length, d;
  size_t piece;   /* rows that the feed-forward takes at a time */
  rs_rows source; /* the encoder's states */
  size_t source_length;
} block_run;

static rs_rows tight(real *data, size_t columns) {
  return (rs_rows){data, columns};
}

/* to, which may be x, = x + what a part gives: straight from its matrix, or through the norm behind it, which reads
 * `before`; or the norm of that sum. */
static void add_part(const block_run *b, const rs_linear_place *matrix, rs_rows inputs, const rs_norm *norm,
                     rs_norm_place place, const rs_norm_work *work, real *before, const real *x, real *to) {
  size_t d = b->d;
  if (b->shape->norm_sums && norm->kind != RS_NORM_NONE) {
    rs_rows_copy(tight((real *)x, d), b->rows, d, tight(before, d));
    rs_linear(b->w->context, matrix, b->rows, inputs, tight(before, d), true);
    rs_rows_copy(rs_norm_rows(b->values, norm, place, b->rows, 1, d, tight(before, d), work), b->rows, d, tight(to, d));
    return;
  }
  if (to != x) rs_rows_copy(tight((real *)x, d), b->rows, d, tight(to, d));
  if (norm->kind == RS_NORM_NONE) {
    rs_linear(b->w->context, matrix, b->rows, inputs, tight(to, d), true);
    return;
  }
  rs_linear(b->w->context, matrix, b->rows, inputs, tight(before, d), false);
  rs_rows y = rs_norm_rows(b->values, norm, place, b->rows, 1, d, tight(before, d), work);
#pragma omp parallel for schedule(static) if (rs_shares(b->rows))
  for (size_t r = 0; r < b->rows; r++) rs_real_kernel()->add(y.data + r * y.step, d, to + r * d);
}

static rs_rows norm_of(const block_run *b, const rs_norm *norm, rs_norm_place place, const rs_norm_work *work,
                       const real *x) {
  return rs_norm_rows(b->values, norm, place, b->rows, 1, b->d, tight((real *)x, b->d), work);
}

static rs_rows qk_norm(const block_run *b, rs_norm_place place, const rs_norm_work *work, size_t rows, size_t heads,
                       rs_rows x) {
  const rs_head_shape *shape = &b->shape->attention;
  bool whole = shape->qk_span == RS_QK_PROJECTION;
  if (shape->qk_norm_turned) place.weight = RS_NOWHERE; /* they come to it when it has turned */
  return rs_norm_rows(b->values, &shape->qk_norm, place, rows, whole ? 1 : heads,
                      whole ? heads * shape->head_dim : shape->head_dim, x, work);
}

/* Heads of all sequences: work->out from queries, keys and values. */
static void run_heads(const block_run *b, const rs_attend *attend, const rs_attention_place *place, rs_rows q,
                      rs_rows k, rs_rows v, size_t key_length, rs_attention_work *work) {
  const rs_head_shape *heads = &b->shape->attention;
  size_t queries = heads->heads * heads->head_dim;
  const real *sinks = place->sinks != RS_NOWHERE ? b->values + place->sinks : NULL;
  bool weighted = heads->qk_norm_turned && place->q_norm.weight != RS_NOWHERE;
  for (size_t s = 0; s < b->sequences; s++) {
    size_t m = s * b->length, n = s * key_length;
    rs_attend_call call = {.q = q.data + m * q.step,
                           .k = k.data + n * k.step,
                           .v = v.data + n * v.step,
                           .q_step = q.step,
                           .k_step = k.step,
                           .v_step = v.step,
                           .sinks = sinks,
                           .q_weights = weighted ? b->values + place->q_norm.weight : NULL,
                           .k_weights = weighted ? b->values + place->k_norm.weight : NULL,
                           .out = work->out + m * queries,
                           .out_step = queries,
                           .level = work->level + m * heads->heads,
                           .threads = b->w->threads};
    RS_OF_REAL(rs_attend_forward)(attend, &call, b->w->scratch);
  }
}

/* Queries of all heads, the part that turns to the front. */
static void latent_queries(const block_run *b, rs_rows x, size_t all) {
  const rs_head_shape *heads = &b->shape->attention;
  const rs_latent *latent = &heads->latent;
  const rs_attention_place *place = &b->place->attention;
  rs_attention_work *work = &b->work->attention;
  size_t dims = heads->head_dim, queries = heads->heads * dims, still = dims - latent->turned;
  if (latent->q_rank > 0) {
    rs_linear(b->w->context, &place->q_down, b->rows, x, tight(work->narrow, latent->q_rank), false);
    x = rs_norm_rows(b->values, &latent->norm, place->q_latent, b->rows, 1, latent->q_rank,
                     tight(work->narrow, latent->q_rank), &work->q_latent);
  }
  rs_linear(b->w->context, &place->q_up, b->rows, x, tight(work->wide, queries), false);
  for (size_t h = 0; h < heads->heads; h++) {
    rs_rows from = {work->wide + h * dims, queries}, to = {work->qkv + h * dims, all};
    rs_rows_copy((rs_rows){from.data + still, queries}, b->rows, latent->turned, to);
    rs_rows_copy(from, b->rows, still, (rs_rows){to.data + latent->turned, all});
  }
}

/* Keys and values: one turned part for all heads, the rest of each by way of the narrow layer; values end with zeros.
 */
static void latent_keys(const block_run *b, rs_rows x, size_t all) {
  const rs_head_shape *heads = &b->shape->attention;
  const rs_latent *latent = &heads->latent;
  const rs_attention_place *place = &b->place->attention;
  rs_attention_work *work = &b->work->attention;
  size_t dims = heads->head_dim, keys = heads->heads * dims, still = dims - latent->turned;
  size_t narrow = latent->kv_rank + latent->turned, each = still + latent->value_dim, wide = heads->heads * each;
  rs_linear(b->w->context, &place->kv_down, b->rows, x, tight(work->narrow, narrow), false);
  rs_rows states = rs_norm_rows(b->values, &latent->norm, place->kv_latent, b->rows, 1, latent->kv_rank,
                                tight(work->narrow, narrow), &work->kv_latent);
  rs_linear(b->w->context, &place->kv_up, b->rows, states, tight(work->wide, wide), false);
  for (size_t h = 0; h < heads->heads; h++) {
    real *key = work->qkv + keys + h * dims, *value = key + keys;
    rs_rows_copy((rs_rows){work->narrow + latent->kv_rank, narrow}, b->rows, latent->turned, (rs_rows){key, all});
    rs_rows_copy((rs_rows){work->wide + h * each, wide}, b->rows, still, (rs_rows){key + latent->turned, all});
    for (size_t r = 0; r < b->rows; r++) memset(value + r * all, 0, dims * sizeof *value);
    rs_rows_copy((rs_rows){work->wide + h * each + still, wide}, b->rows, latent->value_dim, (rs_rows){value, all});
  }
}

/* Leaves the zeros behind values out of what heads give. */
static void pack_values(const block_run *b) {
  const rs_head_shape *heads = &b->shape->attention;
  size_t values = heads->latent.value_dim;
  real *out = b->work->attention.out;
  for (size_t i = 1; i < b->rows * heads->heads; i++)
    memmove(out + i * values, out + i * heads->head_dim, values * sizeof *out);
}

/* Keeps queries, keys and values within the block's bounds. */
static void clip(const block_run *b, size_t count, real *qkv) {
  real most = (real)b->shape->attention.clip;
  for (size_t i = 0; i < count && most > 0; i++) qkv[i] = qkv[i] > most ? most : qkv[i] < -most ? -most : qkv[i];
}

static void self_attention(const block_run *b, rs_rows x) {
  const rs_head_shape *heads = &b->shape->attention;
  const rs_attention_place *place = &b->place->attention;
  rs_attention_work *work = &b->work->attention;
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim, all = queries + 2 * keys;
  if (heads->latent.kv_rank > 0) {
    latent_queries(b, x, all);
    latent_keys(b, x, all);
  } else {
    rs_linear(b->w->context, &place->qkv, b->rows, x, tight(work->qkv, all), false);
    clip(b, b->rows * all, work->qkv);
  }
  rs_rows q = qk_norm(b, place->q_norm, &work->q_norm, b->rows, heads->heads, tight(work->qkv, all));
  rs_rows k = qk_norm(b, place->k_norm, &work->k_norm, b->rows, heads->kv_heads, (rs_rows){work->qkv + queries, all});
  run_heads(b, b->attend, place, q, k, (rs_rows){work->qkv + queries + keys, all}, b->length, work);
  if (heads->latent.kv_rank > 0) pack_values(b);
}

static void cross_attention(const block_run *b, rs_rows x) {
  const rs_head_shape *heads = &b->shape->attention;
  const rs_attention_place *place = &b->place->cross;
  rs_attention_work *work = &b->work->cross;
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim;
  size_t source_rows = b->sequences * b->source_length;
  rs_linear(b->w->context, &place->q, b->rows, x, tight(work->qkv, queries), false);
  rs_linear(b->w->context, &place->kv, source_rows, b->source, tight(work->kv, 2 * keys), false);
  rs_rows q = qk_norm(b, place->q_norm, &work->q_norm, b->rows, heads->heads, tight(work->qkv, queries));
  rs_rows k = qk_norm(b, place->k_norm, &work->k_norm, source_rows, heads->kv_heads, tight(work->kv, 2 * keys));
  run_heads(b, b->cross, place, q, k, (rs_rows){work->kv + keys, 2 * keys}, b->source_length, work);
}

static rs_xielu learned_curve(const real *values) {
  return (rs_xielu){(double)values[0], (double)values[1], (double)values[2], (double)values[3]};
}

/* What the feed-forward does between its matrices. */
static void bend(const block_run *b, const rs_feed_forward *shape) {
  const rs_block_work *work = b->work;
  const rs_xielu xielu = shape->learned_curve ? learned_curve(b->values + b->place->curve) : (rs_xielu){0};
  size_t up = shape->gated ? 2 * shape->width : shape->width;
#pragma omp parallel for schedule(static) if (rs_shares(b->rows))
  for (size_t first = 0; first < b->rows; first += RS_SHARE) {
    real *x = work->up + first * up;
    const rs_curve_call call = {.curve = shape->learned_curve ? RS_CURVE_XIELU : (rs_curve_kind)shape->activation,
                                .xielu = xielu,
                                .gated = shape->gated,
                                .rows = b->rows - first < RS_SHARE ? b->rows - first : RS_SHARE,
                                .width = shape->width,
                                .x = x,
                                .x_step = up,
                                .slopes = b->w->training ? x : NULL};
    rs_real_kernel()->curve(&call, work->active + first * shape->width, shape->width);
  }
}

/* The block's rows. `x` is its normed input, which the feed-forward of a parallel block may read, too. */
static void feed_rows(const block_run *b, rs_rows x, const real *middle, real *to) {
  const rs_feed_forward *shape = &b->shape->feed_forward;
  rs_block_work *work = b->work;
  if (shape->experts.count > 0) {
    rs_experts_read(b->w->context, shape, b->place, b->rows, x, work);
    if (to != middle) rs_rows_copy(tight((real *)middle, b->d), b->rows, b->d, tight(to, b->d));
    rs_real_kernel()->add(work->experts.mixed, b->rows * b->d, to);
    return;
  }
  size_t up = shape->gated ? 2 * shape->width : shape->width;
  rs_linear(b->w->context, &b->place->up, b->rows, x, tight(work->up, up), false);
  bend(b, shape);
  add_part(b, &b->place->down, tight(work->active, shape->width), &b->shape->after_feed_forward,
           b->place->after_feed_forward, &work->after_feed_forward, work->fed, middle, to);
}

/* The same piece by piece: what the wide rows of one come to is over before the next. */
static void feed_forward(const block_run *b, rs_rows x, const real *middle, real *to) {
  block_run part = *b;
  for (size_t first = 0; first < b->rows; first += b->piece) {
    part.rows = b->rows - first < b->piece ? b->rows - first : b->piece;
    feed_rows(&part, tight(x.data + first * x.step, x.step), middle + first * b->d, to + first * b->d);
  }
}

static void run_block(const block_run *b, real *to) {
  const rs_block *shape = b->shape;
  const rs_block_place *place = b->place;
  rs_block_work *work = b->work;
  size_t queries = shape->attention.heads * shape->attention.head_dim;
  rs_rows x = norm_of(b, &shape->before_attention, place->before_attention, &work->before_attention, work->x);
  self_attention(b, x);
  add_part(b, &place->attention.output, tight(work->attention.out, place->attention.output.inputs),
           &shape->after_attention, place->after_attention, &work->after_attention, work->attended, work->x,
           work->middle);
  const real *middle = work->middle;
  if (shape->cross) {
    cross_attention(b, norm_of(b, &shape->before_cross, place->before_cross, &work->before_cross, middle));
    add_part(b, &place->cross.output, tight(work->cross.out, queries), &(rs_norm){0}, (rs_norm_place){0}, NULL, NULL,
             middle, work->crossed);
    middle = work->crossed;
  }
  bool shared = shape->parallel && shape->before_feed_forward.kind == RS_NORM_NONE;
  if (!shared)
    x = norm_of(b, &shape->before_feed_forward, place->before_feed_forward, &work->before_feed_forward,
                shape->parallel ? work->x : middle);
  feed_forward(b, x, middle, to);
}

/* Queries or keys of the first sequence: `heads` of them from column `column` of each row, or from their norm. */
static void keep_heads(const block_run *b, const rs_norm_work *norm, size_t heads, size_t column, double *to) {
  const rs_head_shape *shape = &b->shape->attention;
  size_t columns = heads * shape->head_dim, all = (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
  rs_rows from = norm->y != NULL ? tight(norm->y, columns) : tight(b->work->attention.qkv + column, all);
  for (size_t m = 0; m < b->length && to != NULL; m++)
    for (size_t i = 0; i < columns; i++) to[m * columns + i] = (double)from.data[m * from.step + i];
}

static void keep_rows(const block_run *b, const rs_pass_out *out) {
  const rs_head_shape *shape = &b->shape->attention;
  keep_heads(b, &b->work->attention.q_norm, shape->heads, 0, out->q);
  keep_heads(b, &b->work->attention.k_norm, shape->kv_heads, shape->heads * shape->head_dim, out->k);
}

void rs_stack_forward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                      rs_stack_work *stack, size_t sequences, rs_rows source) {
  const rs_transformer *t = w->context->transformer;
  const rs_context_attend *attends = w->context->attends;
  bool kept = w->kept != NULL && stack == &w->decoder;
  for (size_t i = 0; i < stack->end; i++) {
    const block_run run = {.w = w,
                           .values = t->values,
                           .shape = &shape->blocks[i],
                           .place = &place->blocks[i],
                           .work = &stack->blocks[i],
                           .attend = attends[context->attend[i]].attend,
                           .cross = shape->blocks[i].cross ? attends[context->cross[i]].attend : NULL,
                           .rows = sequences * context->length,
                           .sequences = sequences,
                           .length = context->length,
                           .d = t->shape.width,
                           .piece = stack->piece,
                           .source = source,
                           .source_length = w->context->encoder.length};
    run_block(&run, i + 1 < shape->count ? stack->blocks[i + 1].x : stack->last);
    if (kept && i == w->kept->block) keep_rows(&run, w->kept);
  }
}
