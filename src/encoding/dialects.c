/* Dialects: how one implementation differs from a method as it stands here, as parameters. Nothing else in the library
 * knows of them. Adding one is one entry here (and its word in params.c, if it is a new implementation). */
#include "kinds.h"

#include <stdio.h>
#include <string.h>

static const rs_dialect dialects[] = {
    {.name = "hf",
     .summary = "text after a picture or video goes on by its larger side, however long it lasted",
     .reference = "transformers decba1d2ea4e, get_rope_index",
     .settings = {{"vision_ids", "hf", true}}},
    {.name = "vllm", .summary = "as here, where the method says nothing else", .reference = "vllm 239b5ff30cf4"},
    {.name = "llamacpp",
     .summary = "interleaved M-RoPE: pairs past the sections of h and w do not turn",
     .reference = "ggml d99724f2b141, ggml_mrope_cache_init",
     .settings = {{"mrope_tail", "unrotated", true}}},
    {.name = "paper",
     .method = "dynamic_ntk",
     .summary = "s = max(1, L / L0)",
     .reference = "arXiv:2309.00071v2, section 3.3",
     .settings = {{"scale", "dynamic", false}, {"factor", NULL, true}}},
    {.name = "vllm",
     .method = "dynamic_ntk",
     .summary = "one base for all lengths, that of factor * train_length",
     .reference = "vllm 239b5ff30cf4, dynamic_ntk_scaling_rope.py",
     .settings = {{"scale", "vllm_dynamic", false}}},
    {.name = "hf",
     .method = "yarn",
     .summary = "attn_factor is not read",
     .reference = "transformers decba1d2ea4e, modeling_rope_utils.py",
     .settings = {{"attn_factor", "1", true}}},
    {.name = "paper",
     .method = "yarn",
     .summary = "the ramp is linear in the rotations, not in the pair index",
     .reference = "arXiv:2309.00071v2, Definition 2",
     .settings = {{"ramp", "paper", true}}},
    {.name = "authors",
     .method = "yarn",
     .summary = "always whole pairs; g = 0.1 ln s + 1 times attn_factor; no mscale",
     .reference = "github.com/jquesnelle/yarn 995db5b575e7",
     .settings = {{"truncate", "true", true},
                  {"attention_factor", NULL, true},
                  {"mscale", NULL, true},
                  {"mscale_all_dim", NULL, true},
                  {"mscale_softmax", "false", true}}},
    {.name = "vllm",
     .method = "yarn",
     .summary =
         "attention_factor and mscale are not read (attn_factor multiplies); with M-RoPE the ramp is that of 4 L0",
     .reference = "vllm 239b5ff30cf4, yarn_scaling_rope.py, mrope.py",
     .unless = "mscale_softmax",
     .settings = {{"attention_factor", NULL, true},
                  {"mscale", NULL, true},
                  {"mscale_all_dim", NULL, true},
                  {"ramp_length", "vllm_mrope", true}}},
    {.name = "vllm",
     .method = "yarn",
     .summary = "DeepSeek's models: mscale counts without mscale_all_dim too; attention_factor is not read",
     .reference = "vllm 239b5ff30cf4, deepseek_scaling_rope.py",
     .when = "mscale_softmax",
     .settings = {{"attention_factor", NULL, true}, {"mscale_alone", "true", true}}},
    {.name = "llamacpp",
     .method = "yarn",
     .summary =
         "always whole pairs; the ramp is at least 0.001 wide even where it ends before it starts; g = 0.1 ln s + 1 "
         "for any s, times attn_factor; no mscale",
     .reference = "ggml d99724f2b141, rope_yarn and ggml_rope_yarn_corr_dims",
     .unless = "mscale_softmax",
     .settings = {{"truncate", "true", true},
                  {"ramp_guard", "ggml", true},
                  {"attention_factor", NULL, true},
                  {"mscale", NULL, true},
                  {"mscale_all_dim", NULL, true},
                  {"magnitude", "any", true}}},
    {.name = "llamacpp",
     .method = "yarn",
     .summary =
         "DeepSeek's models: whole pairs, the ramp at least 0.001 wide; an attn_factor undoes what is put on cos "
         "and sin, the softmax gets it",
     .reference = "llama.cpp c55d53acec86, llama-model.cpp",
     .when = "mscale_softmax",
     .settings = {{"truncate", "true", true}, {"ramp_guard", "ggml", true}}},
    {.name = "deepseek",
     .method = "yarn",
     .summary = "cos and sin as they are; the logits times (0.1 mscale ln s + 1)^2",
     .reference = "DeepSeek-V3 9b4e9788e4a3, inference/model.py",
     .settings = {{"temperature", "logits", true},
                  {"mscale_alone", "true", true},
                  {"mscale_all_dim", NULL, true},
                  {"mscale_softmax", "false", true}}},
    {.name = "gpt_oss",
     .method = "yarn",
     .summary = "the ramp's ends are never rounded, and must lie inside the pairs",
     .reference = "gpt-oss 7b583341fe16, gpt_oss/torch/model.py",
     .settings = {{"truncate", "false", true},
                  {"ramp_guard", "refuse", true},
                  {"attention_factor", NULL, true},
                  {"mscale", NULL, true},
                  {"mscale_all_dim", NULL, true},
                  {"mscale_softmax", "false", true}}},
    {.name = "vllm",
     .method = "longrope",
     .summary = "attention_factor and factor are not read: s = max_length / train_length",
     .reference = "vllm 239b5ff30cf4, phi3_long_rope_scaled_rope.py",
     .settings = {{"attention_factor", NULL, true}, {"factor", NULL, true}}},
    {.name = "llamacpp",
     .method = "longrope",
     .summary = "attention_factor and factor are not read: s = max_length / train_length",
     .reference = "llama.cpp c55d53acec86, convert_hf_to_gguf.py",
     .settings = {{"attention_factor", NULL, true}, {"factor", NULL, true}}},
    {.name = "authors",
     .method = "self_extend",
     .summary = "the shift of far queries is not rounded",
     .reference = "github.com/datamllab/LongLM cdbbb06, self_extend_patch/Llama.py",
     .settings = {{"shift", "exact", true}}},
    {.name = "authors",
     .method = "rerope",
     .summary = "log-n scaling of the queries",
     .reference = "github.com/bojone/rerope acfe788, rerope_patch.py",
     .settings = {{"logit_scale", "log_n", true}}},
    {.name = "authors",
     .method = "leaky_rerope",
     .summary = "log-n scaling of the queries",
     .reference = "github.com/bojone/rerope acfe788, leaky_rerope_patch.py",
     .settings = {{"logit_scale", "log_n", true}}},
    {.name = "paper",
     .method = "dual_chunk",
     .summary = "distances across chunks stop one short of chunk_size, the paper's c",
     .reference = "arXiv:2402.17463, section 3 and figure 2",
     .settings = {{"ceiling", "paper", true}}},
    {.name = "vllm",
     .method = "proportional",
     .summary = "factor is not read",
     .reference = "vllm 239b5ff30cf4, gemma4_rope.py",
     .settings = {{"factor", "1", true}}},
    {.name = "falcon",
     .method = "alibi",
     .summary = "slope times position, slopes, positions and products in bfloat16, all of it divided by sqrt(D)",
     .reference = "transformers decba1d2ea4e, modeling_falcon.py",
     .settings = {{"bias_form", "position", true},
                  {"slope_format", "bf16", true},
                  {"bias_format", "bf16", true},
                  {"slope_factor", "inv_sqrt_dim", true}}},
    {.name = "bloom",
     .method = "alibi",
     .summary = "slope times position",
     .reference = "transformers decba1d2ea4e, modeling_bloom.py",
     .settings = {{"bias_form", "position", true}}},
    {.name = "mpt",
     .method = "alibi",
     .summary = "slope times the position less that of the last token",
     .reference = "transformers decba1d2ea4e, modeling_mpt.py",
     .settings = {{"bias_form", "end", true}}},
    {.name = "llamacpp",
     .method = "alibi",
     .summary = "no difference: -slope times distance, for BLOOM and MPT too",
     .reference = "ggml d99724f2b141, ggml_soft_max_ext; llama.cpp c55d53acec86, llm_graph_input_attn",
     .settings = {{"bias_form", "distance", true}}},
};

