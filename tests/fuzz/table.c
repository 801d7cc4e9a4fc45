/* table.c: a CSV file, read, written and read again, and as ropescope table shows it. */
#include "fuzz.h"

#include "app/app.h"
#include "io/io.h"

static void write_row(rs_text *csv, char *const *fields, size_t columns) {
  for (size_t c = 0; c < columns; c++) rs_csv_text(csv, fields[c]);
  rs_csv_end_row(csv);
}

static void write_again(const rs_table *table) {
  rs_text csv = {0};
  rs_table *again = NULL;
  rs_err err = {0};
  write_row(&csv, table->header, table->columns);
  for (size_t r = 0; r < table->rows; r++) write_row(&csv, table->fields + r * table->columns, table->columns);
  LAW(rs_csv_read(rs_text_string(&csv), csv.length, "written", &again, &err) == RS_OK);
  LAW(again->columns == table->columns && again->rows == table->rows);
  for (size_t c = 0; c < table->columns; c++) LAW(strcmp(again->header[c], table->header[c]) == 0);
  for (size_t i = 0; i < table->rows * table->columns; i++) LAW(strcmp(again->fields[i], table->fields[i]) == 0);
  rs_table_free(again);
  rs_text_clear(&csv);
}

/* The first column's words are the lines, the last column is asked for. */
static void show(const rs_table *table) {
  const char *questions[] = {table->header[table->columns - 1]};
  for (rs_pivot_form form = RS_PIVOT_PLAIN; form <= RS_PIVOT_JSON; form++) {
    const rs_pivot_wanted wanted = {
        .lines = table->header[0], .questions = questions, .count = 1, .where = "", .sort = -1, .form = form};
    rs_text text = {0};
    rs_err err = {0};
    fuzz_says_why(rs_pivot("summary.csv", &wanted, &text, &err), &err);
    rs_text_clear(&text);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rs_table *table = NULL;
  rs_err err = {0};
  char *text = fuzz_text(data, size);
  rs_status status = rs_csv_read(text, size, "summary.csv", &table, &err);
  fuzz_says_why(status, &err);
  if (status == RS_OK) {
    fuzz_file("summary.csv", data, size);
    write_again(table);
    show(table);
  }
  rs_table_free(table);
  free(text);
  return 0;
}
