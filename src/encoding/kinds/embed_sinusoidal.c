/* Sinusoidal embeddings added to the tokens. Vaswani et al., arXiv:1706.03762, section 3.5, in the three layouts in
 * use. */
#include "encoding/kinds.h"

#include <math.h>

typedef enum layout { INTERLEAVED, HALVES, TENSOR2TENSOR, LAYOUTS } layout;

typedef struct params {
  layout embedding_layout;
  size_t embedding_offset; /* RS_NO_COUNT: 0 */
} params;

typedef struct state {
  layout embedding;
  size_t width, offset;
} state;

static const double base = 10000; /* arXiv:1706.03762, section 3.5 */

/* rad/token of channel pair i of `pairs`: tensor2tensor's ladder reaches 1/base with its last pair, the paper's stops
 * short. */
static double omega_of(layout embedding, size_t i, size_t pairs) {
  double rungs = embedding == TENSOR2TENSOR ? fmax((double)pairs - 1, 1) : (double)pairs;
  return pow(base, -(double)i / rungs);
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  *(state *)out = (state){p->embedding_layout, in->width, p->embedding_offset != RS_NO_COUNT ? p->embedding_offset : 0};
  return RS_OK;
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  const state *s = prepared;
  bool interleaved = s->embedding == INTERLEAVED;
  size_t width = s->width, pairs = width / 2;
  for (size_t i = 0; i < pairs; i++) {
    double omega = omega_of(s->embedding, i, pairs);
    size_t sine = interleaved ? 2 * i : i, cosine = interleaved ? 2 * i + 1 : pairs + i;
    for (size_t row = 0; row < count; row++)
      rs_cos_sin((double)(s->offset + begin + row), omega, &out[row * width + cosine], &out[row * width + sine]);
  }
  return RS_OK;
}

static bool wave(const void *prepared, size_t index, rs_embed_wave *out) {
  const state *s = prepared;
  bool interleaved = s->embedding == INTERLEAVED;
  size_t pairs = s->width / 2, i = interleaved ? index / 2 : index % pairs;
  if (index >= 2 * pairs) return false;
  *out = (rs_embed_wave){.channel = index,
                         .partner = interleaved ? index ^ 1 : (index + pairs) % (2 * pairs),
                         .cosine = interleaved ? index % 2 == 1 : index >= pairs,
                         .omega = omega_of(s->embedding, i, pairs)};
  return true;
}

static const char *const layouts[LAYOUTS + 1] = {
    [INTERLEAVED] = "interleaved", [HALVES] = "halves", [TENSOR2TENSOR] = "tensor2tensor"};

static const rs_param specs[] = {
    {RS_FIELD(params, embedding_layout), .unit = "", RS_WORDS(layouts), .fallback = "interleaved",
     .summary = "sin and cos alternate (the paper), stand in halves (Marian), or in halves on a ladder that ends at "
                "1/10000 (tensor2tensor, fairseq)"},
    {RS_FIELD(params, embedding_offset), .unit = "tokens", .min = 0, .max = 1 << 20,
     .summary = "position of the first token (fairseq, XGLM: 2; default: 0)"},
};

const rs_embed_kind rs_embed_sinusoidal = {
    .kind = {.name = "sinusoidal",
             .summary = "sin and cos of the position at geometric frequencies, added to the token",
             .reference = "Attention Is All You Need, arXiv:1706.03762, section 3.5",
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .wave = wave,
};
