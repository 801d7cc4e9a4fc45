/* What consumers are given for models of several families and layers of several kinds, to the letter, and what they are
 * told that they cannot say. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../fixtures/convert_cases.h"

#define MAXIMUM "{\"max_position_embeddings\": 4096, "
#define BASE "\"rope_theta\": 10000"
#define TURNS "--position-embedding-type rope --rotary-base 10000"
#define UP_TO " --max-position-embeddings "

#define LATENT                                                                                                         \
  "\"model_type\": \"deepseek_v3\", \"qk_rope_head_dim\": 16, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16, "          \
  "\"kv_lora_rank\": 8, \"q_lora_rank\": null"
#define YARN_OF(keys) "\"rope_scaling\": {\"rope_type\": \"yarn\", " keys "}"
#define SHORT_LIST "[1, 1, 1, 1, 1, 1, 1, 2]"
#define LONG_LIST "[1, 2, 3, 4, 5, 6, 7, 8]"
#define LISTS "\"short_factor\": " SHORT_LIST ", \"long_factor\": " LONG_LIST
#define LONGROPE_OF(keys)                                                                                              \
  "\"original_max_position_embeddings\": 512, \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS keys "}"
#define GPT_J "\"model_type\": \"gptj\", \"rotary_dim\": 8"
#define CODEGEN "\"model_type\": \"codegen\", \"rotary_dim\": 8"
#define GLM "\"model_type\": \"glm\", \"head_dim\": 16"
#define MINISTRAL(keys)                                                                                                \
  "\"model_type\": \"ministral3\", \"head_dim\": 16, \"rope_parameters\": {" BASE                                      \
  ", \"llama_4_scaling_beta\": 0.1, \"original_max_position_embeddings\": 512, " keys "}"
#define NO_KIND "\"model_type\": null, \"position_embedding_type\": \"nope\""
#define T5                                                                                                             \
  "\"model_type\": \"t5\", \"d_model\": 64, \"num_heads\": 4, \"d_kv\": 16, "                                          \
  "\"relative_attention_num_buckets\": 16, \"relative_attention_max_distance\": 64"

/* Layers of several kinds. */
#define PROPORTIONAL                                                                                                   \
  "\"model_type\": \"gemma4_text\", \"head_dim\": 16, \"global_head_dim\": 16, \"num_hidden_layers\": 2, "             \
  "\"sliding_window\": 512, "                                                                                          \
  "\"layer_types\": [\"sliding_attention\", \"full_attention\"], \"rope_parameters\": {\"full_attention\": "           \
  "{\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.25, \"rope_theta\": 1000000}, "                      \
  "\"sliding_attention\": {\"rope_type\": \"default\", " BASE "}}"
#define THREE                                                                                                          \
  "\"num_hidden_layers\": 3, \"sliding_window\": 64, \"attention_chunk_size\": 32, \"layer_types\": "                  \
  "[\"sliding_attention\", \"full_attention\", \"chunked_attention\"], \"rope_parameters\": {\"full_attention\": "     \
  "{\"rope_type\": \"default\", \"rope_theta\": 1000000}, \"sliding_attention\": {\"rope_type\": \"linear\", "         \
  "\"factor\": 2, " BASE "}, \"chunked_attention\": {\"rope_type\": \"default\", \"rope_theta\": 20000}}"
#define SMOLLM "\"model_type\": \"smollm3\", \"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0]"
#define NEXT                                                                                                           \
  "\"model_type\": \"qwen3_next\", \"head_dim\": 16, \"num_hidden_layers\": 4, \"full_attention_interval\": 2"
/* DeepSeek-V4's class reads the share of dims that turn in each of its two dictionaries. */
#define V4                                                                                                             \
  "\"model_type\": \"deepseek_v4\", \"head_dim\": 16, \"qk_rope_head_dim\": 8, \"num_hidden_layers\": 4, "             \
  "\"compress_ratios\": [128, 128, 4, 0], \"sliding_window\": 64, \"rope_theta\": 10000, "                             \
  "\"compress_rope_theta\": 160000, "                                                                                  \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512}"
