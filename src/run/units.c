/* Units. Simulated heads: cells of one model, length, source and seed have the same queries and keys, those of one
 * model, source and length the rows of a text, those of one model, length and additive method its projections, which
 * cost more than what they are added to. Where no metric reads rows, cells of one model, length and method have
 * the same tables. Checkpoints: cells that need the same training; of models that are there, cells that are read
 * together. */
#include "costs.h"

#include <stdlib.h>
#include <string.h>

/* ---- what cells share -------------------------------------------------------------------------------------------- */

enum { RANKS = 5 };

/* By what a cell is sorted: the first RANKS numbers say its unit, the others its place in it. */
typedef struct place {
  size_t unit[RANKS], within[RANKS];
} place;

static void place_simulated(const rs_experiment *experiment, const rs_cell *cell, place *p) {
  const size_t *axis = cell->axis;
  bool rows = rs_needs_heads(experiment), text = rows && rs_reads_model(experiment, cell);
  bool projects = rows && !text && rs_projects(experiment, cell);
  const size_t unit[RANKS] = {axis[RS_BY_MODEL], axis[RS_BY_LENGTH], projects ? 1 + axis[RS_BY_METHOD] : 0,
                              !rows      ? axis[RS_BY_METHOD]
                              : projects ? 0
                                         : axis[RS_BY_SOURCE],
                              rows && !text && !projects ? axis[RS_BY_SEED] : 0};
  const size_t within[RANKS] = {axis[RS_BY_SOURCE], axis[RS_BY_METHOD], axis[RS_BY_SEED], cell->group};
  memcpy(p->unit, unit, sizeof unit);
  memcpy(p->within, within, sizeof within);
}

/* `training`: the number of the training that the cell needs, from 1; 0: none. */
static void place_trained(const rs_cell *cell, size_t training, place *p) {
  const size_t *axis = cell->axis;
  const size_t read[RANKS] = {axis[RS_BY_MODEL], axis[RS_BY_SEED], axis[RS_BY_METHOD], axis[RS_BY_LENGTH], 0};
  const size_t rest[RANKS] = {axis[RS_BY_SOURCE], cell->group};
  memset(p, 0, sizeof *p);
  p->unit[0] = training;
  memcpy(training > 0 ? p->within : p->unit + 1, read, (RANKS - 1) * sizeof *read);
  if (training == 0) memcpy(p->within, rest, sizeof rest);
}

static int compare_numbers(const size_t *a, const size_t *b) {
  for (size_t i = 0; i < RANKS; i++)
    if (a[i] != b[i]) return a[i] > b[i] ? 1 : -1;
  return 0;
}

static int compare_places(const void *a, const void *b, void *context) {
  const place *places = context;
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  int difference = compare_numbers(places[x].unit, places[y].unit);
  if (difference == 0) difference = compare_numbers(places[x].within, places[y].within);
  return difference != 0 ? difference : (x > y) - (x < y);
}

/* ---- trainings --------------------------------------------------------------------------------------------------- */

/* A checkpoint that cells of one model and seed of weights read. */
typedef struct weights {
  size_t model;
  uint64_t seed;
  char training[65]; /* its fingerprint before it is tuned; "": it is not trained here */
  size_t number;     /* of the training, from 1; those of the same fingerprint have the same; 0: none */
} weights;

typedef struct trainings {
  rs_costs costs;
  weights *items; /* (count,) */
  size_t count;
} trainings;

static weights *find_weights(const trainings *t, const rs_experiment *experiment, const rs_cell *cell) {
  uint64_t seed = rs_weights_seed(experiment, cell);
  for (size_t i = 0; i < t->count; i++)
    if (t->items[i].model == cell->axis[RS_BY_MODEL] && t->items[i].seed == seed) return &t->items[i];
  return NULL;
}

/* A model that cannot be made takes no training. */
static rs_status name_training(const trainings *t, const rs_experiment *experiment, weights *w, rs_err *err) {
  const rs_checkpoint_cost *cost = &t->costs.items[w->model];
  rs_stage_state stages[RS_STAGES];
  rs_err why = {0};
  if (cost->training + cost->tuning == 0) return RS_OK;
  rs_status status = rs_checkpoint_stages(experiment, w->model, w->seed, NULL, stages, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status == RS_OK)
    memcpy(w->training, stages[cost->training > 0 ? RS_STAGE_TRAINING : RS_STAGE_TUNING].hash, sizeof w->training);
  return RS_OK;
}

static void number_training(const trainings *t, weights *w) {
  size_t numbers = 0;
  for (const weights *other = t->items; other < w && w->training[0] != '\0'; other++) {
    numbers = other->number > numbers ? other->number : numbers;
    if (strcmp(other->training, w->training) == 0) w->number = other->number;
  }
  if (w->training[0] != '\0' && w->number == 0) w->number = numbers + 1;
}

