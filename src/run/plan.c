/* What a run would take: sizes from the config alone, and how long each cell will take here. For that the experiment's
 * own cells are run at short lengths, of one seed and one head, and what they took is carried over to the real sizes;
 * passes of checkpoints are timed. */
#include "cell.h"
#include "costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A method's tables at the longest length, for the model that has the largest. */
static double bytes_of_tables(const rs_experiment *experiment, const rs_variant *variant, size_t length) {
  double most = 0;
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_model *model = &experiment->models[i];
    const rs_recipe given = {.method = variant->method, .settings = variant->settings};
    const rs_recipe recipe = variant->published ? model->published : given;
    double dims = (double)model->head_dim, width = dims * (double)model->heads;
    double bytes = rs_encoding_bytes(&recipe, model, length, &experiment->tokens);
    /* A projected embedding: its keys, and while it is made the head's 2D columns of the width, twice. */
    if (recipe.method->embed != NULL) bytes += 8 * ((double)length * dims + 2 * 2 * dims * width);
    most = fmax(most, bytes);
  }
  return most;
}

/* The most that is alive at one time: every method's tables at the longest length, and the rows of one head. */
static double peak_bytes(const rs_experiment *experiment) {
  size_t longest = rs_longest(experiment), dims = 0, views = 1;
  double bytes = 0;
  for (size_t i = 0; i < experiment->model_count; i++)
    dims = experiment->models[i].head_dim > dims ? experiment->models[i].head_dim : dims;
  for (size_t i = 0; i < experiment->methods.count; i++) {
    for (size_t m = 0; m < experiment->model_count; m++) {
      const rs_method *method = rs_experiment_method(experiment, m, i);
      views = method->pos->views > views ? method->pos->views : views;
    }
    bytes += bytes_of_tables(experiment, &experiment->methods.items[i], longest);
  }
  if (!rs_needs_heads(experiment)) return bytes;
  return bytes + rs_row_bytes(experiment, longest, dims, views, rs_engine_threads());
}

static double curve_rows(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  const rs_curve_in in = {.length = length,
                          .pairs = model->head_dim / 2,
                          .heads = model->heads,
                          .width = model->heads * model->head_dim,
                          .bins = rs_log_bins(length, experiment->bins_per_octave),
                          .tokens = &experiment->tokens};
  double rows = 0;
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    if (metric->metric->curve_rows != NULL) rows += (double)metric->metric->curve_rows(metric->params, &in);
  }
  return rows;
}

/* Passes of sources' own checkpoints, one after the other. */
static rs_status add_texts(const rs_experiment *experiment, const rs_cell *cells, rs_plan *plan, rs_err *err) {
  rs_text_cost *costs = rs_alloc(plan->cells, sizeof *costs, err);
  rs_status status = costs != NULL ? rs_text_costs(experiment, cells, plan->cells, costs, err) : RS_MEMORY;
  double most = 0;
  for (size_t i = 0; i < plan->cells && status == RS_OK; i++) {
    plan->reading_flops += costs[i].flops;
    most = fmax(most, costs[i].bytes);
  }
  plan->peak_bytes += most;
  free(costs);
  return status;
}

rs_status rs_plan_make(const rs_experiment *experiment, const char *checkpoints, rs_plan *plan, rs_err *err) {
  rs_cell *cells;
  rs_out_columns columns;
  *plan = (rs_plan){0};
  RS_TRY(rs_columns_make(experiment, -1, &columns, err));
  plan->summary_columns = columns.count;
  free(columns.columns);
  RS_TRY(rs_experiment_cells(experiment, &cells, &plan->cells, err));
  for (size_t i = 0; i < plan->cells; i++) {
    plan->curve_rows += curve_rows(experiment, &cells[i]);
    plan->score_flops += rs_row_flops(experiment, &cells[i]);
  }
  rs_status status = RS_OK;
  if (experiment->checkpoints != NULL) {
    status = rs_costs_plan(experiment, cells, plan->cells, checkpoints, plan, err);
  } else {
    plan->peak_bytes = peak_bytes(experiment);
    status = add_texts(experiment, cells, plan, err);
  }
  free(cells);
  return status;
}

/* ---- seconds ----------------------------------------------------------------------------------------------------- */

/* The lengths that are tried are FIRST, twice that, and so on, until the budget is spent, or a fifth of it and this
 * share of what the run seems to take. */
enum { FIRST_LENGTH = 128 };
static const double most_share = 0.05, least_budget = 0.2;

