/* What differs from layer to layer: windows, bases, layers without rotation. */
#include "hf_checkpoint.h"
#include "problems.h"

#include <stdlib.h>
#include <string.h>

/* The list called `key` with an entry a layer, or NULL; one of another length is a problem. */
static const rs_node *list_of(rs_hf_file *file, const char *key) {
  const rs_node *node = rs_node_get(file->root, key);
  size_t layers = file->out->shape.decoder.count;
  if (!rs_hf_present(node) || (node->kind == RS_SEQUENCE && node->count == 0)) return NULL;
  if (node->kind == RS_SEQUENCE && node->count == layers) return node;
  rs_path path = rs_path_key(NULL, key);
  rs_problem(&file->problems, node, &path, "must have an entry for each of the %zu layers", layers);
  return NULL;
}

/* What the file says of its layers. */
typedef struct layers {
  rs_hf_file *file;
  const rs_node *types, *turning; /* layer_types, no_rope_layers; NULL: not there */
  size_t window, chunk;           /* 0: none */
  size_t pattern, first_window, interval;
} layers;

static const char *scalar_of(const rs_node *node) {
  return node->kind == RS_SCALAR ? node->text : "";
}

static layers read_lists(rs_hf_file *file) {
  static const char *const patterns[] = {"sliding_window_pattern", "_sliding_window_pattern", NULL};
  static const char *const firsts[] = {"max_window_layers", NULL}, *const windows[] = {"sliding_window", NULL};
  static const char *const intervals[] = {"no_rope_layer_interval", NULL}, *const chunks[] = {"attention_chunk_size",
                                                                                              NULL};
  /* transformers: a window that is null is none; one that is not there is the class's. */
  bool chunked = file->row->windows == RS_WINDOW_CHUNKS, said = rs_node_get(file->root, windows[0]) != NULL;
  return (layers){.file = file,
                  .types = list_of(file, "layer_types"),
                  .turning = list_of(file, "no_rope_layers"),
                  .window = rs_hf_count(file, windows, 1, said ? 0 : file->row->window),
                  .chunk = chunked ? rs_hf_count(file, chunks, 1, file->row->window) : 0,
                  .pattern = rs_hf_count(file, patterns, 1, file->row->pattern),
                  .first_window = rs_hf_count(file, firsts, 0, 28),
                  .interval = rs_hf_count(file, intervals, 1, 4)};
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* Whether no_rope_layers, where 1 means that the layer does turn, or the interval says that it does not. */
static bool is_listed_bare(const layers *l, size_t layer) {
  if (l->turning != NULL) return strcmp(scalar_of(&l->turning->items[layer]), "0") == 0;
  return (layer + 1) % l->interval == 0;
}

/* Which type a layer has where no layer_types say it. */
static const char *usual_type(const layers *l, size_t layer) {
  bool local = false;
  switch (l->file->row->windows) {
  case RS_WINDOW_NO_LAYER: break;
  case RS_WINDOW_ALL: local = true; break;
  case RS_WINDOW_PATTERN: local = (layer + 1) % l->pattern != 0; break;
  case RS_WINDOW_CHUNKS: return is_listed_bare(l, layer) ? RS_HF_GLOBAL : RS_HF_CHUNKED;
  case RS_WINDOW_UPPER:
    local = rs_hf_true(l->file->root, "use_sliding_window", false) && layer >= l->first_window;
    break;
  }
  return local && l->window > 0 ? RS_HF_LOCAL : RS_HF_GLOBAL;
}

static rs_mask read_mask(const layers *l, size_t layer) {
  bool both = l->file->out->shape.form == RS_ENCODER || l->file->out->shape.form == RS_VISION;
  const rs_mask whole = {.kind = both ? RS_BIDIRECTIONAL : RS_CAUSAL};
  const char *type = l->types != NULL ? scalar_of(&l->types->items[layer]) : usual_type(l, layer);
  if (strcmp(type, RS_HF_GLOBAL) == 0) return whole;
  bool local = strcmp(type, RS_HF_LOCAL) == 0, chunked = strcmp(type, RS_HF_CHUNKED) == 0;
  if (local && l->window > 0) return (rs_mask){.kind = RS_WINDOW, .window = l->window};
  if (chunked && l->chunk > 0) return (rs_mask){.kind = RS_CHUNKS, .window = l->chunk};
  rs_path list = rs_path_key(NULL, "layer_types"), path = rs_path_index(&list, layer);
  if (local)
    rs_hf_missing(l->file, "sliding_window");
  else
    rs_problem(&l->file->problems, &l->types->items[layer], &path, "is no type of layers that is known here");
  return whole;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* Whether a layer turns nothing. */
static bool is_bare(const layers *l, size_t layer) {
  switch (l->file->row->bare) {
  case RS_BARE_NO_LAYER: return false;
  case RS_BARE_GLOBAL: return l->file->out->shape.decoder.blocks[layer].mask.kind != RS_WINDOW;
  case RS_BARE_LISTED: break;
  }
  return is_listed_bare(l, layer);
}

/* Takes the recipe over. */
static rs_status add_recipe(rs_hf_checkpoint *out, rs_recipe *recipe, size_t *index, rs_err *err) {
  rs_status status = rs_recipe_resolve(recipe, &out->geometry, err);
  if (status == RS_OK) status = rs_recipe_check(recipe, &out->geometry, err);
  size_t capacity = out->recipe_count;
  void *recipes = out->recipes;
  if (status == RS_OK) status = rs_grow(&recipes, &capacity, out->recipe_count + 1, sizeof *out->recipes, err);
  if (status != RS_OK) {
    rs_recipe_clear(recipe);
    return status;
  }
  out->recipes = recipes;
  out->recipes[ *index = out->recipe_count++] = *recipe;
  return RS_OK;
}

static rs_status add_global(rs_hf_file *file, size_t *index, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_copy(&recipe, &file->out->geometry.published, err));
  return add_recipe(file->out, &recipe, index, err);
}

static rs_status set_number(rs_recipe *recipe, const char *name, double number, rs_err *err) {
  char digits[RS_NUMBER_CHARS];
  rs_number_format(number, digits);
  return rs_recipe_set(recipe, name, digits, err);
}

/* Llama 4's, of queries that are not turned. */
static rs_status set_temperature(rs_hf_file *file, rs_recipe *recipe, rs_err *err) {
  static const char *const factors[] = {"attn_scale", NULL}, *const lengths[] = {"floor_scale", NULL};
  const rs_node *tuned = rs_node_get(file->root, "attn_temperature_tuning");
  bool off = rs_hf_present(tuned) && (strcmp(scalar_of(tuned), "false") == 0 || strcmp(scalar_of(tuned), "0") == 0);
  if (!file->row->temperature || off) return RS_OK;
  RS_TRY(rs_recipe_set(recipe, "logit_scale", "llama4", err));
  RS_TRY(set_number(recipe, "logit_scale_factor", rs_hf_real(file, factors, 0, 0.1), err));
  return set_number(recipe, "logit_scale_length", (double)rs_hf_count(file, lengths, 1, 8192), err);
}

static rs_status add_bare(rs_hf_file *file, size_t *index, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_init(&recipe, rs_method_find("nope"), err));
  rs_status status = set_temperature(file, &recipe, err);
  if (status == RS_OK) return add_recipe(file->out, &recipe, index, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* The windowed layers': with a base of their own, which is no longer the geometry's. */
static rs_status add_local(rs_hf_file *file, size_t *index, rs_err *err) {
  rs_hf_checkpoint *out = file->out;
  rs_model local;
  rs_recipe recipe;
  RS_TRY(rs_hf_layers_read(file->top, RS_HF_LOCAL, file->root->file, &local, err));
  rs_status status = rs_recipe_copy(&recipe, &local.published, err);
  if (status == RS_OK && local.rope_theta != out->geometry.rope_theta)
    status = set_number(&recipe, "rope_theta", local.rope_theta, err);
  rs_model_clear(&local);
  if (status == RS_OK) return add_recipe(out, &recipe, index, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* Whether windowed layers turn otherwise than the others. */
static bool has_local_recipe(const rs_hf_file *file) {
  const rs_node *rope = rs_node_get(file->root, "rope_parameters");
  return rs_hf_present(rs_node_get(file->root, "rope_local_base_freq")) ||
         rs_hf_present(rs_node_get(rope, RS_HF_LOCAL));
}

/* The recipe of a kind of layers, which is made where it is needed first. */
typedef enum layer_kind { GLOBAL, LOCAL, BARE, LAYER_KINDS } layer_kind;

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

static layer_kind kind_of(const layers *l, size_t layer, bool local) {
  if (is_bare(l, layer)) return BARE;
  return local && l->file->out->shape.decoder.blocks[layer].mask.kind == RS_WINDOW ? LOCAL : GLOBAL;
}

rs_status rs_hf_read_layers(rs_hf_file *file, rs_err *err) {
  static rs_status (*const add[LAYER_KINDS])(rs_hf_file *, size_t *, rs_err *) = {add_global, add_local, add_bare};
  const rs_stack *stack = &file->out->shape.decoder;
  size_t recipes[LAYER_KINDS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  bool local = has_local_recipe(file);
  layers l = read_lists(file);
  RS_TRY(add_global(file, &recipes[GLOBAL], err)); /* the first: a method that is tried takes its place */
  RS_TRY(read_encoder(file, err));
  for (size_t i = 0; i < stack->count && file->problems.count == 0; i++) {
    rs_block *block = &stack->blocks[i];
    block->mask = read_mask(&l, i);
    layer_kind kind = kind_of(&l, i, local);
    if (recipes[kind] == SIZE_MAX) RS_TRY(add[kind](file, &recipes[kind], err));
    block->recipe = recipes[kind];
    if (kind == BARE && file->row->temperature) block->attention.qk_norm = (rs_norm){0};
  }
  return RS_OK;
}
