/* What a run would take, from the sizes alone. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

rs_row_needs rs_experiment_needs(const rs_experiment *experiment) {
  rs_row_needs needs = {0};
  for (size_t m = 0; m < experiment->metrics.count; m++)
    rs_row_needs_add(&needs, experiment->metrics.items[m].metric, experiment->metrics.items[m].params, NULL);
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

/* Numbers of a learned or given table of embeddings: as trained, and as the picture has it. */
static double numbers_of_embedding(const rs_experiment *experiment, const rs_variant *variant, double width) {
  const rs_value *grid = rs_setting(&variant->settings, "table_grid");
  double trained = grid->list != NULL && grid->count == 2 ? grid->list[0] * grid->list[1] : 0;
  if (variant->method->embed == NULL || variant->method->embed->prepare == NULL) return 0;
  return width * (2 * trained + 2 * (double)rs_token_layout_tokens(&experiment->tokens));
}

/* Numbers of a table of biases. Its kind reads no more of an encoding than this. */
static double numbers_of_bias(const rs_experiment *experiment, const rs_variant *variant, double length, double heads) {
  const rs_bias_kind *kind = variant->method->bias;
  if (kind == NULL) return 0;
  const rs_encoding probe = {.method = variant->method,
                             .settings = variant->settings,
                             .tokens = experiment->tokens,
                             .length = (size_t)length,
                             .heads = (size_t)heads};
  return heads * (kind->table_size != NULL ? (double)kind->table_size(&probe) : 1);
}

static double bytes_of_tables(const rs_experiment *experiment, const rs_variant *variant, double length, double dims,
                              double width) {
  const rs_freq_kind *freq = variant->method->freq;
  const rs_value *cached = rs_setting(&variant->settings, "cached_keys");
  bool aged = cached->set && cached->choice < 0, own = aged || (freq != NULL && freq->mix != NULL);
  bool gains = aged || (freq != NULL && freq->log_gain != NULL);
  double axes = rs_setting(&variant->settings, "mrope_section")->set || experiment->tokens.count > 0 ? RS_AXES : 1;
  double each = (own ? dims / 2 : axes) + (gains ? dims / 2 : 0); /* coordinates and gains of a token, on each side */
  double tables = 8 * length * (1 + 2 * each * (double)variant->method->pos->views);
  tables += 8 * numbers_of_bias(experiment, variant, length, width / dims);
  tables += 8 * numbers_of_embedding(experiment, variant, width);
  /* A projected embedding: its keys, and while it is made the head's 2D columns of the width, twice. */
  return variant->method->embed != NULL ? tables + 8 * (length * dims + 2 * 2 * dims * width) : tables;
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
  size_t longest = 0, dims = 0, width = 0, views = 1;
  double bytes = 0;
  for (size_t i = 0; i < experiment->length_count; i++)
    longest = experiment->lengths[i] > longest ? experiment->lengths[i] : longest;
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_model *model = &experiment->models[i];
    dims = model->head_dim > dims ? model->head_dim : dims;
    width = model->heads * model->head_dim > width ? model->heads * model->head_dim : width;
  }
  for (size_t i = 0; i < experiment->methods.count; i++) {
    const rs_variant *variant = &experiment->methods.items[i];
    views = variant->method->pos->views > views ? variant->method->pos->views : views;
    bytes += bytes_of_tables(experiment, variant, (double)longest, (double)dims, (double)width);
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

rs_status rs_plan_make(const rs_experiment *experiment, rs_plan *plan, rs_err *err) {
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
  plan->peak_bytes = peak_bytes(experiment);
  free(cells);
  return RS_OK;
}