const rs_dialect *rs_dialects(size_t *count) {
  *count = RS_COUNT(dialects);
  return dialects;
}

bool rs_dialect_fits(const rs_dialect *dialect, const rs_method *method) {
  if (dialect->method == NULL || method->freq == NULL)
    return method->freq != NULL || (dialect->method != NULL && strcmp(dialect->method, method->name) == 0);
  return strcmp(dialect->method, method->name) == 0 || strcmp(dialect->method, method->freq->kind.name) == 0;
}

bool rs_dialect_holds(const rs_dialect *dialect, const rs_settings *settings) {
  return (dialect->when == NULL || rs_setting_true(settings, dialect->when)) &&
         (dialect->unless == NULL || !rs_setting_true(settings, dialect->unless));
}

static bool chosen(const rs_dialect *dialect, const char *word, const rs_recipe *recipe) {
  return strcmp(dialect->name, word) == 0 && rs_dialect_fits(dialect, recipe->method);
}

/* The word of the recipe's `dialect`, or "". */
static rs_status dialect_word(const rs_recipe *recipe, char *word, size_t size, rs_err *err) {
  const rs_value *value = rs_setting(&recipe->settings, "dialect");
  int index = rs_settings_find(&recipe->settings, "dialect");
  rs_text text = {0};
  if (value->set) rs_value_write(recipe->settings.params[index], value, &text);
  snprintf(word, size, "%s", rs_text_string(&text));
  rs_status status = rs_text_check(&text, err);
  rs_text_clear(&text);
  return status;
}

