/* A conversion as it is printed. */
#include "cli.h"

#include <string.h>

static void put_node(rs_json *json, const char *key, const rs_node *node) {
  double number;
  if (node->kind == RS_MAPPING)
    rs_json_object(json, key);
  else if (node->kind == RS_SEQUENCE)
    rs_json_list(json, key);
  else if (node->quoted)
    rs_json_string(json, key, node->text);
  else if (strcmp(node->text, "null") == 0)
    rs_json_string(json, key, NULL);
  else if (rs_number_read(node->text, &number))
    rs_json_number(json, key, number);
  else
    rs_json_bool(json, key, strcmp(node->text, "true") == 0);
  if (node->kind == RS_SCALAR) return;
  for (size_t i = 0; i < node->count; i++) put_node(json, node->items[i].key, &node->items[i]);
  rs_json_end(json);
}

static void put_list(rs_json *json, const char *key, const rs_words *words) {
  rs_json_array(json, key);
  for (size_t i = 0; i < words->count; i++) rs_json_string(json, NULL, words->items[i]);
  rs_json_end(json);
}

rs_status cli_json_conversion(rs_json *json, const char *key, const char *to, const rs_conversion *conversion,
                              rs_err *err) {
  rs_tree *tree = NULL;
  if (conversion->fragment != NULL)
    RS_TRY(rs_json_read(conversion->fragment, strlen(conversion->fragment), "fragment", &tree, err));
  rs_json_object(json, key);
  rs_json_string(json, "to", to);
  for (size_t i = 0; rs_consumers(i) != NULL; i++)
    if (strcmp(rs_consumers(i)->name, to) == 0) rs_json_string(json, "reference", rs_consumers(i)->reference);
  if (tree != NULL)
    put_node(json, "fragment", &tree->root);
  else
    put_list(json, "arguments", &conversion->arguments);
  put_list(json, "notes", &conversion->notes);
  rs_json_end(json);
  rs_tree_free(tree);
  return RS_OK;
}

void cli_put_conversion(const rs_conversion *conversion, rs_text *text) {
  if (conversion->fragment != NULL) rs_text_puts(text, conversion->fragment);
  for (size_t i = 0; i < conversion->arguments.count; i++) {
    rs_text_puts(text, i > 0 ? " " : "");
    rs_text_shell(text, conversion->arguments.items[i]);
  }
  if (conversion->fragment == NULL) rs_text_puts(text, "\n");
}
