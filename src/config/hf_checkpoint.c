/* Hugging Face's config.json as a shape: the row of its architecture, with the sizes and flags of the file. */
#include "hf_checkpoint.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 1 << 16 };

/* ---- what is not computed here ----------------------------------------------------------------------------------- */

static rs_status refuse(const rs_hf_file *file, const char *key, rs_err *err) {
  return rs_fail(err, RS_UNSUPPORTED, "%s: %s: changes what a %s computes in a way that is not offered here",
                 file->root->file, key, file->row->entry.model_type);
}

static rs_status refuse_unsupported(const rs_hf_file *file, rs_err *err) {
  static const char *const others[] = {"quantization_config", "clip_qkv", "num_local_experts", "num_experts", NULL};
  const rs_node *attention = rs_node_get(file->root, "attn_config"), *other = rs_hf_first(file->root, others);
  for (size_t i = 0; i < RS_HF_MATTERS && file->row->matters[i].key != NULL; i++)
    if (rs_hf_says(file, file->row->matters[i]) != file->row->matters[i].fallback)
      return refuse(file, file->row->matters[i].key, err);
  if (other != NULL) return refuse(file, other->key, err);
  if (attention == NULL) return RS_OK;
  if (rs_hf_true(attention, "qk_ln", false)) return refuse(file, "attn_config.qk_ln", err);
  if (rs_hf_true(attention, "prefix_lm", false)) return refuse(file, "attn_config.prefix_lm", err);
  return rs_hf_present(rs_node_get(attention, "clip_qkv")) ? refuse(file, "attn_config.clip_qkv", err) : RS_OK;
}

/* ---- parts of a block -------------------------------------------------------------------------------------------- */

