/* Tables as a command prints them: CSV as it grows, or JSON column by column. */
#include "cli.h"

#include <stdlib.h>

static void add_cell(cli_table *table, cli_cell cell) {
  table->failed |= RS_GROW(table->cells, &table->capacity, table->count + 1, NULL) != RS_OK;
  if (!table->failed) table->cells[table->count++] = cell;
}

void cli_table_text(cli_table *table, const char *text) {
  if (table->kept)
    add_cell(table, (cli_cell){.text = text});
  else
    rs_csv_text(&table->csv, text);
}

void cli_table_number(cli_table *table, double number) {
  if (table->kept)
    add_cell(table, (cli_cell){.number = number});
  else
    rs_csv_number(&table->csv, number);
}

static void end_row(cli_table *table) {
  if (!table->kept) rs_csv_end_row(&table->csv);
  if (table->columns == 0) table->columns = table->count;
}

void cli_table_names(cli_table *table, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) cli_table_text(table, names[i]);
  end_row(table);
}

void cli_table_numbers(cli_table *table, const double *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) cli_table_number(table, numbers[i]);
  end_row(table);
}

void cli_table_add(const cli_table *table, const char *key, rs_doc *in) {
  rs_doc *columns = rs_doc_add(in, key, RS_DOC_OBJECT);
  if (in != NULL) in->arena->failed |= table->failed;
  for (size_t c = 0; c < table->columns; c++) {
    rs_doc *list = rs_doc_add(columns, table->cells[c].text, RS_DOC_LIST);
    for (size_t i = c + table->columns; i < table->count; i += table->columns) {
      const cli_cell *cell = &table->cells[i];
      if (cell->text != NULL)
        rs_doc_put(list, DOC_WORDS(NULL, *cell->text != '\0' ? cell->text : NULL));
      else
        rs_doc_put(list, DOC_NUMBER(NULL, cell->number));
    }
  }
}

void cli_table_clear(cli_table *table) {
  rs_text_clear(&table->csv);
  free(table->cells);
}
