/* test_bench_command.c: `ropescope bench` as its user meets it. How fast anything is, no case asks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"
#include "../say.h"
#include "app/app.h"
#include "kernel/kernel.h"

static char folder[FOLDER_NAME];

static void enter_folder(void) {
  cr_assert(new_folder(folder, "bench-test"));
  cr_assert_eq(chdir(folder), 0);
  cr_assert_not_null(getenv("ROPESCOPE"), "ROPESCOPE must name the program");
}

static void leave_folder(void) {
  unlink("b.csv");
  cr_assert_eq(chdir("/"), 0);
  cr_expect_eq(rmdir(folder), 0, "a job left files in %s", folder);
}

TestSuite(bench_command, .init = enter_folder, .fini = leave_folder);

/* What a command line says on stdout and stderr together; temporary files go into the case's folder. Release with
 * free(). */
static char *say(const char *arguments, int *status) {
  return say_line("TMPDIR=. \"$ROPESCOPE\" bench", arguments, status);
}

static void expect_words(const char *arguments, int status, const char *words) {
  int got;
  char *out = say(arguments, &got);
  cr_expect(got == status && strcmp(out, words) == 0, "%s: status %d: %s", arguments, got, out);
  free(out);
}

/* Runs what must go well and write b.csv. Release with rs_table_free. */
static rs_table *csv_of(const char *arguments) {
  int status;
  char line[256], *text;
  size_t length;
  rs_table *table;
  rs_err err = {0};
  snprintf(line, sizeof line, "%s --csv b.csv", arguments);
  char *out = say(line, &status);
  cr_assert_eq(status, 0, "%s: status %d: %s", line, status, out);
  free(out);
  cr_assert_eq(rs_file_read("b.csv", RS_LARGEST_FILE, &text, &length, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_csv_read(text, length, "b.csv", &table, &err), RS_OK, "%s", err.message);
  free(text);
  return table;
}

static const char *field(const rs_table *table, size_t row, const char *column) {
  int place = rs_table_column(table, column);
  cr_assert_geq(place, 0, "no column %s", column);
  return table->fields[row * table->columns + (size_t)place];
}

static double number(const rs_table *table, size_t row, const char *column) {
  double value = NAN;
  rs_number_read(field(table, row, column), &value);
  return value;
}

/* What any row must be, however busy the machine. */
static void expect_plausible(const rs_table *table, size_t row) {
  static const char *const positive[] = {"seconds",  "seconds_best",  "rate",   "ceiling_rate",
                                         "fraction", "fraction_best", "rounds", "nanoseconds_per_item"};
  const char *job = field(table, row, "job");
  for (size_t i = 0; i < RS_COUNT(positive); i++) {
    double value = number(table, row, positive[i]);
    cr_expect(isfinite(value) && value > 0, "%s: %s = %s", job, positive[i], field(table, row, positive[i]));
  }
  cr_expect_leq(number(table, row, "seconds_best"), number(table, row, "seconds"), "%s", job);
  cr_expect_leq(number(table, row, "rounds_contended"), number(table, row, "rounds"), "%s", job);
}

/* Every job, those on request too, runs at its small size, and leaves nothing behind. */
Test(bench_command, quick__every_job_has_a_plausible_row) {
  size_t families, row = 0;
  rs_text names = {0};
  const rs_bench_family *const *family = rs_bench_families(&families);
  rs_text_puts(&names, "--quick --rounds 1 --job ");
  for (size_t f = 0; f < families; f++) rs_text_printf(&names, "%s%s", f > 0 ? "," : "", family[f]->name);
  rs_table *table = csv_of(names.data);
  for (size_t f = 0; f < families; f++)
    for (size_t j = 0; j < family[f]->job_count; j++, row++) {
      const rs_bench_job *job = &family[f]->jobs[j];
      cr_assert_lt(row, table->rows);
      cr_expect_str_eq(field(table, row, "job"), job->name);
      cr_expect_str_eq(field(table, row, "ceiling"), rs_limit_name(job->limit));
      cr_expect_str_eq(field(table, row, "rate_unit"), rs_limit_unit(job->limit));
      if (job->threads > 0) cr_expect_eq(number(table, row, "threads"), (double)job->threads);
      expect_plausible(table, row);
    }
  cr_expect_eq(row, table->rows);
  rs_table_free(table);
  rs_text_clear(&names);
}

Test(bench_command, list__every_job_and_none_is_run) {
  int status;
  size_t families;
  const rs_bench_family *const *family = rs_bench_families(&families);
  char *out = say("--list", &status);
  cr_assert_eq(status, 0);
  for (size_t f = 0; f < families; f++)
    for (size_t j = 0; j < family[f]->job_count; j++)
      cr_expect(strstr(out, family[f]->jobs[j].name) != NULL && strstr(out, family[f]->jobs[j].summary) != NULL,
                "no %s", family[f]->jobs[j].name);
  cr_expect_null(strstr(out, "GFLOP/s"));
  free(out);
}

/* A name is that of one job or family, and means one thing. */
Test(bench_command, names__are_unique) {
  size_t families;
  const rs_bench_family *const *family = rs_bench_families(&families);
  for (size_t f = 0; f < families; f++)
    for (size_t j = 0; j < family[f]->job_count; j++)
      for (size_t g = 0; g < families; g++) {
        const char *name = family[f]->jobs[j].name;
        cr_expect(strcmp(name, family[g]->name) != 0 || (g == f && family[f]->job_count == 1), "%s", name);
        for (size_t i = 0; i < family[g]->job_count; i++)
          cr_expect((g == f && i == j) || strcmp(name, family[g]->jobs[i].name) != 0, "%s", name);
      }
}

Test(bench_command, jobs_rounds_threads_isa__are_those_asked_for) {
  rs_table *table = csv_of("--quick --job copy,fma_f32 --job read --job read --rounds 3 --threads 1 --isa generic");
  static const char *const names[] = {"fma_f32", "read", "copy"};
  cr_assert_eq(table->rows, RS_COUNT(names));
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    cr_expect_str_eq(field(table, i, "job"), names[i]);
    cr_expect_str_eq(field(table, i, "isa"), "generic");
    cr_expect_eq(number(table, i, "threads"), 1);
    cr_expect(number(table, i, "rounds") >= 3 && number(table, i, "rounds") <= 6);
    expect_plausible(table, i);
  }
  rs_table_free(table);
}

