/* What goes wrong in practice beyond one parameter with another value: keys exchanged, formulas of another port, a base
 * that is scaled already; and what is done to a finished table, whatever recipe it is of. Each is what some
 * implementation or thread has; docs/commands.md lists them. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef rs_hypothesis_maker maker;

/* ---- a side, and changes of it ----------------------------------------------------------------------------------- */

double rs_compared_train_length(const rs_compared *side) {
  return rs_recipe_train_length(side->recipe, side->model);
}

double rs_compared_scale(const rs_compared *side) {
  if (!rs_method_scaled(side->recipe->method)) return NAN;
  return rs_scale_resolve(&side->recipe->settings, (double)side->length, rs_compared_train_length(side));
}

double rs_compared_theta(const rs_compared *side) {
  const rs_value *theta = rs_setting(&side->recipe->settings, "rope_theta");
  return theta->set ? theta->number : side->model->rope_theta;
}

double rs_ramp_pair(const rs_compared *side, double rotations) {
  double length = rs_compared_train_length(side);
  return (double)side->spectrum->pairs * log(length / (2 * M_PI * rotations)) / log(rs_compared_theta(side));
}

rs_hypothesis *rs_hypothesis_add(rs_hypothesis_maker *make, const char *key, const char *format, ...) {
  va_list words;
  if (make->count == RS_HYPOTHESES) return NULL;
  rs_hypothesis *hypothesis = &make->list[make->count++];
  *hypothesis = (rs_hypothesis){0};
  snprintf(hypothesis->key, sizeof hypothesis->key, "%s", key);
  va_start(words, format);
  vsnprintf(hypothesis->what, sizeof hypothesis->what, format, words);
  va_end(words);
  return hypothesis;
}

void rs_hypothesis_change(rs_hypothesis *hypothesis, const char *param, const char *text) {
  if (hypothesis == NULL || hypothesis->count == RS_CHANGES) return;
  rs_change *added = &hypothesis->changes[hypothesis->count++];
  added->param = param;
  snprintf(added->text, sizeof added->text, "%s", text != NULL ? text : "");
}

/* A value as a message has it: long lists by their length. */
void rs_compared_own(rs_hypothesis_maker *make, const rs_compared *side, size_t index, char *out, size_t size) {
  const rs_settings *settings = &side->recipe->settings;
  const rs_value *value = &settings->values[index];
  const rs_model *model = side->model;
  const char *name = settings->params[index]->name;
  RS_OWNED(rs_text) text = {0};
  if (value->set && value->count > 4)
    rs_text_printf(&text, "a list of %zu", value->count);
  else if (!value->set && strcmp(name, "train_length") == 0)
    rs_text_printf(&text, "%zu", model->train_length);
  else if (!value->set && strcmp(name, "rotary_dim") == 0)
    rs_text_printf(&text, "%zu", model->rotary_dim);
  else if (!value->set && strcmp(name, "rope_theta") == 0)
    rs_text_printf(&text, "%.15g", model->rope_theta);
  else if (!value->set && strcmp(name, "pair_layout") == 0)
    rs_text_puts(&text, model->pair_layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  else
    rs_value_write(settings->params[index], value, &text);
  snprintf(out, size, "%s", rs_text_string(&text));
  make->starved |= text.failed;
}

rs_hypothesis *rs_hypothesis_alter(rs_hypothesis_maker *make, const char *name, const char *text, const char *why) {
  int index = rs_settings_find(&make->from->recipe->settings, name);
  const char *new = text != NULL ? text : "none";
  char old[64];
  if (index < 0) return NULL;
  rs_compared_own(make, make->from, (size_t)index, old, sizeof old);
  if (strcmp(old, new) == 0) return NULL;
  rs_hypothesis *hypothesis =
      rs_hypothesis_add(make, name, "with %s: %.60s (%s%s@ has %s)", name, new, why, *why != '\0' ? "; " : "", old);
  rs_hypothesis_change(hypothesis, name, text);
  return hypothesis;
}

void rs_hypothesis_number(rs_hypothesis_maker *make, const char *name, double number, const char *why) {
  char text[RS_NUMBER_CHARS];
  rs_number_format(number, text);
  if (isfinite(number)) rs_hypothesis_alter(make, name, text, why);
}

/* ---- mishaps ----------------------------------------------------------------------------------------------------- */

static const rs_value *set_value(const maker *make, const char *name) {
  int p = rs_settings_find(&make->from->recipe->settings, name);
  const rs_value *value = p >= 0 ? &make->from->recipe->settings.values[p] : NULL;
  return value != NULL && value->set ? value : NULL;
}

/* Two parameters with each other's values. */
static void swap(maker *make, const char *a, const char *b, const char *key) {
  const rs_value *first = set_value(make, a), *second = set_value(make, b);
  if (first == NULL || second == NULL) return;
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, key, "with %s and %s exchanged", a, b);
  if (hypothesis == NULL) return;
  rs_hypothesis_change(hypothesis, a, NULL);
  rs_hypothesis_change(hypothesis, b, NULL);
  hypothesis->changes[0].value = second;
  hypothesis->changes[1].value = first;
}

