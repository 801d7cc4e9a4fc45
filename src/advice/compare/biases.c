/* Recipes that turn nothing and add biases: where two of them part, or one and a list of ALiBi's slopes, and why. A
 * softmax sees no constant of a row, so each bias is taken less that of the query's own key. */
#include "compare.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "AB";

/* ---- changes that give the other side ---------------------------------------------------------------------------- */

/* What is searched, and how a changed recipe of a side is judged. */
typedef struct search {
  const rs_compared *sides[2];
  rs_causes *causes;
  char keys[RS_CAUSES][128]; /* what each of them alters */
  double rtol;
  const void *seen; /* rows[2], or a list */
  rs_status (*judge)(const struct search *in, size_t from, const rs_recipe *recipe, size_t length, bool *fits,
                     rs_err *err);
  rs_err *err;
} search;

/* "B is ..."; NULL where there are enough. */
static rs_cause *add_cause(rs_causes *causes) {
  if (causes->count == RS_CAUSES) return NULL;
  rs_cause *cause = &causes->items[causes->count++];
  *cause = (rs_cause){.explains = RS_DIFFERS_BEYOND, .whole = true, .residual = NAN};
  return cause;
}

/* The same, added a second time (Falcon's eager path), or an alibi_bias_max that nobody reads. */
static void add_mishaps(rs_hypothesis_maker *make) {
  const rs_settings *settings = &make->from->recipe->settings;
  int factor = rs_settings_find(settings, "slope_factor");
  if (factor < 0 || !settings->values[factor].set || settings->values[factor].choice != RS_NO_WORD) return;
  double now = settings->values[factor].number;
  rs_hypothesis_number(make, "slope_factor", 2 * now, "the bias added twice, as transformers' eager Falcon does");
  rs_hypothesis_number(make, "slope_factor", now / 2, "the bias added once, where it was added twice");
}

/* Of several that alter the same the first that fits is named. */
static rs_status try_some(search *in, size_t from, const rs_hypothesis *const *tried, size_t count) {
  RS_OWNED(rs_recipe) recipe = {0};
  rs_err why = {0};
  bool fits = false;
  size_t length = in->sides[from]->length;
  char what[2 * sizeof tried[0]->what + 8], key[2 * sizeof tried[0]->key + 8];
  snprintf(what, sizeof what, "%s%s%s", tried[0]->what, count > 1 ? " and " : "", count > 1 ? tried[1]->what : "");
  snprintf(key, sizeof key, "%s%s%s", tried[0]->key, count > 1 ? "+" : "", count > 1 ? tried[1]->key : "");
  for (size_t i = 0; i < in->causes->count; i++)
    if (strcmp(in->keys[i], key) == 0) return RS_OK;
  rs_status status = rs_hypotheses_apply(in->sides[from], tried, count, &recipe, &length, &why);
  if (status == RS_OK) status = in->judge(in, from, &recipe, length, &fits, &why);
  if (status == RS_MEMORY) return rs_fail(in->err, RS_MEMORY, "%s", why.message);
  rs_cause *cause = status == RS_OK && fits ? add_cause(in->causes) : NULL;
  if (cause == NULL) return RS_OK;
  snprintf(in->keys[in->causes->count - 1], sizeof *in->keys, "%s", key);
  rs_cause_write(cause, from, what);
  return RS_OK;
}

/* What has a name goes before values that fit. */
static rs_status try_side(search *in, size_t from, bool two) {
  RS_FREED rs_hypothesis *list = rs_alloc(RS_HYPOTHESES, sizeof *list, in->err);
  rs_hypothesis_maker make = {.from = in->sides[from], .other = in->sides[1 - from], .list = list};
  if (list == NULL) return RS_MEMORY;
  if (make.other->recipe != NULL) add_mishaps(&make);
  rs_hypotheses_dialects(&make);
  rs_hypotheses_settings(&make);
  RS_TRY(make.starved ? rs_fail(in->err, RS_MEMORY, "out of memory for text") : RS_OK);
  for (size_t i = 0; i < make.count; i++) {
    const rs_hypothesis *tried[2] = {&list[i]};
    if (!two) RS_TRY(try_some(in, from, tried, 1));
    for (size_t k = 0; k < i && two; k++) {
      tried[1] = &list[k];
      if (strcmp(list[i].key, list[k].key) != 0) RS_TRY(try_some(in, from, tried, 2));
    }
  }
  return RS_OK;
}

