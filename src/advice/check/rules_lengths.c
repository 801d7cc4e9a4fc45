/* RS2: lengths: what was trained, what is served, and the factor between them. RS3: the attention factor, where it
 * acts, and YaRN's ramp. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Numbers that are read; beyond these the reader's error is all, and nothing is worked out of them. */
static const double least_factor = 1e-6, most_factor = 1e9, most_tokens = 1 << 28;

/* A factor, and a length in tokens, that is read; NaN: another, or none. */
static double factor_in(const rs_node *node) {
  double number = rs_node_number(node);
  return number >= least_factor && number <= most_factor ? number : NAN;
}

static double tokens_in(const rs_node *node) {
  double number = rs_node_number(node);
  return number >= 1 && number <= most_tokens && number == floor(number) ? number : NAN;
}

/* ---- the original length ----------------------------------------------------------------------------------------- */

/* How far the frequencies are off where `trained` tokens were trained, not what the file is taken to say. "" where it
 * cannot be said. */
static void put_error(rs_checked *c, double trained, char out[96]) {
  RS_OWNED(rs_spectrum) as_is = {0}, meant = {0};
  RS_OWNED(rs_recipe) recipe = {0};
  rs_err why = {0};
  rs_model other = *c->model; /* its recipe stays the file's */
  other.train_length = (size_t)trained;
  size_t length = c->model->max_length;
  rs_status status = rs_recipe_copy(&recipe, &c->model->published, &why);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, c->model, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, c->model, length, &as_is, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, &other, length, &meant, &why);
  if (status == RS_OK) {
    rs_difference difference = rs_spectrum_compare(&meant, &as_is, 1e-6);
    snprintf(out, 96, "; %zu of %zu frequencies are then up to %.0f %% off", difference.count, as_is.pairs,
             100 * difference.largest);
  }
  if (status == RS_MEMORY) (void)rs_fail(c->err, RS_MEMORY, "%s", why.message);
}

static void find_no_original(rs_checked *c, const rs_rope_entry *rope) {
  double maximum = rs_node_number(rs_maximum_of(c)), factor = rs_key_number(rope->node, "factor");
  char error[96] = "", most[RS_NUMBER_CHARS], served[RS_NUMBER_CHARS], meant[RS_NUMBER_CHARS];
  if (rs_original_of(c, rope) != NULL || isnan(maximum)) return;
  if (isnan(factor))
    rs_find(c, "RS201", rope->node, "add original_max_position_embeddings, the length of training, and factor",
            "%s has neither a factor nor original_max_position_embeddings: s = 1, so nothing is scaled", rope->path);
  if (!(factor > 1) || c->model == NULL) return;
  if (rs_model_turns(c->model) && strcmp(c->model->published.method->name, "yarn") == 0)
    put_error(c, floor(maximum / factor), error);
  rs_number_format(maximum, most);
  rs_number_format(maximum * factor, served);
  rs_number_format(floor(maximum / factor), meant);
  rs_find(c, "RS201", rope->node,
          rs_fix(c, "add \"" RS_ORIGINAL "\": %s if %s is what is served, or %s if that is what was trained", meant,
                 most, most),
          RS_MAXIMUM " = %s is taken for the length of training, so factor %s serves %s tokens. If %s is what is to be "
                     "served, training was at %s%s",
          most, rs_key_word(rope->node, "factor"), served, most, meant, error);
}

static void find_two_originals(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *outer = rs_key(c->root, RS_ORIGINAL), *inner = rs_key(rope->node, RS_ORIGINAL);
  if (outer != NULL && inner != NULL && rs_node_number(outer) != rs_node_number(inner))
    rs_find(c, "RS206", inner, "keep the length of training alone",
            "%s here and %s on line %zu: transformers takes the latter", inner->text, outer->text, outer->line);
}

