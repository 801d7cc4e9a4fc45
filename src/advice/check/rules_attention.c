/* RS3: the attention factor, where it acts, and YaRN's ramp. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OFF_FORMULA, TWICE, BETAS, BETA_0, NTK_BASE, BETAS_EQUAL, BANDS, HALF_MSCALE, QK_SCALE };

static const rs_rule rules[] = {
    [OFF_FORMULA] = {"RS301", "attention-factor-off-formula", RS_WARNING,
                     "attention_factor differs from what the method's formula gives; llama.cpp, SGLang and vLLM before "
                     "#56446 take the formula, transformers the number",
                     "github.com/ggml-org/llama.cpp/issues/17945"},
    [TWICE] = {"RS302", "attention-factor-and-mscale", RS_WARNING,
               "attention_factor beside mscale: transformers takes attention_factor and leaves mscale unread on cos "
               "and sin, while DeepSeek's softmax scale takes mscale_all_dim: the temperature may be applied twice",
               "github.com/huggingface/transformers/issues/47435"},
    [BETAS] = {"RS303", "betas-swapped", RS_ERROR, "beta_fast is below beta_slow: the ramp ends before it begins",
               "arXiv:2309.00071, section 3.2: alpha = 1, beta = 32 (beta_slow, beta_fast)"},
    [BETA_0] = {"RS304", "beta-0", RS_NOTE, "a beta of 0 is taken for its default",
                "transformers, modeling_rope_utils.py: `beta_fast or 32`"},
    [NTK_BASE] = {"RS305", "yarn-on-an-ntk-base", RS_WARNING,
                  "YaRN on a base that is itself NTK-aware scaling by the same factor: pairs are stretched twice",
                  "github.com/paiml/aprender/issues/2161"},
    [BETAS_EQUAL] = {"RS306", "betas-equal", RS_NOTE,
                     "beta_fast and beta_slow are equal: between kept and divided pairs is a step, no ramp",
                     "transformers, modeling_rope_utils.py: 0.001 is added where low and high are equal"},
    [BANDS] = {"RS307", "bands-swapped", RS_ERROR,
               "high_freq_factor is below low_freq_factor: what is to be kept and what is to be divided overlap",
               "transformers, modeling_rope_utils.py: _validate_llama3_parameters"},
    [QK_SCALE] =
        {"RS309", "scale-of-the-class", RS_NOTE,
         "a number by which the class multiplies queries besides 1 / sqrt(D): it is not counted in what is said of "
         "logits",
         "transformers 5, modeling_muse_glimmer.py: qk_scale_factor"},
    [HALF_MSCALE] = {"RS308", "half-an-mscale", RS_WARNING,
                     "mscale without mscale_all_dim, or the other way round: transformers reads the two together, and "
                     "takes 0.1 ln s + 1 where one is missing or 0",
                     "transformers, modeling_rope_utils.py: _compute_yarn_parameters"},
};

static bool is_type(const rs_rope_entry *rope, const char *type) {
  return rope->known != NULL && strcmp(rope->known->type, type) == 0;
}

/* 0.1 m ln s + 1, and 1 where s <= 1: arXiv:2309.00071, equation 22. */
static double magnitude(double mscale, double s) {
  return s <= 1 ? 1 : 0.1 * mscale * log(s) + 1;
}

/* The factor on cos and sin without attention_factor; NaN where the file does not say s. */
static double formula(const rs_checked *checked, const rs_rope_entry *rope) {
  double s = rs_factor_of(checked, rope);
  if (is_type(rope, "longrope")) { /* arXiv:2402.13753, as Phi-3 has it */
    double maximum = rs_node_number(rs_maximum_of(checked)), trained = rs_trained_of(checked, rope);
    s = isnan(rs_key_number(rope->node, "factor")) ? maximum / trained : s;
    return s <= 1 ? 1 : sqrt(1 + log(s) / log(trained));
  }
  double one = rs_key_number(rope->node, "mscale"), all = rs_key_number(rope->node, "mscale_all_dim");
  return one > 0 && all > 0 ? magnitude(one, s) / magnitude(all, s) : magnitude(1, s);
}

