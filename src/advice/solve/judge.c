/* Leave one model out: what evidence, formulas and rules are worth on models that they have not seen. Models that were
 * trained here on one task, and models that were tuned from one, are left out together. */
#include "evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMULAS = 3 };

/* What orders the rows of a table. */
enum { EVIDENCE, ZERO_SHOT, LOSS, NEEDLE, BENT, DYNAMIC, BENT_LOSS, BENT_NEEDLE };
static const char *const names[RS_PREDICTORS] = {
    [EVIDENCE] = "evidence",
    [ZERO_SHOT] = "zero_shot_damage",
    [LOSS] = "loss_damage",
    [NEEDLE] = "needle_damage",
    [BENT] = "bend the map",
    [DYNAMIC] = "dynamic NTK, else bend the map",
    [BENT_LOSS] = "bend the map, then loss_damage",
    [BENT_NEEDLE] = "bend the map, then needle_damage",
};

/* What it says of a row, lower where less is lost; NaN: nothing. `formulas`: from ZERO_SHOT on. */
static double say(size_t predictor, const rs_evidence *e, const rs_evidence_row *row, const double formulas[FORMULAS]) {
  const rs_evidence_query others = {row->trait, row->way, row->variant, {row->group, SIZE_MAX}};
  switch (predictor) {
  case EVIDENCE: return rs_evidence_mean(e, &others);
  case BENT: return !row->bends;
  case DYNAMIC: return strcmp(row->method, "dynamic_ntk") == 0 ? 0 : row->bends ? 1 : 2;
  case BENT_LOSS: return rs_rule_of(row->bends, formulas[LOSS - ZERO_SHOT]);
  case BENT_NEEDLE: return rs_rule_of(row->bends, formulas[NEEDLE - ZERO_SHOT]);
  default: return formulas[predictor - ZERO_SHOT];
  }
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* zero_shot_damage, loss_damage and needle_damage; NaN where pairs have no one distance. */
static rs_status find_formulas(const rs_evidence *e, const rs_evidence_row *row, double formulas[FORMULAS],
                               rs_err *err) {
  static const rs_turn_costs zero_shot = {.near = 5, .out = 1};
  RS_OWNED(rs_model) model = {0};
  RS_OWNED(rs_recipe) recipe = {0};
  RS_OWNED(rs_spectrum) spectrum = {0};
  rs_turn_costs costs;
  rs_err why = {0};
  RS_TRY(rs_evidence_model(e, row->line, &model, err));
  RS_TRY(rs_evidence_recipe(e, row->line, &model, &recipe, err));
  size_t length = (size_t)llround(exp2(row->trait[0] + row->trait[2]));
  rs_status status = rs_solve_costs(&recipe, &model, length, &costs, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, &model, length, &spectrum, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  for (size_t f = 0; f < FORMULAS; f++) formulas[f] = NAN;
  if (status != RS_OK) return RS_OK;
  double factor = isnan(spectrum.logit_factor) ? 1 : spectrum.logit_factor,
         amp = isnan(spectrum.amp) ? 1 : spectrum.amp;
  formulas[0] = rs_turn_costs_sum(&costs, &zero_shot) - 0.01 * log(amp * amp * factor);
  formulas[1] = rs_turn_costs_sum(&costs, &rs_loss_weights);
  formulas[2] = rs_turn_costs_sum(&costs, &rs_needle_weights);
  return RS_OK;
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* Shares that are counted in each group. */
enum { PAIRS, SERIOUS, BEST, COVERED, SHARES };

typedef struct tally {
  double right[SHARES];
  size_t all[SHARES];
} tally;

/* Rows more than two standard errors apart. */
static bool apart(const rs_evidence_row *a, const rs_evidence_row *b) {
  return fabs(a->increase - b->increase) > 2 * hypot(a->error, b->error);
}

static bool is_serious(const rs_evidence_row *row) {
  return !rs_word_among(row->method, "unchanged pi");
}

/* Where nothing is said of one, or the same of both, the order is a coin's. */
static void count_pair(const rs_evidence_row *a, const rs_evidence_row *b, double said_a, double said_b, tally *sums) {
  if (!apart(a, b)) return;
  bool told = !isnan(said_a) && !isnan(said_b) && said_a != said_b;
  double right = !told ? 0.5 : (said_a < said_b) == (a->increase < b->increase);
  for (size_t share = PAIRS; share <= (is_serious(a) && is_serious(b) ? SERIOUS : PAIRS); share++) {
    sums->right[share] += right;
    sums->all[share]++;
  }
}

/* The rows of a table, and what is said of each. Of ways that are named first together, as by rules that know two
 * kinds, the share that is best counts. */
static void count_table(const rs_evidence_row *rows, const double *said, size_t count, tally *sums) {
  double least = INFINITY, named = 0, right = 0;
  size_t best = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++) count_pair(&rows[i], &rows[k], said[i], said[k], sums);
    if (rows[i].increase < rows[best].increase) best = i;
    least = fmin(least, said[i]); /* which passes over NaN */
  }
  if (count < 2) return;
  for (size_t i = 0; i < count; i++) {
    if (said[i] != least) continue;
    named++;
    right += !apart(&rows[i], &rows[best]);
  }
  sums->all[BEST]++;
  sums->right[BEST] += named > 0 ? right / named : 0;
}

/* Rows within the intervals that other groups give; of a lower bound, not above it. */
static rs_status count_covered(const rs_evidence *e, const double *said, tally *sums, rs_err *err) {
  for (size_t g = 0; g < e->groups.count; g++) {
    double spread;
    RS_TRY(rs_evidence_spread(e, g, &spread, err));
    for (size_t i = 0; i < e->count; i++) {
      if (e->rows[i].group != g || isnan(said[i]) || isnan(spread)) continue;
      double off = rs_evidence_tamed(e->rows[i].increase) - said[i];
      sums[g].all[COVERED]++;
      sums[g].right[COVERED] += (e->rows[i].least ? off : fabs(off)) <= spread;
    }
  }
  return RS_OK;
}

/* The means over groups of the share in each. */
static void judge(const tally *sums, size_t groups, rs_judgement *out) {
  double *const shares[SHARES] = {&out->right, &out->serious, &out->best, &out->coverage};
  size_t *const counts[SHARES] = {&out->pairs, &out->serious_pairs, &out->tables, &out->rows};
  for (size_t g = 0; g < groups; g++)
    for (size_t share = PAIRS; share <= COVERED; share += COVERED - PAIRS)
      (share == PAIRS ? out->group_right : out->group_covered)[g] =
          sums[g].all[share] > 0 ? sums[g].right[share] / (double)sums[g].all[share] : NAN;
  for (size_t share = 0; share < SHARES; share++) {
    size_t counted = 0;
    double total = 0;
    for (size_t g = 0; g < groups; g++) {
      *counts[share] += sums[g].all[share];
      if (sums[g].all[share] == 0) continue;
      total += sums[g].right[share] / (double)sums[g].all[share];
      counted++;
    }
    *shares[share] = counted > 0 ? total / (double)counted : NAN;
  }
}

rs_status rs_evidence_judge(const rs_evidence *e, rs_judgement judgements[RS_PREDICTORS], rs_err *err) {
  RS_FREED double *formulas = rs_alloc((FORMULAS + 1) * e->count, sizeof *formulas, err);
  RS_FREED tally *sums = rs_alloc(e->groups.count, sizeof *sums, err);
  if (formulas == NULL || sums == NULL) return RS_MEMORY;
  double *said = formulas + FORMULAS * e->count;
  for (size_t i = 0; i < e->count; i++) RS_TRY(find_formulas(e, &e->rows[i], formulas + FORMULAS * i, err));
  for (size_t p = 0; p < RS_PREDICTORS; p++) {
    memset(sums, 0, e->groups.count * sizeof *sums);
    for (size_t i = 0; i < e->count; i++) said[i] = say(p, e, &e->rows[i], formulas + FORMULAS * i);
    for (size_t first = 0, last; first < e->count; first = last) {
      for (last = first + 1; last < e->count && e->rows[last].table == e->rows[first].table;) last++;
      count_table(e->rows + first, said + first, last - first, &sums[e->rows[first].group]);
    }
    if (p == EVIDENCE) RS_TRY(count_covered(e, said, sums, err));
    judgements[p] = (rs_judgement){.name = names[p]};
    judge(sums, e->groups.count, &judgements[p]);
  }
  return RS_OK;
}