/* One trial: the cells at one length. */
typedef struct trial {
  rs_arena arena;
  rs_experiment experiment; /* the real one, borrowed, but for what follows */
  size_t length;
  bool repeated; /* at this length there was a trial before */
  uint64_t seed;
  double *attention; /* (models, methods, sources) seconds that a cell took for its rows */
  double *rows;      /* (models,) of each model's cells together */
  double *before;    /* (2 models,) rows and rest at half the length; 0 before the first */
  double *rest;      /* (models,) what else the model took: encodings, metrics of tables, content */
} trial;

static size_t kinds_of_cell(const rs_experiment *experiment) {
  return experiment->methods.count * experiment->sources.count;
}

static rs_status trial_make(const rs_experiment *experiment, trial *t, rs_err *err) {
  *t = (trial){.experiment = *experiment, .seed = experiment->seeds[0]};
  t->experiment.length_count = t->experiment.seed_count = 1;
  t->experiment.heads = (rs_head_choice){.number = 1};
  for (size_t a = 0; a < RS_AXIS_COUNT; a++) t->experiment.zipped[a] = false;
  t->attention = rs_arena_take(&t->arena, experiment->model_count * kinds_of_cell(experiment), sizeof *t->attention);
  t->rows = rs_arena_take(&t->arena, 2 * experiment->model_count, sizeof *t->rows);
  t->before = rs_arena_take(&t->arena, 2 * experiment->model_count, sizeof *t->before);
  RS_TRY(rs_arena_check(&t->arena, err));
  t->rest = t->rows + experiment->model_count;
  return RS_OK;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

/* Parts the time of a batch, the shortest of those at one length. Cells that ran beside each other took less together
 * than one by one. */
static void part(trial *t, size_t model, const rs_cell_state *states, size_t count, double whole) {
  double sum = 0;
  if (t->repeated && whole >= t->rows[model] + t->rest[model]) return;
  for (size_t i = 0; i < count; i++) sum += states[i].seconds;
  t->rows[model] = fmin(sum, whole);
  t->rest[model] = whole - t->rows[model];
  for (size_t i = 0; i < count; i++)
    t->attention[model * count + i] = sum > 0 ? states[i].seconds * t->rows[model] / sum : 0;
}

static rs_status run_model(trial *t, rs_cell_state *states, size_t count, size_t model, rs_err *err) {
  rs_cell_batch batch = {.experiment = &t->experiment, .count = count, .model = model, .length = t->length};
  batch.cells = rs_alloc(count, sizeof(rs_cell_state *), err);
  if (batch.cells == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) batch.cells[i] = &states[i];
  double start = rs_seconds();
  rs_status status = rs_batch_run(&batch, err);
  part(t, model, states, count, rs_seconds() - start);
  free(batch.cells);
  return status;
}

/* Cells stand in the order of models, methods and sources. */
static rs_status trial_run(trial *t, size_t length, rs_err *err) {
  rs_cell *cells;
  size_t count, each = kinds_of_cell(&t->experiment);
  t->length = length;
  t->experiment.lengths = &t->length;
  t->experiment.seeds = &t->seed;
  RS_TRY(rs_experiment_cells(&t->experiment, &cells, &count, err));
  rs_cell_state *states = rs_alloc(count, sizeof *states, err);
  rs_status status = states != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++)
    status = rs_cell_state_make(&t->experiment, &cells[i], &states[i], err);
  for (size_t m = 0; m < t->experiment.model_count && status == RS_OK; m++)
    status = run_model(t, states + m * each, each, m, err);
  for (size_t i = 0; i < count && states != NULL; i++) rs_cell_state_clear(&t->experiment, &states[i]);
  free(states);
  free(cells);
  return status;
}

/* What is soon done is done three times: on a busy machine a trial may wait longer than it works. */
static rs_status trial_repeat(trial *t, size_t length, double seconds, rs_err *err) {
  enum { TIMES = 3 };
  double start = rs_seconds();
  for (size_t i = 0; i < TIMES && (i == 0 || rs_seconds() - start < seconds); i++) {
    t->repeated = i > 0;
    RS_TRY(trial_run(t, length, err));
  }
  return RS_OK;
}

/* ---- carrying over ----------------------------------------------------------------------------------------------- */

/* Metrics of tables are computed for the first of the cells that share them. */
static bool is_computed(const rs_experiment *experiment, const rs_cell *cell) {
  bool draws = false;
  if (rs_needs_heads(experiment)) return true;
  for (size_t m = 0; m < experiment->metrics.count; m++) draws |= experiment->metrics.items[m].metric->draws;
  return cell->axis[RS_BY_SOURCE] == 0 && (draws || cell->axis[RS_BY_SEED] == 0);
}

