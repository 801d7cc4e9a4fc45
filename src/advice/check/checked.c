/* What a config.json holds, as rules read it. */
#include "rules.h"

#include <stdio.h>
#include <string.h>

static void add_rope(rs_checked *checked, const rs_node *node, const char *parent) {
  if (checked->rope_count == RS_ROPE_ENTRIES) return;
  rs_rope_entry *rope = &checked->ropes[checked->rope_count++];
  snprintf(rope->path, sizeof rope->path, "%.*s%s%.*s", (int)rs_utf8_cut(parent, 40), parent,
           *parent != '\0' ? "." : "", (int)rs_utf8_cut(node->key, 50), node->key);
  rope->node = node;
  const char *type = rs_key_word(node, "rope_type");
  if (type == NULL) type = rs_key_word(node, "type");
  rope->type = type != NULL ? type : "default";
  bool phi3 = rs_hf_is_of(checked->family, "phi3"); /* which calls LongRoPE "su", and once "yarn" */
  const char *meant =
      strcmp(rope->type, "su") == 0 || (phi3 && strcmp(rope->type, "yarn") == 0) ? "longrope" : rope->type;
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    if (strcmp(rs_hf_rope_types[t].type, meant) == 0) rope->known = &rs_hf_rope_types[t];
}

/* rope_scaling, and rope_parameters, flat or by type of layers. */
static void find_ropes(rs_checked *checked) {
  const rs_node *scaling = rs_key(checked->root, "rope_scaling"),
                *parameters = rs_key(checked->root, "rope_parameters");
  if (scaling != NULL && scaling->kind == RS_MAPPING) add_rope(checked, scaling, "");
  if (parameters == NULL || parameters->kind != RS_MAPPING) return;
  size_t inner = 0;
  for (size_t i = 0; i < parameters->count; i++) {
    if (parameters->items[i].kind != RS_MAPPING) continue;
    add_rope(checked, &parameters->items[i], parameters->key);
    inner++;
  }
  if (inner == 0) add_rope(checked, parameters, "");
}

/* Where rope_parameters alone say how it turns, releases before 5 see a file without them. */
static rs_status read_before_5(rs_checked *checked) {
  rs_err why = {0};
  rs_node *parameters = (rs_node *)rs_key(checked->root, "rope_parameters");
  bool beside = rs_key(checked->root, "rope_theta") != NULL || rs_key(checked->root, "rope_scaling") != NULL;
  if (parameters == NULL || parameters->kind != RS_MAPPING || beside) return RS_OK;
  if (!rs_hf_knows(checked->family) || rs_hf_is_first_in_5(checked->family)) return RS_OK;
  char *key = parameters->key, none[] = "";
  parameters->key = none;
  rs_status status = rs_hf_profile(checked->top, &checked->before_5, &why);
  parameters->key = key;
  if (rs_profiles_equal(&checked->profile, &checked->before_5)) rs_profile_clear(&checked->before_5);
  return status == RS_MEMORY ? RS_MEMORY : RS_OK;
}

void rs_checked_clear(rs_checked *checked) {
  rs_profile_clear(&checked->profile);
  rs_profile_clear(&checked->before_5);
  rs_tree_free(checked->tree);
  *checked = (rs_checked){0};
}

rs_status rs_checked_read(const char *text, size_t length, const char *name, rs_checked *checked, rs_err *err) {
  *checked = (rs_checked){0};
  RS_TRY(rs_json_read(text, length, name, &checked->tree, err));
  const rs_node *top = &checked->tree->root;
  if (top->kind != RS_MAPPING) {
    rs_checked_clear(checked);
    return rs_fail(err, RS_INPUT, "%s: holds no JSON object, so it is no config.json", name);
  }
  checked->top = top;
  checked->root = rs_hf_text_config(top);
  checked->family = rs_hf_model_type(top);
  find_ropes(checked);
  rs_err why = {0};
  rs_status status = rs_profile_read(text, length, name, &checked->profile, &why);
  if (status == RS_OK) {
    checked->model = &checked->profile.kinds[checked->profile.chosen].model;
    status = read_before_5(checked);
  }
  if (status != RS_MEMORY) {
    checked->unread = why;
    return RS_OK;
  }
  rs_checked_clear(checked);
  return rs_fail(err, RS_MEMORY, "out of memory");
}
