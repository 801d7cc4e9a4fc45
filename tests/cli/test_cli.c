/* test_cli.c: the program as its user meets it. Each case runs the real program (environment variable ROPESCOPE) in a
 * folder of its own and looks at its exit status, stdout, stderr and files. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ropescope/io.h"

/* ---- running the program ----------------------------------------------------------------------------------------- */

static char folder[64]; /* of the case that runs */

static void enter_folder(void) {
  strcpy(folder, "/tmp/ropescope-cli-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(chdir(folder), 0);
  cr_assert_not_null(getenv("ROPESCOPE"), "ROPESCOPE must name the program");
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void leave_folder(void) {
  cr_assert_eq(chdir("/"), 0);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(cli, .init = enter_folder, .fini = leave_folder);

enum { MOST_ARGUMENTS = 14 };

typedef struct command {
  const char *arguments[MOST_ARGUMENTS];
  const char *environment[4]; /* NAME=value */
  const char *out;            /* where stdout goes; NULL: into the result */
  rlim_t file_size, memory;   /* most bytes of a file, of the program; 0: no limit */
} command;

typedef struct result {
  int status;
  char *out, *err;
} result;

static char *read_back(FILE *file) {
  long size = (fseek(file, 0, SEEK_END), ftell(file));
  char *text = calloc((size_t)size + 1, 1);
  rewind(file);
  cr_assert_eq(fread(text, 1, (size_t)size, file), (size_t)size);
  fclose(file);
  return text;
}

static void start(const command *c, int out, int err) {
  const char *arguments[MOST_ARGUMENTS + 2] = {getenv("ROPESCOPE")};
  for (size_t i = 0; i < MOST_ARGUMENTS; i++) arguments[i + 1] = c->arguments[i];
  for (size_t i = 0; i < RS_COUNT(c->environment) && c->environment[i] != NULL; i++) putenv((char *)c->environment[i]);
  if (c->file_size > 0) {
    signal(SIGXFSZ, SIG_DFL); /* as a shell leaves it: it would kill the program */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){c->file_size, c->file_size});
  }
  if (c->memory > 0) setrlimit(RLIMIT_AS, &(struct rlimit){c->memory, c->memory});
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(arguments[0], (char **)arguments);
  _exit(127);
}

/* The exit status; a signal is 128 and its number. */
static int wait_for(pid_t child) {
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static result run(const command *c) {
  FILE *out = c->out != NULL ? fopen(c->out, "r+") : tmpfile(), *err = tmpfile();
  cr_assert(out != NULL && err != NULL);
  pid_t child = fork();
  if (child == 0) start(c, fileno(out), fileno(err));
  result got = {.status = wait_for(child)};
  got.out = c->out != NULL ? strdup("") : read_back(out);
  if (c->out != NULL) fclose(out);
  got.err = read_back(err);
  return got;
}

static void result_clear(result *got) {
  free(got->out);
  free(got->err);
}

/* Runs what must go well, and returns its stdout. Release with free(). */
static char *output_of(const command *c) {
  result got = run(c);
  cr_assert_eq(got.status, 0, "%s %s: status %d: %s", c->arguments[0], c->arguments[1], got.status, got.err);
  free(got.err);
  return got.out;
}

static void run_well(const command *c) {
  free(output_of(c));
}

static void expect_failure(const command *c, int status, const char *err) {
  result got = run(c);
  const char *last = c->arguments[1] != NULL ? c->arguments[1] : "";
  cr_expect_eq(got.status, status, "%s %s: status %d", c->arguments[0], last, got.status);
  cr_expect_str_eq(got.out, "", "%s %s wrote to stdout: %.80s", c->arguments[0], last, got.out);
  cr_expect_str_eq(got.err, err, "%s %s said: %s", c->arguments[0], last, got.err);
  result_clear(&got);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
}

/* Release with free(). */
static char *read_path(const char *path, size_t *length) {
  char *text;
  size_t unused;
  rs_err err = {0};
  cr_assert_eq(rs_file_read(path, 1 << 26, &text, length != NULL ? length : &unused, &err), RS_OK, "%s", err.message);
  return text;
}

static bool exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), size = strlen(end);
  return length >= size && strcmp(text + length - size, end) == 0;
}

/* The names in a folder that end so, sorted and joined by ' '. Release with free(). */
static char *names_in(const char *path, const char *end) {
  struct dirent **entries;
  rs_text names = {0};
  int count = scandir(path, &entries, NULL, alphasort);
  rs_text_puts(&names, "");
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (*name != '.' && ends_with(name, end)) rs_text_printf(&names, "%s%s", names.length > 0 ? " " : "", name);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return names.data != NULL ? names.data : strdup("");
}

static rs_table *table_of(const char *text, const char *name) {
  rs_table *table;
  rs_err err = {0};
  cr_assert_eq(rs_csv_read(text, strlen(text), name, &table, &err), RS_OK, "%s", err.message);
  return table;
}

static rs_table *read_table(const char *path) {
  char *text = read_path(path, NULL);
  rs_table *table = table_of(text, path);
  free(text);
  return table;
}

static const char *field(const rs_table *table, size_t row, const char *column) {
  int index = rs_table_column(table, column);
  cr_assert_geq(index, 0, "no column %s", column);
  return table->fields[row * table->columns + (size_t)index];
}

static double number(const rs_table *table, size_t row, const char *column) {
  double value = NAN;
  cr_expect(rs_number_read(field(table, row, column), &value), "%s: %s", column, field(table, row, column));
  return value;
}

/* Every CSV of two folders but timings.csv, byte for byte. */
static void expect_same_csv(const char *a, const char *b, const char *what) {
  char *names = names_in(a, ".csv"), *others = names_in(b, ".csv"), *rest = NULL;
  cr_expect_str_eq(names, others, "%s: %s and %s", what, names, others);
  cr_expect_gt(strlen(names), strlen("summary.csv timings.csv"));
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    size_t size[2];
    char *paths[] = {rs_path_join(a, name, NULL), rs_path_join(b, name, NULL)};
    char *text[] = {read_path(paths[0], &size[0]), read_path(paths[1], &size[1])};
    bool same = size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0;
    if (strcmp(name, "timings.csv") != 0) cr_expect(same, "%s: %s differs", what, name);
    for (int i = 0; i < 2; i++) {
      free(paths[i]);
      free(text[i]);
    }
  }
  free(names);
  free(others);
}

/* 7 methods, 2 lengths, 3 sources, 2 seeds: 84 cells, 6 of them beyond the learned table. */
static const char small[] =
    "name: small\n"
    "model: {name: tiny, head_dim: 16, heads: 4, train_length: 64}\n"
    "lengths: [32, 100]\n"
    "methods: [rope, {name: yarn, scale: [auto, 4]}, self_extend, alibi, learned, {name: "
    "sinusoidal, logit_scale: log_n}]\n"
    "sources: [{name: needle, depth: [0.25, 0.75]}, gaussian]\n"
    "seeds: 2\nheads: 2\nqueries: {last: 16}\n"
    "metrics: [decay, first_violation, ood_angles, local_resolution, entropy, effective_tokens, "
    "distance_mass, needle, score_by_distance, sink_mass]\n";
