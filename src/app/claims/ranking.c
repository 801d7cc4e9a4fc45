/* Who is best in a column of a small table, as far as the 95 % intervals of paired differences tell: two means of a
 * column say nothing of it, as their targets are hard or easy for all methods alike. */
#include "claims.h"

#include "pages/pages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rows of one line, and what is made of them. */
typedef struct rows {
  size_t *rows, count;
  const char **cells, **seeds; /* (count,) */
} rows;

static const char *field(const rs_table *table, size_t row, const char *column) {
  int place = rs_table_column(table, column);
  return place >= 0 ? table->fields[row * table->columns + (size_t)place] : "";
}

static double number(const rs_table *table, size_t row, const char *column, const char *end) {
  char name[RS_SELECT_NAME + 8];
  double value;
  snprintf(name, sizeof name, "%s%s", column, end);
  return rs_number_read(field(table, row, name), &value) ? value : NAN;
}

/* The key, other than those of seeds, in which rows differ; NULL: they differ in their seeds alone. */
static const char *find_difference(const rs_table *table, const rs_paired *paired, const rows *line) {
  for (size_t k = 0; k < paired->key_count; k++) {
    const char *key = paired->keys[k];
    if (strcmp(key, "cell") == 0 || strcmp(key, "seed") == 0) continue;
    for (size_t i = 1; i < line->count; i++)
      if (strcmp(field(table, line->rows[i], key), field(table, line->rows[0], key)) != 0) return key;
  }
  return NULL;
}

/* `scratch` has room for all rows of the table. */
static rs_status read_line(const rs_ranking_in *in, size_t index, size_t *scratch, rs_arena *memory, rows *line,
                           rs_err *err) {
  char column[RS_SELECT_NAME];
  RS_TRY(rs_table_rows(in->table, in->column, in->where, &in->lines[index], scratch, &line->count, column, err));
  line->rows = rs_arena_take(memory, line->count, sizeof *line->rows);
  line->cells = rs_arena_take(memory, line->count, sizeof *line->cells);
  line->seeds = rs_arena_take(memory, line->count, sizeof *line->seeds);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < line->count; i++) {
    line->rows[i] = scratch[i];
    line->cells[i] = field(in->table, scratch[i], "cell");
    line->seeds[i] = field(in->table, scratch[i], "seed");
  }
  return RS_OK;
}

/* The paired difference of two lines: of those alone that have read the same seeds. */
static rs_status find_difference_interval(const rs_paired *paired, const rows *line, const rows *less,
                                          rs_interval *interval, rs_err *err) {
  bool same = line->count == less->count;
  for (size_t i = 0; same && i < line->count; i++) same = strcmp(line->seeds[i], less->seeds[i]) == 0;
  return same ? rs_blocks_interval(&paired->blocks, line->cells, less->cells, line->count, interval, err) : RS_OK;
}

/* The interval of a line: of one row its columns say it, of several seeds their blocks do. */
static rs_status find_interval(const rs_ranking_in *in, const char *column, const rs_paired *paired, const rows *line,
                               const rows *less, rs_interval *interval, const char **differs, rs_err *err) {
  *interval = (rs_interval){NAN, NAN, NAN};
  if (line->count == 1 && less == NULL)
    *interval = (rs_interval){NAN, number(in->table, line->rows[0], column, "_low"),
                              number(in->table, line->rows[0], column, "_high")};
  if (line->count < (less != NULL ? 1 : 2)) return RS_OK;
  const char *key = find_difference(in->table, paired, line);
  if (key != NULL) *differs = key;
  if (key == NULL && less != NULL) return find_difference_interval(paired, line, less, interval, err);
  return key != NULL ? RS_OK : rs_blocks_interval(&paired->blocks, line->cells, NULL, line->count, interval, err);
}

/* Lines at several lengths are no rivals: each would win or lose by its length. */
static bool at_one_length(const rs_table *table, const rows *lines, size_t count) {
  const char *length = NULL;
  for (size_t i = 0; i < count; i++) {
    const char *here = lines[i].count > 0 ? field(table, lines[i].rows[0], "length_tokens") : length;
    if (length != NULL && strcmp(here, length) != 0) return false;
    length = here;
  }
  return true;
}

static rs_status rank(const rs_ranking_in *in, const char *column, const rs_paired *paired, const rows *lines,
                      rs_arena *arena, rs_ranking *out, rs_err *err) {
  rs_rival *rivals = rs_arena_take(arena, in->count, sizeof *rivals);
  out->intervals = rs_arena_take(arena, in->count, sizeof *out->intervals);
  out->near = rs_arena_take(arena, in->count, sizeof *out->near);
  const char *differs = NULL;
  RS_TRY(rs_arena_check(arena, err));
  for (size_t i = 0; i < in->count; i++) {
    const rows *less = in->less < in->count ? &lines[in->less] : NULL;
    RS_TRY(find_interval(in, column, paired, &lines[i], less, &out->intervals[i], &differs, err));
    rivals[i] = (rs_rival){lines[i].cells, lines[i].seeds, lines[i].count, in->means[i], false};
  }
  out->known = true;
  out->blocks = paired->blocks.table != NULL;
  out->differs = differs != NULL ? rs_arena_text(arena, differs) : NULL;
  out->ranked = out->blocks && paired->better != 0 && differs == NULL && at_one_length(in->table, lines, in->count);
  if (!out->ranked) return rs_arena_check(arena, err);
  RS_TRY(rs_blocks_rank(&paired->blocks, paired->better > 0, rivals, in->count, &out->best, &out->won, err));
  for (size_t i = 0; i < in->count; i++) out->near[i] = rivals[i].near;
  return RS_OK;
}

static rs_status find(const rs_ranking_in *in, const char *column, const rs_paired *paired, size_t *scratch,
                      rs_arena *memory, rs_arena *arena, rs_ranking *ranking, rs_err *err) {
  rows *lines = rs_arena_take(memory, in->count, sizeof *lines);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < in->count; i++) RS_TRY(read_line(in, i, scratch, memory, &lines[i], err));
  return rank(in, column, paired, lines, arena, ranking, err);
}

rs_status rs_ranking_find(const rs_ranking_in *in, rs_arena *arena, rs_ranking *ranking, rs_err *err) {
  char column[RS_SELECT_NAME] = "";
  rs_paired paired = {0};
  rs_arena memory = {0};
  size_t *scratch = rs_arena_take(&memory, in->table->rows, sizeof *scratch), count;
  rs_status status = rs_arena_check(&memory, err);
  *ranking = (rs_ranking){.best = SIZE_MAX};
  if (status == RS_OK) status = rs_table_rows(in->table, in->column, in->where, NULL, scratch, &count, column, err);
  if (status == RS_OK && *column != '\0') status = rs_paired_read(in->directory, column, &paired, err);
  if (status == RS_OK && paired.known) status = find(in, column, &paired, scratch, &memory, arena, ranking, err);
  rs_paired_clear(&paired);
  rs_arena_clear(&memory);
  return status;
}
