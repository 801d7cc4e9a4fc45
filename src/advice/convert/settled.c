/* What is converted, a config.json or a preset, and its recipe in numbers: resolved as transformers reads it, at the
 * length that is served. */
#include "written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is converted ------------------------------------------------------------------------------------------- */

/* Whether `node` stands somewhere below `mapping`; the keys on the way go to `levels`. */
static bool find_levels(const rs_node *mapping, const rs_node *node, size_t depth, char levels[][32]) {
  if (mapping == node) return true;
  for (size_t i = 0; depth < RS_CONFIG_LEVELS && i < mapping->count; i++) {
    const rs_node *inner = &mapping->items[i];
    if (inner->kind != RS_MAPPING || !find_levels(inner, node, depth + 1, levels)) continue;
    snprintf(levels[depth], sizeof levels[depth], "%.31s", inner->key);
    return true;
  }
  return false;
}

rs_status rs_convertible_read(const char *text, size_t length, const char *name, rs_convertible *model, rs_err *err) {
  *model = (rs_convertible){0};
  RS_TRY(rs_profile_read(text, length, name, &model->profile, err));
  rs_status status = rs_hf_tree(text, length, name, &model->config, err);
  if (status != RS_OK) {
    rs_convertible_clear(model);
    return status;
  }
  const rs_node *top = &model->config->root, *keys = rs_hf_text_config(top);
  const rs_node *part = rs_node_get(keys, "qk_rope_head_dim");
  double dims = 0;
  snprintf(model->family, sizeof model->family, "%.63s", rs_hf_model_type(top));
  (void)find_levels(top, keys, 0, model->levels);
  model->latent = part != NULL && part->kind == RS_SCALAR && rs_number_read(part->text, &dims) && dims > 0;
  model->kind = model->profile.chosen;
  return RS_OK;
}

rs_status rs_convertible_preset(const char *name, rs_convertible *model, rs_err *err) {
  *model = (rs_convertible){0};
  RS_TRY(rs_preset_profile(name, &model->profile, err));
  model->kind = model->profile.chosen;
  const rs_recipe *published = &model->profile.kinds[model->kind].model.published;
  if (published->method == NULL) {
    rs_convertible_clear(model);
    return rs_fail(err, RS_INPUT, "publishes no recipe, so there is none to convert");
  }
  model->latent = rs_setting(&published->settings, "mscale_softmax")->number == 1;
  return RS_OK;
}

void rs_convertible_clear(rs_convertible *model) {
  rs_profile_clear(&model->profile);
  rs_tree_free(model->config);
  *model = (rs_convertible){0};
}

/* ---- other recipes ----------------------------------------------------------------------------------------------- */

/* Values other than the method's defaults count as written. */
static rs_status own_values(rs_recipe *recipe, rs_err *err) {
  RS_OWNED(rs_recipe) plain = {0};
  RS_TRY(rs_recipe_init(&plain, recipe->method, err));
  for (size_t i = 0; i < recipe->settings.count; i++) {
    rs_value *value = &recipe->settings.values[i];
    value->given |= value->set && !rs_value_same(value, &plain.settings.values[i]);
  }
  return RS_OK;
}

/* Whether rope_parameters of the file is by type of layers. */
static bool is_by_layers(const rs_convertible *model) {
  const rs_node *text = model->config != NULL ? rs_hf_text_config(&model->config->root) : NULL;
  const rs_node *all = rs_node_get(text, "rope_parameters");
  bool any = false;
  for (size_t i = 0; all != NULL && i < all->count; i++) any |= all->items[i].kind == RS_MAPPING;
  return any;
}

/* LongRoPE's amplitude is by maximum / L0 where no factor is written: that of the old maximum is written before it
 * grows.
 */
static rs_status keep_amplitude(const rs_model *model, rs_recipe *recipe, rs_err *err) {
  bool longrope = strcmp(recipe->method->name, "longrope") == 0;
  if (!longrope || rs_setting(&recipe->settings, "factor")->set || model->train_length == 0) return RS_OK;
  return rs_recipe_set_number(recipe, "factor", (double)model->max_length / (double)model->train_length, err);
}

static rs_status replace(rs_model *model, const rs_replacement *by, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_copy(&recipe, by->recipe, err));
  rs_status status = own_values(&recipe, err);
  if (status == RS_OK) status = keep_amplitude(model, &recipe, err);
  if (status != RS_OK) {
    rs_recipe_clear(&recipe);
    return status;
  }
  rs_recipe_clear(&model->published);
  model->published = recipe;
  model->rope_theta = by->theta;
  model->train_length = by->train_length;
  if (model->max_length < by->length) model->max_length = by->length;
  return RS_OK;
}

rs_status rs_convertible_replace(rs_convertible *model, size_t kind, const rs_replacement *by, rs_err *err) {
  rs_profile *profile = &model->profile;
  bool shared = !is_by_layers(model);
  model->replaced = true;
  for (size_t k = 0; k < profile->kind_count; k++) {
    bool alike = profile->kinds[k].attends && rs_layers_turn_alike(&profile->kinds[k], &profile->kinds[kind]);
    if (k != kind && shared && alike) RS_TRY(replace(&profile->kinds[k].model, by, err));
  }
  return replace(&profile->kinds[kind].model, by, err);
}