enum { SMALL_CELLS = 84, SMALL_FAILED = 6 };

static void run_small(const char *out, const char *option, const char *value, const char *environment) {
  write_file("small.yaml", small);
  run_well(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", out, option, value},
                      .environment = {environment}});
}

/* ---- help, version, wrong use ------------------------------------------------------------------------------------ */

Test(cli, help__every_command_and_option) {
  static const char *const words[] = {
      "  run [CONFIG]",   "  plan [CONFIG]", "  list ",     "  show TABLE", "  plot RESULTS", "  version ",
      "--set PATH=VALUE", "--lengths N",     "--length N ", "--threads N",  "--out DIR",      "--hf FILE",
      "--model ",         "--method ",       "--quiet",     "--print",      "--markdown",     "--no-png",
      "  compare A B",    "--rtol X",        "--csv",       "--help",       "Exit status:",   "  bench ",
      "--csv FILE",       "--job NAME",      "--list",      "--rounds N",   "--quick",        "--isa NAME"};
  static const command commands[] = {{{"--help"}, {0}, NULL, 0, 0},
                                     {{"-h"}, {0}, NULL, 0, 0},
                                     {{0}, {0}, NULL, 0, 0},
                                     {{"run", "--help"}, {0}, NULL, 0, 0}};
  char *first = output_of(&commands[0]);
  for (size_t i = 0; i < RS_COUNT(words); i++) cr_expect_not_null(strstr(first, words[i]), "no %s", words[i]);
  for (size_t i = 1; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_eq(got.status, 0);
    cr_expect_str_eq(got.out, first, "%zu", i);
    cr_expect_str_eq(got.err, "", "%zu", i);
    result_clear(&got);
  }
  free(first);
}

Test(cli, version__name_and_number) {
  static const char *const words[] = {"version", "--version"};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    char *out = output_of(&(command){.arguments = {words[i]}});
    unsigned number[3];
    char end = 0;
    cr_expect_eq(sscanf(out, "ropescope %u.%u.%u%c", &number[0], &number[1], &number[2], &end), 4, "%s", out);
    cr_expect_eq(end, '\n', "%s", out);
    free(out);
  }
}

