/* Experts: which layers of a checkpoint have them, how many there are, and how a token chooses. */
#include "architectures.h"

#include <stdio.h>
#include <string.h>

static const char *const steps[] = {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", NULL};

/* Whether the list called `key` has `number` in it; false without one. */
static bool lists(const rs_hf_file *file, const char *key, size_t number) {
  char digits[24];
  const rs_node *list = rs_node_get(file->root, key);
  snprintf(digits, sizeof digits, "%zu", number);
  if (!rs_hf_present(list) || list->kind != RS_SEQUENCE) return false;
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(rs_hf_word(&list->items[i]), digits) == 0) return true;
  return false;
}

/* Whether layer `layer` of `count` has experts. */
static bool has_experts(rs_hf_file *file, size_t layer, size_t count) {
  static const char *const firsts[] = {"first_k_dense_replace", "moe_layer_start_index", NULL};
  static const char *const ends[] = {"moe_layer_end_index", NULL};
  const rs_hf_experts *row = &file->row->experts;
  const rs_node *last = rs_node_get(file->root, ends[0]);
  bool open = !rs_hf_present(last) || strcmp(rs_hf_word(last), "-1") == 0;
  bool due = (layer + 1) % rs_hf_count(file, steps, 1, 1) == 0;
  switch (row->layers) {
  case RS_EXPERTS_NO_LAYER: return false;
  case RS_EXPERTS_ALL: return true;
  case RS_EXPERTS_BEHIND: return layer >= rs_hf_count(file, firsts, 0, row->first);
  case RS_EXPERTS_STEPS: return due && !lists(file, "mlp_only_layers", layer);
  case RS_EXPERTS_LISTED:
    return rs_hf_present(rs_node_get(file->root, "moe_layers")) ? lists(file, "moe_layers", layer) : due;
  case RS_EXPERTS_BETWEEN: break;
  }
  return due && layer >= rs_hf_count(file, firsts, 0, row->first) &&
         layer <= (open ? count - 1 : rs_hf_count(file, ends, 0, 0));
}

/* Of the experts of all tokens, which are one: so many times the width of another, or a width of its own. */
static size_t shared_width(rs_hf_file *file, size_t width) {
  static const char *const counts[] = {"n_shared_experts", "moe_num_shared_experts", "num_shared_expert", NULL};
  const rs_hf_experts *row = &file->row->experts;
  const char *const own[] = {row->shared_width, NULL};
  if (row->shared_width != NULL) return rs_hf_needed(file, own);
  return row->shared_counted ? rs_hf_count(file, counts, 0, row->shared) * width : 0;
}

/* DeepSeek-V2 may choose among all, whatever its groups. */
static bool is_greedy(const rs_hf_file *file) {
  const rs_node *method = rs_node_get(file->root, "topk_method");
  if (!file->row->experts.choice.grouped_by_best) return false;
  return !rs_hf_present(method) || strcmp(rs_hf_word(method), "greedy") == 0;
}

/* The weights are divided by their norm of some power (DBRX). */
static const rs_node *find_power(const rs_hf_file *file, bool *said) {
  const char *const keys[] = {file->row->experts.power, NULL};
  const rs_node *part = rs_node_get(file->root, "ffn_config");
  *said = rs_node_get(part, "moe_normalize_expert_weights") != NULL;
  return rs_hf_first(file->root, keys);
}

static bool is_normed(const rs_hf_file *file) {
  bool said;
  if (file->row->experts.power == NULL) return rs_hf_says(file, file->row->experts.normed);
  return find_power(file, &said) != NULL || !said;
}

static rs_experts read_experts(rs_hf_file *file, size_t width) {
  static const char *const counts[] = {
      "num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts", NULL};
  static const char *const used[] = {
      "num_experts_per_tok", "experts_per_token", "moe_k", "moe_topk", "ffn_config.moe_top_k", NULL};
  static const char *const groups[] = {"n_group", NULL}, *const groups_used[] = {"topk_group", NULL};
  static const char *const scales[] = {"routed_scaling_factor", NULL}, *const limits[] = {"swiglu_limit", NULL};
  static const char *const noises[] = {"router_jitter_noise", NULL};
  const rs_hf_experts *row = &file->row->experts;
  rs_experts experts = row->choice;
  experts.count = rs_hf_needed(file, counts);
  experts.used = rs_hf_needed(file, used);
  experts.normed = is_normed(file);
  experts.scale = row->choice.scale > 0 ? rs_hf_real(file, scales, 1e-30, row->choice.scale) : 1;
  if (experts.groups > 0) {
    experts.groups = is_greedy(file) ? 0 : rs_hf_count(file, groups, 1, row->choice.groups);
    experts.groups_used = rs_hf_count(file, groups_used, 1, row->choice.groups_used);
  }
  if (experts.mixed) experts.tolerance = 2 * rs_hf_real(file, noises, 0, row->choice.tolerance / 2);
  if (experts.limit > 0) experts.limit = rs_hf_real(file, limits, 1e-6, row->choice.limit);
  experts.shared = shared_width(file, width);
  return experts;
}

void rs_hf_place_experts(rs_hf_file *file, rs_stack *stack) {
  const char *const widths[] = {file->row->experts.width, NULL};
  rs_experts experts = {0};
  size_t width = 0;
  for (size_t i = 0; i < stack->count; i++) {
    rs_feed_forward *layer = &stack->blocks[i].feed_forward;
    if (file->problems.count > 0 || !has_experts(file, i, stack->count)) continue;
    if (experts.count == 0) {
      width = file->row->experts.width != NULL ? rs_hf_needed(file, widths) : layer->width;
      experts = read_experts(file, width);
    }
    layer->width = width;
    layer->experts = experts;
  }
}

rs_status rs_hf_refuse_experts(const rs_hf_file *file, rs_err *err) {
  static const char *const keys[] = {"num_local_experts",          "num_experts", "n_routed_experts", "moe_num_experts",
                                     "ffn_config.moe_num_experts", NULL};
  const rs_node *counted = rs_hf_first(file->root, keys), *method = rs_node_get(file->root, "topk_method");
  const rs_node *frequency = rs_node_get(file->root, "moe_layer_freq");
  const rs_hf_experts *row = &file->row->experts;
  if (row->layers == RS_EXPERTS_NO_LAYER) return counted != NULL ? rs_hf_refuse(file, counted->key, err) : RS_OK;
  bool each = !rs_hf_present(frequency) || strcmp(rs_hf_word(frequency), "1") == 0;
  if (row->layers == RS_EXPERTS_BEHIND && !each) return rs_hf_refuse(file, "moe_layer_freq", err);
  bool grouped = strcmp(rs_hf_word(method), "group_limited_greedy") == 0;
  if (row->choice.grouped_by_best && !is_greedy(file) && !grouped) return rs_hf_refuse(file, "topk_method", err);
  bool said;
  const rs_node *power = row->power != NULL ? find_power(file, &said) : NULL;
  bool sums = power == NULL || strcmp(rs_hf_word(power), "1") == 0 || strcmp(rs_hf_word(power), "1.0") == 0;
  if (!sums) return rs_hf_refuse(file, row->power, err);
  return RS_OK;
}
