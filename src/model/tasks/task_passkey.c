/* A key that is told once in a long text, and asked for at its end, from templates of ids: what published models are
 * asked (Mohtashami and Jaggi, arXiv:2305.16300, section 4.2; Chen et al., arXiv:2306.15595, section 3.3).
 *
 * A sequence is intro, filler, needle, filler, question and the key, which is the answer; its last token is a target
 * alone. The filler begins anew where it ends; behind the needle it goes on where it stopped. */
#include "model/tasks.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_KEY = 1024, BYTES = 256, BYTE_MARK = '#' };
static const double byte_symbols[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};

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
  size_t mark, symbol_tokens, key_symbols;
  rs_real_list symbols, depths;
  filler_place filler_from;
} params;

typedef struct state {
  rs_token_file texts[TEXTS];
  size_t mark;
  int32_t *symbols; /* (symbol_count, symbol_tokens) */
  size_t symbol_count, symbol_tokens;
  size_t key_tokens, needle_tokens; /* needle_tokens: with the key in its places */
  double *depths;                   /* (depth_count,); without any: drawn */
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

static rs_status check_symbols(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  size_t offset = offsetof(params, symbols);
  if (p->symbols.list == NULL && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offset, err, "must be given: the ids that keys are made of");
  if (p->symbols.count % p->symbol_tokens != 0)
    return rs_binding_fail(binding, offset, err, "%zu ids are no whole number of symbols of %zu (symbol_tokens)",
                           p->symbols.count, p->symbol_tokens);
  for (size_t i = 0; i < p->symbols.count; i++)
    if (p->symbols.list[i] != rint(p->symbols.list[i]))
      return rs_binding_fail(binding, offset, err, "%.17g is no id of a token", p->symbols.list[i]);
  if (p->key_symbols > MOST_KEY / p->symbol_tokens)
    return rs_binding_fail(binding, offsetof(params, key_symbols), err,
                           "%zu symbols of %zu tokens: a key has %d tokens at most", p->key_symbols, p->symbol_tokens,
                           MOST_KEY);
  return RS_OK;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  for (size_t i = FILLER; i < TEXTS; i++)
    if (text_path(p, i) == NULL) return rs_binding_fail(binding, text_offsets[i], err, "must be given: a file of ids");
  if (p->mark == RS_NO_COUNT && p->numbers != RS_ID_U8)
    return rs_binding_fail(binding, offsetof(params, mark), err,
                           "must be given: the id that stands in the needle for the key");
  return check_symbols(binding, err);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void release(void *memory) {
  state *s = memory;
  for (size_t i = 0; i < TEXTS; i++) rs_token_file_clear(&s->texts[i]);
  free(s->symbols);
  free(s->depths);
}

static rs_status read_texts(const params *p, state *s, rs_err *err) {
  for (size_t i = 0; i < TEXTS; i++) {
    if (text_path(p, i) == NULL && i == INTRO) continue;
    RS_TRY(rs_token_file_read(text_path(p, i), p->numbers, &s->texts[i], err));
  }
  return RS_OK;
}

static rs_status copy_symbols(const params *p, state *s, rs_err *err) {
  bool given = p->symbols.list != NULL;
  const double *list = given ? p->symbols.list : byte_symbols;
  size_t count = given ? p->symbols.count : RS_COUNT(byte_symbols);
  s->symbol_tokens = p->symbol_tokens;
  s->symbol_count = count / p->symbol_tokens;
  s->key_tokens = p->key_symbols * p->symbol_tokens;
  s->symbols = rs_alloc(count, sizeof *s->symbols, err);
  if (s->symbols == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) s->symbols[i] = (int32_t)list[i];
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

/* The needle has a place for the key, and the filler has something to say. */
static rs_status measure_texts(const params *p, state *s, rs_err *err) {
  const rs_token_file *needle = &s->texts[NEEDLE];
  size_t marks = 0;
  for (size_t i = 0; i < needle->count; i++) marks += rs_token_id(needle, i) == s->mark;
  if (marks == 0)
    return rs_fail_on(err, RS_INPUT, "needle", "%s: has no id %zu, which stands for the key (mark)", p->needle,
                      s->mark);
  if (s->texts[FILLER].count == 0) return rs_fail_on(err, RS_INPUT, "filler", "%s: has no ids", p->filler);
  s->needle_tokens = needle->count - marks + marks * s->key_tokens;
  return RS_OK;
}

static void admit(size_t *vocabulary, size_t id) {
  if (id >= *vocabulary) *vocabulary = id + 1;
}

/* All that can stand in a sequence; the mark does not. */
static rs_status find_vocabulary(const params *p, state *s, rs_err *err) {
  s->vocabulary = p->numbers == RS_ID_U8 ? BYTES : 1;
  for (size_t i = 0; i < s->symbol_count * s->symbol_tokens; i++) admit(&s->vocabulary, (size_t)s->symbols[i]);
  for (size_t i = 0; i < TEXTS; i++) {
    for (size_t t = 0; t < s->texts[i].count; t++) {
      size_t id = rs_token_id(&s->texts[i], t);
      if (id >= RS_MOST_VOCABULARY)
        return rs_fail_on(err, RS_INPUT, "numbers", "%s: token %zu (from 0) is %zu; ids end at %d", text_path(p, i), t,
                          id, RS_MOST_VOCABULARY - 1);
      if (i != NEEDLE || id != s->mark) admit(&s->vocabulary, id);
    }
  }
  return RS_OK;
}

/* The share of the commonest id at each token of a symbol, mean over these. */
static rs_status find_chance(state *s, rs_err *err) {
  size_t *counts = rs_alloc(s->vocabulary, sizeof *counts, err), hits = 0;
  if (counts == NULL) return RS_MEMORY;
  for (size_t t = 0; t < s->symbol_tokens; t++) {
    size_t most = 0;
    for (size_t i = 0; i < s->symbol_count; i++) {
      size_t count = ++counts[s->symbols[i * s->symbol_tokens + t]];
      if (count > most) most = count;
    }
    for (size_t i = 0; i < s->symbol_count; i++) counts[s->symbols[i * s->symbol_tokens + t]] = 0;
    hits += most;
  }
  s->chance = (double)hits / (double)(s->symbol_count * s->symbol_tokens);
  free(counts);
  return RS_OK;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  state *s = memory;
  s->seed = in->seed;
  s->mark = p->mark != RS_NO_COUNT ? p->mark : BYTE_MARK;
  s->drawn_filler = p->filler_from == ANY_PLACE;
  RS_TRY(read_texts(p, s, err));
  RS_TRY(copy_symbols(p, s, err));
  RS_TRY(copy_depths(p, s, err));
  RS_TRY(measure_texts(p, s, err));
  RS_TRY(find_vocabulary(p, s, err));
  return find_chance(s, err);
}

/* Tokens of a sequence that are no filler, with the one that is a target alone. */
static size_t fixed_tokens(const state *s) {
  return s->texts[INTRO].count + s->needle_tokens + s->texts[QUESTION].count + s->key_tokens;
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
  size_t length, count; /* L; tokens so far, up to L + 1: the last is a target alone */
  size_t filler;        /* the next of the filler's */
  int32_t key[MOST_KEY];
} writer;

static void put(writer *w, int32_t token) {
  if (w->count < w->length) w->example->tokens[w->count] = token;
  w->count++;
}

static void put_text(writer *w, size_t text) {
  const rs_token_file *file = &w->s->texts[text];
  for (size_t i = 0; i < file->count; i++) put(w, (int32_t)rs_token_id(file, i));
}

static void put_filler(writer *w, size_t count) {
  const rs_token_file *file = &w->s->texts[FILLER];
  for (size_t i = 0; i < count; i++) put(w, (int32_t)rs_token_id(file, w->filler++ % file->count));
}

/* Returns where the key stands first. */
static size_t put_needle(writer *w) {
  const rs_token_file *file = &w->s->texts[NEEDLE];
  size_t told = 0;
  for (size_t i = 0; i < file->count; i++) {
    if (rs_token_id(file, i) != w->s->mark) {
      put(w, (int32_t)rs_token_id(file, i));
      continue;
    }
    if (told == 0) told = w->count;
    for (size_t k = 0; k < w->s->key_tokens; k++) put(w, w->key[k]);
  }
  return told;
}

static void put_answer(writer *w, size_t told, float depth) {
  for (size_t k = 0; k < w->s->key_tokens; k++) {
    size_t asked = w->count - 1;
    put(w, w->key[k]);
    w->example->targets[asked] = w->key[k];
    w->example->depths[asked] = depth;
    rs_example_seek(w->example, asked, told + k);
  }
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  writer w = {.s = s, .example = example, .length = length};
  for (size_t k = 0; k < s->key_tokens; k += s->symbol_tokens) {
    size_t symbol = rs_dice_below(&dice, s->symbol_count);
    for (size_t t = 0; t < s->symbol_tokens; t++) w.key[k + t] = s->symbols[symbol * s->symbol_tokens + t];
  }
  if (s->drawn_filler) w.filler = rs_dice_below(&dice, s->texts[FILLER].count);
  bool listed = split == RS_SPLIT_EVALUATION && s->depth_count > 0;
  double depth = listed ? s->depths[index % s->depth_count] : rs_dice_uniform(&dice);
  size_t fillers = length + 1 - fixed_tokens(s), before = (size_t)(depth * (double)fillers + 0.5);
  rs_example_blank(example, length);
  put_text(&w, INTRO);
  put_filler(&w, before);
  size_t told = put_needle(&w);
  put_filler(&w, fillers - before);
  put_text(&w, QUESTION);
  put_answer(&w, told, (float)depth);
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
    {RS_FIELD(params, depths), RS_WORDS(depth_words), .unit = "1", .min = 0, .max = 1, .fallback = "tenths",
     .summary =
         "share of the filler before the needle, the next one in each evaluation sequence; tenths: 0, 0.1, ... 1; any: "
         "drawn, as in training"},
};

const rs_task_kind rs_task_passkey = {
    .kind =
        {.name = "passkey",
         .summary = "a key told once in a long text and asked for at its end, from templates of ids",
         .reference =
             "passkey retrieval: Mohtashami and Jaggi, arXiv:2305.16300; Chen et al., arXiv:2306.15595, section 3.3",
         .version = 1,
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
