/* RS1: what rope_scaling or rope_parameters is, and how its keys are spelt. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  NO_MAPPING,
  NO_TYPE,
  NO_SUCH_TYPE,
  TWO_TYPES,
  TWO_PLACES,
  MISSPELT,
  UNREAD_KEY,
  NEEDS_KEY,
  OTHER_FACTOR,
  TOP,
  OWN_TYPE
};

static const rs_rule rules[] = {
    [NO_MAPPING] = {"RS101", "rope-scaling-is-no-object", RS_ERROR,
                    "rope_scaling is text, a number or a list: nothing in it is read, so nothing is scaled",
                    "transformers, modeling_rope_utils.py: a dict with rope_type"},
    [NO_TYPE] = {"RS102", "scaling-without-type", RS_ERROR,
                 "scaling parameters without a rope_type: transformers 5 takes them for plain RoPE, earlier ones and "
                 "vLLM stop",
                 "github.com/huggingface/transformers/issues/36877"},
    [NO_SUCH_TYPE] = {"RS103", "unknown-rope-type", RS_ERROR, "a rope_type that no engine here knows",
                      "transformers, modeling_rope_utils.py: ROPE_INIT_FUNCTIONS"},
    [TWO_TYPES] = {"RS104", "type-against-rope-type", RS_ERROR,
                   "type and rope_type name two methods: transformers takes rope_type, vLLM stops",
                   "vLLM, transformers_utils/config.py: patch_rope_parameters_dict"},
    [TWO_PLACES] = {"RS105", "rope-scaling-and-rope-parameters", RS_ERROR,
                    "rope_scaling and rope_parameters say two things: transformers 5 takes rope_scaling, whatever "
                    "else is read by others",
                    "transformers 5, modeling_rope_utils.py: convert_rope_params_to_dict"},
    [MISSPELT] = {"RS106", "misspelt-key", RS_ERROR, "a key that nobody reads and that is nearly one that is read",
                  "transformers, modeling_rope_utils.py: _check_received_keys"},
    [UNREAD_KEY] = {"RS107", "key-of-another-type", RS_WARNING,
                    "a key that this rope_type does not have: it changes nothing",
                    "transformers, modeling_rope_utils.py: _check_received_keys"},
    [NEEDS_KEY] = {"RS108", "missing-key", RS_ERROR, "a key is missing that this rope_type needs",
                   "transformers, modeling_rope_utils.py: rope_config_validation"},
    [OTHER_FACTOR] = {"RS109", "attn-factor-for-attention-factor", RS_WARNING,
                      "attn_factor multiplies the attention factor in llama.cpp, SGLang and vLLM before #56446, and "
                      "transformers does not read it; attention_factor replaces it in transformers and newer vLLM",
                      "github.com/ggml-org/llama.cpp/issues/17945"},
    [TOP] = {"RS110", "misspelt-key-of-the-file", RS_ERROR,
             "a key beside rope_scaling that nobody reads and that is nearly one that is read",
             "transformers, configuration_utils.py: further keys are kept and not looked at"},
    [OWN_TYPE] = {"RS111", "rope-type-of-own-code", RS_WARNING,
                  "a rope_type that vLLM, SGLang or the model's own code knows, and transformers does not; it is not "
                  "computed here",
                  "vLLM, rotary_embedding/__init__.py; SGLang, rotary_embedding/factory.py"},
};

/* Keys of any rope dictionary, whatever its type. */
static const char *const common_keys[] = {"rope_type",
                                          "type",
                                          "rope_theta",
                                          "partial_rotary_factor",
                                          "original_max_position_embeddings",
                                          "mrope_section",
                                          "mrope_interleaved",
                                          "alpha",
                                          "max_position_embeddings",
                                          "llama_4_scaling_beta",
                                          "rope_interleave"};

/* Keys that engines read for some type though transformers' table has them not: vLLM's, Mistral's. */
static const char *const engine_keys[] = {"extrapolation_factor",
                                          "apply_yarn_scaling",
                                          "xdrope_section",
                                          "use_fope",
                                          "num_inv_freq",
                                          "ntk_factor",
                                          "mixed_b",
                                          "finetuned",
                                          "head_dim"};

