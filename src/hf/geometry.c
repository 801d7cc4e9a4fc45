/* The geometry of layers of a config.json: heads, dims that turn, base, pairs and their axes. */
#include "hf_internal.h"

#include <string.h>

/* ---- fields ------------------------------------------------------------------------------------------------------ */

bool rs_hf_failed(const rs_hf_reader *hf) {
  return hf->problems->count > hf->problems_before;
}

size_t rs_hf_count_of(rs_hf_reader *hf, const rs_node *node, double most, size_t fallback) {
  return rs_read_count(hf->problems, node, 1, most, fallback);
}

bool rs_hf_in_family(const rs_hf_reader *hf, const char *family) {
  return rs_hf_is_of(hf->family, family);
}

bool rs_hf_are_of(const rs_hf_reader *hf, const char *type) {
  return strcmp(hf->layers->type, type) == 0;
}

/* DeepSeek-V4's layers that see keys beyond their window averaged. */
static bool is_compressed(const rs_hf_reader *hf) {
  return hf->compresses && !rs_hf_are_of(hf, RS_HF_LOCAL);
}

const rs_node *rs_hf_latent_part(const rs_hf_reader *hf) {
  const rs_node *rotary = rs_node_get(hf->root, "qk_rope_head_dim");
  return rs_hf_present(rotary) && strcmp(rs_hf_word(rotary), "0") != 0 ? rotary : NULL;
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

void rs_hf_read_head_dim(rs_hf_reader *hf, const rs_hf_family *known) {
  static const char *const dims[] = {"head_dim", "kv_channels", "d_kv", "attention_head_dim", "d_head", NULL};
  rs_model *model = hf->model;
  const rs_node *rotary = rs_hf_latent_part(hf), *plain = rs_node_get(hf->root, "qk_nope_head_dim");
  bool whole = !rs_hf_present(plain) && rs_hf_first(hf->root, dims) != NULL; /* DeepSeek-V4's is of both parts */
  if (rotary != NULL && !whole) { /* `head_dim`, where saved, is the rotary width alone */
    model->rotary_dim = rs_hf_count_of(hf, rotary, RS_HF_MOST_DIMS, 0);
    model->head_dim = model->rotary_dim + (rs_hf_present(plain) ? rs_hf_count_of(hf, plain, RS_HF_MOST_DIMS, 0) : 0);
    return;
  }
  bool unturned = rs_hf_present(rs_node_get(hf->root, "qk_rope_head_dim")) && strcmp(rs_hf_word(plain), "0") != 0;
  if (rotary == NULL && rs_hf_present(plain) &&
      unturned) { /* no part turns, and `head_dim` is the width of that part */
    model->head_dim = rs_hf_count_of(hf, plain, RS_HF_MOST_DIMS, 0);
    return;
  }
  bool doubled = rs_hf_in_family(hf, "zamba"); /* its attention reads the state beside the embedding */
  const rs_node *node = rs_hf_first(hf->root, RS_KEYS("hidden_size", "n_embd", "n_embed", "d_model", "dim"));
  size_t width = rs_hf_count_of(hf, node, RS_HF_MOST_WIDTH, hf->nested ? known->width : 0);
  /* transformers: one that is null is width / heads; a config without it has the class's. */
  size_t usual = rs_node_get(hf->root, dims[0]) == NULL ? known->head_dim : 0;
  model->head_dim = rs_hf_count_of(hf, rs_hf_first(hf->root, dims), RS_HF_MOST_DIMS, usual);
  if (rs_hf_are_of(hf, RS_HF_LOCAL))
    model->head_dim =
        rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("swa_head_dim")), RS_HF_MOST_DIMS, model->head_dim);
  else if (hf->by_layer || known->global_head_dim > 0)
    model->head_dim = rs_hf_count_of(hf, rs_hf_first(hf->root, RS_KEYS("global_head_dim")), RS_HF_MOST_DIMS,
                                     known->global_head_dim > 0 ? known->global_head_dim : model->head_dim);
  if (model->head_dim > 0 || width == 0 || model->heads == 0) return;
  if (width % model->heads != 0)
    rs_problem(hf->problems, node != NULL ? node : hf->root,
               "is no multiple of the %zu heads, and there is no head_dim", model->heads);
  model->head_dim = (doubled ? 2 * width : width) / model->heads;
}

void rs_hf_read_rotary_dim(rs_hf_reader *hf, const rs_hf_family *known) {
  static const char *const on_top[] = {"partial_rotary_factor", "rotary_pct",          "rope_pct",
                                       "rotary_percentage",     "rotary_emb_fraction", NULL};
  rs_model *model = hf->model;
  if (model->rotary_dim > 0) return;
  const rs_node *part =
      rs_hf_latent_part(hf) != NULL ? rs_hf_latent_part(hf) : rs_hf_first(hf->root, RS_KEYS("rotary_dim"));
  size_t given = rs_hf_count_of(hf, part, RS_HF_MOST_DIMS, known->rotary_dim);
  const rs_node *inner = hf->rope != NULL ? rs_hf_first(hf->rope, RS_KEYS("partial_rotary_factor")) : NULL;
  double fraction = known->rotary_fraction > 0 ? known->rotary_fraction : 1;
  fraction = rs_read_real(hf->problems, rs_hf_first(hf->root, on_top), 1e-6, 1, fraction);
  fraction = rs_read_real(hf->problems, inner, 1e-6, 1, fraction);
  bool whole = model->published.method != NULL && strcmp(model->published.method->name, "proportional") == 0;
  model->rotary_dim = whole ? model->head_dim : given > 0 ? given : (size_t)((double)model->head_dim * fraction);
}

