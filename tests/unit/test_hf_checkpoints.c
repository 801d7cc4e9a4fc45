/* Checkpoints in Hugging Face's layout: what config.json says of each layer, and files that do not fit. (Their logits
 * are compared in tests/golden.) */
#include "../fixtures/scratch.h"
#include "golden.h"
#include "ropescope/config.h"

#include <unistd.h>

#define SIZES                                                                                                          \
  "\"hidden_size\": 8, \"num_attention_heads\": 2, \"vocab_size\": 5, \"max_position_embeddings\": 64, "               \
  "\"intermediate_size\": 12, "

static void put_config(const char *text) {
  cr_assert_eq(rs_file_write("config.json", text, strlen(text), NULL), RS_OK);
}

static rs_hf_checkpoint read_config(const char *text) {
  rs_hf_checkpoint checkpoint;
  rs_err err = {0};
  put_config(text);
  cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), RS_OK, "%s: %s", text, err.message);
  return checkpoint;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* A letter a layer: its recipe, 'a' the published one, 'n' none that turns; large where it sees a window or chunk. */
static void layers_of(const rs_hf_checkpoint *checkpoint, char *out) {
  for (size_t i = 0; i < checkpoint->shape.decoder.count; i++) {
    const rs_block *block = &checkpoint->shape.decoder.blocks[i];
    bool bare = strcmp(checkpoint->recipes[block->recipe].method->name, "nope") == 0;
    char letter = bare ? 'n' : (char)('a' + block->recipe);
    *out++ = block->mask.kind != RS_CAUSAL ? (char)(letter - 'a' + 'A') : letter;
  }
  *out = '\0';
}

