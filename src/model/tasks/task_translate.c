/* A sentence and its translation, word by word: every word has one other, and words change places within blocks. Which
 * word and which place are the same in all sentences; so the place of what is to be said next must be counted. */
#include "model/tasks.h"

enum { MOST_WORDS = 4096, LONGEST_BLOCK = 64 };

typedef struct params {
  size_t words, block, rules;
} params;

typedef struct state {
  params p;
  uint64_t seed;
  int32_t other[MOST_WORDS];    /* the translation of each word */
  int32_t order[LONGEST_BLOCK]; /* which word of a block is said at each place of it */
} state;

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  (void)err;
  state *s = memory;
  s->p = *(const params *)in->params;
  s->seed = in->seed;
  rs_dice dice = rs_dice_rules(s->p.rules);
  rs_dice_sample(&dice, s->p.words, s->p.words, s->other);
  rs_dice_sample(&dice, s->p.block, s->p.block, s->order);
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const params *p = &((const state *)memory)->p;
  if (length < 1 || length % p->block != 0)
    return rs_fail(err, RS_DOMAIN, "%zu words make no blocks of %zu: must be a multiple", length, p->block);
  *shape = (rs_example_shape){
      .length = length, .source_length = length, .vocabulary = p->words + 1, .classes = p->words + 1};
  return RS_OK;
}

/* The decoder reads a mark that begins and the translation but for its last word. */
static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  for (size_t t = 0; t < length; t++) example->source[t] = (int32_t)rs_dice_below(&dice, s->p.words);
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t++) {
    size_t place = t % s->p.block, asked = t - place + (size_t)s->order[place];
    example->tokens[t] = t > 0 ? example->targets[t - 1] : (int32_t)s->p.words;
    example->targets[t] = s->other[example->source[asked]];
    example->depths[t] = rs_depth(asked, length);
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return 1 / (double)((const state *)memory)->p.words;
}

static const rs_param specs[] = {
    {RS_FIELD(params, words), .unit = "1", .min = 2, .max = MOST_WORDS, .fallback = "32",
     .summary = "words of each language, which share their tokens"},
    {RS_FIELD(params, block), .unit = "tokens", .min = 1, .max = LONGEST_BLOCK, .fallback = "4",
     .summary = "words within which places change; sentences are whole blocks"},
    {RS_FIELD(params, rules), .unit = "1", .min = 0, .max = 1e9, .fallback = "0",
     .summary = "which words and which order: the same for every seed"},
};

const rs_task_kind rs_task_translate = {
    .kind = {.name = "translate",
             .summary = "a sentence with every word exchanged for its other, and words in another order within blocks",
             .reference = "the setting of Vaswani et al., arXiv:1706.03762; the languages are made up",
             RS_KIND(specs, params)},
    .form = RS_ENCODER_DECODER,
    .parts = {"word"},
    .state_size = sizeof(state),
    .prepare = prepare,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = rs_no_loss,
};
