/* test_select.c: one number of a table, by conditions and a reduction. */
#include "../../src/app/claims/claims.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const char numbers[] = "method,length_tokens,x,y,z\n"
                              "rope,1024,1,3,\n"
                              "rope,2048,2,12,7\n"
                              "pi,1024,4,48,\n"
                              "pi,2048,8,192,\n"
                              "pi,32768,16,-1,\n";

/* The number, or NaN and the reason in `why`. */
static double select_number(const char *column, const char *where, rs_err *why) {
  rs_table *table;
  double value = NAN;
  *why = (rs_err){0};
  cr_assert_eq(rs_csv_read(numbers, strlen(numbers), "numbers", &table, NULL), RS_OK);
  if (rs_table_select(table, column, where, NULL, &value, why) != RS_OK) value = NAN;
  rs_table_free(table);
  return value;
}

Test(select, reductions__of_known_rows__are_theirs) {
  static const struct {
    const char *column, *where;
    double value;
  } cases[] = {
      {"y", "method=rope; x=2", 12},
      {"y", "method=pi; length_tokens=32k", -1},
      {"mean(y)", "method=rope", 7.5},
      {"min(y)", "", -1},
      {"max( y )", "", 192},
      {"median(y)", "x<=4", 12},
      {"sum(y)", "x!=16", 255},
      {"count(y)", "length_tokens >= 2048", 3},
      {"count(z)", "method=pi", 0},
      {"count(method)", "", 5}, /* words are values, too */
      {"missing(z)", "", 4},
      {"missing(y)", "", 0},
      {"at_min(y; x)", "", 16},
      {"at_max(y; x)", "", 8},
      {"at_max(x; length_tokens)", "method!=pi", 2048},
      {"exponent(y; x)", "x<16", 2},
      {"coefficient(y; x)", "y>0;", 3},
      {"rises_to(y; x; 30)", "", 3}, /* halfway from 12 to 48 */
      {"rises_to(y; x; 12)", "", 2},
      {"rises_to(y; x; 3)", "", 1}, /* there from the first row on */
      {"falls_to( y; x; 100 )", "x>4", 8 + 8 * 92.0 / 193},
      {"falls_to(y; x; 192)", "x>4", 8},
      {"spearman(y; x)", "x<16", 1},
      {"spearman(y; x)", "", 0},
      {"spearman(x; length_tokens)", "", 0.73786478737262184}, /* two pairs of ties */
      {"spearman(y; x; length_tokens)", "", -0.5},             /* means 25.5, 102, -1 against 2.5, 5, 16 */
      {"spearman( y ; x ; length_tokens )", "x != 4", -0.5},   /* 3, 102, -1 against 1, 5, 16 */
      {"mean(x)", "y>12;method=pi", 6},
      {"mean(x)", "y<0", 16},
      {"y", "x=4 less x=2", 36},
      {"max(y)", "method=rope; less method=pi", -180},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err why;
    double value = select_number(cases[i].column, cases[i].where, &why);
    cr_expect_float_eq(value, cases[i].value, 1e-12, "%s where %s: %g %s", cases[i].column, cases[i].where, value,
                       why.message);
  }
}

