/* Windows of a text, as bytes or as ids of tokens, made by any tokenizer: what the models of others are read on.
 * Training reads them anywhere in the first part of the text; evaluation reads the rest, window behind window, from its
 * start again when all are read: what it reads does not depend on the seed. The sliding ones are those of
 * arXiv:2309.00071, section 4.1, after Press et al., arXiv:2108.12409, appendix B. */
#include "model/tasks.h"

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
  rs_task_text text;
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

static void release(void *memory) {
  rs_task_text_clear(&((state *)memory)->text);
}

static rs_status prepare(const rs_task_in *in, bool bytes, state *s, rs_err *err) {
  s->p = *(const params *)in->params;
  s->seed = in->seed;
  if (s->p.file == NULL) return fail_missing(bytes, err);
  const rs_task_text_in text = {.path = s->p.file,
                                .numbers = bytes ? RS_ID_U8 : s->p.numbers,
                                .vocabulary = rs_task_text_vocabulary(&s->p.vocabulary, bytes),
                                .share = s->p.share,
                                .least = 2};
  rs_status status = rs_task_text_read(&text, &s->text, err);
  if (status == RS_OK) status = rs_task_text_chance(&s->text, true, &s->chance, err);
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
  return (s->text.held_out - 1 - length) / step_of(s, length) + 1;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t least = s->text.trained > 0 && s->text.trained < s->text.held_out ? s->text.trained : s->text.held_out;
  if (length < 1 || length >= least)
    return rs_fail(err, RS_DOMAIN,
                   "%zu tokens and the one behind them: the text has %zu to train on and %zu held out, %zu would do",
                   length, s->text.trained, s->text.held_out, length + 1);
  *shape = (rs_example_shape){.length = length,
                              .vocabulary = s->text.vocabulary,
                              .file = s->text.file,
                              .largest = s->text.largest,
                              .classes = s->text.vocabulary,
                              .untrainable = s->text.trained == 0,
                              .evaluations = count_windows(s, length)};
  return RS_OK;
}

/* Where the window starts, of `length` tokens and the one behind them. */
static size_t find_window(const state *s, rs_split split, uint64_t index, size_t length) {
  if (split == RS_SPLIT_EVALUATION)
    return s->text.trained + (size_t)(index % count_windows(s, length)) * step_of(s, length);
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  return rs_dice_below(&dice, s->text.trained - length);
}

/* The first token of the window whose next is asked for. */
static size_t find_scored(const state *s, rs_split split, size_t start, size_t length) {
  if (split != RS_SPLIT_EVALUATION) return 0;
  if (s->p.stride == RS_NO_COUNT) return (size_t)(s->p.unscored * (double)length);
  return start == s->text.trained ? 0 : length - step_of(s, length);
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  size_t start = find_window(s, split, index, length), scored = find_scored(s, split, start, length);
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t++) {
    example->tokens[t] = (int32_t)rs_token_id(&s->text.ids, start + t);
    if (t >= scored) example->targets[t] = (int32_t)rs_token_id(&s->text.ids, start + t + 1);
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

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
    {RS_FIELD(params, vocabulary), RS_WORDS(rs_vocabulary_words), .unit = "tokens", .min = 1, .max = RS_MOST_VOCABULARY,
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
