/* Hugging Face's config.json as a shape: the row of its architecture, with the sizes and flags of the file. */
#include "gguf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 1 << 16, MOST_PATCH = 1 << 10 };

/* ---- what is not computed here ----------------------------------------------------------------------------------- */

/* Weights that are no plain numbers. */
static rs_status refuse_quantized(const rs_hf_file *file, rs_err *err) {
  const rs_node *node = rs_node_get(file->root, "quantization_config");
  if (!rs_hf_present(node)) node = rs_node_get(file->top, "quantization_config");
  const rs_node *method = rs_node_get(node, "quant_method");
  if (!rs_hf_present(node)) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED,
                 "%s: quantization_config: the weights are quantized (%s), and F64, F32, BF16 and F16 are read: take "
                 "the unquantized checkpoint, or write one (transformers: model.dequantize(), save_pretrained)",
                 file->root->file, *rs_hf_word(method) != '\0' ? rs_hf_word(method) : "no quant_method");
}

/* MPT's. */
static rs_status refuse_attention(const rs_hf_file *file, const rs_node *attention, rs_err *err) {
  if (attention == NULL) return RS_OK;
  if (rs_hf_true(attention, "qk_ln", false)) return rs_hf_refuse(file, "attn_config.qk_ln", err);
  if (rs_hf_true(attention, "prefix_lm", false)) return rs_hf_refuse(file, "attn_config.prefix_lm", err);
  bool scaled = rs_hf_present(rs_node_get(attention, "softmax_scale"));
  return scaled ? rs_hf_refuse(file, "attn_config.softmax_scale", err) : RS_OK;
}

/* Of the key, or what the class has without it; NaN: it is no number. */
static double number_of(const rs_hf_file *file, const char *key, double usual) {
  const rs_node *node = rs_node_get(file->root, key);
  double number = NAN;
  if (!rs_hf_present(node)) return usual;
  return rs_number_read(rs_hf_word(node), &number) ? number : NAN;
}

/* Transformer-XL's embeddings by how frequent words are. With all equally wide, cutoffs are of the output alone. */
static rs_status refuse_adaptive(const rs_hf_file *file, rs_err *err) {
  enum { DIVISOR = 4, WIDTH = 1024 }; /* configuration_transfo_xl.py */
  if (!file->row->adaptive) return RS_OK;
  if (number_of(file, "div_val", DIVISOR) != 1)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: div_val: embeddings of words behind each of the cutoffs are narrower by it (4 where it is not "
                   "there) and widened by a matrix each, which is not offered here: read is div_val 1 alone",
                   file->root->file);
  if (number_of(file, "d_embed", WIDTH) != number_of(file, "d_model", WIDTH))
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: d_embed: embeddings of another width (1024 where it is not there) than d_model are not offered "
                   "here",
                   file->root->file);
  return number_of(file, "attn_type", 0) == 0 ? RS_OK : rs_hf_refuse(file, "attn_type", err);
}

static rs_status refuse_unsupported(const rs_hf_file *file, rs_err *err) {
  static const char *const clipped[] = {"clip_qkv", NULL};
  const rs_node *other = file->row->clipped ? NULL : rs_hf_first(file->root, clipped);
  for (size_t i = 0; i < RS_HF_MATTERS && file->row->matters[i].key != NULL; i++)
    if (rs_hf_says(file, file->row->matters[i]) != file->row->matters[i].fallback)
      return rs_hf_refuse(file, file->row->matters[i].key, err);
  if (other != NULL) return rs_hf_refuse(file, other->key, err);
  RS_TRY(refuse_quantized(file, err));
  RS_TRY(refuse_adaptive(file, err));
  RS_TRY(rs_hf_refuse_experts(file, err));
  other = rs_node_get(file->root, "position_embedding_type");
  bool relative = strncmp(rs_hf_word(other), "relative_key", strlen("relative_key")) == 0 && file->row->distances;
  if (rs_hf_present(other) && strcmp(rs_hf_word(other), "absolute") != 0 && !relative)
    return rs_hf_refuse(file, other->key, err);
  return refuse_attention(file, rs_node_get(file->root, "attn_config"), err);
}

/* ---- parts of a block -------------------------------------------------------------------------------------------- */

