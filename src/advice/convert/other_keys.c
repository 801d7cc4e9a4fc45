/* Keys of the file's rope dictionary that no recipe has, as apply_yarn_scaling of Mistral's files: config.json of
 * transformers keeps them, since other engines read them there, and a note names those that are dropped. */
#include "written.h"

#include <string.h>

static bool is_one_of(const char *key, const char *const *keys) {
  while (*keys != NULL && strcmp(*keys, key) != 0) keys++;
  return *keys != NULL;
}

/* Whether the recipe that is read has the key, or some rope type does. */
static bool is_known(const char *key) {
  static const char *const always[] = {"rope_type",
                                       "type",
                                       "rope_theta",
                                       "original_max_position_embeddings",
                                       "mrope_section",
                                       "mrope_interleaved",
                                       "partial_rotary_factor",
                                       "llama_4_scaling_beta",
                                       "alpha",
                                       NULL};
  bool known = is_one_of(key, always);
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
  rs_name_layers(profile, (size_t)(kind - profile->kinds), name);
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
  if (node->quoted)
    rs_json_string(json, node->key, node->text);
  else if (rs_is_null(node))
    rs_json_string(json, node->key, NULL);
  else if (rs_number_read(node->text, &number))
    rs_json_number(json, node->key, number);
  else
    rs_json_bool(json, node->key, strcmp(node->text, "true") == 0);
}

void rs_put_other_keys(rs_converting *c, const rs_settled *settled) {
  const char *key;
  const rs_node *all = dictionary_of(c, settled->kind, &key);
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
