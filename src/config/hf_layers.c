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

/* ---- masks ------------------------------------------------------------------------------------------------------- */

static const char *scalar_of(const rs_node *node) {
  return node->kind == RS_SCALAR ? node->text : "";
}

/* Whether a layer sees a window alone, where nothing lists the layers. */
static bool is_windowed(rs_hf_file *file, size_t layer) {
  static const char *const patterns[] = {"sliding_window_pattern", "_sliding_window_pattern", NULL};
  static const char *const firsts[] = {"max_window_layers", NULL};
  size_t pattern = rs_hf_count(file, patterns, 1, file->row->pattern);
  switch (file->row->windows) {
  case RS_WINDOW_NO_LAYER: return false;
  case RS_WINDOW_ALL: return true;
  case RS_WINDOW_PATTERN: return (layer + 1) % pattern != 0;
  case RS_WINDOW_UPPER: break;
  }
  return rs_hf_true(file->root, "use_sliding_window", false) && layer >= rs_hf_count(file, firsts, 0, 28);
}

/* transformers: a key that is null is no window; one that is not there has the class's default. */
static size_t window_of(rs_hf_file *file) {
  static const char *const windows[] = {"sliding_window", NULL};
  bool said = rs_node_get(file->root, windows[0]) != NULL;
  return rs_hf_count(file, windows, 1, said ? 0 : file->row->window);
}

static void read_masks(rs_hf_file *file) {
  const rs_stack *stack = &file->out->shape.decoder;
  const rs_node *types = list_of(file, "layer_types");
  size_t window = window_of(file);
  for (size_t i = 0; i < stack->count && file->problems.count == 0; i++) {
    const char *type = types != NULL ? scalar_of(&types->items[i]) : "";
    bool local = types != NULL ? strcmp(type, RS_HF_LOCAL) == 0 : is_windowed(file, i);
    rs_path path = rs_path_key(NULL, "layer_types");
    if (types != NULL && !local && strcmp(type, RS_HF_GLOBAL) != 0) {
      path = rs_path_index(&path, i);
      rs_problem(&file->problems, &types->items[i], &path, "is no type of layers that is known here");
    }
    if (local && window == 0 && types != NULL) rs_hf_missing(file, "sliding_window");
    if (local && window > 0) stack->blocks[i].mask = (rs_mask){.kind = RS_WINDOW, .window = window};
  }
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* Whether a layer turns nothing. */
static bool is_bare(rs_hf_file *file, size_t layer, const rs_node *listed) {
  static const char *const intervals[] = {"no_rope_layer_interval", NULL};
  switch (file->row->bare) {
  case RS_BARE_NO_LAYER: return false;
  case RS_BARE_GLOBAL: return file->out->shape.decoder.blocks[layer].mask.kind != RS_WINDOW;
  case RS_BARE_LISTED: break;
  }
  if (listed != NULL) return strcmp(scalar_of(&listed->items[layer]), "0") == 0; /* 1: the layer does turn */
  return (layer + 1) % rs_hf_count(file, intervals, 1, 4) == 0;
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

static rs_status add_bare(rs_hf_file *file, size_t *index, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_init(&recipe, rs_method_find("nope"), err));
  return add_recipe(file->out, &recipe, index, err);
}

/* The windowed layers': with a base of their own, which is no longer the geometry's. */
static rs_status add_local(rs_hf_file *file, size_t *index, rs_err *err) {
  rs_hf_checkpoint *out = file->out;
  rs_model local;
  rs_recipe recipe;
  char digits[RS_NUMBER_CHARS];
  RS_TRY(rs_hf_layers_read(file->top, RS_HF_LOCAL, file->root->file, &local, err));
  rs_number_format(local.rope_theta, digits);
  rs_status status = rs_recipe_copy(&recipe, &local.published, err);
  if (status == RS_OK && local.rope_theta != out->geometry.rope_theta)
    status = rs_recipe_set(&recipe, "rope_theta", digits, err);
  rs_model_clear(&local);
  return status == RS_OK ? add_recipe(out, &recipe, index, err) : status;
}

/* Whether windowed layers turn otherwise than the others. */
static bool has_local_recipe(const rs_hf_file *file) {
  const rs_node *rope = rs_node_get(file->root, "rope_parameters");
  return rs_hf_present(rs_node_get(file->root, "rope_local_base_freq")) ||
         rs_hf_present(rs_node_get(rope, RS_HF_LOCAL));
}

/* The recipe of a kind of layers, which is made where it is needed first. */
typedef enum layer_kind { GLOBAL, LOCAL, BARE, LAYER_KINDS } layer_kind;

rs_status rs_hf_read_layers(rs_hf_file *file, rs_err *err) {
  static rs_status (*const add[LAYER_KINDS])(rs_hf_file *, size_t *, rs_err *) = {add_global, add_local, add_bare};
  const rs_stack *stack = &file->out->shape.decoder;
  size_t recipes[LAYER_KINDS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  read_masks(file);
  bool local = has_local_recipe(file);
  RS_TRY(add_global(file, &recipes[GLOBAL], err)); /* the first: a method that is tried takes its place */
  const rs_node *listed = list_of(file, "no_rope_layers");
  for (size_t i = 0; i < stack->count && file->problems.count == 0; i++) {
    layer_kind kind = is_bare(file, i, listed)                           ? BARE
                      : local && stack->blocks[i].mask.kind == RS_WINDOW ? LOCAL
                                                                         : GLOBAL;
    if (recipes[kind] == SIZE_MAX) RS_TRY(add[kind](file, &recipes[kind], err));
    stack->blocks[i].recipe = recipes[kind];
  }
  return RS_OK;
}
