/* Causes: of all that may have been done to a recipe, what gives the other side. Nothing is guessed; every cause that
 * is named was computed and fits. Frequencies and attention factor are judged apart, so that two causes can be told. */
#include "compare.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What float32 code loses of a frequency: Hugging Face and vLLM up to 2e-6, ggml 9e-6 (measured on their tables). */
static const double float32_loss = 1e-5;

enum { MOST_FOUND = 64, SHOWN_OF_A_KIND = 4 };

typedef struct search {
  const rs_compared *sides[2];
  double tolerance;
  unsigned differs; /* what is to be explained */
  rs_cause *found;  /* (MOST_FOUND) */
  char (*keys)[48]; /* (MOST_FOUND) of the alterations that were found */
  size_t count;
  double *work;   /* that may still be done */
  size_t untried; /* for want of it */
  rs_err *err;
} search;

static const char letters[] = "AB";

/* Whether an alteration of the same kind explains as much already. */
static bool is_known(const search *in, const char *key, unsigned explains) {
  for (size_t i = 0; i < in->count; i++)
    if (strcmp(in->keys[i], key) == 0 && (explains & ~in->found[i].explains) == 0) return true;
  return false;
}

void rs_cause_write(rs_cause *cause, size_t from, const char *what) {
  int length = snprintf(cause->text, sizeof cause->text, "%c is %c ", letters[1 - from], letters[from]);
  for (size_t index = (size_t)length; *what != '\0' && index + 1 < sizeof cause->text; what++, index++)
    cause->text[index] = *what == '@' ? letters[from] : *what;
}

/* Keeps a cause, with `what` said of side `from`. */
static rs_cause *keep(search *in, size_t from, const char *what, const char *key) {
  if (in->count == MOST_FOUND) return NULL;
  rs_cause *cause = &in->found[in->count];
  *cause = (rs_cause){.residual = NAN};
  rs_cause_write(cause, from, what);
  snprintf(in->keys[in->count++], sizeof *in->keys, "%s", key);
  return cause;
}

/* Keeps it if `got`, made from side `from`, is nearer to the other side. */
static void judge(search *in, size_t from, const rs_spectrum *got, const char *what, const char *key) {
  rs_difference left = rs_spectrum_compare(got, in->sides[1 - from]->spectrum, in->tolerance);
  unsigned explains = in->differs & ~left.differs;
  if (explains == 0 || is_known(in, key, explains)) return;
  rs_cause *cause = keep(in, from, what, key);
  if (cause == NULL) return;
  cause->explains = explains;
  cause->breaks = left.differs & ~in->differs;
  cause->whole = left.differs == 0;
  if (explains & RS_DIFFERS_FREQUENCY) cause->residual = left.largest;
}

/* ---- altered recipes --------------------------------------------------------------------------------------------- */

/* Whether there is time to try them. */
static bool affords(search *in, size_t from, const rs_hypothesis *const *tried, size_t count) {
  static const double share = 0.003; /* of all work, that one of thousands of pairs may take */
  double work = rs_hypotheses_work(in->sides[from], tried, count);
  bool enough = work <= *in->work && (count == 1 || work <= share * RS_MOST_WORK);
  if (enough)
    *in->work -= work;
  else
    in->untried++;
  return enough;
}

static rs_status try_each(search *in, size_t from, const rs_hypothesis *list, size_t count, bool fitted) {
  for (size_t i = 0; i < count; i++) {
    if (list[i].fitted != fitted) continue;
    const rs_hypothesis *tried[] = {&list[i]};
    RS_OWNED(rs_spectrum) got = {0};
    if (!affords(in, from, tried, 1)) continue;
    RS_TRY(rs_hypotheses_try(in->sides[from], tried, 1, &got, in->err));
    if (got.pairs > 0) judge(in, from, &got, list[i].what, list[i].key);
  }
  return RS_OK;
}

static rs_status try_two(search *in, size_t from, const rs_hypothesis *a, const rs_hypothesis *b) {
  const rs_hypothesis *tried[] = {a, b};
  char what[sizeof a->what * 2], key[sizeof a->key * 2];
  RS_OWNED(rs_spectrum) got = {0};
  if (strcmp(a->key, b->key) == 0 || b->method != NULL || a->fitted || b->fitted)
    return RS_OK; /* a method is exchanged first */
  if (!affords(in, from, tried, 2)) return RS_OK;
  RS_TRY(rs_hypotheses_try(in->sides[from], tried, 2, &got, in->err));
  snprintf(what, sizeof what, "%s and %s", a->what, b->what);
  snprintf(key, sizeof key, "%s+%s", a->key, b->key);
  key[sizeof *in->keys - 1] = '\0';
  size_t before = in->count;
  if (got.pairs > 0) judge(in, from, &got, what, key);
  if (in->count > before && !(in->found[before].explains & RS_DIFFERS_FREQUENCY)) in->count = before;
  return RS_OK;
}

