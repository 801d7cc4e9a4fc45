/* Claims beside what a run wrote. */
#include "claims.h"

#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CSV file that was read last: claims about one file stand together. */
typedef struct source {
  char *path, *text;
  rs_table *table;
} source;

static void clear(source *from) {
  rs_table_free(from->table);
  free(from->text);
  free(from->path);
  *from = (source){0};
}

bool rs_claims_is_full(const char *stem, size_t length) {
  static const char end[] = "full";
  size_t size = sizeof end - 1;
  return length >= size && memcmp(stem + length - size, end, size) == 0;
}

/* "decay" -> RESULTS/NAME/decay.csv, "STEM/decay" -> RESULTS/NAME-STEM/decay.csv. NULL: no memory. */
static char *path_of(const char *results, const char *name, const char *file) {
  const char *slash = strrchr(file, '/');
  rs_text path = {0};
  if (slash == NULL)
    rs_text_printf(&path, "%s/%s/%s.csv", results, name, file);
  else
    rs_text_printf(&path, "%s/%s-%.*s/%s.csv", results, name, (int)(slash - file), file, slash + 1);
  if (!path.failed) return path.data;
  rs_text_clear(&path);
  return NULL;
}

/* The table of `file` with the published numbers that stand beside the claims. */
static rs_status read_table(source *from, const char *claims, const char *results, const char *name, const char *file,
                            rs_err *err) {
  size_t length;
  char *path = path_of(results, name, file);
  if (path == NULL) return rs_fail(err, RS_MEMORY, "out of memory");
  if (from->table != NULL && strcmp(path, from->path) == 0) {
    free(path);
    return RS_OK;
  }
  clear(from);
  from->path = path;
  RS_TRY(rs_results_read(path, RS_LARGEST_TABLE, &from->text, &length, err));
  RS_TRY(rs_csv_read(from->text, length, path, &from->table, err));
  rs_status status = rs_facts_join(claims, file, &from->table, err);
  if (status != RS_OK) clear(from);
  return status;
}

static void judge(const rs_claim *claim, rs_claim_result *finding) {
  char number[RS_NUMBER_CHARS];
  bool contradicts = rs_claim_contradicts(claim);
  bool expected = !claim->claimed.stated || rs_bound_holds(&claim->claimed, finding->value);
  bool here = !claim->here.stated || rs_bound_holds(&claim->here, finding->value);
  rs_number_format(finding->value, number);
  finding->held = here && expected == !contradicts;
  if (finding->held) return;
  if (!here)
    snprintf(finding->why, sizeof finding->why, "comes to %s, not to %g as said here", number, claim->here.number);
  else if (contradicts)
    snprintf(finding->why, sizeof finding->why, "comes to %s, which does not contradict %.40s", number,
             claim->expected);
  else if (claim->claimed.tolerance > 0)
    snprintf(finding->why, sizeof finding->why, "comes to %s, not %.40s within %g", number, claim->expected,
             claim->claimed.tolerance);
  else
    snprintf(finding->why, sizeof finding->why, "comes to %s, not %.40s", number, claim->expected);
}

static bool is_left_out(const rs_claim *claim, bool full) {
  const char *slash = strrchr(claim->file, '/');
  return !full && slash != NULL && rs_claims_is_full(claim->file, (size_t)(slash - claim->file));
}

static rs_status check_one(const rs_claims *claims, const rs_claim *claim, source *from, const char *results,
                           const char *name, rs_claim_result *finding) {
  rs_err why = {0};
  rs_status status = read_table(from, claims->name, results, name, claim->file, &why);
  if (status == RS_OK) status = rs_table_select(from->table, claim->column, claim->where, NULL, &finding->value, &why);
  if (status == RS_OK)
    judge(claim, finding);
  else
    rs_shorten(why.message, sizeof finding->why, finding->why);
  return status;
}

rs_status rs_claims_check(const rs_claims *claims, const char *results, const char *name, bool full,
                          rs_claim_result *findings, rs_err *err) {
  source from = {0};
  rs_status status = RS_OK;
  for (size_t i = 0; i < claims->count && status != RS_MEMORY; i++) {
    findings[i] = (rs_claim_result){.value = NAN, .left_out = is_left_out(&claims->items[i], full)};
    if (!findings[i].left_out) status = check_one(claims, &claims->items[i], &from, results, name, &findings[i]);
  }
  clear(&from);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
}
