/* Sizes and flags of a checkpoint's config.json, whatever its architecture calls them. */
#include "architectures.h"

#include <string.h>

static const double most_size = 1 << 24;

void rs_hf_missing(rs_hf_file *file, const char *key) {
  rs_problem(&file->problems, file->root, "%s is missing: a %s needs it", key, file->row->entry.model_type);
}

/* A number that is listed once for each layer (Hunyuan), or the node itself. */
static const rs_node *of_all_layers(const rs_node *node) {
  if (node->kind != RS_SEQUENCE || node->count == 0) return node;
  for (size_t i = 0; i < node->count; i++)
    if (node->items[i].kind != RS_SCALAR || strcmp(node->items[i].text, node->items[0].text) != 0) return node;
  return &node->items[0];
}

size_t rs_hf_count(rs_hf_file *file, const char *const *keys, double least, size_t fallback) {
  const rs_node *node = rs_hf_first(file->root, keys);
  if (node == NULL) return fallback;
  return rs_read_count(&file->problems, of_all_layers(node), least, most_size, fallback);
}

size_t rs_hf_needed(rs_hf_file *file, const char *const *keys) {
  size_t before = file->problems.count, count = rs_hf_count(file, keys, 1, 0);
  if (count == 0 && file->problems.count == before) rs_hf_missing(file, keys[0]);
  return count;
}

double rs_hf_real(rs_hf_file *file, const char *const *keys, double least, double fallback) {
  const rs_node *node = rs_hf_first(file->root, keys);
  if (node == NULL) return fallback;
  return rs_read_real(&file->problems, node, least, 1e30, fallback);
}

bool rs_hf_says(const rs_hf_file *file, rs_hf_flag flag) {
  return flag.key != NULL ? rs_hf_true(file->root, flag.key, flag.fallback) : flag.fallback;
}

rs_status rs_hf_refuse(const rs_hf_file *file, const char *key, rs_err *err) {
  return rs_fail(err, RS_UNSUPPORTED, "%s: %s: changes what a %s computes in a way that is not offered here",
                 file->root->file, key, file->row->entry.model_type);
}

static bool has_heads(const rs_node *mapping) {
  static const char *const keys[] = {"num_attention_heads", "n_head", "n_heads", "num_heads", "hidden_size", NULL};
  return rs_hf_first(mapping, keys) != NULL;
}

const rs_node *rs_hf_text_config(const rs_node *root) {
  static const char *const names[] = {"text_config", "language_config", "llm_config", "decoder_config",
                                      "thinker_config"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    const rs_node *inner = rs_node_get(root, names[i]);
    bool there = inner != NULL && inner->kind == RS_MAPPING && (i == 0 || !has_heads(root));
    if (there) return i == 0 ? inner : rs_hf_text_config(inner);
  }
  return root;
}

bool rs_hf_is_params(const rs_node *top) {
  static const char *const keys[] = {"dim", "n_layers", "n_heads"};
  for (size_t i = 0; i < RS_COUNT(keys); i++)
    if (!rs_hf_present(rs_node_get(top, keys[i]))) return false;
  return !rs_hf_present(rs_node_get(top, "model_type"));
}

const char *rs_hf_model_type(const rs_node *top) {
  const rs_node *type = rs_node_get(rs_hf_text_config(top), "model_type");
  if (!rs_hf_present(type)) type = rs_node_get(top, "model_type");
  return rs_hf_word(type);
}
