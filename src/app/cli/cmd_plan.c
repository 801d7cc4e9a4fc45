/* ropescope plan: what a run would take. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_memory(double bytes, rs_text *text) {
  double available = rs_memory_available();
  rs_text_printf(text, "memory          %.0f MiB", cli_mebibytes(bytes));
  if (!isnan(available)) rs_text_printf(text, " of %.0f available", cli_mebibytes(available));
  rs_text_puts(text, bytes > available ? ": run refuses without --force\n" : "\n");
}

/* The cells of a shard and their part of the plan, beside those of all shards. */
static rs_status put_shard(const rs_experiment *experiment, rs_sweep_shard shard, size_t cells, double rate,
                           rs_text *text, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  size_t *of_cell = rs_arena_take(&arena, cells, sizeof *of_cell), count = 0;
  double *costs = rs_arena_take(&arena, shard.count, sizeof *costs), total = 0, least = INFINITY, most = 0;
  rs_status status = rs_arena_check(&arena, err);
  if (status == RS_OK) status = rs_shards_assign(experiment, shard.count, of_cell, cells, costs, err);
  if (status == RS_OK) {
    char name[32];
    double mine = costs[shard.number - 1];
    for (size_t s = 0; s < shard.count; s++) {
      total += costs[s];
      least = fmin(least, costs[s]);
      most = fmax(most, costs[s]);
    }
    for (size_t i = 0; i < cells; i++) count += of_cell[i] == shard.number;
    snprintf(name, sizeof name, "shard %zu/%zu", shard.number, shard.count);
    rs_text_printf(text, "%-15s %zu of %zu cells, %.3g flop", name, count, cells, mine);
    if (!isnan(rate)) rs_text_puts(text, ", "), cli_put_duration(mine / rate, text);
    rs_text_printf(text, "; %.3g %% of the work, where shards have %.3g to %.3g %%\n", 100 * mine / total,
                   100 * least / total, 100 * most / total);
  }
  return status;
}

static rs_status put_time(const rs_experiment *experiment, const char *directory, const rs_plan *plan,
                          rs_sweep_shard shard, rs_text *text, rs_err *err) {
  char folder[RS_RATE_FOLDER];
  double rate = rs_rate_find(experiment, directory, folder);
  rs_text_puts(text, "time            ");
  if (isnan(rate)) {
    rs_text_puts(text, "rate unknown: run it, end it after some seconds (Ctrl-C), and plan again\n");
  } else {
    cli_put_duration(plan->flops / rate, text);
    rs_text_printf(text, " at %.3g flop/s, the rate of %s\n", rate, folder);
  }
  return shard.count > 0 ? put_shard(experiment, shard, plan->cells, rate, text, err) : RS_OK;
}

static void put_count(rs_text *text, size_t count, const char *what) {
  rs_text_printf(text, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

/* How many there are of what the cells are made from. */
static void put_axes(const rs_experiment *experiment, const rs_plan *plan, rs_text *text) {
  bool trained = experiment->checkpoints != NULL;
  rs_text_printf(text, "cells           %zu (", plan->cells);
  const struct {
    size_t count;
    const char *what;
  } axes[] = {{experiment->model_count, trained ? "checkpoint" : "model"},
              {experiment->methods.count, "method"},
              {experiment->length_count, "length"},
              {experiment->sources.count, "source"},
              {experiment->seed_count, "seed"}};
  for (size_t i = 0; i < RS_COUNT(axes); i++) {
    if (axes[i].count == 0) continue;
    if (i > 0) rs_text_puts(text, ", ");
    put_count(text, axes[i].count, axes[i].what);
  }
  rs_text_puts(text, ")\n");
}

static void put_trainings(const rs_plan *plan, rs_text *text) {
  rs_text_puts(text, "training        ");
  if (plan->trainings > 0) {
    rs_text_printf(text, "%.3g flop in ", plan->training_flops);
    put_count(text, plan->trainings, "training");
    if (plan->trained > 0) rs_text_printf(text, "; %zu done already", plan->trained);
  } else {
    rs_text_printf(text, "none to do, %zu done already", plan->trained);
  }
  rs_text_puts(text, "\n");
}

static void put_work(const rs_experiment *experiment, const rs_plan *plan, rs_text *text) {
  bool trained = experiment->checkpoints != NULL;
  if (trained) put_trainings(plan, text);
  if (trained || plan->reading_flops > 0) rs_text_printf(text, "reading         %.3g flop\n", plan->reading_flops);
  if (!trained || rs_observes(experiment)) rs_text_printf(text, "queries x keys  %.3g flop\n", plan->score_flops);
}

/* What is scored, and beside what. */
static void put_targets(const rs_experiment *experiment, const rs_plan *plan, rs_text *text) {
  const rs_same_targets *same = &experiment->targets;
  if (experiment->checkpoints == NULL) return;
  rs_text_puts(text, "targets         ");
  if (same->longest > 0)
    rs_text_printf(text, "%zu block%s of %zu tokens, the last %zu token%s of each\n", plan->blocks,
                   plan->blocks > 1 ? "s" : "", same->longest, same->tokens, same->tokens > 1 ? "s" : "");
  else
    rs_text_printf(text, "per_length%s%s\n", experiment->own_targets != NULL ? ": " : "",
                   experiment->own_targets != NULL ? experiment->own_targets : "");
  rs_text_puts(text, "baselines       ");
  cli_put_baselines(experiment, text);
  rs_text_puts(text, "\n");
}

static rs_status put_plan(const rs_experiment *experiment, const char *directory, const char *checkpoints,
                          rs_sweep_shard shard, rs_text *text, rs_err *err) {
  rs_plan plan;
  for (size_t i = 0; i < experiment->length_count; i++)
    RS_TRY(rs_token_layout_check(&experiment->tokens, experiment->lengths[i], err));
  RS_TRY(rs_plan_make(experiment, checkpoints, &plan, err));
  rs_text_line(text, "name            %s", experiment->name);
  put_axes(experiment, &plan, text);
  rs_text_printf(text, "summary.csv     %zu rows of %zu columns\n", plan.cells, plan.summary_columns);
  put_targets(experiment, &plan, text);
  rs_text_printf(text, "curves          at most %.0f rows\n", plan.curve_rows);
  put_work(experiment, &plan, text);
  put_memory(plan.peak_bytes, text);
  return put_time(experiment, directory, &plan, shard, text, err);
}

int cmd_plan(const cli_options *options) {
  RS_HELD(rs_experiment) experiment = NULL;
  rs_err err = {0};
  RS_OWNED(rs_text) text = {0};
  rs_sweep_shard shard;
  int code = cli_read_shard(options, &shard);
  if (code == CLI_OK) code = cli_load_sweep(options, &experiment);
  if (code != CLI_OK) return code;
  RS_FREED char *directory = cli_results_folder(options, experiment, shard, &err);
  RS_FREED char *checkpoints = directory != NULL ? cli_checkpoints_folder(options, directory, &err) : NULL;
  rs_status status = checkpoints != NULL ? put_plan(experiment, directory, checkpoints, shard, &text, &err) : RS_MEMORY;
  if (status == RS_OK) cli_warn(options, experiment);
  code = status != RS_OK ? cli_fail(status, NULL, &err) : cli_put(&text, CLI_TEXT);
  return code;
}
