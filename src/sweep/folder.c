/* Whether a results folder holds what another config gave. */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static rs_status has_file(const char *directory, const char *name, bool *there, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  *there = path != NULL && access(path, F_OK) == 0;
  free(path);
  return path != NULL ? RS_OK : RS_MEMORY;
}

/* Both are compared as written out, so that a config of an older version, or one whose keys stand in another order, is
 * still the same. Without summary.csv there are no whole results. */
rs_status rs_folder_differs(const rs_experiment *experiment, const char *directory, bool *differs, rs_err *err) {
  rs_text mine = {0}, theirs = {0};
  bool summary, config, read = false;
  *differs = false;
  RS_TRY(has_file(directory, "summary.csv", &summary, err));
  RS_TRY(has_file(directory, "config.yaml", &config, err));
  if (!summary || !config) return RS_OK;
  char *path = rs_path_join(directory, "config.yaml", err);
  rs_experiment_write(experiment, &mine);
  rs_status status = path != NULL ? rs_text_check(&mine, err) : RS_MEMORY;
  if (status == RS_OK) status = read_back(path, experiment->beside, &theirs, &read, err);
  if (status == RS_OK) *differs = !read || strcmp(rs_text_string(&mine), rs_text_string(&theirs)) != 0;
  rs_text_clear(&mine);
  rs_text_clear(&theirs);
  free(path);
  return status;
}