/* Keys of the file that say something of positions. */
static const char *const file_keys[] = {"rope_theta",
                                        "rope_scaling",
                                        "rope_parameters",
                                        "max_position_embeddings",
                                        "original_max_position_embeddings",
                                        "partial_rotary_factor",
                                        "rotary_pct",
                                        "rotary_emb_base",
                                        "rotary_dim",
                                        "rope_local_base_freq",
                                        "sliding_window",
                                        "layer_types",
                                        "no_rope_layers",
                                        "num_attention_heads",
                                        "num_key_value_heads",
                                        "hidden_size",
                                        "head_dim"};

static bool among(const char *word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) return true;
  return false;
}

/* ---- the dictionary itself --------------------------------------------------------------------------------------- */

static rs_status find_no_mapping(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const keys[] = {"rope_scaling", "rope_parameters"};
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *node = rs_key(checked->root, keys[i]);
    if (node == NULL || node->kind == RS_MAPPING) continue;
    RS_TRY(rs_find(findings, &rules[NO_MAPPING], node, NULL,
                   "write an object, as in {\"rope_type\": \"yarn\", \"factor\": 4.0, "
                   "\"original_max_position_embeddings\": 32768}",
                   err, "%s is %s, where an object is read: nothing of it counts", keys[i],
                   node->kind == RS_SEQUENCE ? "a list" : "a single value"));
  }
  return RS_OK;
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

