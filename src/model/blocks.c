/* Blocks: x + attention, then x + feed-forward, each behind its norms; and back, in the other order. There `g`,
 * w->back.x, is the gradient by a block's output at first; each part adds what it gives to the gradient by its input,
 * and at the end g is that by the block's input. */
#include "context.h"
#include "work.h"

#include <string.h>

/* One block of one stack. */
typedef struct block_run {
  rs_work *w;
  const real *values;
  real *gradient; /* on the way back */
  const rs_block *shape;
  const rs_block_place *place;
  rs_block_work *work;
  bool encoder;
  size_t block;         /* of its stack */
  size_t attend, cross; /* among the context's */
  size_t rows, sequences, length, d;
  size_t piece;   /* rows that the feed-forward takes at a time */
  rs_rows source; /* the encoder's states */
  size_t source_length;
} block_run;

static rs_rows tight(const real *data, size_t columns) {
  return (rs_rows){(real *)data, columns};
}

/* What ends a part of a block: its last matrix, and the norm behind that. */
typedef struct part_end {
  rs_drop_place drop;
  const rs_linear_place *matrix;
  rs_rows inputs;
  const rs_norm *norm;
  rs_norm_place place;
  const rs_norm_work *work;
  real *before; /* (M, d) what the norm reads; NULL without */
} part_end;

static part_end end_of_attention(const block_run *b) {
  const rs_linear_place *output = &b->place->attention.output;
  return (part_end){RS_DROP_ATTENTION,
                    output,
                    tight(b->work->attention.out, output->inputs),
                    &b->shape->after_attention,
                    b->place->after_attention,
                    &b->work->after_attention,
                    b->work->attended};
}

static part_end end_of_cross(const block_run *b) {
  const rs_linear_place *output = &b->place->cross.output;
  return (part_end){RS_DROP_CROSS,
                    output,
                    tight(b->work->cross.out, output->inputs),
                    &b->shape->after_cross,
                    b->place->after_cross,
                    &b->work->after_cross,
                    b->work->found};
}

static part_end end_of_feed_forward(const block_run *b) {
  return (part_end){RS_DROP_FEED_FORWARD,
                    &b->place->down,
                    tight(b->work->active, b->shape->feed_forward.width),
                    &b->shape->after_feed_forward,
                    b->place->after_feed_forward,
                    &b->work->after_feed_forward,
                    b->work->fed};
}

static rs_rows norm_of_end(const block_run *b, const part_end *part) {
  return rs_norm_rows(b->values, part->norm, part->place, b->rows, 1, b->d, tight(part->before, b->d), part->work);
}

/* Whether the norm is of the sum. */
static bool norms_sum(const block_run *b, const part_end *part) {
  return b->shape->norm_sums && part->norm->kind != RS_NORM_NONE;
}

static void drop(const block_run *b, rs_drop_place place, real *x) {
  rs_rows_drop(rs_drop_at(b->w, b->encoder, b->block, place), b->length, b->rows, b->d, x);
}

/* The same as add_part, by way of an array of its own, of which numbers are dropped. */
static void add_dropped(const block_run *b, const part_end *part, const real *x, real *to) {
  size_t d = b->d;
  bool sums = norms_sum(b, part), behind = part->norm->kind != RS_NORM_NONE && !sums;
  real *given = b->w->back.dropped, *sum = sums ? part->before : to;
  rs_linear(b->w->context, part->matrix, b->rows, part->inputs, tight(behind ? part->before : given, d), false);
  if (behind) rs_rows_copy(norm_of_end(b, part), b->rows, d, tight(given, d));
  drop(b, part->drop, given);
  if (sum != x) rs_rows_copy(tight(x, d), b->rows, d, tight(sum, d));
  rs_real_kernel()->add(given, b->rows * d, sum);
  if (sums) rs_rows_copy(norm_of_end(b, part), b->rows, d, tight(to, d));
}

/* to, which may be x, = x + what a part gives: straight from its matrix, or through the norm behind it, which reads
 * `before`; or the norm of that sum. */