/* ---- rows of biases ---------------------------------------------------------------------------------------------- */

enum { LONGEST = 1 << 15, PER_OCTAVE = 8 }; /* tokens; every slope and format shows within them */

/* Biases of the last query, (heads, count), at distances that all sides of a comparison share. */
typedef struct rows {
  size_t heads, count;
  size_t *distance; /* (count + 1,) */
  double *bias;
  double largest; /* |bias| before the row's constant went, nats */
  double own;     /* bias of head 0 on the query's own key */
} rows;

static void rows_clear(rows *r) {
  free(r->distance);
  free(r->bias);
  *r = (rows){0};
}

static rs_status fill_rows(const rs_encoding *encoding, rows *out, rs_err *err) {
  size_t query = encoding->length - 1;
  out->heads = encoding->heads;
  RS_TRY(rs_log_edges(encoding->length, PER_OCTAVE, &out->distance, &out->count, err));
  out->bias = rs_alloc(out->heads * out->count, sizeof *out->bias, err);
  if (out->bias == NULL) return RS_MEMORY;
  for (size_t h = 0; h < out->heads; h++) {
    double here, there;
    rs_encoding_bias_row(encoding, h, query, query, query + 1, &here);
    if (h == 0) out->own = here;
    for (size_t i = 0; i < out->count; i++) {
      size_t key = query - out->distance[i];
      rs_encoding_bias_row(encoding, h, query, key, key + 1, &there);
      out->bias[h * out->count + i] = there - here;
      out->largest = fmax(out->largest, fmax(fabs(there), fabs(here)));
    }
  }
  return RS_OK;
}

