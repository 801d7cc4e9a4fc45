/* Experiments: what a config became, and its cells. */
#include "checkpoints.h"

#include <stdlib.h>
#include <string.h>

void rs_variant_clear(rs_variant *variant) {
  free(variant->label);
  rs_settings_clear(&variant->settings);
  free(variant->params);
}

void rs_variants_clear(rs_variants *variants) {
  for (size_t i = 0; i < variants->count; i++) rs_variant_clear(&variants->items[i]);
  free(variants->items);
}

static void recipes_clear(rs_recipe *recipes, size_t count) {
  for (size_t r = 0; r < count && recipes != NULL; r++) rs_recipe_clear(&recipes[r]);
  free(recipes);
}

void rs_checkpoint_clear(rs_checkpoint *checkpoint) {
  recipes_clear(checkpoint->recipes, checkpoint->recipe_count);
  recipes_clear(checkpoint->tuned_recipes, checkpoint->recipe_count);
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS; part++) rs_settings_clear(&checkpoint->settings[part]);
  rs_shape_clear(&checkpoint->shape);
  free(checkpoint->folder);
  free(checkpoint->doubt);
}

void rs_experiment_clear(rs_experiment *experiment) {
  for (size_t i = 0; i < experiment->model_count; i++) {
    rs_model_clear(&experiment->models[i]);
    if (experiment->checkpoints != NULL) rs_checkpoint_clear(&experiment->checkpoints[i]);
    if (experiment->layers == NULL) continue;
    free(experiment->layers[i].kind);
    free(experiment->layers[i].remark);
  }
  rs_variant_clear(&experiment->task);
  rs_variants_clear(&experiment->methods);
  rs_variants_clear(&experiment->sources);
  rs_variants_clear(&experiment->metrics);
  for (size_t i = 0; i < experiment->swept_count; i++) free(experiment->swept[i]);
  rs_token_layout_clear(&experiment->tokens);
  free(experiment->name);
  free(experiment->description);
  free(experiment->own_targets);
  free(experiment->models);
  free(experiment->layers);
  free(experiment->checkpoints);
  free(experiment->lengths);
  free(experiment->seeds);
  free(experiment->heads.listed);
  free(experiment->swept);
  *experiment = (rs_experiment){0};
}

void rs_experiment_free(rs_experiment *experiment) {
  if (experiment == NULL) return;
  rs_experiment_clear(experiment);
  free(experiment);
}

rs_status rs_experiment_add_swept(rs_experiment *experiment, const char *name, rs_err *err) {
  for (size_t i = 0; i < experiment->swept_count; i++)
    if (strcmp(experiment->swept[i], name) == 0) return RS_OK;
  size_t capacity = experiment->swept_count;
  RS_TRY(RS_GROW(experiment->swept, &capacity, experiment->swept_count + 1, err));
  experiment->swept[experiment->swept_count] = rs_strdup(name, err);
  if (experiment->swept[experiment->swept_count] == NULL) return RS_MEMORY;
  experiment->swept_count++;
  return RS_OK;
}

const char *rs_variant_name(const rs_variant *variant) {
  return variant->method      ? variant->method->name
         : variant->source    ? variant->source->kind.name
         : variant->metric    ? variant->metric->kind.name
         : variant->task      ? variant->task->kind.name
         : variant->added     ? rs_baseline_words[variant->baseline]
         : variant->published ? RS_PUBLISHED
                              : RS_TRAINED;
}

/* What a checkpoint was trained with last; a baseline reads it as it was before it was tuned. */
static const rs_recipe *trained_recipe(const rs_checkpoint *checkpoint, const rs_variant *method) {
  bool tuned = checkpoint->tuned_recipes != NULL && !method->added;
  return tuned ? &checkpoint->tuned_recipes[0] : &checkpoint->recipes[0];
}