static rs_norm read_norm(rs_hf_file *file) {
  static const char *const epsilons[] = {"norm_eps",           "rms_norm_eps", "layer_norm_eps",
                                         "layer_norm_epsilon", "norm_epsilon", NULL};
  rs_norm norm = file->row->norm;
  norm.epsilon = rs_hf_real(file, epsilons, 0, norm.epsilon);
  if (file->out->gguf != NULL) norm.around_one = false; /* convert_hf_to_gguf.py has added the one */
  if (file->row->norm_bias.key != NULL) norm.bias = rs_hf_says(file, file->row->norm_bias);
  return norm;
}

/* T5's layers are gated where the word for their activation, which dense_act_fn repeats, begins so. */
static bool is_gated(const rs_hf_file *file) {
  static const char *const keys[] = {"feed_forward_proj", "activation_function", NULL}; /* T5's, NomicBERT's */
  const char *word = rs_hf_word(rs_hf_first(file->root, keys));
  bool named = strncmp(word, "gated-", 6) == 0 || strcmp(word, "swiglu") == 0 || strcmp(word, "geglu") == 0;
  return file->row->gated || (file->row->gated_by_name && rs_hf_true(file->root, "is_gated_act", named));
}

static rs_activation read_activation(rs_hf_file *file) {
  static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function",
                                     "activation", "dense_act_fn",      "feed_forward_proj",
                                     NULL};
  static const struct {
    const char *word;
    rs_activation activation;
  } words[] = {{"gelu", RS_GELU},
               {"gelu_new", RS_GELU_TANH},
               {"gelu_pytorch_tanh", RS_GELU_TANH},
               {"relu", RS_RELU},
               {"silu", RS_SILU},
               {"swish", RS_SILU},
               {"gated-gelu", RS_GELU_TANH},
               {"gated-relu", RS_RELU},
               {"gated-silu", RS_SILU},
               {"relu2", RS_RELU2},
               {"swiglu", RS_SILU},
               {"geglu", RS_GELU}};
  const rs_architecture *row = file->row;
  const char *const own[] = {row->activation_key, NULL};
  if (row->own_activation) return row->activation;
  const rs_node *node = rs_hf_first(file->root, row->activation_key != NULL ? own : keys);
  if (node == NULL) return row->activation;
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (strcmp(rs_hf_word(node), words[i].word) == 0) return words[i].activation;
  rs_problem(&file->problems, node,
             "is no activation that is known here (gelu, gelu_new, gelu_pytorch_tanh, "
             "relu, relu2, silu)");
  return RS_GELU;
}

static bool is_curve_learned(const rs_hf_file *file) {
  const rs_node *word = rs_node_get(file->root, "hidden_act");
  return file->row->learned_curve && (!rs_hf_present(word) || strcmp(rs_hf_word(word), "xielu") == 0);
}

/* Falcon's heads in groups. */
static bool is_grouped(const rs_hf_file *file) {
  return file->row->grouped != NULL && rs_hf_true(file->root, file->row->grouped, false);
}

static size_t read_kv_heads(rs_hf_file *file, size_t heads) {
  const char *own = file->row->kv_heads_key;
  const char *const keys[] = {own != NULL ? own : "num_key_value_heads", "num_key_value_heads", "num_kv_heads", NULL};
  const char *flag = file->row->one_kv_head;
  if (flag != NULL && !is_grouped(file)) return rs_hf_true(file->root, flag, true) ? 1 : heads;
  /* transformers: null is one for each head; a config without it has the class's number. */
  bool said = file->row->kv_heads == 0 || rs_node_get(file->root, keys[1]) != NULL;
  return rs_hf_count(file, keys, 1, said ? heads : file->row->kv_heads);
}

/* Where there is one. */
static rs_norm read_qk_norm(const rs_hf_file *file, const rs_norm *norm) {
  const rs_architecture *row = file->row;
  rs_norm qk_norm = *norm;
  qk_norm.kind = row->qk_norm;
  qk_norm.bias = norm->bias && !row->qk_norm_bare;
  bool normed = row->qk_norm != RS_NORM_NONE && (row->qk_normed.key == NULL || rs_hf_says(file, row->qk_normed));
  return normed ? qk_norm : (rs_norm){0};
}

