/* The options: one table makes the parser and the help. */
#include "cli.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SET = 256,
  LENGTHS,
  LENGTH,
  THREADS,
  OUT,
  HF,
  MODEL,
  METHOD,
  QUIET,
  PRINT,
  MARKDOWN,
  FORMAT,
  ALL,
  RTOL,
  CSV,
  JOB,
  ROUNDS,
  QUICK,
  LIST,
  ISA,
  CSV_FILE,
  FULL,
  EXPERIMENTS,
  LINES,
  WHERE,
  SORT,
  ONLY,
  CRITERION,
  HEAD_DIM,
  BASE
};

/* Which commands an option goes with. */
enum {
  FOR_RUN = 1,
  FOR_PLAN = 2,
  FOR_LIST = 4,
  FOR_SHOW = 8,
  FOR_PLOT = 16,
  FOR_COMPARE = 32,
  FOR_BENCH = 64,
  FOR_REPRODUCE = 128,
  FOR_TABLE = 256,
  FOR_SOLVE = 512,
  FOR_CONFIG = FOR_RUN | FOR_PLAN | FOR_SHOW
};

static const struct {
  const char *name, *value, *help;
  int code, commands;
} table[] = {
    {"set", "PATH=VALUE", "change the config, as in --set methods[1].factor=8; VALUE is YAML", SET, FOR_CONFIG},
    {"lengths", "N,N,...", "in place of the config's lengths, as in --lengths 4k,8k", LENGTHS, FOR_RUN | FOR_PLAN},
    {"length", "N", "show: the length of the table; plot: of the curves; compare: of both sides; solve: to serve",
     LENGTH, FOR_SHOW | FOR_PLOT | FOR_COMPARE | FOR_SOLVE},
    {"threads", "N", "threads (default: all cores; the CSV files are the same bytes)", THREADS, ~0},
    {"out", "DIR", "where results go (default: results/NAME; reproduce: results)", OUT, FOR_RUN | FOR_REPRODUCE},
    {"hf", "FILE", "show: the recipe of a Hugging Face config.json; compare, solve: the model of recipes", HF,
     FOR_SHOW | FOR_COMPARE | FOR_SOLVE},
    {"model", "PRESET", "show: the recipe a preset publishes; compare, solve: the model of recipes", MODEL,
     FOR_SHOW | FOR_COMPARE | FOR_SOLVE},
    {"method", "YAML", "show, solve: this method on --model or --hf, as in --method '{name: yarn, factor: 4}'", METHOD,
     FOR_SHOW | FOR_SOLVE},
    {"quiet", NULL, "only errors on stderr", QUIET, ~0},
    {"print", NULL, "run: a short table on stdout at the end", PRINT, FOR_RUN},
    {"markdown", NULL, "list: the methods as a Markdown table; reproduce, table: in Markdown", MARKDOWN,
     FOR_LIST | FOR_REPRODUCE | FOR_TABLE},
    {"only", "NAME,...", "plot: these pictures only, by name or column; may be given again", ONLY, FOR_PLOT},
    {"all", NULL, "plot: also pictures that say nothing: of one number, or of lines that are all equal", ALL, FOR_PLOT},
    {"format", "NAME,...", "plot: svg, png, pdf (default: svg and, where this build has librsvg, png)", FORMAT,
     FOR_PLOT},
    {"rtol", "X", "compare: relative difference that counts as equal (default 1e-6)", RTOL, FOR_COMPARE},
    {"csv", NULL, "compare: every pair as CSV", CSV, FOR_COMPARE},
    {"csv", "FILE", "bench: the table also as CSV", CSV_FILE, FOR_BENCH},
    {"job", "NAME,...", "bench: these jobs only (--list shows them); may be given again", JOB, FOR_BENCH},
    {"list", NULL, "bench, reproduce: show what there is and run nothing", LIST, FOR_BENCH | FOR_REPRODUCE},
    {"rounds", "N", "bench: samples of each job, in turns with its ceiling (default 5)", ROUNDS, FOR_BENCH},
    {"quick", NULL, "bench: small sizes, to see that all runs, not how fast", QUICK, FOR_BENCH},
    {"full", NULL, "reproduce: the searches that take minutes, too", FULL, FOR_REPRODUCE},
    {"experiments", "DIR", "reproduce: where the experiments are (default: experiments)", EXPERIMENTS, FOR_REPRODUCE},
    {"lines", "COLUMN", "table: a line for each word of this column (default: method)", LINES, FOR_TABLE},
    {"where", "CONDITIONS", "table: these rows alone, as in --where 'length_tokens=32k; seed=0'", WHERE, FOR_TABLE},
    {"sort", "N", "table: lines by the N-th column of numbers; -N: the largest first", SORT, FOR_TABLE},
    {"criterion", "WORD", "solve: first_violation (default), critical_dim, ood or ntk", CRITERION, FOR_SOLVE},
    {"head-dim", "N", "solve: rotary dims of a head, where no model gives them", HEAD_DIM, FOR_SOLVE},
    {"base", "X", "solve: the base of plain RoPE to be judged", BASE, FOR_SOLVE},
    {"isa", "NAME", "instruction set of the kernels: auto, v4, v3, neon, generic (the same bytes everywhere)", ISA, ~0},
    {"help", NULL, "show this", 'h', ~0},
};

