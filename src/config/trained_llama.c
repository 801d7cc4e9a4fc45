/* Whether LlamaForCausalLM of Hugging Face computes what a model computes, and the config that makes it do so. Blocks
 * are compared with what modeling_llama.py does; a recipe is written as rope_scaling, read back, and its tables are
 * compared, so that no parameter can slip through. */
#include "checkpoints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool is_llama_norm(const rs_norm *norm, double epsilon) {
  return norm->kind == RS_NORM_RMS && !norm->around_one && norm->epsilon == epsilon;
}

static bool is_llama_attention(const rs_head_shape *heads) {
  bool scaled = heads->score_scale == 0 || heads->score_scale == 1 / sqrt((double)heads->head_dim);
  return heads->qkv_bias == heads->output_bias && heads->qk_norm.kind == RS_NORM_NONE && scaled &&
         heads->soft_cap == 0 && !heads->sinks;
}

static bool is_llama_block(const rs_block *block, double epsilon) {
  return is_llama_norm(&block->before_attention, epsilon) && is_llama_norm(&block->before_feed_forward, epsilon) &&
         block->after_attention.kind == RS_NORM_NONE && block->after_feed_forward.kind == RS_NORM_NONE &&
         !block->parallel && !block->cross && is_llama_attention(&block->attention) && block->feed_forward.gated &&
         block->feed_forward.activation == RS_SILU && block->mask.kind == RS_CAUSAL;
}

static bool is_like_first(const rs_block *block, const rs_block *first) {
  const rs_head_shape *a = &block->attention, *b = &first->attention;
  return a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
         a->qkv_bias == b->qkv_bias && block->feed_forward.width == first->feed_forward.width &&
         block->feed_forward.bias == first->feed_forward.bias;
}

static bool is_llama_shape(const rs_shape *shape) {
  double epsilon = shape->decoder.final_norm.epsilon;
  bool llama = shape->form == RS_DECODER && shape->classes == shape->vocabulary && shape->embedding_scale == 1 &&
               shape->embedding_norm.kind == RS_NORM_NONE && !shape->output_bias && shape->output_scale == 1 &&
               shape->output_cap == 0 && is_llama_norm(&shape->decoder.final_norm, epsilon);
  for (size_t i = 0; i < shape->decoder.count && llama; i++)
    llama = is_llama_block(&shape->decoder.blocks[i], epsilon) &&
            is_like_first(&shape->decoder.blocks[i], &shape->decoder.blocks[0]);
  return llama;
}

/* ---- the recipe -------------------------------------------------------------------------------------------------- */

/* The rope type of a method that Llama knows, or NULL. (LongRoPE, too, but where its original length stands differs by
 * release.) */
static const rs_hf_rope_type *rope_type_of(const rs_recipe *recipe) {
  static const char *const known[] = {"default", "linear", "dynamic", "yarn", "llama3"};
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    for (size_t k = 0; k < RS_COUNT(known); k++)
      if (strcmp(rs_hf_rope_types[t].method, recipe->method->name) == 0 &&
          strcmp(rs_hf_rope_types[t].type, known[k]) == 0)
        return &rs_hf_rope_types[t];
  return NULL;
}

/* The factor, given as such or as a scale; NaN: there is none. */
static double factor_of(const rs_recipe *recipe) {
  const rs_value *factor = rs_setting(&recipe->settings, "factor"), *scale = rs_setting(&recipe->settings, "scale");
  if (factor->set && factor->choice < 0) return factor->number;
  return scale->set && scale->choice < 0 ? scale->number : NAN;
}

/* Whether max_position_embeddings is what the model was extended to, and not what it was trained at. */
static bool is_extended(const rs_hf_rope_type *type) {
  return strcmp(type->type, "yarn") == 0 || strcmp(type->type, "llama3") == 0;
}

static void write_param(rs_json *json, const rs_hf_key *key, const rs_recipe *recipe) {
  const rs_value *value = rs_setting(&recipe->settings, key->param);
  bool factor = strcmp(key->param, "factor") == 0;
  if (factor ? isnan(factor_of(recipe)) : !value->set || value->choice >= 0 || value->list != NULL) return;
  const rs_param *param = recipe->settings.params[rs_settings_find(&recipe->settings, key->param)];
  if (!key->required && !factor && rs_value_usual(param, value)) return; /* transformers warns of keys it ignores */
  if (param->type == RS_BOOL)
    rs_json_bool(json, key->key, value->number != 0);
  else
    rs_json_number(json, key->key, factor ? factor_of(recipe) : value->number);
}

static void write_rope(rs_json *json, const rs_trained *trained, const rs_hf_rope_type *type) {
  rs_json_number(json, "rope_theta", trained->geometry.rope_theta);
  if (strcmp(type->type, "default") == 0) {
    rs_json_string(json, "rope_scaling", NULL);
    return;
  }
  rs_json_object(json, "rope_scaling");
  rs_json_string(json, "rope_type", type->type);
  for (const rs_hf_key *key = type->keys; key->key != NULL; key++) write_param(json, key, &trained->recipes[0]);
  if (is_extended(type))
    rs_json_number(json, "original_max_position_embeddings", (double)trained->geometry.train_length);
  rs_json_end(json);
}

/* ---- the config -------------------------------------------------------------------------------------------------- */

