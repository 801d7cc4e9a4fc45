/* A cell: what its experiment asks of it, its state while it is worked on, and its record: a cell's status and message,
 * then its numbers as the machine has them, so that whoever reads it back gets the same bits. Numbers are
 * little-endian, as all machines are that this runs on. */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked of it ----------------------------------------------------------------------------------------- */

rs_row_needs rs_experiment_needs(const rs_experiment *experiment) {
  rs_row_needs needs = {0};
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    (void)rs_row_needs_add(&needs, metric->metric, metric->params, NULL); /* the config was checked for what can fail */
  }
  return needs;
}

bool rs_needs_heads(const rs_experiment *experiment) {
  rs_row_needs needs = rs_experiment_needs(experiment);
  return needs.rows || needs.content;
}

bool rs_projects(const rs_experiment *experiment, const rs_cell *cell) {
  return rs_experiment_method(experiment, cell->axis[RS_BY_MODEL], cell->axis[RS_BY_METHOD])->embed != NULL;
}

bool rs_experiment_cuts(const rs_experiment *experiment, rs_cut *cut) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *variant = &experiment->metrics.items[m];
    if (variant->metric->cut == NULL) continue;
    variant->metric->cut(variant->params, cut);
    return true;
  }
  return false;
}

bool rs_experiment_compares(const rs_experiment *experiment, rs_baseline *baseline) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *variant = &experiment->metrics.items[m];
    if (variant->metric->baseline == NULL) continue;
    *baseline = variant->metric->baseline(variant->params);
    return true;
  }
  return false;
}

bool rs_experiment_reads_trained(const rs_experiment *experiment) {
  bool reads = false;
  for (size_t m = 0; m < experiment->metrics.count; m++) reads = reads || experiment->metrics.items[m].metric->trained;
  return reads;
}

size_t rs_query_count(const rs_query_set *set, size_t length) {
  if (set->choice == RS_QUERIES_EVERY) return (length + set->number - 1) / set->number;
  return set->choice == RS_QUERIES_ALL || set->number > length ? length : set->number;
}

bool rs_reads_model(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->sources.count > 0 && experiment->sources.items[cell->axis[RS_BY_SOURCE]].source->of_model;
}

rs_weights_in rs_cell_weights(const rs_experiment *experiment, const rs_cell *cell) {
  size_t model = cell->axis[RS_BY_MODEL];
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  return (rs_weights_in){.model = model,
                         .untuned = checkpoint->tuned && experiment->methods.items[cell->axis[RS_BY_METHOD]].added,
                         .seed = checkpoint->seeded ? checkpoint->seed : experiment->seeds[cell->axis[RS_BY_SEED]]};
}

size_t rs_weights_index(const rs_experiment *experiment, const rs_cell *cell) {
  size_t model = cell->axis[RS_BY_MODEL], seed = experiment->checkpoints[model].seeded ? 0 : cell->axis[RS_BY_SEED];
  size_t before = rs_cell_weights(experiment, cell).untuned ? experiment->model_count : 0;
  return (before + model) * experiment->seed_count + seed;
}

size_t rs_weights_count(const rs_experiment *experiment) {
  return 2 * experiment->model_count * experiment->seed_count;
}

/* ---- its record -------------------------------------------------------------------------------------------------- */

/* A record that is written to `out`, or (NULL) read. */
typedef struct codec {
  rs_text *out;
  const uint8_t *data; /* (left,) */
  size_t left;
  bool bad; /* it is not of such a cell */
  rs_err *err;
} codec;

static void pass(codec *r, void *data, size_t size) {
  if (r->out != NULL) {
    rs_text_add(r->out, data, size);
  } else if (r->bad || size > r->left) {
    r->bad = true;
  } else if (size > 0) {
    memcpy(data, r->data, size);
    r->data += size;
    r->left -= size;
  }
}

