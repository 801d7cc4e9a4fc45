/* Which engines there are, which versions of each read a config.json alike, and what they derive from one. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* The least of the lengths that the file says. */
static double least_length(const rs_checked *c) {
  static const char *const keys[] = {
      RS_MAXIMUM,       "n_positions", "max_seq_len", "seq_length", "max_target_positions", "max_sequence_length",
      "max_seq_length", "seq_len"};
  double least = NAN, own = rs_key_number(c->root, "model_max_length");
  for (size_t i = 0; i < RS_COUNT(keys); i++) least = fmin(least, rs_key_number(c->root, keys[i]));
  return isnan(own) ? least : own;
}

/* vllm/config/model.py: _get_and_verify_max_len. Gemma 3's maximum is scaled already. */
static double vllm_length(const rs_checked *c, bool yarn_grows) {
  double length = least_length(c), factor = 1, original = rs_key_number(c->root, RS_ORIGINAL);
  for (size_t r = 0; r < c->rope_count && !rs_hf_is_of(c->family, "gemma3"); r++) {
    const rs_rope_entry *rope = &c->ropes[r];
    bool yarn = strcmp(rope->type, "yarn") == 0;
    double given = rs_key_number(rope->node, "factor");
    if (strcmp(rope->type, "longrope") == 0 && !isnan(original)) return original;
    if (rs_word_among(rope->type, "su longrope llama3") || (yarn && !yarn_grows)) continue;
    if (!isnan(given)) factor = given;
    if (yarn) length = rs_node_number(rs_original_of(c, rope)); /* without it, vLLM stops */
  }
  return floor(length * factor);
}

static double vllm_new(const rs_checked *c) {
  return vllm_length(c, false);
}

static double vllm_old(const rs_checked *c) {
  return vllm_length(c, true);
}

/* sglang/srt/utils/hf_transformers: get_context_length. */
static double sglang_length(const rs_checked *c) {
  static const char *const keys[] = {"max_sequence_length", "seq_length", "max_seq_len", "model_max_length",
                                     RS_MAXIMUM};
  double length = NAN, factor = NAN;
  for (size_t i = 0; i < RS_COUNT(keys) && isnan(length); i++) length = rs_key_number(c->root, keys[i]);
  const rs_rope_entry *rope = c->rope_count == 1 && !c->ropes[0].layered ? &c->ropes[0] : NULL;
  if (rope != NULL && rs_key(rope->node, RS_ORIGINAL) == NULL && strcmp(rope->type, "llama3") != 0)
    factor = rs_key_number(rope->node, "factor");
  return floor(length * (isnan(factor) ? 1 : factor));
}

/* The length of training that the converter writes. */
static double llamacpp_length(const rs_checked *c) {
  return rs_node_number(rs_maximum_of(c));
}

/* ---- engines and their versions ---------------------------------------------------------------------------------- */

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
     .length = vllm_old},
    {{"vllm", "vLLM from #56446 (September 2026)", VLLM_NEW,
      "YaRN: transformers' keys; attn_factor is not read; with M-RoPE the ramp is that of 4 L0"},
     .scope = RS_OF_YARN,
     .dialect = "hf",
     .mrope_ramp = true,
     .serves = true,
     .length = vllm_new},
    {{"vllm", "vLLM before #56446", VLLM_OLD, "its dialect; serves original length times factor"},
     .scope = RS_OF_YARN,
     .dialect = "vllm",
     .serves = true,
     .length = vllm_old},
    {{"sglang", "SGLang", "sglang 108c36c00829, layers/rotary_embedding, utils/hf_transformers_utils.py",
      "its dialect"},
     .dialect = "sglang",
     .serves = true,
     .length = sglang_length},
    {{"llamacpp", "llama.cpp", "llama.cpp c55d53acec86, ggml d99724f2b141", "its dialect"},
     .dialect = "llamacpp",
     .serves = true,
     .length = llamacpp_length},
    {{"gpt_oss", "gpt-oss's code", "gpt-oss 7b583341fe16, gpt_oss/torch/model.py", "its dialect"},
     .dialect = "gpt_oss"},
    {{"deepseek", "DeepSeek's code", "DeepSeek-V3 9b4e9788e4a3, inference/model.py", "its dialect"},
     .dialect = "deepseek"},
};

