/* One batch: every cell of one model at one length. Encodings are made once, queries and keys once for each source,
 * seed and head, so that all methods see the very same content. */
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what does not depend on the content ------------------------------------------------------------------------- */

static void make_encodings(rs_batch_work *work) {
  for (size_t i = 0; i < work->count; i++) {
    rs_cell_state *cell = work->cells[i];
    size_t method = rs_cell_method(cell);
    rs_recipe recipe;
    rs_err why = {0};
    if (rs_experiment_recipe(work->experiment, work->model_number, method, &recipe, &why) == RS_OK) {
      rs_cell_warn(cell, &recipe, NULL, work->model, work->length, &work->experiment->tokens);
      if (work->encodings[method] == NULL)
        (void)rs_encoding_create(&recipe, work->model, work->length, &work->experiment->tokens,
                                 &work->experiment->precision, &work->encodings[method], &why);
      rs_recipe_clear(&recipe);
    }
    cell->scale = work->encodings[method] != NULL ? work->encodings[method]->scale : NAN;
    if (why.status != RS_OK) rs_cell_fail(cell, &why);
  }
}

static const rs_metric_kind *kind_of(const rs_batch_work *work, size_t metric) {
  return work->experiment->metrics.items[metric].metric;
}

static bool reads_tables(const rs_batch_work *work, size_t metric) {
  return !rs_metric_observes(kind_of(work, metric));
}

/* Whether the cell has the curve of a metric of tables, which others share. */
static bool keeps(const rs_batch_work *work, const rs_cell_state *cell, size_t metric) {
  return kind_of(work, metric)->draws ? cell->role.draws : cell->role.tables;
}

/* The first cell of the portion before `index` at which a metric of tables gives the same: that of the same method and
 * heads, and of the same seed if the metric draws numbers. */
static const rs_cell_state *twin(const rs_batch_work *work, size_t index, size_t metric) {
  const rs_cell_state *cell = work->cells[index];
  bool draws = kind_of(work, metric)->draws;
  for (size_t i = 0; i < index; i++) {
    const rs_cell_state *other = work->cells[i];
    if (rs_cell_method(other) == rs_cell_method(cell) && other->cell.group == cell->cell.group &&
        (!draws || other->cell.axis[RS_BY_SEED] == cell->cell.axis[RS_BY_SEED]))
      return other;
  }
  return NULL;
}

static rs_known_tables *known_of(const rs_batch_work *work, const rs_cell_state *cell) {
  return &work->known[rs_cell_method(cell) * work->groups + cell->cell.group];
}

/* What an earlier portion has found for the metric; NULL: nothing. */
static const double *known_value(const rs_batch_work *work, const rs_cell_state *cell, size_t metric) {
  const rs_known_tables *known = known_of(work, cell);
  bool fits = known->known && (!kind_of(work, metric)->draws || known->seed == cell->cell.axis[RS_BY_SEED]);
  return fits ? known->value + metric * RS_METRIC_SCALARS : NULL;
}

static bool computes(const rs_batch_work *work, size_t index, size_t metric) {
  const rs_cell_state *cell = work->cells[index];
  if (!reads_tables(work, metric)) return false;
  return keeps(work, cell, metric) || (twin(work, index, metric) == NULL && known_value(work, cell, metric) == NULL);
}

static void copy_tables(const rs_batch_work *work, size_t index) {
  rs_cell_state *cell = work->cells[index];
  for (size_t m = 0; m < work->experiment->metrics.count; m++) {
    if (!reads_tables(work, m) || computes(work, index, m)) continue;
    const rs_cell_state *first = twin(work, index, m);
    const double *value = first != NULL ? first->results[m].value : known_value(work, cell, m);
    if (first != NULL && first->status != RS_OK) {
      rs_err why = {.status = first->status};
      snprintf(why.message, sizeof why.message, "%s", first->message);
      rs_cell_fail(cell, &why);
    }
    memcpy(cell->results[m].value, value, sizeof cell->results[m].value);
  }
}

/* For the portions that follow; where there is no room they compute it again. */
static void note_tables(rs_batch_work *work, const rs_cell_state *cell) {
  rs_known_tables *known = known_of(work, cell);
  size_t metrics = work->experiment->metrics.count, seed = cell->cell.axis[RS_BY_SEED];
  if (cell->status != RS_OK || (known->known && known->seed == seed)) return;
  if (known->value == NULL)
    known->value = rs_arena_take(&work->arena, metrics * RS_METRIC_SCALARS, sizeof *known->value);
  if (known->value == NULL) return;
  for (size_t m = 0; m < metrics; m++)
    memcpy(known->value + m * RS_METRIC_SCALARS, cell->results[m].value, sizeof cell->results[m].value);
  known->known = true;
  known->seed = seed;
}