static void find_original_above(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *original = rs_original_of(c, rope), *maximum = rs_maximum_of(c);
  if (tokens_in(original) > tokens_in(maximum))
    rs_find(c, "RS205", original,
            rs_fix(c,
                   "write the length of training here, and the length that is served as " RS_MAXIMUM
                   ": %s and %s, if the two were swapped",
                   maximum->text, original->text),
            "the length of training, %s, is above " RS_MAXIMUM
            " = %s: the ratio of the two, which some releases take for the factor, is below 1",
            original->text, maximum->text);
}

/* ---- the factor -------------------------------------------------------------------------------------------------- */

static void find_factor(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key(rope->node, "factor");
  double factor = rs_node_number(node), trained = rs_trained_of(c, rope);
  bool alpha = strcmp(rope->type, "dynamic") == 0 && rs_key(rope->node, "alpha") != NULL; /* HunYuan's, which scales */
  bool proportional = rope->known != NULL && strcmp(rope->known->type, "proportional") == 0;
  char inverse[RS_NUMBER_CHARS];
  rs_number_format(1 / factor, inverse);
  if (node == NULL || factor > 1) return;
  if (isnan(factor))
    rs_find(c, "RS208", node, "write a number, without quotes", "the factor is no number");
  else if (factor == 1 && !alpha)
    rs_find(c, "RS204", node, NULL, "s = 1: nothing is scaled");
  else if (factor < least_factor && !proportional)
    rs_find(c, "RS203", node, "write how many times as long the context is to be",
            "the factor is %s: a length cannot grow by it, and transformers wants at least 1", node->text);
  else if (factor < 1 && !proportional)
    rs_find(c, "RS203", node, rs_fix(c, "write %s if the context is to grow", inverse),
            "s = %s makes slow pairs %s times faster: what was learned of %.0f tokens is met within %.0f", node->text,
            inverse, trained, trained * factor);
}

/* YaRN's and LongRoPE's factor is the ratio of the lengths; Llama 3's is none (8 for 16 times as many tokens). A config
 * whose maximum is the length of training says the ratio 1, and is served to factor times that: Qwen2.5's way. */
static void find_ratio(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key(rope->node, "factor"), *original = rs_original_of(c, rope), *maximum = rs_maximum_of(c);
  double factor = factor_in(node), ratio = tokens_in(maximum) / tokens_in(original);
  double served = factor * tokens_in(original);
  char said[RS_NUMBER_CHARS];
  if (!(factor > 1) || !(ratio > 1) || fabs(factor / ratio - 1) < 0.01) return;
  rs_number_format(ratio, said);
  rs_find(c, "RS202", node, rs_fix(c, "write %s, or " RS_MAXIMUM " = %.0f", said, served),
          "factor %s serves %.0f tokens, but " RS_MAXIMUM
          " = %s over the original %s is %s. transformers 4.51 to 4.55 took the ratio, all others take the factor",
          node->text, served, maximum->text, original->text, said);
}

static void find_no_maximum(rs_checked *c) {
  const rs_node *missing = RS_MISSING(RS_MAXIMUM);
  const char *fix = "add \"" RS_MAXIMUM "\", the length that is served";
  if (!rs_model_turns(c->model) || rs_maximum_of(c) != NULL) return;
  if (c->model->max_length == 0)
    rs_find(c, "RS207", missing, fix, "no " RS_MAXIMUM ": engines take their class's default");
  else
    rs_find(c, "RS207", missing, fix, "no " RS_MAXIMUM ": %zu is served, by the default of %s", c->model->max_length,
            c->family);
}

/* ---- the attention factor ---------------------------------------------------------------------------------------- */

/* The factor on cos and sin without attention_factor. */
static double formula(const rs_checked *c, const rs_rope_entry *rope) {
  double s = rs_factor_of(c, rope), trained = rs_trained_of(c, rope);
  if (strcmp(rope->known->type, "longrope") == 0) return rs_longrope_magnitude(s, trained);
  double one = rs_key_number(rope->node, "mscale"), all = rs_key_number(rope->node, "mscale_all_dim");
  return one > 0 && all > 0 ? rs_yarn_magnitude(one, s) / rs_yarn_magnitude(all, s) : rs_yarn_magnitude(1, s);
}