Test(cli, wrong_use__status_2_and_why) {
  static const struct {
    const char *arguments[6], *err;
  } cases[] = {
      {{"frobnicate"}, "no command frobnicate (ropescope --help shows them)"},
      {{"plann"}, "no command plann (did you mean plan?)"},
      {{"--quiet"}, "no command --quiet (ropescope --help shows them)"},
      {{"run", "--ouy", "x"}, "no option --ouy (did you mean --out?)"},
      {{"run", "--xyzzy"}, "no option --xyzzy (ropescope --help shows them)"},
      {{"run", "--out"}, "--out needs a value"},
      {{"run", "--set"}, "--set needs a value"},
      {{"run", "--threads", "0"}, "--threads 0: must be from 1 to 1024"},
      {{"run", "--threads", "two"}, "--threads two: must be a number"},
      {{"run", "--threads", "1.5"}, "--threads 1.5: must be a whole number"},
      {{"show", "scale", "--length", "-3"}, "--length -3: must be from 1 to 268435456"},
      {{"run", "a", "b"}, "run takes at most 1 argument (ropescope --help)"},
      {{"show", "a", "b", "c"}, "show takes at most 2 arguments (ropescope --help)"},
      {{"version", "x"}, "version takes at most 0 arguments (ropescope --help)"},
      {{"plot"}, "plot needs a results folder, as in ropescope plot results/quickstart"},
      {{"show", "slope"}, "no table slope (did you mean slopes?)"},
      {{"list", "things"}, "no list of things (methods, kinds, sources, metrics, models)"},
      {{"plan", "--set", "x"}, "--set x: has no '=' (like --set methods[1].factor=8)"},
      {{"plan", "--set", "methods[99].factor=8"},
       "--set methods[99].factor=8: the list has 7 entries, and indices start at 0"},
      {{"show", "scale"},
       "one model and one recipe are wanted, not 1 and 7 (--set methods=[yarn] chooses)"},
      {{"show", "scale", "--set", "methods=rope"}, "the config has 6 lengths: choose one with --length"},
      {{"show", "slopes", "--model", "gpt2"}, "the method has no bias, hence no slopes (alibi has)"},
      {{"show", "slopes", "--model", "gpt2", "--method", "t5"}, "the bias has no slopes (alibi's has)"},
      {{"show", "bias", "--model", "gpt2"}, "the method has no bias (alibi, t5, kerple_log and others have)"},
      {{"show", "embedding", "--model", "llama-2-7b"},
       "the method adds no embedding (sinusoidal, learned and their 2d forms do)"},
      {{"show", "frequencies", "--model", "mpt-7b"}, "the method turns no pairs: it has no frequencies"},
      {{"show", "scale", "--hf=x.json", "--model=gpt2"}, "--hf and --model both name a model: keep one"},
      {{"show", "scale", "c.yaml", "--model=gpt2"}, "a config and --hf or --model both name a model: keep one"},
      {{"show", "scale", "c.yaml", "--hf=x.json"}, "a config and --hf or --model both name a model: keep one"},
      {{"show", "scale", "--method=rope"}, "--method needs --model or --hf"},
      {{"show", "scale", "c.yaml", "--method=rope"}, "--method needs --model or --hf"},
      {{"list", "sources", "--markdown"}, "--markdown goes with the list of methods only"},
      {{"list", "--markdown", "models"}, "--markdown goes with the list of methods only"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    rs_text err = {0};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    rs_text_printf(&err, "ropescope: %s\n", cases[i].err);
    expect_failure(&c, 2, err.data);
    rs_text_clear(&err);
  }
}

/* Each option with each command, the value before a word that ends the reading: wrong pairs are refused by name, right
 * ones get as far as that word. */
Test(cli, options__of_another_command__are_refused) {
  static const char *const commands[] = {"run", "plan", "list", "show", "plot", "compare", "bench", "version"};
  static const struct {
    const char *option, *name, *with; /* the commands it goes with */
  } options[] = {
      {"--set=seeds=2", "set", "run plan show"},
      {"--lengths=8", "lengths", "run plan"},
      {"--length=8", "length", "show plot compare"},
      {"--threads=1", "threads", "run plan list show plot compare bench version"},
      {"--out=o", "out", "run"},
      {"--hf=x", "hf", "show compare"},
      {"--model=gpt2", "model", "show compare"},
      {"--method=rope", "method", "show"},
      {"--quiet", "quiet", "run plan list show plot compare bench version"},
      {"--rtol=0", "rtol", "compare"},
      {"--csv", "csv", "compare"},
      {"--print", "print", "run"},
      {"--markdown", "markdown", "list"},
      {"--no-png", "no-png", "plot"},
      {"--job=read", "job", "bench"},
      {"--rounds=1", "rounds", "bench"},
      {"--quick", "quick", "bench"},
      {"--list", "list", "bench"},
      {"--isa=auto", "isa", "run plan list show plot compare bench version"},
  };
  for (size_t c = 0; c < RS_COUNT(commands); c++)
    for (size_t o = 0; o < RS_COUNT(options); o++) {
      char err[128];
      /* There it takes a value. */
      if (strcmp(options[o].name, "csv") == 0 && strcmp(commands[c], "bench") == 0) continue;
      bool lengths = strcmp(options[o].name, "length") == 0 && c < 2;
      if (strstr(options[o].with, commands[c]) != NULL)
        snprintf(err, sizeof err, "ropescope: no option --xyzzy (ropescope --help shows them)\n");
      else
        snprintf(err, sizeof err, "ropescope: --%s does not go with %s%s\n", options[o].name, commands[c],
                 lengths ? " (did you mean --lengths?)" : "");
      expect_failure(&(command){.arguments = {commands[c], options[o].option, "--xyzzy"}}, 2, err);
    }
  cr_expect(!exists("o") && !exists("results"));
}

Test(cli, missing_files__status_1_and_their_names) {
  static const struct {
    const char *arguments[4], *err;
  } cases[] = {
      {{"run", "no.yaml"}, "ropescope: no.yaml: cannot read: No such file or directory\n"},
      {{"plan", "."}, "ropescope: .: cannot read: Is a directory\n"},
      {{"show", "scale", "--hf", "no.json"}, "ropescope: no.json: cannot read: No such file or directory\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    expect_failure(&c, 1, cases[i].err);
  }
}

Test(cli, wrong_config__status_2_all_problems_and_nothing_written) {
  write_file("bad.yaml", "model: lama-2-7b\nmethods: [yarm]\nlengths: 1,5\n");
  static const char *const words[] = {"run", "plan"};
  for (size_t i = 0; i < RS_COUNT(words); i++)
    expect_failure(&(command){.arguments = {words[i], "bad.yaml"}}, 2,
                   "bad.yaml:1:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
                   "bad.yaml:3:10: lengths = 1,5: has a comma (write decimals with '.', thousands bare)\n"
                   "bad.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
                   "ropescope: bad.yaml: 3 problems\n");
  expect_failure(&(command){.arguments = {"run", "bad.yaml", "--out", "o"}, .file_size = 0}, 2,
                 "bad.yaml:1:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
                 "bad.yaml:3:10: lengths = 1,5: has a comma (write decimals with '.', thousands bare)\n"
                 "bad.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
                 "ropescope: bad.yaml: 3 problems\n");
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "bad.yaml", "%s", names);
  free(names);
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

Test(cli, run__files_rows_and_lines) {
  run_small("o", NULL, NULL, NULL);
  char *names = names_in("o", ""), *rest = NULL;
  cr_expect_str_eq(names,
                   "config.yaml decay.csv distance_mass.csv manifest.json needle.csv ood_angles.csv "
                   "score_by_distance.csv summary.csv timings.csv",
                   "%s", names);
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    size_t length;
    char *path = rs_path_join("o", name, NULL), *text = read_path(path, &length);
    cr_expect_null(memchr(text, '\r', length), "%s has a CR", name);
    cr_expect_gt(length, 0, "%s", name);
    if (ends_with(name, ".csv")) {
      rs_table *table = table_of(text, name);
      cr_expect_eq(text[length - 1], '\n', "%s", name);
      cr_expect_gt(table->rows, 0, "%s", name);
      cr_expect_str_eq(table->header[0], "cell", "%s", name);
      rs_table_free(table);
    }
    free(text);
    free(path);
  }
  free(names);
}

Test(cli, run__a_row_for_each_cell_in_order) {
  static const char *const methods[] = {"rope",  "yarn scale=auto", "yarn scale=4", "self_extend",
                                        "alibi", "learned",         "sinusoidal"};
  static const char *const sources[] = {"needle depth=0.25", "needle depth=0.75", "gaussian"};
  static const char *const lengths[] = {"32", "100"}, *const depths[] = {"0.25", "0.75", ""};
  run_small("o", NULL, NULL, NULL);
  rs_table *table = read_table("o/summary.csv");
  cr_assert_eq(table->rows, SMALL_CELLS, "%zu rows", table->rows);
  for (size_t row = 0; row < table->rows; row++) {
    size_t method = row / 12, length = row / 6 % 2, source = row / 2 % 3;
    cr_expect_eq(number(table, row, "cell"), (double)row);
    cr_expect_str_eq(field(table, row, "model"), "tiny");
    cr_expect_str_eq(field(table, row, "method"), methods[method]);
    cr_expect_str_eq(field(table, row, "length_tokens"), lengths[length]);
    cr_expect_str_eq(field(table, row, "source"), sources[source]);
    cr_expect_eq(number(table, row, "seed"), (double)(row % 2));
    cr_expect_str_eq(field(table, row, "heads"), "1 3");
    cr_expect_str_eq(field(table, row, "depth"), depths[source]);
    cr_expect_str_eq(field(table, row, "scale"), method == 1   ? (length == 0 ? "0.5" : "1.5625")
                                                 : method == 2 ? "4"
                                                               : "");
    static const char *const of_tables[] = {"mean_cosine_at_length", "ood_pairs", "first_violation_tokens"};
    for (size_t i = 0; i < RS_COUNT(of_tables); i++) /* the same for every source and seed */
      if (rs_table_column(table, of_tables[i]) >= 0)
        cr_expect_str_eq(field(table, row, of_tables[i]), field(table, row - row % 6, of_tables[i]));
    bool undefined = method == 5 && length == 1;
    cr_expect_str_eq(field(table, row, "status"), undefined ? "domain" : "ok");
    cr_expect_str_eq(field(table, row, "message"),
                     undefined ? "learned: position 99 is beyond the table of 64 rows" : "");
    cr_expect_eq(strlen(field(table, row, "entropy_nats")) == 0, undefined);
    cr_expect_eq(strlen(field(table, row, "entropy_nats_se")) == 0, undefined);
    cr_expect_eq(strlen(field(table, row, "needle_weight")) == 0, undefined || source == 2);
  }
  rs_table_free(table);
}

Test(cli, run__undefined_cells_are_told_and_status_is_0) {
  write_file("small.yaml", small);
  result got = run(&(command){.arguments = {"run", "small.yaml"}});
  cr_expect_eq(got.status, 0);
  cr_expect_str_eq(got.out, "", "%s", got.out);
  cr_expect_not_null(strstr(got.err, "84 cells in "), "%s", got.err);
  cr_expect_not_null(strstr(got.err, "6 of them without values: see status and message in results/small/summary.csv\n"),
                     "%s", got.err);
  cr_expect(exists("results/small/summary.csv"));
  cr_expect_null(strchr(got.err, '\033'), "%s", got.err);
  cr_expect_null(strchr(got.err, '\r'), "%s", got.err);
  result_clear(&got);
}

/* Somebody's file under one of our names stays; a folder that a run has made is made anew. */
Test(cli, run__folder_of_something_else__is_left_alone) {
  write_file("mine.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope]\nlengths: [64]\n");
  cr_assert_eq(mkdir("theirs", 0777), 0);
  write_file("theirs/decay.csv", "precious\n");
  result got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs"}});
  cr_expect_eq(got.status, 1);
  cr_expect_not_null(strstr(got.err, "theirs/decay.csv is there already, and no manifest.json says that a run made it"),
                     "%s", got.err);
  cr_expect(exists("theirs/decay.csv") && !exists("theirs/summary.csv"));
  result_clear(&got);
  write_file("theirs/decay.csv", "cell,model,method\n"); /* a result that was kept without its manifest is made anew */
  got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs"}});
  cr_expect(got.status == 0 && exists("theirs/summary.csv"), "%s", got.err);
  result_clear(&got);
  for (int again = 0; again < 2; again++) {
    got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs", "--quiet"}});
    cr_expect(got.status == 0 && *got.err == '\0', "%s", got.err);
    result_clear(&got);
  }
  got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "o", "--quiet", "--set", "tokens=[{text: 100}]"}});
  cr_expect(got.status == 1 &&
                strcmp(got.err, "ropescope: no cell has values: see status and message in o/summary.csv\n") == 0,
            "%s", got.err);
  result_clear(&got);
}

