/* What a config.json holds, as rules read it, and how they report. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- keys -------------------------------------------------------------------------------------------------------- */

const rs_node *rs_key(const rs_node *mapping, const char *key) {
  const rs_node *node = rs_node_get(mapping, key);
  return rs_node_is_null(node) ? NULL : node;
}

const rs_node *rs_key_any(const rs_node *mapping, const char *keys) {
  const rs_node *found = NULL;
  for (size_t length; *keys != '\0' && found == NULL; keys += length + (keys[length] == ' ')) {
    char key[64];
    length = strcspn(keys, " ");
    snprintf(key, sizeof key, "%.*s", (int)length, keys);
    found = rs_key(mapping, key);
  }
  return found;
}

double rs_node_number(const rs_node *node) {
  double number;
  bool scalar = node != NULL && node->kind == RS_SCALAR && !node->quoted;
  return scalar && rs_number_read(node->text, &number) ? number : NAN;
}

double rs_key_number(const rs_node *mapping, const char *key) {
  return rs_node_number(rs_key(mapping, key));
}

const char *rs_key_word(const rs_node *mapping, const char *key) {
  const rs_node *node = rs_key(mapping, key);
  return node != NULL && node->kind == RS_SCALAR ? node->text : NULL;
}

const rs_node *rs_key_list(const rs_node *mapping, const char *key) {
  const rs_node *node = rs_key(mapping, key);
  return node != NULL && node->kind == RS_SEQUENCE ? node : NULL;
}

const rs_node *rs_maximum_of(const rs_checked *c) {
  return rs_key_any(c->root, RS_MAXIMUM " n_positions n_ctx max_seq_len seq_length model_max_length");
}

const rs_node *rs_original_of(const rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *outer = rs_key(c->root, RS_ORIGINAL);
  return outer != NULL ? outer : rs_key(rope->node, RS_ORIGINAL);
}

double rs_trained_of(const rs_checked *c, const rs_rope_entry *rope) {
  double original = rs_node_number(rs_original_of(c, rope));
  return isnan(original) ? rs_node_number(rs_maximum_of(c)) : original;
}