/* Of a GGUF file llama.cpp takes rope.scaling.attn_factor, of YaRN times the formula's. */
static void tell_gguf(rs_checked *c, const rs_node *node, bool yarn, double wanted) {
  double given = rs_node_number(node), factor = rs_hf_gguf_attn_factor(c->top),
         theirs = yarn ? factor * wanted : factor;
  const char *fix = yarn ? rs_fix(c, "leave rope.scaling.attn_factor and rope.scaling.yarn_attn_factor out for that")
                         : rs_fix(c, "write rope.scaling.attn_factor = %.10g for that", wanted);
  rs_find(c, "RS301", node, fix,
          "the file multiplies cos and sin by %.6g, so logits by %.4g, and llama.cpp takes %.6g; %s gives %.6g, so "
          "%.4g, which is what SGLang and vLLM before #56446 take of a config.json",
          given, given * given, theirs, yarn ? "0.1 ln s + 1" : "sqrt(1 + ln s / ln L0)", wanted, wanted * wanted);
}

static void find_off_formula(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key(rope->node, "attention_factor");
  double given = factor_in(node), wanted = formula(c, rope), s = rs_factor_of(c, rope);
  bool yarn = strcmp(rope->known->type, "yarn") == 0;
  if (isnan(given + s + wanted) || fabs(given / wanted - 1) < 1e-3) return;
  if (rs_hf_was_gguf(c->top)) {
    tell_gguf(c, node, yarn, wanted);
    return;
  }
  rs_find(c, "RS301", node,
          rs_fix(c, "write %.10g, or leave it out%s", wanted,
                 fabs(given / s - 1) < 1e-3 ? " (the number is that of factor)" : ""),
          "attention_factor = %s multiplies cos and sin in transformers, so logits by %.4g; %s gives %.6g, so %.4g, "
          "which is what llama.cpp, SGLang and vLLM before #56446 take",
          node->text, given * given, yarn ? "0.1 ln s + 1" : "sqrt(1 + ln s / ln L0)", wanted, wanted * wanted);
}

/* Classes that put mscale_all_dim on the softmax scale: modeling_deepseek_v2.py, _v3.py. */
static bool scales_softmax(const rs_checked *c) {
  return rs_key(c->root, "qk_rope_head_dim") != NULL;
}

static void find_twice(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *node = rs_key(rope->node, "attention_factor"), *all = rs_key(rope->node, "mscale_all_dim");
  const rs_node *either = rs_key_any(rope->node, "mscale mscale_all_dim");
  if (node == NULL || either == NULL) return;
  if (scales_softmax(c) && rs_node_number(all) > 0 && rs_node_number(node) != 1)
    rs_find(c, "RS302", node, "leave attention_factor out",
            "cos and sin are multiplied by %s, and the softmax scale by %.6g for mscale_all_dim: the temperature is "
            "applied twice",
            node->text, pow(rs_yarn_magnitude(rs_node_number(all), rs_factor_of(c, rope)), 2));
  else
    rs_find(c, "RS302", node, "keep one: attention_factor, or mscale with mscale_all_dim",
            "transformers takes attention_factor = %s and does not read %s", node->text, either->key);
}

/* One that changes nothing when it is read alone, mscale 1, is left in peace, and so is what DeepSeek's softmax scale
 * reads. */
static void find_half_mscale(rs_checked *c, const rs_rope_entry *rope) {
  double one = rs_key_number(rope->node, "mscale"), all = rs_key_number(rope->node, "mscale_all_dim");
  if (one < 0 || all < 0) return; /* an error of the reader's */
  bool alone = one > 0 && one != 1 && !(all > 0), other = all > 0 && !(one > 0) && !scales_softmax(c);
  const char *key = alone ? "mscale" : "mscale_all_dim", *missing = alone ? "mscale_all_dim" : "mscale";
  if ((alone || other) && rs_key(rope->node, "attention_factor") == NULL)
    rs_find(c, "RS308", rs_key(rope->node, key),
            "write \"attention_factor\": the number that cos and sin are to be multiplied by",
            "%s = %g is not read without %s: cos and sin are multiplied by %.6g, which is 0.1 ln s + 1", key,
            alone ? one : all, missing, rs_yarn_magnitude(1, rs_factor_of(c, rope)));
}

