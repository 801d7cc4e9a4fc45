/* test_report_intervals.c: what the page of a folder says of paired differences, and whom it names best. */
#include "../fixtures/heap.h"
#include "interval_fixture.h"
#include "report_fixture.h"

#include "metrics/metrics.h"

TestSuite(report_intervals, .init = make_folder, .fini = remove_folder);

/* The differences of pi and yarn, block by block, are .1, .2, .1, .1: always above 0, though both spread widely. */
static const trial paired[] = {
    {"window", 1024, 1, 0, 0, {0, 0, 0, 0}},
    {"pi", 1024, 1, -2.25, 3.5, {-3, 4.2, 1.1, .1}},
    {"yarn", 1024, 1, -2.5, 3.25, {-3.1, 4, 1, 0}},
};

static char *page_of_folder(void) {
  return page_of((const char *const[]){folder}, 1);
}

static void expect_said(const char *text, const char *words, bool said) {
  cr_expect_eq(strstr(text, words) != NULL, said, "%s: %s", said ? "the page does not say" : "the page says", words);
}

Test(report_intervals, table__of_intervals__has_them_behind_their_values) {
  put_trials(paired, RS_COUNT(paired), NULL);
  char *text = page_of_folder();
  expect_said(text, "<td class=\"number\">0.6 [-2.25, 3.5]</td>", true);
  expect_said(text, "<td class=\"number\">0.475 [-2.5, 3.25]</td>", true);
  expect_said(text, "in brackets their 95&nbsp;% intervals over blocks and seeds", true);
  expect_said(text, "difference_<wbr>nats_<wbr>low", false);
  free(text);
}

/* The least mean is not named best where blocks do not part it from others; nor is that of the loss itself, whose
 * blocks are the same. */
Test(report_intervals, best__of_methods_that_are_not_apart__is_not_named) {
  put_trials(paired, RS_COUNT(paired), NULL);
  char *text = page_of_folder();
  expect_said(text,
              "<li><b>loss_difference_nats</b> (lower is better): not apart (95&nbsp;%): <b>window</b>, <b>pi</b>, "
              "<b>yarn</b>. ",
              true);
  expect_said(text,
              "<li><b>loss_nats</b> (lower is better): not apart (95&nbsp;%): <b>window</b>, <b>pi</b>, <b>yarn</b>. ",
              true);
  expect_said(text, "best <b>", false);
  expect_said(text, "worst", false);
  free(text);
}

Test(report_intervals, best__that_is_apart_from_all__is_named_with_its_interval) {
  put_trials(&paired[1], 2, NULL);
  char *text = page_of_folder();
  expect_said(text,
              "<li><b>loss_difference_nats</b> (lower is better): best, and apart from all others (95&nbsp;%), "
              "<b>yarn</b> (0.475 [-2.5, 3.25] nats). ",
              true);
  free(text);
}

Test(report_intervals, best__without_blocks__is_not_named) {
  static const oddity blockless = {.blockless = true};
  put_trials(paired, RS_COUNT(paired), &blockless);
  char *text = page_of_folder();
  expect_said(text, "<b>loss_difference_nats</b> (lower is better): no blocks here to tell methods apart by. ", true);
  free(text);
}

Test(report_intervals, several_seeds__have_the_interval_of_seeds_and_blocks) {
  static const trial rows[] = {{"pi", 1024, 1, .9, 1.2, {1, 1.1, 1, 1}},
                               {"pi", 1024, 2, .9, 1.2, {1.4, 1.1, 1.3, 1.2}}};
  double values[2 * BLOCKS];
  char wanted[200];
  rs_interval interval;
  for (size_t s = 0; s < 2; s++) copy_blocks(&rows[s], &values[s * BLOCKS]);
  cr_assert_eq(rs_bootstrap_mean(values, 2, BLOCKS, &interval, NULL), RS_OK);
  put_trials(rows, RS_COUNT(rows), NULL);
  char *text = page_of_folder();
  snprintf(wanted, sizeof wanted, "<td class=\"number\">%.6g [%.6g, %.6g]</td>", interval.mean, interval.low,
           interval.high);
  expect_said(text, wanted, true);
  free(text);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static rs_status write_page(rs_err *err) {
  const char *const folders[] = {folder};
  rs_text page = {0};
  rs_plot_report notes = {0};
  rs_status status = rs_report_write(folders, 1, true, &page, &notes, err);
  rs_text_clear(&page);
  rs_plot_report_clear(&notes);
  return status;
}

/* Of several thousand allocations every 13th fails. */
Test(report_intervals, failing_allocations__are_survived_without_leak) {
  static const trial rows[] = {{"pi", 1024, 1, .9, 1.2, {1, 1.1, 1, 1}},
                               {"pi", 1024, 2, .9, 1.2, {1.4, 1.1, 1.3, 1.2}}};
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  put_trials(rows, RS_COUNT(rows), NULL);
  refused = true;
  for (long n = 0; refused; n += 13) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = write_page(&err);
    allocations = -1;
    cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "allocation %ld: %s", n, err.message);
    cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leaked", n, blocks - before);
    cr_assert_lt(n, 200000);
  }
}
