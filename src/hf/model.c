/* Layers of Hugging Face's config.json as a model: what each model family calls its geometry, and how it writes its
 * positional recipe (rope_scaling, rope_parameters, flat or by layer type). Families and defaults as in transformers 5
 * (configuration_*.py). */
#include "hf_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

const rs_node *rs_hf_length(const rs_node *keys) {
  return rs_hf_first(keys, RS_KEYS("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length",
                                   "max_target_positions", "max_sequence_length", "model_max_length"));
}

/* M, L0 and what the two make of a factor that the file leaves out. */
static void read_lengths(rs_hf_reader *hf, const rs_hf_family *known) {
  static const char *const originals[] = {"original_max_position_embeddings", "initial_context_length", NULL};
  enum { GEMMA3_TRAINED = 32768 }; /* arXiv:2503.19786: trained at 32K; no field of the file says so */
  rs_model *model = hf->model;
  const char *method = model->published.method != NULL ? model->published.method->name : "";
  size_t most = rs_hf_count_of(hf, rs_hf_length(hf->root), RS_HF_MOST_TOKENS, known->length), trained = most;
  bool extended = strcmp(method, "yarn") == 0 || strcmp(method, "llama3") == 0 || strcmp(method, "longrope") == 0;
  if (extended && hf->rope != NULL) {
    const rs_node *outer = rs_hf_first(hf->root, originals),
                  *inner = rs_hf_first(hf->rope, RS_KEYS("original_max_position_embeddings"));
    bool top = rs_hf_present(rs_node_get(hf->root, originals[0])) || inner == NULL;
    trained =
        top ? rs_hf_count_of(hf, outer, RS_HF_MOST_TOKENS, most) : rs_hf_count_of(hf, inner, RS_HF_MOST_TOKENS, most);
  }
  if (strcmp(hf->family, "qwen") == 0) /* what its scaling is measured by; the other one is a buffer's */
    trained = rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("seq_length")), RS_HF_MOST_TOKENS, trained);
  if (rs_hf_in_family(hf, "gemma3") && trained > GEMMA3_TRAINED) trained = GEMMA3_TRAINED;
  model->train_length = trained;
  model->max_length = most;
  const rs_value *factor = rs_setting(&model->published.settings, "factor");
  if (strcmp(method, "yarn") == 0 && !factor->set && trained > 0)
    rs_hf_set_number(hf, "factor", (double)most / (double)trained);
  bool stretches = strcmp(method, "pi") == 0 || strcmp(method, "dynamic_ntk") == 0 || strcmp(method, "yarn") == 0;
  double reach = stretches && factor->set && !rs_hf_in_family(hf, "gemma3") ? (double)trained * factor->number : 0;
  if (reach > (double)most) model->max_length = (size_t)reach;
}

