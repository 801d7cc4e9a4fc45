/* How config.json names methods and their parameters. */
#include "hf/hf.h"

#include <string.h>

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

/* configuration_phi3.py, configuration_phi4_multimodal.py, and modeling_qwen.py of Qwen 1, which has a base alone. */
const char *rs_hf_rope_type_read(const char *model_type, const char *type) {
  bool phi = strncmp(model_type, "phi3", 4) == 0 || strcmp(model_type, "phi4_multimodal") == 0;
  if (strcmp(model_type, "qwen") == 0) return "default";
  return strcmp(type, "su") == 0 || (phi && strcmp(type, "yarn") == 0) ? "longrope" : type;
}

const char *rs_hf_method(const char *type) {
  for (size_t i = 0; i < RS_HF_ROPE_TYPES; i++)
    if (strcmp(rs_hf_rope_types[i].type, type) == 0 && strcmp(rs_hf_rope_types[i].method, type) != 0)
      return rs_hf_rope_types[i].method;
  return NULL;
}
