/* The rope dictionary, as config.json has it: by hf's table of rope types and their keys. */
#include "written.h"

#include <math.h>
#include <string.h>

/* ---- one key ----------------------------------------------------------------------------------------------------- */

static void put_value(rs_json *json, const char *key, const rs_param *param, const rs_value *value) {
  if (param->type == RS_REALS) {
    rs_json_list(json, key);
    for (size_t i = 0; i < value->count; i++) rs_json_number(json, NULL, value->list[i]);
    rs_json_end(json);
  } else if (param->type == RS_BOOL) {
    rs_json_bool(json, key, value->number == 1);
  } else {
    rs_json_number(json, key, value->number);
  }
}

static bool is_one_of(const char *key, const char *const *keys) {
  while (*keys != NULL && strcmp(*keys, key) != 0) keys++;
  return *keys != NULL;
}

/* Whether LongRoPE's amplitude is neither the formula's nor said by short_mscale and long_mscale, over which
 * attention_factor wins. */
static bool is_placed(const rs_settled *settled) {
  const double rounding = 1e-15;
  bool whole = !isnan(rs_published_number(settled, "attention_factor"));
  bool each =
      !isnan(rs_published_number(settled, "short_mscale")) || !isnan(rs_published_number(settled, "long_mscale"));
  if (!rs_settled_is(settled, "longrope") || (each && !whole)) return false;
  return each || fabs(settled->spectrum.amp / rs_longrope_magnitude(settled->model) - 1) > rounding;
}

/* Whether the style says this key in other words. */
static bool is_replaced(const rs_settled *settled, const char *key, rs_magnitude_style style) {
  static const char *const whole[] = {"attention_factor", "attn_factor", "mscale", "mscale_all_dim", NULL};
  static const char *const latent[] = {"attention_factor", NULL};
  static const char *const lengths[] = {"attention_factor", "factor", NULL};
  static const char *const places[] = {"short_mscale", "long_mscale", NULL};
  bool softmax = rs_settled_number(settled, "mscale_softmax") == 1;
  if (style == RS_AS_PUBLISHED) return false;
  if (rs_settled_is(settled, "yarn"))
    return softmax ? style == RS_BY_PRODUCT && is_one_of(key, latent) : is_one_of(key, whole);
  if (!rs_settled_is(settled, "longrope") || style != RS_BY_PRODUCT) return false;
  return is_one_of(key, lengths) || (is_one_of(key, places) && is_placed(settled));
}

/* Keys that were written, and those that the type needs, whose values may be the method's. */
static void put_published(rs_json *json, const rs_settled *settled, rs_magnitude_style style) {
  const rs_settings *published = &settled->model->published.settings, *settings = &settled->recipe.settings;
  bool grown = settled->type->method != NULL && strcmp(settled->recipe.method->name, settled->type->method) != 0;
  for (const rs_hf_key *key = settled->type->keys; key->key != NULL && !grown; key++) {
    int index = rs_settings_find(published, key->param);
    if (index < 0 || is_replaced(settled, key->key, style)) continue;
    bool needed = key->required && settings->values[index].set;
    if (published->values[index].given)
      put_value(json, key->key, published->params[index], &published->values[index]);
    else if (needed)
      put_value(json, key->key, settings->params[index], &settings->values[index]);
  }
}

/* ---- what multiplies cos and sin --------------------------------------------------------------------------------- */

/* mscale alone makes any: 0.1 mscale ln s + 1 over 0.1 mscale_all_dim ln s + 1. */
static void put_mscale(rs_json *json, const rs_settled *settled) {
  double usual = rs_yarn_magnitude(settled->factor);
  if (settled->factor <= 1) return;
  rs_json_number(json, "mscale", (settled->spectrum.amp - 1) / (usual - 1));
  rs_json_number(json, "mscale_all_dim", 0);
}

static void put_magnitude(rs_json *json, const rs_settled *settled, const rs_dictionary_style *how) {
  const double rounding = 1e-15;
  const rs_magnitude_style style = how->magnitude;
  double usual = rs_yarn_magnitude(settled->factor), amp = settled->spectrum.amp;
  bool softmax = rs_settled_number(settled, "mscale_softmax") == 1;
  if (style == RS_AS_PUBLISHED) return;
  bool unusual = rs_settled_is(settled, "yarn") && !softmax && fabs(amp / usual - 1) > rounding;
  if (unusual)
    rs_json_number(json, style == RS_IN_PLACE ? "attention_factor" : "attn_factor",
                   style == RS_IN_PLACE ? amp : amp / usual);
  if (unusual && how->by_mscale) put_mscale(json, settled);
  if (style != RS_BY_PRODUCT || !is_placed(settled)) return;
  rs_json_number(json, "short_mscale", amp);
  rs_json_number(json, "long_mscale", amp);
}

