/* Sweeps, which are run into a folder of the caller's or into one that lasts as long as the call, what results folders
 * hold, read whole. */
#include "api.h"

#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct stored_file {
  char *name, *data; /* owned; a NUL follows the data */
  size_t length;
  ropescope_frame *frame; /* of a CSV file, owned; else NULL */
} stored_file;

struct ropescope_results {
  stored_file *files; /* (count,) by name */
  size_t count, capacity;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static rs_status read_file(const char *path, const char *name, stored_file *file, rs_err *err) {
  *file = (stored_file){.name = rs_strdup(name, err)};
  if (file->name == NULL) return RS_MEMORY;
  RS_TRY(rs_results_read(path, RS_LARGEST_TABLE, &file->data, &file->length, err));
  size_t length = strlen(name);
  bool csv = length > 4 && strcmp(name + length - 4, ".csv") == 0;
  return csv ? rs_api_frame_make(file->data, file->length, path, &file->frame, err) : RS_OK;
}

static rs_status add_file(ropescope_results *results, const char *directory, const char *name, rs_err *err) {
  struct stat info;
  if (name[0] == '.') return RS_OK;
  RS_FREED char *path = rs_path_join(directory, name, err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    status = RS_GROW(results->files, &results->capacity, results->count + 1, err);
    if (status == RS_OK) status = read_file(path, name, &results->files[results->count++], err);
  }
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
  return strcmp(((const stored_file *)a)->name, ((const stored_file *)b)->name);
}

static const stored_file *find_file(const ropescope_results *results, const char *name) {
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
  const stored_file *manifest = find_file(results, "manifest.json");
  RS_HELD(rs_tree) tree = NULL;
  rs_status status = RS_OK;
  if (manifest == NULL) return RS_OK;
  RS_TRY(rs_json_read(manifest->data, manifest->length, "manifest.json", &tree, err));
  const rs_node *files = rs_node_get(&tree->root, "files");
  for (size_t i = 0; i < results->count && status == RS_OK; i++) {
    const rs_node *columns = columns_of(files, results->files[i].name);
    if (columns == NULL) columns = columns_of(files, "summary.csv");
    if (results->files[i].frame != NULL) status = describe_file(results->files[i].frame, columns, err);
  }
  return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static rs_status results_read(const char *directory, ropescope_results **results, rs_err *err) {
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
  return rs_api_end(results_read(directory, results, &err), error, &err, NULL);
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

RS_API_AT(const char *, ropescope_results_name, results, results->count, results->files[index].name);

const char *ropescope_results_file(const ropescope_results *results, const char *name, size_t *length) {
  const stored_file *file = find_file(results, name);
  if (length != NULL) *length = file != NULL ? file->length : 0;
  return file != NULL ? file->data : NULL;
}

const ropescope_frame *ropescope_results_frame(const ropescope_results *results, const char *name) {
  const stored_file *file = find_file(results, name);
  return file != NULL ? file->frame : NULL;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* ---- what is told and asked meanwhile ---------------------------------------------------------------------------- */

static void tell(void *context, size_t done, size_t cells, double share) {
  const ropescope_run_options *options = context;
  if (options->progress != NULL) options->progress(options->context, done, cells, share);
}

static bool is_stopped(void *context) {
  const ropescope_run_options *options = context;
  return options->stop != NULL && options->stop(options->context) != 0;
}

static bool train_on(void *context, const rs_training_report *report) {
  (void)report;
  return !is_stopped(context);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static rs_status load(const rs_method_list *beside, const char *text, const char *name,
                      const ropescope_run_options *options, rs_experiment **experiment, rs_problems *problems,
                      rs_err *err) {
  const rs_config_edits edits = {.edits = options->edits, .count = options->edit_count, .beside = beside};
  if (text != NULL) return rs_config_read(text, name != NULL ? name : "config", edits, experiment, problems, err);
  return rs_config_load(name, edits, experiment, problems, err);
}

/* Another config's results are nobody's to replace. */
static rs_status check_folder(const rs_experiment *experiment, const char *directory, rs_err *err) {
  bool differs;
  RS_TRY(rs_folder_differs(experiment, directory, &differs, err));
  if (!differs) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "directory", "%s holds the results of another config", directory);
}

static rs_status run_into(const rs_experiment *experiment, const ropescope_run_options *options, const char *directory,
                          ropescope_results **results, rs_err *err) {
  ropescope_run_options asked = *options;
  const rs_training_watch training = {.step = train_on, .context = &asked};
  const rs_run_options run = {.directory = directory,
                              .progress = tell,
                              .stop = is_stopped,
                              .context = &asked,
                              .resume = true,
                              .forget = options->directory == NULL,
                              .checkpoints = options->checkpoints,
                              .training = &training};
  rs_run_summary summary;
  int threads = rs_api_threads_limit(options->threads);
  rs_status status = rs_run(experiment, &run, &summary, err);
  rs_api_threads_restore(threads);
  return status == RS_OK ? results_read(directory, results, err) : status;
}

static rs_status run(const rs_experiment *experiment, const ropescope_run_options *options, ropescope_results **results,
                     rs_err *err) {
  char *scratch;
  if (options->directory != NULL) {
    RS_TRY(check_folder(experiment, options->directory, err));
    return run_into(experiment, options, options->directory, results, err);
  }
  RS_TRY(rs_scratch_make(&scratch, err));
  rs_status status = run_into(experiment, options, scratch, results, err);
  rs_scratch_remove(scratch);
  return status;
}

ropescope_status ropescope_run(const ropescope_library *library, const char *text, const char *name,
                               const ropescope_run_options *options, ropescope_results **results,
                               ropescope_error **error) {
  const ropescope_run_options plain = {.size = sizeof plain};
  const rs_method_list beside = rs_api_methods(library);
  RS_HELD(rs_experiment) experiment = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  *results = NULL;
  if (options == NULL) options = &plain;
  rs_status status = rs_api_sized(options, sizeof *options, "ropescope_run_options", &err);
  if (status == RS_OK) status = load(&beside, text, name, options, &experiment, &problems, &err);
  if (status == RS_OK) status = run(experiment, options, results, &err);
  return rs_api_end(status, error, &err, &problems);
}

/* ---- files of pictures ------------------------------------------------------------------------------------------- */

rs_status rs_api_results_write(const ropescope_results *results, const char *directory, rs_err *err) {
  for (size_t i = 0; i < results->count; i++) {
    RS_FREED char *path = rs_path_join(directory, results->files[i].name, err);
    rs_status status =
        path != NULL ? rs_file_write(path, results->files[i].data, results->files[i].length, err) : RS_MEMORY;
    if (status != RS_OK) return status;
  }
  return RS_OK;
}
