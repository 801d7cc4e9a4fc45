/* The rope dictionary, as config.json has it: by hf's table of rope types and their keys. */
#include "written.h"

#include <math.h>
#include <string.h>

/* ---- one key ----------------------------------------------------------------------------------------------------- */

static void put_value(rs_json *json, const char *key, const rs_param *param, const rs_value *value) {
  if (param->type == RS_REALS)
    rs_put_list(json, key, value->list, value->count);
  else if (param->type == RS_BOOL)
    rs_json_bool(json, key, value->number == 1);
  else
    rs_json_number(json, key, value->number);
}

/* Whether LongRoPE's amplitude is neither the formula's nor said by short_mscale and long_mscale, over which
 * attention_factor wins. */
static bool is_placed(const rs_settled *s) {
  const double rounding = 1e-15;
  bool whole = !isnan(rs_published_number(s, "attention_factor"));
  bool each = !isnan(rs_published_number(s, "short_mscale")) || !isnan(rs_published_number(s, "long_mscale"));
  if (!rs_settled_is(s, "longrope") || (each && !whole)) return false;
  return each || fabs(s->spectrum.amp / rs_longrope_formula(s->model) - 1) > rounding;
}

/* Whether the style says this key in other words. */
static bool is_replaced(const rs_settled *s, const char *key, rs_magnitude_style style) {
  bool product = style == RS_BY_PRODUCT;
  if (style == RS_AS_PUBLISHED) return false;
  if (rs_settled_is(s, "yarn") && s->softmax) return product && strcmp(key, "attention_factor") == 0;
  if (rs_settled_is(s, "yarn")) return rs_word_among(key, "attention_factor attn_factor mscale mscale_all_dim");
  if (!rs_settled_is(s, "longrope") || !product) return false;
  return rs_word_among(key,
                       is_placed(s) ? "attention_factor factor short_mscale long_mscale" : "attention_factor factor");
}

/* Keys that were written, and those that the type needs, whose values may be the method's. */
static void put_published(rs_json *json, const rs_settled *s, rs_magnitude_style style) {
  const rs_settings *published = &s->model->published.settings, *settings = &s->recipe.settings;
  bool grown = s->type->method != NULL && strcmp(s->recipe.method->name, s->type->method) != 0;
  for (const rs_hf_key *key = s->type->keys; key->key != NULL && !grown; key++) {
    int index = rs_settings_find(published, key->param);
    if (index < 0 || is_replaced(s, key->key, style)) continue;
    if (published->values[index].given)
      put_value(json, key->key, published->params[index], &published->values[index]);
    else if (key->required && settings->values[index].set)
      put_value(json, key->key, settings->params[index], &settings->values[index]);
  }
}

/* What multiplies cos and sin: mscale alone makes any, 0.1 mscale ln s + 1 over 0.1 mscale_all_dim ln s + 1. */
static void put_magnitude(rs_json *json, const rs_settled *s, const rs_dictionary_style *how) {
  double usual = rs_yarn_magnitude(1, s->factor), amp = s->spectrum.amp;
  if (how->magnitude == RS_IN_PLACE && s->unusual) rs_json_number(json, "attention_factor", amp);
  if (how->magnitude == RS_BY_PRODUCT && s->unusual) rs_json_number(json, "attn_factor", s->product);
  if (how->by_mscale && s->unusual && s->factor > 1) {
    rs_json_number(json, "mscale", (amp - 1) / (usual - 1));
    rs_json_number(json, "mscale_all_dim", 0);
  }
  if (how->magnitude != RS_BY_PRODUCT || !is_placed(s)) return;
  rs_json_number(json, "short_mscale", amp);
  rs_json_number(json, "long_mscale", amp);
}

/* ---- lengths, axes, shares --------------------------------------------------------------------------------------- */

/* Ministral 3's, whose length is that of the recipe. */
static void put_lengths(rs_json *json, const rs_settled *s, const rs_dictionary_style *style) {
  const rs_lscale_kind *kind = rs_lscale_chosen(&s->recipe.settings);
  bool temperature = kind != NULL && strcmp(kind->kind.name, "ministral") == 0;
  const char *types = style->outer_original ? "yarn llama3" : "yarn llama3 longrope";
  double length = temperature ? rs_settled_number(s, "logit_scale_length") : (double)s->model->train_length;
  if (temperature) rs_json_number(json, "llama_4_scaling_beta", rs_settled_number(s, "logit_scale_factor"));
  if (temperature || rs_word_among(s->type->type, types))
    rs_json_number(json, "original_max_position_embeddings", length);
}

