/* What each consumer is given, to the letter, for each kind of recipe of one small Llama, and what it is told that it
 * cannot say. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/convert_cases.h"

#define SHORT_LIST "[1, 1, 1, 1, 1, 1, 1, 2]"
#define LONG_LIST "[1, 2, 3, 4, 5, 6, 7, 8]"

/* The recipes, of D = 16 and 4096 positions. */
#define PLAIN "\"rope_theta\": 500000"
#define PARTIAL "\"partial_rotary_factor\": 0.25"
#define LINEAR "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.5}"
#define DYNAMIC "\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4}"
#define YARN                                                                                                           \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512, "             \
  "\"attention_factor\": 1, \"beta_fast\": 16, \"truncate\": false}"
#define LLAMA3                                                                                                         \
  "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "     \
  "\"original_max_position_embeddings\": 512}"
#define LONGROPE                                                                                                       \
  "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": " SHORT_LIST ", \"long_factor\": " LONG_LIST      \
  ", \"attention_factor\": 1.5, \"original_max_position_embeddings\": 512}"
/* DeepSeek's: what multiplies cos and sin is 1, and the softmax has the rest. */
#define SOFTMAX_KEYS "\"factor\": 8, \"mscale\": 1, \"mscale_all_dim\": 1, \"original_max_position_embeddings\": 512"
#define SOFTMAX                                                                                                        \
  "\"model_type\": \"deepseek_v3\", \"qk_rope_head_dim\": 16, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16, "          \
  "\"kv_lora_rank\": 8, \"q_lora_rank\": null, \"rope_scaling\": {\"type\": \"yarn\", " SOFTMAX_KEYS "}"
#define MROPE "\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [4, 2, 2]}"

/* ---- config.json ------------------------------------------------------------------------------------------------- */

#define MAXIMUM "{\"max_position_embeddings\": 4096, "
#define YARN_KEYS "\"factor\": 8, \"beta_fast\": 16, \"truncate\": false, \"attention_factor\": 1, "
#define LLAMA3_KEYS                                                                                                    \
  "\"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4, \"original_max_position_embeddings\": 512"
#define LISTS "\"short_factor\": " SHORT_LIST ", \"long_factor\": " LONG_LIST
#define ORIGINAL "\"original_max_position_embeddings\": 512"
#define BASE "\"rope_theta\": 10000"

Test(convert, transformers_4) {
  static const convert_case cases[] = {
      {PLAIN, MAXIMUM PLAIN ", \"rope_scaling\": null}"},
      {PARTIAL, MAXIMUM BASE ", \"partial_rotary_factor\": 0.25, \"rope_scaling\": null}"},
      {LINEAR, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.5}}"},
      {DYNAMIC, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4}}"},
      {YARN, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"yarn\", " YARN_KEYS ORIGINAL
                          "}} # transformers up to 4.50 ignores original_max_position_embeddings"},
      {LLAMA3, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"llama3\", " LLAMA3_KEYS "}}"},
      {LONGROPE, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
                              ", \"attention_factor\": 1.5}, " ORIGINAL "}"},
      {MROPE, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"default\", \"mrope_section\": [4, 2, 2]}}"},
  };
  expect_all("hf4", cases, RS_COUNT(cases));
}

#define PARAMETERS MAXIMUM "\"rope_parameters\": {\"rope_type\": "
/* In a file with rope_scaling, which transformers 5 would take first. */
#define NO_SCALING "\"rope_scaling\": null, "
#define REPLACED MAXIMUM NO_SCALING "\"rope_parameters\": {\"rope_type\": "

Test(convert, transformers_5) {
  static const convert_case cases[] = {
      {PLAIN, PARAMETERS "\"default\", " PLAIN "}}"},
      {PARTIAL, PARAMETERS "\"default\", " BASE ", \"partial_rotary_factor\": 0.25}}"},
      {LINEAR, REPLACED "\"linear\", " BASE ", \"factor\": 2.5}}"},
      {DYNAMIC, REPLACED "\"dynamic\", " BASE ", \"factor\": 4}}"},
      {YARN, REPLACED "\"yarn\", " BASE ", " YARN_KEYS ORIGINAL "}}"},
      {LLAMA3, REPLACED "\"llama3\", " BASE ", " LLAMA3_KEYS "}}"},
      {LONGROPE, REPLACED "\"longrope\", " BASE ", " LISTS ", \"attention_factor\": 1.5, " ORIGINAL "}, " ORIGINAL "}"},
      {MROPE, REPLACED "\"default\", " BASE ", \"mrope_section\": [4, 2, 2]}}"},
  };
  expect_all("hf5", cases, RS_COUNT(cases));
}

