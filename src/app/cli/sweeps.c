/* What a sweep is asked of: a config, or models alone. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The config that comes with the program and is called so: its path below the data folder, the name of one of configs,
 * or of an experiment. *path is NULL where there is none. */
static rs_status find_installed(const char *word, char **path, rs_err *err) {
  static const struct {
    const char *before, *behind;
  } forms[] = {{"", ""}, {"configs/", ".yaml"}, {"experiments/", "/config.yaml"}};
  size_t first = strchr(word, '/') == NULL; /* a bare name is none of a path */
  *path = NULL;
  if (*word == '/' || *word == '.' || *word == '\0') return RS_OK;
  for (size_t i = first; i < (first > 0 ? RS_COUNT(forms) : 1) && *path == NULL; i++) {
    rs_text name = {0};
    rs_text_printf(&name, "%s%s%s", forms[i].before, word, forms[i].behind);
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK) status = rs_data_find(rs_text_string(&name), path, err);
    rs_text_clear(&name);
    RS_TRY(status);
  }
  return RS_OK;
}

int cli_load(const cli_options *options, const char *file, rs_experiment **experiment) {
  rs_problems problems = {0};
  rs_err err = {0};
  char *installed = NULL;
  rs_status status = RS_OK;
  if (file != NULL && access(file, F_OK) != 0) status = find_installed(file, &installed, &err);
  if (installed != NULL) cli_note(options, "config: %s", installed);
  rs_config_edits edits = {.edits = options->edits.items,
                           .count = options->edits.count,
                           .lengths = options->lengths,
                           .methods = options->methods};
  if (status == RS_OK)
    status = rs_config_load(installed != NULL ? installed : file, edits, experiment, &problems, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
  rs_problems_clear(&problems);
  free(installed);
  return code;
}

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
