/* What a recipe does where nothing was given: what its dialect has, what the model publishes, and the usual rule for s.
 * All are values of configs, so this works on the text of parameters. */
#include "kinds.h"

#include <string.h>

/* ---- dialects ---------------------------------------------------------------------------------------------------- */

static bool chosen(const rs_dialect *dialect, const char *word, const rs_recipe *recipe) {
  return strcmp(dialect->name, word) == 0 && rs_dialect_fits(dialect, recipe->method);
}

/* The word of the recipe's `dialect`, or "". */
static const char *dialect_word(const rs_recipe *recipe) {
  rs_common_params common;
  rs_binding binding = rs_common_bind(&recipe->settings, &common);
  if (common.dialect == RS_NO_WORD) return "";
  return rs_binding_param(&binding, offsetof(rs_common_params, dialect))->words[common.dialect];
}

static bool same_value(const rs_param *param, const rs_value *value, const char *text) {
  rs_value other;
  if (text == NULL) return !value->set;
  if (rs_value_parse(param, text, &other, NULL) != RS_OK) return false;
  return value->choice == other.choice && (value->choice >= 0 || value->number == other.number);
}

/* One parameter of a dialect. */
static rs_status apply_setting(rs_recipe *recipe, const rs_dialect *dialect, size_t i, rs_err *err) {
  const char *name = dialect->settings[i].name, *text = dialect->settings[i].value;
  int index = rs_settings_find(&recipe->settings, name);
  if (index < 0)
    return rs_fail(err, RS_INTERNAL, "dialect %s: %s has no %s", dialect->name, recipe->method->name, name);
  const rs_value *value = &recipe->settings.values[index];
  /* What makes the method, as V2PE's ids do, is its own in every code base. */
  if (dialect->method == NULL && rs_method_presets(recipe->method, name)) return RS_OK;
  if (!value->given) return rs_recipe_preset(recipe, name, text, err);
  if (!dialect->settings[i].always || same_value(recipe->settings.params[index], value, text)) return RS_OK;
  return rs_fail_on(err, RS_INPUT, name, "is not in the power of dialect %s, which %s%s (leave one of them out)",
                    dialect->name, text != NULL ? "always has " : "does not read it", text != NULL ? text : "");
}

/* RS_INPUT when the method has no dialect of that name. */
static rs_status unknown_dialect(const rs_recipe *recipe, const char *word, rs_err *err) {
  RS_OWNED(rs_text) known = {0};
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t i = 0; i < count; i++)
    if (rs_dialect_fits(&dialects[i], recipe->method) && strstr(rs_text_string(&known), dialects[i].name) == NULL)
      rs_text_printf(&known, "%s%s", known.length > 0 ? ", " : "", dialects[i].name);
  return rs_fail_on(err, RS_INPUT, "dialect", "%s is not known to differ for %s (known: %s)", word,
                    recipe->method->name, known.length > 0 ? rs_text_string(&known) : "none");
}

/* Sets the parameters of the recipe's dialect: those it always has, or its defaults. RS_INPUT where the user gave what
 * it always has otherwise, or the method has no such dialect. */
static rs_status apply_dialect(rs_recipe *recipe, bool always, rs_err *err) {
  const char *word = dialect_word(recipe);
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  bool found = false;
  for (size_t d = 0; d < count && *word != '\0'; d++) {
    found |= chosen(&dialects[d], word, recipe);
    if (!chosen(&dialects[d], word, recipe) || !rs_dialect_holds(&dialects[d], &recipe->settings)) continue;
    for (size_t i = 0; i < RS_COUNT(dialects[d].settings) && dialects[d].settings[i].name != NULL; i++)
      if (dialects[d].settings[i].always == always) RS_TRY(apply_setting(recipe, &dialects[d], i, err));
  }
  return found || *word == '\0' ? RS_OK : unknown_dialect(recipe, word, err);
}

/* ---- what the model publishes ------------------------------------------------------------------------------------ */

/* What is published and gives way to parameters of one's own that have other names. */
typedef struct replaced {
  const rs_param *params[4]; /* ends at the first NULL */
} replaced;

/* A scale of one's own replaces the published factor, and the other way round; a logit scale of one's own replaces the
 * numbers of the published one. */