/* A key that no recipe has stays in the dictionary, or a note names it. */
Test(convert, keys_of_other_engines__are_kept_or_named) {
#define UNSCALED                                                                                                       \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512, "             \
  "\"apply_yarn_scaling\": false, \"of_ours\": \"a word\", \"finetuned\": true}"
#define KEPT "\"apply_yarn_scaling\": false, \"of_ours\": \"a word\", \"finetuned\": true"
#define DROPPED(key) " # " key " of the file's rope_scaling is left out: transformers, whose recipe this is, "
#define ALL_DROPPED DROPPED("apply_yarn_scaling = false") DROPPED("of_ours = a word") DROPPED("finetuned = true")
  static const convert_case of5[] = {
      {UNSCALED, REPLACED "\"yarn\", " BASE ", \"factor\": 8, " ORIGINAL ", " KEPT "}}"}};
  static const convert_case of4[] = {{UNSCALED, MAXIMUM BASE
                                      ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, " ORIGINAL ", " KEPT
                                      "}} # transformers up to 4.50 ignores original_max_position_embeddings"}};
  static const convert_case vllm[] = {
      {UNSCALED, "--hf-overrides {\"rope_parameters\": {\"rope_type\": \"yarn\", " BASE ", \"factor\": 8, " ORIGINAL
                 "}} --max-model-len 4096 # vLLM before pull request 56446 (2026-09) multiplies cos and sin by 1 where "
                 "apply_yarn_scaling is false: by 1.20794 with these keys # That is of vLLM before" ALL_DROPPED}};
  static const convert_case mlx[] = {
      {UNSCALED, MAXIMUM BASE
       ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"type\": \"yarn\", \"factor\": 8, " ORIGINAL "}}" ALL_DROPPED}};
  expect_all("hf5", of5, RS_COUNT(of5));
  expect_all("hf4", of4, RS_COUNT(of4));
  expect_all("vllm", vllm, RS_COUNT(vllm));
  expect_all("mlx", mlx, RS_COUNT(mlx));
}

/* By types of layers where they differ: base and scale of their own, null where nothing turns. */
Test(convert, layers__are_told_apart) {
  static const char local[] = "\"num_hidden_layers\": 4, \"layer_types\": [\"sliding_attention\", \"full_attention\", "
                              "\"sliding_attention\", \"full_attention\"], \"sliding_window\": 64, "
                              "\"rope_local_base_freq\": 500, " LINEAR;
  static const char bare[] = "\"num_hidden_layers\": 4, \"layer_types\": [\"sliding_attention\", \"full_attention\", "
                             "\"sliding_attention\", \"full_attention\"], \"sliding_window\": 64, \"rope_parameters\": "
                             "{\"full_attention\": null, \"sliding_attention\": {\"rope_type\": \"default\"}}";
  static const char bases[] = "\"model_type\": \"granite_swa\", \"num_hidden_layers\": 4, \"sliding_window\": 64, "
                              "\"layer_rope_theta\": [0, 100, 500, 100]";
  const convert_case of4[] = {
      {local,
       MAXIMUM BASE ", \"rope_local_base_freq\": 500, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.5}}"},
      {bare, MAXIMUM BASE ", \"rope_scaling\": null, \"rope_parameters\": null} # Layers full_attention turn nothing, "
                          "by null in rope_parameters: "
                          "transformers 4 has no key for that."}};
  const convert_case of5[] = {
      {local, MAXIMUM NO_SCALING
       "\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 500}, "
       "\"full_attention\": {\"rope_type\": \"linear\", " BASE ", \"factor\": 2.5}}}"},
      {bare, MAXIMUM "\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": \"default\", " BASE
                     "}, \"full_attention\": null}}"},
      {bases,
       PARAMETERS "\"default\", \"rope_theta\": 100}} # layer_rope_theta of the file, the base of each layer, "}};
  const convert_case options[] = {
      {local, "--rope-scaling linear --rope-freq-base 10000 --rope-scale 2.5 -c 10240 # This is of full_attention "
              "(layers 1, 3), not sliding_attention (0, 2): "}};
  const convert_case file[] = {
      {local, "{\"llama.context_length\": 10240, \"llama.rope.dimension_count\": 16, \"llama.rope.freq_base\": 10000, "
              "\"llama.rope.freq_base_swa\": 500, \"llama.rope.scaling.type\": \"linear\", "
              "\"llama.rope.scaling.factor\": 2.5}"}};
  const convert_case training[] = {
      {bare, "--position-embedding-type rope --rotary-base 10000 --no-rope-freq [0,1,0,1] --max-position-embeddings "
             "4096"}};
  expect_all("hf4", of4, RS_COUNT(of4));
  expect_all("hf5", of5, RS_COUNT(of5));
  expect_all("llamacpp", options, RS_COUNT(options));
  expect_all("gguf-metadata", file, RS_COUNT(file));
  expect_all("megatron", training, RS_COUNT(training));
}

