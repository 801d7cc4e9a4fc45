/* What to do, in one sentence: the setting, its reason by the criteria, and what it costs by formula. */
#include "task.h"

#include <math.h>

/* What the sentence is made of. */
typedef struct adviser {
  const rs_solve_task *task;
  const rs_solution *const *by; /* (RS_CRITERIA,) what each criterion says; NULL: nothing */
  double solved[RS_CRITERIA];   /* its number; NaN */
  rs_advice *out;
} adviser;

static bool said(const adviser *a, rs_criterion criterion) {
  return !isnan(a->solved[criterion]);
}

/* Whether its number is where its search ended. */
static bool is_open(const adviser *a, rs_criterion criterion) {
  return said(a, criterion) && a->by[criterion]->open;
}

/* How far plain RoPE at the trained base goes before a sum of cosines is negative, tokens. */
static rs_status plain_reach(const adviser *a, double *reach, rs_err *err) {
  const rs_solve_task *task = a->task;
  rs_turning turning = {task->trained, NULL, task->pairs, task->still, task->train_length};
  uint64_t length;
  RS_TRY(rs_reach_first_violation(&turning, RS_LONGEST_SOUGHT, &length, err));
  *reach = (double)length;
  return RS_OK;
}

/* "near keys 0.031, 0.082 in all at 4096 tokens, short inputs too, against 0.019 of the base of training". */
static rs_status put_costs(const adviser *a, const rs_recipe *recipe, rs_err *err) {
  const rs_model *model = &a->task->model;
  size_t length = (size_t)a->task->train_length;
  rs_turn_costs here, there;
  rs_recipe plain;
  if (length < 2 || length > RS_LONGEST_RANKED) return RS_OK;
  RS_TRY(rs_solve_costs(recipe, model, length, &here, err));
  RS_TRY(rs_solve_plain(model, 0, &plain, err));
  rs_status status = rs_solve_costs(&plain, model, length, &there, err);
  rs_recipe_clear(&plain);
  if (status != RS_OK || isnan(here.near)) return status;
  double sum = rs_turn_costs_sum(&here, &rs_loss_weights), before = rs_turn_costs_sum(&there, &rs_loss_weights);
  rs_text *text = &a->out->text;
  if (fabs(sum - before) <= 1e-9 * before) {
    rs_text_printf(text, "; costs nothing at inputs up to the trained %zu tokens", length);
    return RS_OK;
  }
  rs_text_printf(text,
                 "; costs, at short inputs too: the keys 1 to 8 back are turned by 1 - cos = %.3g on average, and the "
                 "predicted loss_damage at the trained %zu tokens is %.4g, where it was %.4g",
                 here.near, length, sum, before);
  return RS_OK;
}

/* ---- bases ------------------------------------------------------------------------------------------------------- */