/* 1 where no cell has values: the config asked for nothing that there is. */
Test(cli, run__status__0_with_some_values_1_with_none) {
  static const struct {
    const char *methods, *lengths;
    int status;
    const char *err; /* after "cells in T s: o\n" */
  } cases[] = {
      {"[learned]", "[64]", 0, ""},
      {"[learned]", "[64, 65]", 0, "1 of them without values: see status and message in o/summary.csv\n"},
      {"[learned, rope]", "[65]", 0, "1 of them without values: see status and message in o/summary.csv\n"},
      {"[learned]", "[65]", 1, "ropescope: no cell has values: see status and message in o/summary.csv\n"},
      {"[learned]", "[65, 90]", 1, "ropescope: no cell has values: see status and message in o/summary.csv\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml, "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: %s\nlengths: %s\n",
                   cases[i].methods, cases[i].lengths);
    write_file("c.yaml", yaml.data);
    result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o"}});
    const char *line = strstr(got.err, " s: o\n");
    cr_expect_eq(got.status, cases[i].status, "%s: status %d", yaml.data, got.status);
    cr_expect(line != NULL && strcmp(line + 6, cases[i].err) == 0, "%s: %s", yaml.data, got.err);
    cr_expect(exists("o/summary.csv"));
    rs_text_clear(&yaml);
    result_clear(&got);
  }
}

/* 2^26 tokens take gigabytes, 8 none to speak of. */
Test(cli, run__cells_out_of_memory__status_1_and_the_others_are_there) {
#ifdef __SANITIZE_ADDRESS__
  cr_skip_test("the sanitizer needs all addresses");
#endif
  static const char *const metrics[] = {"--set=metrics=entropy", "--set=metrics=decay"};
  write_file("c.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope, alibi]\nlengths: [8, 64M]\n");
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--quiet", "--threads=1", metrics[i]},
                                .memory = 512 << 20});
    cr_expect_eq(got.status, 1, "status %d", got.status);
    cr_expect_str_eq(got.err, "ropescope: 2 cells ran out of memory (ropescope plan says what a run takes)\n", "%s",
                     got.err);
    rs_table *table = read_table("o/summary.csv");
    cr_assert_eq(table->rows, 4);
    for (size_t row = 0; row < 4; row++) {
      cr_expect_str_eq(field(table, row, "status"), row % 2 == 0 ? "ok" : "memory");
      cr_expect_eq(strncmp(field(table, row, "message"), "out of memory", 13) == 0, row % 2 == 1);
    }
    rs_table_free(table);
    result_clear(&got);
  }
}

Test(cli, run__quiet_is_silent_and_print_fills_stdout) {
  write_file("small.yaml", small);
  result quiet = run(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "o"}});
  cr_expect_eq(quiet.status, 0);
  cr_expect_str_eq(quiet.out, "");
  cr_expect_str_eq(quiet.err, "", "%s", quiet.err);
  char *print = output_of(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "p", "--print"}});
  cr_expect_eq(strncmp(print, "small at 100 tokens, source ", 28), 0, "%s", print);
  static const char *const rows[] = {"\nrope ", "\nyarn scale=auto ", "\nalibi ", "\nlearned ", "\nsinusoidal "};
  for (size_t i = 0; i < RS_COUNT(rows); i++) cr_expect_not_null(strstr(print, rows[i]), "%s in %s", rows[i], print);
  free(print);
  result_clear(&quiet);
}

Test(cli, run__same_bytes_for_any_number_of_threads) {
  static const char *const counts[] = {"2", "3", "8"};
  run_small("t1", "--threads", "1", NULL);
  for (size_t i = 0; i < RS_COUNT(counts); i++) {
    char environment[32];
    snprintf(environment, sizeof environment, "OMP_NUM_THREADS=%s", counts[i]);
    run_small("t", "--threads", counts[i], NULL);
    expect_same_csv("t1", "t", counts[i]);
    run_small("e", NULL, NULL, environment);
    expect_same_csv("t1", "e", environment);
  }
}