/* DeepSeek's two, each alone and both left out, are beyond one parameter at a time. */
static void leave_out_mscale(maker *make) {
  if (set_value(make, "mscale") == NULL || set_value(make, "mscale_all_dim") == NULL) return;
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, "mscale and mscale_all_dim", "without mscale and mscale_all_dim");
  rs_hypothesis_change(hypothesis, "mscale", NULL);
  rs_hypothesis_change(hypothesis, "mscale_all_dim", NULL);
  rs_hypothesis_change(hypothesis, "mscale_softmax", "false");
}

void rs_hypotheses_factors(rs_hypothesis_maker *make) {
  double s = rs_compared_scale(make->from), length = rs_compared_train_length(make->from);
  const struct {
    double factor;
    const char *why;
  } known[] = {{rs_yarn_magnitude(1, s), "0.1 ln s + 1"},
               {0.07 * log(s) + 1, "0.07 ln s + 1, telechat3's"},
               {rs_longrope_magnitude(s, length), "sqrt(1 + ln s / ln train_length), LongRoPE's"},
               {s, "s itself"}};
  if (!(s > 1) || rs_settings_find(&make->from->recipe->settings, "attention_factor") < 0) return;
  for (size_t i = 0; i < RS_COUNT(known); i++)
    rs_hypothesis_number(make, "attention_factor", known[i].factor, known[i].why);
}

/* A ladder that is NTK-aware scaled under the method, or whose exponents end at the last pair. */
static void other_ladders(maker *make) {
  const rs_value *rotary = set_value(make, "rotary_dim");
  double theta = rs_compared_theta(make->from), s = rs_compared_scale(make->from);
  double dims = rotary != NULL ? rotary->number : (double)make->from->model->rotary_dim, power = dims / (dims - 2);
  if (dims <= 2) return;
  rs_hypothesis_number(make, "rope_theta", theta * pow(s, power), "on an NTK-aware base: theta s^(R/(R-2))");
  rs_hypothesis_number(make, "rope_theta", theta / pow(s, power), "without an NTK-aware base: theta / s^(R/(R-2))");
  rs_hypothesis_number(make, "rope_theta", pow(theta, power), "as exponents over R - 2 make it");
}

/* Sections in another order, doubled as old code has them, or not read. */
static void other_sections(maker *make) {
  static const int places[][RS_AXES] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const rs_value *own = set_value(make, "mrope_section");
  double sections[RS_AXES];
  bool listed = own != NULL && own->count == RS_AXES;
  for (size_t a = 0; a < RS_AXES; a++)
    sections[a] = listed ? own->list[a] : own == NULL ? (double)make->from->model->mrope_section[a] : 0;
  if (sections[0] + sections[1] + sections[2] == 0) return;
  for (size_t i = 0; i < RS_COUNT(places); i++) {
    char text[48], why[48];
    const int *place = places[i];
    snprintf(text, sizeof text, "%g,%g,%g", sections[place[0]], sections[place[1]], sections[place[2]]);
    snprintf(why, sizeof why, "read as %c, %c, %c", "thw"[place[0]], "thw"[place[1]], "thw"[place[2]]);
    rs_hypothesis_alter(make, "mrope_section", text, why);
  }
  rs_hypothesis_alter(make, "mrope_section", "none", "the sections are not read: text alone");
}

