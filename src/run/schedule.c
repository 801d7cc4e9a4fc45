/* Portions are small beside what a rank does in all, so that the last ones end at about one time, and large beside a
 * message. Small units of one model and length make one: they share encodings. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many portions a rank gets, were all the same; of checkpoints fewer, for each portion reads its weights. */
static const double portions_simulated = 64, portions_trained = 16;

/* Flops of the least portion that is worth a message: some milliseconds of a core. */
static const double least_portion = 1e8;

static int by_place(const void *a, const void *b) {
  const rs_unit *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Units in the order of their cells, put together while they are small and share encodings. */
static void join_units(rs_schedule *s, const rs_cell *cells, double target) {
  const rs_units *units = &s->units;
  for (size_t u = 0; u < units->count; u++) {
    const rs_unit *unit = &units->items[u];
    rs_portion *last = s->count > 0 ? &s->items[s->count - 1] : NULL;
    double cost = unit->own + (units->trained ? 0 : unit->making);
    const size_t *axis = cells[units->order[unit->first]].axis,
                 *before = last != NULL ? cells[units->order[last->first]].axis : axis;
    if (last != NULL && !units->trained && last->cost + cost <= target && axis[RS_BY_MODEL] == before[RS_BY_MODEL] &&
        axis[RS_BY_LENGTH] == before[RS_BY_LENGTH]) {
      last->count += unit->count;
      last->cost += cost;
    } else {
      s->items[s->count++] = (rs_portion){.first = unit->first, .count = unit->count, .cost = cost};
    }
  }
  for (size_t i = 0; i < s->count; i++) s->items[i].priority = s->items[i].cost;
}

/* The first part of what needs one training does it; the others wait for that. */
static void order_trainings(rs_schedule *s) {
  size_t first = 0;
  for (size_t i = 0; i < s->count; i++) {
    const rs_unit *unit = &s->units.items[i]; /* each is a portion */
    if (unit->making == 0) continue;
    bool begins = i == 0 || s->units.items[i - 1].shared != unit->shared;
    if (begins) {
      first = i;
      s->items[i].cost += unit->making;
      s->items[i].priority += unit->making;
    } else {
      s->items[i].after = first + 1;
      s->items[first].priority += unit->own;
    }
  }
}

static int by_priority(const void *a, const void *b, void *context) {
  const rs_portion *items = context, *x = &items[*(const size_t *)a], *y = &items[*(const size_t *)b];
  if (x->priority != y->priority) return x->priority < y->priority ? 1 : -1;
  return (x->first > y->first) - (x->first < y->first);
}

static rs_status sort(rs_schedule *s, rs_err *err) {
  rs_arena arena = {0};
  size_t *order = rs_arena_take(&arena, s->count, sizeof *order),
         *place = rs_arena_take(&arena, s->count, sizeof *place);
  rs_portion *before = rs_arena_take(&arena, s->count, sizeof *before);
  rs_status status = rs_arena_check(&arena, err);
  if (status == RS_OK) {
    memcpy(before, s->items, s->count * sizeof *before);
    for (size_t i = 0; i < s->count; i++) order[i] = i;
    qsort_r(order, s->count, sizeof *order, by_priority, before);
    for (size_t i = 0; i < s->count; i++) place[order[i]] = i;
    for (size_t i = 0; i < s->count; i++) {
      s->items[i] = before[order[i]];
      if (s->items[i].after > 0) s->items[i].after = place[s->items[i].after - 1] + 1;
    }
  }
  rs_arena_clear(&arena);
  return status;
}

rs_status rs_schedule_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, size_t ranks,
                           rs_schedule *schedule, rs_err *err) {
  *schedule = (rs_schedule){0};
  rs_units *units = &schedule->units;
  RS_TRY(rs_units_make(experiment, cells, count, units, err));
  double portions = (units->trained ? portions_trained : portions_simulated) * (double)ranks;
  double target = fmax(least_portion, units->total / portions);
  RS_TRY(rs_units_split(units, target, count < ranks ? count : ranks, err));
  qsort(units->items, units->count, sizeof *units->items, by_place);
  schedule->items = rs_alloc(units->count, sizeof *schedule->items, err);
  if (schedule->items == NULL) return RS_MEMORY;
  join_units(schedule, cells, fmin(target, units->total / (double)ranks));
  if (units->trained) order_trainings(schedule);
  return sort(schedule, err);
}

void rs_schedule_clear(rs_schedule *schedule) {
  rs_units_clear(&schedule->units);
  free(schedule->items);
}

bool rs_schedule_next(rs_schedule *schedule, size_t *portion) {
  rs_portion *items = schedule->items;
  while (schedule->head < schedule->count && items[schedule->head].given) schedule->head++;
  for (size_t i = schedule->head; i < schedule->count; i++) {
    if (items[i].given || (items[i].after > 0 && !items[items[i].after - 1].done)) continue;
    items[i].given = true;
    *portion = i;
    return true;
  }
  return false;
}

bool rs_schedule_left(const rs_schedule *schedule) {
  for (size_t i = schedule->head; i < schedule->count; i++)
    if (!schedule->items[i].given) return true;
  return false;
}

void rs_schedule_done(rs_schedule *schedule, size_t portion) {
  schedule->items[portion].done = true;
}
