/* data_folder.c: a folder of results: its manifest.json says which files there are and what their columns mean. A role
 * or an axis that is not known is an error: a chart that guesses could mix what must be kept apart. */
#include "data.h"

#include "io/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data -------------------------------------------------------------------------------------------------------- */

void rs_plot_data_clear(rs_plot_data *data) {
  for (size_t i = 0; i < data->count; i++) {
    free(data->files[i].path);
    free(data->files[i].cells);
    rs_table_free(data->files[i].table);
  }
  rs_arena_clear(&data->memory);
  rs_tree_free(data->manifest);
  for (size_t k = 0; k < RS_PLOT_NAMED; k++) rs_plot_names_clear(&data->names[k]);
  *data = (rs_plot_data){0};
}

const rs_plot_column *rs_plot_column_of(const rs_plot_file *file, rs_plot_role role, size_t skip) {
  for (size_t i = 0; i < file->count; i++)
    if (file->columns[i].role == role && skip-- == 0) return &file->columns[i];
  return NULL;
}

const rs_plot_column *rs_plot_part_of(const rs_plot_file *file, rs_plot_part part) {
  for (size_t i = 0; i < file->count; i++)
    if (file->columns[i].part == part && (file->columns[i].role == RS_PLOT_INDEX || part == RS_PLOT_SHARE))
      return &file->columns[i];
  return NULL;
}

const rs_plot_column *rs_plot_column_named(const rs_plot_file *file, const char *before, const char *name,
                                           const char *after) {
  size_t lead = strlen(before), length = strlen(name);
  for (size_t i = 0; i < file->count; i++) {
    const char *here = file->columns[i].name;
    if (strncmp(here, before, lead) == 0 && strncmp(here + lead, name, length) == 0 &&
        strcmp(here + lead + length, after) == 0)
      return &file->columns[i];
  }
  return NULL;
}

const char *rs_plot_field(const rs_plot_file *file, size_t row, const rs_plot_column *column) {
  return file->table->fields[row * file->table->columns + column->place];
}

const rs_plot_column *rs_plot_x_of(const rs_plot_file *file) {
  const rs_plot_column *column = NULL;
  for (size_t i = 0; (column = rs_plot_column_of(file, RS_PLOT_INDEX, i)) != NULL; i++)
    if (column->part != RS_PLOT_MAP_PANEL) break;
  return column;
}

bool rs_plot_file_drawn(const rs_plot_file *file) {
  bool summary = strcmp(file->name, "summary.csv") == 0;
  return (summary || rs_plot_column_of(file, RS_PLOT_INDEX, 0) != NULL) &&
         rs_plot_column_of(file, RS_PLOT_VALUE, 0) != NULL;
}

bool rs_plot_column_drawn(const rs_plot_column *column) {
  return column->role == RS_PLOT_VALUE && column->part != RS_PLOT_LOW && column->part != RS_PLOT_HIGH &&
         column->part != RS_PLOT_SHARE;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A folder has tens of names, so a walk finds them. */
rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err) {
  for (*index = 0; *index < names->count; ++*index)
    if (strcmp(names->items[*index], name) == 0) return RS_OK;
  RS_TRY(RS_GROW(names->items, &names->capacity, names->count + 1, err));
  names->items[names->count] = rs_strdup(name, err);
  if (names->items[names->count] == NULL) return RS_MEMORY;
  names->count++;
  return RS_OK;
}

void rs_plot_names_clear(rs_plot_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
  *names = (rs_plot_names){0};
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static rs_status add_line(char ***lines, size_t *count, size_t *capacity, const char *text, rs_err *err) {
  RS_TRY(RS_GROW(*lines, capacity, *count + 1, err));
  (*lines)[*count] = rs_strdup(text, err);
  if ((*lines)[*count] == NULL) return RS_MEMORY;
  ++*count;
  return RS_OK;
}

rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) {
  char note[1024];
  va_list words;
  va_start(words, format);
  vsnprintf(note, sizeof note, format, words);
  va_end(words);
  return add_line(&report->notes, &report->note_count, &report->note_capacity, note, err);
}

void rs_plot_report_clear(rs_plot_report *report) {
  for (size_t i = 0; i < report->count; i++) free(report->files[i]);
  for (size_t i = 0; i < report->note_count; i++) free(report->notes[i]);
  free(report->files);
  free(report->notes);
  *report = (rs_plot_report){0};
}

rs_status rs_plot_report_add(rs_plot_report *report, const char *path, rs_err *err) {
  return add_line(&report->files, &report->count, &report->capacity, path, err);
}

/* ---- manifest ---------------------------------------------------------------------------------------------------- */

enum { MANIFEST_LIMIT = 64 << 20 }; /* bytes; a real one has some tens of kB */

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

/* The number of the word `key` among `words` (count). */
static rs_status read_word(const rs_node *node, const char *where, const char *key, const char *fallback,
                           const char *const *words, size_t count, size_t *number, rs_err *err) {
  const char *word;
  rs_text list = {0};
  RS_TRY(read_text(node, where, key, fallback, &word, err));
  for (*number = 0; *number < count; ++*number)
    if (strcmp(word, words[*number]) == 0) return RS_OK;
  for (size_t i = 0; i < count; i++)
    if (*words[i] != '\0') rs_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", words[i]);
  (void)rs_fail(err, RS_INPUT, "%s: %s \"%s\" is not one of %s", where, key, word, rs_text_string(&list));
  rs_text_clear(&list);
  return RS_INPUT;
}

