/* test_claims.c: expected numbers and how they are judged: what a printed number allows, and each verdict on
 * both sides of its edge. */
#include "../../src/app/claims/claims.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"

#define HEADER "key,file,column,where,expected,here,tolerance,origin,verdict,source,note\n"

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

Test(bound, printed_number__tolerance__is_that_of_its_last_digit) {
  static const struct {
    const char *text;
    double number, tolerance;
  } cases[] = {{"4.3e3", 4300, 60},  {"9937", 9937, 0.6}, {"0.25", 0.25, 0.006},
               {"-0.2", -0.2, 0.06}, {"1e6", 1e6, 6e5},   {"1.5E-3", 1.5e-3, 6e-5},
               {"8k", 8192, 0},      {"5.", 5, 0.6},      {".915", .915, 0.0006}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_bound bound;
    rs_err err = {0};
    cr_assert_eq(rs_bound_read(cases[i].text, &bound, &err), RS_OK, "%s: %s", cases[i].text, err.message);
    cr_expect(bound.stated && bound.relation == RS_EQUAL);
    cr_expect_float_eq(bound.number, cases[i].number, 1e-12 * fabs(cases[i].number), "%s", cases[i].text);
    cr_expect_float_eq(bound.tolerance, cases[i].tolerance, 1e-12 + 1e-9 * cases[i].tolerance, "%s: %g", cases[i].text,
                       bound.tolerance);
  }
}