#define GEMMA                                                                                                          \
  "\"model_type\": \"gemma3_text\", \"head_dim\": 16, \"num_hidden_layers\": 6, \"sliding_window\": 512, "             \
  "\"sliding_window_pattern\": 6, "

Test(convert_families, megatron__latent_attention) {
#define LATENT_TURNS TURNS " --multi-latent-attention --qk-pos-emb-head-dim 16 --rope-type "
#define FIELDS " # No argument gives original length "
  static const convert_case cases[] = {
      {LATENT, LATENT_TURNS "rope" UP_TO "4096"},
      {LATENT ", " YARN_OF("\"factor\": 8, \"original_max_position_embeddings\": 4096"),
       LATENT_TURNS "yarn --rotary-scaling-factor 8" UP_TO "32768"},
      {LATENT ", " YARN_OF("\"factor\": 8, \"mscale\": 0.5, \"mscale_all_dim\": 1, "
                           "\"original_max_position_embeddings\": 512"),
       LATENT_TURNS "yarn --rotary-scaling-factor 8 --mscale 0.5 --mscale-all-dim 1" UP_TO "4096" FIELDS
                    "512, beta_fast 32 and beta_slow 1"},
      {LATENT ", " YARN_OF("\"factor\": 8, \"beta_fast\": 16, \"original_max_position_embeddings\": 4096"),
       LATENT_TURNS "yarn --rotary-scaling-factor 8" UP_TO "32768" FIELDS "4096, beta_fast 16 and beta_slow 1"},
      {LATENT ", " YARN_OF("\"factor\": 8, \"beta_slow\": 2, \"original_max_position_embeddings\": 4096"),
       LATENT_TURNS "yarn --rotary-scaling-factor 8" UP_TO "32768" FIELDS "4096, beta_fast 32 and beta_slow 2"},
  };
  expect_all("megatron", cases, RS_COUNT(cases));
}

#define LLAMA3(low, high)                                                                                              \
  "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": " low                             \
  ", \"high_freq_factor\": " high ", \"original_max_position_embeddings\": 8192}"
#define YARN_TURNS                                                                                                     \
  "--rotary-scaling-factor 8 --yarn-original-max-position-embeddings 512 --yarn-beta-fast 32 --yarn-beta-slow 1 "      \
  "--yarn-correction-range-round-to-int"

Test(convert_families, megatron__what_it_cannot_say) {
  static const convert_case cases[] = {
      {LLAMA3("1", "4"), TURNS " --use-rope-scaling --rope-scaling-factor 8" UP_TO "4096"},
      {LLAMA3("2", "4"), TURNS " --use-rope-scaling --rope-scaling-factor 8" UP_TO
                               "4096 # Megatron-LM has low_freq_factor 1, high_freq_factor 4 and original length 8192 "
                               "built in: 2, 4 and 8192 cannot be said."},
      {LLAMA3("1", "5"), TURNS " --use-rope-scaling --rope-scaling-factor 8" UP_TO
                               "4096 # Megatron-LM has low_freq_factor 1, high_freq_factor 4 and original length 8192 "
                               "built in: 1, 5 and 8192 cannot be said."},
      {GPT_J, TURNS " --rotary-percent 0.5 --rotary-interleaved" UP_TO "4096"},
      {GLM ", " YARN_OF("\"factor\": 8, \"original_max_position_embeddings\": 512"),
       "--position-embedding-type yarn --rotary-base 10000 --rotary-percent 0.5 --rotary-interleaved " YARN_TURNS UP_TO
       "4096 # Megatron-LM's YaRN stops at --rotary-interleaved # Megatron-LM's YaRN turns whole heads"},
      {YARN_OF("\"factor\": 1, \"attention_factor\": 1.25, \"original_max_position_embeddings\": 4096"),
       "--position-embedding-type yarn --rotary-base 10000 --rotary-scaling-factor 1 "
       "--yarn-original-max-position-embeddings 4096 --yarn-beta-fast 32 --yarn-beta-slow 1 "
       "--yarn-correction-range-round-to-int" UP_TO
       "4096 # Megatron-LM multiplies cos and sin by 1 for a factor up to 1, and not by 1.25."},
      {"\"model_type\": \"qwen2_vl\", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 8, \"mrope_section\": "
       "[4, 2, 2], \"original_max_position_embeddings\": 512}",
       "--position-embedding-type yarn --rotary-base 1000000 " YARN_TURNS UP_TO
       "4096 # M-RoPE and YaRN are two types of position embedding there"},
      {MINISTRAL("\"rope_type\": \"default\""),
       TURNS UP_TO "4096 # The temperature by position (llama_4_scaling_beta) cannot be said."},
      {T5, "--position-embedding-type relative --relative-attention-num-buckets 16 "
           "--relative-attention-max-distance 64" UP_TO "4096"},
  };
  expect_all("megatron", cases, RS_COUNT(cases));
}

