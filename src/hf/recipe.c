/* The positional recipe of layers of a config.json: rope_scaling and rope_parameters, flat or by layer type, and what
 * stands in the place of rotation. */
#include "hf/hf.h"
#include "hf_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rope types -------------------------------------------------------------------------------------------------- */

const rs_hf_rope_type rs_hf_rope_types[RS_HF_ROPE_TYPES] = {
    {"default", "rope", {{0}}},
    {"mrope", "mrope", {{0}}},
    {"linear", "pi", {{"factor", "factor", true}}},
    {"dynamic", "dynamic_ntk", {{"factor", "factor", true}}},
    {"yarn",
     "yarn",
     {{"factor", "factor", false},
      {"beta_fast", "beta_fast", false},
      {"beta_slow", "beta_slow", false},
      {"truncate", "truncate", false},
      {"attention_factor", "attention_factor", false},
      {"attn_factor", "attn_factor", false},
      {"mscale", "mscale", false},
      {"mscale_all_dim", "mscale_all_dim", false}}},
    {"llama3",
     "llama3",
     {{"factor", "factor", true},
      {"low_freq_factor", "low_freq_factor", true},
      {"high_freq_factor", "high_freq_factor", true}}},
    {"longrope",
     "longrope",
     {{"short_factor", "short_factor", true},
      {"long_factor", "long_factor", true},
      {"factor", "factor", false},
      {"attention_factor", "attention_factor", false},
      {"short_mscale", "short_mscale", false},
      {"long_mscale", "long_mscale", false}}},
    {"proportional",
     "proportional",
     {{"partial_rotary_factor", "rotary_fraction", false}, {"factor", "factor", false}}},
};

/* configuration_phi3.py, configuration_phi4_multimodal.py, and modeling_qwen.py of Qwen 1, which has a base alone. */
const char *rs_hf_rope_type_read(const char *model_type, const char *type) {
  bool phi = rs_word_among(model_type, "phi3 phi3_v phi3small phi4mm phi4_multimodal");
  if (strcmp(model_type, "qwen") == 0) return "default";
  return strcmp(type, "su") == 0 || (phi && strcmp(type, "yarn") == 0) ? "longrope" : type;
}

