/* Engines and their versions: who is named, what SGLang and vLLM make of a file, which length each serves, and which
 * findings that raises. Lengths and factors are by hand, from the code that rs_config_engine names. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advice/advice.h"

#define SIZES(length)                                                                                                  \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "            \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": " length
#define SCALED(length, rope) SIZES(length) ", \"rope_scaling\": {" rope "}}"
#define YARN(more)                                                                                                     \
  SCALED("16384", "\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096" more)
#define LISTS "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 2, 3, 4]"

/* ---- who is named ------------------------------------------------------------------------------------------------ */

/* Their titles, one behind the other. */
static void titles_of(uint32_t engines, char *out, size_t size) {
  size_t used = 0;
  *out = '\0';
  for (size_t i = 0; rs_config_engines(i) != NULL; i++)
    if ((engines >> i & 1) != 0)
      used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? "; " : "", rs_config_engines(i)->title);
}

Test(check_engines, choose__names_and_versions) {
  static const struct {
    const char *word, *want; /* titles, or the error */
  } cases[] = {
      {"sglang", "SGLang"},
      {"vllm", "vLLM; vLLM from #56446 (September 2026); vLLM before #56446"},
      {"vllm@0.25.1", "vLLM; vLLM before #56446"},
      {"vllm@2026-09-11", "vLLM; vLLM before #56446"},
      {"vllm@2026-09-12", "vLLM; vLLM from #56446 (September 2026)"},
      {"transformers@4.50", "transformers; transformers 4 up to 4.50; transformers before 5"},
      {"transformers@4.50.3", "transformers; transformers 4 up to 4.50; transformers before 5"},
      {"transformers@4.51", "transformers; transformers 4.51 to 4.55; transformers before 5"},
      {"transformers@4.55.4", "transformers; transformers 4.51 to 4.55; transformers before 5"},
      {"transformers@4.56", "transformers; transformers 5 (and 4.56 on); transformers before 5"},
      {"transformers@5", "transformers; transformers 5 (and 4.56 on)"},
      {"transformers@4.40", "transformers@4.40: releases from 4.43 to 5 are known, as in transformers@4.52"},
      {"transformers@new", "transformers@new: releases from 4.43 to 5 are known, as in transformers@4.52"},
      {"vllm@0.28", "vllm@0.28: versions up to 0.27 are known, later ones by date, as in vllm@2026-10-01: pull request "
                    "56446 is of 2026-09-11"},
      {"sglang@0.5", "sglang@0.5: one version of it is known (write sglang)"},
      {"slang", "no engine slang (did you mean sglang?)"},
      {"tensorrt", "no engine tensorrt (there are: transformers, vllm, sglang, llamacpp, gpt_oss, deepseek)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    uint32_t engines = 0;
    char got[256];
    rs_err err = {0};
    rs_status status = rs_config_engines_choose(cases[i].word, &engines, &err);
    titles_of(engines, got, sizeof got);
    cr_expect_str_eq(status == RS_OK ? got : err.message, cases[i].want, "%s: %s%s", cases[i].word, got, err.message);
  }
  uint32_t both = 0;
  cr_expect_eq(rs_config_engines_choose("sglang", &both, NULL), RS_OK);
  cr_expect_eq(rs_config_engines_choose("llamacpp", &both, NULL), RS_OK);
  cr_expect_eq(__builtin_popcount(both), 2);
}

Test(check_engines, each__has_a_name_and_a_source) {
  size_t count = 0;
  for (; rs_config_engines(count) != NULL; count++) {
    const rs_config_engine *engine = rs_config_engines(count);
    cr_expect(*engine->name != '\0' && *engine->title != '\0' && *engine->source != '\0' && *engine->says != '\0');
  }
  cr_expect_eq(count, RS_CONFIG_ENGINES);
}

/* ---- what they derive -------------------------------------------------------------------------------------------- */

static rs_portrait portray(const char *json) {
  rs_portrait portrait;
  rs_err err = {0};
  cr_assert_eq(rs_portrait_read(json, strlen(json), "config.json", NULL, &portrait, &err), RS_OK, "%s", err.message);
  return portrait;
}

static const rs_derivation *derived_by(const rs_portrait *portrait, const char *title) {
  for (size_t i = 0; i < portrait->engines.count; i++)
    if (strcmp(rs_config_engines(portrait->engines.items[i].engine)->title, title) == 0)
      return &portrait->engines.items[i];
  return NULL;
}

static const char newer[] = "vLLM from #56446 (September 2026)", older[] = "vLLM before #56446";

#define DEEPSEEK(more)                                                                                                 \
  "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"qk_rope_head_dim\": 16, "      \
  "\"qk_nope_head_dim\": 16, \"rope_theta\": 10000.0, \"max_position_embeddings\": 163840, \"rope_scaling\": "         \
  "{\"type\": \"yarn\", \"factor\": 40, \"original_max_position_embeddings\": 4096, \"mscale_all_dim\": 1.0" more "}}"

/* g(m) = 0.1 m ln 4 + 1; of DeepSeek's, s is 40. Its ramp is from pair 2.62 to 5.63, or from 2 to 6 in whole pairs, so
 * that pairs 3 to 5 differ. */
Test(check_engines, derivations__by_engine) {
  static const struct {
    const char *json, *engine;
    double amp, logit_factor;
    size_t differ;
  } cases[] = {
      {YARN(", \"attention_factor\": 2.0"), "SGLang", 1.138629436111989, 1, 0},
      {YARN(", \"attention_factor\": 2.0"), newer, 2, 1, 0},
      {YARN(", \"attention_factor\": 2.0"), older, 1.138629436111989, 1, 0},
      {YARN(", \"mscale\": 1.0, \"mscale_all_dim\": 0.5"), "SGLang", 1.0648216253695715, 1, 0},
      {YARN(", \"mscale\": 1.0, \"mscale_all_dim\": 0.5"), newer, 1.0648216253695715, 1, 0},
      {YARN(", \"mscale\": 1.0, \"mscale_all_dim\": 0.5"), older, 1.138629436111989, 1, 0},
      {YARN(", \"attn_factor\": 2.0"), "transformers 5 (and 4.56 on)", 1.138629436111989, 1, 0},
      {YARN(", \"attn_factor\": 2.0"), "SGLang", 2.277258872223978, 1, 0},
      {YARN(", \"attn_factor\": 2.0"), newer, 1.138629436111989, 1, 0},
      {YARN(", \"attn_factor\": 2.0"), older, 2.277258872223978, 1, 0},
      {YARN(", \"truncate\": false"), "SGLang", 1.138629436111989, 1, 0},
      {DEEPSEEK(", \"mscale\": 1.0"), "SGLang", 1, 1.8738542070926265, 0},
      {DEEPSEEK(", \"mscale\": 1.0, \"truncate\": false"), "SGLang", 1, 1.8738542070926265, 3},
      {DEEPSEEK(", \"mscale\": 1.0, \"truncate\": false"), newer, 1, 1.8738542070926265, 3},
      {DEEPSEEK(", \"mscale\": 1.0, \"attention_factor\": 3"), "SGLang", 1, 1.8738542070926265, 0},
      {SCALED("16384", "\"rope_type\": \"longrope\", \"attention_factor\": 2.0, " LISTS
                       ", \"original_max_position_embeddings\": 4096"),
       "SGLang", 1.0801234497346435, 1, 0}, /* sqrt(1 + ln 4 / ln 4096) = sqrt(7 / 6) */
      {SCALED("4096", "\"rope_type\": \"linear\", \"factor\": 4.0"), "SGLang", 1, 1, 0},
      {SCALED("4096", "\"rope_type\": \"llama3\", \"factor\": 4.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": "
                      "4.0, \"original_max_position_embeddings\": 1024"),
       "SGLang", 1, 1, 0},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_portrait p = portray(cases[i].json);
    const rs_derivation *r = derived_by(&p, cases[i].engine);
    cr_assert_not_null(r, "%s: %s", cases[i].engine, cases[i].json);
    cr_expect_float_eq(r->amp, cases[i].amp, 1e-12, "%s: %.17g %s", cases[i].engine, r->amp, cases[i].json);
    cr_expect_float_eq(r->logit_factor, cases[i].logit_factor, 1e-12, "%s: %.17g", cases[i].engine, r->logit_factor);
    cr_expect_eq(r->differ, cases[i].differ, "%s: %zu %s", cases[i].engine, r->differ, cases[i].json);
    rs_portrait_clear(&p);
  }
}

/* With M-RoPE vLLM's ramp is that of 16384 tokens, floor(1.91) = 1 to ceil(3.42) = 4, before and after; SGLang's is
 * that of 4096, 1 to 3: pairs 2 and 3. */
Test(check_engines, mrope_with_yarn__ramps) {
  rs_portrait p = portray(YARN(", \"mrope_section\": [2, 1, 1]"));
  cr_expect_eq(derived_by(&p, newer)->differ, 2);
  cr_expect_eq(derived_by(&p, older)->differ, 2);
  cr_expect_eq(derived_by(&p, "SGLang")->differ, 0);
  rs_portrait_clear(&p);
}

/* s at 16384 is 4 * 4 - 3 in transformers; the engines take it at once for all lengths. */
Test(check_engines, recipes_of_one_reading__have_one_vllm) {
  rs_portrait p = portray(SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0"));
  cr_expect_str_eq(rs_config_engines(p.engines.items[0].engine)->title, "transformers");
  cr_expect_not_null(derived_by(&p, "vLLM"));
  cr_expect_null(derived_by(&p, newer));
  cr_expect_null(derived_by(&p, older));
  cr_expect_eq(derived_by(&p, "SGLang")->differ, derived_by(&p, "vLLM")->differ);
  rs_portrait_clear(&p);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

#define GEMMA3                                                                                                         \
  "{\"model_type\": \"gemma3_text\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"head_dim\": 8, "               \
  "\"num_hidden_layers\": 6, \"sliding_window\": 64, \"max_position_embeddings\": 1024, \"rope_scaling\": "            \
  "{\"rope_type\": \"linear\", \"factor\": 8.0}}"

Test(check_engines, lengths__by_engine) {
  static const struct {
    const char *json;
    double vllm, before, sglang, llamacpp; /* where the versions of vLLM are one, the first alone; NaN: not known */
  } cases[] = {
      {YARN(""), 16384, 16384, 16384, 16384},
      {SCALED("16384", "\"rope_type\": \"yarn\", \"factor\": 2.0, \"original_max_position_embeddings\": 4096"), 16384,
       8192, 16384, 16384},
      {SCALED("4096", "\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096"), 4096,
       16384, 4096, 4096},
      {SCALED("16384", "\"rope_type\": \"yarn\", \"factor\": 4.0"), 16384, NAN, 65536, 16384},
      {SCALED("4096", "\"rope_type\": \"linear\", \"factor\": 4.0"), 16384, 0, 16384, 4096},
      {SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0"), 16384, 0, 16384, 4096},
      {SCALED("4096", "\"rope_type\": \"llama3\", \"factor\": 4.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": "
                      "4.0, \"original_max_position_embeddings\": 1024"),
       4096, 0, 4096, 4096},
      {SIZES("4096") "}", 4096, 0, 4096, 4096},
      {SIZES("4096") ", \"model_max_length\": 8192}", 8192, 0, 8192, 4096},
      {SIZES("4096") ", \"seq_length\": 2048}", 2048, 0, 2048, 4096},
      {SIZES("4096") ", \"original_max_position_embeddings\": 1024, \"rope_scaling\": {\"rope_type\": "
                     "\"longrope\", " LISTS "}}",
       1024, 0, 4096, 4096},
      {GEMMA3, 1024, 0, 8192, 1024},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_portrait p = portray(cases[i].json);
    bool one = cases[i].before == 0;
    const char *const titles[] = {one ? "vLLM" : newer, older, "SGLang", "llama.cpp"};
    const double want[] = {cases[i].vllm, cases[i].before, cases[i].sglang, cases[i].llamacpp};
    for (size_t e = 0; e < RS_COUNT(titles); e++) {
      if (e == 1 && one) continue;
      const rs_derivation *r = derived_by(&p, titles[e]);
      cr_assert_not_null(r, "%s: %s", titles[e], cases[i].json);
      cr_expect(r->length == want[e] || (isnan(r->length) && isnan(want[e])), "%s: %g, want %g: %s", titles[e],
                r->length, want[e], cases[i].json);
    }
    cr_expect(isnan(p.engines.items[0].length), "transformers has no limit");
    rs_portrait_clear(&p);
  }
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* "RS601 warning, RS605 note" of what is found of engines. */
static void engine_findings(const char *json, const char *word, char *out, size_t size) {
  rs_findings findings;
  uint32_t engines = 0;
  size_t used = 0;
  *out = '\0';
  if (word != NULL) cr_assert_eq(rs_config_engines_choose(word, &engines, NULL), RS_OK);
  cr_assert_eq(rs_check(json, strlen(json), "config.json", engines, &findings, NULL), RS_OK);
  for (size_t i = 0; i < findings.count; i++) {
    const rs_finding *f = &findings.items[i];
    if (strncmp(f->rule->code, "RS6", 3) != 0) continue;
    used += (size_t)snprintf(out + used, size - used, "%s%s %s", used > 0 ? ", " : "", f->rule->code,
                             rs_severity_words[f->severity]);
  }
  rs_findings_clear(&findings);
}

Test(check_engines, findings__warn_of_who_is_named) {
  static const char short_maximum[] =
      SCALED("4096", "\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096");
  static const struct {
    const char *json, *engine, *want;
  } cases[] = {
      {YARN(", \"attention_factor\": 2.0"), NULL, "RS601 note, RS603 note"},
      {YARN(", \"attention_factor\": 2.0"), "sglang", "RS601 warning"},
      {YARN(", \"attention_factor\": 2.0"), "vllm@0.25", "RS601 warning"},
      {YARN(", \"attention_factor\": 2.0"), "vllm@2026-10-01", ""},
      {YARN(", \"attention_factor\": 2.0"), "transformers", "RS601 warning"}, /* up to 4.50 */
      {YARN(", \"attention_factor\": 2.0"), "transformers@4.52", ""},
      {YARN(""), "transformers@4.50", "RS601 warning"},
      {short_maximum, "transformers@4.52", "RS601 warning"},
      {short_maximum, NULL, "RS605 note, RS603 note"},
      {short_maximum, "vllm@0.25", ""},
      {short_maximum, "vllm@2026-10-01", "RS605 warning"},
      {YARN(", \"attention_factor\": 2.0, \"truncate\": false"), "gpt_oss", "RS601 warning"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char got[256];
    engine_findings(cases[i].json, cases[i].engine, got, sizeof got);
    cr_expect_str_eq(got, cases[i].want, "%s for %s: %s", cases[i].json,
                     cases[i].engine != NULL ? cases[i].engine : "all", got);
  }
}

/* DeepSeek's code knows mscale alone: (0.1 0.707 ln 40 + 1)^2, not (0.1 ln 40 + 1)^2. */
Test(check_engines, softmax_scale__is_told_beside_cos_and_sin) {
  static const char json[] =
      "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"num_attention_heads\": 128, \"qk_rope_head_dim\": "
      "64, "
      "\"qk_nope_head_dim\": 128, \"v_head_dim\": 128, \"kv_lora_rank\": 512, \"max_position_embeddings\": 163840, "
      "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40, \"original_max_position_embeddings\": 4096, "
      "\"mscale\": 0.707, \"mscale_all_dim\": 1.0}}";
  rs_findings findings;
  uint32_t engines = 0;
  cr_assert_eq(rs_config_engines_choose("deepseek", &engines, NULL), RS_OK);
  cr_assert_eq(rs_check(json, strlen(json), "config.json", engines, &findings, NULL), RS_OK);
  size_t i = 0;
  while (i < findings.count && strcmp(findings.items[i].rule->code, "RS601") != 0) i++;
  cr_assert_lt(i, findings.count);
  cr_expect_str_eq(
      findings.items[i].text,
      "DeepSeek's code: cos and sin are multiplied by 1, not 0.921042; the softmax scale by 1.58963, not 1.87385");
  rs_findings_clear(&findings);
}

Test(check_engines, rules__are_found_and_dropped) {
  const char *json = YARN(", \"attention_factor\": 2.0");
  rs_findings findings;
  const rs_rule *rule = NULL;
  rs_err err = {0};
  cr_expect_eq(rs_rule_find("releases-differ", &rule, &err), RS_OK);
  cr_expect_eq(rs_rule_find("RS603", &rule, &err), RS_OK);
  cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, &err), RS_OK);
  size_t before = findings.count;
  cr_expect_eq(rs_findings_drop(&findings, rule), 1);
  cr_expect_eq(findings.count, before - 1);
  for (size_t i = 0; i < findings.count; i++) cr_expect_str_neq(findings.items[i].rule->code, "RS603");
  cr_expect_eq(rs_findings_drop(&findings, rule), 0);
  rs_findings_clear(&findings);
  cr_expect_eq(rs_rule_find("RS633", &rule, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "no finding RS633"), "%s", err.message);
}