/* The base that the file gives these layers of their own, or NULL. */
static const rs_node *own_base(const rs_hf_reader *hf) {
  if (rs_hf_are_of(hf, RS_HF_LOCAL))
    return rs_hf_first(hf->root, RS_KEYS("rope_local_base_freq", "local_rope_theta", "swa_rope_theta"));
  return is_compressed(hf) ? rs_hf_first(hf->root, RS_KEYS("compress_rope_theta")) : NULL;
}

void rs_hf_read_theta(rs_hf_reader *hf, const rs_hf_family *known) {
  static const char *const on_top[] = {"rope_theta", "global_rope_theta", "rotary_emb_base", "rope_embedding_base",
                                       NULL};
  enum { COMPRESSED = 160000 }; /* DeepSeek-V4's class */
  const rs_node *inner = hf->rope != NULL ? rs_hf_first(hf->rope, RS_KEYS("rope_theta")) : NULL, *own = own_base(hf);
  const rs_node *attention = rs_node_get(hf->root, "attn_config"); /* DBRX's */
  const rs_node *top = rs_hf_first(hf->root, on_top);
  const rs_node *shared = rs_node_get(hf->root, "local_rope_theta"); /* null: local layers have that of all */
  bool apart = rs_hf_are_of(hf, RS_HF_LOCAL) && known->local_theta > 0 && (shared == NULL || rs_hf_present(shared));
  double theta = known->theta > 0 ? known->theta : 10000;
  if (top == NULL && attention != NULL) top = rs_hf_first(attention, RS_KEYS("rope_theta"));
  theta = apart               ? known->local_theta
          : is_compressed(hf) ? COMPRESSED
                              : rs_read_real(hf->problems, top, 1.000001, 1e300, theta);
  theta = rs_read_real(hf->problems, own, 1.000001, 1e300, theta);
  if (hf->layers->base > 0) {
    hf->model->rope_theta = hf->layers->base;
    return;
  }
  /* DeepSeek-V4's flat dictionary is of compressed layers, whose base is apart. */
  if (!is_compressed(hf) || hf->by_layer) theta = rs_read_real(hf->problems, inner, 1.000001, 1e300, theta);
  hf->model->rope_theta = theta;
}

void rs_hf_read_layout(rs_hf_reader *hf, const rs_hf_family *known) {
  bool latent = rs_hf_latent_part(hf) != NULL;
  bool stated = rs_hf_true(hf->root, "rotary_emb_interleaved", known->interleaved); /* NomicBERT's */
  bool interleaved = latent ? rs_hf_true(hf->root, "rope_interleave", true) : stated;
  hf->model->pair_layout = interleaved ? RS_INTERLEAVED : RS_HALF_SPLIT;
}

/* What the class has where the file is silent: modeling_qwen3_vl.py, modeling_qwen3_5.py, both alternating. */
static void take_class_sections(rs_hf_reader *hf, const rs_hf_family *known) {
  size_t total = known->sections[0] + known->sections[1] + known->sections[2];
  if (total == 0 || total != hf->model->rotary_dim / 2) return;
  memcpy(hf->model->mrope_section, known->sections, sizeof known->sections);
  hf->model->axis_layout = RS_AXES_INTERLEAVED;
}

void rs_hf_read_sections(rs_hf_reader *hf, const rs_hf_family *known) {
  const rs_node *node = hf->rope != NULL ? rs_node_get(hf->rope, "mrope_section") : NULL;
  if (!rs_hf_present(node)) {
    take_class_sections(hf, known);
    return;
  }
  size_t total = 0;
  bool ernie = rs_hf_in_family(hf, "ernie4_5_vl"); /* in the order h, w, t */
  if (node->kind != RS_SEQUENCE || node->count != RS_AXES) {
    rs_problem(hf->problems, node, "must have 3 entries (t, h, w)");
    return;
  }
  for (size_t a = 0; a < RS_AXES; a++) {
    total += hf->model->mrope_section[ernie ? (a + 1) % RS_AXES : a] =
        rs_read_count(hf->problems, &node->items[a], 0, 32768, 0);
  }
  if (total != hf->model->rotary_dim / 2)
    rs_problem(hf->problems, node, "sums to %zu, but rotary_dim / 2 = %zu pairs turn", total,
               hf->model->rotary_dim / 2);
  bool alternating = rs_hf_true(hf->rope, "mrope_interleaved", known->alternates);
  hf->model->axis_layout = ernie ? RS_AXES_SPATIAL_FIRST : alternating ? RS_AXES_INTERLEAVED : RS_AXES_CONTIGUOUS;
}
