/* Sweeps: a config is run into a folder of the caller's, or into one that lasts as long as the call. */
#include "api.h"
#include "io/io.h"
#include "run/run.h"

#include <stdlib.h>

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
  return status == RS_OK ? rs_api_results_read(directory, results, err) : status;
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
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  *results = NULL;
  if (options == NULL) options = &plain;
  rs_status status = rs_api_sized(options, sizeof *options, "ropescope_run_options", &err);
  if (status == RS_OK) status = load(&beside, text, name, options, &experiment, &problems, &err);
  if (status == RS_OK) status = run(experiment, options, results, &err);
  rs_experiment_free(experiment);
  return rs_api_end(status, error, &err, &problems);
}
