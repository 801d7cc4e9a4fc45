/* The factor that makes a recipe serve a length: it is searched, as methods differ in what they do with it. What is
 * halved is an interval of yes and no, each with a status: GSL's root finding takes functions that cannot fail. */
#include "task.h"

#include <math.h>
#include <stdio.h>

/* The search: its step, relative; where it ends; and to what it is refined. */
static const double factor_step = 1.001, most_factor = 1e4, factor_resolution = 1e-9;

/* What is searched, and where the factor before had a negative sum. */
typedef struct search {
  const rs_solve_task *task;
  rs_recipe recipe;
  const char *name; /* of the factor */
  uint64_t hint;
} search;

double rs_ten_digits(double number) {
  char text[RS_NUMBER_CHARS];
  double rounded;
  snprintf(text, sizeof text, "%.10g", number);
  return rs_number_read(text, &rounded) ? rounded : number;
}

/* Whether the context is served at this factor. */
static rs_status serves(search *s, double factor, bool *good, rs_err *err) {
  rs_spectrum spectrum;
  double length = s->task->question->length;
  RS_TRY(rs_recipe_set_number(&s->recipe, s->name, factor, err));
  RS_TRY(rs_recipe_check(&s->recipe, &s->task->model, err));
  RS_TRY(rs_solve_turn(s->task, &s->recipe, length, &spectrum, err));
  rs_status status = rs_solve_serves(s->task, &spectrum, length, &s->hint, good, err);
  rs_spectrum_clear(&spectrum);
  return status;
}

/* The factor in ten digits, or in as many as it takes where rounding to ten loses the context. */
static rs_status shorten(search *s, double factor, double *shorter, rs_err *err) {
  bool good = false;
  *shorter = rs_ten_digits(factor);
  RS_TRY(serves(s, *shorter, &good, err));
  if (!good) *shorter = factor;
  return RS_OK;
}

/* Up from 1 in steps, then the last step by halves. NaN where no factor serves. */
static rs_status find(search *s, double *found, rs_err *err) {
  double bad = 1, factor = 1;
  bool good = false;
  *found = NAN;
  for (; factor < most_factor; bad = factor, factor *= factor_step) {
    RS_TRY(serves(s, factor, &good, err));
    if (good) break;
  }
  if (!good) return RS_OK;
  while (factor - bad > factor_resolution * factor) {
    double middle = (bad + factor) / 2;
    RS_TRY(serves(s, middle, &good, err));
    *(good ? &factor : &bad) = middle;
  }
  return shorten(s, factor, found, err);
}

rs_status rs_solve_factor(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  bool given;
  const char *method = task->recipe.method->name, *name = rs_recipe_scale_name(&task->recipe, &given);
  search s = {.task = task, .name = name};
  double factor;
  if (name == NULL)
    return rs_fail(err, RS_INPUT, "%s has no factor (pi, ntk, critical_base, yarn, llama3 and others have)", method);
  if (given) return rs_fail(err, RS_INPUT, "the factor of %s is what is looked for: leave it out of --method", method);
  if (task->question->criterion != RS_FIRST_VIOLATION) RS_TRY(rs_solve_need_critical(task, err));
  RS_TRY(rs_recipe_copy(&s.recipe, &task->recipe, err));
  rs_status status = find(&s, &factor, err);
  rs_recipe_clear(&s.recipe);
  if (status != RS_OK) return status;
  if (isnan(factor))
    return rs_fail(err, RS_DOMAIN, "no factor up to %g makes %s serve %.0f tokens", most_factor, method,
                   task->question->length);
  rs_solve_put_exact(out, factor);
  rs_solve_put(out, "means", "the least factor found with which %s serves %.0f tokens", method, task->question->length);
  rs_solve_put(out, "search",
               "up from 1 in steps of %g %%, the last one halved; windows narrower than a step may lie below",
               (factor_step - 1) * 100);
  if (task->question->criterion != RS_FIRST_VIOLATION) rs_solve_put_training(task, out);
  return RS_OK;
}
