/* What is converted: a config.json, or a preset. */
#include "ropescope/convert.h"

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
