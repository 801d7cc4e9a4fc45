/* Windows of a text, as bytes or as ids of tokens, made by any tokenizer: what the models of others are read on.
 * Training reads them anywhere in the first part of the text; evaluation reads the rest, window behind window, from its
 * start again when all are read: what it reads does not depend on the seed. The sliding ones are those of
 * arXiv:2309.00071, section 4.1, after Press et al., arXiv:2108.12409, appendix B. */
#include "model/tasks.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 };

typedef struct params {
  const char *file;
  rs_id_format numbers;        /* tokens */
  rs_count_or_word vocabulary; /* tokens */
  double share, unscored;
  size_t stride; /* RS_NO_COUNT: that of windows side by side */
} params;

typedef struct state {
  params p;
  uint64_t seed;
  rs_token_file text; /* owned */
  char *file;         /* its name, and the first of its largest ids; NULL where ids end with a vocabulary; owned */
  size_t largest;
  size_t trained, held_out, vocabulary;
  double chance;
} state;

static rs_status fail_missing(bool bytes, rs_err *err) {
  return rs_fail_on(err, RS_INPUT, "file", "must be given: %s", bytes ? "the text to read" : "the ids of the tokens");
}

static rs_status check(const params *p, bool bytes, rs_err *err) {
  if (p->file == NULL) return fail_missing(bytes, err);
  if (p->stride == RS_NO_COUNT || p->unscored == 0) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "unscored", "and stride both say what is scored: leave one out");
}

static rs_status check_bytes(const rs_binding *binding, rs_err *err) {
  return check(binding->fields, true, err);
}

static rs_status check_tokens(const rs_binding *binding, rs_err *err) {
  return check(binding->fields, false, err);
}

/* The share of evaluation's tokens that are the commonest of training's (of the text's, where nothing is trained on).
 */
