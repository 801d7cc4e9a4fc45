/* data_blocks.c: intervals of means from the blocks of targets that a curve's file has of each cell. A mean over seeds
 * has no interval in any row of the summary: those of single seeds say nothing of how seeds differ. */
#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static const char *field(const rs_blocks *blocks, size_t row, size_t column) {
  return blocks->table->fields[row * blocks->table->columns + column];
}

/* The first row of the cell, and how many there are. */
static size_t find_rows(const rs_blocks *blocks, const char *cell, size_t *count) {
  size_t begin = 0, end, rows = blocks->table->rows;
  while (begin < rows && strcmp(field(blocks, begin, blocks->cell), cell) != 0) begin++;
  for (end = begin; end < rows && strcmp(field(blocks, end, blocks->cell), cell) == 0;) end++;
  *count = end - begin;
  return begin;
}

/* Adds the cell's values times `sign` to those of its blocks, which must be the (count,) ones from row `first` on. */
static bool add_cell(const rs_blocks *blocks, const char *cell, size_t first, size_t count, double sign,
                     double *values) {
  size_t here, begin = find_rows(blocks, cell, &here);
  for (size_t i = 0; i < here && here == count; i++) {
    double value;
    if (strcmp(field(blocks, begin + i, blocks->block), field(blocks, first + i, blocks->block)) != 0) return false;
    if (!rs_number_read(field(blocks, begin + i, blocks->value), &value)) return false;
    values[i] += sign * value;
  }
  return here == count;
}

rs_status rs_blocks_interval(const rs_blocks *blocks, const char *const *cells, const char *const *less, size_t count,
                             rs_interval *interval, rs_err *err) {
  size_t each = 0;
  *interval = (rs_interval){NAN, NAN, NAN};
  size_t first = blocks->table != NULL && count > 0 ? find_rows(blocks, cells[0], &each) : 0;
  if (each == 0) return RS_OK;
  double *values = rs_alloc(count * each, sizeof *values, err);
  if (values == NULL) return RS_MEMORY;
  bool paired = true;
  for (size_t s = 0; s < count && paired; s++) {
    paired = add_cell(blocks, cells[s], first, each, 1, &values[s * each]);
    if (paired && less != NULL) paired = add_cell(blocks, less[s], first, each, -1, &values[s * each]);
  }
  rs_status status = paired ? rs_bootstrap_mean(values, count, each, interval, err) : RS_OK;
  free(values);
  return status;
}

/* Fewer blocks part nobody: percentiles of 8 normal blocks hold the mean .90 of the time, those of 4 .80, and those of
 * 2, which are the two values, .48. */
enum { LEAST_BLOCKS = 8 };

/* Whether the paired difference of two rivals is known, of blocks enough, and 0 is not in its interval. */
static rs_status find_apart(const rs_blocks *blocks, const rs_rival *a, const rs_rival *b, bool *apart, rs_err *err) {
  rs_interval interval;
  size_t each = 0;
  *apart = false;
  if (a->count != b->count) return RS_OK;
  for (size_t i = 0; i < a->count; i++)
    if (strcmp(a->seeds[i], b->seeds[i]) != 0) return RS_OK;
  if (blocks->table != NULL && a->count > 0) (void)find_rows(blocks, a->cells[0], &each);
  if (each < LEAST_BLOCKS) return RS_OK;
  RS_TRY(rs_blocks_interval(blocks, a->cells, b->cells, a->count, &interval, err));
  *apart = rs_interval_parts(&interval);
  return RS_OK;
}

rs_status rs_blocks_rank(const rs_blocks *blocks, bool higher, rs_rival *rivals, size_t count, size_t *best, bool *won,
                         rs_err *err) {
  size_t others = 0, near = 0;
  *best = SIZE_MAX;
  for (size_t i = 0; i < count; i++) {
    double mean = rivals[i].mean;
    rivals[i].near = false;
    if (isnan(mean)) continue;
    bool better = *best == SIZE_MAX || (higher ? mean > rivals[*best].mean : mean < rivals[*best].mean);
    if (better) *best = i;
  }
  for (size_t i = 0; i < count && *best != SIZE_MAX; i++) {
    bool apart = false;
    if (isnan(rivals[i].mean)) continue;
    if (i != *best) RS_TRY(find_apart(blocks, &rivals[i], &rivals[*best], &apart, err));
    rivals[i].near = !apart;
    others += i != *best;
    near += !apart;
  }
  *won = others > 0 && near == 1;
  return RS_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

rs_plot_file *rs_plot_blocks_file(const rs_plot_data *data, const rs_plot_column *column) {
  for (size_t i = 0; i < data->count; i++) {
    const rs_plot_column *block = rs_plot_column_named(&data->files[i], "", "block", "");
    const rs_plot_column *value = rs_plot_column_named(&data->files[i], "", column->name, "");
    if (block != NULL && block->role == RS_PLOT_INDEX && value != NULL && value->role == RS_PLOT_VALUE &&
        rs_plot_column_named(&data->files[i], "", "cell", "") != NULL)
      return &data->files[i];
  }
  return NULL;
}

rs_blocks rs_plot_blocks_of(const rs_plot_file *file, const rs_plot_column *column) {
  if (file == NULL || file->table == NULL) return (rs_blocks){0};
  return (rs_blocks){.table = file->table,
                     .cell = rs_plot_column_named(file, "", "cell", "")->place,
                     .block = rs_plot_column_named(file, "", "block", "")->place,
                     .value = rs_plot_column_named(file, "", column->name, "")->place};
}

bool rs_plot_interval_of(const rs_plot_file *file, const rs_plot_column *column, const rs_plot_column **low,
                         const rs_plot_column **high) {
  *low = rs_plot_column_named(file, "", column->name, "_low");
  *high = rs_plot_column_named(file, "", column->name, "_high");
  return *low != NULL && (*low)->part == RS_PLOT_LOW && *high != NULL && (*high)->part == RS_PLOT_HIGH;
}