static void add_part(const block_run *b, const part_end *part, const real *x, real *to) {
  size_t d = b->d;
  if (b->w->drop.share > 0) {
    add_dropped(b, part, x, to);
    return;
  }
  if (norms_sum(b, part)) {
    rs_rows_copy(tight(x, d), b->rows, d, tight(part->before, d));
    rs_linear(b->w->context, part->matrix, b->rows, part->inputs, tight(part->before, d), true);
    rs_rows_copy(norm_of_end(b, part), b->rows, d, tight(to, d));
    return;
  }
  if (to != x) rs_rows_copy(tight(x, d), b->rows, d, tight(to, d));
  if (part->norm->kind == RS_NORM_NONE) {
    rs_linear(b->w->context, part->matrix, b->rows, part->inputs, tight(to, d), true);
    return;
  }
  rs_linear(b->w->context, part->matrix, b->rows, part->inputs, tight(part->before, d), false);
  rs_rows y = norm_of_end(b, part);
#pragma omp parallel for schedule(static) if (rs_shares(b->rows))
  for (size_t r = 0; r < b->rows; r++) rs_real_kernel()->add(y.data + r * y.step, d, to + r * d);
}

static rs_rows norm_of(const block_run *b, const rs_norm *norm, rs_norm_place place, const rs_norm_work *work,
                       const real *x) {
  return rs_norm_rows(b->values, norm, place, b->rows, 1, b->d, tight(x, b->d), work);
}

static rs_rows qk_norm(const block_run *b, rs_norm_place place, const rs_norm_work *work, size_t rows, size_t heads,
                       rs_rows x) {
  const rs_head_shape *shape = &b->shape->attention;
  bool whole = shape->qk_span == RS_QK_PROJECTION;
  if (shape->qk_norm_turned) place.weight = RS_NOWHERE; /* they come to it when it has turned */
  return rs_norm_rows(b->values, &shape->qk_norm, place, rows, whole ? 1 : heads,
                      whole ? heads * shape->head_dim : shape->head_dim, x, work);
}

/* What heads read and give, and where gradients by it go. */
typedef struct heads_run {
  size_t attend; /* among the context's */
  rs_drop_place drop;
  const rs_attention_place *place;
  const rs_attention_work *work;
  rs_rows q, k, v; /* as the products gave them, or behind their norms */
  rs_rows dq, dk, dv;
  size_t key_rows, key_length;
} heads_run;

/* Heads of sequence `s`. */
static rs_attend_call call_of(const block_run *b, const heads_run *h, rs_rows q, rs_rows k, size_t s) {
  const rs_head_shape *heads = &b->shape->attention;
  size_t m = s * b->length, n = s * h->key_length, queries = heads->heads * heads->head_dim;
  bool weighted = heads->qk_norm_turned && h->place->q_norm.weight != RS_NOWHERE;
  rs_drop drop = rs_drop_at(b->w, b->encoder, b->block, h->drop);
  drop.sequence += s;
  return (rs_attend_call){.q = q.data + m * q.step,
                          .k = k.data + n * k.step,
                          .v = h->v.data + n * h->v.step,
                          .q_step = q.step,
                          .k_step = k.step,
                          .v_step = h->v.step,
                          .sinks = h->place->sinks != RS_NOWHERE ? b->values + h->place->sinks : NULL,
                          .q_weights = weighted ? b->values + h->place->q_norm.weight : NULL,
                          .k_weights = weighted ? b->values + h->place->k_norm.weight : NULL,
                          .out = h->work->out + m * queries,
                          .out_step = queries,
                          .level = h->work->level + m * heads->heads,
                          .drop = drop,
                          .threads = b->w->threads};
}