static rs_latent read_latent(rs_hf_file *file, const rs_norm *norm) {
  rs_norm latent = *norm;
  if (!file->row->latent) return (rs_latent){0};
  latent.epsilon = 1e-6; /* of the class, whatever rms_norm_eps */
  return (rs_latent){.kv_rank = rs_hf_needed(file, RS_KEYS("kv_lora_rank")),
                     .q_rank = rs_hf_count(file, RS_KEYS("q_lora_rank"), 1, 0),
                     .turned = file->out->geometry.rotary_dim,
                     .value_dim = rs_hf_needed(file, RS_KEYS("v_head_dim")),
                     .norm = latent};
}

/* What multiplies q.k, or 0 where that is 1/sqrt(D). */
static double read_score_scale(rs_hf_file *file) {
  double scalar = rs_hf_real(file, RS_KEYS("query_pre_attn_scalar"), 1e-6, file->row->score_dims);
  if (file->row->scales == RS_SCALES_GRANITE) return rs_hf_real(file, RS_KEYS("attention_multiplier"), 1e-30, 1);
  return scalar > 0 ? 1 / sqrt(scalar) : file->row->unscaled ? 1 : 0;
}

/* Of the whole file, or, in MPT's, of attention. */
static double read_clip(rs_hf_file *file) {
  const rs_node *inner = rs_node_get(rs_node_get(file->root, "attn_config"), "clip_qkv");
  const rs_node *node = rs_hf_present(inner) ? inner : rs_node_get(file->root, "clip_qkv");
  return file->row->clipped && rs_hf_present(node) ? rs_read_real(&file->problems, node, 1e-30, 1e30, 0) : 0;
}

/* A soft cap that is null is none; one that is not there is the class's. */
static double read_cap(rs_hf_file *file, const char *key, double usual) {
  const char *const keys[] = {key, NULL};
  return rs_hf_real(file, keys, 0, rs_node_get(file->root, key) == NULL ? usual : 0);
}

static rs_head_shape read_heads(rs_hf_file *file, const rs_norm *norm) {
  const rs_architecture *row = file->row;
  const rs_model *geometry = &file->out->geometry;
  return (rs_head_shape){.heads = geometry->heads,
                         .kv_heads = read_kv_heads(file, geometry->heads),
                         .head_dim = geometry->head_dim,
                         .qkv_bias = rs_hf_says(file, row->qkv_bias),
                         .output_bias = rs_hf_says(file, row->output_bias),
                         .qk_norm = read_qk_norm(file, norm),
                         .qk_span = row->qk_span,
                         .qk_norm_turned = row->qk_norm_turned,
                         .score_scale = read_score_scale(file),
                         .clip = read_clip(file),
                         .latent = read_latent(file, norm),
                         .sinks = row->sinks,
                         .soft_cap = read_cap(file, "attn_logit_softcapping", row->score_cap)};
}

/* DINOv2's are as wide as mlp_ratio says, or, where gated, two thirds of it, a multiple of 8. */
static size_t read_ratio(rs_hf_file *file, size_t usual, bool gated) {
  if (!file->row->gated_narrower) return usual;
  double ratio = rs_hf_real(file, RS_KEYS("mlp_ratio"), 1e-3, (double)file->row->feed_forward);
  size_t width = (size_t)((double)file->out->shape.width * ratio);
  return gated ? ((size_t)((double)width * 2 / 3) + 7) / 8 * 8 : width;
}

static rs_feed_forward read_feed_forward(rs_hf_file *file) {
  const rs_architecture *row = file->row;
  const char *const widths[] = {row->feed_forward_key != NULL ? row->feed_forward_key : "intermediate_size",
                                "intermediate_size",
                                "n_inner",
                                "ffn_dim",
                                "ffn_hidden_size",
                                "d_ff",
                                "hidden_dim",
                                NULL};
  bool narrower = row->gated_narrower && rs_hf_true(file->root, "use_swiglu_ffn", false);
  size_t usual = read_ratio(file, row->feed_forward * file->out->shape.width, narrower);
  size_t width = row->own_feed_forward ? usual
                 : usual > 0           ? rs_hf_count(file, widths, 1, usual)
                                       : rs_hf_needed(file, widths);
  return (rs_feed_forward){.width = width,
                           .activation = narrower                 ? RS_SILU
                                         : is_curve_learned(file) ? RS_GELU
                                                                  : read_activation(file),
                           .learned_curve = is_curve_learned(file),
                           .gated = narrower || is_gated(file),
                           .bias = rs_hf_says(file, row->feed_forward_bias)};
}