static replaced replaced_by(const rs_recipe *recipe) {
  rs_common_params common;
  rs_scale_params scale;
  rs_binding shared = rs_common_bind(&recipe->settings, &common), scaled = rs_scale_bind(&recipe->settings, &scale);
  replaced out = {{0}};
  size_t count = 0;
  if (rs_binding_given(&scaled, offsetof(rs_scale_params, scale)) ||
      rs_binding_given(&scaled, offsetof(rs_scale_params, factor))) {
    out.params[count++] = rs_binding_param(&scaled, offsetof(rs_scale_params, scale));
    out.params[count++] = rs_binding_param(&scaled, offsetof(rs_scale_params, factor));
  }
  if (rs_binding_given(&shared, offsetof(rs_common_params, logit_scale))) {
    out.params[count++] = rs_binding_param(&shared, offsetof(rs_common_params, logit_scale_factor));
    out.params[count++] = rs_binding_param(&shared, offsetof(rs_common_params, logit_scale_length));
  }
  return out;
}

static bool gives_way(const replaced *given, const rs_param *param) {
  for (size_t i = 0; i < RS_COUNT(given->params) && given->params[i] != NULL; i++)
    if (given->params[i] == param) return true;
  return false;
}

/* Parameters that were not given take the model's published ones. */
static rs_status inherit(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  const rs_recipe *published = &model->published;
  if (published == recipe || published->method != recipe->method) return RS_OK;
  replaced given = replaced_by(recipe);
  for (size_t i = 0; i < recipe->settings.count; i++) {
    rs_value *value = &recipe->settings.values[i];
    if (value->given || !published->settings.values[i].given) continue;
    if (gives_way(&given, recipe->settings.params[i])) continue;
    rs_value_clear(value);
    RS_TRY(rs_value_copy(value, &published->settings.values[i], err));
    value->given = false;
  }
  return RS_OK;
}

/* Sections that are the model's, where the recipe has none of its own: so that what is printed is what acts. */
static rs_status inherit_sections(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  size_t total = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  rs_rotary_params rotary;
  rs_binding binding = rs_rotary_bind(&recipe->settings, &rotary);
  const rs_param *param = rs_binding_param(&binding, offsetof(rs_rotary_params, mrope_section));
  bool given = rs_binding_given(&binding, offsetof(rs_rotary_params, mrope_section));
  if (recipe->method->freq == NULL || total == 0 || given || rotary.mrope_section.word == RS_SECTION_NONE) return RS_OK;
  const double sections[] = {(double)model->mrope_section[0], (double)model->mrope_section[1],
                             (double)model->mrope_section[2]};
  rs_value *value = &recipe->settings.values[rs_settings_find(&recipe->settings, param->name)], published;
  RS_TRY(rs_value_list(param, sections, RS_COUNT(sections), &published, err));
  rs_value_clear(value);
  *value = published;
  return RS_OK;
}

bool rs_recipe_has_sections(const rs_recipe *recipe, const rs_model *model) {
  rs_rotary_params rotary;
  rs_binding binding = rs_rotary_bind(&recipe->settings, &rotary);
  return rs_axes_count(&binding, model, rs_pairs_of(&recipe->settings, model)) > 1;
}

/* ---- the rule for s ---------------------------------------------------------------------------------------------- */

bool rs_recipe_scale_auto(const rs_recipe *recipe) {
  rs_scale_params given;
  rs_scale_bind(&recipe->settings, &given);
  return given.scale.word == RS_SCALE_AUTO;
}

bool rs_recipe_scale_defaults(const rs_recipe *recipe, const rs_model *model) {
  const rs_recipe *published = &model->published;
  rs_scale_params given, others;
  rs_scale_bind(&recipe->settings, &given);
  if (!rs_method_scaled(recipe->method) || !rs_scale_unset(&given)) return false;
  if (published->method != recipe->method) return true;
  rs_binding binding = rs_scale_bind(&published->settings, &others);
  return !rs_binding_given(&binding, offsetof(rs_scale_params, scale)) &&
         !rs_binding_given(&binding, offsetof(rs_scale_params, factor));
}

static rs_status default_scale(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  rs_scale_params scale;
  rs_binding binding = rs_scale_bind(&recipe->settings, &scale);
  const char *name = rs_binding_param(&binding, offsetof(rs_scale_params, scale))->name;
  return rs_recipe_scale_defaults(recipe, model) ? rs_recipe_preset(recipe, name, RS_DEFAULT_SCALE, err) : RS_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The dialect's defaults come first, so that what is published replaces them; what it always does comes last. */
rs_status rs_recipe_resolve(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  const rs_embed_kind *embed = recipe->method->embed;
  const char *value,
      *name = embed != NULL && embed->defaults != NULL ? embed->defaults(&recipe->settings, &value) : NULL;
  if (name != NULL && !rs_setting(&recipe->settings, name)->given) RS_TRY(rs_recipe_preset(recipe, name, value, err));
  RS_TRY(apply_dialect(recipe, false, err));
  RS_TRY(inherit(recipe, model, err));
  RS_TRY(inherit_sections(recipe, model, err));
  RS_TRY(default_scale(recipe, model, err));
  return apply_dialect(recipe, true, err);
}