static void write_keys(rs_json *json, const rs_trained *trained, const rs_hf_rope_type *type) {
  const rs_shape *shape = &trained->shape;
  const rs_block *block = &shape->decoder.blocks[0];
  double factor = factor_of(&trained->recipes[0]), length = (double)trained->geometry.train_length;
  rs_json_list(json, "architectures");
  rs_json_string(json, NULL, "LlamaForCausalLM");
  rs_json_end(json);
  rs_json_string(json, "model_type", "llama");
  rs_json_number(json, "vocab_size", (double)shape->vocabulary);
  rs_json_number(json, "hidden_size", (double)shape->width);
  rs_json_number(json, "intermediate_size", (double)block->feed_forward.width);
  rs_json_number(json, "num_hidden_layers", (double)shape->decoder.count);
  rs_json_number(json, "num_attention_heads", (double)block->attention.heads);
  rs_json_number(json, "num_key_value_heads", (double)block->attention.kv_heads);
  rs_json_number(json, "head_dim", (double)block->attention.head_dim);
  rs_json_string(json, "hidden_act", "silu");
  rs_json_number(json, "rms_norm_eps", shape->decoder.final_norm.epsilon);
  rs_json_number(json, "max_position_embeddings",
                 is_extended(type) && factor >= 1 ? floor(length * factor + 0.5) : length);
  write_rope(json, trained, type);
  rs_json_bool(json, "tie_word_embeddings", shape->tied);
  rs_json_bool(json, "attention_bias", block->attention.qkv_bias);
  rs_json_bool(json, "mlp_bias", block->feed_forward.bias);
  rs_json_string(json, "bos_token_id", NULL); /* a task has no such tokens */
  rs_json_string(json, "eos_token_id", NULL);
  rs_json_string(json, "torch_dtype", trained->format == RS_F64 ? "float64" : "float32");
}

/* ---- what the config makes of positions -------------------------------------------------------------------------- */

static bool same_numbers(const double *a, const double *b, size_t count) {
  return memcmp(a, b, count * sizeof *a) == 0;
}

/* One view of one axis, all dims turned in halves, and nothing that is added or learned. */
static bool is_plain(const rs_encoding *e) {
  return e->views == 1 && e->axes == 1 && e->rotary_dim == e->head_dim && e->pair_layout == RS_HALF_SPLIT &&
         e->gain_q[0] == NULL && e->gain_k[0] == NULL && e->head_scale == NULL && e->axis_weight == NULL &&
         e->bias_table == NULL && e->embed_state == NULL;
}

static bool same_tables(const rs_encoding *a, const rs_encoding *b) {
  return is_plain(a) && is_plain(b) && a->amp == b->amp && same_numbers(a->omega, b->omega, a->rotary_dim / 2) &&
         same_numbers(a->pos_q[0], b->pos_q[0], a->length) && same_numbers(a->pos_k[0], b->pos_k[0], a->length) &&
         same_numbers(a->logit_scale, b->logit_scale, a->length);
}

static rs_status compare_at(const rs_trained *trained, const rs_recipe *recipe, const rs_model *model, size_t length,
                            bool *same, rs_err *err) {
  rs_encoding *mine = NULL, *theirs = NULL;
  rs_err why = {0};
  *same = rs_encoding_create(&trained->recipes[0], &trained->geometry, length, NULL, NULL, &mine, &why) == RS_OK &&
          rs_encoding_create(recipe, model, length, NULL, NULL, &theirs, &why) == RS_OK && same_tables(mine, theirs);
  rs_encoding_free(mine);
  rs_encoding_free(theirs);
  return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

/* Whether the config (length), as Hugging Face reads it, turns as the recipe does, within the trained length and beyond
 * it, where rules of scale differ. */
static rs_status turns_alike(const rs_trained *trained, const rs_text *config, bool *same, rs_err *err) {
  enum { LONGEST = 4096 };
  size_t trained_length = trained->geometry.train_length < LONGEST ? trained->geometry.train_length : LONGEST;
  const size_t lengths[] = {trained_length, 2 * trained_length, 5 * trained_length + 1};
  rs_model model;
  rs_recipe recipe = {0};
  rs_err why = {0};
  *same = rs_hf_model_read(rs_text_string(config), config->length, "config.json", &model, &why) == RS_OK &&
          rs_recipe_copy(&recipe, &model.published, &why) == RS_OK &&
          rs_recipe_resolve(&recipe, &model, &why) == RS_OK && rs_recipe_check(&recipe, &model, &why) == RS_OK &&
          model.heads == trained->geometry.heads && model.head_dim == trained->geometry.head_dim;
  rs_status status = why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
  for (size_t i = 0; i < RS_COUNT(lengths) && *same && status == RS_OK; i++)
    status = compare_at(trained, &recipe, &model, lengths[i], same, err);
  rs_recipe_clear(&recipe);
  rs_model_clear(&model);
  return status;
}

rs_status rs_trained_write_llama(const rs_trained *trained, rs_json *json, bool *llama, rs_err *err) {
  *llama = false;
  if (!is_llama_shape(&trained->shape) || trained->recipe_count != 1 || trained->tokens.count > 0) return RS_OK;
  const rs_hf_rope_type *type = rope_type_of(&trained->recipes[0]);
  if (type == NULL) return RS_OK;
  rs_text config = {0};
  rs_json scratch = {.text = &config};
  rs_json_object(&scratch, NULL);
  write_keys(&scratch, trained, type);
  rs_json_end(&scratch);
  rs_status status = rs_text_check(&config, err);
  if (status == RS_OK) status = turns_alike(trained, &config, llama, err);
  rs_text_clear(&config);
  if (status == RS_OK && *llama) write_keys(json, trained, type);
  return status;
}
