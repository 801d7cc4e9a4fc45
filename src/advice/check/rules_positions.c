/* RS5: models that know positions otherwise than by rotation. */
#include "rules.h"

#include <string.h>

enum { SCALED_ELSEWISE, SCALED_CLASS, SAID, UNREAD, UNCOUNTED };

static const rs_rule rules[] = {
    [SCALED_ELSEWISE] = {"RS501", "scaling-without-rotation", RS_WARNING,
                         "the file says that its positions are not rotary, and scales rotary ones beside it",
                         "transformers, modeling_falcon.py, modeling_mpt.py: alibi or rotary"},
    [SCALED_CLASS] = {"RS502", "scaling-of-a-class-without-rotation", RS_WARNING,
                      "rope_scaling in the config of a class that turns nothing: nobody reads it",
                      "transformers, modeling_bert.py, modeling_bloom.py and others"},
    [SAID] =
        {"RS503", "no-rotation-by-key", RS_NOTE,
         "a key says that positions are not rotary: nothing turns, and what is said of the file is of what it names",
         "the model's own code"},
    [UNREAD] = {"RS504", "no-rotation-by-unread-key", RS_WARNING,
                "a key says that positions are not rotary, and the class in transformers does not read it and turns "
                "all the same",
                "transformers, modeling_llama.py and others: rotary_emb without a condition"},
    [UNCOUNTED] =
        {"RS505", "positions-by-own-code", RS_NOTE,
         "a key that changes positions in the model's own code or in vLLM, and that is not counted here, or not "
         "in what is said of engines",
         "Qwen's modeling_qwen.py; vLLM, rotary_embedding/dual_chunk_rope.py, fope.py"},
};

/* The key that says so, or NULL. */
static const rs_node *says_not_rotary(const rs_node *root) {
  static const struct {
    const char *key, *value; /* NULL: any but "rope" and "rotary" */
  } signs[] = {{"alibi", "true"},
               {"use_alibi", "true"},
               {"use_rope", "false"},
               {"rotary", "false"},
               {"use_rotary_embeddings", "false"},
               {"position_embedding_type", NULL}};
  for (size_t i = 0; i < RS_COUNT(signs); i++) {
    const char *word = rs_key_word(root, signs[i].key);
    if (word == NULL) continue;
    bool other = signs[i].value == NULL && strcmp(word, "rope") != 0 && strstr(word, "rotary") == NULL;
    if (other || (signs[i].value != NULL && strcmp(word, signs[i].value) == 0)) return rs_key(root, signs[i].key);
  }
  return NULL;
}

/* Classes of transformers that turn whatever such keys say. */
static bool turns_always(const char *family) {
  static const char *const families[] = {"cohere",  "cohere2",   "deepseek_v2", "deepseek_v3", "gemma",     "gemma2",
                                         "gemma3",  "glm",       "glm4",        "glm4_moe",    "gpt_neox",  "gpt_oss",
                                         "granite", "llama",     "mistral",     "mixtral",     "nemotron",  "olmo",
                                         "olmo2",   "olmo3",     "phi",         "phi3",        "qwen2",     "qwen2_moe",
                                         "qwen3",   "qwen3_moe", "seed_oss",    "stablelm",    "starcoder2"};
  for (size_t i = 0; i < RS_COUNT(families); i++)
    if (strcmp(family, families[i]) == 0) return true;
  return false;
}

/* Flags of classes whose files always have them say nothing new. */
static bool is_usual(const rs_checked *checked, const rs_node *sign) {
  static const char *const families[] = {"falcon", "mpt", "bloom"};
  for (size_t i = 0; i < RS_COUNT(families); i++)
    if (rs_hf_is_of(checked->family, families[i])) return true;
  bool word = strcmp(sign->key, "position_embedding_type") == 0;
  return word && strcmp(sign->text, "nope") != 0 && strcmp(sign->text, "none") != 0 && strcmp(sign->text, "alibi") != 0;
}

static rs_status find_said(const rs_checked *checked, const rs_node *sign, rs_findings *findings, rs_err *err) {
  const rs_model *model = checked->model;
  if (sign == NULL || is_usual(checked, sign) || model == NULL || model->published.method == NULL) return RS_OK;
  if (turns_always(checked->family))
    return rs_find(
        findings, &rules[UNREAD], sign, NULL, "take it away, or name the model_type whose code reads it", err,
        "%s is %s: the class %s of transformers does not read it, and turns all the same; here it is taken at "
        "its word (%s)",
        sign->key, sign->text, checked->family, model->published.method->name);
  return rs_find(findings, &rules[SAID], sign, NULL, NULL, err, "%s is %s: nothing turns (%s)", sign->key, sign->text,
                 model->published.method->name);
}

static rs_status find_uncounted(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const keys[] = {"use_dynamic_ntk", "use_logn_attn", "dual_chunk_attention_config", "use_fope"};
  enum { OF_QWEN = 2 }; /* the first so many are of Qwen 1, whose recipe has them */
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    bool counted = i < OF_QWEN && strcmp(checked->family, "qwen") == 0;
    const rs_node *node = rs_key(checked->root, keys[i]);
    for (size_t r = 0; r < checked->rope_count && node == NULL; r++) node = rs_key(checked->ropes[r].node, keys[i]);
    bool flag = node != NULL && node->kind == RS_SCALAR;
    if (node == NULL || (flag && strcmp(node->text, "true") != 0)) continue;
    RS_TRY(rs_find(findings, &rules[UNCOUNTED], node, NULL, NULL, err, "%s changes positions in the model's own code%s",
                   keys[i],
                   counted ? ": counted here, but for what is said of engines"
                           : " or in vLLM: nothing that is said here counts it"));
  }
  return RS_OK;
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *sign = says_not_rotary(checked->root);
  const rs_model *model = checked->model;
  RS_TRY(find_uncounted(checked, findings, err));
  if (checked->rope_count == 0 || strcmp(checked->ropes[0].type, "default") == 0)
    return find_said(checked, sign, findings, err);
  const rs_rope_entry *rope = &checked->ropes[0];
  if (sign != NULL)
    return rs_find(findings, &rules[SCALED_ELSEWISE], sign, NULL, "take one of the two away", err,
                   "%s is %s, so nothing turns, and %s on line %zu has no effect", sign->key, sign->text, rope->path,
                   rope->node->line);
  if (model != NULL && model->published.method != NULL && model->published.method->freq == NULL)
    return rs_find(findings, &rules[SCALED_CLASS], rope->node, rope->path, "take it away", err,
                   "%s turns nothing (%s), so %s has no effect", checked->family, model->published.method->name,
                   rope->path);
  return RS_OK;
}

const rs_rule_group rs_rules_positions = {rules, RS_COUNT(rules), find};