double rs_factor_of(const rs_checked *c, const rs_rope_entry *rope) {
  double factor = rs_key_number(rope->node, "factor");
  return isnan(factor) ? rs_node_number(rs_maximum_of(c)) / rs_trained_of(c, rope) : factor;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void add_rope(rs_checked *c, const rs_node *node, const char *parent) {
  if (c->rope_count == RS_ROPE_ENTRIES) return;
  rs_rope_entry *rope = &c->ropes[c->rope_count++];
  const char *type = rs_key_word(node, "rope_type");
  if (type == NULL) type = rs_key_word(node, "type");
  *rope = (rs_rope_entry){.node = node,
                          .type = type != NULL ? type : "default",
                          .typed = rs_key_any(node, "rope_type type") != NULL,
                          .layered = *parent != '\0'};
  snprintf(rope->path, sizeof rope->path, "%.*s%s%.*s", (int)rs_utf8_cut(parent, 40), parent, rope->layered ? "." : "",
           (int)rs_utf8_cut(node->key, 50), node->key);
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    if (strcmp(rs_hf_rope_types[t].type, rs_hf_rope_type_read(c->family, rope->type)) == 0)
      rope->known = &rs_hf_rope_types[t];
}

/* rope_scaling, and rope_parameters, flat or by type of layers. */
static void find_ropes(rs_checked *c) {
  const rs_node *scaling = rs_key(c->root, "rope_scaling"), *parameters = rs_key(c->root, "rope_parameters");
  if (scaling != NULL && scaling->kind == RS_MAPPING) add_rope(c, scaling, "");
  if (parameters == NULL || parameters->kind != RS_MAPPING) return;
  size_t before = c->rope_count;
  for (size_t i = 0; i < parameters->count; i++)
    if (parameters->items[i].kind == RS_MAPPING) add_rope(c, &parameters->items[i], parameters->key);
  if (c->rope_count == before) add_rope(c, parameters, "");
}

/* Where rope_parameters alone say how it turns, releases before 5 see a file without them. */
static rs_status read_before_5(rs_checked *c) {
  rs_err why = {0};
  rs_node *parameters = (rs_node *)rs_key(c->root, "rope_parameters");
  if (parameters == NULL || parameters->kind != RS_MAPPING || rs_key_any(c->root, "rope_theta rope_scaling") != NULL)
    return RS_OK;
  if (!rs_hf_knows(c->family) || rs_hf_is_first_in_5(c->family)) return RS_OK;
  char *key = parameters->key, none[] = "";
  parameters->key = none;
  rs_status status = rs_hf_profile(c->top, &c->before_5, &why);
  parameters->key = key;
  if (rs_profiles_equal(&c->profile, &c->before_5)) rs_profile_clear(&c->before_5);
  return status == RS_MEMORY ? RS_MEMORY : RS_OK;
}

void rs_checked_clear(rs_checked *c) {
  rs_profile_clear(&c->profile);
  rs_profile_clear(&c->before_5);
  rs_tree_free(c->tree);
  *c = (rs_checked){0};
}

rs_status rs_checked_read(const char *text, size_t length, const char *name, rs_checked *c, rs_err *err) {
  *c = (rs_checked){.err = err};
  RS_TRY(rs_hf_tree(text, length, name, &c->tree, err));
  c->top = &c->tree->root;
  if (c->top->kind != RS_MAPPING) {
    rs_checked_clear(c);
    return rs_fail(err, RS_INPUT, "%s: holds no JSON object, so it is no config.json", name);
  }
  c->root = rs_hf_text_config(c->top);
  c->family = rs_hf_model_type(c->top);
  find_ropes(c);
  rs_status status = rs_profile_read(text, length, name, &c->profile, &c->unread);
  if (status == RS_OK) {
    c->model = &c->profile.kinds[c->profile.chosen].model;
    status = read_before_5(c);
  }
  if (status != RS_MEMORY) return RS_OK;
  rs_checked_clear(c);
  return rs_fail(err, RS_MEMORY, "out of memory");
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* What holds a node, at or below `at`; NULL: nothing there does. */
static const rs_node *parent_of(const rs_node *at, const rs_node *node) {
  const rs_node *parent = NULL;
  if ((uintptr_t)node - (uintptr_t)at->items < at->count * sizeof *node) return at;
  for (size_t i = 0; i < at->count && parent == NULL; i++)
    if (at->items[i].count > 0) parent = parent_of(&at->items[i], node);
  return parent;
}

/* The path of a node below the root, as "rope_parameters.full_attention.factor"; false where it is not there. */
static bool find_path(const rs_node *root, const rs_node *node, rs_path *out) {
  const rs_node *parent = parent_of(root, node);
  rs_path above = {""};
  if (parent == NULL) return false;
  if (parent != root) (void)find_path(root, parent, &above);
  *out = parent->kind == RS_MAPPING ? rs_path_key(&above, node->key)
                                    : rs_path_index(&above, (size_t)(node - parent->items));
  return true;
}

const char *rs_fix(rs_checked *c, const char *format, ...) {
  va_list words;
  va_start(words, format);
  vsnprintf(c->fix, sizeof c->fix, format, words);
  va_end(words);
  return c->fix;
}

rs_finding *rs_find(rs_checked *c, const char *code, const rs_node *node, const char *fix, const char *format, ...) {
  rs_findings *findings = c->findings;
  rs_path path;
  if (RS_GROW(findings->items, &findings->capacity, findings->count + 1, c->err) != RS_OK) return NULL;
  const rs_check_row *row = c->rows;
  while (strcmp(row->rule.code, code) != 0) row++;
  rs_finding *finding = &findings->items[findings->count++];
  *finding = (rs_finding){.rule = &row->rule, .severity = row->rule.severity};
  if (row->by_engine && c->engines != 0) finding->severity = RS_WARNING;
  if (node != NULL) {
    finding->line = node->line;
    finding->column = node->column;
    bool there = find_path(c->root, node, &path);
    rs_shorten(there ? path.text : node->key != NULL ? node->key : "", sizeof finding->key, finding->key);
  }
  rs_message(finding->fix, sizeof finding->fix, "%s", fix != NULL ? fix : "");
  va_list words;
  va_start(words, format);
  rs_message_print(finding->text, sizeof finding->text, false, format, words);
  va_end(words);
  return finding;
}