/* Of Falcons whose heads share keys: two norms, or one where num_ln_in_parallel_attn is 1. */
static rs_norm_order read_order(rs_hf_file *file) {
  const rs_architecture *row = file->row;
  if (is_grouped(file))
    return rs_hf_count(file, RS_KEYS("num_ln_in_parallel_attn"), 1, 2) == 1 ? RS_NORMS_SHARED : RS_NORMS_PARALLEL;
  bool before = (row->parallel.key != NULL && !rs_hf_says(file, row->parallel)) || rs_hf_says(file, row->norms_before);
  return before ? RS_NORMS_BEFORE : row->order;
}

static void place_norms(rs_norm_order order, const rs_norm *norm, rs_block *block) {
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
  place_norms(read_order(file), norm, &block);
  return block;
}

/* ---- the shape --------------------------------------------------------------------------------------------------- */

/* transformers 5 ties all T5s, and says with scale_decoder_outputs which of them 4 tied. */
static bool is_tied(const rs_hf_file *file) {
  const rs_architecture *row = file->row;
  const rs_node *scaled = rs_node_get(file->root, "scale_decoder_outputs");
  if (row->own_output) return false;
  if (row->narrowed && rs_hf_present(scaled)) return rs_hf_true(file->root, scaled->key, true);
  return rs_hf_true(file->root, "tie_word_embeddings", rs_hf_true(file->top, "tie_word_embeddings", row->tied));
}

static const char *const layer_keys[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL};

/* What multiplies embeddings, what blocks add, and logits. */
static void read_scales(rs_hf_file *file) {
  static const char *const scales[] = {"logit_scale", NULL};
  const rs_architecture *row = file->row;
  rs_shape *shape = &file->out->shape;
  double width = (double)shape->width;
  bool widened = row->widened && rs_hf_true(file->root, "scale_embedding", true);
  shape->embedding_scale = widened ? sqrt(width) : 1;
  shape->output_scale = row->output_scale > 0 ? rs_hf_real(file, scales, 1e-30, row->output_scale) : 1;
  file->out->added_scale = 1;
  if (row->scales == RS_SCALES_NONE) return;
  shape->embedding_scale = rs_hf_real(file, RS_KEYS("embedding_multiplier", "scale_emb"), 1e-30, 1);
  file->out->added_scale = rs_hf_real(file, RS_KEYS("residual_multiplier", "scale_depth"), 1e-30, 1);
  if (row->scales == RS_SCALES_GRANITE) {
    shape->output_scale = 1 / rs_hf_real(file, RS_KEYS("logits_scaling"), 1e-30, 1);
  } else {
    file->out->added_scale /= sqrt((double)rs_hf_needed(file, layer_keys));
    shape->output_scale = rs_hf_real(file, RS_KEYS("dim_model_base"), 1e-30, 1) / width;
  }
}

/* Whether a decoder was saved without what makes logits, as its class's name says. */
static bool lacks_output(const rs_hf_file *file) {
  static const char end[] = "Model", head[] = "HeadModel";
  const char *name = rs_hf_class(file->top);
  size_t length = strlen(name);
  return file->row->form == RS_DECODER && length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0 &&
         strstr(name, head) == NULL;
}

/* How many classes a file has names for; transformers: 2 where it says nothing. */
static size_t count_labels(rs_hf_file *file) {
  const rs_node *names = rs_node_get(file->root, "id2label");
  if (rs_hf_present(names) && names->kind == RS_MAPPING && names->count > 0) return names->count;
  return rs_hf_count(file, RS_KEYS("num_labels"), 1, 2);
}

