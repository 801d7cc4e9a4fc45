/* A key that is told once in a long text, and asked for at its end, from templates of ids: what published models are
 * asked (Mohtashami and Jaggi, arXiv:2305.16300, section 4.2; Chen et al., arXiv:2306.15595, section 3.3).
 *
 * A sequence is intro, filler, needle, filler, question and the key, which is the answer; its last token is a target
 * alone. The filler begins anew where it ends; behind the needle it goes on where it stopped. Of several needles each
 * tells a key of its own by another name, and the question names one: the others distract. Of several questions each
 * names another needle (multi-key and multi-query needles of RULER, Hsieh et al., arXiv:2404.06654, section 3). */
#include "model/tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEY = 1024, MOST_NEEDLES = 256, BYTES = 256, BYTE_MARK = '#', BYTE_NAME_MARK = '@' };
static const double byte_symbols[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
static const double byte_names[] = {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M',
                                    'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z'};

/* The files, as they follow each other. */
enum { INTRO, FILLER, NEEDLE, QUESTION, TEXTS };

typedef enum depth_word { TENTHS, ANY_DEPTH, DEPTH_WORDS } depth_word;
static const char *const depth_words[DEPTH_WORDS + 1] = {[TENTHS] = "tenths", [ANY_DEPTH] = "any"};
static const double tenths[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};

typedef enum filler_place { START, ANY_PLACE, FILLER_PLACES } filler_place;
static const char *const filler_words[FILLER_PLACES + 1] = {[START] = "start", [ANY_PLACE] = "any"};

typedef struct params {
  const char *intro, *filler, *needle, *question;
  rs_id_format numbers;
  size_t mark, symbol_tokens, key_symbols, needles, queries, name_mark, name_tokens;
  rs_real_list symbols, depths, names;
  filler_place filler_from;
} params;

/* Ids that are drawn from by so many tokens at once. */
typedef struct word_list {
  int32_t *ids; /* (count, tokens), owned */
  size_t count, tokens;
} word_list;

typedef struct state {
  rs_token_file texts[TEXTS];
  size_t mark, name_mark; /* name_mark: RS_NO_COUNT where needles have no names */
  word_list symbols, names;
  size_t needles, queries;
  size_t key_tokens;
  size_t lengths[TEXTS]; /* tokens of each text, with key and name in their places */
  double *depths;        /* (depth_count,); without any: drawn */
  size_t depth_count;
  bool drawn_filler; /* it begins anywhere */
  size_t vocabulary;
  double chance;
  uint64_t seed;
} state;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static const size_t text_offsets[TEXTS] = {
    [INTRO] = offsetof(params, intro),
    [FILLER] = offsetof(params, filler),
    [NEEDLE] = offsetof(params, needle),
    [QUESTION] = offsetof(params, question),
};

static const char *text_path(const params *p, size_t text) {
  return *(const char *const *)((const char *)p + text_offsets[text]);
}

static bool has_names(const params *p) {
  return p->needles > 1 || p->names.list != NULL || p->name_mark != RS_NO_COUNT;
}

static size_t name_count(const params *p) {
  return p->names.list != NULL ? p->names.count / p->name_tokens : RS_COUNT(byte_names);
}

/* `size`: the parameter that says how many ids make one. */
static rs_status check_ids(const rs_binding *binding, size_t offset, const rs_real_list *ids, size_t tokens,
                           const char *size, rs_err *err) {
  const char *name = rs_binding_param(binding, offset)->name;
  if (ids->count % tokens != 0)
    return rs_binding_fail(binding, offset, err, "%zu ids are no whole number of %s of %zu (%s)", ids->count, name,
                           tokens, size);
  for (size_t i = 0; i < ids->count; i++)
    if (ids->list[i] != rint(ids->list[i]))
      return rs_binding_fail(binding, offset, err, "%.17g is no id of a token", ids->list[i]);
  for (size_t i = tokens; i < ids->count; i += tokens)
    for (size_t k = 0; k < i; k += tokens)
      if (memcmp(ids->list + i, ids->list + k, tokens * sizeof *ids->list) == 0)
        return rs_binding_fail(binding, offset, err, "number %zu (from 0) is number %zu again: no two may be alike",
                               i / tokens, k / tokens);
  return RS_OK;
}

static rs_status check_symbols(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  size_t offset = offsetof(params, symbols);
  if (p->symbols.list == NULL && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offset, err, "must be given: the ids that keys are made of");
  RS_TRY(check_ids(binding, offset, &p->symbols, p->symbol_tokens, "symbol_tokens", err));
  if (p->key_symbols > MOST_KEY / p->symbol_tokens)
    return rs_binding_fail(binding, offsetof(params, key_symbols), err,
                           "%zu symbols of %zu tokens: a key has %d tokens at most", p->key_symbols, p->symbol_tokens,
                           MOST_KEY);
  size_t tokens = p->key_symbols * p->symbol_tokens;
  if (p->needles > MOST_KEY / tokens)
    return rs_binding_fail(binding, offsetof(params, needles), err,
                           "%zu keys of %zu tokens: must have %d tokens at most together", p->needles, tokens,
                           MOST_KEY);
  return RS_OK;
}

static rs_status check_names(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->queries > p->needles)
    return rs_binding_fail(binding, offsetof(params, queries), err, "must not exceed needles = %zu", p->needles);
  if (!has_names(p)) return rs_binding_unused(binding, offsetof(params, name_tokens), "one needle without a name", err);
  if (p->name_mark == RS_NO_COUNT && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offsetof(params, name_mark), err,
                           "must be given: the id that stands in needle and question for the needle's name");
  if (p->names.list == NULL && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offsetof(params, names), err, "must be given: the ids that needles are called by");
  RS_TRY(check_ids(binding, offsetof(params, names), &p->names, p->name_tokens, "name_tokens", err));
  if (name_count(p) < p->needles)
    return rs_binding_fail(binding, offsetof(params, needles), err, "%zu names for %zu needles: each has its own",
                           name_count(p), p->needles);
  return RS_OK;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  for (size_t i = FILLER; i < TEXTS; i++)
    if (text_path(p, i) == NULL) return rs_binding_fail(binding, text_offsets[i], err, "must be given: a file of ids");
  if (p->mark == RS_NO_COUNT && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offsetof(params, mark), err,
                           "must be given: the id that stands in the needle for the key");
  RS_TRY(check_symbols(binding, err));
  RS_TRY(check_names(binding, err));
  if (p->name_mark != RS_NO_COUNT && p->name_mark == (p->mark != RS_NO_COUNT ? p->mark : BYTE_MARK))
    return rs_binding_fail(binding, offsetof(params, name_mark), err, "must differ from mark, which is the key's");
  return RS_OK;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void release(void *memory) {
  state *s = memory;
  for (size_t i = 0; i < TEXTS; i++) rs_token_file_clear(&s->texts[i]);
  free(s->symbols.ids);
  free(s->names.ids);
  free(s->depths);
}

static rs_status read_texts(const params *p, state *s, rs_err *err) {
  for (size_t i = 0; i < TEXTS; i++) {
    if (text_path(p, i) == NULL && i == INTRO) continue;
    RS_TRY(rs_token_file_read(text_path(p, i), p->numbers, &s->texts[i], err));
  }
  return RS_OK;
}

static rs_status copy_words(const rs_real_list *list, size_t tokens, const double *usual, size_t usual_count,
                            word_list *words, rs_err *err) {
  const double *ids = list->list != NULL ? list->list : usual;
  size_t count = list->list != NULL ? list->count : usual_count;
  words->ids = rs_alloc(count, sizeof *words->ids, err);
  if (words->ids == NULL) return RS_MEMORY;
  words->tokens = tokens;
  words->count = count / tokens;
  for (size_t i = 0; i < count; i++) words->ids[i] = (int32_t)ids[i];
  return RS_OK;
}

static rs_status copy_depths(const params *p, state *s, rs_err *err) {
  if (p->depths.word == ANY_DEPTH) return RS_OK;
  const double *list = p->depths.word == TENTHS ? tenths : p->depths.list;
  s->depth_count = p->depths.word == TENTHS ? RS_COUNT(tenths) : p->depths.count;
  s->depths = rs_alloc(s->depth_count, sizeof *s->depths, err);
  if (s->depths == NULL) return RS_MEMORY;
  for (size_t i = 0; i < s->depth_count; i++) s->depths[i] = list[i];
  return RS_OK;
}

/* Whether a text has something else in this id's place: the key, or the needle's name. */
static bool is_mark(const state *s, size_t text, size_t id, bool name) {
  return name ? text >= NEEDLE && id == s->name_mark : text == NEEDLE && id == s->mark;
}

/* Counts the tokens of a text, with what stands in the place of its marks. */
static rs_status measure_text(const params *p, size_t text, state *s, rs_err *err) {
  const rs_token_file *file = &s->texts[text];
  const char *parameter = text == NEEDLE ? "needle" : "question";
  size_t marks = 0, names = 0;
  for (size_t i = 0; i < file->count; i++) {
    marks += is_mark(s, text, rs_token_id(file, i), false);
    names += is_mark(s, text, rs_token_id(file, i), true);
  }
  if (text == NEEDLE && marks == 0)
    return rs_fail_on(err, RS_INPUT, parameter, "%s: has no id %zu, which stands for the key (mark)", p->needle,
                      s->mark);
  if (text >= NEEDLE && s->name_mark != RS_NO_COUNT && names == 0)
    return rs_fail_on(err, RS_INPUT, parameter, "%s: has no id %zu, which stands for the needle's name (name_mark)",
                      text_path(p, text), s->name_mark);
  s->lengths[text] = file->count - marks - names + marks * s->key_tokens + names * s->names.tokens;
  return RS_OK;
}

static rs_status measure_texts(const params *p, state *s, rs_err *err) {
  for (size_t i = 0; i < TEXTS; i++) RS_TRY(measure_text(p, i, s, err));
  if (s->lengths[FILLER] == 0) return rs_fail_on(err, RS_INPUT, "filler", "%s: has no ids", p->filler);
  return RS_OK;
}

static void admit(size_t *vocabulary, const word_list *words) {
  for (size_t i = 0; i < words->count * words->tokens; i++)
    if ((size_t)words->ids[i] >= *vocabulary) *vocabulary = (size_t)words->ids[i] + 1;
}

/* All that can stand in a sequence; marks do not. */
static rs_status find_vocabulary(const params *p, state *s, rs_err *err) {
  s->vocabulary = p->numbers == RS_ID_U8 ? BYTES : 1;
  admit(&s->vocabulary, &s->symbols);
  admit(&s->vocabulary, &s->names);
  for (size_t i = 0; i < TEXTS; i++) {
    for (size_t t = 0; t < s->texts[i].count; t++) {
      size_t id = rs_token_id(&s->texts[i], t);
      if (id >= RS_MOST_VOCABULARY)
        return rs_fail_on(err, RS_INPUT, "numbers", "%s: token %zu (from 0) is %zu; ids end at %d", text_path(p, i), t,
                          id, RS_MOST_VOCABULARY - 1);
      if (!is_mark(s, i, id, false) && !is_mark(s, i, id, true) && id >= s->vocabulary) s->vocabulary = id + 1;
    }
  }
  return RS_OK;
}

/* The share of the commonest id at each token of a symbol, mean over these. */
static rs_status find_chance(state *s, rs_err *err) {
  const word_list *symbols = &s->symbols;
  size_t *counts = rs_alloc(s->vocabulary, sizeof *counts, err), hits = 0;
  if (counts == NULL) return RS_MEMORY;
  for (size_t t = 0; t < symbols->tokens; t++) {
    size_t most = 0;
    for (size_t i = 0; i < symbols->count; i++) {
      size_t count = ++counts[symbols->ids[i * symbols->tokens + t]];
      if (count > most) most = count;
    }
    for (size_t i = 0; i < symbols->count; i++) counts[symbols->ids[i * symbols->tokens + t]] = 0;
    hits += most;
  }
  s->chance = (double)hits / (double)(symbols->count * symbols->tokens);
  free(counts);
  return RS_OK;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  state *s = memory;
  s->seed = in->seed;
  s->needles = p->needles;
  s->queries = p->queries;
  s->mark = p->mark != RS_NO_COUNT ? p->mark : BYTE_MARK;
  s->name_mark = p->name_mark != RS_NO_COUNT ? p->name_mark : has_names(p) ? BYTE_NAME_MARK : RS_NO_COUNT;
  s->drawn_filler = p->filler_from == ANY_PLACE;
  RS_TRY(read_texts(p, s, err));
  RS_TRY(copy_words(&p->symbols, p->symbol_tokens, byte_symbols, RS_COUNT(byte_symbols), &s->symbols, err));
  s->key_tokens = p->key_symbols * p->symbol_tokens;
  if (has_names(p)) RS_TRY(copy_words(&p->names, p->name_tokens, byte_names, RS_COUNT(byte_names), &s->names, err));
  RS_TRY(copy_depths(p, s, err));
  RS_TRY(measure_texts(p, s, err));
  RS_TRY(find_vocabulary(p, s, err));
  return find_chance(s, err);
}

/* Tokens of a sequence that are no filler, with the one that is a target alone. */
static size_t fixed_tokens(const state *s) {
  return s->lengths[INTRO] + s->needles * s->lengths[NEEDLE] + s->queries * (s->lengths[QUESTION] + s->key_tokens);
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  if (length + 1 < fixed_tokens(s) || length < 1)
    return rs_fail(err, RS_DOMAIN, "%zu tokens: intro, needle, question and key fill %zu without a filler", length,
                   fixed_tokens(s) - 1);
  *shape = (rs_example_shape){.length = length, .vocabulary = s->vocabulary, .classes = s->vocabulary};
  return RS_OK;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* A sequence that is being written. */
typedef struct writer {
  const state *s;
  rs_example *example;
  size_t length, count;   /* L; tokens so far, up to L + 1: the last is a target alone */
  size_t filler;          /* the next of the filler's */
  int32_t keys[MOST_KEY]; /* (needles, key_tokens) */
  /* Of each needle, of which the first ones are asked for: its name, the share of the filler before it, and where its
   * key stands first. */
  int32_t names[MOST_NEEDLES];
  double depths[MOST_NEEDLES];
  size_t told[MOST_NEEDLES];
} writer;

static void put(writer *w, int32_t token) {
  if (w->count < w->length) w->example->tokens[w->count] = token;
  w->count++;
}

static void put_all(writer *w, const int32_t *tokens, size_t count) {
  for (size_t i = 0; i < count; i++) put(w, tokens[i]);
}

/* A text that says the key and the name of one needle. Returns where the key stands first. */
static size_t put_text(writer *w, size_t text, size_t needle) {
  const state *s = w->s;
  const rs_token_file *file = &s->texts[text];
  size_t told = 0;
  for (size_t i = 0; i < file->count; i++) {
    size_t id = rs_token_id(file, i);
    if (is_mark(s, text, id, false)) {
      if (told == 0) told = w->count;
      put_all(w, w->keys + needle * s->key_tokens, s->key_tokens);
    } else if (is_mark(s, text, id, true)) {
      put_all(w, s->names.ids + (size_t)w->names[needle] * s->names.tokens, s->names.tokens);
    } else {
      put(w, (int32_t)id);
    }
  }
  return told;
}

static void put_filler(writer *w, size_t count) {
  const rs_token_file *file = &w->s->texts[FILLER];
  for (size_t i = 0; i < count; i++) put(w, (int32_t)rs_token_id(file, w->filler++ % file->count));
}

/* All needles, by their depths. */
static void put_haystack(writer *w, size_t fillers) {
  size_t order[MOST_NEEDLES], done = 0;
  for (size_t i = 0, k; i < w->s->needles; i++) {
    for (k = i; k > 0 && w->depths[order[k - 1]] > w->depths[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (size_t i = 0; i < w->s->needles; i++) {
    size_t before = (size_t)(w->depths[order[i]] * (double)fillers + 0.5);
    put_filler(w, before - done);
    w->told[order[i]] = put_text(w, NEEDLE, order[i]);
    done = before;
  }
  put_filler(w, fillers - done);
}

static void put_answer(writer *w, size_t needle) {
  for (size_t k = 0; k < w->s->key_tokens; k++) {
    size_t asked = w->count - 1;
    int32_t token = w->keys[needle * w->s->key_tokens + k];
    put(w, token);
    w->example->targets[asked] = token;
    w->example->depths[asked] = (float)w->depths[needle];
    rs_example_seek(w->example, asked, w->told[needle] + k);
  }
}

static void draw_key(writer *w, rs_dice *dice, size_t needle) {
  const word_list *symbols = &w->s->symbols;
  int32_t *key = w->keys + needle * w->s->key_tokens;
  for (size_t k = 0; k < w->s->key_tokens; k += symbols->tokens) {
    size_t symbol = rs_dice_below(dice, symbols->count);
    for (size_t t = 0; t < symbols->tokens; t++) key[k + t] = symbols->ids[symbol * symbols->tokens + t];
  }
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  writer w = {.s = s, .example = example, .length = length};
  bool listed = split == RS_SPLIT_EVALUATION && s->depth_count > 0;
  for (size_t i = 0; i < s->needles; i++) {
    draw_key(&w, &dice, i);
    if (i == 0 && s->drawn_filler) w.filler = rs_dice_below(&dice, s->texts[FILLER].count);
    bool drawn = !listed || i >= s->queries;
    w.depths[i] = drawn ? rs_dice_uniform(&dice) : s->depths[(index * s->queries + i) % s->depth_count];
  }
  if (s->names.count > 0) rs_dice_sample(&dice, s->needles, s->names.count, w.names);
  rs_example_blank(example, length);
  (void)put_text(&w, INTRO, 0);
  put_haystack(&w, length + 1 - fixed_tokens(s));
  for (size_t i = 0; i < s->queries; i++) {
    (void)put_text(&w, QUESTION, i);
    put_answer(&w, i);
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

static const rs_param specs[] = {
    {RS_FIELD(params, filler), .unit = "",
     .summary = "the text around the needle, in ids; read again from its start where it ends"},
    {RS_FIELD(params, filler_from), RS_WORDS(filler_words), .unit = "", .fallback = "start",
     .summary = "where a sequence begins to read it; any: drawn for each"},
    {RS_FIELD(params, needle), .unit = "",
     .summary = "what tells the key, with `mark` where the key stands, once or more"},
    {RS_FIELD(params, question), .unit = "", .summary = "what asks for the key, which follows"},
    {RS_FIELD(params, intro), .unit = "",
     .summary = "what every sequence begins with, as a token of beginning (default: nothing)"},
    {RS_FIELD(params, numbers), RS_WORDS(rs_id_words), .unit = "", .fallback = "auto",
     .summary = "what bare numbers in these files are, as `tokens` has it; uint8: texts are read by their bytes"},
    {RS_FIELD(params, mark), .unit = "", .min = 0, .max = RS_MOST_VOCABULARY - 1,
     .summary = "the id that stands for the key (default for uint8: `#`, 35)"},
    {RS_FIELD(params, symbols), .unit = "", .min = 0, .max = RS_MOST_VOCABULARY - 1,
     .summary = "the ids that keys are made of (default for uint8: the ten digits)"},
    {RS_FIELD(params, symbol_tokens), .unit = "tokens", .min = 1, .max = MOST_KEY, .fallback = "1",
     .summary = "ids of a symbol: `symbols` is cut in so many"},
    {RS_FIELD(params, key_symbols), .unit = "1", .min = 1, .max = MOST_KEY, .fallback = "5",
     .summary = "symbols of a key, each drawn for every sequence"},
    {RS_FIELD(params, needles), .unit = "1", .min = 1, .max = MOST_NEEDLES, .fallback = "1",
     .summary = "needles in a sequence, each with a key of its own; of more than one each has another name"},
    {RS_FIELD(params, queries), .unit = "1", .min = 1, .max = MOST_NEEDLES, .fallback = "1",
     .summary = "how many of the needles are asked for, a question and its key after the other; the others stand "
                "anywhere"},
    {RS_FIELD(params, name_mark), .unit = "", .min = 0, .max = RS_MOST_VOCABULARY - 1,
     .summary = "the id that stands for the needle's name, in needle and question (default for uint8: `@`, 64)"},
    {RS_FIELD(params, names), .unit = "", .min = 0, .max = RS_MOST_VOCABULARY - 1,
     .summary = "the ids that needles are called by, no two of a sequence by the same (default for uint8: the capital "
                "letters)"},
    {RS_FIELD(params, name_tokens), .unit = "tokens", .min = 1, .max = MOST_KEY, .fallback = "1",
     .summary = "ids of a name: `names` is cut in so many"},
    {RS_FIELD(params, depths), RS_WORDS(depth_words), .unit = "1", .min = 0, .max = 1, .fallback = "tenths",
     .summary =
         "share of the filler before the needle, the next one for each question of evaluation; tenths: 0, 0.1, ... 1; "
         "any: drawn, as in training"},
};

const rs_task_kind rs_task_passkey = {
    .kind =
        {.name = "passkey",
         .summary = "a key told once in a long text and asked for at its end, from templates of ids",
         .reference =
             "passkey retrieval: Mohtashami and Jaggi, arXiv:2305.16300; Chen et al., arXiv:2306.15595, section 3.3; "
             "depths by tenths and the true key before each token: eval_needle.py of github.com/jzhang38/EasyContext; "
             "several needles: RULER, Hsieh et al., arXiv:2404.06654, section 3",
         RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {"answer"},
    .seeks = true,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = rs_no_loss,
};
