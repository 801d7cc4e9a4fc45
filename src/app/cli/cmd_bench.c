/* ropescope bench: how fast each job is on this machine, beside what the machine can do. */
#include "cli.h"

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
  return cli_put(&text, CLI_TEXT);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *time_of(rs_doc *in, double seconds) {
  rs_text text = {0};
  if (seconds >= 1)
    rs_text_printf(&text, "%.3f s ", seconds);
  else if (seconds >= 1e-3)
    rs_text_printf(&text, "%.2f ms", 1e3 * seconds);
  else
    rs_text_printf(&text, "%.2f us", 1e6 * seconds);
  return rs_doc_keep(in, &text);
}

static void put_head(rs_text *text, const char *kernels) {
  rs_text_printf(text, "ropescope %s, kernels %s, %ld CPUs\n\n", ROPESCOPE_VERSION, kernels,
                 sysconf(_SC_NPROCESSORS_ONLN));
}

/* Adds the row; whether it says little. */
static bool add_row(rs_doc *rows, const rs_bench_row *row) {
  rs_doc *in = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
  bool busy = rs_bench_row_doubtful(row);
  rs_text rate = {0}, clean = {0};
  rs_text_printf(&rate, "%.2f %s", row->rate, rs_limit_unit(row->job->limit));
  rs_text_printf(&clean, "%zu/%zu%s", row->rounds - row->contended, row->rounds, busy ? " busy" : "");
  rs_doc_put(in, DOC_WORDS("job", row->job->name), DOC_NUMBER("threads", row->threads),
             DOC_WORDS("median", time_of(rows, row->seconds)), DOC_WORDS("best", time_of(rows, row->seconds_best)),
             DOC_WORDS("rate", rs_doc_keep(rows, &rate)), DOC_WORDS("ceiling", rs_limit_name(row->job->limit)),
             DOC_NUMBER("its_rate", row->ceiling_rate), DOC_NUMBER("fraction", row->fraction),
             DOC_NUMBER("fraction_best", row->fraction_best), DOC_NUMBER("nanoseconds", row->nanoseconds),
             DOC_WORDS("item", row->job->item), DOC_NUMBER("others", row->others),
             DOC_WORDS("clean", rs_doc_keep(rows, &clean)));
  return busy;
}

static int put_table(const rs_bench_row *rows, size_t count) {
  static const rs_doc_column columns[] = {{.key = "job", .title = "job"},
                                          {.key = "threads", .title = "threads"},
                                          {.key = "median", .title = "median", .right = true},
                                          {.key = "best", .title = "best", .right = true},
                                          {.key = "rate", .title = "rate", .right = true},
                                          {.key = "ceiling", .title = "ceiling"},
                                          {.key = "its_rate", .title = "its rate", .digits = 5},
                                          {.key = "fraction", .title = "fraction", .digits = 3},
                                          {.key = "fraction_best", .title = "best", .digits = 3},
                                          {.key = "nanoseconds", .title = "ns/item", .digits = 4},
                                          {.key = "item", .title = "item"},
                                          {.key = "others", .title = "others", .none = "-", .digits = 2},
                                          {.key = "clean", .title = "clean rounds"}};
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_ARRAY);
  bool doubtful = false;
  for (size_t i = 0; i < count; i++) doubtful |= add_row(doc, &rows[i]);
  put_head(&text, rs_kernels_get()->isa);
  rs_doc_table(doc, columns, RS_COUNT(columns), 0, &text);
  rs_text_puts(&text, "\nothers: CPUs that other processes kept busy. Contended rounds are repeated and left out");
  rs_text_puts(&text, doubtful ? ";\nbusy: every round was contended, so that the row says little.\n" : ".\n");
  text.failed |= arena.failed;
  return cli_put(&text, CLI_TEXT);
}

