/* Which setting serves a length. */
#include "advice/advice.h"

#include "api.h"

#include <stdlib.h>

struct ropescope_solution {
  rs_solution solved;
  ropescope_remark remarks[RS_COUNT(((rs_solution *)0)->rows)];
  rs_arena arena; /* of the model's path */
};

_Static_assert((int)ROPESCOPE_SOLVE_BASE == RS_SOLVE_BASE && (int)ROPESCOPE_SOLVE_FACTOR == RS_SOLVE_FACTOR &&
                   (int)ROPESCOPE_SOLVE_LENGTH == RS_SOLVE_LENGTH &&
                   (int)ROPESCOPE_FIRST_VIOLATION == RS_FIRST_VIOLATION &&
                   (int)ROPESCOPE_CRITICAL_DIM == RS_CRITICAL_DIM && (int)ROPESCOPE_OUT_OF_RANGE == RS_OUT_OF_RANGE &&
                   (int)ROPESCOPE_NTK_AWARE == RS_NTK_AWARE,
               "a question goes in as it is");

static const struct {
  rs_question_part part;
  const char *member;
} members[] = {{RS_ASKS_LENGTH, "length"},
               {RS_ASKS_BASE, "base"},
               {RS_ASKS_GEOMETRY, "head_dim"},
               {RS_ASKS_MODEL, "preset"},
               {RS_ASKS_METHOD, "method"}};

static rs_status check_members(const ropescope_question *question, rs_err *err) {
  RS_TRY(rs_api_sized(question, sizeof *question, "ropescope_question", err));
  bool file = question->file != NULL || question->text != NULL, model = file || question->preset != NULL;
  if ((unsigned)question->sought > RS_SOLVE_LENGTH || (unsigned)question->criterion >= RS_CRITERIA)
    return rs_fail_on(err, RS_INPUT, (unsigned)question->sought > RS_SOLVE_LENGTH ? "sought" : "criterion", "is none");
  if (file && question->preset != NULL)
    return rs_fail_on(err, RS_INPUT, "preset", "stands beside a file or text: one of them names the model");
  if (question->head_dim > 0 && model)
    return rs_fail_on(err, RS_INPUT, "head_dim", "stands beside a model: one of them gives the dims");
  if (question->layers != NULL && !model) return rs_fail_on(err, RS_INPUT, "layers", "needs a model");
  if (question->base > 0 && question->method != NULL)
    return rs_fail_on(err, RS_INPUT, "base", "stands beside a method: a base is plain RoPE");
  if (!(question->length >= 0) || !(question->base >= 0))
    return rs_fail_on(err, RS_INPUT, question->length >= 0 ? "base" : "length", "must not be negative");
  return RS_OK;
}

static rs_status check_parts(const rs_question *question, rs_err *err) {
  rs_question_part part;
  bool missing;
  if (rs_question_lacks(question, &part, &missing))
    for (size_t i = 0; i < RS_COUNT(members); i++)
      if (members[i].part == part)
        return rs_fail_on(err, RS_INPUT, members[i].member,
                          missing && part == RS_ASKS_MODEL ? "is missing: the question needs a model (or file, or text)"
                          : missing                        ? "is missing: the question needs it"
                                                           : "is of no use to this question");
  int has = rs_question_has(question);
  if ((has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_METHOD) != 0)
    return rs_fail_on(err, RS_INPUT, "method", "needs a model");
  if (question->sought == RS_SOLVE_LENGTH && (has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_BASE) == 0)
    return rs_fail_on(err, RS_INPUT, "base", "is missing: head_dim alone has no frequencies");
  return RS_OK;
}

static rs_status solve(const ropescope_question *question, ropescope_solution *solution, rs_problems *problems,
                       rs_err *err) {
  const char *name;
  RS_TRY(check_members(question, err));
  RS_TRY(rs_api_model_name(question->file, question->text, &solution->arena, &name, err));
  const rs_question in = {.sought = (rs_sought)question->sought,
                          .criterion = (rs_criterion)question->criterion,
                          .length = question->length,
                          .base = question->base,
                          .head_dim = question->head_dim,
                          .hf = name,
                          .preset = question->preset,
                          .hf_text = question->text,
                          .layers = question->layers,
                          .method = question->method};
  RS_TRY(check_parts(&in, err));
  RS_TRY(rs_solve(&in, &solution->solved, problems, err));
  for (size_t i = 0; i < solution->solved.count; i++)
    solution->remarks[i] = (ropescope_remark){solution->solved.rows[i].name, solution->solved.rows[i].text};
  return RS_OK;
}

ropescope_status ropescope_solve(const ropescope_question *question, ropescope_solution **solution,
                                 ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *solution = rs_alloc(1, sizeof **solution, &err);
  rs_status status = *solution != NULL ? solve(question, *solution, &problems, &err) : RS_MEMORY;
  return RS_API_END(status, solution, ropescope_solution_free, error, &err, &problems);
}

void ropescope_solution_free(ropescope_solution *solution) {
  if (solution != NULL) rs_arena_clear(&solution->arena);
  free(solution);
}

double ropescope_solution_value(const ropescope_solution *solution) {
  return solution->solved.value;
}

const char *ropescope_solution_number(const ropescope_solution *solution) {
  return solution->solved.number;
}

const ropescope_remark *ropescope_solution_remark(const ropescope_solution *solution, size_t index) {
  return index < solution->solved.count ? &solution->remarks[index] : NULL;
}