/* ---- recipes in numbers ------------------------------------------------------------------------------------------ */

void rs_settled_clear(rs_settled *settled) {
  rs_recipe_clear(&settled->recipe);
  rs_spectrum_clear(&settled->spectrum);
  *settled = (rs_settled){0};
}

double rs_settled_number(const rs_settled *settled, const char *name) {
  const rs_value *value = rs_setting(&settled->recipe.settings, name);
  return value->set ? value->number : NAN;
}

double rs_published_number(const rs_settled *settled, const char *name) {
  const rs_value *value = rs_setting(&settled->model->published.settings, name);
  return value->given ? value->number : NAN;
}

static const rs_hf_rope_type *type_of(const rs_method *method) {
  const char *name = strcmp(method->name, "ntk") == 0 ? "rope" : method->name; /* its base says it all */
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    if (strcmp(rs_hf_rope_types[t].method, name) == 0) return &rs_hf_rope_types[t];
  return NULL;
}

static double grown_base(const rs_settled *s) {
  double trained = rs_recipe_train_length(&s->recipe, s->model);
  double scale = rs_scale_resolve(&s->recipe.settings, (double)s->length, trained);
  return rs_base_ntk(s->model->rope_theta, s->model->rotary_dim / 2, scale);
}

double rs_base_at(const rs_settled *settled) {
  return rs_settled_is(settled, "dynamic") ? grown_base(settled) : settled->theta;
}

static rs_status fill(rs_settled *out, rs_err *err) {
  const double rounding = 1e-15;
  const rs_model *model = out->model;
  RS_TRY(rs_recipe_copy(&out->recipe, &model->published, err));
  RS_TRY(rs_recipe_resolve(&out->recipe, model, err));
  RS_TRY(rs_recipe_check(&out->recipe, model, err));
  out->type = type_of(out->recipe.method);
  if (out->recipe.method->freq == NULL) return RS_OK;
  RS_TRY(rs_spectrum_make(&out->recipe, model, out->length, &out->spectrum, err));
  out->theta = strcmp(out->recipe.method->name, "ntk") == 0 ? grown_base(out) : model->rope_theta;
  out->factor = rs_settled_number(out, "factor");
  out->product = out->spectrum.amp / rs_yarn_magnitude(1, out->factor);
  out->softmax = rs_settled_number(out, "mscale_softmax") == 1;
  out->unusual = rs_settled_is(out, "yarn") && !out->softmax && fabs(out->product - 1) > rounding;
  out->temperature = !isnan(rs_settled_number(out, "logit_scale_length"));
  out->axes = rs_recipe_has_sections(&out->recipe, model);
  return RS_OK;
}

rs_status rs_settle(const rs_layer_kind *kind, size_t length, rs_settled *out, rs_err *err) {
  enum { UNKNOWN = 4096 }; /* of a file that says no length */
  const rs_model *model = &kind->model;
  size_t longest = model->max_length > 0 ? model->max_length : UNKNOWN;
  *out = (rs_settled){.kind = kind, .model = model, .length = length > 0 ? length : longest, .factor = NAN};
  rs_status status = fill(out, err);
  if (status != RS_OK) rs_settled_clear(out);
  return status;
}

bool rs_settled_is(const rs_settled *settled, const char *type) {
  return settled->type != NULL && strcmp(settled->type->type, type) == 0;
}

double rs_longrope_formula(const rs_model *model) {
  double trained = (double)model->train_length;
  return rs_longrope_magnitude((double)model->max_length / trained, trained);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

rs_status rs_convert_spectrum(const rs_convertible *model, size_t length, rs_spectrum *spectrum, rs_err *err) {
  RS_OWNED(rs_settled) settled = {0};
  *spectrum = (rs_spectrum){0};
  RS_TRY(rs_settle(&model->profile.kinds[model->kind], length, &settled, err));
  rs_status status = RS_OK;
  if (settled.spectrum.pairs == 0)
    status = rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs: there are no frequencies", settled.recipe.method->name);
  *spectrum = settled.spectrum;
  settled.spectrum = (rs_spectrum){0};
  return status;
}

void rs_table_csv(const rs_spectrum *spectrum, rs_text *text) {
  static const char *const header[] = {"pair", "inv_freq", "attention_factor"};
  for (size_t i = 0; i < RS_COUNT(header); i++) rs_csv_text(text, header[i]);
  rs_csv_end_row(text);
  for (size_t j = 0; j < spectrum->pairs; j++) {
    rs_csv_number(text, (double)j);
    rs_csv_number(text, spectrum->omega[j]);
    rs_csv_number(text, spectrum->amp);
    rs_csv_end_row(text);
  }
}

void rs_table_json(const rs_spectrum *spectrum, rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_put_list(&json, "inv_freq", spectrum->omega, spectrum->pairs);
  rs_json_number(&json, "attention_factor", spectrum->amp);
  if (spectrum->logit_factor != 1) rs_json_number(&json, "logit_factor", spectrum->logit_factor);
  rs_json_end(&json);
}
