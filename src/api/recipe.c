/* Recipes: one method on the layers of one model, and what there is to say of it. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* "tokens=..." and "precision=...", for those that are given. */
typedef struct edits {
  rs_text text[2];
  const char *list[2];
  size_t count;
} edits;

static void add_edit(edits *all, const char *key, const char *value) {
  if (value == NULL) return;
  rs_text_printf(&all->text[all->count], "%s=%s", key, value);
  all->list[all->count] = rs_text_string(&all->text[all->count]);
  all->count++;
}

static rs_status make_edits(const ropescope_recipe_source *source, edits *all, rs_err *err) {
  add_edit(all, "tokens", source->tokens);
  add_edit(all, "precision", source->precision);
  for (size_t i = 0; i < all->count; i++) RS_TRY(rs_text_check(&all->text[i], err));
  return RS_OK;
}

static rs_status read_subject(const ropescope_library *library, const ropescope_recipe_source *source,
                              rs_subject *subject, rs_problems *problems, rs_err *err) {
  edits all = {0};
  const rs_method_list beside = rs_api_methods(library);
  char *path = source->file != NULL && source->text == NULL ? rs_api_config_path(source->file, err) : NULL;
  const char *name = source->file != NULL ? source->file : "config.json";
  bool file = source->file != NULL && source->text == NULL;
  rs_status status = file && path == NULL ? RS_MEMORY : make_edits(source, &all, err);
  const rs_subject_in in = {.hf = file                   ? path
                                  : source->text != NULL ? name
                                                         : NULL,
                            .hf_text = source->text,
                            .preset = source->preset,
                            .layers = source->layers,
                            .method = source->method,
                            .label = "method",
                            .fallback = "rope",
                            .edits = {.edits = all.list, .count = all.count, .beside = &beside},
                            .length = source->length};
  if (status == RS_OK) status = rs_subject_read(&in, subject, problems, err);
  for (size_t i = 0; i < RS_COUNT(all.text); i++) rs_text_clear(&all.text[i]);
  free(path);
  return status;
}

/* ---- what there is to say ---------------------------------------------------------------------------------------- */

static rs_status list_parameters(ropescope_recipe *recipe, rs_err *err) {
  const rs_settings *settings = &recipe->subject.recipe.settings;
  recipe->parameters = rs_alloc(settings->count, sizeof *recipe->parameters, err);
  if (recipe->parameters == NULL) return RS_MEMORY;
  recipe->parameter_count = settings->count;
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    rs_text value = {0};
    if (settings->values[p].set) rs_value_write(param, &settings->values[p], &value);
    recipe->parameters[p] = (ropescope_parameter){.name = param->name,
                                                  .value = rs_api_keep(&recipe->words, &value, err),
                                                  .unit = param->unit,
                                                  .summary = param->summary,
                                                  .given = settings->values[p].given};
    if (recipe->parameters[p].value == NULL) return RS_MEMORY;
  }
  return RS_OK;
}

static rs_status describe_kind(ropescope_recipe *recipe, size_t index, rs_err *err) {
  const rs_profile *profile = &recipe->subject.profile;
  const rs_layer_kind *kind = &profile->kinds[index];
  const rs_method *method = kind->model.published.method;
  rs_text layers = {0}, sees = {0};
  rs_profile_write_layers(profile, index, &layers);
  if (kind->attends) rs_layer_kind_write_mask(kind, &sees);
  ropescope_layer_kind *out = &recipe->kinds[index];
  *out = (ropescope_layer_kind){.name = kind->name,
                                .layers = rs_api_keep(&recipe->words, &layers, err),
                                .sees = rs_api_keep(&recipe->words, &sees, err),
                                .method = kind->attends && method != NULL ? method->name : "",
                                .attends = kind->attends,
                                .chosen = index == recipe->subject.kind};
  for (size_t l = 0; l < profile->layer_count; l++) out->count += profile->layers[l] == index;
  return out->layers != NULL && out->sees != NULL ? RS_OK : RS_MEMORY;
}

static rs_status describe(ropescope_recipe *recipe, rs_err *err) {
  const rs_subject *subject = &recipe->subject;
  rs_text text = {0}, warning = {0};
  rs_recipe_write(&subject->recipe, &text);
  rs_recipe_warn(&subject->recipe, NULL, &subject->model, subject->length, &subject->tokens, &warning);
  recipe->text = rs_api_keep(&recipe->words, &text, err);
  recipe->warning = rs_api_keep(&recipe->words, &warning, err);
  if (recipe->text == NULL || recipe->warning == NULL) return RS_MEMORY;
  RS_TRY(list_parameters(recipe, err));
  recipe->kinds = rs_alloc(subject->profile.kind_count, sizeof *recipe->kinds, err);
  if (recipe->kinds == NULL) return RS_MEMORY;
  recipe->kind_count = subject->profile.kind_count;
  for (size_t k = 0; k < recipe->kind_count; k++) RS_TRY(describe_kind(recipe, k, err));
  return RS_OK;
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
  if (status == RS_OK) return ROPESCOPE_OK;
  ropescope_status said = rs_api_fail(error, &err, &problems);
  rs_problems_clear(&problems);
  ropescope_recipe_free(*recipe);
  *recipe = NULL;
  return said;
}

void ropescope_recipe_free(ropescope_recipe *recipe) {
  if (recipe == NULL) return;
  rs_subject_clear(&recipe->subject);
  rs_api_strings_clear(&recipe->words);
  free(recipe->parameters);
  free(recipe->kinds);
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
