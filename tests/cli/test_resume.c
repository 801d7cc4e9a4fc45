/* test_resume.c: runs that are killed, interrupted, or changed, and what the next run makes of them. */
#include "../fixtures/program.h"

#include <signal.h>
#include <time.h>

TestSuite(resume, .init = enter_folder, .fini = leave_folder);

/* Takes some 0.2 s, in ten portions. */
static const char slow_config[] =
    "name: slow\nmodel: {head_dim: 32, heads: 2, train_length: 256}\nmethods: [rope, alibi, sinusoidal]\n"
    "lengths: [64, 128, 192, 256, 320, 384, 448, 512, 576, 640]\nseeds: 2\nsources: [needle, gaussian]\n"
    "metrics: [entropy, decay, needle, distance_mass]\nqueries: all\n";

/* Starts a run into `o`; its stderr goes to the file `err`. */
static pid_t start_run(const char *more) {
  static const command plain = {.arguments = {"run", "slow.yaml", "--out", "o", "--threads=1"}};
  command c = plain;
  c.arguments[5] = more;
  FILE *err = fopen("err", "w+"), *out = fopen("/dev/null", "w");
  cr_assert(err != NULL && out != NULL);
  pid_t child = fork();
  if (child == 0) start(&c, fileno(out), fileno(err));
  fclose(err);
  fclose(out);
  return child;
}

static void sleep_for(double seconds) {
  nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The seconds of a whole run into `whole`. */
static double run_whole(void) {
  write_file("slow.yaml", slow_config);
  double begun = now();
  run_well(&(command){.arguments = {"run", "slow.yaml", "--out", "whole", "--quiet", "--threads=1"}});
  return now() - begun;
}

static void expect_whole(const char *what) {
  run_well(&(command){.arguments = {"run", "slow.yaml", "--out", "o", "--quiet", "--threads=1"}});
  run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
  expect_same_csv("o", "whole", what);
  cr_expect(!exists(".ropescope-o.new") && !exists("o/.ropescope/new"), "%s", what);
}

/* ---- kills ------------------------------------------------------------------------------------------------------- */

/* Again and again in one folder, and each time in a new one: what a killed run has left becomes whole. */
Test(resume, killed_at_many_instants__the_next_run_gives_the_same_bytes) {
  enum { KILLS = 8 };
  double whole = run_whole();
  for (int i = 0; i < KILLS; i++) {
    if (i % 4 == 0) remove_folder("o");
    pid_t child = start_run(NULL);
    sleep_for(whole * (i + 0.5) / KILLS);
    kill(child, SIGKILL);
    (void)wait_for(child);
    if (exists("o/summary.csv")) run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
    if (i % 2 == 1) expect_whole("after a kill");
  }
}

/* Of a set that is complete nothing is lost while another config runs over it. */
Test(resume, killed_over_complete_results__they_stay) {
  double whole = run_whole();
  for (int i = 0; i < 4; i++) {
    expect_whole("before a kill");
    write_file("o/README.md", "mine");
    pid_t child = start_run("--fresh");
    sleep_for(whole * (i + 0.5) / 4);
    kill(child, SIGKILL);
    (void)wait_for(child);
    expect_same_csv("o", "whole", "after a kill");
    run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
    cr_expect(exists("o/README.md"));
  }
}

Test(resume, signals__status_and_how_to_go_on) {
  static const int signals[] = {SIGINT, SIGTERM};
  double whole = run_whole();
  for (size_t i = 0; i < RS_COUNT(signals); i++) {
    remove_folder("o");
    pid_t child = start_run("--quiet");
    sleep_for(whole / 2);
    kill(child, signals[i]);
    int status = wait_for(child);
    char *err = read_path("err", NULL);
    bool over = status == 0 || (*err == '\0' && exists("o/summary.csv")); /* on a busy machine */
    if (over) {
      expect_same_csv("o", "whole", "a signal came too late");
      free(err);
      continue;
    }
    cr_expect_eq(status, 128 + signals[i], "status %d: %s", status, err);
    cr_expect(strncmp(err, "ropescope: ", 11) == 0 &&
                  strstr(err, " of 120 cells are done: the same command goes on from there") != NULL,
              "%s", err);
    cr_expect(!exists("o/summary.csv"));
    free(err);
    expect_whole("after a signal");
  }
}

/* ---- two processes ----------------------------------------------------------------------------------------------- */

/* It does not wait: the first, which it names, still runs when it ends. */
Test(resume, second_process__status_75_while_the_first_runs) {
  double whole = run_whole();
  char owner[80];
  pid_t child = start_run("--quiet");
  sleep_for(whole / 4);
  result got = run(&(command){.arguments = {"run", "slow.yaml", "--out", "o"}});
  bool running = kill(child, 0) == 0 && !exists("o/summary.csv");
  if (running) {
    snprintf(owner, sizeof owner, "ropescope: o: process %ld is running into this folder (", (long)child);
    cr_expect_eq(got.status, 75, "status %d", got.status);
    cr_expect(strncmp(got.err, owner, strlen(owner)) == 0, "%s", got.err);
  }
  result_clear(&got);
  cr_expect_eq(wait_for(child), 0);
  expect_same_csv("o", "whole", "with another process");
}

/* ---- what is done again ------------------------------------------------------------------------------------------ */

/* Runs the small config with changes into `o`, and into a folder of its own; both must agree. */
static void expect_changed(const char *change, const char *more, size_t done, size_t cells) {
  char line[96];
  result got = run(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--force", change, more}});
  cr_expect_eq(got.status, 0, "%s: %s", change, got.err);
  snprintf(line, sizeof line, "%zu of %zu cells were done before (--fresh does them again)\n", done, cells);
  if (done > 0) cr_expect(strncmp(got.err, line, strlen(line)) == 0, "%s: %s", change, got.err);
  if (done == 0) cr_expect_null(strstr(got.err, "done before"), "%s: %s", change, got.err);
  result_clear(&got);
  remove_folder("alone");
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "alone", "--quiet", change}});
  expect_same_csv("o", "alone", change);
}