/* What DeepSeek's models do with YaRN's factor: modeling_deepseek_v3.py puts it on the logits too; V4 has none. */
static void read_magnitude(rs_hf_reader *hf) {
  const rs_settings *settings = &hf->model->published.settings;
  const rs_value *all = rs_setting(settings, "mscale_all_dim"), *factor = rs_setting(settings, "attention_factor");
  bool latent = rs_hf_latent_part(hf) != NULL;
  const rs_method *method = hf->model->published.method;
  bool yarn = method != NULL && strcmp(method->name, "yarn") == 0;
  if (hf->compresses && yarn && !factor->set) rs_hf_set_text(hf, "attention_factor", "1");
  if (latent && !hf->compresses && all->set && all->number > 0) rs_hf_set_text(hf, "mscale_softmax", "true");
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* What the layers are called in rope_parameters. */
static const char *label_of(const rs_hf_reader *hf) {
  if (!hf->compresses) return hf->layers->type;
  return rs_hf_are_of(hf, RS_HF_LOCAL) ? "main" : "compress";
}

static void no_such_type(rs_hf_reader *hf, const rs_node *node) {
  char types[160] = "";
  size_t used = 0;
  for (size_t i = 0; i < node->count && used < sizeof types; i++)
    used += (size_t)snprintf(types + used, sizeof types - used, "%s%.*s", i > 0 ? ", " : "",
                             (int)rs_utf8_cut(node->items[i].key, 40), node->items[i].key);
  rs_problem(hf->problems, node, "differs by layer type, and none is %s (there are: %s)", label_of(hf), types);
}

/* The dictionary of the layers that are read, or the node itself where it is no dictionary by layer type. */
static const rs_node *layers_of(rs_hf_reader *hf, const rs_node *node, const rs_hf_family *known) {
  const rs_node *own = rs_node_get(node, label_of(hf));
  size_t mappings = 0;
  for (size_t i = 0; i < node->count; i++) mappings += node->items[i].kind == RS_MAPPING;
  hf->by_layer = own != NULL && own->kind == RS_MAPPING;
  if (hf->by_layer) return own;
  if (mappings == node->count && rs_hf_are_of(hf, RS_HF_LOCAL) && known->local_theta > 0) return NULL; /* the class's */
  if (mappings == node->count) no_such_type(hf, node);
  return node;
}

/* Whether a dictionary for all layers is not for these, which turn plainly. OLMo 3's rope_parameters, as early releases
 * of transformers 5 wrote them, are for all. */
static bool is_plain(const rs_hf_reader *hf, const rs_hf_family *known, const char *key) {
  bool all = rs_hf_in_family(hf, "olmo3") && strcmp(key, "rope_parameters") == 0;
  bool beside = rs_hf_present(rs_node_get(hf->root, "rope_local_base_freq")) || (known->plain_local && !all);
  return rs_hf_are_of(hf, RS_HF_LOCAL) && (beside || hf->compresses);
}

/* rope_scaling, else rope_parameters. */
static void find_rope(rs_hf_reader *hf, const rs_hf_family *known) {
  static const char *const names[] = {"rope_scaling", "rope_parameters"};
  bool said = rs_node_get(hf->root, names[0]) != NULL || rs_node_get(hf->root, names[1]) != NULL;
  if (known->rope != NULL && !said)
    rs_problem(hf->problems, hf->root, "rope_scaling is missing (null: plain rotation): its class has %s there",
               known->rope);
  for (size_t i = 0; i < RS_COUNT(names) && hf->rope == NULL && !hf->layers->bare; i++) {
    const rs_node *node = rs_node_get(hf->root, names[i]);
    if (!rs_hf_present(node)) continue;
    if (node->kind != RS_MAPPING) rs_problem(hf->problems, node, "must be a dictionary, or null");
    if (node->kind != RS_MAPPING || node->count == 0) continue;
    const rs_node *rope = layers_of(hf, node, known);
    if (!hf->by_layer && is_plain(hf, known, names[i])) continue;
    hf->rope = rope;
  }
}

/* Keys that change the numbers in a way that is not offered: better refused than ignored. */
static void refuse_unsupported(rs_hf_reader *hf) {
  static const char *const keys[] = {"extrapolation_factor",  "ntk_factor",           "xdrope_section", "rope_ratio",
                                     "rotary_emb_scale_base", "rotary_scaling_factor"};
  const rs_node *extended = rs_node_get(hf->root, "use_long_context"); /* Zamba-2 */
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *inner = rs_node_get(hf->rope, keys[i]), *outer = rs_node_get(hf->root, keys[i]);
    const rs_node *node = rs_hf_present(inner) ? inner : outer;
    if (!rs_hf_present(node) || strcmp(rs_hf_word(node), "1") == 0) continue;
    rs_problem(hf->problems, node, "changes the numbers, and is not supported");
  }
  if (rs_hf_true(hf->root, "use_long_context", false)) {
    rs_problem(hf->problems, extended, "changes the numbers, and is not supported");
  }
}

/* diffusers says which of its classes a file is of; their positions are of pictures, and are not in it. */
static bool is_of_diffusers(rs_hf_reader *hf) {
  const rs_node *class = rs_node_get(hf->root, "_class_name");
  bool diffuses = *rs_hf_word(class) != '\0';
  if (diffuses)
    rs_problem_at(hf->problems, class,
                  "%s is a class of diffusers, whose configs are not read here: what they do with rows, columns and "
                  "frames is in their code (a config can say it: model: {head_dim: 128, train_length: 4096}, tokens: "
                  "[{image: [64, 64]}] and a method of two axes)",
                  class->text);
  return diffuses;
}

/* Whether the family's positions are offered here; a problem where they are not. */
static bool is_offered(rs_hf_reader *hf, const rs_hf_family *known) {
  const rs_node *type = rs_node_get(hf->root, "model_type");
  if (rs_hf_present(type) && type->kind != RS_SCALAR) rs_problem(hf->problems, type, "must be a word");
  if (known->otherwise != RS_OFFERED)
    rs_problem_at(hf->problems, type != NULL ? type : hf->root, "%s: %s", hf->family,
                  rs_hf_otherwise_text(known->otherwise));
  return known->otherwise == RS_OFFERED;
}

/* Mistral's and Meta's own files are called params.json. */
static bool is_params(rs_hf_reader *hf) {
  bool own = rs_hf_is_params(hf->root);
  if (own)
    rs_problem(hf->problems, hf->root,
               "dim, n_layers and n_heads without a model_type: this is a params.json of Mistral's or Meta's own code, "
               "which is not read here, and no config.json");
  return own;
}

