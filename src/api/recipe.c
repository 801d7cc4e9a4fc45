/* Recipes: one method on the layers of one model, and what there is to say of it. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static rs_status read_subject(const ropescope_library *library, const ropescope_recipe_source *source,
                              rs_subject *subject, rs_problems *problems, rs_err *err) {
  static const char *const keys[] = {"tokens", "precision"};
  const char *values[] = {source->tokens, source->precision}, *list[RS_COUNT(keys)];
  const rs_method_list beside = rs_api_methods(library);
  rs_arena words = {0}; /* of the edits, "tokens=..." */
  size_t edits = 0;
  const char *name = NULL;
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    rs_text edit = {0};
    if (values[i] == NULL) continue;
    rs_text_printf(&edit, "%s=%s", keys[i], values[i]);
    list[edits++] = rs_api_keep(&words, &edit, err);
  }
  rs_status status = rs_arena_check(&words, err);
  if (status == RS_OK) status = rs_api_model_name(source->file, source->text, &words, &name, err);
  const rs_subject_in in = {.hf = name,
                            .hf_text = source->text,
                            .preset = source->preset,
                            .layers = source->layers,
                            .method = source->method,
                            .label = "method",
                            .fallback = "rope",
                            .edits = {.edits = list, .count = edits, .beside = &beside},
                            .length = source->length};
  if (status == RS_OK) status = rs_subject_read(&in, subject, problems, err);
  rs_arena_clear(&words);
  return status;
}

/* ---- what there is to say ---------------------------------------------------------------------------------------- */

static rs_status list_parameters(ropescope_recipe *recipe, rs_err *err) {
  const rs_settings *settings = &recipe->subject.recipe.settings;
  recipe->parameters = rs_arena_take(&recipe->arena, settings->count, sizeof *recipe->parameters);
  RS_TRY(rs_arena_check(&recipe->arena, err));
  recipe->parameter_count = settings->count;
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    rs_text value = {0};
    if (settings->values[p].set) rs_value_write(param, &settings->values[p], &value);
    recipe->parameters[p] = (ropescope_parameter){.name = param->name,
                                                  .value = rs_api_keep(&recipe->arena, &value, err),
                                                  .unit = param->unit,
                                                  .summary = param->summary,
                                                  .given = settings->values[p].given};
  }
  return RS_OK;
}

static void describe_kind(ropescope_recipe *recipe, size_t index, rs_err *err) {
  const rs_profile *profile = &recipe->subject.profile;
  const rs_layer_kind *kind = &profile->kinds[index];
  const rs_method *method = kind->model.published.method;
  rs_text layers = {0}, sees = {0};
  rs_profile_write_layers(profile, index, &layers);
  if (kind->attends) rs_layer_kind_write_mask(kind, &sees);
  ropescope_layer_kind *out = &recipe->kinds[index];
  *out = (ropescope_layer_kind){.name = kind->name,
                                .layers = rs_api_keep(&recipe->arena, &layers, err),
                                .sees = rs_api_keep(&recipe->arena, &sees, err),
                                .method = kind->attends && method != NULL ? method->name : "",
                                .attends = kind->attends,
                                .chosen = index == recipe->subject.kind};
  for (size_t l = 0; l < profile->layer_count; l++) out->count += profile->layers[l] == index;
}

static rs_status describe(ropescope_recipe *recipe, rs_err *err) {
  const rs_subject *subject = &recipe->subject;
  rs_text text = {0}, warning = {0};
  rs_recipe_write(&subject->recipe, &text);
  rs_recipe_warn(&subject->recipe, NULL, &subject->model, subject->length, &subject->tokens, &warning);
  recipe->text = rs_api_keep(&recipe->arena, &text, err);
  recipe->warning = rs_api_keep(&recipe->arena, &warning, err);
  RS_TRY(list_parameters(recipe, err));
  recipe->kinds = rs_arena_take(&recipe->arena, subject->profile.kind_count, sizeof *recipe->kinds);
  RS_TRY(rs_arena_check(&recipe->arena, err));
  recipe->kind_count = subject->profile.kind_count;
  for (size_t k = 0; k < recipe->kind_count; k++) describe_kind(recipe, k, err);
  return rs_arena_check(&recipe->arena, err);
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

ropescope_status ropescope_recipe_create(const ropescope_library *library, const ropescope_recipe_source *source,
                                         ropescope_recipe **recipe, ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *recipe = rs_alloc(1, sizeof **recipe, &err);
  rs_status status = *recipe != NULL ? rs_api_model_check(source, &err) : RS_MEMORY;
  if (status == RS_OK) status = read_subject(library, source, &(*recipe)->subject, &problems, &err);
  if (status == RS_OK) status = describe(*recipe, &err);
  return RS_API_END(status, recipe, ropescope_recipe_free, error, &err, &problems);
}

void ropescope_recipe_free(ropescope_recipe *recipe) {
  if (recipe == NULL) return;
  rs_subject_clear(&recipe->subject);
  rs_arena_clear(&recipe->arena);
  free(recipe);
}

const char *ropescope_recipe_model(const ropescope_recipe *recipe) {
  return recipe->subject.model.name;
}

const char *ropescope_recipe_method(const ropescope_recipe *recipe) {
  return recipe->subject.recipe.method->name;
}

const char *ropescope_recipe_text(const ropescope_recipe *recipe) {
  return recipe->text;
}

const char *ropescope_recipe_warning(const ropescope_recipe *recipe) {
  return recipe->warning;
}

/* A parameter that stands in the place of the model's number. */
static double own_number(const ropescope_recipe *recipe, const char *name, double of_model) {
  const rs_value *own = rs_setting(&recipe->subject.recipe.settings, name);
  return own->set ? own->number : of_model;
}

size_t ropescope_recipe_heads(const ropescope_recipe *recipe) {
  return recipe->subject.model.heads;
}

size_t ropescope_recipe_head_dim(const ropescope_recipe *recipe) {
  return recipe->subject.model.head_dim;
}

size_t ropescope_recipe_rotary_dim(const ropescope_recipe *recipe) {
  if (recipe->subject.recipe.method->freq == NULL) return 0;
  return (size_t)own_number(recipe, "rotary_dim", (double)recipe->subject.model.rotary_dim);
}

size_t ropescope_recipe_length(const ropescope_recipe *recipe) {
  return recipe->subject.length;
}

size_t ropescope_recipe_train_length(const ropescope_recipe *recipe) {
  return (size_t)rs_recipe_train_length(&recipe->subject.recipe, &recipe->subject.model);
}

size_t ropescope_recipe_max_length(const ropescope_recipe *recipe) {
  return recipe->subject.model.max_length;
}

double ropescope_recipe_theta(const ropescope_recipe *recipe) {
  return own_number(recipe, "rope_theta", recipe->subject.model.rope_theta);
}

int ropescope_recipe_interleaved(const ropescope_recipe *recipe) {
  const rs_value *own = rs_setting(&recipe->subject.recipe.settings, "pair_layout");
  rs_pair_layout layout = own->set ? (rs_pair_layout)own->choice : recipe->subject.model.pair_layout;
  return layout == RS_INTERLEAVED;
}

const ropescope_parameter *ropescope_recipe_parameter(const ropescope_recipe *recipe, size_t index) {
  return index < recipe->parameter_count ? &recipe->parameters[index] : NULL;
}

const ropescope_layer_kind *ropescope_recipe_layer_kind(const ropescope_recipe *recipe, size_t index) {
  return index < recipe->kind_count ? &recipe->kinds[index] : NULL;
}
