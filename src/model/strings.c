/* Strings and what is to be said of them. Evaluation strings are as long as fits; training ones have any length from
 * the shortest on, and what is left is padding, so that a model meets the bar everywhere. */
#include "tasks.h"

rs_status rs_strings_prepare(const rs_task_in *in, void *state, rs_err *err) {
  (void)err;
  *(rs_strings_state *)state = (rs_strings_state){*(const rs_strings *)in->params, in->seed};
  return RS_OK;
}

rs_status rs_strings_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  const rs_strings_state *s = state;
  if (length < 2 || length % 2 != 0)
    return rs_fail(
        err, RS_DOMAIN,
        "%zu tokens cannot be shared by a string and its answer: must be even, twice the symbols of a string", length);
  size_t vocabulary = s->params.symbols + 2; /* the bar and padding */
  *shape = (rs_example_shape){.length = length, .vocabulary = vocabulary, .classes = vocabulary};
  return RS_OK;
}

static size_t string_length(const rs_strings *params, rs_split split, size_t longest, rs_dice *dice) {
  if (split == RS_SPLIT_EVALUATION || params->shortest >= longest) return longest;
  return params->shortest + rs_dice_below(dice, longest - params->shortest + 1);
}

void rs_strings_draw(const void *state, rs_split split, uint64_t index, size_t length, bool backward,
                     rs_example *example) {
  const rs_strings_state *s = state;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  size_t count = string_length(&s->params, split, length / 2, &dice);
  int32_t *tokens = example->tokens, bar = (int32_t)s->params.symbols, padding = bar + 1;
  for (size_t t = 0; t < length; t++)
    tokens[t] = t < count ? (int32_t)rs_dice_below(&dice, s->params.symbols) : padding;
  tokens[count] = bar;
  rs_example_blank(example, length);
  for (size_t i = 0; i < count; i++) {
    size_t asked = backward ? count - 1 - i : i;
    if (i + 1 < count) tokens[count + 1 + i] = tokens[asked];
    example->targets[count + i] = tokens[asked];
    example->depths[count + i] = rs_depth(asked, length);
    rs_example_seek(example, count + i, asked);
  }
}

double rs_strings_chance(const void *state, size_t part) {
  (void)part;
  return 1 / (double)((const rs_strings_state *)state)->params.symbols;
}
