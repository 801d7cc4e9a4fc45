/* The short table of a run, read back from its summary.csv: methods down, every column of the config's metrics across,
 * at the longest length. What does not depend on the source stands once, before the sources. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 120 };

/* What is printed, and which rows a number of it is the mean of. */
typedef struct short_table {
  const rs_experiment *experiment;
  const rs_table *csv;
  size_t length;      /* tokens */
  const char *source; /* NULL: any */
  int method_column, length_column, source_column;
} short_table;

/* The mean over the rows of a method; NaN where none has a number. */
static double mean_of(const short_table *t, const char *method, int column) {
  rs_moments moments = {0};
  for (size_t row = 0; row < t->csv->rows; row++) {
    char **fields = t->csv->fields + row * t->csv->columns;
    double value;
    if (strcmp(fields[t->method_column], method) != 0) continue;
    if (!rs_number_read(fields[t->length_column], &value) || value != (double)t->length) continue;
    if (t->source != NULL && strcmp(fields[t->source_column], t->source) != 0) continue;
    if (rs_number_read(fields[column], &value)) rs_moments_add(&moments, value);
  }
  return rs_moments_mean(&moments);
}

static bool has_values(const short_table *t, int column) {
  for (size_t i = 0; i < t->experiment->methods.count; i++)
    if (!isnan(mean_of(t, t->experiment->methods.items[i].label, column))) return true;
  return false;
}

/* Whether a metric gives the same for every source. */
static bool reads_no_source(const rs_experiment *experiment, const rs_metric_kind *metric) {
  return !rs_metric_observes(metric) && (metric->read == NULL || rs_observes(experiment));
}

/* Whether a scalar is an end of another's interval: NAME_low or NAME_high. */
static bool is_end(const rs_metric_kind *metric, const char *scalar) {
  static const char *const ends[] = {"_low", "_high"};
  size_t length = strlen(scalar);
  for (size_t i = 0; i < metric->scalar_count; i++)
    for (size_t e = 0; e < RS_COUNT(ends); e++) {
      size_t stem = strlen(metric->scalars[i].name);
      if (length == stem + strlen(ends[e]) && strncmp(scalar, metric->scalars[i].name, stem) == 0 &&
          strcmp(scalar + stem, ends[e]) == 0)
        return true;
    }
  return false;
}

/* The columns of the metrics, of tables or of what else they read, that hold anything. */
static size_t choose_columns(const short_table *t, bool of_tables, const rs_column **chosen) {
  const rs_variants *metrics = &t->experiment->metrics;
  size_t count = 0;
  for (size_t m = 0; m < metrics->count; m++) {
    const rs_metric_kind *metric = metrics->items[m].metric;
    for (size_t i = 0; i < metric->scalar_count && reads_no_source(t->experiment, metric) == of_tables; i++) {
      int column = rs_table_column(t->csv, metric->scalars[i].name);
      if (t->experiment->seed_count > 1 && is_end(metric, metric->scalars[i].name))
        continue; /* no interval of a mean */
      if (column >= 0 && count < t->csv->columns && has_values(t, column)) chosen[count++] = &metric->scalars[i];
    }
  }
  return count;
}

/* Tokens as people count them: 32k, 1707. */
static void format_tokens(double tokens, char *out, size_t size) {
  if (fabs(tokens) >= 1024 && fmod(tokens, 1024) == 0)
    snprintf(out, size, "%.0fk", tokens / 1024);
  else
    snprintf(out, size, fabs(tokens) < 10 ? "%.3g" : "%.0f", tokens);
}