static void find_qk_scale(rs_checked *c) {
  const rs_node *node = rs_key(c->root, "qk_scale_factor");
  if (!isnan(rs_node_number(node)) && rs_node_number(node) != 1)
    rs_find(c, "RS309", node, NULL,
            "qk_scale_factor: the class multiplies queries by %s after their norm, which is not counted here",
            node->text);
}

/* ---- ramps and bases --------------------------------------------------------------------------------------------- */

static void find_betas(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *betas[] = {rs_key(rope->node, "beta_fast"), rs_key(rope->node, "beta_slow")};
  const rs_node *node = betas[betas[0] == NULL];
  double values[] = {32, 1};
  bool read = true;
  for (size_t i = 0; i < 2; i++) {
    if (betas[i] == NULL) continue;
    if (rs_node_number(betas[i]) == 0)
      rs_find(c, "RS304", betas[i], NULL, "0 is taken for the default, %g", values[i]);
    else
      values[i] = factor_in(betas[i]);
    read &= !isnan(values[i]);
  }
  if (!read) return;
  if (values[0] == values[1])
    rs_find(c, "RS306", node, NULL, "both betas are %g: pairs are kept or divided, with no ramp between", values[0]);
  else if (values[0] < values[1])
    rs_find(c, "RS303", node, rs_fix(c, "swap them: \"beta_fast\": %g, \"beta_slow\": %g", values[1], values[0]),
            "beta_fast = %g is the number of turns from which a pair is kept, beta_slow = %g that up to which it is "
            "interpolated: the former must be larger",
            values[0], values[1]);
}

/* Equal ones are a step, as Llama 4 has them. */
static void find_bands(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *high = rs_key(rope->node, "high_freq_factor");
  double low = factor_in(rs_key(rope->node, "low_freq_factor")), above = factor_in(high);
  if (above < low)
    rs_find(c, "RS307", high, rs_fix(c, "swap them: \"low_freq_factor\": %g, \"high_freq_factor\": %g", above, low),
            "pairs that turn more than %g times in training are to be kept, those that turn less than %g times "
            "divided: the former must be the larger number",
            above, low);
}

/* theta s^(d/(d-2)) of a base that somebody trains with. */
static void find_ntk_base(rs_checked *c, const rs_rope_entry *rope) {
  static const double trained[] = {1e4, 5e5, 1e6};
  const rs_node *node = rs_key(rope->node, "rope_theta");
  if (node == NULL) node = rs_key(c->root, "rope_theta");
  double base = rs_node_number(node), s = rs_factor_of(c, rope);
  if (isnan(base) || !(s > 1) || c->model == NULL || c->model->rotary_dim < 4) return;
  for (size_t i = 0; i < RS_COUNT(trained); i++)
    if (fabs(base / rs_base_ntk(trained[i], c->model->rotary_dim / 2, s) - 1) <= 0.005) {
      rs_find(c, "RS305", node, rs_fix(c, "write the base of training, \"rope_theta\": %.1f", trained[i]),
              "rope_theta = %s is %g times s^(d/(d-2)) for factor %g: the NTK-aware base, on top of which YaRN "
              "stretches again",
              node->text, trained[i], s);
      return;
    }
}