/* ERNIE 4.5-VL has h, w, t, others t, h, w. */
static void put_axes(rs_json *json, const rs_settled *s) {
  bool spatial = s->model->axis_layout == RS_AXES_SPATIAL_FIRST;
  double sections[RS_AXES];
  if (!s->axes) return;
  for (size_t a = 0; a < RS_AXES; a++) sections[a] = (double)s->model->mrope_section[spatial ? (a + 1) % RS_AXES : a];
  rs_put_list(json, "mrope_section", sections, RS_AXES);
  if (s->model->axis_layout == RS_AXES_INTERLEAVED) rs_json_bool(json, "mrope_interleaved", true);
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

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static bool turns(const rs_layer_kind *kind) {
  return kind->attends && rs_model_turns(&kind->model);
}

/* Whether layers see keys beyond their window averaged: DeepSeek-V4. */
static bool compresses(const rs_profile *profile) {
  bool any = false;
  for (size_t k = 0; k < profile->kind_count; k++) any |= profile->kinds[k].compression > 0;
  return any;
}

/* What the layers are called in rope_parameters: their type, but in DeepSeek-V4. */
static void name_layers(const rs_profile *profile, size_t kind, char out[RS_LAYER_NAME]) {
  static const char twin[] = "_nope";
  const rs_layer_kind *kinds = profile->kinds;
  size_t length = strlen(kinds[kind].name), tail = sizeof twin - 1;
  bool words = compresses(profile);
  strcpy(out, !words ? kinds[kind].name : kinds[kind].compression > 0 ? "compress" : "main");
  if (!words && length > tail && strcmp(out + length - tail, twin) == 0) out[length - tail] = '\0';
}

/* Whether a kind before it, or another that turns, has the same name. */
static bool is_named(const rs_profile *profile, size_t kind, const char *name) {
  bool bare = !turns(&profile->kinds[kind]);
  for (size_t k = 0; k < profile->kind_count; k++) {
    char other[RS_LAYER_NAME];
    if (k == kind || !profile->kinds[k].attends) continue;
    name_layers(profile, k, other);
    bool first = k < kind || (bare && turns(&profile->kinds[k]));
    if (first && strcmp(other, name) == 0) return true;
  }
  return false;
}

bool rs_turned_off(const rs_converting *c, size_t kind) {
  char name[RS_LAYER_NAME];
  name_layers(&c->from->profile, kind, name);
  return rs_node_is_null(rs_node_get(rs_node_get(rs_file_keys(c), "rope_parameters"), name));
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
  size_t first = first_turning(profile);
  bool several = compresses(profile); /* a flat one has no say in the base of its compressed layers */
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    several |= turns(kind) ? !rs_layers_turn_alike(kind, &profile->kinds[first]) : kind->attends && rs_turned_off(c, k);
  }
  return several && !lists_bases(c);
}

/* ---- other keys -------------------------------------------------------------------------------------------------- */

/* Keys of the file's dictionary that no recipe has, as apply_yarn_scaling of Mistral's files: config.json of
 * transformers keeps them, since other engines read them there, and a note names those that are dropped. */
static bool is_known(const char *key) {
  static const char always[] = "rope_type type rope_theta original_max_position_embeddings mrope_section "
                               "mrope_interleaved partial_rotary_factor llama_4_scaling_beta alpha";
  bool known = rs_word_among(key, always);
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    for (const rs_hf_key *of_type = rs_hf_rope_types[t].keys; of_type->key != NULL; of_type++)
      known |= strcmp(of_type->key, key) == 0;
  return known;
}

/* The file's dictionary of such layers: theirs, or the one for all that turn as the chosen ones do; NULL: none. */
static const rs_node *dictionary_of(const rs_converting *c, const rs_layer_kind *kind, const char **key) {
  static const char *const keys[] = {"rope_scaling", "rope_parameters"};
  const rs_profile *profile = &c->from->profile;
  const rs_node *all = NULL;
  for (size_t i = 0; i < RS_COUNT(keys) && all == NULL; i++) {
    const rs_node *node = rs_node_get(rs_file_keys(c), keys[i]);
    *key = keys[i];
    if (node != NULL && node->kind == RS_MAPPING && node->count > 0) all = node;
  }
  char name[RS_LAYER_NAME];
  name_layers(profile, (size_t)(kind - profile->kinds), name);
  const rs_node *own = rs_node_get(all, name);
  if (own != NULL && own->kind == RS_MAPPING) return own;
  return rs_layers_turn_alike(kind, c->settled.kind) ? all : NULL;
}

