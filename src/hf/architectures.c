/* Finding the row of an architecture. */
#include "architectures.h"

#include <ctype.h>
#include <string.h>

/* Masks, frequencies and sinusoids that older releases stored. */
const char *const rs_ignored_buffers[] = {
    ".attn.bias", ".attn.masked_bias", ".attention.bias",         ".attention.masked_bias",
    ".inv_freq",  ".attn.causal_mask", "embed_positions.weights", NULL};

static const rs_architecture *const lists[] = {rs_decoders, rs_further_decoders, rs_mixtures, rs_encoders};

const rs_architecture *rs_architecture_at(size_t index) {
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const rs_architecture *row = lists[i]; row->entry.model_type != NULL; row++)
      if (index-- == 0) return row;
  return NULL;
}

/* The row of a model_type, or NULL. */
static const rs_architecture *find_architecture(const char *model_type) {
  const rs_architecture *row;
  for (size_t i = 0; (row = rs_architecture_at(i)) != NULL; i++)
    if (strcmp(row->entry.model_type, model_type) == 0 || (row->also != NULL && strcmp(row->also, model_type) == 0))
      return row;
  return NULL;
}

const rs_architecture_entry *rs_architectures(size_t index) {
  const rs_architecture *row = rs_architecture_at(index);
  return row != NULL ? &row->entry : NULL;
}

/* ---- recognition ------------------------------------------------------------------------------------------------- */

/* The model_type that a file's class, as "MistralForCausalLM", is called after, where it is known here. */
static const char *type_of_class(const rs_node *root) {
  const char *name = rs_hf_class(root);
  const rs_architecture_entry *entry;
  for (size_t i = 0; (entry = rs_architectures(i)) != NULL; i++) {
    const char *type = entry->model_type;
    size_t read = 0;
    for (; *type != '\0'; type++)
      if (*type != '_' && tolower((unsigned char)name[read++]) != *type) break;
    if (*type == '\0' && strncmp(name + read, "For", 3) == 0) return entry->model_type;
  }
  return NULL;
}

/* Whether a file has what a Llama's has. */
static bool resembles_llama(const rs_node *root) {
  static const char *const keys[] = {"hidden_size",         "intermediate_size", "num_hidden_layers",
                                     "num_attention_heads", "rms_norm_eps",      "vocab_size"};
  for (size_t i = 0; i < RS_COUNT(keys); i++)
    if (!rs_hf_present(rs_node_get(root, keys[i]))) return false;
  return true;
}

static rs_status unknown(const rs_hf_file *file, const char *type, rs_err *err) {
  const char *names[256], *class = type_of_class(file->top);
  size_t count = 0;
  for (const rs_architecture_entry *entry; count < RS_COUNT(names) && (entry = rs_architectures(count)) != NULL;)
    names[count++] = entry->model_type;
  const char *near = rs_suggest(type, names, count), *text = file->root->file;
  if (class == NULL && near == NULL && resembles_llama(file->root))
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: model_type: %s is no architecture that is known here; its keys are those of a Llama: where its "
                   "code is Llama's, too, \"model_type\": \"llama\" reads it",
                   text, type);
  if (class == NULL && near == NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: model_type: %s is no architecture that is known here (ropescope list architectures shows them)",
                   text, type);
  return rs_fail(err, RS_UNSUPPORTED, "%s: model_type: %s is no architecture that is known here (did you mean %s?)",
                 text, type, class != NULL ? class : near);
}

rs_status rs_hf_find_row(rs_hf_file *file, rs_err *err) {
  const char *type = rs_hf_named_type(file->top);
  if (*type == '\0')
    return rs_fail(err, RS_INPUT, "%s: model_type is missing: it says which architecture this is", file->top->file);
  file->row = find_architecture(type);
  return file->row != NULL ? RS_OK : unknown(file, type, err);
}
