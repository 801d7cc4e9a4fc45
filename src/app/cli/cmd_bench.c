/* ropescope bench: how fast each job is on this machine, beside what the machine can do. */
#include "cli.h"

#include "app/app.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- list -------------------------------------------------------------------------------------------------------- */

static int list_jobs(void) {
  size_t count;
  const rs_bench_family *const *families = rs_bench_families(&count);
  rs_text text = {0};
  for (size_t f = 0; f < count; f++) {
    rs_text_printf(&text, "%s%s\n", families[f]->name, families[f]->on_request ? " (only when named)" : "");
    for (size_t j = 0; j < families[f]->job_count; j++)
      rs_text_printf(&text, "    %-22s %s\n", families[f]->jobs[j].name, families[f]->jobs[j].summary);
  }
  return cli_put(&text, CLI_TEXT) ? CLI_OK : CLI_FAILED;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void put_time(rs_text *text, double seconds) {
  if (seconds >= 1)
    rs_text_printf(text, " %8.3f s ", seconds);
  else if (seconds >= 1e-3)
    rs_text_printf(text, " %8.2f ms", 1e3 * seconds);
  else
    rs_text_printf(text, " %8.2f us", 1e6 * seconds);
}

static void put_row(rs_text *text, const rs_bench_row *row) {
  rs_text_printf(text, "%-22s %7zu", row->job->name, row->threads);
  put_time(text, row->seconds);
  put_time(text, row->seconds_best);
  rs_text_printf(text, " %9.2f %-8s %-7s %9.2f %9.3f %6.3f %11.4g %-5s", row->rate, rs_limit_unit(row->job->limit),
                 rs_limit_name(row->job->limit), row->ceiling_rate, row->fraction, row->fraction_best, row->nanoseconds,
                 row->job->item);
  if (isnan(row->others))
    rs_text_printf(text, " %7s", "-");
  else
    rs_text_printf(text, " %7.2f", row->others);
  rs_text_printf(text, " %3zu/%zu%s\n", row->rounds - row->contended, row->rounds,
                 rs_bench_row_doubtful(row) ? " busy" : "");
}

static void put_head(rs_text *text, const char *kernels) {
  rs_text_printf(text, "ropescope %s, kernels %s, %ld CPUs\n\n", ROPESCOPE_VERSION, kernels,
                 sysconf(_SC_NPROCESSORS_ONLN));
}

static int put_table(const rs_bench_row *rows, size_t count) {
  rs_text text = {0};
  bool doubtful = false;
  put_head(&text, rs_kernels_get()->isa);
  rs_text_printf(&text, "%-22s %7s %11s %11s %18s %-7s %9s %9s %6s %11s %-5s %7s %s\n", "job", "threads", "median",
                 "best", "rate", "ceiling", "its rate", "fraction", "best", "ns/item", "item", "others",
                 "clean rounds");
  for (size_t i = 0; i < count; i++) {
    put_row(&text, &rows[i]);
    doubtful |= rs_bench_row_doubtful(&rows[i]);
  }
  rs_text_puts(&text, "\nothers: CPUs that other processes kept busy. Contended rounds are repeated and left out");
  rs_text_puts(&text, doubtful ? ";\nbusy: every round was contended, so that the row says little.\n" : ".\n");
  return cli_put(&text, CLI_TEXT) ? CLI_OK : CLI_FAILED;
}

/* "v4, v3, generic" */
static void list_sets(const rs_bench_row *rows, size_t sets, char *out, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < sets && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", rows[i].isa);
}

static size_t count_sets(const rs_bench_row *rows, size_t count) {
  size_t sets = 1;
  while (sets < count && rows[sets].job == rows[0].job) sets++;
  return sets;
}

/* Instruction sets side by side: time, fraction of that set's own ceiling, and how many times the time of the first. */
static int put_sets(const rs_bench_row *rows, size_t count) {
  rs_text text = {0};
  char names[64] = "";
  size_t sets = count_sets(rows, count);
  bool doubtful = false;
  list_sets(rows, sets, names, sizeof names);
  put_head(&text, names);
  rs_text_printf(&text, "%-22s %7s %-7s", "job", "threads", "ceiling");
  for (size_t i = 0; i < sets; i++) rs_text_printf(&text, "  | %9s fraction  times", rows[i].isa);
  for (size_t i = 0; i < count; i++) {
    const rs_bench_row *row = &rows[i], *first = row - i % sets;
    bool busy = rs_bench_row_doubtful(row);
    if (row == first)
      rs_text_printf(&text, "\n%-22s %7zu %-7s", row->job->name, row->threads, rs_limit_name(row->job->limit));
    rs_text_puts(&text, "  |");
    put_time(&text, row->seconds);
    rs_text_printf(&text, " %6.3f%s %6.2f", row->fraction, busy ? "?" : " ", row->seconds / first->seconds);
    doubtful |= busy;
  }
  rs_text_puts(&text, "\n\nfraction: of that set's own ceiling; times: the first set's time");
  rs_text_puts(&text, doubtful ? ";\n?: every round was contended, so that it says little.\n" : ".\n");
  return cli_put(&text, CLI_TEXT) ? CLI_OK : CLI_FAILED;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void show_progress(void *context, const rs_bench_job *job, size_t done, size_t jobs) {
  (void)context;
  fprintf(stderr, "\r%zu of %zu: %s \033[K", done + 1, jobs, job->name);
}

static rs_status write_csv(const char *file, const rs_bench_row *rows, size_t count, rs_err *err) {
  rs_text csv = {0};
  rs_bench_write(rows, count, &csv);
  rs_status status = rs_text_check(&csv, err);
  if (status == RS_OK) status = rs_file_write(file, csv.data, csv.length, err);
  rs_text_clear(&csv);
  return status;
}

static rs_status run_jobs(const cli_options *options, const char *const *names, size_t name_count, rs_bench_row **rows,
                          size_t *count, rs_err *err) {
  enum { ROUNDS = 5, QUICK_ROUNDS = 1 };
  bool live = !options->quiet && isatty(STDERR_FILENO);
  rs_bench_options bench = {.names = names,
                            .name_count = name_count,
                            .quick = options->quick,
                            .all_isa = options->all_isa,
                            .rounds = options->rounds};
  if (bench.rounds == 0) bench.rounds = options->quick ? QUICK_ROUNDS : ROUNDS;
  if (live) bench.progress = show_progress;
  rs_status status = rs_bench_run(&bench, rows, count, err);
  if (live) fputs("\r\033[K", stderr);
  return status;
}

int cmd_bench(const cli_options *options) {
  rs_err err = {0};
  rs_bench_row *rows = NULL;
  char *words = NULL;
  const char **names = NULL;
  size_t name_count, count;
  if (options->list) return list_jobs();
  if (options->all_isa && options->isa != NULL) {
    cli_error("--all-isa takes every instruction set, --isa %s one: leave one of them out", options->isa);
    return CLI_USAGE;
  }
  rs_status status = cli_split_names(&options->jobs, &words, &names, &name_count, &err);
  if (status == RS_OK && options->csv_file != NULL) status = rs_file_writable(options->csv_file, &err);
  if (status == RS_OK) status = run_jobs(options, names, name_count, &rows, &count, &err);
  int code = status != RS_OK    ? cli_fail(status, NULL, &err)
             : options->all_isa ? put_sets(rows, count)
                                : put_table(rows, count);
  /* After the table, which took minutes and is shown even where the file cannot be written. */
  if (code == CLI_OK && options->csv_file != NULL) status = write_csv(options->csv_file, rows, count, &err);
  if (code == CLI_OK && status != RS_OK) code = cli_fail(status, NULL, &err);
  free(rows);
  free(names);
  free(words);
  return code;
}