const rs_config_engine *rs_config_engines(size_t index) {
  return index < RS_CONFIG_ENGINES ? &rs_readers[index].engine : NULL;
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

/* "4.52" and "2026-09-11" alike, as one number that grows with the version; -1: none. */
static double read_version(const char *text) {
  double number = 0;
  for (size_t part = 0; part < 3; part++) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 6) return -1;
    number += (double)strtol(text, NULL, 10) * pow(1e6, 2 - (double)part);
    if (text[digits] == '\0') return number;
    if (text[digits] != '.' && text[digits] != '-') return -1;
    text += digits + 1;
  }
  return -1;
}

/* Versions of an engine that its entry is of, both ends among them; one without ranges is of none that can be named.
 * vLLM's numbers end where it is not known which of them have the change; its dates do not. */
static const struct {
  size_t engine;
  const char *from, *to;
} ranges[] = {{0, "4.43", "5.999"},   {1, "4.56", "5.999"},         {2, "4.51", "4.55.999"},  {3, "4.43", "4.50.999"},
              {4, "4.43", "4.999"},   {5, "0.2", "0.27.999"},       {5, "2023-10-1", "2999"}, {6, "2026-9-12", "2999"},
              {7, "0.2", "0.27.999"}, {7, "2023-10-1", "2026-9-11"}};

static bool is_of(size_t engine, double version) {
  for (size_t i = 0; i < RS_COUNT(ranges); i++)
    if (ranges[i].engine == engine && read_version(ranges[i].from) <= version && version <= read_version(ranges[i].to))
      return true;
  return false;
}

static rs_status refuse_version(const char *name, const char *written, rs_err *err) {
  if (strcmp(name, "transformers") == 0)
    return rs_fail(err, RS_INPUT, "%s@%s: releases from 4.43 to 5 are known, as in transformers@4.52", name, written);
  if (strcmp(name, "vllm") == 0)
    return rs_fail(err, RS_INPUT,
                   "%s@%s: versions up to 0.27 are known, later ones by date, as in vllm@2026-10-01: pull request "
                   "56446 is of 2026-09-11",
                   name, written);
  return rs_fail(err, RS_INPUT, "%s@%s: one version of it is known (write %s)", name, written, name);
}

rs_status rs_config_engines_choose(const char *word, uint32_t *engines, rs_err *err) {
  char name[32];
  const char *at = strchr(word, '@');
  uint32_t named = 0, chosen = 0;
  double version = at != NULL ? read_version(at + 1) : -1;
  snprintf(name, sizeof name, "%.*s", (int)fmin((double)strcspn(word, "@"), sizeof name - 1), word);
  rs_nearest nearest = {.word = name};
  for (size_t i = 0; i < RS_CONFIG_ENGINES; i++) {
    rs_nearest_add(&nearest, rs_readers[i].engine.name);
    if (strcmp(rs_readers[i].engine.name, name) != 0) continue;
    named |= (uint32_t)1 << i;
    if (version >= 0 && is_of(i, version)) chosen |= (uint32_t)1 << i;
  }
  const char *near = rs_nearest_found(&nearest);
  if (named == 0 && near != NULL) return rs_fail(err, RS_INPUT, "no engine %s (did you mean %s?)", word, near);
  if (named == 0)
    return rs_fail(err, RS_INPUT, "no engine %s (there are: transformers, vllm, sglang, llamacpp, gpt_oss, deepseek)",
                   word);
  if (at != NULL && chosen == 0) return refuse_version(name, at + 1, err);
  *engines |= at != NULL ? chosen : named;
  return RS_OK;
}

/* ---- who can have the file --------------------------------------------------------------------------------------- */

/* Models for which an engine has code of its own, which multiplies cos and sin by what the file says: for DeepSeek-V4
 * by 1 (vLLM's and SGLang's deepseek_v4 set mscale to 0, DeepSeek's code has none), for Ministral 3 by llama.cpp's
 * yarn_log_multiplier, which its converter takes from mscale_all_dim. A dialect says nothing of them. */
static bool has_own_code(const rs_checked *c, const char *engine) {
  bool ministral = strcmp(c->family, "ministral3") == 0 && strcmp(engine, "llamacpp") == 0;
  return ministral || rs_word_among(c->family, "deepseek_v4 deepseek_ref");
}

static bool has_dialect(const rs_checked *c, const char *dialect) {
  size_t count;
  const rs_dialect *all = rs_dialects(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, dialect) == 0 && rs_dialect_fits(&all[i], c->model->published.method)) return true;
  return false;
}