Test(convert_families, megatron__layers) {
  static const convert_case cases[] = {
      {SMOLLM, "--position-embedding-type rope --rotary-base 2000000 --no-rope-freq [0,0,0,1]" UP_TO "4096"},
      {NEXT, TURNS " --rotary-percent 0.25" UP_TO "4096"},
      {THREE, "--position-embedding-type rope --rotary-base 1000000" UP_TO
              "4096 # This is of full_attention (layers 1), not sliding_attention (0), chunked_attention (2): "
              "Megatron-LM has one recipe for all that turn."},
      {PROPORTIONAL, "--position-embedding-type rope --rotary-base 1000000" UP_TO
                     "4096 # Megatron-LM has no proportional: this is plain RoPE # This is of full_attention"},
  };
  expect_all("megatron", cases, RS_COUNT(cases));
}

#define PHI3 "\"model_type\": \"phi3\", "
#define PHIMOE "\"model_type\": \"phimoe\", "
#define LONG_TYPE "\"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
#define LONG_END "}, \"original_max_position_embeddings\": 512}"

Test(convert_families, transformers_4) {
  static const convert_case cases[] = {
      {GPT_J, MAXIMUM BASE ", \"rotary_dim\": 8, \"rope_scaling\": null}"},
      {CODEGEN, MAXIMUM BASE ", \"rotary_dim\": 8, \"rope_scaling\": null}"},
      {MINISTRAL("\"rope_type\": \"default\""),
       MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"default\", \"llama_4_scaling_beta\": 0.1, "
                    "\"original_max_position_embeddings\": 512}, \"rope_parameters\": null}"},
      {PHI3 LONGROPE_OF(""), MAXIMUM BASE ", " LONG_TYPE LONG_END},
      {PHI3 LONGROPE_OF(", \"factor\": 8"),
       MAXIMUM BASE ", " LONG_TYPE ", \"factor\": 8" LONG_END " # Phi-3's class of transformers 4 refuses other keys"},
      {PHI3 LONGROPE_OF(", \"attention_factor\": 1.5"),
       MAXIMUM BASE ", " LONG_TYPE ", \"attention_factor\": 1.5" LONG_END " # Phi-3's class of transformers 4 refuses"},
      {PHIMOE LONGROPE_OF(", \"long_mscale\": 1.25"),
       MAXIMUM "\"rope_theta\": 1000000, " LONG_TYPE ", \"long_mscale\": 1.25" LONG_END " # short_mscale and "
               "long_mscale are read by PhiMoE's class alone."},
      {PHIMOE LONGROPE_OF(", \"short_mscale\": 1.25"),
       MAXIMUM "\"rope_theta\": 1000000, " LONG_TYPE ", \"short_mscale\": 1.25" LONG_END " # short_mscale and "
               "long_mscale are read by PhiMoE's class alone."},
      {"\"model_type\": \"modernbert\", \"num_hidden_layers\": 4, \"global_attn_every_n_layers\": 2, "
       "\"local_attention\": 128",
       MAXIMUM "\"global_rope_theta\": 160000, \"local_rope_theta\": 10000, \"rope_scaling\": null}"},
      {THREE, MAXIMUM "\"rope_theta\": 1000000, \"rope_local_base_freq\": 20000, \"rope_scaling\": null, "
                      "\"rope_parameters\": null} # Layers "
                      "sliding_attention turn otherwise than full_attention, for which transformers 4 has no key."},
      {SMOLLM, MAXIMUM "\"rope_theta\": 2000000, \"rope_scaling\": null} # Layers full_attention_nope turn nothing"},
      {NEXT, MAXIMUM BASE ", \"partial_rotary_factor\": 0.25, \"rope_scaling\": null}"},
      {PROPORTIONAL, MAXIMUM "\"rope_theta\": 1000000, \"rope_local_base_freq\": 10000, \"rope_scaling\": "
                             "{\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.25}, \"rope_parameters\": "
                             "null} # transformers 4 has "
                             "no rope type proportional: this is for 5."},
      {NO_KIND, MAXIMUM "\"position_embedding_type\": \"nope\"} # These layers turn nothing (nope)"},
      {T5, "{} # These layers turn nothing (t5)"},
  };
  expect_all("hf4", cases, RS_COUNT(cases));
}