/* What a class does by itself has no keys here; a preset, which has no class, says what it can. */
Test(convert, layers_that_turn_nothing) {
  static const char bloom[] = "\"model_type\": \"bloom\", \"n_head\": 4";
  static const convert_case file[] = {{bloom, "{} # These layers turn nothing (alibi): in transformers"}};
  static const convert_case gguf[] = {
      {bloom, "{\"bloom.context_length\": 4096, \"bloom.attention.max_alibi_bias\": 8} # These layers turn nothing"}};
  static const convert_case megatron[] = {
      {"\"position_embedding_type\": \"nope\"", "--position-embedding-type none --max-position-embeddings 4096"}};
  rs_convertible model;
  rs_conversion conversion;
  rs_err err = {0};
  expect_all("hf4", file, RS_COUNT(file));
  expect_all("hf5", file, RS_COUNT(file));
  expect_all("gguf-metadata", gguf, RS_COUNT(gguf));
  expect_all("megatron", megatron, RS_COUNT(megatron));
  cr_assert_eq(rs_convertible_preset("gpt2", &model, &err), RS_OK);
  cr_assert_eq(rs_convert(&model, "hf5", 0, &conversion, &err), RS_OK);
  cr_expect_str_eq(conversion.fragment,
                   "{\n  \"max_position_embeddings\": 1024,\n  \"position_embedding_type\": \"absolute\"\n}\n");
  rs_conversion_clear(&conversion);
  rs_convertible_clear(&model);
  cr_assert_eq(rs_convertible_preset("deepseek-v3", &model, &err), RS_OK);
  cr_assert_eq(rs_convert(&model, "hf5", 0, &conversion, &err), RS_OK);
  bool told = false;
  for (size_t i = 0; i < conversion.notes.count; i++)
    told |= strncmp(conversion.notes.items[i], "64 dims turn and 128 do not: ", 29) == 0;
  cr_expect(told, "which dims turn");
  rs_conversion_clear(&conversion);
  rs_convertible_clear(&model);
}

Test(convert, mlx) {
  static const convert_case cases[] = {
      {PLAIN, MAXIMUM PLAIN ", \"rope_scaling\": null}"},
      {PARTIAL, MAXIMUM BASE ", \"partial_rotary_factor\": 0.25, \"rope_scaling\": null}"},
      {LINEAR, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"linear\", \"type\": \"linear\", \"factor\": 2.5}}"},
      {DYNAMIC,
       MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"dynamic\", \"type\": \"dynamic\", \"factor\": 4}} # "
                    "mlx-lm up to 0.31.3 has no dynamic NTK"},
      {YARN,
       MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"type\": \"yarn\", " YARN_KEYS
                    "\"mscale\": 0, \"mscale_all_dim\": 0, " ORIGINAL
                    "}} # mlx-lm always rounds the ends # mlx-lm's releases read no attention_factor: mscale says 1 "
                    "there, as 0.1 mscale ln s + 1."},
      {LLAMA3, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"llama3\", \"type\": \"llama3\", " LLAMA3_KEYS "}}"},
      {LONGROPE, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"longrope\", \"type\": \"longrope\", " LISTS
                              ", \"attention_factor\": 1.5, " ORIGINAL "}} # mlx-lm has long_factor for every length "
                              "# mlx-lm multiplies by 1.154700538, which max_position_embeddings gives"},
      {MROPE, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"default\", \"type\": \"default\", "
                           "\"mrope_section\": [4, 2, 2]}} # mlx-lm "
                           "turns text alone"},
      {SOFTMAX, MAXIMUM BASE ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"type\": \"yarn\", " SOFTMAX_KEYS
                             "}} # Pairs are dims (2j, "
                             "2j + 1)"},
  };
  expect_all("mlx", cases, RS_COUNT(cases));
}

