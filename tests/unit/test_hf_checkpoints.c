/* Checkpoints in Hugging Face's layout: what config.json says of all layers, and files that do not fit. (Their logits
 * are compared in tests/golden.) */
#include "../../src/run/costs.h"
#include "../fixtures/hf_config.h"
#include "../fixtures/models.h"
#include "../fixtures/places.h"
#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"
#include "config/config.h"
#include "golden.h"

#include <unistd.h>

/* A class without an output says last states; one with it that is called a model, too, does not. */
Test(hf_checkpoints, classes_without_an_output__say_last_states) {
  static const struct {
    const char *text;
    size_t classes;
  } cases[] = {{"[\"LlamaModel\"]", 0},
               {"[\"LlamaForCausalLM\"]", 5},
               {"[\"GPT2LMHeadModel\"]", 5},
               {"[\"LlamaModel\"], \"tie_word_embeddings\": true", 0},
               {"null", 5},
               {"[]", 5}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[512];
    snprintf(text, sizeof text, "{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"architectures\": %s}",
             cases[i].text);
    rs_hf_checkpoint checkpoint = read_config(text);
    cr_expect_eq(checkpoint.shape.classes, cases[i].classes, "%s", cases[i].text);
    rs_hf_checkpoint_clear(&checkpoint);
  }
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

/* Classes are those that have names, else as many as are said, else transformers' two; a class without them says
 * states. DeiT's second token is there in any case, its head with a teacher alone. */
Test(hf_checkpoints, classifiers_of_pictures__classes_and_tokens) {
  static const struct {
    const char *type, *text;
    size_t classes, lead;
    rs_prediction prediction;
  } cases[] = {
      {"vit", "\"architectures\": [\"ViTModel\"], \"num_labels\": 9", 0, 1, RS_PREDICTS_CLASS},
      {"vit", "\"architectures\": [\"ViTForImageClassification\"]", 2, 1, RS_PREDICTS_CLASS},
      {"vit", "\"architectures\": [\"ViTForImageClassification\"], \"num_labels\": 9", 9, 1, RS_PREDICTS_CLASS},
      {"vit",
       "\"architectures\": [\"ViTForImageClassification\"], \"id2label\": {\"0\": \"cat\", \"1\": \"dog\", \"2\": "
       "\"eel\"}, \"num_labels\": 9",
       3, 1, RS_PREDICTS_CLASS},
      {"dinov2", "\"architectures\": [\"Dinov2ForImageClassification\"]", 0, 1, RS_PREDICTS_CLASS},
      {"deit", "\"architectures\": null", 0, 2, RS_PREDICTS_CLASS},
      {"deit", "\"architectures\": [\"DeiTForImageClassification\"], \"num_labels\": 4", 4, 2, RS_PREDICTS_CLASS},
      {"deit", "\"architectures\": [\"DeiTForImageClassificationWithTeacher\"], \"num_labels\": 4", 4, 2,
       RS_PREDICTS_LOGITS}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[640];
    snprintf(text, sizeof text,
             "{" SIZES "\"model_type\": \"%s\", \"num_hidden_layers\": 1, \"image_size\": 12, \"patch_size\": 4, %s}",
             cases[i].type, cases[i].text);
    rs_hf_checkpoint checkpoint = read_config(text);
    const rs_shape *shape = &checkpoint.shape;
    cr_expect_eq(shape->classes, cases[i].classes, "%s: %zu", text, shape->classes);
    cr_expect(rs_shape_lead(shape) == cases[i].lead && shape->prediction == cases[i].prediction, "%s", text);
    cr_expect(shape->output_bias == (cases[i].classes > 0), "%s", text);
    cr_expect_eq(checkpoint.tokens.runs[0].tokens, cases[i].lead, "%s", text);
    cr_expect_eq(checkpoint.geometry.train_length, 9 + cases[i].lead, "%s", text);
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* Two pictures of 16 x 16, in patches of 4: a config of other sides has another table, one of other names a head that
 * is not there. */
Test(hf_checkpoints, deit__weights_that_do_not_fit__are_named) {
  static const struct {
    const char *model, *change, *said;
  } cases[] = {{"deit_teacher",
                "\"image_size\": 20, \"num_labels\": 7, \"architectures\": "
                "[\"DeiTForImageClassificationWithTeacher\"]",
                "tensor \"deit.embeddings.position_embeddings\": has 576 numbers, wanted are 27 x 32"},
               {"deit_teacher",
                "\"image_size\": 16, \"num_labels\": 6, \"architectures\": "
                "[\"DeiTForImageClassificationWithTeacher\"]",
                "tensor \"cls_classifier.weight\": has shape (7, 32), wanted is (6, 32)"},
               {"deit_classes",
                "\"image_size\": 16, \"architectures\": "
                "[\"DeiTForImageClassificationWithTeacher\"]",
                "holds no tensor \"distillation_classifier.weight\""}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    enter_scratch();
    char path[512], text[640];
    rs_hf_checkpoint checkpoint;
    rs_transformer *transformer = NULL;
    rs_err err = {0};
    snprintf(path, sizeof path, "%s/model.safetensors", model_path(cases[i].model));
    cr_assert_eq(symlink(path, "model.safetensors"), 0);
    snprintf(text, sizeof text,
             "{\"model_type\": \"deit\", \"hidden_size\": 32, \"num_attention_heads\": 4, \"num_hidden_layers\": 2, "
             "\"intermediate_size\": 64, \"patch_size\": 4, %s}",
             cases[i].change);
    cr_assert_eq(rs_file_write("config.json", text, strlen(text), &err), RS_OK);
    cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), RS_OK, "%s", err.message);
    cr_expect_eq(rs_hf_checkpoint_load(&checkpoint, ".", RS_F32, false, &transformer, &err), RS_INPUT);
    cr_expect(strstr(err.message, cases[i].said) != NULL, "%s", err.message);
    cr_expect_null(transformer);
    rs_hf_checkpoint_clear(&checkpoint);
    leaves((const char *[]){"config.json", "model.safetensors"}, 2);
  }
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
       "./config.json: quantization_config: the weights are quantized (no quant_method), and F64, F32, BF16 and F16 "
       "are "
       "read: take the unquantized checkpoint, or write one (transformers: model.dequantize(), save_pretrained)",
       RS_UNSUPPORTED},
      {"{\"quantization_config\": {\"quant_method\": \"fp8\"}, \"text_config\": {" SIZES
       "\"model_type\": \"mistral\", \"num_hidden_layers\": 1}}",
       "./config.json: quantization_config: the weights are quantized (fp8), and F64, F32, BF16 and F16 are "
       "read: take the unquantized checkpoint, or write one (transformers: model.dequantize(), save_pretrained)",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"clip_qkv\": 3}",
       "./config.json: clip_qkv: changes what a llama computes in a way that is not offered here", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"olmo\", \"num_hidden_layers\": 1, \"clip_qkv\": -3}",
       "./config.json: clip_qkv = -3: must be from 1e-30 to 1e+30", RS_INPUT},
      {"{" SIZES "\"model_type\": \"Yi\", \"num_hidden_layers\": 1, \"architectures\": [\"LlamaForCausalLM\"]}",
       "./config.json: model_type: Yi is no architecture that is known here (did you mean llama?)", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"mine\", \"num_hidden_layers\": 1, \"architectures\": "
       "[\"GPTBigCodeForCausalLM\"]}",
       "./config.json: model_type: mine is no architecture that is known here (did you mean gpt_bigcode?)",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"aquila\", \"num_hidden_layers\": 1, \"architectures\": [\"AquilaModel\"]}",
       "./config.json: model_type: aquila is no architecture that is known here (ropescope list architectures shows "
       "them)",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"aquila\", \"num_hidden_layers\": 1, \"rms_norm_eps\": 1e-6}",
       "./config.json: model_type: aquila is no architecture that is known here; its keys are those of a Llama: where "
       "its code is Llama's, too, \"model_type\": \"llama\" reads it",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"layer_types\": [\"chunked_attention\"]}",
       "./config.json: attention_chunk_size is missing: a llama needs it", RS_INPUT},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"num_local_experts\": 4}",
       "./config.json: num_local_experts: changes what a llama computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"hunyuan_v1_dense\", \"num_hidden_layers\": 1, \"use_cla\": true}",
       "./config.json: use_cla: changes what a hunyuan_v1_dense computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"hunyuan_v1_moe\", \"num_hidden_layers\": 2, \"num_experts\": 4, \"moe_topk\": [1, "
       "2]}",
       "./config.json: moe_topk = [...]: must be one value", RS_INPUT},
      {"{" SIZES
       "\"model_type\": \"hunyuan_v1_moe\", \"num_hidden_layers\": 2, \"num_experts\": 4, \"moe_topk\": {\"a\": "
       "2}}",
       "./config.json: moe_topk = {...}: must be one value", RS_INPUT},
      {"{" SIZES "\"model_type\": \"dbrx\", \"num_hidden_layers\": 1, \"ffn_config\": {\"moe_num_experts\": 4, "
       "\"moe_top_k\": 2, \"moe_normalize_expert_weights\": 2}}",
       "./config.json: ffn_config.moe_normalize_expert_weights: changes what a dbrx computes in a way that is not "
       "offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"nomic_bert\", \"num_hidden_layers\": 1, \"prenorm\": true}",
       "./config.json: prenorm: changes what a nomic_bert computes in a way that is not offered here", RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"nomic_bert\", \"num_hidden_layers\": 1, \"rotary_scaling_factor\": 2}",
       "./config.json: rotary_scaling_factor = 2: changes the numbers, and is not supported", RS_INPUT},
      {"{" SIZES "\"model_type\": \"apertus\", \"num_hidden_layers\": 1}",
       "./config.json: rope_scaling is missing (null: plain rotation): its class has {rope_type: llama3, factor: 8, "
       "low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192} there",
       RS_INPUT},
      {"{" SIZES "\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 1, \"topk_method\": \"noaux_tc\"}",
       "./config.json: topk_method: changes what a deepseek_v2 computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 1, \"norm_topk_prob\": true}",
       "./config.json: norm_topk_prob: changes what a deepseek_v2 computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 1, \"moe_layer_freq\": 2}",
       "./config.json: moe_layer_freq: changes what a deepseek_v3 computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"mixtral\", \"num_hidden_layers\": 2}",
       "./config.json: num_local_experts is missing: a mixtral needs it\n"
       "./config.json: num_experts_per_tok is missing: a mixtral needs it",
       RS_INPUT},
      {"{" SIZES "\"model_type\": \"roberta\", \"num_hidden_layers\": 1, \"pad_token_id\": 63}",
       "./config.json: max_position_embeddings beyond pad_token_id + 1 is missing: a roberta needs it", RS_INPUT},
      {"{" SIZES "\"model_type\": \"gpt_neo\", \"num_layers\": 2, \"attention_types\": [[\"local\", 2]]}",
       "./config.json: attention_types[0] = [...]: must be a list of words and how often it is repeated", RS_INPUT},
      {"{" SIZES "\"model_type\": \"gpt_neo\", \"num_layers\": 2, \"attention_types\": [[[\"local\"], 1]]}",
       "./config.json: attention_types = [...]: has no word for layer 1", RS_INPUT},
      {"{" SIZES "\"model_type\": \"opt\", \"num_hidden_layers\": 1, \"do_layer_norm_before\": false}",
       "./config.json: do_layer_norm_before: changes what a opt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"mpt\", \"n_layers\": 1, \"attn_config\": {\"qk_ln\": true, \"alibi\": true}}",
       "./config.json: attn_config.qk_ln: changes what a mpt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_act\": \"mish\"}",
       "./config.json: hidden_act = \"mish\": is no activation that is known here (gelu, gelu_new, gelu_pytorch_tanh, "
       "relu, relu2, silu)",
       RS_INPUT},
      {"{" SIZES "\"model_type\": \"qwen2\", \"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\"]}",
       "./config.json: layer_types = [...]: must have an entry for each of the 2 layers", RS_INPUT},
      {"{" SIZES "\"model_type\": \"qwen2\", \"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\", "
       "\"linear_attention\"]}",
       "./config.json: layer_types[1] = \"linear_attention\": is no type of layers that is known here", RS_INPUT},
      {"{\"hidden_size\": 8, \"num_attention_heads\": 2, \"vocab_size\": 5, \"intermediate_size\": 12, \"model_type\": "
       "\"llama\", \"num_hidden_layers\": 1, \"num_key_value_heads\": 3}",
       "./config.json: num_key_value_heads = 3: must divide the 2 heads that share them", RS_INPUT},
      {"{" SIZES "\"model_type\": \"vit\", \"num_hidden_layers\": 1, \"image_size\": 8, \"patch_size\": 16}",
       "./config.json: patch_size 16 of image_size 8: at most 1024, and no larger than the image", RS_INPUT},
      {"{" SIZES
       "\"model_type\": \"roberta\", \"num_hidden_layers\": 1, \"position_embedding_type\": \"relative_key\"}",
       "./config.json: position_embedding_type: changes what a roberta computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"bert\", \"num_hidden_layers\": 1, \"position_embedding_type\": []}",
       "./config.json: position_embedding_type: changes what a bert computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES
       "\"model_type\": \"mpt\", \"n_layers\": 1, \"attn_config\": {\"softmax_scale\": 0.5, \"alibi\": true}}",
       "./config.json: attn_config.softmax_scale: changes what a mpt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"mpt\", \"n_layers\": 1, \"attn_config\": {\"prefix_lm\": true, \"alibi\": true}}",
       "./config.json: attn_config.prefix_lm: changes what a mpt computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"albert\", \"num_hidden_layers\": 1, \"inner_group_num\": 2}",
       "./config.json: inner_group_num = 2: is read where it is 1 alone", RS_INPUT},
      /* lists where words are meant */
      {"{" SIZES "\"model_type\": [\"llama\"], \"num_hidden_layers\": 1}",
       "./config.json: model_type is missing: it says which architecture this is", RS_INPUT},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_act\": [\"silu\"]}",
       "./config.json: hidden_act = [...]: is no activation that is known here (gelu, gelu_new, gelu_pytorch_tanh, "
       "relu, relu2, silu)",
       RS_INPUT},
      {"{" SIZES
       "\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"quantization_config\": {\"quant_method\": []}}",
       "./config.json: quantization_config: the weights are quantized (no quant_method), and F64, F32, BF16 and F16 "
       "are "
       "read: take the unquantized checkpoint, or write one (transformers: model.dequantize(), save_pretrained)",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 2, \"moe_layer_freq\": [1, 1]}",
       "./config.json: moe_layer_freq: changes what a deepseek_v3 computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 1, \"topk_method\": [\"greedy\"]}",
       "./config.json: topk_method: changes what a deepseek_v2 computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {"{" SIZES
       "\"model_type\": \"hunyuan_v1_moe\", \"num_hidden_layers\": 2, \"num_experts\": 4, \"moe_topk\": [[1], "
       "[1]]}",
       "./config.json: moe_topk = [...]: must be one value", RS_INPUT},
      {"{" SIZES "\"model_type\": \"dbrx\", \"num_hidden_layers\": 1, \"ffn_config\": {\"moe_num_experts\": 4, "
       "\"moe_top_k\": 2, \"moe_normalize_expert_weights\": [1]}}",
       "./config.json: ffn_config.moe_normalize_expert_weights: changes what a dbrx computes in a way that is not "
       "offered here",
       RS_UNSUPPORTED},
      {"{" SIZES "\"model_type\": \"llama\", \"num_hidden_layers\": -1}",
       "./config.json: num_hidden_layers = -1: must be from 1 to 16777216", RS_INPUT},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_hf_checkpoint checkpoint;
    rs_err err = {0};
    put_config(cases[i].text);
    cr_expect_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), cases[i].status, "%s", cases[i].text);
    cr_expect_str_eq(without_places(err.message), cases[i].said);
    cr_expect(checkpoint.recipes == NULL && checkpoint.shape.decoder.blocks == NULL);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* A sweep reads matrices where they lie; what is tuned or written has them in memory. */
