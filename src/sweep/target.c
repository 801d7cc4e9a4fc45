/* A run's folder: whether it may be written, and its set of files. */
#include "ledger.h"

#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what stands in it ------------------------------------------------------------------------------------------- */

static bool is_there(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  bool there = path != NULL && access(path, F_OK) == 0;
  free(path);
  return there;
}

/* Whether the file begins as every CSV file of a run does: then it is a result, committed without its manifest. */
static bool is_result(const char *directory, const char *name, rs_err *err) {
  static const char begins[] = "cell,";
  char head[sizeof begins - 1], *path = rs_path_join(directory, name, err);
  FILE *file = path != NULL ? fopen(path, "rb") : NULL;
  bool result = file != NULL && fread(head, 1, sizeof head, file) == sizeof head;
  if (file != NULL) fclose(file);
  free(path);
  return result && memcmp(head, begins, sizeof head) == 0;
}

/* A folder or device under our name cannot be replaced. */
static bool is_writable(const char *directory, const char *name, rs_err *err) {
  struct stat info;
  char *path = rs_path_join(directory, name, err);
  bool writable = path != NULL && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
  if (path != NULL && !writable) (void)rs_fail(err, RS_IO, "%s: cannot write: not a regular file", path);
  free(path);
  return writable;
}

/* A folder without a manifest is not ours: what stands in it under our names is somebody's, unless it reads like ours.
 */
rs_status rs_target_check(const rs_experiment *experiment, const char *directory, rs_err *err) {
  static const char *const always[] = {"summary.csv", "config.yaml", "timings.csv", "manifest.json"};
  rs_err why = {0};
  bool ours = is_there(directory, "manifest.json", &why);
  for (size_t i = 0; i < RS_COUNT(always) + experiment->metrics.count && why.status == RS_OK; i++) {
    char name[80];
    bool fixed = i < RS_COUNT(always);
    if (fixed) snprintf(name, sizeof name, "%s", always[i]);
    if (!fixed && !rs_curve_file(experiment, i - RS_COUNT(always), name)) continue;
    if (why.status == RS_OK && !is_writable(directory, name, &why)) break;
    if (!ours && is_there(directory, name, &why) && !is_result(directory, name, &why))
      return rs_fail(err, RS_IO,
                     "%s/%s is there already, and no manifest.json says that a run made it (another --out, "
                     "or move it away)",
                     directory, name);
  }
  return why.status == RS_OK ? RS_OK : rs_fail(err, why.status, "%s", why.message);
}

/* ---- its files --------------------------------------------------------------------------------------------------- */

/* All cells that are done into a new set of files, in their order. */
static rs_status fill_set(const rs_ledger *ledger, const char *directory, const char *shown, rs_run_summary *summary,
                          rs_err *err) {
  rs_output output;
  rs_status status = rs_output_begin(ledger->experiment, directory, shown, &output, err);
  output.cells = ledger->count;
  output.isa = ledger->isa;
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    rs_cell_state state;
    if (ledger->places[i] == 0) continue;
    status = rs_ledger_read(ledger, i, &state, err);
    if (status == RS_OK) status = rs_output_add(&output, i, &state, err);
    rs_cell_state_clear(ledger->experiment, &state);
  }
  if (status == RS_OK) status = rs_output_end(&output, err);
  summary->failed = output.totals.failed;
  summary->starved = output.totals.starved;
  summary->first_failed = output.totals.first_failed;
  snprintf(summary->message, sizeof summary->message, "%s", output.totals.message);
  rs_output_clear(&output);
  return status;
}

/* Results that are there are not given for such as lack cells. */
static rs_status keep_complete(const char *directory, const rs_run_summary *summary, rs_err *err) {
  rs_err why = {0};
  bool there = is_there(directory, "manifest.json", &why);
  if (why.status != RS_OK) return rs_fail(err, why.status, "%s", why.message);
  if (!there) return RS_OK;
  return rs_fail(err, RS_MEMORY,
                 "%zu cells ran out of memory, and the results in %s stay as they were (ropescope plan says what a run "
                 "takes; what is done is kept: the same command goes on, --partial writes it as it is)",
                 summary->starved, directory);
}

/* The set then takes the old one's place. */
rs_status rs_target_write(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                          rs_err *err) {
  rs_folder_change change;
  RS_TRY(rs_folder_change_begin(directory, rs_is_run_file, &change, err));
  rs_status status = fill_set(ledger, change.staged, directory, summary, err);
  if (status == RS_OK && summary->starved > 0 && !partial) status = keep_complete(directory, summary, err);
  if (status == RS_OK) status = rs_folder_change_commit(&change, err);
  rs_folder_change_clear(&change);
  return status;
}