/* ---- servers ----------------------------------------------------------------------------------------------------- */

#define PRODUCT "\"factor\": 8, \"beta_fast\": 16, \"truncate\": false, \"attn_factor\": 0.8278528411677998, " ORIGINAL
#define LISTED "\"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
#define PLACES LISTS ", \"short_mscale\": 1.5, \"long_mscale\": 1.5, " ORIGINAL
#define OVERRIDES "--hf-overrides {\"rope_parameters\": {\"rope_type\": "
#define LENGTH "}} --max-model-len "

/* attention_factor, which is not read, becomes what multiplies the formula, or stands in its place. */
Test(convert, vllm) {
  static const convert_case cases[] = {
      {PLAIN, OVERRIDES "\"default\", " PLAIN LENGTH "4096"},
      {PARTIAL, OVERRIDES "\"default\", " BASE ", \"partial_rotary_factor\": 0.25" LENGTH "4096"},
      {LINEAR, OVERRIDES "\"linear\", " BASE ", \"factor\": 2.5" LENGTH "10240"},
      {DYNAMIC, OVERRIDES "\"dynamic\", " BASE ", \"factor\": 4" LENGTH
                          "16384 # vLLM has one base for all lengths, that of 16384 tokens (factor * 4096)"},
      {YARN, OVERRIDES "\"yarn\", " BASE ", " PRODUCT LENGTH
                       "4096 # vLLM multiplies 0.1 ln s + 1 by attn_factor: 0.8278528412 makes it 1, # That is of vLLM "
                       "before pull request 56446"},
      {LLAMA3, OVERRIDES "\"llama3\", " BASE ", " LLAMA3_KEYS LENGTH "4096"},
      {LONGROPE, OVERRIDES "\"longrope\", " BASE ", " PLACES LENGTH
                           "4096 # vLLM chooses long_factor once, as --max-model-len is above 512"},
      {MROPE, OVERRIDES "\"default\", " BASE ", \"mrope_section\": [4, 2, 2]" LENGTH "4096"},
  };
  expect_all("vllm", cases, RS_COUNT(cases));
}

#define SCALING "--json-model-override-args {\"rope_scaling\": {\"rope_type\": "
#define CONTEXT "}, \"rope_theta\": 10000} --context-length "

Test(convert, sglang) {
  static const convert_case cases[] = {
      {PLAIN, SCALING "\"default\", " PLAIN "}, " PLAIN "} --context-length 4096"},
      {PARTIAL, SCALING "\"default\", " BASE ", \"partial_rotary_factor\": 0.25" CONTEXT "4096"},
      {LINEAR, SCALING "\"linear\", " BASE ", \"factor\": 2.5" CONTEXT "10240"},
      {DYNAMIC, SCALING "\"dynamic\", " BASE ", \"factor\": 4" CONTEXT "16384 # SGLang has one base for all lengths"},
      {YARN, SCALING "\"yarn\", " BASE ", " PRODUCT CONTEXT
                     "4096 # SGLang multiplies 0.1 ln s + 1 by attn_factor: 0.8278528412 makes it 1,"},
      {LLAMA3, SCALING "\"llama3\", " BASE ", " LLAMA3_KEYS CONTEXT "4096"},
      {LONGROPE, SCALING "\"longrope\", " BASE ", " PLACES CONTEXT
                         "4096 # SGLang chooses long_factor once, as --context-length is above 512"},
      {MROPE, SCALING "\"default\", " BASE ", \"mrope_section\": [4, 2, 2]" CONTEXT "4096"},
  };
  expect_all("sglang", cases, RS_COUNT(cases));
}

