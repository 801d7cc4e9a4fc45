/* RS1: what rope_scaling or rope_parameters is, and how its keys are spelt. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Keys of any rope dictionary, whatever its type. */
static const char *const common_keys[] = {
    "rope_type",         "type",  "rope_theta", "partial_rotary_factor", RS_ORIGINAL,      "mrope_section",
    "mrope_interleaved", "alpha", RS_MAXIMUM,   "llama_4_scaling_beta",  "rope_interleave"};

/* Keys that engines read for some type though transformers' table has them not: vLLM's, Mistral's. */
static const char engine_keys[] = "extrapolation_factor apply_yarn_scaling xdrope_section use_fope num_inv_freq "
                                  "ntk_factor mixed_b finetuned head_dim";

/* Keys of the file that say something of positions. */
static const char *const file_keys[] = {
    "rope_theta",     "rope_scaling",          "rope_parameters",     RS_MAXIMUM,
    RS_ORIGINAL,      "partial_rotary_factor", "rotary_pct",          "rotary_emb_base",
    "rotary_dim",     "rope_local_base_freq",  "sliding_window",      "layer_types",
    "no_rope_layers", "num_attention_heads",   "num_key_value_heads", "hidden_size",
    "head_dim"};

/* ---- the dictionary itself --------------------------------------------------------------------------------------- */

static void find_no_mapping(rs_checked *c) {
  static const char *const keys[] = {"rope_scaling", "rope_parameters"};
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *node = rs_key(c->root, keys[i]);
    if (node != NULL && node->kind != RS_MAPPING)
      rs_find(c, "RS101", node,
              "write an object, as in {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": "
              "32768}",
              "%s is %s, where an object is read: nothing of it counts", keys[i],
              node->kind == RS_SEQUENCE ? "a list" : "a single value");
  }
}

/* A copy of what the other holds is no contradiction. */
static bool same_numbers(const rs_node *a, const rs_node *b) {
  for (size_t i = 0; i < a->count; i++) {
    const rs_node *other = rs_key(b, a->items[i].key);
    if (a->items[i].kind != RS_SCALAR || other == NULL || other->kind != RS_SCALAR) continue;
    double x = rs_node_number(&a->items[i]), y = rs_node_number(other);
    bool same = isnan(x) || isnan(y) ? strcmp(a->items[i].text, other->text) == 0 : x == y;
    if (!same) return false;
  }
  return true;
}

static void find_two_places(rs_checked *c) {
  const rs_node *scaling = rs_key(c->root, "rope_scaling"), *parameters = rs_key(c->root, "rope_parameters");
  if (scaling == NULL || parameters == NULL || scaling->kind != RS_MAPPING) return;
  const char *type = c->ropes[0].type, *other = c->rope_count > 1 ? c->ropes[1].type : "";
  bool flat = c->rope_count > 1 && c->ropes[1].node == parameters;
  if (flat && strcmp(type, other) == 0 && same_numbers(scaling, parameters)) return;
  rs_find(c, "RS105", parameters,
          "keep one: rope_parameters for transformers 5, rope_scaling with rope_theta beside it for all",
          "rope_scaling (%s) on line %zu and rope_parameters%s%s%s say two things", type, scaling->line,
          flat ? " (" : "", flat ? other : "", flat ? ")" : "");
}

/* ---- its type ---------------------------------------------------------------------------------------------------- */

/* Whether a key of the dictionary is a parameter of scaling. */
static const rs_node *scaling_key(const rs_node *rope) {
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    for (const rs_hf_key *key = rs_hf_rope_types[t].keys; key->key != NULL; key++) {
      const rs_node *node = rs_key(rope, key->key);
      if (node != NULL && strcmp(key->key, "partial_rotary_factor") != 0) return node;
    }
  return NULL;
}

static void find_no_type(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *scaling = scaling_key(rope->node);
  if (rope->typed || scaling == NULL) return;
  rs_find(c, "RS102", rope->node,
          "add \"rope_type\": \"yarn\" (or linear, dynamic, llama3, longrope, whichever was trained)",
          "%s has %s = %s and no rope_type: transformers 5 takes it for plain RoPE, so nothing is scaled; transformers "
          "4 and vLLM stop",
          rope->path, scaling->key, scaling->kind == RS_SCALAR ? scaling->text : "[...]");
}

/* Types that have code somewhere: vLLM's get_rope (telechat3-yarn is YaRN with 0.07 in the place of 0.1), SGLang's,
 * Grok's. */
static const char own_types[] =
    "telechat3-yarn yarn_log deepseek_yarn deepseek_llama_scaling ntk openpangu mllama4 bailing_mrope xdrope";

