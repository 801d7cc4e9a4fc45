/* A stream of fillers, which follow a local rule, and of keys, each with its value: a map drawn afresh for every
 * sequence, so that values are said from what was read and not from weights.
 *
 * Tokens are begin, fillers, keys and values, in this order. With `key_share` a key comes, then its value; else a
 * filler: T[c(x[t-2])][c(x[t-1])] with `rule_share`, else any, where T is one table for all sequences and c a token
 * modulo the fillers. Evaluation sequences are streams, whose end is scored, and in turns with them (odd indices)
 * streams in which needles stand: keys that are met once, at given depths, and asked for at the end. */
#include "model/tasks.h"

#include <math.h>

enum { MOST_FILLERS = 64, MOST_SYMBOLS = 256, FEWEST_KEYS = 2 };

enum { FILLER, KEY, FIRST, REPEAT, NEEDLE };

typedef enum depth_word { SIX, NO_NEEDLES, DEPTH_WORDS } depth_word;
static const char *const depth_words[DEPTH_WORDS + 1] = {[SIX] = "six", [NO_NEEDLES] = "none"};
static const double six_depths[] = {0, 0.2, 0.4, 0.6, 0.8, 0.95};

/* What the best loss takes as known besides the rules: which keys are in use, or how many. */
typedef enum knowledge { TOLD_KEYS, TOLD_COUNT, TOLDS } knowledge;
static const char *const told_words[TOLDS + 1] = {[TOLD_KEYS] = "keys", [TOLD_COUNT] = "count"};

typedef struct params {
  size_t fillers, keys, values, keys_in_use, rules;
  double key_share, rule_share, unscored;
  rs_real_list depths;
  knowledge told;
} params;

