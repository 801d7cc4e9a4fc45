/* test_claims_labels.c: every expected.csv of the tree: an edited number is noticed whichever row it is in, and results
 * that are kept come to what the rows about them say.
 */
#include "../../src/app/claims/claims.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"

#define HEADER "key,file,column,where,expected,here,tolerance,origin,verdict,source,note\n"

static char root[4096], folder[FOLDER_NAME];

static void enter_folder(void) {
  const char *tests = getenv("ROPESCOPE_TESTS");
  cr_assert_not_null(tests, "ROPESCOPE_TESTS must name the folder of tests");
  cr_assert_lt(snprintf(root, sizeof root, "%s/..", tests), (int)sizeof root);
  cr_assert(new_folder(folder, "claims-labels"));
  cr_assert_eq(chdir(folder), 0);
}

static void leave_folder(void) {
  unlink("e.csv");
  cr_assert_eq(chdir("/"), 0);
  cr_expect_eq(rmdir(folder), 0);
}

TestSuite(claims_labels, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static void list_files(glob_t *files) {
  char pattern[5000];
  snprintf(pattern, sizeof pattern, "%s/experiments/*/*/expected.csv", root);
  cr_assert_eq(glob(pattern, 0, NULL, files), 0);
  cr_assert_gt(files->gl_pathc, 40);
}

static rs_claims *read_claims(const char *file) {
  rs_claims *claims;
  rs_err err = {0};
  cr_assert_eq(rs_claims_read(file, &claims, &err), RS_OK, "%s", err.message);
  return claims;
}

/* What the run tells needs no second place, and a sign none either; an order names the numbers that it is of. */
Test(claims_labels, sources__that_say_enough__are_taken) {
  static const char *const rows[] = {"k,summary,y,,1.5,,,derived,agrees,formula,",
                                     "k,summary,y,,1.5,,0.05,derived,agrees,formula,",
                                     "k,summary,y,,1.5,,,printed,agrees,\"table 1: 1.5.\",",
                                     "k,summary,y,,-1.5,,,printed,agrees,of -1.5 (table 1),",
                                     "k,summary,y,,1.5,,,printed,agrees,\"11.5, 1.5\",",
                                     "k,summary,y,,>0,,,stated,agrees,in words,",
                                     "k,summary,y,,>0,-1,,stated,does_not_appear,in words,",
                                     "k,summary,y,,>0,,,order,agrees,\"less is more: 1e3 less 16.10, both printed\",",
                                     "k,summary,y,,<0,,,order,agrees,.614 less .64: table 8,"};
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    char text[512];
    rs_claims *claims;
    rs_err err = {0};
    snprintf(text, sizeof text, HEADER "%s\n", rows[i]);
    cr_assert_eq(rs_file_write("e.csv", text, strlen(text), NULL), RS_OK);
    cr_expect_eq(rs_claims_read("e.csv", &claims, &err), RS_OK, "%s: %s", rows[i], err.message);
    rs_claims_free(claims);
  }
}