static void find_wrong_type(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key_any(rope->node, "rope_type type");
  rs_nearest nearest = {.word = rope->type};
  if (node == NULL || rope->known != NULL) return;
  if (rs_word_among(rope->type, own_types)) {
    rs_find(c, "RS111", node, NULL,
            "\"%s\" is a rope type of vLLM's, SGLang's or the model's own code: transformers does not know it, and it "
            "is not computed here",
            rope->type);
    return;
  }
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++) rs_nearest_add(&nearest, rs_hf_rope_types[t].type);
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL)
    rs_find(c, "RS103", node, rs_fix(c, "write \"%s\"", near), "\"%s\" is no rope type (did you mean %s?)", rope->type,
            near);
  else
    rs_find(c, "RS103", node, "one of default, linear, dynamic, yarn, llama3, longrope, proportional",
            "\"%s\" is no rope type", rope->type);
}

static void find_two_types(rs_checked *c, const rs_rope_entry *rope) {
  const char *type = rs_key_word(rope->node, "type"), *rope_type = rs_key_word(rope->node, "rope_type");
  if (type == NULL || rope_type == NULL || strcmp(type, rope_type) == 0) return;
  bool spelling = (strcmp(type, "su") == 0 && strcmp(rope_type, "longrope") == 0) ||
                  (strcmp(type, "mrope") == 0 && strcmp(rope_type, "default") == 0); /* which all accept */
  if (!spelling)
    rs_find(c, "RS104", rs_key(rope->node, "type"), "keep rope_type alone, with the method that was trained",
            "type is \"%s\" and rope_type \"%s\": transformers takes rope_type, vLLM stops", type, rope_type);
}

/* ---- its keys ---------------------------------------------------------------------------------------------------- */

/* Adds the keys of a type, and returns whether `key` is among them. */
static bool add_keys(const rs_hf_rope_type *type, const char *key, rs_nearest *nearest) {
  bool has = false;
  for (const rs_hf_key *known = type->keys; known->key != NULL; known++) {
    has |= strcmp(known->key, key) == 0;
    rs_nearest_add(nearest, known->key);
  }
  return has;
}

/* Tencent's files have YaRN's keys beside HunYuan's alpha, which alone is read: nothing is wrong with a file for that.
 */
static bool is_hunyuan(const rs_rope_entry *rope) {
  return strcmp(rope->type, "dynamic") == 0 && rs_key(rope->node, "alpha") != NULL;
}

static void find_key(rs_checked *c, const rs_rope_entry *rope, const rs_node *child) {
  const char *key = child->key;
  rs_nearest nearest = {.word = key};
  bool common = rs_word_among(key, engine_keys), of_any = false, own = false;
  for (size_t i = 0; i < RS_COUNT(common_keys); i++) {
    common |= strcmp(common_keys[i], key) == 0;
    rs_nearest_add(&nearest, common_keys[i]);
  }
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++) {
    bool has = add_keys(&rs_hf_rope_types[t], key, &nearest);
    of_any |= has;
    own |= has && rope->known == &rs_hf_rope_types[t];
  }
  const char *near = rs_nearest_found(&nearest);
  if (common || own || (of_any && (rope->known == NULL || !rope->typed))) return; /* no type: said to be missing */
  if (of_any) {
    bool unread = is_hunyuan(rope);
    rs_finding *found = rs_find(c, "RS107", child, unread ? NULL : "take it away, or correct the rope_type",
                                "rope type %s has no %s: it changes nothing", rope->type, key);
    if (unread && found != NULL) found->severity = RS_NOTE;
  } else if (near == NULL)
    rs_find(c, "RS107", child, "take it away, or correct its name",
            "no rope type has a key %s: it changes nothing here, in transformers or in vLLM", key);
  else
    rs_find(c, "RS106", child, rs_fix(c, "write \"%s\"", near),
            "nobody reads %s: %s is what is meant, and as the file stands its default holds", key, near);
}

static void find_keys(rs_checked *c, const rs_rope_entry *rope) {
  for (size_t i = 0; i < rope->node->count; i++) find_key(c, rope, &rope->node->items[i]);
}

static void find_missing(rs_checked *c, const rs_rope_entry *rope) {
  if (rope->known == NULL || is_hunyuan(rope)) return;
  for (const rs_hf_key *key = rope->known->keys; key->key != NULL; key++) {
    const rs_node *null = rs_node_get(rope->node, key->key);
    if (rs_key(rope->node, key->key) != NULL) continue;
    if (null != NULL && (key->required || strcmp(key->key, "factor") == 0))
      rs_find(c, "RS108", null, key->required ? "write a number" : "write a number, or take the key away",
              "%s is null, which is no number: it is missing, and rope type %s %s", key->key, rope->type,
              key->required ? "needs it" : "then takes the ratio of the lengths");
    else if (key->required)
      rs_find(c, "RS108", rope->node, rs_fix(c, "add \"%s\"", key->key), "%s needs %s for rope type %s", rope->path,
              key->key, rope->type);
  }
}

