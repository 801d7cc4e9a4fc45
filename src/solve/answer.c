/* Answers by each criterion. Bases and lengths follow from formulas and searches (reach.c, metrics/base_bound.c); a
 * factor is searched, as methods differ in what they do with it. */
#include "task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer contexts than any table of the program. */
static const uint64_t most_length = (uint64_t)1 << 28;

/* Of the march of the least base; a million tokens at 128 dims take 6e4. Some minutes. */
static const size_t most_steps = 10000000;

/* The search of a factor: its step, relative; where it ends; and to what it is refined. */
static const double factor_step = 1.001, most_factor = 1e4, factor_resolution = 1e-9;

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

/* The number to ten digits, or as it is where a rounded one may be bad. */
static void put_value(rs_solution *out, double value) {
  out->value = value;
  snprintf(out->number, sizeof out->number, "%.10g", value);
}

static void put_exact(rs_solution *out, double value) {
  out->value = value;
  rs_number_format(value, out->number);
}

static void put_row(rs_solution *out, const char *name, const char *format, ...) RS_PRINTF(3, 4);
static void put_row(rs_solution *out, const char *name, const char *format, ...) {
  rs_remark *row = &out->rows[out->count++];
  va_list list;
  va_start(list, format);
  row->name = name;
  vsnprintf(row->text, sizeof row->text, format, list);
  va_end(list);
}

/* ---- what training has left -------------------------------------------------------------------------------------- */

static size_t critical_of(const rs_solve_task *task) {
  return rs_critical_pair(task->trained, task->pairs, task->train_length);
}

static rs_status need_critical(const rs_solve_task *task, rs_err *err) {
  size_t pair = critical_of(task);
  if (pair == task->pairs)
    return rs_fail(err, RS_DOMAIN, "every pair of %s went full circle in %g tokens: no length is out of reach",
                   task->model.name, task->train_length);
  if (pair == 0)
    return rs_fail(err, RS_DOMAIN, "no pair went full circle in %g tokens, and no base slows pair 0",
                   task->train_length);
  return RS_OK;
}

static void put_training(const rs_solve_task *task, rs_solution *out) {
  size_t pair = critical_of(task);
  put_row(out, "training", "%s: base %g, %g tokens, in which %zu of %zu pairs went full circle", task->model.name,
          task->model.rope_theta, task->train_length, pair, task->pairs);
}

/* ---- bases ------------------------------------------------------------------------------------------------------- */

