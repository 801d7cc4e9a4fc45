/* Experiments: what a config became, and its cells. */
#include "config_internal.h"

#include <stdlib.h>
#include <string.h>

static void variants_clear(rs_variants *variants) {
  for (size_t i = 0; i < variants->count; i++) {
    free(variants->items[i].label);
    rs_settings_clear(&variants->items[i].settings);
    free(variants->items[i].params);
  }
  free(variants->items);
}

void rs_experiment_clear(rs_experiment *experiment) {
  for (size_t i = 0; i < experiment->model_count; i++) rs_model_clear(&experiment->models[i]);
  variants_clear(&experiment->methods);
  variants_clear(&experiment->sources);
  variants_clear(&experiment->metrics);
  rs_token_layout_clear(&experiment->tokens);
  free(experiment->name);
  free(experiment->description);
  free(experiment->models);
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
  const char **grown = rs_alloc(experiment->swept_count + 1, sizeof *grown, err);
  if (grown == NULL) return RS_MEMORY;
  for (size_t i = 0; i < experiment->swept_count; i++) grown[i] = experiment->swept[i];
  grown[experiment->swept_count++] = name;
  free(experiment->swept);
  experiment->swept = grown;
  return RS_OK;
}

rs_status rs_experiment_recipe(const rs_experiment *experiment, size_t model, size_t method, rs_recipe *recipe,
                               rs_err *err) {
  const rs_variant *variant = &experiment->methods.items[method];
  rs_recipe given = {variant->method, variant->settings};
  RS_TRY(rs_recipe_copy(recipe, &given, err));
  rs_status status = rs_recipe_resolve(recipe, &experiment->models[model], err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

const rs_param *rs_experiment_param(const rs_experiment *experiment, const char *name) {
  const rs_variants *lists[] = {&experiment->methods, &experiment->sources};
  for (size_t l = 0; l < RS_COUNT(lists); l++)
    for (size_t i = 0; i < lists[l]->count; i++) {
      int index = rs_settings_find(&lists[l]->items[i].settings, name);
      if (index >= 0) return lists[l]->items[i].settings.params[index];
    }
  return NULL;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* Number i of `number` heads spread evenly over `heads`: the middles of equal parts. */
static size_t spread_head(size_t i, size_t number, size_t heads) {
  return (2 * i + 1) * heads / (2 * number);
}

static size_t chosen_head(const rs_head_choice *choice, const rs_model *model, size_t i) {
  if (choice->all) return i;
  return choice->listed != NULL ? (size_t)choice->listed[i] : spread_head(i, choice->number, model->heads);
}

void rs_head_groups_free(rs_head_group *groups, size_t count) {
  for (size_t i = 0; i < count && groups != NULL; i++) free(groups[i].heads);
  free(groups);
}

size_t rs_head_count(const rs_experiment *experiment, const rs_model *model) {
  const rs_head_choice *choice = &experiment->heads;
  return choice->all ? model->heads : choice->listed != NULL ? choice->listed_count : choice->number;
}

rs_status rs_experiment_heads(const rs_experiment *experiment, const rs_model *model, rs_head_group **groups,
                              size_t *count, rs_err *err) {
  const rs_head_choice *choice = &experiment->heads;
  size_t heads = rs_head_count(experiment, model);
  size_t parts = choice->each ? heads : 1, size = heads / parts;
  *count = 0;
  *groups = rs_alloc(parts, sizeof **groups, err);
  if (*groups == NULL) return RS_MEMORY;
  for (; *count < parts; ++*count) {
    rs_head_group *group = &(*groups)[*count];
    *group = (rs_head_group){rs_alloc(size, sizeof *group->heads, err), size};
    if (group->heads == NULL) {
      rs_head_groups_free(*groups, *count);
      *groups = NULL;
      *count = 0;
      return RS_MEMORY;
    }
    for (size_t i = 0; i < size; i++) group->heads[i] = chosen_head(choice, model, *count * size + i);
  }
  return RS_OK;
}

static size_t group_count(const rs_experiment *experiment, size_t model) {
  return experiment->heads.each ? rs_head_count(experiment, &experiment->models[model]) : 1;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

typedef struct cell_list {
  rs_cell *cells;
  size_t count, capacity;
} cell_list;

static rs_status add_cell(cell_list *list, const rs_cell *cell, rs_err *err) {
  void *cells = list->cells;
  rs_status status = rs_grow(&cells, &list->capacity, list->count + 1, sizeof *cell, err);
  list->cells = cells;
  if (status == RS_OK) list->cells[list->count++] = *cell;
  return status;
}

/* Every combination of the axes from `axis` on. Zipped axes follow the first of them. */
static rs_status walk_axes(const rs_experiment *experiment, const size_t *sizes, size_t axis, rs_cell *cell,
                           cell_list *list, rs_err *err) {
  if (axis == RS_AXIS_COUNT) {
    size_t groups = group_count(experiment, cell->axis[RS_BY_MODEL]);
    for (cell->group = 0; cell->group < groups; cell->group++) RS_TRY(add_cell(list, cell, err));
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
  const size_t sizes[RS_AXIS_COUNT] = {experiment->model_count, experiment->methods.count, experiment->length_count,
                                       experiment->sources.count, experiment->seed_count};
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
