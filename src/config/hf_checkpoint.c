/* Hugging Face's config.json as a shape: the row of its architecture, with the sizes and flags of the file. */
#include "hf_checkpoint.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 1 << 16, MOST_PATCH = 1 << 10 };

/* ---- what is not computed here ----------------------------------------------------------------------------------- */

static rs_status refuse(const rs_hf_file *file, const char *key, rs_err *err) {
  return rs_fail(err, RS_UNSUPPORTED, "%s: %s: changes what a %s computes in a way that is not offered here",
                 file->root->file, key, file->row->entry.model_type);
}

/* MPT's. */
static rs_status refuse_attention(const rs_hf_file *file, const rs_node *attention, rs_err *err) {
  if (attention == NULL) return RS_OK;
  if (rs_hf_true(attention, "qk_ln", false)) return refuse(file, "attn_config.qk_ln", err);
  if (rs_hf_true(attention, "prefix_lm", false)) return refuse(file, "attn_config.prefix_lm", err);
  if (rs_hf_present(rs_node_get(attention, "softmax_scale"))) return refuse(file, "attn_config.softmax_scale", err);
  return rs_hf_present(rs_node_get(attention, "clip_qkv")) ? refuse(file, "attn_config.clip_qkv", err) : RS_OK;
}

static rs_status refuse_unsupported(const rs_hf_file *file, rs_err *err) {
  static const char *const others[] = {"quantization_config", "clip_qkv", NULL};
  static const char *const experts[] = {"num_local_experts", "num_experts", "n_routed_experts", NULL};
  const rs_node *layers = file->row->expert_layers != NULL ? rs_node_get(file->root, file->row->expert_layers) : NULL;
  const rs_node *other = rs_hf_first(file->root, others);
  for (size_t i = 0; i < RS_HF_MATTERS && file->row->matters[i].key != NULL; i++)
    if (rs_hf_says(file, file->row->matters[i]) != file->row->matters[i].fallback)
      return refuse(file, file->row->matters[i].key, err);
  if (other != NULL) return refuse(file, other->key, err);
  bool dense = layers != NULL && layers->kind == RS_SEQUENCE && layers->count == 0;
  other = dense || file->row->clamped_experts || file->row->latent ? NULL : rs_hf_first(file->root, experts);
  if (other != NULL) return refuse(file, other->key, err);
  other = rs_node_get(file->root, "position_embedding_type");
  bool absolute = rs_hf_present(other) && other->kind == RS_SCALAR && strcmp(other->text, "absolute") == 0;
  if (rs_hf_present(other) && !absolute) return refuse(file, other->key, err);
  return refuse_attention(file, rs_node_get(file->root, "attn_config"), err);
}

/* ---- parts of a block -------------------------------------------------------------------------------------------- */

