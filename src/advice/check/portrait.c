/* What a config.json says, in numbers: lengths, factors, pairs, angles, engines. */
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

const char *const rs_pair_fate_words[RS_PAIR_FATES + 1] = {"kept", "blended", "divided", "altered", "still", NULL};

rs_pair_fate rs_pair_fate_of(double omega, double plain, double s) {
  const double equal = 1e-6;
  double ratio = omega / plain;
  if (omega == 0) return RS_STILL;
  if (fabs(ratio - 1) <= equal) return RS_KEPT;
  if (fabs(ratio * s - 1) <= equal) return RS_DIVIDED;
  return ratio < 1 && ratio * s > 1 ? RS_BLENDED : RS_ALTERED; /* NaN: altered */
}

/* s at a length; NaN where the method has none. */
static double factor_at(const rs_portrait *portrait, size_t length) {
  const rs_recipe *recipe = &portrait->recipe;
  if (!rs_method_scaled(recipe->method)) return NAN;
  return rs_scale_resolve(&recipe->settings, (double)length, rs_recipe_train_length(recipe, portrait->model));
}

size_t rs_reach_of(const rs_layer_kind *kind, size_t length) {
  size_t farthest = length - 1, window = kind->mask.window;
  if (window == 0 || kind->compression > 0) return farthest;
  size_t seen = kind->mask.kind == RS_BIDIRECTIONAL ? window : window - 1;
  return seen < farthest ? seen : farthest;
}

void rs_view_clear(rs_view *view) {
  free(view->pairs);
  *view = (rs_view){0};
}

rs_status rs_view_make(const rs_portrait *portrait, size_t length, rs_view *view, rs_err *err) {
  const rs_model *model = portrait->model;
  double trained = rs_recipe_train_length(&portrait->recipe, model);
  RS_OWNED(rs_spectrum) spectrum = {0};
  *view = (rs_view){.length = length,
                    .reach = rs_reach_of(&portrait->profile.kinds[portrait->kind], length),
                    .factor = factor_at(portrait, length)};
  RS_TRY(rs_spectrum_make(&portrait->recipe, model, length, &spectrum, err));
  view->count = spectrum.pairs;
  view->amp = spectrum.amp;
  view->logit_factor = spectrum.logit_factor;
  view->pairs = rs_alloc(view->count, sizeof *view->pairs, err);
  for (size_t j = 0; view->pairs != NULL && j < view->count; j++) {
    double omega = spectrum.omega[j], plain = rs_ladder_at(model->rope_theta, (double)model->rotary_dim, j);
    rs_pair_view *pair = &view->pairs[j];
    *pair = (rs_pair_view){.pair = j,
                           .axis = spectrum.axis[j],
                           .omega = omega,
                           .plain = plain,
                           .trained = trained * plain,
                           .reached = (double)view->reach * omega,
                           .range = rs_angle_range(trained * plain),
                           .fate = rs_pair_fate_of(omega, plain, view->factor)};
    pair->out_of_range = pair->reached > pair->range;
    view->out_of_range += pair->out_of_range;
  }
  return view->pairs != NULL ? RS_OK : RS_MEMORY;
}

/* ---- the parts of a portrait ------------------------------------------------------------------------------------- */

static void fill_lengths(const rs_checked *c, rs_portrait *portrait) {
  portrait->maximum = rs_node_number(rs_maximum_of(c));
  portrait->original = rs_key_number(c->root, "original_max_position_embeddings");
  for (size_t r = 0; r < c->rope_count && isnan(portrait->original); r++)
    portrait->original = rs_node_number(rs_original_of(c, &c->ropes[r]));
  portrait->trained = (size_t)rs_recipe_train_length(&portrait->recipe, portrait->model);
  portrait->served = portrait->model->max_length;
}

/* The rule that scales logits by position. Those of Llama 4 and Ministral 3 are 1 + factor ln(...), and some files turn
 * them off by a factor of 0. */
static const char *temperature_of(const rs_settings *settings) {
  const rs_lscale_kind *chosen = rs_lscale_chosen(settings);
  if (chosen == NULL) return NULL;
  bool adds = rs_word_among(chosen->kind.name, "ministral llama4");
  const rs_value *factor = rs_setting(settings, "logit_scale_factor");
  return adds && factor->set && factor->number == 0 ? NULL : chosen->kind.name;
}

/* The factor that the file gives (a model's code may set it, too), and what the formula gives in its place. */
static rs_status fill_attention(const rs_checked *c, rs_portrait *portrait, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_OWNED(rs_spectrum) spectrum = {0};
  const rs_settings *settings = &portrait->recipe.settings;
  const rs_value *given = rs_setting(settings, "attention_factor");
  portrait->attention_given = NAN;
  for (size_t r = 0; r < c->rope_count; r++)
    if (given->set && !isnan(rs_key_number(c->ropes[r].node, "attention_factor")))
      portrait->attention_given = given->number;
  portrait->temperature = temperature_of(settings);
  RS_TRY(rs_recipe_copy(&recipe, &portrait->recipe, err));
  RS_TRY(given->set ? rs_recipe_preset(&recipe, "attention_factor", NULL, err) : RS_OK);
  RS_TRY(rs_spectrum_make(&recipe, portrait->model, portrait->served, &spectrum, err));
  portrait->attention_formula = spectrum.amp;
  return RS_OK;
}

