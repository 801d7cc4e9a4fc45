/* Who sees whom: the key mask of a config. */
#include "config_internal.h"
#include "records.h"

#include <string.h>

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
static void read_model_mask(rs_config_context *config, const rs_node *node) {
  const rs_experiment *experiment = config->experiment;
  for (size_t i = 0; i < experiment->model_count && experiment->layers != NULL; i++) {
    const rs_layer_kind *kind = experiment->layers[i].kind;
    const char *name = experiment->models[i].name;
    if (kind == NULL) {
      rs_problem(config->problems, node, "model %s says no mask: its layers are not known", name);
      return;
    }
    bool odd = kind->compression > 0;
    if (odd) rs_problem(config->problems, node, "no mask here is what layers of %s see", name);
    if (!odd && i > 0 && !same_mask(&kind->mask, &experiment->layers[0].kind->mask))
      rs_problem(config->problems, node, "%s sees other keys than %s: write a config for each", name,
                 experiment->models[0].name);
    config->experiment->mask = kind->mask;
  }
}

static bool names_size(const rs_node *node) {
  return rs_node_get(node, "window") != NULL || rs_node_get(node, "chunk") != NULL || rs_node_get(node, "band") != NULL;
}

/* {window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}. */
typedef struct mask_sizes {
  size_t window, sinks, chunk, band; /* tokens */
} mask_sizes;

static const rs_param size_fields[] = {
    {RS_FIELD(mask_sizes, window), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, sinks), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, chunk), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, band), .min = 1, .max = 1 << 28},
};
static const rs_record size_record = {.what = "mask", RS_RECORD_FIELDS(size_fields), .partial = true};

static void read_mask_sizes(rs_config_context *config, const rs_node *node) {
  mask_sizes read = {0};
  const rs_node *size = NULL;
  rs_mask *mask = &config->experiment->mask;
  rs_record_read(config->problems, node, &size_record, NULL, &read);
  const struct {
    const char *key;
    rs_mask_kind kind;
    size_t size;
  } sizes[] = {{"window", RS_WINDOW, read.window}, {"chunk", RS_CHUNKS, read.chunk}, {"band", RS_BAND, read.band}};
  bool sinks = rs_node_get(node, "sinks") != NULL;
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    const rs_node *other = rs_node_get(node, sizes[i].key);
    if (other == NULL) continue;
    if (size != NULL || (sinks && sizes[i].kind != RS_WINDOW))
      rs_problem(config->problems, other, "stands beside a %s (keep one of them)", size != NULL ? size->key : "window");
    *mask = (rs_mask){.kind = sizes[i].kind, .window = sizes[i].size};
    size = other;
  }
  if (sinks && mask->kind == RS_WINDOW) *mask = (rs_mask){RS_WINDOW_SINKS, read.window, read.sinks};
}

void rs_config_mask(rs_config_context *config, const rs_node *node) {
  config->experiment->mask = (rs_mask){.kind = RS_CAUSAL};
  if (rs_reads_checkpoint(config)) return;
  if (node == NULL || (node->kind == RS_SCALAR && mask_word(node->text, &config->experiment->mask.kind))) return;
  if (node->kind == RS_SCALAR && strcmp(node->text, "model") == 0)
    read_model_mask(config, node);
  else if (node->kind != RS_MAPPING || !names_size(node))
    rs_problem(config->problems, node,
               "must be causal (decoder), bidirectional (encoder), cross, model, {window: W}, {window: W, sinks: S}, "
               "{chunk: W} or {band: W}");
  else
    read_mask_sizes(config, node);
}
