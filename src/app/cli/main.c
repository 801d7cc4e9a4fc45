/* ropescope: what does this positional setting do to attention at that length? */
#include "cli.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* A stack of a thread that is too small ends the program without a word, so it is refused before: more than any call
 * takes (128 KiB is too little on some machines), and less than threads have unasked. */
enum { LEAST_STACK = 1 << 20 };

/* Stacks are large unless somebody has made them small: then threads are made to see how small. */
static bool are_chosen(void) {
  static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"};
  struct rlimit limit;
  bool chosen = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LEAST_STACK;
  for (size_t i = 0; i < RS_COUNT(names); i++) chosen |= getenv(names[i]) != NULL;
  return chosen;
}

/* Bytes of the calling thread's stack; SIZE_MAX where it cannot be told. */
static size_t stack_size(void) {
  size_t size = SIZE_MAX;
#ifdef __GLIBC__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return SIZE_MAX;
  if (pthread_attr_getstacksize(&attributes, &size) != 0) size = SIZE_MAX;
  pthread_attr_destroy(&attributes);
#endif
  return size;
}

static int check_stacks(void) {
  size_t least = SIZE_MAX;
  if (!are_chosen()) return CLI_OK;
#pragma omp parallel reduction(min : least)
  least = stack_size();
  if (least >= LEAST_STACK) return CLI_OK;
  cli_error("threads have a stack of %zu KiB here, and need %d (OMP_STACKSIZE=4M, ulimit -s 8192)", least >> 10,
            LEAST_STACK >> 10);
  return CLI_FAILED;
}

static void use_threads(size_t threads) {
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads((int)threads);
#else
  (void)threads;
#endif
}

/* Where jansson gets no memory while it reads a string, it leaves bytes out, or aborts, or spoils the heap (2.14). The
 * program then ends before; what it was to change is whole, as after a kill. */
static void *allocate_json(size_t size) {
  static const char why[] = "ropescope: out of memory\n";
  void *memory = malloc(size);
  if (memory != NULL || size == 0) return memory;
  (void)!write(STDERR_FILENO, why, sizeof why - 1);
  _exit(CLI_FAILED);
}

/* What each command does, apart from its texts, which help and options read. */
static int (*const actions[CLI_COMMANDS])(const cli_options *options) = {
    [CLI_RUN] = cmd_run,         [CLI_MERGE] = cmd_merge,     [CLI_PLAN] = cmd_plan,
    [CLI_LIST] = cmd_list,       [CLI_SHOW] = cmd_show,       [CLI_PLOT] = cmd_plot,
    [CLI_REPORT] = cmd_report,   [CLI_TABLE] = cmd_table,     [CLI_REPRODUCE] = cmd_reproduce,
    [CLI_CHECK] = cmd_check,     [CLI_EXPLAIN] = cmd_explain, [CLI_CONVERT] = cmd_convert,
    [CLI_COMPARE] = cmd_compare, [CLI_SOLVE] = cmd_solve,     [CLI_VERIFY] = cmd_verify,
    [CLI_LOGITS] = cmd_logits,   [CLI_BENCH] = cmd_bench,     [CLI_VERSION] = cmd_version,
    [CLI_EXPLORE] = cmd_explore, [CLI_HELP] = cmd_help,
};

static int run_command(int command, cli_options *options) {
  const cli_command *c = &cli_commands[command];
  rs_err err = {0};
  if (options->help) return cli_help_command(command);
  if (options->argument_count > c->most_arguments && c->most_arguments == 0)
    return cli_error("%s takes no arguments (ropescope help %s)", c->name, c->name);
  if (options->argument_count > c->most_arguments)
    return cli_error("%s takes at most %zu argument%s (ropescope help %s)", c->name, c->most_arguments,
                     c->most_arguments == 1 ? "" : "s", c->name);
  /* A file over the size limit is then a failed write, with a message and nothing left behind. */
  signal(SIGXFSZ, SIG_IGN);
  use_threads(options->threads);
  int status = check_stacks();
  if (status == CLI_OK && options->isa != NULL && rs_kernels_use(options->isa, &err) != RS_OK)
    return cli_error("--isa %s: %s", options->isa, err.message);
  if (status == CLI_OK) status = cli_read_hf(options);
  if (status != CLI_OK) return status;
  bool shows = command == CLI_RUN || command == CLI_REPRODUCE || command == CLI_BENCH || command == CLI_EXPLORE;
  if (!shows && !options->quiet) cli_clock_begin(c->name); /* who shows progress of its own needs no clock */
  status = actions[command](options);
  cli_clock_end();
  return status;
}

int main(int count, char **arguments) {
  const char *word = count > 1 ? arguments[1] : "--help";
  cli_options options = {.rtol = 1e-6}; /* engines compute in float32 */
  json_set_alloc_funcs(allocate_json, free);
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return cli_help();
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return cmd_version(&options);
  if (strcmp(word, "--complete") == 0) return cli_complete((size_t)count - 2, arguments + 2);
  int command = cli_command_find(word);
  if (command < 0) return CLI_USAGE;
  int status = cli_options_read(command, count - 1, arguments + 1, &options);
  if (status == CLI_OK) status = run_command(command, &options);
  cli_options_clear(&options);
  return status;
}