Test(hf_checkpoints, matrices_of_a_folder__stay_in_its_file) {
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_folder_load(model_path("llama_small"), RS_F32, &transformer, &err), RS_OK, "%s", err.message);
  cr_expect(transformer->mapped);
  rs_transformer_free(transformer);
}

/* ---- weights that do not fit ------------------------------------------------------------------------------------- */

static char *model_text(const char *file) {
  char *text;
  size_t length;
  cr_assert_eq(rs_file_read(model_path(file), 1 << 20, &text, &length, NULL), RS_OK);
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

static rs_status load(bool copied, rs_transformer **transformer, rs_err *err) {
  rs_hf_checkpoint checkpoint;
  cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, err), RS_OK, "%s", err->message);
  rs_status status = rs_hf_checkpoint_load(&checkpoint, ".", RS_F64, copied, transformer, err);
  rs_hf_checkpoint_clear(&checkpoint);
  return status;
}

/* Whatever config.json says of it. */
Test(hf_checkpoints, quantized_weights__are_refused_by_name) {
  static const char *const names[] = {"model.layers.0.mlp.up_proj.qweight",
                                      "model.layers.0.mlp.up_proj.weight_scale_inv",
                                      "model.layers.0.mlp.experts.gate_up_proj_blocks"};
  enter_scratch();
  put_edited("\"num_hidden_layers\"", "\"num_hidden_layers\"");
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    char header[256], said[512];
    rs_transformer *transformer;
    rs_err err = {0};
    snprintf(header, sizeof header, "{\"%s\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}}", names[i]);
    snprintf(said, sizeof said,
             "./model.safetensors: tensor \"%s\": is of quantized weights: take the unquantized checkpoint, or write "
             "one (transformers: model.dequantize(), save_pretrained)",
             names[i]);
    make_tensors("model.safetensors", header, "\0\0\0\1", 4);
    cr_expect_eq(load(false, &transformer, &err), RS_UNSUPPORTED);
    cr_expect_str_eq(err.message, said);
  }
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
}

