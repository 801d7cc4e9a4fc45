/* Which engines there are, and which versions of each read a file alike. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_KEYS "transformers decba1d2ea4e, modeling_rope_utils.py"
#define VLLM_NEW "vLLM 0cd5784803d8, rotary_embedding; github.com/vllm-project/vllm/pull/56446"
#define VLLM_OLD "vLLM 239b5ff30cf4, rotary_embedding, config/model.py"

const rs_reader rs_readers[RS_CONFIG_ENGINES] = {
    {{"transformers", "transformers", NO_KEYS, "all but YaRN with an original length: what is said here is said of it"},
     .scope = RS_BUT_RELEASES,
     .dialect = "hf"},
    {{"transformers", "transformers 5 (and 4.56 on)", NO_KEYS ", pull request 40320",
      "YaRN: the factor of the file, whatever its lengths say"},
     .scope = RS_OF_RELEASES,
     .dialect = "hf"},
    {{"transformers", "transformers 4.51 to 4.55", "github.com/huggingface/transformers/issues/38224",
      "YaRN: maximum over original length in the place of factor"},
     .scope = RS_OF_RELEASES,
     .dialect = "hf",
     .numbers = RS_BY_RATIO},
    {{"transformers", "transformers 4 up to 4.50", "github.com/huggingface/transformers/pull/36877",
      "YaRN: the maximum in the place of the original length"},
     .scope = RS_OF_RELEASES,
     .dialect = "hf",
     .numbers = RS_BY_MAXIMUM},
    {{"transformers", "transformers before 5", "github.com/vllm-project/vllm/issues/42624",
      "rope_parameters are not read: its class's base, and nothing scaled"},
     .scope = RS_OF_PARAMETERS,
     .dialect = "hf",
     .before_5 = true},
    {{"vllm", "vLLM", VLLM_OLD, "all but YaRN: its dialect"},
     .scope = RS_BUT_YARN,
     .dialect = "vllm",
     .serves = true,
     .length = rs_length_vllm_before},
    {{"vllm", "vLLM from #56446 (September 2026)", VLLM_NEW,
      "YaRN: transformers' keys; attn_factor is not read; with M-RoPE the ramp is that of 4 L0"},
     .scope = RS_OF_YARN,
     .dialect = "hf",
     .mrope_ramp = true,
     .serves = true,
     .length = rs_length_vllm},
    {{"vllm", "vLLM before #56446", VLLM_OLD, "its dialect; serves original length times factor"},
     .scope = RS_OF_YARN,
     .dialect = "vllm",
     .serves = true,
     .length = rs_length_vllm_before},
    {{"sglang", "SGLang", "sglang 108c36c00829, layers/rotary_embedding, utils/hf_transformers_utils.py",
      "its dialect"},
     .dialect = "sglang",
     .serves = true,
     .length = rs_length_sglang},
    {{"llamacpp", "llama.cpp", "llama.cpp c55d53acec86, ggml d99724f2b141", "its dialect"},
     .dialect = "llamacpp",
     .serves = true,
     .length = rs_length_llamacpp},
    {{"gpt_oss", "gpt-oss's code", "gpt-oss 7b583341fe16, gpt_oss/torch/model.py", "its dialect"},
     .dialect = "gpt_oss"},
    {{"deepseek", "DeepSeek's code", "DeepSeek-V3 9b4e9788e4a3, inference/model.py", "its dialect"},
     .dialect = "deepseek"},
};

const rs_config_engine *rs_config_engines(size_t index) {
  return index < RS_CONFIG_ENGINES ? &rs_readers[index].engine : NULL;
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

/* "4.52" and "2026-09-11" alike. */
typedef struct version {
  long parts[3];
} version;

/* Versions of an engine that its entry is of, both ends among them. vLLM's numbers end where it is not known which of
 * them have the change; its dates do not. */
static const struct {
  size_t engine;
  version from, to;
} ranges[] = {
    {0, {{4, 43, 0}}, {{5, 999, 0}}},      {1, {{4, 56, 0}}, {{5, 999, 0}}},     {2, {{4, 51, 0}}, {{4, 55, 999}}},
    {3, {{4, 43, 0}}, {{4, 50, 999}}},     {4, {{4, 43, 0}}, {{4, 999, 0}}},     {5, {{0, 2, 0}}, {{0, 27, 999}}},
    {5, {{2023, 10, 1}}, {{2999, 0, 0}}},  {6, {{2026, 9, 12}}, {{2999, 0, 0}}}, {7, {{0, 2, 0}}, {{0, 27, 999}}},
    {7, {{2023, 10, 1}}, {{2026, 9, 11}}},
};

static int compare(const version *a, const version *b) {
  for (size_t i = 0; i < RS_COUNT(a->parts); i++)
    if (a->parts[i] != b->parts[i]) return a->parts[i] < b->parts[i] ? -1 : 1;
  return 0;
}

static bool read_version(const char *text, version *out) {
  char *end = (char *)text;
  *out = (version){{0}};
  for (size_t i = 0; i < RS_COUNT(out->parts); i++) {
    if (*text < '0' || *text > '9') return false;
    out->parts[i] = strtol(text, &end, 10);
    if (*end == '\0') return out->parts[i] >= 0;
    if (*end != '.' && *end != '-') return false;
    text = end + 1;
  }
  return false;
}

/* Whether the entry is of this version; one without ranges is of none that can be named. */
static bool is_of(size_t engine, const version *v) {
  for (size_t i = 0; i < RS_COUNT(ranges); i++)
    if (ranges[i].engine == engine && compare(&ranges[i].from, v) <= 0 && compare(v, &ranges[i].to) <= 0) return true;
  return false;
}

static rs_status refuse_version(const char *name, const char *written, rs_err *err) {
  if (strcmp(name, "transformers") == 0)
    return rs_fail(err, RS_INPUT, "%s@%s: releases from 4.43 to 5 are known, as in transformers@4.52", name, written);
  if (strcmp(name, "vllm") == 0)
    return rs_fail(
        err, RS_INPUT,
        "%s@%s: versions up to 0.27 are known, later ones by date, as in vllm@2026-10-01: pull request 56446 "
        "is of 2026-09-11",
        name, written);
  return rs_fail(err, RS_INPUT, "%s@%s: one version of it is known (write %s)", name, written, name);
}

rs_status rs_config_engines_choose(const char *word, uint32_t *engines, rs_err *err) {
  char name[32];
  const char *names[RS_CONFIG_ENGINES], *at = strchr(word, '@');
  size_t length = at != NULL ? (size_t)(at - word) : strlen(word), count = 0;
  uint32_t named = 0, chosen = 0;
  version v;
  bool read = at != NULL && read_version(at + 1, &v);
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
  for (size_t i = 0; i < RS_CONFIG_ENGINES; i++) {
    const char *other = rs_readers[i].engine.name;
    if (count == 0 || strcmp(names[count - 1], other) != 0) names[count++] = other;
    if (strcmp(other, name) != 0) continue;
    named |= (uint32_t)1 << i;
    if (read && is_of(i, &v)) chosen |= (uint32_t)1 << i;
  }
  if (named == 0) {
    const char *near = rs_suggest(name, names, count);
    if (near != NULL) return rs_fail(err, RS_INPUT, "no engine %s (did you mean %s?)", word, near);
    return rs_fail(err, RS_INPUT, "no engine %s (there are: transformers, vllm, sglang, llamacpp, gpt_oss, deepseek)",
                   word);
  }
  if (at != NULL && chosen == 0) return refuse_version(name, at + 1, err);
  *engines |= at != NULL ? chosen : named;
  return RS_OK;
}
