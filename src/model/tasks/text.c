/* Texts that tasks read: ids of tokens in two parts, to train on and to evaluate. */
#include "model/tasks.h"

#include <stdlib.h>
#include <string.h>

const char *const rs_vocabulary_words[RS_VOCABULARY_WORDS + 1] = {[RS_VOCABULARY_LARGEST] = "largest"};

size_t rs_task_text_vocabulary(const rs_count_or_word *said, bool bytes) {
  enum { BYTES = 256 };
  if (said->word == RS_NO_WORD) return said->number;
  return bytes ? BYTES : RS_NO_COUNT;
}

/* Ids end with a vocabulary that is known, or with the largest. */
static rs_status find_vocabulary(const rs_task_text_in *in, rs_task_text *text, rs_err *err) {
  size_t largest = 0;
  for (size_t i = 1; i < text->ids.count; i++)
    if (rs_token_id(&text->ids, i) > rs_token_id(&text->ids, largest)) largest = i;
  size_t needed = (size_t)rs_token_id(&text->ids, largest) + 1;
  if (in->vocabulary != RS_NO_COUNT && needed > in->vocabulary)
    return rs_fail_on(err, RS_INPUT, "file", "%s: token %zu (from 0) is %zu, the vocabulary has %zu", in->path, largest,
                      needed - 1, in->vocabulary);
  if (needed > RS_MOST_VOCABULARY)
    return rs_fail_on(err, RS_INPUT, "file", "%s: token %zu (from 0) is %zu; ids end at %d (is `numbers` right?)",
                      in->path, largest, needed - 1, RS_MOST_VOCABULARY - 1);
  text->largest = largest;
  text->vocabulary = in->vocabulary != RS_NO_COUNT ? in->vocabulary : needed;
  if (in->vocabulary != RS_NO_COUNT) return RS_OK;
  const char *slash = strrchr(in->path, '/');
  text->file = rs_strdup(slash != NULL ? slash + 1 : in->path, err);
  return text->file != NULL ? RS_OK : RS_MEMORY;
}

rs_status rs_task_text_read(const rs_task_text_in *in, rs_task_text *text, rs_err *err) {
  *text = (rs_task_text){0};
  RS_TRY(rs_token_file_read(in->path, in->numbers, &text->ids, err));
  text->trained = (size_t)((1 - in->share) * (double)text->ids.count);
  text->held_out = text->ids.count - text->trained;
  RS_TRY(find_vocabulary(in, text, err));
  if ((in->share < 1 && text->trained < in->least) || text->held_out < in->least)
    return rs_fail_on(err, RS_INPUT, "file", "%s: %zu tokens to train on and %zu held out: each must be %zu or more",
                      in->path, text->trained, text->held_out, in->least);
  return RS_OK;
}

void rs_task_text_clear(rs_task_text *text) {
  rs_token_file_clear(&text->ids);
  free(text->file);
  *text = (rs_task_text){0};
}

rs_status rs_task_text_chance(const rs_task_text *text, bool trained, double *chance, rs_err *err) {
  bool known = trained && text->trained > 0;
  size_t begin = known ? 0 : text->trained, end = known ? text->trained : text->ids.count, commonest = 0, hits = 0;
  size_t *counts = rs_alloc(text->vocabulary, sizeof *counts, err);
  if (counts == NULL) return RS_MEMORY;
  for (size_t i = begin; i < end; i++) counts[rs_token_id(&text->ids, i)]++;
  for (size_t i = 1; i < text->vocabulary; i++)
    if (counts[i] > counts[commonest]) commonest = i;
  free(counts);
  for (size_t i = text->trained; i < text->ids.count; i++) hits += rs_token_id(&text->ids, i) == commonest;
  *chance = (double)hits / (double)text->held_out;
  return RS_OK;
}
