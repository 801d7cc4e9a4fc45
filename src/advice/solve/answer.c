/* Answers by each criterion. Bases and lengths follow from formulas and searches (reach.c, metrics/m_base_bound.c); a
 * factor is searched, as methods differ in what they do with it. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the march of the least base; a million tokens at 128 dims take 6e4. Some minutes. */
static const size_t most_steps = 10000000;

static const char *const criteria[] = {
    "first_violation: sum_j cos(m omega_j) >= 0 at every distance m of the context",
    "critical_dim: the first pair that did not go full circle in training has a period of the whole context",
    "ood: no pair that did not go full circle in training turns further than it did there",
    "ntk: NTK-aware scaling, base = trained base * factor^(R/(R-2))",
};

static const char *const references[] = {
    "Base of RoPE bounds context length, arXiv:2405.14591, section 4; kexue.fm/archives/10122",
    "Liu et al., arXiv:2310.05209, theorem 2",
    "Liu et al., arXiv:2310.05209; YaRN, arXiv:2309.00071, section 3.2",
    "bloc97, 2023; YaRN, arXiv:2309.00071v2, section 3.1",
};

/* ---- bases ------------------------------------------------------------------------------------------------------- */

rs_status rs_solve_good_base(const rs_solve_task *task, double base, double *good, rs_err *err) {
  uint64_t hint = 0;
  *good = NAN;
  for (double tried = base, step = 1; tried <= 100 * base; tried = floor(tried) + step) {
    rs_recipe recipe;
    rs_spectrum spectrum = {0};
    bool serves = false;
    RS_TRY(rs_solve_plain(&task->model, tried, &recipe, err));
    rs_status status = rs_spectrum_make(&recipe, &task->model, 1, &spectrum, err);
    rs_turning turning = {spectrum.omega, NULL, spectrum.pairs, 0, task->train_length};
    if (status == RS_OK) status = rs_reach_serves(&turning, (uint64_t)task->question->length, &hint, &serves, err);
    rs_spectrum_clear(&spectrum);
    rs_recipe_clear(&recipe);
    RS_TRY(status);
    if (serves) {
      *good = tried;
      return RS_OK;
    }
    step = fmin(2 * step, fmax(1, ceil(1e-3 * tried)));
  }
  return RS_OK;
}

static rs_status base_by_violation(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_base_bound found;
  RS_TRY(rs_base_bound_find(2 * task->pairs, (size_t)task->question->length, most_steps, &found, err));
  if (isnan(found.base))
    return rs_fail(err, RS_DOMAIN, "the search was given up at base %.10g after %zu steps: it finds shorter lengths",
                   found.reached, found.steps);
  rs_solve_put_exact(out, found.base);
  rs_solve_put(out, "means", "the least base for %.0f tokens with %zu rotary dims; larger ones may be bad again",
               task->question->length, 2 * task->pairs);
  double integer;
  RS_TRY(rs_solve_good_base(task, ceil(found.base), &integer, err));
  if (!isnan(integer)) rs_solve_put(out, "integer", "%.0f has no negative sum either", integer);
  rs_solve_put(out, "search",
               "%zu steps, of which all but %zu prove that they hold no good base; resolution %g of the base",
               found.steps, found.unproved, found.resolution);
  if (task->still > 0)
    rs_solve_put(out, "note", "the %zu pairs of a head that do not turn are left out; with them %s", task->still,
                 task->still >= task->pairs ? "every base is good" : "smaller bases may be good, too");
  return RS_OK;
}

static rs_status need_ntk_pairs(const rs_solve_task *task, rs_err *err) {
  if (task->pairs >= 2) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "one pair has no NTK-aware base: the exponent is R/(R-2)");
}

/* What a base is worth as NTK-aware scaling, which only raises it. */
static rs_status factor_of_base(const rs_solve_task *task, double *factor, rs_err *err) {
  RS_TRY(need_ntk_pairs(task, err));
  *factor = rs_factor_ntk(task->model.rope_theta, task->pairs, task->question->base);
  if (task->question->base >= task->model.rope_theta) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "base %g is below the %g of %s, and NTK-aware scaling raises it", task->question->base,
                 task->model.rope_theta, task->model.name);
}

static rs_status base_by_ntk(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  RS_TRY(rs_solve_need_length(task, err));
  RS_TRY(need_ntk_pairs(task, err));
  double factor = fmax(1, task->question->length / task->train_length);
  rs_solve_put_value(out, rs_base_ntk(task->model.rope_theta, task->pairs, factor));
  if (task->question->length <= task->train_length)
    rs_solve_put(out, "means", "the base of training reaches %.0f tokens as it is", task->question->length);
  else
    rs_solve_put(out, "means", "the base %g of %s scaled by a factor of %g", task->model.rope_theta, task->model.name,
                 factor);
  return RS_OK;
}

static rs_status find_base(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  if (task->question->criterion == RS_FIRST_VIOLATION) return base_by_violation(task, out, err);
  if (task->question->criterion == RS_NTK_AWARE) return base_by_ntk(task, out, err);
  RS_TRY(rs_solve_need_critical(task, err));
  size_t pair = rs_solve_critical(task);
  double base =
      task->question->criterion == RS_CRITICAL_DIM
          ? rs_base_critical(pair, task->pairs, task->question->length)
          : rs_base_in_range(task->model.rope_theta, pair, task->pairs, task->train_length, task->question->length);
  bool enough = base <= task->model.rope_theta;
  rs_solve_put_exact(out, enough ? task->model.rope_theta : base);
  rs_solve_put(out, "means",
               enough ? "the base of training reaches %.0f tokens as it is"
               : task->question->criterion == RS_OUT_OF_RANGE
                   ? "%.0f tokens are in range for this base and every larger one"
                   : "the least base that reaches %.0f tokens",
               task->question->length);
  rs_solve_put_training(task, out);
  return RS_OK;
}