/* As many columns as fit a line; returns how many those were. */
static size_t put_columns(const short_table *t, const rs_column *const *chosen, size_t count, rs_arena *arena,
                          rs_text *text) {
  enum { NUMBER = 9, FIRST = 24 }; /* about as wide as numbers and labels are */
  rs_doc_column columns[RS_DOC_COLUMNS] = {{.key = "method", .title = "method"}};
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  size_t width = FIRST, fit = 0;
  for (; fit < count && fit + 1 < RS_DOC_COLUMNS; fit++) {
    const char *name = chosen[fit]->name;
    size_t wide = strlen(name) < NUMBER ? NUMBER : strlen(name);
    if (fit > 0 && width + 2 + wide > LINE) break;
    width += 2 + wide;
    columns[1 + fit] = (rs_doc_column){.key = name, .title = name, .none = "-", .digits = 4, .right = true};
  }
  for (size_t i = 0; i < t->experiment->methods.count; i++) {
    const char *label = t->experiment->methods.items[i].label;
    rs_doc *row = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
    rs_doc_put(row, DOC_WORDS("method", label));
    for (size_t c = 0; c < fit; c++) {
      char tokens[RS_NUMBER_CHARS];
      double mean = mean_of(t, label, rs_table_column(t->csv, chosen[c]->name));
      format_tokens(mean, tokens, sizeof tokens);
      if (!isnan(mean) && strcmp(chosen[c]->unit, "tokens") == 0)
        rs_doc_put(row, DOC_WORDS(chosen[c]->name, tokens));
      else
        rs_doc_put(row, DOC_NUMBER(chosen[c]->name, mean));
    }
  }
  rs_text_puts(text, "\n");
  rs_doc_table(rows, columns, 1 + fit, 0, text);
  return fit;
}

/* What captions say of the source: what its queries and keys are, and what a table of them does not rank. */
static void put_caption(const rs_variant *source, rs_text *text) {
  RS_OWNED(rs_text) phrase = {0}, words = {0};
  for (size_t i = 0; source->source->caption != NULL; i++) {
    phrase.length = 0;
    source->source->caption(source->params, i, &phrase);
    if (phrase.length == 0) break;
    rs_text_printf(&words, "%s%s", i > 0 ? ", " : "", rs_text_string(&phrase));
  }
  if (words.length > 0) rs_wrap(text, 0, 0, LINE, rs_text_string(&words)), rs_text_puts(text, "\n");
  text->failed = text->failed || phrase.failed || words.failed;
}

/* Methods down, metrics across, in as many tables as the line asks for; `source` is NULL where a task is read. */
static rs_status put_block(const short_table *t, const rs_variant *source, bool of_tables, rs_text *text, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  const rs_column **columns = rs_arena_take(&arena, t->csv->columns, sizeof *columns);
  size_t count = columns != NULL ? choose_columns(t, of_tables, columns) : 0;
  const char *what = t->experiment->sources.count == 0 ? "task" : "source";
  if (count > 0 && !of_tables) {
    rs_text_puts(text, "\n");
    rs_text_line(text, "%s %s", what, t->source);
  }
  if (count > 0 && source != NULL) put_caption(source, text);
  for (size_t done = 0; done < count;) done += put_columns(t, columns + done, count - done, &arena, text);
  return rs_arena_check(&arena, err);
}

static rs_status put_tables(const rs_experiment *experiment, const rs_table *csv, rs_text *text, rs_err *err) {
  short_table t = {.experiment = experiment,
                   .csv = csv,
                   .method_column = rs_table_column(csv, "method"),
                   .length_column = rs_table_column(csv, "length_tokens"),
                   .source_column = rs_table_column(csv, "source")};
  char length[RS_NUMBER_CHARS];
  for (size_t i = 0; i < experiment->length_count; i++)
    t.length = experiment->lengths[i] > t.length ? experiment->lengths[i] : t.length;
  format_tokens((double)t.length, length, sizeof length);
  rs_text_line(text, "%s at %s tokens, mean over seeds, heads and models", experiment->name, length);
  RS_TRY(put_block(&t, NULL, true, text, err));
  if (experiment->sources.count == 0) {
    t.source = experiment->task.label;
    RS_TRY(put_block(&t, NULL, false, text, err));
  }
  for (size_t i = 0; i < experiment->sources.count; i++) {
    t.source = experiment->sources.items[i].label;
    RS_TRY(put_block(&t, &experiment->sources.items[i], false, text, err));
  }
  return rs_text_check(text, err);
}

int cli_print_summary(const rs_experiment *experiment, const char *directory) {
  rs_err err = {0};
  RS_HELD(rs_table) table = NULL;
  rs_text text = {0};
  RS_FREED char *csv = NULL, *path = rs_path_join(directory, "summary.csv", &err);
  size_t bytes;
  rs_status status = path != NULL ? rs_results_read(path, RS_LARGEST_TABLE, &csv, &bytes, &err) : RS_MEMORY;
  if (status == RS_OK) status = rs_csv_read(csv, bytes, path, &table, &err);
  if (status == RS_OK) status = put_tables(experiment, table, &text, &err);
  return cli_answer(status, &err, &text, CLI_TEXT);
}
