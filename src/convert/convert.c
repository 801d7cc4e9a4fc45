/* Who can be written for, and the conversion as a whole. */
#include "written.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  rs_consumer consumer;
  rs_writer *write;
} consumers[] = {
    {{"hf4", "config.json of transformers 4: rope_theta and rope_scaling", "transformers 4.57"}, rs_to_hf4},
    {{"hf5", "config.json of transformers 5: rope_parameters, by type of layers where they differ",
      "transformers decba1d2ea4e"},
     rs_to_hf5},
    {{"vllm", "vllm serve --hf-overrides and --max-model-len", "vllm 239b5ff30cf4"}, rs_to_vllm},
    {{"sglang", "sglang --json-model-override-args and --context-length", "sglang 108c36c00829"}, rs_to_sglang},
    {{"llamacpp", "options of llama.cpp's programs, --rope-scaling and the like",
      "llama.cpp 00dc8057ab28, tools/server/README.md"},
     rs_to_llamacpp},
    {{"gguf-metadata", "keys and tensors of a GGUF file", "llama.cpp ef035f779276, gguf-py/gguf/constants.py"},
     rs_to_gguf},
    {{"megatron", "arguments of Megatron-LM's training",
      "Megatron-LM d98e8a64ddf3, training/arguments.py and argument_utils.py"},
     rs_to_megatron},
    {{"mlx", "config.json as mlx-lm reads it", "mlx-lm d78bf58e217c, models/rope_utils.py"}, rs_to_mlx},
};

const rs_consumer *rs_consumers(size_t index) {
  return index < RS_COUNT(consumers) ? &consumers[index].consumer : NULL;
}

static rs_status find_writer(const char *name, rs_writer **writer, rs_err *err) {
  const char *names[RS_COUNT(consumers)];
  rs_text all = {0};
  for (size_t i = 0; i < RS_COUNT(consumers); i++) {
    names[i] = consumers[i].consumer.name;
    *writer = consumers[i].write;
    if (strcmp(names[i], name) == 0) return RS_OK;
  }
  const char *near = rs_suggest(name, names, RS_COUNT(names));
  if (near != NULL) return rs_fail(err, RS_INPUT, "no consumer %.40s (did you mean %s?)", name, near);
  for (size_t i = 0; i < RS_COUNT(names); i++) rs_text_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
  rs_status status = rs_text_check(&all, err);
  if (status == RS_OK) status = rs_fail(err, RS_INPUT, "no consumer %.40s (there are: %s)", name, rs_text_string(&all));
  rs_text_clear(&all);
  return status;
}

static void clear_words(rs_words *words) {
  for (size_t i = 0; i < words->count; i++) free(words->items[i]);
  free(words->items);
  *words = (rs_words){0};
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

rs_status rs_convert(const rs_convertible *model, const char *to, size_t length, rs_conversion *out, rs_err *err) {
  rs_writer *writer;
  rs_converting c = {.from = model, .out = out};
  *out = (rs_conversion){0};
  RS_TRY(find_writer(to, &writer, err));
  RS_TRY(rs_settle(&model->profile.kinds[model->kind], length, &c.settled, err));
  if (model->profile.doubt != NULL) rs_note(&c, "%s", model->profile.doubt);
  rs_status status = writer(&c, err);
  if (status == RS_OK) rs_note_other_keys(&c);
  if (status == RS_OK && model->replaced) note_shared(&c);
  if (status == RS_OK && c.failed) status = rs_fail(err, RS_MEMORY, "out of memory while converting");
  rs_text_clear(&c.text);
  rs_settled_clear(&c.settled);
  if (status != RS_OK) rs_conversion_clear(out);
  return status;
}
