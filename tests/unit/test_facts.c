/* test_facts.c: published numbers joined to the rows of a run, and files of them that do not fit. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/app/claims/claims.h"
#include "../fixtures/new_folder.h"

static char folder[FOLDER_NAME];

static void enter_folder(void) {
  cr_assert(new_folder(folder, "facts"));
  cr_assert_eq(chdir(folder), 0);
}

static void leave_folder(void) {
  unlink("deep.csv");
  unlink("config.csv");
  cr_assert_eq(chdir("/"), 0);
  cr_expect_eq(rmdir(folder), 0);
}

TestSuite(facts, .init = enter_folder, .fini = leave_folder);

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs(text, file);
  cr_assert_eq(fclose(file), 0);
}

static const char run[] = "method,length,y\nrope,8,1\nrope,16,2\npi,8,3\n\"a, b\",8,4\n";

/* The run's table after the facts that belong to `file` were joined to it. */
static rs_table *joined(const char *claims, const char *file, rs_status status, rs_err *err) {
  rs_table *table;
  cr_assert_eq(rs_csv_read(run, strlen(run), "run", &table, NULL), RS_OK);
  *err = (rs_err){0};
  cr_assert_eq(rs_facts_join(claims, file, &table, err), status, "%s", err->message);
  return table;
}

static const char *field(const rs_table *table, size_t row, const char *column) {
  int c = rs_table_column(table, column);
  cr_assert_geq(c, 0, "%s", column);
  return table->fields[row * table->columns + (size_t)c];
}

Test(facts, rows__with_the_same_words__get_the_new_columns) {
  static const char *const printed[] = {"", "24", "15", "7"}, *const y[] = {"1", "2", "3", "4"};
  put("deep.csv", "printed,length,method,place\n15,8,pi,table 1\n24,16,rope,table 1\n7,8,\"a, b\",\n");
  char claims[96];
  snprintf(claims, sizeof claims, "%s/expected.csv", folder);
  for (int absolute = 0; absolute < 2; absolute++) {
    rs_err err;
    rs_table *table = joined(absolute ? claims : "expected.csv", "deep/summary", RS_OK, &err);
    cr_assert_eq(table->columns, 5);
    cr_assert_eq(table->rows, 4);
    for (size_t row = 0; row < 4; row++) {
      cr_expect_str_eq(field(table, row, "printed"), printed[row]);
      cr_expect_str_eq(field(table, row, "y"), y[row]);
    }
    cr_expect_str_eq(field(table, 2, "place"), "table 1");
    cr_expect_str_eq(field(table, 3, "method"), "a, b");
    rs_table_free(table);
  }
}

Test(facts, one_fact__of_several_rows__is_joined_to_each) {
  rs_err err;
  put("config.csv", "method,printed\nrope,24\n");
  rs_table *table = joined("expected.csv", "summary", RS_OK, &err);
  cr_expect_str_eq(field(table, 0, "printed"), "24");
  cr_expect_str_eq(field(table, 1, "printed"), "24");
  cr_expect_str_eq(field(table, 2, "printed"), "");
  rs_table_free(table);
  table = joined("expected.csv", "deep/summary", RS_OK, &err); /* another config, which has none */
  cr_expect_eq(table->columns, 3);
  rs_table_free(table);
}

Test(facts, what_does_not_fit__reason__is_told) {
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"method,printed\nyarn,3\n", "deep.csv: no row of the run is the one its row 1 names"},
      {"method,length,printed\npi,8,3\npi,16,3\n", "deep.csv: no row of the run is the one its row 2 names"},
      {"method,printed\npi,3\nrope,4\npi,5\n", "deep.csv: its rows 1 and 3 speak of the same row of the run"},
      {"way,printed\npi,3\n", "deep.csv: none of its columns is one of the run (as method)"},
      {"method,printed\npi\n", "deep.csv:2: "},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err;
    put("deep.csv", cases[i].text);
    rs_table *table = joined("expected.csv", "deep/summary", RS_INPUT, &err);
    cr_expect_eq(strncmp(err.message, cases[i].why, strlen(cases[i].why)), 0, "%s", err.message);
    cr_expect_eq(table->columns, 3, "the run's table stays");
    rs_table_free(table);
  }
}

/* A file that does not fit is told of every claim, not of the first alone. */
Test(facts, claims__of_a_file_that_does_not_fit__all_say_so) {
  static const char claims_text[] = "key,file,column,where,expected,here,tolerance,origin,verdict,source,note\n"
                                    "a,summary,y,method=pi,,3,,found,,,\nb,summary,y,method=pi,,3,,found,,,\n";
  rs_claims *claims;
  rs_claim_result found[2];
  put("expected.csv", claims_text);
  put("config.csv", "method,printed\nyarn,3\n");
  cr_assert_eq(mkdir("r", 0777), 0);
  cr_assert_eq(mkdir("r/n", 0777), 0);
  put("r/n/summary.csv", run);
  cr_assert_eq(rs_claims_read("expected.csv", &claims, NULL), RS_OK);
  cr_assert_eq(rs_claims_check(claims, "r", "n", false, found, NULL), RS_OK);
  for (size_t i = 0; i < 2; i++) cr_expect(!found[i].held && strstr(found[i].why, "config.csv") != NULL);
  unlink("config.csv");
  cr_assert_eq(rs_claims_check(claims, "r", "n", false, found, NULL), RS_OK);
  for (size_t i = 0; i < 2; i++) cr_expect(found[i].held, "%s", found[i].why);
  rs_claims_free(claims);
  unlink("r/n/summary.csv");
  unlink("expected.csv");
  rmdir("r/n");
  rmdir("r");
}