static void drop_curves(const rs_batch_work *work, rs_cell_state *cell) {
  for (size_t m = 0; m < work->experiment->metrics.count; m++)
    if (reads_tables(work, m) && !keeps(work, cell, m)) rs_curve_clear(&cell->results[m].curve);
}

/* Computes what the cell does not get from another; if that is all of it, it is done. */
static void read_cell(const rs_batch_work *work, size_t index, bool heads, rs_err *failed) {
  rs_cell_state *cell = work->cells[index];
  bool whole = !heads;
  rs_err why = {0};
  for (size_t m = 0; m < work->experiment->metrics.count; m++) {
    bool own = computes(work, index, m);
    whole = whole && own;
    if (cell->status == RS_OK && own) rs_metric_finish(work, cell, m);
  }
  if (!whole || rs_batch_stopped(work)) return;
  drop_curves(work, cell);
  if (rs_batch_done(work, cell, &why) == RS_OK) return;
#pragma omp critical(rs_batch_failed)
  (void)rs_fail(failed, why.status, "%s", why.message);
}

/* Metrics of tables: computed once for each method and head group (and seed, where they draw numbers), whose first cell
 * keeps the curve; copied to the others. */
static rs_status read_tables(rs_batch_work *work, bool heads, rs_err *err) {
  size_t count = work->count;
  rs_err failed = {0};
  if (count < rs_engine_threads()) { /* few cells: let each have all threads */
    for (size_t i = 0; i < count; i++) read_cell(work, i, heads, &failed);
  } else {
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t i = 0; i < count; i++)
      if (!rs_batch_stopped(work)) read_cell(work, i, heads, &failed);
  }
  if (failed.status != RS_OK) return rs_fail(err, failed.status, "%s", failed.message);
  for (size_t i = 0; i < count; i++) copy_tables(work, i);
  for (size_t i = 0; i < count; i++) {
    note_tables(work, work->cells[i]);
    drop_curves(work, work->cells[i]);
  }
  return RS_OK;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* What additive embeddings put on this head; a method without a table at this length fails its cells. */
static void project_head(rs_batch_work *work, size_t head) {
  for (size_t i = 0; i < work->count; i++) {
    rs_cell_state *cell = work->cells[i];
    size_t method = rs_cell_method(cell);
    rs_err why = {0};
    if (cell->status != RS_OK || work->encodings[method]->method->embed == NULL || work->projections[method] != NULL)
      continue;
    if (rs_projection_create(work->encodings[method], head, RS_WEIGHTS_SEED, work->queries, work->query_count,
                             &work->projections[method], &why) != RS_OK)
      for (size_t k = i; k < work->count; k++)
        if (rs_cell_method(work->cells[k]) == method) rs_cell_fail(work->cells[k], &why);
  }
}

static void drop_projections(rs_batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count; m++) {
    rs_projection_free(work->projections[m]);
    work->projections[m] = NULL;
  }
}

static const rs_variant *source_of(const rs_batch_work *work, const rs_cell_state *cell) {
  return &work->experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]];
}

/* By a cell of a made source (`text` NULL), or of the source `text`. */
static bool head_is_used(const rs_batch_work *work, size_t head, const rs_variant *text) {
  for (size_t i = 0; i < work->count; i++) {
    const rs_variant *source = source_of(work, work->cells[i]);
    bool one = text != NULL ? source == text : !source->source->of_model;
    if (one && rs_cell_has_head(work->cells[i], head)) return true;
  }
  return false;
}

/* The cells of all made sources, or of one text, whose rows have been read. */
static rs_status run_heads(rs_batch_work *work, const rs_variant *text, rs_contents *contents, rs_err *err) {
  const rs_text_rows *rows = &work->rows;
  for (size_t head = 0; head < work->model->heads; head++) {
    rs_given_rows given = {0};
    if (!head_is_used(work, head, text)) continue;
    if (text != NULL) given = rs_block_head(&rows->shape, head, rows->q, rows->k, rows->sinks);
    project_head(work, head);
    rs_status status = rs_contents_run(work, head, text, text != NULL ? &given : NULL, contents, err);
    drop_projections(work);
    RS_TRY(status);
  }
  return RS_OK;
}

/* ---- sources with a checkpoint of their own ---------------------------------------------------------------------- */