/* Rows of a job together, sets in the order of the table, each beside a ceiling of its own; and one line a job. */
Test(bench_command, all_isa__every_set_of_the_machine_side_by_side) {
  static const char *const names[] = {"fma_f32", "fma_f64"};
  rs_table *table = csv_of("--quick --job fma_f64,fma_f32 --all-isa");
  size_t sets = 0;
  int status;
  while (rs_isa_name(sets) != NULL) sets++;
  cr_assert_eq(table->rows, sets * RS_COUNT(names));
  for (size_t i = 0; i < table->rows; i++) {
    cr_expect_str_eq(field(table, i, "job"), names[i / sets]);
    cr_expect_str_eq(field(table, i, "isa"), rs_isa_name(i % sets));
    expect_plausible(table, i);
  }
  rs_table_free(table);
  char *out = say("--quick --job fma_f64 --all-isa", &status), kernels[64] = "kernels ";
  for (size_t i = 0; i < sets; i++) {
    strcat(strcat(kernels, i > 0 ? ", " : ""), rs_isa_name(i));
    cr_expect_not_null(strstr(out, rs_isa_name(i)));
  }
  cr_expect(status == 0 && strstr(out, kernels) != NULL, "%s", out);
  char *row = strstr(out, "\nfma_f64 ");
  cr_assert_not_null(row);
  cr_expect_null(strstr(row + 1, "\nfma_f64 "));
  size_t words = 1; /* of a line: job, threads, ceiling; time and its unit, fraction, times of each set */
  for (char *c = row + 2; *c != '\n'; c++) words += c[-1] == ' ' && *c != ' ';
  cr_expect_eq(words, 3 + 4 * sets, "%s", row);
  free(out);
}

Test(bench_command, table__says_what_it_ran_on) {
  int status;
  char *out = say("--quick --job fma_f64 --isa generic", &status);
  cr_expect_eq(status, 0);
  cr_expect(strstr(out, "kernels generic") != NULL && strstr(out, "\nfma_f64 ") != NULL &&
                strstr(out, "\nothers: CPUs that other processes kept busy") != NULL,
            "%s", out);
  free(out);
}

Test(bench_command, wrong_use__status_2_and_a_hint) {
  expect_words("--job sweeps", 2, "ropescope: no job sweeps (did you mean sweep?)\n");
  expect_words("--job read,xyzzy", 2, "ropescope: no job xyzzy (ropescope bench --list shows them)\n");
  expect_words("--rounds 0", 2, "ropescope: --rounds 0: must be from 1 to 1000\n");
  expect_words("--all-isa --isa generic", 2,
               "ropescope: --all-isa takes every instruction set, --isa generic one: leave one of them out\n");
  expect_words("--csv", 2, "ropescope: --csv needs a value\n");
  expect_words("config.yaml", 2, "ropescope: bench takes no arguments (ropescope help bench)\n");
  expect_words("--quick --isa v0", 2, "ropescope: no --isa v0 (did you mean v4?)\n");
#ifdef __x86_64__
  int status;
  char *out = say("--quick --isa neon", &status);
  cr_expect(status == 2 &&
                strstr(out, "ropescope: --isa neon: this machine has no such instruction set (it has auto, ") == out,
            "%s", out);
  free(out);
#endif
}

/* What takes minutes does not begin where its numbers cannot be kept. */
Test(bench_command, csv_that_cannot_be_written__status_1_and_nothing_measured) {
  expect_words("--quick --job fma_f32 --csv /dev/full", 1, "ropescope: /dev/full: cannot write: not a regular file\n");
  expect_words("--quick --job fma_f32 --csv missing/b.csv", 1,
               "ropescope: missing/b.csv: cannot write: No such file or directory\n");
}
