/* The short table of a run, read back from its summary.csv: methods down, metrics across, at the longest length. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 8, METHOD_WIDTH = 20 };

/* Which rows a number of the table is the mean of. */
typedef struct selection {
  const char *method, *length, *source;
} selection;

static double mean_of(const rs_table *table, int column, selection rows) {
  int method_column = rs_table_column(table, "method"), length_column = rs_table_column(table, "length_tokens");
  int source_column = rs_table_column(table, "source");
  rs_moments moments = {0};
  for (size_t row = 0; row < table->rows; row++) {
    char **fields = table->fields + row * table->columns;
    double value;
    bool chosen = strcmp(fields[method_column], rows.method) == 0 && strcmp(fields[length_column], rows.length) == 0;
    if (!chosen || strcmp(fields[source_column], rows.source) != 0) continue;
    if (rs_number_read(fields[column], &value)) rs_moments_add(&moments, value);
  }
  return rs_moments_mean(&moments);
}

static bool has_values(const rs_experiment *experiment, const rs_table *table, int column, selection rows) {
  for (size_t i = 0; i < experiment->methods.count; i++) {
    rows.method = experiment->methods.items[i].label;
    if (!isnan(mean_of(table, column, rows))) return true;
  }
  return false;
}

/* The first column of each metric that holds anything at this length. */
static size_t choose_columns(const rs_experiment *experiment, const rs_table *table, selection rows, int *chosen) {
  size_t count = 0;
  for (size_t m = 0; m < experiment->metrics.count && count < MOST_COLUMNS; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    int column = metric->scalar_count > 0 ? rs_table_column(table, metric->scalars[0].name) : -1;
    if (column >= 0 && has_values(experiment, table, column, rows)) chosen[count++] = column;
  }
  return count;
}

static int width_of(const rs_table *table, int column) {
  int width = (int)strlen(table->header[column]);
  return width < 9 ? 9 : width;
}

static void put_cell(rs_text *text, int width, double mean) {
  if (isnan(mean))
    rs_text_printf(text, "  %*s", width, "-");
  else
    rs_text_printf(text, "  %*.4g", width, mean);
}

/* One source: methods down, metrics across. */
static void put_block(const rs_experiment *experiment, const rs_table *table, selection rows, rs_text *text) {
  int chosen[MOST_COLUMNS];
  size_t count = choose_columns(experiment, table, rows, chosen);
  rs_text_printf(text, "%s at %s tokens, source %s, mean over seeds, heads and models\n\n%-*s", experiment->name,
                 rows.length, rows.source, METHOD_WIDTH, "method");
  for (size_t c = 0; c < count; c++)
    rs_text_printf(text, "  %*s", width_of(table, chosen[c]), table->header[chosen[c]]);
  rs_text_puts(text, "\n");
  for (size_t i = 0; i < experiment->methods.count; i++) {
    rows.method = experiment->methods.items[i].label;
    rs_text_printf(text, "%-*s", METHOD_WIDTH, rows.method);
    for (size_t c = 0; c < count; c++) put_cell(text, width_of(table, chosen[c]), mean_of(table, chosen[c], rows));
    rs_text_puts(text, "\n");
  }
}

static void put_blocks(const rs_experiment *experiment, const rs_table *table, const char *length, rs_text *text) {
  for (size_t i = 0; i < experiment->sources.count; i++) {
    if (i > 0) rs_text_puts(text, "\n");
    put_block(experiment, table, (selection){.length = length, .source = experiment->sources.items[i].label}, text);
  }
}

int cli_print_summary(const rs_experiment *experiment, const char *directory) {
  rs_err err = {0};
  rs_table *table = NULL;
  rs_text text = {0};
  char *csv = NULL, length[32];
  size_t bytes, longest = 0;
  char *path = rs_path_join(directory, "summary.csv", &err);
  rs_status status = path != NULL ? rs_file_read(path, SIZE_MAX / 4, &csv, &bytes, &err) : RS_MEMORY;
  if (status == RS_OK) status = rs_csv_read(csv, bytes, path, &table, &err);
  for (size_t i = 0; i < experiment->length_count; i++)
    if (experiment->lengths[i] > longest) longest = experiment->lengths[i];
  snprintf(length, sizeof length, "%zu", longest);
  if (status == RS_OK) put_blocks(experiment, table, length, &text);
  int code = status != RS_OK ? cli_fail(status, NULL, &err) : cli_put(&text) ? CLI_OK : CLI_FAILED;
  rs_table_free(table);
  free(csv);
  free(path);
  return code;
}