/* ---- lengths, axes, shares --------------------------------------------------------------------------------------- */

static bool has_original(const rs_settled *settled) {
  return rs_settled_is(settled, "yarn") || rs_settled_is(settled, "llama3") || rs_settled_is(settled, "longrope");
}

static bool has_temperature(const rs_settled *settled) {
  const rs_settings *settings = &settled->recipe.settings;
  const rs_lscale_kind *kind = rs_lscale_chosen(settings);
  return kind != NULL && strcmp(kind->kind.name, "ministral") == 0;
}

/* Ministral 3's, whose length is that of the recipe. */
static void put_lengths(rs_json *json, const rs_settled *settled, const rs_dictionary_style *style) {
  bool temperature = has_temperature(settled), outer = style->outer_original && rs_settled_is(settled, "longrope");
  double length = temperature ? rs_settled_number(settled, "logit_scale_length") : (double)settled->model->train_length;
  if (temperature) rs_json_number(json, "llama_4_scaling_beta", rs_settled_number(settled, "logit_scale_factor"));
  if (temperature || (has_original(settled) && !outer))
    rs_json_number(json, "original_max_position_embeddings", length);
}

/* ERNIE 4.5-VL has h, w, t, others t, h, w. */
static void put_axes(rs_json *json, const rs_settled *settled) {
  const rs_model *model = settled->model;
  bool spatial = model->axis_layout == RS_AXES_SPATIAL_FIRST;
  if (!rs_has_axes(settled)) return;
  rs_json_list(json, "mrope_section");
  for (size_t a = 0; a < RS_AXES; a++)
    rs_json_number(json, NULL, (double)model->mrope_section[spatial ? (a + 1) % RS_AXES : a]);
  rs_json_end(json);
  if (model->axis_layout == RS_AXES_INTERLEAVED) rs_json_bool(json, "mrope_interleaved", true);
}

/* Readers multiply and cut: the share must come out as whole dims. */
static double fraction_of(const rs_model *model) {
  double dims = (double)model->head_dim, fraction = (double)model->rotary_dim / dims;
  while ((size_t)(dims * fraction) < model->rotary_dim) fraction = nextafter(fraction, 2);
  return fraction;
}

/* GPT-J and CodeGen count dims. */
static bool has_fixed_dims(const rs_converting *c) {
  return strncmp(c->from->family, "gptj", 4) == 0 || strncmp(c->from->family, "codegen", 7) == 0;
}

void rs_put_fraction(rs_converting *c, const rs_settled *settled) {
  const rs_model *model = settled->model;
  if (c->from->latent || model->rotary_dim == model->head_dim || rs_settled_is(settled, "proportional")) return;
  if (has_fixed_dims(c))
    rs_json_number(&c->json, "rotary_dim", (double)model->rotary_dim);
  else
    rs_json_number(&c->json, "partial_rotary_factor", fraction_of(model));
}

size_t rs_maximum_of_settled(const rs_settled *settled) {
  const rs_model *model = settled->model;
  bool stretched =
      rs_settled_is(settled, "linear") && settled->factor * (double)model->train_length == (double)model->max_length;
  return rs_settled_is(settled, "dynamic") || stretched ? model->train_length : model->max_length;
}

/* ---- the dictionary ---------------------------------------------------------------------------------------------- */

