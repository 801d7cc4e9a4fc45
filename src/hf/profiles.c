/* Profiles of layers: from files, in words, and which kind of layers is meant. */
#include "hf_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

bool rs_hf_is_gguf(const char *path) {
  struct stat info;
  const char *end = strrchr(path, '.');
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  return rs_gguf_is(path) || (end != NULL && strcmp(end, ".gguf") == 0);
}

rs_status rs_hf_config_load(const char *file, char **text, size_t *length, rs_err *err) {
  rs_text made = {0};
  *text = NULL;
  if (!rs_hf_is_gguf(file)) return rs_file_read(file, RS_LARGEST_FILE, text, length, err);
  rs_status status = rs_gguf_config(file, &made, err);
  if (status == RS_OK && (*text = rs_strdup(rs_text_string(&made), err)) == NULL) status = RS_MEMORY;
  *length = made.length;
  rs_text_clear(&made);
  return status;
}

static void forget_lines(rs_node *node) {
  node->line = node->column = node->key_line = node->key_column = 0;
  for (size_t i = 0; i < node->count; i++) forget_lines(&node->items[i]);
}

rs_status rs_hf_tree(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err) {
  RS_TRY(rs_json_read(text, length, name, tree, err));
  if (rs_hf_was_gguf(&(*tree)->root)) forget_lines(&(*tree)->root);
  return RS_OK;
}

bool rs_hf_was_gguf(const rs_node *top) {
  return rs_node_get(top, RS_GGUF_MARK) != NULL;
}

double rs_hf_gguf_attn_factor(const rs_node *top) {
  double factor;
  const char *word = rs_hf_word(rs_node_get(rs_node_get(top, RS_GGUF_MARK), "attn_factor"));
  return rs_number_read(word, &factor) ? factor : 1;
}

/* Takes the tree over. */
static rs_status read_tree(rs_tree *tree, bool doubts, rs_profile *profile, rs_err *err) {
  rs_status status = rs_hf_profile(&tree->root, profile, err);
  if (status == RS_OK && doubts && (status = rs_hf_doubt(&tree->root, profile, err)) != RS_OK)
    rs_profile_clear(profile);
  rs_tree_free(tree);
  return status;
}

static rs_status read_text(const char *text, size_t length, const char *name, bool doubts, rs_profile *profile,
                           rs_err *err) {
  rs_tree *tree;
  *profile = (rs_profile){0};
  RS_TRY(rs_hf_tree(text, length, name, &tree, err));
  return read_tree(tree, doubts, profile, err);
}

rs_status rs_profile_read(const char *text, size_t length, const char *name, rs_profile *profile, rs_err *err) {
  return read_text(text, length, name, true, profile, err);
}

rs_status rs_profile_load(const char *file, rs_profile *profile, rs_err *err) {
  char *text;
  size_t length;
  *profile = (rs_profile){0};
  RS_TRY(rs_hf_config_load(file, &text, &length, err));
  rs_status status = rs_profile_read(text, length, file, profile, err);
  free(text);
  return status;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

static rs_status turn_plainly(rs_model *model, double theta, rs_err *err) {
  rs_recipe_clear(&model->published);
  model->rope_theta = theta;
  return rs_recipe_init(&model->published, rs_method_find("rope"), err);
}

static rs_status fill_kinds(const rs_model *model, const rs_regular_layers *layers, bool local, rs_profile *out,
                            rs_err *err) {
  out->kind_count = local && layers->pattern > 0 ? 2 : 1;
  for (size_t k = 0; k < out->kind_count; k++) {
    bool windowed = local && k == 0;
    rs_layer_kind *kind = &out->kinds[k];
    snprintf(kind->name, sizeof kind->name, "%s", windowed ? RS_HF_LOCAL : RS_HF_GLOBAL);
    kind->attends = true;
    kind->mask = windowed ? (rs_mask){.kind = RS_WINDOW, .window = layers->window} : (rs_mask){.kind = RS_CAUSAL};
    RS_TRY(rs_model_copy(&kind->model, model, err));
    if (windowed && layers->local_theta > 0) RS_TRY(turn_plainly(&kind->model, layers->local_theta, err));
  }
  out->chosen = out->kind_count - 1;
  for (size_t i = 0; i < out->layer_count; i++) out->layers[i] = out->kind_count == 2 && (i + 1) % layers->pattern == 0;
  return RS_OK;
}

rs_status rs_profile_regular(const rs_model *model, const rs_regular_layers *layers, rs_profile *profile, rs_err *err) {
  size_t count = layers->count > 0 ? layers->count : 1;
  *profile = (rs_profile){.kinds = rs_alloc(2, sizeof *profile->kinds, err),
                          .layers = rs_alloc(count, sizeof *profile->layers, err),
                          .counted = layers->count > 0};
  rs_status status = RS_MEMORY;
  if (profile->kinds != NULL && profile->layers != NULL) {
    profile->layer_count = count;
    status = fill_kinds(model, layers, layers->count > 0 && layers->window > 0, profile, err);
  }
  if (status != RS_OK) rs_profile_clear(profile);
  return status;
}

static rs_status take_chosen(rs_profile *profile, rs_model *model) {
  *model = profile->kinds[profile->chosen].model;
  profile->kinds[profile->chosen].model = (rs_model){0};
  rs_profile_clear(profile);
  return RS_OK;
}

rs_status rs_hf_model_read(const char *text, size_t length, const char *name, rs_model *model, rs_err *err) {
  rs_profile profile;
  *model = (rs_model){0};
  RS_TRY(read_text(text, length, name, false, &profile, err));
  return take_chosen(&profile, model);
}

rs_status rs_hf_model_load(const char *file, rs_model *model, rs_err *err) {
  rs_profile profile;
  *model = (rs_model){0};
  RS_TRY(rs_profile_load(file, &profile, err));
  return take_chosen(&profile, model);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static rs_status unknown_kind(const rs_profile *profile, const char *word, rs_err *err) {
  rs_text names = {0};
  for (size_t k = 0; k < profile->kind_count; k++)
    if (profile->kinds[k].attends) rs_text_printf(&names, "%s%s", names.length > 0 ? ", " : "", profile->kinds[k].name);
  rs_status status = rs_text_check(&names, err);
  if (status == RS_OK)
    status = rs_fail(err, RS_INPUT, "no layers %s with attention (there are: %s; or the number of a layer)", word,
                     rs_text_string(&names));
  rs_text_clear(&names);
  return status;
}

rs_status rs_profile_find(const rs_profile *profile, const char *word, size_t *kind, rs_err *err) {
  double layer;
  *kind = profile->chosen;
  if (word == NULL) return RS_OK;
  bool number = strspn(word, "0123456789") == strlen(word) && rs_number_read(word, &layer);
  size_t k = 0;
  while (k < profile->kind_count && strcmp(profile->kinds[k].name, word) != 0) k++;
  if (number && profile->counted && layer < (double)profile->layer_count) k = profile->layers[(size_t)layer];
  if (k == profile->kind_count || !profile->kinds[k].attends) return unknown_kind(profile, word, err);
  *kind = k;
  return RS_OK;
}

bool rs_profile_mixed(const rs_profile *profile) {
  bool mixed = false;
  for (size_t k = 0; k < profile->kind_count; k++)
    mixed |= profile->kinds[k].attends && !rs_layers_turn_alike(&profile->kinds[k], &profile->kinds[profile->chosen]);
  return mixed;
}