/* Rows of one x count as their mean, in whatever order they stand; what is never reached is infinitely far. */
Test(select, level__of_rows_of_the_same_x__is_reached_by_their_mean) {
  static const char text[] = "x,y\n40,2\n10,9\n20,8\n10,7\n20,4\n40,0\n";
  static const struct {
    const char *column;
    double value;
  } cases[] = {{"falls_to(y; x; 7)", 15}, {"falls_to(y; x; 5)", 24}, {"falls_to(y; x; 8)", 10}};
  rs_table *table;
  double value;
  cr_assert_eq(rs_csv_read(text, sizeof text - 1, "t.csv", &table, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    cr_assert_eq(rs_table_select(table, cases[i].column, "", NULL, &value, NULL), RS_OK);
    cr_expect_float_eq(value, cases[i].value, 1e-12, "%s: %g", cases[i].column, value);
  }
  cr_assert_eq(rs_table_select(table, "rises_to(y; x; 8.5)", "", NULL, &value, NULL), RS_OK);
  cr_expect(isinf(value) && value > 0, "%g", value);
  rs_table_free(table);
}

/* The longest length up to which all means are no less; means are 0.9, 0.6, 0.2 and 0.5 at 10, 20, 30 and 40. */
Test(select, level__kept__up_to_the_first_length_below_it) {
  static const char text[] = "x,y\n30,0.2\n40,0.5\n10,0.8\n20,0.6\n10,1\n";
  static const struct {
    const char *column;
    double value;
  } cases[] = {{"keeps(y; x; 0.9)", 10},        {"keeps(y; x; 0.91)", 0},        {"keeps(y; x; 0.6)", 20},
               {"keeps(y; x; 0.5)", 20},        {"keeps(y; x; 0.2)", 40},        {"keeps(y; x; 0)", 40},
               {"keeps_share(y; x; 1)", 10},    {"keeps_share(y; x; 0.66)", 20}, {"keeps_share(y; x; 0.67)", 10},
               {"keeps_share(y; x; 0.23)", 20}, {"keeps_share(y; x; 0.22)", 40}};
  rs_table *table;
  double value;
  cr_assert_eq(rs_csv_read(text, sizeof text - 1, "t.csv", &table, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    cr_assert_eq(rs_table_select(table, cases[i].column, "", NULL, &value, NULL), RS_OK);
    cr_expect_eq(value, cases[i].value, "%s: %g", cases[i].column, value);
  }
  rs_table_free(table);
}

/* Rows of one group that do not stand together are one, the first group too: means 5 at 3, 3 at 2, 2 at 4. */
Test(select, rows_of_a_group__apart__are_one) {
  static const char text[] = "g,x,y\na,1,1\nb,2,3\na,5,9\nc,4,2\n";
  rs_table *table;
  double value;
  cr_assert_eq(rs_csv_read(text, sizeof text - 1, "t.csv", &table, NULL), RS_OK);
  cr_assert_eq(rs_table_select(table, "spearman(y; x; g)", "", NULL, &value, NULL), RS_OK);
  cr_expect_float_eq(value, -0.5, 1e-12, "%g", value);
  rs_table_free(table);
}

/* What is asked without a value is checked on both sides. */
Test(select, sides_without_a_value__are_checked) {
  rs_table *table;
  rs_err err = {0};
  cr_assert_eq(rs_csv_read(numbers, strlen(numbers), "numbers", &table, NULL), RS_OK);
  cr_expect_eq(rs_table_select(table, "y", "x=4 less x=2", NULL, NULL, &err), RS_OK, "%s", err.message);
  cr_expect_eq(rs_table_select(table, "y", "x=4 less x=3", NULL, NULL, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "no row is selected: none has x=3");
  rs_table_free(table);
}

/* A message holds as many columns as it has room for. */
Test(select, many_columns__are_listed_in_part) {
  rs_text text = {0};
  rs_table *table;
  rs_err err = {0};
  double value;
  for (int i = 0; i < 60; i++) rs_text_printf(&text, "%scolumn_%05d", i > 0 ? "," : "", i);
  for (int i = 0; i < 60; i++) rs_text_puts(&text, i > 0 ? ",1" : "\n1");
  rs_text_puts(&text, "\n");
  cr_assert_eq(rs_csv_read(text.data, text.length, "t.csv", &table, NULL), RS_OK);
  cr_expect_eq(rs_table_select(table, "entropy", "", NULL, &value, &err), RS_INPUT);
  cr_expect_eq(strncmp(err.message, "no column entropy (there are column_00000, column_00001, ", 57), 0, "%s",
               err.message);
  cr_expect_not_null(strstr(err.message, ", ...)"), "%s", err.message);
  cr_expect_null(strstr(err.message, "column_00059"), "%s", err.message);
  rs_table_free(table);
  rs_text_clear(&text);
}

/* A name longer than any that is read. */
#define TEN "a23456789_"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

Test(select, what_cannot_be_read__reason__is_told) {
  static const struct {
    const char *column, *where, *why;
  } cases[] = {
      {"y", "method=rope", "2 rows are selected, not one"},
      {"y", "method=yarn", "no row is selected: none has method=yarn"},
      {"y", "method=rope; z==7", "no row is selected: none has z==7"},
      {"y", "method=rope; length_tokens=32k", "no row is selected: none meets all conditions"},
      {"mean(z)", "method=pi", "no selected row has a number there"},
      {"w", "", "no column w (there are method, length_tokens, x, y, z)"},
      {"y", "lenght_tokens=1024", "no column lenght_tokens (did you mean length_tokens?)"},
      {"y", "method", "\"method\" is no condition (as in method=yarn)"},
      {"y", "=3", "\"=3\" is no condition (as in method=yarn)"},
      {"y", "method<q", "no row is selected: none has method<q"}, /* words have no order */
      {"meen(y)", "", "no reduction meen (did you mean mean)"},
      {"mean(y; x)", "", "mean takes one column"},
      {"at_min(y)", "", "at_min takes two columns: (y; x)"},
      {"falls_to(y; x)", "", "falls_to takes two columns and a number: (y; x; 0.5)"},
      {"falls_to(y; x; half)", "", "falls_to takes two columns and a number: (y; x; 0.5)"},
      {"falls_to(y; x; 1; 2)", "", "falls_to takes two columns and a number: (y; x; 0.5)"},
      {"mean(y", "", "\"mean(y\" is no reduction of a column (as in mean(entropy_nats))"},
      {"(y)", "", "\"(y)\" is no reduction of a column (as in mean(entropy_nats))"},
      {LONG "(y)", "", "\"" LONG "(y)\" is no reduction of a column (as in mean(entropy_nats))"},
      {"mean(" LONG ")", "", "mean takes one column"},
      {"y", LONG "=1", "\"" LONG "=1\" is no condition (as in method=yarn)"},
      {"y", "method=" LONG, "\"method=" LONG "\" has no value, or a very long one (as in method=yarn)"},
      {"y", "method=", "\"method=\" has no value, or a very long one (as in method=yarn)"},
      {"", "", "\"\" names no column"},
      {"y", "x=4 less x=3", "no row is selected: none has x=3"},
      {"y", "x=4 less x", "\"x\" is no condition (as in method=yarn)"},
      {"y", "x=4 less x=2 less x=1", "there is more than one \"less\""},
      {"exponent(y; x)", "x=1", "a power law needs two rows, and 1 have a value"},
      {"exponent(y; x)", "", "a power law needs positive numbers"},
      {"exponent(y; x; method)", "", "exponent takes two columns: (y; x)"},
      {"spearman(y)", "", "spearman takes two columns or three: (y; x), (y; x; one by whose words rows are joined)"},
      {"spearman(y; x; z; w)", "",
       "spearman takes two columns or three: (y; x), (y; x; one by whose words rows are joined)"},
      {"spearman(y; x;)", "",
       "spearman takes two columns or three: (y; x), (y; x; one by whose words rows are joined)"},
      {"spearman(y; x; w)", "", "no column w (there are method, length_tokens, x, y, z)"},
      {"spearman(y; x; method)", "", "a rank correlation needs three rows, and 2 have both numbers"},
      {"spearman_p(z; x)", "", "a rank correlation needs three rows, and 1 have both numbers"},
      {"spearmen(y; x)", "", "no reduction spearmen (did you mean spearman)"},
      {"variance(y)", "",
       "no reduction variance (there are mean, min, max, median, sum, count, missing, at_min, at_max, exponent, "
       "coefficient, falls_to, rises_to, keeps, keeps_share, spearman, spearman_p)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err why;
    cr_expect(isnan(select_number(cases[i].column, cases[i].where, &why)));
    cr_expect_str_eq(why.message, cases[i].why);
  }
}
