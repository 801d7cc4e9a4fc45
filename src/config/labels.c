/* Labels: what tells the entries of a list apart in the CSV files and pictures. */
#include "checkpoints.h"
#include "config_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of checkpoints --------------------------------------------------------------------------------------- */

const char *const rs_part_prefixes[RS_CHECKPOINT_PARTS] = {"", "train.", "tune."};

/* Methods of a checkpoint are no parameters of its specs. */
static const rs_param method_param = {.name = "method", .unit = "", .summary = "what the checkpoint is trained with"},
                      tuned_param = {.name = "tune.method", .unit = "", .summary = "what the checkpoint is tuned with"};

/* Where the value of a name stands in a checkpoint. */
typedef struct checkpoint_value {
  const rs_param *param; /* NULL: it has no such parameter */
  const rs_value *value; /* NULL: `recipe` is the value */
  const rs_recipe *recipe;
} checkpoint_value;

static checkpoint_value find_setting(const rs_settings *settings, const char *name) {
  int index = rs_settings_find(settings, name);
  if (index < 0) return (checkpoint_value){0};
  return (checkpoint_value){settings->params[index], &settings->values[index], NULL};
}

static checkpoint_value find_value(const rs_checkpoint *checkpoint, const char *name) {
  checkpoint_value found = {0};
  if (strcmp(name, method_param.name) == 0) return (checkpoint_value){&method_param, NULL, checkpoint->recipes};
  if (strcmp(name, tuned_param.name) == 0) return (checkpoint_value){&tuned_param, NULL, checkpoint->tuned_recipes};
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS && found.param == NULL; part++)
    if (strncmp(name, rs_part_prefixes[part], strlen(rs_part_prefixes[part])) == 0)
      found = find_setting(&checkpoint->settings[part], name + strlen(rs_part_prefixes[part]));
  return found;
}

/* "yarn factor=4": the method, and what was given. */
static void put_recipe(const rs_recipe *recipe, rs_text *text) {
  rs_text_puts(text, recipe->method->name);
  for (size_t p = 0; p < recipe->settings.count; p++)
    if (recipe->settings.values[p].given) rs_label_param(text, &recipe->settings, (int)p, false);
}

void rs_checkpoint_value(const rs_checkpoint *checkpoint, const char *name, rs_text *text) {
  checkpoint_value found = find_value(checkpoint, name);
  if (found.value != NULL && found.value->set) rs_value_write(found.param, found.value, text);
  if (found.recipe != NULL) put_recipe(found.recipe, text);
}

