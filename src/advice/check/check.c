/* From a config.json to its findings. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

const char *const rs_severity_words[RS_SEVERITIES + 1] = {"note", "warning", "error", NULL};

static const rs_check_row *const groups[] = {rs_rules_dictionary, rs_rules_lengths, rs_rules_model, rs_rules_engines,
                                             rs_rules_layers}; /* whose last reads what is found */

/* Row `index` of all; one without a code past the last. */
static const rs_check_row *row_at(size_t index) {
  static const rs_check_row none = {.rule = {0}};
  for (size_t g = 0; g < RS_COUNT(groups); g++)
    for (const rs_check_row *row = groups[g]; row->rule.code != NULL; row++)
      if (index-- == 0) return row;
  return &none;
}

const rs_rule *rs_rules(size_t index) {
  const rs_rule *rule = &row_at(index)->rule;
  return rule->code != NULL ? rule : NULL;
}

rs_status rs_rule_find(const char *word, const rs_rule **rule, rs_err *err) {
  rs_nearest nearest = {.word = word};
  for (size_t i = 0; (*rule = rs_rules(i)) != NULL; i++) {
    if (strcmp((*rule)->code, word) == 0 || strcmp((*rule)->name, word) == 0) return RS_OK;
    rs_nearest_add(&nearest, (*rule)->code);
    rs_nearest_add(&nearest, (*rule)->name);
    if (row_at(i)->former != NULL) rs_nearest_former(&nearest, row_at(i)->former, (*rule)->name);
  }
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL) return rs_fail(err, RS_INPUT, "no finding %s (did you mean %s?)", word, near);
  return rs_fail(err, RS_INPUT, "no finding %s (ropescope list findings shows them)", word);
}

static int by_place(const void *left, const void *right) {
  const rs_finding *a = left, *b = right;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return strcmp(a->rule->code, b->rule->code);
}

static void look(rs_checked *c, const rs_check_row *row) {
  if (row->in_file != NULL) row->in_file(c);
  for (size_t r = 0; r < c->rope_count && row->in_rope != NULL; r++) {
    const rs_rope_entry *rope = &c->ropes[r];
    if (row->types == NULL || (rope->known != NULL && rs_word_among(rope->known->type, row->types)))
      row->in_rope(c, rope);
  }
}

rs_status rs_check(const char *text, size_t length, const char *name, uint32_t engines, rs_findings *findings,
                   rs_err *err) {
  RS_OWNED(rs_checked) c = {0};
  rs_err failed = {0};
  *findings = (rs_findings){0};
  RS_TRY(rs_checked_read(text, length, name, &c, err));
  c.engines = engines;
  c.findings = findings;
  c.err = &failed;
  for (size_t g = 0; g < RS_COUNT(groups); g++) {
    c.rows = groups[g];
    for (const rs_check_row *row = c.rows; row->rule.code != NULL; row++) look(&c, row);
  }
  if (failed.status != RS_OK) {
    rs_findings_clear(findings);
    return rs_fail(err, failed.status, "%s", failed.message);
  }
  if (findings->count > 0) qsort(findings->items, findings->count, sizeof *findings->items, by_place);
  return RS_OK;
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