rs_status rs_variant_recipe(const rs_variant *variant, const rs_model *model, rs_recipe *recipe, rs_err *err) {
  const rs_recipe from = variant->published ? model->published : (rs_recipe){variant->method, variant->settings};
  if (from.method == NULL) return rs_fail(err, RS_INPUT, "%s publishes no recipe (write a method)", model->name);
  RS_TRY(rs_recipe_copy(recipe, &from, err));
  rs_status status = rs_recipe_resolve(recipe, model, err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

const rs_method *rs_experiment_method(const rs_experiment *experiment, size_t model, size_t method) {
  const rs_variant *variant = &experiment->methods.items[method];
  if (variant->published) return experiment->models[model].published.method;
  return variant->method != NULL ? variant->method : trained_recipe(&experiment->checkpoints[model], variant)->method;
}

rs_status rs_experiment_recipe(const rs_experiment *experiment, size_t model, size_t method, rs_recipe *recipe,
                               rs_err *err) {
  const rs_variant *variant = &experiment->methods.items[method];
  if (!variant->published && variant->method == NULL)
    return rs_recipe_copy(recipe, trained_recipe(&experiment->checkpoints[model], variant), err);
  return rs_variant_recipe(variant, &experiment->models[model], recipe, err);
}

/* The name that a path has below `checkpoint`, or NULL. */
static const char *checkpoint_name(const char *path) {
  size_t length = strlen(RS_CHECKPOINT_PATH);
  return strncmp(path, RS_CHECKPOINT_PATH, length) == 0 ? path + length : NULL;
}

void rs_experiment_checkpoint_value(const rs_experiment *experiment, size_t model, const char *path, rs_text *text) {
  const char *name = checkpoint_name(path);
  if (experiment->checkpoints != NULL && name != NULL) rs_checkpoint_value(&experiment->checkpoints[model], name, text);
}

const rs_param *rs_experiment_param(const rs_experiment *experiment, const char *name) {
  const rs_variants *lists[] = {&experiment->methods, &experiment->sources};
  for (size_t l = 0; l < RS_COUNT(lists); l++)
    for (size_t i = 0; i < lists[l]->count; i++) {
      int index = rs_settings_find(&lists[l]->items[i].settings, name);
      if (index >= 0) return lists[l]->items[i].settings.params[index];
    }
  const char *inner = checkpoint_name(name);
  const rs_param *found = NULL;
  for (size_t i = 0; i < experiment->model_count && experiment->checkpoints != NULL && inner != NULL; i++)
    if (found == NULL) found = rs_checkpoint_param(&experiment->checkpoints[i], inner);
  return found;
}

const rs_recipe *rs_trained_recipe(const rs_experiment *experiment, size_t model, size_t method) {
  if (experiment->checkpoints == NULL) return NULL;
  return trained_recipe(&experiment->checkpoints[model], &experiment->methods.items[method]);
}

size_t rs_experiment_baseline(const rs_experiment *experiment, rs_baseline baseline) {
  for (size_t i = 0; i < experiment->methods.count; i++)
    if (experiment->methods.items[i].stands && experiment->methods.items[i].baseline == baseline) return i;
  return RS_NO_COUNT;
}

size_t rs_experiment_baseline_length(const rs_experiment *experiment, const rs_cell *cell, rs_baseline baseline) {
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  if (baseline != RS_BASELINE_WINDOW) return length;
  size_t trained = experiment->checkpoints[cell->axis[RS_BY_MODEL]].trained_tokens;
  return length < trained ? length : trained;
}

size_t rs_experiment_read_length(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_variant *method = &experiment->methods.items[cell->axis[RS_BY_METHOD]];
  if (method->added) return rs_experiment_baseline_length(experiment, cell, method->baseline);
  return experiment->lengths[cell->axis[RS_BY_LENGTH]];
}

bool rs_observes(const rs_experiment *experiment) {
  return experiment->checkpoints != NULL && experiment->sources.count > 0;
}

/* ---- rotations --------------------------------------------------------------------------------------------------- */

/* The value of the parameter that is a recipe, and its name; NULL: there is none. */
static const rs_value *recipe_value(const rs_settings *settings, const char **name) {
  *name = "";
  for (size_t p = 0; p < settings->count; p++)
    if (settings->params[p]->type == RS_RECIPE) {
      *name = settings->params[p]->name;
      return &settings->values[p];
    }
  return NULL;
}

rs_recipe rs_variant_rotated(const rs_variant *source) {
  const char *name;
  const rs_value *value = recipe_value(&source->settings, &name);
  if (value == NULL || value->inner == NULL) return (rs_recipe){0};
  return (rs_recipe){rs_method_find(value->name), *value->inner};
}

rs_status rs_experiment_rotated(const rs_experiment *experiment, size_t model, size_t source, rs_recipe *recipe,
                                rs_err *err) {
  const rs_variant *variant = &experiment->sources.items[source];
  const rs_model *geometry = &experiment->models[model];
  const char *name;
  const rs_value *value = recipe_value(&variant->settings, &name);
  bool published = value != NULL && value->choice == RS_ROTATED_AS_PUBLISHED;
  const rs_recipe from = published ? geometry->published : rs_variant_rotated(variant);
  *recipe = (rs_recipe){0};
  if (published && from.method == NULL)
    return rs_fail_on(err, RS_INPUT, name, "is for models that publish a recipe, %s does not (name it: %s: rope)",
                      geometry->name, name);
  if (from.method == NULL) return RS_OK;
  RS_TRY(rs_recipe_copy(recipe, &from, err));
  rs_err why = {0};
  if (rs_recipe_resolve(recipe, geometry, &why) == RS_OK && rs_recipe_check(recipe, geometry, &why) == RS_OK)
    return RS_OK;
  rs_recipe_clear(recipe);
  return rs_fail_on(err, why.status, name, "%s%s%s", why.subject, *why.subject != '\0' ? ": " : "", why.message);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* Number i of `number` heads spread evenly over `heads`: the middles of equal parts. */
static size_t spread_head(size_t i, size_t number, size_t heads) {
  return (2 * i + 1) * heads / (2 * number);
}

/* What the source of a cell says of heads; NULL where the experiment says it. */
static const rs_model_source *model_source(const rs_experiment *experiment, const rs_cell *cell) {
  if (experiment->sources.count == 0) return NULL;
  const rs_variant *source = &experiment->sources.items[cell->axis[RS_BY_SOURCE]];
  return source->source->of_model ? source->params : NULL;
}

/* How many heads take part in the cells of a model and source, which may each have one of them. */
static size_t count_heads(const rs_experiment *experiment, const rs_cell *cell, bool *each) {
  const rs_head_choice *choice = &experiment->heads;
  const rs_model_source *source = model_source(experiment, cell);
  size_t all = experiment->models[cell->axis[RS_BY_MODEL]].heads;
  *each = source != NULL ? source->head.word == RS_EACH_HEAD : choice->each;
  if (source != NULL) return source->head.word == RS_NO_WORD ? 1 : all;
  return choice->all ? all : choice->listed != NULL ? choice->listed_count : choice->number;
}

static size_t chosen_head(const rs_experiment *experiment, const rs_cell *cell, size_t i) {
  const rs_head_choice *choice = &experiment->heads;
  const rs_model_source *source = model_source(experiment, cell);
  if (source != NULL) return source->head.word == RS_NO_WORD ? source->head.number : i;
  if (choice->all) return i;
  return choice->listed != NULL ? (size_t)choice->listed[i]
                                : spread_head(i, choice->number, experiment->models[cell->axis[RS_BY_MODEL]].heads);
}

size_t rs_head_count(const rs_experiment *experiment, const rs_cell *cell) {
  bool each;
  size_t heads = count_heads(experiment, cell, &each);
  return each ? 1 : heads;
}

rs_status rs_experiment_heads(const rs_experiment *experiment, const rs_cell *cell, rs_head_group *group, rs_err *err) {
  size_t count = rs_head_count(experiment, cell);
  *group = (rs_head_group){rs_alloc(count, sizeof *group->heads, err), count};
  if (group->heads == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) group->heads[i] = chosen_head(experiment, cell, cell->group * count + i);
  return RS_OK;
}

void rs_head_group_clear(rs_head_group *group) {
  free(group->heads);
  *group = (rs_head_group){0};
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

typedef struct cell_list {
  rs_cell *cells;
  size_t count, capacity;
} cell_list;

/* Every combination of the axes from `axis` on. Zipped axes follow the first of them. */
static rs_status walk_axes(const rs_experiment *experiment, const size_t *sizes, size_t axis, rs_cell *cell,
                           cell_list *list, rs_err *err) {
  if (axis == RS_AXIS_COUNT) {
    bool each;
    size_t heads = count_heads(experiment, cell, &each), groups = each ? heads : 1;
    RS_TRY(RS_GROW(list->cells, &list->capacity, list->count + groups, err));
    for (cell->group = 0; cell->group < groups; cell->group++) list->cells[list->count++] = *cell;
    return RS_OK;
  }
  size_t leader = axis;
  for (size_t a = axis; a-- > 0;)
    if (experiment->zipped[axis] && experiment->zipped[a]) leader = a;
  if (leader < axis) {
    cell->axis[axis] = cell->axis[leader];
    return walk_axes(experiment, sizes, axis + 1, cell, list, err);
  }
  for (cell->axis[axis] = 0; cell->axis[axis] < sizes[axis]; cell->axis[axis]++)
    RS_TRY(walk_axes(experiment, sizes, axis + 1, cell, list, err));
  return RS_OK;
}

rs_status rs_experiment_cells(const rs_experiment *experiment, rs_cell **cells, size_t *count, rs_err *err) {
  size_t sources = experiment->sources.count > 0 ? experiment->sources.count : 1; /* a task is no axis */
  const size_t sizes[RS_AXIS_COUNT] = {experiment->model_count, experiment->methods.count, experiment->length_count,
                                       sources, experiment->seed_count};
  cell_list list = {0};
  rs_cell cell = {0};
  rs_status status = walk_axes(experiment, sizes, 0, &cell, &list, err);
  if (status != RS_OK) {
    free(list.cells);
    return status;
  }
  *cells = list.cells;
  *count = list.count;
  return RS_OK;
}
