/* ropescope: what does this positional setting do to attention at that length? */
#include "cli.h"

#include "ropescope/kernel.h"

#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const struct {
  const char *name, *arguments, *summary;
  size_t most_arguments;
  int (*run)(const cli_options *options);
} commands[] = {
    {"run", "[CONFIG]", "sweep a config into CSV files (no config: the built-in demo)", 1, cmd_run},
    {"plan", "[CONFIG]", "what a run would take: cells, rows, memory, work; runs nothing", 1, cmd_plan},
    {"list", "[methods|kinds|sources|metrics|models]", "what there is, with parameters, units, defaults, references", 1,
     cmd_list},
    {"show", "TABLE [CONFIG]", "one table of one recipe as CSV: frequencies, positions, scale, slopes, bias, embedding",
     2, cmd_show},
    {"plot", "RESULTS", "draw the curves and metrics of a results folder", 1, cmd_plot},
    {"table", "RESULTS COLUMN...", "a small table of a results folder or CSV file: methods down, columns across",
     CLI_ARGUMENTS, cmd_table},
    {"reproduce", "[NAME...]", "run the experiments and check what comes out against what was published", CLI_ARGUMENTS,
     cmd_reproduce},
    {"compare", "A B", "where two recipes, configs or dumps of inv_freq part, and why", 2, cmd_compare},
    {"solve", "base|factor|length", "the setting that serves a length, or the length that it serves, by a criterion", 1,
     cmd_solve},
    {"bench", "", "how fast each job is here, beside what the machine can do", 0, cmd_bench},
    {"version", "", "print the version", 0, cmd_version},
};

static int help(void) {
  rs_text text = {0};
  rs_text_puts(&text, "Usage: ropescope COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n");
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    char usage[64];
    snprintf(usage, sizeof usage, "%s %s", commands[i].name, commands[i].arguments);
    rs_text_printf(&text, "  %-38s %s\n", usage, commands[i].summary);
  }
  rs_text_puts(&text, "\nOptions:\n");
  cli_options_help(&text);
  rs_text_puts(&text, "\nExit status: 0 done, 1 failed, 2 wrong input (nothing was run).\n"
                      "compare: 0 equal, 1 different, 2 wrong input or failed.\n");
  return cli_put(&text) ? CLI_OK : CLI_FAILED;
}

static int unknown_command(const char *word) {
  const char *names[RS_COUNT(commands)];
  for (size_t i = 0; i < RS_COUNT(commands); i++) names[i] = commands[i].name;
  const char *near = rs_suggest(word, names, RS_COUNT(names));
  if (near != NULL)
    cli_error("no command %s (did you mean %s?)", word, near);
  else
    cli_error("no command %s (ropescope --help shows them)", word);
  return CLI_USAGE;
}

static void use_threads(size_t threads) {
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads((int)threads);
#else
  (void)threads;
#endif
}

static int use_kernels(const char *isa) {
  rs_err err = {0};
  if (isa == NULL || rs_kernels_use(isa, &err) == RS_OK) return CLI_OK;
  cli_error("--isa %s: %s", isa, err.message);
  return CLI_USAGE;
}

int main(int count, char **arguments) {
  cli_options options = {0};
  size_t c = 0;
  if (count < 2 || strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) return help();
  if (strcmp(arguments[1], "--version") == 0) return cmd_version(&options);
  while (c < RS_COUNT(commands) && strcmp(commands[c].name, arguments[1]) != 0) c++;
  if (c == RS_COUNT(commands)) return unknown_command(arguments[1]);
  for (int i = 2; i < count; i++)
    if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) return help();
  gsl_set_error_handler_off();
  signal(SIGXFSZ,
         SIG_IGN); /* a file over the size limit is then a failed write, with a message and nothing left behind */
  int status = cli_options_read(count - 1, arguments + 1, &options);
  if (status == CLI_OK && options.argument_count > commands[c].most_arguments) {
    cli_error("%s takes at most %zu argument%s (ropescope --help)", commands[c].name, commands[c].most_arguments,
              commands[c].most_arguments == 1 ? "" : "s");
    status = CLI_USAGE;
  }
  use_threads(options.threads);
  if (status == CLI_OK) status = use_kernels(options.isa);
  if (status == CLI_OK) status = commands[c].run(&options);
  cli_options_clear(&options);
  return status;
}
