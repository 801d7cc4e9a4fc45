/* ropescope merge: shards into the results of the whole. */
#include "cli.h"

#include <stdlib.h>

/* Cells that are missing or differ, and journals that are damaged: the command was right. */
static int end_badly(rs_status status, const rs_err *err) {
  int code = cli_fail(status, NULL, err);
  return code == CLI_BUSY ? code : CLI_FAILED;
}

static int merge_into(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options merge = {.directory = directory, .resume = !options->fresh, .partial = options->partial};
  int code = cli_check_folder(options, experiment, directory);
  if (code != CLI_OK) return code;
  rs_status status = rs_merge(experiment, options->arguments, options->argument_count, &merge, &summary, &err);
  return status == RS_OK ? cli_end_run(options, experiment, directory, &summary) : end_badly(status, &err);
}

int cmd_merge(const cli_options *options) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  if (options->argument_count == 0)
    return cli_error("merge takes the folders of shards, as ropescope run --shard leaves them (ropescope help merge)");
  rs_status status = rs_shards_read(options->arguments, options->argument_count, &experiment, &problems, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
  rs_problems_clear(&problems);
  if (code != CLI_OK) return code;
  char *directory = cli_results_folder(options, experiment, (rs_sweep_shard){0}, &err);
  code = directory != NULL ? merge_into(options, experiment, directory) : cli_fail(RS_MEMORY, NULL, &err);
  free(directory);
  rs_experiment_free(experiment);
  return code;
}