static rs_status find_length(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  if (task->question->criterion != RS_NTK_AWARE) return rs_solve_length(task, out, err);
  double factor;
  RS_TRY(rs_solve_need_length(task, err));
  RS_TRY(factor_of_base(task, &factor, err));
  rs_solve_put_value(out, task->train_length * factor);
  rs_solve_put(out, "means", "tokens: %g of training times the factor %.10g that makes base %g of %g",
               task->train_length, factor, task->question->base, task->model.rope_theta);
  return RS_OK;
}

static rs_status find_factor(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  double factor;
  if (task->question->criterion != RS_NTK_AWARE) return rs_solve_factor(task, out, err);
  RS_TRY(factor_of_base(task, &factor, err));
  rs_solve_put_value(out, factor);
  rs_solve_put(out, "means", "the factor that makes base %g of the %g of %s", task->question->base,
               task->model.rope_theta, task->model.name);
  return RS_OK;
}

/* What is judged, or what the model is published with, and the length that its publisher names. */
static rs_status put_recipe(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_text text = {0};
  bool judged = task->question->sought == RS_SOLVE_LENGTH;
  const rs_recipe *recipe = judged ? &task->recipe : &task->model.published;
  if (recipe->method == NULL) return RS_OK;
  rs_recipe_write(recipe, &text);
  size_t length = task->model.max_length;
  if (task->question->head_dim == 0 && judged) rs_text_printf(&text, " on %s", task->model.name);
  if (task->question->head_dim == 0 && length > 0)
    rs_text_printf(&text, judged ? ", which is published for %zu tokens" : " for %zu tokens", length);
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK) rs_solve_put(out, judged ? "recipe" : "published", "%s", rs_text_string(&text));
  rs_text_clear(&text);
  return status;
}

/* What no criterion reads. */
static void put_beside(const rs_solve_task *task, rs_solution *out) {
  const rs_layer_kind *kind = task->profile.kind_count > 0 ? &task->profile.kinds[task->kind] : NULL;
  const rs_lscale_kind *chosen = rs_lscale_chosen(&task->recipe.settings);
  if (kind != NULL && kind->mask.window > 0 && kind->compression == 0)
    rs_solve_put(out, "window", "these layers see %zu tokens whatever the context: farther distances do not occur",
                 kind->mask.window);
  if (chosen != NULL && task->question->sought == RS_SOLVE_LENGTH)
    rs_solve_put(out, "temperature", "logits are scaled by position (%s), which no criterion reads", chosen->kind.name);
}

/* What is published may be what the model was tuned with, which no criterion knows. */
rs_tuning rs_solve_tuning(const rs_solve_task *task) {
  const rs_question *q = task->question;
  const rs_method *method = task->recipe.method;
  bool published = q->sought == RS_SOLVE_LENGTH && q->head_dim == 0 && q->method == NULL && q->base == 0 &&
                   task->model.published.method != NULL;
  bool always = strcmp(method->name, "llama3") == 0 || strcmp(method->name, "longrope") == 0;
  if (!published || (!always && !rs_method_scaled(method))) return RS_NOT_TUNED; /* M-RoPE is no extension */
  if (task->profile.kind_count > 0 && task->profile.kinds[task->kind].tuned) return RS_TUNED_BY_FILE;
  return always ? RS_TUNED_BY_METHOD : RS_TUNED_UNSAID;
}

static void put_tuning(const rs_solve_task *task, rs_solution *out) {
  const char *method = task->recipe.method->name;
  static const char rest[] = "the criteria compare with plain RoPE at %g tokens, as if it was not; a tuned model "
                             "may do better";
  rs_tuning tuning = rs_solve_tuning(task);
  char whether[160];
  if (tuning == RS_NOT_TUNED) return;
  if (tuning == RS_TUNED_BY_METHOD)
    snprintf(whether, sizeof whether, "%s is published with models that were tuned with it", method);
  else
    snprintf(whether, sizeof whether, "%s",
             tuning == RS_TUNED_BY_FILE ? "the file says that the model was tuned with this recipe (finetuned: true)"
                                        : "whether the model was tuned with this recipe is not said");
  char line[300];
  snprintf(line, sizeof line, rest, task->train_length);
  rs_solve_put(out, "tuned", "%s: %s", whether, line);
}

static void put_doubt(const rs_solve_task *task, rs_solution *out) {
  if (task->profile.doubt != NULL) rs_solve_put(out, "guess", "%s", task->profile.doubt);
}

/* Which layers of the model it is of, where they turn in several ways. */
static rs_status put_layers(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_text text = {0};
  if (task->profile.kind_count == 0 || !rs_profile_mixed(&task->profile)) return RS_OK;
  rs_profile_write_choice(&task->profile, task->kind, &text);
  rs_solve_put(out, "layers", "%s", rs_text_string(&text));
  rs_status status = rs_text_check(&text, err);
  rs_text_clear(&text);
  return status;
}

rs_status rs_solve_answer(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_sought sought = task->question->sought;
  rs_status status = sought == RS_SOLVE_BASE     ? find_base(task, out, err)
                     : sought == RS_SOLVE_FACTOR ? find_factor(task, out, err)
                                                 : find_length(task, out, err);
  if (status != RS_OK) return status;
  RS_TRY(put_recipe(task, out, err));
  put_tuning(task, out);
  RS_TRY(put_layers(task, out, err));
  put_doubt(task, out);
  put_beside(task, out);
  rs_solve_put(out, "criterion", "%s", criteria[task->question->criterion]);
  rs_solve_put(out, "reference", "%s", references[task->question->criterion]);
  return RS_OK;
}
