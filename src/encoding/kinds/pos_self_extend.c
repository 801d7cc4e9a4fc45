/* Self-Extend: keys nearer than `window` keep their distance (view 0); farther ones are seen in groups, by floored
 * positions (view 1), the query's shifted so that the two meet at the window. Jin et al., "LLM Maybe LongLM",
 * arXiv:2401.01325, section 3.2; the authors' code (LongLM) does not round that shift. */
#include "encoding/kinds.h"

#include <math.h>

enum { GROUPED = 1 };

typedef enum shift_rule { SHIFT_FLOOR, SHIFT_EXACT, SHIFT_RULES } shift_rule;
typedef enum size_rule { SIZE_AUTO, SIZE_RULES } size_rule;

typedef struct params {
  rs_count_or_word group, window; /* tokens; size_rule */
  shift_rule shift;
} params;

typedef struct state {
  size_t window;
  double group, shift; /* tokens */
} state;

/* By how much far queries are moved, so that far distances go on where near ones stop. */
static double shift_of(shift_rule rule, double window, double group) {
  return window - (rule == SHIFT_EXACT ? window / group : floor(window / group));
}

/* The smallest group that keeps every relative position at or below L0 - 1. */
static rs_status auto_group(const rs_stage_in *in, double window, double *group, rs_err *err) {
  shift_rule rule = ((const params *)in->params)->shift;
  double room = in->train_length - window, last = (double)in->length - 1;
  *group = 1;
  if ((double)in->length <= in->train_length) return RS_OK;
  if (room <= 0)
    return rs_fail(err, RS_DOMAIN, "self_extend: window = %g leaves no room below train_length = %g", window,
                   in->train_length);
  /* Without the floors; they ask for a little more. The largest relative position is the last query's to the first
   * key. */
  *group = fmax(1, floor(((double)in->length - window) / room));
  while (floor(last / *group) + shift_of(rule, window, *group) > in->train_length - 1) ++*group;
  return RS_OK;
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  s->window = p->window.word == SIZE_AUTO ? (size_t)in->train_length / 4 : p->window.number;
  s->group = (double)p->group.number;
  if (p->group.word == SIZE_AUTO) RS_TRY(auto_group(in, (double)s->window, &s->group, err));
  s->shift = shift_of(p->shift, (double)s->window, s->group);
  return RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  (void)err;
  for (size_t i = 0; i < positions->length; i++) {
    positions->q[GROUPED][i] = floor(positions->q[GROUPED][i] / s->group) + s->shift;
    positions->k[GROUPED][i] = floor(positions->k[GROUPED][i] / s->group);
  }
  return RS_OK;
}

static size_t segments(const void *prepared, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, ((const state *)prepared)->window, out);
}

static const char *const sizes[SIZE_RULES + 1] = {[SIZE_AUTO] = "auto"};
static const char *const shifts[SHIFT_RULES + 1] = {[SHIFT_FLOOR] = "floor", [SHIFT_EXACT] = "exact"};

static const rs_param specs[] = {
    {RS_FIELD(params, group), .unit = "tokens", RS_WORDS(sizes), .min = 1, .max = 1e9, .fallback = "auto",
     .summary = "G, tokens that share a far position; auto: the smallest that stays inside train_length"},
    {RS_FIELD(params, window), .unit = "tokens", RS_WORDS(sizes), .min = 0, .max = 1e9, .fallback = "auto",
     .summary =
         "keys nearer than this keep their distance; auto: train_length / 4 (1024 for Llama-2, as in the paper)"},
    {RS_FIELD(params, shift), .unit = "", RS_WORDS(shifts), .fallback = "floor",
     .summary = "far queries are moved by window - floor(window / G) (paper), or without the floor (authors' code)"},
};

const rs_pos_kind rs_pos_self_extend = {
    .kind = {.name = "self_extend",
             .summary = "near keys keep their distance, far ones are grouped",
             .reference = "Self-Extend, arXiv:2401.01325, section 3.2",
             RS_KIND(specs, params)},
    .text_only = true,
    .views = 2,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .segments = segments,
};
