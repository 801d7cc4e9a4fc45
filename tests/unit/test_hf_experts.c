/* What config.json says of experts: which layers have them, and how a token chooses. */
#include "../fixtures/hf_config.h"
#include "../fixtures/scratch.h"
#include "golden.h"

/* A letter a layer: x where it has experts, else o. */
Test(hf_experts, experts__in_the_layers_that_transformers_gives_them) {
#define EXPERTS "\"num_hidden_layers\": 5, \"num_experts\": 8, \"num_experts_per_tok\": 2, "
#define SHARED                                                                                                         \
  EXPERTS "\"moe_intermediate_size\": 6, \"shared_expert_intermediate_size\": 6, \"qk_nope_head_dim\": 2, "            \
          "\"qk_rope_head_dim\": 2, \"v_head_dim\": 2, \"kv_lora_rank\": 2, "
  static const struct {
    const char *text, *layers;
  } cases[] = {
      {EXPERTS "\"model_type\": \"mixtral\"", "xxxxx"},
      {EXPERTS "\"model_type\": \"llama4_text\"", "xxxxx"},
      {EXPERTS "\"model_type\": \"llama4_text\", \"interleave_moe_layer_step\": 2", "oxoxo"},
      {EXPERTS "\"model_type\": \"llama4_text\", \"interleave_moe_layer_step\": 2, \"moe_layers\": [0, 4]", "xooox"},
      {EXPERTS "\"model_type\": \"llama4_text\", \"moe_layers\": []", "ooooo"},
      {SHARED "\"model_type\": \"qwen2_moe\"", "xxxxx"},
      {SHARED "\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 2, \"mlp_only_layers\": [1]", "oooxo"},
      {SHARED "\"model_type\": \"deepseek_v2\"", "xxxxx"},
      {SHARED "\"model_type\": \"deepseek_v3\"", "oooxx"},
      {SHARED "\"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 0", "xxxxx"},
      {SHARED "\"model_type\": \"glm4_moe\"", "oxxxx"},
      {SHARED "\"model_type\": \"ernie4_5_moe\"", "oxxxx"},
      {SHARED "\"model_type\": \"ernie4_5_moe\", \"moe_layer_end_index\": -1, \"moe_layer_interval\": 2", "oxoxo"},
      {SHARED "\"model_type\": \"ernie4_5_moe\", \"moe_layer_start_index\": 0, \"moe_layer_end_index\": 3", "xxxxo"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text, "{" SIZES "%s}", cases[i].text);
    rs_hf_checkpoint checkpoint = read_config(text);
    for (size_t k = 0; k < checkpoint.shape.decoder.count; k++) {
      const rs_feed_forward *layer = &checkpoint.shape.decoder.blocks[k].feed_forward;
      cr_expect_eq(layer->experts.count > 0, cases[i].layers[k] == 'x', "%s: layer %zu", cases[i].text, k);
      cr_expect(layer->experts.count > 0 || layer->width == 12);
    }
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
#undef SHARED
#undef EXPERTS
}

/* What a router does where config.json says nothing of it. */
Test(hf_experts, routers__as_their_class_has_them) {
  static const struct {
    const char *type;
    rs_experts wanted;
  } cases[] = {
      {"mixtral", {.normed = true, .scale = 1}},
      {"qwen2_moe", {.scale = 1, .shared = 7, .shared_gated = true}},
      {"qwen3_moe", {.scale = 1}},
      {"olmoe", {.scale = 1}},
      {"phimoe", {.scale = 1, .mixed = true, .tolerance = 0.02}},
      {"dots1", {.sigmoid = true, .scale = 1, .steered = true, .groups = 1, .groups_used = 1}},
      {"deepseek_v2", {.scale = 1, .groups_used = 1, .shared = 12, .grouped_by_best = true}},
      {"glm4_moe",
       {.sigmoid = true, .normed = true, .scale = 1, .steered = true, .groups = 1, .groups_used = 1, .shared = 6}},
      {"deepseek_v3",
       {.sigmoid = true, .normed = true, .scale = 2.5, .steered = true, .groups = 8, .groups_used = 4, .shared = 6}},
      {"ernie4_5_moe", {.normed = true, .scale = 1, .steered = true, .shared = 12}},
      {"llama4_text", {.sigmoid = true, .scale = 1, .scaled_inputs = true, .shared = 12}},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "{" SIZES "\"model_type\": \"%s\", \"num_hidden_layers\": 4, \"num_experts\": 16, "
             "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 6, \"shared_expert_intermediate_size\": 7, "
             "\"qk_nope_head_dim\": 2, \"qk_rope_head_dim\": 2, \"v_head_dim\": 2, \"kv_lora_rank\": 2}",
             cases[i].type);
    rs_hf_checkpoint checkpoint = read_config(text);
    const rs_experts *experts = &checkpoint.shape.decoder.blocks[3].feed_forward.experts, *wanted = &cases[i].wanted;
    cr_expect(experts->count == 16 && experts->used == 2 && !experts->router_bias && experts->limit == 0);
    cr_expect(experts->sigmoid == wanted->sigmoid && experts->normed == wanted->normed &&
                  experts->scale == wanted->scale && experts->steered == wanted->steered,
              "%s", cases[i].type);
    cr_expect(experts->groups == wanted->groups && experts->groups_used == wanted->groups_used &&
                  experts->grouped_by_best == wanted->grouped_by_best,
              "%s", cases[i].type);
    cr_expect(experts->scaled_inputs == wanted->scaled_inputs && experts->shared == wanted->shared &&
                  experts->shared_gated == wanted->shared_gated && experts->mixed == wanted->mixed &&
                  experts->tolerance == wanted->tolerance,
              "%s", cases[i].type);
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
}

/* Qwen3's class says 128, that of its experts nothing. */
Test(hf_experts, heads_of_qwen3_moe__as_wide_as_the_model_allows) {
  enter_scratch();
  rs_hf_checkpoint checkpoint =
      read_config("{" SIZES "\"model_type\": \"qwen3_moe\", \"num_hidden_layers\": 1, \"num_local_experts\": 4, "
                  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 6}");
  cr_expect_eq(checkpoint.geometry.head_dim, 4);
  rs_hf_checkpoint_clear(&checkpoint);
  leaves((const char *[]){"config.json"}, 1);
}

/* DeepSeek-V3: experts behind the first layers, heads whose turned part is one for all. */
Test(hf_experts, deepseek_v3__experts_behind_the_first_layers) {
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