static bool is_yarn(const rs_checked *c) {
  return strcmp(c->model->published.method->name, "yarn") == 0;
}

/* Whether releases of transformers differ: YaRN with an original length. */
static bool has_releases(const rs_checked *c) {
  return is_yarn(c) && c->rope_count == 1 && rs_original_of(c, &c->ropes[0]) != NULL && rs_maximum_of(c) != NULL;
}

/* Classes that transformers 4.50 had, and that read rope_scaling by its shared functions. */
bool rs_is_in_4_50(const rs_checked *c) {
  static const char families[] = "cohere cohere2 falcon gemma gemma2 gemma3 gemma3_text glm gpt_neox granite llama "
                                 "mistral mixtral mllama mllama_text_model nemotron olmo olmo2 olmoe persimmon phi "
                                 "phimoe qwen2 qwen2_5_vl qwen2_moe qwen2_vl stablelm starcoder2 granitemoe";
  return *c->family == '\0' || rs_word_among(c->family, families);
}

bool rs_engine_reads(const rs_checked *c, const rs_reader *reader) {
  bool transformers = strcmp(reader->engine.name, "transformers") == 0;
  if (!transformers && has_own_code(c, reader->engine.name)) return false;
  if (!has_dialect(c, reader->dialect)) return false;
  if (reader->numbers == RS_BY_MAXIMUM && !rs_is_in_4_50(c)) return false;
  switch (reader->scope) {
  case RS_BUT_RELEASES: return !has_releases(c);
  case RS_OF_RELEASES: return has_releases(c);
  case RS_BUT_YARN: return !is_yarn(c);
  case RS_OF_YARN: return is_yarn(c);
  case RS_OF_PARAMETERS: return c->before_5.kind_count > 0;
  default: return true;
  }
}

/* ---- what it makes of it ----------------------------------------------------------------------------------------- */

static rs_status make_spectrum(const rs_model *model, const char *dialect, const char *ramp_length,
                               rs_spectrum *spectrum, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_TRY(rs_recipe_init(&recipe, model->published.method, err));
  RS_TRY(rs_recipe_set(&recipe, "dialect", dialect, err));
  if (ramp_length != NULL) RS_TRY(rs_recipe_set(&recipe, "ramp_length", ramp_length, err));
  RS_TRY(rs_recipe_resolve(&recipe, model, err));
  RS_TRY(rs_recipe_check(&recipe, model, err));
  return rs_spectrum_make(&recipe, model, model->max_length, spectrum, err);
}

rs_status rs_spectrum_published(const rs_model *model, rs_spectrum *spectrum, rs_err *err) {
  return make_spectrum(model, "hf", NULL, spectrum, err);
}

/* The model as the release takes its numbers. */
static rs_status take_numbers(const rs_checked *c, const rs_reader *reader, rs_model *model, rs_err *err) {
  const rs_profile *old = &c->before_5;
  rs_yarn_numbers taken = reader->numbers;
  if (reader->before_5) return rs_model_copy(model, &old->kinds[old->chosen].model, err);
  double maximum = rs_node_number(rs_maximum_of(c));
  RS_TRY(rs_model_copy(model, c->model, err));
  if (taken == RS_BY_FACTOR) return RS_OK;
  double ratio = maximum / (double)model->train_length;
  rs_status status = taken == RS_BY_RATIO ? rs_recipe_set_number(&model->published, "factor", ratio, err) : RS_OK;
  if (taken == RS_BY_MAXIMUM) model->train_length = (size_t)maximum;
  if (status != RS_OK) rs_model_clear(model);
  return status;
}

/* vLLM before its pull request 56446 leaves cos and sin as they are where apply_yarn_scaling is false. */
static rs_status leave_magnitude(const rs_checked *c, const rs_reader *reader, rs_model *model, rs_err *err) {
  const char *flag = c->rope_count > 0 ? rs_key_word(c->ropes[0].node, "apply_yarn_scaling") : NULL;
  bool left = flag != NULL && strcmp(flag, "false") == 0 && is_yarn(c);
  if (!left || strcmp(reader->dialect, "vllm") != 0) return RS_OK;
  double s = rs_factor_of(c, &c->ropes[0]), given = rs_key_number(c->ropes[0].node, "attn_factor");
  return rs_recipe_set_number(&model->published, "attn_factor", (isnan(given) ? 1 : given) / rs_yarn_magnitude(1, s),
                              err);
}

