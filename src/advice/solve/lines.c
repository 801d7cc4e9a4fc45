/* The lines of an answer, and what training has left. */
#include "task.h"

#include <stdio.h>

/* The number to ten digits, or as it is where a rounded one may be bad. */
void rs_solve_put_value(rs_solution *out, double value) {
  out->value = value;
  snprintf(out->number, sizeof out->number, "%.10g", value);
}

void rs_solve_put_exact(rs_solution *out, double value) {
  out->value = value;
  rs_number_format(value, out->number);
}

void rs_solve_put(rs_solution *out, const char *name, const char *format, ...) {
  rs_remark *row = &out->rows[out->count++];
  va_list list;
  va_start(list, format);
  row->name = name;
  vsnprintf(row->text, sizeof row->text, format, list);
  va_end(list);
}

/* ---- what training has left -------------------------------------------------------------------------------------- */

size_t rs_solve_critical(const rs_solve_task *task) {
  return rs_critical_pair(task->trained, task->pairs, task->train_length);
}

rs_status rs_solve_need_length(const rs_solve_task *task, rs_err *err) {
  if (task->train_length >= 1) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "%s: has no max_position_embeddings, and its class no default: which length was it "
                 "trained at?",
                 task->model.name);
}

rs_status rs_solve_need_critical(const rs_solve_task *task, rs_err *err) {
  RS_TRY(rs_solve_need_length(task, err));
  size_t pair = rs_solve_critical(task);
  if (pair == task->pairs)
    return rs_fail(err, RS_DOMAIN, "every pair of %s went full circle in %g tokens: no length is out of reach",
                   task->model.name, task->train_length);
  if (pair == 0)
    return rs_fail(err, RS_DOMAIN, "no pair went full circle in %g tokens, and no base slows pair 0",
                   task->train_length);
  return RS_OK;
}

void rs_solve_put_training(const rs_solve_task *task, rs_solution *out) {
  size_t pair = rs_solve_critical(task);
  rs_solve_put(out, "training", "%s: base %g, %g tokens, in which %zu of %zu pairs went full circle", task->model.name,
               task->model.rope_theta, task->train_length, pair, task->pairs);
}