const rs_param *rs_checkpoint_param(const rs_checkpoint *checkpoint, const char *name) {
  return find_value(checkpoint, name).param;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

enum { LIST_SHOWN = 8 }; /* numbers of a list that a label spells out */

static bool is_short(const rs_value *value) {
  return value->file == NULL && value->count <= LIST_SHOWN;
}

/* "[1, 1.02, ..., 64.3; 48 numbers]". */
static void put_ends(rs_text *label, const rs_value *value) {
  rs_text_puts(label, "[");
  for (size_t i = 0; i < LIST_SHOWN / 4; i++) {
    rs_text_number(label, value->list[i]);
    rs_text_puts(label, ", ");
  }
  rs_text_puts(label, "..., ");
  rs_text_number(label, value->list[value->count - 1]);
  rs_text_printf(label, "; %zu numbers]", value->count);
}

void rs_label_param(rs_text *label, const rs_settings *settings, int param, bool whole) {
  const rs_value *value = &settings->values[param];
  const char *slash = value->file != NULL ? strrchr(value->file, '/') : NULL;
  bool ends = value->count > LIST_SHOWN && (value->file != NULL || !whole);
  rs_text_printf(label, " %s=", settings->params[param]->name);
  if (value->file != NULL && !whole)
    rs_text_puts(label, slash != NULL ? slash + 1 : value->file);
  else if (ends)
    put_ends(label, value);
  else
    rs_value_write(settings->params[param], value, label);
}

static bool same_label(const rs_variants *variants, size_t index) {
  for (size_t i = 0; i < variants->count; i++)
    if (i != index && strcmp(variants->items[i].label, variants->items[index].label) == 0) return true;
  return false;
}

/* The label and every given parameter that it does not name yet, or only in short. A label that was written gets no
 * parameter that the entry does not sweep. */
static char *longer_label(const rs_variant *variant) {
  rs_text label = {0};
  rs_text_puts(&label, variant->label);
  for (size_t p = 0; p < variant->settings.count; p++) {
    char word[80];
    snprintf(word, sizeof word, " %s=", variant->settings.params[p]->name);
    const rs_value *value = &variant->settings.values[p];
    bool named = strstr(variant->label, word) != NULL;
    if (value->given && (named ? !is_short(value) : !variant->labelled))
      rs_label_param(&label, &variant->settings, (int)p, true);
  }
  char *copy = label.failed ? NULL : rs_strdup(rs_text_string(&label), NULL);
  rs_text_clear(&label);
  return copy;
}

static void lengthen_labels(rs_problems *problems, rs_variants *variants) {
  char **labels = rs_alloc(variants->count, sizeof *labels, NULL);
  for (size_t i = 0; i < variants->count && labels != NULL; i++) {
    if (!same_label(variants, i)) continue;
    labels[i] = longer_label(&variants->items[i]);
    if (labels[i] == NULL) rs_problem_memory(problems);
  }
  for (size_t i = 0; i < variants->count && labels != NULL; i++) {
    if (labels[i] == NULL) continue;
    free(variants->items[i].label);
    variants->items[i].label = labels[i];
  }
  if (labels == NULL) rs_problem_memory(problems);
  free(labels);
}

/* ---- labels that occur twice ------------------------------------------------------------------------------------- */

const rs_node *rs_entry_at(const rs_node *node, size_t index) {
  return node->kind == RS_SEQUENCE ? &node->items[index] : node;
}

/* What the label of a variant is read from: the entry's `label`, else the entry. */
static const rs_node *label_at(const rs_node *list, const rs_variant *variant) {
  const rs_node *entry = rs_entry_at(list, variant->entry);
  return variant->labelled ? rs_node_get(entry, "label") : entry;
}

static void report_twice(rs_problems *problems, const rs_node *list, const rs_variant *first,
                         const rs_variant *second) {
  const rs_node *nodes[] = {label_at(list, first), label_at(list, second)};
  char line[64] = "";
  if (first->entry == second->entry) {
    rs_problem(problems, nodes[1], "two of its combinations have the label \"%s\" (take one of them away)",
               second->label);
    return;
  }
  if (nodes[0]->line > 0) snprintf(line, sizeof line, ":%zu:%zu", nodes[0]->line, nodes[0]->column);
  rs_problem(problems, nodes[1], "has the label \"%s\", as %s at %s%s (give one of them another label: ...)",
             second->label, rs_node_path(nodes[0]).text, nodes[0]->file, line);
}

/* The first variant that has the label of number `index` before it; NULL: none. */
static const rs_variant *find_first(const rs_variants *variants, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (strcmp(variants->items[i].label, variants->items[index].label) == 0) return &variants->items[i];
  return NULL;
}

void rs_settle_labels(rs_problems *problems, const rs_node *node, rs_variants *variants) {
  const rs_variant *told = NULL; /* the last that was reported: an entry is reported once */
  if (problems->count > 0) return;
  lengthen_labels(problems, variants);
  for (size_t i = 1; i < variants->count; i++) {
    const rs_variant *variant = &variants->items[i], *first = find_first(variants, i);
    if (first == NULL || (told != NULL && told->entry == variant->entry)) continue;
    report_twice(problems, node, first, variant);
    told = variant;
  }
}
