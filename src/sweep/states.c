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
  rs_arena_clear(&state->arena);
  rs_head_group_clear(&state->group);
}

/* "4 12 20 28" */
static rs_status name_heads(const rs_experiment *experiment, rs_cell_state *state, rs_err *err) {
  const rs_head_group *group = &state->group;
  rs_text text = {0};
  RS_TRY(rs_experiment_heads(experiment, &state->cell, &state->group, err));
  for (size_t i = 0; i < group->count; i++) rs_text_printf(&text, "%s%zu", i > 0 ? " " : "", group->heads[i]);
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK) state->heads = rs_arena_text(&state->arena, rs_text_string(&text));
  rs_text_clear(&text);
  return status == RS_OK ? rs_arena_check(&state->arena, err) : status;
}

rs_status rs_cell_state_make(const rs_experiment *experiment, const rs_cell *cell, rs_cell_state *state, rs_err *err) {
  size_t metrics = experiment->metrics.count;
  *state = (rs_cell_state){.cell = *cell, .scale = NAN};
  state->states = rs_arena_take(&state->arena, metrics, sizeof *state->states);
  state->results = rs_arena_take(&state->arena, metrics, sizeof *state->results);
  RS_TRY(rs_arena_check(&state->arena, err));
  for (size_t m = 0; m < metrics; m++) {
    const rs_metric_kind *kind = experiment->metrics.items[m].metric;
    for (size_t i = 0; i < kind->curve_count; i++) state->results[m].curve.columns += 1 + kind->curve[i].sampled;
  }
  return name_heads(experiment, state, err);
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
