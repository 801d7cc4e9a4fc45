/* Sinusoidal embeddings added to the tokens. Vaswani et al., arXiv:1706.03762, section 3.5, in the three layouts in
 * use. */
#include "kinds.h"

#include <math.h>

enum { INTERLEAVED, HALVES, TENSOR2TENSOR };

static const double base = 10000; /* arXiv:1706.03762, section 3.5 */

/* rad/token of channel pair i of `pairs`: tensor2tensor's ladder reaches 1/base with its last pair, the paper's stops
 * short. */
static double omega_of(int layout, size_t i, size_t pairs) {
  double rungs = layout == TENSOR2TENSOR ? fmax((double)pairs - 1, 1) : (double)pairs;
  return pow(base, -(double)i / rungs);
}

static rs_status fill(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  int layout = rs_setting_choice(&encoding->settings, "embedding_layout");
  size_t width = encoding->width, pairs = width / 2;
  for (size_t i = 0; i < pairs; i++) {
    double omega = omega_of(layout, i, pairs);
    size_t sine = layout == INTERLEAVED ? 2 * i : i, cosine = layout == INTERLEAVED ? 2 * i + 1 : pairs + i;
    for (size_t row = 0; row < count; row++)
      rs_cos_sin((double)(begin + row), omega, &out[row * width + cosine], &out[row * width + sine]);
  }
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "embedding_layout",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("interleaved", "halves", "tensor2tensor"),
     .fallback = "interleaved",
     .summary = "sin and cos alternate (the paper), stand in halves (Marian), or in halves on a ladder that ends at "
                "1/10000 (tensor2tensor, fairseq)"},
};

const rs_embed_kind rs_embed_sinusoidal = {
    .kind = {.name = "sinusoidal",
             .summary = "sin and cos of the position at geometric frequencies, added to the token",
             .reference = "Attention Is All You Need, arXiv:1706.03762, section 3.5",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .fill = fill,
};