/* Classes of pictures, as the class's name says, and whether a teacher's head says them, too. */
static void read_labels(rs_hf_file *file) {
  const char *name = rs_hf_class(file->top);
  rs_shape *shape = &file->out->shape;
  shape->distillation_token = file->row->distilled;
  if (!file->row->classifies || strstr(name, "ForImageClassification") == NULL) return;
  shape->classes = count_labels(file);
  shape->output_bias = true;
  if (shape->distillation_token && strstr(name, "WithTeacher") != NULL) shape->prediction = RS_PREDICTS_LOGITS;
}

/* Padding of such models takes the first rows of the table of positions. */
static void read_padding(rs_hf_file *file) {
  rs_model *geometry = &file->out->geometry;
  rs_shape *shape = &file->out->shape;
  size_t token = rs_hf_count(file, RS_KEYS("pad_token_id"), 0, 1);
  if (!file->row->padded) return;
  if (geometry->train_length <= token + 1 || token > INT32_MAX) {
    rs_hf_missing(file, "max_position_embeddings beyond pad_token_id + 1");
    return;
  }
  shape->leaves_padding = true;
  shape->padding = (int32_t)token;
  geometry->train_length -= token + 1;
  geometry->max_length = geometry->train_length;
}

/* Embeddings of another width, and layers that share their weights. */
static void read_sharing(rs_hf_file *file) {
  static const char *const inner[] = {"inner_group_num", NULL};
  const rs_architecture *row = file->row;
  rs_hf_checkpoint *out = file->out;
  size_t width = row->embedding_size > 0 ? rs_hf_count(file, RS_KEYS("embedding_size"), 1, row->embedding_size) : 0;
  bool apart = row->embedding_size > 0 && (width != out->shape.width || row->projected);
  if (apart) out->shape.embedding_width = out->geometry.width = width;
  if (row->layer_part == NULL) return;
  out->layer_groups = rs_hf_count(file, RS_KEYS("num_hidden_groups"), 1, 1);
  const rs_node *node = rs_node_get(file->root, inner[0]);
  if (rs_hf_count(file, inner, 1, 1) != 1) rs_problem(&file->problems, node, "is read where it is 1 alone");
}

static void read_sizes(rs_hf_file *file) {
  const rs_architecture *row = file->row;
  rs_shape *shape = &file->out->shape;
  shape->form = row->form;
  shape->width = rs_hf_needed(file, RS_KEYS("hidden_size", "n_embd", "d_model", "n_embed", "dim"));
  shape->vocabulary = row->form == RS_VISION ? 0 : rs_hf_needed(file, RS_KEYS("vocab_size"));
  bool states = row->headless || lacks_output(file);
  shape->classes = states ? 0 : shape->vocabulary;
  shape->token_types = rs_hf_count(file, RS_KEYS("type_vocab_size"), 0, 0);
  shape->tied = !states && is_tied(file);
  bool biased = row->class_bias || (row->class_biased != NULL && rs_hf_true(file->root, row->class_biased, false));
  shape->output_bias = biased && !shape->tied && !states;
  read_labels(file);
  read_scales(file);
  if (row->narrowed && shape->tied) shape->output_scale = 1 / sqrt((double)shape->width);
  shape->output_cap = read_cap(file, "final_logit_softcapping", row->output_cap);
  read_padding(file);
  read_sharing(file);
}

