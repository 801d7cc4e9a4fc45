/* manifest.c: which files a folder of results holds and what their columns mean, from its manifest.json. A role or an
 * axis that is not known is an error: a chart that guesses could mix what must be kept apart. */
#include "data.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_LIMIT = 64 << 20 }; /* bytes; a real one has some tens of kB */

static const char *const role_names[] = {"key", "index", "value", "error", "status"};

/* The text of the child `key`; `fallback` when there is none, RS_INPUT when that is NULL. */
static rs_status read_text(const rs_node *node, const char *where, const char *key, const char *fallback,
                           const char **text, rs_err *err) {
  const rs_node *child = rs_node_get(node, key);
  *text = fallback;
  if (child == NULL && fallback != NULL) return RS_OK;
  if (child == NULL) return rs_fail(err, RS_INPUT, "%s: \"%s\" is missing", where, key);
  if (child->kind != RS_SCALAR || !child->quoted)
    return rs_fail(err, RS_INPUT, "%s: \"%s\" must be a string", where, key);
  *text = child->text;
  return RS_OK;
}

static rs_status read_role(const char *word, const char *where, rs_plot_role *role, rs_err *err) {
  for (size_t i = 0; i < RS_COUNT(role_names); i++) {
    *role = (rs_plot_role)i;
    if (strcmp(word, role_names[i]) == 0) return RS_OK;
  }
  return rs_fail(err, RS_INPUT, "%s: role \"%s\" is not one of key, index, value, error, status", where, word);
}

static rs_status read_part(const char *word, const char *where, rs_plot_part *part, rs_err *err) {
  static const char *const words[RS_PLOT_PARTS] = {"",        "x",        "y",     "panel", "mark", "bin_end",
                                                   "samples", "category", "strip", "mass",  "low",  "high"};
  for (size_t i = 0; i < RS_PLOT_PARTS; i++) {
    if (strcmp(word, words[i]) != 0) continue;
    *part = (rs_plot_part)i;
    return RS_OK;
  }
  return rs_fail(err, RS_INPUT,
                 "%s: map \"%s\" is not one of x, y, panel, mark, bin_end, samples, category, strip, mass, low, high",
                 where, word);
}

static rs_status read_column(const rs_node *node, const char *where, rs_plot_column *column, rs_err *err) {
  const char *role, *axis, *part, *reads;
  RS_TRY(read_text(node, where, "name", NULL, &column->name, err));
  RS_TRY(read_text(node, where, "role", NULL, &role, err));
  RS_TRY(read_text(node, where, "unit", "", &column->unit, err));
  RS_TRY(read_text(node, where, "summary", "", &column->summary, err));
  RS_TRY(read_text(node, where, "axis", "linear", &axis, err));
  RS_TRY(read_text(node, where, "map", "", &part, err));
  RS_TRY(read_text(node, where, "reads", "", &reads, err));
  RS_TRY(read_role(role, where, &column->role, err));
  RS_TRY(read_part(part, where, &column->part, err));
  column->log = strcmp(axis, "log") == 0;
  column->sourced = strcmp(reads, "source") == 0;
  if (!column->log && strcmp(axis, "linear") != 0)
    return rs_fail(err, RS_INPUT, "%s: axis \"%s\" is not one of linear, log", where, axis);
  column->tasked = strcmp(reads, "task") == 0;
  if (!column->sourced && !column->tasked && *reads != '\0')
    return rs_fail(err, RS_INPUT, "%s: reads \"%s\" is not one of source, task", where, reads);
  return RS_OK;
}

/* The child `key` of `node`, which must be a list. */
static rs_status read_list(const rs_node *node, const char *where, const char *key, const rs_node **list, rs_err *err) {
  *list = rs_node_get(node, key);
  if (*list == NULL) return rs_fail(err, RS_INPUT, "%s: \"%s\" is missing", where, key);
  if ((*list)->kind != RS_SEQUENCE) return rs_fail(err, RS_INPUT, "%s: \"%s\" must be a list", where, key);
  return RS_OK;
}

static rs_status read_file(const rs_node *node, const char *directory, const char *where, rs_plot_file *file,
                           rs_err *err) {
  const rs_node *columns;
  RS_TRY(read_text(node, where, "file", NULL, &file->name, err));
  RS_TRY(read_list(node, where, "columns", &columns, err));
  file->path = rs_path_join(directory, file->name, err);
  file->columns = rs_alloc(columns->count, sizeof *file->columns, err);
  if (file->path == NULL || file->columns == NULL) return RS_MEMORY;
  for (size_t i = 0; i < columns->count; i++) {
    char place[512];
    snprintf(place, sizeof place, "%s.columns[%zu] (of %s)", where, i, file->name);
    RS_TRY(read_column(&columns->items[i], place, &file->columns[i], err));
    file->count = i + 1;
  }
  return RS_OK;
}

