/* RS8: layers that turn, or see, otherwise than others. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEVERAL, LIST_LENGTH, LOCAL_BASE, NO_LAYER, UNKNOWN_TYPE, NO_WINDOW, PATTERN, BESIDE, CHOICE };

static const rs_rule rules[] = {
    [SEVERAL] = {"RS801", "layers-turn-otherwise", RS_NOTE,
                 "layers turn in several ways: what is said of one recipe holds for some of them alone",
                 "docs/commands.md: show layers"},
    [LIST_LENGTH] = {"RS802", "list-of-layers-of-wrong-length", RS_ERROR,
                     "a list by layer must have an entry for each of num_hidden_layers",
                     "transformers, configuration_utils.py: layer_type_validation"},
    [LOCAL_BASE] = {"RS803", "local-base-of-no-layer", RS_WARNING,
                    "a base for layers with a window, where no layer has one: nobody reads it",
                    "transformers, modeling_gemma3.py: rope_local_base_freq"},
    [NO_LAYER] = {"RS804", "rope-parameters-of-no-layer", RS_NOTE,
                  "rope_parameters of a type of layers that no layer has: they change nothing",
                  "transformers 5, modeling_rope_utils.py: rope_parameters by layer type"},
    [UNKNOWN_TYPE] = {"RS805", "unknown-layer-type", RS_ERROR,
                      "a type of layers, in layer_types or rope_parameters, that is not known here: what such layers "
                      "see is not known, either",
                      "transformers, configuration_utils.py: ALLOWED_LAYER_TYPES", "misspelt-layer-type"},
    [NO_WINDOW] = {"RS806", "sliding-layers-without-window", RS_WARNING,
                   "layer_types has sliding_attention, and no sliding_window says how far it sees",
                   "transformers, masking_utils.py: create_sliding_window_causal_mask"},
    [PATTERN] = {"RS807", "layer-types-against-pattern", RS_WARNING,
                 "layer_types and sliding_window_pattern say other layers: releases and engines that know layer_types "
                 "take them, others take the pattern",
                 "transformers, configuration_gemma3.py: layer_types"},
    [CHOICE] =
        {"RS809", "layers-choose-keys", RS_NOTE,
         "each query of some layers attends a few keys that the layer chooses by what they hold: which these are is "
         "not modelled yet, so what is said of far keys holds for those that are chosen",
         "DeepSeek-V3.2's indexer (index_topk), MiniMax-M3's blocks (sparse_attention_config)"},
    [BESIDE] = {"RS808", "key-beside-types-of-layers", RS_WARNING,
                "a number or word in rope_parameters beside dictionaries by type of layers: these are read, it is not",
                "transformers 5, modeling_rope_utils.py: rope_parameters by layer type"},
};

static const char local[] = "sliding_attention";

/* Whether a word is a type of layers, or one that DeepSeek-V4's rope_parameters have in its place. */
static bool is_type(const char *word) {
  return rs_hf_is_layer_type(word) || strcmp(word, "main") == 0 || strcmp(word, "compress") == 0;
}

/* The type that was meant, a letter or two away; NULL where none is so near. */
static const char *meant_type(const char *word) {
  size_t count = 0, length = strlen(word);
  while (rs_hf_layer_types[count] != NULL) count++;
  const char *near = rs_suggest(word, rs_hf_layer_types, count);
  size_t other = near != NULL ? strlen(near) : 0;
  return near != NULL && near[0] == word[0] && length <= other + 2 && other <= length + 2 ? near : NULL;
}

static bool has_type(const rs_profile *profile, const char *type) {
  for (size_t k = 0; k < profile->kind_count; k++)
    if (strncmp(profile->kinds[k].name, type, strlen(type)) == 0) return true;
  return false;
}

/* ---- lists by layer ---------------------------------------------------------------------------------------------- */

static rs_status find_lengths(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const lists[] = {"layer_types", "no_rope_layers", "hybrid_layer_pattern"};
  double layers = rs_key_number(checked->root, "num_hidden_layers");
  double drafts = rs_key_number(checked->root, "num_nextn_predict_layers");
  for (size_t i = 0; i < RS_COUNT(lists) && !isnan(layers); i++) {
    const rs_node *list = rs_key(checked->root, lists[i]);
    if (list == NULL || list->kind != RS_SEQUENCE || list->count == 0) continue;
    double entries = (double)list->count;
    if (entries == layers || entries == layers + drafts) continue;
    RS_TRY(rs_find(findings, &rules[LIST_LENGTH], list, NULL, "give each layer its entry, or correct num_hidden_layers",
                   err, "%s has %zu entries for %.0f layers", lists[i], list->count, layers));
  }
  return RS_OK;
}