const rs_check_row rs_rules_lengths[] = {
    {RS_RULE("RS201", "no-original-length", RS_WARNING,
             "YaRN without the length of training: engines take max_position_embeddings for it, which is often the "
             "length that is served",
             "github.com/vllm-project/vllm/issues/53634"),
     .in_rope = find_no_original, .types = "yarn"},
    {RS_RULE(
         "RS202", "factor-against-lengths", RS_ERROR,
         "factor is not max_position_embeddings over the original length, and releases disagree which of the two holds",
         "github.com/huggingface/transformers/issues/38224"),
     .in_rope = find_ratio, .types = "yarn longrope"},
    {RS_RULE("RS203", "factor-below-1", RS_ERROR, "a factor below 1 makes slow pairs faster: the context shrinks",
             "transformers, modeling_rope_utils.py: factor must be at least 1"),
     .in_rope = find_factor},
    {RS_RULE("RS204", "factor-1", RS_NOTE, "a factor of 1 scales nothing", "the formulas of all rope types")},
    {RS_RULE("RS205", "original-above-maximum", RS_ERROR,
             "the length of training is longer than the length that is served",
             "transformers, modeling_rope_utils.py: rope_config_validation"),
     .in_rope = find_original_above},
    {RS_RULE("RS206", "two-original-lengths", RS_ERROR,
             "original_max_position_embeddings stands twice with two values; transformers takes the outer one, "
             "llama.cpp another",
             "transformers, modeling_rope_utils.py; llama.cpp, convert_hf_to_gguf.py"),
     .in_rope = find_two_originals},
    {RS_RULE("RS207", "no-maximum", RS_NOTE,
             "no max_position_embeddings: the class default is taken as the length of training",
             "transformers, configuration_*.py"),
     .in_file = find_no_maximum},
    {RS_RULE("RS208", "factor-is-no-number", RS_ERROR, "factor is text or no number at all",
             "transformers, modeling_rope_utils.py: factor must be a float")},
    {RS_RULE("RS301", "attention-factor-off-formula", RS_WARNING,
             "attention_factor differs from what the method's formula gives; llama.cpp, SGLang and vLLM before #56446 "
             "take the formula, transformers the number",
             "github.com/ggml-org/llama.cpp/issues/17945"),
     .in_rope = find_off_formula, .types = "yarn longrope"},
    {RS_RULE("RS302", "attention-factor-and-mscale", RS_WARNING,
             "attention_factor beside mscale: transformers takes attention_factor and leaves mscale unread on cos and "
             "sin, while DeepSeek's softmax scale takes mscale_all_dim: the temperature may be applied twice",
             "github.com/huggingface/transformers/issues/47435"),
     .in_rope = find_twice, .types = "yarn"},
    {RS_RULE("RS303", "betas-swapped", RS_ERROR, "beta_fast is below beta_slow: the ramp ends before it begins",
             "arXiv:2309.00071, section 3.2: alpha = 1, beta = 32 (beta_slow, beta_fast)"),
     .in_rope = find_betas, .types = "yarn"},
    {RS_RULE("RS304", "beta-0", RS_NOTE, "a beta of 0 is taken for its default",
             "transformers, modeling_rope_utils.py: `beta_fast or 32`")},
    {RS_RULE("RS305", "yarn-on-an-ntk-base", RS_WARNING,
             "YaRN on a base that is itself NTK-aware scaling by the same factor: pairs are stretched twice",
             "github.com/paiml/aprender/issues/2161"),
     .in_rope = find_ntk_base, .types = "yarn"},
    {RS_RULE("RS306", "betas-equal", RS_NOTE,
             "beta_fast and beta_slow are equal: between kept and divided pairs is a step, no ramp",
             "transformers, modeling_rope_utils.py: 0.001 is added where low and high are equal")},
    {RS_RULE("RS307", "bands-swapped", RS_ERROR,
             "high_freq_factor is below low_freq_factor: what is to be kept and what is to be divided overlap",
             "transformers, modeling_rope_utils.py: _validate_llama3_parameters"),
     .in_rope = find_bands, .types = "llama3"},
    {RS_RULE("RS308", "half-an-mscale", RS_WARNING,
             "mscale without mscale_all_dim, or the other way round: transformers reads the two together, and takes "
             "0.1 ln s + 1 where one is missing or 0",
             "transformers, modeling_rope_utils.py: _compute_yarn_parameters"),
     .in_rope = find_half_mscale, .types = "yarn"},
    {RS_RULE("RS309", "scale-of-the-class", RS_NOTE,
             "a number by which the class multiplies queries besides 1 / sqrt(D): it is not counted in what is said of "
             "logits",
             "transformers 5, modeling_muse_glimmer.py: qk_scale_factor"),
     .in_file = find_qk_scale},
    {.rule = {.code = NULL}}};
