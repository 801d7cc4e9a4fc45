/* Portions: cells of one model and length that are in memory together. A cell that takes long is one of its own, so
 * that it is recorded when it is done; cells that are soon done share queries and keys, as many as make some seconds.
 */
#include "work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What makes a portion full: products of numbers that a core does in one or two seconds, for each thread, or cells. */
static const double most_work = 1e11;
enum { MOST_CELLS = 256 };

struct rs_portions {
  rs_arena arena; /* of the lists here */
  rs_ledger *ledger;
  const rs_trained_watch *watch;
  size_t *lengths; /* of the experiment, the shortest first */
  size_t model, length;
  size_t *sorted; /* all cells, as rs_cells_sort has them */
  size_t *order;  /* (count,) of these the cells of that model and length that are to be done */
  size_t count;
  bool together;         /* all are soon done: they make one portion and share their content, projections too */
  rs_cell_state *states; /* (MOST_CELLS,) */
  rs_text_model texts;
  rs_batch_work work; /* of the model and length that were run last, where it is open */
  bool open;
  pthread_mutex_t telling; /* held while the watch is told: it may run another sweep meanwhile, or wait for one */
  rs_cell_state *cells[MOST_CELLS]; /* of the batch */
};

/* ---- the order of cells ------------------------------------------------------------------------------------------ */

static void list_cells(rs_portions *p) {
  const rs_ledger *ledger = p->ledger;
  p->count = 0;
  for (size_t i = 0; i < ledger->count; i++) {
    size_t cell = p->sorted[i];
    const size_t *axis = ledger->cells[cell].axis;
    if (rs_ledger_pending(ledger, cell) && axis[RS_BY_MODEL] == p->model &&
        ledger->experiment->lengths[axis[RS_BY_LENGTH]] == p->length)
      p->order[p->count++] = cell;
  }
}

static double work_of(const rs_portions *p, size_t cell) {
  const rs_experiment *experiment = p->ledger->experiment;
  if (!rs_needs_heads(experiment)) return 0;
  return rs_cell_work(experiment, &p->ledger->cells[cell]) * (double)experiment->models[p->model].head_dim;
}

/* How many cells from `first` on make a portion. */
static size_t portion_size(const rs_portions *p, size_t first) {
  const rs_experiment *experiment = p->ledger->experiment;
  const rs_cell *cells = p->ledger->cells, *head = &cells[p->order[first]];
  double work = 0;
  size_t size = 0;
  bool embed = rs_projects(experiment, head);
  if (p->together) return p->count;
  for (; first + size < p->count && size < MOST_CELLS; size++) {
    const rs_cell *cell = &cells[p->order[first + size]];
    if (rs_projects(experiment, cell) != embed) break;
    if (rs_reads_model(experiment, cell) != rs_reads_model(experiment, head)) break;
    if (!embed) work += work_of(p, p->order[first + size]);
    if (size > 0 && work > most_work * (double)rs_engine_threads()) break;
  }
  return size;
}

/* ---- running them ------------------------------------------------------------------------------------------------ */

static void tell(rs_portions *p, double work, size_t cells) {
  (void)pthread_mutex_lock(&p->telling);
  p->watch->advance(p->watch->context, work, cells);
  (void)pthread_mutex_unlock(&p->telling);
}

static void advance(void *context, double work) {
  tell(context, work, 0);
}

static rs_status record(void *context, const rs_cell_state *state, rs_err *err) {
  rs_portions *p = context;
  RS_TRY(rs_ledger_add(p->ledger, state, err));
  tell(p, 0, 1);
  return RS_OK;
}

static bool stop(void *context) {
  return rs_trained_stopped(((const rs_portions *)context)->watch);
}