Test(hf_checkpoints, layers__windows_and_recipes_as_transformers_has_them) {
  static const struct {
    const char *text, *layers;
    size_t window; /* of the windowed layers */
  } cases[] = {
      {"\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"sliding_window\": 7", "aa", 0},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2, \"sliding_window\": 7", "AA", 7},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2", "AA", 4096},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2, \"sliding_window\": null", "aa", 0},
      {"\"model_type\": \"qwen2\", \"num_hidden_layers\": 3, \"sliding_window\": 7", "aaa", 0},
      {"\"model_type\": \"qwen2\", \"num_hidden_layers\": 3, \"sliding_window\": 7, \"use_sliding_window\": true, "
       "\"max_window_layers\": 2",
       "aaA", 7},
      {"\"model_type\": \"gemma2\", \"num_hidden_layers\": 4, \"sliding_window\": 7", "AaAa", 7},
      {"\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 7, \"rope_local_base_freq\": 10000", "BBBBBaB", 4096},
      {"\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 3, \"sliding_window_pattern\": 2, "
       "\"rope_local_base_freq\": 10000",
       "BaB", 4096},
      {"\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 2, \"sliding_window\": 9, \"layer_types\": "
       "[\"full_attention\", \"sliding_attention\"], \"rope_parameters\": {\"full_attention\": {\"rope_type\": "
       "\"default\", \"rope_theta\": 1e6}, \"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1e4}}",
       "aB", 9},
      {"\"model_type\": \"cohere2\", \"num_hidden_layers\": 4, \"sliding_window\": 7", "AAAn", 7},
      {"\"model_type\": \"smollm3\", \"num_hidden_layers\": 5", "aaana", 0},
      {"\"model_type\": \"llama4_text\", \"num_hidden_layers\": 5, \"intermediate_size_mlp\": 8", "AAAnA", 8192},
      {"\"model_type\": \"llama4_text\", \"num_hidden_layers\": 2, \"attention_chunk_size\": 5, \"no_rope_layers\": "
       "[0, 1], \"layer_types\": [\"chunked_attention\", \"full_attention\"]",
       "Na", 5},
      {"\"model_type\": \"smollm3\", \"num_hidden_layers\": 3, \"no_rope_layer_interval\": 2", "ana", 0},
      {"\"model_type\": \"smollm3\", \"num_hidden_layers\": 3, \"no_rope_layers\": [0, 1, 0]", "nan", 0},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[1024], layers[16];
    snprintf(text, sizeof text, "{" SIZES "%s}", cases[i].text);
    rs_hf_checkpoint checkpoint = read_config(text);
    layers_of(&checkpoint, layers);
    cr_expect_str_eq(layers, cases[i].layers, "%s: %s", cases[i].text, layers);
    for (size_t k = 0; k < checkpoint.shape.decoder.count; k++) {
      const rs_mask *mask = &checkpoint.shape.decoder.blocks[k].mask;
      cr_expect(mask->kind == RS_CAUSAL || mask->window == cases[i].window, "%s: %zu", cases[i].text, mask->window);
    }
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* The base of the windowed layers is theirs alone, and what scales the others does not touch them. */
Test(hf_checkpoints, local_base__of_the_windowed_layers_alone) {
  enter_scratch();
  rs_hf_checkpoint checkpoint =
      read_config("{" SIZES "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 2, \"sliding_window_pattern\": 2, "
                  "\"rope_theta\": 1e6, \"rope_local_base_freq\": 5000, \"rope_scaling\": {\"rope_type\": \"linear\", "
                  "\"factor\": 8}}");
  const rs_recipe *local = &checkpoint.recipes[checkpoint.shape.decoder.blocks[0].recipe];
  const rs_recipe *global = &checkpoint.recipes[checkpoint.shape.decoder.blocks[1].recipe];
  cr_expect_str_eq(local->method->name, "rope");
  cr_expect_eq(rs_setting(&local->settings, "rope_theta")->number, 5000);
  cr_expect_str_eq(global->method->name, "pi");
  cr_expect_eq(rs_setting(&global->settings, "factor")->number, 8);
  cr_expect_eq(checkpoint.geometry.rope_theta, 1e6);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* Llama 4: layers that do not turn have a temperature, and no norms of q and k. */
Test(hf_checkpoints, bare_layers_of_llama4__temperature_and_no_norms) {
  enter_scratch();
  rs_hf_checkpoint checkpoint =
      read_config("{" SIZES "\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, \"attn_scale\": 0.3, "
                  "\"floor_scale\": 16, \"num_local_experts\": 4, \"moe_layers\": []}");
  const rs_block *turning = &checkpoint.shape.decoder.blocks[2], *bare = &checkpoint.shape.decoder.blocks[3];
  const rs_settings *settings = &checkpoint.recipes[bare->recipe].settings;
  cr_expect_eq(turning->attention.qk_norm.kind, RS_NORM_L2);
  cr_expect_eq(bare->attention.qk_norm.kind, RS_NORM_NONE);
  cr_expect_eq(rs_setting(settings, "logit_scale_factor")->number, 0.3);
  cr_expect_eq(rs_setting(settings, "logit_scale_length")->number, 16);
  cr_expect(!rs_setting(&checkpoint.recipes[turning->recipe].settings, "logit_scale_factor")->set);
  rs_hf_checkpoint_clear(&checkpoint);
  checkpoint = read_config("{" SIZES "\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, "
                           "\"attn_temperature_tuning\": false}");
  settings = &checkpoint.recipes[checkpoint.shape.decoder.blocks[3].recipe].settings;
  cr_expect(!rs_setting(settings, "logit_scale_factor")->set);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* DeepSeek-V3: experts behind the first layers, heads whose turned part is one for all. */
Test(hf_checkpoints, deepseek_v3__experts_behind_the_first_layers) {
  enter_scratch();
  rs_hf_checkpoint checkpoint = read_config(
      "{" SIZES "\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 3, \"first_k_dense_replace\": 1, "
      "\"kv_lora_rank\": 4, \"q_lora_rank\": null, \"qk_nope_head_dim\": 4, \"qk_rope_head_dim\": 2, \"v_head_dim\": "
      "5, "
      "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 6, \"n_shared_experts\": 2, "
      "\"n_group\": 4, \"topk_group\": 2, \"routed_scaling_factor\": 1.5, \"rms_norm_eps\": 1e-5}");
  const rs_block *dense = &checkpoint.shape.decoder.blocks[0], *mixed = &checkpoint.shape.decoder.blocks[1];
  const rs_experts *experts = &mixed->feed_forward.experts;
  const rs_latent *latent = &dense->attention.latent;
  cr_expect(dense->feed_forward.experts.count == 0 && dense->feed_forward.width == 12);
  cr_expect(mixed->feed_forward.width == 6 && experts->count == 8 && experts->used == 2 && experts->shared == 12);
  cr_expect(experts->groups == 4 && experts->groups_used == 2 && experts->scale == 1.5 && experts->normed);
  cr_expect(latent->kv_rank == 4 && latent->q_rank == 0 && latent->turned == 2 && latent->value_dim == 5);
  cr_expect(latent->norm.epsilon == 1e-6 && dense->before_attention.epsilon == 1e-5);
  cr_expect_eq(dense->attention.head_dim, 6);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* T5: buckets of both directions in the encoder, of one in the decoder; logits are narrowed where they are tied. */
Test(hf_checkpoints, t5__two_stacks_with_a_recipe_each) {
  enter_scratch();
  for (size_t tied = 0; tied < 2; tied++) {
    char text[512];
    snprintf(text, sizeof text,
             "{" SIZES "\"model_type\": \"t5\", \"d_kv\": 6, \"num_layers\": 3, \"num_decoder_layers\": 2, "
             "\"relative_attention_num_buckets\": 8, \"tie_word_embeddings\": %s}",
             tied ? "true" : "false");
    rs_hf_checkpoint checkpoint = read_config(text);
    const rs_shape *shape = &checkpoint.shape;
    const rs_block *encoder = &shape->encoder.blocks[0], *decoder = &shape->decoder.blocks[0];
    cr_assert(shape->encoder.count == 3 && shape->decoder.count == 2);
    cr_expect(!encoder->cross && decoder->cross && encoder->mask.kind == RS_BIDIRECTIONAL &&
              decoder->mask.kind == RS_CAUSAL && decoder->attention.head_dim == 6 &&
              decoder->attention.score_scale == 1);
    const rs_settings *both = &checkpoint.recipes[encoder->recipe].settings;
    const rs_settings *one = &checkpoint.recipes[decoder->recipe].settings;
    cr_expect(rs_setting(both, "bidirectional")->number == 1 && rs_setting(one, "bidirectional")->number == 0);
    cr_expect(rs_setting(both, "num_buckets")->number == 8 && rs_setting(one, "num_buckets")->number == 8);
    cr_expect_eq(shape->output_scale, tied ? 1 / sqrt(8) : 1);
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
}

Test(hf_checkpoints, vit__images_of_patches_behind_a_class_token) {
  enter_scratch();
  rs_hf_checkpoint checkpoint =
      read_config("{" SIZES "\"model_type\": \"vit\", \"num_hidden_layers\": 1, \"image_size\": 14, "
                  "\"patch_size\": 4, \"num_channels\": 2}");
  cr_expect(checkpoint.patch_side == 4 && checkpoint.channels == 2 && checkpoint.shape.patch_numbers == 32);
  cr_expect(checkpoint.geometry.train_length == 10 && checkpoint.shape.classes == 0 && checkpoint.tokens.count == 2);
  cr_expect(checkpoint.tokens.runs[1].rows == 3 && checkpoint.tokens.runs[1].columns == 3);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* ---- configs that do not fit ------------------------------------------------------------------------------------- */

Test(hf_checkpoints, configs_that_are_not_computed__say_why) {
  static const struct {
    const char *text, *said;
    rs_status status;
  } cases[] = {
      {"{" SIZES "\"model_type\": \"lama\"}",
       "./config.json: model_type: lama is no architecture that is known here (did you mean llama?)", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"perceiver\"}",
       "./config.json: model_type: perceiver is no architecture that is known here (ropescope list architectures shows "
       "them)",
       RS_UNSUPPORTED},
      {"{" SIZES "\"num_hidden_layers\": 1}",
       "./config.json: model_type is missing: it says which architecture this is", RS_INPUT},
      {"{" SIZES "\"model_type\": \"llama\"}", "./config.json: num_hidden_layers is missing: a llama needs it",
       RS_INPUT},
      {"{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"num_attention_heads\": 2}",
       "./config.json: vocab_size is missing: a llama needs it\n"
       "./config.json: intermediate_size is missing: a llama needs it",
       RS_INPUT},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"quantization_config\": {\"bits\": 4}}",
       "./config.json: quantization_config: changes what a llama computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama4_text\", \"num_hidden_layers\": 1, \"num_local_experts\": 4, "
       "\"moe_layers\": [0]}",
       "./config.json: num_local_experts: changes what a llama4_text computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"phi\", \"num_hidden_layers\": 1, \"qk_layernorm\": true}",
       "./config.json: qk_layernorm: changes what a phi computes in a way that is not offered here", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"opt\", \"num_hidden_layers\": 1, \"do_layer_norm_before\": false}",
       "./config.json: do_layer_norm_before: changes what a opt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"mpt\", \"n_layers\": 1, \"attn_config\": {\"qk_ln\": true, \"alibi\": true}}",
       "./config.json: attn_config.qk_ln: changes what a mpt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_act\": \"mish\"}",
       "./config.json: hidden_act = \"mish\": is no activation that is known here (gelu, gelu_new, gelu_pytorch_tanh, "
       "relu, silu)",
       RS_INPUT},
      {"{" SIZES "\"model_type\": \"qwen2\", \"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\"]}",
       "./config.json: layer_types = [...]: must have an entry for each of the 2 layers", RS_INPUT},
      {"{" SIZES "\"model_type\": \"qwen2\", \"num_hidden_layers\": 1, \"layer_types\": [\"linear_attention\"]}",
       "./config.json: layer_types[0] = \"linear_attention\": is no type of layers that is known here", RS_INPUT},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"num_key_value_heads\": 3}",
       "2 heads cannot share 3 heads of keys: must be a multiple", RS_INPUT},
      {"{" SIZES "\"model_type\": \"vit\", \"num_hidden_layers\": 1, \"image_size\": 8, \"patch_size\": 16}",
       "./config.json: patch_size 16 of image_size 8: at most 1024, and no larger than the image", RS_INPUT},
      {"{" SIZES "\"model_type\": \"bert\", \"num_hidden_layers\": 1, \"position_embedding_type\": \"relative_key\"}",
       "./config.json: position_embedding_type: changes what a bert computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"bert\", \"num_hidden_layers\": 1, \"position_embedding_type\": []}",
       "./config.json: position_embedding_type: changes what a bert computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES
       "\"model_type\": \"mpt\", \"n_layers\": 1, \"attn_config\": {\"softmax_scale\": 0.5, \"alibi\": true}}",
       "./config.json: attn_config.softmax_scale: changes what a mpt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"t5\", \"num_layers\": 1, \"is_gated_act\": true}",
       "./config.json: is_gated_act: changes what a t5 computes in a way that is not offered here", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": -1}",
       "./config.json: num_hidden_layers = -1: must be from 1 to 16777216", RS_INPUT},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_hf_checkpoint checkpoint;
    rs_err err = {0};
    put_config(cases[i].text);
    cr_expect_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), cases[i].status, "%s", cases[i].text);
    cr_expect_str_eq(err.message, cases[i].said);
    cr_expect(checkpoint.recipes == NULL && checkpoint.shape.decoder.blocks == NULL);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* ---- weights that do not fit ------------------------------------------------------------------------------------- */

static char *model_text(const char *file) {
  char path[4096], *text;
  size_t length;
  snprintf(path, sizeof path, "%s/golden/models/%s", getenv("ROPESCOPE_TESTS"), file);
  cr_assert_eq(rs_file_read(path, 1 << 20, &text, &length, NULL), RS_OK);
  return text;
}

/* The golden Llama's config with one word in the place of another. */
static void put_edited(const char *from, const char *to) {
  char *config = model_text("llama_small/config.json"), *found = strstr(config, from);
  rs_text text = {0};
  cr_assert_not_null(found, "%s", from);
  rs_text_add(&text, config, (size_t)(found - config));
  rs_text_printf(&text, "%s%s", to, found + strlen(from));
  put_config(rs_text_string(&text));
  rs_text_clear(&text);
  free(config);
}

static void lead_to_weights(const char *model) {
  char path[4096];
  snprintf(path, sizeof path, "%s/golden/models/%s/model.safetensors", getenv("ROPESCOPE_TESTS"), model);
  cr_assert_eq(symlink(path, "model.safetensors"), 0);
}

static rs_status load(rs_transformer **transformer, rs_err *err) {
  rs_hf_checkpoint checkpoint;
  cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, err), RS_OK, "%s", err->message);
  rs_status status = rs_hf_checkpoint_load(&checkpoint, ".", RS_F64, transformer, err);
  rs_hf_checkpoint_clear(&checkpoint);
  return status;
}

Test(hf_checkpoints, weights_that_do_not_fit__name_the_tensor) {
  static const struct {
    const char *from, *to, *said;
  } cases[] = {
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3",
       "./model.safetensors: holds no tensor \"model.layers.2.input_layernorm.weight\""},
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1",
       "./model.safetensors: tensor \"model.layers.1.input_layernorm.weight\": a llama as config.json has it does not "
       "read it"},
      {"\"intermediate_size\": 40", "\"intermediate_size\": 41",
       "./model.safetensors: tensor \"model.layers.0.mlp.gate_proj.weight\": has shape (40, 32), wanted is (41, 32)"},
      {"\"attention_bias\": false", "\"attention_bias\": true",
       "./model.safetensors: holds no tensor \"model.layers.0.self_attn.q_proj.bias\""},
  };
  enter_scratch();
  lead_to_weights("llama_small");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_transformer *transformer;
    rs_err err = {0};
    put_edited(cases[i].from, cases[i].to);
    cr_expect_eq(load(&transformer, &err), RS_INPUT);
    cr_expect(strncmp(err.message, cases[i].said, strlen(cases[i].said)) == 0, "%s", err.message);
    cr_expect_null(transformer);
  }
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
}

