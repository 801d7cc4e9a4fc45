/* RS8: layers that turn, or see, otherwise than others. RS9: what keeps the file from being read as a model. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char local[] = "sliding_attention";

/* What DeepSeek-V4's rope_parameters have in the place of types of layers. */
static const char class_words[] = "main compress";

static bool has_type(const rs_profile *profile, const char *type) {
  for (size_t k = 0; k < profile->kind_count; k++)
    if (strncmp(profile->kinds[k].name, type, strlen(type)) == 0) return true;
  return false;
}

/* ---- lists by layer ---------------------------------------------------------------------------------------------- */

static void find_lengths(rs_checked *c) {
  static const char *const lists[] = {"layer_types", "no_rope_layers", "hybrid_layer_pattern"};
  double layers = rs_key_number(c->root, "num_hidden_layers");
  double drafts = rs_key_number(c->root, "num_nextn_predict_layers");
  for (size_t i = 0; i < RS_COUNT(lists) && !isnan(layers); i++) {
    const rs_node *list = rs_key_list(c->root, lists[i]);
    double entries = list != NULL ? (double)list->count : 0;
    if (entries != 0 && entries != layers && entries != layers + drafts)
      rs_find(c, "RS802", list, "give each layer its entry, or correct num_hidden_layers",
              "%s has %.0f entries for %.0f layers", lists[i], entries, layers);
  }
}

/* A type that is not known; one that was meant is a letter or two away. */
static void find_unknown(rs_checked *c, const rs_node *node, const char *word) {
  size_t count = 0, length = strlen(word);
  if (rs_hf_is_layer_type(word) || rs_word_among(word, class_words)) return;
  while (rs_hf_layer_types[count] != NULL) count++;
  const char *near = rs_suggest(word, rs_hf_layer_types, count);
  size_t other = near != NULL ? strlen(near) : 0;
  if (near != NULL && near[0] == word[0] && length <= other + 2 && other <= length + 2)
    rs_find(c, "RS805", node, rs_fix(c, "write \"%s\"", near),
            "\"%s\" is no type of layers that is known here (did you mean %s?)", word, near);
  else
    rs_find(c, "RS805", node, NULL, "\"%s\" is no type of layers that is known here", word);
}

/* The last layer may see everything whatever the pattern says: Gemma 4. */
static void find_pattern(rs_checked *c) {
  const rs_node *list = rs_key_list(c->root, "layer_types"), *node = rs_key(c->root, "sliding_window_pattern");
  double pattern = rs_node_number(node);
  if (list == NULL || !(pattern >= 1) || pattern != floor(pattern)) return;
  for (size_t i = 0; i + 1 < list->count; i++) {
    const rs_node *type = &list->items[i];
    bool listed = type->kind == RS_SCALAR && strcmp(type->text, local) == 0, wanted = (i + 1) % (size_t)pattern != 0;
    if (listed == wanted) continue;
    rs_find(c, "RS807", node, "keep layer_types, and take the pattern away or correct it",
            "by the pattern %s layer %zu %s window, by layer_types on line %zu it %s", node->text, i,
            wanted ? "has a" : "has no", list->line, listed ? "has one" : "has none");
    return;
  }
}

/* ---- what is said of layers that are not there ------------------------------------------------------------------- */

static void find_local_base(rs_checked *c) {
  static const char *const bases[] = {"rope_local_base_freq", "local_rope_theta", "swa_rope_theta"};
  for (size_t i = 0; i < RS_COUNT(bases) && c->model != NULL && !has_type(&c->profile, local); i++) {
    const rs_node *base = rs_key(c->root, bases[i]);
    if (base != NULL)
      rs_find(c, "RS803", base, "take it away, or say which layers have a window",
              "%s = %s is of layers with a window, and no layer has one", bases[i],
              base->kind == RS_SCALAR ? base->text : "[...]");
  }
}

/* Of layer_types, and of rope_parameters: a class's own words are of no layer_types. */
static void find_types(rs_checked *c) {
  const rs_node *list = rs_key_list(c->root, "layer_types");
  for (size_t i = 0; list != NULL && i < list->count; i++)
    if (list->items[i].kind == RS_SCALAR) find_unknown(c, &list->items[i], list->items[i].text);
  for (size_t r = 0; r < c->rope_count; r++) {
    const rs_rope_entry *rope = &c->ropes[r];
    const char *type = rope->node->key;
    if (!rope->layered) continue;
    find_unknown(c, rope->node, type);
    if (c->model != NULL && rs_hf_is_layer_type(type) && !has_type(&c->profile, type))
      rs_find(c, "RS804", rope->node, NULL, "no layer is %s: %s changes nothing", type, rope->path);
  }
}

