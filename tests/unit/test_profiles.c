/* Which layers of a published model are of which kind, by its config.json. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "hf/hf.h"

#define SIZES "\"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 64"

static rs_profile read_profile(const char *text) {
  rs_profile profile;
  rs_text json = {0};
  rs_err err = {0};
  rs_text_printf(&json, "{" SIZES "%s%s}", *text != '\0' ? ", " : "", text);
  cr_assert_eq(rs_profile_read(json.data, json.length, "config.json", &profile, &err), RS_OK, "%s: %s", text,
               err.message);
  rs_text_clear(&json);
  return profile;
}

/* "0-1: sliding_attention, window 8, rope 10000; *2: ...", the chosen kind with a star. Release with free(). */
static char *words_of(const rs_profile *profile) {
  rs_text text = {0};
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    rs_text_printf(&text, "%s%s", k > 0 ? "; " : "", k == profile->chosen ? "*" : "");
    rs_profile_write_layers(profile, k, &text);
    rs_text_printf(&text, ": %s, ", kind->name);
    if (!kind->attends) {
      rs_text_puts(&text, "no attention");
      continue;
    }
    rs_layer_kind_write_mask(kind, &text);
    rs_text_printf(&text, ", %s", kind->model.published.method->name);
    if (kind->model.published.method->freq != NULL) rs_text_printf(&text, " %g", kind->model.rope_theta);
    if (kind->model.head_dim != 16) rs_text_printf(&text, ", D %zu", kind->model.head_dim);
    if (kind->model.head_dim != kind->model.rotary_dim) rs_text_printf(&text, ", R %zu", kind->model.rotary_dim);
  }
  return text.data;
}

typedef struct profile_case {
  const char *text, *words;
} profile_case;

static void expect_profiles(const profile_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rs_profile profile = read_profile(cases[i].text);
    char *words = words_of(&profile);
    cr_expect_str_eq(words, cases[i].words, "%s:\n%s\n%s", cases[i].text, words, cases[i].words);
    free(words);
    rs_profile_clear(&profile);
  }
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

#define MODEL(type, layers) "\"model_type\": \"" type "\", \"num_hidden_layers\": " #layers
#define HEADS "\"head_dim\": 16, "