static rs_status find_chance(state *s, rs_err *err) {
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

/* Cuts the text in its two parts. */
static rs_status cut_text(state *s, rs_err *err) {
  s->trained = (size_t)((1 - s->p.share) * (double)s->text.count);
  s->held_out = s->text.count - s->trained;
  if ((s->p.share < 1 && s->trained < 2) || s->held_out < 2)
    return rs_fail_on(err, RS_INPUT, "file", "%s: %zu tokens to train on and %zu held out: each must be 2 or more",
                      s->p.file, s->trained, s->held_out);
  return find_chance(s, err);
}

/* The vocabulary is given, or ends with the largest id. */
static rs_status find_vocabulary(const params *p, state *s, rs_err *err) {
  size_t largest = 0;
  for (size_t i = 1; i < s->text.count; i++)
    if (rs_token_id(&s->text, i) > rs_token_id(&s->text, largest)) largest = i;
  size_t needed = (size_t)rs_token_id(&s->text, largest) + 1;
  if (p->vocabulary.word == RS_NO_WORD && needed > p->vocabulary.number)
    return rs_fail_on(err, RS_INPUT, "file", "%s: token %zu (from 0) is %zu, the vocabulary has %zu", p->file, largest,
                      needed - 1, p->vocabulary.number);
  if (needed > RS_MOST_VOCABULARY)
    return rs_fail_on(err, RS_INPUT, "file", "%s: token %zu (from 0) is %zu; ids end at %d (is `numbers` right?)",
                      p->file, largest, needed - 1, RS_MOST_VOCABULARY - 1);
  bool given = p->vocabulary.word == RS_NO_WORD;
  const char *slash = strrchr(p->file, '/');
  s->vocabulary = given ? p->vocabulary.number : needed;
  s->largest = largest;
  s->file = given ? NULL : rs_strdup(slash != NULL ? slash + 1 : p->file, err);
  return given || s->file != NULL ? RS_OK : RS_MEMORY;
}

static void release(void *memory) {
  state *s = memory;
  rs_token_file_clear(&s->text);
  free(s->file);
  s->file = NULL;
}

static rs_status prepare(const rs_task_in *in, bool bytes, state *s, rs_err *err) {
  s->p = *(const params *)in->params;
  s->seed = in->seed;
  if (s->p.file == NULL) return fail_missing(bytes, err);
  RS_TRY(rs_token_file_read(s->p.file, bytes ? RS_ID_U8 : s->p.numbers, &s->text, err));
  s->vocabulary = BYTES;
  rs_status status = bytes ? RS_OK : find_vocabulary(&s->p, s, err);
  if (status == RS_OK) status = cut_text(s, err);
  if (status != RS_OK) release(s);
  return status;
}

static rs_status prepare_bytes(const rs_task_in *in, void *memory, rs_err *err) {
  return prepare(in, true, memory, err);
}

static rs_status prepare_tokens(const rs_task_in *in, void *memory, rs_err *err) {
  return prepare(in, false, memory, err);
}

/* From one window of evaluation to the next. */
static size_t step_of(const state *s, size_t length) {
  return s->p.stride < length ? s->p.stride : length;
}

/* Those that the text held out has room for, each with the token behind it. */
static size_t count_windows(const state *s, size_t length) {
  return (s->held_out - 1 - length) / step_of(s, length) + 1;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t least = s->trained > 0 && s->trained < s->held_out ? s->trained : s->held_out;
  if (length < 1 || length >= least)
    return rs_fail(err, RS_DOMAIN,
                   "%zu tokens and the one behind them: the text has %zu to train on and %zu held out, %zu would do",
                   length, s->trained, s->held_out, length + 1);
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
static size_t find_window(const state *s, rs_split split, uint64_t index, size_t length) {
  if (split == RS_SPLIT_EVALUATION) return s->trained + (size_t)(index % count_windows(s, length)) * step_of(s, length);
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  return rs_dice_below(&dice, s->trained - length);
}

/* The first token of the window whose next is asked for. */
static size_t find_scored(const state *s, rs_split split, size_t start, size_t length) {
  if (split != RS_SPLIT_EVALUATION) return 0;
  if (s->p.stride == RS_NO_COUNT) return (size_t)(s->p.unscored * (double)length);
  return start == s->trained ? 0 : length - step_of(s, length);
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  size_t start = find_window(s, split, index, length), scored = find_scored(s, split, start, length);
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t++) {
    example->tokens[t] = (int32_t)rs_token_id(&s->text, start + t);
    if (t >= scored) example->targets[t] = (int32_t)rs_token_id(&s->text, start + t + 1);
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

static const char *const vocabulary_words[] = {"largest", NULL};

#define WINDOW_SPECS(share_held_out)                                                                                   \
  {RS_FIELD(params, share),                                                                                            \
   .unit = "1",                                                                                                        \
   .min = 0.001,                                                                                                       \
   .max = 1,                                                                                                           \
   .fallback = share_held_out,                                                                                         \
   .summary = "share of the text, at its end, that is held out for evaluation; 1: there is nothing to train on"},      \
      {RS_FIELD(params, unscored),                                                                                     \
       .unit = "1",                                                                                                    \
       .min = 0,                                                                                                       \
       .max = 0.99,                                                                                                    \
       .fallback = "0",                                                                                                \
       .reading = true,                                                                                                \
       .summary = "share of an evaluation sequence, at its start, that is read and not scored"},                       \
  {                                                                                                                    \
    RS_FIELD(params, stride),                                                                                          \
        .unit = "tokens", .min = 1, .max = 268435456, .reading = true,                                                 \
        .summary = "from one evaluation sequence to the next, of which all but the first are scored in their last "    \
                   "`stride` tokens alone: sliding-window perplexity (default, and at lengths below it: they stand "   \
                   "side by side)"                                                                                     \
  }

static const rs_param bytes_specs[] = {
    {RS_FIELD(params, file), .unit = "", .summary = "the text: any file"},
    WINDOW_SPECS("0.1"),
};
static const rs_param tokens_specs[] = {
    {RS_FIELD(params, file), .unit = "",
     .summary =
         "the ids: one row in a .npy file, or bare little-endian numbers (nanoGPT's; llm.c's with their header)"},
    {RS_FIELD(params, numbers), RS_WORDS(rs_id_words), .unit = "", .fallback = "auto",
     .summary = "what bare numbers are; auto: as a header of llm.c says, else uint16"},
    {RS_FIELD(params, vocabulary), RS_WORDS(vocabulary_words), .unit = "tokens", .min = 1, .max = RS_MOST_VOCABULARY,
     .fallback = "largest", .summary = "different tokens there are; largest: up to the largest id of the file"},
    WINDOW_SPECS("1"),
};

#define MEMBERS                                                                                                        \
  .form = RS_DECODER, .crop = RS_CROP_START, .state_size = sizeof(state), .release = release, .shape = shape,          \
  .draw = draw, .chance = chance

const rs_task_kind rs_task_bytes = {
    .kind = {.name = "bytes",
             .summary = "the next byte of a text",
             .reference = "byte-level language modeling, as of Al-Rfou et al., arXiv:1808.04444",
             RS_KIND(bytes_specs, params)},
    .check = check_bytes,
    .parts = {"byte"},
    .prepare = prepare_bytes,
    MEMBERS,
};

const rs_task_kind rs_task_tokens = {
    .kind = {.name = "tokens",
             .summary = "the next token of a text, given as ids",
             .reference = "perplexity of sliding windows: arXiv:2309.00071, section 4.1",
             RS_KIND(tokens_specs, params)},
    .check = check_tokens,
    .parts = {"token"},
    .prepare = prepare_tokens,
    MEMBERS,
};