static rs_status read_column(const rs_node *node, const char *where, rs_plot_column *column, rs_err *err) {
  static const char *const roles[] = {"key", "index", "value", "error", "status"};
  static const char *const parts[RS_PLOT_PARTS] = {"",        "x",       "y",        "panel", "mark",
                                                   "bin_end", "samples", "category", "strip", "mass",
                                                   "low",     "high",    "seen",     "share", "one"};
  static const char *const axes[] = {"linear", "log"}, *const readings[] = {"", "source", "task"};
  static const char *const sides[] = {"lower", "", "higher"};
  size_t role, part, axis, reads, side;
  RS_TRY(read_text(node, where, "name", NULL, &column->name, err));
  RS_TRY(read_text(node, where, "unit", "", &column->unit, err));
  RS_TRY(read_text(node, where, "summary", "", &column->summary, err));
  RS_TRY(read_word(node, where, "role", NULL, roles, RS_COUNT(roles), &role, err));
  RS_TRY(read_word(node, where, "map", "", parts, RS_COUNT(parts), &part, err));
  RS_TRY(read_word(node, where, "axis", "linear", axes, RS_COUNT(axes), &axis, err));
  RS_TRY(read_word(node, where, "reads", "", readings, RS_COUNT(readings), &reads, err));
  RS_TRY(read_word(node, where, "better", "", sides, RS_COUNT(sides), &side, err));
  column->role = (rs_plot_role)role;
  column->part = (rs_plot_part)part;
  column->log = axis == 1;
  column->sourced = reads == 1;
  column->tasked = reads == 2;
  column->better = (int)side - 1;
  return RS_OK;
}

/* The child `key` of `node`, which must be a list. */
static rs_status read_list(const rs_node *node, const char *where, const char *key, const rs_node **list, rs_err *err) {
  *list = rs_node_get(node, key);
  if (*list == NULL) return rs_fail(err, RS_INPUT, "%s: \"%s\" is missing", where, key);
  if ((*list)->kind != RS_SEQUENCE) return rs_fail(err, RS_INPUT, "%s: \"%s\" must be a list", where, key);
  return RS_OK;
}

/* In a summary the values NAME_low and NAME_high are the ends of NAME's interval, whether or not a map says so. */
static void find_ends(rs_plot_file *file) {
  for (size_t i = 0; i < file->count && strcmp(file->name, "summary.csv") == 0; i++) {
    const char *name = file->columns[i].name, *unit = file->columns[i].unit;
    const rs_plot_column *ends[] = {rs_plot_column_named(file, "", name, "_low"),
                                    rs_plot_column_named(file, "", name, "_high")};
    bool both = file->columns[i].role == RS_PLOT_VALUE;
    for (size_t k = 0; k < 2 && both; k++)
      both = ends[k] != NULL && ends[k]->role == RS_PLOT_VALUE && strcmp(ends[k]->unit, unit) == 0;
    for (size_t k = 0; k < 2 && both; k++)
      file->columns[ends[k] - file->columns].part = k == 0 ? RS_PLOT_LOW : RS_PLOT_HIGH;
  }
}

static rs_status read_file(const rs_node *node, const char *directory, const char *where, rs_arena *memory,
                           rs_plot_file *file, rs_err *err) {
  const rs_node *columns;
  RS_TRY(read_text(node, where, "file", NULL, &file->name, err));
  RS_TRY(read_list(node, where, "columns", &columns, err));
  file->path = rs_path_join(directory, file->name, err);
  file->columns = rs_arena_take(memory, columns->count, sizeof *file->columns);
  if (file->path == NULL) return RS_MEMORY;
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < columns->count; i++) {
    char place[512];
    snprintf(place, sizeof place, "%s.columns[%zu] (of %s)", where, i, file->name);
    RS_TRY(read_column(&columns->items[i], place, &file->columns[i], err));
    file->count = i + 1;
  }
  find_ends(file);
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
  data->files = rs_arena_take(&data->memory, files->count, sizeof *data->files);
  RS_TRY(rs_arena_check(&data->memory, err));
  for (size_t i = 0; i < files->count; i++) {
    char place[400];
    snprintf(place, sizeof place, "%s: files[%zu]", path, i);
    data->count = i + 1; /* so that a failure half way is released too */
    RS_TRY(read_file(&files->items[i], directory, place, &data->memory, &data->files[i], err));
  }
  return RS_OK;
}

rs_status rs_plot_manifest_read(const char *directory, rs_plot_data *data, rs_err *err) {
  char *text = NULL, *path = rs_path_join(directory, "manifest.json", err);
  rs_text incomplete = {0};
  size_t length = 0;
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = rs_file_read(path, MANIFEST_LIMIT, &text, &length, err);
  if (status == RS_OK) status = rs_json_read(text, length, path, &data->manifest, err);
  if (status == RS_OK) status = read_manifest(&data->manifest->root, directory, path, data, err);
  if (status == RS_OK) status = rs_results_incomplete(directory, &incomplete, err);
  data->incomplete = rs_plot_keep(&data->memory, &incomplete);
  if (status == RS_OK) status = rs_arena_check(&data->memory, err);
  free(text);
  free(path);
  return status;
}