/* Rules of transformers' configuration_*.py and modeling_*.py, of files that leave them out. */
Test(profiles, classes__turn_and_see_as_transformers_has_them) {
  static const profile_case cases[] = {
      {MODEL("llama", 3), "*0-2: full_attention, everything before, rope 10000"},
      {MODEL("mistral", 2), "*0-1: sliding_attention, window 4096, rope 10000"},
      {MODEL("mistral", 2) ", \"sliding_window\": null", "*0-1: full_attention, everything before, rope 10000"},
      {MODEL("mixtral", 2) ", \"sliding_window\": 8", "*0-1: sliding_attention, window 8, rope 1e+06"},
      {HEADS MODEL("qwen3", 3) ", \"sliding_window\": 8, \"max_window_layers\": 1",
       "*0-2: full_attention, everything before, rope 10000"},
      {HEADS MODEL("qwen3", 3) ", \"sliding_window\": 8, \"max_window_layers\": 1, \"use_sliding_window\": true",
       "*0: full_attention, everything before, rope 10000; 1-2: sliding_attention, window 8, rope 10000"},
      {MODEL("qwen3_moe", 2) ", \"sliding_window\": 8", "*0-1: full_attention, everything before, rope 10000"},
      {MODEL("qwen3_moe", 2) ", \"sliding_window\": 8, \"max_window_layers\": 1, \"use_sliding_window\": true",
       "*0-1: sliding_attention, window 8, rope 10000"},
      {MODEL("qwen2_moe", 1) ", \"sliding_window\": 0, \"use_sliding_window\": false",
       "*0: full_attention, everything before, rope 10000"},
      {MODEL("qwen2_moe", 6) ", \"max_window_layers\": 3", "*0-5: full_attention, everything before, rope 10000"},
      {MODEL("qwen2_moe", 6) ", \"max_window_layers\": 3, \"use_sliding_window\": true",
       "0, 2: sliding_attention, window 4096, rope 10000; *1, 3-5: full_attention, everything before, rope 10000"},
      {MODEL("dots1", 64), "*0-61: full_attention, everything before, rope 10000; "
                           "62-63: sliding_attention, window 4096, rope 10000"},
      {MODEL("phimoe", 2) ", \"sliding_window\": 8", "*0-1: sliding_attention, window 8, rope 1e+06"},
      {HEADS MODEL("gemma2", 3), "0, 2: sliding_attention, window 4096, rope 10000; "
                                 "*1: full_attention, everything before, rope 10000"},
      {HEADS MODEL("gemma3_text", 7), "0-4, 6: sliding_attention, window 4096, rope 10000; "
                                      "*5: full_attention, everything before, rope 1e+06"},
      {HEADS MODEL("gemma3n_text", 5), "0-3: sliding_attention, window 512, rope 10000; "
                                       "*4: full_attention, everything before, rope 1e+06"},
      {HEADS MODEL("gpt_oss", 2), "0: sliding_attention, window 128, rope 150000; "
                                  "*1: full_attention, everything before, rope 150000"},
      {MODEL("olmo3", 4), "0-2: sliding_attention, window 4096, rope 500000; "
                          "*3: full_attention, everything before, rope 500000"},
      {MODEL("cohere2", 4), "*0-2: sliding_attention, window 4096, rope 10000; "
                            "3: full_attention, everything before, nope"},
      {MODEL("exaone4", 4), "*0-2: sliding_attention, window 4096, rope 10000; "
                            "3: full_attention, everything before, nope"},
      {MODEL("exaone4", 2) ", \"sliding_window\": null", "*0-1: full_attention, everything before, rope 10000"},
      {MODEL("exaone4", 5) ", \"sliding_window\": 8, \"sliding_window_pattern\": \"LG\"",
       "*0, 2: sliding_attention, window 8, rope 10000; 1, 3-4: full_attention, everything before, nope"},
      {MODEL("afmoe", 4), "*0-2: sliding_attention, window 1024, rope 10000; "
                          "3: full_attention, everything before, nope"},
      {MODEL("smollm3", 4), "*0-2: full_attention, everything before, rope 2e+06; "
                            "3: full_attention_nope, everything before, nope"},
      {MODEL("smollm3", 4) ", \"use_sliding_window\": true, \"sliding_window\": 8",
       "*0-2: full_attention, everything before, rope 2e+06; 3: sliding_attention, window 8, nope"},
      {MODEL("llama4_text", 4), "*0-2: chunked_attention, chunks of 8192, rope 500000; "
                                "3: full_attention, everything before, nope"},
      {MODEL("cwm", 5) ", " HEADS "\"sliding_window\": 8",
       "*0, 4: full_attention, everything before, rope 1e+06; 1-3: sliding_attention, window 8, rope 1e+06"},
      {MODEL("modernbert", 4), "*0, 3: full_attention, everything, rope 160000; "
                               "1-2: sliding_attention, window 64 on both sides, rope 10000"},
      {"\"head_dim\": 18, " MODEL("mimo_v2_flash", 7),
       "*0, 5: full_attention, everything before, rope 5e+06, D 18, R 6; "
       "1-4, 6: sliding_attention, window 128, rope 10000, D 18, R 6"},
      {HEADS MODEL("gemma4_text", 3) ", \"global_head_dim\": 32, \"rope_parameters\": {\"full_attention\": "
                                     "{\"rope_type\": \"proportional\", \"rope_theta\": 1e6, "
                                     "\"partial_rotary_factor\": 0.25}, \"sliding_attention\": {\"rope_theta\": 1e4}}",
       "0-1: sliding_attention, window 512, rope 10000; "
       "*2: full_attention, everything before, proportional 1e+06, D 32"},
      {HEADS MODEL("qwen3_next", 4), "0-2: linear_attention, no attention; "
                                     "*3: full_attention, everything before, rope 10000, R 4"},
      {MODEL("nemotron_h", 4) ", \"hybrid_override_pattern\": \"M*E-\"",
       "0: mamba, no attention; *1: full_attention, everything before, nope; 2: moe, no attention; "
       "3: mlp, no attention"},
      {MODEL("jamba", 4) ", \"attn_layer_period\": 2, \"attn_layer_offset\": 1",
       "0, 2: mamba, no attention; *1, 3: full_attention, everything before, nope"},
      {MODEL("mllama_text_model", 3) ", \"cross_attention_layers\": [1]",
       "*0, 2: full_attention, everything before, rope 500000; 1: cross_attention, another sequence, nope"},
  };
  expect_profiles(cases, RS_COUNT(cases));
}

