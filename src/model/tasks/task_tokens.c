/* A text as ids of tokens, made by any tokenizer: what the models of others are read on. */
#include <string.h>

#include "model/tasks.h"

typedef struct params {
  const char *file;
  rs_id_format numbers;
  rs_count_or_word vocabulary;
  rs_window_params windows;
} params;

static const char *const vocabulary_words[] = {"largest", NULL};

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->file == NULL)
    return rs_binding_fail(binding, offsetof(params, file), err, "must be given: the ids of the tokens");
  return rs_windows_check(&p->windows, err);
}

/* The vocabulary is given, or ends with the largest id. */
static rs_status find_vocabulary(const params *p, rs_window_state *s, rs_err *err) {
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

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  rs_window_state *s = memory;
  if (p->file == NULL) return rs_fail_on(err, RS_INPUT, "file", "must be given: the ids of the tokens");
  RS_TRY(rs_token_file_read(p->file, p->numbers, &s->text, err));
  rs_status status = find_vocabulary(p, s, err);
  if (status == RS_OK) status = rs_windows_prepare(&p->windows, p->file, in->seed, s, err);
  if (status != RS_OK) rs_windows_release(s);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, file), .unit = "",
     .summary =
         "the ids: one row in a .npy file, or bare little-endian numbers (nanoGPT's; llm.c's with their header)"},
    {RS_FIELD(params, numbers), RS_WORDS(rs_id_words), .unit = "", .fallback = "auto",
     .summary = "what bare numbers are; auto: as a header of llm.c says, else uint16"},
    {RS_FIELD(params, vocabulary), RS_WORDS(vocabulary_words), .unit = "tokens", .min = 1, .max = RS_MOST_VOCABULARY,
     .fallback = "largest", .summary = "different tokens there are; largest: up to the largest id of the file"},
    RS_WINDOW_SPECS(params, windows, "1"),
};

const rs_task_kind rs_task_tokens = {
    .kind = {.name = "tokens",
             .summary = "the next token of a text, given as ids",
             .reference = "perplexity of sliding windows: arXiv:2309.00071, section 4.1",
             .version = 1,
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {"token"},
    .state_size = sizeof(rs_window_state),
    .prepare = prepare,
    .release = rs_windows_release,
    .shape = rs_windows_shape,
    .draw = rs_windows_draw,
    .chance = rs_windows_chance,
};
