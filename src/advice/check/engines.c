/* What engines and their releases derive from one config.json. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- who can have the file --------------------------------------------------------------------------------------- */

/* Models for which an engine has code of its own, which multiplies cos and sin by what the file says: for DeepSeek-V4
 * by 1 (vLLM's and SGLang's deepseek_v4 set mscale to 0, DeepSeek's code has none), for Ministral 3 by llama.cpp's
 * yarn_log_multiplier, which its converter takes from mscale_all_dim. A dialect says nothing of them. */
static const struct {
  const char *family, *engine; /* NULL: every one */
} exceptions[] = {{"deepseek_v4", NULL}, {"deepseek_ref", NULL}, {"ministral3", "llamacpp"}};

static bool has_own_code(const rs_checked *checked, const char *engine) {
  for (size_t i = 0; i < RS_COUNT(exceptions); i++)
    if (strcmp(checked->family, exceptions[i].family) == 0 &&
        (exceptions[i].engine == NULL || strcmp(engine, exceptions[i].engine) == 0))
      return true;
  return false;
}

static bool has_dialect(const rs_checked *checked, const char *dialect) {
  size_t count;
  const rs_dialect *all = rs_dialects(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, dialect) == 0 && rs_dialect_fits(&all[i], checked->model->published.method)) return true;
  return false;
}

static bool is_yarn(const rs_checked *checked) {
  return strcmp(checked->model->published.method->name, "yarn") == 0;
}

/* Whether releases of transformers differ: YaRN with an original length. */
static bool has_releases(const rs_checked *checked) {
  return is_yarn(checked) && checked->rope_count == 1 && rs_original_of(checked, &checked->ropes[0]) != NULL &&
         rs_maximum_of(checked) != NULL;
}

/* Classes that transformers 4.50 had, and that read rope_scaling by its shared functions. */
bool rs_is_in_4_50(const rs_checked *checked) {
  static const char *const families[] = {
      "",           "cohere",    "cohere2",  "falcon",   "gemma",      "gemma2",    "gemma3", "gemma3_text",
      "glm",        "gpt_neox",  "granite",  "llama",    "mistral",    "mixtral",   "mllama", "mllama_text_model",
      "nemotron",   "olmo",      "olmo2",    "olmoe",    "persimmon",  "phi",       "phimoe", "qwen2",
      "qwen2_5_vl", "qwen2_moe", "qwen2_vl", "stablelm", "starcoder2", "granitemoe"};
  for (size_t i = 0; i < RS_COUNT(families); i++)
    if (strcmp(checked->family, families[i]) == 0) return true;
  return false;
}

bool rs_engine_reads(const rs_checked *checked, const rs_reader *reader) {
  bool transformers = strcmp(reader->engine.name, "transformers") == 0;
  if (!transformers && has_own_code(checked, reader->engine.name)) return false;
  if (!has_dialect(checked, reader->dialect)) return false;
  if (reader->numbers == RS_BY_MAXIMUM && !rs_is_in_4_50(checked)) return false;
  switch (reader->scope) {
  case RS_BUT_RELEASES: return !has_releases(checked);
  case RS_OF_RELEASES: return has_releases(checked);
  case RS_BUT_YARN: return !is_yarn(checked);
  case RS_OF_YARN: return is_yarn(checked);
  case RS_OF_PARAMETERS: return checked->before_5.kind_count > 0;
  default: return true;
  }
}

/* ---- what it makes of it ----------------------------------------------------------------------------------------- */

static rs_status make_spectrum(const rs_model *model, const char *dialect, const char *ramp_length,
                               rs_spectrum *spectrum, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_init(&recipe, model->published.method, err));
  rs_status status = rs_recipe_set(&recipe, "dialect", dialect, err);
  if (status == RS_OK && ramp_length != NULL) status = rs_recipe_set(&recipe, "ramp_length", ramp_length, err);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, model, err);
  if (status == RS_OK) status = rs_recipe_check(&recipe, model, err);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, model, model->max_length, spectrum, err);
  rs_recipe_clear(&recipe);
  return status;
}

rs_status rs_spectrum_published(const rs_model *model, rs_spectrum *spectrum, rs_err *err) {
  return make_spectrum(model, "hf", NULL, spectrum, err);
}

