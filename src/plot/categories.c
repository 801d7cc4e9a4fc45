/* categories.c: the segments of a token layout by their names in the config, which manifest.json holds whole: a CSV
 * counts them. */
#include "categories.h"

#include <stdlib.h>
#include <string.h>

#define TIMES " \u00d7 "

/* {image: [24, 32]} as "image 24 × 32". A number of text tokens has a column of its own. */
static void write_segment(const rs_node *node, rs_text *out) {
  const rs_node *what = node != NULL && node->kind == RS_MAPPING && node->count > 0 ? &node->items[0] : NULL;
  rs_text_puts(out, what != NULL ? what->key : "text");
  if (what == NULL || what->kind != RS_SEQUENCE) return;
  for (size_t i = 0; i < what->count; i++)
    rs_text_printf(out, "%s%s", i == 0 ? " " : TIMES, what->items[i].text != NULL ? what->items[i].text : "?");
}

/* The list of the config; NULL: it has none, or is no config of ours. */
static const rs_node *find_tokens(const rs_tree *config) {
  const rs_node *tokens = config != NULL ? rs_node_get(&config->root, "tokens") : NULL;
  return tokens != NULL && tokens->kind == RS_SEQUENCE ? tokens : NULL;
}

rs_status rs_plot_categories_read(const rs_plot_data *data, size_t count, rs_plot_categories *categories, rs_err *err) {
  const rs_node *text = data->manifest != NULL ? rs_node_get(&data->manifest->root, "config") : NULL;
  rs_tree *config = NULL;
  if (text != NULL && text->kind == RS_SCALAR)
    (void)rs_yaml_read(text->text, strlen(text->text), "config", &config, NULL); /* names are all that would be lost */
  const rs_node *tokens = find_tokens(config);
  *categories = (rs_plot_categories){.names = rs_alloc(count, sizeof *categories->names, err)};
  rs_status status = categories->names != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    rs_text name = {0};
    write_segment(tokens != NULL && i < tokens->count ? &tokens->items[i] : NULL, &name);
    status = rs_text_check(&name, err);
    if (status == RS_OK) categories->names[categories->count++] = name.data;
  }
  rs_tree_free(config);
  return status;
}

void rs_plot_categories_clear(rs_plot_categories *categories) {
  for (size_t i = 0; i < categories->count; i++) free(categories->names[i]);
  free(categories->names);
  *categories = (rs_plot_categories){0};
}