/* What the models publish must survive the trip too. */
Test(cli, run__results_run_again_give_the_same_bytes) {
  static const char *const configs[] = {
      small,
      "model: [gpt-oss, qwen2-vl, deepseek-v3]\nlengths: [32, 48]\nmethods: [yarn, mrope, {name: yarn, factor: 4}]\n"
      "tokens: [{text: 3}, {image: [3, 4]}, {video: [2, 2, 2], seconds_per_frame: 1, ids_per_second: 1.5}]\nheads: "
      "{each: [0, 5]}\n"
      "queries: {every: 5}\nmask: {window: 20, sinks: 2}\nprecision: {angle: f32}\nmetrics: [decay, ood_angles, "
      "entropy, sink_mass]\nzip: [lengths, seeds]\nseeds: [5, 9]\n",
      "model: {head_dim: 8, heads: 2, train_length: 16, published: {name: alibi, bias_max: 4}}\nmethods: [alibi, "
      "{name: nope, label: 'a \"quoted\", label'}]\nmetrics: [entropy, decay]\nheads: 1\n",
  };
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    write_file("c.yaml", configs[i]);
    run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a"}});
    run_well(&(command){.arguments = {"run", "a/config.yaml", "--out", "b"}});
    expect_same_csv("a", "b", configs[i]);
    char *before = read_path("a/config.yaml", NULL), *after = read_path("b/config.yaml", NULL);
    cr_expect_str_eq(before, after);
    free(before);
    free(after);
    nftw("a", remove_one, 16, FTW_DEPTH | FTW_PHYS);
    nftw("b", remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
}

Test(cli, run__manifest_tells_config_and_columns) {
  char sha[65];
  size_t length;
  rs_tree *tree;
  rs_err err = {0};
  run_small("o", NULL, NULL, NULL);
  char *config = read_path("o/config.yaml", &length);
  rs_sha256_hex(config, length, sha);
  char *text = read_path("o/manifest.json", &length);
  cr_assert_eq(rs_json_read(text, length, "manifest.json", &tree, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(rs_node_get(&tree->root, "config_sha256")->text, sha);
  cr_expect_str_eq(rs_node_get(&tree->root, "config")->text, config);
  cr_expect_str_eq(rs_node_get(&tree->root, "name")->text, "small");
  const rs_node *files = rs_node_get(&tree->root, "files");
  cr_expect_eq(files->count, 6, "%zu", files->count);
  for (size_t f = 0; f < files->count; f++) {
    const rs_node *columns = rs_node_get(&files->items[f], "columns");
    char *path = rs_path_join("o", rs_node_get(&files->items[f], "file")->text, NULL);
    rs_table *table = read_table(path);
    cr_assert_eq(table->columns, columns->count, "%s: %zu columns, the manifest has %zu", path, table->columns,
                 columns->count);
    for (size_t c = 0; c < columns->count; c++) {
      const char *unit = rs_node_get(&columns->items[c], "unit")->text;
      cr_expect_str_eq(table->header[c], rs_node_get(&columns->items[c], "name")->text);
      if (strcmp(unit, "nats") == 0) cr_expect_not_null(strstr(table->header[c], "_nats"), "%s", table->header[c]);
    }
    rs_table_free(table);
    free(path);
  }
  rs_tree_free(tree);
  free(text);
  free(config);
}

/* Every kind that took part: stage by stage, the temperature among them. */
Test(cli, run__manifest_lists_every_kind) {
  static const char *const parts[] = {"\"identity\"",  "\"self_extend\"", "\"default\"",   "\"yarn\"",   "\"alibi\"",
                                      "\"learned\"",   "\"sinusoidal\"",  "\"log_n\"",     "\"needle\"", "\"gaussian\"",
                                      "\"sink_mass\"", "\"entropy\"",     "\"version\": 1"};
  run_small("o", NULL, NULL, NULL);
  char *text = read_path("o/manifest.json", NULL), *kinds = strstr(text, "\"kinds\"");
  cr_assert_not_null(kinds);
  *strstr(kinds, "\"files\"") = '\0';
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_expect_not_null(strstr(kinds, parts[i]), "no %s", parts[i]);
  free(text);
}

/* A German locale, made here where the system has none but can make one. */
Test(cli, run__comma_locale_same_bytes) {
  bool made = system("localedef --no-archive -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") >= 0;
  char path[128];
  snprintf(path, sizeof path, "LOCPATH=%s", folder);
  run_small("c", NULL, NULL, "LC_ALL=C");
  write_file("small.yaml", small);
  run_well(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "g"},
                      .environment = {"LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8", made ? path : NULL}});
  expect_same_csv("c", "g", "LC_ALL=de_DE.UTF-8");
  char *text = read_path("g/summary.csv", NULL);
  cr_expect_not_null(strstr(text, "1.5625"));
  free(text);
}

Test(cli, run__set_and_lengths_change_the_config) {
  write_file("small.yaml", small);
  run_well(
      &(command){.arguments = {"run", "small.yaml", "--out", "o", "--lengths", "8,12,16", "--set", "methods[1].scale=2",
                               "--set", "seeds=1", "--set=sources=gaussian", "--set=metrics=[entropy]"}});
  rs_table *table = read_table("o/summary.csv");
  cr_expect_eq(table->rows, 6 * 3);
  cr_expect_str_eq(field(table, 1, "length_tokens"), "12");
  cr_expect_eq(number(table, 3, "scale"), 2);
  rs_table_free(table);
}

Test(cli, run__no_config_is_the_demo) {
  run_well(&(command){.arguments = {"run", "--quiet", "--lengths", "16,64", "--set", "metrics=[decay, ood_angles]"}});
  rs_table *table = read_table("results/quickstart/summary.csv");
  cr_expect_eq(table->rows % 2, 0);
  cr_expect_geq(table->rows, 14);
  rs_table_free(table);
}

/* ---- when writing fails ------------------------------------------------------------------------------------------ */

Test(cli, run__folder_that_cannot_be_made__status_1_and_nothing_written) {
  write_file("small.yaml", small);
  write_file("file", "x");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "file"}}, 1,
                 "ropescope: file: cannot make the directory: Not a directory\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "file/deeper/o"}}, 1,
                 "ropescope: file: cannot make the directory: Not a directory\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "/proc/nothing"}}, 1,
                 "ropescope: /proc/nothing: cannot make the directory: No such file or directory\n");
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "file small.yaml", "%s", names);
  free(names);
}

/* LLVM's OpenMP keeps 1024 bytes in a file of shared memory, and ends a program that may not make it. */
#if defined(_OPENMP) && defined(__clang__)
enum { LEAST_FILE = 1024 };
#else
enum { LEAST_FILE = 1 };
#endif

