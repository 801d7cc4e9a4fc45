/* What is converted: a config.json, or a preset. */
#include "advice/advice.h"

#include <stdio.h>
#include <string.h>

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

static void read_form(const rs_node *top, rs_convertible *model) {
  const rs_node *text = rs_hf_text_config(top), *part = rs_node_get(text, "qk_rope_head_dim");
  double dims = 0;
  snprintf(model->family, sizeof model->family, "%.63s", rs_hf_model_type(top));
  (void)find_levels(top, text, 0, model->levels);
  model->latent = part != NULL && part->kind == RS_SCALAR && rs_number_read(part->text, &dims) && dims > 0;
}

rs_status rs_convertible_read(const char *text, size_t length, const char *name, rs_convertible *model, rs_err *err) {
  *model = (rs_convertible){0};
  RS_TRY(rs_profile_read(text, length, name, &model->profile, err));
  rs_status status = rs_json_read(text, length, name, &model->config, err);
  if (status == RS_OK) {
    read_form(&model->config->root, model);
    model->kind = model->profile.chosen;
  } else {
    rs_convertible_clear(model);
  }
  return status;
}

rs_status rs_convertible_preset(const char *name, rs_convertible *model, rs_err *err) {
  *model = (rs_convertible){0};
  RS_TRY(rs_preset_profile(name, &model->profile, err));
  const rs_model *chosen = &model->profile.kinds[model->profile.chosen].model;
  const rs_method *method = chosen->published.method;
  model->kind = model->profile.chosen;
  if (method == NULL) {
    rs_convertible_clear(model);
    return rs_fail(err, RS_INPUT, "publishes no recipe, so there is none to convert");
  }
  const rs_settings *settings = &chosen->published.settings;
  model->latent =
      rs_settings_find(settings, "mscale_softmax") >= 0 && rs_setting(settings, "mscale_softmax")->number == 1;
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
  rs_recipe plain;
  RS_TRY(rs_recipe_init(&plain, recipe->method, err));
  for (size_t i = 0; i < recipe->settings.count; i++) {
    rs_value *value = &recipe->settings.values[i];
    value->given |= value->set && !rs_value_same(value, &plain.settings.values[i]);
  }
  rs_recipe_clear(&plain);
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