static void find_beside(rs_checked *c) {
  const rs_node *all = rs_key(c->root, "rope_parameters");
  bool layered = c->rope_count > 0 && c->ropes[c->rope_count - 1].layered;
  for (size_t i = 0; layered && i < all->count; i++) {
    const rs_node *node = rs_key(all, all->items[i].key); /* null says that such layers do not turn */
    if (node != NULL && node->kind != RS_MAPPING)
      rs_find(c, "RS808", node, "write it into the dictionary of each type of layers",
              "%s stands beside dictionaries by type of layers: nobody reads it", node->key);
  }
}

/* ---- what layers see --------------------------------------------------------------------------------------------- */

/* Ends the words that a finding is made of; false where there was no memory for them. */
static bool is_whole(rs_checked *c, const rs_text *words) {
  return rs_text_check(words, c->err) == RS_OK;
}

static void find_no_window(rs_checked *c) {
  const rs_node *list = rs_key(c->root, "layer_types");
  for (size_t k = 0; list != NULL && k < c->profile.kind_count; k++) {
    const rs_layer_kind *kind = &c->profile.kinds[k];
    RS_OWNED(rs_text) layers = {0};
    if (strncmp(kind->name, local, strlen(local)) != 0 || kind->mask.window > 0) continue;
    rs_profile_write_layers(&c->profile, k, &layers);
    if (is_whole(c, &layers))
      rs_find(c, "RS806", list, "add \"sliding_window\", in tokens",
              "layers %s are sliding_attention, and there is no sliding_window: transformers stops, and here they are "
              "taken to see everything",
              rs_text_string(&layers));
  }
}

static void find_choices(rs_checked *c) {
  const rs_node *node = rs_key_any(c->root, "index_topk sparse_attention_config layer_types");
  for (size_t k = 0; k < c->profile.kind_count; k++) {
    RS_OWNED(rs_text) layers = {0};
    if (!c->profile.kinds[k].chooses) continue;
    rs_profile_write_layers(&c->profile, k, &layers);
    rs_text_printf(&layers, " (%s) attend ", c->profile.kinds[k].name);
    rs_layer_kind_write_mask(&c->profile.kinds[k], &layers);
    rs_text_puts(&layers, ": what is said of far keys holds for keys that are chosen");
    const rs_model *model = &c->profile.kinds[k].model;
    if (c->profile.kinds[k].indexer.turned > 0)
      rs_text_printf(&layers, "; q and k of the layers themselves turn %zu of %zu dims in %s", model->rotary_dim,
                     model->head_dim, model->pair_layout == RS_INTERLEAVED ? "pairs of neighbours" : "halves");
    if (is_whole(c, &layers)) rs_find(c, "RS809", node, NULL, "layers %.600s", rs_text_string(&layers));
  }
}

static void find_several(rs_checked *c) {
  RS_OWNED(rs_text) choice = {0};
  if (c->model == NULL || !rs_profile_mixed(&c->profile)) return;
  rs_profile_write_choice(&c->profile, c->profile.chosen, &choice);
  if (is_whole(c, &choice))
    rs_find(c, "RS801", NULL, NULL, "layers turn in several ways: what is said of the recipe is of %.500s",
            rs_text_string(&choice));
}

/* ---- the file as a whole ----------------------------------------------------------------------------------------- */

/* Whether a finding at that place has said all of it already: an error, or a type that is not computed here. */
static bool is_said(const rs_findings *findings, const rs_node *place) {
  for (size_t i = 0; i < findings->count; i++) {
    const rs_finding *f = &findings->items[i];
    bool all = f->severity == RS_ERROR || strcmp(f->rule->code, "RS111") == 0;
    if (f->line == place->line && f->column == place->column && all) return true;
  }
  return false;
}

static bool is_spoken_of(const rs_findings *findings, const rs_node *node) {
  bool any = false;
  for (size_t i = 0; i < findings->count && node->line > 0; i++)
    any |= findings->items[i].line == node->line && findings->items[i].column == node->column;
  return any;
}

/* Whether another key, of a name like this one's, says the same: files have copies for older releases. */
static bool has_twin(const rs_node *mapping, const rs_node *node) {
  bool any = false;
  for (size_t i = 0; i < mapping->count && node->kind == RS_SCALAR && !any; i++) {
    const rs_node *other = &mapping->items[i];
    bool alike = strstr(other->key, node->key) != NULL || strstr(node->key, other->key) != NULL;
    if (other->kind == RS_MAPPING)
      any = has_twin(other, node);
    else
      any = other != node && other->kind == RS_SCALAR && alike && strcmp(other->text, node->text) == 0;
  }
  return any;
}

/* What published files have beside keys that say it, or that turn it off, surprises nobody: a window that is not used,
 * flags that are false, scales of 1, a share of dims beside their number, a pattern beside layer_types, and what is
 * told of engines that read it. */