/* ---- the ramp that a table shows --------------------------------------------------------------------------------- */

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
  rs_hypothesis *hypothesis = rs_hypothesis_add(
      make, "betas",
      "with beta_fast: %.12s, beta_slow: %.12s, truncate: %s (as the ramp from pair %.4g to %.4g shows%s)", fast, slow,
      whole ? "true" : "false", low, high, whole ? ", or others that are rounded to these" : "");
  if (hypothesis == NULL) return;
  hypothesis->fitted = true;
  rs_hypothesis_change(hypothesis, "beta_fast", fast);
  rs_hypothesis_change(hypothesis, "beta_slow", slow);
  rs_hypothesis_change(hypothesis, "truncate", whole ? "true" : "false");
}

void rs_hypotheses_mishaps(rs_hypothesis_maker *make) {
  swap(make, "low_freq_factor", "high_freq_factor", "low and high");
  swap(make, "short_factor", "long_factor", "short and long");
  leave_out_mscale(make);
  other_betas(make);
  other_ladders(make);
  other_sections(make);
  if (strcmp(make->from->recipe->method->name, "llama3") == 0)
    rs_hypothesis_number(make, "train_length", 8192, "llama.cpp's where the outer key is missing");
}

/* ---- finished tables --------------------------------------------------------------------------------------------- */

/* Orders that code makes, numbers of fewer bits, other units, a scaling that is applied to what is scaled already. */
typedef enum alteration {
  REVERSED,
  ODD_AFTER_EVEN,
  MERGED,
  AS_BF16,
  AS_F16,
  IN_TURNS,
  INVERTED,
  SWAPPED,
  CUT_SHORT,
  CUT_SLOW,
  BY_LENGTH,
  TWICE,
  GEOMETRIC,
  ALTERATIONS
} alteration;

static const struct {
  const char *key, *what;
} alterations[ALTERATIONS] = {
    [REVERSED] = {"order", "in reversed order"},
    [ODD_AFTER_EVEN] = {"order", "with the pairs in the order 0, 2, 4, ..., 1, 3, 5, ... (split as if interleaved)"},
    [MERGED] = {"order", "with the pairs' two halves interleaved"},
    [AS_BF16] = {"rounded", "with frequencies rounded to bfloat16 (buffers that were cast with the model)"},
    [AS_F16] = {"rounded", "with frequencies rounded to float16 (buffers that were cast with the model)"},
    [IN_TURNS] = {"unit", "in turns, not in radians (every frequency over 2 pi)"},
    [INVERTED] = {"unit", "with periods in place of frequencies (1 / omega)"},
    [SWAPPED] = {"betas", "with beta_fast and beta_slow exchanged"},
    [CUT_SHORT] = {"clamp", "with the ramp's end held at the last pair, R/2 - 1 (YaRN's code holds it at R - 1)"},
    [CUT_SLOW] = {"cut",
                  "with the pairs that make less than one turn within the trained length held still (FoPE's cut)"},
    [BY_LENGTH] =
        {"by length",
         "with long_factor grown with the length, 1 + (f - 1) (n / L0 - 1) / (s - 1) (LongRoPE's dynamic rule)"},
    [TWICE] = {"twice", "with the scaling applied twice (each pair divided once more by what divides it)"},
    [GEOMETRIC] = {"blend", "with the blend of kept and divided pairs geometric, as xAI's yarn_log has it"},
};

/* YaRN's ramp between the pairs of two betas, which ends at pair `last` at the latest: the share of pair j that is
 * divided. */
