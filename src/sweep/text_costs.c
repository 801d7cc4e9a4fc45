/* What the passes of sources' own checkpoints over their texts take: one for each source, model and length, through the
 * blocks up to the one whose queries and keys are wanted. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>

#include "model/model.h"

/* ---- which passes there are -------------------------------------------------------------------------------------- */

/* What a cell's source says of a checkpoint of its own; NULL where it has none, or where nothing is observed. */
static const rs_model_source *source_of(const rs_experiment *experiment, const rs_cell *cell) {
  if (!rs_needs_heads(experiment) || !rs_reads_model(experiment, cell)) return NULL;
  const rs_model_source *source = experiment->sources.items[cell->axis[RS_BY_SOURCE]].params;
  return source->checkpoint.path != NULL ? source : NULL;
}

/* Whether no cell before number `index` has its rows from the same pass. */
static bool is_first(const rs_cell *cells, size_t index) {
  static const size_t shared[] = {RS_BY_MODEL, RS_BY_SOURCE, RS_BY_LENGTH};
  for (size_t i = 0; i < index; i++) {
    size_t same = 0;
    for (size_t a = 0; a < RS_COUNT(shared); a++) same += cells[i].axis[shared[a]] == cells[index].axis[shared[a]];
    if (same == RS_COUNT(shared)) return false;
  }
  return true;
}

static size_t length_of(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->lengths[cell->axis[RS_BY_LENGTH]];
}

static bool is_long_enough(const rs_model_source *source, size_t length) {
  rs_token_file file;
  if (rs_token_file_read(source->tokens, source->numbers, &file, NULL) != RS_OK) return false;
  bool enough = file.count >= length;
  rs_token_file_clear(&file);
  return enough;
}

/* ---- flops and bytes --------------------------------------------------------------------------------------------- */

static double pass_flops(const rs_shape *shape, const rs_model_source *source, size_t length) {
  return rs_stack_flops(&shape->decoder, source->layer + 1, (double)shape->width, (double)length, 0);
}

static double pass_bytes(const rs_shape *shape, const rs_model *model, const rs_model_source *source, size_t length) {
  const rs_head_shape *heads = &shape->decoder.blocks[source->layer].attention;
  double rows = (double)length, kept = (double)((heads->heads + heads->kv_heads) * heads->head_dim);
  double numbers = rs_stack_numbers(&shape->decoder, source->layer + 1, (double)shape->width, rows, false);
  bool known = model->published.method != NULL;
  double tables = known ? rs_encoding_bytes(&model->published, model, length, NULL) : 0;
  return numbers * (source->precision == RS_F64 ? 8 : 4) + 8 * rows * kept + 2 * tables;
}

/* A checkpoint that cannot be read fails its cells, and takes nothing. */
static rs_status fill_cost(const rs_experiment *experiment, const rs_cell *cell, rs_text_cost *cost, rs_err *err) {
  const rs_model_source *source = source_of(experiment, cell);
  size_t length = length_of(experiment, cell);
  rs_shape shape;
  rs_err why = {0};
  if (!is_long_enough(source, length)) return RS_OK;
  if (rs_folder_shape(source->checkpoint.path, &shape, &why) != RS_OK)
    return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
  if (source->layer < shape.decoder.count) {
    cost->flops = pass_flops(&shape, source, length);
    cost->bytes = pass_bytes(&shape, &experiment->models[cell->axis[RS_BY_MODEL]], source, length);
  }
  rs_shape_clear(&shape);
  return RS_OK;
}

rs_status rs_text_costs(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_text_cost *costs,
                        rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    costs[i] = (rs_text_cost){0};
    if (source_of(experiment, &cells[i]) == NULL || !is_first(cells, i)) continue;
    RS_TRY(fill_cost(experiment, &cells[i], &costs[i], err));
  }
  return RS_OK;
}

/* ---- seconds ----------------------------------------------------------------------------------------------------- */

/* Seconds of a pass over the first `length` tokens; 0 where it cannot be. */
static double time_pass(rs_text_model *model, const rs_model_source *source, size_t length) {
  rs_text_rows rows;
  double start = rs_seconds();
  rs_status status = rs_text_rows_read(model, source, length, &rows, NULL);
  double seconds = rs_seconds() - start;
  rs_text_rows_clear(&rows);
  return status == RS_OK ? seconds : 0;
}

/* Seconds of a flop: of longer and longer passes, up to `longest` tokens, as the budget has room; 0 where there is
 * none. The first reads the weights and is not counted. */
static double find_pace(const rs_model_source *source, size_t longest, double budget) {
  enum { FIRST = 32 };
  rs_text_model model = {0};
  rs_shape shape;
  double pace = 0;
  size_t length = longest < FIRST ? longest : FIRST;
  if (rs_folder_shape(source->checkpoint.path, &shape, NULL) != RS_OK) return 0;
  bool there = source->layer < shape.decoder.count && time_pass(&model, source, length) > 0;
  for (double start = rs_seconds(); there && length <= longest && (pace == 0 || rs_seconds() - start < budget / 3);
       length *= 2)
    pace = time_pass(&model, source, length) / pass_flops(&shape, source, length);
  rs_shape_clear(&shape);
  rs_text_model_clear(&model);
  return pace;
}

/* The longest pass of a source; 0: none. */
static size_t find_longest(const rs_experiment *experiment, const rs_cell *cells, const rs_text_cost *costs,
                           size_t count, size_t source) {
  size_t longest = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length = length_of(experiment, &cells[i]);
    if (costs[i].flops > 0 && cells[i].axis[RS_BY_SOURCE] == source && length > longest) longest = length;
  }
  return longest;
}

rs_status rs_text_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                          double *seconds, rs_err *err) {
  rs_text_cost *costs = rs_alloc(count, sizeof *costs, err);
  rs_status status = costs != NULL ? rs_text_costs(experiment, cells, count, costs, err) : RS_MEMORY;
  for (size_t s = 0; s < experiment->sources.count && status == RS_OK; s++) {
    size_t longest = find_longest(experiment, cells, costs, count, s);
    if (longest == 0) continue;
    double pace = find_pace(experiment->sources.items[s].params, longest, budget / (double)experiment->sources.count);
    for (size_t i = 0; i < count; i++)
      if (cells[i].axis[RS_BY_SOURCE] == s) seconds[i] += pace * costs[i].flops;
  }
  free(costs);
  return status;
}