/* Of a GGUF file llama.cpp reads YaRN's factor on cos and sin, but its bounds for Grok and Mistral 3 alone. */
static rs_status take_metadata(const rs_checked *c, const rs_reader *reader, rs_model *model, rs_err *err) {
  const struct {
    const char *name;
    double number;
  } taken[] = {{"attn_factor", rs_hf_gguf_attn_factor(c->top)}, {"beta_fast", 32}, {"beta_slow", 1}};
  if (!is_yarn(c) || strcmp(reader->dialect, "llamacpp") != 0 || !rs_hf_was_gguf(c->top)) return RS_OK;
  for (size_t i = 0; i < RS_COUNT(taken); i++)
    RS_TRY(rs_recipe_set_number(&model->published, taken[i].name, taken[i].number, err));
  return RS_OK;
}

/* DeepSeek's models have a class of their own in vLLM, which its change of YaRN's left as it was. LongRoPE's factor on
 * cos and sin is computed by llama.cpp's converter, and read of its files. */
static const char *dialect_of(const rs_checked *c, const rs_reader *reader) {
  bool llamacpp = strcmp(reader->dialect, "llamacpp") == 0 && rs_hf_was_gguf(c->top);
  if (llamacpp && strcmp(c->model->published.method->name, "longrope") == 0) return "hf";
  const rs_value *softmax = rs_setting(&c->model->published.settings, "mscale_softmax");
  bool latent = reader->mrope_ramp && softmax != NULL && softmax->set && softmax->number == 1;
  return latent ? "vllm" : reader->dialect;
}

rs_status rs_spectrum_read(const rs_checked *c, const rs_reader *reader, rs_spectrum *spectrum, rs_err *err) {
  RS_OWNED(rs_model) model = {0};
  const char *dialect = dialect_of(c, reader);
  bool plain = reader->mrope_ramp && dialect == reader->dialect;
  RS_TRY(take_numbers(c, reader, &model, err));
  RS_TRY(leave_magnitude(c, reader, &model, err));
  RS_TRY(take_metadata(c, reader, &model, err));
  return make_spectrum(&model, dialect, plain ? "vllm_mrope" : NULL, spectrum, err);
}

/* Where whole heads turn, the softmax scale may do what cos and sin do elsewhere: their square is on the logits. */
static bool same_factors(const rs_spectrum *a, const rs_spectrum *b) {
  const double equal = 1e-6;
  double logits_a = a->amp * a->amp * a->logit_factor, logits_b = b->amp * b->amp * b->logit_factor;
  bool whole = a->head_dim == 2 * a->pairs;
  return fabs(logits_b / logits_a - 1) <= equal && (whole || fabs(b->amp / a->amp - 1) <= equal);
}

static void put_difference(const rs_spectrum *ours, const rs_spectrum *theirs, rs_derivation *derivation) {
  rs_difference d = rs_spectrum_compare(ours, theirs, 1e-6);
  derivation->amp = theirs->amp;
  derivation->logit_factor = theirs->logit_factor;
  derivation->differ = d.count;
  derivation->largest = d.largest;
  derivation->differs = d.count > 0 || !same_factors(ours, theirs);
}

static rs_status derive(const rs_checked *c, const rs_reader *reader, const rs_spectrum *ours,
                        rs_derivation *derivation, rs_err *err) {
  RS_OWNED(rs_spectrum) theirs = {0};
  rs_err why = {0};
  rs_status status = rs_spectrum_read(c, reader, &theirs, &why);
  if (status == RS_OK) put_difference(ours, &theirs, derivation);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) rs_err_words(&why, derivation->refusal, sizeof derivation->refusal);
  return RS_OK;
}

rs_status rs_derivations_make(const rs_checked *c, rs_derivations *derivations, rs_err *err) {
  RS_OWNED(rs_spectrum) ours = {0};
  derivations->count = 0;
  RS_TRY(rs_spectrum_published(c->model, &ours, err));
  for (size_t i = 0; i < RS_CONFIG_ENGINES; i++) {
    const rs_reader *reader = &rs_readers[i];
    if (!rs_engine_reads(c, reader)) continue;
    rs_derivation *derivation = &derivations->items[derivations->count++];
    *derivation = (rs_derivation){.engine = i, .length = reader->length != NULL ? reader->length(c) : NAN};
    RS_TRY(derive(c, reader, &ours, derivation, err));
  }
  return RS_OK;
}
