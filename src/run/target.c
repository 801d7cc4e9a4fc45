/* A run's folder: whether it may be written, and its set of files. */
#include "cell.h"
#include "ledger.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what stands in it ------------------------------------------------------------------------------------------- */

/* Whether the file begins as every CSV file of a run does: then it is a result, committed without its manifest. */
static bool is_result(const char *path) {
  static const char begins[] = "cell,";
  char head[sizeof begins - 1];
  FILE *file = fopen(path, "rb");
  bool result = file != NULL && fread(head, 1, sizeof head, file) == sizeof head;
  if (file != NULL) fclose(file);
  return result && memcmp(head, begins, sizeof head) == 0;
}

/* A folder without a manifest is not ours: what stands in it under our names is somebody's, unless it reads like ours.
 * A folder or device under our name cannot be replaced. */
rs_status rs_target_check(const rs_experiment *experiment, const char *directory, rs_err *err) {
  static const char *const always[] = {"summary.csv", "config.yaml", "timings.csv", "manifest.json"};
  bool ours = rs_folder_has(directory, "manifest.json");
  for (size_t i = 0; i < RS_COUNT(always) + experiment->metrics.count; i++) {
    char name[80], path[RS_PATH_CHARS];
    struct stat info;
    bool fixed = i < RS_COUNT(always);
    if (fixed) snprintf(name, sizeof name, "%s", always[i]);
    if (!fixed && !rs_curve_file(experiment, i - RS_COUNT(always), name)) continue;
    RS_TRY(rs_folder_path(directory, name, path, err));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
      return rs_fail(err, RS_IO, "%s: cannot write: not a regular file", path);
    if (!ours && access(path, F_OK) == 0 && !is_result(path))
      return rs_fail(err, RS_IO,
                     "%s/%s is there already, and no manifest.json says that a run made it (another --out, "
                     "or move it away)",
                     directory, name);
  }
  return RS_OK;
}

/* ---- its files --------------------------------------------------------------------------------------------------- */

/* All cells that are done into a new set of files, in their order. */
static rs_status fill_set(const rs_ledger *ledger, const char *directory, const char *shown, rs_run_summary *summary,
                          rs_err *err) {
  rs_output output;
  rs_status status = rs_output_begin(ledger->experiment, directory, shown, &output, err);
  output.cells = ledger->count;
  output.isa = ledger->isa;
  output.summary = summary;
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    rs_cell_state state;
    if (ledger->places[i] == 0) continue;
    status = rs_ledger_read(ledger, i, &state, err);
    if (status == RS_OK) status = rs_output_add(&output, i, &state, err);
    rs_cell_state_clear(ledger->experiment, &state);
  }
  if (status == RS_OK) status = rs_output_end(&output, err);
  rs_output_clear(&output);
  return status;
}

/* The set then takes the old one's place. */
rs_status rs_target_write(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                          rs_err *err) {
  rs_folder_change change;
  RS_TRY(rs_folder_change_begin(directory, rs_is_run_file, &change, err));
  rs_status status = fill_set(ledger, change.staged, directory, summary, err);
  /* results that are there are not given for such as lack cells */
  if (status == RS_OK && summary->starved > 0 && !partial && rs_folder_has(directory, "manifest.json"))
    status = rs_fail(err, RS_MEMORY,
                     "%zu cells ran out of memory, and the results in %s stay as they were (ropescope plan says what a "
                     "run takes; what is done is kept: the same command goes on, --partial writes it as it is)",
                     summary->starved, directory);
  if (status == RS_OK) status = rs_folder_change_commit(&change, err);
  rs_folder_change_clear(&change);
  return status;
}

/* ---- results of other configs ------------------------------------------------------------------------------------ */

/* The config of the folder as this version writes it out; one that cannot be read is another one. */
static rs_status read_back(const char *path, const rs_method_list *beside, rs_text *yaml, bool *read, rs_err *err) {
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err why = {0};
  rs_status status = rs_config_load(path, (rs_config_edits){.beside = beside}, &experiment, &problems, &why);
  *read = status == RS_OK;
  if (*read) rs_experiment_write(experiment, yaml);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : rs_text_check(yaml, err);
}

/* Both are compared as written out, so that a config of an older version, or one whose keys stand in another order, is
 * still the same. Without summary.csv there are no whole results. */
rs_status rs_folder_differs(const rs_experiment *experiment, const char *directory, bool *differs, rs_err *err) {
  rs_text mine = {0}, theirs = {0};
  char path[RS_PATH_CHARS];
  bool read = false;
  *differs = false;
  if (!rs_folder_has(directory, "summary.csv") || !rs_folder_has(directory, "config.yaml")) return RS_OK;
  RS_TRY(rs_folder_path(directory, "config.yaml", path, err));
  rs_experiment_write(experiment, &mine);
  rs_status status = rs_text_check(&mine, err);
  if (status == RS_OK) status = read_back(path, experiment->beside, &theirs, &read, err);
  if (status == RS_OK) *differs = !read || strcmp(rs_text_string(&mine), rs_text_string(&theirs)) != 0;
  rs_text_clear(&mine);
  rs_text_clear(&theirs);
  return status;
}
