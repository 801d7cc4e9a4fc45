/* categories.c: what a CSV counts, by name: the parts of a task, as manifest.json lists them, the segments of a token
 * layout, as they are in the config, which manifest.json holds whole, or things that have numbers alone. */
#include "data.h"

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

/* Segments of the config; names are all that is lost where it has none, or is no config of ours. */
static rs_tree *read_config(const rs_plot_data *data) {
  const rs_node *text = data->manifest != NULL ? rs_node_get(&data->manifest->root, "config") : NULL;
  rs_tree *config = NULL;
  if (text != NULL && text->kind == RS_SCALAR)
    (void)rs_yaml_read(text->text, strlen(text->text), "config", &config, NULL);
  return config;
}

/* "first_value" as "first value". */
static void write_part(const rs_node *part, rs_text *out) {
  rs_text_puts(out, part != NULL && part->kind == RS_SCALAR ? part->text : "?");
  for (size_t c = 0; c < out->length; c++)
    if (out->data[c] == '_') out->data[c] = ' ';
}

rs_status rs_plot_categories_read(const rs_plot_data *data, const char *what, size_t count, rs_arena *memory,
                                  rs_plot_categories *categories, rs_err *err) {
  bool segments = strcmp(what, "segment") == 0;
  const rs_node *task = data->manifest != NULL ? rs_node_get(&data->manifest->root, "task") : NULL;
  const rs_node *list = task != NULL && strcmp(what, "part") == 0 ? rs_node_get(task, "parts") : NULL;
  rs_tree *config = segments ? read_config(data) : NULL;
  rs_status status = RS_OK;
  if (config != NULL) list = rs_node_get(&config->root, "tokens");
  if (list != NULL && list->kind != RS_SEQUENCE) list = NULL;
  *categories = (rs_plot_categories){.names = rs_arena_take(memory, count, sizeof *categories->names)};
  for (size_t i = 0; i < count && !memory->failed && status == RS_OK; i++) {
    const rs_node *item = list != NULL && i < list->count ? &list->items[i] : NULL;
    rs_text name = {0};
    if (segments)
      write_segment(item, &name);
    else if (list != NULL)
      write_part(item, &name);
    else
      rs_text_printf(&name, "%s %zu", what, i); /* "head 0", "head 1" */
    status = rs_text_check(&name, err);
    categories->names[categories->count++] = rs_arena_text(memory, rs_text_string(&name));
    rs_text_clear(&name);
  }
  rs_tree_free(config);
  return status == RS_OK ? rs_arena_check(memory, err) : status;
}
