/* What goes wrong in practice beyond one parameter with another value: keys exchanged, formulas of another port, a base
 * that is scaled already. Each is what some implementation or thread has; docs/commands.md lists them. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef rs_hypothesis_maker maker;

static const rs_value *set_value(const maker *make, const char *name) {
  int p = rs_settings_find(&make->from->recipe->settings, name);
  const rs_value *value = p >= 0 ? &make->from->recipe->settings.values[p] : NULL;
  return value != NULL && value->set ? value : NULL;
}

/* Two parameters with each other's values. */
static void swap(maker *make, const char *a, const char *b, const char *key) {
  const rs_value *first = set_value(make, a), *second = set_value(make, b);
  rs_hypothesis *hypothesis = first != NULL && second != NULL ? rs_hypothesis_add(make, key) : NULL;
  if (hypothesis == NULL) return;
  snprintf(hypothesis->what, sizeof hypothesis->what, "with %s and %s exchanged", a, b);
  rs_hypothesis_change(hypothesis, a, NULL);
  rs_hypothesis_change(hypothesis, b, NULL);
  hypothesis->changes[0].value = second;
  hypothesis->changes[1].value = first;
}

/* DeepSeek's two, each alone and both left out, are beyond one parameter at a time. */
static void leave_out_mscale(maker *make) {
  if (set_value(make, "mscale") == NULL || set_value(make, "mscale_all_dim") == NULL) return;
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, "mscale and mscale_all_dim");
  if (hypothesis == NULL) return;
  snprintf(hypothesis->what, sizeof hypothesis->what, "without mscale and mscale_all_dim");
  rs_hypothesis_change(hypothesis, "mscale", NULL);
  rs_hypothesis_change(hypothesis, "mscale_all_dim", NULL);
  rs_hypothesis_change(hypothesis, "mscale_softmax", "false");
}

void rs_hypotheses_factors(rs_hypothesis_maker *make) {
  double s = rs_compared_scale(make->from), length = rs_compared_train_length(make->from);
  const struct {
    double factor;
    const char *why;
  } known[] = {{0.1 * log(s) + 1, "0.1 ln s + 1"},
               {0.07 * log(s) + 1, "0.07 ln s + 1, telechat3's"},
               {sqrt(1 + log(s) / log(length)), "sqrt(1 + ln s / ln train_length), LongRoPE's"},
               {s, "s itself"}};
  if (!(s > 1) || rs_settings_find(&make->from->recipe->settings, "attention_factor") < 0) return;
  for (size_t i = 0; i < RS_COUNT(known); i++)
    rs_hypothesis_number(make, "attention_factor", known[i].factor, known[i].why);
}

/* A ladder that is NTK-aware scaled under the method, or whose exponents end at the last pair. */
static void other_ladders(maker *make) {
  const rs_value *given = set_value(make, "rope_theta"), *rotary = set_value(make, "rotary_dim");
  double theta = given != NULL ? given->number : make->from->model->rope_theta, s = rs_compared_scale(make->from);
  double dims = rotary != NULL ? rotary->number : (double)make->from->model->rotary_dim,
         grown = pow(s, dims / (dims - 2));
  if (dims <= 2) return;
  rs_hypothesis_number(make, "rope_theta", theta * grown, "on an NTK-aware base: theta s^(R/(R-2))");
  rs_hypothesis_number(make, "rope_theta", theta / grown, "without an NTK-aware base: theta / s^(R/(R-2))");
  rs_hypothesis_number(make, "rope_theta", pow(theta, dims / (dims - 2)), "as exponents over R - 2 make it");
}

/* Sections in another order, doubled as old code has them, or not read. */
static void other_sections(maker *make) {
  static const char *const orders[] = {"t, w, h", "h, t, w", "h, w, t", "w, t, h", "w, h, t"};
  static const int places[][RS_AXES] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const rs_value *own = set_value(make, "mrope_section");
  double sections[RS_AXES];
  bool listed = own != NULL && own->count == RS_AXES;
  for (size_t a = 0; a < RS_AXES; a++)
    sections[a] = listed ? own->list[a] : own == NULL ? (double)make->from->model->mrope_section[a] : 0;
  if (sections[0] + sections[1] + sections[2] == 0) return;
  for (size_t i = 0; i < RS_COUNT(orders); i++) {
    char text[48], why[48];
    const int *place = places[i];
    snprintf(text, sizeof text, "%g,%g,%g", sections[place[0]], sections[place[1]], sections[place[2]]);
    snprintf(why, sizeof why, "read as %s", orders[i]);
    rs_hypothesis_alter(make, "mrope_section", text, why);
  }
  rs_hypothesis_alter(make, "mrope_section", "none", "the sections are not read: text alone");
}

