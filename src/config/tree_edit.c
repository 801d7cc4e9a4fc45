/* Changes of a config from the command line: "methods[1].factor=8". The value is YAML, so that a list makes an axis
 * there too; a key that is not there yet is added, an index must exist. */
#include "config_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static rs_status bad_edit(const char *edit, const char *why, rs_err *err) {
  return rs_fail(err, RS_INPUT, "--set %s: %s (like --set methods[1].factor=8)", edit, why);
}

/* A word in a list of methods stands for {name: word}: made so when a parameter is set on it. */
static rs_status word_to_mapping(rs_node *node, rs_err *err) {
  char *word = node->text;
  node->kind = RS_MAPPING;
  node->text = NULL;
  rs_node *name = rs_node_append(node, err);
  if (name == NULL) {
    free(word);
    return RS_MEMORY;
  }
  *name = (rs_node){.kind = RS_SCALAR, .text = word, .file = node->file, .line = node->line, .column = node->column};
  name->key = rs_strdup("name", err);
  return name->key != NULL ? RS_OK : RS_MEMORY;
}

/* The child called key[0..length), added when it is not there. */
static rs_status enter_key(rs_node **node, const char *key, size_t length, const char *edit, rs_err *err) {
  if (length == 0) return bad_edit(edit, "the path has an empty key", err);
  if ((*node)->kind == RS_SCALAR) RS_TRY(word_to_mapping(*node, err));
  if ((*node)->kind != RS_MAPPING) return bad_edit(edit, "the path names a key where there is a list", err);
  for (size_t i = 0; i < (*node)->count; i++)
    if (strlen((*node)->items[i].key) == length && strncmp((*node)->items[i].key, key, length) == 0) {
      *node = &(*node)->items[i];
      return RS_OK;
    }
  rs_node *added = rs_node_append(*node, err);
  if (added == NULL) return RS_MEMORY;
  *added = (rs_node){.kind = RS_MAPPING, .file = "--set", .line = 1, .column = 1, .key_line = 1, .key_column = 1};
  added->key = rs_alloc(length + 1, 1, err);
  if (added->key == NULL) return RS_MEMORY;
  memcpy(added->key, key, length);
  *node = added;
  return RS_OK;
}

static rs_status enter_index(rs_node **node, const char **at, const char *edit, rs_err *err) {
  char *end;
  unsigned long index = strtoul(*at + 1, &end, 10);
  if (!isdigit((unsigned char)(*at)[1]) || *end != ']') return bad_edit(edit, "an index is a number in brackets", err);
  if ((*node)->kind != RS_SEQUENCE) return bad_edit(edit, "the path has an index where there is no list", err);
  if (index >= (*node)->count)
    return rs_fail(err, RS_INPUT, "--set %s: the list has %zu entries, and indices start at 0", edit, (*node)->count);
  *node = &(*node)->items[index];
  *at = end + 1;
  return RS_OK;
}

/* Walks the path before '=' and returns what follows it in *value. */
static rs_status find_target(rs_node **node, const char *edit, const char **value, rs_err *err) {
  const char *at = edit;
  while (*at != '=') {
    if (*at == '[') {
      RS_TRY(enter_index(node, &at, edit, err));
    } else {
      if (*at == '.' && at > edit) at++;
      size_t length = strcspn(at, ".[=");
      if (at[length] == '\0') return bad_edit(edit, "has no '='", err);
      RS_TRY(enter_key(node, at, length, edit, err));
      at += length;
    }
    if (*at == '\0') return bad_edit(edit, "has no '='", err);
  }
  *value = at + 1;
  return at > edit ? RS_OK : bad_edit(edit, "has no key before '='", err);
}

/* Nodes of the value live in the config's tree; their file name must outlive the value's own. */
static void rename_file(rs_node *node) {
  node->file = "--set";
  for (size_t i = 0; i < node->count; i++) rename_file(&node->items[i]);
}

static rs_status replace(rs_node *target, const rs_node *value, rs_err *err) {
  rs_node copy = {0};
  RS_TRY(rs_node_copy(&copy, value, err));
  rename_file(&copy);
  copy.key = target->key;
  copy.key_line = target->key_line;
  copy.key_column = target->key_column;
  target->key = NULL;
  rs_node_clear(target);
  *target = copy;
  return RS_OK;
}

rs_status rs_tree_edit(rs_node *root, const char *edit, rs_err *err) {
  rs_node *target = root;
  const char *value = edit;
  rs_tree *tree = NULL;
  RS_TRY(find_target(&target, edit, &value, err));
  if (*value == '\0') return bad_edit(edit, "has no value", err);
  rs_err why = {0};
  rs_status status = rs_yaml_read(value, strlen(value), "value", &tree, &why);
  if (status != RS_OK) return rs_fail(err, status, "--set %s: %s", edit, why.message);
  status = replace(target, &tree->root, err);
  rs_tree_free(tree);
  return status;
}