Test(convert_families, transformers_5) {
#define PARAMETERS MAXIMUM "\"rope_parameters\": {"
#define REPLACED MAXIMUM "\"rope_scaling\": null, \"rope_parameters\": {"
  static const convert_case cases[] = {
      {GPT_J, PARAMETERS "\"rope_type\": \"default\", " BASE "}, \"rotary_dim\": 8}"},
      {CODEGEN, PARAMETERS "\"rope_type\": \"default\", " BASE "}, \"rotary_dim\": 8}"},
      {"\"model_type\": \"mixtral\", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2}",
       MAXIMUM "\"head_dim\": 16, \"rope_scaling\": null, \"rope_parameters\": {\"rope_type\": \"linear\", "
               "\"rope_theta\": 1000000, \"factor\": 2}}"},
      {"\"model_type\": \"mixtral\"", PARAMETERS "\"rope_type\": \"default\", \"rope_theta\": 1000000}}"},
      {GEMMA YARN_OF("\"factor\": 8, \"truncate\": false, \"original_max_position_embeddings\": 512"),
       REPLACED "\"sliding_attention\": {\"rope_type\": \"default\", " BASE
                "}, \"full_attention\": {\"rope_type\": \"yarn\", \"rope_theta\": 1000000, \"factor\": 8, "
                "\"truncate\": false, \"original_max_position_embeddings\": 512}}} # transformers up to decba1d2ea4e "
                "ignores truncate where rope_parameters differ by layers."},
      {GEMMA YARN_OF("\"factor\": 8, \"original_max_position_embeddings\": 512"),
       REPLACED "\"sliding_attention\": {\"rope_type\": \"default\", " BASE
                "}, \"full_attention\": {\"rope_type\": \"yarn\", \"rope_theta\": 1000000, \"factor\": 8, "
                "\"original_max_position_embeddings\": 512}}}"},
      {SMOLLM, PARAMETERS "\"rope_type\": \"default\", \"rope_theta\": 2000000}}"},
      {V4,
       REPLACED "\"compress\": {\"rope_type\": \"yarn\", \"rope_theta\": 160000, \"factor\": 8, "
                "\"attention_factor\": 1, \"original_max_position_embeddings\": 512, \"partial_rotary_factor\": 0.5}, "
                "\"main\": {\"rope_type\": \"default\", " BASE ", \"partial_rotary_factor\": 0.5}}}"},
      {NO_KIND, MAXIMUM "\"position_embedding_type\": \"nope\"} # These layers turn nothing (nope)"},
  };
  expect_all("hf5", cases, RS_COUNT(cases));
}

/* Layers that turn nothing by their class, or by no_rope_layers, are in no rope_parameters: these classes read one flat
 * dictionary (modeling_llama4.py, modeling_cohere2.py, ...: config.rope_parameters["rope_type"]). */
