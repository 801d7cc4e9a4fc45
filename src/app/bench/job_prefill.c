/* A Llama-shaped model, SmolLM2-135M's shape, reads one sequence as `ropescope logits --last 1` does: tables of its
 * recipe, all blocks, and the logits of the last position alone. Its weights are random, and stand as a checkpoint's
 * file has them, float32 or bfloat16; arithmetic is in floats.
 *
 * Flops are those of the matrix products: of every token but for the output's, which one position reads, and of
 * attention over what a causal mask lets through, as half of a square. Embeddings, norms, rotation, softmax, the curve
 * and the widening of weights count nothing, but take their time. */
#include "bench.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* sizes: tokens, blocks. */
static const rs_bench_job jobs[] = {
    {"prefill_2k", "a prefill of 2048 tokens, 135M float32 weights", RS_LIMIT_FMA_F32, "token", .full = {2048, 30},
     .quick = {48, 1}, .variant = RS_F32},
    {"prefill_2k_bf16", "a prefill of 2048 tokens, 135M bfloat16 weights", RS_LIMIT_FMA_F32, "token",
     .full = {2048, 30}, .quick = {48, 1}, .variant = RS_BF16},
    {"prefill_16k", "a prefill of 16384 tokens, 135M float32 weights", RS_LIMIT_FMA_F32, "token", .full = {16384, 30},
     .quick = {96, 1}, .variant = RS_F32},
    {"prefill_16k_bf16", "a prefill of 16384 tokens, 135M bfloat16 weights", RS_LIMIT_FMA_F32, "token",
     .full = {16384, 30}, .quick = {96, 1}, .variant = RS_BF16},
};

enum { WIDTH = 576, HEADS = 9, KV_HEADS = 3, HEAD_DIM = 64, FEED_FORWARD = 1536, VOCABULARY = 49152, SEED = 1 };

typedef struct prefill {
  rs_recipe recipe;
  rs_transformer *transformer;
  rs_arena arena;  /* of all below, and of the matrices, one behind the other */
  int32_t *tokens; /* (length,) */
  double *logits;  /* (VOCABULARY,) */
  size_t length;
} prefill;

static void free_prefill(void *state) {
  prefill *p = state;
  if (p == NULL) return;
  rs_transformer_free(p->transformer);
  rs_recipe_clear(&p->recipe);
  rs_arena_clear(&p->arena);
  free(p);
}

static rs_status make_recipe(prefill *p, rs_model *geometry, rs_err *err) {
  *geometry = (rs_model){.name = "bench",
                         .heads = HEADS,
                         .head_dim = HEAD_DIM,
                         .rotary_dim = HEAD_DIM,
                         .rope_theta = 100000,
                         .train_length = p->length,
                         .max_length = p->length};
  RS_TRY(rs_recipe_init(&p->recipe, rs_method_find("rope"), err));
  return rs_recipe_resolve(&p->recipe, geometry, err);
}

static rs_status make_transformer(prefill *p, size_t count, rs_err *err) {
  const rs_norm rms = {.kind = RS_NORM_RMS, .epsilon = 1e-5};
  rs_model geometry;
  RS_TRY(make_recipe(p, &geometry, err));
  rs_block *blocks = rs_arena_take(&p->arena, count, sizeof *blocks);
  RS_TRY(rs_arena_check(&p->arena, err));
  for (size_t i = 0; i < count; i++)
    blocks[i] = (rs_block){.before_attention = rms,
                           .before_feed_forward = rms,
                           .attention = {.heads = HEADS, .kv_heads = KV_HEADS, .head_dim = HEAD_DIM},
                           .feed_forward = {.width = FEED_FORWARD, .activation = RS_SILU, .gated = true},
                           .mask = {.kind = RS_CAUSAL}};
  const rs_shape shape = {.form = RS_DECODER,
                          .width = WIDTH,
                          .vocabulary = VOCABULARY,
                          .classes = VOCABULARY,
                          .tied = true,
                          .embedding_scale = 1,
                          .output_scale = 1,
                          .decoder = {blocks, count, rms}};
  const rs_transformer_in in = {.shape = &shape,
                                .geometry = &geometry,
                                .recipes = &p->recipe,
                                .recipe_count = 1,
                                .format = RS_F32,
                                .seed = SEED,
                                .mapped = true};
  return rs_transformer_create(&in, &p->transformer, err);
}

/* The same Gaussian numbers again and again, in the file's format: products do not mind. */
static void fill_matrix(const rs_tensor *tensor, const double *numbers, size_t period, rs_format format, void *to) {
  float *floats = to;
  uint16_t *halves = to;
  for (size_t i = 0; i < tensor->rows * tensor->columns; i++) {
    float number = (float)(tensor->init_sd * numbers[(i + tensor->rows) % period]);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (format == RS_F32)
      floats[i] = number;
    else
      halves[i] = (uint16_t)(bits >> 16);
  }
}

static rs_status fill_weights(prefill *p, rs_format format, rs_err *err) {
  enum { PERIOD = 65521 }; /* a prime: no two rows are alike */
  const rs_transformer *t = p->transformer;
  size_t bytes = rs_format_bytes(format), count = 0;
  for (size_t i = 0; i < t->tensor_count; i++)
    count += t->tensors[i].vector ? 0 : t->tensors[i].rows * t->tensors[i].columns;
  unsigned char *end = rs_arena_take(&p->arena, count, bytes);
  double *numbers = rs_arena_take(&p->arena, PERIOD, sizeof *numbers);
  RS_TRY(rs_arena_check(&p->arena, err));
  rs_gaussian_fill((rs_stream){SEED, RS_PURPOSE_WEIGHTS, 0}, 0, PERIOD, numbers);
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    if (tensor->vector) continue;
    fill_matrix(tensor, numbers, PERIOD, format, end);
    t->matrices[i] = (rs_mapped_matrix){
        .numbers = end, .format = format, .run = tensor->rows, .row_step = tensor->columns, .column_step = 1};
    end += tensor->rows * tensor->columns * bytes;
  }
  return RS_OK;
}

static double flops(double tokens, double blocks) {
  double queries = HEADS * HEAD_DIM, keys = KV_HEADS * HEAD_DIM, d = WIDTH;
  double matrices = d * (queries + 2 * keys) + queries * d + 3 * d * FEED_FORWARD;
  double pairs = tokens / 2 * queries; /* multiply-adds of one attention product */
  return 2 * (tokens * blocks * (matrices + 2 * pairs) + d * VOCABULARY);
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  prefill *p = *state = rs_alloc(1, sizeof *p, err);
  if (p == NULL) return RS_MEMORY;
  p->length = sizes[0];
  p->tokens = rs_arena_take(&p->arena, p->length, sizeof *p->tokens);
  p->logits = rs_arena_take(&p->arena, VOCABULARY, sizeof *p->logits);
  RS_TRY(rs_arena_check(&p->arena, err));
  for (size_t i = 0; i < p->length; i++)
    p->tokens[i] = (int32_t)(VOCABULARY * rs_uniform((rs_stream){SEED, RS_PURPOSE_KEYS, 0}, i));
  RS_TRY(make_transformer(p, sizes[1], err));
  RS_TRY(fill_weights(p, (rs_format)job->variant, err));
  work->items = (double)p->length;
  work->amount = flops((double)p->length, (double)sizes[1]);
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  const prefill *p = state;
  const rs_reader_in in = {.count = 1, .length = p->length, .tokens = p->tokens, .last = 1};
  return rs_read_logits(p->transformer, &in, p->logits, err);
}

const rs_bench_family rs_bench_prefill = {
    .name = "prefill", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_prefill};
