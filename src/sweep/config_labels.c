/* Labels: what tells the entries of a list apart in the CSV files and pictures. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rs_label_param(rs_text *label, const rs_settings *settings, int param) {
  rs_text_printf(label, " %s=", settings->params[param]->name);
  rs_value_write(settings->params[param], &settings->values[param], label);
}

static bool same_label(const rs_variants *variants, size_t index) {
  for (size_t i = 0; i < variants->count; i++)
    if (i != index && strcmp(variants->items[i].label, variants->items[index].label) == 0) return true;
  return false;
}

/* The label and every given parameter that it does not name yet. */
static char *longer_label(const rs_variant *variant) {
  rs_text label = {0};
  rs_text_puts(&label, variant->label);
  for (size_t p = 0; p < variant->settings.count; p++) {
    char word[80];
    snprintf(word, sizeof word, " %s=", variant->settings.params[p]->name);
    if (variant->settings.values[p].given && strstr(variant->label, word) == NULL)
      rs_label_param(&label, &variant->settings, (int)p);
  }
  char *copy = label.failed ? NULL : rs_strdup(rs_text_string(&label), NULL);
  rs_text_clear(&label);
  return copy;
}

static void lengthen_labels(rs_config_context *config, rs_variants *variants) {
  char **labels = rs_alloc(variants->count, sizeof *labels, NULL);
  for (size_t i = 0; i < variants->count && labels != NULL; i++) {
    if (!same_label(variants, i)) continue;
    labels[i] = longer_label(&variants->items[i]);
    if (labels[i] == NULL) rs_problem_memory(config->problems);
  }
  for (size_t i = 0; i < variants->count && labels != NULL; i++) {
    if (labels[i] == NULL) continue;
    free(variants->items[i].label);
    variants->items[i].label = labels[i];
  }
  if (labels == NULL) rs_problem_memory(config->problems);
  free(labels);
}

void rs_settle_labels(rs_config_context *config, const char *key, const rs_node *node, rs_variants *variants) {
  const rs_path path = rs_path_key(NULL, key);
  if (config->problems->count > 0) return;
  lengthen_labels(config, variants);
  for (size_t i = 0; i < variants->count; i++)
    if (same_label(variants, i)) {
      rs_problem(config->problems, node, &path, "has \"%s\" twice (give one a label: ...)", variants->items[i].label);
      return;
    }
}