/* Plain on layers with a window alone, 160000 with YaRN on those that see averaged keys, no amplitude on either. */
Test(profiles, deepseek_v4__two_recipes_on_three_kinds) {
  static const char latent[] = "\"head_dim\": 16, \"qk_rope_head_dim\": 4, ";
  static const char yarn[] = ", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 16, "
                             "\"original_max_position_embeddings\": 32}";
  static const char nested[] = ", \"rope_parameters\": {\"main\": {\"rope_theta\": 1e4}, \"compress\": {\"rope_type\": "
                               "\"yarn\", \"factor\": 16, \"rope_theta\": 160000, "
                               "\"original_max_position_embeddings\": 32}}";
  static const char ratios[] = MODEL("deepseek_v4", 4) ", \"compress_ratios\": [0, 4, 128, 4, 0]";
  const char *const ropes[] = {yarn, nested};
  for (size_t i = 0; i < RS_COUNT(ropes); i++) {
    rs_text text = {0};
    rs_text_printf(&text, "%s%s%s", latent, ratios, ropes[i]);
    rs_profile profile = read_profile(text.data);
    char *words = words_of(&profile);
    cr_expect_str_eq(words,
                     "0: sliding_attention, window 128, rope 10000, R 4; "
                     "*1, 3: compressed_sparse_attention, window 128, beyond it 4 keys as one, yarn 160000, R 4; "
                     "2: heavily_compressed_attention, window 128, beyond it 128 keys as one, yarn 160000, R 4",
                     "%s", words);
    const rs_settings *settings = &profile.kinds[1].model.published.settings;
    cr_expect_eq(rs_setting(settings, "attention_factor")->number, 1);
    cr_expect_eq(rs_setting(settings, "factor")->number, 16);
    free(words);
    rs_profile_clear(&profile);
    rs_text_clear(&text);
  }
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

Test(profiles, keys__say_which_layers_do_what) {
  static const profile_case cases[] = {
      {"", "*all: full_attention, everything before, rope 10000"},
      {"\"num_hidden_layers\": 3, \"layer_types\": [\"sliding_attention\", \"attention\", \"mamba\"], "
       "\"sliding_window\": 8",
       "0: sliding_attention, window 8, rope 10000; *1: full_attention, everything before, rope 10000; "
       "2: mamba, no attention"},
      {"\"num_hidden_layers\": 3, \"sliding_window_pattern\": 3, \"sliding_window\": 8",
       "0-1: sliding_attention, window 8, rope 10000; *2: full_attention, everything before, rope 10000"},
      {"\"num_hidden_layers\": 3, \"no_rope_layers\": [1, 0, 1]",
       "*0, 2: full_attention, everything before, rope 10000; 1: full_attention_nope, everything before, nope"},
      {"\"num_hidden_layers\": 4, \"no_rope_layer_interval\": 2",
       "*0, 2: full_attention, everything before, rope 10000; 1, 3: full_attention_nope, everything before, nope"},
      {HEADS MODEL("gemma3_text", 2) ", \"sliding_window_pattern\": 2, \"sliding_window\": 8, \"rope_theta\": 5e5, "
                                     "\"rope_local_base_freq\": 2e4, \"rope_scaling\": {\"type\": \"linear\", "
                                     "\"factor\": 8}",
       "0: sliding_attention, window 8, rope 20000; *1: full_attention, everything before, pi 500000"},
      {HEADS MODEL("gemma3_text", 2) ", \"sliding_window_pattern\": 2, \"rope_parameters\": {\"full_attention\": "
                                     "{\"rope_type\": \"linear\", \"factor\": 8, \"rope_theta\": 3e5}}",
       "0: sliding_attention, window 4096, rope 10000; *1: full_attention, everything before, pi 300000"},
      {MODEL("modernbert",
             2) ", \"local_attention\": 16, \"global_attn_every_n_layers\": 2, \"local_rope_theta\": "
                "500, \"global_rope_theta\": 700, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}",
       "*0: full_attention, everything, pi 700; 1: sliding_attention, window 8 on both sides, pi 500"},
      {HEADS MODEL("gemma3_text", 2) ", \"sliding_window_pattern\": 2, \"sliding_window\": 64, "
                                     "\"use_bidirectional_attention\": true",
       "0: sliding_attention, window 32 on both sides, rope 10000; *1: full_attention, everything, rope 1e+06"},
      {MODEL("olmo3", 4) ", \"rope_theta\": 300, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}",
       "0-2: sliding_attention, window 4096, rope 300; *3: full_attention, everything before, pi 300"},
      {HEADS MODEL("mimo_v2_flash", 3) ", \"hybrid_layer_pattern\": [1, 0, 1], \"swa_rope_theta\": 300, "
                                       "\"swa_head_dim\": 32, \"partial_rotary_factor\": 0.5",
       "0, 2: sliding_attention, window 128, rope 300, D 32, R 16; "
       "*1: full_attention, everything before, rope 5e+06, R 8"},
      {MODEL("cohere2", 2) ", \"layer_types\": [\"full_attention\", \"sliding_attention\"], \"rope_parameters\": "
                           "{\"full_attention\": null, \"sliding_attention\": {\"rope_theta\": 300}}",
       "0: full_attention, everything before, nope; *1: sliding_attention, window 4096, rope 300"},
      {MODEL("llama4_text", 2) ", \"attention_chunk_size\": 8, \"no_rope_layers\": [0, 1]",
       "0: full_attention, everything before, nope; *1: chunked_attention, chunks of 8, rope 500000"},
  };
  expect_profiles(cases, RS_COUNT(cases));
}

/* Which layers attend keys that they choose, have a state in the place of attention, or a base of their own. */
Test(profiles, layers__of_2026) {
#define KIMI(full, kda)                                                                                                \
  "\"linear_attn_config\": {\"full_attn_layers\": " full ", \"kda_layers\": " kda ", \"head_dim\": 8}"
#define NOPE_OF(layers) MODEL("kimi_linear", layers) ", \"mla_use_nope\": true"
#define CHOICE " (the choice is not modelled yet)"
  static const profile_case cases[] = {
      {MODEL("recurrent_gemma", 4),
       "0-1, 3: linear_attention, no attention; *2: sliding_attention, window 2048, rope 10000, R 8"},
      {MODEL("recurrent_gemma", 4) ", \"block_types\": [\"attention\", \"recurrent\"], \"attention_window_size\": 9",
       "*0, 2: sliding_attention, window 9, rope 10000, R 8; 1, 3: recurrent, no attention"},
      {MODEL("granitemoehybrid", 1), "*0: full_attention, everything before, nope"},
      {MODEL("granitemoehybrid", 1) ", \"position_embedding_type\": \"rope\"",
       "*0: full_attention, everything before, rope 10000"},
      {MODEL("glm4v_text", 1), "*0: full_attention, everything before, rope 10000"},
      {MODEL("glm4v_text", 1) ", \"partial_rotary_factor\": 0.5",
       "*0: full_attention, everything before, rope 10000, R 8"},
      {MODEL("t5_gemma_module", 2) ", \"head_dim\": 16",
       "0: sliding_attention, window 4096, rope 10000; *1: full_attention, everything before, rope 10000"},
      {HEADS MODEL("kolibri1", 6) ", \"sliding_window\": 8",
       "*0-3, 5: sliding_attention, window 8, rope 10000; 4: full_attention, everything before, nope"},
      {HEADS MODEL("muse_spark_text", 2) ", \"layer_rope_theta\": [500, 0]",
       "*0: sliding_attention, window 2048, rope 500; 1: full_attention, everything before, nope"},
      {HEADS MODEL("vaultgemma", 2),
       "0: sliding_attention, window 4096, rope 10000; *1: full_attention, everything before, rope 10000"},
      {MODEL("emu3_text_model", 1), "*0: full_attention, everything before, rope 1e+06"},
      {HEADS MODEL("hy_v3", 1), "*0: full_attention, everything before, rope 1.11588e+07"},
      {MODEL("gte", 1), "*0: full_attention, everything, rope 160000"},
      {MODEL("granite_swa", 5) ", \"sliding_window\": 8, \"layer_rope_theta\": [0, 100, 100, 500, 0]",
       "0, 4: full_attention, everything before, nope; *1-2: sliding_attention, window 8, rope 100; 3: "
       "sliding_attention_500, window 8, rope 500"},
      {MODEL("granitemoe_swa", 5),
       "*0, 4: full_attention, everything before, rope 10000; 1-3: sliding_attention, window "
       "128, rope 10000"},
      {HEADS MODEL("muse_glimmer_text", 6) ", \"sliding_window\": 8",
       "*0, 2-4: sliding_attention, window 8, rope 10000; 1, 5: full_attention, everything before, nope"},
      {HEADS MODEL("muse_glimmer", 2) ", \"layer_types\": [\"sliding_attention\", \"full_attention\"], "
                                      "\"layer_rope_theta\": [0, 7e5]",
       "0: sliding_attention, window 2048, nope; *1: full_attention, everything before, rope 700000"},
      {NOPE_OF(4) ", " KIMI("[4]", "[1, 2, 3]"),
       "0-2: linear_attention, no attention; *3: full_attention, everything before, nope"},
      {NOPE_OF(4) ", " KIMI("[3]", "[0, 1, 2]"),
       "0-2: linear_attention, no attention; *3: full_attention, everything before, nope"},
      {MODEL("kimi_linear", 2) ", " KIMI("[2]", "[1]"),
       "0: linear_attention, no attention; *1: full_attention, everything before, nope"},
      {MODEL("glm5_next", 4) ", \"qk_rope_head_dim\": 0, \"qk_nope_head_dim\": 24, \"head_dim\": 0",
       "0-2: linear_attention, no attention; *3: full_attention, everything before, nope, D 24"},
      {HEADS MODEL("exaone4_5_text", 4) ", \"sliding_window\": 8",
       "*0-2: sliding_attention, window 8, rope 10000; 3: full_attention, everything before, nope"},
      {MODEL("zebra", 1) ", \"layer_types\": [\"qwen_sparse_attention\"], \"index_topk_blocks\": 4, "
                         "\"index_block_size\": 8",
       "*0: qwen_sparse_attention, 4 chosen blocks of 8 keys" CHOICE ", rope 10000"},
      {NOPE_OF(6), "0-3, 5: linear_attention, no attention; *4: full_attention, everything before, nope"},
      {NOPE_OF(2) ", \"layer_types\": [\"linear_attention\", \"full_attention\"], " KIMI("[1]", "[2]"),
       "0: linear_attention, no attention; *1: full_attention, everything before, nope"},
      {MODEL("zebra", 2) ", " KIMI("[2]", "[1]"),
       "0: linear_attention, no attention; *1: full_attention, everything before, rope 10000"},
      {MODEL("glm5_next", 4) ", \"mla_use_nope\": true, \"index_topk\": 8",
       "0-2: linear_attention, no attention; *3: full_attention, 8 chosen keys (by an indexer whose q and k do not "
       "turn; "
       "the choice is not modelled yet), nope"},
      {MODEL("zebra", 3) ", \"index_topk\": 8, \"sliding_window\": 4, \"layer_types\": [\"full_attention\", "
                         "\"sliding_attention\", \"indexed_attention\"]",
       "*0: full_attention, 8 chosen keys" CHOICE ", rope 10000; 1: sliding_attention, window 4, rope 10000; 2: "
       "indexed_attention, 8 chosen keys" CHOICE ", rope 10000"},
      {MODEL("zebra", 2) ", \"sliding_window\": 8, \"layer_types\": [\"hybrid\", \"hybrid_sliding\"]",
       "*0: hybrid, everything before, rope 10000; 1: hybrid_sliding, window 8, rope 10000"},
      {MODEL("zebra", 1) ", \"layer_types\": [\"deepseek_sparse_attention\"]",
       "*0: deepseek_sparse_attention, chosen keys" CHOICE ", rope 10000"},
      {HEADS MODEL("minimax_m3",
                   3) ", \"sparse_attention_config\": {\"sparse_topk_blocks\": 16, \"sparse_block_size\": "
                      "4, \"sparse_attention_freq\": [0, 1, 1]}",
       "*0: full_attention, everything before, rope 5e+06; 1-2: minimax_m3_sparse, 16 chosen blocks of 4 keys (by an "
       "indexer whose q and k turn the first 16 of 128 dims in halves; the choice is not modelled yet)"
       ", rope 5e+06"},
      {HEADS MODEL("minimax_m3", 2) ", \"sparse_attention_config\": {\"use_sparse_attention\": false, "
                                    "\"sparse_topk_blocks\": 16, \"sparse_attention_freq\": [0, 1]}",
       "*0-1: full_attention, everything before, rope 5e+06"},
  };
  expect_profiles(cases, RS_COUNT(cases));
}

/* Llama 4's temperature is of the layers that do not turn. */
/* Which part of layers chooses their keys, how it turns, and which layers use what another chose. */
Test(profiles, indexers__of_layers_that_choose) {
#define BY(words) " (by an indexer whose q and k " words "; the choice is not modelled yet)"
#define SHARED " (those of the last layer before that chooses; the choice is not modelled yet)"
#define LATENT "\"qk_rope_head_dim\": 8, \"qk_nope_head_dim\": 8, \"index_topk\": 4, \"index_head_dim\": 12, "
#define OF(layers, keys) layers ": full_attention, 4 chosen keys" keys ", rope 10000, R 8"
  static const profile_case cases[] = {
      {LATENT MODEL("deepseek_v32", 1), "*" OF("0", BY("turn the first 8 of 12 dims in halves"))},
      {LATENT MODEL("glm_moe_dsa", 1), "*" OF("0", BY("turn the first 8 of 12 dims in pairs of neighbours"))},
      {LATENT MODEL("glm_moe_dsa", 1) ", \"indexer_rope_interleave\": false",
       "*" OF("0", BY("turn the first 8 of 12 dims in halves"))},
      {LATENT MODEL("zebra", 1) ", \"indexer_rope_interleave\": true",
       "*" OF("0", BY("turn the first 8 of 12 dims in pairs of neighbours"))},
      {LATENT MODEL("zebra", 1), "*" OF("0", CHOICE)},
      {LATENT MODEL("glm_moe_dsa", 4) ", \"indexer_types\": [\"full\", \"shared\", \"shared\", \"full\"]",
       "*" OF("0, 3",
              BY("turn the first 8 of 12 dims in pairs of neighbours")) "; 1-2: full_attention_shared, 4 chosen "
                                                                        "keys" SHARED ", rope 10000, R 8"},
      {LATENT MODEL("glm_moe_dsa", 3) ", \"index_topk_pattern\": \"FSF\"",
       "*" OF("0, 2", BY("turn the first 8 of 12 dims in pairs of neighbours")) "; 1: full_attention_shared, 4 chosen "
                                                                                "keys" SHARED ", rope 10000, R 8"},
      {LATENT MODEL("glm_moe_dsa", 7) ", \"index_topk_freq\": 3, \"index_skip_topk_offset\": 2",
       "*" OF("0-1, 4",
              BY("turn the first 8 of 12 dims in pairs of neighbours")) "; 2-3, 5-6: full_attention_shared, 4 "
                                                                        "chosen keys" SHARED ", rope 10000, R 8"},
      {MODEL("glm5_next", 4) ", \"index_topk\": 64, \"index_kpool\": 8",
       "0-2: linear_attention, no attention; *3: full_attention, 8 chosen blocks of 8 keys" BY("do not turn") ", nope"},
      {HEADS MODEL("minimax_m3",
                   2) ", \"rotary_dim\": 8, \"sparse_attention_config\": {\"sparse_topk_blocks\": 2, "
                      "\"sparse_block_size\": 4, \"sparse_index_dim\": 8, \"sparse_attention_freq\": [0, 1]}",
       "*0: full_attention, everything before, rope 5e+06, R 8; 1: minimax_m3_sparse, 2 chosen blocks of 4 keys" BY(
           "turn 8 of 8 dims in halves") ", rope 5e+06, R 8"},
      {MODEL("zebra", 1) ", \"indexer_budget\": 64, \"indexer_compress_ratio\": 4",
       "*0: full_attention, 16 chosen blocks of 4 keys" CHOICE ", rope 10000"},
  };
  expect_profiles(cases, RS_COUNT(cases));
}

Test(profiles, llama4__temperature_of_bare_layers) {
  rs_profile profile = read_profile(MODEL("llama4_text", 4) ", \"attn_scale\": 0.3, \"floor_scale\": 16");
  const rs_settings *turning = &profile.kinds[0].model.published.settings;
  const rs_settings *bare = &profile.kinds[1].model.published.settings;
  cr_expect_eq(rs_setting(bare, "logit_scale_factor")->number, 0.3);
  cr_expect_eq(rs_setting(bare, "logit_scale_length")->number, 16);
  cr_expect(!rs_setting(turning, "logit_scale_factor")->set);
  rs_profile_clear(&profile);
}

/* ---- models without rotation ------------------------------------------------------------------------------------- */

Test(profiles, models_without_rotation__are_told_as_what_they_are) {
  static const profile_case cases[] = {
      {MODEL("bert", 1), "*0: full_attention, everything, learned"},
      {MODEL("roberta", 1), "*0: full_attention, everything, learned"},
      {MODEL("gpt_bigcode", 1), "*0: full_attention, everything before, learned"},
      {MODEL("clip_text_model", 1), "*0: full_attention, everything before, learned"},
      {MODEL("vit", 1), "*0: full_attention, everything, learned_2d"},
      {MODEL("t5", 1), "*0: full_attention, everything before, t5"},
      {MODEL("falcon", 1) ", \"alibi\": true", "*0: full_attention, everything before, alibi"},
      {"\"num_hidden_layers\": 1, \"use_alibi\": true", "*0: full_attention, everything before, alibi"},
      {"\"num_hidden_layers\": 1, \"use_rope\": false", "*0: full_attention, everything before, nope"},
      {"\"num_hidden_layers\": 1, \"use_rope\": true", "*0: full_attention, everything before, rope 10000"},
      {"\"num_hidden_layers\": 1, \"mla_use_nope\": true", "*0: full_attention, everything before, nope"},
      {"\"num_hidden_layers\": 1, \"position_embedding_type\": \"nope\"",
       "*0: full_attention, everything before, nope"},
      {"\"num_hidden_layers\": 1, \"position_embedding_type\": \"absolute\"",
       "*0: full_attention, everything before, learned"},
      {"\"num_hidden_layers\": 1, \"position_embedding_type\": \"rope\"",
       "*0: full_attention, everything before, rope 10000"},
  };
  expect_profiles(cases, RS_COUNT(cases));
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

/* Releases leave out of a text_config what its class says; a file of its own says it. */
Test(profiles, text_config__without_sizes_has_the_classs) {
  static const struct {
    const char *text;
    size_t heads, head_dim, length;
  } cases[] = {
      {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\", \"vocab_size\": 32064}}", 32, 128,
       2048},
      {"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, "
       "\"num_hidden_layers\": 34}}",
       8, 256, 131072},
      {"{\"text_config\": {\"model_type\": \"mistral\", \"head_dim\": 160, \"num_attention_heads\": 16}}", 16, 160,
       131072},
      {"{\"model_type\": \"whisper\", \"d_model\": 1280, \"decoder_attention_heads\": 20}", 20, 64, 0},
      {"{\"model_type\": \"baichuan\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"model_max_length\": 4096}", 4,
       16, 4096},
  };
  rs_profile profile;
  rs_err err = {0};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    cr_assert_eq(rs_profile_read(cases[i].text, strlen(cases[i].text), "config.json", &profile, &err), RS_OK, "%s: %s",
                 cases[i].text, err.message);
    const rs_model *model = &profile.kinds[profile.chosen].model;
    cr_expect_eq(model->heads, cases[i].heads, "%s: %zu", cases[i].text, model->heads);
    cr_expect_eq(model->head_dim, cases[i].head_dim, "%s: %zu", cases[i].text, model->head_dim);
    cr_expect_eq(model->max_length, cases[i].length, "%s: %zu", cases[i].text, model->max_length);
    rs_profile_clear(&profile);
  }
  cr_expect_eq(rs_profile_read("{\"model_type\": \"llama\"}", 23, "config.json", &profile, &err), RS_INPUT);
}

Test(profiles, wrong_lists__name_the_key) {
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\"]",
       "layer_types = [...]: must have an entry for each of the 2 layers"},
      {"\"num_hidden_layers\": 1, \"layer_types\": [{}]", "layer_types[0] = {...}: must be a word"},
      {"\"num_hidden_layers\": 2, \"no_rope_layers\": 3",
       "no_rope_layers = 3: must have an entry for each of the 2 layers"},
      {"\"num_hidden_layers\": 1, \"rope_scaling\": \"yarn\"",
       "rope_scaling = \"yarn\": must be a dictionary, or null"},
      {"\"num_hidden_layers\": 1, \"rope_scaling\": []", "rope_scaling = [...]: must be a dictionary, or null"},
      {"\"num_hidden_layers\": 1, \"rope_parameters\": 4", "rope_parameters = 4: must be a dictionary, or null"},
      {MODEL("falcon_mamba", 1) ", \"layer_types\": [\"mamba\"]",
       "no layer of a falcon_mamba has attention, hence none has positions"},
      {"\"num_hidden_layers\": 2, \"layer_types\": [\"sliding_attention\", \"full_attention\"], \"rope_parameters\": "
       "{\"full_attention\": {}}",
       "rope_parameters = {...}: differs by layer type, and none is sliding_attention (there are: full_attention)"},
      {"\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\", \"bogus\"]",
       "layer_types[1] = \"bogus\": bogus is no type of layers that is known here"},
      {"\"num_hidden_layers\": 1, \"block_types\": [\"recurent\"]",
       "block_types[0] = \"recurent\": must be one of: recurrent attention"},
      {"\"num_hidden_layers\": 2, \"indexer_types\": [\"full\", 3]",
       "indexer_types[1] = 3: must be one of: full shared F S"},
      {"\"num_hidden_layers\": 2, \"index_topk_pattern\": \"F\"",
       "index_topk_pattern = \"F\": must have a letter, F or S, for each of the 2 layers"},
      {"\"num_hidden_layers\": 1, \"layer_types\": [7]",
       "layer_types[0] = 7: 7 is no type of layers that is known here"},
      {MODEL("granite_swa", 2) ", \"layer_rope_theta\": [0, 0.5]",
       "layer_rope_theta[1] = 0.5: must be 0 (turns nothing) or more than 1"},
      {MODEL("granite_swa", 2) ", \"layer_rope_theta\": [0]",
       "layer_rope_theta = [...]: must have an entry for each of the 2 layers"},
      {MODEL("kimi_linear", 4) ", \"linear_attn_config\": {\"full_attn_layers\": [1], \"kda_layers\": [2, 3]}",
       "and kda_layers do not name each of the 4 layers once, neither counted from 1 nor from 0"},
      {MODEL("zebra", 2) ", \"linear_attn_config\": {\"full_attn_layers\": [1]}",
       "linear_attn_config = {...}: needs full_attn_layers and kda_layers"},
      {MODEL("kimi_linear", 3) ", \"linear_attn_config\": {\"full_attn_layers\": [1, 2], \"kda_layers\": [2, 3]}",
       "and kda_layers do not name each of the 3 layers once, neither counted from 1 nor from 0"},
      {"\"num_hidden_layers\": 65537", "65537 layers are too many"},
      {MODEL("mistral", 2) ", \"sliding_window\": 0", "sliding_window = 0: must be from 1 to 16777216"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_profile profile;
    rs_text json = {0};
    rs_err err = {0};
    rs_text_printf(&json, "{" SIZES ", %s}", cases[i].text);
    cr_expect_eq(rs_profile_read(json.data, json.length, "config.json", &profile, &err), RS_INPUT, "%s", json.data);
    size_t said = strlen(cases[i].said), length = strlen(err.message); /* behind the file and its place */
    cr_expect(length > said && strcmp(err.message + length - said, cases[i].said) == 0, "%s", err.message);
    cr_expect_eq(strncmp(err.message, "config.json:", 12), 0, "%s", err.message);
    cr_expect_null(strchr(err.message, '\n'), "more than once: %s", err.message);
    cr_expect(profile.kinds == NULL && profile.layers == NULL, "%s: not cleared", json.data);
    rs_text_clear(&json);
  }
}

