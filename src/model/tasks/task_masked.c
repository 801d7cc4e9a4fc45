/* Masked tokens: some of a text are asked for, and most of these hidden behind a symbol (Devlin et al.,
 * arXiv:1810.04805, section 3.1). Who reads sees both ways.
 *
 * Without a file the text is a chain: a symbol's successor follows it with one probability, else any symbol. Its
 * neighbours foretell a symbol, so that it matters where it stands; and what a reader who knows the chain still loses
 * has a closed form, where all that is asked for is hidden. */
#include "model/tasks.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

enum { MOST_SYMBOLS = 4096 };
enum { HIDDEN, RANDOM, KEPT };

typedef enum shown { AS_TRAINED, ALL_HIDDEN, SHOWN_WORDS } shown;
static const char *const shown_words[SHOWN_WORDS + 1] = {[AS_TRAINED] = "trained", [ALL_HIDDEN] = "hidden"};

typedef struct params {
  const char *file;
  rs_id_format numbers;
  rs_count_or_word vocabulary;
  double share, follow, masked, hidden, random;
  size_t symbols, rules, mask;
  shown evaluation;
} params;

typedef struct state {
  params p;
  uint64_t seed;
  rs_task_text text;          /* without ids a chain is drawn */
  int32_t next[MOST_SYMBOLS]; /* the successor of each symbol of the chain */
  size_t vocabulary, mask;    /* tokens but for a mask behind them; the mask */
  double chance;
} state;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static rs_status check(const rs_binding *binding, rs_err *err) {
  static const size_t chains[] = {offsetof(params, symbols), offsetof(params, follow), offsetof(params, rules)};
  static const size_t texts[] = {offsetof(params, numbers), offsetof(params, vocabulary), offsetof(params, share)};
  const params *p = binding->fields;
  for (size_t i = 0; i < 3; i++)
    RS_TRY(rs_binding_unused(binding, p->file != NULL ? chains[i] : texts[i], p->file != NULL ? "a file" : "a chain",
                             err));
  if (p->hidden + p->random > 1)
    return rs_binding_fail(binding, offsetof(params, random), err, "must be at most 1 - hidden = %g", 1 - p->hidden);
  if (p->file == NULL && p->mask < p->symbols)
    return rs_binding_fail(binding, offsetof(params, mask), err, "must be none of the symbols, which end at %zu",
                           p->symbols - 1);
  return RS_OK;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void release(void *memory) {
  rs_task_text_clear(&((state *)memory)->text);
}

static rs_status read_text(const params *p, state *s, rs_err *err) {
  const rs_task_text_in in = {.path = p->file,
                              .numbers = p->numbers,
                              .vocabulary = rs_task_text_vocabulary(&p->vocabulary, p->numbers == RS_ID_U8),
                              .share = p->share,
                              .least = 1};
  RS_TRY(rs_task_text_read(&in, &s->text, err));
  for (size_t i = 0; i < s->text.ids.count; i++)
    if (rs_token_id(&s->text.ids, i) == p->mask)
      return rs_fail_on(err, RS_INPUT, "mask", "%s: token %zu (from 0) is %zu: must be an id that no token has",
                        p->file, i, p->mask);
  s->vocabulary = s->text.vocabulary;
  return rs_task_text_chance(&s->text, true, &s->chance, err);
}

/* Successors lead through all symbols and back to the first. */
static void make_chain(state *s) {
  int32_t order[MOST_SYMBOLS];
  rs_dice dice = rs_dice_rules(s->p.rules);
  s->vocabulary = s->p.symbols;
  s->chance = 1 / (double)s->vocabulary;
  rs_dice_sample(&dice, s->vocabulary, s->vocabulary, order);
  for (size_t i = 0; i < s->vocabulary; i++) s->next[order[i]] = order[(i + 1) % s->vocabulary];
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  state *s = memory;
  s->p = *(const params *)in->params;
  s->seed = in->seed;
  rs_status status = RS_OK;
  if (s->p.file != NULL)
    status = read_text(&s->p, s, err);
  else
    make_chain(s);
  s->mask = s->p.mask != RS_NO_COUNT ? s->p.mask : s->vocabulary;
  if (status != RS_OK) release(s);
  return status;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  const rs_task_text *text = &s->text;
  bool chain = text->ids.count == 0, trainable = chain || text->trained > 0;
  if (length < 1) return rs_fail(err, RS_DOMAIN, "0 tokens: there is none to mask");
  if (!chain && (length > text->held_out || (trainable && length > text->trained)))
    return rs_fail(err, RS_DOMAIN, "%zu tokens: the text has %zu to train on and %zu held out", length, text->trained,
                   text->held_out);
  *shape = (rs_example_shape){.length = length,
                              .vocabulary = s->mask < s->vocabulary ? s->vocabulary : s->mask + 1,
                              .file = s->mask < s->vocabulary ? text->file : NULL,
                              .largest = text->largest,
                              .classes = s->vocabulary,
                              .untrainable = !trainable,
                              .evaluations = text->held_out / length};
  return RS_OK;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

static void draw_chain(const state *s, rs_dice *dice, size_t length, int32_t *tokens) {
  for (size_t t = 0; t < length; t++) {
    bool follows = t > 0 && rs_dice_falls(dice, s->p.follow);
    tokens[t] = follows ? s->next[tokens[t - 1]] : (int32_t)rs_dice_below(dice, s->vocabulary);
  }
}

/* Training reads windows of its part anywhere, evaluation those of the rest side by side. */
static void draw_window(const state *s, rs_dice *dice, rs_split split, uint64_t index, size_t length, int32_t *tokens) {
  const rs_task_text *text = &s->text;
  size_t start = split == RS_SPLIT_TRAINING ? rs_dice_below(dice, text->trained + 1 - length)
                                            : text->trained + (size_t)(index % (text->held_out / length)) * length;
  for (size_t t = 0; t < length; t++) tokens[t] = (int32_t)rs_token_id(&text->ids, start + t);
}

static size_t masked_tokens(const state *s, size_t length) {
  size_t count = (size_t)(s->p.masked * (double)length + 0.5);
  return count > 0 ? count : 1;
}

/* Any token but the mask. */
static int32_t draw_token(const state *s, rs_dice *dice) {
  bool within = s->mask < s->vocabulary;
  size_t token = rs_dice_below(dice, s->vocabulary - within);
  return (int32_t)(token + (within && token >= s->mask));
}

static void mask_token(const state *s, rs_dice *dice, rs_split split, size_t t, rs_example *example) {
  double way = rs_dice_uniform(dice);
  size_t part = way < s->p.hidden ? HIDDEN : way < s->p.hidden + s->p.random ? RANDOM : KEPT;
  if (split == RS_SPLIT_EVALUATION && s->p.evaluation == ALL_HIDDEN) part = HIDDEN;
  example->targets[t] = example->tokens[t];
  example->parts[t] = (uint8_t)part;
  if (part == HIDDEN) example->tokens[t] = (int32_t)s->mask;
  if (part == RANDOM) example->tokens[t] = draw_token(s, dice);
}

/* Masked are so many tokens, no choice of them likelier than another (Knuth, volume 2, 3.4.2, algorithm S). */
static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  size_t missing = masked_tokens(s, length);
  rs_example_blank(example, length);
  if (s->text.ids.count == 0)
    draw_chain(s, &dice, length, example->tokens);
  else
    draw_window(s, &dice, split, index, length, example->tokens);
  for (size_t t = 0; t < length; t++) {
    if (rs_dice_uniform(&dice) * (double)(length - t) >= (double)missing) continue;
    mask_token(s, &dice, split, t, example);
    missing--;
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

/* ---- the best loss ----------------------------------------------------------------------------------------------- */

/* Entropy of the symbol so many places behind one that is known: it is the successor's successor's ... with probability
 * follow^places, else any. */
static double entropy_behind(const state *s, size_t places) {
  double any = (1 - pow(s->p.follow, (double)places)) / (double)s->vocabulary;
  double one = 1 - any * (double)(s->vocabulary - 1);
  return -one * log(one) - (any > 0 ? any * log(any) * (double)(s->vocabulary - 1) : 0);
}

/* How likely it is, where a token is masked, that a run of `run` tokens about it is and `ends` beside it are not. */
static double run_chance(size_t length, size_t masked, size_t run, size_t ends) {
  if (run + ends > length || length - run - ends < masked - run) return 0;
  return exp(gsl_sf_lnchoose((unsigned)(length - run - ends), (unsigned)(masked - run)) -
             gsl_sf_lnchoose((unsigned)(length - 1), (unsigned)(masked - 1)));
}

/* A hidden symbol a places behind one that is known and b before another leaves h(a) + h(b) - h(a + b); beside an end
 * of the sequence, h of the other. The mean over places and choices of what is masked. */
static double best_loss(const void *memory, size_t length) {
  const state *s = memory;
  size_t masked = masked_tokens(s, length);
  double sum = 0, behind = 0; /* h(1) + ... + h(run) */
  bool hidden = s->p.evaluation == ALL_HIDDEN || s->p.hidden == 1;
  if (s->text.ids.count > 0 || !hidden) return NAN;
  if (masked == length) return log((double)s->vocabulary);
  for (size_t run = 1; run <= masked; run++) {
    behind += entropy_behind(s, run);
    double within = 2 * behind - (double)run * entropy_behind(s, run + 1);
    double places = length > run + 1 ? (double)(length - run - 1) : 0;
    sum += places * run_chance(length, masked, run, 2) * within + 2 * run_chance(length, masked, run, 1) * behind;
  }
  return sum / (double)length;
}

static const rs_param specs[] = {
    {RS_FIELD(params, file), .unit = "",
     .summary = "the text, in ids as `tokens` reads them (default: none, a chain of symbols is drawn)"},
    {RS_FIELD(params, numbers), RS_WORDS(rs_id_words), .unit = "", .fallback = "auto",
     .summary = "what bare numbers are, as `tokens` has it; uint8: the text is read by its bytes"},
    {RS_FIELD(params, vocabulary), RS_WORDS(rs_vocabulary_words), .unit = "tokens", .min = 2, .max = RS_MOST_VOCABULARY,
     .fallback = "largest",
     .summary = "different tokens there are in the text; largest: up to the largest id of the file (256 of uint8)"},
    {RS_FIELD(params, share), .unit = "1", .min = 0.001, .max = 1, .fallback = "0.1",
     .summary = "share of the text, at its end, that is held out for evaluation; 1: there is nothing to train on"},
    {RS_FIELD(params, symbols), .unit = "1", .min = 2, .max = MOST_SYMBOLS, .fallback = "32",
     .summary = "symbols of a chain"},
    {RS_FIELD(params, follow), .unit = "1", .min = 0, .max = 1, .fallback = "0.9",
     .summary = "probability that a symbol of a chain is followed by its successor, else by any"},
    {RS_FIELD(params, rules), .unit = "1", .min = 0, .max = 1e9, .fallback = "0",
     .summary = "which symbol succeeds which: the same for every seed"},
    {RS_FIELD(params, masked), .unit = "1", .min = 0.001, .max = 1, .fallback = "0.15",
     .summary = "share of the tokens that are asked for, at least one of a sequence"},
    {RS_FIELD(params, hidden), .unit = "1", .min = 0, .max = 1, .fallback = "0.8",
     .summary = "share of these that the mask stands for"},
    {RS_FIELD(params, random), .unit = "1", .min = 0, .max = 1, .fallback = "0.1",
     .summary = "share of these that any token stands for; the others are kept"},
    {RS_FIELD(params, mask), .unit = "", .min = 0, .max = RS_MOST_VOCABULARY - 1,
     .summary = "id of the mask (default: the one behind the vocabulary)"},
    {RS_FIELD(params, evaluation), RS_WORDS(shown_words), .unit = "", .fallback = "trained", .reading = true,
     .summary = "what evaluation shows in place of tokens that are asked for; trained: as in training; hidden: the "
                "mask alone"},
};

const rs_task_kind rs_task_masked = {
    .kind = {.name = "masked",
             .summary = "tokens of a text that are hidden, exchanged or kept, by those on both sides",
             .reference = "masked language modeling: Devlin et al., arXiv:1810.04805, section 3.1",
             RS_KIND(specs, params)},
    .form = RS_ENCODER,
    .check = check,
    .parts = {[HIDDEN] = "hidden", [RANDOM] = "random", [KEPT] = "kept"},
    .crop = RS_CROP_START,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = best_loss,
};