static rs_status find_unknown(const rs_node *node, const char *word, const char *path, rs_findings *findings,
                              rs_err *err) {
  const char *meant = meant_type(word);
  char fix[96] = "";
  if (is_type(word)) return RS_OK;
  if (meant != NULL) snprintf(fix, sizeof fix, "write \"%s\"", meant);
  return rs_find(findings, &rules[UNKNOWN_TYPE], node, path, meant != NULL ? fix : NULL, err,
                 "\"%s\" is no type of layers that is known here%s%s%s", word, meant != NULL ? " (did you mean " : "",
                 meant != NULL ? meant : "", meant != NULL ? "?)" : "");
}

static rs_status find_types(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *list = rs_key(checked->root, "layer_types");
  const rs_path path = rs_path_key(NULL, "layer_types");
  for (size_t i = 0; list != NULL && list->kind == RS_SEQUENCE && i < list->count; i++) {
    rs_path place = rs_path_index(&path, i);
    if (list->items[i].kind == RS_SCALAR)
      RS_TRY(find_unknown(&list->items[i], list->items[i].text, place.text, findings, err));
  }
  return RS_OK;
}

/* The last layer may see everything whatever the pattern says: Gemma 4. */
static rs_status find_pattern(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *list = rs_key(checked->root, "layer_types"), *node = rs_key(checked->root, "sliding_window_pattern");
  double pattern = rs_node_number(node);
  if (list == NULL || list->kind != RS_SEQUENCE || !(pattern >= 1) || pattern != floor(pattern)) return RS_OK;
  for (size_t i = 0; i + 1 < list->count; i++) {
    const rs_node *type = &list->items[i];
    bool listed = type->kind == RS_SCALAR && strcmp(type->text, local) == 0, wanted = (i + 1) % (size_t)pattern != 0;
    if (listed == wanted) continue;
    return rs_find(findings, &rules[PATTERN], node, NULL, "keep layer_types, and take the pattern away or correct it",
                   err, "by the pattern %s layer %zu %s window, by layer_types on line %zu it %s", node->text, i,
                   wanted ? "has a" : "has no", list->line, listed ? "has one" : "has none");
  }
  return RS_OK;
}

/* ---- what is said of layers that are not there ------------------------------------------------------------------- */

static rs_status find_local_base(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  static const char *const bases[] = {"rope_local_base_freq", "local_rope_theta", "swa_rope_theta"};
  for (size_t i = 0; i < RS_COUNT(bases); i++) {
    const rs_node *base = rs_key(checked->root, bases[i]);
    if (base == NULL || has_type(&checked->profile, local)) continue;
    RS_TRY(rs_find(findings, &rules[LOCAL_BASE], base, NULL, "take it away, or say which layers have a window", err,
                   "%s = %s is of layers with a window, and no layer has one", bases[i],
                   base->kind == RS_SCALAR ? base->text : "[...]"));
  }
  return RS_OK;
}

static rs_status find_no_layer(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    const char *type = rope->node->key;
    if (strchr(rope->path, '.') == NULL) continue;
    if (!is_type(type)) {
      RS_TRY(find_unknown(rope->node, type, rope->path, findings, err));
      continue;
    }
    bool class_word = strcmp(type, "main") == 0 || strcmp(type, "compress") == 0; /* DeepSeek-V4's, of no layer_types */
    if (checked->model == NULL || class_word || has_type(&checked->profile, type)) continue;
    RS_TRY(rs_find(findings, &rules[NO_LAYER], rope->node, rope->path, NULL, err, "no layer is %s: %s changes nothing",
                   type, rope->path));
  }
  return RS_OK;
}

static rs_status find_beside(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *all = rs_key(checked->root, "rope_parameters");
  size_t mappings = 0;
  for (size_t i = 0; all != NULL && all->kind == RS_MAPPING && i < all->count; i++)
    mappings += all->items[i].kind == RS_MAPPING;
  for (size_t i = 0; mappings > 0 && i < all->count; i++) {
    const rs_node *node = rs_key(all, all->items[i].key); /* null says that such layers do not turn */
    if (node == NULL || node->kind == RS_MAPPING) continue;
    char path[96];
    snprintf(path, sizeof path, "rope_parameters.%.*s", (int)rs_utf8_cut(node->key, 60), node->key);
    RS_TRY(rs_find(findings, &rules[BESIDE], node, path, "write it into the dictionary of each type of layers", err,
                   "%s stands beside dictionaries by type of layers: nobody reads it", node->key));
  }
  return RS_OK;
}