static double ramp_at(const rs_compared *from, const char *begin, const char *end, double last, size_t j) {
  const rs_settings *settings = &from->recipe->settings;
  double low = rs_ramp_pair(from, rs_setting(settings, begin)->number);
  double high = rs_ramp_pair(from, rs_setting(settings, end)->number);
  bool truncate = rs_setting(settings, "truncate")->number == 1;
  low = fmax(truncate ? floor(low) : low, 0);
  high = fmin(truncate ? ceil(high) : high, last);
  return fmin(fmax(((double)j - low) / (high != low ? high - low : 0.001), 0), 1);
}

/* The list of divisors that LongRoPE's code scales by the length; NULL where the recipe has none. */
static const double *divisors_of(const rs_compared *from) {
  const rs_value *list = rs_setting(&from->recipe->settings, "long_factor");
  return list->set && list->count == from->spectrum->pairs ? list->list : NULL;
}

/* What the longest context is of the trained one. */
static double most_scale(const rs_compared *from) {
  return (double)from->model->max_length / rs_compared_train_length(from);
}

/* Pair j of a table of no recipe. */
static double alter_bare(const rs_spectrum *spectrum, alteration way, size_t j) {
  const double *omega = spectrum->omega;
  size_t half = (spectrum->pairs + 1) / 2;
  switch (way) {
  case REVERSED: return omega[spectrum->pairs - 1 - j];
  case ODD_AFTER_EVEN: return omega[j < half ? 2 * j : 2 * (j - half) + 1];
  case MERGED: return omega[j % 2 == 0 ? j / 2 : half + j / 2];
  case AS_BF16: return rs_round(RS_BF16, omega[j]);
  case AS_F16: return rs_round(RS_F16, omega[j]);
  case IN_TURNS: return omega[j] / (2 * M_PI);
  default: return omega[j] > 0 ? 1 / omega[j] : 0;
  }
}

/* Pair j of a recipe's. Code that takes beta_fast for beta_slow has a ramp that falls, and keeps slow pairs; what
 * LongRoPE's dynamic rule divides by grows from 1 at L0 to the whole list at s L0. */
static double alter(const rs_compared *from, alteration way, size_t j) {
  double omega = from->spectrum->omega[j], pairs = (double)from->spectrum->pairs, s = rs_compared_scale(from), r;
  double plain = rs_ladder_at(rs_compared_theta(from), 2 * pairs, j), trained = rs_compared_train_length(from);
  switch (way) {
  case SWAPPED: r = ramp_at(from, "beta_slow", "beta_fast", 2 * pairs - 1, j); return plain * (1 - r + r / s);
  case CUT_SHORT: r = ramp_at(from, "beta_fast", "beta_slow", pairs - 1, j); return plain * (1 - r + r / s);
  case CUT_SLOW: return omega > 2 * M_PI / trained ? omega : 0;
  case BY_LENGTH:
    r = ((double)from->length / trained - 1) / (most_scale(from) - 1);
    return plain / (1 + (divisors_of(from)[j] - 1) * fmax(r, 0));
  case TWICE: return omega * omega / plain;
  default: /* kept * (1 - r) + divided * r, blended geometrically */
    r = s != 1 ? (1 - omega / plain) / (1 - 1 / s) : 0;
    return plain * pow(s, -fmin(fmax(r, 0), 1));
  }
}

/* What the recipe must be for it. */
static bool fits(alteration way, const rs_compared *from) {
  if (way <= INVERTED) return true;
  if (from->recipe == NULL) return false;
  double s = rs_compared_scale(from);
  bool ramp = rs_settings_find(&from->recipe->settings, "truncate") >= 0;
  if (way == CUT_SLOW) return true;
  if (way == BY_LENGTH) return divisors_of(from) != NULL && most_scale(from) > 1;
  return s > 0 && s != 1 && (ramp || way == TWICE || way == GEOMETRIC);
}

bool rs_table_alter(const rs_compared *from, size_t way, double *out, const char **what, const char **key) {
  if (way >= ALTERATIONS) return false;
  alteration a = (alteration)way;
  *what = fits(a, from) ? alterations[a].what : NULL;
  *key = alterations[a].key;
  for (size_t j = 0; *what != NULL && j < from->spectrum->pairs; j++)
    out[j] = a <= INVERTED ? alter_bare(from->spectrum, a, j) : alter(from, a, j);
  return true;
}