static rs_status fill_pairs(rs_portrait *portrait, rs_err *err) {
  RS_OWNED(rs_view) view = {0};
  RS_TRY(rs_view_make(portrait, portrait->served, &view, err));
  portrait->pairs = view.count;
  portrait->factor = view.factor;
  portrait->amp = view.amp;
  portrait->logit_factor = view.logit_factor;
  portrait->stretch = 0;
  for (size_t j = 0; j < view.count; j++) {
    const rs_pair_view *pair = &view.pairs[j];
    portrait->fates[pair->fate]++;
    if (pair->omega > 0) portrait->stretch = fmax(portrait->stretch, pair->plain / pair->omega);
  }
  return RS_OK;
}

static rs_status fill_reaches(rs_portrait *portrait, rs_err *err) {
  const size_t lengths[] = {32768, 131072, portrait->served};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    RS_OWNED(rs_view) view = {0};
    size_t place = portrait->reach_count;
    if (i == 2 && (lengths[i] == lengths[0] || lengths[i] == lengths[1])) continue;
    RS_TRY(rs_view_make(portrait, lengths[i], &view, err));
    for (; place > 0 && portrait->reaches[place - 1].length > lengths[i]; place--)
      portrait->reaches[place] = portrait->reaches[place - 1];
    portrait->reaches[place] = (rs_reach){lengths[i], view.out_of_range};
    portrait->reach_count++;
  }
  return RS_OK;
}

/* How far near keys are turned at the trained length, as the metric has it. */
static rs_status fill_near(rs_portrait *portrait, rs_err *err) {
  enum { LONGEST = 1 << 22, NEAR_TURN = 2 }; /* tokens, 100 MB of tables; its number among the metric's */
  const rs_metric_kind *metric = rs_metric_find("zero_shot_damage");
  RS_HELD(rs_encoding) encoding = NULL;
  rs_result result = {0};
  portrait->near = NAN;
  if (portrait->fates[RS_STILL] > 0 || portrait->trained < 2 || portrait->trained > LONGEST) return RS_OK;
  RS_TRY(rs_encoding_create(&portrait->recipe, portrait->model, portrait->trained, NULL, NULL, &encoding, err));
  rs_status status = metric->finish(&(rs_metric_in){.encoding = encoding}, NULL, &result, err);
  portrait->near = result.value[NEAR_TURN];
  return status;
}

/* ---- portraits --------------------------------------------------------------------------------------------------- */

static rs_status fill(const rs_checked *c, const char *name, rs_portrait *portrait, rs_err *err) {
  const rs_method *method = c->model->published.method;
  RS_OWNED(rs_text) class = {0};
  rs_hf_write_class(c->top, &class);
  rs_shorten(rs_text_string(&class), sizeof portrait->class, portrait->class);
  RS_TRY(rs_text_check(&class, err));
  if (method == NULL) return RS_OK;
  RS_TRY(rs_recipe_copy(&portrait->recipe, &c->model->published, err));
  RS_TRY(rs_recipe_resolve(&portrait->recipe, portrait->model, err));
  portrait->turns = method->freq != NULL && portrait->model->rotary_dim > 1;
  if (!portrait->turns) return RS_OK;
  fill_lengths(c, portrait);
  if (portrait->trained < 1 || portrait->served < 1)
    return rs_fail(err, RS_INPUT,
                   "%s: has no max_position_embeddings, and its class no default: which length was it trained at?",
                   name);
  RS_TRY(fill_attention(c, portrait, err));
  RS_TRY(fill_pairs(portrait, err));
  RS_TRY(fill_reaches(portrait, err));
  RS_TRY(fill_near(portrait, err));
  return rs_derivations_make(c, &portrait->engines, err);
}

rs_status rs_portrait_read(const char *text, size_t length, const char *name, const char *layers, rs_portrait *portrait,
                           rs_err *err) {
  RS_OWNED(rs_checked) c = {0};
  *portrait = (rs_portrait){0};
  RS_TRY(rs_checked_read(text, length, name, &c, err));
  portrait->profile = c.profile; /* which owns the models */
  c.profile = (rs_profile){0};
  rs_status status = c.unread.status;
  if (status != RS_OK) status = rs_fail(err, status, "%s", c.unread.message);
  if (status == RS_OK) status = rs_profile_find(&portrait->profile, layers, &portrait->kind, err);
  if (status == RS_OK) {
    c.model = portrait->model = &portrait->profile.kinds[portrait->kind].model;
    status = fill(&c, name, portrait, err);
  }
  if (status != RS_OK) rs_portrait_clear(portrait);
  return status;
}

void rs_portrait_clear(rs_portrait *portrait) {
  rs_recipe_clear(&portrait->recipe);
  rs_profile_clear(&portrait->profile);
  *portrait = (rs_portrait){0};
}
