/* tree.c: the nodes that YAML and JSON are read into, and the few helpers both readers share. Walking down is
 * recursive: the readers allow RS_TREE_MAX_DEPTH levels. */
#include <stdlib.h>
#include <string.h>

#include "io_internal.h"

rs_tree *rs_tree_create(const char *name, rs_err *err) {
  rs_tree *tree = rs_alloc(1, sizeof *tree, err);
  if (!tree) return NULL;
  tree->file = rs_strdup(name, err);
  if (!tree->file) {
    free(tree);
    return NULL;
  }
  tree->root.file = tree->file;
  return tree;
}

void rs_tree_free(rs_tree *tree) {
  if (!tree) return;
  rs_node_clear(&tree->root);
  free(tree->file);
  free(tree);
}

const rs_node *rs_node_get(const rs_node *node, const char *key) {
  if (!node || node->kind != RS_MAPPING) return NULL;
  for (size_t i = 0; i < node->count; i++) {
    if (node->items[i].key && strcmp(node->items[i].key, key) == 0) return &node->items[i];
  }
  return NULL;
}

bool rs_node_is_null(const rs_node *node) {
  return node != NULL && node->kind == RS_SCALAR && !node->quoted && strcmp(node->text, "null") == 0;
}

static rs_status copy_string(char **to, const char *from, rs_err *err) {
  if (!from) return RS_OK;
  *to = rs_strdup(from, err);
  return *to ? RS_OK : RS_MEMORY;
}

static rs_status copy_items(rs_node *to, const rs_node *from, rs_err *err) {
  if (from->count == 0) return RS_OK;
  to->items = rs_alloc(from->count, sizeof *to->items, err);
  if (!to->items) return RS_MEMORY;
  to->capacity = from->count;
  /* `count` grows with the copies, so that clearing a copy that failed half way touches only what is there. */
  while (to->count < from->count) {
    RS_TRY(rs_node_copy(&to->items[to->count], &from->items[to->count], err));
    to->count++;
  }
  return RS_OK;
}

rs_status rs_node_copy(rs_node *to, const rs_node *from, rs_err *err) {
  *to = *from;
  to->text = to->key = NULL;
  to->items = NULL;
  to->count = to->capacity = 0;
  rs_status status = copy_string(&to->text, from->text, err);
  if (status == RS_OK) status = copy_string(&to->key, from->key, err);
  if (status == RS_OK) status = copy_items(to, from, err);
  if (status != RS_OK) rs_node_clear(to);
  return status;
}

void rs_node_clear(rs_node *node) {
  for (size_t i = 0; i < node->count; i++) rs_node_clear(&node->items[i]);
  free(node->items);
  free(node->text);
  free(node->key);
  *node = (rs_node){0};
}

void rs_node_adopt(rs_node *root) {
  for (size_t i = 0; i < root->count; i++) {
    root->items[i].parent = root;
    rs_node_adopt(&root->items[i]);
  }
}

rs_node *rs_node_append(rs_node *node, rs_err *err) {
  if (node->kind == RS_SCALAR) {
    (void)rs_fail(err, RS_INTERNAL, "an item was appended to a scalar");
    return NULL;
  }
  if (RS_GROW(node->items, &node->capacity, node->count + 1, err) != RS_OK) return NULL;
  rs_node *child = &node->items[node->count++];
  *child = (rs_node){.file = node->file};
  return child;
}

void rs_io_skip_bom(const char **text, size_t *length) {
  if (*length < 3 || memcmp(*text, "\xEF\xBB\xBF", 3) != 0) return;
  *text += 3;
  *length -= 3;
}

void rs_io_position(const char *text, size_t offset, size_t *line, size_t *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n') {
      ++*line;
      *column = 1;
    } else if (((unsigned char)text[i] & 0xC0) != 0x80) { /* not the continuation of a UTF-8 character */
      ++*column;
    }
  }
}
