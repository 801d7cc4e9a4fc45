/* report.c: what was done and what is to be said of it. */
#include "data.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static rs_status add_line(char ***lines, size_t *count, size_t *capacity, const char *text, rs_err *err) {
  RS_TRY(RS_GROW(*lines, capacity, *count + 1, err));
  (*lines)[*count] = rs_strdup(text, err);
  if ((*lines)[*count] == NULL) return RS_MEMORY;
  ++*count;
  return RS_OK;
}

rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) {
  char note[1024];
  va_list words;
  va_start(words, format);
  vsnprintf(note, sizeof note, format, words);
  va_end(words);
  return add_line(&report->notes, &report->note_count, &report->note_capacity, note, err);
}

void rs_plot_report_clear(rs_plot_report *report) {
  for (size_t i = 0; i < report->count; i++) free(report->files[i]);
  for (size_t i = 0; i < report->note_count; i++) free(report->notes[i]);
  free(report->files);
  free(report->notes);
  *report = (rs_plot_report){0};
}

rs_status rs_plot_report_add(rs_plot_report *report, const char *path, rs_err *err) {
  return add_line(&report->files, &report->count, &report->capacity, path, err);
}
