/* Keys of config.json, whatever its architecture calls them; null is as good as nothing. */
#include "architectures.h"
#include "hf_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- keys -------------------------------------------------------------------------------------------------------- */

bool rs_hf_present(const rs_node *node) {
  return node != NULL && !rs_node_is_null(node);
}

const char *rs_hf_word(const rs_node *node) {
  return rs_hf_present(node) && node->kind == RS_SCALAR ? node->text : "";
}

const char *rs_hf_class(const rs_node *top) {
  const rs_node *classes = rs_node_get(top, "architectures");
  return classes != NULL && classes->kind == RS_SEQUENCE && classes->count > 0 ? rs_hf_word(classes->items) : "";
}

/* DBRX's files have parts in dictionaries of their own: "ffn_config.moe_top_k". */
static const rs_node *get(const rs_node *mapping, const char *name) {
  const char *dot = strchr(name, '.');
  char outer[32];
  if (dot == NULL || (size_t)(dot - name) >= sizeof outer) return rs_node_get(mapping, name);
  snprintf(outer, sizeof outer, "%.*s", (int)(dot - name), name);
  return get(rs_node_get(mapping, outer), dot + 1);
}

const rs_node *rs_hf_first(const rs_node *mapping, const char *const *names) {
  for (; *names != NULL; names++)
    if (rs_hf_present(get(mapping, *names))) return get(mapping, *names);
  return NULL;
}

bool rs_hf_true(const rs_node *mapping, const char *key, bool fallback) {
  const rs_node *node = rs_node_get(mapping, key);
  return rs_hf_present(node) && node->kind == RS_SCALAR ? strcmp(node->text, "true") == 0 : fallback;
}

/* ---- sizes and flags --------------------------------------------------------------------------------------------- */

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

const char *rs_hf_named_type(const rs_node *top) {
  const rs_node *type = rs_node_get(rs_hf_text_config(top), "model_type");
  if (!rs_hf_present(type)) type = rs_node_get(top, "model_type");
  return rs_hf_word(type);
}
