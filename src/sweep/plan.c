/* What a run would take, from the sizes alone. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>

rs_row_needs rs_experiment_needs(const rs_experiment *experiment) {
  rs_row_needs needs = {0};
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    (void)rs_row_needs_add(&needs, metric->metric, metric->params, NULL); /* the config was checked for what can fail */
  }
  return needs;
}

bool rs_needs_rows(const rs_experiment *experiment) {
  return rs_experiment_needs(experiment).rows;
}

size_t rs_query_count(const rs_query_set *set, size_t length) {
  if (set->choice == RS_QUERIES_EVERY) return (length + set->number - 1) / set->number;
  return set->choice == RS_QUERIES_ALL || set->number > length ? length : set->number;
}

/* Heads averaged in one row. */
static size_t heads_of(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->heads.each ? 1 : rs_head_count(experiment, &experiment->models[cell->axis[RS_BY_MODEL]]);
}

/* Flops of queries times keys: an upper bound, every query seeing every key. */
static double cell_flops(const rs_experiment *experiment, const rs_cell *cell) {
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  double dims = (double)experiment->models[cell->axis[RS_BY_MODEL]].head_dim;
  return 2 * dims * (double)length * (double)rs_query_count(&experiment->queries, length) *
         (double)heads_of(experiment, cell);
}

double rs_cell_work(const rs_experiment *experiment, const rs_cell *cell) {
  enum { KEY_COST = 64 }; /* rotating one key costs about as much as multiplying it by this many queries */
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  double queries = rs_needs_rows(experiment) ? (double)rs_query_count(&experiment->queries, length) + KEY_COST : 1;
  return queries * (double)length * (double)heads_of(experiment, cell);
}

/* A method's tables at the longest length, for the model that has the largest. */
static double bytes_of_tables(const rs_experiment *experiment, const rs_variant *variant, size_t length) {
  const rs_recipe recipe = {.method = variant->method, .settings = variant->settings};
  double most = 0;
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_model *model = &experiment->models[i];
    double dims = (double)model->head_dim, width = dims * (double)model->heads;
    double bytes = rs_encoding_bytes(&recipe, model, length, &experiment->tokens);
    /* A projected embedding: its keys, and while it is made the head's 2D columns of the width, twice. */
    if (variant->method->embed != NULL) bytes += 8 * ((double)length * dims + 2 * 2 * dims * width);
    most = fmax(most, bytes);
  }
  return most;
}

/* Content, engine and observations of one head. */
static double bytes_of_rows(const rs_experiment *experiment, size_t length, size_t dims, size_t views) {
  double queries = (double)rs_query_count(&experiment->queries, length);
  size_t bins = rs_log_bins(length, experiment->bins_per_octave);
  double content = 8 * (double)dims * ((double)length + 2 * queries) + (8 * RS_AXES + 4) * (double)length;
  double numbers = (double)bins * (rs_experiment_needs(experiment).moments ? 4 : 1);
  double observed = fmin(queries, RS_ROWS_AT_ONCE) * ((double)sizeof(rs_row) + 8 * numbers);
  return content + observed + rs_engine_bytes(length, dims, views, bins, rs_engine_threads());
}

/* The most that is alive at one time: every method's tables at the longest length, and the rows of one head. */
static double peak_bytes(const rs_experiment *experiment) {
  size_t longest = 0, dims = 0, views = 1;
  double bytes = 0;
  for (size_t i = 0; i < experiment->length_count; i++)
    longest = experiment->lengths[i] > longest ? experiment->lengths[i] : longest;
  for (size_t i = 0; i < experiment->model_count; i++)
    dims = experiment->models[i].head_dim > dims ? experiment->models[i].head_dim : dims;
  for (size_t i = 0; i < experiment->methods.count; i++) {
    const rs_variant *variant = &experiment->methods.items[i];
    views = variant->method->pos->views > views ? variant->method->pos->views : views;
    bytes += bytes_of_tables(experiment, variant, longest);
  }
  return rs_needs_rows(experiment) ? bytes + bytes_of_rows(experiment, longest, dims, views) : bytes;
}

static double curve_rows(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  const rs_curve_in in = {.length = length,
                          .pairs = model->head_dim / 2,
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
    if (rs_needs_rows(experiment)) plan->score_flops += cell_flops(experiment, &cells[i]);
  }
  rs_status status = RS_OK;
  if (experiment->checkpoints != NULL)
    status = rs_costs_plan(experiment, cells, plan->cells, checkpoints, plan, err);
  else
    plan->peak_bytes = peak_bytes(experiment);
  free(cells);
  return status;
}
