/* Whole recipes for a length, in the order of the rule that leave-one-model-out found best (judge.c): what the model
 * publishes while it serves the length, then recipes that bend the map of positions, then the others, each by
 * needle_damage; with what the evidence says of each. */
#include "evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that the length asks for. */
typedef enum asked {
  NOTHING,
  ONE,
  TWO,
  TIMES, /* L / L0 */

  BASE,          /* the least base that keeps all pairs within the angles of training */
  TURNING_SHARE, /* of the pairs: those that went full circle in training */
  DYNAMIC        /* the word */
} asked;

/* Methods that fix a scale in a file. */
#define EXTENDING "pi ntk ntk_by_parts yarn llama3 longrope"

/* The methods that are used without training, or with a short one, and what is set of each. Ceilings at the trained
 * length (lm_infinite) are not here: a distance at its rim is rare in training, which no cost sees. */
static const struct {
  const char *method, *param;
  asked value;
} recipes[] = {
    {"rope", NULL, NOTHING},
    {"pi", "factor", TIMES},
    {"ntk", "factor", TIMES},
    {"abf", "rope_theta", BASE},
    {"critical_base", "factor", TIMES},
    {"dynamic_ntk", "factor", ONE},
    {"dynamic_ntk", "factor", TWO},
    {"ntk_fixed", "factor", TIMES},
    {"ntk_mixed", "factor", TIMES},
    {"dprope", "factor", TIMES},
    {"ntk_by_parts", "factor", TIMES},
    {"yarn", "factor", TIMES},
    {"yarn", "scale", DYNAMIC},
    {"llama3", "factor", TIMES},
    {"longrope", "factor", TIMES},
    {"p_rope", "rotary_fraction", TURNING_SHARE},
    {"self_extend", NULL, NOTHING},
    {"rerope", NULL, NOTHING},
    {"dual_chunk", NULL, NOTHING},
    {"string", NULL, NOTHING},
};

/* The largest angle that is not new to a pair of plain RoPE; infinite where it went full circle in training. */
static double range_of(const rs_ranking *ranking, size_t pair, double *omega) {
  *omega = rs_ladder_at(ranking->model->rope_theta, (double)ranking->model->rotary_dim, pair);
  return rs_angle_range(ranking->train_length * *omega);
}

static double find_number(const rs_ranking *ranking, size_t length, asked value) {
  double theta = ranking->model->rope_theta, trained = ranking->train_length, omega;
  size_t pairs = ranking->model->rotary_dim / 2, critical = 0;
  while (critical < pairs && isinf(range_of(ranking, critical, &omega))) critical++;
  bool movable = critical > 0 && critical < pairs;
  switch (value) {
  case ONE: return 1;
  case TWO: return 2;
  case TURNING_SHARE: return (double)critical / (double)pairs;
  case BASE: return movable ? rs_base_in_range(theta, critical, pairs, trained, (double)length) : theta;
  default: return (double)length / trained; /* above 1: check_model */
  }
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static rs_status set_list(rs_recipe *recipe, const char *name, const double *list, size_t count, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, name);
  rs_value *value = &recipe->settings.values[index];
  rs_value_clear(value);
  RS_TRY(rs_value_list(recipe->settings.params[index], list, count, value, err));
  value->given = true;
  return RS_OK;
}

/* What a search as LongRoPE's ends in where these costs are searched by: pairs that went full circle are kept, and each
 * other one is divided by no more than brings its farthest key to where training ended. */
static rs_status set_divisors(const rs_ranking *ranking, size_t length, rs_recipe *recipe, rs_err *err) {
  size_t pairs = ranking->model->rotary_dim / 2;
  double *divisors = rs_alloc(2 * pairs, sizeof *divisors, err), *ones = divisors + pairs;
  if (divisors == NULL) return RS_MEMORY;
  for (size_t j = 0; j < pairs; j++) {
    double omega, range = range_of(ranking, j, &omega);
    divisors[j] = isinf(range) ? 1 : fmax(1, ((double)length - 1) * omega / range);
    ones[j] = 1;
  }
  rs_status status = set_list(recipe, "short_factor", ones, pairs, err);
  if (status == RS_OK) status = set_list(recipe, "long_factor", divisors, pairs, err);
  free(divisors);
  return status;
}