static unsigned explained(const search *in) {
  unsigned bits = 0;
  for (size_t i = 0; i < in->count; i++) bits |= in->found[i].explains;
  return bits;
}

static rs_status try_pairs(search *in, size_t from, const rs_hypothesis *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count && in->count < MOST_FOUND; k++)
      if (k > i || list[i].method != NULL) RS_TRY(try_two(in, from, &list[i], &list[k]));
  return RS_OK;
}

/* Of both sides: one alteration, and two where the frequencies are not explained by one. */
static rs_status try_recipes(search *in, rs_hypothesis *lists[2]) {
  size_t count[2] = {0};
  for (size_t side = 0; side < 2; side++) {
    if (in->sides[side]->recipe == NULL) continue;
    RS_TRY(rs_hypotheses_list(in->sides[side], in->sides[1 - side], lists[side], &count[side], in->err));
    RS_TRY(try_each(in, side, lists[side], count[side], false));
  }
  for (size_t side = 0; side < 2 && !(explained(in) & RS_DIFFERS_FREQUENCY); side++)
    if (in->differs & RS_DIFFERS_FREQUENCY) RS_TRY(try_pairs(in, side, lists[side], count[side]));
  for (size_t side = 0; side < 2 && !(explained(in) & RS_DIFFERS_FREQUENCY); side++)
    RS_TRY(try_each(in, side, lists[side], count[side], true));
  return RS_OK;
}

/* ---- attention factor -------------------------------------------------------------------------------------------- */

/* What is done to amp and logit_factor wherever a temperature is moved or forgotten. False after the last way; *known:
 * whether it says nothing of logits that the dump does not tell. */
static bool alter_amplitude(size_t way, rs_spectrum *s, bool logits_known, const char **what, bool *known) {
  static const bool of_logits[] = {false, true, true, false, false, true, false, false, true};
  static const char *const words[] = {
      "without the attention factor",
      "with the attention factor moved from cos and sin to the logits (squared there)",
      "with the attention factor moved to the logits, but not squared",
      "with the attention factor squared on cos and sin",
      "with the square root of the attention factor on cos and sin",
      "with the attention factor on cos and sin, and squared on the logits as well",
      "with the attention factor inverted",
      "with the factor of the logits moved to cos and sin (as its root)",
      "without the factor on the logits",
  };
  const double a = s->amp, l = s->logit_factor;
  const double amps[] = {1, 1, 1, a * a, sqrt(a), a, 1 / a, a * sqrt(l), a};
  const double logits[] = {l, l * a * a, l * a, l, l, l * a * a, l, 1, 1};
  if (way >= RS_COUNT(words)) return false;
  *what = words[way];
  *known = !of_logits[way] || logits_known;
  s->amp = amps[way];
  s->logit_factor = logits[way];
  return true;
}

static void try_amplitudes(search *in, size_t from) {
  const char *what;
  bool known, logits = !isnan(in->sides[0]->spectrum->logit_factor) && !isnan(in->sides[1]->spectrum->logit_factor);
  rs_spectrum altered = *in->sides[from]->spectrum;
  for (size_t way = 0; alter_amplitude(way, &altered, logits, &what, &known); way++) {
    char key[48];
    snprintf(key, sizeof key, "amplitude %zu", way);
    if (known && !isnan(altered.amp)) judge(in, from, &altered, what, key);
    altered = *in->sides[from]->spectrum;
  }
}