/* How the time on rows grows from the last trial to a cell: with the work, but for a part that is there at every length
 * (half of it at most, for a busy machine measures badly). `before` is the model's time in the trial before, at half
 * the length; 0: not known, there is no such part. */
static double growth_of_rows(const rs_experiment *experiment, const rs_cell *cell, const trial *last, double before) {
  const size_t model = cell->axis[RS_BY_MODEL];
  const rs_cell tried = {.axis = {[RS_BY_MODEL] = model}};
  double work = rs_cell_work(experiment, cell) / rs_cell_work(&last->experiment, &tried);
  double moving = before > 0 ? fmax(0.5, fmin(1, 2 * (1 - before / last->rows[model]))) : 1; /* b L of a + b L */
  return work < 1 ? work : 1 - moving + moving * work;
}

/* The rest grows by a power of the length, that by which it grew from the trial before; beside rows, which are more, no
 * faster than the length. */
static double growth_of_rest(const rs_experiment *experiment, const rs_cell *cell, const trial *last, double before) {
  double length = (double)experiment->lengths[cell->axis[RS_BY_LENGTH]];
  bool rows = rs_needs_heads(experiment);
  double power = rows ? 0 : 2; /* not known */
  if (before > 0) power = fmax(0, fmin(rows ? 1 : 2, log2(last->rest[cell->axis[RS_BY_MODEL]] / before)));
  return pow(length / (double)last->length, power);
}

/* Fills seconds (count,) and returns their sum. */
static double carry_over(const rs_experiment *experiment, const rs_cell *cells, size_t count, const trial *last,
                         double *seconds) {
  const double *before = last->before;
  double sum = 0, sources = (double)experiment->sources.count;
  for (size_t i = 0; i < count; i++) {
    const size_t *axis = cells[i].axis, model = axis[RS_BY_MODEL];
    size_t kind = (model * experiment->methods.count + axis[RS_BY_METHOD]) * experiment->sources.count;
    double rest = last->rest[model] / (double)experiment->methods.count / (rs_needs_heads(experiment) ? sources : 1);
    seconds[i] =
        last->attention[kind + axis[RS_BY_SOURCE]] * growth_of_rows(experiment, &cells[i], last, before[model]);
    if (is_computed(experiment, &cells[i]))
      seconds[i] += rest * growth_of_rest(experiment, &cells[i], last, before[experiment->model_count + model]);
    sum += seconds[i];
  }
  return sum;
}

/* Trials at longer and longer lengths, while they are worth it: the next takes about twice the last. */
static rs_status try_lengths(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                             trial *t, double *seconds, rs_err *err) {
  size_t most = rs_longest(experiment), layout = rs_token_layout_tokens(&experiment->tokens);
  size_t length = layout > FIRST_LENGTH ? layout : FIRST_LENGTH, parts = 2 * experiment->model_count; /* rows, rest */
  double start, took, end;
  if (length > most) length = most;
#pragma omp parallel /* makes the threads, which would count as work of the first trial */
  (void)rs_seconds();
  start = rs_seconds();
  do {
    double begun = rs_seconds();
    memcpy(t->before, t->rows, parts * sizeof *t->before);
    RS_TRY(trial_repeat(t, length, budget / 20, err));
    took = rs_seconds() - begun;
    end = fmin(budget, fmax(least_budget * budget, most_share * carry_over(experiment, cells, count, t, seconds)));
    length *= 2;
  } while (length <= most && rs_seconds() - start + 2 * took < end);
  return RS_OK;
}

rs_status rs_estimate_seconds(const rs_experiment *experiment, const char *checkpoints, double budget, double *seconds,
                              size_t count, rs_err *err) {
  rs_cell *cells;
  size_t there;
  RS_TRY(rs_experiment_cells(experiment, &cells, &there, err));
  rs_status status = there == count ? RS_OK : rs_fail(err, RS_INTERNAL, "%zu cells, not %zu", there, count);
  bool trained = experiment->checkpoints != NULL;
  if (status == RS_OK && trained)
    status = rs_costs_seconds(experiment, cells, count, checkpoints, budget, seconds, err);
  if (status == RS_OK && !trained) {
    trial t;
    status = trial_make(experiment, &t, err);
    if (status == RS_OK) status = try_lengths(experiment, cells, count, budget, &t, seconds, err);
    rs_arena_clear(&t.arena);
  }
  if (status == RS_OK && !trained) status = rs_text_seconds(experiment, cells, count, budget, seconds, err);
  free(cells);
  return status;
}
