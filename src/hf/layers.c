/* What differs from layer to layer of a checkpoint: experts, masks and recipes, by its config.json. */
#include "architectures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- experts ----------------------------------------------------------------------------------------------------- */

static const char *const steps[] = {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", NULL};

/* Whether the list called `key` has `number` in it; false without one. */
static bool lists(const rs_hf_file *file, const char *key, size_t number) {
  char digits[24];
  const rs_node *list = rs_node_get(file->root, key);
  snprintf(digits, sizeof digits, "%zu", number);
  if (!rs_hf_present(list) || list->kind != RS_SEQUENCE) return false;
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(rs_hf_word(&list->items[i]), digits) == 0) return true;
  return false;
}

/* Whether layer `layer` of `count` has experts. */
static bool has_experts(rs_hf_file *file, size_t layer, size_t count) {
  static const char *const firsts[] = {"first_k_dense_replace", "moe_layer_start_index", NULL};
  static const char *const ends[] = {"moe_layer_end_index", NULL};
  const rs_hf_experts *row = &file->row->experts;
  const rs_node *last = rs_node_get(file->root, ends[0]);
  bool open = !rs_hf_present(last) || strcmp(rs_hf_word(last), "-1") == 0;
  bool due = (layer + 1) % rs_hf_count(file, steps, 1, 1) == 0;
  switch (row->layers) {
  case RS_EXPERTS_NO_LAYER: return false;
  case RS_EXPERTS_ALL: return true;
  case RS_EXPERTS_BEHIND: return layer >= rs_hf_count(file, firsts, 0, row->first);
  case RS_EXPERTS_STEPS: return due && !lists(file, "mlp_only_layers", layer);
  case RS_EXPERTS_LISTED:
    return rs_hf_present(rs_node_get(file->root, "moe_layers")) ? lists(file, "moe_layers", layer) : due;
  case RS_EXPERTS_BETWEEN: break;
  }
  return due && layer >= rs_hf_count(file, firsts, 0, row->first) &&
         layer <= (open ? count - 1 : rs_hf_count(file, ends, 0, 0));
}

/* Of the experts of all tokens, which are one: so many times the width of another, or a width of its own. */
static size_t shared_width(rs_hf_file *file, size_t width) {
  const rs_hf_experts *row = &file->row->experts;
  const char *const own[] = {row->shared_width, NULL};
  if (row->shared_width != NULL) return rs_hf_needed(file, own);
  return row->shared_counted
             ? rs_hf_count(file, RS_KEYS("n_shared_experts", "moe_num_shared_experts", "num_shared_expert"), 0,
                           row->shared) *
                   width
             : 0;
}

/* DeepSeek-V2 may choose among all, whatever its groups. */
static bool is_greedy(const rs_hf_file *file) {
  const rs_node *method = rs_node_get(file->root, "topk_method");
  if (!file->row->experts.choice.grouped_by_best) return false;
  return !rs_hf_present(method) || strcmp(rs_hf_word(method), "greedy") == 0;
}

/* The weights are divided by their norm of some power (DBRX). */
static const rs_node *find_power(const rs_hf_file *file, bool *said) {
  const char *const keys[] = {file->row->experts.power, NULL};
  const rs_node *part = rs_node_get(file->root, "ffn_config");
  *said = rs_node_get(part, "moe_normalize_expert_weights") != NULL;
  return rs_hf_first(file->root, keys);
}

static bool is_normed(const rs_hf_file *file) {
  bool said;
  if (file->row->experts.power == NULL) return rs_hf_says(file, file->row->experts.normed);
  return find_power(file, &said) != NULL || !said;
}

static rs_experts read_experts(rs_hf_file *file, size_t width) {
  static const char *const counts[] = {
      "num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts", NULL};
  static const char *const used[] = {
      "num_experts_per_tok", "experts_per_token", "moe_k", "moe_topk", "ffn_config.moe_top_k", NULL};
  static const char *const groups[] = {"n_group", NULL}, *const groups_used[] = {"topk_group", NULL};
  const rs_hf_experts *row = &file->row->experts;
  rs_experts experts = row->choice;
  experts.count = rs_hf_needed(file, counts);
  experts.used = rs_hf_needed(file, used);
  experts.normed = is_normed(file);
  experts.scale =
      row->choice.scale > 0 ? rs_hf_real(file, RS_KEYS("routed_scaling_factor"), 1e-30, row->choice.scale) : 1;
  if (experts.groups > 0) {
    experts.groups = is_greedy(file) ? 0 : rs_hf_count(file, groups, 1, row->choice.groups);
    experts.groups_used = rs_hf_count(file, groups_used, 1, row->choice.groups_used);
  }
  if (experts.mixed)
    experts.tolerance = 2 * rs_hf_real(file, RS_KEYS("router_jitter_noise"), 0, row->choice.tolerance / 2);
  if (experts.limit > 0) experts.limit = rs_hf_real(file, RS_KEYS("swiglu_limit"), 1e-6, row->choice.limit);
  experts.shared = shared_width(file, width);
  return experts;
}

void rs_hf_place_experts(rs_hf_file *file, rs_stack *stack) {
  const char *const widths[] = {file->row->experts.width, NULL};
  rs_experts experts = {0};
  size_t width = 0;
  for (size_t i = 0; i < stack->count; i++) {
    rs_feed_forward *layer = &stack->blocks[i].feed_forward;
    if (file->problems.count > 0 || !has_experts(file, i, stack->count)) continue;
    if (experts.count == 0) {
      width = file->row->experts.width != NULL ? rs_hf_needed(file, widths) : layer->width;
      experts = read_experts(file, width);
    }
    layer->width = width;
    layer->experts = experts;
  }
}

rs_status rs_hf_refuse_experts(const rs_hf_file *file, rs_err *err) {
  static const char *const keys[] = {"num_local_experts",          "num_experts", "n_routed_experts", "moe_num_experts",
                                     "ffn_config.moe_num_experts", NULL};
  const rs_node *counted = rs_hf_first(file->root, keys), *method = rs_node_get(file->root, "topk_method");
  const rs_node *frequency = rs_node_get(file->root, "moe_layer_freq");
  const rs_hf_experts *row = &file->row->experts;
  if (row->layers == RS_EXPERTS_NO_LAYER) return counted != NULL ? rs_hf_refuse(file, counted->key, err) : RS_OK;
  bool each = !rs_hf_present(frequency) || strcmp(rs_hf_word(frequency), "1") == 0;
  if (row->layers == RS_EXPERTS_BEHIND && !each) return rs_hf_refuse(file, "moe_layer_freq", err);
  bool grouped = strcmp(rs_hf_word(method), "group_limited_greedy") == 0;
  if (row->choice.grouped_by_best && !is_greedy(file) && !grouped) return rs_hf_refuse(file, "topk_method", err);
  bool said;
  const rs_node *power = row->power != NULL ? find_power(file, &said) : NULL;
  bool sums = power == NULL || strcmp(rs_hf_word(power), "1") == 0 || strcmp(rs_hf_word(power), "1.0") == 0;
  if (!sums) return rs_hf_refuse(file, row->power, err);
  return RS_OK;
}

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

/* UMT5: each layer has a bias of its own; vectors of distance are always so. */
static rs_status part_recipes(const rs_hf_file *file, const rs_stack *stack, rs_err *err) {
  bool apart = file->row->biases_apart || file->out->geometry.published.method->vectors != NULL;
  for (size_t i = 1; i < stack->count && apart; i++) {
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