static bool same_value(const rs_param *param, const rs_value *value, const char *text) {
  rs_value other;
  if (text == NULL) return !value->set;
  if (rs_value_parse(param, text, &other, NULL) != RS_OK) return false;
  return value->choice == other.choice && (value->choice >= 0 || value->number == other.number);
}

/* One parameter of a dialect. */
static rs_status apply_setting(rs_recipe *recipe, const rs_dialect *dialect, size_t i, rs_err *err) {
  const char *name = dialect->settings[i].name, *text = dialect->settings[i].value;
  int index = rs_settings_find(&recipe->settings, name);
  if (index < 0)
    return rs_fail(err, RS_INTERNAL, "dialect %s: %s has no %s", dialect->name, recipe->method->name, name);
  const rs_value *value = &recipe->settings.values[index];
  /* What makes the method, as V2PE's ids do, is its own in every code base. */
  if (dialect->method == NULL && rs_method_presets(recipe->method, name)) return RS_OK;
  if (!value->given) return rs_recipe_preset(recipe, name, text, err);
  if (!dialect->settings[i].always || same_value(recipe->settings.params[index], value, text)) return RS_OK;
  return rs_fail_on(err, RS_INPUT, name, "is not in the power of dialect %s, which %s%s (leave one of them out)",
                    dialect->name, text != NULL ? "always has " : "does not read it", text != NULL ? text : "");
}

/* RS_INPUT when the method has no dialect of that name. */
static rs_status unknown_dialect(const rs_recipe *recipe, const char *word, rs_err *err) {
  rs_text known = {0};
  for (size_t i = 0; i < RS_COUNT(dialects); i++)
    if (rs_dialect_fits(&dialects[i], recipe->method) && strstr(rs_text_string(&known), dialects[i].name) == NULL)
      rs_text_printf(&known, "%s%s", known.length > 0 ? ", " : "", dialects[i].name);
  rs_status status = rs_fail_on(err, RS_INPUT, "dialect", "%s is not known to differ for %s (known: %s)", word,
                                recipe->method->name, known.length > 0 ? rs_text_string(&known) : "none");
  rs_text_clear(&known);
  return status;
}

rs_status rs_dialect_apply(rs_recipe *recipe, bool always, rs_err *err) {
  char word[32];
  bool found = false;
  RS_TRY(dialect_word(recipe, word, sizeof word, err));
  for (size_t d = 0; d < RS_COUNT(dialects) && *word != '\0'; d++) {
    found |= chosen(&dialects[d], word, recipe);
    if (!chosen(&dialects[d], word, recipe) || !rs_dialect_holds(&dialects[d], &recipe->settings)) continue;
    for (size_t i = 0; i < RS_COUNT(dialects[d].settings) && dialects[d].settings[i].name != NULL; i++)
      if (dialects[d].settings[i].always == always) RS_TRY(apply_setting(recipe, &dialects[d], i, err));
  }
  return found || *word == '\0' ? RS_OK : unknown_dialect(recipe, word, err);
}
