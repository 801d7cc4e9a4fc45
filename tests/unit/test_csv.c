/* test_csv.c: tables as CSV, read and written. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/trees.h"
#include "io/io.h"

Test(io, csv_write__fields__are_quoted_where_they_must_be) {
  static const char *const fields[] = {"a", "b c", "x,y", "\"", "a\"b\"", "l\nm", "\r", "", " é'", "\n"};
  rs_text csv = {0};
  for (size_t i = 0; i < RS_COUNT(fields); i++) rs_csv_text(&csv, fields[i]);
  rs_csv_end_row(&csv);
  rs_csv_text(&csv, "");
  rs_csv_text(&csv, "");
  rs_csv_end_row(&csv);
  rs_csv_text(&csv, "\xEF\xBB\xBFm");
  rs_csv_end_row(&csv);
  rs_csv_text(&csv, "\xEF\xBB\xBEm"); /* no mark */
  rs_csv_end_row(&csv);
  cr_assert_str_eq(
      csv.data,
      "a,b c,\"x,y\",\"\"\"\",\"a\"\"b\"\"\",\"l\nm\",\"\r\",, é',\"\n\"\n\"\",\n\"\xEF\xBB\xBFm\"\n\xEF\xBB\xBEm\n");
  rs_text_clear(&csv);
}

/* Numbers stay bare: the shortest text that is read as one. */
Test(io, csv_write__text_like_a_formula__is_quoted_and_numbers_are_not) {
  static const char *const fields[] = {"=1+1", "+x",  "-x",   "@a",   "=",       "-",
                                       "a=b",  "x-y", "-1.5", "-inf", "-1e-300", "-0"};
  rs_text csv = {0};
  for (size_t i = 0; i < RS_COUNT(fields); i++) rs_csv_text(&csv, fields[i]);
  rs_csv_number(&csv, -0.25);
  rs_csv_end_row(&csv);
  cr_assert_str_eq(csv.data, "\"=1+1\",\"+x\",\"-x\",\"@a\",\"=\",\"-\",a=b,x-y,-1.5,-inf,-1e-300,-0,-0.25\n");
  rs_text_clear(&csv);
}

Test(io, csv_number__values__are_short_and_nan_is_empty) {
  rs_text csv = {0};
  rs_csv_number(&csv, NAN);
  rs_csv_number(&csv, 0.1);
  rs_csv_number(&csv, NAN);
  rs_csv_number(&csv, -INFINITY);
  rs_csv_end_row(&csv);
  rs_csv_number(&csv, 4096);
  rs_csv_end_row(&csv);
  cr_assert_str_eq(csv.data, "\"\",0.1,,-inf\n4096\n");
  rs_text_clear(&csv);
}

static rs_table *parse_csv(const char *text) {
  rs_err err = {0};
  rs_table *table = NULL;
  char *copy = exact(text, strlen(text));
  cr_assert_eq(rs_csv_read(copy, strlen(text), "f", &table, &err), RS_OK, "%s: %s", text, err.message);
  free(copy);
  return table;
}

Test(io, csv_read__rfc_4180__gives_the_fields) {
  /* Fields as read: each is followed by '|', each row by '/'. */
  static const char *const cases[][2] = {
      {"a,b\n1,2\n3,4\n", "a|b|/1|2|/3|4|/"},
      {"a,b\r\n1,2\r\n", "a|b|/1|2|/"},
      {"a,b\n1,2", "a|b|/1|2|/"},
      {"a,b\n,", "a|b|/||/"},
      {"\xEF\xBB\xBF\"a\"\n\"x\"", "a|/x|/"},
      {"a\n\n\"\"\n", "a|/|/|/"},
      {"a,b\n\"x,\"\"y\"\"\nz\",\"\r\n\"\r\n", "a|b|/x,\"y\"\nz|\r\n|/"},
      {"a,b\n\"\"\"\",\"\"\"\"\"\"", "a|b|/\"|\"\"|/"},
      {"a\nx\ry\n\r", "a|/x\ry|/\r|/"},
      {"a", "a|/"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_table *table = parse_csv(cases[i][0]);
    rs_text seen = {0};
    for (size_t cell = 0; cell < table->columns * (table->rows + 1); cell++) {
      bool header = cell < table->columns;
      rs_text_puts(&seen, header ? table->header[cell] : table->fields[cell - table->columns]);
      rs_text_puts(&seen, (cell + 1) % table->columns == 0 ? "|/" : "|");
    }
    cr_assert_str_eq(seen.data, cases[i][1]);
    rs_text_clear(&seen);
    rs_table_free(table);
  }
  rs_table_free(NULL);
}

Test(io, csv_read__broken_text__says_the_line) {
  static const char *const cases[][2] = {
      {"", "f:1: the file is empty (a header row is needed)"},
      {"a,b\n1,2,3\n", "f:2: 3 fields where the header has 2"},
      {"a,b\n\"\n\",1\n\r\n", "f:4: 1 field where the header has 2"},
      {"a,b\n1,2\n\n", "f:3: 1 field where the header has 2"},
      {"a\n1\n\"\n\n", "f:3: a quote is opened and never closed (is the file cut off?)"},
      {"a\n\"", "f:2: a quote is opened and never closed (is the file cut off?)"},
      {"a\n\"x\"\"", "f:2: a quote is opened and never closed (is the file cut off?)"},
      {"a,b\r\n\"\r\n\",x\"y\n", "f:3: a quote within a field (quote the whole field and double the quote)"},
      {"a\n1\n\"x\"y\n", "f:3: text after a closing quote (a comma is missing)"},
  };
  rs_table *table;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    table = (rs_table *)&err;
    cr_assert_eq(rs_csv_read(cases[i][0], strlen(cases[i][0]), "f", &table, &err), RS_INPUT, "%s", cases[i][0]);
    cr_assert_str_eq(err.message, cases[i][1]);
    cr_assert_null(table);
  }
  rs_err err = {0};
  cr_assert_eq(rs_csv_read("a\nb\0\n", 5, "f", &table, &err), RS_INPUT);
  cr_assert_str_eq(err.message, "f:2: a NUL byte (this is no CSV text)");
}

Test(io, csv__random_tables__come_back_as_written) {
  static const char letters[] = "a,\"\n\r '=+-@1";
  for (unsigned seed = 0; seed < 1000; seed++) {
    unsigned state = seed, columns = 1 + next_random(&state, 3), rows = next_random(&state, 4);
    char fields[16][5] = {{0}};
    rs_text csv = {0};
    for (unsigned i = 0; i < columns * (rows + 1); i++) {
      for (unsigned j = next_random(&state, 5); j > 0; j--)
        fields[i][j - 1] = letters[next_random(&state, sizeof letters - 1)];
      rs_csv_text(&csv, fields[i]);
      if ((i + 1) % columns == 0) rs_csv_end_row(&csv);
    }
    rs_table *table = parse_csv(csv.data);
    cr_assert(table->columns == columns && table->rows == rows, "seed %u: %s", seed, csv.data);
    for (unsigned i = 0; i < columns * (rows + 1); i++)
      cr_assert_str_eq(i < columns ? table->header[i] : table->fields[i - columns], fields[i], "seed %u", seed);
    rs_table_free(table);
    rs_text_clear(&csv);
  }
}

Test(io, table_column__names__gives_the_index) {
  rs_table *table = parse_csv("a,ab\n");
  cr_assert_eq(table->rows, 0);
  cr_assert_eq(rs_table_column(table, "a"), 0);
  cr_assert_eq(rs_table_column(table, "ab"), 1);
  cr_assert_eq(rs_table_column(table, "b"), -1);
  rs_table_free(table);
}