Test(bound, relation__on_both_sides_and_at_the_edge__holds_as_written) {
  static const struct {
    const char *text;
    bool below, equal, above; /* of 2 */
  } cases[] = {{"<2", true, false, false},  {"<=2", true, true, false}, {">2", false, false, true},
               {">= 2", false, true, true}, {"!=2", true, false, true}, {"=2", false, true, false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_bound bound;
    cr_assert_eq(rs_bound_read(cases[i].text, &bound, NULL), RS_OK);
    cr_expect_eq(rs_bound_holds(&bound, 1), cases[i].below, "%s", cases[i].text);
    cr_expect_eq(rs_bound_holds(&bound, 2), cases[i].equal, "%s", cases[i].text);
    cr_expect_eq(rs_bound_holds(&bound, 3), cases[i].above, "%s", cases[i].text);
    cr_expect_not(rs_bound_holds(&bound, NAN), "%s", cases[i].text);
  }
}

Test(bound, tolerance__absolute_relative_and_wrong__is_read_or_refused) {
  rs_bound bound;
  cr_assert_eq(rs_bound_read("-200", &bound, NULL), RS_OK);
  cr_expect_eq(rs_bound_tolerance("", &bound, NULL), RS_OK);
  cr_expect_float_eq(bound.tolerance, 0.6, 1e-12);
  cr_expect_eq(rs_bound_tolerance("1.5", &bound, NULL), RS_OK);
  cr_expect_eq(bound.tolerance, 1.5);
  cr_expect_eq(rs_bound_tolerance("2%", &bound, NULL), RS_OK);
  cr_expect_float_eq(bound.tolerance, 4, 1e-12);
  cr_expect(rs_bound_holds(&bound, -204) && rs_bound_holds(&bound, -196) && !rs_bound_holds(&bound, -204.1));
  cr_expect_eq(rs_bound_tolerance("-1", &bound, NULL), RS_INPUT);
  cr_expect_eq(rs_bound_tolerance("much", &bound, NULL), RS_INPUT);
  cr_assert_eq(rs_bound_read("<1", &bound, NULL), RS_OK);
  cr_expect_eq(rs_bound_tolerance("1", &bound, NULL), RS_INPUT);
  cr_expect_eq(rs_bound_read("about 3", &bound, NULL), RS_INPUT);
  cr_expect_eq(rs_bound_read("", &bound, NULL), RS_OK);
  cr_expect_not(bound.stated);
}

/* ---- expected.csv ------------------------------------------------------------------------------------------------ */

static char folder[FOLDER_NAME];

static void enter_folder(void) {
  cr_assert(new_folder(folder, "claims"));
  cr_assert_eq(chdir(folder), 0);
}

static void leave_folder(void) {
  unlink("e.csv");
  unlink("r/n/summary.csv");
  unlink("r/n-deep-full/decay.csv");
  rmdir("r/n");
  rmdir("r/n-deep-full");
  rmdir("r");
  cr_assert_eq(chdir("/"), 0);
  cr_expect_eq(rmdir(folder), 0);
}

TestSuite(claims, .init = enter_folder, .fini = leave_folder);

static void put(const char *path, const char *text) {
  cr_assert_eq(rs_file_write(path, text, strlen(text), NULL), RS_OK);
}

Test(claims, slips__message__names_line_and_column) {
  static const struct {
    const char *row, *why;
  } cases[] = {
      {",summary,y,,1,,,printed,agrees,paper 1,", "e.csv:2: key: is empty"},
      {"k,,y,,1,,,printed,agrees,paper 1,", "e.csv:2: file: is empty (as in summary)"},
      {"k,summary,most(y),,1,,,printed,agrees,paper 1,", "e.csv:2: column: no reduction most"},
      {"k,summary,y,x,1,,,printed,agrees,paper 1,", "e.csv:2: where: \"x\" is no condition (as in method=yarn)"},
      {"k,summary,y,x=1 less x,1,,,printed,agrees,paper 1,", "e.csv:2: where: \"x\" is no condition"},
      {"k,summary,y,x=1 less x=2 less x=3,1,,,printed,agrees,paper 1,",
       "e.csv:2: where: there is more than one \"less\""},
      {"k,summary,y,,,1,much,found,,,", "e.csv:2: tolerance: much is no tolerance"},
      {"k,summary,y,,one,,,printed,agrees,paper,", "e.csv:2: expected: one is no number (as in 4.3e3, 8k or <=0.434)"},
      {"k,summary,y,,1,>2,,printed,agrees,paper 1,", "e.csv:2: here: is a number, no relation"},
      {"k,summary,y,,,2,,printed,agrees,paper,", "e.csv:2: expected: is empty (found is the origin of a number of our"},
      {"k,summary,y,,,2,,derived,agrees,paper,", "e.csv:2: expected: is empty (found"},
      {"k,summary,y,,,2,,departs,,paper,note", "e.csv:2: expected: is empty (found"},
      {"k,summary,y,,1,2,,found,,,", "e.csv:2: expected: is empty for what was found: nobody expected it"},
      {"k,summary,y,,,,,found,,,", "e.csv:2: here: is empty: what does the run come to?"},
      {"k,summary,y,,1,,,departs,,paper 1,note", "e.csv:2: here: is empty: what does the run come to?"},
      {"k,summary,y,,1,,,printed,refuted,paper 1,why", "e.csv:2: here: is empty: what does the run come to?"},
      {"k,summary,y,,1,,often,printed,agrees,paper 1,", "e.csv:2: tolerance: often is no tolerance"},
      {"k,summary,y,,1,,1e999,printed,agrees,paper 1,", "e.csv:2: tolerance: 1e999 is no tolerance"},
      {"k,summary,y,,1,,inf%,printed,agrees,paper 1,", "e.csv:2: tolerance: inf% is no tolerance"},
      {"\"k\nand\",summary,y,,1,,,printed,agrees,paper 1,\nl,,y,,1,,,printed,agrees,paper 1,",
       "e.csv:4: file: is empty"},
      {"k,summary,y,,1,,,own,agrees,paper,", "e.csv:2: origin: is printed, order, stated, derived, departs or found"},
      {"k,summary,y,,1,,,,agrees,paper,", "e.csv:2: origin: is printed, order, stated, derived, departs or found"},
      {"k,summary,y,,1,,,printed,maybe,paper 1,",
       "e.csv:2: verdict: is agrees, agrees_with_definition, missed or refuted where the origin is printed"},
      {"k,summary,y,,1,,,derived,,paper 1,",
       "e.csv:2: verdict: is agrees, agrees_with_definition or refuted where the origin is derived"},
      {"k,summary,y,,,1,,found,agrees,,", "e.csv:2: verdict: is empty where the origin is found"},
      {"k,summary,y,,1,2,,departs,refuted,paper 1,so", "e.csv:2: verdict: is empty where the origin is departs"},
      {"k,summary,y,,1,2,,printed,refuted,paper 1,", "e.csv:2: note: is empty: why, or by which definition?"},
      {"k,summary,y,,1,2,,printed,missed,paper 1,", "e.csv:2: note: is empty: why, or by"},
      {"k,summary,y,,1,,,stated,does_not_appear,paper 1,so", "e.csv:2: here: is empty: what does the run come to?"},
      {"k,summary,y,,1,2,,departs,,paper 1,", "e.csv:2: note: is empty"},
      {"k,summary,y,,1,,,derived,agrees_with_definition,paper 1,", "e.csv:2: note: is empty"},
      {"k,summary,y,,1,,,printed,agrees,,", "e.csv:2: source: is empty"},
      {"k,summary,y,,,1,,found,,paper 1,", "e.csv:2: source: is empty for what was found: what somebody says has"},
      {"k,summary,y,x=1 less x=2,>0,,,printed,agrees,paper,", "e.csv:2: expected: is a sign, no number: its origin is"},
      {"k,summary,y,,1,2,,order,missed,2 less 1,why",
       "e.csv:2: verdict: is agrees, agrees_with_definition, does_not_appear or refuted where the origin is order"},
      {"k,summary,y,,1,2,,printed,does_not_appear,paper 1,",
       "e.csv:2: verdict: is agrees, agrees_with_definition, missed"},
      {"k,summary,y,,1,2,,derived,missed,paper 1,why",
       "e.csv:2: verdict: is agrees, agrees_with_definition or refuted"},
      {"k,summary,y,,>1,,,order,agrees,2 less 1,",
       "e.csv:2: expected: is >0 or <0: an order is the sign of a difference"},
      {"k,summary,y,,<0,,,order,agrees,2 less 1,", "e.csv:2: expected: has another sign than the difference that the"},
      {"k,summary,y,,>0,,,order,agrees,1 less 2,", "e.csv:2: expected: has another sign"},
      {"k,summary,y,,>0,,,order,agrees,two less one,",
       "e.csv:2: source: says which printed numbers differ (as in 31.58"},
      {"k,summary,y,,>0,,,order,agrees,2 less 2,", "e.csv:2: source: says which printed numbers differ"},
      {"k,summary,y,,1.5,,,printed,agrees,paper,",
       "e.csv:2: source: repeats the number that is expected, word for word"},
      {"k,summary,y,,1.5,,,printed,agrees,paper 11.5,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1.5,,,printed,agrees,paper 1.55,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1.5,,,printed,agrees,paper -1.5,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1,,,printed,agrees,paper 1.5,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,>=1.5,,,derived,agrees,paper,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1.5,,0.1,derived,agrees,paper,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1.5,2,,derived,refuted,paper,why", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,<1.5,2,,stated,does_not_appear,paper,", "e.csv:2: source: repeats the number"},
      {"k,summary,y,,1,2,,departs,,,why", "e.csv:2: source: is empty"},
      {"k,summary,y,,1,,,printed,agrees,paper 1,\nk,summary,y,,1,,,printed,agrees,paper 1,",
       "e.csv:3: key: is there twice"},
      {"k,summary,y", "e.csv:2:"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[512];
    rs_claims *claims;
    rs_err err = {0};
    snprintf(text, sizeof text, HEADER "%s\n", cases[i].row);
    put("e.csv", text);
    cr_expect_eq(rs_claims_read("e.csv", &claims, &err), RS_INPUT, "%s", cases[i].row);
    cr_expect_null(claims);
    cr_expect_not_null(strstr(err.message, cases[i].why), "%s", err.message);
  }
}

Test(claims, file__without_rows_or_with_other_columns__is_refused) {
  static const char *const texts[] = {HEADER, "", "key,value\na,1\n"};
  for (size_t i = 0; i < RS_COUNT(texts); i++) {
    rs_claims *claims;
    put("e.csv", texts[i]);
    cr_expect_eq(rs_claims_read("e.csv", &claims, NULL), RS_INPUT);
  }
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static rs_claims *read_claims(const char *rows) {
  char text[4096];
  rs_claims *claims;
  rs_err err = {0};
  snprintf(text, sizeof text, HEADER "%s", rows);
  put("e.csv", text);
  cr_assert_eq(rs_claims_read("e.csv", &claims, &err), RS_OK, "%s", err.message);
  return claims;
}

Test(claims, each_verdict__of_known_numbers__holds_or_says_why_not) {
  rs_claim_result found[18];
  rs_claims *claims =
      read_claims("a,summary,y,x=1,3,,,printed,agrees,p 3,\n"                              /* 3 */
                  "b,summary,y,x=2,12.6,,,printed,agrees,p 12.6,\n"                        /* 12, not 12.6 +- .06 */
                  "c,summary,y,x=2,12.6,,5%,printed,agrees_with_definition,p 12.6,loose\n" /* within 0.63 */
                  "d,summary,y,x=2,<=10,12,,printed,refuted,p 10,too much\n"               /* 12 */
                  "e,summary,y,x=2,<=15,12,,printed,refuted,p 15,it is not\n"              /* 12 <= 15 */
                  "f,summary,y,x=2,<=10,13,,printed,refuted,p 10,another number\n"         /* 12, not 13 */
                  "g,summary,y,x=2,12,11.5,,printed,agrees,p 12,\n"                        /* 12, not 11.5 */
                  "h,summary,y,,1,,,printed,agrees,p 1,\n"                                 /* two rows */
                  "i,deep-full/decay,v,,8,,,printed,agrees,p 8,\n"                         /* only with full */
                  "j,elsewhere/decay,v,,8,,,printed,agrees,p 8,\n"                         /* no such file */
                  "k,summary,y,x=2,,12,,found,,,\n"                                        /* ours */
                  "l,summary,y,x=2,<=10,12,,departs,,p 10,code\n"                          /* 12 */
                  "m,summary,y,x=2,<=15,12,,departs,,p 15,code\n"           /* 12 <= 15: it does not depart */
                  "n,summary,y,x=2,,13,,found,,,\n"                         /* 12, not 13 */
                  "o,summary,y,x=2,,11,1.5,found,,,\n"                      /* within 1.5 */
                  "p,summary,y,x=2 less x=1,,10,0.5,found,,,\n"             /* 9, not 10 +- .5 */
                  "q,summary,y,x=2,<=10,12,,stated,does_not_appear,p 10,\n" /* 12 */
                  "r,summary,y,x=2,<=15,12,,stated,does_not_appear,p 15,\n" /* 12 <= 15 */);
  static const bool held[] = {true,  false, true, true,  false, false, false, false, false,
                              false, true,  true, false, false, true,  false, true,  false};
  static const char *const why[] = {"",
                                    "comes to 12, not 12.6",
                                    "",
                                    "",
                                    "does not contradict <=15",
                                    "not to 13 as said here",
                                    "not to 11.5 as said here",
                                    "2 rows are selected",
                                    "",
                                    "elsewhere",
                                    "",
                                    "",
                                    "does not contradict <=15",
                                    "not to 13 as said here",
                                    "",
                                    "comes to 9, not to 10 as said here",
                                    "",
                                    "does not contradict <=15"};
  mkdir("r", 0777);
  mkdir("r/n", 0777);
  mkdir("r/n-deep-full", 0777);
  put("r/n/summary.csv", "x,y\n1,3\n2,12\n");
  put("r/n-deep-full/decay.csv", "v\n8\n");
  cr_assert_eq(rs_claims_check(claims, "r", "n", false, found, NULL), RS_OK);
  cr_assert_eq(claims->count, RS_COUNT(held));
  for (size_t i = 0; i < claims->count; i++) {
    cr_expect_eq(found[i].held, held[i], "%s: %s", claims->items[i].key, found[i].why);
    cr_expect(strstr(found[i].why, why[i]) != NULL && (*why[i] != '\0' || found[i].why[0] == '\0'), "%s: %s",
              claims->items[i].key, found[i].why);
    cr_expect_eq(found[i].left_out, strcmp(claims->items[i].key, "i") == 0);
  }
  cr_assert_eq(rs_claims_check(claims, "r", "n", true, found, NULL), RS_OK);
  cr_expect(found[8].held && !found[8].left_out && found[8].value == 8);
  rs_claims_free(claims);
}

/* Numbers that are written exactly, and relations, have no tolerance to tell of. */
Test(claims, exact_numbers_and_relations__say_why_not) {
  static const char *const why[] = {"comes to 12, not 8k", "comes to 12, not <=10", "", ""};
  rs_claim_result found[4];
  rs_text text = {0};
  rs_claims *claims = read_claims("a,summary,y,x=2,8k,,,printed,agrees,p 8k,\n"
                                  "b,summary,y,x=2,<=10,,,printed,agrees,p 10,\n"
                                  "c,summary,y,x=1,0,,,printed,agrees,p 0,\n"
                                  "d,x-full/decay,v,,8,,,printed,agrees,p 8,\n");
  mkdir("r", 0777);
  mkdir("r/n", 0777);
  put("r/n/summary.csv", "x,y\n1,0.5\n2,12\n");
  cr_assert_eq(rs_claims_check(claims, "r", "n", false, found, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(why); i++) cr_expect_str_eq(found[i].why, why[i], "%s", found[i].why);
  cr_expect(found[2].held, "half of a unit is within its rounding");
  rs_claims_print(claims, found, &text);
  cr_expect_not_null(strstr(rs_text_string(&text), "         0         0.5        +0.5  printed, agrees\n"), "%s",
                     rs_text_string(&text));
  cr_expect_not_null(strstr(rs_text_string(&text), "         8    (--full)              printed, not run\n"), "%s",
                     rs_text_string(&text));
  found[0].value = NAN; /* there was no file */
  rs_text_clear(&text);
  rs_claims_print(claims, found, &text);
  cr_expect_not_null(strstr(rs_text_string(&text), "        8k           -              printed, DIFFERS\n"), "%s",
                     rs_text_string(&text));
  found[2].left_out = true;
  rs_text_clear(&text);
  rs_claims_markdown(claims, found, &text);
  cr_expect_not_null(strstr(rs_text_string(&text), "\n2 more numbers are of a whole run (`--full`).\n"), "%s",
                     rs_text_string(&text));
  rs_text_clear(&text);
  rs_claims_free(claims);
}

Test(claims, tables__of_known_numbers__are_as_they_should_read) {
  rs_claim_result found[6];
  rs_text text = {0};
  rs_claims *claims = read_claims("first,summary,y,x=1,4,3,,printed,refuted,\"p, 4\",note\n"
                                  "second|half,summary,y,x=2,<13,,,printed,agrees,p 13,\n"
                                  "third,summary,y,x=2,12,,,derived,agrees_with_definition,p 12,note\n"
                                  "fourth,summary,y,x=2,,12,,found,,,other\n"
                                  "fifth,summary,y,x=2,11,12,,departs,,code 11,other\n"
                                  "sixth,summary,y,x=2,<11,12,,stated,does_not_appear,p 11,\n");
  mkdir("r", 0777);
  mkdir("r/n", 0777);
  put("r/n/summary.csv", "x,y\n1,3\n2,12\n");
  cr_assert_eq(rs_claims_check(claims, "r", "n", false, found, NULL), RS_OK);
  found[2].value = nextafter(12, 13); /* what rounding leaves is no difference */
  rs_claims_markdown(claims, found, &text);
  found[2].value = 12;
  cr_expect_str_eq(rs_text_string(&text), "| | expected | reproduced | difference | verdict | source |\n"
                                          "|---|---|---|---|---|---|\n"
                                          "| first (1) | 4 | 3 | -25 % | printed, refuted | p, 4 |\n"
                                          "| second\\|half | <13 | 12 |  | printed, agrees | p 13 |\n"
                                          "| third (1) | 12 | 12 | 0 | derived, agrees with a definition | p 12 |\n"
                                          "| fourth (2) |  | 12 |  | found here |  |\n"
                                          "| fifth (2) | 11 | 12 | +9.1 % | departs | code 11 |\n"
                                          "| sixth | <11 | 12 |  | stated, does not appear | p 11 |\n"
                                          "\n(1) note\n\n(2) other\n");
  rs_text_clear(&text);
  rs_claims_csv(claims, found, &text);
  cr_expect_str_eq(rs_text_string(&text), "key,expected,reproduced,origin,verdict,held,source,note\n"
                                          "first,4,3,printed,refuted,yes,\"p, 4\",note\n"
                                          "second|half,<13,12,printed,agrees,yes,p 13,\n"
                                          "third,12,12,derived,agrees with a definition,yes,p 12,note\n"
                                          "fourth,,12,found,,yes,,other\n"
                                          "fifth,11,12,departs,,yes,code 11,other\n"
                                          "sixth,<11,12,stated,does not appear,yes,p 11,\n");
  rs_text_clear(&text);
  found[0].held = false;
  strcpy(found[0].why, "because");
  found[2].value = 12.0001;
  rs_claims_print(claims, found, &text);
  cr_expect_not_null(strstr(rs_text_string(&text), "\n    e.csv:2: first: because\n"), "%s", rs_text_string(&text));
  cr_expect_not_null(strstr(rs_text_string(&text), "\n  [1] note\n  [2] other\n"));
  cr_expect_not_null(strstr(rs_text_string(&text), "             expected  reproduced  difference  verdict\n"
                                                   "first               4           3       -25 %  printed"),
                     "as wide as the longest key: %s", rs_text_string(&text));
  cr_expect_not_null(strstr(rs_text_string(&text), "12     12.0001   < 0.001 %  derived"), "%s", rs_text_string(&text));
  rs_text_clear(&text);
  rs_claims_free(claims);
}

/* One of each kind that holds, one that does not, one that is not run. Two refuted claims give the same reason, an
 * agreeing one the same note, and a third refuted one another reason; a second experiment's count again. */
Test(claims, tally__of_two_experiments__counts_each_origin_apart) {
  rs_tally tally = {0};
  rs_text text = {0};
  rs_claim_result found[11] = {{.left_out = false}};
  for (size_t i = 0; i < 8; i++) found[i].held = true;
  found[9].left_out = found[10].held = true;
  rs_claims *claims = read_claims("a,summary,y,,1,,,printed,agrees,p 1,so\n"
                                  "b,summary,y,,1,2,,printed,refuted,p 1,so\n"
                                  "c,summary,y,,1,2,,derived,refuted,p 1,so\n"
                                  "d,summary,y,,1,2,,printed,refuted,p 1,because\n"
                                  "e,summary,y,,1,,,derived,agrees,p 1,\n"
                                  "f,summary,y,,1,,,derived,agrees_with_definition,p 1,so\n"
                                  "g,summary,y,,1,2,,departs,,p 1,so\n"
                                  "h,summary,y,,,2,,found,,,\n"
                                  "i,summary,y,,1,2,,printed,refuted,p 1,it does not\n"
                                  "j,summary,y,,,2,,found,,,\n"
                                  "k,summary,y,,1,2,,stated,does_not_appear,p 1,\n");
  rs_tally_add(&tally, claims, found);
  rs_tally_add(&tally, claims, found);
  rs_tally_print(&tally, &text);
  cr_expect_eq(tally.differ, 2);
  cr_expect_str_eq(
      rs_text_string(&text),
      "printed: 2 agree, 4 refuted; order: 0 agree; stated: 0 agree, 2 do not appear; derived: 2 agree, 2 with a "
      "definition, 2 refuted; reasons to refute: 4; code departs from its paper: 2; found here: 2; not run: 2");
  rs_text_clear(&text);
  rs_claims_free(claims);
}

/* ---- small tables ------------------------------------------------------------------------------------------------ */

static const char numbers[] = "method,length_tokens,x,y,z\n"
                              "rope,1024,1,3,\n"
                              "rope,2048,2,12,7\n"
                              "pi,1024,4,48,\n"
                              "pi,2048,8,192,\n"
                              "pi,32768,16,-1,\n";

static const char *const asked[] = {"x", "far: max(y) where length_tokens=32k", "y where z=7"};

static rs_status pivot(rs_pivot_wanted wanted, rs_text *text, rs_err *err) {
  *err = (rs_err){0};
  rs_text_clear(text);
  put("e.csv", numbers);
  return rs_pivot("e.csv", &wanted, text, err);
}

Test(claims, small_table__of_known_rows__is_as_it_should_read) {
  rs_text text = {0};
  rs_err err;
  cr_assert_eq(pivot((rs_pivot_wanted){"method", asked, 3, "", 0, RS_PIVOT_MARKDOWN, NULL}, &text, &err), RS_OK, "%s",
               err.message);
  cr_expect_str_eq(rs_text_string(&text), "| method | x | far | y |\n|---|---|---|---|\n"
                                          "| rope | 1.5 | - | 12 |\n| pi | 9.33 | -1 | - |\n");
  cr_assert_eq(pivot((rs_pivot_wanted){"method", asked, 1, "x<16", -1, RS_PIVOT_MARKDOWN, NULL}, &text, &err), RS_OK);
  cr_expect_str_eq(rs_text_string(&text), "| method | x |\n|---|---|\n| pi | 6 |\n| rope | 1.5 |\n");
  cr_assert_eq(pivot((rs_pivot_wanted){"length_tokens", asked, 2, "", 2, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_OK);
  cr_expect_str_eq(rs_text_string(&text), "length_tokens    x  far\n"
                                          "32768           16   -1\n"
                                          "1024           2.5    -\n"
                                          "2048             5    -\n");
  rs_text_clear(&text);
}

/* Lines are told apart as they are written: words that a condition would read otherwise, and none at all. */
Test(claims, small_table__of_odd_words__has_a_line_for_each) {
  static const char *const means[] = {"x", "a|b: exponent(x; y)"};
  rs_text text = {0};
  rs_err err = {0};
  rs_pivot_wanted wanted = {"label", means, 2, "", 0, RS_PIVOT_MARKDOWN, NULL};
  put("e.csv", "label,x,y\n,1,1\n,4,2\n\"a;b\",2,2\n\" c \",3,3\n1k,5,-1\n1k,6,1\n1024,9,1\nc|d=e,7,2\n");
  cr_assert_eq(rs_pivot("e.csv", &wanted, &text, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(rs_text_string(&text), "| label | x | a\\|b |\n|---|---|---|\n"
                                          "|  | 2.5 | 2 |\n| a;b | 2 | - |\n|  c  | 3 | - |\n| 1k | 5.5 | - |\n"
                                          "| 1024 | 9 | - |\n| c\\|d=e | 7 | - |\n");
  rs_text_clear(&text);
}

static bool ends_so(const char *text, const char *end) {
  return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

Test(claims, small_table__of_what_is_not_there__is_refused) {
  static const char *const wrong[] = {"entropy"}, *const none[] = {"x where x>99"},
                           *const nothing[] = {"far: where x=1"};
  rs_text text = {0};
  rs_err err;
  cr_expect_eq(pivot((rs_pivot_wanted){"method", wrong, 1, "", 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "entropy: no column entropy (there are method, length_tokens, x, y, z)");
  cr_expect_eq(pivot((rs_pivot_wanted){"method", none, 1, "", 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "x where x>99: no row is selected: none has x>99");
  cr_expect_eq(pivot((rs_pivot_wanted){"method", nothing, 1, "", 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "\"far: where x=1\" names no column");
  char longest[600], too_long[1200];
  snprintf(longest, sizeof longest, "%0*d", 520, 0);
  snprintf(too_long, sizeof too_long, "x>0%*s;x>0", 1100, "");
  const char *const names[] = {longest}, *const titled[] = {"x: y where x>0"};
  cr_expect_eq(pivot((rs_pivot_wanted){"method", names, 1, "", 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect(ends_so(err.message, "0...\" is too long"), "%s", err.message);
  cr_expect_eq(pivot((rs_pivot_wanted){"method", titled, 1, too_long, 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "\"x: y where x>0...\" is too long");
  cr_expect_eq(pivot((rs_pivot_wanted){"model", asked, 3, "", 0, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "no column model (there are method, length_tokens, x, y, z)");
  cr_expect_eq(pivot((rs_pivot_wanted){"method", asked, 3, "", -4, RS_PIVOT_PLAIN, NULL}, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "sort: there are 3 columns of numbers");
  rs_text_clear(&text);
}

Test(claims, nothing_expected__page__compares_nothing) {
  rs_claim_result found[] = {{.value = 12, .held = true}, {.value = NAN, .left_out = true}, {.value = 3, .why = "no"}};
  rs_text text = {0};
  rs_claims *claims = read_claims("a,summary,y,,,12,,found,,,so\n"
                                  "b,x-full/summary,y,,,12,,found,,,not here\n"
                                  "c,summary,y,,,12,,found,,,too\n");
  rs_claims_markdown(claims, found, &text);
  cr_expect_str_eq(rs_text_string(&text), "| | found here |\n|---|---|\n| a (1) | 12 |\n"
                                          "| c (2) | 3 DIFFERS |\n\n(1) so\n\n(2) too\n\n"
                                          "1 more number is of a whole run (`--full`).\n");
  rs_text_clear(&text);
  rs_claims_free(claims);
}