/* Limits from the first file on, and one that only the largest file meets. */
Test(cli, run__disk_full__status_1_whole_files_only) {
  static const rlim_t limits[] = {600, 1024, 3000, 20000}; /* 1024: ulimit -f 1 */
  run_small("whole", NULL, NULL, NULL);
  for (size_t i = 0; i < RS_COUNT(limits); i++) {
    if (limits[i] < LEAST_FILE) continue;
    result got = run(&(command){.arguments = {"run", "small.yaml", "--out", "o"}, .file_size = limits[i]});
    cr_expect_eq(got.status, 1, "%zu bytes: status %d", (size_t)limits[i], got.status);
    cr_expect_not_null(strstr(got.err, "cannot write: File too large"), "%s", got.err);
    cr_expect_str_eq(got.out, "");
    char *names = names_in("o", ""), *rest = NULL;
    cr_expect_null(strstr(names, ".tmp"), "%s", names);
    cr_expect_null(strstr(names, "summary.csv"), "summary.csv says that a folder is complete: %s", names);
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
      char *path = rs_path_join("o", name, NULL), *reference = rs_path_join("whole", name, NULL);
      size_t size[2];
      char *text[] = {read_path(path, &size[0]), read_path(reference, &size[1])};
      if (strcmp(name, "timings.csv") != 0 && strcmp(name, "manifest.json") != 0)
        cr_expect(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0, "%s is not whole", path);
      free(text[0]);
      free(text[1]);
      free(path);
      free(reference);
    }
    result_clear(&got);
    free(names);
    nftw("o", remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
}

/* A half-written folder must not look like the complete one it was. */
Test(cli, run__disk_full_in_an_old_folder__no_summary_and_no_stale_curves) {
  static const rlim_t limits[] = {100, 1024, 4000};
  static const char fewer[] = "--set=metrics=[entropy, {name: decay, distances: all}]";
  for (size_t i = 0; i < RS_COUNT(limits); i++) {
    if (limits[i] < LEAST_FILE) continue;
    run_small("o", NULL, NULL, NULL);
    result got = run(&(command){.arguments = {"run", "small.yaml", "--out", "o", fewer}, .file_size = limits[i]});
    cr_expect_eq(got.status, 1, "%zu bytes: status %d", (size_t)limits[i], got.status);
    cr_expect_eq(strncmp(got.err, "ropescope: o/", 13), 0, "%s", got.err);
    cr_expect(ends_with(got.err, ": cannot write: File too large\n"), "%s", got.err);
    char *names = names_in("o", "");
    cr_expect_str_eq(names, "config.yaml manifest.json timings.csv", "%zu bytes: %s", (size_t)limits[i], names);
    free(names);
    result_clear(&got);
  }
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "o", fewer}});
  char *names = names_in("o", "");
  cr_expect_str_eq(names, "config.yaml decay.csv manifest.json summary.csv timings.csv", "%s", names);
  free(names);
}

/* summary.csv says that a folder is complete, so nothing may come after it. */
Test(cli, run__manifest_that_cannot_be_written__no_summary) {
  write_file("small.yaml", small);
  cr_assert_eq(mkdir("o", 0777) + mkdir("o/manifest.json", 0777), 0);
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "o"}}, 1,
                 "ropescope: o/manifest.json: cannot write: not a regular file\n");
  cr_expect(!exists("o/summary.csv"));
}

Test(cli, full_stdout__status_1_and_a_message) {
  static const command commands[] = {
      {{"show", "scale", "--model", "llama-2-7b"}, {0}, "/dev/full", 0, 0},
      {{"show", "frequencies", "--model", "llama-2-7b"}, {0}, "/dev/full", 0, 0},
      {{"show", "embedding", "--model", "gpt2"}, {0}, "/dev/full", 0, 0},
      {{"list"}, {0}, "/dev/full", 0, 0},
      {{"list", "--markdown"}, {0}, "/dev/full", 0, 0},
      {{"plan"}, {0}, "/dev/full", 0, 0},
      {{"version"}, {0}, "/dev/full", 0, 0},
      {{"--help"}, {0}, "/dev/full", 0, 0},
      {{"run", "--quiet", "--print", "--lengths", "8", "--set", "metrics=[decay]"}, {0}, "/dev/full", 0, 0},
  };
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_eq(got.status, 1, "%s: status %d", commands[i].arguments[0], got.status);
    cr_expect_str_eq(got.err, "ropescope: cannot write to standard output: No space left on device\n", "%s: %s",
                     commands[i].arguments[0], got.err);
    result_clear(&got);
  }
}

/* ---- terminals --------------------------------------------------------------------------------------------------- */

/* What a command shows on a terminal at stderr. Release with free(). */
static char *on_terminal(const command *c) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_WRONLY);
  char name[64], buffer[4096];
  rs_text shown = {0};
  cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  cr_assert_eq(ptsname_r(terminal, name, sizeof name), 0);
  int slave = open(name, O_RDWR | O_NOCTTY);
  pid_t child = fork();
  if (child == 0) start(c, null, slave);
  close(slave);
  for (ssize_t got; (got = read(terminal, buffer, sizeof buffer)) > 0;) rs_text_add(&shown, buffer, (size_t)got);
  wait_for(child);
  close(terminal);
  close(null);
  char *copy = strdup(rs_text_string(&shown));
  rs_text_clear(&shown);
  return copy;
}