static rs_status run_portion(rs_portions *p, size_t first, size_t size, rs_err *err) {
  const rs_experiment *experiment = p->ledger->experiment;
  rs_status status = RS_OK;
  size_t made = 0;
  for (; made < size && status == RS_OK; made++) {
    status = rs_ledger_state(p->ledger, p->order[first + made], &p->states[made], err);
    p->cells[made] = &p->states[made];
  }
  p->work.count = size;
  if (status == RS_OK) status = rs_batch_portion(&p->work, err);
  for (size_t i = 0; i < made; i++) rs_cell_state_clear(experiment, &p->states[i]);
  rs_err late = {0}; /* what is recorded is kept, however the portion ended */
  rs_status synced = rs_ledger_sync(p->ledger, &late);
  return status == RS_OK && synced != RS_OK ? rs_fail(err, synced, "%s", late.message) : status;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

/* Of all cells of the model and length, whoever runs them. */
static size_t count_groups(const rs_portions *p) {
  const rs_ledger *ledger = p->ledger;
  size_t groups = 1;
  for (size_t i = 0; i < ledger->count; i++)
    if (ledger->cells[i].axis[RS_BY_MODEL] == p->model && ledger->cells[i].group >= groups)
      groups = ledger->cells[i].group + 1;
  return groups;
}

static void close_batch(rs_portions *p) {
  if (p->open) rs_batch_close(&p->work);
  p->open = false;
}

static rs_status open_batch(rs_portions *p, rs_err *err) {
  if (p->open && p->work.model_number == p->model && p->work.length == p->length) return RS_OK;
  close_batch(p);
  p->work = (rs_batch_work){.experiment = p->ledger->experiment,
                            .cells = p->cells,
                            .model_number = p->model,
                            .length = p->length,
                            .groups = count_groups(p),
                            .texts = &p->texts,
                            .advance = advance,
                            .done = record,
                            .stop = stop,
                            .context = p};
  rs_status status = rs_batch_open(&p->work, err);
  p->open = true;
  if (status != RS_OK) close_batch(p);
  return status;
}

static rs_status run_batch(rs_portions *p, rs_err *err) {
  list_cells(p);
  if (p->count == 0) return RS_OK;
  double work = 0;
  for (size_t i = 0; i < p->count; i++) work += work_of(p, p->order[i]);
  p->together = p->count <= MOST_CELLS && work <= most_work * (double)rs_engine_threads();
  rs_status status = open_batch(p, err);
  for (size_t first = 0, size; first < p->count && status == RS_OK; first += size) {
    size = portion_size(p, first);
    status = stop(p) ? rs_fail(err, RS_STOPPED, "stopped") : run_portion(p, first, size, err);
  }
  return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

rs_status rs_portions_open(rs_ledger *ledger, const rs_trained_watch *watch, rs_portions **portions, rs_err *err) {
  const rs_experiment *experiment = ledger->experiment;
  rs_portions *p = rs_alloc(1, sizeof *p, err);
  *portions = p;
  if (p == NULL) return RS_MEMORY;
  *p = (rs_portions){.ledger = ledger, .watch = watch, .telling = PTHREAD_MUTEX_INITIALIZER};
  p->lengths = rs_arena_take(&p->arena, experiment->length_count, sizeof *p->lengths);
  p->sorted = rs_arena_take(&p->arena, ledger->count, sizeof *p->sorted);
  p->order = rs_arena_take(&p->arena, ledger->count, sizeof *p->order);
  bool *opens = rs_arena_take(&p->arena, ledger->count, sizeof *opens);
  p->states = rs_arena_take(&p->arena, MOST_CELLS, sizeof *p->states);
  rs_status status = rs_arena_check(&p->arena, err);
  if (status == RS_OK) status = rs_cells_sort(experiment, ledger->cells, ledger->count, NULL, p->sorted, opens, err);
  if (status != RS_OK) {
    rs_portions_close(p);
    *portions = NULL;
    return status;
  }
  memcpy(p->lengths, experiment->lengths, experiment->length_count * sizeof *p->lengths);
  qsort(p->lengths, experiment->length_count, sizeof *p->lengths, by_size);
  return RS_OK;
}

void rs_portions_close(rs_portions *p) {
  if (p == NULL) return;
  close_batch(p);
  rs_text_model_clear(&p->texts);
  (void)pthread_mutex_destroy(&p->telling);
  rs_arena_clear(&p->arena);
  free(p);
}

/* A length that stands twice has no cells left the second time. */
rs_status rs_portions_work(rs_portions *p, rs_err *err) {
  const rs_experiment *experiment = p->ledger->experiment;
  rs_status status = RS_OK;
  for (size_t l = 0; l < experiment->length_count; l++)
    for (p->model = 0; p->model < experiment->model_count && status == RS_OK; p->model++) {
      p->length = p->lengths[l];
      status = run_batch(p, err);
    }
  return status;
}

rs_status rs_portions_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err) {
  rs_portions *portions;
  RS_TRY(rs_portions_open(ledger, watch, &portions, err));
  rs_status status = rs_portions_work(portions, err);
  rs_portions_close(portions);
  return status;
}
