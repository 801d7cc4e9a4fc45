#include "work.h"

#include <stdlib.h>

bool rs_cell_has_head(const rs_cell_state *cell, size_t head) {
  for (size_t i = 0; i < cell->group.count; i++)
    if (cell->group.heads[i] == head) return true;
  return false;
}

rs_metric_in rs_metric_input(const rs_batch_work *work, rs_cell_state *cell, size_t metric) {
  cell->encoding = rs_encoding_of_head(work->encodings[rs_cell_method(cell)], cell->group.heads[0]);
  return (rs_metric_in){.encoding = &cell->encoding,
                        .params = work->experiment->metrics.items[metric].params,
                        .seed = work->experiment->seeds[cell->cell.axis[RS_BY_SEED]],
                        .heads = cell->group.heads,
                        .head_count = cell->group.count,
                        .edges = work->edges,
                        .bins = work->bins};
}

void rs_batch_advance(const rs_batch_work *work, double done) {
  if (work->batch->advance != NULL) work->batch->advance(work->batch->context, done);
}

bool rs_batch_stopped(const rs_batch_work *work) {
  return work->batch->stop != NULL && work->batch->stop(work->batch->context);
}

void rs_cell_agree(const rs_batch_work *work, rs_cell_state *cell) {
  rs_err why = {0};
  if (rs_team_agree(work->batch->team, cell->status, &why) != RS_OK) rs_cell_fail(cell, &why);
}

rs_status rs_batch_done(const rs_batch_work *work, rs_cell_state *cell, rs_err *err) {
  if (cell->handed_over || work->batch->done == NULL) return RS_OK;
  rs_status status = work->batch->done(work->batch->context, cell, err);
  cell->handed_over = true;
  return status;
}

/* ---- what does not hang on methods ------------------------------------------------------------------------------- */

rs_status rs_batch_work_make(rs_batch_work *work, rs_err *err) {
  const rs_experiment *experiment = work->experiment;
  size_t length = work->batch->length;
  work->needs = rs_experiment_needs(experiment);
  work->encodings = rs_alloc(experiment->methods.count, sizeof *work->encodings, err);
  work->projections = rs_alloc(experiment->methods.count, sizeof *work->projections, err);
  work->ids = rs_alloc(length, RS_AXES * sizeof *work->ids, err);
  work->run = rs_alloc(length, sizeof *work->run, err);
  if (work->encodings == NULL || work->projections == NULL || work->ids == NULL || work->run == NULL) return RS_MEMORY;
  RS_TRY(rs_log_edges(length, experiment->bins_per_octave, &work->edges, &work->bins, err));
  RS_TRY(rs_queries_select(&experiment->queries, length, RS_QUERY_SEED, &work->queries, &work->query_count, err));
  return rs_token_positions(work->tokens, NULL, length, work->ids, work->run, err);
}

void rs_batch_work_clear(rs_batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count && work->projections != NULL; m++)
    rs_projection_free(work->projections[m]);
  free(work->encodings);
  free(work->projections);
  free(work->edges);
  free(work->queries);
  free(work->ids);
  free(work->run);
}

/* ---- metrics of rows --------------------------------------------------------------------------------------------- */

void rs_batch_begin_rows(const rs_batch_work *work) {
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    for (size_t m = 0; m < work->experiment->metrics.count && cell->status == RS_OK; m++) {
      const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
      rs_metric_in in = rs_metric_input(work, cell, m);
      rs_err why = {0};
      if (rs_metric_observes(kind) && kind->prepare(&in, &cell->states[m], &why) != RS_OK) rs_cell_fail(cell, &why);
    }
  }
}

void rs_metric_finish(const rs_batch_work *work, rs_cell_state *cell, size_t metric) {
  rs_metric_in in = rs_metric_input(work, cell, metric);
  rs_err why = {0};
  const rs_metric_kind *kind = work->experiment->metrics.items[metric].metric;
  if (kind->finish(&in, cell->states[metric], &cell->results[metric], &why) != RS_OK)
    rs_cell_fail_metric(cell, work->experiment, metric, &why);
}

void rs_batch_finish_rows(const rs_batch_work *work) {
  for (size_t i = 0; i < work->batch->count; i++)
    for (size_t m = 0; m < work->experiment->metrics.count; m++) {
      rs_cell_state *cell = work->batch->cells[i];
      if (cell->status == RS_OK && cell->states[m] != NULL) rs_metric_finish(work, cell, m);
    }
}