void rs_put_dictionary(rs_converting *c, const rs_settled *settled, const char *key, const rs_dictionary_style *style) {
  rs_json *json = &c->json;
  bool axes = rs_settled_is(settled, "mrope");
  rs_json_object(json, key);
  rs_json_string(json, "rope_type", axes ? "default" : settled->type->type);
  if (style->both_types) rs_json_string(json, "type", axes ? "default" : settled->type->type);
  if (style->base) rs_json_number(json, "rope_theta", settled->theta);
  put_published(json, settled, style->magnitude);
  put_magnitude(json, settled, style);
  put_lengths(json, settled, style);
  put_axes(json, settled);
  if (style->magnitude == RS_AS_PUBLISHED) rs_put_other_keys(c, settled);
  if (style->fraction && !has_fixed_dims(c)) rs_put_fraction(c, settled);
  if (style->compressed_fraction && rs_compresses(&c->from->profile))
    rs_json_number(json, "partial_rotary_factor", fraction_of(settled->model));
  rs_json_end(json);
  if (style->fraction && has_fixed_dims(c)) rs_put_fraction(c, settled);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static bool turns(const rs_layer_kind *kind) {
  return kind->attends && kind->model.published.method->freq != NULL;
}

/* Whether a kind before it, or another that turns, has the same name. */
static bool is_named(const rs_profile *profile, size_t kind, const char *name) {
  bool bare = !turns(&profile->kinds[kind]);
  for (size_t k = 0; k < profile->kind_count; k++) {
    char other[RS_LAYER_NAME];
    if (k == kind || !profile->kinds[k].attends) continue;
    rs_name_layers(profile, k, other);
    bool first = k < kind || (bare && turns(&profile->kinds[k]));
    if (first && strcmp(other, name) == 0) return true;
  }
  return false;
}

bool rs_turned_off(const rs_converting *c, size_t kind) {
  char name[RS_LAYER_NAME];
  rs_name_layers(&c->from->profile, kind, name);
  return rs_is_null(rs_node_get(rs_node_get(rs_file_keys(c), "rope_parameters"), name));
}

/* The first layers that turn; kind_count: none do. */
static size_t first_turning(const rs_profile *profile) {
  size_t kind = 0;
  while (kind < profile->kind_count && !turns(&profile->kinds[kind])) kind++;
  return kind;
}

/* Whether the file lists the base of each layer (granite_swa), which then stays where it is. */
static bool lists_bases(const rs_converting *c) {
  const rs_node *bases = rs_node_get(rs_file_keys(c), "layer_rope_theta");
  return bases != NULL && bases->kind == RS_SEQUENCE;
}

bool rs_by_layers(const rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  if (lists_bases(c)) return false;
  size_t first = first_turning(profile);
  bool several = rs_compresses(profile); /* a flat one has no say in the base of its compressed layers */
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    several |= turns(kind) && !rs_layers_turn_alike(kind, &profile->kinds[first]);
    several |= kind->attends && !turns(kind) && rs_turned_off(c, k);
  }
  return several;
}

static rs_status put_kind(rs_converting *c, size_t kind, const char *key, const rs_dictionary_style *style,
                          rs_err *err) {
  rs_settled settled;
  RS_TRY(rs_settle(&c->from->profile.kinds[kind], c->settled.length, &settled, err));
  if (settled.type != NULL)
    rs_put_dictionary(c, &settled, key, style);
  else if (rs_turned_off(c, kind))
    rs_json_string(&c->json, key, NULL);
  rs_settled_clear(&settled);
  return RS_OK;
}

/* DeepSeek-V4's class reads two dictionaries or none: the one of layers without compression, of which the file has
 * none.
 */
static void put_main(rs_converting *c, const rs_dictionary_style *style) {
  double theta = 10000;
  const rs_node *base = rs_node_get(rs_file_keys(c), "rope_theta");
  if (base != NULL && base->kind == RS_SCALAR) (void)rs_number_read(base->text, &theta);
  rs_json_object(&c->json, "main");
  rs_json_string(&c->json, "rope_type", "default");
  rs_json_number(&c->json, "rope_theta", theta);
  if (style->compressed_fraction) rs_json_number(&c->json, "partial_rotary_factor", fraction_of(c->settled.model));
  rs_json_end(&c->json);
}

rs_status rs_put_layers(rs_converting *c, const char *key, const rs_dictionary_style *style, rs_err *err) {
  const rs_profile *profile = &c->from->profile;
  size_t first = first_turning(profile);
  if (lists_bases(c))
    rs_note(c, "layer_rope_theta of the file, the base of each layer, is read before rope_theta: it stays as it is.");
  if (!rs_by_layers(c)) return first < profile->kind_count ? put_kind(c, first, key, style, err) : RS_OK;
  bool main_said = false;
  rs_json_object(&c->json, key);
  for (size_t k = 0; k < profile->kind_count; k++) {
    char name[RS_LAYER_NAME];
    rs_name_layers(profile, k, name);
    if (profile->kinds[k].attends && !is_named(profile, k, name)) RS_TRY(put_kind(c, k, name, style, err));
    main_said |= strcmp(name, "main") == 0;
  }
  if (rs_compresses(profile) && !main_said) put_main(c, style);
  rs_json_end(&c->json);
  return RS_OK;
}
