/* Distances bent at a window: keys nearer than it keep their distance (view 0), farther ones have window + leak * (d -
 * window) (view 1). leak 0 is ReRoPE, leak 1/k Leaky ReRoPE with its factor k (Su, kexue.fm/archives/9708, and
 * github.com/bojone/rerope); leak 0 with a window of L0 is LM-Infinite's cap (Han et al., arXiv:2308.16137). Su's code
 * also scales the queries by logit_scale: log_n; LM-Infinite also masks, by {window, sinks}. */
#include "kinds.h"

#include <math.h>

enum { BENT = 1 };

static size_t window_of(const rs_encoding *encoding) {
  enum { QUARTER, TRAIN_LENGTH };
  const rs_value *window = rs_setting(&encoding->settings, "window");
  size_t train = (size_t)encoding->train_length;
  return window->choice == QUARTER ? train / 4 : window->choice == TRAIN_LENGTH ? train : (size_t)window->number;
}

/* The largest slope up to 1 that keeps every distance at or below L0 - 1. */
static rs_status auto_leak(const rs_encoding *encoding, double window, double *leak, rs_err *err) {
  double most = encoding->train_length - 1, last = (double)encoding->length - 1;
  *leak = 1;
  if (last <= most) return RS_OK;
  if (window > most)
    return rs_fail(err, RS_DOMAIN, "%s: window = %g leaves no room below train_length = %g", encoding->method->name,
                   window, encoding->train_length);
  *leak = (most - window) / (last - window);
  return RS_OK;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  const rs_value *given = rs_setting(&encoding->settings, "leak");
  double window = (double)window_of(encoding), leak = given->number;
  RS_TRY(rs_text_only(encoding, err));
  if (given->choice >= 0) RS_TRY(auto_leak(encoding, window, &leak, err));
  for (size_t i = 0; i < encoding->length; i++) {
    encoding->pos_q[BENT][i] = window + leak * (encoding->pos_q[BENT][i] - window);
    encoding->pos_k[BENT][i] *= leak;
  }
  return RS_OK;
}

static size_t segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, window_of(encoding), out);
}

static const rs_param params[] = {
    {.name = "window",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto", "train_length"),
     .min = 0,
     .max = 1e9,
     .fallback = "auto",
     .summary = "keys nearer than this keep their distance; auto: train_length / 4 (1024 for Llama-2, as Su has it)"},
    {.name = "leak",
     .type = RS_REAL,
     .unit = "1",
     RS_WORD_LIST("auto"),
     .min = 0,
     .max = 1,
     .fallback = "0",
     .summary = "growth of the distance per token beyond the window (Leaky ReRoPE: 1/k); auto: the largest that stays "
                "inside train_length"},
};

const rs_pos_kind rs_pos_clamp = {
    .kind = {.name = "clamp",
             .summary = "near keys keep their distance, beyond a window it grows by `leak` or not at all",
             .reference = "ReRoPE, Su, kexue.fm/archives/9708; LM-Infinite, arXiv:2308.16137",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .views = 2,
    .fill = fill,
    .segments = segments,
};