static rs_status base_by_violation(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_base_bound found;
  RS_TRY(rs_base_bound_find(2 * task->pairs, (size_t)task->question->length, most_steps, &found, err));
  if (isnan(found.base))
    return rs_fail(err, RS_DOMAIN, "the search was given up at base %.10g after %zu steps: it finds shorter lengths",
                   found.reached, found.steps);
  put_exact(out, found.base);
  put_row(out, "means", "the least base for %.0f tokens with %zu rotary dims; larger ones may be bad again",
          task->question->length, 2 * task->pairs);
  put_row(out, "search", "%zu steps, of which all but %zu prove that they hold no good base; resolution %g of the base",
          found.steps, found.unproved, found.resolution);
  if (task->still > 0)
    put_row(out, "note", "the %zu pairs of a head that do not turn are left out; with them %s", task->still,
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
  return rs_fail(err, RS_DOMAIN, "--base %g is below the %g of %s, and NTK-aware scaling raises it",
                 task->question->base, task->model.rope_theta, task->model.name);
}

static rs_status base_by_ntk(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  RS_TRY(need_ntk_pairs(task, err));
  double factor = fmax(1, task->question->length / task->train_length);
  put_value(out, rs_base_ntk(task->model.rope_theta, task->pairs, factor));
  if (task->question->length <= task->train_length)
    put_row(out, "means", "the base of training reaches %.0f tokens as it is", task->question->length);
  else
    put_row(out, "means", "the base %g of %s scaled by a factor of %g", task->model.rope_theta, task->model.name,
            factor);
  return RS_OK;
}

static rs_status find_base(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  if (task->question->criterion == RS_FIRST_VIOLATION) return base_by_violation(task, out, err);
  if (task->question->criterion == RS_NTK_AWARE) return base_by_ntk(task, out, err);
  RS_TRY(need_critical(task, err));
  size_t pair = critical_of(task);
  double base =
      task->question->criterion == RS_CRITICAL_DIM
          ? rs_base_critical(pair, task->pairs, task->question->length)
          : rs_base_in_range(task->model.rope_theta, pair, task->pairs, task->train_length, task->question->length);
  bool enough = base <= task->model.rope_theta;
  put_value(out, enough ? task->model.rope_theta : base);
  put_row(out, "means",
          enough                                         ? "the base of training reaches %.0f tokens as it is"
          : task->question->criterion == RS_OUT_OF_RANGE ? "%.0f tokens are in range for this base and every larger one"
                                                         : "the least base that reaches %.0f tokens",
          task->question->length);
  put_training(task, out);
  return RS_OK;
}

/* ---- how far a recipe reaches ------------------------------------------------------------------------------------ */

/* The frequencies at one length. RS_UNSUPPORTED for methods that do more than turn pairs by the distance. */
static rs_status turn_at(const rs_solve_task *task, const rs_recipe *recipe, double length, rs_spectrum *spectrum,
                         rs_err *err) {
  RS_TRY(rs_spectrum_make(recipe, &task->model, (size_t)length, spectrum, err));
  rs_status status = RS_OK;
  if (spectrum->beyond != NULL && *spectrum->beyond != '\0')
    status = rs_fail(err, RS_UNSUPPORTED, "%s does more than turn pairs (%.200s): solve knows frequencies alone",
                     recipe->method->name, spectrum->beyond);
  if (status == RS_OK && task->trained != NULL && spectrum->pairs != task->pairs)
    status = rs_fail(err, RS_UNSUPPORTED, "the recipe turns %zu pairs and the model %zu", spectrum->pairs, task->pairs);
  if (status != RS_OK) rs_spectrum_clear(spectrum);
  return status;
}

/* Tokens that the frequencies serve, up to `most`. */
static rs_status reach_of(const rs_solve_task *task, const rs_spectrum *spectrum, uint64_t most, double *reach,
                          rs_err *err) {
  rs_turning turning = {spectrum->omega, task->trained, spectrum->pairs, spectrum->head_dim / 2 - spectrum->pairs,
                        task->train_length};
  uint64_t length;
  if (task->question->criterion == RS_CRITICAL_DIM) *reach = rs_reach_critical(&turning);
  if (task->question->criterion == RS_OUT_OF_RANGE) *reach = rs_reach_in_range(&turning);
  if (task->question->criterion != RS_FIRST_VIOLATION) return RS_OK;
  RS_TRY(rs_reach_first_violation(&turning, most, &length, err));
  *reach = (double)length;
  return RS_OK;
}

/* Frequencies that follow the length have no longest one. */
static rs_status need_fixed(const rs_solve_task *task, const rs_spectrum *spectrum, rs_err *err) {
  rs_spectrum longer;
  RS_TRY(turn_at(task, &task->recipe, 16 * task->train_length, &longer, err));
  bool same = memcmp(longer.omega, spectrum->omega, spectrum->pairs * sizeof *longer.omega) == 0;
  rs_spectrum_clear(&longer);
  if (same) return RS_OK;
  return rs_fail(err, RS_INPUT, "the frequencies of %s follow the length: fix them, as in {name: yarn, factor: 8}",
                 task->recipe.method->name);
}

static rs_status length_of_recipe(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_spectrum spectrum;
  double reach = 0;
  if (task->question->criterion != RS_FIRST_VIOLATION) RS_TRY(need_critical(task, err));
  RS_TRY(turn_at(task, &task->recipe, task->train_length, &spectrum, err));
  rs_status status = need_fixed(task, &spectrum, err);
  if (status == RS_OK) status = reach_of(task, &spectrum, most_length, &reach, err);
  rs_spectrum_clear(&spectrum);
  if (status != RS_OK) return status;
  bool all = !(reach < (double)most_length);
  put_value(out, all ? (double)most_length : reach);
  put_row(out, "means",
          all                                            ? "tokens, and further: the search ends there"
          : task->question->criterion == RS_CRITICAL_DIM ? "tokens: the period of the critical pair"
                                                         : "tokens: the longest context that holds");
  if (task->question->criterion != RS_FIRST_VIOLATION) put_training(task, out);
  return RS_OK;
}

static rs_status find_length(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  if (task->question->criterion != RS_NTK_AWARE) return length_of_recipe(task, out, err);
  double factor;
  RS_TRY(factor_of_base(task, &factor, err));
  put_value(out, task->train_length * factor);
  put_row(out, "means", "tokens: %g of training times the factor %.10g that makes base %g of %g", task->train_length,
          factor, task->question->base, task->model.rope_theta);
  return RS_OK;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Whether the context is served at this factor. */
static rs_status serves(const rs_solve_task *task, rs_recipe *recipe, const char *name, double factor, bool *good,
                        rs_err *err) {
  char text[RS_NUMBER_CHARS];
  rs_spectrum spectrum;
  double reach = 0;
  rs_number_format(factor, text);
  RS_TRY(rs_recipe_set(recipe, name, text, err));
  RS_TRY(rs_recipe_check(recipe, &task->model, err));
  RS_TRY(turn_at(task, recipe, task->question->length, &spectrum, err));
  rs_status status = reach_of(task, &spectrum, (uint64_t)task->question->length, &reach, err);
  rs_spectrum_clear(&spectrum);
  *good = reach >= task->question->length;
  return status;
}

/* The factor in ten digits, or in as many as it takes where rounding to ten loses the context. */
static rs_status shorten(const rs_solve_task *task, rs_recipe *recipe, const char *name, double factor, double *shorter,
                         rs_err *err) {
  char text[32];
  bool good = false;
  *shorter = factor;
  snprintf(text, sizeof text, "%.10g", factor);
  if (rs_number_read(text, shorter)) RS_TRY(serves(task, recipe, name, *shorter, &good, err));
  if (!good) *shorter = factor;
  return RS_OK;
}

/* Up from 1 in steps, then the last step by halves. NaN where no factor serves. */
static rs_status search_factor(const rs_solve_task *task, rs_recipe *recipe, const char *name, double *found,
                               rs_err *err) {
  double bad = 1, factor = 1;
  bool good = false;
  *found = NAN;
  for (; factor < most_factor; bad = factor, factor *= factor_step) {
    RS_TRY(serves(task, recipe, name, factor, &good, err));
    if (good) break;
  }
  if (!good) return RS_OK;
  while (factor - bad > factor_resolution * factor) {
    double middle = (bad + factor) / 2;
    RS_TRY(serves(task, recipe, name, middle, &good, err));
    *(good ? &factor : &bad) = middle;
  }
  return shorten(task, recipe, name, factor, found, err);
}

static rs_status factor_of_recipe(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  bool given;
  const char *method = task->recipe.method->name, *name = rs_recipe_scale_name(&task->recipe, &given);
  rs_recipe recipe;
  double factor;
  if (name == NULL)
    return rs_fail(err, RS_INPUT, "%s has no factor (pi, ntk, critical_base, yarn, llama3 and others have)", method);
  if (given) return rs_fail(err, RS_INPUT, "the factor of %s is what is looked for: leave it out of --method", method);
  if (task->question->criterion != RS_FIRST_VIOLATION) RS_TRY(need_critical(task, err));
  RS_TRY(rs_recipe_copy(&recipe, &task->recipe, err));
  rs_status status = search_factor(task, &recipe, name, &factor, err);
  rs_recipe_clear(&recipe);
  if (status != RS_OK) return status;
  if (isnan(factor))
    return rs_fail(err, RS_DOMAIN, "no factor up to %g makes %s serve %.0f tokens", most_factor, method,
                   task->question->length);
  put_exact(out, factor);
  put_row(out, "means", "the least factor found with which %s serves %.0f tokens", method, task->question->length);
  put_row(out, "search", "up from 1 in steps of %g %%, the last one halved; windows narrower than a step may lie below",
          (factor_step - 1) * 100);
  if (task->question->criterion != RS_FIRST_VIOLATION) put_training(task, out);
  return RS_OK;
}

static rs_status find_factor(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  double factor;
  if (task->question->criterion != RS_NTK_AWARE) return factor_of_recipe(task, out, err);
  RS_TRY(factor_of_base(task, &factor, err));
  put_value(out, factor);
  put_row(out, "means", "the factor that makes base %g of the %g of %s", task->question->base, task->model.rope_theta,
          task->model.name);
  return RS_OK;
}

/* What is judged, and the length that its publisher names. */
static rs_status put_recipe(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_text text = {0};
  rs_recipe_write(&task->recipe, &text);
  if (task->question->head_dim == 0)
    rs_text_printf(&text, " on %s, which is published for %zu tokens", task->model.name, task->model.max_length);
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK) put_row(out, "recipe", "%s", rs_text_string(&text));
  rs_text_clear(&text);
  return status;
}

/* Which layers of the model it is of, where they turn in several ways. */
static rs_status put_layers(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  rs_text text = {0};
  if (task->profile.kind_count == 0 || !rs_profile_mixed(&task->profile)) return RS_OK;
  rs_profile_write_choice(&task->profile, task->kind, &text);
  put_row(out, "layers", "%s", rs_text_string(&text));
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
  if (sought == RS_SOLVE_LENGTH) RS_TRY(put_recipe(task, out, err));
  RS_TRY(put_layers(task, out, err));
  put_row(out, "criterion", "%s", criteria[task->question->criterion]);
  put_row(out, "reference", "%s", references[task->question->criterion]);
  return RS_OK;
}