static int command_bit(const char *command) {
  static const char *const names[] = {"run",     "plan",  "list",      "show",  "plot",
                                      "compare", "bench", "reproduce", "table", "solve"};
  for (size_t i = 0; i < RS_COUNT(names); i++)
    if (strcmp(names[i], command) == 0) return 1 << i;
  return 0;
}

/* Whether the option goes with the command; a message otherwise, for an option that is silently ignored misleads. */
static bool fits(int code, const char *command) {
  size_t i = 0;
  while (table[i].code != code) i++;
  if ((table[i].commands & command_bit(command)) != 0 || table[i].commands == ~0) return true;
  bool meant_lengths = code == LENGTH && (command_bit(command) & (FOR_RUN | FOR_PLAN)) != 0;
  cli_error("--%s does not go with %s%s", table[i].name, command, meant_lengths ? " (did you mean --lengths?)" : "");
  return false;
}

void cli_options_help(rs_text *text) {
  for (size_t i = 0; i < RS_COUNT(table); i++) {
    char usage[64];
    snprintf(usage, sizeof usage, "--%s%s%s", table[i].name, table[i].value != NULL ? " " : "",
             table[i].value != NULL ? table[i].value : "");
    rs_text_printf(text, "  %-38s %s\n", usage, table[i].help);
  }
}

/* A whole number of tokens or threads; 0 after a message when it is none. */
static size_t read_count(const char *option, const char *text, double most) {
  rs_param param = {.name = option, .type = RS_INTEGER, .min = 1, .max = most};
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(&param, text, &value, &why) == RS_OK) return (size_t)value.number;
  cli_error("--%s %s: %s", option, text, why.message);
  return 0;
}

/* A tolerance; negative after a message when it is none. */
static double read_tolerance(const char *text) {
  static const rs_param param = {.name = "rtol", .type = RS_REAL, .min = 0, .max = 1};
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(&param, text, &value, &why) == RS_OK) return value.number;
  cli_error("--rtol %s: %s", text, why.message);
  return -1;
}

/* The number of a column, negative for descending; 0 after a message when it is none. */
static long read_column(const char *text) {
  rs_param param = {.name = "sort", .type = RS_INTEGER, .min = -CLI_ARGUMENTS, .max = CLI_ARGUMENTS};
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(&param, text, &value, &why) == RS_OK && value.number != 0) return (long)value.number;
  cli_error("--sort %s: %s", text, why.status != RS_OK ? why.message : "columns count from 1");
  return 0;
}

/* A base; 0 after a message when it is none. */
static double read_base(const char *text) {
  static const rs_param param = {.name = "base", .type = RS_REAL, .min = 1.000001, .max = 1e300};
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(&param, text, &value, &why) == RS_OK) return value.number;
  cli_error("--base %s: %s", text, why.message);
  return 0;
}

static bool add_edit(cli_options *options, const char *edit) {
  if (options->edit_count == CLI_EDITS) {
    cli_error("more than %d changes of the config", CLI_EDITS);
    return false;
  }
  options->edits[options->edit_count++] = edit;
  return true;
}

/* "4k,8k" -> the edit "lengths=[4k,8k]". */
static bool add_lengths(cli_options *options, const char *list) {
  rs_text edit = {0};
  free(options->lengths_edit);
  rs_text_printf(&edit, "lengths=[%s]", list);
  options->lengths_edit = edit.data;
  return !edit.failed && add_edit(options, options->lengths_edit);
}

static bool add_job(cli_options *options, const char *names) {
  if (options->job_count == CLI_JOBS) {
    cli_error("more than %d times --job (it takes lists: --job a,b)", CLI_JOBS);
    return false;
  }
  options->jobs[options->job_count++] = names;
  return true;
}

