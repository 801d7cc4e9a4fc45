/* What is done to a finished table of frequencies, whatever recipe it is of: orders that code makes, numbers of fewer
 * bits, other units, a scaling that is applied to what is scaled already. */
#include "compare.h"

#include <math.h>

typedef struct alteration {
  const char *what, *key;
  double (*at)(const rs_compared *from, size_t j);
} alteration;

static double reversed(const rs_compared *from, size_t j) {
  return from->spectrum->omega[from->spectrum->pairs - 1 - j];
}

static double odd_after_even(const rs_compared *from, size_t j) {
  size_t half = (from->spectrum->pairs + 1) / 2;
  return from->spectrum->omega[j < half ? 2 * j : 2 * (j - half) + 1];
}

static double merged(const rs_compared *from, size_t j) {
  size_t half = (from->spectrum->pairs + 1) / 2;
  return from->spectrum->omega[j % 2 == 0 ? j / 2 : half + j / 2];
}

static double as_bf16(const rs_compared *from, size_t j) {
  return rs_round(RS_BF16, from->spectrum->omega[j]);
}

static double as_f16(const rs_compared *from, size_t j) {
  return rs_round(RS_F16, from->spectrum->omega[j]);
}

static double in_turns(const rs_compared *from, size_t j) {
  return from->spectrum->omega[j] / (2 * M_PI);
}

static double inverted(const rs_compared *from, size_t j) {
  return from->spectrum->omega[j] > 0 ? 1 / from->spectrum->omega[j] : 0;
}

static double plain_at(const rs_compared *from, size_t j) {
  return pow(rs_compared_theta(from), -(double)j / (double)from->spectrum->pairs);
}

/* Each pair's divisor once more. */
static double twice(const rs_compared *from, size_t j) {
  double omega = from->spectrum->omega[j];
  return omega * omega / plain_at(from, j);
}

/* xAI's yarn_log: what a by-parts method blends, blended geometrically. For kept * (1 - r) + divided * r. */
static double geometric(const rs_compared *from, size_t j) {
  double s = rs_compared_scale(from), plain = plain_at(from, j), share = from->spectrum->omega[j] / plain;
  double r = s != 1 ? (1 - share) / (1 - 1 / s) : 0;
  return plain * pow(s, -fmin(fmax(r, 0), 1));
}

/* YaRN's ramp between the pairs of two betas, which ends at pair `last` at the latest. */
static double ramp(const rs_compared *from, const char *begin, const char *end, double last, size_t j) {
  const rs_settings *settings = &from->recipe->settings;
  double s = rs_compared_scale(from);
  double low = rs_ramp_pair(from, rs_setting(settings, begin)->number);
  double high = rs_ramp_pair(from, rs_setting(settings, end)->number);
  bool truncate = rs_setting(settings, "truncate")->number == 1;
  low = fmax(truncate ? floor(low) : low, 0);
  high = fmin(truncate ? ceil(high) : high, last);
  double r = fmin(fmax(((double)j - low) / (high != low ? high - low : 0.001), 0), 1);
  return plain_at(from, j) * (1 - r + r / s);
}

/* The ramp of code that takes beta_fast for beta_slow: from there it falls, and slow pairs are kept. */
static double swapped(const rs_compared *from, size_t j) {
  return ramp(from, "beta_slow", "beta_fast", 2 * (double)from->spectrum->pairs - 1, j);
}

/* The ramp of code that ends it at the last pair, R/2 - 1, where YaRN's has R - 1. */
static double cut_short(const rs_compared *from, size_t j) {
  return ramp(from, "beta_fast", "beta_slow", (double)from->spectrum->pairs - 1, j);
}

/* FoPE's cut: what makes less than one turn within the trained length does not turn. */
static double cut_slow(const rs_compared *from, size_t j) {
  double omega = from->spectrum->omega[j];
  return omega > 2 * M_PI / rs_compared_train_length(from) ? omega : 0;
}

/* The list of divisors that LongRoPE's code scales by the length; NULL where the recipe has none. */
static const double *divisors_of(const rs_compared *from) {
  int index = rs_settings_find(&from->recipe->settings, "long_factor");
  const rs_value *list = index >= 0 ? &from->recipe->settings.values[index] : NULL;
  return list != NULL && list->set && list->count == from->spectrum->pairs ? list->list : NULL;
}

/* What the longest context is of the trained one. */
static double most_scale(const rs_compared *from) {
  return (double)from->model->max_length / rs_compared_train_length(from);
}

/* LongRoPE's dynamic rule: 1 + (f - 1) (n / L0 - 1) / (s - 1), from no divisor at L0 to the whole list at s L0. */
static double by_length(const rs_compared *from, size_t j) {
  double share = ((double)from->length / rs_compared_train_length(from) - 1) / (most_scale(from) - 1);
  return plain_at(from, j) / (1 + (divisors_of(from)[j] - 1) * fmax(share, 0));
}

static const alteration alterations[] = {
    {"in reversed order", "order", reversed},
    {"with the pairs in the order 0, 2, 4, ..., 1, 3, 5, ... (split as if interleaved)", "order", odd_after_even},
    {"with the pairs' two halves interleaved", "order", merged},
    {"with frequencies rounded to bfloat16 (buffers that were cast with the model)", "rounded", as_bf16},
    {"with frequencies rounded to float16 (buffers that were cast with the model)", "rounded", as_f16},
    {"in turns, not in radians (every frequency over 2 pi)", "unit", in_turns},
    {"with periods in place of frequencies (1 / omega)", "unit", inverted},
    {"with beta_fast and beta_slow exchanged", "betas", swapped},
    {"with the ramp's end held at the last pair, R/2 - 1 (YaRN's code holds it at R - 1)", "clamp", cut_short},
    {"with the pairs that make less than one turn within the trained length held still (FoPE's cut)", "cut", cut_slow},
    {"with long_factor grown with the length, 1 + (f - 1) (n / L0 - 1) / (s - 1) (LongRoPE's dynamic rule)",
     "by length", by_length},
    {"with the scaling applied twice (each pair divided once more by what divides it)", "twice", twice},
    {"with the blend of kept and divided pairs geometric, as xAI's yarn_log has it", "blend", geometric},
};

/* What the recipe must be for it. */
static bool fits(const alteration *way, const rs_compared *from) {
  bool by_ramp = way->at == swapped || way->at == cut_short;
  if (way->at == cut_slow) return from->recipe != NULL;
  if (way->at == by_length) return from->recipe != NULL && divisors_of(from) != NULL && most_scale(from) > 1;
  if (way->at != twice && way->at != geometric && !by_ramp) return true;
  double s = from->recipe != NULL ? rs_compared_scale(from) : NAN;
  bool has_ramp = !by_ramp || (s > 0 && rs_settings_find(&from->recipe->settings, "truncate") >= 0);
  return s > 0 && s != 1 && has_ramp;
}

bool rs_table_alter(const rs_compared *from, size_t way, double *out, const char **what, const char **key) {
  if (way >= RS_COUNT(alterations)) return false;
  *what = fits(&alterations[way], from) ? alterations[way].what : NULL;
  *key = alterations[way].key;
  for (size_t j = 0; *what != NULL && j < from->spectrum->pairs; j++) out[j] = alterations[way].at(from, j);
  return true;
}