const char *rs_hf_method(const char *type) {
  for (size_t i = 0; i < RS_HF_ROPE_TYPES; i++)
    if (strcmp(rs_hf_rope_types[i].type, type) == 0 && strcmp(rs_hf_rope_types[i].method, type) != 0)
      return rs_hf_rope_types[i].method;
  return NULL;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* Sets one parameter of the published recipe from its node; nothing where the recipe could not be started. */
static void set_param(rs_hf_reader *hf, const rs_node *node, const char *name) {
  rs_recipe *recipe = &hf->model->published;
  int index = rs_settings_find(&recipe->settings, name);
  if (index < 0) return;
  const rs_param *param = recipe->settings.params[index];
  rs_value value = {0};
  rs_err why = {0};
  if (node->kind == RS_SEQUENCE) {
    double *list = rs_alloc(node->count, sizeof *list, &why);
    for (size_t i = 0; i < node->count && list != NULL; i++) {
      list[i] = rs_read_real(hf->problems, &node->items[i], param->min, param->max, 1);
    }
    if (list != NULL) (void)rs_value_list(param, list, node->count, &value, &why);
    free(list);
    if (why.status != RS_OK) rs_problem_err(hf->problems, node, &why);
  } else if (!rs_read_value(hf->problems, node, param, &value)) {
    return;
  }
  value.given = true;
  rs_value_clear(&recipe->settings.values[index]);
  recipe->settings.values[index] = value;
}

void rs_hf_set_text(rs_hf_reader *hf, const char *name, const char *text) {
  rs_err why = {0};
  if (rs_recipe_set(&hf->model->published, name, text, &why) != RS_OK) rs_problem_err(hf->problems, hf->root, &why);
}

void rs_hf_set_number(rs_hf_reader *hf, const char *name, double number) {
  rs_err why = {0};
  if (rs_recipe_set_number(&hf->model->published, name, number, &why) != RS_OK)
    rs_problem_err(hf->problems, hf->root, &why);
}

static void start_recipe(rs_hf_reader *hf, const char *method) {
  rs_err why = {0};
  if (rs_recipe_init(&hf->model->published, rs_method_find(method), &why) != RS_OK)
    rs_problem_err(hf->problems, hf->root, &why);
}

static const char *rope_type_of(const rs_hf_reader *hf, const rs_node **node) {
  *node = hf->rope != NULL ? rs_hf_first(hf->rope, RS_KEYS("rope_type", "type")) : NULL;
  const char *type = *node != NULL && (*node)->kind == RS_SCALAR ? (*node)->text : "default";
  type = rs_hf_rope_type_read(hf->family, type);
  bool sections = hf->rope != NULL && rs_hf_present(rs_node_get(hf->rope, "mrope_section"));
  return strcmp(type, "default") == 0 && sections ? "mrope" : type;
}

static void unknown_rope_type(rs_hf_reader *hf, const rs_node *node) {
  const char *names[RS_HF_ROPE_TYPES];
  for (size_t i = 0; i < RS_HF_ROPE_TYPES; i++) names[i] = rs_hf_rope_types[i].type;
  const char *near = rs_suggest(node->text, names, RS_COUNT(names));
  rs_problem(hf->problems, node,
             near != NULL ? "is no rope type (did you mean %s?)" : "is no rope type that is known here%s",
             near != NULL ? near : "");
}

static void read_rope_recipe(rs_hf_reader *hf) {
  const rs_node *node;
  const char *type = rope_type_of(hf, &node);
  size_t t = 0;
  while (t < RS_HF_ROPE_TYPES && strcmp(rs_hf_rope_types[t].type, type) != 0) t++;
  if (t == RS_HF_ROPE_TYPES) {
    unknown_rope_type(hf, node);
    return;
  }
  const rs_node *alpha = hf->rope != NULL ? rs_node_get(hf->rope, "alpha") : NULL;
  if (strcmp(type, "dynamic") == 0 && rs_hf_present(alpha)) { /* HunYuan's fixed NTK-aware base goes by this name */
    start_recipe(hf, "ntk");
    set_param(hf, alpha, "factor");
    return;
  }
  start_recipe(hf, rs_hf_rope_types[t].method);
  for (const rs_hf_key *key = rs_hf_rope_types[t].keys; key->key != NULL && !rs_hf_failed(hf); key++) {
    const rs_node *value = rs_node_get(hf->rope, key->key);
    bool zero = strcmp(rs_hf_word(value), "0") == 0;
    bool beta = strncmp(key->key, "beta_", 5) == 0; /* 0 means the default there: `beta_fast or 32` */
    if (rs_hf_present(value) && !(beta && zero))
      set_param(hf, value, key->param);
    else if (key->required)
      rs_problem(hf->problems, value != NULL ? value : hf->rope, "needs %s for rope type %s", key->key, type);
  }
}

/* Ministral 3's temperature, beside any recipe: modeling_ministral3.py. */
void rs_hf_read_temperature(rs_hf_reader *hf) {
  static const char *const betas[] = {"llama_4_scaling_beta", NULL};
  bool inside = hf->rope != NULL && rs_hf_first(hf->rope, betas) != NULL;
  const rs_node *beta = rs_hf_first(inside ? hf->rope : hf->root, betas);
  const rs_node *length = rs_hf_first(inside ? hf->rope : hf->root, RS_KEYS("original_max_position_embeddings"));
  if (beta == NULL || rs_hf_failed(hf)) return;
  if (length == NULL) rs_problem(hf->problems, beta, "needs original_max_position_embeddings beside it");
  double factor = rs_read_real(hf->problems, beta, 0, 1e6, 0),
         tokens = rs_read_real(hf->problems, length, 1, RS_HF_MOST_TOKENS, 1);
  if (rs_hf_failed(hf)) return;
  rs_hf_set_text(hf, "logit_scale", "ministral");
  rs_hf_set_number(hf, "logit_scale_factor", factor);
  rs_hf_set_number(hf, "logit_scale_length", tokens);
}

static void read_buckets(rs_hf_reader *hf) {
  static const char *const keys[][2] = {{"relative_attention_num_buckets", "num_buckets"},
                                        {"relative_attention_max_distance", "max_distance"}};
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *node = rs_node_get(hf->root, keys[i][0]);
    if (rs_hf_present(node)) set_param(hf, node, keys[i][1]);
  }
}

