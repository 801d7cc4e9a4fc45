/* Who can be written for, and the conversion as a whole. */
#include "written.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  rs_consumer consumer;
  rs_writer *write;
  const char *past; /* what it does at lengths past the published one; NULL: nothing of its own */
} consumers[] = {
    {{"hf4", "config.json of transformers 4: rope_theta and rope_scaling", "transformers 4.57"}, rs_to_hf4, NULL},
    {{"hf5", "config.json of transformers 5: rope_parameters, by type of layers where they differ",
      "transformers decba1d2ea4e"},
     rs_to_hf5,
     NULL},
    {{"vllm", "vllm serve --hf-overrides and --max-model-len", "vllm 239b5ff30cf4"},
     rs_to_vllm,
     "vLLM refuses a --max-model-len past max_position_embeddings, unless VLLM_ALLOW_LONG_MAX_MODEL_LEN=1."},
    {{"sglang", "sglang --json-model-override-args and --context-length", "sglang 108c36c00829"},
     rs_to_sglang,
     "SGLang refuses a --context-length past max_position_embeddings, unless "
     "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1."},
    {{"llamacpp", "options of llama.cpp's programs, --rope-scaling and the like",
      "llama.cpp 00dc8057ab28, tools/server/README.md"},
     rs_to_llamacpp,
     "llama.cpp's server caps a slot at the trained length, context_length of the GGUF, whatever -c says "
     "(ggml-org/llama.cpp#17459)."},
    {{"gguf-metadata", "keys and tensors of a GGUF file", "llama.cpp ef035f779276, gguf-py/gguf/constants.py"},
     rs_to_gguf,
     NULL},
    {{"megatron", "arguments of Megatron-LM's training",
      "Megatron-LM d98e8a64ddf3, training/arguments.py and argument_utils.py"},
     rs_to_megatron,
     NULL},
    {{"mlx", "config.json as mlx-lm reads it", "mlx-lm d78bf58e217c, models/rope_utils.py"}, rs_to_mlx, NULL},
};

const rs_consumer *rs_consumers(size_t index) {
  return index < RS_COUNT(consumers) ? &consumers[index].consumer : NULL;
}

static rs_status find_consumer(const char *name, size_t *index, rs_err *err) {
  rs_nearest nearest = {.word = name};
  char all[256] = "";
  for (*index = 0; *index < RS_COUNT(consumers); ++*index) {
    const char *known = consumers[*index].consumer.name;
    if (strcmp(known, name) == 0) return RS_OK;
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", known);
    rs_nearest_add(&nearest, known);
  }
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL) return rs_fail(err, RS_INPUT, "no consumer %s (did you mean %s?)", name, near);
  return rs_fail(err, RS_INPUT, "no consumer %s (there are: %s)", name, all);
}

static void clear_words(rs_words *words) {
  for (size_t i = 0; i < words->count; i++) free(words->items[i]);
  free(words->items);
}

void rs_conversion_clear(rs_conversion *conversion) {
  free(conversion->fragment);
  clear_words(&conversion->arguments);
  clear_words(&conversion->notes);
  *conversion = (rs_conversion){0};
}

/* Layers of other kinds that the file has the same recipe for, as those with a window. */
static void note_shared(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  for (size_t k = 0; k < profile->kind_count; k++)
    if (k != c->from->kind && profile->kinds[k].attends && rs_layers_turn_alike(&profile->kinds[k], c->settled.kind))
      rs_note(c, "Layers %s get this recipe, too: the file has one for both.", profile->kinds[k].name);
}

/* Whether the model's own config.json is read, with these keys in it. */
static bool reads_file(const rs_converting *c, size_t consumer) {
  rs_writer *write = consumers[consumer].write;
  bool reader = write == rs_to_hf4 || write == rs_to_hf5 || write == rs_to_mlx;
  return reader && c->from->config != NULL && !rs_hf_was_gguf(&c->from->config->root);
}

/* Keys that do not bring the recipe back, as where a consumer has one for all layers and the model two. One base in
 * the place of one that grows has its own note. */
static void note_read_back(rs_converting *c, size_t consumer) {
  const rs_settled *s = &c->settled;
  size_t kind;
  bool grows = strcmp(s->recipe.method->name, "ntk") == 0 && isnan(s->factor);
  if (!reads_file(c, consumer) || s->type == NULL || grows || c->unsaid || c->err.status != RS_OK) return;
  if (rs_reads_back(c, c->out->fragment, &kind)) return;
  rs_note(c,
          "Read back from the file, layers %s do not turn as they should: keys for %s cannot say it beside the rest.",
          c->from->profile.kinds[kind].name, consumers[consumer].consumer.name);
}

/* A context longer than what the model is published for, which flags and keys alone do not serve. */
static void note_past(rs_converting *c, size_t consumer) {
  const rs_settled *s = &c->settled;
  size_t longest = s->model->max_length;
  double trained = rs_recipe_train_length(&s->recipe, s->model);
  if (c->from->replaced && consumers[consumer].write == rs_to_llamacpp) rs_note(c, "%s", consumers[consumer].past);
  if (longest == 0 || s->length <= longest) return;
  if (s->spectrum.pairs == 0 || c->from->kept)
    rs_note(c, "%zu tokens are past the %zu that the model is published for.", s->length, longest);
  else
    rs_note(c,
            "%zu tokens are past the %zu that the model is published for, and no recipe for them is written here: "
            "ropescope solve setting --to %zu --for %s, with the model as --hf or --model, ranks what serves them and "
            "writes it (YaRN would have factor %.6g over %g).",
            s->length, longest, s->length, consumers[consumer].consumer.name, (double)s->length / trained, trained);
  if (consumers[consumer].past != NULL) rs_note(c, "%s", consumers[consumer].past);
}

rs_status rs_convert(const rs_convertible *model, const char *to, size_t length, rs_conversion *out, rs_err *err) {
  size_t consumer;
  rs_converting c = {.from = model, .out = out};
  *out = (rs_conversion){0};
  RS_TRY(find_consumer(to, &consumer, err));
  RS_TRY(rs_settle(&model->profile.kinds[model->kind], length, &c.settled, err));
  if (model->profile.doubt != NULL) rs_note(&c, "%s", model->profile.doubt);
  bool kept = model->kept && reads_file(&c, consumer);
  (kept ? rs_to_kept : consumers[consumer].write)(&c);
  if (!kept) note_read_back(&c, consumer);
  if (!kept) note_past(&c, consumer);
  if (!kept) rs_note_other_keys(&c);
  if (model->replaced) note_shared(&c);
  rs_text_clear(&c.text);
  rs_settled_clear(&c.settled);
  if (c.err.status == RS_OK) return RS_OK;
  rs_conversion_clear(out);
  return rs_fail(err, c.err.status, "%s", c.err.message);
}
