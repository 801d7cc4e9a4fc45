/* What to do, in one sentence: the setting, its reason by the criteria, and what formulas predict of its costs. */
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

/* What formulas predict of inputs that training had. A sum below the unchanged model's, as of YaRN's temperature, is no
 * gain: none was measured. */
static rs_status put_costs(const adviser *a, const rs_recipe *recipe, rs_err *err) {
  const rs_model *model = a->task->model;
  size_t length = (size_t)a->task->train_length;
  rs_turn_costs here, there;
  rs_text *text = &a->out->text;
  RS_OWNED(rs_recipe) plain = {0};
  if (length < 2 || length > RS_LONGEST_RANKED) return RS_OK;
  RS_TRY(rs_solve_costs(recipe, model, length, &here, err));
  RS_TRY(rs_solve_plain(model, 0, &plain, err));
  rs_status status = rs_solve_costs(&plain, model, length, &there, err);
  if (status != RS_OK || isnan(here.near)) return status;
  double before = rs_turn_costs_sum(&there, &rs_loss_weights);
  double more = rs_turn_costs_sum(&here, &rs_loss_weights) - before;
  rs_text_printf(text, "; predicted for inputs up to the trained %zu tokens, too: ", length);
  if (fabs(more) <= 1e-9 * before) {
    rs_text_puts(text, "nothing changes");
    return RS_OK;
  }
  rs_text_printf(text, "the keys 1 to 8 back are turned by 1 - cos = %.3g on average, and loss_damage is ", here.near);
  if (more > 0)
    rs_text_printf(text, "%.4g more than without it", more);
  else
    rs_text_puts(text, "not more than without it");
  return RS_OK;
}

/* ---- bases ------------------------------------------------------------------------------------------------------- */

