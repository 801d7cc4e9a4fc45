/* Where commands of sweeps read and write, and what part of a sweep they are asked for. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shards ------------------------------------------------------------------------------------------------------ */

/* A number of one to nine digits behind `*text`, which is moved behind it; 0 where there is none. */
static size_t read_digits(const char **text) {
  enum { MOST_DIGITS = 9 };
  size_t digits = strspn(*text, "0123456789");
  unsigned long number = digits > 0 && digits <= MOST_DIGITS ? strtoul(*text, NULL, 10) : 0;
  *text += digits;
  return (size_t)number;
}

int cli_read_shard(const cli_options *options, rs_sweep_shard *shard) {
  const char *text = options->shard;
  *shard = (rs_sweep_shard){0};
  if (text == NULL) return CLI_OK;
  bool begins = *text >= '0' && *text <= '9';
  size_t number = read_digits(&text);
  bool slash = begins && text[0] == '/' && text[1] >= '0' && text[1] <= '9';
  if (slash) text++;
  size_t count = slash ? read_digits(&text) : 0;
  if (!slash || *text != '\0' || count == 0) {
    cli_error("--shard %s: write the part and how many there are, as in 2/5", options->shard);
    return CLI_USAGE;
  }
  if (number == 0 || number > count) {
    cli_error("--shard %s: parts count from 1/%zu to %zu/%zu", options->shard, count, count, count);
    return CLI_USAGE;
  }
  *shard = (rs_sweep_shard){number, count};
  return CLI_OK;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

char *cli_results_folder(const cli_options *options, const rs_experiment *experiment, rs_sweep_shard shard,
                         rs_err *err) {
  rs_text name = {0};
  if (options->out != NULL) return rs_strdup(options->out, err);
  rs_text_printf(&name, "%s", experiment->name);
  if (shard.count > 0) rs_text_printf(&name, "-%zu-of-%zu", shard.number, shard.count);
  char *path = rs_text_check(&name, err) == RS_OK ? rs_path_join("results", rs_text_string(&name), err) : NULL;
  rs_text_clear(&name);
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
  cli_error("%s holds the results of another config: choose another --out or name, or --force to replace them",
            directory);
  return CLI_USAGE;
}
