/* What a run keeps of each cell, made and released. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void rs_cell_state_clear(const rs_experiment *experiment, rs_cell_state *state) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    if (state->states != NULL) free(state->states[m]);
    if (state->results != NULL) rs_curve_clear(&state->results[m].curve);
  }
  free(state->states);
  free(state->results);
  free(state->heads);
  rs_head_group_clear(&state->group);
}

void rs_cell_states_free(const rs_experiment *experiment, rs_cell_state *states, size_t count) {
  for (size_t i = 0; i < count && states != NULL; i++) rs_cell_state_clear(experiment, &states[i]);
  free(states);
}

/* "4 12 20 28" */
static char *heads_text(const rs_head_group *group, rs_err *err) {
  rs_text text = {0};
  for (size_t i = 0; i < group->count; i++) rs_text_printf(&text, "%s%zu", i > 0 ? " " : "", group->heads[i]);
  char *copy = rs_text_check(&text, err) == RS_OK ? rs_strdup(rs_text_string(&text), err) : NULL;
  rs_text_clear(&text);
  return copy;
}

static rs_status name_heads(const rs_experiment *experiment, rs_cell_state *state, rs_err *err) {
  RS_TRY(rs_experiment_heads(experiment, &state->cell, &state->group, err));
  state->heads = heads_text(&state->group, err);
  return state->heads != NULL ? RS_OK : RS_MEMORY;
}

rs_status rs_cell_state_make(const rs_experiment *experiment, const rs_cell *cell, rs_cell_state *state, rs_err *err) {
  size_t metrics = experiment->metrics.count;
  *state = (rs_cell_state){.cell = *cell, .scale = NAN};
  state->states = rs_alloc(metrics, sizeof *state->states, err);
  state->results = rs_alloc(metrics, sizeof *state->results, err);
  if (state->states == NULL || state->results == NULL) return RS_MEMORY;
  for (size_t m = 0; m < metrics; m++) {
    state->results[m].curve.columns = 0;
    const rs_metric_kind *kind = experiment->metrics.items[m].metric;
    for (size_t i = 0; i < kind->curve_count; i++) state->results[m].curve.columns += 1 + kind->curve[i].sampled;
  }
  return name_heads(experiment, state, err);
}

rs_status rs_cell_states_make(const rs_experiment *experiment, rs_cell_state **states, size_t *count, rs_err *err) {
  rs_cell *cells;
  RS_TRY(rs_experiment_cells(experiment, &cells, count, err));
  *states = rs_alloc(*count, sizeof **states, err);
  rs_status status = *states != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < *count && status == RS_OK; i++)
    status = rs_cell_state_make(experiment, &cells[i], &(*states)[i], err);
  if (status != RS_OK) rs_cell_states_free(experiment, *states, *count);
  free(cells);
  return status;
}

/* ---- what becomes of a cell -------------------------------------------------------------------------------------- */

void rs_cell_fail(rs_cell_state *cell, const rs_err *why) {
  if (cell->status != RS_OK) return;
  cell->status = why->status;
  snprintf(cell->message, sizeof cell->message, "%.*s", RS_CELL_MESSAGE - 1, why->message);
}

void rs_cell_fail_metric(rs_cell_state *cell, const rs_experiment *experiment, size_t metric, const rs_err *why) {
  rs_err named = {0};
  rs_curve_clear(&cell->results[metric].curve);
  (void)rs_fail(&named, why->status, "metric %s: %s", experiment->metrics.items[metric].metric->kind.name,
                why->message);
  rs_cell_fail(cell, &named);
}

void rs_cell_warn(rs_cell_state *cell, const rs_recipe *recipe, const rs_recipe *trained, const rs_model *model,
                  size_t length, const rs_token_layout *tokens) {
  rs_text warning = {0};
  rs_recipe_warn(recipe, trained, model, length, tokens, &warning);
  snprintf(cell->message, sizeof cell->message, "%.*s", RS_CELL_MESSAGE - 1, rs_text_string(&warning));
  rs_text_clear(&warning);
}