static rs_status advise_base(const adviser *a, rs_err *err) {
  const rs_question *q = a->task->question;
  double theta = a->task->model->rope_theta, bound = a->solved[RS_FIRST_VIOLATION], range = a->solved[RS_OUT_OF_RANGE];
  double base = fmax(range, bound);
  rs_text *text = &a->out->text;
  RS_OWNED(rs_recipe) recipe = {0};
  bool model = q->head_dim == 0;
  if (isnan(base)) return RS_OK;
  base = model && base <= theta ? theta : ceil(base);
  RS_TRY(rs_solve_good_base(a->task, base, &a->out->value, err));
  bool sums = said(a, RS_FIRST_VIOLATION) && !isnan(a->out->value);
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
  if (!model)
    rs_text_puts(text, "; what it costs a trained model depends on its base and length (--model or --hf)");
  else if (base == theta)
    rs_text_puts(text, "; costs nothing: it is the base of training");
  if (!model || base == theta) return RS_OK;
  RS_TRY(rs_solve_plain(a->task->model, base, &recipe, err));
  return put_costs(a, &recipe, err);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

static rs_status advise_factor(const adviser *a, rs_err *err) {
  const rs_solve_task *task = a->task;
  double bound = a->solved[RS_FIRST_VIOLATION], range = a->solved[RS_OUT_OF_RANGE], reach = 0;
  double length = task->question->length, trained = task->train_length;
  rs_text *text = &a->out->text;
  RS_OWNED(rs_recipe) recipe = {0};
  bool given, ranged = said(a, RS_OUT_OF_RANGE);
  const char *name = rs_recipe_scale_name(task->recipe, &given);
  if (name == NULL || (!ranged && !said(a, RS_FIRST_VIOLATION))) return RS_OK;
  double times = length / trained, factor = ranged ? range : bound;
  if (ranged && range <= times && range > 0.999 * times) factor = times; /* L / L0: the number that people write */
  a->out->value = factor;
  rs_text_printf(text, "use %s with a factor of ", task->recipe->method->name);
  rs_text_number(text, factor);
  if (ranged)
    rs_text_printf(text, " because no pair of %.0f tokens leaves the angles of training then (%.6g is the least)",
                   length, range);
  else
    rs_text_printf(text, " because no sum of cosines is negative then up to %.0f tokens", length);
  RS_TRY(plain_reach(a, &reach, err));
  if (ranged && reach < trained)
    rs_text_printf(text, "; negative sums are let be, as training itself had one at %.0f of its %.0f tokens", reach,
                   trained);
  else if (ranged && said(a, RS_FIRST_VIOLATION) && bound > factor)
    rs_text_printf(text, "; a sum of cosines that is never negative takes %.6g", bound);
  RS_TRY(rs_recipe_copy(&recipe, task->recipe, err));
  RS_TRY(rs_recipe_set_number(&recipe, name, factor, err));
  RS_TRY(rs_recipe_check(&recipe, task->model, err));
  return put_costs(a, &recipe, err);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

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
  double published = task->question->head_dim == 0 ? (double)task->model->max_length : 0, trained = task->train_length;
  rs_text *text = &a->out->text;
  bool ranged = said(a, RS_OUT_OF_RANGE), summed = said(a, RS_FIRST_VIOLATION);
  double window = (double)rs_window_of(task->layers), holds = ranged ? range : bound;
  if (window > 0 && window <= holds) {
    a->out->value = holds;
    a->out->open = is_open(a, ranged ? RS_OUT_OF_RANGE : RS_FIRST_VIOLATION);
    rs_text_printf(text,
                   "use it at any length because these layers see %.0f tokens whatever the context, and %.0f hold",
                   window, holds);
    return trained > 0 ? put_costs(a, task->recipe, err) : RS_OK;
  }
  if (!ranged && summed)
    put_reached(a, RS_FIRST_VIOLATION, "the sum of cosines is negative at a distance past them",
                "no sum of cosines is negative");
  if (!ranged) return RS_OK;
  RS_TRY(plain_reach(a, &reach, err));
  if (reach >= trained && summed && bound < range)
    put_reached(a, RS_FIRST_VIOLATION, "the sum of cosines is negative at a distance past them, as at none of training",
                "no sum of cosines is negative, and no pair leaves the angles of training");
  else
    put_reached(a, RS_OUT_OF_RANGE, "a pair leaves the angles of training past them",
                "no pair leaves the angles of training");
  if (reach < trained && summed && !is_open(a, RS_FIRST_VIOLATION))
    rs_text_printf(
        text, "; the first negative sum, at %.0f, is let be, as training itself had one at %.0f of its %.0f tokens",
        bound, reach, trained);
  if (published > 0)
    rs_text_printf(text, "; the published %.0f are %s", published, published <= a->out->value ? "within" : "beyond");
  return put_costs(a, task->recipe, err);
}

rs_status rs_advise(const rs_question *question, const rs_solution *const solved[RS_CRITERIA], rs_advice *advice,
                    rs_problems *problems, rs_err *err) {
  RS_OWNED(rs_solve_task) task = {0};
  *advice = (rs_advice){.value = NAN};
  RS_TRY(rs_solve_task_read(question, &task, problems, err));
  adviser a = {.task = &task, .by = solved, .out = advice};
  for (size_t c = 0; c < RS_CRITERIA; c++) a.solved[c] = solved[c] != NULL ? solved[c]->value : NAN;
  rs_status status = question->sought == RS_SOLVE_BASE     ? advise_base(&a, err)
                     : question->sought == RS_SOLVE_FACTOR ? advise_factor(&a, err)
                                                           : advise_length(&a, err);
  if (advice->text.length > 0)
    rs_text_printf(&advice->text, " (derived from formulas%s, not measured on a model)",
                   rs_solve_tuning(&task) != RS_NOT_TUNED ? " as if the model was not tuned with it" : "");
  if (advice->text.length > 0 && task.subject.profile.doubt != NULL)
    rs_text_printf(&advice->text, "; %s", task.subject.profile.doubt);
  if (status == RS_OK) status = rs_text_check(&advice->text, err);
  if (status != RS_OK) rs_advice_clear(advice);
  return status;
}

void rs_advice_clear(rs_advice *advice) {
  rs_text_clear(&advice->text);
  advice->value = NAN;
}