Test(hf_checkpoints, no_weights__says_what_is_looked_for) {
  rs_transformer *transformer;
  rs_err err = {0};
  enter_scratch();
  put_edited("2", "2");
  cr_expect_eq(load(&transformer, &err), RS_IO);
  cr_expect_str_eq(err.message, ".: has neither model.safetensors nor model.safetensors.index.json (other formats of "
                                "weights are not read)");
  leaves((const char *[]){"config.json"}, 1);
}

/* Old files of GPT-2 lack the front of the names, and hold the causal mask and the output, which is the embeddings'. */
Test(hf_checkpoints, gpt2_of_the_hub__other_names_same_weights) {
  enum { MOST = 64 };
  static char names[MOST][64];
  static const size_t mask_shape[] = {1, 1, 2, 2};
  static const float mask[4] = {1, 0, 1, 1};
  rs_tensor_numbers tensors[MOST];
  rs_safetensors *theirs;
  rs_transformer *plain, *renamed;
  rs_err err = {0};
  enter_scratch();
  char *config = model_text("gpt2/config.json");
  put_config(config);
  free(config);
  lead_to_weights("gpt2");
  cr_assert_eq(load(&plain, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_safetensors_map("model.safetensors", &theirs, &err), RS_OK, "%s", err.message);
  size_t count = theirs->count;
  for (size_t i = 0; i < count; i++) {
    const rs_stored_tensor *tensor = &theirs->tensors[i];
    float *floats = malloc(tensor->count * sizeof *floats);
    cr_assert_eq(rs_stored_floats(tensor, 0, tensor->count, floats, &err), RS_OK);
    snprintf(names[i], sizeof names[i], "%s", tensor->name + strlen("transformer."));
    tensors[i] = (rs_tensor_numbers){names[i], RS_DTYPE_F32, tensor->rank, tensor->shape, floats, NULL};
  }
  tensors[count] = (rs_tensor_numbers){"h.0.attn.bias", RS_DTYPE_F32, 4, mask_shape, mask, NULL};
  tensors[count + 1] = (rs_tensor_numbers){"lm_head.weight", RS_DTYPE_F32, 2, mask_shape + 2, mask, NULL};
  unlink("model.safetensors");
  cr_assert_eq(rs_safetensors_write("model.safetensors", tensors, count + 2, &err), RS_OK, "%s", err.message);
  cr_assert_eq(load(&renamed, &err), RS_OK, "%s", err.message);
  cr_expect_arr_eq(renamed->values, plain->values, plain->size * sizeof(double));
  for (size_t i = 0; i < count; i++) free((void *)tensors[i].floats);
  rs_safetensors_free(theirs);
  rs_transformer_free(plain);
  rs_transformer_free(renamed);
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
}