/* What multiplies is the file's own where it says both lengths' apart; attention_factor wins over these. */
Test(convert, longrope__amplitudes_of_each_length) {
  static const char apart[] = LISTED ", \"long_mscale\": 1.25, " ORIGINAL "}";
  static const char whole[] = LISTED ", \"long_mscale\": 1.25, \"attention_factor\": 1.5, " ORIGINAL "}";
  static const char formula[] = LISTED ", \"factor\": 8, " ORIGINAL "}";
  static const convert_case cases[] = {
      {apart, OVERRIDES "\"longrope\", " BASE ", " LISTS ", \"long_mscale\": 1.25, " ORIGINAL LENGTH
                        "4096 # vLLM chooses long_factor once"},
      {whole, OVERRIDES "\"longrope\", " BASE ", " PLACES LENGTH "4096 # vLLM chooses long_factor once"},
      {formula, OVERRIDES "\"longrope\", " BASE ", " LISTS ", " ORIGINAL LENGTH "4096 # vLLM chooses long_factor once"},
  };
  expect_all("vllm", cases, RS_COUNT(cases));
}

/* vLLM's ramp of M-RoPE is that of four times the length; SGLang's class is another. */
Test(convert, mrope_with_yarn__vllm_alone_differs) {
  static const char keys[] = "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, \"mrope_section\": [4, 2, 2], "
                             "\"original_max_position_embeddings\": 1024}";
  rs_text vllm = {0}, sglang = {0};
  convert(keys, "vllm", 0, &vllm);
  convert(keys, "sglang", 0, &sglang);
  cr_expect_not_null(strstr(vllm.data, " # vLLM turns 4 of 8 pairs otherwise, pair 5 by 75 % ("), "%s", vllm.data);
  cr_expect_null(strchr(sglang.data, '#'), "%s", sglang.data);
  rs_text_clear(&vllm);
  rs_text_clear(&sglang);
}

/* ---- llama.cpp --------------------------------------------------------------------------------------------------- */

Test(convert, llama_cpp) {
  static const convert_case cases[] = {
      {PLAIN, "--rope-scaling none --rope-freq-base 500000 -c 4096"},
      {PARTIAL, "--rope-scaling none --rope-freq-base 10000 -c 4096 # That 4 of 16 dims turn stands in the GGUF"},
      {LINEAR, "--rope-scaling linear --rope-freq-base 10000 --rope-scale 2.5 -c 10240"},
      {DYNAMIC, "--rope-scaling none --rope-freq-base 187533.17952758705 -c 16384 # llama.cpp has no dynamic NTK: this "
                "is the base of 16384 tokens"},
      {YARN,
       "--rope-scaling yarn --rope-freq-base 10000 --rope-scale 8 --yarn-orig-ctx 512 --yarn-ext-factor 1 "
       "--yarn-beta-fast 16 --yarn-beta-slow 1 --yarn-attn-factor 0.8278528411677998 -c 4096 # llama.cpp since "
       "pull request 17945 (2025-12) computes --yarn-attn-factor itself: there --override-kv "
       "ARCH.rope.scaling.attn_factor=float:0.827852841 # llama.cpp turns 2 of 8 pairs otherwise, pair 2 by 10 %"},
      {"\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512}",
       "--rope-scaling yarn --rope-freq-base 10000 --rope-scale 8 --yarn-orig-ctx 512 --yarn-ext-factor 1 "
       "--yarn-beta-fast 32 --yarn-beta-slow 1 --yarn-attn-factor 1 -c 4096"},
      {LLAMA3, "--rope-scaling none --rope-freq-base 10000 -c 4096 # llama3 is no option: the GGUF's tensor "
               "rope_freqs.weight # convert_hf_to_gguf.py takes 8192 for the original length, unless 512"},
      {LONGROPE, "--rope-freq-base 10000 -c 4096 # longrope is no option: the GGUF's tensors rope_factors_long.weight "
                 "and rope_factors_short.weight # convert_hf_to_gguf.py computes what multiplies cos and sin, "
                 "1.15470054: --override-kv ARCH.rope.scaling.attn_factor=float:1.5 "},
      {MROPE, "--rope-scaling none --rope-freq-base 10000 -c 4096 # mrope_section stands in the GGUF"},
  };
  expect_all("llamacpp", cases, RS_COUNT(cases));
}