/* Llama 4's, of queries that are not turned. */
static void read_bare(rs_hf_reader *hf, const rs_hf_family *known) {
  const char *tuned = rs_hf_word(rs_node_get(hf->root, "attn_temperature_tuning"));
  bool off = strcmp(tuned, "false") == 0 || strcmp(tuned, "0") == 0;
  start_recipe(hf, "nope");
  if (rs_hf_failed(hf) || !known->temperature || off) return;
  rs_hf_set_text(hf, "logit_scale", "llama4");
  rs_hf_set_number(hf, "logit_scale_factor",
                   rs_read_real(hf->problems, rs_hf_first(hf->root, RS_KEYS("attn_scale")), 0, 1e6, 0.1));
  rs_hf_set_number(hf, "logit_scale_length",
                   (double)rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("floor_scale")), RS_HF_MOST_TOKENS, 8192));
}

/* BertSelfAttention of transformers 4: a vector for each distance within the published length, without values'. */
static void read_distances(rs_hf_reader *hf) {
  enum { BERT_LENGTH = 512 };
  const char *word = rs_hf_word(rs_node_get(hf->root, "position_embedding_type"));
  size_t length =
      rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("max_position_embeddings")), RS_HF_MOST_TOKENS, BERT_LENGTH);
  if (rs_hf_failed(hf)) return;
  rs_hf_set_number(hf, "clip", (double)(length > 1 ? length - 1 : 1));
  rs_hf_set_text(hf, "beyond", "false");
  rs_hf_set_text(hf, "on_values", "false");
  if (strcmp(word, "relative_key_query") == 0) rs_hf_set_text(hf, "read_by", "both");
}

/* TransfoXLModel: a clamp_len that is not positive bounds nothing; sinusoids are as wide as a state. */
static void read_clamp(rs_hf_reader *hf) {
  enum { USUAL = 1000 };
  const rs_node *node = rs_node_get(hf->root, "clamp_len");
  rs_model *model = hf->model;
  double number;
  bool open = rs_number_read(rs_hf_word(node), &number) && number <= 0;
  size_t most = open ? 0 : rs_hf_count_of(hf, rs_hf_present(node) ? node : NULL, RS_HF_MOST_TOKENS, USUAL);
  size_t width = rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("hidden_size", "d_model")), RS_HF_MOST_WIDTH, 0);
  if (rs_hf_failed(hf)) return;
  if (most > 0) rs_hf_set_number(hf, "clip", (double)most);
  if (width != model->heads * model->head_dim) model->width = width;
}

/* The method that a word or flag of the file names, "rope" for rotation; NULL: none does. */
static const char *stated_method(rs_hf_reader *hf) {
  static const struct {
    const char *word, *method;
  } words[] = {{"nope", "nope"},         {"none", "nope"},
               {"absolute", "learned"},  {"learned", "learned"},
               {"alibi", "alibi"},       {"rope", "rope"},
               {"rotary", "rope"},       {"sinusoidal", "sinusoidal"},
               {"relative_key", "shaw"}, {"relative_key_query", "shaw"}};
  static const struct {
    const char *flag, *method;
  } flags[] = {{"alibi", "alibi"},
               {"use_alibi", "alibi"},
               {"sinusoidal_pos_embds", "sinusoidal"},  /* DistilBERT */
               {"sinusoidal_embeddings", "sinusoidal"}, /* XLM, FlauBERT */
               {"mla_use_nope", "nope"}};
  const rs_node *type = rs_node_get(hf->root, "position_embedding_type");
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (strcmp(rs_hf_word(type), words[i].word) == 0) return words[i].method;
  for (size_t i = 0; i < RS_COUNT(flags); i++)
    if (rs_hf_true(hf->root, flags[i].flag, false)) return flags[i].method;
  return rs_hf_true(hf->root, "use_rope", true) ? NULL : "nope";
}

