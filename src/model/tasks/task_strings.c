/* Strings that are to be said again, as they are (copy) or from their end (reverse): n symbols, a bar, and the answer,
 * symbol by symbol. A model reads the string, the bar and all of the answer but its last symbol: 2 n tokens. Evaluation
 * strings are as long as fits; training ones have any length from the shortest on, and what is left is padding, so that
 * a model meets the bar everywhere. */
#include "model/tasks.h"

typedef struct params {
  size_t symbols;
  size_t shortest; /* of training strings, symbols */
} params;

typedef struct state {
  params p;
  uint64_t seed;
} state;

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  (void)err;
  *(state *)memory = (state){*(const params *)in->params, in->seed};
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  if (length < 2 || length % 2 != 0)
    return rs_fail(
        err, RS_DOMAIN,
        "%zu tokens cannot be shared by a string and its answer: must be even, twice the symbols of a string", length);
  size_t vocabulary = ((const state *)memory)->p.symbols + 2; /* the bar and padding */
  *shape = (rs_example_shape){.length = length, .vocabulary = vocabulary, .classes = vocabulary};
  return RS_OK;
}

static size_t string_length(const params *p, rs_split split, size_t longest, rs_dice *dice) {
  if (split == RS_SPLIT_EVALUATION || p->shortest >= longest) return longest;
  return p->shortest + rs_dice_below(dice, longest - p->shortest + 1);
}

static void draw(const state *s, rs_split split, uint64_t index, size_t length, bool backward, rs_example *example) {
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  size_t count = string_length(&s->p, split, length / 2, &dice);
  int32_t *tokens = example->tokens, bar = (int32_t)s->p.symbols, padding = bar + 1;
  for (size_t t = 0; t < length; t++) tokens[t] = t < count ? (int32_t)rs_dice_below(&dice, s->p.symbols) : padding;
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

static void draw_copy(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  draw(memory, split, index, length, false, example);
}

static void draw_reverse(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  draw(memory, split, index, length, true, example);
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return 1 / (double)((const state *)memory)->p.symbols;
}

#define SPECS(usual)                                                                                                   \
  {                                                                                                                    \
    {RS_FIELD(params, symbols),                                                                                        \
     .unit = "1",                                                                                                      \
     .min = 2,                                                                                                         \
     .max = 65536,                                                                                                     \
     .fallback = usual,                                                                                                \
     .summary = "different symbols of a string"},                                                                      \
    {                                                                                                                  \
      RS_FIELD(params, shortest),                                                                                      \
          .unit = "tokens", .min = 1, .max = 1 << 24, .fallback = "1",                                                 \
          .summary = "shortest string of training: each length from here to half the tokens is equally likely; in "    \
                     "evaluation all are half the tokens"                                                              \
    }                                                                                                                  \
  }
static const rs_param copy_specs[] = SPECS("26"), reverse_specs[] = SPECS("2");

#define MEMBERS                                                                                                        \
  .form = RS_DECODER, .recalled = 1, .seeks = true, .state_size = sizeof(state), .prepare = prepare, .shape = shape,   \
  .chance = chance, .best_loss = rs_no_loss

const rs_task_kind rs_task_copy = {
    .kind = {.name = "copy",
             .summary = "a string, a bar, and the string again",
             .reference = "Jelassi et al., arXiv:2402.01032, section 3",
             RS_KIND(copy_specs, params)},
    .parts = {"copied"},
    .draw = draw_copy,
    MEMBERS,
};

const rs_task_kind rs_task_reverse = {
    .kind = {.name = "reverse",
             .summary = "a string, a bar, and the string from its end",
             .reference = "Reverse String of Deletang et al., arXiv:2207.02098; Ruoss et al., arXiv:2305.16843",
             RS_KIND(reverse_specs, params)},
    .parts = {"reversed"},
    .draw = draw_reverse,
    MEMBERS,
};
