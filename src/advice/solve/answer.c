/* Answers by each criterion. Bases and lengths follow from formulas and searches (reach.c, metrics/m_base_bound.c).
 * Factors are searched, as methods differ in what they do with them; what is halved is an interval of yes and no, each
 * with a status: GSL's root finding takes functions that cannot fail. Frequencies that follow the length, or change at
 * one, are asked at each length for themselves: a context is served where those that it runs with serve it. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef rs_solve_task problem;

static const struct {
  const char *words, *reference;
} criteria[] = {
    {"first_violation: sum_j cos(m omega_j) >= 0 at every distance m of the context",
     "Base of RoPE bounds context length, arXiv:2405.14591, section 4; kexue.fm/archives/10122"},
    {"critical_dim: the first pair that did not go full circle in training has a period of the whole context",
     "Liu et al., arXiv:2310.05209, theorem 2"},
    {"ood: no pair that did not go full circle in training turns further than it did there",
     "Liu et al., arXiv:2310.05209; YaRN, arXiv:2309.00071, section 3.2"},
    {"ntk: NTK-aware scaling, base = trained base * factor^(R/(R-2))",
     "bloc97, 2023; YaRN, arXiv:2309.00071v2, section 3.1"},
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The number to ten digits, or as it is where a rounded one may be bad. */
static void put_value(rs_solution *out, double value) {
  out->value = value;
  snprintf(out->number, sizeof out->number, "%.10g", value);
}

static void put_exact(rs_solution *out, double value) {
  out->value = value;
  rs_number_format(value, out->number);
}

RS_PRINTF(3, 4) static void put(rs_solution *out, const char *name, const char *format, ...) {
  rs_remark *row = &out->rows[out->count++];
  va_list list;
  va_start(list, format);
  row->name = name;
  vsnprintf(row->text, sizeof row->text, format, list);
  va_end(list);
}

/* The first pair that did not go full circle in training, RS_DOMAIN where none is left, and what training had. */
static rs_status find_critical(const problem *p, size_t *pair, rs_err *err) {
  RS_TRY(rs_need_trained(p->model, p->train_length, err));
  *pair = rs_critical_pair(p->trained, p->pairs, p->train_length);
  if (*pair == p->pairs)
    return rs_fail(err, RS_DOMAIN, "every pair of %s went full circle in %g tokens: no length is out of reach",
                   p->model->name, p->train_length);
  if (*pair > 0) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "no pair went full circle in %g tokens, and no base slows pair 0", p->train_length);
}

static void put_training(const problem *p, rs_solution *out) {
  put(out, "training", "%s: base %g, %g tokens, in which %zu of %zu pairs went full circle", p->model->name,
      p->model->rope_theta, p->train_length, rs_critical_pair(p->trained, p->pairs, p->train_length), p->pairs);
}

/* ---- bases ------------------------------------------------------------------------------------------------------- */

static rs_status base_by_violation(const problem *p, rs_solution *out, rs_err *err) {
  static const size_t most_steps = 10000000; /* some minutes; a million tokens at 128 dims take 6e4 */
  double length = p->question->length, integer;
  rs_base_bound found;
  RS_TRY(rs_base_bound_find(2 * p->pairs, (size_t)length, most_steps, &found, err));
  if (isnan(found.base))
    return rs_fail(err, RS_DOMAIN, "the search was given up at base %.10g after %zu steps: it finds shorter lengths",
                   found.reached, found.steps);
  put_exact(out, found.base);
  put(out, "means", "the least base for %.0f tokens with %zu rotary dims; larger ones may be bad again", length,
      2 * p->pairs);
  RS_TRY(rs_solve_good_base(p, ceil(found.base), &integer, err));
  if (!isnan(integer)) put(out, "integer", "%.0f has no negative sum either", integer);
  put(out, "search", "%zu steps, of which all but %zu prove that they hold no good base; resolution %g of the base",
      found.steps, found.unproved, found.resolution);
  if (p->still > 0)
    put(out, "note", "the %zu pairs of a head that do not turn are left out; with them %s", p->still,
        p->still >= p->pairs ? "every base is good" : "smaller bases may be good, too");
  return RS_OK;
}

