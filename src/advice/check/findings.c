/* A list of findings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

const char *const rs_severity_words[RS_SEVERITIES + 1] = {"note", "warning", "error", NULL};

rs_status rs_find(rs_findings *findings, const rs_rule *rule, const rs_node *node, const char *key, const char *fix,
                  rs_err *err, const char *format, ...) {
  RS_TRY(RS_GROW(findings->items, &findings->capacity, findings->count + 1, err));
  rs_finding *finding = &findings->items[findings->count++];
  *finding = (rs_finding){.rule = rule, .severity = rule->severity};
  if (node != NULL) {
    finding->line = node->line;
    finding->column = node->column;
  }
  if (key == NULL && node != NULL) key = node->key;
  rs_shorten(key != NULL ? key : "", sizeof finding->key, finding->key);
  rs_message(finding->fix, sizeof finding->fix, "%s", fix != NULL ? fix : "");
  va_list words;
  va_start(words, format);
  rs_message_print(finding->text, sizeof finding->text, false, format, words);
  va_end(words);
  return RS_OK;
}

void rs_raise(const rs_checked *checked, rs_findings *findings) {
  findings->items[findings->count - 1].severity = checked->engines != 0 ? RS_WARNING : RS_NOTE;
}

void rs_findings_clear(rs_findings *findings) {
  free(findings->items);
  *findings = (rs_findings){0};
}

size_t rs_findings_count(const rs_findings *findings, rs_severity least) {
  size_t count = 0;
  for (size_t i = 0; i < findings->count; i++) count += findings->items[i].severity >= least;
  return count;
}

size_t rs_findings_drop(rs_findings *findings, const rs_rule *rule) {
  size_t kept = 0, count = findings->count;
  for (size_t i = 0; i < count; i++)
    if (findings->items[i].rule != rule) findings->items[kept++] = findings->items[i];
  findings->count = kept;
  return count - kept;
}