#define LLAMA4                                                                                                         \
  "\"model_type\": \"llama4\", \"text_config\": {\"model_type\": \"llama4_text\", \"hidden_size\": 64, "               \
  "\"num_attention_heads\": 4, \"num_hidden_layers\": 4, \"rope_theta\": 500000, \"attention_chunk_size\": 64, "       \
  "\"max_position_embeddings\": 4096, \"no_rope_layers\": [1, 1, 1, 0]}"
#define COHERE2                                                                                                        \
  "\"model_type\": \"cohere2\", \"num_hidden_layers\": 4, \"sliding_window\": 64, \"sliding_window_pattern\": 4"
#define EXAONE4                                                                                                        \
  "\"model_type\": \"exaone4\", \"num_hidden_layers\": 4, \"sliding_window\": 64, \"sliding_window_pattern\": "        \
  "\"LLLG\""
#define MLLAMA                                                                                                         \
  "\"model_type\": \"mllama\", \"text_config\": {\"model_type\": \"mllama_text_model\", \"hidden_size\": 64, "         \
  "\"num_attention_heads\": 4, \"num_hidden_layers\": 4, \"rope_theta\": 500000, \"cross_attention_layers\": [2], "    \
  "\"max_position_embeddings\": 4096, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, "                   \
  "\"low_freq_factor\": 1, \"high_freq_factor\": 4, \"original_max_position_embeddings\": 512}}"

Test(convert_families, layers_without_positions__one_flat_dictionary) {
  static const char *const models[] = {LLAMA4, COHERE2, EXAONE4, SMOLLM, MLLAMA}, *const consumers[] = {"hf5", "vllm"};
  for (size_t i = 0; i < RS_COUNT(models) * RS_COUNT(consumers); i++) {
    const char *keys = models[i / RS_COUNT(consumers)], *to = consumers[i % RS_COUNT(consumers)];
    rs_text got = {0};
    convert(keys, to, 0, &got);
    cr_expect_not_null(strstr(got.data, "\"rope_parameters\": {\"rope_type\": \""), "%s", got.data);
    cr_expect_null(strstr(got.data, "attention\": "), "%s", got.data);
    rs_text_clear(&got);
  }
}

Test(convert_families, mlx) {
  static const convert_case cases[] = {
      {YARN_OF("\"factor\": 1, \"attention_factor\": 1.25, \"original_max_position_embeddings\": 4096"),
       MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"type\": \"yarn\", \"factor\": 1, "
                    "\"attention_factor\": 1.25, \"original_max_position_embeddings\": 4096}} # mlx-lm multiplies cos "
                    "and sin by 1 for a factor up to 1, and not by 1.25."},
      {MINISTRAL("\"rope_type\": \"default\""),
       MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"default\", \"type\": \"default\", \"llama_4_scaling_beta\": "
                    "0.1, \"original_max_position_embeddings\": 512}, \"rope_parameters\": {\"rope_type\": "
                    "\"default\", \"type\": \"default\", " BASE ", "
                    "\"llama_4_scaling_beta\": 0.1, \"original_max_position_embeddings\": 512}} # llama_4_scaling_beta "
                    "is read by the class of "
                    "Ministral 3 alone."},
      {GPT_J, MAXIMUM BASE ", \"rotary_dim\": 8, \"rope_scaling\": null} # Pairs are dims (2j, 2j + 1)"},
      {NO_KIND, "{} # These layers turn nothing (nope): in mlx-lm"},
  };
  expect_all("mlx", cases, RS_COUNT(cases));
}