static rs_status find_base(const problem *p, rs_solution *out, rs_err *err) {
  size_t pair;
  double theta = p->model->rope_theta, length = p->question->length;
  bool critical = p->question->criterion == RS_CRITICAL_DIM;
  if (p->question->criterion == RS_FIRST_VIOLATION) return base_by_violation(p, out, err);
  RS_TRY(find_critical(p, &pair, err));
  double base = critical ? rs_base_critical(pair, p->pairs, length)
                         : rs_base_in_range(theta, pair, p->pairs, p->train_length, length);
  put_exact(out, fmax(base, theta));
  put(out, "means",
      base <= theta ? "the base of training reaches %.0f tokens as it is"
      : critical    ? "the least base that reaches %.0f tokens"
                    : "%.0f tokens are in range for this base and every larger one",
      length);
  put_training(p, out);
  return RS_OK;
}

/* ---- NTK-aware scaling ------------------------------------------------------------------------------------------- */

/* Between a length and the base of its factor, and what a base is worth, which the scaling only raises. */
static rs_status by_ntk(const problem *p, rs_solution *out, rs_err *err) {
  const rs_question *q = p->question;
  const char *name = p->model->name;
  double theta = p->model->rope_theta, trained = p->train_length, grown = fmax(1, q->length / trained);
  if (q->sought != RS_SOLVE_FACTOR) RS_TRY(rs_need_trained(p->model, trained, err));
  if (p->pairs < 2) return rs_fail(err, RS_DOMAIN, "one pair has no NTK-aware base: the exponent is R/(R-2)");
  double factor = rs_factor_ntk(theta, p->pairs, q->base);
  if (q->sought != RS_SOLVE_BASE && q->base < theta)
    return rs_fail(err, RS_DOMAIN, "base %g is below the %g of %s, and NTK-aware scaling raises it", q->base, theta,
                   name);
  switch (q->sought) {
  case RS_SOLVE_BASE:
    put_value(out, rs_base_ntk(theta, p->pairs, grown));
    if (q->length <= trained)
      put(out, "means", "the base of training reaches %.0f tokens as it is", q->length);
    else
      put(out, "means", "the base %g of %s scaled by a factor of %g", theta, name, grown);
    break;
  case RS_SOLVE_FACTOR:
    put_value(out, factor);
    put(out, "means", "the factor that makes base %g of the %g of %s", q->base, theta, name);
    break;
  case RS_SOLVE_LENGTH:
    put_value(out, trained * factor);
    put(out, "means", "tokens: %g of training times the factor %.10g that makes base %g of %g", trained, factor,
        q->base, theta);
  }
  return RS_OK;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* The search: its step, relative; where it ends; and to what it is refined. */
static const double factor_step = 1.001, most_factor = 1e4, factor_resolution = 1e-9;

/* What is searched, and where the factor before had a negative sum. */
typedef struct search {
  const problem *problem;
  rs_recipe recipe;
  const char *name; /* of the factor */
  uint64_t hint;
} search;

/* Whether the context is served at this factor. */
static rs_status serves(search *s, double factor, bool *good, rs_err *err) {
  RS_TRY(rs_recipe_set_number(&s->recipe, s->name, factor, err));
  RS_TRY(rs_recipe_check(&s->recipe, s->problem->model, err));
  return rs_solve_serves(s->problem, &s->recipe, s->problem->question->length, &s->hint, good, err);
}

/* Up from 1 in steps, then the last step by halves; in ten digits, or in as many as it takes where rounding to ten
 * loses the context. NaN where no factor serves. */
static rs_status search_factor(search *s, double *found, rs_err *err) {
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
  RS_TRY(serves(s, rs_ten_digits(factor), &good, err));
  *found = good ? rs_ten_digits(factor) : factor;
  return RS_OK;
}

static rs_status find_factor(const problem *p, rs_solution *out, rs_err *err) {
  bool given, sums = p->question->criterion == RS_FIRST_VIOLATION;
  const char *method = p->recipe->method->name, *name = rs_recipe_scale_name(p->recipe, &given);
  search s = {.problem = p, .name = name};
  double factor;
  size_t pair;
  if (name == NULL)
    return rs_fail(err, RS_INPUT, "%s has no factor (pi, ntk, critical_base, yarn, llama3 and others have)", method);
  if (given) return rs_fail(err, RS_INPUT, "the factor of %s is what is looked for: leave it out of --method", method);
  if (!sums) RS_TRY(find_critical(p, &pair, err));
  RS_TRY(rs_recipe_copy(&s.recipe, p->recipe, err));
  rs_status status = search_factor(&s, &factor, err);
  rs_recipe_clear(&s.recipe);
  if (status != RS_OK) return status;
  if (isnan(factor))
    return rs_fail(err, RS_DOMAIN, "no factor up to %g makes %s serve %.0f tokens", most_factor, method,
                   p->question->length);
  put_exact(out, factor);
  put(out, "means", "the least factor found with which %s serves %.0f tokens", method, p->question->length);
  put(out, "search", "up from 1 in steps of %g %%, the last one halved; windows narrower than a step may lie below",
      (factor_step - 1) * 100);
  if (!sums) put_training(p, out);
  return RS_OK;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* Where searches end, and marches over lengths that look at every distance of each; their step, relative. */
static const uint64_t most_length = RS_LONGEST_SOUGHT, most_march = (uint64_t)1 << 20;
static const double march_step = 1.02;

static rs_status changes_between(const problem *p, double a, double b, bool *changes, rs_err *err) {
  RS_OWNED(rs_spectrum) at_a = {0}, at_b = {0};
  RS_TRY(rs_solve_turn(p, p->recipe, a, &at_a, err));
  RS_TRY(rs_solve_turn(p, p->recipe, b, &at_b, err));
  *changes = memcmp(at_a.omega, at_b.omega, at_a.pairs * sizeof *at_a.omega) != 0;
  return RS_OK;
}

static void put_reach(const problem *p, double reach, rs_solution *out) {
  out->open = !(reach < (double)most_length);
  put_value(out, out->open ? (double)most_length : reach);
  put(out, "means",
      out->open                                   ? "tokens, and further: the search ends there"
      : p->question->criterion == RS_CRITICAL_DIM ? "tokens: the period of the critical pair"
                                                  : "tokens: the longest context that holds");
}

/* LongRoPE: one list of divisors up to a length, another beyond it. */
static rs_status switched(const problem *p, rs_solution *out, rs_err *err) {
  const rs_value *value = rs_setting(&p->recipe->settings, "switch_length");
  double at = value->set ? value->number : p->train_length, near = 0, far = 0, near_amp, far_amp;
  RS_TRY(rs_solve_reach(p, at, most_length, &near, &near_amp, err));
  RS_TRY(rs_solve_reach(p, at + 1, most_length, &far, &far_amp, err));
  put_reach(p, near < at ? near : fmax(at, far), out);
  put(out, "switch",
      "short_factor up to %.10g tokens, of which it serves %.10g; long_factor past them, which serves %.10g; cos and "
      "sin times %.6g and %.6g",
      at, fmin(near, at), fmin(far, (double)most_length), near_amp, far_amp);
  return RS_OK;
}

/* Up to the trained length s is 1, or L / L0 where it may be below 1; beyond it each length is asked. */
static rs_status following(const problem *p, rs_solution *out, rs_err *err) {
  bool sums = p->question->criterion == RS_FIRST_VIOLATION, below = rs_recipe_scale_auto(p->recipe), serving = true;
  double most = (double)(sums ? most_march : most_length), good = 0, bad, reach = p->train_length, amp;
  uint64_t hint = 0;
  if (!below) RS_TRY(rs_solve_reach(p, p->train_length, most_length, &reach, &amp, err));
  if (reach < p->train_length) {
    put_reach(p, reach, out);
    return RS_OK;
  }
  for (bad = below ? 1 : p->train_length; serving && bad < most; bad = fmax(bad + 1, floor(bad * march_step))) {
    RS_TRY(rs_solve_serves(p, p->recipe, bad, &hint, &serving, err));
    if (!serving) break;
    good = bad;
  }
  while (!serving && bad - good > 1) {
    double middle = floor((good + bad) / 2);
    bool holds;
    RS_TRY(rs_solve_serves(p, p->recipe, middle, &hint, &holds, err));
    *(holds ? &good : &bad) = middle;
  }
  put_value(out, serving ? most : good);
  out->open = serving;
  put(out, "means",
      serving ? "tokens, and further: the march ends there"
              : "tokens: the longest context up to which all that were asked hold");
  put(out, "search", "the frequencies follow the length: lengths in steps of %g %%, the last one halved",
      (march_step - 1) * 100);
  return RS_OK;
}

/* Published files may say no length: plain tables need none. */
static rs_status find_length(const problem *p, rs_solution *out, rs_err *err) {
  bool changes, longrope = strcmp(p->recipe->method->name, "longrope") == 0;
  bool sums = p->question->criterion == RS_FIRST_VIOLATION;
  double least = fmax(1, p->train_length), reach = 0, amp;
  size_t pair;
  if (!sums) RS_TRY(find_critical(p, &pair, err));
  RS_TRY(changes_between(p, least, 16 * least, &changes, err));
  if (changes) {
    RS_TRY(longrope ? switched(p, out, err) : following(p, out, err));
  } else {
    RS_TRY(rs_solve_reach(p, least, most_length, &reach, &amp, err));
    put_reach(p, reach, out);
  }
  if (!sums) put_training(p, out);
  return RS_OK;
}

/* ---- what an answer says beside the number ----------------------------------------------------------------------- */

static void put_tuning(const problem *p, rs_solution *out) {
  static const char *const whether[] = {[RS_TUNED_UNSAID] = "whether the model was tuned with this recipe is not said",
                                        [RS_TUNED_BY_FILE] =
                                            "the file says that the model was tuned with this recipe (finetuned: true)",
                                        [RS_TUNED_BY_METHOD] = " is published with models that were tuned with it"};
  rs_tuning tuning = rs_solve_tuning(p);
  if (tuning == RS_NOT_TUNED) return;
  put(out, "tuned",
      "%s%s: the criteria compare with plain RoPE at %g tokens, as if it was not; a tuned model may do better",
      tuning == RS_TUNED_BY_METHOD ? p->recipe->method->name : "", whether[tuning], p->train_length);
}

/* What is judged, or what the model is published with, and the length that its publisher names; which layers of the
 * model it is of, where they turn in several ways; and what no criterion reads. */
static rs_status put_beside(const problem *p, rs_solution *out, rs_err *err) {
  RS_OWNED(rs_text) text = {0}, choice = {0};
  bool judged = p->question->sought == RS_SOLVE_LENGTH, named = p->question->head_dim == 0;
  const rs_recipe *recipe = judged ? p->recipe : &p->model->published;
  const rs_lscale_kind *scaled = rs_lscale_chosen(&p->recipe->settings);
  const rs_profile *profile = &p->subject.profile;
  size_t length = p->model->max_length, window = rs_window_of(p->layers);
  if (recipe->method != NULL) {
    rs_recipe_write(recipe, &text);
    if (named && judged) rs_text_printf(&text, " on %s", p->model->name);
    if (named && length > 0)
      rs_text_printf(&text, judged ? ", which is published for %zu tokens" : " for %zu tokens", length);
    put(out, judged ? "recipe" : "published", "%s", rs_text_string(&text));
  }
  put_tuning(p, out);
  if (p->layers != NULL && rs_profile_mixed(profile)) {
    rs_profile_write_choice(profile, p->subject.kind, &choice);
    put(out, "layers", "%s", rs_text_string(&choice));
  }
  if (profile->doubt != NULL) put(out, "guess", "%s", profile->doubt);
  if (window > 0)
    put(out, "window", "these layers see %zu tokens whatever the context: farther distances do not occur", window);
  if (scaled != NULL && judged)
    put(out, "temperature", "logits are scaled by position (%s), which no criterion reads", scaled->kind.name);
  return rs_text_check(text.failed ? &text : &choice, err);
}

static rs_status answer(const problem *p, rs_solution *out, rs_err *err) {
  const rs_criterion criterion = p->question->criterion;
  rs_sought sought = p->question->sought;
  RS_TRY(criterion == RS_NTK_AWARE   ? by_ntk(p, out, err)
         : sought == RS_SOLVE_BASE   ? find_base(p, out, err)
         : sought == RS_SOLVE_FACTOR ? find_factor(p, out, err)
                                     : find_length(p, out, err));
  RS_TRY(put_beside(p, out, err));
  put(out, "criterion", "%s", criteria[criterion].words);
  put(out, "reference", "%s", criteria[criterion].reference);
  return RS_OK;
}

rs_status rs_solve(const rs_question *question, rs_solution *solution, rs_problems *problems, rs_err *err) {
  RS_OWNED(rs_solve_task) task = {0};
  *solution = (rs_solution){0};
  RS_TRY(rs_solve_task_read(question, &task, problems, err));
  return answer(&task, solution, err);
}