const rs_node *rs_other_key(const rs_converting *c, const char *key) {
  const char *dictionary;
  return rs_node_get(dictionary_of(c, c->settled.kind, &dictionary), key);
}

static void put_scalar(rs_json *json, const rs_node *node) {
  double number;
  if (node->quoted || rs_node_is_null(node))
    rs_json_string(json, node->key, node->quoted ? node->text : NULL);
  else if (rs_number_read(node->text, &number))
    rs_json_number(json, node->key, number);
  else
    rs_json_bool(json, node->key, strcmp(node->text, "true") == 0);
}

static void put_other_keys(rs_converting *c, const rs_settled *s) {
  const char *key;
  const rs_node *all = dictionary_of(c, s->kind, &key);
  if (c->from->replaced) return;
  c->keeps_others = true;
  for (size_t i = 0; all != NULL && i < all->count; i++)
    if (all->items[i].kind == RS_SCALAR && !is_known(all->items[i].key)) put_scalar(&c->json, &all->items[i]);
}

void rs_note_other_keys(rs_converting *c) {
  const char *key;
  const rs_node *all = dictionary_of(c, c->settled.kind, &key);
  for (size_t i = 0; all != NULL && i < all->count; i++) {
    const rs_node *node = &all->items[i];
    bool scalar = node->kind == RS_SCALAR;
    if (node->kind == RS_MAPPING || is_known(node->key) || (scalar && c->keeps_others)) continue;
    rs_note(c, "%s%s%.60s of the file's %s is left out: transformers, whose recipe this is, does not read it.",
            node->key, scalar ? " = " : "", scalar ? node->text : "", key);
  }
}

/* ---- the dictionary ---------------------------------------------------------------------------------------------- */

void rs_put_dictionary(rs_converting *c, const rs_settled *settled, const char *key, const rs_dictionary_style *style) {
  rs_json *json = &c->json;
  const char *type = rs_settled_is(settled, "mrope") ? "default" : settled->type->type;
  rs_json_object(json, key);
  rs_json_string(json, "rope_type", type);
  if (style->both_types) rs_json_string(json, "type", type);
  if (style->base) rs_json_number(json, "rope_theta", settled->theta);
  put_published(json, settled, style->magnitude);
  put_magnitude(json, settled, style);
  put_lengths(json, settled, style);
  put_axes(json, settled);
  if (style->magnitude == RS_AS_PUBLISHED) put_other_keys(c, settled);
  if (style->fraction && !has_fixed_dims(c)) rs_put_fraction(c, settled);
  if (style->compressed_fraction && compresses(&c->from->profile))
    rs_json_number(json, "partial_rotary_factor", fraction_of(settled->model));
  rs_json_end(json);
  if (style->fraction && has_fixed_dims(c)) rs_put_fraction(c, settled);
}

static void put_kind(rs_converting *c, size_t kind, const char *key, const rs_dictionary_style *style) {
  RS_OWNED(rs_settled) settled = {0};
  if (rs_settle(&c->from->profile.kinds[kind], c->settled.length, &settled, &c->err) != RS_OK) return;
  if (settled.type != NULL)
    rs_put_dictionary(c, &settled, key, style);
  else if (rs_turned_off(c, kind))
    rs_json_string(&c->json, key, NULL);
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

void rs_put_layers(rs_converting *c, const char *key, const rs_dictionary_style *style) {
  const rs_profile *profile = &c->from->profile;
  size_t first = first_turning(profile);
  bool main_said = !compresses(profile);
  if (lists_bases(c))
    rs_note(c, "layer_rope_theta of the file, the base of each layer, is read before rope_theta: it stays as it is.");
  if (!rs_by_layers(c)) {
    if (first < profile->kind_count) put_kind(c, first, key, style);
    return;
  }
  rs_json_object(&c->json, key);
  for (size_t k = 0; k < profile->kind_count; k++) {
    char name[RS_LAYER_NAME];
    name_layers(profile, k, name);
    if (profile->kinds[k].attends && !is_named(profile, k, name)) put_kind(c, k, name, style);
    main_said |= strcmp(name, "main") == 0;
  }
  if (!main_said) put_main(c, style);
  rs_json_end(&c->json);
}
