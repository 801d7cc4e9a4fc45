/* What differs from layer to layer of a checkpoint, as its config.json and its class have it. */
#include "../fixtures/hf_config.h"
#include "../fixtures/scratch.h"
#include "golden.h"

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

Test(hf_layers, layers__windows_and_recipes_as_transformers_has_them) {
  static const struct {
    const char *text, *layers;
    size_t window; /* of the windowed layers */
  } cases[] = {
      {"\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"sliding_window\": 7", "aa", 0},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2, \"sliding_window\": 7", "AA", 7},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2, \"hidden_act\": \"silu\"", "AA", 4096},
      {"\"model_type\": \"mistral\", \"num_hidden_layers\": 2, \"sliding_window\": null", "aa", 0},
      {"\"model_type\": \"olmo3\", \"num_hidden_layers\": 4", "AAAa", 4096},
      {"\"model_type\": \"olmo3\", \"num_hidden_layers\": 4, \"rope_scaling\": {\"rope_type\": \"linear\", "
       "\"factor\": 2}",
       "BBBa", 4096},
      {"\"model_type\": \"olmo3\", \"num_hidden_layers\": 2, \"sliding_window\": 9, \"layer_types\": "
       "[\"full_attention\", \"sliding_attention\"], \"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2}",
       "aA", 9},
      {"\"model_type\": \"gpt_neo\", \"num_layers\": 3", "aAa", 256},
      {"\"model_type\": \"gpt_neo\", \"num_layers\": 4, \"window_size\": 5, \"attention_types\": [[[\"local\"], 1], "
       "[[\"global\", \"local\", \"global\"], 1]]",
       "AaAa", 5},
      {"\"model_type\": \"exaone4\", \"num_hidden_layers\": 4, \"sliding_window\": 7", "AAAn", 7},
      {"\"model_type\": \"exaone4\", \"num_hidden_layers\": 2, \"sliding_window\": null, "
       "\"sliding_window_pattern\": null, \"layer_types\": [\"full_attention\", \"full_attention\"]",
       "aa", 0},
      {"\"model_type\": \"exaone4\", \"num_hidden_layers\": 2, \"sliding_window\": 7, "
       "\"sliding_window_pattern\": \"LLLG\", \"layer_types\": [\"full_attention\", \"sliding_attention\"]",
       "nA", 7},
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
      {"\"model_type\": \"llama4_text\", \"num_hidden_layers\": 5, \"moe_layers\": [], \"intermediate_size_mlp\": 8",
       "AAAnA", 8192},
      {"\"model_type\": \"llama4_text\", \"num_hidden_layers\": 2, \"attention_chunk_size\": 5, \"no_rope_layers\": "
       "[0, 1], \"moe_layers\": [], \"layer_types\": [\"chunked_attention\", \"full_attention\"]",
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
Test(hf_layers, local_base__of_the_windowed_layers_alone) {
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
Test(hf_layers, bare_layers_of_llama4__temperature_and_no_norms) {
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
                           "\"attn_temperature_tuning\": false, \"moe_layers\": []}");
  settings = &checkpoint.recipes[checkpoint.shape.decoder.blocks[3].recipe].settings;
  cr_expect(!rs_setting(settings, "logit_scale_factor")->set);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* ModernBERT: windows to both sides, on a base of their own; the first attention reads embeddings as they are. */
Test(hf_layers, modernbert__where_config_says_nothing) {
  enter_scratch();
  rs_hf_checkpoint checkpoint = read_config("{" SIZES "\"model_type\": \"modernbert\", \"num_hidden_layers\": 4}");
  const rs_block *blocks = checkpoint.shape.decoder.blocks;
  for (size_t i = 0; i < 4; i++) {
    bool local = i % 3 != 0;
    const rs_value *theta = rs_setting(&checkpoint.recipes[blocks[i].recipe].settings, "rope_theta");
    cr_expect_eq(blocks[i].mask.kind, local ? RS_BAND : RS_BIDIRECTIONAL);
    cr_expect(!local || (blocks[i].mask.window == 65 && theta->number == 10000));
    cr_expect_eq(blocks[i].before_attention.kind, i == 0 ? RS_NORM_NONE : RS_NORM_LAYER);
    cr_expect(!blocks[i].before_feed_forward.bias && blocks[i].before_feed_forward.epsilon == 1e-5);
  }
  cr_expect_eq(checkpoint.geometry.rope_theta, 160000);
  rs_hf_checkpoint_clear(&checkpoint);
  checkpoint = read_config("{" SIZES "\"model_type\": \"modernbert\", \"num_hidden_layers\": 2, "
                           "\"local_rope_theta\": null}");
  cr_expect_eq(checkpoint.recipe_count, 1, "null: that of all");
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* EmbeddingGemma: a decoder's class that looks ahead, half of the window to each side. */
Test(hf_layers, decoders_that_look_ahead__see_both_sides) {
  enter_scratch();
  rs_hf_checkpoint checkpoint =
      read_config("{" SIZES "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 2, \"sliding_window\": 8, "
                  "\"sliding_window_pattern\": 2, \"use_bidirectional_attention\": true}");
  const rs_block *blocks = checkpoint.shape.decoder.blocks;
  cr_expect(blocks[0].mask.kind == RS_BAND && blocks[0].mask.window == 5);
  cr_expect_eq(blocks[1].mask.kind, RS_BIDIRECTIONAL);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}
