/* Windows of a text; the sliding ones are those of arXiv:2309.00071, section 4.1, after Press et al., arXiv:2108.12409,
 * appendix B. */
#include "tasks.h"

#include <stdlib.h>

rs_status rs_windows_check(const rs_window_params *params, rs_err *err) {
  if (params->stride == RS_NO_COUNT || params->unscored == 0) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "unscored", "and stride both say what is scored: leave one out");
}

/* The share of evaluation's tokens that are the commonest of training's (of the text's, where nothing is trained on).
 */
static rs_status find_chance(rs_window_state *s, rs_err *err) {
  size_t *counts = rs_alloc(2 * s->vocabulary, sizeof *counts, err), commonest = 0;
  if (counts == NULL) return RS_MEMORY;
  size_t *known = s->trained > 0 ? counts : counts + s->vocabulary, *asked = counts + s->vocabulary;
  for (size_t i = 0; i < s->text.count; i++) (i < s->trained ? counts : asked)[rs_token_id(&s->text, i)]++;
  for (size_t i = 1; i < s->vocabulary; i++)
    if (known[i] > known[commonest]) commonest = i;
  s->chance = (double)asked[commonest] / (double)s->held_out;
  free(counts);
  return RS_OK;
}

rs_status rs_windows_prepare(const rs_window_params *params, const char *file, uint64_t seed, rs_window_state *s,
                             rs_err *err) {
  s->params = *params;
  s->seed = seed;
  s->trained = (size_t)((1 - params->share) * (double)s->text.count);
  s->held_out = s->text.count - s->trained;
  if ((params->share < 1 && s->trained < 2) || s->held_out < 2)
    return rs_fail_on(err, RS_INPUT, "file", "%s: %zu tokens to train on and %zu held out: each must be 2 or more",
                      file, s->trained, s->held_out);
  return find_chance(s, err);
}

void rs_windows_release(void *state) {
  rs_window_state *s = state;
  rs_token_file_clear(&s->text);
  free(s->file);
  s->file = NULL;
}

/* From one window of evaluation to the next. */
static size_t step_of(const rs_window_state *s, size_t length) {
  return s->params.stride < length ? s->params.stride : length;
}

/* Those that the text held out has room for, each with the token behind it. */
static size_t count_windows(const rs_window_state *s, size_t length) {
  return (s->held_out - 1 - length) / step_of(s, length) + 1;
}

rs_status rs_windows_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  const rs_window_state *s = state;
  size_t least = s->trained > 0 && s->trained < s->held_out ? s->trained : s->held_out;
  if (length < 1 || length >= least)
    return rs_fail(err, RS_DOMAIN, "%zu tokens and the one behind them: the text has %zu to train on and %zu held out",
                   length, s->trained, s->held_out);
  *shape = (rs_example_shape){.length = length,
                              .vocabulary = s->vocabulary,
                              .file = s->file,
                              .largest = s->largest,
                              .classes = s->vocabulary,
                              .untrainable = s->trained == 0,
                              .evaluations = count_windows(s, length)};
  return RS_OK;
}

/* Where the window starts, of `length` tokens and the one behind them. */
static size_t find_window(const rs_window_state *s, rs_split split, uint64_t index, size_t length) {
  if (split == RS_SPLIT_EVALUATION) return s->trained + (size_t)(index % count_windows(s, length)) * step_of(s, length);
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  return rs_dice_below(&dice, s->trained - length);
}

/* The first token of the window whose next is asked for. */
static size_t find_scored(const rs_window_state *s, rs_split split, size_t start, size_t length) {
  if (split != RS_SPLIT_EVALUATION) return 0;
  if (s->params.stride == RS_NO_COUNT) return (size_t)(s->params.unscored * (double)length);
  return start == s->trained ? 0 : length - step_of(s, length);
}

void rs_windows_draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const rs_window_state *s = state;
  size_t start = find_window(s, split, index, length), scored = find_scored(s, split, start, length);
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t++) {
    example->tokens[t] = (int32_t)rs_token_id(&s->text, start + t);
    if (t >= scored) example->targets[t] = (int32_t)rs_token_id(&s->text, start + t + 1);
  }
}

double rs_windows_chance(const void *state, size_t part) {
  (void)part;
  return ((const rs_window_state *)state)->chance;
}
