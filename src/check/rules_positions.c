/* RS5: models that know positions otherwise than by rotation. */
#include "rules.h"

#include <string.h>

enum { SCALED_ELSEWISE, SCALED_CLASS };

static const rs_rule rules[] = {
    [SCALED_ELSEWISE] = {"RS501", "scaling-without-rotation", RS_WARNING,
                         "the file says that its positions are not rotary, and scales rotary ones beside it",
                         "transformers, modeling_falcon.py, modeling_mpt.py: alibi or rotary"},
    [SCALED_CLASS] = {"RS502", "scaling-of-a-class-without-rotation", RS_WARNING,
                      "rope_scaling in the config of a class that turns nothing: nobody reads it",
                      "transformers, modeling_bert.py, modeling_bloom.py and others"},
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

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *sign = says_not_rotary(checked->root);
  const rs_model *model = checked->model;
  if (checked->rope_count == 0 || strcmp(checked->ropes[0].type, "default") == 0) return RS_OK;
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
