/* Keys of Hugging Face's config.json, where null is as good as nothing. */
#include "hf_internal.h"

#include <stdio.h>
#include <string.h>

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