static bool is_usual(const rs_checked *c, const rs_unread_key *key) {
  const char *used = rs_key_word(c->root, "use_sliding_window"), *name = key->node->key;
  const char *text = key->node->kind == RS_SCALAR ? key->node->text : "";
  bool off = used != NULL && strcmp(used, "false") == 0 && strstr(name, "window") != NULL;
  bool nothing = strcmp(text, "false") == 0 || (strcmp(text, "1") == 0 && strstr(name, "scale") != NULL);
  bool counted = rs_key(c->root, "rotary_dim") != NULL && strstr(name, "partial_rotary") != NULL;
  bool listed = rs_key(c->root, "layer_types") != NULL && strstr(name, "pattern") != NULL;
  return off || nothing || counted || listed || rs_word_among(name, "type rotary original_rope apply_yarn_scaling") ||
         has_twin(c->root, key->node);
}

/* Keys of a class that is known; of others the warning says them, and what says that nothing turns says it of all. */
static void find_without_effect(rs_checked *c) {
  rs_unread unread;
  bool said = c->model == NULL || c->profile.doubt != NULL;
  for (size_t i = 0; i < c->findings->count; i++)
    said |= rs_word_among(c->findings->items[i].rule->code, "RS501 RS502 RS503 RS504");
  if (said) return;
  (void)rs_hf_unread(&c->tree->root, &c->profile, &unread, c->err);
  for (size_t i = 0; i < unread.count; i++) {
    const rs_unread_key *key = &unread.keys[i];
    if (!is_usual(c, key) && !is_spoken_of(c->findings, key->node))
      rs_find(c, "RS902", key->node, NULL, "%s changes nothing beside what else the file says", key->path);
  }
}

/* Each problem is "name:line:column: text". */
static void find_unread(rs_checked *c) {
  size_t before = strlen(c->top->file);
  for (const char *line = c->unread.message; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    rs_node place = {.file = c->top->file};
    int start = 0;
    const char *text = line;
    if (length > before && sscanf(line + before, ":%zu:%zu: %n", &place.line, &place.column, &start) == 2 && start > 0)
      text = line + before + start;
    if (!is_said(c->findings, &place))
      rs_find(c, "RS901", &place, NULL, "%.*s", (int)(length - (size_t)(text - line)), text);
    line += length + (line[length] == '\n');
  }
}

const rs_check_row rs_rules_layers[] = {
    {RS_RULE("RS801", "layers-turn-otherwise", RS_NOTE,
             "layers turn in several ways: what is said of one recipe holds for some of them alone",
             "docs/commands.md: show layers"),
     .in_file = find_several},
    {RS_RULE("RS802", "list-of-layers-of-wrong-length", RS_ERROR,
             "a list by layer must have an entry for each of num_hidden_layers",
             "transformers, configuration_utils.py: layer_type_validation"),
     .in_file = find_lengths},
    {RS_RULE("RS803", "local-base-of-no-layer", RS_WARNING,
             "a base for layers with a window, where no layer has one: nobody reads it",
             "transformers, modeling_gemma3.py: rope_local_base_freq"),
     .in_file = find_local_base},
    {RS_RULE("RS804", "rope-parameters-of-no-layer", RS_NOTE,
             "rope_parameters of a type of layers that no layer has: they change nothing",
             "transformers 5, modeling_rope_utils.py: rope_parameters by layer type")},
    {RS_RULE("RS805", "unknown-layer-type", RS_ERROR,
             "a type of layers, in layer_types or rope_parameters, that is not known here: what such layers see is not "
             "known, either",
             "transformers, configuration_utils.py: ALLOWED_LAYER_TYPES"),
     .in_file = find_types, .former = "misspelt-layer-type"},
    {RS_RULE("RS806", "sliding-layers-without-window", RS_WARNING,
             "layer_types has sliding_attention, and no sliding_window says how far it sees",
             "transformers, masking_utils.py: create_sliding_window_causal_mask"),
     .in_file = find_no_window},
    {RS_RULE("RS807", "layer-types-against-pattern", RS_WARNING,
             "layer_types and sliding_window_pattern say other layers: releases and engines that know layer_types take "
             "them, others take the pattern",
             "transformers, configuration_gemma3.py: layer_types"),
     .in_file = find_pattern},
    {RS_RULE("RS808", "key-beside-types-of-layers", RS_WARNING,
             "a number or word in rope_parameters beside dictionaries by type of layers: these are read, it is not",
             "transformers 5, modeling_rope_utils.py: rope_parameters by layer type"),
     .in_file = find_beside},
    {RS_RULE("RS809", "layers-choose-keys", RS_NOTE,
             "each query of some layers attends a few keys that the layer chooses by what they hold: which these are "
             "is not modelled yet, so what is said of far keys holds for those that are chosen",
             "DeepSeek-V3.2's indexer (index_topk), MiniMax-M3's blocks (sparse_attention_config)"),
     .in_file = find_choices},
    {RS_RULE("RS901", "not-read", RS_ERROR, "the file cannot be read as a model's config", "docs/config.md"),
     .in_file = find_unread},
    {RS_RULE("RS902", "key-without-effect", RS_NOTE,
             "a key of rotation or of windows that nothing of the class reads, beside what else the file says",
             "transformers, configuration_*.py and modeling_*.py of the class"),
     .in_file = find_without_effect},
    {.rule = {.code = NULL}}};
