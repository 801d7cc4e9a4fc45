/* What differs from layer to layer of a checkpoint, as its config.json and its class have it. */
#include "../fixtures/hf_config.h"
#include "../fixtures/places.h"
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

#define XL                                                                                                             \
  "{\"model_type\": \"transfo-xl\", \"vocab_size\": 5, \"d_model\": 8, \"n_head\": 3, \"n_layer\": 2, "                \
  "\"d_inner\": 12"
#define OF_ONE_WIDTH ", \"div_val\": 1, \"d_embed\": 8"

/* Transformer-XL: what a query sees, how far distances count, where norms are; and what its class has where config.json
 * says nothing. */
Test(hf_layers, transformer_xl__by_its_keys) {
  static const struct {
    const char *text;
    size_t window, clip, dims; /* 0: none */
    bool before;
  } cases[] = {
      {"", 1600, 1000, 64, false},
      {", \"d_head\": 4, \"mem_len\": 7, \"clamp_len\": 9", 7, 9, 4, false},
      {", \"d_head\": 4, \"mem_len\": 7, \"same_length\": true, \"clamp_len\": -1", 7, 0, 4, false},
      {", \"d_head\": 4, \"mem_len\": 7, \"same_length\": false, \"clamp_len\": 0", 0, 0, 4, false},
      {", \"d_head\": 2, \"mem_len\": 0, \"same_length\": false, \"pre_lnorm\": true", 0, 1000, 2, true},
      {", \"cutoffs\": [2, 3], \"d_head\": null, \"mem_len\": null, \"clamp_len\": null", 1600, 1000, 64, false},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[512];
    snprintf(text, sizeof text, XL OF_ONE_WIDTH "%s}", cases[i].text);
    rs_hf_checkpoint checkpoint = read_config(text);
    const rs_shape *shape = &checkpoint.shape;
    cr_expect(shape->classes == 0 && shape->decoder.final_norm.kind == RS_NORM_NONE, "%s", text);
    cr_expect_eq(shape->embedding_scale, sqrt(8));
    cr_expect_eq(rs_model_width(&checkpoint.geometry), 8, "%s", text);
    for (size_t k = 0; k < 2; k++) {
      const rs_block *block = &shape->decoder.blocks[k];
      const rs_value *clip = rs_setting(&checkpoint.recipes[block->recipe].settings, "clip");
      cr_expect_eq(block->recipe, k, "%s", text);
      cr_expect_eq(block->mask.kind, cases[i].window > 0 ? RS_WINDOW : RS_CAUSAL, "%s", text);
      cr_expect_eq(block->mask.window, cases[i].window, "%s", text);
      cr_expect(clip->set ? clip->number == (double)cases[i].clip : cases[i].clip == 0, "%s", text);
      cr_expect(block->attention.heads == 3 && block->attention.head_dim == cases[i].dims, "%s", text);
      cr_expect(block->feed_forward.width == 12 && block->feed_forward.activation == RS_RELU, "%s", text);
      cr_expect(block->norm_sums != cases[i].before, "%s", text);
      cr_expect_eq(block->before_attention.kind, cases[i].before ? RS_NORM_LAYER : RS_NORM_NONE, "%s", text);
    }
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
}

Test(hf_layers, transformer_xl__what_is_not_read__is_refused_by_its_key) {
  static const char div_val[] =
      "./config.json: div_val: embeddings of words behind each of the cutoffs are narrower by it (4 where it is not "
      "there) and widened by a matrix each, which is not offered here: read is div_val 1 alone";
  static const char d_embed[] =
      "./config.json: d_embed: embeddings of another width (1024 where it is not there) than d_model are not offered "
      "here";
  static const struct {
    const char *text, *said;
    rs_status status;
  } cases[] = {
      {", \"d_embed\": 8", div_val, RS_UNSUPPORTED},
      {", \"d_embed\": 8, \"cutoffs\": [], \"div_val\": 2", div_val, RS_UNSUPPORTED},
      {", \"d_embed\": 8, \"div_val\": \"1x\"", div_val, RS_UNSUPPORTED},
      {", \"div_val\": 1", d_embed, RS_UNSUPPORTED},
      {", \"div_val\": 1, \"d_embed\": 4", d_embed, RS_UNSUPPORTED},
      {OF_ONE_WIDTH ", \"attn_type\": 2",
       "./config.json: attn_type: changes what a transfo-xl computes in a way that is not offered here",
       RS_UNSUPPORTED},
      {OF_ONE_WIDTH ", \"untie_r\": false",
       "./config.json: untie_r: changes what a transfo-xl computes in a way that is not offered here", RS_UNSUPPORTED},
      {OF_ONE_WIDTH ", \"mem_len\": 0",
       "./config.json: mem_len = 0: beside same_length leaves each query no key: mem_len 1 or more, or same_length "
       "false",
       RS_INPUT},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[512];
    rs_hf_checkpoint checkpoint;
    rs_err err = {0};
    snprintf(text, sizeof text, XL "%s}", cases[i].text);
    put_config(text);
    cr_expect_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), cases[i].status, "%s", text);
    cr_expect_str_eq(without_places(err.message), cases[i].said);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* How many keys the last query attends. */
Test(hf_layers, keys__that_the_last_query_attends) {
#define MODEL(type, layers) "\"model_type\": \"" type "\", \"num_hidden_layers\": " #layers
  static const struct {
    const char *text;
    size_t length, keys[3];
  } cases[] = {
      {MODEL("llama", 1), 64, {64}},
      {MODEL("mistral", 1) ", \"sliding_window\": 8", 64, {8}},
      {MODEL("mistral", 1) ", \"sliding_window\": 8", 5, {5}},
      {MODEL("deepseek_v32", 1) ", \"index_topk\": 16", 64, {16}},
      {MODEL("deepseek_v32", 1) ", \"index_topk\": 16", 9, {9}},
      {MODEL("zebra", 1) ", \"indexer_budget\": 16, \"indexer_compress_ratio\": 4", 64, {16}},
      {MODEL("zebra", 3) ", \"layer_types\": [\"linear_attention\", \"full_attention\", \"deepseek_sparse_attention\"]",
       64,
       {0, 64, 64}},
      {"\"qk_rope_head_dim\": 8, \"sliding_window\": 8, \"compress_ratios\": [4], " MODEL("deepseek_v4", 1),
       64,
       {8 + 56 / 4}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char json[512];
    rs_profile profile;
    snprintf(json, sizeof json, "{" SIZES "%s}", cases[i].text);
    cr_assert_eq(rs_profile_read(json, strlen(json), "config.json", &profile, NULL), RS_OK, "%s", json);
    for (size_t k = 0; k < profile.kind_count; k++)
      cr_expect_eq(rs_layer_kind_keys(&profile.kinds[k], cases[i].length), cases[i].keys[k], "%s: %zu", cases[i].text,
                   rs_layer_kind_keys(&profile.kinds[k], cases[i].length));
    rs_profile_clear(&profile);
  }
}