Test(convert_families, gguf) {
#define GGUF(name, dims, base)                                                                                         \
  "{\"" name ".context_length\": 4096, \"" name ".rope.dimension_count\": " dims ", \"" name ".rope.freq_base\":"      \
  " " base
  static const convert_case cases[] = {
      {THREE, GGUF("llama", "16", "1000000") ", \"llama.rope.freq_base_swa\": 20000} # Layers sliding_attention turn "
                                             "otherwise, which is the architecture's to know."},
      {SMOLLM, GGUF("smollm3", "16", "2000000") "} # Layers full_attention_nope turn nothing, which"},
      {NEXT, GGUF("qwen3next", "4", "10000") "}"},
      {PROPORTIONAL,
       GGUF("gemma4", "16", "1000000") ", \"gemma4.rope.freq_base_swa\": 10000, \"tensors\": "
                                       "{\"rope_freqs.weight\": [1, 1, 1e+30, 1e+30, 1e+30, 1e+30, 1e+30, "
                                       "1e+30]}} # What stands in tensors is data of the file"},
      {T5, "{\"{arch}.context_length\": 4096, \"{arch}.attention.relative_buckets_count\": 16} # {arch} stands for # "
           "These layers turn nothing (t5)"},
      {NO_KIND, "{\"{arch}.context_length\": 4096} # {arch} stands for # These layers turn nothing (nope)"},
  };
  expect_all("gguf-metadata", cases, RS_COUNT(cases));
}

/* A name that begins like another one's is not that one's. */
Test(convert_families, gguf__architectures_by_their_whole_name) {
  static const char *const names[][2] = {
      {"qwen3", "qwen3"},           {"qwen3_5", "qwen35"},          {"qwen3_5_moe_text", "qwen35moe"},
      {"qwen3_vl_text", "qwen3vl"}, {"qwen3_vl_moe", "qwen3vlmoe"}, {"qwen2_audio", "{arch}"},
      {"nemotron_h", "{arch}"},     {"mistral4", "mistral4"},       {"granitemoe", "granitemoe"},
      {"phi3small", "{arch}"}};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    char keys[64], wanted[64];
    rs_text got = {0};
    snprintf(keys, sizeof keys, "\"model_type\": \"%s\", \"head_dim\": 16", names[i][0]);
    snprintf(wanted, sizeof wanted, "{\"%s.context_length\": 4096", names[i][1]);
    convert(keys, "gguf-metadata", 0, &got);
    cr_expect_eq(strncmp(rs_text_string(&got), wanted, strlen(wanted)), 0, "%s: %s", keys, rs_text_string(&got));
    rs_text_clear(&got);
  }
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* A note for each consumer and recipe, also for one that turns nothing; none at the published length, or within it. */
Test(convert_families, length_past_the_published_one__is_noted) {
  static const struct {
    const char *keys, *setting;
    size_t longest;
  } models[] = {
      {"\"rope_theta\": 10000000", "(YaRN would have factor 1.25 over 4096)", 4096},
      {YARN_OF("\"factor\": 8, \"original_max_position_embeddings\": 512"), "(YaRN would have factor 10 over 512)",
       4096},
      {"\"model_type\": \"bloom\", \"n_head\": 4", "5120 tokens are past the 4096 that the model is published for.",
       4096},
  };
  for (size_t i = 0; i < RS_COUNT(models); i++)
    for (size_t k = 0; rs_consumers(k) != NULL; k++) {
      const char *to = rs_consumers(k)->name;
      rs_text past = {0}, within = {0}, command = {0};
      convert(models[i].keys, to, 5120, &past);
      convert(models[i].keys, to, models[i].longest, &within);
      rs_text_printf(&command, "ropescope solve setting --to 5120 --for %s", to);
      cr_expect_not_null(strstr(past.data, models[i].setting), "%s: %s", to, past.data);
      cr_expect_eq(strstr(past.data, command.data) != NULL, i < 2, "%s: %s", to, past.data);
      cr_expect_eq(strstr(past.data, "ggml-org/llama.cpp#17459") != NULL, strcmp(to, "llamacpp") == 0, "%s", past.data);
      cr_expect_eq(strstr(past.data, "VLLM_ALLOW_LONG") != NULL, strcmp(to, "vllm") == 0, "%s", past.data);
      cr_expect_eq(strstr(past.data, "SGLANG_ALLOW_OVER") != NULL, strcmp(to, "sglang") == 0, "%s", past.data);
      cr_expect_null(strstr(within.data, "are past the"), "%s", within.data);
      rs_text_clear(&past);
      rs_text_clear(&within);
      rs_text_clear(&command);
    }
}