static rs_status advise_base(const adviser *a, rs_err *err) {
  const rs_question *q = a->task->question;
  double bound = a->solved[RS_FIRST_VIOLATION], range = a->solved[RS_OUT_OF_RANGE], base = fmax(range, bound);
  rs_text *text = &a->out->text;
  bool model = q->head_dim == 0, sums;
  if (isnan(base)) return RS_OK;
  base = model && base <= a->task->model.rope_theta ? a->task->model.rope_theta : ceil(base);
  RS_TRY(rs_solve_good_base(a->task, base, &a->out->value, err));
  sums = said(a, RS_FIRST_VIOLATION) && !isnan(a->out->value);
  if (!sums && !said(a, RS_OUT_OF_RANGE)) return RS_OK;
  if (isnan(a->out->value)) a->out->value = base;
  base = a->out->value;
  rs_text_puts(text, "use base ");
  rs_text_number(text, base);
  if (sums)
    rs_text_printf(text,
                   " because no sum of cosines is negative with it up to %.0f tokens (%.10g is the least such base)",
                   q->length, bound);
  if (said(a, RS_OUT_OF_RANGE))
    rs_text_printf(text, "%s no pair leaves the angles of training (%.10g is the least for that)",
                   sums ? ", and" : " because", range);
  if (!model) {
    rs_text_puts(text, "; what it costs a trained model depends on its base and length (--model or --hf)");
    return RS_OK;
  }
  if (base == a->task->model.rope_theta) {
    rs_text_puts(text, "; costs nothing: it is the base of training");
    return RS_OK;
  }
  rs_recipe recipe;
  RS_TRY(rs_solve_plain(&a->task->model, base, &recipe, err));
  rs_status status = put_costs(a, &recipe, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* L / L0 where it is hardly more than what is asked for: the number that people write. */
static double round_factor(const adviser *a, double factor) {
  double times = a->task->question->length / a->task->train_length;
  return factor <= times && factor > 0.999 * times ? times : factor;
}

static rs_status advise_factor(const adviser *a, rs_err *err) {
  const rs_solve_task *task = a->task;
  double bound = a->solved[RS_FIRST_VIOLATION], range = a->solved[RS_OUT_OF_RANGE], reach = 0;
  rs_text *text = &a->out->text;
  bool given;
  const char *method = task->recipe.method->name, *name = rs_recipe_scale_name(&task->recipe, &given);
  if (name == NULL || (!said(a, RS_OUT_OF_RANGE) && !said(a, RS_FIRST_VIOLATION))) return RS_OK;
  double factor = said(a, RS_OUT_OF_RANGE) ? round_factor(a, range) : bound;
  char digits[RS_NUMBER_CHARS];
  rs_number_format(factor, digits);
  a->out->value = factor;
  rs_text_printf(text, "use %s with a factor of %s because ", method, digits);
  if (said(a, RS_OUT_OF_RANGE))
    rs_text_printf(text, "no pair of %.0f tokens leaves the angles of training then (%.6g is the least)",
                   task->question->length, range);
  else
    rs_text_printf(text, "no sum of cosines is negative then up to %.0f tokens", task->question->length);
  RS_TRY(plain_reach(a, &reach, err));
  if (said(a, RS_OUT_OF_RANGE) && reach < task->train_length)
    rs_text_printf(text, "; negative sums are let be, as training itself had one at %.0f of its %.0f tokens", reach,
                   task->train_length);
  else if (said(a, RS_OUT_OF_RANGE) && said(a, RS_FIRST_VIOLATION) && bound > factor)
    rs_text_printf(text, "; a sum of cosines that is never negative takes %.6g", bound);
  rs_recipe recipe;
  RS_TRY(rs_recipe_copy(&recipe, &task->recipe, err));
  rs_status status = rs_recipe_set_number(&recipe, name, factor, err);
  if (status == RS_OK) status = rs_recipe_check(&recipe, &task->model, err);
  if (status == RS_OK) status = put_costs(a, &recipe, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* The tokens that the layers see whatever the context; 0: all. */
static double window_of(const rs_solve_task *task) {
  const rs_layer_kind *kind = task->profile.kind_count > 0 ? &task->profile.kinds[task->kind] : NULL;
  return kind != NULL && kind->compression == 0 ? (double)kind->mask.window : 0;
}

/* The length of one criterion, and how it ends there, if it does. */
static void put_reached(const adviser *a, rs_criterion criterion, const char *end, const char *none) {
  rs_text *text = &a->out->text;
  a->out->value = a->solved[criterion];
  a->out->open = is_open(a, criterion);
  if (a->out->open)
    rs_text_printf(text, "no end was found up to %.0f tokens, where the search ends: %s", a->out->value, none);
  else
    rs_text_printf(text, "use it up to %.0f tokens because %s", a->out->value, end);
}

static rs_status advise_length(const adviser *a, rs_err *err) {
  const rs_solve_task *task = a->task;
  double bound = a->solved[RS_FIRST_VIOLATION], range = a->solved[RS_OUT_OF_RANGE], reach = 0;
  double published = task->question->head_dim == 0 ? (double)task->model.max_length : 0;
  rs_text *text = &a->out->text;
  double window = window_of(task), holds = said(a, RS_OUT_OF_RANGE) ? range : bound;
  if (window > 0 && window <= holds) {
    a->out->value = holds;
    rs_text_printf(text,
                   "use it at any length because these layers see %.0f tokens whatever the context, and %.0f hold",
                   window, holds);
    a->out->open = is_open(a, said(a, RS_OUT_OF_RANGE) ? RS_OUT_OF_RANGE : RS_FIRST_VIOLATION);
    return task->train_length > 0 ? put_costs(a, &task->recipe, err) : RS_OK;
  }
  if (!said(a, RS_OUT_OF_RANGE)) {
    if (said(a, RS_FIRST_VIOLATION))
      put_reached(a, RS_FIRST_VIOLATION, "the sum of cosines is negative at a distance past them",
                  "no sum of cosines is negative");
    return RS_OK;
  }
  RS_TRY(plain_reach(a, &reach, err));
  bool binding = reach >= task->train_length && said(a, RS_FIRST_VIOLATION) && bound < range;
  if (binding)
    put_reached(a, RS_FIRST_VIOLATION, "the sum of cosines is negative at a distance past them, as at none of training",
                "no sum of cosines is negative, and no pair leaves the angles of training");
  else
    put_reached(a, RS_OUT_OF_RANGE, "a pair leaves the angles of training past them",
                "no pair leaves the angles of training");
  if (reach < task->train_length && said(a, RS_FIRST_VIOLATION) && !is_open(a, RS_FIRST_VIOLATION))
    rs_text_printf(text,
                   "; the first negative sum, at %.0f, is let be, as training itself had one at %.0f of its %.0f "
                   "tokens",
                   bound, reach, task->train_length);
  if (published > 0)
    rs_text_printf(text, "; the published %.0f are %s", published, published <= a->out->value ? "within" : "beyond");
  return put_costs(a, &task->recipe, err);
}

/* What the sentence rests on. */
static void put_grounds(const rs_solve_task *task, rs_text *text) {
  rs_text_printf(text, " (derived from formulas%s, not measured on a model)",
                 rs_solve_tuning(task) != RS_NOT_TUNED ? " as if the model was not tuned with it" : "");
  if (task->profile.doubt != NULL) rs_text_printf(text, "; %s", task->profile.doubt);
}

rs_status rs_advise(const rs_question *question, const rs_solution *const solved[RS_CRITERIA], rs_advice *advice,
                    rs_problems *problems, rs_err *err) {
  rs_solve_task task;
  *advice = (rs_advice){.value = NAN};
  RS_TRY(rs_solve_task_read(question, &task, problems, err));
  adviser a = {.task = &task, .by = solved, .out = advice};
  for (size_t c = 0; c < RS_CRITERIA; c++) a.solved[c] = solved[c] != NULL ? solved[c]->value : NAN;
  rs_status status = question->sought == RS_SOLVE_BASE     ? advise_base(&a, err)
                     : question->sought == RS_SOLVE_FACTOR ? advise_factor(&a, err)
                                                           : advise_length(&a, err);
  if (status == RS_OK && advice->text.length > 0) put_grounds(&task, &advice->text);
  if (status == RS_OK) status = rs_text_check(&advice->text, err);
  if (status != RS_OK) rs_advice_clear(advice);
  rs_solve_task_clear(&task);
  return status;
}

void rs_advice_clear(rs_advice *advice) {
  rs_text_clear(&advice->text);
  advice->value = NAN;
}
