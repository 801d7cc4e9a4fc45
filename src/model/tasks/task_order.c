/* One answer to a sequence, which its order alone tells: which of two tokens comes first, or: is it sorted? The first
 * token is the same in all sequences, and says the class.
 *
 * Sequences 2k and 2k + 1 are twins: the same tokens, and the other class. An encoder without positions computes the
 * same of both (attention without positions does not change under permutations: Lee et al., arXiv:1810.00825), so that
 * it is right for one of them, whatever its weights. */
#include "model/tasks.h"

enum { CLASS_TOKEN, MOST_SYMBOLS = 4096 }; /* symbols are 1 .. symbols */

typedef enum question { FIRST, SORTED, QUESTIONS } question;
static const char *const question_words[QUESTIONS + 1] = {[FIRST] = "first", [SORTED] = "sorted"};

typedef struct params {
  question ask;
  size_t symbols;
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
  const params *p = &((const state *)memory)->p;
  if (length < 3)
    return rs_fail(err, RS_DOMAIN, "%zu tokens have no order: the one that says the class and two others are 3",
                   length);
  *shape = (rs_example_shape){.length = length, .vocabulary = p->symbols + 1 + (p->ask == FIRST ? 2 : 0), .classes = 2};
  return RS_OK;
}

/* Symbols in ascending order, two at least that differ, or the last of some and the first of those behind them in each
 * other's place. */
static void draw_sorted(const params *p, rs_dice *dice, bool swapped, size_t length, int32_t *tokens) {
  size_t counts[MOST_SYMBOLS] = {0}, different = 0, at = 0;
  int32_t pair[2];
  rs_dice_sample(dice, 2, p->symbols, pair);
  for (size_t i = 0; i < length; i++) counts[i < 2 ? (size_t)pair[i] : rs_dice_below(dice, p->symbols)]++;
  for (size_t i = 0; i < p->symbols; i++) different += counts[i] > 0;
  size_t border = rs_dice_below(dice, different - 1);
  for (size_t i = 0; i < p->symbols; i++) {
    if (counts[i] == 0) continue;
    if (at > 0 && border-- == 0 && swapped) {
      tokens[at] = tokens[at - 1];
      tokens[at - 1] = (int32_t)i + 1;
      at++;
      counts[i]--;
    }
    for (size_t k = 0; k < counts[i]; k++) tokens[at++] = (int32_t)i + 1;
  }
}

/* Two tokens that no other is like, anywhere among symbols. */
static void draw_first(const params *p, rs_dice *dice, bool swapped, size_t length, int32_t *tokens) {
  int32_t places[2];
  for (size_t i = 0; i < length; i++) tokens[i] = (int32_t)rs_dice_below(dice, p->symbols) + 1;
  rs_dice_sample(dice, 2, length, places);
  bool ascend = places[0] < places[1];
  tokens[places[ascend == swapped]] = (int32_t)p->symbols + 1;
  tokens[places[ascend != swapped]] = (int32_t)p->symbols + 2;
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index / 2);
  bool swapped = index % 2 == 1;
  rs_example_blank(example, length);
  example->tokens[0] = CLASS_TOKEN;
  example->targets[0] = !swapped;
  (s->p.ask == SORTED ? draw_sorted : draw_first)(&s->p, &dice, swapped, length - 1, example->tokens + 1);
}

static double chance(const void *memory, size_t part) {
  (void)memory;
  (void)part;
  return 0.5;
}

static const rs_param specs[] = {
    {RS_FIELD(params, ask), RS_WORDS(question_words), .unit = "", .fallback = "first",
     .summary =
         "first: which of two tokens that stand among symbols comes first; sorted: whether all symbols ascend, or "
         "two neighbours have changed places"},
    {RS_FIELD(params, symbols), .unit = "1", .min = 2, .max = MOST_SYMBOLS, .fallback = "16",
     .summary = "symbols; each may come again"},
};

const rs_task_kind rs_task_order = {
    .kind = {.name = "order",
             .summary =
                 "which of two tokens comes first, or whether a sequence is sorted: one answer, and every second "
                 "sequence has the tokens of the one before it and the other answer",
             .reference =
                 "what an encoder without positions cannot tell: Lee et al., arXiv:1810.00825 (set attention blocks)",
             RS_KIND(specs, params)},
    .form = RS_ENCODER,
    .parts = {"order"},
    .single = true,
    .twins = true,
    .state_size = sizeof(state),
    .prepare = prepare,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = rs_no_loss,
};
