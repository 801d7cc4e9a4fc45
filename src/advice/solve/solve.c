/* A question about settings and lengths, from its words to its answer. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

/* What training was is not asked for where the dims of a head are all that is known. */
static void bare_model(size_t head_dim, rs_model *model) {
  *model = (rs_model){.name = "none",
                      .heads = 1,
                      .head_dim = head_dim,
                      .rotary_dim = head_dim,
                      .rope_theta = 10000,
                      .train_length = 4096,
                      .max_length = 4096};
}

static rs_status read_model(const rs_question *question, rs_solve_task *task, rs_problems *problems, rs_err *err) {
  if (question->head_dim > 0) {
    if (question->head_dim % 2 != 0)
      return rs_fail(err, RS_INPUT, "head_dim = %zu: must be even: dims turn in pairs", question->head_dim);
    bare_model(question->head_dim, &task->model);
    return rs_solve_plain(&task->model, question->base, &task->recipe, err);
  }
  const rs_subject_in in = {.hf = question->hf,
                            .hf_text = question->hf_text,
                            .preset = question->preset,
                            .layers = question->layers,
                            .method = question->method,
                            .fallback = "rope",
                            .length = 1};
  rs_subject subject;
  RS_TRY(rs_subject_read(&in, &subject, problems, err));
  task->model = subject.model;
  task->recipe = subject.recipe;
  task->profile = subject.profile;
  task->kind = subject.kind;
  subject.profile = (rs_profile){0};
  subject.model = (rs_model){0};
  subject.recipe = (rs_recipe){0};
  rs_subject_clear(&subject);
  if (question->base == 0) return RS_OK;
  rs_recipe_clear(&task->recipe);
  return rs_solve_plain(&task->model, question->base, &task->recipe, err);
}

/* What turns nothing has no base, no factor and no length. */
static rs_status need_turns(const rs_solve_task *task, rs_err *err) {
  const rs_method *method = task->recipe.method;
  if (method->freq != NULL && task->model.rotary_dim > 1) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs on %s: it has no base, no factor, and no length to solve for",
                 method->name, task->model.name);
}

/* Plain RoPE as trained, into task->trained. */
static rs_status read_training(rs_solve_task *task, rs_err *err) {
  rs_recipe plain;
  rs_spectrum spectrum;
  RS_TRY(rs_solve_plain(&task->model, 0, &plain, err));
  rs_status status = rs_spectrum_make(&plain, &task->model, 1, &spectrum, err);
  rs_recipe_clear(&plain);
  if (status != RS_OK) return status;
  task->trained = spectrum.omega;
  spectrum.omega = NULL;
  task->pairs = spectrum.pairs;
  task->still = spectrum.head_dim / 2 - spectrum.pairs;
  task->train_length = rs_recipe_train_length(&task->recipe, &task->model);
  rs_spectrum_clear(&spectrum);
  return RS_OK;
}

rs_status rs_solve_task_read(const rs_question *question, rs_solve_task *task, rs_problems *problems, rs_err *err) {
  *task = (rs_solve_task){.question = question};
  rs_status status = read_model(question, task, problems, err);
  if (status == RS_OK) status = need_turns(task, err);
  if (status == RS_OK) status = read_training(task, err);
  if (status != RS_OK) rs_solve_task_clear(task);
  return status;
}

void rs_solve_task_clear(rs_solve_task *task) {
  rs_recipe_clear(&task->recipe);
  rs_model_clear(&task->model);
  rs_profile_clear(&task->profile);
  free(task->trained);
  *task = (rs_solve_task){0};
}

rs_status rs_solve(const rs_question *question, rs_solution *solution, rs_problems *problems, rs_err *err) {
  rs_solve_task task;
  *solution = (rs_solution){0};
  RS_TRY(rs_solve_task_read(question, &task, problems, err));
  rs_status status = rs_solve_answer(&task, solution, err);
  rs_solve_task_clear(&task);
  return status;
}
