/* The commands of the program and what they share. */
#ifndef ROPESCOPE_CLI_CLI_H
#define ROPESCOPE_CLI_CLI_H

#include "ropescope/sweep.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_EDITS = 64, CLI_JOBS = 64, CLI_ARGUMENTS = 64 };

/* What the command line said. */
typedef struct cli_options {
  const char *arguments[CLI_ARGUMENTS]; /* after the command */
  size_t argument_count;
  const char *edits[CLI_EDITS]; /* --set and --lengths, in order */
  size_t edit_count;
  char *lengths_edit;         /* owned text of the edit that --lengths makes */
  const char *jobs[CLI_JOBS]; /* --job, in order; each may be several names with commas */
  size_t job_count;
  const char *only[CLI_JOBS]; /* --only, likewise */
  size_t only_count;
  const char *out, *hf, *model, *method, *csv_file, *isa, *experiments, *lines, *where, *format;
  long sort;
  size_t length, threads, rounds;
  double rtol;
  const char *criterion; /* solve */
  size_t head_dim;
  double base;
  bool quiet, print, markdown, csv, rtol_given, quick, list, full, all;
} cli_options;

/* Reads the options that follow a command. Returns CLI_OK, or CLI_USAGE after a message. */
int cli_options_read(int count, char **arguments, cli_options *options);
void cli_options_clear(cli_options *options);

/* The names in lists with commas, as they stand in --job and --only. Owned by the caller, `words` too, which they are
 * parts of; both NULL where there are none. */
rs_status cli_split_names(const char *const *lists, size_t list_count, char **words, const char ***names, size_t *count,
                          rs_err *err);

/* Adds the options as `--help` shows them. */
void cli_options_help(rs_text *text);

/* Messages on stderr: "ropescope: ...". */
void cli_error(const char *format, ...) RS_PRINTF(1, 2);
void cli_note(const cli_options *options, const char *format, ...) RS_PRINTF(2, 3);

/* Says what failed (with every problem of a config) and returns the exit status for it. */
int cli_fail(rs_status status, const rs_problems *problems, const rs_err *err);

/* Writes text to stdout and empties it. False after a message when stdout takes no more. */
bool cli_put(rs_text *text);

/* The config that a command was given, checked. Returns an exit status. */
int cli_load(const cli_options *options, const char *file, rs_experiment **experiment);

/* Runs a checked config into `directory`, with progress on a terminal. Returns an exit status. */
int cli_run(const cli_options *options, const rs_experiment *experiment, const char *directory);

int cmd_run(const cli_options *options);
int cmd_plan(const cli_options *options);
int cmd_list(const cli_options *options);
int cmd_show(const cli_options *options);
int cmd_plot(const cli_options *options);
int cmd_compare(const cli_options *options);
int cmd_reproduce(const cli_options *options);
int cmd_table(const cli_options *options);
int cmd_bench(const cli_options *options);
int cmd_solve(const cli_options *options);
int cmd_version(const cli_options *options);

/* The short table of a run: methods down, metrics across, at the longest length. */
int cli_print_summary(const rs_experiment *experiment, const char *directory);

#endif