Test(cli, terminal__colour_unless_the_user_minds) {
  static const struct {
    const char *environment;
    bool colour;
  } cases[] = {{"NO_COLOR=", true}, {"NO_COLOR=1", false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *shown = on_terminal(&(command){.arguments = {"frobnicate"}, .environment = {cases[i].environment}});
    cr_expect_not_null(strstr(shown, "no command frobnicate"), "%s", shown);
    cr_expect_eq(strchr(shown, '\033') != NULL, cases[i].colour, "%s: %s", cases[i].environment, shown);
    free(shown);
  }
}

Test(cli, terminal__progress_unless_quiet) {
  write_file("small.yaml", small);
  char *loud = on_terminal(&(command){.arguments = {"run", "small.yaml", "--out", "o"}});
  cr_expect_not_null(strstr(loud, "100.0 %"), "%s", loud);
  cr_expect_not_null(strstr(loud, "of 84 cells"), "%s", loud);
  cr_expect_not_null(strstr(loud, " s left"), "%s", loud);
  char *quiet = on_terminal(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--quiet"}});
  cr_expect_str_eq(quiet, "");
  free(loud);
  free(quiet);
}

/* ---- show -------------------------------------------------------------------------------------------------------- */

static rs_table *show(const char *const arguments[MOST_ARGUMENTS - 1], const char *header) {
  command c = {.arguments = {"show"}};
  for (size_t i = 0; i + 1 < MOST_ARGUMENTS && arguments[i] != NULL; i++) c.arguments[i + 1] = arguments[i];
  char *out = output_of(&c);
  cr_expect_eq(strncmp(out, header, strlen(header)), 0, "%s: %.100s", arguments[0], out);
  rs_table *table = table_of(out, arguments[0]);
  free(out);
  return table;
}

static void expect_near(double got, double want, const char *what, size_t index) {
  cr_expect(fabs(got - want) <= 1e-12 * fabs(want), "%s %zu: %.17g, want %.17g", what, index, got, want);
}

static const char frequencies[] = "pair,axis,omega_rad_per_token,wavelength_tokens,amp\n";

/* arXiv:2407.21783; Llama-3.1: factor 8, low 1, high 4, 8192 tokens, theta 500000. From a preset and from a file. */
Test(cli, show_frequencies__llama_3_1_by_its_formula) {
  rs_text file = {0};
  rs_text_printf(&file, "%s/data/hf/llama-3.1.json", getenv("ROPESCOPE_TESTS"));
  const char *const ways[][4] = {{"frequencies", "--model", "llama-3.1-8b"}, {"frequencies", "--hf", file.data}};
  for (size_t w = 0; w < RS_COUNT(ways); w++) {
    const char *arguments[MOST_ARGUMENTS - 1] = {ways[w][0], ways[w][1], ways[w][2]};
    rs_table *table = show(arguments, frequencies);
    cr_assert_eq(table->rows, 64);
    for (size_t j = 0; j < 64; j++) {
      double plain = pow(500000, -(double)j / 64), wavelength = 2 * M_PI / plain;
      double smooth = (8192 / wavelength - 1) / (4 - 1);
      double want = wavelength < 8192.0 / 4 ? plain
                    : wavelength > 8192.0   ? plain / 8
                                            : (1 - smooth) * plain / 8 + smooth * plain;
      expect_near(number(table, j, "omega_rad_per_token"), want, "omega", j);
      expect_near(number(table, j, "wavelength_tokens"), 2 * M_PI / want, "wavelength", j);
      cr_expect_eq(number(table, j, "pair"), (double)j);
      cr_expect_eq(number(table, j, "amp"), 1);
      cr_expect_str_eq(field(table, j, "axis"), "t");
    }
    rs_table_free(table);
  }
  rs_text_clear(&file);
}

Test(cli, show_frequencies__length_method_and_axes) {
  static const char *const pi[MOST_ARGUMENTS - 1] = {
      "frequencies", "--model", "llama-2-7b", "--method", "{name: pi, scale: auto}", "--length", "16k"};
  rs_table *table = show(pi, frequencies);
  for (size_t j = 0; j < 64; j++)
    expect_near(number(table, j, "omega_rad_per_token"), pow(10000, -(double)j / 64) / 4, "omega", j);
  rs_table_free(table);
  static const char *const yarn[MOST_ARGUMENTS - 1] = {"frequencies", "--model", "yarn-llama-2-7b-64k"};
  table = show(yarn, frequencies);
  expect_near(number(table, 0, "amp"), 0.1 * log(16) + 1, "amp", 0);
  rs_table_free(table);
  static const char *const mrope[MOST_ARGUMENTS - 1] = {"frequencies", "--model", "qwen2-vl", "--length", "8"};
  table = show(mrope, frequencies);
  for (size_t j = 0; j < 64; j++)
    cr_expect_str_eq(field(table, j, "axis"), j < 16 ? "t" : j < 40 ? "h" : "w", "pair %zu", j);
  rs_table_free(table);
}

/* 2^(-8 (h + 1) / 32): MPT has 32 heads and bias_max 8. */
Test(cli, show_slopes__mpt) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"slopes", "--model", "mpt-7b"};
  rs_table *table = show(arguments, "head,slope\n");
  cr_assert_eq(table->rows, 32);
  for (size_t h = 0; h < 32; h++) {
    cr_expect_eq(number(table, h, "head"), (double)h);
    expect_near(number(table, h, "slope"), pow(2, -8.0 * (double)(h + 1) / 32), "slope", h);
  }
  rs_table_free(table);
}

Test(cli, show_bias__slope_times_distance) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"bias", "--model", "mpt-7b", "--length", "5"};
  rs_table *table = show(arguments, "head,query,key,bias_nats\n");
  cr_assert_eq(table->rows, 32 * 15);
  for (size_t row = 0, head = 0; head < 32; head++)
    for (size_t query = 0; query < 5; query++)
      for (size_t key = 0; key <= query; key++, row++) {
        cr_expect_eq(number(table, row, "head"), (double)head);
        cr_expect_eq(number(table, row, "query"), (double)query);
        cr_expect_eq(number(table, row, "key"), (double)key);
        expect_near(number(table, row, "bias_nats"), -pow(2, -(double)(head + 1) / 4) * (double)(query - key), "bias",
                    row);
      }
  rs_table_free(table);
}

Test(cli, show_scale__log_n) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {
      "scale", "--model", "llama-2-7b", "--method", "{name: rope, logit_scale: log_n}", "--length", "8k"};
  rs_table *table = show(arguments, "query,logit_scale\n");
  cr_assert_eq(table->rows, 8192);
  for (size_t m = 0; m < 8192; m++)
    expect_near(number(table, m, "logit_scale"), fmax(1, log((double)m + 1) / log(4096)), "query", m);
  rs_table_free(table);
}

Test(cli, show_positions__several_views_or_places_of_each_pair) {
  char *out = output_of(&(command){.arguments = {"show", "positions", "--model", "llama-2-7b", "--method",
                                                 "{name: rerope, window: 2}", "--length", "3"}});
  cr_assert_str_eq(
      out, "token,view,query_position,key_position\n0,0,0,0\n0,1,2,0\n1,0,1,1\n1,1,2,0\n2,0,2,2\n2,1,2,0\n", "%s", out);
  free(out);
  out = output_of(&(command){.arguments = {"show", "frequencies", "--model", "llama-2-7b", "--method",
                                           "{name: rope, cached_keys: 2}", "--length", "3"}});
  cr_assert_not_null(strstr(out, "\n0,own,1,"), "%s", out);
  free(out);
}

Test(cli, show_positions__text_image_video) {
  write_file("c.yaml",
             "model: qwen2-vl\nmethods: mrope\nlengths: 16\ntokens: [{text: 2}, {image: [2, 3]}, {video: [2, 1, "
             "2], seconds_per_frame: 1, ids_per_second: 2}, {text: 1}]\n");
  char *out = output_of(&(command){.arguments = {"show", "positions", "c.yaml"}});
  cr_expect_str_eq(out,
                   "token,segment,t,h,w\n0,0,0,0,0\n1,0,1,1,1\n"
                   "2,1,2,2,2\n3,1,2,2,3\n4,1,2,2,4\n5,1,2,3,2\n6,1,2,3,3\n7,1,2,3,4\n"
                   "8,2,5,5,5\n9,2,5,5,6\n10,2,7,5,5\n11,2,7,5,6\n"
                   "12,3,8,8,8\n13,4,9,9,9\n14,4,10,10,10\n15,4,11,11,11\n",
                   "%s", out);
  free(out);
}

/* arXiv:1706.03762: the embedding is as wide as the token, 8 heads of 64. */
Test(cli, show_embedding__sinusoidal) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"embedding", "--model", "transformer-base", "--length",
                                                            "7"};
  rs_table *table = show(arguments, "position,dim,value\n");
  cr_assert_eq(table->rows, 7 * 512);
  for (size_t row = 0; row < table->rows; row++) {
    size_t position = row / 512, dim = row % 512;
    double angle = (double)position * pow(10000, -(double)(dim / 2 * 2) / 512);
    cr_expect_eq(number(table, row, "position"), (double)position);
    cr_expect_eq(number(table, row, "dim"), (double)dim);
    cr_expect_float_eq(number(table, row, "value"), dim % 2 == 0 ? sin(angle) : cos(angle), 1e-14);
  }
  rs_table_free(table);
}

