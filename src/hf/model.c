/* Layers of Hugging Face's config.json as a model: what each model family calls its geometry, and how it writes its
 * positional recipe (rope_scaling, rope_parameters, flat or by layer type). Families and defaults as in transformers 5
 * (configuration_*.py). */
#include "families.h"
#include "hf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_dims = 4096, most_heads = 65536, most_width = 1 << 24, most_tokens = 1 << 28;

/* The file being read. */
typedef struct hf_reader {
  const rs_node *root;  /* the mapping that holds the text model's fields */
  const rs_node *rope;  /* the rope dictionary, or NULL */
  const char *rope_key; /* what it is called */
  const rs_hf_layers *layers;
  bool by_layer;      /* rope is their dictionary of several */
  bool nested;        /* root is a text_config */
  bool compresses;    /* DeepSeek-V4: layers with a window turn plainly, those that see more are scaled */
  const char *family; /* model_type, "" where absent */
  rs_model *model;
  rs_problems *problems;
  size_t problems_before;
} hf_reader;

static bool failed(const hf_reader *hf) {
  return hf->problems->count > hf->problems_before;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static rs_path path_of(const rs_node *node, const char *parent) {
  const rs_path above = {0};
  rs_path top = parent != NULL ? rs_path_key(&above, parent) : above;
  return rs_path_key(&top, node->key);
}

static size_t count_of(hf_reader *hf, const rs_node *node, double most, size_t fallback) {
  if (node == NULL) return fallback;
  rs_path path = path_of(node, NULL);
  return rs_read_count(hf->problems, node, &path, 1, most, fallback);
}

static double real_of(hf_reader *hf, const rs_node *node, const char *parent, double min, double max, double fallback) {
  if (node == NULL) return fallback;
  rs_path path = path_of(node, parent);
  return rs_read_real(hf->problems, node, &path, min, max, fallback);
}

static bool in_family(const hf_reader *hf, const char *prefix) {
  return strncmp(hf->family, prefix, strlen(prefix)) == 0;
}

static bool are_of(const hf_reader *hf, const char *type) {
  return strcmp(hf->layers->type, type) == 0;
}

/* DeepSeek-V4's layers that see keys beyond their window averaged. */
static bool is_compressed(const hf_reader *hf) {
  return hf->compresses && !are_of(hf, RS_HF_LOCAL);
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

/* The part of a head that turns under latent attention, NULL where there is none. */
static const rs_node *latent_part(const hf_reader *hf) {
  const rs_node *rotary = rs_node_get(hf->root, "qk_rope_head_dim");
  bool none = rs_hf_present(rotary) && rotary->kind == RS_SCALAR && strcmp(rotary->text, "0") == 0;
  return rs_hf_present(rotary) && !none ? rotary : NULL;
}

static void read_head_dim(hf_reader *hf, const rs_hf_family *known) {
  static const char *const widths[] = {"hidden_size", "n_embd", "n_embed", "d_model", "dim", NULL};
  static const char *const dims[] = {"head_dim", "kv_channels", "d_kv", NULL};
  static const char *const global_dims[] = {"global_head_dim", NULL}, *const local_dims[] = {"swa_head_dim", NULL};
  rs_model *model = hf->model;
  const rs_node *rotary = latent_part(hf), *plain = rs_node_get(hf->root, "qk_nope_head_dim");
  bool whole = !rs_hf_present(plain) && rs_hf_first(hf->root, dims) != NULL; /* DeepSeek-V4's is of both parts */
  if (rotary != NULL && !whole) { /* `head_dim`, where saved, is the rotary width alone */
    model->rotary_dim = count_of(hf, rotary, most_dims, 0);
    model->head_dim = model->rotary_dim + (rs_hf_present(plain) ? count_of(hf, plain, most_dims, 0) : 0);
    return;
  }
  size_t width = count_of(hf, rs_hf_first(hf->root, widths), most_width, hf->nested ? known->width : 0);
  /* transformers: one that is null is width / heads; a config without it has the class's. */
  size_t usual = rs_node_get(hf->root, dims[0]) == NULL ? known->head_dim : 0;
  model->head_dim = count_of(hf, rs_hf_first(hf->root, dims), most_dims, usual);
  if (are_of(hf, RS_HF_LOCAL))
    model->head_dim = count_of(hf, rs_hf_first(hf->root, local_dims), most_dims, model->head_dim);
  else if (hf->by_layer || known->global_head_dim > 0)
    model->head_dim = count_of(hf, rs_hf_first(hf->root, global_dims), most_dims,
                               known->global_head_dim > 0 ? known->global_head_dim : model->head_dim);
  if (model->head_dim > 0 || width == 0 || model->heads == 0) return;
  if (width % model->heads != 0)
    rs_problem(hf->problems, hf->root, NULL,
               "hidden_size = %zu is no multiple of the %zu heads, and there is no head_dim", width, model->heads);
  model->head_dim = width / model->heads;
}

static void read_rotary_dim(hf_reader *hf, const rs_hf_family *known) {
  static const char *const in_rope[] = {"partial_rotary_factor", NULL};
  static const char *const rotary[] = {"rotary_dim", NULL};
  static const char *const on_top[] = {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_percentage", NULL};
  rs_model *model = hf->model;
  if (model->rotary_dim > 0) return;
  const rs_node *part = latent_part(hf) != NULL ? latent_part(hf) : rs_hf_first(hf->root, rotary);
  size_t given = count_of(hf, part, most_dims, known->rotary_dim);
  const rs_node *inner = hf->rope != NULL ? rs_hf_first(hf->rope, in_rope) : NULL;
  double fraction = known->rotary_fraction > 0 ? known->rotary_fraction : 1;
  fraction = real_of(hf, rs_hf_first(hf->root, on_top), NULL, 1e-6, 1, fraction);
  fraction = real_of(hf, inner, hf->rope_key, 1e-6, 1, fraction);
  bool whole = model->published.method != NULL && strcmp(model->published.method->name, "proportional") == 0;
  model->rotary_dim = whole ? model->head_dim : given > 0 ? given : (size_t)((double)model->head_dim * fraction);
}

/* The base that the file gives these layers of their own, or NULL. */
static const rs_node *own_base(const hf_reader *hf) {
  static const char *const local[] = {"rope_local_base_freq", "local_rope_theta", "swa_rope_theta", NULL};
  static const char *const compressed[] = {"compress_rope_theta", NULL};
  if (are_of(hf, RS_HF_LOCAL)) return rs_hf_first(hf->root, local);
  return is_compressed(hf) ? rs_hf_first(hf->root, compressed) : NULL;
}

static void read_theta(hf_reader *hf, const rs_hf_family *known) {
  static const char *const in_rope[] = {"rope_theta", NULL}, *const inner_bases[] = {"rope_theta", NULL};
  static const char *const on_top[] = {"rope_theta", "global_rope_theta", "rotary_emb_base", "rope_embedding_base",
                                       NULL};
  enum { COMPRESSED = 160000 }; /* DeepSeek-V4's class */
  const rs_node *inner = hf->rope != NULL ? rs_hf_first(hf->rope, in_rope) : NULL, *own = own_base(hf);
  const rs_node *attention = rs_node_get(hf->root, "attn_config"); /* DBRX's */
  const rs_node *top = rs_hf_first(hf->root, on_top);
  const rs_node *shared = rs_node_get(hf->root, "local_rope_theta"); /* null: local layers have that of all */
  bool apart = are_of(hf, RS_HF_LOCAL) && known->local_theta > 0 && (shared == NULL || rs_hf_present(shared));
  double theta = known->theta > 0 ? known->theta : 10000;
  if (top == NULL && attention != NULL) top = rs_hf_first(attention, inner_bases);
  theta = apart ? known->local_theta : is_compressed(hf) ? COMPRESSED : real_of(hf, top, NULL, 1.000001, 1e300, theta);
  theta = real_of(hf, own, NULL, 1.000001, 1e300, theta);
  /* DeepSeek-V4's flat dictionary is of compressed layers, whose base is apart. */
  if (!is_compressed(hf) || hf->by_layer) theta = real_of(hf, inner, hf->rope_key, 1.000001, 1e300, theta);
  hf->model->rope_theta = theta;
}

static void read_layout(hf_reader *hf, const rs_hf_family *known) {
  bool latent = latent_part(hf) != NULL;
  bool interleaved = latent ? rs_hf_true(hf->root, "rope_interleave", true) : known->interleaved;
  hf->model->pair_layout = interleaved ? RS_INTERLEAVED : RS_HALF_SPLIT;
}

static void read_sections(hf_reader *hf) {
  const rs_node *node = hf->rope != NULL ? rs_node_get(hf->rope, "mrope_section") : NULL;
  if (!rs_hf_present(node)) return;
  rs_path path = path_of(node, hf->rope_key);
  size_t total = 0;
  bool ernie = in_family(hf, "ernie4_5"); /* in the order h, w, t */
  if (node->kind != RS_SEQUENCE || node->count != RS_AXES) {
    rs_problem(hf->problems, node, &path, "must have 3 entries (t, h, w)");
    return;
  }
  for (size_t a = 0; a < RS_AXES; a++) {
    rs_path place = rs_path_index(&path, a);
    total += hf->model->mrope_section[ernie ? (a + 1) % RS_AXES : a] =
        rs_read_count(hf->problems, &node->items[a], &place, 0, 32768, 0);
  }
  if (total != hf->model->rotary_dim / 2)
    rs_problem(hf->problems, node, &path, "sums to %zu, but rotary_dim / 2 = %zu pairs turn", total,
               hf->model->rotary_dim / 2);
  bool alternating = rs_hf_true(hf->rope, "mrope_interleaved", in_family(hf, "qwen3"));
  hf->model->axis_layout = ernie ? RS_AXES_SPATIAL_FIRST : alternating ? RS_AXES_INTERLEAVED : RS_AXES_CONTIGUOUS;
}

/* ---- the recipe -------------------------------------------------------------------------------------------------- */

/* Sets one parameter of the published recipe from its node. */
static void set_param(hf_reader *hf, const rs_node *node, const char *name) {
  rs_recipe *recipe = &hf->model->published;
  rs_path path = path_of(node, hf->rope_key);
  int index = rs_settings_find(&recipe->settings, name);
  const rs_param *param = recipe->settings.params[index];
  rs_value value = {0};
  rs_err why = {0};
  if (node->kind == RS_SEQUENCE) {
    double *list = rs_alloc(node->count, sizeof *list, &why);
    for (size_t i = 0; i < node->count && list != NULL; i++) {
      rs_path place = rs_path_index(&path, i);
      list[i] = rs_read_real(hf->problems, &node->items[i], &place, param->min, param->max, 1);
    }
    if (list != NULL) (void)rs_value_list(param, list, node->count, &value, &why);
    free(list);
    if (why.status != RS_OK) rs_problem_err(hf->problems, node, &path, &why);
  } else if (!rs_read_value(hf->problems, node, &path, param, &value)) {
    return;
  }
  value.given = true;
  rs_value_clear(&recipe->settings.values[index]);
  recipe->settings.values[index] = value;
}

static void set_text(hf_reader *hf, const char *name, const char *text) {
  rs_err why = {0};
  if (rs_recipe_set(&hf->model->published, name, text, &why) != RS_OK)
    rs_problem_err(hf->problems, hf->root, NULL, &why);
}

static void set_number(hf_reader *hf, const char *name, double number) {
  char digits[RS_NUMBER_CHARS];
  rs_number_format(number, digits);
  set_text(hf, name, digits);
}

static void start_recipe(hf_reader *hf, const char *method) {
  rs_err why = {0};
  if (rs_recipe_init(&hf->model->published, rs_method_find(method), &why) != RS_OK)
    rs_problem_err(hf->problems, hf->root, NULL, &why);
}

/* Phi-3 calls LongRoPE "su", and once "yarn". */
static const char *rope_type_of(const hf_reader *hf, const rs_node **node) {
  static const char *const names[] = {"rope_type", "type", NULL};
  *node = hf->rope != NULL ? rs_hf_first(hf->rope, names) : NULL;
  const char *type = *node != NULL && (*node)->kind == RS_SCALAR ? (*node)->text : "default";
  if (strcmp(type, "su") == 0) return "longrope";
  if (strcmp(type, "yarn") == 0 && in_family(hf, "phi3")) return "longrope";
  bool sections = hf->rope != NULL && rs_hf_present(rs_node_get(hf->rope, "mrope_section"));
  return strcmp(type, "default") == 0 && sections ? "mrope" : type;
}

static void unknown_rope_type(hf_reader *hf, const rs_node *node) {
  const char *names[RS_HF_ROPE_TYPES];
  rs_path path = path_of(node, hf->rope_key);
  for (size_t i = 0; i < RS_HF_ROPE_TYPES; i++) names[i] = rs_hf_rope_types[i].type;
  const char *near = rs_suggest(node->text, names, RS_COUNT(names));
  rs_problem(hf->problems, node, &path,
             near != NULL ? "is no rope type (did you mean %s?)" : "is no rope type that is known here%s",
             near != NULL ? near : "");
}

static void read_rope_recipe(hf_reader *hf) {
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
  for (const rs_hf_key *key = rs_hf_rope_types[t].keys; key->key != NULL && !failed(hf); key++) {
    const rs_node *value = rs_node_get(hf->rope, key->key);
    rs_path path = rs_path_key(NULL, hf->rope_key);
    bool zero = rs_hf_present(value) && value->kind == RS_SCALAR && strcmp(value->text, "0") == 0;
    bool beta = strncmp(key->key, "beta_", 5) == 0; /* 0 means the default there: `beta_fast or 32` */
    if (rs_hf_present(value) && !(beta && zero))
      set_param(hf, value, key->param);
    else if (key->required)
      rs_problem(hf->problems, hf->rope, &path, "needs %s for rope type %s", key->key, type);
  }
}

/* Ministral 3's temperature, beside any recipe: modeling_ministral3.py. */
static void read_temperature(hf_reader *hf) {
  static const char *const betas[] = {"llama_4_scaling_beta", NULL};
  static const char *const lengths[] = {"original_max_position_embeddings", NULL};
  bool inside = hf->rope != NULL && rs_hf_first(hf->rope, betas) != NULL;
  const rs_node *beta = rs_hf_first(inside ? hf->rope : hf->root, betas);
  const rs_node *length = rs_hf_first(inside ? hf->rope : hf->root, lengths);
  const char *parent = inside ? hf->rope_key : NULL;
  if (beta == NULL || failed(hf)) return;
  rs_path path = path_of(beta, parent);
  if (length == NULL) rs_problem(hf->problems, beta, &path, "needs original_max_position_embeddings beside it");
  double factor = real_of(hf, beta, parent, 0, 1e6, 0), tokens = real_of(hf, length, parent, 1, most_tokens, 1);
  if (failed(hf)) return;
  set_text(hf, "logit_scale", "ministral");
  set_number(hf, "logit_scale_factor", factor);
  set_number(hf, "logit_scale_length", tokens);
}

static void read_buckets(hf_reader *hf) {
  static const char *const keys[][2] = {{"relative_attention_num_buckets", "num_buckets"},
                                        {"relative_attention_max_distance", "max_distance"}};
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *node = rs_node_get(hf->root, keys[i][0]);
    if (rs_hf_present(node)) set_param(hf, node, keys[i][1]);
  }
}

/* Llama 4's, of queries that are not turned. */
static void read_bare(hf_reader *hf, const rs_hf_family *known) {
  static const char *const factors[] = {"attn_scale", NULL}, *const lengths[] = {"floor_scale", NULL};
  const rs_node *tuned = rs_node_get(hf->root, "attn_temperature_tuning");
  bool off = rs_hf_present(tuned) && tuned->kind == RS_SCALAR &&
             (strcmp(tuned->text, "false") == 0 || strcmp(tuned->text, "0") == 0);
  start_recipe(hf, "nope");
  if (failed(hf) || !known->temperature || off) return;
  set_text(hf, "logit_scale", "llama4");
  set_number(hf, "logit_scale_factor", real_of(hf, rs_hf_first(hf->root, factors), NULL, 0, 1e6, 0.1));
  set_number(hf, "logit_scale_length", (double)count_of(hf, rs_hf_first(hf->root, lengths), most_tokens, 8192));
}

/* What a word or flag of the file says in the place of rotation; NULL: nothing. */
static const char *stated_method(const hf_reader *hf) {
  static const struct {
    const char *word, *method;
  } words[] = {{"nope", "nope"}, {"none", "nope"}, {"absolute", "learned"}, {"learned", "learned"}, {"alibi", "alibi"}};
  const rs_node *type = rs_node_get(hf->root, "position_embedding_type");
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (rs_hf_present(type) && type->kind == RS_SCALAR && strcmp(type->text, words[i].word) == 0)
      return words[i].method;
  if (rs_hf_true(hf->root, "alibi", false) || rs_hf_true(hf->root, "use_alibi", false)) return "alibi";
  bool nope = !rs_hf_true(hf->root, "use_rope", true) || rs_hf_true(hf->root, "mla_use_nope", false);
  return nope ? "nope" : NULL;
}

/* MPT and Falcon turn ALiBi on and off by a flag. */
static void read_recipe(hf_reader *hf, const rs_hf_family *known) {
  const rs_node *attention = rs_node_get(hf->root, "attn_config"), *slopes = rs_node_get(attention, "alibi_bias_max");
  const char *method = known->method;
  if (in_family(hf, "mpt") && attention != NULL && !rs_hf_true(attention, "alibi", true))
    method = rs_hf_true(attention, "rope", false) ? NULL : "learned";
  if (stated_method(hf) != NULL) method = stated_method(hf);
  if (hf->layers->bare) {
    read_bare(hf, known);
    return;
  }
  if (method == NULL) {
    read_rope_recipe(hf);
    return;
  }
  start_recipe(hf, method);
  /* modeling_falcon.py adds the bias to q.k and divides both by sqrt(D). */
  if (in_family(hf, "falcon") && !failed(hf)) set_text(hf, "slope_factor", "inv_sqrt_dim");
  if (strcmp(method, "t5") == 0) read_buckets(hf);
  if (in_family(hf, "xglm") && hf->problems->count == 0) { /* modeling_xglm.py, after fairseq */
    set_text(hf, "embedding_layout", "tensor2tensor");
    set_text(hf, "embedding_offset", "2");
  }
  if (rs_hf_present(slopes) && strcmp(method, "alibi") == 0) {
    hf->rope_key = "attn_config";
    set_param(hf, slopes, "bias_max");
  }
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* M, L0 and what the two make of a factor that the file leaves out. */
static void read_lengths(hf_reader *hf, const rs_hf_family *known) {
  static const char *const maxima[] = {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length",
                                       "model_max_length",        NULL};
  static const char *const originals[] = {"original_max_position_embeddings", "initial_context_length", NULL};
  static const char *const inner_originals[] = {"original_max_position_embeddings", NULL};
  enum { GEMMA3_TRAINED = 32768 }; /* arXiv:2503.19786: trained at 32K; no field of the file says so */
  rs_model *model = hf->model;
  const char *method = model->published.method != NULL ? model->published.method->name : "";
  size_t most = count_of(hf, rs_hf_first(hf->root, maxima), most_tokens, known->length), trained = most;
  bool extended = strcmp(method, "yarn") == 0 || strcmp(method, "llama3") == 0 || strcmp(method, "longrope") == 0;
  if (extended && hf->rope != NULL) {
    const rs_node *outer = rs_hf_first(hf->root, originals), *inner = rs_hf_first(hf->rope, inner_originals);
    bool top = rs_hf_present(rs_node_get(hf->root, originals[0])) || inner == NULL;
    trained = top ? count_of(hf, outer, most_tokens, most) : count_of(hf, inner, most_tokens, most);
  }
  if (in_family(hf, "gemma3") && trained > GEMMA3_TRAINED) trained = GEMMA3_TRAINED;
  model->train_length = trained;
  model->max_length = most;
  const rs_value *factor = rs_setting(&model->published.settings, "factor");
  if (strcmp(method, "yarn") == 0 && !factor->set && trained > 0)
    set_number(hf, "factor", (double)most / (double)trained);
  bool stretches = strcmp(method, "pi") == 0 || strcmp(method, "dynamic_ntk") == 0 || strcmp(method, "yarn") == 0;
  double reach = stretches && factor->set && !in_family(hf, "gemma3") ? (double)trained * factor->number : 0;
  if (reach > (double)most) model->max_length = (size_t)reach;
}

/* What DeepSeek's models do with YaRN's factor: modeling_deepseek_v3.py puts it on the logits too; V4 has none. */
static void read_magnitude(hf_reader *hf) {
  const rs_settings *settings = &hf->model->published.settings;
  const rs_value *all = rs_setting(settings, "mscale_all_dim"), *factor = rs_setting(settings, "attention_factor");
  bool latent = latent_part(hf) != NULL;
  const rs_method *method = hf->model->published.method;
  bool yarn = method != NULL && strcmp(method->name, "yarn") == 0;
  if (hf->compresses && yarn && !factor->set) set_text(hf, "attention_factor", "1");
  if (latent && !hf->compresses && all->set && all->number > 0) set_text(hf, "mscale_softmax", "true");
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* What the layers are called in rope_parameters. */
static const char *label_of(const hf_reader *hf) {
  if (!hf->compresses) return hf->layers->type;
  return are_of(hf, RS_HF_LOCAL) ? "main" : "compress";
}

/* The dictionary of the layers that are read, or the node itself where it is no dictionary by layer type. */
static const rs_node *layers_of(hf_reader *hf, const rs_node *node, const rs_hf_family *known) {
  const rs_node *own = rs_node_get(node, label_of(hf));
  size_t mappings = 0;
  for (size_t i = 0; i < node->count; i++) mappings += node->items[i].kind == RS_MAPPING;
  hf->by_layer = own != NULL && own->kind == RS_MAPPING;
  if (hf->by_layer) return own;
  if (mappings == node->count && are_of(hf, RS_HF_LOCAL) && known->local_theta > 0) return NULL; /* the class's */
  rs_path path = rs_path_key(NULL, node->key);
  if (mappings == node->count)
    rs_problem(hf->problems, node, &path, "differs by layer type, and none is %s: not supported", label_of(hf));
  return node;
}

/* Whether a dictionary for all layers is not for these, which turn plainly. OLMo 3's rope_parameters, as early releases
 * of transformers 5 wrote them, are for all. */
static bool is_plain(const hf_reader *hf, const rs_hf_family *known, const char *key) {
  bool all = in_family(hf, "olmo3") && strcmp(key, "rope_parameters") == 0;
  bool beside = rs_hf_present(rs_node_get(hf->root, "rope_local_base_freq")) || (known->plain_local && !all);
  return are_of(hf, RS_HF_LOCAL) && (beside || hf->compresses);
}

/* rope_scaling, else rope_parameters. */
static void find_rope(hf_reader *hf, const rs_hf_family *known) {
  static const char *const names[] = {"rope_scaling", "rope_parameters"};
  for (size_t i = 0; i < RS_COUNT(names) && hf->rope == NULL && !hf->layers->bare; i++) {
    const rs_node *node = rs_node_get(hf->root, names[i]);
    rs_path path = rs_path_key(NULL, names[i]);
    if (!rs_hf_present(node)) continue;
    if (node->kind != RS_MAPPING) rs_problem(hf->problems, node, &path, "must be a dictionary, or null");
    if (node->kind != RS_MAPPING || node->count == 0) continue;
    const rs_node *rope = layers_of(hf, node, known);
    if (!hf->by_layer && is_plain(hf, known, names[i])) continue;
    hf->rope = rope;
    hf->rope_key = names[i];
  }
}

/* Keys that change the numbers in a way that is not offered: better refused than ignored. */
static void refuse_unsupported(hf_reader *hf) {
  static const char *const keys[] = {"extrapolation_factor", "ntk_factor", "xdrope_section", "rope_ratio"};
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *inner = rs_node_get(hf->rope, keys[i]), *outer = rs_node_get(hf->root, keys[i]);
    const rs_node *node = rs_hf_present(inner) ? inner : outer;
    bool neutral = rs_hf_present(node) && node->kind == RS_SCALAR && strcmp(node->text, "1") == 0;
    if (!rs_hf_present(node) || neutral) continue;
    rs_path path = path_of(node, rs_hf_present(inner) ? hf->rope_key : NULL);
    rs_problem(hf->problems, node, &path, "changes the numbers, and is not supported");
  }
}

/* diffusers says which of its classes a file is of; their positions are of pictures, and are not in it. */
static bool is_of_diffusers(hf_reader *hf) {
  const rs_node *class = rs_node_get(hf->root, "_class_name");
  bool diffuses = rs_hf_present(class) && class->kind == RS_SCALAR;
  if (diffuses)
    rs_problem(hf->problems, class, NULL, "%.60s is a class of diffusers, whose configs are not read here",
               class->text);
  return diffuses;
}

static void read_model(hf_reader *hf) {
  static const char *const heads[] = {"num_attention_heads",     "n_head", "n_heads", "num_heads", "attention_heads",
                                      "decoder_attention_heads", NULL};
  rs_hf_family known = rs_hf_family_of(hf->family);
  snprintf(hf->model->name, sizeof hf->model->name, "%.63s", *hf->family != '\0' ? hf->family : "hf");
  if (is_of_diffusers(hf)) return;
  find_rope(hf, &known);
  refuse_unsupported(hf);
  hf->model->heads = count_of(hf, rs_hf_first(hf->root, heads), most_heads, hf->nested ? known.heads : 0);
  read_head_dim(hf, &known);
  if (hf->model->heads == 0 || hf->model->head_dim == 0) {
    rs_problem(hf->problems, hf->root, NULL,
               "no attention geometry (num_attention_heads and hidden_size, or head_dim)");
    return;
  }
  read_recipe(hf, &known);
  if (!hf->layers->bare) read_temperature(hf);
  read_rotary_dim(hf, &known);
  if (hf->model->rotary_dim % 2 != 0 || hf->model->head_dim % 2 != 0)
    rs_problem(hf->problems, hf->root, NULL, "head_dim = %zu and rotary_dim = %zu must be even: dims turn in pairs",
               hf->model->head_dim, hf->model->rotary_dim);
  read_theta(hf, &known);
  read_layout(hf, &known);
  read_sections(hf);
  read_lengths(hf, &known);
  read_magnitude(hf);
}

void rs_hf_layers_read(const rs_node *top, const rs_hf_layers *layers, rs_model *model, rs_problems *problems) {
  hf_reader hf = {.root = rs_hf_text_config(top),
                  .layers = layers,
                  .nested = rs_hf_text_config(top) != top,
                  .family = rs_hf_model_type(top),
                  .compresses = rs_hf_family_of(rs_hf_model_type(top)).windows == RS_WINDOW_COMPRESSED,
                  .model = model,
                  .problems = problems,
                  .problems_before = problems->count};
  *model = (rs_model){0};
  read_model(&hf);
}