#define GGUF(base)                                                                                                     \
  "{\"llama.context_length\": 4096, \"llama.rope.dimension_count\": 16, \"llama.rope.freq_base\": " base
#define IS "\"llama.rope.scaling."

Test(convert, gguf) {
  static const convert_case cases[] = {
      {PLAIN, GGUF("500000") "}"},
      {PARTIAL, "{\"llama.context_length\": 4096, \"llama.rope.dimension_count\": 4, \"llama.rope.freq_base\": 10000}"},
      {LINEAR,
       "{\"llama.context_length\": 10240, \"llama.rope.dimension_count\": 16, \"llama.rope.freq_base\": 10000, " IS
       "type\": \"linear\", " IS "factor\": 2.5}"},
      {DYNAMIC, "{\"llama.context_length\": 16384, \"llama.rope.dimension_count\": 16, \"llama.rope.freq_base\": "
                "187533.17952758705} # llama.cpp has no dynamic NTK"},
      {YARN, GGUF("10000") ", " IS "type\": \"yarn\", " IS "factor\": 8, " IS "original_context_length\": 512, " IS
                           "yarn_beta_fast\": 16, " IS "yarn_beta_slow\": 1, " IS
                           "attn_factor\": 0.8278528411677998} # llama.cpp turns 2 of 8 pairs otherwise"},
      {LLAMA3,
       GGUF("10000") ", \"tensors\": {\"rope_freqs.weight\": [1, 1, 1, 1.7096465129737741, 8, 8, 8, 8]}} # What "
                     "stands in tensors is data"},
      {LONGROPE, GGUF("10000") ", " IS "type\": \"longrope\", " IS "original_context_length\": 512, " IS
                               "attn_factor\": 1.5, \"tensors\": {\"rope_factors_long.weight\": " LONG_LIST
                               ", \"rope_factors_short.weight\": " SHORT_LIST "}} # What stands in tensors"},
      {MROPE, GGUF("10000") ", \"llama.rope.dimension_sections\": [4, 2, 2, 0]}"},
  };
  expect_all("gguf-metadata", cases, RS_COUNT(cases));
}

/* ---- Megatron-LM ------------------------------------------------------------------------------------------------- */

#define TURNS "--position-embedding-type rope --rotary-base "
#define UP_TO " --max-position-embeddings "

Test(convert, megatron) {
  static const convert_case cases[] = {
      {PLAIN, TURNS "500000" UP_TO "4096"},
      {PARTIAL, TURNS "10000 --rotary-percent 0.25" UP_TO "4096"},
      {LINEAR, TURNS "10000" UP_TO "10240 # --rotary-seq-len-interpolation-factor takes whole numbers: factor = 2.5"},
      {"\"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}",
       TURNS "10000 --rotary-seq-len-interpolation-factor 4" UP_TO "16384"},
      {DYNAMIC, TURNS "187533" UP_TO "16384 # --rotary-base takes whole numbers: 187533.1795 # Megatron-LM has no "
                      "dynamic NTK"},
      {YARN, "--position-embedding-type yarn --rotary-base 10000 --rotary-scaling-factor 8 "
             "--yarn-original-max-position-embeddings 512 --yarn-beta-fast 16 --yarn-beta-slow 1 "
             "--no-yarn-correction-range-round-to-int --mscale 0 --mscale-all-dim 0" UP_TO
             "4096 # cos and sin are multiplied by 1, which --mscale says"},
      {LLAMA3, TURNS "10000 --use-rope-scaling --rope-scaling-factor 8" UP_TO
                     "4096 # Megatron-LM has low_freq_factor 1, high_freq_factor 4 and original length 8192 built in"},
      {LONGROPE, TURNS "10000" UP_TO "4096 # Megatron-LM has no longrope: this is plain RoPE"},
      {MROPE, "--position-embedding-type mrope --rotary-base 10000 --mrope-section 4 2 2" UP_TO "4096"},
      {"\"model_type\": \"qwen3_vl_text\", \"head_dim\": 16, \"rope_theta\": 5000000, \"rope_scaling\": "
       "{\"rope_type\": \"default\", "
       "\"mrope_interleaved\": true, \"mrope_section\": [4, 2, 2]}",
       "--position-embedding-type mrope --rotary-base 5000000 --mrope-section 4 2 2" UP_TO
       "4096 # Here t, h and w have their pairs one behind the other: interleaved cannot be said."},
  };
  expect_all("megatron", cases, RS_COUNT(cases));
}

