/* Shards: units of a sweep dealt out, the largest first, each to the shard that has the least so far (Graham 1969). The
 * largest are split before: what a shard must hold anyway can be made twice. */
#include "costs.h"

#include <stdlib.h>

/* A unit is split where its cells take more than a shard's part, over this. A training is to be done once. */
enum { PARTS_SIMULATED = 4, PARTS_TRAINED = 1 };

static size_t least_of(const double *costs, size_t shards) {
  size_t least = 0;
  for (size_t s = 1; s < shards; s++)
    if (costs[s] < costs[least]) least = s;
  return least;
}

/* Whether the shard has a part of what unit number `index` is a part of, among those dealt before it. */
static bool has_part(const rs_units *units, size_t index, const size_t *of_cell, size_t shard) {
  for (size_t u = 0; u < index; u++)
    if (units->items[u].shared == units->items[index].shared && of_cell[units->order[units->items[u].first]] == shard)
      return true;
  return false;
}

/* A part costs what is made for all parts, too, but once in a shard. */
static void deal(const rs_units *units, size_t shards, size_t *of_cell, double *costs) {
  for (size_t u = 0; u < units->count; u++) {
    const rs_unit *unit = &units->items[u];
    size_t shard = least_of(costs, shards);
    bool made = unit->making > 0 && has_part(units, u, of_cell, shard + 1);
    costs[shard] += unit->own + (made ? 0 : unit->making);
    for (size_t i = 0; i < unit->count; i++) of_cell[units->order[unit->first + i]] = shard + 1;
  }
}

static rs_status assign(rs_units *units, size_t shards, size_t *of_cell, double *costs, rs_err *err) {
  size_t parts = shards * (units->trained ? PARTS_TRAINED : PARTS_SIMULATED);
  RS_TRY(rs_units_split(units, rs_units_total(units) / (double)parts, err));
  RS_TRY(rs_units_multiply(units, shards, err));
  rs_units_sort(units);
  deal(units, shards, of_cell, costs);
  return RS_OK;
}

rs_status rs_shards_assign(const rs_experiment *experiment, size_t shards, size_t *of_cell, size_t count, double *costs,
                           rs_err *err) {
  rs_cell *cells;
  rs_units units;
  size_t there;
  RS_TRY(rs_experiment_cells(experiment, &cells, &there, err));
  rs_status status = there == count ? RS_OK : rs_fail(err, RS_INTERNAL, "%zu cells, not %zu", there, count);
  if (status == RS_OK && shards > count)
    status = rs_fail(err, RS_INPUT, "%zu shards are too many: the config has %zu cell%s", shards, count,
                     count == 1 ? "" : "s");
  if (status == RS_OK) {
    for (size_t s = 0; s < shards; s++) costs[s] = 0;
    status = rs_units_make(experiment, cells, count, &units, err);
    if (status == RS_OK) status = assign(&units, shards, of_cell, costs, err);
    rs_units_clear(&units);
  }
  free(cells);
  return status;
}