/* The model as the release takes its numbers. */
static rs_status take_numbers(const rs_checked *checked, const rs_reader *reader, rs_model *model, rs_err *err) {
  const rs_profile *old = &checked->before_5;
  rs_yarn_numbers taken = reader->numbers;
  if (reader->before_5) return rs_model_copy(model, &old->kinds[old->chosen].model, err);
  double maximum = rs_node_number(rs_maximum_of(checked));
  RS_TRY(rs_model_copy(model, checked->model, err));
  if (taken == RS_BY_FACTOR) return RS_OK;
  double ratio = maximum / (double)model->train_length;
  rs_status status = taken == RS_BY_RATIO ? rs_recipe_set_number(&model->published, "factor", ratio, err) : RS_OK;
  if (taken == RS_BY_MAXIMUM) model->train_length = (size_t)maximum;
  if (status != RS_OK) rs_model_clear(model);
  return status;
}

/* vLLM before its pull request 56446 leaves cos and sin as they are where apply_yarn_scaling is false. */
static rs_status leave_magnitude(const rs_checked *checked, const rs_reader *reader, rs_model *model, rs_err *err) {
  const char *flag = checked->rope_count > 0 ? rs_key_word(checked->ropes[0].node, "apply_yarn_scaling") : NULL;
  bool left = flag != NULL && strcmp(flag, "false") == 0 && is_yarn(checked);
  if (!left || strcmp(reader->dialect, "vllm") != 0) return RS_OK;
  double s = rs_factor_of(checked, &checked->ropes[0]), given = rs_key_number(checked->ropes[0].node, "attn_factor");
  return rs_recipe_set_number(&model->published, "attn_factor",
                              (isnan(given) ? 1 : given) / (s > 1 ? 0.1 * log(s) + 1 : 1), err);
}

/* DeepSeek's models have a class of their own in vLLM, which its change of YaRN's left as it was. */
static const char *dialect_of(const rs_checked *checked, const rs_reader *reader) {
  const rs_value *softmax = rs_setting(&checked->model->published.settings, "mscale_softmax");
  bool latent = reader->mrope_ramp && softmax != NULL && softmax->set && softmax->number == 1;
  return latent ? "vllm" : reader->dialect;
}

rs_status rs_spectrum_read(const rs_checked *checked, const rs_reader *reader, rs_spectrum *spectrum, rs_err *err) {
  rs_model model;
  const char *dialect = dialect_of(checked, reader);
  bool plain = reader->mrope_ramp && dialect == reader->dialect;
  RS_TRY(take_numbers(checked, reader, &model, err));
  rs_status status = leave_magnitude(checked, reader, &model, err);
  if (status == RS_OK) status = make_spectrum(&model, dialect, plain ? "vllm_mrope" : NULL, spectrum, err);
  rs_model_clear(&model);
  return status;
}

/* Where whole heads turn, the softmax scale may do what cos and sin do elsewhere: their square is on the logits. */
static bool same_factors(const rs_spectrum *a, const rs_spectrum *b) {
  const double equal = 1e-6;
  double logits_a = a->amp * a->amp * a->logit_factor, logits_b = b->amp * b->amp * b->logit_factor;
  bool whole = a->head_dim == 2 * a->pairs;
  return fabs(logits_b / logits_a - 1) <= equal && (whole || fabs(b->amp / a->amp - 1) <= equal);
}

static void compare(const rs_spectrum *ours, const rs_spectrum *theirs, rs_derivation *derivation) {
  rs_difference d = rs_spectrum_compare(ours, theirs, 1e-6);
  derivation->amp = theirs->amp;
  derivation->logit_factor = theirs->logit_factor;
  derivation->differ = d.count;
  derivation->largest = d.largest;
  derivation->differs = d.count > 0 || !same_factors(ours, theirs);
}

static rs_status derive(const rs_checked *checked, const rs_reader *reader, const rs_spectrum *ours,
                        rs_derivation *derivation, rs_err *err) {
  rs_spectrum theirs = {0};
  rs_err why = {0};
  rs_status status = rs_spectrum_read(checked, reader, &theirs, &why);
  if (status == RS_OK) compare(ours, &theirs, derivation);
  rs_spectrum_clear(&theirs);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) rs_err_words(&why, derivation->refusal, sizeof derivation->refusal);
  return RS_OK;
}

rs_status rs_derivations_make(const rs_checked *checked, rs_derivations *derivations, rs_err *err) {
  rs_spectrum ours = {0};
  derivations->count = 0;
  RS_TRY(rs_spectrum_published(checked->model, &ours, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < RS_CONFIG_ENGINES && status == RS_OK; i++) {
    const rs_reader *reader = &rs_readers[i];
    if (!rs_engine_reads(checked, reader)) continue;
    rs_derivation *derivation = &derivations->items[derivations->count++];
    *derivation = (rs_derivation){.engine = i, .length = reader->length != NULL ? reader->length(checked) : NAN};
    status = derive(checked, reader, &ours, derivation, err);
  }
  rs_spectrum_clear(&ours);
  return status;
}
