/* Methods, sources, metrics and tasks: entries with parameters, where a list in place of a value is one more axis. */
#include "config_internal.h"
#include "records.h"

#include <stdlib.h>
#include <string.h>

/* ---- choices ----------------------------------------------------------------------------------------------------- */

bool rs_choices_add(rs_choices *choices, size_t values) {
  if (RS_GROW(choices->counts, &choices->room, choices->count + 1, NULL) != RS_OK) return false;
  choices->counts[choices->count++] = values;
  return true;
}

void rs_choices_clear(rs_choices *choices) {
  free(choices->counts);
  *choices = (rs_choices){0};
}

void rs_choices_zip(rs_problems *problems, const rs_node *entry, rs_choices *choices) {
  static const rs_param param = {.name = "zip", .type = RS_BOOL};
  const rs_node *node = rs_node_get(entry, "zip");
  rs_value value;
  size_t common = 0;
  if (node == NULL || !rs_read_value(problems, node, &param, &value)) return;
  choices->zipped = value.number == 1;
  for (size_t i = 0; i < choices->count && choices->zipped; i++) {
    if (choices->counts[i] == 1) continue;
    if (common > 0 && choices->counts[i] != common)
      rs_problem(problems, node, "its lists have %zu and %zu values; zipped lists advance together", common,
                 choices->counts[i]);
    common = choices->counts[i];
  }
}

size_t rs_choices_combinations(const rs_choices *choices, size_t most) {
  size_t product = 1, longest = 1;
  for (size_t i = 0; i < choices->count; i++) {
    product = choices->counts[i] > 0 && product <= most ? product * choices->counts[i] : product;
    if (choices->counts[i] > longest) longest = choices->counts[i];
  }
  return choices->zipped ? longest : product;
}

size_t rs_choices_pick(const rs_choices *choices, size_t list, size_t combination) {
  if (choices->zipped) return choices->counts[list] > 1 ? combination : 0;
  for (size_t later = choices->count; later > list + 1; later--) combination /= choices->counts[later - 1];
  return combination % choices->counts[list];
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static rs_status init_kind(rs_variant *variant, const rs_kind *kind, rs_err *err) {
  return rs_settings_init_specs(&variant->settings, kind->params, kind->param_count, err);
}

static bool init_method(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  rs_recipe recipe;
  variant->method = rs_method_find_in(beside, name);
  if (variant->method == NULL) return false;
  if (rs_recipe_init(&recipe, variant->method, err) == RS_OK) variant->settings = recipe.settings;
  return true;
}

static const char *method_name(size_t index) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  return index < count ? methods[index].name : NULL;
}

static bool init_source(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->source = rs_source_find(name);
  if (variant->source != NULL) (void)init_kind(variant, &variant->source->kind, err);
  return variant->source != NULL;
}

static const char *source_name(size_t index) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

static bool init_metric(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->metric = rs_metric_find(name);
  if (variant->metric != NULL) (void)init_kind(variant, &variant->metric->kind, err);
  return variant->metric != NULL;
}

static const char *metric_name(size_t index) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

static bool init_task(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->task = rs_task_find(name);
  if (variant->task != NULL) (void)init_kind(variant, &variant->task->kind, err);
  return variant->task != NULL;
}