static rs_status find_no_window(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *list = rs_key(checked->root, "layer_types");
  const rs_profile *profile = &checked->profile;
  for (size_t k = 0; list != NULL && k < profile->kind_count; k++) {
    rs_text layers = {0};
    if (strncmp(profile->kinds[k].name, local, strlen(local)) != 0 || profile->kinds[k].mask.window > 0) continue;
    rs_profile_write_layers(profile, k, &layers);
    rs_status status = rs_text_check(&layers, err);
    if (status == RS_OK)
      status = rs_find(findings, &rules[NO_WINDOW], list, NULL, "add \"sliding_window\", in tokens", err,
                       "layers %s are sliding_attention, and there is no sliding_window: transformers stops, and "
                       "here they are taken to see everything",
                       rs_text_string(&layers));
    rs_text_clear(&layers);
    RS_TRY(status);
  }
  return RS_OK;
}

/* The indexer's queries and keys turn in a way of their own: the first dims of each head, in halves in DeepSeek's code
 * (modeling_deepseek_v32.py), in pairs in GLM's (modeling_glm_moe_dsa.py). */
static void put_indexer(const rs_checked *checked, rs_text *text) {
  double turned = rs_key_number(checked->root, "qk_rope_head_dim"),
         dims = rs_key_number(checked->root, "index_head_dim");
  const char *interleaved = rs_key_word(checked->root, "indexer_rope_interleave");
  bool glm = strcmp(checked->family, "glm_moe_dsa") == 0, deepseek = strcmp(checked->family, "deepseek_v32") == 0;
  if (!(turned > 0) || !(dims >= turned) || (!glm && !deepseek && interleaved == NULL)) return;
  bool pairs = interleaved != NULL ? strcmp(interleaved, "true") == 0 : glm;
  rs_text_printf(text,
                 "; the indexer turns the first %.0f of %.0f dims of its heads %s, whatever the layer itself does",
                 turned, dims, pairs ? "in pairs of neighbours" : "in halves");
}

static rs_status find_choices(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_profile *profile = &checked->profile;
  const rs_node *node = rs_key(checked->root, "index_topk");
  if (node == NULL) node = rs_key(checked->root, "sparse_attention_config");
  if (node == NULL) node = rs_key(checked->root, "layer_types");
  for (size_t k = 0; k < profile->kind_count; k++) {
    rs_text layers = {0};
    if (!profile->kinds[k].chooses) continue;
    rs_profile_write_layers(profile, k, &layers);
    rs_text_printf(&layers, " (%s) attend ", profile->kinds[k].name);
    rs_layer_kind_write_mask(&profile->kinds[k], &layers);
    rs_text_puts(&layers, ": what is said of far keys holds for keys that are chosen");
    put_indexer(checked, &layers);
    rs_status status = rs_text_check(&layers, err);
    if (status == RS_OK)
      status = rs_find(findings, &rules[CHOICE], node, NULL, NULL, err, "layers %.600s", rs_text_string(&layers));
    rs_text_clear(&layers);
    RS_TRY(status);
  }
  return RS_OK;
}

static rs_status find_several(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_profile *profile = &checked->profile;
  rs_text choice = {0};
  if (!rs_profile_mixed(profile)) return RS_OK;
  rs_profile_write_choice(profile, profile->chosen, &choice);
  rs_status status = rs_text_check(&choice, err);
  if (status == RS_OK)
    status = rs_find(findings, &rules[SEVERAL], NULL, NULL, NULL, err,
                     "layers turn in several ways: what is said of the recipe is of %.500s", rs_text_string(&choice));
  rs_text_clear(&choice);
  return status;
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  RS_TRY(find_lengths(checked, findings, err));
  RS_TRY(find_types(checked, findings, err));
  RS_TRY(find_pattern(checked, findings, err));
  RS_TRY(find_no_layer(checked, findings, err));
  RS_TRY(find_beside(checked, findings, err));
  if (checked->model == NULL) return RS_OK;
  RS_TRY(find_local_base(checked, findings, err));
  RS_TRY(find_no_window(checked, findings, err));
  RS_TRY(find_choices(checked, findings, err));
  return find_several(checked, findings, err);
}

const rs_rule_group rs_rules_layers = {rules, RS_COUNT(rules), find};
