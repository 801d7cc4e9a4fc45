/* What a recipe turns its pairs by at a length, and how far that reaches by the criterion of the question. */
#include "task.h"

/* Positions that are moved, waves that mix, biases: distance alone does not say what is seen. A temperature is no such
 * thing. */
static bool does_more(const rs_method *method) {
  bool moves = method->pos->prepare != NULL && !method->pos->scaled;
  return moves || method->freq->mix != NULL || method->freq->log_gain != NULL || method->embed != NULL ||
         method->bias != NULL;
}

/* The frequencies at one length. RS_UNSUPPORTED for methods that do more than turn pairs by the distance. */
rs_status rs_solve_turn(const rs_solve_task *task, const rs_recipe *recipe, double length, rs_spectrum *spectrum,
                        rs_err *err) {
  RS_TRY(rs_spectrum_make(recipe, &task->model, (size_t)length, spectrum, err));
  rs_status status = RS_OK;
  if (does_more(recipe->method))
    status = rs_fail(err, RS_UNSUPPORTED, "%s does more than turn pairs (%.200s): solve knows frequencies alone",
                     recipe->method->name, spectrum->beyond);
  if (status == RS_OK && task->trained != NULL && spectrum->pairs != task->pairs)
    status = rs_fail(err, RS_UNSUPPORTED, "the recipe turns %zu pairs and the model %zu", spectrum->pairs, task->pairs);
  if (status != RS_OK) rs_spectrum_clear(spectrum);
  return status;
}

static rs_turning turning_of(const rs_solve_task *task, const rs_spectrum *spectrum) {
  return (rs_turning){spectrum->omega, task->trained, spectrum->pairs, spectrum->head_dim / 2 - spectrum->pairs,
                      task->train_length};
}

rs_status rs_solve_reach(const rs_solve_task *task, const rs_spectrum *spectrum, uint64_t most, double *reach,
                         rs_err *err) {
  rs_turning turning = turning_of(task, spectrum);
  uint64_t length;
  if (task->question->criterion == RS_CRITICAL_DIM) *reach = rs_reach_critical(&turning);
  if (task->question->criterion == RS_OUT_OF_RANGE) *reach = rs_reach_in_range(&turning);
  if (task->question->criterion != RS_FIRST_VIOLATION) return RS_OK;
  RS_TRY(rs_reach_first_violation(&turning, most, &length, err));
  *reach = (double)length;
  return RS_OK;
}

rs_status rs_solve_serves(const rs_solve_task *task, const rs_spectrum *spectrum, double length, uint64_t *hint,
                          bool *good, rs_err *err) {
  rs_turning turning = turning_of(task, spectrum);
  double reach = 0;
  if (task->question->criterion == RS_FIRST_VIOLATION)
    return rs_reach_serves(&turning, (uint64_t)length, hint, good, err);
  RS_TRY(rs_solve_reach(task, spectrum, (uint64_t)length, &reach, err));
  *good = reach >= length;
  return RS_OK;
}
