/* test_bench_rounds.c: which rounds count, on a machine where others are at work when a case says so: /proc/stat is
 * made up here. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"

enum { KINDS = 8, IDLE = 3, IOWAIT = 4 }; /* of ticks, as proc(5) has them */

static int reads, busy_from, busy_to; /* of /proc/stat: how many there were, and between which others are at work */
static unsigned long long ticks;
static size_t kind; /* of work that others do: user, nice, system, idle, iowait, irq, softirq, steal */

FILE *fopen(const char *path, const char *mode) {
  static char text[64];
  if (strcmp(path, "/proc/stat") != 0) {
    FILE *(*usual)(const char *, const char *);
    *(void **)&usual = dlsym(RTLD_NEXT, "fopen");
    return usual(path, mode);
  }
  if (reads >= busy_from && reads < busy_to) ticks += 1000000;
  reads++;
  int length = snprintf(text, sizeof text, "cpu");
  for (size_t i = 0; i < KINDS; i++)
    length += snprintf(text + length, sizeof text - (size_t)length, " %llu", i == kind ? ticks : 0);
  return fmemopen(text, (size_t)length, "r");
}

/* A round has a job's sample and the next of its ceiling, of two reads each. What is read before those that count: a
 * ceiling, and the round that meets cold memory. */
Test(bench_rounds, contended_rounds__are_run_again_as_often_as_was_asked) {
  enum { ASKED = 3, BEFORE = 6, ROUND = 4 };
  static const struct {
    int from, to;
    size_t rounds, contended;
  } cases[] = {{0, 0, ASKED, 0},
               {0, BEFORE - 2, ASKED, 0},
               {BEFORE + 1, BEFORE + 2, ASKED + 1, 1},
               {BEFORE + 1, BEFORE + ROUND + 2, ASKED + 2, 2},
               {BEFORE + ROUND - 1, BEFORE + ROUND, ASKED + 2, 2}, /* a ceiling, which two rounds share */
               {0, 1000, 2 * ASKED, 2 * ASKED}};
  static const char *const name = "decay";
  const rs_bench_options options = {.names = &name, .name_count = 1, .rounds = ASKED, .quick = true};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_bench_row *row;
    size_t count;
    rs_err err = {0};
    reads = 0, busy_from = cases[i].from, busy_to = cases[i].to;
    cr_assert_eq(rs_bench_run(&options, &row, &count, &err), RS_OK, "%s", err.message);
    cr_assert_eq(count, 1u);
    cr_expect(row->rounds == cases[i].rounds && row->contended == cases[i].contended, "case %zu: %zu of %zu", i,
              row->contended, row->rounds);
    cr_expect_eq(rs_bench_row_doubtful(row), cases[i].contended == cases[i].rounds, "case %zu", i);
    free(row);
  }
}

/* Whatever others do a CPU for is work, and what it waits is none. */
Test(bench_rounds, work_of_every_kind__counts) {
  static const char *const name = "decay";
  const rs_bench_options options = {.names = &name, .name_count = 1, .rounds = 1, .quick = true};
  for (kind = 0; kind < KINDS; kind++) {
    rs_bench_row *row;
    size_t count;
    reads = 0, busy_from = 0, busy_to = 1000;
    cr_assert_eq(rs_bench_run(&options, &row, &count, NULL), RS_OK);
    bool waits = kind == IDLE || kind == IOWAIT;
    cr_expect_eq(row->contended, waits ? 0 : row->rounds, "kind %zu: %zu of %zu", kind, row->contended, row->rounds);
    free(row);
  }
}

/* More than five digits say nothing; 0 is no exception that fails. */
Test(bench_rounds, rows__have_five_digits) {
  static const rs_bench_job job = {.name = "some", .item = "call"};
  const rs_bench_row row = {
      .job = &job, .isa = "v3", .threads = 2, .seconds = 0.123456789, .seconds_best = 0, .rate = 123456789};
  rs_text csv = {0};
  rs_bench_write(&row, 1, &csv);
  cr_expect_not_null(strstr(rs_text_string(&csv), "\nsome,2,v3,0.12346,0,123460000,"), "%s", rs_text_string(&csv));
  rs_text_clear(&csv);
}
