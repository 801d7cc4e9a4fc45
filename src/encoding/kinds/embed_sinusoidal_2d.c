/* Sinusoids of a patch's row and column. concat: half of the channels for each, the column first, as in MAE's code
 * (arXiv:2111.06377, facebookresearch/mae util/pos_embed.py) and MoCo v3. sum: a sinusoid of the row over the full
 * width plus that of the column, one of NaViT's factorised embeddings (arXiv:2307.06304, section 2.1; absolute
 * coordinates). All blocks are laid out [sines, cosines]; frames of a video repeat. Tokens of text, the class token
 * among them, get zeros, as MAE's. */
#include "encoding/kinds.h"

#include <math.h>

typedef enum combination { CONCAT, SUM, COMBINATIONS } combination;

typedef struct params {
  combination combine;
} params;

typedef struct state {
  combination combine;
  size_t width;
  const rs_token_layout *tokens;
} state;

static const double base = 10000; /* arXiv:1706.03762, section 3.5; MAE's too */

/* rad/patch of channel pair k of `pairs`. */
static double omega_of(size_t k, size_t pairs) {
  return pow(base, -(double)k / (double)pairs);
}

/* Adds the sinusoid of one coordinate over `width` channels: sines, then cosines. */
static void add_sinusoid(double coordinate, size_t width, double *out) {
  size_t pairs = width / 2;
  for (size_t k = 0; k < pairs; k++) {
    double cosine, sine;
    rs_cos_sin(coordinate, omega_of(k, pairs), &cosine, &sine);
    out[k] += sine;
    out[pairs + k] += cosine;
  }
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  combination combine = ((const params *)in->params)->combine;
  size_t begin;
  if (rs_token_layout_picture(in->tokens, &begin) == NULL)
    return rs_fail(err, RS_DOMAIN, "sinusoidal_2d: there is no image or video among the tokens");
  if (combine == CONCAT && in->width % 4 != 0)
    return rs_fail(err, RS_DOMAIN, "sinusoidal_2d: combine: concat needs a width that 4 divides, not %zu", in->width);
  *(state *)out = (state){combine, in->width, in->tokens};
  return RS_OK;
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  const state *s = prepared;
  size_t width = s->width;
  bool concat = s->combine == CONCAT;
  for (size_t i = 0; i < count; i++) {
    size_t offset;
    const rs_token_run *run = rs_token_layout_run(s->tokens, begin + i, &offset);
    double *row = out + i * width;
    for (size_t c = 0; c < width; c++) row[c] = 0;
    if (run == NULL || run->modality == RS_TEXT) continue;
    add_sinusoid((double)(offset % run->columns), concat ? width / 2 : width, row);
    add_sinusoid((double)(offset / run->columns % run->rows), concat ? width / 2 : width,
                 concat ? row + width / 2 : row);
  }
  return RS_OK;
}

/* concat: a wave a channel. sum: that of the row, then that of the column. */
static bool wave(const void *prepared, size_t index, rs_embed_wave *out) {
  const state *s = prepared;
  size_t sums = s->combine == SUM ? 2 : 1, block = s->combine == SUM ? s->width : s->width / 2, pairs = block / 2;
  size_t channel = index / sums, k = channel % block;
  if (channel >= s->width / block * 2 * pairs) return false;
  bool column = sums == 2 ? index % 2 == 1 : channel < block;
  *out = (rs_embed_wave){.channel = channel,
                         .partner = channel - k + (k + pairs) % (2 * pairs),
                         .cosine = k >= pairs,
                         .axis = column ? 2 : 1,
                         .omega = omega_of(k % pairs, pairs)};
  return true;
}

static const char *const combinations[COMBINATIONS + 1] = {[CONCAT] = "concat", [SUM] = "sum"};

static const rs_param specs[] = {
    {RS_FIELD(params, combine), .unit = "", RS_WORDS(combinations), .fallback = "concat",
     .summary =
         "half of the channels for the column, half for the row (MAE), or both over all channels, summed (NaViT)"},
};

const rs_embed_kind rs_embed_sinusoidal_2d = {
    .kind = {.name = "sinusoidal_2d",
             .summary = "sin and cos of a patch's row and column, added to the token; zeros for text",
             .reference = "MAE, arXiv:2111.06377, util/pos_embed.py; NaViT, arXiv:2307.06304, section 2.1",
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .wave = wave,
};
