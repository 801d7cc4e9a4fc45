/* Dual Chunk Attention: tokens are cut into chunks of S, a key's position is its place r in its chunk. A query reads
 * its own chunk by its place (view 0), the chunk before by min(r + S, top) (view 1) and all earlier ones by
 * min(2S - 1, top) (view 2). An et al., "Training-Free Long-Context Scaling", arXiv:2402.17463, section 3, and its
 * code ChunkLlama; Qwen2.5-1M (arXiv:2501.15383) is served by the same positions.
 *
 * Names: the code's chunk_size is the paper's c, the most that distances may reach, and the chunks themselves are
 * S = chunk_size - local_size (the paper's s = c - w). The code's top is c, the paper's c - 1. Left out: the factors
 * on the logits that grow with the length (ChunkLlama's 0.05 ln(L / L0) + 1, vLLM's 0.1 ln(L / L0) + 1). */
#include "kinds.h"

#include <math.h>

enum { INTRA, SUCCESSIVE, INTER, VIEWS };
enum { CEILING_CODE, CEILING_PAPER };

typedef struct chunks {
  double size, local; /* as the parameters */
} chunks;

/* Whole numbers; auto as in ChunkLlama. */
static chunks chunks_of(const rs_encoding *encoding) {
  const rs_value *size = rs_setting(&encoding->settings, "chunk_size");
  const rs_value *local = rs_setting(&encoding->settings, "local_size");
  return (chunks){size->choice >= 0 ? floor(encoding->train_length * 3 / 4) : size->number,
                  local->choice >= 0 ? floor(encoding->train_length / 8) : local->number};
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  chunks c = chunks_of(encoding);
  bool paper = rs_setting_choice(&encoding->settings, "ceiling") == CEILING_PAPER;
  double stride = c.size - c.local, top = paper ? c.size - 1 : c.size;
  RS_TRY(rs_text_only(encoding, err));
  if (stride < 1)
    return rs_fail(err, RS_DOMAIN,
                   "dual_chunk: local_size = %g must be below chunk_size = %g (auto: 1/8 and 3/4 of train_length)",
                   c.local, c.size);
  for (size_t i = 0; i < encoding->length; i++) {
    double place = fmod(encoding->pos_q[INTRA][i], stride);
    for (size_t v = 0; v < VIEWS; v++) encoding->pos_k[v][i] = place;
    encoding->pos_q[INTRA][i] = place;
    encoding->pos_q[SUCCESSIVE][i] = fmin(place + stride, top);
    encoding->pos_q[INTER][i] = fmin(2 * stride - 1, top);
  }
  return RS_OK;
}

static size_t segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  chunks c = chunks_of(encoding);
  size_t stride = (size_t)(c.size - c.local), own = query - query % stride, count = 0;
  size_t before = own > 0 ? own - stride : 0;
  if (before > 0) out[count++] = (rs_segment){0, before, INTER};
  if (own > 0) out[count++] = (rs_segment){before, own, SUCCESSIVE};
  out[count++] = (rs_segment){own, query + 1, INTRA};
  return count;
}

static const rs_param params[] = {
    {.name = "chunk_size",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto"),
     .min = 1,
     .max = 1e9,
     .fallback = "auto",
     .summary = "the largest distance, c in the paper; chunks are chunk_size - local_size long; auto: 3/4 train_length "
                "(ChunkLlama)"},
    {.name = "local_size",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto"),
     .min = 0,
     .max = 1e9,
     .fallback = "auto",
     .summary =
         "w, keys that keep their distance across the border of two chunks; auto: train_length / 8 (ChunkLlama)"},
    {.name = "ceiling",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("code", "paper"),
     .fallback = "code",
     .summary = "distances across chunks stop at chunk_size (ChunkLlama, vLLM) or at chunk_size - 1 (paper)"},
};

const rs_pos_kind rs_pos_dual_chunk = {
    .kind = {.name = "dual_chunk",
             .summary = "positions within chunks; capped distances to the chunk before and to earlier ones",
             .reference = "Dual Chunk Attention, arXiv:2402.17463, section 3",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .views = VIEWS,
    .fill = fill,
    .segments = segments,
};