/* 7 methods, 2 lengths, 3 sources, 2 seeds. Cells whose place among those that share tables has changed are done again,
 * for the curves of tables are theirs now. */
Test(resume, changed_config__unchanged_cells_stay) {
  run_small("o", NULL, NULL, NULL);
  expect_changed("--set=name=other", NULL, 84, 84);
  expect_changed("--set=seeds=3", NULL, 84, 126);
  expect_changed("--set=lengths=[32, 64, 100]", NULL, 84, 126);
  expect_changed("--set=methods[0].label=base", NULL, 84, 84);
  expect_changed("--set=sources[0].label=plain", NULL, 84, 84);
  expect_changed("--set=methods[4].name=nope", NULL, 72, 84);
  expect_changed("--set=seeds=[1]", NULL, 28, 42);
}

Test(resume, fresh__nothing_is_taken_over) {
  run_small("o", NULL, NULL, NULL);
  expect_changed("--quiet", NULL, 0, 84);
  expect_changed("--set=name=other", "--fresh", 0, 84);
  expect_changed("--isa=generic", NULL, 0, 84); /* whose last digits differ */
  expect_changed("--threads=3", NULL, 84, 84);
}

Test(resume, partial__what_is_there_marked_as_incomplete) {
  run_small("o", NULL, NULL, NULL);
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "new", "--partial"}}, 1,
                 "ropescope: new: no cell of this config is done: there is nothing to write\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--partial", "--fresh"}}, 2,
                 "ropescope: --partial writes what was done before, --fresh does it again: keep one\n");
  result got = run(&(command){
      .arguments = {"run", "small.yaml", "--out", "o", "--force", "--partial", "--set=lengths=[32, 64, 100]"}});
  cr_expect_eq(got.status, 0);
  cr_expect_not_null(strstr(got.err, "incomplete: 84 of 126 cells: o\n"), "%s", got.err);
  result_clear(&got);
  rs_table *table = read_table("o/summary.csv");
  cr_expect_eq(table->rows, 84);
  cr_expect_eq(number(table, 6, "cell"), 12); /* numbers are those of the whole */
  rs_table_free(table);
  char *text = output_of(&(command){.arguments = {"table", "o", "entropy_nats"}});
  cr_expect(ends_with(text, "\nincomplete: 84 of 126 cells\n"), "%s", text);
  free(text);
  run_well(&(command){.arguments = {"plot", "o", "--only", "entropy_nats", "--format", "svg", "--quiet"}});
  text = names_in("o/plots", ".svg");
  char *rest = NULL, *name = strtok_r(text, " ", &rest), *file = rs_path_join("o/plots", name, NULL);
  char *svg = read_path(file, NULL);
  cr_expect_not_null(strstr(svg, "incomplete: 84 of 126 cells"));
  free(svg);
  free(file);
  free(text);
}

Test(resume, damaged_journal__is_an_error_that_says_how_to_go_on) {
  size_t length;
  run_small("o", NULL, NULL, NULL);
  char *bytes = read_path("o/.ropescope/journal", &length);
  bytes[length / 2] ^= 1;
  FILE *file = fopen("o/.ropescope/journal", "wb");
  cr_assert(file != NULL && fwrite(bytes, 1, length, file) == length);
  fclose(file);
  free(bytes);
  result got = run(&(command){.arguments = {"run", "small.yaml", "--out", "o"}});
  cr_expect_eq(got.status, 1, "status %d", got.status);
  cr_expect(strncmp(got.err, "ropescope: o/.ropescope/journal: record ", 40) == 0 && strstr(got.err, "--fresh") != NULL,
            "%s", got.err);
  result_clear(&got);
  run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--fresh"}});
}

/* Cells of checkpoints: what is trained is found, what is read is not read again. */
Test(resume, checkpoints__a_longer_sweep_goes_on) {
  static const char yaml[] =
      "name: t\ntask: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4, 6]\nseeds: 2\nmethods: [trained, alibi]\n"
      "metrics: [loss, entropy, decay]\nsources: [{name: model, layer: 0}, gaussian]\n"
      "checkpoint: {method: rope, width: 8, blocks: 1, heads: 2, train: {steps: 3, length: 4, sequences: 2}}\n";
  write_file("t.yaml", yaml);
  run_well(&(command){.arguments = {"run", "t.yaml", "--out", "o", "--quiet"}});
  run_well(&(command){.arguments = {"run", "t.yaml", "--out", "whole", "--quiet", "--set=lengths=[4, 6, 8]"}});
  result got = run(&(command){.arguments = {"run", "t.yaml", "--out", "o", "--force", "--set=lengths=[4, 6, 8]"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_not_null(strstr(got.err, "16 of 24 cells were done before"), "%s", got.err);
  expect_same_csv("o", "whole", "with another length");
  result_clear(&got);
  got = run(&(command){.arguments = {"run", "t.yaml", "--out", "o", "--force", "--set=checkpoint.train.steps=4"}});
  cr_expect_null(strstr(got.err, "done before"), "%s", got.err);
  result_clear(&got);
}