static void check_sharing(rs_hf_reader *hf, const rs_node *node, size_t heads) {
  for (size_t i = 0; node->kind == RS_SEQUENCE && i < node->count; i++) check_sharing(hf, &node->items[i], heads);
  if (node->kind == RS_SEQUENCE) return; /* one a layer */
  size_t before = hf->problems->count, keys = rs_read_count(hf->problems, node, 1, RS_HF_MOST_HEADS, 1);
  if (hf->problems->count == before && heads % keys != 0)
    rs_problem(hf->problems, node, "must divide the %zu heads that share them", heads);
}

/* Query heads share key heads evenly. Some keys count only beside a flag: Falcon's of its newer classes, ChatGLM's and
 * MPT's of heads that share. */
static void check_key_heads(rs_hf_reader *hf) {
  static const char *const keys[] = {"num_key_value_heads",    "n_kv_heads",
                                     "num_attention_groups",   "num_global_key_value_heads",
                                     "num_kv_heads",           "multi_query_group_num",
                                     "attn_config.kv_n_heads", "swa_num_key_value_heads"};
  const rs_node *attention = rs_node_get(hf->root, "attn_config");
  bool grouped = hf->model->heads > 0 && !rs_hf_in_family(hf, "falcon");
  for (size_t i = 0; i < RS_COUNT(keys) && hf->model->heads > 0; i++) {
    const rs_node *node = rs_hf_first(hf->root, RS_KEYS(keys[i]));
    const rs_node *local = rs_hf_first(hf->root, RS_KEYS("swa_num_attention_heads"));
    size_t heads = hf->model->heads;
    bool counts = grouped;
    if (strcmp(keys[i], "num_kv_heads") == 0)
      counts = !grouped && rs_hf_true(hf->root, "new_decoder_architecture", false);
    else if (strcmp(keys[i], "multi_query_group_num") == 0)
      counts = rs_hf_true(hf->root, "multi_query_attention", false);
    else if (strncmp(keys[i], "attn_config", 11) == 0)
      counts = rs_hf_in_family(hf, "dbrx") ||
               strcmp(rs_hf_word(rs_node_get(attention, "attn_type")), "grouped_query_attention") == 0;
    else if (strncmp(keys[i], "swa_", 4) == 0 && local != NULL)
      heads = rs_hf_count_of(hf, local, RS_HF_MOST_HEADS, heads);
    if (node != NULL && counts) check_sharing(hf, node, heads);
  }
}

static void read_model(rs_hf_reader *hf) {
  static const char *const heads[] = {
      "num_attention_heads",     "n_head", "n_heads", "num_heads", "attention_heads", "decoder_attention_heads",
      "encoder_attention_heads", NULL};
  rs_hf_family known = rs_hf_family_of(hf->family);
  rs_shorten(*hf->family != '\0' ? hf->family : "hf", sizeof hf->model->name, hf->model->name);
  if (is_of_diffusers(hf) || is_params(hf) || !is_offered(hf, &known)) return;
  find_rope(hf, &known);
  refuse_unsupported(hf);
  hf->model->heads = rs_hf_count_of(hf, rs_hf_first(hf->root, heads), RS_HF_MOST_HEADS, hf->nested ? known.heads : 0);
  check_key_heads(hf);
  rs_hf_read_head_dim(hf, &known);
  if (hf->model->heads == 0 || hf->model->head_dim == 0) {
    if (!rs_hf_failed(hf))
      rs_problem(hf->problems, hf->root, "no attention geometry (num_attention_heads and hidden_size, or head_dim)");
    return;
  }
  rs_hf_read_recipe(hf, &known);
  if (!hf->layers->bare) rs_hf_read_temperature(hf);
  rs_hf_read_rotary_dim(hf, &known);
  const rs_method *method = hf->model->published.method;
  bool turns = method != NULL && method->freq != NULL;
  if (turns && (hf->model->rotary_dim % 2 != 0 || hf->model->head_dim % 2 != 0))
    rs_problem(hf->problems, hf->root, "head_dim = %zu and rotary_dim = %zu must be even: dims turn in pairs",
               hf->model->head_dim, hf->model->rotary_dim);
  rs_hf_read_theta(hf, &known);
  rs_hf_read_layout(hf, &known);
  rs_hf_read_sections(hf, &known);
  read_lengths(hf, &known);
  read_magnitude(hf);
}

void rs_hf_layers_read(const rs_node *top, const rs_hf_layers *layers, rs_layer_kind *kind, rs_problems *problems) {
  rs_hf_reader hf = {.root = rs_hf_text_config(top),
                     .layers = layers,
                     .nested = rs_hf_text_config(top) != top,
                     .family = rs_hf_model_type(top),
                     .compresses = rs_hf_family_of(rs_hf_model_type(top)).windows == RS_WINDOW_COMPRESSED,
                     .model = &kind->model,
                     .problems = problems,
                     .problems_before = problems->count};
  kind->model = (rs_model){0};
  read_model(&hf);
  kind->tuned = rs_hf_true(hf.rope, "finetuned", false);
}
