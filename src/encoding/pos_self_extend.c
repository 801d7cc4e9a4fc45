/* Self-Extend: keys nearer than `window` keep their distance (view 0); farther ones are seen in groups, by floored
 * positions (view 1), the query's shifted so that the two meet at the window. Jin et al., "LLM Maybe LongLM",
 * arXiv:2401.01325, section 3.2; the authors' code (LongLM) does not round that shift. */
#include "kinds.h"

#include <math.h>

enum { GROUPED = 1 };
enum { SHIFT_FLOOR, SHIFT_EXACT };

static size_t window_of(const rs_encoding *encoding) {
  const rs_value *window = rs_setting(&encoding->settings, "window");
  return window->choice >= 0 ? (size_t)encoding->train_length / 4 : (size_t)window->number;
}

/* By how much far queries are moved, so that far distances go on where near ones stop. */
static double shift_of(const rs_encoding *encoding, double window, double group) {
  bool exact = rs_setting_choice(&encoding->settings, "shift") == SHIFT_EXACT;
  return window - (exact ? window / group : floor(window / group));
}

/* The largest relative position: the last query against the first key. */
static double reach(const rs_encoding *encoding, double window, double group) {
  return floor((double)(encoding->length - 1) / group) + shift_of(encoding, window, group);
}

/* The smallest group that keeps every relative position at or below L0 - 1. */
static rs_status auto_group(const rs_encoding *encoding, double window, double *group, rs_err *err) {
  double room = encoding->train_length - window, beyond = (double)encoding->length - window;
  *group = 1;
  if ((double)encoding->length <= encoding->train_length) return RS_OK;
  if (room <= 0)
    return rs_fail(err, RS_DOMAIN, "self_extend: window = %g leaves no room below train_length = %g", window,
                   encoding->train_length);
  *group = fmax(1, floor(beyond / room)); /* without the floors of reach(); they ask for a little more */
  while (reach(encoding, window, *group) > encoding->train_length - 1) ++*group;
  return RS_OK;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  const rs_value *given = rs_setting(&encoding->settings, "group");
  double window = (double)window_of(encoding), group = given->number;
  RS_TRY(rs_text_only(encoding, err));
  if (given->choice >= 0) RS_TRY(auto_group(encoding, window, &group, err));
  double shift = shift_of(encoding, window, group);
  for (size_t i = 0; i < encoding->length; i++) {
    encoding->pos_q[GROUPED][i] = floor(encoding->pos_q[GROUPED][i] / group) + shift;
    encoding->pos_k[GROUPED][i] = floor(encoding->pos_k[GROUPED][i] / group);
  }
  return RS_OK;
}

static size_t segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, window_of(encoding), out);
}

static const rs_param params[] = {
    {.name = "group",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto"),
     .min = 1,
     .max = 1e9,
     .fallback = "auto",
     .summary = "G, tokens that share a far position; auto: the smallest that stays inside train_length"},
    {.name = "window",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto"),
     .min = 0,
     .max = 1e9,
     .fallback = "auto",
     .summary =
         "keys nearer than this keep their distance; auto: train_length / 4 (1024 for Llama-2, as in the paper)"},
    {.name = "shift",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("floor", "exact"),
     .fallback = "floor",
     .summary = "far queries are moved by window - floor(window / G) (paper), or without the floor (authors' code)"},
};

const rs_pos_kind rs_pos_self_extend = {
    .kind = {.name = "self_extend",
             .summary = "near keys keep their distance, far ones are grouped",
             .reference = "Self-Extend, arXiv:2401.01325, section 3.2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .views = 2,
    .fill = fill,
    .segments = segments,
};
