/* What differs from layer to layer of a checkpoint: masks and recipes, by the profile of its config.json. */
#include "architectures.h"

#include <stdlib.h>
#include <string.h>

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* Kinds of layers that a transformer here has. */
static rs_mask read_mask(rs_hf_file *file, const rs_layer_kind *kind, size_t layer) {
  bool local = strncmp(kind->name, RS_HF_LOCAL, strlen(RS_HF_LOCAL)) == 0;
  bool chunked = strncmp(kind->name, RS_HF_CHUNKED, strlen(RS_HF_CHUNKED)) == 0;
  bool narrow = local || chunked;
  if (narrow && kind->mask.window == 0) rs_hf_missing(file, local ? "sliding_window" : "attention_chunk_size");
  if (narrow || strncmp(kind->name, RS_HF_GLOBAL, strlen(RS_HF_GLOBAL)) == 0) return kind->mask;
  const rs_node *types = rs_node_get(file->root, "layer_types");
  bool listed = types != NULL && types->kind == RS_SEQUENCE && layer < types->count;
  rs_problem(&file->problems, listed ? &types->items[layer] : file->root,
             listed ? "is no type of layers that is known here" : "%s: is no type of layers that is known here",
             kind->name);
  return kind->mask;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* Takes the recipe over. */
static rs_status add_recipe(rs_hf_checkpoint *out, rs_recipe *recipe, size_t *index, rs_err *err) {
  rs_status status = rs_recipe_resolve(recipe, &out->geometry, err);
  if (status == RS_OK) status = rs_recipe_check(recipe, &out->geometry, err);
  size_t capacity = out->recipe_count;
  if (status == RS_OK) status = RS_GROW(out->recipes, &capacity, out->recipe_count + 1, err);
  if (status != RS_OK) {
    rs_recipe_clear(recipe);
    return status;
  }
  out->recipes[ *index = out->recipe_count++] = *recipe;
  return RS_OK;
}

/* What a kind's own geometry says in the terms of the checkpoint's, which all its layers share. */
static rs_status set_geometry(const rs_model *model, const rs_model *shared, rs_recipe *recipe, rs_err *err) {
  if (model->head_dim != shared->head_dim)
    return rs_fail(err, RS_UNSUPPORTED, "layers have heads of %zu and of %zu dims: not offered here", shared->head_dim,
                   model->head_dim);
  if (recipe->method->freq == NULL) return RS_OK;
  if (model->rope_theta != shared->rope_theta)
    RS_TRY(rs_recipe_set_number(recipe, "rope_theta", model->rope_theta, err));
  if (model->rotary_dim == shared->rotary_dim) return RS_OK;
  return rs_recipe_set_number(recipe, "rotary_dim", (double)model->rotary_dim, err);
}

static rs_status add_kind(rs_hf_file *file, const rs_layer_kind *kind, size_t *index, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_copy(&recipe, &kind->model.published, err));
  rs_status status = set_geometry(&kind->model, &file->out->geometry, &recipe, err);
  if (status == RS_OK) return add_recipe(file->out, &recipe, index, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* What an encoder beside the decoder has: the same, of keys on both sides. */
static rs_status read_encoder(const rs_hf_file *file, rs_err *err) {
  const rs_stack *stack = &file->out->shape.encoder;
  rs_recipe recipe;
  size_t index;
  if (stack->count == 0) return RS_OK;
  RS_TRY(rs_recipe_copy(&recipe, &file->out->geometry.published, err));
  rs_status status = RS_OK;
  if (rs_settings_find(&recipe.settings, "bidirectional") >= 0)
    status = rs_recipe_set(&recipe, "bidirectional", "true", err);
  if (status != RS_OK) {
    rs_recipe_clear(&recipe);
    return status;
  }
  RS_TRY(add_recipe(file->out, &recipe, &index, err));
  for (size_t i = 0; i < stack->count; i++) {
    stack->blocks[i].mask = (rs_mask){.kind = RS_BIDIRECTIONAL};
    stack->blocks[i].recipe = index;
  }
  return RS_OK;
}

/* UMT5: each layer has a bias of its own. */
static rs_status part_recipes(const rs_hf_file *file, const rs_stack *stack, rs_err *err) {
  for (size_t i = 1; i < stack->count && file->row->biases_apart; i++) {
    rs_recipe recipe;
    RS_TRY(rs_recipe_copy(&recipe, &file->out->recipes[stack->blocks[0].recipe], err));
    RS_TRY(add_recipe(file->out, &recipe, &stack->blocks[i].recipe, err));
  }
  return RS_OK;
}

/* The recipe of a kind, which one that turns alike may have already. */
static rs_status find_recipe(rs_hf_file *file, size_t kind, size_t *recipes, rs_err *err) {
  const rs_profile *profile = &file->profile;
  for (size_t k = 0; k < profile->kind_count && recipes[kind] == SIZE_MAX; k++)
    if (recipes[k] != SIZE_MAX && rs_layers_turn_alike(&profile->kinds[k], &profile->kinds[kind]))
      recipes[kind] = recipes[k];
  return recipes[kind] != SIZE_MAX ? RS_OK : add_kind(file, &profile->kinds[kind], &recipes[kind], err);
}

static rs_status read_blocks(rs_hf_file *file, size_t *recipes, rs_err *err) {
  const rs_stack *stack = &file->out->shape.decoder;
  const rs_profile *profile = &file->profile;
  RS_TRY(find_recipe(file, profile->chosen, recipes, err)); /* the first: a method that is tried takes its place */
  RS_TRY(read_encoder(file, err));
  for (size_t i = 0; i < stack->count && file->problems.count == 0; i++) {
    rs_block *block = &stack->blocks[i];
    size_t kind = profile->layers[i < profile->layer_count ? i : profile->layer_count - 1];
    block->mask = read_mask(file, &profile->kinds[kind], i);
    if (file->problems.count > 0) break;
    RS_TRY(find_recipe(file, kind, recipes, err));
    block->recipe = recipes[kind];
    bool bare = strcmp(profile->kinds[kind].model.published.method->name, "nope") == 0;
    if (bare && file->row->bare_unnormed) block->attention.qk_norm = (rs_norm){0};
  }
  RS_TRY(part_recipes(file, &file->out->shape.encoder, err));
  return part_recipes(file, stack, err);
}

rs_status rs_hf_read_layers(rs_hf_file *file, rs_err *err) {
  size_t *recipes = rs_alloc(file->profile.kind_count, sizeof *recipes, err);
  if (recipes == NULL) return RS_MEMORY;
  for (size_t k = 0; k < file->profile.kind_count; k++) recipes[k] = SIZE_MAX;
  rs_status status = read_blocks(file, recipes, err);
  free(recipes);
  return status;
}