/* ---- the ramp that a table shows -----------------------------------------------------------------------------------
 */

/* Where the ramp begins and ends, in pairs: two pairs inside it lie on its line. False where fewer than three do, or
 * one is off it. */
static bool shown_ramp(const maker *make, double s, double *low, double *high) {
  const rs_spectrum *shown = make->other->spectrum;
  size_t first = 0, last = 0, inside = 0;
  double theta = rs_compared_theta(make->from), pairs = (double)shown->pairs, share[2] = {0};
  for (size_t j = 0; j < shown->pairs; j++) {
    double r = (1 - shown->omega[j] * pow(theta, (double)j / pairs)) / (1 - 1 / s);
    if (!(r > 1e-4 && r < 1 - 1e-4)) continue;
    if (inside++ == 0) first = j, share[0] = r;
    last = j, share[1] = r;
  }
  if (inside < 3 || last - first + 1 != inside || share[1] <= share[0]) return false;
  double slope = (share[1] - share[0]) / (double)(last - first);
  *low = (double)first - share[0] / slope;
  *high = *low + 1 / slope;
  return true;
}

/* The rotations of a pair; of a whole pair that was rounded, what is simplest of all that are rounded to it. */
static double beta_of(const maker *make, double pair, bool whole, double rounded_by) {
  double length = rs_compared_train_length(make->from), pairs = (double)make->from->spectrum->pairs;
  double theta = rs_compared_theta(make->from), at = length / (2 * M_PI) * pow(theta, -pair / pairs);
  double other = length / (2 * M_PI) * pow(theta, -(pair + rounded_by) / pairs);
  double least = fmin(at, other), most = fmax(at, other), power = exp2(floor(log2(most))),
         unit = pow(10, floor(log10(most)));
  if (!whole) return rint(at * 1e4) / 1e4;
  return power > least ? power : floor(most / unit) * unit > least ? floor(most / unit) * unit : sqrt(least * most);
}

static void other_betas(maker *make) {
  double s = rs_compared_scale(make->from), low, high;
  char fast[RS_NUMBER_CHARS], slow[RS_NUMBER_CHARS];
  const rs_value *truncate = set_value(make, "truncate");
  bool paper = truncate == NULL || make->from->spectrum->pairs != make->other->spectrum->pairs;
  if (paper || !(s > 1) || !shown_ramp(make, s, &low, &high)) return;
  bool whole = fabs(low - rint(low)) < 0.01 && fabs(high - rint(high)) < 0.01;
  if (whole) low = rint(low), high = rint(high);
  rs_number_format(beta_of(make, low, whole, 1), fast);
  rs_number_format(beta_of(make, high, whole, -1), slow);
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, "betas");
  if (hypothesis == NULL) return;
  snprintf(hypothesis->what, sizeof hypothesis->what,
           "with beta_fast: %.12s, beta_slow: %.12s, truncate: %s (as the ramp from pair %.4g to %.4g shows%s)", fast,
           slow, whole ? "true" : "false", low, high, whole ? ", or others that are rounded to these" : "");
  hypothesis->fitted = true;
  rs_hypothesis_change(hypothesis, "beta_fast", fast);
  rs_hypothesis_change(hypothesis, "beta_slow", slow);
  rs_hypothesis_change(hypothesis, "truncate", whole ? "true" : "false");
}

/* ---- lengths
 * --------------------------------------------------------------------------------------------------------- */

/* The length that a converter falls back to. */
static void other_lengths(maker *make) {
  const rs_method *method = make->from->recipe->method;
  if (strcmp(method->name, "llama3") == 0)
    rs_hypothesis_number(make, "train_length", 8192, "llama.cpp's where the outer key is missing");
}

void rs_hypotheses_mishaps(rs_hypothesis_maker *make) {
  swap(make, "low_freq_factor", "high_freq_factor", "low and high");
  swap(make, "short_factor", "long_factor", "short and long");
  leave_out_mscale(make);
  other_betas(make);
  other_ladders(make);
  other_sections(make);
  other_lengths(make);
}
