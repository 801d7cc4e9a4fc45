/* RS4: the base, which dims turn, lists of one number a pair, sections of M-RoPE. RS5: models that know positions
 * otherwise than by rotation. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pairs that turn; 0 where the file cannot be read. */
static size_t pairs_of(const rs_checked *c) {
  return c->model != NULL ? c->model->rotary_dim / 2 : 0;
}

/* ---- the base ---------------------------------------------------------------------------------------------------- */

/* No base: what its class has where that is known, else what most have; or rotation as a whole is a guess. */
static void find_no_base(rs_checked *c) {
  static const char rotation[] = "partial_rotary_factor rotary_pct rope_pct rotary_percentage rotary_dim use_rope "
                                 "qk_rope_head_dim position_embedding_type";
  static const char bases[] = "rope_theta rotary_emb_base global_rope_theta rope_embedding_base attn_config rope_base "
                              "rope_local_base_freq local_rope_theta swa_rope_theta";
  bool said = !rs_model_turns(c->model) || rs_key_any(c->root, bases) != NULL, known = rs_hf_knows(c->family);
  for (size_t r = 0; r < c->rope_count; r++) said |= rs_key(c->ropes[r].node, "rope_theta") != NULL;
  if (said) return;
  const char *key = rs_hf_base_key(c->family, &c->profile.kinds[c->profile.chosen]);
  const char *family = *c->family != '\0' ? c->family : "no model_type";
  char base[RS_NUMBER_CHARS];
  rs_number_format(c->model->rope_theta, base);
  if (!known && c->rope_count == 0 && rs_key_any(c->root, rotation) == NULL) {
    rs_find(c, "RS406", RS_MISSING(key),
            "if it turns, add \"rope_theta\"; if not, \"position_embedding_type\": \"nope\", \"learned\", "
            "\"sinusoidal\" or \"alibi\"",
            "no key speaks of positions, and %s is not known here: plain RoPE with base %s is a guess", family, base);
    return;
  }
  const char *fix = rs_fix(c, "add \"%s\": %s.0 if that is the base of training", key, base);
  if (known)
    rs_find(c, "RS401", RS_MISSING(key), fix, "no %s: %s is taken, the default of %s", key, base, family);
  else
    rs_find(c, "RS401", RS_MISSING(key), fix, "no %s: %s is taken, as most classes have it; %s is not known here", key,
            base, family);
}

static void find_two_bases(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *outer = rs_key(c->root, "rope_theta"), *inner = rs_key(rope->node, "rope_theta");
  if (outer != NULL && inner != NULL && rs_node_number(outer) != rs_node_number(inner) && !rope->layered)
    rs_find(c, "RS402", inner, "keep one", "%s here and %s on line %zu", inner->text, outer->text, outer->line);
}

/* ---- what turns -------------------------------------------------------------------------------------------------- */

/* The share of head_dim that turns, by each of its spellings. */
static void find_parts(rs_checked *c) {
  static const char *const keys[] = {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_percentage",
                                     "rotary_dim"};
  const rs_node *first = NULL;
  double share = NAN;
  for (size_t i = 0; i < RS_COUNT(keys) && c->model != NULL; i++) {
    const rs_node *node = rs_key(c->root, keys[i]);
    double dims = (double)c->model->head_dim, number = rs_node_number(node);
    if (isnan(number)) continue;
    if (strcmp(keys[i], "rotary_dim") == 0) number /= dims;
    if (first == NULL) {
      first = node;
      share = number;
    } else if (fabs(number - share) > 1e-6) {
      rs_find(c, "RS403", node, "keep one", "%s = %s turns %g of %zu dims, but %s = %s on line %zu turns %g", keys[i],
              node->text, number * dims, c->model->head_dim, first->key, first->text, first->line, share * dims);
    }
  }
}

static void find_lists(rs_checked *c, const rs_rope_entry *rope) {
  static const char *const keys[] = {"short_factor", "long_factor"};
  size_t pairs = pairs_of(c);
  for (size_t i = 0; i < RS_COUNT(keys) && pairs > 0; i++) {
    const rs_node *list = rs_key_list(rope->node, keys[i]);
    if (list != NULL && list->count != pairs)
      rs_find(c, "RS404", list,
              rs_fix(c, "%zu numbers: half of head_dim %zu times the part that turns", pairs, c->model->head_dim),
              "%zu numbers for %zu pairs", list->count, pairs);
  }
}