static rs_status settle(const rs_ranking *ranking, rs_recipe *recipe, rs_err *err) {
  RS_TRY(rs_recipe_resolve(recipe, ranking->model, err));
  return rs_recipe_check(recipe, ranking->model, err);
}

static rs_status make_recipe(const rs_ranking *ranking, size_t length, size_t index, rs_recipe *recipe, rs_err *err) {
  if (recipes[index].value == TURNING_SHARE && ranking->model->rotary_dim != ranking->model->head_dim)
    return rs_fail(err, RS_UNSUPPORTED, "its ladder is that of a whole head, and the model turns a part");
  RS_TRY(rs_recipe_init(recipe, rs_method_find(recipes[index].method), err));
  rs_status status = RS_OK;
  if (recipes[index].value == DYNAMIC) {
    status = rs_recipe_set(recipe, recipes[index].param, "dynamic", err);
  } else if (recipes[index].param != NULL)
    status = rs_recipe_set_number(recipe, recipes[index].param,
                                  rs_ten_digits(find_number(ranking, length, recipes[index].value)), err);
  if (status == RS_OK && strcmp(recipes[index].method, "longrope") == 0)
    status = set_divisors(ranking, length, recipe, err);
  if (status == RS_OK) status = settle(ranking, recipe, err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

/* ---- the ranking ------------------------------------------------------------------------------------------------- */

static void leave_out(rs_ranking *ranking, const rs_method *method, const char *why) {
  rs_left_out *out = &ranking->left_out[ranking->left_out_count++];
  out->method = method->name;
  rs_shorten(why, sizeof out->why, out->why);
}

static void clear_candidate(rs_candidate *c) {
  rs_recipe_clear(&c->recipe);
  rs_recipe_clear(&c->said);
  *c = (rs_candidate){0};
}

static rs_status price(const rs_ranking_in *in, const rs_ranking *ranking, rs_candidate *c, rs_err *err) {
  const rs_evidence_of of = {ranking->model, ranking->reads, (double)in->length};
  rs_turn_costs costs;
  RS_TRY(rs_solve_costs(&c->recipe, ranking->model, in->length, &costs, err));
  c->damage = rs_turn_costs_sum(&costs, &rs_needle_weights);
  if (isnan(c->damage)) return rs_fail(err, RS_UNSUPPORTED, "its pairs have no one distance");
  c->bends = rs_recipe_bends(&c->recipe);
  c->forecast = (rs_forecast){.increase = NAN, .low = NAN, .high = NAN};
  /* The evidence is of recipes on models that were trained with plain RoPE. */
  if (in->evidence != NULL && (c->unchanged || !ranking->extended))
    RS_TRY(rs_evidence_forecast(in->evidence, &of, c->unchanged && !c->serves ? NULL : &c->recipe, &c->forecast, err));
  return rs_solve_say(in, ranking, c, err);
}

static bool same_recipe(const rs_recipe *a, const rs_recipe *b) {
  bool same = a->method == b->method && a->settings.count > 0;
  for (size_t i = 0; same && i < a->settings.count; i++) {
    const rs_param *param = a->settings.params[i];
    const rs_value *x = &a->settings.values[i], *y = &b->settings.values[i];
    bool usual = (!x->set || rs_value_usual(param, x)) && (!y->set || rs_value_usual(param, y));
    same = usual || rs_value_same(x, y);
  }
  return same;
}

/* Whether the same recipe is there already: a factor may be 1, or the one that is published. */
static bool is_there(const rs_ranking *ranking, const rs_recipe *recipe) {
  for (size_t i = 0; i < ranking->count; i++)
    if (same_recipe(recipe, &ranking->items[i].recipe)) return true;
  return false;
}

/* Whether the frequencies of a recipe follow the length, as those of dynamic_ntk. */
static rs_status follows(const rs_ranking *ranking, const rs_recipe *recipe, size_t length, bool *does, rs_err *err) {
  RS_OWNED(rs_spectrum) here = {0}, there = {0};
  RS_TRY(rs_spectrum_make(recipe, ranking->model, (size_t)ranking->reads, &here, err));
  RS_TRY(rs_spectrum_make(recipe, ranking->model, length, &there, err));
  *does = rs_spectrum_compare(&here, &there, 1e-9).differs != 0;
  return RS_OK;
}

/* Takes the recipe. */
static rs_status add(const rs_ranking_in *in, rs_ranking *ranking, rs_recipe *recipe, bool unchanged, rs_err *err) {
  bool serves = false;
  if (unchanged) RS_TRY(follows(ranking, recipe, in->length, &serves, err));
  rs_candidate *c = &ranking->items[ranking->count];
  rs_err why = {0};
  if (is_there(ranking, recipe)) {
    rs_recipe_clear(recipe);
    return RS_OK;
  }
  *c = (rs_candidate){
      .recipe = *recipe, .unchanged = unchanged, .serves = serves, .first = serves || (unchanged && ranking->extended)};
  *recipe = (rs_recipe){0};
  rs_status status = price(in, ranking, c, &why);
  if (status == RS_OK)
    ranking->count++;
  else {
    leave_out(ranking, c->recipe.method, why.message);
    clear_candidate(c);
  }
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

/* What the model is read with as it is: what it publishes, else plain RoPE. */
static rs_status add_unchanged(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  const rs_model *model = ranking->model;
  RS_TRY(model->published.method != NULL ? rs_recipe_copy(&recipe, &model->published, err)
                                         : rs_solve_plain(model, 0, &recipe, err));
  RS_TRY(settle(ranking, &recipe, err));
  return add(in, ranking, &recipe, true, err);
}

/* The published recipe with the factor that the length asks for. */
static rs_status add_raised(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  bool given;
  RS_TRY(rs_recipe_copy(&recipe, &ranking->model->published, err));
  const char *name = rs_recipe_scale_name(&recipe, &given);
  /* LongRoPE's lists belong to the length that they were searched for. */
  if (name == NULL || strcmp(name, "factor") != 0 || strcmp(recipe.method->name, "longrope") == 0 ||
      !rs_setting(&recipe.settings, name)->set)
    return RS_OK;
  double factor = rs_setting(&recipe.settings, name)->number * (double)in->length / ranking->reads;
  RS_TRY(rs_recipe_set_number(&recipe, name, rs_ten_digits(factor), err));
  RS_TRY(settle(ranking, &recipe, err));
  return add(in, ranking, &recipe, false, err);
}

static rs_status add_all(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) {
  RS_TRY(add_unchanged(in, ranking, err));
  if (ranking->extended) return add_raised(in, ranking, err);
  for (size_t i = 0; i < RS_COUNT(recipes); i++) {
    rs_recipe recipe = {0};
    rs_err why = {0};
    rs_status status = make_recipe(ranking, in->length, i, &recipe, &why);
    if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
    if (status == RS_OK)
      RS_TRY(add(in, ranking, &recipe, false, err));
    else
      leave_out(ranking, rs_method_find(recipes[i].method), why.message);
  }
  return RS_OK;
}

/* What is published comes first where it serves the length, and where it has been extended already: its weights may
 * have been tuned with it, and of a larger factor there is no evidence. */
static double place_of(const rs_candidate *c) {
  return c->first ? -1 : rs_rule_of(c->bends, c->damage);
}

static int by_rule(const void *a, const void *b) {
  double x = place_of(a), y = place_of(b);
  return fabs(x - y) > 1e-12 ? (x > y) - (x < y) : 0;
}

/* The tokens that the model reads as it is. Of a recipe that extends it by a fixed scale these are what the file says,
 * and where that is the length of training, what the scale makes of it (but for Position Interpolation, beside which
 * files have the length that the model was tuned at). Whether the model was tuned so is its publisher's to know. */
static double reach_of(rs_ranking *ranking) {
  const rs_model *model = ranking->model;
  const rs_recipe *published = &model->published;
  double trained = ranking->train_length, most = (double)model->max_length, factor = 1;
  if (published->method == NULL || !rs_word_among(published->method->name, EXTENDING)) return trained;
  int index = rs_settings_find(&published->settings, "factor");
  if (index >= 0 && published->settings.values[index].set) factor = published->settings.values[index].number;
  bool listed = strcmp(published->method->name, "longrope") == 0, divided = strcmp(published->method->name, "pi") == 0;
  ranking->extended = factor > 1 || listed;
  if (!ranking->extended) return trained;
  if (divided) return trained;
  return most > trained || listed ? fmax(most, trained) : factor * trained;
}

static rs_status check_model(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) {
  const rs_layer_kind *kind = &ranking->profile.kinds[ranking->kind];
  const rs_model *model = ranking->model;
  const rs_method *published = model->published.method;
  if (model->rotary_dim < 2 || (published != NULL && published->freq == NULL))
    return rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs on %s: there is no setting to rank",
                   published != NULL ? published->name : "the model", model->name);
  ranking->train_length =
      published != NULL ? rs_recipe_train_length(&model->published, model) : (double)model->train_length;
  RS_TRY(rs_need_trained(model, ranking->train_length >= 2 ? ranking->train_length : 0, err));
  ranking->reads = reach_of(ranking);
  if (in->length < 2 || in->length > RS_LONGEST_RANKED)
    return rs_fail(err, RS_INPUT, "%zu tokens: from 2 to %d can be ranked", in->length, RS_LONGEST_RANKED);
  if ((double)in->length <= ranking->reads)
    return rs_fail(err, RS_DOMAIN, "keep what the file says: %zu tokens are within the %.0f that %s %s", in->length,
                   ranking->reads, model->name, ranking->extended ? "publishes its recipe for" : "was trained at");
  if (rs_window_of(kind) > 0 && (double)rs_window_of(kind) <= ranking->reads)
    return rs_fail(
        err, RS_DOMAIN,
        "these layers of %s (%s) see %zu tokens whatever the context, and training had %g: no setting is called for",
        model->name, kind->name, kind->mask.window, ranking->train_length);
  return RS_OK;
}

rs_status rs_rank_settings(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) {
  const rs_subject_in subject = {
      .hf = in->hf, .hf_text = in->hf_text, .preset = in->preset, .layers = in->layers, .length = in->length};
  *ranking = (rs_ranking){0};
  if (in->hf == NULL && in->preset == NULL) return rs_fail(err, RS_INPUT, "no model is named");
  RS_TRY(rs_subject_profile(&subject, &ranking->profile, &ranking->kind, err));
  ranking->model = &ranking->profile.kinds[ranking->kind].model;
  rs_status status = check_model(in, ranking, err);
  if (status == RS_OK) status = add_all(in, ranking, err);
  if (status == RS_OK && ranking->count == 0) status = rs_fail(err, RS_DOMAIN, "no recipe has a cost there");
  if (status == RS_OK)
    qsort(ranking->items, ranking->count, sizeof *ranking->items, by_rule);
  else
    rs_ranking_clear(ranking);
  return status;
}

void rs_ranking_clear(rs_ranking *ranking) {
  for (size_t i = 0; i < ranking->count; i++) clear_candidate(&ranking->items[i]);
  rs_profile_clear(&ranking->profile);
  *ranking = (rs_ranking){0};
}

size_t rs_ranking_best_said(const rs_ranking *ranking) {
  for (size_t i = 0; i < ranking->count; i++)
    if (ranking->items[i].said.method != NULL) return i;
  return SIZE_MAX;
}