/* Heads of all sequences: work->out from queries, keys and values. */
static void run_heads(const block_run *b, const heads_run *h) {
  for (size_t s = 0; s < b->sequences; s++) {
    const rs_attend_call call = call_of(b, h, h->q, h->k, s);
    RS_OF_REAL(rs_attend_forward)(b->w->context->attends[h->attend].attend, &call, b->w->scratch);
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
  run_heads(b, &(heads_run){.attend = b->attend,
                            .drop = RS_DROP_WEIGHTS,
                            .place = place,
                            .work = work,
                            .q = q,
                            .k = k,
                            .v = {work->qkv + queries + keys, all},
                            .key_length = b->length});
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
  run_heads(b, &(heads_run){.attend = b->cross,
                            .drop = RS_DROP_CROSS_WEIGHTS,
                            .place = place,
                            .work = work,
                            .q = q,
                            .k = k,
                            .v = {work->kv + keys, 2 * keys},
                            .key_length = b->source_length});
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
    if (to != middle) rs_rows_copy(tight(middle, b->d), b->rows, b->d, tight(to, b->d));
    rs_real_kernel()->add(work->experts.mixed, b->rows * b->d, to);
    return;
  }
  size_t up = shape->gated ? 2 * shape->width : shape->width;
  rs_linear(b->w->context, &b->place->up, b->rows, x, tight(work->up, up), false);
  bend(b, shape);
  const part_end end = end_of_feed_forward(b);
  add_part(b, &end, middle, to);
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
  part_end end = end_of_attention(b);
  rs_rows x = norm_of(b, &shape->before_attention, place->before_attention, &work->before_attention, work->x);
  self_attention(b, x);
  add_part(b, &end, work->x, work->middle);
  const real *middle = work->middle;
  if (shape->cross) {
    cross_attention(b, norm_of(b, &shape->before_cross, place->before_cross, &work->before_cross, middle));
    end = end_of_cross(b);
    add_part(b, &end, middle, work->crossed);
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

static block_run run_of(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                        rs_stack_work *stack, size_t sequences, rs_rows source, real *gradient, size_t block) {
  const rs_transformer *t = w->context->transformer;
  return (block_run){.w = w,
                     .values = t->values,
                     .gradient = gradient,
                     .shape = &shape->blocks[block],
                     .place = &place->blocks[block],
                     .work = &stack->blocks[block],
                     .encoder = stack == &w->encoder,
                     .block = block,
                     .attend = context->attend[block],
                     .cross = context->cross[block],
                     .rows = sequences * context->length,
                     .sequences = sequences,
                     .length = context->length,
                     .d = t->shape.width,
                     .piece = stack->piece,
                     .source = source,
                     .source_length = w->context->encoder.length};
}

void rs_stack_forward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                      rs_stack_work *stack, size_t sequences, rs_rows source) {
  bool kept = w->kept != NULL && stack == &w->decoder;
  for (size_t i = 0; i < stack->end; i++) {
    const block_run run = run_of(w, shape, place, context, stack, sequences, source, NULL, i);
    run_block(&run, i + 1 < shape->count ? stack->blocks[i + 1].x : stack->last);
    if (!kept || (i != w->kept->block && w->kept->rows == NULL)) continue;
    keep_rows(&run, w->kept);
    if (w->kept->rows != NULL) w->kept->rows(w->kept->rows_context, i);
  }
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static rs_rows normed(const rs_norm_work *work, const real *x, size_t d) {
  return tight(work->y != NULL ? work->y : x, d);
}

/* g += the gradient by x of norm(x), given that by the norm's output in w->back.branch. */
static void norm_to_input(const block_run *b, const rs_norm *norm, rs_norm_place place, const rs_norm_work *work,
                          const real *x) {
  const rs_back_work *back = &b->w->back;
  rs_norm_rows_back(b->values, norm, place, b->rows, 1, b->d, tight(x, b->d), work, tight(back->branch, b->d),
                    tight(back->x, b->d), b->gradient);
}

/* w->back.narrow = the gradient by the inputs of a part's last matrix: g itself, or through the norm behind the part,
 * comes to that matrix. A norm of the sum stands between g and what the part was added to as well. */
static void part_to_inputs(const block_run *b, const part_end *part) {
  const rs_back_work *back = &b->w->back;
  bool sums = norms_sum(b, part), drops = b->w->drop.share > 0;
  rs_rows g = tight(back->x, b->d), dy = g;
  if (drops && !sums) {
    dy.data = back->dropped;
    rs_rows_copy(g, b->rows, b->d, dy);
    drop(b, part->drop, dy.data);
  }
  if (part->norm->kind != RS_NORM_NONE) {
    memset(back->behind, 0, b->rows * b->d * sizeof(real));
    rs_norm_rows_back(b->values, part->norm, part->place, b->rows, 1, b->d, tight(part->before, b->d), part->work, dy,
                      tight(back->behind, b->d), b->gradient);
    dy.data = back->behind;
  }
  if (sums) rs_rows_copy(dy, b->rows, b->d, g);
  if (drops && sums) drop(b, part->drop, dy.data);
  rs_linear_back(b->w->context, part->matrix, b->rows, part->inputs, dy, tight(back->narrow, part->matrix->inputs),
                 false, b->gradient);
}

/* w->back.branch = the gradient by x, which the feed-forward read. */
static void feed_forward_back(const block_run *b, rs_rows x) {
  const rs_feed_forward *shape = &b->shape->feed_forward;
  const rs_block_work *work = b->work;
  const rs_back_work *back = &b->w->back;
  size_t up = shape->gated ? 2 * shape->width : shape->width;
  const part_end end = end_of_feed_forward(b);
  part_to_inputs(b, &end);
  rs_curve_call call = {
      .gated = shape->gated, .rows = b->rows, .width = shape->width, .x_step = up, .slopes = work->up};
  rs_real_kernel()->curve_back(&call, back->narrow, shape->width, back->wide, up);
  rs_linear_back(b->w->context, &b->place->up, b->rows, x, tight(back->wide, up), tight(back->branch, b->d), false,
                 b->gradient);
}

/* Gradients by queries and keys through their norms; h->dq and h->dk get them. */
static void qk_norm_back(const block_run *b, const heads_run *h, rs_rows dq, rs_rows dk) {
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
static void run_heads_back(const block_run *b, const heads_run *h) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim;
  bool norm = shape->qk_norm.kind != RS_NORM_NONE;
  rs_rows q = norm ? tight(h->work->q_norm.y, queries) : h->q, k = norm ? tight(h->work->k_norm.y, keys) : h->k;
  rs_rows dq = norm ? tight(back->normed, queries) : h->dq;
  rs_rows dk = norm ? tight(back->normed + b->rows * queries, keys) : h->dk;
  for (size_t s = 0; s < b->sequences; s++) {
    size_t m = s * b->length, n = s * h->key_length;
    const rs_attend_call call = call_of(b, h, q, k, s);
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
static void self_attention_back(const block_run *b, bool add) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_attention_work *work = &b->work->attention;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim, all = queries + 2 * keys;
  const heads_run h = {.attend = b->attend,
                       .drop = RS_DROP_WEIGHTS,
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

static void cross_attention_back(const block_run *b) {
  const rs_head_shape *shape = &b->shape->attention;
  const rs_attention_work *work = &b->work->cross;
  const rs_back_work *back = &b->w->back;
  size_t queries = shape->heads * shape->head_dim, keys = shape->kv_heads * shape->head_dim;
  size_t source_rows = b->sequences * b->source_length;
  const heads_run h = {.attend = b->cross,
                       .drop = RS_DROP_CROSS_WEIGHTS,
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
  const part_end end = end_of_cross(b);
  part_to_inputs(b, &end);
  run_heads_back(b, &h);
  rs_linear_back(b->w->context, &b->place->cross.kv, source_rows, b->source, tight(back->keys, 2 * keys),
                 tight(back->source, b->d), true, b->gradient);
  rs_linear_back(b->w->context, &b->place->cross.q, b->rows, normed(&b->work->before_cross, b->work->middle, b->d),
                 tight(back->wide, queries), tight(back->branch, b->d), false, b->gradient);
  norm_to_input(b, &b->shape->before_cross, b->place->before_cross, &b->work->before_cross, b->work->middle);
}

static void run_block_back(const block_run *b) {
  const rs_block *shape = b->shape;
  const rs_block_place *place = b->place;
  const rs_block_work *work = b->work;
  const real *middle = shape->cross ? work->crossed : work->middle;
  const real *fed_by = shape->parallel ? work->x : middle; /* what the norm before the feed-forward reads */
  bool shared = shape->parallel && shape->before_feed_forward.kind == RS_NORM_NONE;
  const rs_norm_work *before = shared ? &work->before_attention : &work->before_feed_forward;
  feed_forward_back(b, normed(before, fed_by, b->d));
  if (!shape->parallel) norm_to_input(b, &shape->before_feed_forward, place->before_feed_forward, before, fed_by);
  if (shape->cross) cross_attention_back(b);
  const part_end end = end_of_attention(b);
  part_to_inputs(b, &end);
  if (shape->parallel && !shared)
    norm_to_input(b, &shape->before_feed_forward, place->before_feed_forward, before, fed_by);
  self_attention_back(b, shared);
  norm_to_input(b, &shape->before_attention, place->before_attention, &work->before_attention, work->x);
}

void rs_stack_backward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                       rs_stack_work *stack, size_t sequences, rs_rows source, real *gradient) {
  for (size_t i = shape->count; i-- > 0;) {
    const block_run run = run_of(w, shape, place, context, stack, sequences, source, gradient, i);
    run_block_back(&run);
  }
}
