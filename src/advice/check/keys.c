/* Numbers and words of a config.json as it is written. */
#include "rules.h"

#include <math.h>
#include <string.h>

const rs_node *rs_key(const rs_node *mapping, const char *key) {
  const rs_node *node = rs_node_get(mapping, key);
  bool null = node != NULL && node->kind == RS_SCALAR && !node->quoted && strcmp(node->text, "null") == 0;
  return null ? NULL : node;
}

double rs_node_number(const rs_node *node) {
  double number;
  bool scalar = node != NULL && node->kind == RS_SCALAR && !node->quoted;
  return scalar && rs_number_read(node->text, &number) ? number : NAN;
}

double rs_key_number(const rs_node *mapping, const char *key) {
  return rs_node_number(rs_key(mapping, key));
}

const char *rs_key_word(const rs_node *mapping, const char *key) {
  const rs_node *node = rs_key(mapping, key);
  return node != NULL && node->kind == RS_SCALAR ? node->text : NULL;
}

rs_path rs_key_path(const rs_rope_entry *rope, const char *key) {
  rs_path above = rs_path_key(NULL, rope->path);
  return rs_path_key(&above, key);
}

const rs_node *rs_maximum_of(const rs_checked *checked) {
  static const char *const names[] = {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length",
                                      "model_max_length"};
  for (size_t i = 0; i < RS_COUNT(names); i++)
    if (rs_key(checked->root, names[i]) != NULL) return rs_key(checked->root, names[i]);
  return NULL;
}

const rs_node *rs_original_of(const rs_checked *checked, const rs_rope_entry *rope) {
  const rs_node *outer = rs_key(checked->root, "original_max_position_embeddings");
  return outer != NULL ? outer : rs_key(rope->node, "original_max_position_embeddings");
}

double rs_trained_of(const rs_checked *checked, const rs_rope_entry *rope) {
  double original = rs_node_number(rs_original_of(checked, rope));
  return isnan(original) ? rs_node_number(rs_maximum_of(checked)) : original;
}

double rs_factor_of(const rs_checked *checked, const rs_rope_entry *rope) {
  double factor = rs_key_number(rope->node, "factor");
  return isnan(factor) ? rs_node_number(rs_maximum_of(checked)) / rs_trained_of(checked, rope) : factor;
}