typedef struct state {
  params p; /* depths: those below */
  uint64_t seed;
  double depths[MOST_SYMBOLS];
  size_t needles;
  uint8_t rule[MOST_FILLERS][MOST_FILLERS]; /* T: which filler comes, from 0 */
} state;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static size_t list_depths(const params *p, const double **depths) {
  *depths = p->depths.word == RS_NO_WORD ? p->depths.list : six_depths;
  return p->depths.word == RS_NO_WORD ? p->depths.count : p->depths.word == SIX ? RS_COUNT(six_depths) : 0;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  const double *depths;
  size_t needles = list_depths(p, &depths);
  if (p->keys_in_use > p->keys)
    return rs_binding_fail(binding, offsetof(params, keys_in_use), err, "must not exceed keys = %zu", p->keys);
  if (needles > p->keys - p->keys_in_use)
    return rs_binding_fail(
        binding, offsetof(params, depths), err,
        "%zu needles, but the stream leaves %zu of %zu keys: must not be more (fewer keys_in_use, or "
        "depths: none)",
        needles, p->keys - p->keys_in_use, p->keys);
  for (size_t i = 1; i < needles; i++)
    if (depths[i] <= depths[i - 1])
      return rs_binding_fail(binding, offsetof(params, depths), err, "must ascend: %g follows %g", depths[i],
                             depths[i - 1]);
  return RS_OK;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  (void)err;
  state *s = memory;
  const double *depths;
  s->p = *(const params *)in->params;
  s->seed = in->seed;
  s->needles = list_depths(&s->p, &depths);
  for (size_t i = 0; i < s->needles; i++) s->depths[i] = depths[i];
  rs_dice dice = rs_dice_rules(s->p.rules);
  for (size_t i = 0; i < s->p.fillers; i++)
    for (size_t j = 0; j < s->p.fillers; j++) s->rule[i][j] = (uint8_t)rs_dice_below(&dice, s->p.fillers);
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t least = s->needles > 0 ? 4 * s->needles : 1;
  if (length < least)
    return rs_fail(err, RS_DOMAIN,
                   "%zu tokens: %zu needles, told once and asked once, fill %zu (fewer depths, or depths: none)",
                   length, s->needles, least);
  size_t vocabulary = 1 + s->p.fillers + s->p.keys + s->p.values;
  *shape = (rs_example_shape){.length = length, .vocabulary = vocabulary, .classes = vocabulary};
  return RS_OK;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* A sequence that is being written. */
typedef struct writer {
  const state *s;
  rs_dice dice;
  rs_example *example;
  size_t length, count;                             /* L; tokens so far, up to L + 1: the last is a target alone */
  size_t scored;                                    /* the first token that has a target */
  size_t before, last;                              /* the two tokens last written */
  int32_t keys[MOST_SYMBOLS], values[MOST_SYMBOLS]; /* the stream's keys come first; the value of each key */
  size_t in_use;
  size_t met[MOST_SYMBOLS]; /* where the value of a key stood last; 0: nowhere */
} writer;

static writer begin(const state *s, rs_split split, uint64_t index, size_t length, rs_example *example) {
  writer w = {.s = s, .dice = rs_dice_sequence(s->seed, split, index), .example = example, .length = length};
  rs_example_blank(example, length);
  rs_dice_sample(&w.dice, s->p.keys, s->p.keys, w.keys);
  for (size_t i = 0; i < s->p.keys; i++) w.values[i] = (int32_t)rs_dice_below(&w.dice, s->p.values);
  bool training = split == RS_SPLIT_TRAINING;
  w.in_use = training ? FEWEST_KEYS + rs_dice_below(&w.dice, s->p.keys - FEWEST_KEYS + 1) : s->p.keys_in_use;
  w.scored = training ? 0 : (size_t)(s->p.unscored * (double)length);
  example->tokens[0] = 0;
  w.count = 1;
  return w;
}

/* The next token. */
static void put(writer *w, size_t token) {
  if (w->count < w->length) w->example->tokens[w->count] = (int32_t)token;
  w->before = w->last;
  w->last = token;
  w->count++;
}

/* The last token as the target of the one before it. */
static void aim(writer *w, size_t part, float depth) {
  size_t t = w->count - 2;
  if (t < w->scored || t >= w->length) return;
  w->example->targets[t] = (int32_t)w->last;
  w->example->parts[t] = (uint8_t)part;
  w->example->depths[t] = depth;
}

static void put_filler(writer *w) {
  size_t fillers = w->s->p.fillers;
  bool ruled = rs_dice_falls(&w->dice, w->s->p.rule_share);
  put(w, 1 + (ruled ? w->s->rule[w->before % fillers][w->last % fillers] : rs_dice_below(&w->dice, fillers)));
  aim(w, FILLER, NAN);
}

static void put_key(writer *w, size_t key) {
  put(w, 1 + w->s->p.fillers + key);
}

static void put_value(writer *w, size_t key, size_t part, float depth) {
  size_t met = w->met[key], asked = w->count - 1;
  w->met[key] = w->count;
  put(w, 1 + w->s->p.fillers + w->s->p.keys + (size_t)w->values[key]);
  aim(w, part, depth);
  if (met > 0 && asked < w->length) rs_example_seek(w->example, asked, met);
}

static void put_pair(writer *w) {
  size_t key = (size_t)w->keys[rs_dice_below(&w->dice, w->in_use)], met = w->met[key];
  put_key(w, key);
  aim(w, KEY, NAN);
  put_value(w, key, met > 0 ? REPEAT : FIRST, met > 0 ? rs_depth(met, w->length) : NAN);
}

/* Needles stand at their depths of what comes before the questions, or a token later, where a pair is in the way. Each
 * has a place kept for it up to the end. */
static void put_haystack(writer *w, size_t end) {
  const state *s = w->s;
  for (size_t planted = 0; w->count < end;) {
    size_t room = end - w->count, kept = 2 * (s->needles - planted);
    size_t due = planted < s->needles ? 1 + (size_t)(s->depths[planted] * (double)(end - 3)) : end;
    if (w->count >= due || room == kept) {
      size_t key = (size_t)w->keys[w->in_use + planted++];
      put_key(w, key);
      put_value(w, key, FIRST, NAN);
    } else if (rs_dice_falls(&w->dice, s->p.key_share) && room >= kept + 2) {
      put_pair(w);
    } else {
      put_filler(w);
    }
  }
}

/* The needles, asked for in random order. */
static void put_questions(writer *w) {
  int32_t order[MOST_SYMBOLS];
  rs_dice_sample(&w->dice, w->s->needles, w->s->needles, order);
  w->scored = 0;
  for (size_t i = 0; i < w->s->needles; i++) {
    size_t key = (size_t)w->keys[w->in_use + (size_t)order[i]];
    put_key(w, key);
    put_value(w, key, NEEDLE, (float)w->s->depths[order[i]]);
  }
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  writer w = begin(s, split, index, length, example);
  if (split == RS_SPLIT_EVALUATION && s->needles > 0 && index % 2 == 1) {
    w.scored = length + 1;
    put_haystack(&w, length + 1 - 2 * s->needles);
    put_questions(&w);
    return;
  }
  while (w.count <= length) {
    if (rs_dice_falls(&w.dice, s->p.key_share))
      put_pair(&w);
    else
      put_filler(&w);
  }
}

/* ---- what can be reached ----------------------------------------------------------------------------------------- */

static double chance(const void *memory, size_t part) {
  const params *p = &((const state *)memory)->p;
  return 1 / (double)(part == FILLER ? p->fillers : part == KEY ? p->keys : p->values);
}

static double surprise(double probability) {
  return probability > 0 ? -probability * log(probability) : 0;
}

/* Nats of whether a key comes, and of the filler, where none does. */
static double plain_entropy(const params *p) {
  double q = p->key_share, others = (1 - p->rule_share) / (double)p->fillers, ruled = p->rule_share + others;
  return surprise(q) + surprise(1 - q) + (1 - q) * (surprise(ruled) + (double)(p->fillers - 1) * surprise(others));
}

/* Nats of which key comes, where one does and `seen` were met. To one who is told the number of keys alone, each that
 * was not met is as likely as any other. */
static double key_entropy(const params *p, size_t seen) {
  double in_use = (double)p->keys_in_use, unseen = (in_use - (double)seen) / in_use;
  if (p->told == TOLD_KEYS || seen == p->keys_in_use) return log(in_use);
  return (1 - unseen) * log(in_use) + surprise(unseen) + unseen * log((double)(p->keys - seen));
}

/* The mean entropy of what comes next, given all before it, over the scored tokens of evaluation streams: a Markov
 * chain of how many keys were met, 2 L keys_in_use steps. free[n]: the probability that n were, and that no value is
 * due. */
static double best_loss(const void *memory, size_t length) {
  const params *p = &((const state *)memory)->p;
  double free[MOST_SYMBOLS + 1] = {1}, first[MOST_SYMBOLS + 1] = {0}, repeat[MOST_SYMBOLS + 1] = {0};
  double plain = plain_entropy(p), q = p->key_share, in_use = (double)p->keys_in_use;
  size_t scored = (size_t)(p->unscored * (double)length);
  rs_sum loss = {0};
  for (size_t t = 0; t < length; t++) {
    for (size_t n = p->keys_in_use + 1; n-- > 0;) {
      double seen = (double)n / in_use, now = free[n];
      if (t >= scored) rs_sum_add(&loss, now * (plain + q * key_entropy(p, n)) + first[n] * log((double)p->values));
      free[n] = now * (1 - q) + first[n] + repeat[n];
      repeat[n] = now * q * seen;
      first[n] = 0;
      if (n < p->keys_in_use) first[n + 1] = now * q * (1 - seen);
    }
  }
  return rs_sum_total(&loss) / (double)(length - scored);
}

static const rs_param specs[] = {
    {RS_FIELD(params, fillers), .unit = "1", .min = 1, .max = MOST_FILLERS, .fallback = "8",
     .summary = "different fillers"},
    {RS_FIELD(params, keys), .unit = "1", .min = FEWEST_KEYS, .max = MOST_SYMBOLS, .fallback = "16",
     .summary = "different keys; a training sequence uses 2 to all of them, each number equally likely"},
    {RS_FIELD(params, values), .unit = "1", .min = 1, .max = MOST_SYMBOLS, .fallback = "16",
     .summary = "different values"},
    {RS_FIELD(params, keys_in_use), .unit = "1", .min = 1, .max = MOST_SYMBOLS, .fallback = "10", .reading = true,
     .summary = "keys that an evaluation sequence uses"},
    {RS_FIELD(params, key_share), .unit = "1", .min = 0, .max = 1, .fallback = "0.35",
     .summary = "probability of a key where no value is due"},
    {RS_FIELD(params, rule_share), .unit = "1", .min = 0, .max = 1, .fallback = "0.9",
     .summary = "probability that a filler follows the rule; else it is any, the rule's among them"},
    {RS_FIELD(params, rules), .unit = "1", .min = 0, .max = 1e9, .fallback = "0",
     .summary = "which table of rules: the same for every seed"},
    {RS_FIELD(params, unscored), .unit = "1", .min = 0, .max = 0.99, .fallback = "0.5", .reading = true,
     .summary = "share of an evaluation sequence, at its start, that is read and not scored"},
    {RS_FIELD(params, depths), .unit = "1", RS_WORDS(depth_words), .min = 0, .max = 1, .fallback = "six",
     .reading = true,
     .summary =
         "where needles stand, 0 (start) to 1 (before the questions), ascending; six: 0, 0.2, 0.4, 0.6, 0.8, 0.95; "
         "none: every evaluation sequence is a stream"},
    {RS_FIELD(params, told), .unit = "", RS_WORDS(told_words), .fallback = "keys", .reading = true,
     .summary = "what the best loss takes as known besides the rules: which keys are in use, or their count alone (.08 "
                "nats more at 64 tokens, nothing at 512)"},
};

const rs_task_kind rs_task_dictionary = {
    .kind = {.name = "dictionary",
             .summary =
                 "fillers by a local rule, keys with their values, and needles: keys met once and asked at the end",
             .reference = "after associative recall (Arora et al., arXiv:2312.04927) and needles in a haystack",
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {[FILLER] = "filler", [KEY] = "key", [FIRST] = "first_value", [REPEAT] = "repeat", [NEEDLE] = "needle"},
    .probes = 1u << NEEDLE,
    .recalled = 1u << REPEAT | 1u << NEEDLE,
    .seeks = true,
    .crop = RS_CROP_BEHIND_FIRST,
    .state_size = sizeof(state),
    .prepare = prepare,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = best_loss,
};