static rs_status find_off_formula(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                                  rs_err *err) {
  const rs_node *node = rs_key(rope->node, "attention_factor");
  double given = rs_node_number(node), wanted = formula(checked, rope);
  bool yarn = is_type(rope, "yarn");
  if ((!yarn && !is_type(rope, "longrope")) || isnan(given) || isnan(wanted)) return RS_OK;
  if (fabs(given / wanted - 1) < 1e-3) return RS_OK;
  rs_path path = rs_key_path(rope, "attention_factor");
  char fix[160];
  snprintf(fix, sizeof fix, "write %.10g, or leave it out%s", wanted,
           fabs(given / rs_factor_of(checked, rope) - 1) < 1e-3 ? " (the number is that of factor)" : "");
  return rs_find(findings, &rules[OFF_FORMULA], node, path.text, fix, err,
                 "attention_factor = %s multiplies cos and sin in transformers, so logits by %.4g; %s gives %.6g, so "
                 "%.4g, which is what llama.cpp, SGLang and vLLM before #56446 take",
                 node->text, given * given, yarn ? "0.1 ln s + 1" : "sqrt(1 + ln s / ln L0)", wanted, wanted * wanted);
}

/* Classes that put mscale_all_dim on the softmax scale: modeling_deepseek_v2.py, _v3.py. */
static bool scales_softmax(const rs_checked *checked) {
  return rs_key(checked->root, "qk_rope_head_dim") != NULL;
}

static rs_status find_twice(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(rope->node, "attention_factor"), *all = rs_key(rope->node, "mscale_all_dim");
  const rs_node *mscale = rs_key(rope->node, "mscale");
  if (!is_type(rope, "yarn") || node == NULL || (all == NULL && mscale == NULL)) return RS_OK;
  rs_path path = rs_key_path(rope, "attention_factor");
  double s = rs_factor_of(checked, rope), squared = pow(magnitude(rs_node_number(all), s), 2);
  if (scales_softmax(checked) && rs_node_number(all) > 0 && rs_node_number(node) != 1)
    return rs_find(findings, &rules[TWICE], node, path.text, "leave attention_factor out", err,
                   "cos and sin are multiplied by %s, and the softmax scale by %.6g for mscale_all_dim: the "
                   "temperature is applied twice",
                   node->text, squared);
  return rs_find(findings, &rules[TWICE], node, path.text, "keep one: attention_factor, or mscale with mscale_all_dim",
                 err, "transformers takes attention_factor = %s and does not read %s", node->text,
                 mscale != NULL ? "mscale" : "mscale_all_dim");
}

static rs_status find_betas(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *fast = rs_key(rope->node, "beta_fast"), *slow = rs_key(rope->node, "beta_slow");
  const rs_node *betas[] = {fast, slow};
  static const double defaults[] = {32, 1};
  double values[2];
  if (!is_type(rope, "yarn")) return RS_OK;
  for (size_t i = 0; i < 2; i++) {
    values[i] = rs_node_number(betas[i]);
    if (betas[i] == NULL || values[i] == 0) values[i] = defaults[i];
    if (betas[i] == NULL || rs_node_number(betas[i]) != 0) continue;
    rs_path path = rs_key_path(rope, betas[i]->key);
    RS_TRY(rs_find(findings, &rules[BETA_0], betas[i], path.text, NULL, err, "0 is taken for the default, %g",
                   defaults[i]));
  }
  if (!(values[0] <= values[1])) return RS_OK;
  const rs_node *node = fast != NULL ? fast : slow;
  rs_path path = rs_key_path(rope, node->key);
  if (values[0] == values[1])
    return rs_find(findings, &rules[BETAS_EQUAL], node, path.text, NULL, err,
                   "both betas are %g: pairs are kept or divided, with no ramp between", values[0]);
  char fix[160];
  snprintf(fix, sizeof fix, "swap them: \"beta_fast\": %g, \"beta_slow\": %g", values[1], values[0]);
  return rs_find(findings, &rules[BETAS], node, path.text, fix, err,
                 "beta_fast = %g is the number of turns from which a pair is kept, beta_slow = %g that up to which it "
                 "is interpolated: the former must be larger",
                 values[0], values[1]);
}