static rs_norm read_norm(rs_hf_file *file) {
  static const char *const epsilons[] = {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", NULL};
  rs_norm norm = file->row->norm;
  norm.epsilon = rs_hf_real(file, epsilons, 0, norm.epsilon);
  return norm;
}

static rs_activation read_activation(rs_hf_file *file) {
  static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function", "activation", NULL};
  static const struct {
    const char *word;
    rs_activation activation;
  } words[] = {{"gelu", RS_GELU}, {"gelu_new", RS_GELU_TANH}, {"gelu_pytorch_tanh", RS_GELU_TANH},
               {"relu", RS_RELU}, {"silu", RS_SILU},          {"swish", RS_SILU}};
  const rs_node *node = file->row->own_activation ? NULL : rs_hf_first(file->root, keys);
  /* Gemma's first files say gelu and mean its approximation: transformers prefers hidden_activation. */
  const rs_node *second = rs_node_get(file->root, keys[1]);
  if (node != NULL && rs_hf_present(second)) node = second;
  if (node == NULL) return file->row->activation;
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (node->kind == RS_SCALAR && strcmp(node->text, words[i].word) == 0) return words[i].activation;
  rs_path path = rs_path_key(NULL, node->key);
  rs_problem(&file->problems, node, &path,
             "is no activation that is known here (gelu, gelu_new, gelu_pytorch_tanh, "
             "relu, silu)");
  return RS_GELU;
}

static size_t read_kv_heads(rs_hf_file *file, size_t heads) {
  static const char *const keys[] = {"num_key_value_heads", "num_kv_heads", NULL};
  const char *flag = file->row->one_kv_head;
  if (flag != NULL) return rs_hf_true(file->root, flag, true) ? 1 : heads;
  return rs_hf_count(file, keys, 1, heads);
}

static rs_head_shape read_heads(rs_hf_file *file, const rs_norm *norm) {
  static const char *const scalars[] = {"query_pre_attn_scalar", NULL}, *const caps[] = {"attn_logit_softcapping",
                                                                                         NULL};
  const rs_architecture *row = file->row;
  const rs_model *geometry = &file->out->geometry;
  double scalar = rs_hf_real(file, scalars, 1e-6, 0);
  rs_norm qk_norm = *norm;
  qk_norm.kind = row->qk_norm;
  return (rs_head_shape){.heads = geometry->heads,
                         .kv_heads = read_kv_heads(file, geometry->heads),
                         .head_dim = geometry->head_dim,
                         .qkv_bias = rs_hf_says(file, row->qkv_bias),
                         .output_bias = rs_hf_says(file, row->output_bias),
                         .qk_norm = row->qk_norm != RS_NORM_NONE ? qk_norm : (rs_norm){0},
                         .qk_span = row->qk_span,
                         .qk_norm_turned = row->qk_norm_turned,
                         .score_scale = scalar > 0 ? 1 / sqrt(scalar) : 0,
                         .soft_cap = rs_hf_real(file, caps, 0, 0)};
}

static rs_feed_forward read_feed_forward(rs_hf_file *file) {
  static const char *const widths[] = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", NULL};
  const rs_architecture *row = file->row;
  size_t usual = row->feed_forward * file->out->shape.width;
  size_t width = row->own_feed_forward ? usual
                 : usual > 0           ? rs_hf_count(file, widths, 1, usual)
                                       : rs_hf_needed(file, widths);
  return (rs_feed_forward){.width = width,
                           .activation = read_activation(file),
                           .gated = row->gated,
                           .bias = rs_hf_says(file, row->feed_forward_bias)};
}

static void place_norms(const rs_hf_file *file, const rs_norm *norm, rs_block *block) {
  bool in_order = file->row->parallel.key != NULL && !rs_hf_says(file, file->row->parallel);
  rs_norm_order order = in_order ? RS_NORMS_BEFORE : file->row->order;
  bool before = order != RS_NORMS_BEHIND, behind = order == RS_NORMS_BEHIND || order == RS_NORMS_AROUND;
  if (before) block->before_attention = *norm;
  if (before && order != RS_NORMS_SHARED) block->before_feed_forward = *norm;
  if (behind) block->after_attention = block->after_feed_forward = *norm;
  block->parallel = order == RS_NORMS_PARALLEL || order == RS_NORMS_SHARED;
}

/* What all blocks have in common. */
static rs_block read_block(rs_hf_file *file, const rs_norm *norm) {
  rs_block block = {
      .attention = read_heads(file, norm), .feed_forward = read_feed_forward(file), .mask = {.kind = RS_CAUSAL}};
  place_norms(file, norm, &block);
  return block;
}

/* ---- the shape --------------------------------------------------------------------------------------------------- */

static void read_sizes(rs_hf_file *file) {
  static const char *const widths[] = {"hidden_size", "n_embd", "d_model", "n_embed", NULL};
  static const char *const words[] = {"vocab_size", NULL}, *const caps[] = {"final_logit_softcapping", NULL};
  static const char *const scales[] = {"logit_scale", NULL};
  const rs_architecture *row = file->row;
  rs_shape *shape = &file->out->shape;
  double usual = row->output_scale > 0 ? row->output_scale : 1;
  shape->form = RS_DECODER;
  shape->width = rs_hf_needed(file, widths);
  shape->vocabulary = shape->classes = rs_hf_needed(file, words);
  shape->embedding_scale = row->widened ? sqrt((double)shape->width) : 1;
  shape->tied = rs_hf_true(file->root, "tie_word_embeddings", row->tied);
  shape->output_bias = row->class_bias && !shape->tied;
  shape->output_scale = row->output_scale > 0 ? rs_hf_real(file, scales, 1e-30, usual) : usual;
  shape->output_cap = rs_hf_real(file, caps, 0, 0);
}

static rs_status read_stack(rs_hf_file *file, rs_err *err) {
  static const char *const layers[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL};
  rs_shape *shape = &file->out->shape;
  rs_norm norm = read_norm(file);
  size_t count = rs_hf_needed(file, layers);
  rs_block block = read_block(file, &norm);
  if (file->problems.count > 0) return RS_OK;
  if (count > MOST_LAYERS) return rs_fail(err, RS_INPUT, "%s: %zu layers are too many", file->root->file, count);
  shape->decoder.blocks = rs_alloc(count, sizeof block, err);
  if (shape->decoder.blocks == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) shape->decoder.blocks[shape->decoder.count++] = block;
  shape->decoder.final_norm = norm;
  if (file->row->embedding_norm) shape->embedding_norm = norm;
  return rs_hf_read_layers(file, err);
}

static rs_status read_shape(rs_hf_file *file, rs_err *err) {
  RS_TRY(refuse_unsupported(file, err));
  read_sizes(file);
  RS_TRY(read_stack(file, err));
  if (file->problems.count == 0) return rs_shape_check(&file->out->shape, err);
  return file->problems.memory ? rs_fail(err, RS_MEMORY, "%s: out of memory", file->root->file)
                               : rs_fail(err, RS_INPUT, "%s", rs_text_string(&file->problems.text));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static rs_status unknown(const rs_node *root, const char *type, rs_err *err) {
  const char *names[256];
  size_t count = 0;
  for (const rs_architecture_entry *entry; count < RS_COUNT(names) && (entry = rs_architectures(count)) != NULL;)
    names[count++] = entry->model_type;
  const char *near = rs_suggest(type, names, count);
  if (near != NULL)
    return rs_fail(err, RS_UNSUPPORTED, "%s: model_type: %s is no architecture that is known here (did you mean %s?)",
                   root->file, type, near);
  return rs_fail(err, RS_UNSUPPORTED,
                 "%s: model_type: %s is no architecture that is known here (ropescope list architectures shows them)",
                 root->file, type);
}

/* The text part's model_type, else that of the whole. */
static rs_status find_row(const rs_node *root, rs_hf_file *file, rs_err *err) {
  const rs_node *node = rs_node_get(file->root, "model_type");
  if (!rs_hf_present(node)) node = rs_node_get(root, "model_type");
  if (!rs_hf_present(node) || node->kind != RS_SCALAR)
    return rs_fail(err, RS_INPUT, "%s: model_type is missing: it says which architecture this is", root->file);
  file->row = rs_architecture_find(node->text);
  return file->row != NULL ? RS_OK : unknown(root, node->text, err);
}

/* A file that says no length, as BLOOM's: what is made for the trained length has to have one. */
static void settle_length(rs_model *geometry) {
  enum { USUAL = 2048 };
  if (geometry->train_length == 0) geometry->train_length = geometry->max_length = USUAL;
}

static rs_status read_tree(const rs_node *root, rs_hf_checkpoint *out, rs_err *err) {
  rs_hf_file file = {.top = root, .root = rs_hf_text_config(root), .out = out};
  RS_TRY(find_row(root, &file, err));
  out->architecture = file.row;
  RS_TRY(rs_hf_layers_read(root, RS_HF_GLOBAL, root->file, &out->geometry, err));
  settle_length(&out->geometry);
  rs_status status = read_shape(&file, err);
  rs_problems_clear(&file.problems);
  return status;
}

rs_status rs_hf_checkpoint_read(const char *folder, rs_hf_checkpoint *checkpoint, rs_err *err) {
  rs_tree *tree = NULL;
  char *path = rs_path_join(folder, "config.json", err), *text = NULL;
  size_t length;
  *checkpoint = (rs_hf_checkpoint){0};
  rs_status status = path != NULL ? rs_file_read(path, RS_LARGEST_FILE, &text, &length, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_json_read(text, length, path, &tree, err);
  if (status == RS_OK) status = read_tree(&tree->root, checkpoint, err);
  if (status != RS_OK) rs_hf_checkpoint_clear(checkpoint);
  rs_tree_free(tree);
  free(text);
  free(path);
  return status;
}

void rs_hf_checkpoint_clear(rs_hf_checkpoint *checkpoint) {
  for (size_t i = 0; i < checkpoint->recipe_count; i++) rs_recipe_clear(&checkpoint->recipes[i]);
  free(checkpoint->recipes);
  rs_shape_clear(&checkpoint->shape);
  rs_model_clear(&checkpoint->geometry);
  *checkpoint = (rs_hf_checkpoint){0};
}
