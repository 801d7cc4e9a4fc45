/* Lists of ALiBi's slopes beside a recipe: which heads they are of, and what code that makes others may have done. */
#include "compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "AB";

typedef struct search {
  const rs_compared *recipe;
  const double *list;
  size_t listed, heads, from; /* numbers; H; the recipe's side */
  double largest, factor;     /* bias_max; what Press's slopes are multiplied by */
  double rtol;
  double *made; /* (H,) under a hypothesis */
  rs_causes *causes;
} search;

/* ---- the recipe's slopes ----------------------------------------------------------------------------------------- */

bool rs_slopes_comparable(const rs_recipe *recipe) {
  return rs_biases_comparable(recipe) && recipe->method->bias->slope != NULL;
}

/* What a key one token back gets less, (H,) nats. */
static rs_status make_slopes(const rs_recipe *recipe, const rs_model *model, double *out, rs_err *err) {
  rs_encoding *encoding;
  RS_TRY(rs_encoding_create(recipe, model, 2, NULL, NULL, &encoding, err));
  for (size_t h = 0; h < encoding->heads; h++) {
    double bias[2];
    rs_encoding_bias_row(encoding, h, 1, 0, 2, bias);
    out[h] = bias[1] - bias[0];
  }
  rs_encoding_free(encoding);
  return RS_OK;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static bool is_equal(double a, double b, double rtol) {
  return fabs(b - a) <= rtol * fmax(fabs(a), fabs(b));
}

/* The list beside heads from `first` on. */
static rs_slope_difference compare_at(const search *in, const double *slopes, size_t first) {
  rs_slope_difference out = {.heads = in->heads, .listed = in->listed, .first = first};
  double largest = -1;
  for (size_t i = 0; i < in->listed; i++) {
    double ours = slopes[first + i], apart = fabs(in->list[i] - ours);
    if (is_equal(ours, in->list[i], in->rtol)) continue;
    out.count++;
    if (apart <= largest) continue;
    largest = apart;
    out.head = first + i;
    out.recipe = ours;
    out.list = in->list[i];
  }
  return out;
}

/* A list of one rank's heads is beside those that it equals, else the first. */
static rs_slope_difference compare(const search *in, const double *slopes) {
  for (size_t first = 0; first < in->heads; first += in->listed) {
    rs_slope_difference d = compare_at(in, slopes, first);
    if (d.count == 0) return d;
  }
  return compare_at(in, slopes, 0);
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* The largest power of two up to `heads`. */
static size_t power_below(size_t heads) {
  size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  return power;
}

/* 2^(-bias_max number / heads), where the recipe has its factor. */
static double geometric(const search *in, size_t number, size_t heads) {
  return in->factor * exp2(-in->largest * (double)number / (double)heads);
}

/* Press's: those of the power of two below, then every second one of the power above. */
static double press(const search *in, size_t head, size_t heads) {
  size_t power = power_below(heads);
  return head < power ? geometric(in, head + 1, power) : geometric(in, 2 * (head - power) + 1, 2 * power);
}

typedef double formula(const search *in, size_t head, size_t size);

static double unsplit(const search *in, size_t head, size_t heads) {
  return geometric(in, head + 1, heads);
}

static double from_zero(const search *in, size_t head, size_t heads) {
  return geometric(in, head, heads);
}

static double of_rank(const search *in, size_t head, size_t heads) {
  return press(in, head % heads, heads);
}

static double reversed(const search *in, size_t head, size_t heads) {
  return press(in, heads - 1 - head, heads);
}

static bool fits(const search *in, formula *slope, size_t size) {
  bool same = true;
  for (size_t i = 0; i < in->listed && same; i++) same = is_equal(slope(in, i, size), in->list[i], in->rtol);
  return same;
}

/* "B is <words>", where nothing simpler was found. */
RS_PRINTF(2, 3) static void keep(search *in, const char *format, ...) {
  va_list arguments;
  rs_causes *causes = in->causes;
  if (causes->count == RS_CAUSES) return;
  rs_cause *cause = &causes->items[causes->count++];
  *cause = (rs_cause){.explains = RS_DIFFERS_BEYOND, .whole = true, .residual = NAN};
  int length = snprintf(cause->text, sizeof cause->text, "%c is ", letters[1 - in->from]);
  va_start(arguments, format);
  vsnprintf(cause->text + length, sizeof cause->text - (size_t)length, format, arguments);
  va_end(arguments);
}

static void try_formulas(search *in) {
  size_t heads = in->heads, below = power_below(heads), above = 2 * below;
  double most = in->largest;
  bool all = in->listed == heads, split = below < heads;
  if (all && split && fits(in, unsplit, heads))
    keep(in, "2^(-%g(i+1)/%zu): Press's formula without the split at %zu", most, heads, below);
  if (all && split && fits(in, unsplit, above))
    keep(in, "2^(-%g(i+1)/%zu): the first %zu slopes of %zu heads, where Press takes every second one beyond %zu", most,
         above, heads, above, below);
  if (all && split && fits(in, unsplit, below))
    keep(in, "2^(-%g(i+1)/%zu) for all %zu heads: Press's formula without what it has beyond %zu", most, below, heads,
         below);
  if (all && fits(in, from_zero, heads)) keep(in, "2^(-%g i/%zu): heads counted from 0", most, heads);
  if (all && fits(in, reversed, heads)) keep(in, "%c's slopes, the last head first", letters[in->from]);
}

/* Ranks of tensor parallelism that number their heads from 0: all of them side by side, or one. */
static void try_ranks(search *in) {
  for (size_t size = in->listed == in->heads ? in->heads / 2 : in->listed; size > 0; size--) {
    if (in->heads % size != 0 || !fits(in, of_rank, size)) continue;
    size_t times = in->listed / size;
    char often[32];
    snprintf(often, sizeof often, times == 2 ? ", twice" : times > 2 ? ", %zu times" : "", times);
    keep(in, "slopes of %zu head%s%s: numbered within the rank", size, size > 1 ? "s" : "", often);
    return;
  }
}

/* ---- other settings ---------------------------------------------------------------------------------------------- */

static rs_status try_setting(search *in, const rs_hypothesis *hypothesis, rs_err *err) {
  rs_recipe recipe = {0};
  rs_err why = {0};
  size_t length = in->recipe->length;
  if (in->causes->count == RS_CAUSES) return RS_OK;
  rs_status status = rs_hypotheses_apply(in->recipe, &hypothesis, 1, &recipe, &length, &why);
  bool made = status == RS_OK && rs_slopes_comparable(&recipe);
  if (made) status = make_slopes(&recipe, in->recipe->model, in->made, &why);
  rs_recipe_clear(&recipe);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK || !made || compare(in, in->made).count > 0) return RS_OK;
  rs_cause *cause = &in->causes->items[in->causes->count++];
  *cause = (rs_cause){.explains = RS_DIFFERS_BEYOND, .whole = true, .residual = NAN};
  rs_cause_write(cause, in->from, hypothesis->what);
  return RS_OK;
}

static rs_status try_settings(search *in, rs_err *err) {
  rs_hypothesis *list = rs_alloc(RS_HYPOTHESES, sizeof *list, err);
  if (list == NULL) return RS_MEMORY;
  const rs_compared none = {.length = in->recipe->length};
  rs_hypothesis_maker make = {.from = in->recipe, .other = &none, .list = list};
  rs_hypotheses_dialects(&make);
  rs_hypotheses_settings(&make);
  rs_status status = make.starved ? rs_fail(err, RS_MEMORY, "out of memory for text") : RS_OK;
  for (size_t i = 0; i < make.count && status == RS_OK; i++) status = try_setting(in, &list[i], err);
  free(list);
  return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static rs_status run(search *in, double *slopes, rs_slope_difference *out, rs_err *err) {
  const rs_settings *settings = &in->recipe->recipe->settings;
  int largest = rs_settings_find(settings, "bias_max");
  RS_TRY(make_slopes(in->recipe->recipe, in->recipe->model, slopes, err));
  *out = compare(in, slopes);
  if (out->count == 0) return RS_OK;
  in->largest = largest >= 0 && settings->values[largest].set ? settings->values[largest].number : 8;
  in->factor = 1;
  in->factor = slopes[0] / press(in, 0, in->heads);
  try_formulas(in);
  try_ranks(in);
  return in->causes->count == 0 ? try_settings(in, err) : RS_OK;
}

rs_status rs_slopes_compare(const rs_compared sides[2], double rtol, rs_slope_difference *out, rs_causes *causes,
                            rs_err *err) {
  size_t from = sides[0].recipe != NULL ? 0 : 1;
  const rs_spectrum *list = sides[1 - from].spectrum;
  size_t heads = sides[from].model->heads;
  *out = (rs_slope_difference){0};
  *causes = (rs_causes){0};
  if (list->pairs > heads || heads % list->pairs != 0)
    return rs_fail(err, RS_INPUT,
                   "%c, %s, turns no pairs and has %zu slopes, one a head: the %zu numbers of %c are neither these nor "
                   "those of one rank",
                   letters[from], sides[from].recipe->method->name, heads, list->pairs, letters[1 - from]);
  double *slopes = rs_alloc(2 * heads, sizeof *slopes, err);
  if (slopes == NULL) return RS_MEMORY;
  search in = {.recipe = &sides[from],
               .list = list->omega,
               .listed = list->pairs,
               .heads = heads,
               .from = from,
               .rtol = rtol,
               .made = slopes + heads,
               .causes = causes};
  rs_status status = run(&in, slopes, out, err);
  free(slopes);
  return status;
}
