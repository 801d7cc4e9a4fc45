/* RS2: lengths: what was trained, what is served, and the factor between them. */
#include "rules.h"

#include "advice/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NO_ORIGINAL, FACTOR_RATIO, FACTOR_BELOW_1, FACTOR_1, ORIGINAL_ABOVE, TWO_ORIGINALS, NO_MAXIMUM, FACTOR_NUMBER };

static const rs_rule rules[] = {
    [NO_ORIGINAL] = {"RS201", "no-original-length", RS_WARNING,
                     "YaRN without the length of training: engines take max_position_embeddings for it, which is often "
                     "the length that is served",
                     "github.com/vllm-project/vllm/issues/53634"},
    [FACTOR_RATIO] = {"RS202", "factor-against-lengths", RS_ERROR,
                      "factor is not max_position_embeddings over the original length, and releases disagree which of "
                      "the two holds",
                      "github.com/huggingface/transformers/issues/38224"},
    [FACTOR_BELOW_1] = {"RS203", "factor-below-1", RS_ERROR,
                        "a factor below 1 makes slow pairs faster: the context shrinks",
                        "transformers, modeling_rope_utils.py: factor must be at least 1"},
    [FACTOR_1] = {"RS204", "factor-1", RS_NOTE, "a factor of 1 scales nothing", "the formulas of all rope types"},
    [ORIGINAL_ABOVE] = {"RS205", "original-above-maximum", RS_ERROR,
                        "the length of training is longer than the length that is served",
                        "transformers, modeling_rope_utils.py: rope_config_validation"},
    [TWO_ORIGINALS] = {"RS206", "two-original-lengths", RS_ERROR,
                       "original_max_position_embeddings stands twice with two values; transformers takes the outer "
                       "one, llama.cpp another",
                       "transformers, modeling_rope_utils.py; llama.cpp, convert_hf_to_gguf.py"},
    [NO_MAXIMUM] = {"RS207", "no-maximum", RS_NOTE,
                    "no max_position_embeddings: the class default is taken as the length of training",
                    "transformers, configuration_*.py"},
    [FACTOR_NUMBER] = {"RS208", "factor-is-no-number", RS_ERROR, "factor is text or no number at all",
                       "transformers, modeling_rope_utils.py: factor must be a float"},
};

static bool is_type(const rs_rope_entry *rope, const char *type) {
  return rope->known != NULL && strcmp(rope->known->type, type) == 0;
}

static void put_whole(char out[32], double number) {
  (void)rs_number_format(number, out);
}

/* ---- the original length ----------------------------------------------------------------------------------------- */

/* How far the frequencies are off where `trained` tokens were trained, not what the file is taken to say. Adds nothing
 * where it cannot be said. */
