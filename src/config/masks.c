/* Who sees whom: the key mask of a config. */
#include "config_internal.h"

#include <string.h>

static const double longest = 1 << 28; /* tokens */

/* A mask that is one word. */
static bool mask_word(const char *word, rs_mask_kind *kind) {
  static const struct {
    const char *word;
    rs_mask_kind kind;
  } words[] = {{"causal", RS_CAUSAL},
               {"decoder", RS_CAUSAL},
               {"bidirectional", RS_BIDIRECTIONAL},
               {"encoder", RS_BIDIRECTIONAL},
               {"cross", RS_CROSS}};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    if (strcmp(words[i].word, word) != 0) continue;
    *kind = words[i].kind;
    return true;
  }
  return false;
}

static bool same_mask(const rs_mask *a, const rs_mask *b) {
  return a->kind == b->kind && a->window == b->window;
}

/* What the layers that are read see, which must be the same in all models. */
static void read_model_mask(rs_config_context *config, const rs_node *node, const rs_path *path) {
  const rs_experiment *experiment = config->experiment;
  for (size_t i = 0; i < experiment->model_count && experiment->layers != NULL; i++) {
    const rs_layer_kind *kind = experiment->layers[i].kind;
    const char *name = experiment->models[i].name;
    if (kind == NULL) {
      rs_problem(config->problems, node, path, "model %s says no mask: its layers are not known", name);
      return;
    }
    bool odd = kind->compression > 0;
    if (odd) rs_problem(config->problems, node, path, "no mask here is what layers of %s see", name);
    if (!odd && i > 0 && !same_mask(&kind->mask, &experiment->layers[0].kind->mask))
      rs_problem(config->problems, node, path, "%s sees other keys than %s: write a config for each", name,
                 experiment->models[0].name);
    config->experiment->mask = kind->mask;
  }
}

static bool names_size(const rs_node *node) {
  return rs_node_get(node, "window") != NULL || rs_node_get(node, "chunk") != NULL || rs_node_get(node, "band") != NULL;
}

/* {window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}. */
static void read_mask_sizes(rs_config_context *config, const rs_node *node, const rs_path *path) {
  static const struct {
    const char *key;
    rs_mask_kind kind;
  } sizes[] = {{"window", RS_WINDOW}, {"chunk", RS_CHUNKS}, {"band", RS_BAND}};
  static const char *const known[] = {"window", "sinks", "chunk", "band"};
  const rs_node *sinks = rs_node_get(node, "sinks"), *size = NULL;
  const rs_path sink_path = rs_path_key(path, "sinks");
  rs_mask *mask = &config->experiment->mask;
  rs_check_keys(config->problems, node, path, "mask", known, RS_COUNT(known));
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    const rs_node *other = rs_node_get(node, sizes[i].key);
    const rs_path place = rs_path_key(path, sizes[i].key);
    if (other == NULL) continue;
    if (size != NULL || (sinks != NULL && sizes[i].kind != RS_WINDOW))
      rs_problem(config->problems, other, &place, "stands beside a %s (keep one of them)",
                 size != NULL ? size->key : "window");
    *mask = (rs_mask){.kind = sizes[i].kind, .window = rs_read_count(config->problems, other, &place, 1, longest, 1)};
    size = other;
  }
  if (sinks == NULL || mask->kind != RS_WINDOW) return;
  mask->kind = RS_WINDOW_SINKS;
  mask->sinks = rs_read_count(config->problems, sinks, &sink_path, 1, longest, 0);
}

void rs_config_mask(rs_config_context *config, const rs_node *node) {
  const rs_path path = rs_path_key(NULL, "mask");
  config->experiment->mask = (rs_mask){.kind = RS_CAUSAL};
  if (rs_reads_checkpoint(config)) return;
  if (node == NULL || (node->kind == RS_SCALAR && mask_word(node->text, &config->experiment->mask.kind))) return;
  if (node->kind == RS_SCALAR && strcmp(node->text, "model") == 0)
    read_model_mask(config, node, &path);
  else if (node->kind != RS_MAPPING || !names_size(node))
    rs_problem(config->problems, node, &path,
               "must be causal (decoder), bidirectional (encoder), cross, model, {window: W}, {window: W, sinks: S}, "
               "{chunk: W} or {band: W}");
  else
    read_mask_sizes(config, node, &path);
}
