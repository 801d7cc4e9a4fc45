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

/* A letter a layer: its recipe, 'a' the published one, 'n' none that turns; large where it sees a window. */
static void layers_of(const rs_hf_checkpoint *checkpoint, char *out) {
  for (size_t i = 0; i < checkpoint->shape.decoder.count; i++) {
    const rs_block *block = &checkpoint->shape.decoder.blocks[i];
    bool bare = strcmp(checkpoint->recipes[block->recipe].method->name, "nope") == 0;
    char letter = bare ? 'n' : (char)('a' + block->recipe);
    *out++ = block->mask.kind == RS_WINDOW ? (char)(letter - 'a' + 'A') : letter;
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
      cr_expect(mask->kind != RS_WINDOW || mask->window == cases[i].window, "%s: %zu", cases[i].text, mask->window);
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