static void find_other_factor(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key(rope->node, "attn_factor");
  if (rs_node_number(node) > 0 && rs_node_number(node) != 1)
    rs_find(c, "RS109", node, "for transformers write attention_factor, the whole factor on cos and sin",
            "llama.cpp, SGLang and vLLM before #56446 multiply their attention factor by attn_factor = %s; "
            "transformers does not read it",
            node->text);
}

/* Long names alone, and one or two letters off: "rope_thetas" is a slip, "v_head_dim" another key. */
static void find_file_keys(rs_checked *c) {
  for (size_t i = 0; i < c->root->count && !rs_hf_is_params(c->top); i++) { /* whose keys are others */
    const rs_node *child = &c->root->items[i];
    const char *near = rs_suggest(child->key, file_keys, RS_COUNT(file_keys));
    size_t length = strlen(child->key), other = near != NULL ? strlen(near) : 0;
    if (other < 9 || length + 2 < other || length > other + 2 || child->key[0] != near[0]) continue;
    if (strcmp(near, child->key) != 0)
      rs_find(c, "RS110", child, rs_fix(c, "write \"%s\"", near),
              "nobody reads %s: %s is what is meant, and as the file stands its default holds", child->key, near);
  }
}

const rs_check_row rs_rules_dictionary[] = {
    {RS_RULE("RS101", "rope-scaling-is-no-object", RS_ERROR,
             "rope_scaling is text, a number or a list: nothing in it is read, so nothing is scaled",
             "transformers, modeling_rope_utils.py: a dict with rope_type"),
     .in_file = find_no_mapping},
    {RS_RULE(
         "RS102", "scaling-without-type", RS_ERROR,
         "scaling parameters without a rope_type: transformers 5 takes them for plain RoPE, earlier ones and vLLM stop",
         "github.com/huggingface/transformers/issues/36877"),
     .in_rope = find_no_type},
    {RS_RULE("RS103", "unknown-rope-type", RS_ERROR, "a rope_type that no engine here knows",
             "transformers, modeling_rope_utils.py: ROPE_INIT_FUNCTIONS"),
     .in_rope = find_wrong_type},
    {RS_RULE("RS104", "type-against-rope-type", RS_ERROR,
             "type and rope_type name two methods: transformers takes rope_type, vLLM stops",
             "vLLM, transformers_utils/config.py: patch_rope_parameters_dict"),
     .in_rope = find_two_types},
    {RS_RULE("RS105", "rope-scaling-and-rope-parameters", RS_ERROR,
             "rope_scaling and rope_parameters say two things: transformers 5 takes rope_scaling, whatever else is "
             "read by others",
             "transformers 5, modeling_rope_utils.py: convert_rope_params_to_dict"),
     .in_file = find_two_places},
    {RS_RULE("RS106", "misspelt-key", RS_ERROR, "a key that nobody reads and that is nearly one that is read",
             "transformers, modeling_rope_utils.py: _check_received_keys"),
     .in_rope = find_keys},
    {RS_RULE("RS107", "key-of-another-type", RS_WARNING, "a key that this rope_type does not have: it changes nothing",
             "transformers, modeling_rope_utils.py: _check_received_keys")},
    {RS_RULE("RS108", "missing-key", RS_ERROR, "a key is missing that this rope_type needs",
             "transformers, modeling_rope_utils.py: rope_config_validation"),
     .in_rope = find_missing},
    {RS_RULE("RS109", "attn-factor-for-attention-factor", RS_WARNING,
             "attn_factor multiplies the attention factor in llama.cpp, SGLang and vLLM before #56446, and "
             "transformers does not read it; attention_factor replaces it in transformers and newer vLLM",
             "github.com/ggml-org/llama.cpp/issues/17945"),
     .in_rope = find_other_factor},
    {RS_RULE("RS110", "misspelt-key-of-the-file", RS_ERROR,
             "a key beside rope_scaling that nobody reads and that is nearly one that is read",
             "transformers, configuration_utils.py: further keys are kept and not looked at"),
     .in_file = find_file_keys},
    {RS_RULE("RS111", "rope-type-of-own-code", RS_WARNING,
             "a rope_type that vLLM, SGLang or the model's own code knows, and transformers does not; it is not "
             "computed here",
             "vLLM, rotary_embedding/__init__.py; SGLang, rotary_embedding/factory.py")},
    {.rule = {.code = NULL}}};