Test(hf_checkpoints, codegen_of_heads_without_quarters__is_refused) {
  rs_transformer *transformer;
  rs_err err = {0};
  enter_scratch();
  put_config("{" SIZES "\"model_type\": \"codegen\", \"num_hidden_layers\": 1, \"rotary_dim\": 2}");
  make_tensors("model.safetensors",
               "{" ENTRY("transformer.wte.weight", "F32", "[5,8]", "[0,160]") "," ENTRY(
                   "transformer.h.0.ln_1.weight", "F32", "[8]", "[160,192]") "," ENTRY("transformer.h.0.ln_1.bias",
                                                                                       "F32", "[8]", "[192,224]") "}",
               (const char[224]){0}, 224);
  cr_expect_eq(load(false, &transformer, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "./model.safetensors: tensor \"transformer.h.0.attn.qkv_proj.weight\": has q, v, k of "
                                "each quarter of 2 heads: must be a multiple of 4");
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
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
  cr_assert_eq(symlink(model_path("llama_small/model.safetensors"), "model.safetensors"), 0);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_transformer *transformer;
    rs_err err = {0};
    put_edited(cases[i].from, cases[i].to);
    cr_expect_eq(load(false, &transformer, &err), RS_INPUT);
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
  cr_expect_eq(load(false, &transformer, &err), RS_IO);
  cr_expect_str_eq(err.message, ".: has neither model.safetensors nor model.safetensors.index.json (other formats of "
                                "weights are not read)");
  leaves((const char *[]){"config.json"}, 1);
}

/* The class lists "transformer." first: names without that front are then too many. */
Test(hf_checkpoints, names_of_two_fronts__are_read_by_the_first) {
  rs_transformer *transformer;
  rs_err err = {0};
  enter_scratch();
  char *config = model_text("gpt2/config.json");
  put_config(config);
  free(config);
  make_tensors(
      "model.safetensors",
      "{" ENTRY("wte.weight", "F32", "[1]", "[0,4]") "," ENTRY("transformer.wte.weight", "F32", "[1]", "[4,8]") "}",
      "\0\0\0\0\0\0\0", 8);
  cr_expect_eq(load(false, &transformer, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "tensor \"transformer.wte.weight\": has shape (1,), wanted is (97, 32)"), "%s",
                     err.message);
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
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
  cr_assert_eq(symlink(model_path("gpt2/model.safetensors"), "model.safetensors"), 0);
  cr_assert_eq(load(true, &plain, &err), RS_OK, "%s", err.message);
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
  cr_assert_eq(load(true, &renamed, &err), RS_OK, "%s", err.message);
  cr_expect_arr_eq(renamed->values, plain->values, plain->size * sizeof(double));
  for (size_t i = 0; i < count; i++) free((void *)tensors[i].floats);
  rs_safetensors_free(theirs);
  rs_transformer_free(plain);
  rs_transformer_free(renamed);
  leaves((const char *[]){"config.json", "model.safetensors"}, 2);
}
