/* Distances bent at a window: keys nearer than it keep their distance (view 0), farther ones have window + leak * (d -
 * window) (view 1). leak 0 is ReRoPE, leak 1/k Leaky ReRoPE with its factor k (Su, kexue.fm/archives/9708, and
 * github.com/bojone/rerope); leak 0 with a window of L0 is LM-Infinite's cap (Han et al., arXiv:2308.16137). Su's code
 * also scales the queries by logit_scale: log_n; LM-Infinite also masks, by {window, sinks}. */
#include "encoding/kinds.h"

#include <math.h>

enum { BENT = 1 };

typedef enum window_rule { WINDOW_AUTO, WINDOW_TRAIN_LENGTH, WINDOW_RULES } window_rule;
typedef enum leak_rule { LEAK_AUTO, LEAK_RULES } leak_rule;

typedef struct params {
  rs_count_or_word window; /* tokens; window_rule */
  rs_real_or_word leak;    /* leak_rule */
} params;

typedef struct state {
  size_t window;
  double leak;
} state;

static size_t window_of(const rs_stage_in *in) {
  const params *p = in->params;
  size_t train = (size_t)in->train_length;
  if (p->window.word == WINDOW_AUTO) return train / 4;
  return p->window.word == WINDOW_TRAIN_LENGTH ? train : p->window.number;
}

/* The largest slope up to 1 that keeps every distance at or below L0 - 1. */
static rs_status auto_leak(const rs_stage_in *in, double window, double *leak, rs_err *err) {
  double most = in->train_length - 1, last = (double)in->length - 1;
  *leak = 1;
  if (last <= most) return RS_OK;
  if (window > most)
    return rs_fail(err, RS_DOMAIN, "%s: window = %g leaves no room below train_length = %g", in->method, window,
                   in->train_length);
  *leak = (most - window) / (last - window);
  return RS_OK;
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  *s = (state){.window = window_of(in), .leak = p->leak.number};
  return p->leak.word == LEAK_AUTO ? auto_leak(in, (double)s->window, &s->leak, err) : RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  double window = (double)s->window;
  (void)err;
  for (size_t i = 0; i < positions->length; i++) {
    positions->q[BENT][i] = window + s->leak * (positions->q[BENT][i] - window);
    positions->k[BENT][i] *= s->leak;
  }
  return RS_OK;
}

static size_t segments(const void *prepared, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, ((const state *)prepared)->window, out);
}

static const char *const windows[WINDOW_RULES + 1] = {[WINDOW_AUTO] = "auto", [WINDOW_TRAIN_LENGTH] = "train_length"};
static const char *const leaks[LEAK_RULES + 1] = {[LEAK_AUTO] = "auto"};

static const rs_param specs[] = {
    {RS_FIELD(params, window), .unit = "tokens", RS_WORDS(windows), .min = 0, .max = 1e9, .fallback = "auto",
     .summary = "keys nearer than this keep their distance; auto: train_length / 4 (1024 for Llama-2, as Su has it)"},
    {RS_FIELD(params, leak), .unit = "1", RS_WORDS(leaks), .min = 0, .max = 1, .fallback = "0",
     .summary = "growth of the distance per token beyond the window (Leaky ReRoPE: 1/k); auto: the largest that stays "
                "inside train_length"},
};

const rs_pos_kind rs_pos_clamp = {
    .kind = {.name = "clamp",
             .summary = "near keys keep their distance, beyond a window it grows by `leak` or not at all",
             .reference = "ReRoPE, Su, kexue.fm/archives/9708; LM-Infinite, arXiv:2308.16137",
             RS_KIND(specs, params)},
    .text_only = true,
    .views = 2,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .segments = segments,
};
