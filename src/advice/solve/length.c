/* The length that a recipe serves. Frequencies that follow the length, or change at one, are asked at each length for
 * themselves: a context is served where those that it runs with serve it. */
#include "task.h"

#include <math.h>
#include <string.h>

/* Where searches end, and marches over lengths that look at every distance of each. */
static const uint64_t most_length = RS_LONGEST_SOUGHT, most_march = (uint64_t)1 << 20;

static const double march_step = 1.02; /* relative */

static bool by_violation(const rs_solve_task *task) {
  return task->question->criterion == RS_FIRST_VIOLATION;
}

/* Published files may say no length: plain tables need none. */
static double least_length(const rs_solve_task *task) {
  return fmax(1, task->train_length);
}

static rs_status changes_between(const rs_solve_task *task, double a, double b, bool *changes, rs_err *err) {
  rs_spectrum at_a = {0}, at_b = {0};
  rs_status status = rs_solve_turn(task, &task->recipe, a, &at_a, err);
  if (status == RS_OK) status = rs_solve_turn(task, &task->recipe, b, &at_b, err);
  *changes = status == RS_OK && memcmp(at_a.omega, at_b.omega, at_a.pairs * sizeof *at_a.omega) != 0;
  rs_spectrum_clear(&at_a);
  rs_spectrum_clear(&at_b);
  return status;
}

/* Tokens that the frequencies of one length serve, and what is on cos and sin there. */
static rs_status reach_at(const rs_solve_task *task, double length, double *reach, double *amp, rs_err *err) {
  rs_spectrum spectrum;
  RS_TRY(rs_solve_turn(task, &task->recipe, length, &spectrum, err));
  *amp = spectrum.amp;
  rs_status status = rs_solve_reach(task, &spectrum, most_length, reach, err);
  rs_spectrum_clear(&spectrum);
  return status;
}

static void put_reach(const rs_solve_task *task, double reach, rs_solution *out) {
  bool all = !(reach < (double)most_length);
  rs_solve_put_value(out, all ? (double)most_length : reach);
  out->open = all;
  rs_solve_put(out, "means",
               all                                            ? "tokens, and further: the search ends there"
               : task->question->criterion == RS_CRITICAL_DIM ? "tokens: the period of the critical pair"
                                                              : "tokens: the longest context that holds");
}

static rs_status fixed(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  double reach = 0, amp;
  RS_TRY(reach_at(task, least_length(task), &reach, &amp, err));
  put_reach(task, reach, out);
  return RS_OK;
}

/* ---- LongRoPE: one list of divisors up to a length, another beyond it -------------------------------------------- */

static double switch_of(const rs_solve_task *task) {
  const rs_value *value = rs_setting(&task->recipe.settings, "switch_length");
  return value->set ? value->number : task->train_length;
}

static rs_status switched(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  double at = switch_of(task), near = 0, far = 0, near_amp, far_amp;
  RS_TRY(reach_at(task, at, &near, &near_amp, err));
  RS_TRY(reach_at(task, at + 1, &far, &far_amp, err));
  put_reach(task, near < at ? near : fmax(at, far), out);
  rs_solve_put(out, "switch",
               "short_factor up to %.10g tokens, of which it serves %.10g; long_factor past them, which serves %.10g; "
               "cos and sin times %.6g and %.6g",
               at, fmin(near, at), fmin(far, (double)most_length), near_amp, far_amp);
  return RS_OK;
}

/* ---- rules by length --------------------------------------------------------------------------------------------- */

static rs_status serves(const rs_solve_task *task, double length, uint64_t *hint, bool *good, rs_err *err) {
  rs_spectrum spectrum;
  RS_TRY(rs_solve_turn(task, &task->recipe, length, &spectrum, err));
  rs_status status = rs_solve_serves(task, &spectrum, length, hint, good, err);
  rs_spectrum_clear(&spectrum);
  return status;
}

/* Up to the trained length s is 1, or L / L0 where it may be below 1; beyond it each length is asked. */
static rs_status following(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  double most = (double)(by_violation(task) ? most_march : most_length), good = 0, bad, reach = 0, amp;
  bool serving = true;
  uint64_t hint = 0;
  bool below = rs_recipe_scale_auto(&task->recipe);
  if (!below) {
    RS_TRY(reach_at(task, task->train_length, &reach, &amp, err));
    if (reach < task->train_length) {
      put_reach(task, reach, out);
      return RS_OK;
    }
  }
  for (bad = below ? 1 : task->train_length; serving && bad < most; bad = fmax(bad + 1, floor(bad * march_step))) {
    RS_TRY(serves(task, bad, &hint, &serving, err));
    if (!serving) break;
    good = bad;
  }
  while (!serving && bad - good > 1) {
    double middle = floor((good + bad) / 2);
    bool holds;
    RS_TRY(serves(task, middle, &hint, &holds, err));
    *(holds ? &good : &bad) = middle;
  }
  rs_solve_put_value(out, serving ? most : good);
  out->open = serving;
  rs_solve_put(out, "means",
               serving ? "tokens, and further: the march ends there"
                       : "tokens: the longest context up to which all that were asked hold");
  rs_solve_put(out, "search", "the frequencies follow the length: lengths in steps of %g %%, the last one halved",
               (march_step - 1) * 100);
  return RS_OK;
}

rs_status rs_solve_length(const rs_solve_task *task, rs_solution *out, rs_err *err) {
  bool changes;
  if (!by_violation(task)) RS_TRY(rs_solve_need_critical(task, err));
  RS_TRY(changes_between(task, least_length(task), 16 * least_length(task), &changes, err));
  bool longrope = strcmp(task->recipe.method->name, "longrope") == 0;
  RS_TRY(!changes ? fixed(task, out, err) : longrope ? switched(task, out, err) : following(task, out, err));
  if (!by_violation(task)) rs_solve_put_training(task, out);
  return RS_OK;
}
