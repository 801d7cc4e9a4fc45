/* The class defaults of Hugging Face's model families, as in transformers 5 (configuration_*.py), and its rope types.
 */
#include "hf_families.h"

#include <string.h>

#include "ropescope/base.h"

static const rs_hf_family families[] = {
    {.prefix = "bert", .method = "learned"},
    {.prefix = "bloom", .method = "alibi"},
    {.prefix = "chatglm", .rotary_fraction = 0.5, .interleaved = true},
    {.prefix = "codegen", .rotary_dim = 64, .interleaved = true},
    {.prefix = "cohere", .interleaved = true},
    {.prefix = "deepseek", .interleaved = true},
    {.prefix = "ernie4_5", .interleaved = true},
    {.prefix = "falcon", .length = 2048},
    {.prefix = "gemma", .head_dim = 256},
    {.prefix = "gemma3", .head_dim = 256, .theta = 1e6},
    {.prefix = "glm", .rotary_fraction = 0.5, .interleaved = true},
    {.prefix = "glm4_moe", .rotary_fraction = 0.5},
    {.prefix = "gpt2", .method = "learned"},
    {.prefix = "gpt_neox", .rotary_fraction = 0.25},
    {.prefix = "gpt_oss", .theta = 150000, .head_dim = 64},
    {.prefix = "gptj", .rotary_dim = 64, .interleaved = true},
    {.prefix = "helium", .interleaved = true},
    {.prefix = "kimi", .interleaved = true},
    {.prefix = "llama4", .theta = 500000, .interleaved = true},
    {.prefix = "marian", .method = "sinusoidal"},
    {.prefix = "moonshine", .interleaved = true},
    {.prefix = "mpt", .method = "alibi"},
    {.prefix = "opt", .method = "learned"},
    {.prefix = "persimmon", .rotary_fraction = 0.5},
    {.prefix = "phi", .rotary_fraction = 0.5},
    {.prefix = "phi3", .rotary_fraction = 1},
    {.prefix = "phimoe", .rotary_fraction = 1},
    {.prefix = "qwen2_5_vl", .theta = 1e6},
    {.prefix = "qwen2_vl", .theta = 1e6},
    {.prefix = "qwen3", .head_dim = 128},
    {.prefix = "qwen3_5", .head_dim = 256, .rotary_fraction = 0.25},
    {.prefix = "qwen3_next", .head_dim = 256, .rotary_fraction = 0.25},
    {.prefix = "qwen3_vl", .head_dim = 128, .theta = 500000},
    {.prefix = "smollm3", .theta = 2e6},
    {.prefix = "stablelm", .rotary_fraction = 0.25},
};

rs_hf_family rs_hf_family_of(const char *model_type) {
  rs_hf_family found = {0};
  size_t longest = 0;
  for (size_t i = 0; i < RS_COUNT(families); i++) {
    size_t length = strlen(families[i].prefix);
    if (length <= longest || strncmp(model_type, families[i].prefix, length) != 0) continue;
    longest = length;
    found = families[i];
  }
  return found;
}

const rs_hf_rope_type rs_hf_rope_types[RS_HF_ROPE_TYPES] = {
    {"default", "rope", {{0}}},
    {"mrope", "mrope", {{0}}},
    {"linear", "pi", {{"factor", "factor", true}}},
    {"dynamic", "dynamic_ntk", {{"factor", "factor", true}}},
    {"yarn",
     "yarn",
     {{"factor", "factor", false},
      {"beta_fast", "beta_fast", false},
      {"beta_slow", "beta_slow", false},
      {"truncate", "truncate", false},
      {"attention_factor", "attention_factor", false},
      {"attn_factor", "attn_factor", false},
      {"mscale", "mscale", false},
      {"mscale_all_dim", "mscale_all_dim", false}}},
    {"llama3",
     "llama3",
     {{"factor", "factor", true},
      {"low_freq_factor", "low_freq_factor", true},
      {"high_freq_factor", "high_freq_factor", true}}},
    {"longrope",
     "longrope",
     {{"short_factor", "short_factor", true},
      {"long_factor", "long_factor", true},
      {"factor", "factor", false},
      {"attention_factor", "attention_factor", false},
      {"short_mscale", "short_mscale", false},
      {"long_mscale", "long_mscale", false}}},
    {"proportional",
     "proportional",
     {{"partial_rotary_factor", "rotary_fraction", false}, {"factor", "factor", false}}},
};
