/* A piece of work is shared where it takes more than half of what a rank has of all the rest: dealt whole, it would end
 * behind the others. */
#include "ranks.h"

#include "costs.h"

#include <stdlib.h>

/* Flops below which ranks lose more by waiting for each other than one has to do: some hundredths of a second. */
static const double least_joint = 1e9;

/* Queries that give each rank a block of its own. */
enum { QUERIES_EACH = 64 };

typedef struct piece {
  size_t cell; /* of the ledger */
  double cost; /* flops */
} piece;

typedef struct choice {
  rs_arena arena;
  const rs_ledger *ledger;
  const char *checkpoints;
  size_t ranks;
  rs_cell *cells;  /* (count,) that are to be done, */
  size_t *numbers; /* their numbers in the ledger, */
  size_t count;
  piece *pieces; /* (count,) and what of them can be shared */
  size_t piece_count;
} choice;

static bool has_rows_for_all(const choice *c, const rs_cell *cell) {
  const rs_experiment *experiment = c->ledger->experiment;
  size_t queries = rs_query_count(&experiment->queries, experiment->lengths[cell->axis[RS_BY_LENGTH]]);
  return rs_experiment_needs(experiment).rows && !rs_reads_model(experiment, cell) &&
         queries >= QUERIES_EACH * c->ranks;
}

/* Whether the model of a cell is trained here, once, and is not there. */
static rs_status is_trained_anew(const choice *c, const rs_cell *cell, bool *anew, rs_err *err) {
  const rs_experiment *experiment = c->ledger->experiment;
  size_t model = cell->axis[RS_BY_MODEL];
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_stage_state stages[RS_STAGES];
  rs_err why = {0};
  *anew = false;
  if (c->checkpoints == NULL || checkpoint->folder != NULL || checkpoint->tuned) return RS_OK;
  rs_status status =
      rs_checkpoint_stages(experiment, model, rs_weights_seed(experiment, cell), c->checkpoints, stages, &why);
  *anew = status == RS_OK && stages[RS_STAGE_TRAINING].wanted;
  return status == RS_MEMORY ? rs_fail(err, status, "%s", why.message) : RS_OK; /* others are told where it is read */
}

static rs_status list_trainings(choice *c, const rs_units *units, rs_err *err) {
  for (size_t u = 0; u < units->count; u++) {
    const rs_unit *unit = &units->items[u];
    size_t first = units->order[unit->first];
    bool anew = false;
    if (unit->making >= least_joint) RS_TRY(is_trained_anew(c, &c->cells[first], &anew, err));
    if (anew) c->pieces[c->piece_count++] = (piece){c->numbers[first], unit->making};
  }
  return RS_OK;
}

static rs_status list_pieces(choice *c, const rs_units *units, rs_err *err) {
  if (units->trained) return list_trainings(c, units, err);
  for (size_t i = 0; i < c->count; i++)
    if (units->costs.items[i].own >= least_joint && has_rows_for_all(c, &c->cells[i]))
      c->pieces[c->piece_count++] = (piece){c->numbers[i], units->costs.items[i].own};
  return RS_OK;
}

static int by_cost(const void *a, const void *b) {
  const piece *x = a, *y = b;
  if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
  return (x->cell > y->cell) - (x->cell < y->cell);
}

static void choose(choice *c, double total, rs_joint *joint) {
  double rest = total;
  qsort(c->pieces, c->piece_count, sizeof *c->pieces, by_cost);
  for (size_t i = 0; i < c->piece_count && c->pieces[i].cost * 2 * (double)c->ranks > rest; i++) {
    rest -= c->pieces[i].cost;
    joint->cells[joint->count++] = c->pieces[i].cell;
  }
}

static rs_status prepare(choice *c, rs_joint *joint, rs_err *err) {
  size_t all = c->ledger->count;
  c->cells = rs_arena_take(&c->arena, all, sizeof *c->cells);
  c->numbers = rs_arena_take(&c->arena, all, sizeof *c->numbers);
  c->pieces = rs_arena_take(&c->arena, all, sizeof *c->pieces);
  joint->cells = rs_alloc(all, sizeof *joint->cells, err);
  if (joint->cells == NULL) return RS_MEMORY;
  RS_TRY(rs_arena_check(&c->arena, err));
  for (size_t i = 0; i < all; i++) {
    if (!rs_ledger_pending(c->ledger, i)) continue;
    c->cells[c->count] = c->ledger->cells[i];
    c->numbers[c->count++] = i;
  }
  return RS_OK;
}

rs_status rs_joint_choose(const rs_ledger *ledger, const char *checkpoints, size_t ranks, rs_joint *joint,
                          rs_err *err) {
  choice c = {.ledger = ledger, .checkpoints = checkpoints, .ranks = ranks};
  rs_units units = {0};
  *joint = (rs_joint){0};
  rs_status status = prepare(&c, joint, err);
  if (status == RS_OK) status = rs_units_make(ledger->experiment, c.cells, c.count, &units, err);
  if (status == RS_OK) status = list_pieces(&c, &units, err);
  if (status == RS_OK) choose(&c, units.total, joint);
  rs_units_clear(&units);
  rs_arena_clear(&c.arena);
  return status;
}

void rs_joint_clear(rs_joint *joint) {
  free(joint->cells);
}
