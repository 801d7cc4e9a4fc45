/* What a sweep is asked of: a config, or models alone. */
#include "cli.h"

#include <string.h>

/* Files of models: those of --hf, then the arguments. */
static int collect(const cli_options *options, const char **files, size_t *count) {
  *count = 0;
  for (size_t i = 0; i < options->models.count; i++) files[(*count)++] = options->models.items[i];
  for (size_t i = 0; i < options->argument_count; i++) files[(*count)++] = options->arguments[i];
  for (size_t i = 0; i < *count; i++) {
    if (strcmp(files[i], "-") == 0) {
      cli_error("--hf -: a sweep reads files, for its results name them");
      return CLI_USAGE;
    }
    if (files[i][0] == '\0') {
      cli_error("--hf: a file's name is empty");
      return CLI_USAGE;
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(files[i], files[j]) != 0) continue;
      cli_error("--hf: %s stands there twice", files[i]);
      return CLI_USAGE;
    }
  }
  return CLI_OK;
}

static int load_models(const cli_options *options, rs_experiment **experiment) {
  const char *files[CLI_WORDS + CLI_ARGUMENTS];
  rs_standing_in in = {.files = files, .layers = options->layers};
  rs_problems problems = {0};
  rs_err err = {0};
  rs_config_edits edits = {options->edits.items, options->edits.count, options->lengths, options->methods, NULL};
  int code = collect(options, files, &in.count);
  if (code != CLI_OK) return code;
  rs_status status = rs_standing_read(&in, edits, experiment, &problems, &err);
  if (status != RS_OK) code = cli_fail(status, &problems, &err);
  rs_problems_clear(&problems);
  return code;
}

int cli_load_sweep(const cli_options *options, rs_experiment **experiment) {
  if (options->models.count > 0) return load_models(options, experiment);
  if (options->layers != NULL) {
    cli_error("--layers goes with --hf alone: a config says model: {hf: config.json, layers: %s}", options->layers);
    return CLI_USAGE;
  }
  if (options->argument_count > 1) {
    cli_error("one config is read at a time (files of models stand behind --hf)");
    return CLI_USAGE;
  }
  return cli_load(options, options->arguments[0], experiment);
}