/* Square images of square patches, behind a class token and one of distillation. */
static rs_status read_images(rs_hf_file *file, rs_err *err) {
  static const char *const channels[] = {"num_channels", NULL};
  rs_hf_checkpoint *out = file->out;
  size_t side = rs_hf_needed(file, RS_KEYS("image_size")), patch = rs_hf_needed(file, RS_KEYS("patch_size"));
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
  RS_TRY(rs_task_layout(&grid, rs_shape_lead(&out->shape), &out->tokens, &out->geometry.train_length, err));
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

static rs_status read_stacks(rs_hf_file *file, rs_err *err) {
  rs_shape *shape = &file->out->shape;
  rs_norm norm = read_norm(file);
  size_t count = rs_hf_needed(file, layer_keys),
         decoder_count = rs_hf_count(file, RS_KEYS("num_decoder_layers"), 1, count);
  rs_block block = read_block(file, &norm);
  if (file->problems.count > 0) return RS_OK;
  if (file->row->embedding_norm) shape->embedding_norm = norm;
  if (shape->form == RS_ENCODER_DECODER) {
    RS_TRY(fill_stack(file, &block, count, &norm, &shape->encoder, err));
    block.cross = true;
    block.before_cross = norm;
  }
  RS_TRY(fill_stack(file, &block, decoder_count, &norm, &shape->decoder, err));
  rs_hf_place_experts(file, &shape->decoder);
  if (file->row->first_unnormed) shape->decoder.blocks[0].before_attention = (rs_norm){0};
  return file->problems.count == 0 ? rs_hf_read_layers(file, err) : RS_OK;
}

static rs_status read_shape(rs_hf_file *file, rs_err *err) {
  read_sizes(file);
  if (file->out->shape.form == RS_VISION) RS_TRY(read_images(file, err));
  RS_TRY(read_stacks(file, err));
  if (file->problems.count == 0) return rs_shape_check(&file->out->shape, err);
  return file->problems.memory ? rs_fail(err, RS_MEMORY, "%s: out of memory", file->root->file)
                               : rs_fail(err, RS_INPUT, "%s", rs_text_string(&file->problems.text));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* A file that says no length, as BLOOM's: what is made for the trained length has to have one. */
static void settle_length(rs_model *geometry) {
  enum { USUAL = 2048 };
  if (geometry->train_length == 0) geometry->train_length = geometry->max_length = USUAL;
}

/* The geometry of the layers that are meant where none are named. */
static rs_status read_geometry(rs_hf_file *file, rs_err *err) {
  rs_model *geometry = &file->out->geometry;
  RS_TRY(rs_hf_profile(file->top, &file->profile, err));
  const rs_model *chosen = &file->profile.kinds[file->profile.chosen].model;
  RS_TRY(rs_model_copy(geometry, chosen, err));
  settle_length(geometry);
  return RS_OK;
}

/* The tree is as before afterwards. */
static rs_status read_tree(rs_node *root, rs_hf_checkpoint *out, rs_err *err) {
  const rs_node *text = rs_hf_text_config(root);
  rs_hf_file file = {.top = root, .root = text, .problems = {.top = text}, .out = out};
  RS_TRY(rs_hf_find_row(&file, err));
  RS_TRY(refuse_unsupported(&file, err));
  out->architecture = file.row;
  rs_status status = read_geometry(&file, err);
  if (status == RS_OK) status = read_shape(&file, err);
  if (status == RS_OK) status = rs_hf_doubt(root, &file.profile, err);
  out->doubt = file.profile.doubt;
  file.profile.doubt = NULL;
  rs_profile_clear(&file.profile);
  rs_problems_clear(&file.problems);
  return status;
}

rs_status rs_hf_checkpoint_read(const char *folder, rs_hf_checkpoint *checkpoint, rs_err *err) {
  rs_tree *tree = NULL;
  bool gguf = rs_hf_is_gguf(folder);
  char *text = NULL, *path = gguf ? rs_strdup(folder, err) : rs_path_join(folder, "config.json", err);
  size_t length;
  *checkpoint = (rs_hf_checkpoint){0};
  rs_status status = path != NULL ? rs_hf_config_load(path, &text, &length, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_hf_tree(text, length, path, &tree, err);
  free(text);
  free(path);
  RS_TRY(status);
  const rs_node *architecture = rs_node_get(rs_node_get(&tree->root, RS_GGUF_MARK), "architecture");
  if (gguf) checkpoint->gguf = rs_gguf_row_of(rs_hf_word(architecture));
  status = read_tree(&tree->root, checkpoint, err);
  if (status != RS_OK) rs_hf_checkpoint_clear(checkpoint);
  rs_tree_free(tree);
  return status;
}

void rs_hf_checkpoint_clear(rs_hf_checkpoint *checkpoint) {
  for (size_t i = 0; i < checkpoint->recipe_count; i++) rs_recipe_clear(&checkpoint->recipes[i]);
  free(checkpoint->recipes);
  free(checkpoint->doubt);
  rs_shape_clear(&checkpoint->shape);
  rs_model_clear(&checkpoint->geometry);
  rs_token_layout_clear(&checkpoint->tokens);
  *checkpoint = (rs_hf_checkpoint){0};
}