static rs_status find_two_places(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *scaling = rs_key(checked->root, "rope_scaling"),
                *parameters = rs_key(checked->root, "rope_parameters");
  if (scaling == NULL || parameters == NULL || scaling->kind != RS_MAPPING) return RS_OK;
  const char *type = checked->ropes[0].type, *other = checked->rope_count > 1 ? checked->ropes[1].type : "";
  bool flat = checked->rope_count > 1 && checked->ropes[1].node == parameters;
  if (flat && strcmp(type, other) == 0 && same_numbers(scaling, parameters)) return RS_OK;
  return rs_find(findings, &rules[TWO_PLACES], parameters, NULL,
                 "keep one: rope_parameters for transformers 5, rope_scaling with rope_theta beside it for all", err,
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

static rs_status find_no_type(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *scaling = scaling_key(rope->node);
  if (rs_key(rope->node, "rope_type") != NULL || rs_key(rope->node, "type") != NULL || scaling == NULL) return RS_OK;
  return rs_find(findings, &rules[NO_TYPE], rope->node, rope->path,
                 "add \"rope_type\": \"yarn\" (or linear, dynamic, llama3, longrope, whichever was trained)", err,
                 "%s has %s = %s and no rope_type: transformers 5 takes it for plain RoPE, so nothing is scaled; "
                 "transformers 4 and vLLM stop",
                 rope->path, scaling->key, scaling->kind == RS_SCALAR ? scaling->text : "[...]");
}

/* Types that have code somewhere: vLLM's get_rope (telechat3-yarn is YaRN with 0.07 in the place of 0.1), SGLang's,
 * Grok's. */
static const char *const own_types[] = {
    "telechat3-yarn", "yarn_log",      "deepseek_yarn", "deepseek_llama_scaling", "ntk", "openpangu",
    "mllama4",        "bailing_mrope", "xdrope"};

static rs_status find_own_type(const rs_rope_entry *rope, const rs_node *node, rs_findings *findings, rs_err *err) {
  rs_path path = rs_key_path(rope, node->key);
  return rs_find(
      findings, &rules[OWN_TYPE], node, path.text, NULL, err,
      "\"%s\" is a rope type of vLLM's, SGLang's or the model's own code: transformers does not know it, and it "
      "is not computed here",
      rope->type);
}

static rs_status find_wrong_type(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const char *names[RS_HF_ROPE_TYPES];
  const rs_node *node = rs_key(rope->node, "rope_type");
  if (node == NULL) node = rs_key(rope->node, "type");
  if (node == NULL || rope->known != NULL) return RS_OK;
  if (among(rope->type, own_types, RS_COUNT(own_types))) return find_own_type(rope, node, findings, err);
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++) names[t] = rs_hf_rope_types[t].type;
  const char *near = rs_suggest(rope->type, names, RS_HF_ROPE_TYPES);
  char fix[160];
  if (near != NULL)
    snprintf(fix, sizeof fix, "write \"%s\"", near);
  else
    snprintf(fix, sizeof fix, "one of default, linear, dynamic, yarn, llama3, longrope, proportional");
  rs_path path = rs_key_path(rope, node->key);
  return rs_find(findings, &rules[NO_SUCH_TYPE], node, path.text, fix, err, "\"%s\" is no rope type%s%s%s", rope->type,
                 near != NULL ? " (did you mean " : "", near != NULL ? near : "", near != NULL ? "?)" : "");
}

/* Two spellings of one method, which all accept. */
static bool same_type(const char *type, const char *rope_type) {
  return strcmp(type, rope_type) == 0 || (strcmp(type, "su") == 0 && strcmp(rope_type, "longrope") == 0) ||
         (strcmp(type, "mrope") == 0 && strcmp(rope_type, "default") == 0);
}

static rs_status find_two_types(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const char *type = rs_key_word(rope->node, "type"), *rope_type = rs_key_word(rope->node, "rope_type");
  if (type == NULL || rope_type == NULL || same_type(type, rope_type)) return RS_OK;
  rs_path path = rs_key_path(rope, "type");
  return rs_find(findings, &rules[TWO_TYPES], rs_key(rope->node, "type"), path.text,
                 "keep rope_type alone, with the method that was trained", err,
                 "type is \"%s\" and rope_type \"%s\": transformers takes rope_type, vLLM stops", type, rope_type);
}

/* ---- its keys ---------------------------------------------------------------------------------------------------- */

static bool has_key(const rs_hf_rope_type *type, const char *key) {
  for (const rs_hf_key *known = type->keys; known->key != NULL; known++)
    if (strcmp(known->key, key) == 0) return true;
  return false;
}

/* All keys that some rope type has. */
static size_t all_keys(const char *out[64]) {
  size_t count = 0;
  for (size_t i = 0; i < RS_COUNT(common_keys); i++) out[count++] = common_keys[i];
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    for (const rs_hf_key *key = rs_hf_rope_types[t].keys; key->key != NULL; key++)
      if (!among(key->key, out, count)) out[count++] = key->key;
  return count;
}

/* Tencent's files have YaRN's keys beside HunYuan's alpha, which alone is read: nothing is wrong with a file for that.
 */
static bool is_hunyuan(const rs_rope_entry *rope) {
  return strcmp(rope->type, "dynamic") == 0 && rs_key(rope->node, "alpha") != NULL;
}

static rs_status find_key(const rs_rope_entry *rope, const rs_node *child, rs_findings *findings, rs_err *err) {
  const char *keys[64];
  size_t count = all_keys(keys);
  rs_path path = rs_key_path(rope, child->key);
  char fix[160];
  if (among(child->key, common_keys, RS_COUNT(common_keys)) || among(child->key, engine_keys, RS_COUNT(engine_keys)) ||
      (rope->known != NULL && has_key(rope->known, child->key)))
    return RS_OK;
  if (among(child->key, keys, count)) {
    if (rope->known == NULL) return RS_OK;
    bool bare = rs_key(rope->node, "rope_type") == NULL && rs_key(rope->node, "type") == NULL;
    if (bare) return RS_OK; /* its type is missing, and said to be */
    RS_TRY(rs_find(findings, &rules[UNREAD_KEY], child, path.text,
                   is_hunyuan(rope) ? NULL : "take it away, or correct the rope_type", err,
                   "rope type %s has no %s: it changes nothing", rope->type, child->key));
    if (is_hunyuan(rope)) findings->items[findings->count - 1].severity = RS_NOTE;
    return RS_OK;
  }
  const char *near = rs_suggest(child->key, keys, count);
  if (near == NULL)
    return rs_find(findings, &rules[UNREAD_KEY], child, path.text, "take it away, or correct its name", err,
                   "no rope type has a key %s: it changes nothing here, in transformers or in vLLM", child->key);
  snprintf(fix, sizeof fix, "write \"%s\"", near);
  return rs_find(findings, &rules[MISSPELT], child, path.text, fix, err,
                 "nobody reads %s: %s is what is meant, and as the file stands its default holds", child->key, near);
}

static rs_status find_missing(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  if (rope->known == NULL) return RS_OK;
  for (const rs_hf_key *key = rope->known->keys; key->key != NULL && !is_hunyuan(rope); key++) {
    const rs_node *null = rs_node_get(rope->node, key->key);
    if (rs_key(rope->node, key->key) != NULL) continue;
    char fix[160];
    if (null != NULL && (key->required || strcmp(key->key, "factor") == 0)) {
      rs_path path = rs_key_path(rope, key->key);
      snprintf(fix, sizeof fix, "write a number%s", key->required ? "" : ", or take the key away");
      RS_TRY(rs_find(findings, &rules[NEEDS_KEY], null, path.text, fix, err,
                     "%s is null, which is no number: it is missing, and rope type %s %s", key->key, rope->type,
                     key->required ? "needs it" : "then takes the ratio of the lengths"));
      continue;
    }
    if (!key->required) continue;
    snprintf(fix, sizeof fix, "add \"%s\"", key->key);
    RS_TRY(rs_find(findings, &rules[NEEDS_KEY], rope->node, rope->path, fix, err, "%s needs %s for rope type %s",
                   rope->path, key->key, rope->type));
  }
  return RS_OK;
}

static rs_status find_other_factor(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(rope->node, "attn_factor");
  if (node == NULL || rs_node_number(node) == 1) return RS_OK;
  rs_path path = rs_key_path(rope, "attn_factor");
  return rs_find(
      findings, &rules[OTHER_FACTOR], node, path.text,
      "for transformers write attention_factor, the whole factor on cos and sin", err,
      "llama.cpp, SGLang and vLLM before #56446 multiply their attention factor by attn_factor = %s; transformers does "
      "not read it",
      node->text);
}

/* ---- keys of the file -------------------------------------------------------------------------------------------- */

static rs_status find_file_key(const rs_node *child, rs_findings *findings, rs_err *err) {
  char fix[160];
  if (among(child->key, file_keys, RS_COUNT(file_keys))) return RS_OK;
  const char *near = rs_suggest(child->key, file_keys, RS_COUNT(file_keys));
  size_t length = strlen(child->key), other = near != NULL ? strlen(near) : 0;
  /* Long names alone, and one or two letters off: "rope_thetas" is a slip, "v_head_dim" another key. */
  if (near == NULL || other < 9 || length + 2 < other || length > other + 2 || child->key[0] != near[0]) return RS_OK;
  snprintf(fix, sizeof fix, "write \"%s\"", near);
  return rs_find(findings, &rules[TOP], child, NULL, fix, err,
                 "nobody reads %s: %s is what is meant, and as the file stands its default holds", child->key, near);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  RS_TRY(find_no_mapping(checked, findings, err));
  RS_TRY(find_two_places(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    RS_TRY(find_no_type(rope, findings, err));
    RS_TRY(find_wrong_type(rope, findings, err));
    RS_TRY(find_two_types(rope, findings, err));
    for (size_t i = 0; i < rope->node->count; i++) RS_TRY(find_key(rope, &rope->node->items[i], findings, err));
    RS_TRY(find_missing(rope, findings, err));
    RS_TRY(find_other_factor(rope, findings, err));
  }
  if (rs_hf_is_params(checked->top)) return RS_OK; /* whose keys are others */
  for (size_t i = 0; i < checked->root->count; i++) RS_TRY(find_file_key(&checked->root->items[i], findings, err));
  return RS_OK;
}

const rs_rule_group rs_rules_type = {rules, RS_COUNT(rules), find};
