/* categories.c: what a CSV counts, by name: the parts of a task, as manifest.json lists them, the segments of a token
 * layout, as they are in the config, which manifest.json holds whole, or things that have numbers alone. */
#include "data.h"

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

static rs_status add_name(rs_plot_categories *categories, rs_text *name, rs_err *err) {
  RS_TRY(rs_text_check(name, err));
  categories->names[categories->count++] = name->data;
  return RS_OK;
}

static rs_status name_segments(const rs_plot_data *data, size_t count, rs_plot_categories *categories, rs_err *err) {
  const rs_node *text = data->manifest != NULL ? rs_node_get(&data->manifest->root, "config") : NULL;
  rs_tree *config = NULL;
  rs_status status = RS_OK;
  if (text != NULL && text->kind == RS_SCALAR)
    (void)rs_yaml_read(text->text, strlen(text->text), "config", &config, NULL); /* names are all that would be lost */
  const rs_node *tokens = config != NULL ? rs_node_get(&config->root, "tokens") : NULL;
  if (tokens != NULL && tokens->kind != RS_SEQUENCE) tokens = NULL;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    rs_text name = {0};
    write_segment(tokens != NULL && i < tokens->count ? &tokens->items[i] : NULL, &name);
    status = add_name(categories, &name, err);
  }
  rs_tree_free(config);
  return status;
}

/* "first_value" as "first value". */
static rs_status name_parts(const rs_node *parts, size_t count, rs_plot_categories *categories, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    const char *part = i < parts->count && parts->items[i].kind == RS_SCALAR ? parts->items[i].text : "?";
    rs_text name = {0};
    rs_text_puts(&name, part);
    for (size_t c = 0; c < name.length; c++)
      if (name.data[c] == '_') name.data[c] = ' ';
    status = add_name(categories, &name, err);
  }
  return status;
}

/* "head 0", "head 1" */
static rs_status number(const char *what, size_t count, rs_plot_categories *categories, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    rs_text name = {0};
    rs_text_printf(&name, "%s %zu", what, i);
    status = add_name(categories, &name, err);
  }
  return status;
}

rs_status rs_plot_categories_read(const rs_plot_data *data, const char *what, size_t count,
                                  rs_plot_categories *categories, rs_err *err) {
  const rs_node *task = data->manifest != NULL ? rs_node_get(&data->manifest->root, "task") : NULL;
  const rs_node *parts = task != NULL ? rs_node_get(task, "parts") : NULL;
  bool named = parts != NULL && parts->kind == RS_SEQUENCE && strcmp(what, "part") == 0;
  *categories = (rs_plot_categories){.names = rs_alloc(count, sizeof *categories->names, err)};
  if (categories->names == NULL) return RS_MEMORY;
  if (named) return name_parts(parts, count, categories, err);
  return strcmp(what, "segment") == 0 ? name_segments(data, count, categories, err)
                                      : number(what, count, categories, err);
}

void rs_plot_categories_clear(rs_plot_categories *categories) {
  for (size_t i = 0; i < categories->count; i++) free(categories->names[i]);
  free(categories->names);
  *categories = (rs_plot_categories){0};
}
