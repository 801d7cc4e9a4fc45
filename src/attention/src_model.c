/* What a checkpoint's own heads hold: queries and keys of one block, from its own pass over sequences of its task,
 * behind their norms and before rotation. Whoever runs the model gives them. */
#include "sources.h"

static rs_status prepare(const rs_source_in *in, void *state, rs_err *err) {
  if (in->given == NULL) return rs_fail(err, RS_INPUT, "model: there is no checkpoint whose queries and keys it is");
  *(rs_given_rows *)state = *in->given;
  return RS_OK;
}

/* "queries and keys of layer 1", "head 0" */
static void caption(const void *memory, size_t phrase, rs_text *out) {
  const rs_model_source *p = memory;
  if (phrase == 0) rs_text_printf(out, "queries and keys of layer %zu", p->layer);
  if (phrase == 1 && p->head.word == RS_NO_WORD) rs_text_printf(out, "head %zu", p->head.number);
}

static const char *const head_words[RS_MODEL_HEADS + 1] = {[RS_EVERY_HEAD] = "all", [RS_EACH_HEAD] = "each"};

static const rs_param specs[] = {
    {RS_FIELD(rs_model_source, layer), .unit = "1", .min = 0, .max = 1e6, .fallback = "0",
     .summary = "block whose queries and keys are read, from 0"},
    {RS_FIELD(rs_model_source, head), .unit = "1", RS_WORDS(head_words), .min = 0, .max = 1e6, .fallback = "all",
     .summary = "which head, from 0; all: their mean; each: every head in cells of its own"},
};

const rs_source_kind rs_source_model = {
    .kind = {.name = "model",
             .summary = "the queries and keys of a checkpoint's own heads, on the sequences of its task",
             .reference = "whatever the checkpoint has learned",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(rs_model_source)},
    .state_size = sizeof(rs_given_rows),
    .prepare = prepare,
    .keys = rs_given_keys,
    .query = rs_given_query,
    .needle = rs_given_needle,
    .needle_is_key = true,
    .of_model = true,
    .caption = caption,
};