static void find_sections(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *list = rs_key(rope->node, "mrope_section"), *dims = rs_key(c->root, "head_dim");
  if (list == NULL) return;
  double total = 0, heads = rs_key_number(c->root, "num_attention_heads");
  double head = dims != NULL ? rs_node_number(dims) : rs_key_number(c->root, "hidden_size") / heads;
  double pairs = pairs_of(c) > 0 ? (double)pairs_of(c) : head / 2;
  for (size_t i = 0; i < list->count; i++) total += rs_node_number(&list->items[i]);
  bool partial =
      rs_key(c->root, "partial_rotary_factor") != NULL || rs_key(rope->node, "partial_rotary_factor") != NULL;
  if (list->count == RS_AXES && (total == pairs || (partial && pairs_of(c) == 0))) return;
  rs_find(c, "RS405", list, rs_fix(c, "three numbers (t, h, w) that sum to %g", pairs),
          "%zu sections that sum to %g, for %g pairs", list->count, total, pairs);
}

static void find_doubt(rs_checked *c) {
  const rs_node *type = rs_key(c->root, "model_type");
  if (c->profile.doubt == NULL) return;
  if (type == NULL) type = rs_key(c->top, "model_type");
  rs_find(c, "RS407", type != NULL ? type : RS_MISSING("model_type"), NULL, "%.600s", c->profile.doubt);
}

/* Two classes that read the file alike are none of anybody's business. */
static void find_two_classes(rs_checked *c) {
  const char *other = rs_hf_other_type(c->top);
  rs_node *type = (rs_node *)rs_key(c->root, "model_type");
  rs_profile profile = {0};
  rs_err why = {0};
  if (other == NULL || type == NULL || c->model == NULL) return;
  char *word = type->text;
  type->text = (char *)other;
  rs_status status = rs_hf_profile(c->top, &profile, &why);
  type->text = word;
  if (status == RS_MEMORY) (void)rs_fail(c->err, RS_MEMORY, "%s", why.message);
  if (status != RS_MEMORY && (status != RS_OK || !rs_profiles_equal(&c->profile, &profile)))
    rs_find(c, "RS408", type, "let the two name one class",
            "model_type is %s, and architectures name a class of %s, which reads the file otherwise: transformers goes "
            "by the former, vLLM and SGLang by the latter",
            word, other);
  rs_profile_clear(&profile);
}

/* ---- other positions --------------------------------------------------------------------------------------------- */

/* The key that says that positions are not rotary, or NULL. */
static const rs_node *says_not_rotary(const rs_node *root) {
  static const struct {
    const char *key, *value; /* NULL: any but "rope" and "rotary" */
  } signs[] = {{"alibi", "true"},
               {"use_alibi", "true"},
               {"use_rope", "false"},
               {"rotary", "false"},
               {"use_rotary_embeddings", "false"},
               {"position_embedding_type", NULL}};
  for (size_t i = 0; i < RS_COUNT(signs); i++) {
    const char *word = rs_key_word(root, signs[i].key), *value = signs[i].value;
    if (word == NULL) continue;
    bool other = value != NULL ? strcmp(word, value) == 0 : strcmp(word, "rope") != 0 && strstr(word, "rotary") == NULL;
    if (other) return rs_key(root, signs[i].key);
  }
  return NULL;
}

/* Classes of transformers that turn whatever such keys say. */
static const char turn_always[] =
    "cohere cohere2 deepseek_v2 deepseek_v3 gemma gemma2 gemma3 glm glm4 glm4_moe gpt_neox gpt_oss granite llama "
    "mistral mixtral nemotron olmo olmo2 olmo3 phi phi3 qwen2 qwen2_moe qwen3 qwen3_moe seed_oss stablelm starcoder2";

/* Flags of classes whose files always have them say nothing new. */
static bool is_usual(const rs_checked *c, const rs_node *sign) {
  bool word = strcmp(sign->key, "position_embedding_type") == 0;
  return rs_hf_is_of(c->family, "falcon") || rs_hf_is_of(c->family, "mpt") || rs_hf_is_of(c->family, "bloom") ||
         (word && !rs_word_among(sign->text, "nope none alibi"));
}

static void find_said(rs_checked *c) {
  const rs_node *sign = says_not_rotary(c->root);
  const rs_rope_entry *rope = c->rope_count > 0 && strcmp(c->ropes[0].type, "default") != 0 ? &c->ropes[0] : NULL;
  const rs_method *method = c->model != NULL ? c->model->published.method : NULL;
  if (rope != NULL && sign != NULL)
    rs_find(c, "RS501", sign, "take one of the two away",
            "%s is %s, so nothing turns, and %s on line %zu has no effect", sign->key, sign->text, rope->path,
            rope->node->line);
  else if (rope != NULL && method != NULL && method->freq == NULL)
    rs_find(c, "RS502", rope->node, "take it away", "%s turns nothing (%s), so %s has no effect", c->family,
            method->name, rope->path);
  if (rope != NULL || sign == NULL || is_usual(c, sign) || method == NULL) return;
  if (rs_word_among(c->family, turn_always))
    rs_find(c, "RS504", sign, "take it away, or name the model_type whose code reads it",
            "%s is %s: the class %s of transformers does not read it, and turns all the same; here it is taken at its "
            "word (%s)",
            sign->key, sign->text, c->family, method->name);
  else
    rs_find(c, "RS503", sign, NULL, "%s is %s: nothing turns (%s)", sign->key, sign->text, method->name);
}

