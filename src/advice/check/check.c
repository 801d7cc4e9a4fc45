/* From a config.json to its findings. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

static const rs_rule_group *const groups[] = {
    &rs_rules_type,    &rs_rules_lengths, &rs_rules_attention, &rs_rules_geometry, &rs_rules_positions,
    &rs_rules_engines, &rs_rules_cache,   &rs_rules_layers,    &rs_rules_reading}; /* which reads what is found */

const rs_rule *rs_rules(size_t index) {
  for (size_t g = 0; g < RS_COUNT(groups); g++) {
    if (index < groups[g]->count) return &groups[g]->rules[index];
    index -= groups[g]->count;
  }
  return NULL;
}

rs_status rs_rule_find(const char *word, const rs_rule **rule, rs_err *err) {
  rs_nearest nearest = {.word = word};
  for (size_t i = 0; (*rule = rs_rules(i)) != NULL; i++) {
    if (strcmp((*rule)->code, word) == 0 || strcmp((*rule)->name, word) == 0) return RS_OK;
    rs_nearest_add(&nearest, (*rule)->code);
    rs_nearest_add(&nearest, (*rule)->name);
    if ((*rule)->former != NULL) rs_nearest_former(&nearest, (*rule)->former, (*rule)->name);
  }
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL) return rs_fail(err, RS_INPUT, "no finding %s (did you mean %s?)", word, near);
  return rs_fail(err, RS_INPUT, "no finding %s (ropescope list findings shows them)", word);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right) {
  const rs_finding *a = left, *b = right;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return strcmp(a->rule->code, b->rule->code);
}

static rs_status find_all(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  for (size_t g = 0; g < RS_COUNT(groups); g++) RS_TRY(groups[g]->find(checked, findings, err));
  if (findings->count > 0) qsort(findings->items, findings->count, sizeof *findings->items, by_place);
  return RS_OK;
}

rs_status rs_check(const char *text, size_t length, const char *name, uint32_t engines, rs_findings *findings,
                   rs_err *err) {
  rs_checked checked;
  *findings = (rs_findings){0};
  RS_TRY(rs_checked_read(text, length, name, &checked, err));
  checked.engines = engines;
  rs_status status = find_all(&checked, findings, err);
  rs_checked_clear(&checked);
  if (status != RS_OK) rs_findings_clear(findings);
  return status;
}
