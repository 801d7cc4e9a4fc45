/* ranks.c: numbers that occur, as places in a row, and which of these places have a label. */
#include "data.h"

#include <math.h>
#include <stdlib.h>

static int compare_numbers(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

rs_status rs_plot_ranks_read(const double *numbers, size_t count, rs_arena *memory, rs_plot_ranks *ranks, rs_err *err) {
  size_t kept = 0, unique = 0;
  *ranks = (rs_plot_ranks){.items = rs_arena_take(memory, count, sizeof *ranks->items)};
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < count; i++) {
    if (!isnan(numbers[i])) ranks->items[kept++] = numbers[i];
  }
  qsort(ranks->items, kept, sizeof *ranks->items, compare_numbers);
  for (size_t i = 0; i < kept; i++) {
    if (unique == 0 || ranks->items[i] != ranks->items[unique - 1]) ranks->items[unique++] = ranks->items[i];
  }
  ranks->count = unique;
  return RS_OK;
}

size_t rs_plot_rank(const rs_plot_ranks *ranks, double number) {
  const double *found = bsearch(&number, ranks->items, ranks->count, sizeof number, compare_numbers);
  return found != NULL ? (size_t)(found - ranks->items) : ranks->count;
}

/* Whether the numbers are whole and without gaps. */
static bool is_consecutive(const rs_plot_ranks *ranks) {
  for (size_t i = 0; i < ranks->count; i++) {
    if (ranks->items[i] != floor(ranks->items[i])) return false;
    if (i > 0 && ranks->items[i] != ranks->items[i - 1] + 1) return false;
  }
  return true;
}

size_t rs_plot_label_step(const rs_plot_ranks *ranks, double cell, double room) {
  static const size_t factors[] = {1, 2, 5};
  size_t step = 1;
  if (!is_consecutive(ranks)) return (size_t)fmax(ceil(room / cell), 1);
  for (size_t i = 1; (double)step * cell < room && step < ranks->count; i++) {
    size_t tens = 1;
    for (size_t k = 0; k < i / 3; k++) tens *= 10;
    step = factors[i % 3] * tens;
  }
  return step;
}

bool rs_plot_is_labelled(const rs_plot_ranks *ranks, size_t i, size_t step) {
  return is_consecutive(ranks) ? fmod(ranks->items[i], (double)step) == 0 : i % step == 0;
}
