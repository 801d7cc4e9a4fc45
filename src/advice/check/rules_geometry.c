/* RS4: the base, which dims turn, lists of one number a pair, sections of M-RoPE. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NO_BASE, TWO_BASES, TWO_PARTS, LIST_LENGTH, SECTIONS, UNSAID, UNKNOWN };

static const rs_rule rules[] = {
    [NO_BASE] = {"RS401", "no-base", RS_NOTE, "no rope_theta: the class default holds, which differs between engines",
                 "transformers, configuration_*.py: default_theta"},
    [TWO_BASES] = {"RS402", "two-bases", RS_ERROR,
                   "rope_theta stands in two places with two values; transformers 5 takes the one in rope_parameters, "
                   "transformers 4 the one beside it",
                   "transformers 5, modeling_rope_utils.py: standardize_rope_params"},
    [TWO_PARTS] = {"RS403", "two-rotary-widths", RS_ERROR,
                   "partial_rotary_factor, rotary_pct, rotary_dim say different numbers of dims that turn",
                   "github.com/huggingface/transformers/issues/48652"},
    [LIST_LENGTH] = {"RS404", "list-of-wrong-length", RS_ERROR, "a list must have one number for each pair that turns",
                     "transformers, modeling_rope_utils.py: _validate_longrope_rope_parameters"},
    [SECTIONS] = {"RS405", "mrope-sections", RS_ERROR,
                  "mrope_section must have three numbers that sum to the pairs that turn",
                  "transformers, modeling_qwen2_vl.py: apply_multimodal_rotary_pos_emb"},
    [UNKNOWN] = {"RS407", "guessed-class", RS_WARNING,
                 "the model_type is not known here, or its class does not read keys that the file has: what is said is "
                 "a guess, and names the keys that nothing here reads",
                 "the model's own code"},
    [UNSAID] =
        {"RS406", "rotation-unsaid", RS_WARNING,
         "no key speaks of positions, and the model_type is not known here: plain RoPE with base 10000 is a guess",
         "the model's own code"},
};

/* Pairs that turn; 0 where the file cannot be read. */
static size_t pairs_of(const rs_checked *checked) {
  return checked->model != NULL ? checked->model->rotary_dim / 2 : 0;
}

/* Whether any key of the file speaks of rotation. */
static bool speaks_of_rotation(const rs_checked *checked) {
  static const char *const keys[] = {"partial_rotary_factor",
                                     "rotary_pct",
                                     "rope_pct",
                                     "rotary_percentage",
                                     "rotary_dim",
                                     "use_rope",
                                     "qk_rope_head_dim",
                                     "position_embedding_type"};
  bool said = checked->rope_count > 0;
  for (size_t i = 0; i < RS_COUNT(keys); i++) said |= rs_key(checked->root, keys[i]) != NULL;
  return said;
}

/* No base: what its class has where that is known, else what most have; or rotation as a whole is a guess. */
static rs_status find_no_base(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const char *key = rs_hf_base_key(checked->family, &checked->profile.kinds[checked->profile.chosen]);
  const char *family = *checked->family != '\0' ? checked->family : "no model_type";
  bool known = rs_hf_knows(checked->family);
  char fix[160], base[RS_NUMBER_CHARS];
  (void)rs_number_format(checked->model->rope_theta, base);
  if (!known && !speaks_of_rotation(checked))
    return rs_find(findings, &rules[UNSAID], NULL, key,
                   "if it turns, add \"rope_theta\"; if not, \"position_embedding_type\": \"nope\", \"learned\", "
                   "\"sinusoidal\" or \"alibi\"",
                   err, "no key speaks of positions, and %s is not known here: plain RoPE with base %s is a guess",
                   family, base);
  snprintf(fix, sizeof fix, "add \"%s\": %s.0 if that is the base of training", key, base);
  if (!known)
    return rs_find(findings, &rules[NO_BASE], NULL, key, fix, err,
                   "no %s: %s is taken, as most classes have it; %s is not known here", key, base, family);
  return rs_find(findings, &rules[NO_BASE], NULL, key, fix, err, "no %s: %s is taken, the default of %s", key, base,
                 family);
}