/* From A; from B too where that finds nothing, for a factor that A lacks. */
static void try_amplitude(search *in) {
  size_t before = in->count;
  if (!(in->differs & RS_DIFFERS_AMPLITUDE)) return;
  try_amplitudes(in, 0);
  if (in->count == before) try_amplitudes(in, 1);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* Rounding of positions is seen in a table of cos and sin alone, so it is its own cause. */
static void try_positions(search *in) {
  static const char *const words[RS_FORMATS] = {
      [RS_F32] = "with positions in float32: those past 16777216 share angles",
      [RS_BF16] = "with positions or angles in bfloat16: from position 257 on, neighbours share one angle",
      [RS_F16] = "with positions or angles in float16: from position 2049 on, neighbours share one angle"};
  size_t from = in->sides[0]->spectrum->positions == RS_F64 ? 0 : 1;
  rs_format format = in->sides[1 - from]->spectrum->positions;
  if (!(in->differs & RS_DIFFERS_POSITIONS) || words[format] == NULL) return;
  rs_spectrum altered = *in->sides[from]->spectrum;
  altered.positions = format;
  judge(in, from, &altered, words[format], "positions");
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* The same frequencies in any order. */
static void try_any_order(search *in, double *mine, double *other) {
  const rs_spectrum *a = in->sides[0]->spectrum, *b = in->sides[1]->spectrum;
  rs_spectrum altered = *a, target = *b;
  const rs_compared sorted = {.spectrum = &target}, *plain = in->sides[1];
  memcpy(mine, a->omega, a->pairs * sizeof *mine);
  memcpy(other, b->omega, b->pairs * sizeof *other);
  gsl_sort(mine, 1, a->pairs);
  gsl_sort(other, 1, b->pairs);
  altered.omega = mine;
  target.omega = other;
  target.slack = altered.slack = NULL; /* which pair had which */
  in->sides[1] = &sorted;
  judge(in, 0, &altered, "with the pairs in another order (the same frequencies)", "order");
  in->sides[1] = plain;
}

/* A list that is what the longer one begins with: FoPE's tables hold the pairs that it keeps, and no others. */
static void try_first_pairs(search *in) {
  size_t from = in->sides[0]->spectrum->pairs > in->sides[1]->spectrum->pairs ? 0 : 1;
  const rs_compared *longer = in->sides[from];
  rs_spectrum altered = *longer->spectrum;
  size_t kept = in->sides[1 - from]->spectrum->pairs, turning = 0;
  char what[200], length[64] = "";
  altered.pairs = kept;
  if (longer->recipe != NULL) {
    double trained = rs_compared_train_length(longer);
    while (turning < longer->spectrum->pairs && longer->spectrum->omega[turning] > 2 * M_PI / trained) turning++;
    snprintf(length, sizeof length, "%.15g tokens, the trained length", trained);
  }
  if (turning == kept)
    snprintf(what, sizeof what, "with its first %zu pairs alone (FoPE's cut: others make no turn within %s)", kept,
             length);
  else
    snprintf(what, sizeof what, "with its first %zu pairs alone (FoPE's num_inv_freq, or a list that was cut)", kept);
  judge(in, from, &altered, what, "first pairs");
}

/* Rows of a table of cos and sin that turn otherwise than the rest are what cos_sin.c calls so. */
static void try_first_positions(search *in) {
  if (!(in->differs & RS_DIFFERS_BEYOND)) return;
  for (size_t from = 0; from < 2; from++) {
    const rs_spectrum *other = in->sides[1 - from]->spectrum;
    rs_spectrum altered = *in->sides[from]->spectrum;
    char what[200];
    if (strstr(other->beyond, rs_other_first_rows) == NULL) continue;
    altered.beyond = other->beyond;
    snprintf(what, sizeof what, "with %s (as LongRoPE's mixed tables, which keep plain RoPE there)", other->beyond);
    judge(in, from, &altered, what, "first positions");
  }
}

/* What is done to a table, to that of each side; orders to A's alone, from which B's follow. */
static rs_status try_tables(search *in) {
  const rs_spectrum *a = in->sides[0]->spectrum, *b = in->sides[1]->spectrum;
  if (!(in->differs & RS_DIFFERS_FREQUENCY)) return RS_OK;
  if (a->pairs != b->pairs) try_first_pairs(in);
  if (a->pairs != b->pairs) return RS_OK;
  RS_FREED double *room = rs_alloc(2 * a->pairs, sizeof *room, in->err);
  if (room == NULL) return RS_MEMORY;
  for (size_t from = 0; from < 2; from++) {
    const char *what, *key;
    rs_spectrum altered = *in->sides[from]->spectrum;
    altered.omega = room;
    for (size_t way = 0; rs_table_alter(in->sides[from], way, room, &what, &key); way++)
      if (what != NULL && (from == 0 || strcmp(key, "order") != 0)) judge(in, from, &altered, what, key);
  }
  try_any_order(in, room, room + a->pairs);
  return RS_OK;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* 0: explains all; 1: a part, and brings nothing new; 2: a part, but something else would differ. */
static int rank(const rs_cause *cause) {
  return cause->whole ? 0 : cause->breaks == 0 ? 1 : 2;
}

/* Residuals above this, where some cause leaves next to nothing, are a near miss of another explanation. */
static double worst_of(const search *in, unsigned about, int wanted) {
  static const double slack = 1000, rounding = 1e-14;
  double best = INFINITY;
  for (size_t i = 0; i < in->count; i++)
    if (rank(&in->found[i]) == wanted && (in->found[i].explains & about)) best = fmin(best, in->found[i].residual);
  return slack * fmax(best, rounding);
}

static void name_causes(const search *in, unsigned about, int wanted, rs_causes *causes) {
  size_t taken = 0;
  double worst = worst_of(in, about, wanted);
  for (size_t i = 0; i < in->count && causes->count < RS_CAUSES && taken < RS_CAUSES; i++) {
    const rs_cause *cause = &in->found[i];
    bool listed = false;
    if (rank(cause) != wanted || !(cause->explains & about) || cause->residual > worst) continue;
    for (size_t k = 0; k < causes->count; k++) listed |= strcmp(causes->items[k].text, cause->text) == 0;
    if (listed || (wanted > 0 && taken == SHOWN_OF_A_KIND)) continue;
    causes->items[causes->count++] = *cause;
    taken++;
  }
}

/* Causes of everything; else, for each thing that differs, the best there are. */
static void choose(const search *in, rs_causes *causes) {
  name_causes(in, ~0u, 0, causes);
  if (causes->count > 0) return;
  for (unsigned about = 1; about <= RS_DIFFERS_POSITIONS; about <<= 1) {
    size_t before = causes->count;
    bool known = false;
    for (size_t k = 0; k < before; k++) known |= (causes->items[k].explains & about) != 0;
    if (!(in->differs & about)) continue;
    name_causes(in, about, 1, causes);
    if (causes->count == before && !known) name_causes(in, about, 2, causes);
  }
}

/* What differs by no more than rounding needs no other cause. */
static void add_rounding(const search *in, double rtol, rs_causes *causes) {
  rs_difference strict = rs_spectrum_compare(in->sides[0]->spectrum, in->sides[1]->spectrum, rtol);
  if (in->differs != 0 || strict.differs == 0) return;
  rs_cause *cause = &causes->items[causes->count++];
  *cause = (rs_cause){.explains = strict.differs, .whole = true, .residual = NAN};
  snprintf(
      cause->text, sizeof cause->text,
      "rounding: nothing differs by more than %g, as tables computed in float32 do (--rtol %g takes them for equal)",
      float32_loss, float32_loss);
}

static rs_status run(search *in, rs_hypothesis *lists[2], double rtol, rs_causes *causes) {
  const rs_spectrum *a = in->sides[0]->spectrum, *b = in->sides[1]->spectrum;
  in->differs = rs_spectrum_compare(a, b, in->tolerance).differs;
  add_rounding(in, rtol, causes);
  if (in->differs == 0) return RS_OK;
  try_amplitude(in);
  try_positions(in);
  try_first_positions(in);
  RS_TRY(try_tables(in));
  RS_TRY(try_recipes(in, lists));
  choose(in, causes);
  causes->untried = in->untried;
  if ((in->differs & RS_DIFFERS_FREQUENCY) && !(explained(in) & RS_DIFFERS_FREQUENCY))
    rs_shape_describe(a, b, in->tolerance, causes->shape, sizeof causes->shape);
  return RS_OK;
}

rs_status rs_causes_find(const rs_compared *a, const rs_compared *b, double rtol, rs_causes *causes, rs_err *err) {
  double work = RS_MOST_WORK;
  return rs_causes_within(a, b, rtol, &work, causes, err);
}

rs_status rs_causes_within(const rs_compared *a, const rs_compared *b, double rtol, double *work, rs_causes *causes,
                           rs_err *err) {
  search in = {.sides = {a, b}, .tolerance = fmax(rtol, float32_loss), .work = work, .err = err};
  rs_hypothesis *lists[2];
  for (size_t i = 0; i < 2; i++) lists[i] = rs_alloc(RS_HYPOTHESES, sizeof *lists[i], err);
  in.found = rs_alloc(MOST_FOUND, sizeof *in.found, err);
  in.keys = rs_alloc(MOST_FOUND, sizeof *in.keys, err);
  *causes = (rs_causes){0};
  bool room = lists[0] != NULL && lists[1] != NULL && in.found != NULL && in.keys != NULL;
  rs_status status = room ? run(&in, lists, rtol, causes) : RS_MEMORY;
  for (size_t i = 0; i < 2; i++) free(lists[i]);
  free(in.found);
  free(in.keys);
  return status;
}