/* Its YaRN has one ladder over the head, in halves. */
Test(convert, megatron_yarn__says_what_it_cannot_turn) {
  static const convert_case cases[] = {
      {PARTIAL ", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 8, " ORIGINAL "}",
       "--position-embedding-type yarn --rotary-base 10000 --rotary-percent 0.25 --rotary-scaling-factor 8 "
       "--yarn-original-max-position-embeddings 512 --yarn-beta-fast 32 --yarn-beta-slow 1 "
       "--yarn-correction-range-round-to-int" UP_TO
       "4096 # Megatron-LM's YaRN turns whole heads, whatever --rotary-percent says: 4 of 16 dims cannot be said."},
  };
  expect_all("megatron", cases, RS_COUNT(cases));
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

/* A dynamic base and LongRoPE's list are those of the length that is asked for. */
Test(convert, length__is_the_one_served) {
  rs_text shorter = {0}, plain = {0};
  convert(DYNAMIC, "llamacpp", 8192, &shorter);
  cr_expect_not_null(strstr(shorter.data, "--rope-freq-base 62924.9"), "%s", shorter.data); /* s = 5 */
  cr_expect_not_null(strstr(shorter.data, "-c 8192"), "%s", shorter.data);
  convert(LONGROPE, "vllm", 512, &plain);
  cr_expect_null(strstr(plain.data, "chooses long_factor"), "%s", plain.data);
  rs_text_clear(&shorter);
  rs_text_clear(&plain);
}

Test(convert, consumer__unknown_ones_are_named) {
  rs_convertible model = read_model(PLAIN);
  rs_conversion conversion;
  rs_err err = {0};
  cr_expect_eq(rs_convert(&model, "vlm", 0, &conversion, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "no consumer vlm (did you mean vllm?)");
  err = (rs_err){0};
  cr_expect_eq(rs_convert(&model, "tensorrt", 0, &conversion, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "no consumer tensorrt (there are: hf4, hf5, vllm, sglang, llamacpp, gguf-metadata, "
                                "megatron, mlx)");
  size_t count = 0;
  for (; rs_consumers(count) != NULL; count++) {
    cr_expect_eq(rs_convert(&model, rs_consumers(count)->name, 0, &conversion, &err), RS_OK);
    rs_conversion_clear(&conversion);
  }
  cr_expect_eq(count, 8);
  rs_convertible_clear(&model);
}

/* What compare reads again. */
Test(convert, tables__hold_the_frequencies_and_the_amplitude) {
  rs_convertible model = read_model(YARN);
  rs_spectrum spectrum;
  rs_text csv = {0}, json = {0};
  rs_err err = {0};
  cr_assert_eq(rs_convert_spectrum(&model, 0, &spectrum, &err), RS_OK, "%s", err.message);
  cr_expect_eq(spectrum.pairs, 8);
  rs_table_csv(&spectrum, &csv);
  cr_expect_eq(strncmp(csv.data, "pair,inv_freq,attention_factor\n0,1,1\n1,", 39), 0, "%s", csv.data);
  rs_table_json(&spectrum, &json);
  cr_expect_eq(strncmp(json.data, "{\n  \"inv_freq\": [1, ", 20), 0, "%s", json.data);
  cr_expect_not_null(strstr(json.data, "],\n  \"attention_factor\": 1\n}\n"), "%s", json.data);
  rs_text_clear(&csv);
  rs_text_clear(&json);
  rs_spectrum_clear(&spectrum);
  rs_convertible_clear(&model);
  cr_assert_eq(rs_convertible_preset("gpt2", &model, &err), RS_OK);
  cr_expect_eq(rs_convert_spectrum(&model, 0, &spectrum, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "learned turns no pairs: there are no frequencies");
  rs_convertible_clear(&model);
}