/* Layers that draft tokens ahead may stand behind the others. */
Test(profiles, lists__may_be_longer_by_drafting_layers) {
  rs_profile profile = read_profile("\"num_hidden_layers\": 1, \"num_nextn_predict_layers\": 1, \"layer_types\": "
                                    "[\"full_attention\", \"sliding_attention\"]");
  cr_expect(profile.layer_count == 1 && profile.kind_count == 1);
  rs_profile_clear(&profile);
}

/* ---- which kind -------------------------------------------------------------------------------------------------- */

Test(profiles, find__by_name_by_number_or_the_chosen) {
  rs_profile profile = read_profile(MODEL("nemotron_h", 3) ", \"hybrid_override_pattern\": \"M*M\"");
  rs_profile gemma = read_profile(HEADS MODEL("gemma3_text", 6));
  rs_err err = {0};
  size_t kind = SIZE_MAX;
  cr_expect(rs_profile_find(&gemma, NULL, &kind, &err) == RS_OK && kind == 1);
  cr_expect(rs_profile_find(&gemma, "sliding_attention", &kind, &err) == RS_OK && kind == 0);
  cr_expect(rs_profile_find(&gemma, "5", &kind, &err) == RS_OK && kind == 1);
  cr_expect(rs_profile_find(&gemma, "4", &kind, &err) == RS_OK && kind == 0);
  static const char *const wrong[] = {"6", "", "local"};
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    rs_err why = {0};
    cr_expect_eq(rs_profile_find(&gemma, wrong[i], &kind, &why), RS_INPUT, "%s", wrong[i]);
    cr_expect_not_null(strstr(why.message, "(there are: sliding_attention, full_attention;"), "%s", why.message);
  }
  cr_expect_eq(rs_profile_find(&profile, "mamba", &kind, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "no layers mamba with attention (there are: full_attention; or the number of a layer)");
  rs_profile_clear(&gemma);
  rs_profile_clear(&profile);
}

/* Mixed are layers that turn otherwise; windows alone, and layers without attention, are not. */
Test(profiles, mixed__where_recipes_differ) {
  static const struct {
    const char *text;
    bool mixed;
  } cases[] = {{HEADS MODEL("gemma2", 2), false},
               {HEADS MODEL("gpt_oss", 2), false},
               {HEADS MODEL("qwen3_next", 4), false},
               {HEADS MODEL("gemma3_text", 6), true},
               {MODEL("cohere2", 4), true},
               {MODEL("smollm3", 4), true},
               {MODEL("olmo3", 4), false},
               {MODEL("olmo3", 4) ", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}", true}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_profile profile = read_profile(cases[i].text);
    cr_expect_eq(rs_profile_mixed(&profile), cases[i].mixed, "%s", cases[i].text);
    rs_profile_clear(&profile);
  }
}
