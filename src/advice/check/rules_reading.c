/* RS9: what keeps the file from being read as a model. */
#include "rules.h"

#include <stdio.h>
#include <string.h>

static const rs_rule rules[] = {
    {.code = "RS901",
     .name = "not-read",
     .severity = RS_ERROR,
     .summary = "the file cannot be read as a model's config",
     .reference = "docs/config.md"},
};

/* An error, or a type that is not computed here. */
static bool says_all(const rs_finding *finding) {
  return finding->severity == RS_ERROR || strcmp(finding->rule->code, "RS111") == 0;
}

/* Whether a finding at that place has said it already. */
static bool is_said(const rs_findings *findings, size_t line, size_t column) {
  for (size_t i = 0; i < findings->count; i++)
    if (findings->items[i].line == line && findings->items[i].column == column && says_all(&findings->items[i]))
      return true;
  return false;
}

/* Each problem is "name:line:column: text". */
static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  size_t before = strlen(checked->top->file);
  for (const char *line = checked->unread.message; line != NULL && *line != '\0';) {
    size_t length = strcspn(line, "\n");
    rs_node place = {.file = checked->top->file};
    int start = 0;
    const char *text = line;
    if (length > before && sscanf(line + before, ":%zu:%zu: %n", &place.line, &place.column, &start) == 2 && start > 0)
      text = line + before + start;
    if (!is_said(findings, place.line, place.column))
      RS_TRY(rs_find(findings, &rules[0], &place, "", NULL, err, "%.*s", (int)(length - (size_t)(text - line)), text));
    line = line[length] == '\n' ? line + length + 1 : NULL;
  }
  return RS_OK;
}

const rs_rule_group rs_rules_reading = {rules, RS_COUNT(rules), find};
