/* What a run would take, from the sizes alone. */
#include "costs.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

/* A method's tables at the longest length, for the model that has the largest. */
static double bytes_of_tables(const rs_experiment *experiment, const rs_variant *variant, size_t length) {
  double most = 0;
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_model *model = &experiment->models[i];
    const rs_recipe given = {.method = variant->method, .settings = variant->settings};
    const rs_recipe recipe = variant->published ? model->published : given;
    double dims = (double)model->head_dim, width = dims * (double)model->heads;
    double bytes = rs_encoding_bytes(&recipe, model, length, &experiment->tokens);
    /* A projected embedding: its keys, and while it is made the head's 2D columns of the width, twice. */
    if (recipe.method->embed != NULL) bytes += 8 * ((double)length * dims + 2 * 2 * dims * width);
    most = fmax(most, bytes);
  }
  return most;
}

/* The most that is alive at one time: every method's tables at the longest length, and the rows of one head. */
static double peak_bytes(const rs_experiment *experiment) {
  size_t longest = rs_longest(experiment), dims = 0, views = 1;
  double bytes = 0;
  for (size_t i = 0; i < experiment->model_count; i++)
    dims = experiment->models[i].head_dim > dims ? experiment->models[i].head_dim : dims;
  for (size_t i = 0; i < experiment->methods.count; i++) {
    for (size_t m = 0; m < experiment->model_count; m++) {
      const rs_method *method = rs_experiment_method(experiment, m, i);
      views = method->pos->views > views ? method->pos->views : views;
    }
    bytes += bytes_of_tables(experiment, &experiment->methods.items[i], longest);
  }
  if (!rs_needs_heads(experiment)) return bytes;
  return bytes + rs_row_bytes(experiment, longest, dims, views, rs_engine_threads());
}

static double curve_rows(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  const rs_curve_in in = {.length = length,
                          .pairs = model->head_dim / 2,
                          .heads = model->heads,
                          .width = model->heads * model->head_dim,
                          .bins = rs_log_bins(length, experiment->bins_per_octave),
                          .tokens = &experiment->tokens};
  double rows = 0;
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    if (metric->metric->curve_rows != NULL) rows += (double)metric->metric->curve_rows(metric->params, &in);
  }
  return rows;
}

/* Passes of sources' own checkpoints, one after the other. */
static rs_status add_texts(const rs_experiment *experiment, const rs_cell *cells, rs_plan *plan, rs_err *err) {
  rs_text_cost *costs = rs_alloc(plan->cells, sizeof *costs, err);
  rs_status status = costs != NULL ? rs_text_costs(experiment, cells, plan->cells, costs, err) : RS_MEMORY;
  double most = 0;
  for (size_t i = 0; i < plan->cells && status == RS_OK; i++) {
    plan->reading_flops += costs[i].flops;
    most = fmax(most, costs[i].bytes);
  }
  plan->peak_bytes += most;
  free(costs);
  return status;
}

rs_status rs_plan_make(const rs_experiment *experiment, const char *checkpoints, rs_plan *plan, rs_err *err) {
  rs_cell *cells;
  rs_out_columns columns;
  *plan = (rs_plan){0};
  RS_TRY(rs_columns_make(experiment, -1, &columns, err));
  plan->summary_columns = columns.count;
  free(columns.columns);
  RS_TRY(rs_experiment_cells(experiment, &cells, &plan->cells, err));
  for (size_t i = 0; i < plan->cells; i++) {
    plan->curve_rows += curve_rows(experiment, &cells[i]);
    plan->score_flops += rs_row_flops(experiment, &cells[i]);
  }
  rs_status status = RS_OK;
  if (experiment->checkpoints != NULL) {
    status = rs_costs_plan(experiment, cells, plan->cells, checkpoints, plan, err);
  } else {
    plan->peak_bytes = peak_bytes(experiment);
    status = add_texts(experiment, cells, plan, err);
  }
  free(cells);
  return status;
}
