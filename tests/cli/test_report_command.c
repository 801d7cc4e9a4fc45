/* test_report_command.c: `ropescope report`. */
#include "../fixtures/program.h"

TestSuite(report_command, .init = enter_folder, .fini = leave_folder);

/* No address is asked for: what a page needs is in it. */
static void expect_self_contained(const char *page) {
  static const char *const outside[] = {"src=\"http", "href=\"http", "url(http", "<link", "@import", "src=\"//"};
  for (size_t i = 0; i < RS_COUNT(outside); i++) cr_expect_null(strstr(page, outside[i]), "%s", outside[i]);
  cr_expect_not_null(strstr(page, "default-src 'none'"));
}

Test(report_command, report__small_result__page_beside_it_and_its_path_on_stdout) {
  run_small("o", NULL, NULL, NULL);
  result got = run(&(command){.arguments = {"report", "o"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_str_eq(got.out, "o/report.html\n");
  char *page = read_path("o/report.html", NULL);
  cr_expect(strncmp(page, "<!DOCTYPE html>", 15) == 0 && strstr(page, "</html>\n") != NULL);
  expect_self_contained(page);
  run_well(&(command){.arguments = {"report", "o", "--out", "again.html"}});
  char *again = read_path("again.html", NULL);
  cr_expect_str_eq(again, page, "the same results give the same bytes");
  result_clear(&got);
  free(page);
  free(again);
}

Test(report_command, report__still__pictures_and_no_chart_library) {
  run_small("o", NULL, NULL, NULL);
  run_well(&(command){.arguments = {"report", "o", "--still", "--out", "still.html"}});
  char *page = read_path("still.html", NULL);
  cr_expect_null(strstr(page, "Dygraph="), "no library");
  cr_expect_not_null(strstr(page, "<svg"));
  expect_self_contained(page);
  free(page);
}

Test(report_command, report__two_folders__both_are_told) {
  run_small("a", NULL, NULL, NULL);
  run_small("b", NULL, NULL, NULL);
  run_well(&(command){.arguments = {"report", "a", "b", "--out", "both.html"}});
  char *page = read_path("both.html", NULL);
  cr_expect_not_null(strstr(page, "2 folders of results stand side by side"));
  cr_expect(strstr(page, "<h3>a</h3>") != NULL && strstr(page, "<h3>b</h3>") != NULL);
  cr_expect(strstr(page, "<td>a</td>") != NULL && strstr(page, "<td>b</td>") != NULL);
  free(page);
}

Test(report_command, report__no_results__status_2_and_nothing_written) {
  expect_failure(&(command){.arguments = {"report"}}, 2,
                 "ropescope: report needs folders of results, as in ropescope report results/quickstart\n");
  run_small("o", NULL, NULL, NULL);
  expect_failure(&(command){.arguments = {"report", "o", "nowhere"}}, 2, "ropescope: nowhere is not there\n");
  write_file("else.txt", "");
  expect_failure(&(command){.arguments = {"report", "o", "."}}, 2,
                 "ropescope: . is no results folder: it has no manifest.json (ropescope run writes one)\n");
  cr_assert_eq(remove("o/manifest.json"), 0);
  expect_failure(&(command){.arguments = {"report", "o"}}, 2,
                 "ropescope: o has summary.csv and no manifest.json, which says what was asked and vouches for the CSV "
                 "files: ropescope run, or reproduce with --out, writes both\n");
  cr_expect(!exists("o/report.html"));
}