/* Instruction sets side by side: time, fraction of that set's own ceiling, and how many times the time of the first. */
static int put_sets(const rs_bench_row *rows, size_t count) {
  enum { BEFORE = 3, OF_SET = 3, SETS = 8 };
  rs_doc_column columns[BEFORE + OF_SET * SETS] = {
      {.key = "job", .title = "job"}, {.key = "threads", .title = "threads"}, {.key = "ceiling", .title = "ceiling"}};
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0}, names = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_ARRAY), *in = NULL;
  size_t sets = 0;
  bool doubtful = false;
  for (; sets < count && sets < SETS && rows[sets].job == rows[0].job; sets++) {
    rs_text_printf(&names, "%s%s", sets > 0 ? ", " : "", rows[sets].isa);
    rs_doc_column *of_set = &columns[BEFORE + OF_SET * sets];
    of_set[0] = (rs_doc_column){.key = rows[sets].isa, .title = rows[sets].isa, .right = true};
    of_set[1] = (rs_doc_column){.key = "fraction", .title = "fraction", .right = true};
    of_set[2] = (rs_doc_column){.key = "times", .title = "times", .digits = 3};
  }
  for (size_t i = 0; i < count; i++) {
    const rs_bench_row *row = &rows[i], *first = row - i % sets;
    bool busy = rs_bench_row_doubtful(row);
    rs_text fraction = {0};
    if (row == first) {
      in = rs_doc_add(doc, NULL, RS_DOC_OBJECT);
      rs_doc_put(in, DOC_WORDS("job", row->job->name), DOC_NUMBER("threads", row->threads),
                 DOC_WORDS("ceiling", rs_limit_name(row->job->limit)));
    }
    rs_text_printf(&fraction, "%.3f%s", row->fraction, busy ? "?" : " ");
    rs_doc_put(in, DOC_WORDS(row->isa, time_of(doc, row->seconds)), DOC_WORDS("fraction", rs_doc_keep(doc, &fraction)),
               DOC_NUMBER("times", row->seconds / first->seconds));
    doubtful |= busy;
  }
  put_head(&text, rs_text_string(&names));
  rs_doc_table(doc, columns, BEFORE + OF_SET * sets, 0, &text);
  rs_text_puts(&text, "\nfraction: of that set's own ceiling; times: the first set's time");
  rs_text_puts(&text, doubtful ? ";\n?: every round was contended, so that it says little.\n" : ".\n");
  text.failed |= arena.failed || names.failed;
  rs_text_clear(&names);
  return cli_put(&text, CLI_TEXT);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void show_progress(void *context, const rs_bench_job *job, size_t done, size_t jobs) {
  (void)context;
  fprintf(stderr, "\r%zu of %zu: %s \033[K", done + 1, jobs, job->name);
}

static rs_status write_csv(const char *file, const rs_bench_row *rows, size_t count, rs_err *err) {
  RS_OWNED(rs_text) csv = {0};
  rs_bench_write(rows, count, &csv);
  RS_TRY(rs_text_check(&csv, err));
  return rs_file_write(file, csv.data, csv.length, err);
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
  RS_FREED rs_bench_row *rows = NULL;
  RS_OWNED(rs_arena) arena = {0};
  size_t name_count, count;
  if (options->list) return list_jobs();
  if (options->all_isa && options->isa != NULL)
    return cli_error("--all-isa takes every instruction set, --isa %s one: leave one of them out", options->isa);
  const char *const *names = cli_split_names(&options->jobs, &arena, &name_count);
  rs_status status = rs_arena_check(&arena, &err);
  if (status == RS_OK && options->csv_file != NULL) status = rs_file_writable(options->csv_file, &err);
  if (status == RS_OK) status = run_jobs(options, names, name_count, &rows, &count, &err);
  int code = status != RS_OK    ? cli_fail(status, NULL, &err)
             : options->all_isa ? put_sets(rows, count)
                                : put_table(rows, count);
  /* After the table, which took minutes and is shown even where the file cannot be written. */
  if (code == CLI_OK && options->csv_file != NULL) status = write_csv(options->csv_file, rows, count, &err);
  if (code == CLI_OK && status != RS_OK) code = cli_fail(status, NULL, &err);
  return code;
}