static rs_status trainings_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, trainings *t,
                                rs_err *err) {
  *t = (trainings){0};
  RS_TRY(rs_costs_make(experiment, &t->costs, err));
  t->items = rs_arena_take(&t->costs.arena, experiment->model_count * experiment->seed_count, sizeof *t->items);
  rs_status status = rs_arena_check(&t->costs.arena, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    if (find_weights(t, experiment, &cells[i]) != NULL) continue;
    weights *w = &t->items[t->count++];
    w->model = cells[i].axis[RS_BY_MODEL];
    w->seed = rs_weights_seed(experiment, &cells[i]);
    status = name_training(t, experiment, w, err);
    if (status == RS_OK) number_training(t, w);
  }
  if (status != RS_OK) rs_costs_clear(&t->costs);
  return status;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Cells in the order of their places, cut where the unit changes. */
static rs_status cut_units(const place *places, size_t count, rs_units *units, rs_err *err) {
  for (size_t i = 0; i < count; i++) units->order[i] = i;
  qsort_r(units->order, count, sizeof *units->order, compare_places, (void *)places);
  for (size_t i = 0; i < count; i++) {
    const place *p = &places[units->order[i]];
    bool same = i > 0 && compare_numbers(p->unit, places[units->order[i - 1]].unit) == 0;
    if (!same) {
      RS_TRY(RS_GROW(units->items, &units->capacity, units->count + 1, err));
      units->items[units->count] = (rs_unit){.first = i, .shared = units->count};
      units->count++;
    }
    rs_unit *unit = &units->items[units->count - 1];
    unit->count++;
    unit->own += units->costs[units->order[i]];
  }
  return RS_OK;
}

/* What making the queries and keys of a cell takes, in the flops of a query with a key: drawing the numbers of a key
 * takes about as long as multiplying it by KEY_NUMBERS queries (measured: 400 to 500). A text's rows take a model's
 * pass, which is not known here: as much as all that is done with them, so that it is not done twice. A projection
 * takes each key's embedding, as wide as all heads, through the columns of a head; making those takes about as
 * long as EMBEDDING columns (measured: as the columns of 64 dims). */
static double making_of(const rs_experiment *experiment, const rs_cell *cell, double own) {
  enum { KEY_NUMBERS = 400, EMBEDDING = 64 };
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  double dims = (double)model->head_dim, width = (double)model->heads * dims;
  double keys = (double)experiment->lengths[cell->axis[RS_BY_LENGTH]] * (double)rs_head_count(experiment, cell);
  if (!rs_needs_heads(experiment)) return 0;
  if (rs_reads_model(experiment, cell)) return own;
  return 2 * keys * (dims * KEY_NUMBERS + (rs_projects(experiment, cell) ? width * (dims + EMBEDDING) : 0));
}

static rs_status make_simulated(const rs_experiment *experiment, const rs_cell *cells, size_t count, place *places,
                                rs_units *units, rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    units->costs[i] =
        2 * rs_cell_work(experiment, &cells[i]) * (double)experiment->models[cells[i].axis[RS_BY_MODEL]].head_dim;
    place_simulated(experiment, &cells[i], &places[i]);
  }
  RS_TRY(cut_units(places, count, units, err));
  for (size_t u = 0; u < units->count; u++) {
    rs_unit *unit = &units->items[u];
    unit->making = making_of(experiment, &cells[units->order[unit->first]], unit->own);
  }
  return RS_OK;
}

/* A tuning is part of the first cell that reads its weights. */
static rs_status make_trained(const rs_experiment *experiment, const rs_cell *cells, size_t count, place *places,
                              rs_units *units, rs_err *err) {
  trainings t;
  RS_TRY(trainings_make(experiment, cells, count, &t, err));
  for (size_t i = 0; i < count; i++) {
    const weights *w = find_weights(&t, experiment, &cells[i]);
    double tuning = rs_is_first(experiment, cells, i) ? t.costs.items[w->model].tuning : 0;
    units->costs[i] = 1 + rs_reading_flops(&t.costs, &cells[i]) + tuning;
    place_trained(&cells[i], w->number, &places[i]);
  }
  rs_status status = cut_units(places, count, units, err);
  for (size_t u = 0; u < units->count && status == RS_OK; u++)
    units->items[u].making = t.costs.items[cells[units->order[units->items[u].first]].axis[RS_BY_MODEL]].training;
  rs_costs_clear(&t.costs);
  return status;
}

rs_status rs_units_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_units *units,
                        rs_err *err) {
  *units = (rs_units){.trained = experiment->checkpoints != NULL};
  units->order = rs_arena_take(&units->arena, count, sizeof *units->order);
  units->costs = rs_arena_take(&units->arena, count, sizeof *units->costs);
  RS_TRY(rs_arena_check(&units->arena, err));
  place *places = rs_alloc(count, sizeof *places, err);
  if (places == NULL) return RS_MEMORY;
  rs_status status = (units->trained ? make_trained : make_simulated)(experiment, cells, count, places, units, err);
  free(places);
  return status;
}

