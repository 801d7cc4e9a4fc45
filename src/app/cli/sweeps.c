/* What commands of sweeps share: what is asked for (a config, or models alone; all of it, or a part), where it is read
 * and written, and the ranks that run it. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The config that comes with the program and is called so: its path below the data folder, the name of one of configs,
 * or of an experiment. *path is NULL where there is none. */
static rs_status find_installed(const char *word, char **path, rs_err *err) {
  static const struct {
    const char *before, *behind;
  } forms[] = {{"", ""},
               {"configs/", ".yaml"},
               {"experiments/", "/config.yaml"},
               {"experiments/extrapolation/", "/config.yaml"},
               {"experiments/bounds/", "/config.yaml"},
               {"experiments/vision/", "/config.yaml"},
               {"experiments/formulas/", "/config.yaml"}};
  size_t first = strchr(word, '/') == NULL; /* a bare name is none of a path */
  *path = NULL;
  if (*word == '/' || *word == '.' || *word == '\0') return RS_OK;
  for (size_t i = first; i < (first > 0 ? RS_COUNT(forms) : 1) && *path == NULL; i++) {
    RS_OWNED(rs_text) name = {0};
    rs_text_printf(&name, "%s%s%s", forms[i].before, word, forms[i].behind);
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK) status = rs_data_find(rs_text_string(&name), path, err);
    RS_TRY(status);
  }
  return RS_OK;
}

int cli_load(const cli_options *options, const char *file, rs_experiment **experiment) {
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  RS_FREED char *installed = NULL;
  rs_status status = RS_OK;
  if (file != NULL && access(file, F_OK) != 0) status = find_installed(file, &installed, &err);
  if (installed != NULL) cli_note(options, "config: %s", installed);
  rs_config_edits edits = {.edits = options->edits.items,
                           .count = options->edits.count,
                           .lengths = options->lengths,
                           .methods = options->methods};
  if (status == RS_OK)
    status = rs_config_load(installed != NULL ? installed : file, edits, experiment, &problems, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
}

/* Files of models: those of --hf, then the arguments. */
static int collect(const cli_options *options, const char **files, size_t *count) {
  *count = 0;
  for (size_t i = 0; i < options->models.count; i++) files[(*count)++] = options->models.items[i];
  for (size_t i = 0; i < options->argument_count; i++) files[(*count)++] = options->arguments[i];
  for (size_t i = 0; i < *count; i++) {
    if (strcmp(files[i], "-") == 0) return cli_error("--hf -: a sweep reads files, for its results name them");
    if (files[i][0] == '\0') return cli_error("--hf: a file's name is empty");
    for (size_t j = 0; j < i; j++) {
      if (strcmp(files[i], files[j]) != 0) continue;
      return cli_error("--hf: %s stands there twice", files[i]);
    }
  }
  return CLI_OK;
}

static int load_models(const cli_options *options, rs_experiment **experiment) {
  const char *files[CLI_WORDS + CLI_ARGUMENTS];
  rs_standing_in in = {.files = files, .layers = options->layers};
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  rs_config_edits edits = {options->edits.items, options->edits.count, options->lengths, options->methods, NULL};
  int code = collect(options, files, &in.count);
  if (code != CLI_OK) return code;
  rs_status status = rs_standing_read(&in, edits, experiment, &problems, &err);
  if (status != RS_OK) code = cli_fail(status, &problems, &err);
  return code;
}

int cli_load_sweep(const cli_options *options, rs_experiment **experiment) {
  if (options->models.count > 0) return load_models(options, experiment);
  if (options->layers != NULL) {
    cli_error("--layers goes with --hf alone: a config says model: {hf: config.json, layers: %s}", options->layers);
    return CLI_USAGE;
  }
  if (options->argument_count > 1) return cli_error("one config is read at a time (files of models stand behind --hf)");
  return cli_load(options, options->arguments[0], experiment);
}

/* ---- shards ------------------------------------------------------------------------------------------------------ */

int cli_read_shard(const cli_options *options, rs_sweep_shard *shard) {
  const char *text = options->shard;
  size_t number, count;
  int end = 0;
  *shard = (rs_sweep_shard){0};
  if (text == NULL) return CLI_OK;
  bool plain = text[strspn(text, "0123456789/")] == '\0'; /* no sign and no blank, which sscanf takes */
  if (!plain || sscanf(text, "%9zu/%9zu%n", &number, &count, &end) != 2 || text[end] != '\0' || count == 0)
    return cli_error("--shard %s: write the part and how many there are, as in 2/5", text);
  if (number == 0 || number > count)
    return cli_error("--shard %s: parts count from 1/%zu to %zu/%zu", options->shard, count, count, count);
  *shard = (rs_sweep_shard){number, count};
  return CLI_OK;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

char *cli_results_folder(const cli_options *options, const rs_experiment *experiment, rs_sweep_shard shard,
                         rs_err *err) {
  RS_OWNED(rs_text) name = {0};
  if (options->out != NULL) return rs_strdup(options->out, err);
  rs_text_printf(&name, "%s", experiment->name);
  if (shard.count > 0) rs_text_printf(&name, "-%zu-of-%zu", shard.number, shard.count);
  char *path = rs_text_check(&name, err) == RS_OK ? rs_path_join("results", rs_text_string(&name), err) : NULL;
  return path;
}

char *cli_checkpoints_folder(const cli_options *options, const char *directory, rs_err *err) {
  static const char name[] = "checkpoints";
  if (options->checkpoints != NULL) return rs_strdup(options->checkpoints, err);
  size_t length = strlen(directory);
  while (length > 1 && directory[length - 1] == '/') length--;
  while (length > 0 && directory[length - 1] != '/') length--;
  rs_text path = {0};
  rs_text_printf(&path, "%.*s%s", (int)length, directory, name);
  if (rs_text_check(&path, err) == RS_OK) return path.data;
  rs_text_clear(&path);
  return NULL;
}

int cli_check_folder(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  bool differs;
  rs_err err = {0};
  rs_status status = rs_folder_differs(experiment, directory, &differs, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (!differs || options->force) return CLI_OK;
  return cli_error("%s holds the results of another config: choose another --out or name, or --force to replace them",
                   directory);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* A launcher may have given each rank cores of its own; where it has not, they share. */
static void share_threads(const cli_options *options, const rs_ranks *ranks) {
#ifdef _OPENMP
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int local = (int)rs_ranks_local(ranks), threads = (int)cores / local;
  if (options->threads > 0 || getenv("OMP_NUM_THREADS") != NULL) return;
  if ((long)omp_get_num_procs() * local > cores) omp_set_num_threads(threads > 1 ? threads : 1);
#else
  (void)options;
  (void)ranks;
#endif
}

int cli_open_ranks(const cli_options *options, bool shard, rs_ranks **ranks) {
  rs_err err = {0};
  rs_status status = rs_ranks_open(ranks, &err);
  if (status == RS_UNSUPPORTED && shard) return CLI_OK; /* each may have a part of its own */
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (*ranks != NULL) share_threads(options, *ranks);
  return CLI_OK;
}
