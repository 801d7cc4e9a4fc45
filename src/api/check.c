/* Findings of `check`, as structs of words. */
#include "api.h"

#include "advice/advice.h"

#include <stdlib.h>
#include <string.h>

struct ropescope_findings {
  rs_findings found;
  ropescope_finding *items; /* (found.count,) */
};

_Static_assert((int)ROPESCOPE_NOTE == RS_NOTE && (int)ROPESCOPE_WARNING == RS_WARNING &&
                   (int)ROPESCOPE_ERROR == RS_ERROR,
               "a severity goes out as it is");

/* "vllm, sglang" as a set; NULL: none is named. */
static rs_status choose_engines(const char *words, uint32_t *engines, rs_err *err) {
  static const char between[] = ", ";
  *engines = 0;
  for (const char *word = words; word != NULL && *word != '\0';) {
    word += strspn(word, between);
    size_t length = strcspn(word, between);
    rs_text name = {0};
    rs_text_add(&name, word, length);
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK && length > 0) status = rs_config_engines_choose(rs_text_string(&name), engines, err);
    rs_text_clear(&name);
    if (status != RS_OK) return status;
    word += length;
  }
  return RS_OK;
}

static rs_status check_text(const char *text, size_t length, const char *name, uint32_t engines,
                            ropescope_findings *findings, rs_err *err) {
  RS_TRY(rs_check(text, length, name, engines, &findings->found, err));
  findings->items = rs_alloc(findings->found.count, sizeof *findings->items, err);
  if (findings->items == NULL) return RS_MEMORY;
  for (size_t i = 0; i < findings->found.count; i++) {
    const rs_finding *found = &findings->found.items[i];
    findings->items[i] = (ropescope_finding){.code = found->rule->code,
                                             .rule = found->rule->name,
                                             .severity = (ropescope_severity)found->severity,
                                             .line = found->line,
                                             .column = found->column,
                                             .key = found->key,
                                             .text = found->text,
                                             .fix = found->fix};
  }
  return RS_OK;
}

static rs_status check_file(const char *name, uint32_t engines, ropescope_findings *findings, rs_err *err) {
  char *data = NULL;
  size_t length = 0;
  if (name == NULL) return rs_fail(err, RS_INPUT, "neither a text nor a file is named");
  char *path = rs_api_config_path(name, err);
  rs_status status = path != NULL ? rs_file_read(path, RS_LARGEST_FILE, &data, &length, err) : RS_MEMORY;
  if (status == RS_OK) status = check_text(data, length, path, engines, findings, err);
  free(data);
  free(path);
  return status;
}

ropescope_status ropescope_check(const char *text, size_t length, const char *name, const char *engines,
                                 ropescope_findings **findings, ropescope_error **error) {
  uint32_t set;
  rs_err err = {0};
  *findings = rs_alloc(1, sizeof **findings, &err);
  rs_status status = *findings != NULL ? choose_engines(engines, &set, &err) : RS_MEMORY;
  if (status == RS_OK)
    status = text != NULL ? check_text(text, length, name != NULL ? name : "config.json", set, *findings, &err)
                          : check_file(name, set, *findings, &err);
  return RS_API_END(status, findings, ropescope_findings_free, error, &err, NULL);
}

void ropescope_findings_free(ropescope_findings *findings) {
  if (findings == NULL) return;
  rs_findings_clear(&findings->found);
  free(findings->items);
  free(findings);
}

const ropescope_finding *ropescope_findings_at(const ropescope_findings *findings, size_t index) {
  return index < findings->found.count ? &findings->items[index] : NULL;
}

size_t ropescope_findings_count(const ropescope_findings *findings, ropescope_severity least) {
  return rs_findings_count(&findings->found, (rs_severity)least);
}