void rs_units_clear(rs_units *units) {
  rs_arena_clear(&units->arena);
  free(units->items);
}

/* ---- splitting --------------------------------------------------------------------------------------------------- */

double rs_units_total(const rs_units *units) {
  double total = 0;
  for (size_t u = 0; u < units->count; u++) total += units->items[u].making + units->items[u].own;
  return total;
}

/* The cut nearest to the half of what the cells take, with cells on both sides. */
static size_t half_of(const rs_units *units, const rs_unit *unit, double *first_half) {
  double sum = 0;
  size_t cut = 1;
  for (; cut < unit->count; cut++) {
    double with = sum + units->costs[units->order[unit->first + cut - 1]];
    if (cut > 1 && with - unit->own / 2 > unit->own / 2 - sum) break;
    sum = with;
  }
  *first_half = sum;
  return cut - 1;
}

static rs_status split(rs_units *units, size_t index, rs_err *err) {
  double first_half;
  RS_TRY(RS_GROW(units->items, &units->capacity, units->count + 1, err));
  rs_unit *unit = &units->items[index], *rest = &units->items[units->count++];
  size_t cut = half_of(units, unit, &first_half);
  *rest = *unit;
  rest->first += cut;
  rest->count -= cut;
  rest->own -= first_half;
  unit->count = cut;
  unit->own = first_half;
  return RS_OK;
}

/* The halves of a unit must be worth what is made for each of them. A training is found by the others where they share
 * a folder. */
rs_status rs_units_split(rs_units *units, double most, rs_err *err) {
  static const double times = 4; /* what is made twice is then a quarter of it at most */
  for (size_t u = 0; u < units->count; u++)
    for (const rs_unit *unit = &units->items[u];
         unit->count > 1 && unit->own > most && (units->trained || unit->own > times * unit->making);
         unit = &units->items[u])
      RS_TRY(split(units, u, err));
  return RS_OK;
}

rs_status rs_units_multiply(rs_units *units, size_t least, rs_err *err) {
  while (units->count < least) {
    size_t largest = units->count;
    for (size_t u = 0; u < units->count; u++)
      if (units->items[u].count > 1 && (largest == units->count || units->items[u].own > units->items[largest].own))
        largest = u;
    if (largest == units->count) return RS_OK;
    RS_TRY(split(units, largest, err));
  }
  return RS_OK;
}

static int by_cost(const void *a, const void *b) {
  const rs_unit *x = a, *y = b;
  double costs = (y->making + y->own) - (x->making + x->own);
  if (costs != 0) return costs > 0 ? 1 : -1;
  return (x->first > y->first) - (x->first < y->first);
}

void rs_units_sort(rs_units *units) {
  qsort(units->items, units->count, sizeof *units->items, by_cost);
}

/* ---- shards ------------------------------------------------------------------------------------------------------ */

/* A unit is split where its cells take more than a shard's part, over this. A training is to be done once. */
enum { PARTS_SIMULATED = 4, PARTS_TRAINED = 1 };

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
    size_t shard = 0;
    for (size_t s = 1; s < shards; s++)
      if (costs[s] < costs[shard]) shard = s;
    bool made = unit->making > 0 && has_part(units, u, of_cell, shard + 1);
    costs[shard] += unit->own + (made ? 0 : unit->making);
    for (size_t i = 0; i < unit->count; i++) of_cell[units->order[unit->first + i]] = shard + 1;
  }
}

rs_status rs_shards_assign(const rs_experiment *experiment, size_t shards, size_t *of_cell, size_t count, double *costs,
                           rs_err *err) {
  rs_cell *cells;
  rs_units units = {0};
  size_t there;
  RS_TRY(rs_experiment_cells(experiment, &cells, &there, err));
  rs_status status = there == count ? RS_OK : rs_fail(err, RS_INTERNAL, "%zu cells, not %zu", there, count);
  if (status == RS_OK && shards > count)
    status = rs_fail(err, RS_INPUT, "%zu shards are too many: the config has %zu cell%s", shards, count,
                     count == 1 ? "" : "s");
  if (status == RS_OK) status = rs_units_make(experiment, cells, count, &units, err);
  double parts = (double)(shards * (units.trained ? PARTS_TRAINED : PARTS_SIMULATED));
  if (status == RS_OK) status = rs_units_split(&units, rs_units_total(&units) / parts, err);
  if (status == RS_OK) status = rs_units_multiply(&units, shards, err);
  if (status == RS_OK) {
    rs_units_sort(&units);
    memset(costs, 0, shards * sizeof *costs);
    deal(&units, shards, of_cell, costs);
  }
  rs_units_clear(&units);
  free(cells);
  return status;
}
