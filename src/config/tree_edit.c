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

/* The child called key[0..length), added when it is not there; `edit` stands in messages. */
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

static rs_status enter_index(rs_node **node, const char **cursor, const char *edit, rs_err *err) {
  char *end;
  unsigned long index = strtoul(*cursor + 1, &end, 10);
  if (!isdigit((unsigned char)(*cursor)[1]) || *end != ']')
    return bad_edit(edit, "an index is a number in brackets", err);
  if ((*node)->kind != RS_SEQUENCE) return bad_edit(edit, "the path has an index where there is no list", err);
  if (index >= (*node)->count)
    return rs_fail(err, RS_INPUT, "--set %s: the list has %zu entries, and indices start at 0", edit, (*node)->count);
  *node = &(*node)->items[index];
  *cursor = end + 1;
  return RS_OK;
}

/* Walks the path before '=' and returns what follows it in *value. */
static rs_status find_target(rs_node **node, const char *edit, const char **value, rs_err *err) {
  const char *cursor = edit;
  while (*cursor != '=') {
    if (*cursor == '[') {
      RS_TRY(enter_index(node, &cursor, edit, err));
    } else {
      if (*cursor == '.' && cursor > edit) cursor++;
      size_t length = strcspn(cursor, ".[=");
      if (cursor[length] == '\0') return bad_edit(edit, "has no '='", err);
      RS_TRY(enter_key(node, cursor, length, edit, err));
      cursor += length;
    }
    if (*cursor == '\0') return bad_edit(edit, "has no '='", err);
  }
  *value = cursor + 1;
  return cursor > edit ? RS_OK : bad_edit(edit, "has no key before '='", err);
}

/* Nodes of the value live in the config's tree; their file name must outlive the value's own. */
static void rename_file(rs_node *node, const char *file) {
  node->file = file;
  for (size_t i = 0; i < node->count; i++) rename_file(&node->items[i], file);
}

static rs_status replace(rs_node *target, const rs_node *value, const char *file, rs_err *err) {
  rs_node copy = {0};
  RS_TRY(rs_node_copy(&copy, value, err));
  rename_file(&copy, file);
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
  status = replace(target, &tree->root, "--set", err);
  rs_tree_free(tree);
  return status;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* One number of the list, still text, without the blanks around it. */
static rs_status add_length(rs_node *lengths, const char *begin, size_t size, rs_err *err) {
  while (size > 0 && *begin == ' ') begin++, size--;
  while (size > 0 && begin[size - 1] == ' ') size--;
  rs_node *item = rs_node_append(lengths, err);
  if (item == NULL) return RS_MEMORY;
  *item = (rs_node){.kind = RS_SCALAR, .file = lengths->file, .text = rs_alloc(size + 1, 1, err)};
  if (item->text == NULL) return RS_MEMORY;
  memcpy(item->text, begin, size);
  return RS_OK;
}

rs_status rs_tree_lengths(rs_node *root, const char *list, rs_err *err) {
  rs_node lengths = {.kind = RS_SEQUENCE, .file = "--lengths"}, *target = root;
  if (root->kind != RS_MAPPING) return RS_OK; /* no config, which its check tells */
  rs_status status = RS_OK;
  for (const char *item = list; *item != '\0' && status == RS_OK;) {
    size_t size = strcspn(item, ",");
    status = add_length(&lengths, item, size, err);
    item += size + (item[size] == ',');
  }
  if (status == RS_OK) status = enter_key(&target, "lengths", strlen("lengths"), list, err);
  if (status == RS_OK) status = replace(target, &lengths, lengths.file, err);
  rs_node_clear(&lengths);
  return status;
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

rs_status rs_tree_methods(rs_node *root, const char *list, rs_err *err) {
  rs_node *target = root;
  rs_tree *tree = NULL;
  rs_err why = {0};
  rs_text text = {0};
  if (root->kind != RS_MAPPING) return RS_OK; /* no config, which its check tells */
  rs_text_printf(&text, list[strspn(list, " ")] == '[' ? "%s" : "[%s]", list);
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK && rs_yaml_read(rs_text_string(&text), text.length, "value", &tree, &why) != RS_OK)
    status = rs_fail(err, why.status, "--methods %s: %s", list, why.message);
  if (status == RS_OK) status = enter_key(&target, "methods", strlen("methods"), list, err);
  if (status == RS_OK) status = replace(target, &tree->root, "--methods", err);
  rs_tree_free(tree);
  rs_text_clear(&text);
  return status;
}