static bool add_only(cli_options *options, const char *names) {
  if (options->only_count == CLI_JOBS) {
    cli_error("more than %d times --only (it takes lists: --only a,b)", CLI_JOBS);
    return false;
  }
  options->only[options->only_count++] = names;
  return true;
}

rs_status cli_split_names(const char *const *lists, size_t list_count, char **words, const char ***names, size_t *count,
                          rs_err *err) {
  rs_text joined = {0};
  size_t most = 1;
  for (size_t i = 0; i < list_count; i++) rs_text_printf(&joined, "%s,", lists[i]);
  *words = joined.data;
  RS_TRY(rs_text_check(&joined, err));
  for (const char *c = joined.data; c != NULL && *c != '\0'; c++) most += *c == ',';
  *names = rs_alloc(most, sizeof **names, err);
  *count = 0;
  if (*names == NULL) return RS_MEMORY;
  for (char *word = joined.data != NULL ? strtok(joined.data, ",") : NULL; word != NULL; word = strtok(NULL, ","))
    (*names)[(*count)++] = word;
  return RS_OK;
}

static bool take(cli_options *options, int code, const char *value) {
  switch (code) {
  case SET: return add_edit(options, value);
  case LENGTHS: return add_lengths(options, value);
  case LENGTH: return (options->length = read_count("length", value, 1 << 28)) > 0;
  case THREADS: return (options->threads = read_count("threads", value, 1024)) > 0;
  case CRITERION: options->criterion = value; return true;
  case HEAD_DIM: return (options->head_dim = read_count("head-dim", value, 4096)) > 0;
  case BASE: return (options->base = read_base(value)) > 0;
  case OUT: options->out = value; return true;
  case HF: options->hf = value; return true;
  case MODEL: options->model = value; return true;
  case METHOD: options->method = value; return true;
  case RTOL: options->rtol_given = true; return (options->rtol = read_tolerance(value)) >= 0;
  case CSV: options->csv = true; return true;
  case CSV_FILE: options->csv_file = value; return true;
  case JOB: return add_job(options, value);
  case ONLY: return add_only(options, value);
  case ROUNDS: return (options->rounds = read_count("rounds", value, 1000)) > 0;
  case QUICK: options->quick = true; return true;
  case LIST: options->list = true; return true;
  case FULL: options->full = true; return true;
  case EXPERIMENTS: options->experiments = value; return true;
  case LINES: options->lines = value; return true;
  case WHERE: options->where = value; return true;
  case SORT: return (options->sort = read_column(value)) != 0;
  case ISA: options->isa = value; return true;
  case QUIET: options->quiet = true; return true;
  case PRINT: options->print = true; return true;
  case MARKDOWN: options->markdown = true; return true;
  case ALL: options->all = true; return true;
  case FORMAT: options->format = value; return true;
  default: return false;
  }
}

static void unknown_option(const char *word) {
  const char *names[RS_COUNT(table)], *bare = word + strspn(word, "-");
  for (size_t i = 0; i < RS_COUNT(table); i++) names[i] = table[i].name;
  const char *near = rs_suggest(bare, names, RS_COUNT(names));
  if (near != NULL)
    cli_error("no option %s (did you mean --%s?)", word, near);
  else
    cli_error("no option %s (ropescope --help shows them)", word);
}

/* The table as getopt has it. Of a name that means one thing with one command and another with another, getopt takes
 * the first: that of this command. */
static void make_options(const char *command, struct option *options) {
  for (int fitting = 1; fitting >= 0; fitting--)
    for (size_t i = 0; i < RS_COUNT(table); i++)
      if (((table[i].commands & command_bit(command)) != 0) == (fitting == 1))
        *options++ = (struct option){table[i].name, table[i].value != NULL ? required_argument : no_argument, NULL,
                                     table[i].code};
}

int cli_options_read(int count, char **arguments, cli_options *options) {
  struct option long_options[RS_COUNT(table) + 1] = {{0}};
  make_options(arguments[0], long_options);
  opterr = 0;
  for (int code; (code = getopt_long(count, arguments, ":", long_options, NULL)) != -1;) {
    const char *word = arguments[optind - 1];
    if (code == ':') cli_error("%s needs a value", word);
    if (code == '?') unknown_option(word);
    if (code == ':' || code == '?' || !fits(code, arguments[0]) || !take(options, code, optarg)) return CLI_USAGE;
  }
  for (; optind < count; optind++) {
    if (options->argument_count < RS_COUNT(options->arguments))
      options->arguments[options->argument_count] = arguments[optind];
    options->argument_count++;
  }
  return CLI_OK;
}

void cli_options_clear(cli_options *options) {
  free(options->lengths_edit);
}
