/* Where a config.json is: FILE|FOLDER|-, of --hf and of arguments. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Read once and kept: compare reads the model for each of its recipes. */
static rs_status read_stdin(cli_options *options, rs_err *err) {
  size_t length;
  RS_TRY(rs_file_read("/dev/stdin", RS_LARGEST_FILE, &options->hf_text, &length, err));
  options->hf = "standard input";
  if (strlen(options->hf_text) == length) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: holds a NUL byte, so it is no JSON", options->hf);
}

static rs_status find_config(cli_options *options, rs_err *err) {
  struct stat info;
  if (stat(options->hf, &info) != 0 || !S_ISDIR(info.st_mode)) return RS_OK;
  options->hf_file = rs_path_join(options->hf, "config.json", err);
  options->hf = options->hf_file;
  return options->hf_file != NULL ? RS_OK : RS_MEMORY;
}

int cli_read_hf(cli_options *options) {
  rs_err err = {0};
  if (options->hf == NULL) return CLI_OK;
  rs_status status = strcmp(options->hf, "-") == 0 ? read_stdin(options, &err) : find_config(options, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

rs_status cli_read_config(const char *word, char **name, char **data, size_t *length, rs_err *err) {
  struct stat info;
  bool standard = strcmp(word, "-") == 0;
  bool folder = !standard && stat(word, &info) == 0 && S_ISDIR(info.st_mode);
  *name = folder ? rs_path_join(word, "config.json", err) : rs_strdup(standard ? "standard input" : word, err);
  if (*name == NULL) return RS_MEMORY;
  return rs_file_read(standard ? "/dev/stdin" : *name, RS_LARGEST_FILE, data, length, err);
}

void cli_options_clear(cli_options *options) {
  free(options->hf_text);
  free(options->hf_file);
}
