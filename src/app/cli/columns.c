/* A CSV text as JSON: what a command prints as CSV is written once. */
#include "cli.h"

#include <math.h>

/* A number, an empty field as null, else text. */
static void put_field(rs_json *json, const char *field) {
  double value;
  if (*field == '\0')
    rs_json_string(json, NULL, NULL);
  else if (rs_number_read(field, &value))
    rs_json_number(json, NULL, value);
  else
    rs_json_string(json, NULL, field);
}

rs_status cli_json_columns(rs_json *json, const char *key, const rs_text *csv, rs_err *err) {
  rs_table *table;
  RS_TRY(rs_text_check(csv, err));
  RS_TRY(rs_csv_read(rs_text_string(csv), csv->length, key, &table, err));
  rs_json_object(json, key);
  for (size_t c = 0; c < table->columns; c++) {
    rs_json_list(json, table->header[c]);
    for (size_t row = 0; row < table->rows; row++) put_field(json, table->fields[row * table->columns + c]);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_table_free(table);
  return RS_OK;
}
