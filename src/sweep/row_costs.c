/* What rows of attention take, from the sizes alone. */
#include "run.h"

#include <math.h>

rs_row_needs rs_experiment_needs(const rs_experiment *experiment) {
  rs_row_needs needs = {0};
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    (void)rs_row_needs_add(&needs, metric->metric, metric->params, NULL); /* the config was checked for what can fail */
  }
  return needs;
}

bool rs_needs_heads(const rs_experiment *experiment) {
  rs_row_needs needs = rs_experiment_needs(experiment);
  return needs.rows || needs.content;
}

bool rs_projects(const rs_experiment *experiment, const rs_cell *cell) {
  return rs_experiment_method(experiment, cell->axis[RS_BY_MODEL], cell->axis[RS_BY_METHOD])->embed != NULL;
}

bool rs_experiment_cuts(const rs_experiment *experiment, rs_cut *cut) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *variant = &experiment->metrics.items[m];
    if (variant->metric->cut == NULL) continue;
    variant->metric->cut(variant->params, cut);
    return true;
  }
  return false;
}

size_t rs_query_count(const rs_query_set *set, size_t length) {
  if (set->choice == RS_QUERIES_EVERY) return (length + set->number - 1) / set->number;
  return set->choice == RS_QUERIES_ALL || set->number > length ? length : set->number;
}

bool rs_reads_model(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->sources.count > 0 && experiment->sources.items[cell->axis[RS_BY_SOURCE]].source->of_model;
}

double rs_row_flops(const rs_experiment *experiment, const rs_cell *cell) {
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  double dims = (double)experiment->models[cell->axis[RS_BY_MODEL]].head_dim;
  bool sequences = experiment->checkpoints != NULL && rs_reads_model(experiment, cell);
  double times = sequences ? (double)experiment->sequences : 1;
  if (!rs_experiment_needs(experiment).rows) return 0;
  return times * 2 * dims * (double)length * (double)rs_query_count(&experiment->queries, length) *
         (double)rs_head_count(experiment, cell);
}

double rs_cell_work(const rs_experiment *experiment, const rs_cell *cell) {
  enum { KEY_COST = 64 }; /* rotating one key costs about as much as multiplying it by this many queries */
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  bool rows = rs_experiment_needs(experiment).rows;
  double queries = rows ? (double)rs_query_count(&experiment->queries, length) + KEY_COST : 1;
  return queries * (double)length * (double)rs_head_count(experiment, cell);
}

double rs_row_bytes(const rs_experiment *experiment, size_t length, size_t dims, size_t views, size_t threads) {
  double queries = (double)rs_query_count(&experiment->queries, length);
  rs_row_needs needs = rs_experiment_needs(experiment);
  size_t bins = rs_log_bins(length, experiment->bins_per_octave);
  double content = 8 * (double)dims * ((double)length + 2 * queries) + (8 * RS_AXES + 4) * (double)length;
  double numbers = (double)bins * (needs.moments ? 4 : 1) + (double)needs.top_count;
  double observed = fmin(queries, RS_ROWS_AT_ONCE) * ((double)sizeof(rs_row) + 8 * numbers);
  double engine = rs_engine_bytes(length, dims, views, bins, threads);
  bool whole = needs.local > 0 || needs.top_count > 0;
  return content + observed + engine + (whole ? rs_whole_bytes(length, threads) : 0);
}