static rs_norm read_norm(rs_hf_file *file) {
  static const char *const epsilons[] = {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", NULL};
  rs_norm norm = file->row->norm;
  norm.epsilon = rs_hf_real(file, epsilons, 0, norm.epsilon);
  return norm;
}

static rs_activation read_activation(rs_hf_file *file) {
  static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function",
                                     "activation", "dense_act_fn",      "feed_forward_proj",
                                     NULL};
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

/* Where there is one. */
static rs_norm read_qk_norm(const rs_hf_file *file, const rs_norm *norm) {
  const rs_architecture *row = file->row;
  rs_norm qk_norm = *norm;
  qk_norm.kind = row->qk_norm;
  bool normed = row->qk_norm != RS_NORM_NONE && (row->qk_normed.key == NULL || rs_hf_says(file, row->qk_normed));
  return normed ? qk_norm : (rs_norm){0};
}

static rs_latent read_latent(rs_hf_file *file, const rs_norm *norm) {
  static const char *const kv_ranks[] = {"kv_lora_rank", NULL}, *const q_ranks[] = {"q_lora_rank", NULL};
  static const char *const values[] = {"v_head_dim", NULL};
  rs_norm latent = *norm;
  if (!file->row->latent) return (rs_latent){0};
  latent.epsilon = 1e-6; /* of the class, whatever rms_norm_eps */
  return (rs_latent){.kv_rank = rs_hf_needed(file, kv_ranks),
                     .q_rank = rs_hf_count(file, q_ranks, 1, 0),
                     .turned = file->out->geometry.rotary_dim,
                     .value_dim = rs_hf_needed(file, values),
                     .norm = latent};
}

static rs_head_shape read_heads(rs_hf_file *file, const rs_norm *norm) {
  static const char *const scalars[] = {"query_pre_attn_scalar", NULL}, *const caps[] = {"attn_logit_softcapping",
                                                                                         NULL};
  const rs_architecture *row = file->row;
  const rs_model *geometry = &file->out->geometry;
  double scalar = rs_hf_real(file, scalars, 1e-6, 0);
  return (rs_head_shape){.heads = geometry->heads,
                         .kv_heads = read_kv_heads(file, geometry->heads),
                         .head_dim = geometry->head_dim,
                         .qkv_bias = rs_hf_says(file, row->qkv_bias),
                         .output_bias = rs_hf_says(file, row->output_bias),
                         .qk_norm = read_qk_norm(file, norm),
                         .qk_span = row->qk_span,
                         .qk_norm_turned = row->qk_norm_turned,
                         .score_scale = scalar > 0      ? 1 / sqrt(scalar)
                                        : row->unscaled ? 1
                                                        : 0,
                         .latent = read_latent(file, norm),
                         .sinks = row->sinks,
                         .soft_cap = rs_hf_real(file, caps, 0, 0)};
}

static rs_experts read_experts(rs_hf_file *file) {
  static const char *const counts[] = {"num_local_experts", "num_experts", NULL};
  static const char *const used[] = {"num_experts_per_tok", "experts_per_token", NULL};
  static const char *const limits[] = {"swiglu_limit", NULL};
  return (rs_experts){.count = rs_hf_needed(file, counts),
                      .used = rs_hf_needed(file, used),
                      .router_bias = true,
                      .limit = rs_hf_real(file, limits, 1e-6, 7)};
}

static rs_feed_forward read_feed_forward(rs_hf_file *file) {
  const rs_architecture *row = file->row;
  const char *const widths[] = {row->feed_forward_key != NULL ? row->feed_forward_key : "intermediate_size",
                                "intermediate_size",
                                "n_inner",
                                "ffn_dim",
                                "ffn_hidden_size",
                                "d_ff",
                                NULL};
  size_t usual = row->feed_forward * file->out->shape.width;
  size_t width = row->own_feed_forward ? usual
                 : usual > 0           ? rs_hf_count(file, widths, 1, usual)
                                       : rs_hf_needed(file, widths);
  return (rs_feed_forward){.width = width,
                           .activation = read_activation(file),
                           .gated = row->gated,
                           .bias = rs_hf_says(file, row->feed_forward_bias),
                           .experts = row->clamped_experts ? read_experts(file) : (rs_experts){0}};
}

static void place_norms(const rs_hf_file *file, const rs_norm *norm, rs_block *block) {
  bool in_order = file->row->parallel.key != NULL && !rs_hf_says(file, file->row->parallel);
  rs_norm_order order = in_order ? RS_NORMS_BEFORE : file->row->order;
  block->norm_sums = order == RS_NORMS_OF_SUMS;
  bool behind = block->norm_sums || order == RS_NORMS_BEHIND || order == RS_NORMS_AROUND;
  bool before = !behind || order == RS_NORMS_AROUND;
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
  static const char *const scales[] = {"logit_scale", NULL}, *const types[] = {"type_vocab_size", NULL};
  const rs_architecture *row = file->row;
  rs_shape *shape = &file->out->shape;
  double usual = row->output_scale > 0 ? row->output_scale : 1;
  shape->form = row->form;
  shape->width = rs_hf_needed(file, widths);
  shape->vocabulary = row->form == RS_VISION ? 0 : rs_hf_needed(file, words);
  shape->classes = row->headless ? 0 : shape->vocabulary;
  shape->token_types = rs_hf_count(file, types, 0, 0);
  shape->embedding_scale = row->widened ? sqrt((double)shape->width) : 1;
  shape->tied = !row->headless &&
                rs_hf_true(file->root, "tie_word_embeddings", rs_hf_true(file->top, "tie_word_embeddings", row->tied));
  shape->output_bias = row->class_bias && !shape->tied;
  shape->output_scale = row->output_scale > 0 ? rs_hf_real(file, scales, 1e-30, usual) : usual;
  if (row->narrowed && rs_hf_true(file->root, "scale_decoder_outputs", shape->tied))
    shape->output_scale = 1 / sqrt((double)shape->width);
  shape->output_cap = rs_hf_real(file, caps, 0, 0);
}

/* Square images of square patches, behind a class token. */
static rs_status read_images(rs_hf_file *file, rs_err *err) {
  static const char *const sides[] = {"image_size", NULL}, *const patches[] = {"patch_size", NULL};
  static const char *const channels[] = {"num_channels", NULL};
  rs_hf_checkpoint *out = file->out;
  size_t side = rs_hf_needed(file, sides), patch = rs_hf_needed(file, patches);
  if (file->problems.count > 0) return RS_OK;
  if (side < patch || patch > MOST_PATCH)
    return rs_fail(err, RS_INPUT, "%s: patch_size %zu of image_size %zu: at most %d, and no larger than the image",
                   file->root->file, patch, side, MOST_PATCH);
  rs_example_shape grid = {.frames = 1, .rows = side / patch, .columns = side / patch};
  out->channels = rs_hf_count(file, channels, 1, 3);
  out->patch_side = patch;
  out->shape.patch_numbers = out->channels * patch * patch;
  grid.patch_numbers = out->shape.patch_numbers;
  grid.length = grid.rows * grid.columns;
  RS_TRY(rs_task_layout(&grid, &out->tokens, &out->geometry.train_length, err));
  out->geometry.max_length = out->geometry.train_length;
  return RS_OK;
}

/* So many blocks, all alike, and a norm behind them. */
static rs_status fill_stack(const rs_hf_file *file, const rs_block *block, size_t count, const rs_norm *norm,
                            rs_stack *stack, rs_err *err) {
  if (count > MOST_LAYERS) return rs_fail(err, RS_INPUT, "%s: %zu layers are too many", file->root->file, count);
  stack->blocks = rs_alloc(count, sizeof *block, err);
  if (stack->blocks == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) stack->blocks[stack->count++] = *block;
  if (file->row->order != RS_NORMS_OF_SUMS) stack->final_norm = *norm;
  return RS_OK;
}

/* DeepSeek-V3: the layers behind the first few have experts, and one that reads all tokens. */
static void place_experts(rs_hf_file *file, rs_stack *stack) {
  static const char *const firsts[] = {"first_k_dense_replace", NULL}, *const counts[] = {"n_routed_experts", NULL};
  static const char *const used[] = {"num_experts_per_tok", NULL}, *const widths[] = {"moe_intermediate_size", NULL};
  static const char *const groups[] = {"n_group", NULL}, *const groups_used[] = {"topk_group", NULL};
  static const char *const scales[] = {"routed_scaling_factor", NULL}, *const shared[] = {"n_shared_experts", NULL};
  size_t width = rs_hf_needed(file, widths);
  const rs_experts experts = {.count = rs_hf_needed(file, counts),
                              .used = rs_hf_needed(file, used),
                              .sigmoid = true,
                              .normed = rs_hf_true(file->root, "norm_topk_prob", true),
                              .scale = rs_hf_real(file, scales, 1e-30, 2.5),
                              .groups = rs_hf_count(file, groups, 1, 8),
                              .groups_used = rs_hf_count(file, groups_used, 1, 4),
                              .shared = rs_hf_count(file, shared, 0, 1) * width};
  for (size_t i = rs_hf_count(file, firsts, 0, 3); i < stack->count; i++) {
    stack->blocks[i].feed_forward.width = width;
    stack->blocks[i].feed_forward.experts = experts;
  }
}

static rs_status read_stacks(rs_hf_file *file, rs_err *err) {
  static const char *const layers[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL};
  static const char *const decoder_layers[] = {"num_decoder_layers", NULL};
  rs_shape *shape = &file->out->shape;
  rs_norm norm = read_norm(file);
  size_t count = rs_hf_needed(file, layers), decoder_count = rs_hf_count(file, decoder_layers, 1, count);
  rs_block block = read_block(file, &norm);
  if (file->problems.count > 0) return RS_OK;
  if (file->row->embedding_norm) shape->embedding_norm = norm;
  if (shape->form == RS_ENCODER_DECODER) {
    RS_TRY(fill_stack(file, &block, count, &norm, &shape->encoder, err));
    block.cross = true;
    block.before_cross = norm;
  }
  RS_TRY(fill_stack(file, &block, decoder_count, &norm, &shape->decoder, err));
  if (file->row->latent) place_experts(file, &shape->decoder);
  return file->problems.count == 0 ? rs_hf_read_layers(file, err) : RS_OK;
}

static rs_status read_shape(rs_hf_file *file, rs_err *err) {
  RS_TRY(refuse_unsupported(file, err));
  read_sizes(file);
  if (file->out->shape.form == RS_VISION) RS_TRY(read_images(file, err));
  RS_TRY(read_stacks(file, err));
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
  rs_token_layout_clear(&checkpoint->tokens);
  *checkpoint = (rs_hf_checkpoint){0};
}
