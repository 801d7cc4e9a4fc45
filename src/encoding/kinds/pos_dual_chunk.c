/* Dual Chunk Attention: tokens are cut into chunks of S, a key's position is its place r in its chunk. A query reads
 * its own chunk by its place (view 0), the chunk before by min(r + S, top) (view 1) and all earlier ones by
 * min(2S - 1, top) (view 2). An et al., "Training-Free Long-Context Scaling", arXiv:2402.17463, section 3, and its
 * code ChunkLlama; Qwen2.5-1M (arXiv:2501.15383) is served by the same positions.
 *
 * Names: the code's chunk_size is the paper's c, the most that distances may reach, and the chunks themselves are
 * S = chunk_size - local_size (the paper's s = c - w). The code's top is c, the paper's c - 1. Left out: the factors
 * on the logits that grow with the length (ChunkLlama's 0.05 ln(L / L0) + 1, vLLM's 0.1 ln(L / L0) + 1). */
#include "encoding/kinds.h"

#include <math.h>

enum { INTRA, SUCCESSIVE, INTER, VIEWS };

typedef enum ceiling_rule { CEILING_CODE, CEILING_PAPER, CEILING_RULES } ceiling_rule;
typedef enum size_rule { SIZE_AUTO, SIZE_RULES } size_rule;

typedef struct params {
  rs_count_or_word chunk_size, local_size; /* tokens; size_rule */
  ceiling_rule ceiling;
} params;

typedef struct state {
  size_t stride; /* S, tokens of a chunk */
  double top;    /* the largest distance across chunks, tokens */
} state;

/* Auto as in ChunkLlama. */
static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  size_t train = (size_t)in->train_length;
  size_t size = p->chunk_size.word == SIZE_AUTO ? train * 3 / 4 : p->chunk_size.number;
  size_t local = p->local_size.word == SIZE_AUTO ? train / 8 : p->local_size.number;
  if (local >= size)
    return rs_fail(err, RS_DOMAIN,
                   "dual_chunk: local_size = %zu must be below chunk_size = %zu (auto: 1/8 and 3/4 of train_length)",
                   local, size);
  *s = (state){.stride = size - local, .top = (double)size - (p->ceiling == CEILING_PAPER)};
  return RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  double stride = (double)s->stride;
  (void)err;
  for (size_t i = 0; i < positions->length; i++) {
    double place = fmod(positions->q[INTRA][i], stride);
    for (size_t v = 0; v < VIEWS; v++) positions->k[v][i] = place;
    positions->q[INTRA][i] = place;
    positions->q[SUCCESSIVE][i] = fmin(place + stride, s->top);
    positions->q[INTER][i] = fmin(2 * stride - 1, s->top);
  }
  return RS_OK;
}

static size_t segments(const void *prepared, size_t query, rs_segment out[RS_VIEWS]) {
  size_t stride = ((const state *)prepared)->stride, chunk = query - query % stride, count = 0;
  size_t before = chunk > 0 ? chunk - stride : 0;
  if (before > 0) out[count++] = (rs_segment){0, before, INTER};
  if (chunk > 0) out[count++] = (rs_segment){before, chunk, SUCCESSIVE};
  out[count++] = (rs_segment){chunk, query + 1, INTRA};
  return count;
}

static const char *const sizes[SIZE_RULES + 1] = {[SIZE_AUTO] = "auto"};
static const char *const ceilings[CEILING_RULES + 1] = {[CEILING_CODE] = "code", [CEILING_PAPER] = "paper"};

static const rs_param specs[] = {
    {RS_FIELD(params, chunk_size), .unit = "tokens", RS_WORDS(sizes), .min = 1, .max = 1e9, .fallback = "auto",
     .summary = "the largest distance, c in the paper; chunks are chunk_size - local_size long; auto: 3/4 train_length "
                "(ChunkLlama)"},
    {RS_FIELD(params, local_size), .unit = "tokens", RS_WORDS(sizes), .min = 0, .max = 1e9, .fallback = "auto",
     .summary =
         "w, keys that keep their distance across the border of two chunks; auto: train_length / 8 (ChunkLlama)"},
    {RS_FIELD(params, ceiling), .unit = "", RS_WORDS(ceilings), .fallback = "code",
     .summary = "distances across chunks stop at chunk_size (ChunkLlama, vLLM) or at chunk_size - 1 (paper)"},
};

const rs_pos_kind rs_pos_dual_chunk = {
    .kind = {.name = "dual_chunk",
             .summary = "positions within chunks; capped distances to the chunk before and to earlier ones",
             .reference = "Dual Chunk Attention, arXiv:2402.17463, section 3",
             RS_KIND(specs, params)},
    .text_only = true,
    .views = VIEWS,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .segments = segments,
};