/* Equal ones are a step, as Llama 4 has them. */
static rs_status find_bands(const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *high = rs_key(rope->node, "high_freq_factor");
  double low = rs_key_number(rope->node, "low_freq_factor"), above = rs_node_number(high);
  if (!is_type(rope, "llama3") || !(above < low)) return RS_OK;
  rs_path path = rs_key_path(rope, "high_freq_factor");
  char fix[160];
  snprintf(fix, sizeof fix, "swap them: \"low_freq_factor\": %g, \"high_freq_factor\": %g", above, low);
  return rs_find(findings, &rules[BANDS], high, path.text, fix, err,
                 "pairs that turn more than %g times in training are to be kept, those that turn less than %g times "
                 "divided: the former must be the larger number",
                 above, low);
}

/* One that changes nothing when it is read alone, mscale 1, is left in peace, and so is what DeepSeek's softmax scale
 * reads. */
static rs_status find_half_mscale(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                                  rs_err *err) {
  double one = rs_key_number(rope->node, "mscale"), all = rs_key_number(rope->node, "mscale_all_dim");
  bool alone = one > 0 && one != 1 && !(all > 0), other = all > 0 && !(one > 0) && !scales_softmax(checked);
  if (!is_type(rope, "yarn") || (!alone && !other) || rs_key(rope->node, "attention_factor") != NULL) return RS_OK;
  const char *key = alone ? "mscale" : "mscale_all_dim", *missing = alone ? "mscale_all_dim" : "mscale";
  double s = rs_factor_of(checked, rope);
  rs_path path = rs_key_path(rope, key);
  return rs_find(findings, &rules[HALF_MSCALE], rs_key(rope->node, key), path.text,
                 "write \"attention_factor\": the number that cos and sin are to be multiplied by", err,
                 "%s = %g is not read without %s: cos and sin are multiplied by %.6g, which is 0.1 ln s + 1", key,
                 alone ? one : all, missing, magnitude(1, s));
}

/* theta s^(d/(d-2)) of a base that somebody trains with. */
static rs_status find_ntk_base(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                               rs_err *err) {
  static const double trained[] = {1e4, 5e5, 1e6};
  const rs_node *node = rs_key(rope->node, "rope_theta");
  if (node == NULL) node = rs_key(checked->root, "rope_theta");
  double base = rs_node_number(node), s = rs_factor_of(checked, rope);
  if (!is_type(rope, "yarn") || isnan(base) || !(s > 1) || checked->model == NULL || checked->model->rotary_dim < 4)
    return RS_OK;
  double dims = (double)checked->model->rotary_dim;
  for (size_t i = 0; i < RS_COUNT(trained); i++) {
    if (fabs(base / (trained[i] * pow(s, dims / (dims - 2))) - 1) > 0.005) continue;
    char fix[160];
    snprintf(fix, sizeof fix, "write the base of training, \"rope_theta\": %.1f", trained[i]);
    return rs_find(findings, &rules[NTK_BASE], node, NULL, fix, err,
                   "rope_theta = %s is %g times s^(d/(d-2)) for factor %g: the NTK-aware base, on top of which YaRN "
                   "stretches again",
                   node->text, trained[i], s);
  }
  return RS_OK;
}

static rs_status find_qk_scale(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(checked->root, "qk_scale_factor");
  if (isnan(rs_node_number(node)) || rs_node_number(node) == 1) return RS_OK;
  return rs_find(findings, &rules[QK_SCALE], node, NULL, NULL, err,
                 "qk_scale_factor: the class multiplies queries by %s after their norm, which is not counted here",
                 node->text);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  RS_TRY(find_qk_scale(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    RS_TRY(find_off_formula(checked, rope, findings, err));
    RS_TRY(find_twice(checked, rope, findings, err));
    RS_TRY(find_betas(rope, findings, err));
    RS_TRY(find_ntk_base(checked, rope, findings, err));
    RS_TRY(find_bands(rope, findings, err));
    RS_TRY(find_half_mscale(checked, rope, findings, err));
  }
  return RS_OK;
}

const rs_rule_group rs_rules_attention = {rules, RS_COUNT(rules), find};