/* A count that is at most `most`. */
static void pass_count(codec *r, size_t *count, size_t most) {
  uint64_t number = *count;
  pass(r, &number, sizeof number);
  r->bad |= number > most;
  if (r->out == NULL) *count = r->bad ? 0 : (size_t)number;
}

static void pass_result(codec *r, const rs_metric_kind *kind, rs_result *result) {
  double row[64];
  size_t width = result->curve.columns, columns = width, rows = result->curve.rows;
  pass(r, result->value, kind->scalar_count * sizeof *row);
  pass(r, result->error, kind->scalar_count * sizeof *row);
  pass_count(r, &columns, r->out != NULL ? columns : RS_COUNT(row));
  pass_count(r, &rows, r->out != NULL ? rows : r->left / sizeof *row);
  r->bad |= rows > 0 && columns != width;
  if (r->out != NULL && rows > 0) pass(r, result->curve.cells, rows * columns * sizeof *row);
  for (size_t i = 0; i < rows && r->out == NULL && !r->bad; i++) {
    pass(r, row, columns * sizeof *row);
    r->bad |= rs_curve_add(&result->curve, row, r->err) != RS_OK;
  }
}

static void pass_cell(codec *r, const rs_experiment *experiment, rs_cell_state *state) {
  rs_cell_scores *scores = &state->scores;
  uint8_t flags[] = {(uint8_t)state->status, state->read, scores->f32, scores->f64};
  double *const numbers[] = {&state->scale,  &state->seconds,  &scores->error,
                             &scores->pairs, &scores->skipped, &scores->skipped_weight};
  size_t message = strlen(state->message), metrics = experiment->metrics.count;
  pass(r, flags, sizeof flags);
  for (size_t i = 0; i < RS_COUNT(numbers); i++) pass(r, numbers[i], sizeof(double));
  pass_count(r, &message, RS_CELL_MESSAGE - 1);
  pass(r, state->message, message);
  pass(r, state->arithmetic, sizeof state->arithmetic);
  pass_count(r, &metrics, metrics);
  r->bad |= metrics != experiment->metrics.count;
  for (size_t m = 0; m < metrics; m++) pass_result(r, experiment->metrics.items[m].metric, &state->results[m]);
  if (r->out != NULL) return;
  state->message[message] = state->arithmetic[sizeof state->arithmetic - 1] = '\0';
  state->status = (rs_status)flags[0];
  state->read = flags[1] != 0;
  scores->f32 = flags[2] != 0;
  scores->f64 = flags[3] != 0;
}

void rs_cell_record_write(const rs_experiment *experiment, const rs_cell_state *state, rs_text *out) {
  rs_cell_state copy = *state; /* what is written is only read */
  pass_cell(&(codec){.out = out}, experiment, &copy);
}

rs_status rs_cell_record_read(const rs_experiment *experiment, const uint8_t *data, size_t length, rs_cell_state *state,
                              rs_err *err) {
  rs_err why = {0};
  codec r = {.data = data, .left = length, .err = &why};
  pass_cell(&r, experiment, state);
  if (!r.bad && r.left == 0) return RS_OK;
  if (why.status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  return rs_fail(err, RS_INPUT, "a record of the journal does not fit its cell (--fresh starts over without it)");
}

bool rs_cell_record_holds(const uint8_t *record, size_t length) {
  if (length == 0) return false;
  rs_status status = (rs_status)record[0];
  return status == RS_OK || status == RS_DOMAIN || status == RS_UNSUPPORTED;
}

/* The seconds stand behind the flags and the scale. */
void rs_cell_record_digest(const uint8_t *record, size_t length, uint8_t digest[32]) {
  enum { SECONDS = 4 + sizeof(double), BEHIND = SECONDS + sizeof(double) };
  size_t before = length < SECONDS ? length : SECONDS, after = length < BEHIND ? length : BEHIND;
  rs_sha256_digest((const rs_bytes[]){{record, before}, {record + after, length - after}}, 2, digest);
}

/* ---- a cell's state ---------------------------------------------------------------------------------------------- */

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