Test(cli, show__undefined_length__status_2_and_nothing_on_stdout) {
  static const char *const tables[] = {"embedding", "scale", "positions"};
  for (size_t i = 0; i < RS_COUNT(tables); i++)
    expect_failure(&(command){.arguments = {"show", tables[i], "--model", "gpt2", "--length", "1100"}}, 2,
                   "ropescope: learned: position 1099 is beyond the table of 1024 rows\n");
}

/* ---- plan, list, plot -------------------------------------------------------------------------------------------- */

Test(cli, plan__counts_and_runs_nothing) {
  write_file("small.yaml", small);
  char *out = output_of(&(command){.arguments = {"plan", "small.yaml"}});
  cr_expect_not_null(strstr(out, "name            small\n"), "%s", out);
  cr_expect_not_null(
      strstr(out,
             "cells           84 (1 models, 7 methods, 2 lengths, 3 sources, 2 seeds)\nsummary.csv     84 rows of "),
      "%s", out);
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "small.yaml", "%s", names);
  run_small("o", NULL, NULL, NULL);
  rs_table *table = read_table("o/summary.csv");
  char columns[64];
  snprintf(columns, sizeof columns, "84 rows of %zu columns\n", table->columns);
  cr_expect_not_null(strstr(out, columns), "%s: %s", columns, out);
  size_t rows = 0;
  static const char *const curves[] = {"decay", "distance_mass", "needle", "ood_angles", "score_by_distance"};
  for (size_t i = 0; i < RS_COUNT(curves); i++) {
    char path[64];
    snprintf(path, sizeof path, "o/%s.csv", curves[i]);
    rs_table *curve = read_table(path);
    rows += curve->rows;
    rs_table_free(curve);
  }
  double most = 0;
  cr_expect_eq(sscanf(strstr(out, "curves"), "curves at most %lf rows", &most), 1, "%s", out);
  cr_expect_geq(most, (double)rows);
  rs_table_free(table);
  free(names);
  free(out);
}

Test(cli, list__every_part_and_every_parameter) {
  static const struct {
    const char *list, *parts[6];
  } cases[] = {{"methods", {"yarn\n", "beta_fast", "default 32", "arXiv:2309.00071", "learned\n", "alibi\n"}},
               {"sources", {"needle\n", "depth", "0 to 1", "default 0.5", "gaussian\n", "grid\n"}},
               {"metrics",
                {"entropy\n", "summary.csv: entropy_nats [nats]", "(lower is better)", "with _se",
                 "decay.csv: distance_tokens [tokens]", "needle\n"}},
               {"models", {"llama-2-7b ", "mpt-7b ", " alibi\n", " longrope\n", "qwen2-vl ", " 131072 "}}};
  char *all = output_of(&(command){.arguments = {"list"}});
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"list", cases[i].list}});
    for (size_t p = 0; p < RS_COUNT(cases[i].parts); p++)
      cr_expect_not_null(strstr(out, cases[i].parts[p]), "list %s lacks %s", cases[i].list, cases[i].parts[p]);
    cr_expect_not_null(strstr(all, out), "list lacks list %s", cases[i].list);
    free(out);
  }
  free(all);
}

Test(cli, list_markdown__is_the_table_of_the_readme) {
  rs_text path = {0};
  rs_text_printf(&path, "%s/../README.md", getenv("ROPESCOPE_TESTS"));
  char *readme = read_path(path.data, NULL), *table = output_of(&(command){.arguments = {"list", "--markdown"}});
  char *begin = strstr(readme, "<!-- methods -->\n"), *end = strstr(readme, "<!-- /methods -->");
  cr_assert(begin != NULL && end != NULL, "README.md has no <!-- methods --> ... <!-- /methods -->");
  *end = '\0';
  cr_expect_str_eq(begin + strlen("<!-- methods -->\n"), table,
                   "the table of README.md is not what ropescope list --markdown prints");
  free(readme);
  free(table);
  rs_text_clear(&path);
}

Test(cli, plot__pictures_of_a_small_result) {
  run_small("o", NULL, NULL, NULL);
  result got = run(&(command){.arguments = {"plot", "o", "--no-png"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_str_eq(got.out, "");
  char *names = names_in("o/plots", ".svg"), *rest = NULL, *all = names_in("o/plots", "");
  cr_expect_str_eq(names, all, "no PNG was asked for");
  cr_expect_gt(strlen(names), 0);
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    char *path = rs_path_join("o/plots", name, NULL), *text = read_path(path, NULL);
    cr_expect(strncmp(text, "<svg", 4) == 0 || strncmp(text, "<?xml", 5) == 0, "%s: %.20s", name, text);
    cr_expect_not_null(strstr(text, "</svg>"), "%s", name);
    free(text);
    free(path);
  }
  result quiet = run(&(command){.arguments = {"plot", "o", "--no-png", "--quiet"}});
  cr_expect_str_eq(quiet.err, "", "%s", quiet.err);
  result_clear(&quiet);
  result_clear(&got);
  free(names);
  free(all);
}

Test(cli, plot__only__draws_those_or_names_what_is_none) {
  run_small("o", NULL, NULL, NULL);
  result all = run(&(command){.arguments = {"plot", "o", "--no-png"}});
  char *names = names_in("o/plots", ".svg"), *rest = NULL, *first = strtok_r(names, " ", &rest);
  cr_assert(first != NULL && *rest != '\0', "several pictures");
  run_small("p", NULL, NULL, NULL);
  result one = run(&(command){.arguments = {"plot", "p", "--no-png", "--only", first}});
  char *left = names_in("p/plots", "");
  cr_expect(one.status == 0 && strcmp(left, first) == 0, "%s: %s", one.err, left);
  static const char *const wrong[][2] = {{"nothing_like_it", "no picture or column is \"nothing_like_it\""},
                                         {",", "only: there is no name in it"}};
  for (size_t i = 0; i < 2; i++) {
    result got = run(&(command){.arguments = {"plot", "p", "--only", wrong[i][0]}});
    cr_expect(got.status == 2 && strstr(got.err, wrong[i][1]) != NULL, "%d: %s", got.status, got.err);
    result_clear(&got);
  }
  result_clear(&all);
  result_clear(&one);
  free(names);
  free(left);
}

Test(cli, plot__no_results__status_2_and_their_name) {
  result got = run(&(command){.arguments = {"plot", "nowhere"}});
  cr_expect_eq(got.status, 2, "status %d", got.status);
  cr_expect_str_eq(got.err,
                   "ropescope: nowhere is no results folder: it has no manifest.json (ropescope run writes one)\n");
  cr_expect(!exists("nowhere"));
  result_clear(&got);
}