static rs_status rows_make(const rs_recipe *recipe, const rs_model *model, size_t length, rows *out, rs_err *err) {
  RS_HELD(rs_encoding) encoding = NULL;
  *out = (rows){0};
  RS_TRY(rs_encoding_create(recipe, model, length < LONGEST ? length : LONGEST, NULL, NULL, &encoding, err));
  rs_status status = fill_rows(encoding, out, err);
  if (status != RS_OK) rows_clear(out);
  return status;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static rs_bias_difference compare_rows(const rows *a, const rows *b, double rtol) {
  rs_bias_difference out = {.heads = a->heads};
  /* What cancels where the row's constant goes. */
  double slack = 4 * DBL_EPSILON * fmax(a->largest, b->largest);
  if (a->heads != b->heads || a->count != b->count) {
    out.count = out.heads;
    out.differs = true;
    out.largest = NAN;
    return out;
  }
  for (size_t h = 0; h < a->heads; h++) {
    bool differs = false;
    for (size_t i = 0; i < a->count; i++) {
      double of_a = a->bias[h * a->count + i], of_b = b->bias[h * b->count + i], apart = fabs(of_b - of_a);
      if (isfinite(apart) && apart <= rtol * fmax(fabs(of_a), fabs(of_b)) + slack) continue;
      differs = true;
      if (!(apart > out.largest)) continue;
      out.largest = apart;
      out.head = h;
      out.distance = a->distance[i];
      out.a = of_a;
      out.b = of_b;
    }
    out.count += differs;
  }
  out.differs = out.count > 0;
  out.shifted = fabs(a->own - b->own) > slack;
  return out;
}

bool rs_biases_comparable(const rs_recipe *recipe) {
  const rs_bias_kind *kind = recipe->method != NULL ? recipe->method->bias : NULL;
  return recipe->method != NULL && recipe->method->freq == NULL && kind != NULL && kind->learned == NULL;
}

static rs_status judge_rows(const search *in, size_t from, const rs_recipe *recipe, size_t length, bool *fits,
                            rs_err *err) {
  const rows *const *seen = in->seen;
  RS_OWNED(rows) got = {0};
  if (!rs_biases_comparable(recipe)) return RS_OK;
  RS_TRY(rows_make(recipe, in->sides[from]->model, length, &got, err));
  *fits = !compare_rows(&got, seen[1 - from], in->rtol).differs;
  return RS_OK;
}

/* Changes of B only where nothing that is done to A gives B, and two where no single one does. */
rs_status rs_biases_compare(const rs_compared *a, const rs_compared *b, double rtol, rs_bias_difference *out,
                            rs_causes *causes, rs_err *err) {
  RS_OWNED(rows) of_a = {0}, of_b = {0};
  const rows *const seen[] = {&of_a, &of_b};
  search in = {.sides = {a, b}, .seen = seen, .judge = judge_rows, .rtol = rtol, .causes = causes, .err = err};
  *causes = (rs_causes){0};
  *out = (rs_bias_difference){0};
  RS_TRY(rows_make(a->recipe, a->model, a->length, &of_a, err));
  RS_TRY(rows_make(b->recipe, b->model, b->length, &of_b, err));
  *out = compare_rows(&of_a, &of_b, rtol);
  bool sought = out->differs && a->model->heads == b->model->heads;
  for (size_t step = 0; step < 4 && sought && causes->count == 0; step++) RS_TRY(try_side(&in, step % 2, step > 1));
  return RS_OK;
}

/* ---- lists of slopes --------------------------------------------------------------------------------------------- */

/* A recipe's slopes beside a list: which heads it is of, and what code that makes others may have done. */
typedef struct slopes {
  const double *list;
  size_t listed, heads, from; /* numbers; H; the recipe's side */
  double largest, factor;     /* bias_max; what Press's slopes are multiplied by */
  double rtol;
  rs_causes *causes;
} slopes;

bool rs_slopes_comparable(const rs_recipe *recipe) {
  return rs_biases_comparable(recipe) && recipe->method->bias->slope != NULL;
}

/* What a key one token back gets less, (H,) nats. */
static rs_status make_slopes(const rs_recipe *recipe, const rs_model *model, double *out, rs_err *err) {
  RS_HELD(rs_encoding) encoding = NULL;
  RS_TRY(rs_encoding_create(recipe, model, 2, NULL, NULL, &encoding, err));
  for (size_t h = 0; h < encoding->heads; h++) {
    double bias[2];
    rs_encoding_bias_row(encoding, h, 1, 0, 2, bias);
    out[h] = bias[1] - bias[0];
  }
  return RS_OK;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static bool is_equal(double a, double b, double rtol) {
  return fabs(b - a) <= rtol * fmax(fabs(a), fabs(b));
}

/* The list beside heads from `first` on. */
static rs_slope_difference compare_at(const slopes *in, const double *ours, size_t first) {
  rs_slope_difference out = {.heads = in->heads, .listed = in->listed, .first = first};
  double largest = -1;
  for (size_t i = 0; i < in->listed; i++) {
    double slope = ours[first + i], apart = fabs(in->list[i] - slope);
    if (is_equal(slope, in->list[i], in->rtol)) continue;
    out.count++;
    if (apart <= largest) continue;
    largest = apart;
    out.head = first + i;
    out.recipe = slope;
    out.list = in->list[i];
  }
  return out;
}

/* A list of one rank's heads is beside those that it equals, else the first. */
static rs_slope_difference compare_slopes(const slopes *in, const double *ours) {
  for (size_t first = 0; first < in->heads; first += in->listed) {
    rs_slope_difference d = compare_at(in, ours, first);
    if (d.count == 0) return d;
  }
  return compare_at(in, ours, 0);
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* The largest power of two up to `heads`. */
static size_t power_below(size_t heads) {
  size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  return power;
}

/* 2^(-bias_max number / heads), where the recipe has its factor. */
static double geometric(const slopes *in, size_t number, size_t heads) {
  return in->factor * exp2(-in->largest * (double)number / (double)heads);
}

/* Press's: those of the power of two below, then every second one of the power above. */
static double press(const slopes *in, size_t head, size_t heads) {
  size_t power = power_below(heads);
  return head < power ? geometric(in, head + 1, power) : geometric(in, 2 * (head - power) + 1, 2 * power);
}

typedef enum formula { UNSPLIT, FROM_ZERO, OF_RANK, REVERSED } formula;

/* Whether the list is what a formula gives for so many heads. */
static bool fits(const slopes *in, formula way, size_t size) {
  bool same = true;
  for (size_t i = 0; i < in->listed && same; i++) {
    double slope = way == UNSPLIT     ? geometric(in, i + 1, size)
                   : way == FROM_ZERO ? geometric(in, i, size)
                   : way == OF_RANK   ? press(in, i % size, size)
                                      : press(in, size - 1 - i, size);
    same = is_equal(slope, in->list[i], in->rtol);
  }
  return same;
}

/* "B is <words>", where nothing simpler was found. */
RS_PRINTF(2, 3) static void keep(slopes *in, const char *format, ...) {
  va_list arguments;
  rs_cause *cause = add_cause(in->causes);
  if (cause == NULL) return;
  int length = snprintf(cause->text, sizeof cause->text, "%c is ", letters[1 - in->from]);
  va_start(arguments, format);
  vsnprintf(cause->text + length, sizeof cause->text - (size_t)length, format, arguments);
  va_end(arguments);
}

static void try_formulas(slopes *in) {
  size_t heads = in->heads, below = power_below(heads), above = 2 * below;
  double most = in->largest;
  bool all = in->listed == heads, split = below < heads;
  if (all && split && fits(in, UNSPLIT, heads))
    keep(in, "2^(-%g(i+1)/%zu): Press's formula without the split at %zu", most, heads, below);
  if (all && split && fits(in, UNSPLIT, above))
    keep(in, "2^(-%g(i+1)/%zu): the first %zu slopes of %zu heads, where Press takes every second one beyond %zu", most,
         above, heads, above, below);
  if (all && split && fits(in, UNSPLIT, below))
    keep(in, "2^(-%g(i+1)/%zu) for all %zu heads: Press's formula without what it has beyond %zu", most, below, heads,
         below);
  if (all && fits(in, FROM_ZERO, heads)) keep(in, "2^(-%g i/%zu): heads counted from 0", most, heads);
  if (all && fits(in, REVERSED, heads)) keep(in, "%c's slopes, the last head first", letters[in->from]);
}

/* Ranks of tensor parallelism that number their heads from 0: all of them side by side, or one. */
static void try_ranks(slopes *in) {
  for (size_t size = in->listed == in->heads ? in->heads / 2 : in->listed; size > 0; size--) {
    if (in->heads % size != 0 || !fits(in, OF_RANK, size)) continue;
    size_t times = in->listed / size;
    char often[32];
    snprintf(often, sizeof often, times == 2 ? ", twice" : times > 2 ? ", %zu times" : "", times);
    keep(in, "slopes of %zu head%s%s: numbered within the rank", size, size > 1 ? "s" : "", often);
    return;
  }
}

static rs_status judge_slopes(const search *in, size_t from, const rs_recipe *recipe, size_t length, bool *fits,
                              rs_err *err) {
  const slopes *seen = in->seen;
  (void)length;
  if (!rs_slopes_comparable(recipe)) return RS_OK;
  RS_FREED double *made = rs_alloc(seen->heads, sizeof *made, err);
  RS_TRY(made != NULL ? make_slopes(recipe, in->sides[from]->model, made, err) : RS_MEMORY);
  *fits = compare_slopes(seen, made).count == 0;
  return RS_OK;
}

static rs_status run(slopes *in, const rs_compared sides[2], double *ours, rs_slope_difference *out, rs_err *err) {
  const rs_compared *recipe = &sides[in->from];
  const rs_value *largest = rs_setting(&recipe->recipe->settings, "bias_max");
  const rs_compared none = {.length = recipe->length};
  RS_TRY(make_slopes(recipe->recipe, recipe->model, ours, err));
  *out = compare_slopes(in, ours);
  if (out->count == 0) return RS_OK;
  in->largest = largest->set ? largest->number : 8;
  in->factor = 1;
  in->factor = ours[0] / press(in, 0, in->heads);
  try_formulas(in);
  try_ranks(in);
  search by = {.seen = in, .judge = judge_slopes, .causes = in->causes, .err = err};
  by.sides[in->from] = recipe;
  by.sides[1 - in->from] = &none;
  return in->causes->count == 0 ? try_side(&by, in->from, false) : RS_OK;
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
  RS_FREED double *ours = rs_alloc(heads, sizeof *ours, err);
  if (ours == NULL) return RS_MEMORY;
  slopes in = {
      .list = list->omega, .listed = list->pairs, .heads = heads, .from = from, .rtol = rtol, .causes = causes};
  return run(&in, sides, ours, out, err);
}