static void fail_source(const rs_batch_work *work, const rs_variant *source, const rs_err *why) {
  for (size_t i = 0; i < work->count; i++) {
    if (source_of(work, work->cells[i]) != source) continue;
    rs_cell_fail(work->cells[i], why);
    rs_batch_advance(work, work->cells[i]->weight);
  }
}

/* Its rows are made once for all heads, methods and portions, and let go before the next source's are. */
static rs_status find_text(rs_batch_work *work, size_t source, rs_err *err) {
  if (work->rows_of == source + 1) return RS_OK;
  rs_text_rows_clear(&work->rows);
  work->rows_of = 0;
  RS_TRY(
      rs_text_rows_read(work->texts, work->experiment->sources.items[source].params, work->length, &work->rows, err));
  work->rows_of = source + 1;
  return RS_OK;
}

static rs_status run_text(rs_batch_work *work, size_t source, rs_contents *contents, rs_err *err) {
  const rs_variant *variant = &work->experiment->sources.items[source];
  rs_err why = {0};
  bool used = false;
  for (size_t i = 0; i < work->count; i++) used |= source_of(work, work->cells[i]) == variant;
  if (!used) return RS_OK;
  if (find_text(work, source, &why) == RS_OK) return run_heads(work, variant, contents, err);
  fail_source(work, variant, &why);
  return RS_OK;
}

static rs_status run_rows(rs_batch_work *work, rs_contents *contents, rs_err *err) {
  RS_TRY(run_heads(work, NULL, contents, err));
  for (size_t s = 0; s < work->experiment->sources.count; s++)
    if (work->experiment->sources.items[s].source->of_model) RS_TRY(run_text(work, s, contents, err));
  rs_batch_finish_rows(work);
  return RS_OK;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static rs_status list_units(rs_batch_work *work, rs_err *err) {
  free(work->units);
  work->unit_count = 0;
  work->units = rs_alloc(work->count, sizeof *work->units, err);
  if (work->units == NULL) return RS_MEMORY;
  for (size_t i = 0; i < work->count; i++) {
    const size_t *axis = work->cells[i]->cell.axis;
    size_t unit = axis[RS_BY_SOURCE] * work->experiment->seed_count + axis[RS_BY_SEED], k = 0;
    while (k < work->unit_count && work->units[k] != unit) k++;
    if (k == work->unit_count) work->units[work->unit_count++] = unit;
  }
  return RS_OK;
}

rs_status rs_batch_open(rs_batch_work *work, rs_err *err) {
  const rs_experiment *experiment = work->experiment;
  work->model = &experiment->models[work->model_number];
  work->mask = experiment->mask;
  work->tokens = &experiment->tokens;
  work->known = rs_arena_take(&work->arena, experiment->methods.count * work->groups, sizeof *work->known);
  RS_TRY(rs_arena_check(&work->arena, err));
  (void)rs_batch_work_make(work, &work->why);
  return RS_OK;
}

void rs_batch_close(rs_batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count && work->encodings != NULL; m++)
    rs_encoding_free(work->encodings[m]);
  free(work->units);
  rs_text_rows_clear(&work->rows);
  rs_batch_work_clear(work);
}

/* The rows of a portion whose tables are read. Only RS_INTERNAL is returned. */
static rs_status observe(rs_batch_work *work, rs_err *err) {
  rs_contents contents = {0};
  rs_err why = {0};
  rs_status status = list_units(work, &why);
  if (status == RS_OK) status = rs_contents_make(work, &contents, &why);
  if (status == RS_OK)
    rs_batch_begin_rows(work);
  else
    rs_batch_fail(work, &why);
  if (status == RS_OK) status = run_rows(work, &contents, err);
  rs_contents_clear(&contents);
  return status == RS_INTERNAL ? status : RS_OK;
}

rs_status rs_batch_portion(rs_batch_work *work, rs_err *err) {
  bool heads = rs_needs_heads(work->experiment), made = work->why.status == RS_OK;
  if (!made) rs_batch_fail(work, &work->why);
  if (made) {
    make_encodings(work);
    RS_TRY(read_tables(work, heads, err));
  }
  if (made && heads) RS_TRY(observe(work, err));
  if (rs_batch_stopped(work)) return rs_fail(err, RS_STOPPED, "stopped");
  for (size_t i = 0; i < work->count && !heads; i++) rs_batch_advance(work, work->cells[i]->weight);
  for (size_t i = 0; i < work->count; i++) RS_TRY(rs_batch_done(work, work->cells[i], err));
  return RS_OK;
}
