/* What checkpoints are called: what tells them apart in the CSV files and pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"

static const char *base_label(const rs_entry *e, const char *folder) {
  const rs_node *name = rs_node_get(e->node, "name");
  const rs_variant *method = rs_entry_method(e, e->node);
  if (name != NULL) return rs_read_word(e->config->problems, name);
  const char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
  if (slash != NULL) return slash + 1;
  return method != NULL ? method->label : "rope";
}

/* What an axis is in the combination: the method's label, or the value. */
static void put_choice(const rs_entry *e, const rs_checkpoint *checkpoint, size_t axis, rs_text *label) {
  const rs_entry_axis *list = &e->axes[axis];
  size_t choice = rs_choices_pick(&e->choices, axis, e->combination), before = label->length;
  if (list->methods.count > 0) {
    rs_text_puts(label, list->methods.items[choice].label);
    return;
  }
  rs_checkpoint_value(checkpoint, list->name, label);
  const rs_node *value = &list->node->items[choice];
  if (label->length == before && value->kind == RS_SCALAR) rs_text_puts(label, value->text); /* of layers */
}

void rs_entry_label(const rs_entry *e, const rs_checkpoint *checkpoint, rs_model *model) {
  const char *base = base_label(e, checkpoint->folder);
  bool named = rs_node_get(e->node, "name") != NULL;
  rs_text label = {0};
  rs_text_puts(&label, base != NULL ? base : "");
  for (size_t a = 0; a < e->choices.count; a++) {
    if (e->choices.counts[a] == 1 || (!named && strcmp(e->axes[a].name, "method") == 0)) continue;
    rs_text_printf(&label, " %s=", e->axes[a].name);
    put_choice(e, checkpoint, a, &label);
  }
  if (label.failed)
    rs_problem_memory(e->config->problems);
  else if (label.length >= sizeof model->name || label.length == 0)
    rs_problem(e->config->problems, e->node, "is called \"%s\", which must be 1 to %zu letters (give it a name: ...)",
               rs_text_string(&label), sizeof model->name - 1);
  else
    memcpy(model->name, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
}

/* Whether another checkpoint has the name already. */
static bool name_taken(const rs_experiment *experiment, size_t index) {
  for (size_t i = 0; i < experiment->model_count; i++)
    if (i != index && strcmp(experiment->models[i].name, experiment->models[index].name) == 0) return true;
  return false;
}

/* The name with every given parameter that it does not hold yet, where there is room for it. */
static void lengthen(rs_problems *problems, const rs_checkpoint *checkpoint, rs_model *model) {
  rs_text label = {0};
  rs_text_puts(&label, model->name);
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS; part++)
    for (size_t p = 0; p < checkpoint->settings[part].count; p++) {
      const rs_settings *settings = &checkpoint->settings[part];
      char word[80];
      snprintf(word, sizeof word, " %s%s=", rs_part_prefixes[part], settings->params[p]->name);
      if (!settings->values[p].given || strstr(model->name, word) != NULL) continue;
      rs_text_puts(&label, word);
      rs_value_write(settings->params[p], &settings->values[p], &label);
    }
  if (label.failed)
    rs_problem_memory(problems);
  else if (label.length < sizeof model->name)
    memcpy(model->name, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
}

void rs_settle_checkpoints(rs_config_context *config, const rs_node *node) {
  rs_experiment *experiment = config->experiment;
  bool *taken = rs_alloc(experiment->model_count, sizeof *taken, NULL);
  if (taken == NULL) {
    rs_problem_memory(config->problems);
    return;
  }
  for (size_t i = 0; i < experiment->model_count; i++) taken[i] = name_taken(experiment, i);
  for (size_t i = 0; i < experiment->model_count; i++)
    if (taken[i]) lengthen(config->problems, &experiment->checkpoints[i], &experiment->models[i]);
  free(taken);
  for (size_t i = 0; i < experiment->model_count; i++)
    if (name_taken(experiment, i)) {
      rs_problem(config->problems, node, "has \"%s\" twice (give one a name: ...)", experiment->models[i].name);
      return;
    }
}