static rs_status find_base(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const keys[] = {"rope_theta",           "rotary_emb_base",  "global_rope_theta",
                                     "rope_embedding_base",  "attn_config",      "rope_base",
                                     "rope_local_base_freq", "local_rope_theta", "swa_rope_theta"};
  const rs_model *model = checked->model;
  bool turns = model != NULL && model->published.method != NULL && model->published.method->freq != NULL;
  const rs_node *outer = rs_key(checked->root, "rope_theta");
  bool said = false;
  for (size_t i = 0; i < RS_COUNT(keys); i++) said |= rs_key(checked->root, keys[i]) != NULL;
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    const rs_node *inner = rs_key(rope->node, "rope_theta");
    said |= inner != NULL;
    if (outer == NULL || inner == NULL || rs_node_number(outer) == rs_node_number(inner)) continue;
    if (strchr(rope->path, '.') != NULL) continue; /* of one type of layers */
    rs_path path = rs_key_path(rope, "rope_theta");
    RS_TRY(rs_find(findings, &rules[TWO_BASES], inner, path.text, "keep one", err, "%s here and %s on line %zu",
                   inner->text, outer->text, outer->line));
  }
  return said || !turns ? RS_OK : find_no_base(checked, findings, err);
}

/* The share of head_dim that turns, by each of its spellings. */
static rs_status find_parts(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const keys[] = {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_percentage",
                                     "rotary_dim"};
  const rs_node *first = NULL;
  double share = NAN;
  for (size_t i = 0; i < RS_COUNT(keys) && checked->model != NULL; i++) {
    const rs_node *node = rs_key(checked->root, keys[i]);
    double number = rs_node_number(node);
    if (isnan(number)) continue;
    if (strcmp(keys[i], "rotary_dim") == 0) number /= (double)checked->model->head_dim;
    if (first == NULL) {
      first = node;
      share = number;
    } else if (fabs(number - share) > 1e-6) {
      RS_TRY(rs_find(findings, &rules[TWO_PARTS], node, NULL, "keep one", err,
                     "%s = %s turns %g of %zu dims, but %s = %s on line %zu turns %g", keys[i], node->text,
                     number * (double)checked->model->head_dim, checked->model->head_dim, first->key, first->text,
                     first->line, share * (double)checked->model->head_dim));
    }
  }
  return RS_OK;
}

static rs_status find_lists(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  static const char *const keys[] = {"short_factor", "long_factor"};
  size_t pairs = pairs_of(checked);
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *list = rs_key(rope->node, keys[i]);
    if (list == NULL || list->kind != RS_SEQUENCE || pairs == 0 || list->count == pairs) continue;
    rs_path path = rs_key_path(rope, keys[i]);
    char fix[160];
    snprintf(fix, sizeof fix, "%zu numbers: half of head_dim %zu times the part that turns", pairs,
             checked->model->head_dim);
    RS_TRY(rs_find(findings, &rules[LIST_LENGTH], list, path.text, fix, err, "%zu numbers for %zu pairs", list->count,
                   pairs));
  }
  return RS_OK;
}

static rs_status find_sections(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                               rs_err *err) {
  const rs_node *list = rs_key(rope->node, "mrope_section"), *dims = rs_key(checked->root, "head_dim");
  if (list == NULL) return RS_OK;
  double total = 0, heads = rs_key_number(checked->root, "num_attention_heads");
  double head = dims != NULL ? rs_node_number(dims) : rs_key_number(checked->root, "hidden_size") / heads;
  double pairs = pairs_of(checked) > 0 ? (double)pairs_of(checked) : head / 2;
  for (size_t i = 0; i < list->count; i++) total += rs_node_number(&list->items[i]);
  bool partial =
      rs_key(checked->root, "partial_rotary_factor") != NULL || rs_key(rope->node, "partial_rotary_factor") != NULL;
  if (list->count == RS_AXES && (total == pairs || (partial && pairs_of(checked) == 0))) return RS_OK;
  rs_path path = rs_key_path(rope, "mrope_section");
  char fix[160];
  snprintf(fix, sizeof fix, "three numbers (t, h, w) that sum to %g", pairs);
  return rs_find(findings, &rules[SECTIONS], list, path.text, fix, err, "%zu sections that sum to %g, for %g pairs",
                 list->count, total, pairs);
}

static rs_status find_doubt(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *type = rs_key(checked->root, "model_type");
  if (checked->profile.doubt == NULL) return RS_OK;
  if (type == NULL) type = rs_key(checked->top, "model_type");
  return rs_find(findings, &rules[UNKNOWN], type, "model_type", NULL, err, "%.600s", checked->profile.doubt);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  RS_TRY(find_doubt(checked, findings, err));
  RS_TRY(find_base(checked, findings, err));
  RS_TRY(find_parts(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    RS_TRY(find_lists(checked, &checked->ropes[r], findings, err));
    RS_TRY(find_sections(checked, &checked->ropes[r], findings, err));
  }
  return RS_OK;
}

const rs_rule_group rs_rules_geometry = {rules, RS_COUNT(rules), find};
