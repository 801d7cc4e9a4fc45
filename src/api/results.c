/* Folders of results, read whole. */
#include "api.h"

#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static rs_status read_file(const char *path, const char *name, rs_api_file *file, rs_err *err) {
  *file = (rs_api_file){.name = rs_strdup(name, err)};
  if (file->name == NULL) return RS_MEMORY;
  RS_TRY(rs_results_read(path, RS_LARGEST_TABLE, &file->data, &file->length, err));
  size_t length = strlen(name);
  bool csv = length > 4 && strcmp(name + length - 4, ".csv") == 0;
  return csv ? rs_api_frame_make(file->data, file->length, path, &file->frame, err) : RS_OK;
}

static rs_status add_file(ropescope_results *results, const char *directory, const char *name, rs_err *err) {
  struct stat info;
  if (name[0] == '.') return RS_OK;
  char *path = rs_path_join(directory, name, err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    status = RS_GROW(results->files, &results->capacity, results->count + 1, err);
    if (status == RS_OK) status = read_file(path, name, &results->files[results->count++], err);
  }
  free(path);
  return status;
}

static rs_status add_files(ropescope_results *results, const char *directory, rs_err *err) {
  struct dirent **entries;
  rs_status status = RS_OK;
  int count = scandir(directory, &entries, NULL, NULL);
  if (count < 0) return rs_fail_read(err, "%s: %s", directory, strerror(errno));
  for (int i = 0; i < count; i++) {
    if (status == RS_OK) status = add_file(results, directory, entries[i]->d_name, err);
    free(entries[i]);
  }
  free(entries);
  return status;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const rs_api_file *)a)->name, ((const rs_api_file *)b)->name);
}

static const rs_api_file *find_file(const ropescope_results *results, const char *name) {
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->files[i].name, name) == 0) return &results->files[i];
  return NULL;
}

/* ---- what manifest.json says of columns -------------------------------------------------------------------------- */

static const char *word_of(const rs_node *node, const char *key) {
  const rs_node *child = rs_node_get(node, key);
  return child != NULL ? child->text : NULL;
}

static rs_status describe_file(ropescope_frame *frame, const rs_node *columns, rs_err *err) {
  for (size_t c = 0; columns != NULL && c < columns->count; c++) {
    const rs_node *node = &columns->items[c];
    const rs_api_column column = {.name = word_of(node, "name"),
                                  .unit = word_of(node, "unit"),
                                  .summary = word_of(node, "summary"),
                                  .integer = strcmp(rs_api_word(word_of(node, "type")), "integer") == 0};
    if (column.name != NULL) RS_TRY(rs_api_frame_describe(frame, &column, err));
  }
  return RS_OK;
}

/* The columns of a file as manifest.json lists them; NULL: it does not list the file. */
static const rs_node *columns_of(const rs_node *files, const char *name) {
  for (size_t i = 0; files != NULL && i < files->count; i++) {
    const char *file = word_of(&files->items[i], "file");
    if (file != NULL && strcmp(file, name) == 0) return rs_node_get(&files->items[i], "columns");
  }
  return NULL;
}

/* Columns of a file that is not listed (timings.csv) are what summary.csv's of the same name are. */
static rs_status describe(const ropescope_results *results, rs_err *err) {
  const rs_api_file *manifest = find_file(results, "manifest.json");
  rs_tree *tree = NULL;
  rs_status status = RS_OK;
  if (manifest == NULL) return RS_OK;
  RS_TRY(rs_json_read(manifest->data, manifest->length, "manifest.json", &tree, err));
  const rs_node *files = rs_node_get(&tree->root, "files");
  for (size_t i = 0; i < results->count && status == RS_OK; i++) {
    const rs_node *columns = columns_of(files, results->files[i].name);
    if (columns == NULL) columns = columns_of(files, "summary.csv");
    if (results->files[i].frame != NULL) status = describe_file(results->files[i].frame, columns, err);
  }
  rs_tree_free(tree);
  return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

rs_status rs_api_results_read(const char *directory, ropescope_results **results, rs_err *err) {
  *results = rs_alloc(1, sizeof **results, err);
  rs_status status = *results != NULL ? add_files(*results, directory, err) : RS_MEMORY;
  if (status == RS_OK && (*results)->count > 0)
    qsort((*results)->files, (*results)->count, sizeof *(*results)->files, by_name);
  if (status == RS_OK) status = describe(*results, err);
  if (status == RS_OK && find_file(*results, "summary.csv") == NULL)
    status = rs_fail(err, RS_INPUT, "%s holds no results: there is no summary.csv", directory);
  if (status == RS_OK) return RS_OK;
  ropescope_results_free(*results);
  *results = NULL;
  return status;
}

ropescope_status ropescope_results_open(const char *directory, ropescope_results **results, ropescope_error **error) {
  rs_err err = {0};
  return rs_api_end(rs_api_results_read(directory, results, &err), error, &err, NULL);
}

void ropescope_results_free(ropescope_results *results) {
  if (results == NULL) return;
  for (size_t i = 0; i < results->count; i++) {
    free(results->files[i].name);
    free(results->files[i].data);
    rs_api_frame_free(results->files[i].frame);
  }
  free(results->files);
  free(results);
}

const char *ropescope_results_name(const ropescope_results *results, size_t index) {
  return index < results->count ? results->files[index].name : NULL;
}

const char *ropescope_results_file(const ropescope_results *results, const char *name, size_t *length) {
  const rs_api_file *file = find_file(results, name);
  if (length != NULL) *length = file != NULL ? file->length : 0;
  return file != NULL ? file->data : NULL;
}

const ropescope_frame *ropescope_results_frame(const ropescope_results *results, const char *name) {
  const rs_api_file *file = find_file(results, name);
  return file != NULL ? file->frame : NULL;
}
