/* How many tokens engines serve where nobody tells them: by the keys of the file, each in its own way. */
#include "rules.h"

#include <math.h>
#include <string.h>

/* ---- vLLM -------------------------------------------------------------------------------------------------------- */

/* The least of the lengths that the file says. */
static double least_length(const rs_checked *checked) {
  static const char *const keys[] = {"max_position_embeddings", "n_positions",         "max_seq_len",    "seq_length",
                                     "max_target_positions",    "max_sequence_length", "max_seq_length", "seq_len"};
  double least = NAN, own = rs_key_number(checked->root, "model_max_length");
  for (size_t i = 0; i < RS_COUNT(keys); i++) least = fmin(least, rs_key_number(checked->root, keys[i]));
  return isnan(own) ? least : own;
}

static bool is_any(const char *type, const char *const *types, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(types[i], type) == 0) return true;
  return false;
}

/* vllm/config/model.py: _get_and_verify_max_len. Gemma 3's maximum is scaled already. */
static double vllm_length(const rs_checked *checked, bool yarn_grows) {
  static const char *const fixed[] = {"su", "longrope", "llama3"};
  double length = least_length(checked), factor = 1;
  bool scaled = !rs_hf_is_of(checked->family, "gemma3");
  for (size_t r = 0; r < checked->rope_count && scaled; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    bool yarn = strcmp(rope->type, "yarn") == 0;
    double given = rs_key_number(rope->node, "factor");
    double original = rs_key_number(checked->root, "original_max_position_embeddings");
    if (strcmp(rope->type, "longrope") == 0 && !isnan(original)) return original;
    if (is_any(rope->type, fixed, RS_COUNT(fixed)) || (yarn && !yarn_grows)) continue;
    if (!isnan(given)) factor = given;
    if (yarn) length = rs_node_number(rs_original_of(checked, rope)); /* without it, vLLM stops */
  }
  return floor(length * factor);
}

double rs_length_vllm(const rs_checked *checked) {
  return vllm_length(checked, false);
}

double rs_length_vllm_before(const rs_checked *checked) {
  return vllm_length(checked, true);
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

/* sglang/srt/utils/hf_transformers: get_context_length. */
double rs_length_sglang(const rs_checked *checked) {
  static const char *const keys[] = {"max_sequence_length", "seq_length", "max_seq_len", "model_max_length",
                                     "max_position_embeddings"};
  double length = NAN, factor = NAN;
  for (size_t i = 0; i < RS_COUNT(keys) && isnan(length); i++) length = rs_key_number(checked->root, keys[i]);
  const rs_rope_entry *rope = checked->rope_count == 1 ? &checked->ropes[0] : NULL;
  bool flat = rope != NULL && strchr(rope->path, '.') == NULL;
  if (flat && rs_key(rope->node, "original_max_position_embeddings") == NULL && strcmp(rope->type, "llama3") != 0)
    factor = rs_key_number(rope->node, "factor");
  return floor(length * (isnan(factor) ? 1 : factor));
}

/* The length of training that the converter writes. */
double rs_length_llamacpp(const rs_checked *checked) {
  return rs_node_number(rs_maximum_of(checked));
}