static rs_status put_error(const rs_checked *checked, double trained, char out[96], rs_err *err) {
  rs_spectrum as_is = {0}, meant = {0};
  rs_recipe recipe;
  rs_err why = {0};
  rs_model other = *checked->model; /* its recipe stays the file's */
  other.train_length = (size_t)trained;
  *out = '\0';
  RS_TRY(rs_recipe_copy(&recipe, &checked->model->published, err));
  rs_status status = rs_recipe_resolve(&recipe, checked->model, &why);
  size_t length = checked->model->max_length;
  if (status == RS_OK) status = rs_spectrum_make(&recipe, checked->model, length, &as_is, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, &other, length, &meant, &why);
  if (status == RS_OK) {
    rs_difference difference = rs_spectrum_compare(&meant, &as_is, 1e-6);
    snprintf(out, 96, "; %zu of %zu frequencies are then up to %.0f %% off", difference.count, as_is.pairs,
             100 * difference.largest);
  }
  rs_spectrum_clear(&as_is);
  rs_spectrum_clear(&meant);
  rs_recipe_clear(&recipe);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

static rs_status find_no_original(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                                  rs_err *err) {
  double maximum = rs_node_number(rs_maximum_of(checked)), factor = rs_key_number(rope->node, "factor");
  char error[96] = "", most[32], served[32], meant[32], fix[320];
  if (!is_type(rope, "yarn") || rs_original_of(checked, rope) != NULL || isnan(maximum)) return RS_OK;
  if (isnan(factor))
    return rs_find(findings, &rules[NO_ORIGINAL], rope->node, rope->path,
                   "add original_max_position_embeddings, the length of training, and factor", err,
                   "%s has neither a factor nor original_max_position_embeddings: s = 1, so nothing is scaled",
                   rope->path);
  if (!(factor > 1)) return RS_OK;
  if (checked->model != NULL && checked->model->published.method != NULL &&
      strcmp(checked->model->published.method->name, "yarn") == 0)
    RS_TRY(put_error(checked, floor(maximum / factor), error, err));
  put_whole(most, maximum);
  put_whole(served, maximum * factor);
  put_whole(meant, floor(maximum / factor));
  snprintf(fix, sizeof fix,
           "add \"original_max_position_embeddings\": %s if %s is what is served, or %s if that is what was trained",
           meant, most, most);
  return rs_find(findings, &rules[NO_ORIGINAL], rope->node, rope->path, fix, err,
                 "max_position_embeddings = %s is taken for the length of training, so factor %s serves %s tokens. If "
                 "%s is what is to be served, training was at %s%s",
                 most, rs_key_word(rope->node, "factor"), served, most, meant, error);
}

static rs_status find_two_originals(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                                    rs_err *err) {
  const char *key = "original_max_position_embeddings";
  const rs_node *outer = rs_key(checked->root, key), *inner = rs_key(rope->node, key);
  if (outer == NULL || inner == NULL || rs_node_number(outer) == rs_node_number(inner)) return RS_OK;
  rs_path path = rs_key_path(rope, key);
  return rs_find(findings, &rules[TWO_ORIGINALS], inner, path.text, "keep the length of training alone", err,
                 "%s here and %s on line %zu: transformers takes the latter", inner->text, outer->text, outer->line);
}

static rs_status find_original_above(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                                     rs_err *err) {
  const rs_node *original = rs_original_of(checked, rope), *maximum = rs_maximum_of(checked);
  if (!(rs_node_number(original) > rs_node_number(maximum))) return RS_OK;
  bool inner = original == rs_key(rope->node, "original_max_position_embeddings");
  rs_path path = rs_key_path(rope, "original_max_position_embeddings");
  char fix[200];
  snprintf(fix, sizeof fix,
           "write the length of training here, and the length that is served as max_position_embeddings: %s and %s, if "
           "the two were swapped",
           maximum->text, original->text);
  return rs_find(findings, &rules[ORIGINAL_ABOVE], original, inner ? path.text : NULL, fix, err,
                 "the length of training, %s, is above max_position_embeddings = %s: the ratio of the two, which some "
                 "releases take for the factor, is below 1",
                 original->text, maximum->text);
}

/* ---- the factor -------------------------------------------------------------------------------------------------- */

static rs_status find_factor(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(rope->node, "factor");
  double factor = rs_node_number(node);
  rs_path path = rs_key_path(rope, "factor");
  if (node == NULL) return RS_OK;
  if (isnan(factor))
    return rs_find(findings, &rules[FACTOR_NUMBER], node, path.text, "write a number, without quotes", err,
                   "the factor is no number");
  bool alpha = strcmp(rope->type, "dynamic") == 0 && rs_key(rope->node, "alpha") != NULL; /* HunYuan's, which scales */
  if (factor == 1 && alpha) return RS_OK;
  if (factor == 1) return rs_find(findings, &rules[FACTOR_1], node, path.text, NULL, err, "s = 1: nothing is scaled");
  if (factor > 1 || is_type(rope, "proportional")) return RS_OK;
  if (factor <= 0)
    return rs_find(findings, &rules[FACTOR_BELOW_1], node, path.text,
                   "write how many times as long the context is to be", err,
                   "the factor is %s: a length cannot grow by it, and transformers wants at least 1", node->text);
  double trained = rs_trained_of(checked, rope);
  char inverse[32], fix[160];
  put_whole(inverse, 1 / factor);
  snprintf(fix, sizeof fix, "write %s if the context is to grow", inverse);
  return rs_find(findings, &rules[FACTOR_BELOW_1], node, path.text, fix, err,
                 "s = %s makes slow pairs %s times faster: what was learned of %.0f tokens is met within %.0f",
                 node->text, inverse, trained, trained * factor);
}

/* YaRN's and LongRoPE's factor is the ratio of the lengths; Llama 3's is none (8 for 16 times as many tokens). A config
 * whose maximum is the length of training says the ratio 1, and is served to factor times that: Qwen2.5's way. */
static rs_status find_ratio(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(rope->node, "factor"), *original = rs_original_of(checked, rope),
                *maximum = rs_maximum_of(checked);
  double factor = rs_node_number(node), ratio = rs_node_number(maximum) / rs_node_number(original);
  if (!is_type(rope, "yarn") && !is_type(rope, "longrope")) return RS_OK;
  if (!(factor > 1) || !(ratio > 1) || fabs(factor / ratio - 1) < 0.01) return RS_OK;
  rs_path path = rs_key_path(rope, "factor");
  char said[32], fix[200];
  put_whole(said, ratio);
  snprintf(fix, sizeof fix, "write %s, or max_position_embeddings = %.0f", said, factor * rs_node_number(original));
  return rs_find(findings, &rules[FACTOR_RATIO], node, path.text, fix, err,
                 "factor %s serves %.0f tokens, but max_position_embeddings = %s over the original %s is %s. "
                 "transformers 4.51 to 4.55 took the ratio, all others take the factor",
                 node->text, factor * rs_node_number(original), maximum->text, original->text, said);
}

static rs_status find_no_maximum(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const char *fix = "add \"max_position_embeddings\", the length that is served";
  size_t length = checked->model->max_length;
  if (rs_maximum_of(checked) != NULL) return RS_OK;
  if (length == 0)
    return rs_find(findings, &rules[NO_MAXIMUM], NULL, "max_position_embeddings", fix, err,
                   "no max_position_embeddings: engines take their class's default");
  return rs_find(findings, &rules[NO_MAXIMUM], NULL, "max_position_embeddings", fix, err,
                 "no max_position_embeddings: %zu is served, by the default of %s", length, checked->family);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  bool turns = checked->model != NULL && checked->model->published.method != NULL &&
               checked->model->published.method->freq != NULL;
  if (turns) RS_TRY(find_no_maximum(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    RS_TRY(find_no_original(checked, rope, findings, err));
    RS_TRY(find_two_originals(checked, rope, findings, err));
    RS_TRY(find_original_above(checked, rope, findings, err));
    RS_TRY(find_factor(checked, rope, findings, err));
    RS_TRY(find_ratio(checked, rope, findings, err));
  }
  return RS_OK;
}

const rs_rule_group rs_rules_lengths = {rules, RS_COUNT(rules), find};
