/* What a checkpoint's own heads hold: queries and keys of one block, from its own pass over sequences of its task or
 * over a text, behind their norms and before rotation. Whoever runs the model gives them. */
#include <string.h>

#include "attention/sources.h"

static rs_status prepare(const rs_source_in *in, void *state, rs_err *err) {
  if (in->given == NULL) return rs_fail(err, RS_INPUT, "model: there is no checkpoint whose queries and keys it is");
  *(rs_given_rows *)state = *in->given;
  return RS_OK;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const rs_model_source *p = binding->fields;
  if (p->checkpoint.path != NULL && p->tokens == NULL)
    return rs_binding_fail(binding, offsetof(rs_model_source, tokens), err,
                           "must be given beside checkpoint: the ids of the text that it reads");
  if (p->checkpoint.path == NULL && p->tokens != NULL)
    return rs_binding_fail(binding, offsetof(rs_model_source, tokens), err,
                           "is what the source's own checkpoint reads (add checkpoint: FOLDER)");
  return RS_OK;
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const rs_given_rows *rows = in->state;
  for (size_t n = begin; n < end; n++)
    memcpy(out + (n - begin) * in->head_dim, rows->k + n * rows->k_step, in->head_dim * sizeof *out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  const rs_given_rows *rows = in->state;
  for (size_t d = 0; d < in->head_dim; d++) out[d] = rows->factor * rows->q[position * rows->q_step + d];
}

static rs_score_rule rule(const rs_source_in *in) {
  return ((const rs_given_rows *)in->state)->rule;
}

static size_t needle(const rs_source_in *in, size_t position, const double *q, double *key) {
  const rs_given_rows *rows = in->state;
  (void)q;
  (void)key;
  return rows->sought != NULL ? rows->sought[position] : RS_NO_NEEDLE;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* "queries and keys of layer 1 of SmolLM2-135M on ids.npy", "head 0" */
static void caption(const void *memory, size_t phrase, rs_text *out) {
  const rs_model_source *p = memory;
  if (phrase == 0) rs_text_printf(out, "queries and keys of layer %zu", p->layer);
  if (phrase == 0 && p->checkpoint.path != NULL)
    rs_text_printf(out, " of %s on %s", base_name(p->checkpoint.path), base_name(p->tokens));
  if (phrase == 1 && p->head.word == RS_NO_WORD) rs_text_printf(out, "head %zu", p->head.number);
}

static const char *const head_words[RS_MODEL_HEADS + 1] = {[RS_EVERY_HEAD] = "all", [RS_EACH_HEAD] = "each"};

static const char *const precision_words[] = {[RS_F64] = "f64", [RS_F32] = "f32", NULL};

static const rs_param specs[] = {
    {RS_FIELD(rs_model_source, layer), .unit = "1", .min = 0, .max = 1e6, .fallback = "0",
     .summary = "block whose queries and keys are read, from 0"},
    {RS_FIELD(rs_model_source, head), .unit = "1", RS_WORDS(head_words), .min = 0, .max = 1e6, .fallback = "all",
     .summary = "which head, from 0; all: their mean; each: every head in cells of its own"},
    {RS_FIELD(rs_model_source, checkpoint), .unit = "",
     .summary = "folder, or GGUF file, of a model of the source's own, which reads a text; else that of the config "
                "reads its task"},
    {RS_FIELD(rs_model_source, tokens), .unit = "",
     .summary = "that text: ids of tokens, as the task tokens takes them"},
    {RS_FIELD(rs_model_source, numbers), .unit = "", RS_WORDS(rs_id_words), .fallback = "auto",
     .summary = "what bare numbers are; auto: as a header of llm.c says, else uint16"},
    {RS_FIELD(rs_model_source, precision), .unit = "", RS_WORDS(precision_words), .fallback = "f32",
     .summary = "what that model computes in"},
};

const rs_source_kind rs_source_model = {
    .kind = {.name = "model",
             .summary = "the queries and keys of a checkpoint's own heads, on the sequences of its task or on a text",
             .reference = "whatever the checkpoint has learned",
             RS_KIND(specs, rs_model_source)},
    .check = check,
    .state_size = sizeof(rs_given_rows),
    .prepare = prepare,
    .keys = keys,
    .query = query,
    .needle = needle,
    .rule = rule,
    .needle_is_key = true,
    .of_model = true,
    .caption = caption,
};