/* Baichuan's classes of 13B have ALiBi, those of 7B turn; the files differ in the width alone, and vLLM goes by that.
 */
static bool is_baichuan_13b(const rs_hf_reader *hf) {
  const char *width = rs_hf_word(rs_hf_first(hf->root, RS_KEYS("hidden_size")));
  return strcmp(hf->family, "baichuan") == 0 && strcmp(rs_hf_class(hf->root), "BaichuanForCausalLM") == 0 &&
         *width != '\0' && strcmp(width, "4096") != 0;
}

/* Qwen 1: an NTK-aware base in steps of the length, and log n beyond the trained length (modeling_qwen.py). */
static void read_qwen(rs_hf_reader *hf) {
  bool stretched = rs_hf_true(hf->root, "use_dynamic_ntk", false);
  start_recipe(hf, stretched ? "ntk" : "rope");
  if (rs_hf_failed(hf)) return;
  if (stretched) rs_hf_set_text(hf, "scale", "qwen_dynamic");
  if (rs_hf_true(hf->root, "use_logn_attn", false)) rs_hf_set_text(hf, "logit_scale", "log_n");
}

/* MPT and Falcon turn ALiBi on and off by a flag, Zamba-2 rotation. */
void rs_hf_read_recipe(rs_hf_reader *hf, const rs_hf_family *known) {
  const rs_node *attention = rs_node_get(hf->root, "attn_config"), *slopes = rs_node_get(attention, "alibi_bias_max");
  const char *method = known->method;
  if (rs_hf_in_family(hf, "mpt") && attention != NULL && !rs_hf_true(attention, "alibi", true))
    method = rs_hf_true(attention, "rope", false) ? NULL : "learned";
  if (rs_hf_in_family(hf, "zamba") && rs_hf_true(hf->root, "use_mem_rope", false)) method = NULL;
  const char *stated = stated_method(hf);
  if (is_baichuan_13b(hf)) method = "alibi";
  if (stated != NULL) method = strcmp(stated, "rope") == 0 ? NULL : stated;
  if (hf->layers->bare) {
    read_bare(hf, known);
    return;
  }
  if (method == NULL && strcmp(hf->family, "qwen") == 0) {
    read_qwen(hf);
    return;
  }
  if (method == NULL) {
    read_rope_recipe(hf);
    return;
  }
  start_recipe(hf, method);
  /* modeling_falcon.py adds the bias to q.k and divides both by sqrt(D). */
  if (rs_hf_in_family(hf, "falcon") && !rs_hf_failed(hf)) rs_hf_set_text(hf, "slope_factor", "inv_sqrt_dim");
  if (strcmp(method, "t5") == 0) read_buckets(hf);
  if (strcmp(method, "shaw") == 0) read_distances(hf);
  if (strcmp(method, "transformer_xl") == 0) read_clamp(hf);
  if (strcmp(method, "sinusoidal") == 0 && known->layout != NULL && !rs_hf_failed(hf)) {
    rs_hf_set_text(hf, "embedding_layout", known->layout);
    if (known->offset > 0) rs_hf_set_number(hf, "embedding_offset", (double)known->offset);
  }
  if (rs_hf_present(slopes) && strcmp(method, "alibi") == 0) {
    set_param(hf, slopes, "bias_max");
  }
}