static void find_uncounted(rs_checked *c) {
  static const char *const keys[] = {"use_dynamic_ntk", "use_logn_attn", "dual_chunk_attention_config", "use_fope"};
  enum { OF_QWEN = 2 }; /* the first so many are of Qwen 1, whose recipe has them */
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    bool counted = i < OF_QWEN && strcmp(c->family, "qwen") == 0;
    const rs_node *node = rs_key(c->root, keys[i]);
    for (size_t r = 0; r < c->rope_count && node == NULL; r++) node = rs_key(c->ropes[r].node, keys[i]);
    if (node == NULL || (node->kind == RS_SCALAR && strcmp(node->text, "true") != 0)) continue;
    rs_find(c, "RS505", node, NULL, "%s changes positions in the model's own code%s", keys[i],
            counted ? ": counted here, but for what is said of engines"
                    : " or in vLLM: nothing that is said here counts it");
  }
}

const rs_check_row rs_rules_model[] = {
    {RS_RULE("RS401", "no-base", RS_NOTE, "no rope_theta: the class default holds, which differs between engines",
             "transformers, configuration_*.py: default_theta"),
     .in_file = find_no_base},
    {RS_RULE("RS402", "two-bases", RS_ERROR,
             "rope_theta stands in two places with two values; transformers 5 takes the one in rope_parameters, "
             "transformers 4 the one beside it",
             "transformers 5, modeling_rope_utils.py: standardize_rope_params"),
     .in_rope = find_two_bases},
    {RS_RULE("RS403", "two-rotary-widths", RS_ERROR,
             "partial_rotary_factor, rotary_pct, rotary_dim say different numbers of dims that turn",
             "github.com/huggingface/transformers/issues/48652"),
     .in_file = find_parts},
    {RS_RULE("RS404", "list-of-wrong-length", RS_ERROR, "a list must have one number for each pair that turns",
             "transformers, modeling_rope_utils.py: _validate_longrope_rope_parameters"),
     .in_rope = find_lists},
    {RS_RULE("RS405", "mrope-sections", RS_ERROR,
             "mrope_section must have three numbers that sum to the pairs that turn",
             "transformers, modeling_qwen2_vl.py: apply_multimodal_rotary_pos_emb"),
     .in_rope = find_sections},
    {RS_RULE("RS406", "rotation-unsaid", RS_WARNING,
             "no key speaks of positions, and the model_type is not known here: plain RoPE with base 10000 is a guess",
             "the model's own code")},
    {RS_RULE("RS407", "guessed-class", RS_WARNING,
             "the model_type is not known here, or its class does not read keys that the file has: what is said is a "
             "guess, and names the keys that nothing here reads",
             "the model's own code"),
     .in_file = find_doubt},
    {RS_RULE(
         "RS408", "two-classes", RS_WARNING,
         "model_type and architectures name two classes that read the file otherwise: transformers goes by the "
         "former, vLLM and SGLang by the latter",
         "transformers, auto_factory.py: config.model_type; vLLM, model_executor/models/registry.py: architectures"),
     .in_file = find_two_classes},
    {RS_RULE("RS501", "scaling-without-rotation", RS_WARNING,
             "the file says that its positions are not rotary, and scales rotary ones beside it",
             "transformers, modeling_falcon.py, modeling_mpt.py: alibi or rotary"),
     .in_file = find_said},
    {RS_RULE("RS502", "scaling-of-a-class-without-rotation", RS_WARNING,
             "rope_scaling in the config of a class that turns nothing: nobody reads it",
             "transformers, modeling_bert.py, modeling_bloom.py and others")},
    {RS_RULE(
        "RS503", "no-rotation-by-key", RS_NOTE,
        "a key says that positions are not rotary: nothing turns, and what is said of the file is of what it names",
        "the model's own code")},
    {RS_RULE("RS504", "no-rotation-by-unread-key", RS_WARNING,
             "a key says that positions are not rotary, and the class in transformers does not read it and turns all "
             "the same",
             "transformers, modeling_llama.py and others: rotary_emb without a condition")},
    {RS_RULE("RS505", "positions-by-own-code", RS_NOTE,
             "a key that changes positions in the model's own code or in vLLM, and that is not counted here, or not in "
             "what is said of engines",
             "Qwen's modeling_qwen.py; vLLM, rotary_embedding/dual_chunk_rope.py, fope.py"),
     .in_file = find_uncounted},
    {.rule = {.code = NULL}}};