static rs_status check_phrases(const rs_node *entry, const char *where, rs_err *err) {
  const rs_node *phrases;
  RS_TRY(read_list(entry, where, "caption", &phrases, err));
  for (size_t p = 0; p < phrases->count; p++)
    if (phrases->items[p].kind != RS_SCALAR || !phrases->items[p].quoted)
      return rs_fail(err, RS_INPUT, "%s: \"caption\" must be a list of strings", where);
  return RS_OK;
}

/* The list `key` of what has a name, a caption and, where it is not NULL, the text `besides`. Results of older programs
 * have no such list. */
static rs_status read_captions(const rs_node *root, const char *path, const char *key, const char *besides,
                               const rs_node **list, rs_err *err) {
  if (rs_node_get(root, key) == NULL) return RS_OK;
  RS_TRY(read_list(root, path, key, list, err));
  for (size_t i = 0; i < (*list)->count; i++) {
    const rs_node *entry = &(*list)->items[i];
    const char *text;
    char place[400];
    snprintf(place, sizeof place, "%s: %s[%zu]", path, key, i);
    RS_TRY(read_text(entry, place, "name", NULL, &text, err));
    if (besides != NULL) RS_TRY(read_text(entry, place, besides, NULL, &text, err));
    RS_TRY(check_phrases(entry, place, err));
  }
  return RS_OK;
}

static rs_status read_manifest(const rs_node *root, const char *directory, const char *path, rs_plot_data *data,
                               rs_err *err) {
  const rs_node *files;
  RS_TRY(read_text(root, path, "name", "", &data->name, err));
  RS_TRY(read_text(root, path, "config_sha256", "", &data->config, err));
  RS_TRY(read_captions(root, path, "sources", "kind", &data->captions, err));
  RS_TRY(read_captions(root, path, "checkpoints", NULL, &data->checkpoints, err));
  if (rs_node_get(root, "task") != NULL)
    RS_TRY(read_text(rs_node_get(root, "task"), path, "name", "", &data->task, err));
  RS_TRY(read_list(root, path, "files", &files, err));
  data->files = rs_alloc(files->count, sizeof *data->files, err);
  if (data->files == NULL) return RS_MEMORY;
  for (size_t i = 0; i < files->count; i++) {
    char place[400];
    snprintf(place, sizeof place, "%s: files[%zu]", path, i);
    data->count = i + 1; /* so that a failure half way is released too */
    RS_TRY(read_file(&files->items[i], directory, place, &data->files[i], err));
  }
  return RS_OK;
}

static rs_status read_incomplete(const char *directory, rs_plot_data *data, rs_err *err) {
  rs_text words = {0};
  rs_status status = rs_results_incomplete(directory, &words, err);
  snprintf(data->incomplete, sizeof data->incomplete, "%s", rs_text_string(&words));
  rs_text_clear(&words);
  return status;
}

rs_status rs_plot_manifest_read(const char *directory, rs_plot_data *data, rs_err *err) {
  char *text = NULL, *path = rs_path_join(directory, "manifest.json", err);
  size_t length = 0;
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = rs_file_read(path, MANIFEST_LIMIT, &text, &length, err);
  if (status == RS_OK) status = rs_json_read(text, length, path, &data->manifest, err);
  if (status == RS_OK) status = read_manifest(&data->manifest->root, directory, path, data, err);
  if (status == RS_OK) status = read_incomplete(directory, data, err);
  free(text);
  free(path);
  return status;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

/* A number that is none must show before there is a picture, not between two. */
static rs_status check_numbers(const rs_plot_file *file, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    rs_arena memory = {0};
    double *numbers;
    rs_plot_role role = file->columns[i].role;
    if (role != RS_PLOT_KEY && role != RS_PLOT_STATUS)
      status = rs_plot_numbers(file, &file->columns[i], &memory, &numbers, err);
    rs_arena_clear(&memory);
  }
  return status;
}

rs_status rs_plot_folder_read(const char *directory, rs_plot_data *data, rs_plot_style **styles, rs_plot_report *report,
                              rs_err *err) {
  *styles = NULL;
  RS_TRY(rs_plot_manifest_read(directory, data, err));
  for (size_t i = 0; i < data->count; i++) {
    if (!rs_plot_file_drawn(&data->files[i])) continue;
    RS_TRY(rs_plot_cells_read(data, &data->files[i], report, err));
    RS_TRY(check_numbers(&data->files[i], err));
  }
  RS_TRY(rs_plot_methods_sort(data, err));
  *styles = rs_alloc(data->methods.count, sizeof **styles, err);
  if (*styles == NULL) return RS_MEMORY;
  rs_plot_methods_style(&data->methods, *styles);
  return RS_OK;
}
