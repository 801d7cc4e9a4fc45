/* table.c: the table of the summaries. Plain HTML: it is there without a script, on paper and for screen readers. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of all folders, each name once; the first folder that has it speaks for it. */
typedef struct heading {
  const report_column **items; /* (count,) */
  size_t count, keys;          /* keys come first */
} heading;

static void add_columns(const report_results *folders, size_t count, bool keys, heading *head) {
  for (size_t f = 0; f < count; f++) {
    for (size_t i = 0; i < folders[f].count; i++) {
      const report_column *column = &folders[f].columns[i];
      bool always = strcmp(column->name, "method") == 0 || strcmp(column->name, "length_tokens") == 0 ||
                    (count > 1 && strcmp(column->name, "model") == 0); /* folders may differ in it */
      bool shown = keys ? column->key && (always || column->varies) : column->value && column->any && !column->end;
      for (size_t k = 0; k < head->count && shown; k++) shown = strcmp(head->items[k]->name, column->name) != 0;
      if (shown) head->items[head->count++] = column;
    }
  }
}

/* A name may break behind its underscores. */
static void put_name(const char *name, rs_text *out) {
  for (const char *end; (end = strchr(name, '_')) != NULL; name = end + 1) {
    RS_FREED char *part = strndup(name, (size_t)(end - name) + 1);
    out->failed = out->failed || part == NULL;
    if (part != NULL) rs_xml_escape(part, out);
    rs_text_puts(out, "<wbr>");
  }
  rs_xml_escape(name, out);
}

static void put_head(const heading *head, bool several, rs_text *out) {
  rs_text_puts(out, "<thead><tr>");
  if (several) rs_text_puts(out, "<th scope=\"col\">results</th>");
  for (size_t i = 0; i < head->count; i++) {
    const report_column *column = head->items[i];
    report_put(out, "<th scope=\"col\" title=\"%s\"", column->is->summary);
    rs_text_puts(out, i < head->keys ? ">" : " class=\"number\">");
    put_name(column->name, out);
    if (column->is->better != 0)
      rs_text_printf(out, " <small>(%s is better)</small>", column->is->better > 0 ? "higher" : "lower");
    rs_text_puts(out, "</th>");
  }
  rs_text_puts(out, "<th scope=\"col\" class=\"number\" title=\"rows of summary.csv that the values are means of\">rows"
                    "</th></tr></thead>\n<tbody>\n");
}

static void put_key(const report_results *folder, const report_line *line, const report_column *column, rs_text *out) {
  bool method = strcmp(column->name, "method") == 0;
  double number;
  const char *field = report_field(folder, column->name, line->row);
  rs_text_puts(out, method ? "<th scope=\"row\">" : rs_number_read(field, &number) ? "<td class=\"number\">" : "<td>");
  rs_xml_escape(field, out);
  rs_text_puts(out, method ? "</th>" : "</td>");
}

static void put_value(const report_results *folder, const report_line *line, const report_column *column,
                      rs_text *out) {
  const report_column *found = report_column_find(folder, column->name);
  double value = found != NULL ? line->means[found - folder->columns] : NAN;
  rs_text_puts(out, "<td class=\"number\">");
  if (!isnan(value)) report_value(line, (size_t)(found - folder->columns), out);
  rs_text_puts(out, "</td>");
}

static void put_line(const report_results *folder, const report_line *line, const heading *head, bool several,
                     rs_text *out) {
  rs_text_puts(out, "<tr data-length=\"");
  if (!isnan(line->length)) rs_text_number(out, line->length);
  rs_text_puts(out, line->length == folder->longest || isnan(folder->longest) ? "\">" : "\" hidden>");
  if (several) report_put(out, "<td>%s</td>", folder->label);
  for (size_t i = 0; i < head->count; i++) (i < head->keys ? put_key : put_value)(folder, line, head->items[i], out);
  rs_text_printf(out, "<td class=\"number\">%zu", line->rows);
  if (line->bad > 0) rs_text_printf(out, " <b class=\"bad\">(%zu failed)</b>", line->bad);
  rs_text_puts(out, "</td></tr>\n");
}

rs_status report_table(const report_results *folders, size_t count, rs_text *out, rs_err *err) {
  heading head = {0};
  size_t all = 0;
  for (size_t f = 0; f < count; f++) all += folders[f].count;
  head.items = rs_alloc(all, sizeof *head.items, err);
  if (head.items == NULL) return RS_MEMORY;
  add_columns(folders, count, true, &head);
  head.keys = head.count;
  add_columns(folders, count, false, &head);
  rs_text_puts(out, "<noscript><style>tr[hidden] { display: table-row; }</style></noscript>\n"
                    "<div class=\"scroll\" role=\"region\" aria-label=\"Summary\" tabindex=\"0\">\n"
                    "<table id=\"summary\">\n<caption>Means over the seeds, to six digits");
  for (size_t i = 0; i < head.count; i++) {
    if (!head.items[i]->interval) continue;
    rs_text_puts(out, "; in brackets their 95&nbsp;% intervals over blocks and seeds");
    break;
  }
  rs_text_puts(out, ".</caption>\n");
  put_head(&head, count > 1, out);
  for (size_t f = 0; f < count; f++)
    for (size_t i = 0; i < folders[f].line_count; i++)
      put_line(&folders[f], &folders[f].lines[i], &head, count > 1, out);
  rs_text_puts(out, "</tbody>\n</table>\n</div>\n");
  free(head.items);
  return RS_OK;
}
