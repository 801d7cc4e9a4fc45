/* The axes of a checkpoint's entry: each list in place of a value, wherever it stands, and each list of methods. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"

bool rs_entry_failed(const rs_entry *e) {
  return e->config->problems->count > e->problems_before;
}

/* Takes over the methods; NULL: the node's items are the values. */
static void add_axis(rs_entry *e, const rs_node *node, const char *prefix, rs_variants *methods) {
  size_t axis = e->choices.count;
  bool grown = RS_GROW(e->axes, &e->axis_room, axis + 1, NULL) == RS_OK;
  if (!grown || !rs_choices_add(&e->choices, methods != NULL ? methods->count : node->count)) {
    rs_problem_memory(e->config->problems);
    if (methods != NULL) rs_variants_clear(methods);
    return;
  }
  e->axes[axis] = (rs_entry_axis){.node = node, .methods = methods != NULL ? *methods : (rs_variants){0}};
  snprintf(e->axes[axis].name, sizeof e->axes[axis].name, "%.20s%.40s", prefix, node->key);
}

static void add_methods(rs_entry *e, const rs_node *node, const char *prefix) {
  rs_variants methods = {0};
  rs_read_recipes(e->config->problems, node, &methods);
  add_axis(e, node, prefix, &methods);
}

/* Keys that are no parameters, and so never axes. */
static bool stands_alone(const char *key) {
  static const char *const keys[] = {"name", "folder", "zip", "train", "tune", "layers"};
  for (size_t i = 0; i < RS_COUNT(keys); i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

/* The lists among the values of a mapping. `prefix` stands before their names: "train.". */
static void add_axes(rs_entry *e, const rs_node *mapping, const char *prefix) {
  for (size_t i = 0; mapping->kind == RS_MAPPING && i < mapping->count; i++) {
    const rs_node *child = &mapping->items[i];
    if (stands_alone(child->key)) continue;
    if (strcmp(child->key, "method") == 0)
      add_methods(e, child, prefix);
    else if (child->kind == RS_SEQUENCE && child->count == 0)
      rs_problem(e->config->problems, child, "is an empty list");
    else if (child->kind == RS_SEQUENCE)
      add_axis(e, child, prefix, NULL);
  }
}

void rs_entry_find_axes(rs_entry *e) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  const char *const inner[] = {"train", "tune"};
  add_axes(e, e->node, "");
  for (size_t i = 0; i < RS_COUNT(inner); i++) {
    const rs_node *node = rs_node_get(e->node, inner[i]);
    char prefix[8];
    snprintf(prefix, sizeof prefix, "%s.", inner[i]);
    if (node != NULL) add_axes(e, node, prefix);
  }
  for (size_t i = 0; layers != NULL && layers->kind == RS_SEQUENCE && i < layers->count; i++) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "layers[%zu].", i);
    add_axes(e, &layers->items[i], prefix);
  }
}

void rs_entry_clear(rs_entry *e) {
  for (size_t a = 0; a < e->choices.count; a++) rs_variants_clear(&e->axes[a].methods);
  free(e->axes);
  rs_choices_clear(&e->choices);
}

static const rs_entry_axis *axis_of(const rs_entry *e, const rs_node *node) {
  for (size_t a = 0; a < e->choices.count; a++)
    if (e->axes[a].node == node) return &e->axes[a];
  return NULL;
}

const rs_node *rs_entry_value(const void *entry, const rs_node *child) {
  const rs_entry *e = entry;
  const rs_entry_axis *list = axis_of(e, child);
  if (list == NULL || list->methods.count > 0) return child;
  return &child->items[rs_choices_pick(&e->choices, (size_t)(list - e->axes), e->combination)];
}

const rs_variant *rs_entry_method(const rs_entry *e, const rs_node *mapping) {
  const rs_node *node = mapping != NULL ? rs_node_get(mapping, "method") : NULL;
  const rs_entry_axis *list = node != NULL ? axis_of(e, node) : NULL;
  return list != NULL && list->methods.count > 0
             ? &list->methods.items[rs_choices_pick(&e->choices, (size_t)(list - e->axes), e->combination)]
             : NULL;
}

void rs_entry_report(const rs_entry *e, const rs_err *why) {
  const rs_node *node = *why->subject != '\0' ? rs_node_get(e->node, why->subject) : NULL;
  if (why->status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else
    rs_problem(e->config->problems, node != NULL ? rs_entry_value(e, node) : e->node, "%s%s%s",
               node == NULL ? why->subject : "", node == NULL && *why->subject != '\0' ? ": " : "", why->message);
}
