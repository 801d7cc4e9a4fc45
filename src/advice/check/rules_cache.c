/* RS7: lengths at which rotated keys, or the arithmetic, no longer fit. */
#include "rules.h"

#include <math.h>
#include <string.h>

enum { SWITCH, DYNAMIC, FLOAT32 };

static const rs_rule rules[] = {
    [SWITCH] = {"RS701", "longrope-switch", RS_NOTE,
                "LongRoPE changes its table where a sequence passes the length of training: keys cached before do not "
                "fit",
                "github.com/huggingface/transformers/issues/25104; github.com/vllm-project/vllm/issues/27431"},
    [DYNAMIC] = {"RS702", "dynamic-cache", RS_NOTE,
                 "a dynamic rule changes its table with the length: keys cached at another length do not fit, and vLLM "
                 "freezes one table",
                 "github.com/vllm-project/vllm/issues/5093"},
    [FLOAT32] = {"RS703", "float32-angles", RS_NOTE,
                 "angles that are computed in float32 lose digits at the served length",
                 "docs/performance.md; transformers, LlamaRotaryEmbedding.forward: float32"},
};

/* The largest error of an angle that is the product of a frequency and a position in float32, rad. */
static double angle_error(const rs_model *model, double position) {
  double worst = 0;
  for (size_t j = 0; j < model->rotary_dim / 2; j++) {
    double omega = pow(model->rope_theta, -2.0 * (double)j / (double)model->rotary_dim);
    worst = fmax(worst, fabs((double)((float)omega * (float)position) - omega * position));
  }
  return worst;
}

static rs_status find_float32(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  enum { POSITIONS = 64 }; /* the worst of the last ones */
  const rs_model *model = checked->model;
  const double told = 0.01; /* rad: a hundredth of a token's turn of the fastest pair */
  if (model == NULL || model->published.method == NULL || model->published.method->freq == NULL) return RS_OK;
  double worst = 0;
  for (size_t i = 1; i <= POSITIONS && i < model->max_length; i++)
    worst = fmax(worst, angle_error(model, (double)(model->max_length - i)));
  if (worst < told) return RS_OK;
  return rs_find(findings, &rules[FLOAT32], NULL, NULL, NULL, err,
                 "at %zu tokens angles that are computed in float32 are up to %.2g rad off; positions held in bfloat16 "
                 "would be up to %.0f tokens off",
                 model->max_length, worst, (double)model->max_length * 0x1p-9);
}

/* Tokens that the file gives, else its class; 0 where neither does. */
static double tokens_of(const rs_checked *checked, double given) {
  if (!isnan(given)) return given;
  return checked->model != NULL ? (double)checked->model->train_length : 0;
}

static rs_status find_switch(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  double tokens = tokens_of(checked, rs_trained_of(checked, rope));
  if (tokens == 0) return RS_OK;
  return rs_find(
      findings, &rules[SWITCH], rope->node, rope->path, NULL, err,
      "past %.0f tokens long_factor takes the place of short_factor: transformers switches within a sequence, "
      "keys cached before keep the other table; vLLM and llama.cpp choose once, by the length they are "
      "started with, SGLang for each batch",
      tokens);
}

/* Transformers' base grows from max_position_embeddings on: it allows an original length beside it, and does not read
 * it. */
static rs_status find_dynamic(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                              rs_err *err) {
  bool original = rs_original_of(checked, rope) != NULL;
  double tokens = tokens_of(checked, rs_node_number(rs_maximum_of(checked)));
  if (tokens == 0) return RS_OK;
  return rs_find(findings, &rules[DYNAMIC], rope->node, rope->path, NULL, err,
                 "past %.0f tokens the base grows with each token%s: keys cached before keep the smaller base; vLLM "
                 "takes the base of the longest length for all, so short inputs are scaled too",
                 tokens, original ? " (original_max_position_embeddings is not read for this type)" : "");
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    const char *type = rope->known != NULL ? rope->known->type : "";
    if (strcmp(type, "longrope") == 0) RS_TRY(find_switch(checked, rope, findings, err));
    if (strcmp(type, "dynamic") == 0 && rs_key(rope->node, "alpha") == NULL)
      RS_TRY(find_dynamic(checked, rope, findings, err));
  }
  return find_float32(checked, findings, err);
}

const rs_rule_group rs_rules_cache = {rules, RS_COUNT(rules), find};