static const char *task_name(size_t index) {
  size_t count;
  const rs_task_kind *const *kinds = rs_task_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

const rs_item_type rs_method_items = {"methods", "method", init_method, method_name};
const rs_item_type rs_source_items = {"sources", "source", init_source, source_name};
const rs_item_type rs_metric_items = {"metrics", "metric", init_metric, metric_name};
const rs_item_type rs_task_items = {"tasks", "task", init_task, task_name};

enum { MOST_VARIANTS = 10000 };

/* ---- variants ---------------------------------------------------------------------------------------------------- */

/* ---- parameters: values and axes --------------------------------------------------------------------------------- */

/* The values one parameter takes within an entry. */
typedef struct choices {
  int param;
  rs_value *values;
  size_t count;
} choices;

/* The entry being read. */
typedef struct item {
  rs_config_context *config;
  const rs_item_type *type;
  const rs_node *node; /* mapping or word */
  rs_variant base;
  choices *axes;          /* parameters that were given, in the order they were written */
  rs_choices choices;     /* of each axis */
  size_t problems_before; /* count when the entry was begun */
} item;

static void item_clear(item *entry) {
  for (size_t a = 0; a < entry->choices.count; a++) {
    for (size_t i = 0; i < entry->axes[a].count; i++) rs_value_clear(&entry->axes[a].values[i]);
    free(entry->axes[a].values);
  }
  free(entry->axes);
  rs_choices_clear(&entry->choices);
  rs_variant_clear(&entry->base);
}

/* One value of a parameter; a recipe is an entry, as `methods` takes one, or one of the parameter's words. */
static bool read_one(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
  bool word = node->kind == RS_SCALAR && rs_param_word(param, node->text) >= 0;
  rs_recipe recipe = {0};
  rs_err why = {0};
  if (param->type != RS_RECIPE || word) return rs_read_param(problems, node, param, value);
  if (!rs_read_recipe(problems, node, &recipe)) return false;
  if (rs_value_recipe(recipe.method->name, &recipe.settings, value, &why) != RS_OK)
    rs_problem_err(problems, node, &why);
  rs_recipe_clear(&recipe);
  value->given = why.status == RS_OK;
  return value->given;
}

/* Whether the node lists several values of the parameter rather than being one. */
static bool is_axis(const rs_node *node, const rs_param *param) {
  if (node->kind != RS_SEQUENCE) return false;
  if (param->type != RS_REALS) return true;
  if (node->count == 0 || param->tuple > 0) return false;
  return node->items[0].kind == RS_SEQUENCE || rs_names_file(&node->items[0], param);
}

static void read_param(item *entry, const rs_node *node, int index) {
  const rs_param *param = entry->base.settings.params[index];
  choices *axis = &entry->axes[entry->choices.count];
  bool several = is_axis(node, param);
  size_t count = several ? node->count : 1;
  if (count == 0) rs_problem(entry->config->problems, node, "is an empty list");
  axis->values = rs_alloc(count, sizeof *axis->values, NULL);
  if (axis->values == NULL || !rs_choices_add(&entry->choices, count)) {
    free(axis->values);
    rs_problem_memory(entry->config->problems);
    return;
  }
  axis->param = index;
  for (axis->count = 0; axis->count < count; axis->count++) {
    (void)read_one(entry->config->problems, several ? &node->items[axis->count] : node, param,
                   &axis->values[axis->count]);
  }
  if (several && count > 1 && rs_experiment_add_swept(entry->config->experiment, param->name, NULL) != RS_OK)
    rs_problem_memory(entry->config->problems);
}

static void read_params(item *entry) {
  entry->axes = rs_alloc(entry->node->count, sizeof *entry->axes, NULL);
  if (entry->axes == NULL) {
    rs_problem_memory(entry->config->problems);
    return;
  }
  static const char *const others[] = {"name", "label", "zip", NULL};
  rs_refuse_keys(entry->config->problems, entry->node, rs_variant_name(&entry->base), others, &entry->base.settings);
  for (size_t i = 0; i < entry->node->count; i++) {
    int index = rs_settings_find(&entry->base.settings, entry->node->items[i].key);
    if (index >= 0) read_param(entry, &entry->node->items[i], index);
  }
}

/* ---- expansion: one variant for each combination ----------------------------------------------------------------- */

/* "yarn beta_fast=16": the given label or the name, and what is swept. */
static char *make_label(const item *entry, const char *name, const rs_variant *variant) {
  rs_text label = {0};
  rs_text_puts(&label, name);
  for (size_t a = 0; a < entry->choices.count; a++)
    if (entry->axes[a].count > 1) rs_label_param(&label, &variant->settings, entry->axes[a].param, false);
  char *copy = label.failed ? NULL : rs_strdup(rs_text_string(&label), NULL);
  rs_text_clear(&label);
  return copy;
}

static bool fill_variant(const item *entry, const char *name, size_t index, rs_variant *variant) {
  *variant = entry->base;
  variant->label = NULL;
  if (rs_settings_copy(&variant->settings, &entry->base.settings, NULL) != RS_OK) return false;
  for (size_t a = 0; a < entry->choices.count; a++) {
    rs_value *value = &variant->settings.values[entry->axes[a].param];
    rs_value_clear(value);
    if (rs_value_copy(value, &entry->axes[a].values[rs_choices_pick(&entry->choices, a, index)], NULL) != RS_OK)
      return false;
  }
  variant->label = make_label(entry, name, variant);
  variant->labelled = rs_node_get(entry->node, "label") != NULL;
  return variant->label != NULL;
}

/* Of a parameter with several values, that which the combination has. */
static const rs_node *chosen_value(const item *entry, size_t combination, const rs_node *node) {
  for (size_t a = 0; a < entry->choices.count; a++) {
    const char *name = entry->base.settings.params[entry->axes[a].param]->name;
    if (entry->axes[a].count < 2 || strcmp(name, node->key) != 0 || node->count != entry->axes[a].count) continue;
    return &node->items[rs_choices_pick(&entry->choices, a, combination)];
  }
  return node;
}

/* The node to point at for a parameter: its own where the entry has it, else the entry. */
static void settings_problem(const item *entry, size_t combination, const rs_err *why) {
  const rs_node *node = rs_node_get(entry->node, why->subject);
  if (node != NULL) node = chosen_value(entry, combination, node);
  if (node == NULL && *why->subject != '\0')
    rs_problem(entry->config->problems, entry->node, "%s: %s", why->subject, why->message);
  else
    rs_problem_err(entry->config->problems, node != NULL ? node : entry->node, why);
}

/* Whether the config zips models with `key` (methods, sources), so that number i of these meets model i only. */
static bool zips_models(const rs_config_context *config, const char *key) {
  const rs_node *zip = rs_node_get(config->root, "zip");
  bool models = false, others = false;
  for (size_t i = 0; zip != NULL && i < zip->count; i++) {
    const char *axis = zip->items[i].kind == RS_SCALAR ? zip->items[i].text : "";
    models |= strcmp(axis, "model") == 0 || strcmp(axis, "checkpoint") == 0;
    others |= strcmp(axis, key) == 0;
  }
  return models && others;
}

/* The struct of the parameters of a source, metric or task, and contradictions among them. */
static rs_status bind_variant(rs_variant *variant, rs_err *err) {
  const rs_kind *kind = variant->source   ? &variant->source->kind
                        : variant->metric ? &variant->metric->kind
                                          : &variant->task->kind;
  rs_status (*check)(const rs_binding *, rs_err *) = variant->source   ? variant->source->check
                                                     : variant->metric ? variant->metric->check
                                                                       : variant->task->check;
  rs_binding binding;
  RS_TRY(rs_binding_make(&variant->settings, kind->params, kind->param_count, kind->params_size, &binding, err));
  variant->params = binding.fields;
  return check != NULL ? check(&binding, err) : RS_OK;
}

/* Whether it is a method that each checkpoint or model has of its own. */
static bool is_own(const item *entry) {
  return entry->type == &rs_method_items && entry->base.method == NULL;
}

static rs_status check_method(const rs_variant *variant, const rs_model *model, const rs_token_layout *tokens,
                              rs_err *err) {
  rs_recipe recipe = {0};
  RS_TRY(rs_variant_recipe(variant, model, &recipe, err));
  rs_status status = rs_recipe_check(&recipe, model, err);
  if (status == RS_OK) status = rs_recipe_fit(&recipe, model, tokens, err);
  rs_recipe_clear(&recipe);
  return status;
}

static rs_status fit_source(const rs_experiment *experiment, size_t source, size_t model, rs_err *err) {
  const rs_variant *variant = &experiment->sources.items[source];
  const rs_kind *kind = &variant->source->kind;
  const rs_binding binding = {&variant->settings, kind->params, kind->param_count, variant->params};
  rs_recipe rotated = {0};
  if (variant->source->fit == NULL) return RS_OK;
  RS_TRY(rs_experiment_rotated(experiment, model, source, &rotated, err));
  const rs_recipe *turned = rotated.method != NULL ? &rotated : NULL;
  rs_status status = variant->source->fit(&binding, &experiment->models[model], turned, err);
  rs_recipe_clear(&rotated);
  return status;
}

/* Contradictions among parameters, for each model. Returns false when one was reported. */
static bool check_variant(const item *entry, size_t combination, rs_variant *variant) {
  const rs_experiment *experiment = entry->config->experiment;
  size_t latest = (variant->source != NULL ? experiment->sources : experiment->methods).count - 1;
  bool zipped = zips_models(entry->config, entry->type->key);
  rs_err why = {0};
  if (variant->method == NULL && !is_own(entry)) (void)bind_variant(variant, &why);
  for (size_t m = 0; m < experiment->model_count && why.status == RS_OK; m++) {
    if (zipped && m != latest) continue;
    if (variant->source != NULL && entry->config->check_source != NULL)
      (void)entry->config->check_source(entry->config, variant, m, &why);
    if (variant->method != NULL || variant->published)
      (void)check_method(variant, &experiment->models[m], &experiment->tokens, &why);
    if (variant->source != NULL && why.status == RS_OK) (void)fit_source(experiment, latest, m, &why);
  }
  if (why.status != RS_OK) settings_problem(entry, combination, &why);
  return why.status == RS_OK;
}

static void expand(item *entry, rs_variants *variants) {
  const rs_node *label = rs_node_get(entry->node, "label"), *name_node = rs_node_get(entry->node, "name");
  const char *name = label != NULL ? rs_read_word(entry->config->problems, label)
                                   : (name_node != NULL ? name_node : entry->node)->text;
  size_t count = rs_choices_combinations(&entry->choices, MOST_VARIANTS);
  if (variants->count + count > MOST_VARIANTS)
    rs_problem(entry->config->problems, entry->node, "makes more than %d combinations", MOST_VARIANTS);
  if (entry->config->problems->count > entry->problems_before) return;
  const rs_problem_mark since = rs_problems_mark(entry->config->problems);
  for (size_t i = 0; i < count; i++) {
    const rs_problem_mark here = rs_problems_mark(entry->config->problems);
    bool room = RS_GROW(variants->items, &variants->capacity, variants->count + 1, NULL) == RS_OK;
    rs_variant *variant = &variants->items[room ? variants->count++ : 0];
    if (!room || !fill_variant(entry, name, i, variant)) {
      rs_problem_memory(entry->config->problems);
      return;
    }
    if (!check_variant(entry, i, variant)) rs_problems_once(entry->config->problems, since, here);
  }
}

/* ---- reading a list of entries ----------------------------------------------------------------------------------- */

static void unknown_name(const item *entry, const rs_node *node, const char *name) {
  rs_nearest nearest = {.word = name};
  const char *other;
  if (entry->type == &rs_method_items) rs_methods_near(&nearest);
  for (size_t i = 0; (other = entry->type->name(i)) != NULL; i++) rs_nearest_add(&nearest, other);
  const char *near = rs_nearest_found(&nearest);
  const char *alias = strcmp(entry->type->what, "method") == 0 ? rs_hf_method(name) : NULL;
  if (alias != NULL)
    rs_problem(entry->config->problems, node, "is no method (Hugging Face's %s is %s here)", name, alias);
  else if (near != NULL)
    rs_problem(entry->config->problems, node, "is no %s (did you mean %s?)", entry->type->what, near);
  else
    rs_problem(entry->config->problems, node, "is no %s (ropescope list %s shows them)", entry->type->what,
               entry->type->key);
}

/* Makes the entry's kind from its name; false, and reported, where there is none such. */
static bool init_item(item *entry, const rs_node *name) {
  rs_problems *problems = entry->config->problems;
  rs_err err = {0};
  if (entry->type == &rs_method_items && strcmp(name->text, RS_PUBLISHED) == 0) {
    entry->base.published = !rs_reads_checkpoint(entry->config);
    if (!entry->base.published)
      rs_problem(problems, name, "is what a model publishes; a checkpoint's own method is " RS_TRAINED);
    return entry->base.published;
  }
  if (entry->type == &rs_method_items && strcmp(name->text, RS_TRAINED) == 0) {
    if (rs_reads_checkpoint(entry->config)) return true;
    rs_problem(problems, name, "is a checkpoint's own method: it stands under methods, beside checkpoint: {...}");
    return false;
  }
  if (!entry->type->init(entry->config->experiment->beside, name->text, &entry->base, &err)) {
    unknown_name(entry, name, name->text);
    return false;
  }
  if (err.status != RS_OK) rs_problem_err(problems, entry->node, &err);
  return true;
}

/* Reads entry `index` of its list. */
static void read_item(rs_config_context *config, const rs_item_type *type, const rs_node *node, size_t index,
                      rs_variants *variants) {
  item entry = {.config = config,
                .type = type,
                .node = node,
                .base = {.entry = index},
                .problems_before = config->problems->count};
  const rs_node *name = node->kind == RS_MAPPING ? rs_node_get(node, "name") : node;
  const rs_node *slip = name == NULL ? rs_mistyped(node, "name") : NULL;
  if (slip != NULL) {
    static const char *const known[] = {"name"};
    rs_problem_unknown_key(config->problems, slip, "an entry", known, RS_COUNT(known));
    return;
  }
  if (name == NULL || name->kind != RS_SCALAR) {
    rs_problem(config->problems, node, "must be a name, or {name: ..., parameters}");
    return;
  }
  if (!init_item(&entry, name)) return;
  if (node->kind == RS_MAPPING) read_params(&entry);
  if (node->kind == RS_MAPPING) rs_choices_zip(config->problems, node, &entry.choices);
  expand(&entry, variants);
  item_clear(&entry);
}

void rs_read_items(rs_config_context *config, const rs_item_type *type, const rs_node *node, rs_variants *variants) {
  if (node->kind == RS_SEQUENCE && node->count == 0) rs_problem(config->problems, node, "is an empty list");
  for (size_t i = 0; i < (node->kind == RS_SEQUENCE ? node->count : 1); i++) {
    const rs_node *entry = rs_entry_at(node, i);
    read_item(config, type, entry, i, variants);
  }
  rs_settle_labels(config->problems, node, variants);
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

void rs_read_recipes(rs_problems *problems, const rs_node *node, rs_variants *variants) {
  rs_experiment scratch = {0};
  rs_config_context config = {.experiment = &scratch, .problems = problems, .root = node};
  rs_read_items(&config, &rs_method_items, node, variants);
  rs_experiment_clear(&scratch);
}

bool rs_read_recipe(rs_problems *problems, const rs_node *node, rs_recipe *recipe) {
  rs_variants variants = {0};
  size_t before = problems->count;
  rs_read_recipes(problems, node, &variants);
  bool good = problems->count == before && variants.count == 1;
  if (good) {
    *recipe = (rs_recipe){variants.items[0].method, variants.items[0].settings};
    variants.items[0].settings = (rs_settings){0};
  } else if (problems->count == before) {
    rs_problem(problems, node, "must be one method, without lists of values");
  }
  rs_variants_clear(&variants);
  return good;
}