/* A number that is missed stays as it is printed, and `here` has the tolerance; an order within it does not appear. */
Test(claims_labels, missed_numbers_and_orders__tolerance__is_that_of_what_comes_out) {
  static const struct {
    const char *row;
    double value;
    bool held;
  } cases[] = {{"k,summary,y,,1.000,.92,.1,printed,missed,of 1.000,why", .9, true},
               {"k,summary,y,,1.000,.92,.1,printed,missed,of 1.000,why", .8, false},
               {"k,summary,y,,1.000,.92,.1,printed,missed,of 1.000,why", 1, false},
               {"k,summary,y,,1.000,.92,.1,printed,missed,of 1.000,why", .999, true},
               {"k,summary,y,,>0,-.1,.3,order,does_not_appear,2 less 1,", -.35, true},
               {"k,summary,y,,>0,-.1,.3,order,does_not_appear,2 less 1,", .1, true},
               {"k,summary,y,,>0,-.1,.5,order,does_not_appear,2 less 1,", .39, true},
               {"k,summary,y,,>0,.1,.3,order,does_not_appear,2 less 1,", .35, false},
               {"k,summary,y,,>0,-.1,.3,order,does_not_appear,2 less 1,", NAN, false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[256];
    snprintf(text, sizeof text, HEADER "%s\n", cases[i].row);
    cr_assert_eq(rs_file_write("e.csv", text, strlen(text), NULL), RS_OK);
    rs_claims *claims = read_claims("e.csv");
    rs_claim_result finding = {.value = cases[i].value};
    rs_claim_judge(&claims->items[0], &finding);
    cr_expect_eq(finding.held, cases[i].held, "%s: %g: %s", cases[i].row, cases[i].value, finding.why);
    rs_claims_free(claims);
  }
}

/* ---- the tree --------------------------------------------------------------------------------------------------- */

/* A number that such a row holds with: what is said to come out, else what is expected, else one on its side. */
static double value_of(const rs_claim *claim) {
  double number = claim->claimed.number;
  if (claim->here.stated) return claim->here.number;
  if (claim->claimed.relation == RS_ABOVE || claim->claimed.relation == RS_AT_LEAST) return number + 0.01;
  if (claim->claimed.relation == RS_BELOW || claim->claimed.relation == RS_AT_MOST) return number - 0.01;
  return number;
}

static bool holds(const rs_claim *claim, double value) {
  rs_claim_result finding = {.value = value};
  rs_claim_judge(claim, &finding);
  return finding.held;
}

/* Whether the row, with another `expected`, is refused or does not hold for `value`. */
static bool is_noticed(const rs_claims *claims, size_t row, const char *expected, double value) {
  const rs_table *table = claims->table;
  rs_text text = {0};
  rs_claims *edited = NULL;
  for (size_t c = 0; c < table->columns; c++) rs_csv_text(&text, table->header[c]);
  rs_csv_end_row(&text);
  for (size_t c = 0; c < table->columns; c++)
    rs_csv_text(&text, strcmp(table->header[c], "expected") == 0 ? expected : table->fields[row * table->columns + c]);
  rs_csv_end_row(&text);
  cr_assert_eq(rs_file_write("e.csv", rs_text_string(&text), text.length, NULL), RS_OK);
  rs_status status = rs_claims_read("e.csv", &edited, NULL);
  bool noticed = status != RS_OK || !holds(&edited->items[0], value);
  rs_claims_free(edited);
  rs_text_clear(&text);
  return noticed;
}

/* Another number, sign or relation in the place of each. */
Test(claims_labels, each_expected_number__edited__is_noticed) {
  static const char *const relations[] = {"", "<", "<=", ">", ">=", "!="};
  glob_t files;
  size_t rows = 0;
  list_files(&files);
  for (size_t f = 0; f < files.gl_pathc; f++) {
    rs_claims *claims = read_claims(files.gl_pathv[f]);
    for (size_t i = 0; i < claims->count; i++) {
      const rs_claim *claim = &claims->items[i];
      double value = value_of(claim), number = claim->claimed.number;
      const double numbers[] = {1.25 * number, 0.75 * number, -number, number + 1, number - 1, 10 * number, value};
      cr_expect(holds(claim, value), "%s:%zu: does not hold for %g", claims->name, claim->line, value);
      if (!claim->claimed.stated) {
        cr_expect(is_noticed(claims, i, "1", value), "%s:%zu: what was found is said", claims->name, claim->line);
        continue;
      }
      rows++;
      for (size_t r = 0; r < RS_COUNT(relations); r++)
        for (size_t n = 0; n < RS_COUNT(numbers); n++) {
          char expected[64];
          size_t length;
          snprintf(expected, sizeof expected, "%s%.15g", relations[r], numbers[n]);
          rs_relation relation = rs_relation_read(expected, &length);
          bool same =
              relation == claim->claimed.relation || claim->claimed.relation == RS_EQUAL; /* the number counts */
          if (same && numbers[n] == number) continue;
          cr_expect(is_noticed(claims, i, expected, value), "%s:%zu: %s in place of %s is not noticed", claims->name,
                    claim->line, expected, claim->expected);
        }
    }
    rs_claims_free(claims);
  }
  cr_expect_gt(rows, 300, "%zu", rows);
  globfree(&files);
}

/* "ROOT/experiments/GROUP/NAME/expected.csv" -> NAME. */
static void name_of(const char *file, char *name, size_t size) {
  const char *end = strrchr(file, '/'), *begin = end;
  while (begin[-1] != '/') begin--;
  snprintf(name, size, "%.*s", (int)(end - begin), begin);
}

Test(claims_labels, results_that_are_kept__rows_about_them__hold) {
  glob_t files;
  size_t kept = 0;
  char results[5000], name[256], path[8000];
  list_files(&files);
  snprintf(results, sizeof results, "%s/results", root);
  for (size_t f = 0; f < files.gl_pathc; f++) {
    rs_claims *claims = read_claims(files.gl_pathv[f]);
    rs_claim_result *found = calloc(claims->count, sizeof *found);
    name_of(files.gl_pathv[f], name, sizeof name);
    cr_assert_eq(rs_claims_check(claims, results, name, true, found, NULL), RS_OK);
    for (size_t i = 0; i < claims->count; i++) {
      const rs_claim *claim = &claims->items[i];
      const char *slash = strrchr(claim->file, '/');
      snprintf(path, sizeof path, "%s/%s%s%.*s/%s.csv", results, name, slash != NULL ? "-" : "",
               slash != NULL ? (int)(slash - claim->file) : 0, claim->file, slash != NULL ? slash + 1 : claim->file);
      if (access(path, F_OK) != 0) continue;
      kept++;
      cr_expect(found[i].held, "%s:%zu: %s: %s", claims->name, claim->line, claim->key, found[i].why);
    }
    free(found);
    rs_claims_free(claims);
  }
  cr_expect_gt(kept, 150, "%zu", kept);
  globfree(&files);
}
