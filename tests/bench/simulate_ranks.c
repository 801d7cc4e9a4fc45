/* Usage: simulate_ranks RESULTS [RANKS] [SEEDS] [MESSAGE_SECONDS]
 *
 * How long so many ranks would stand idle in a sweep: the program's own schedule, planned costs and portions, and the
 * seconds that the cells of RESULTS took, run there with --threads 1. The sweep is scaled up by its seeds: SEEDS of
 * them in place of those that were run, of which each cell takes the seconds of one in turn; making queries and keys,
 * which is not recorded by cell, takes what it is planned to beside them. Each portion waits MESSAGE_SECONDS (0.004:
 * two polls) for its message, and rank 0, which works too, handles messages one by one, 50 us each.
 *
 * Prints ranks, cells, portions, the seconds of all work, the longest cell and portion, the end, what the end would be
 * were nobody ever idle, and the idle share, waiting for messages among it. Exit status 1 where a file is not as it
 * should be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/costs.h"
#include "io/io.h"

static const double handling = 50e-6; /* seconds of rank 0 for a message, a record's write among it */

static void end(const char *why) {
  fprintf(stderr, "simulate_ranks: %s\n", why);
  exit(1);
}

/* ---- what was recorded ------------------------------------------------------------------------------------------- */

typedef struct recorded {
  rs_experiment *experiment;
  double *seconds; /* (cells,) */
  size_t count;
} recorded;

static recorded read_results(const char *folder) {
  recorded r = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  rs_cell *cells;
  rs_table *table = NULL;
  char *config = rs_path_join(folder, "config.yaml", NULL), *timings = rs_path_join(folder, "timings.csv", NULL), *text;
  size_t length;
  if (rs_config_load(config, (rs_config_edits){0}, &r.experiment, &problems, &err) != RS_OK) end(err.message);
  if (rs_experiment_cells(r.experiment, &cells, &r.count, &err) != RS_OK) end(err.message);
  if (rs_file_read(timings, 1 << 28, &text, &length, &err) != RS_OK) end(err.message);
  if (rs_csv_read(text, length, timings, &table, &err) != RS_OK) end(err.message);
  int column = rs_table_column(table, "attention_seconds");
  if (column < 0 || table->rows != r.count) end("timings.csv does not have the cells of config.yaml");
  r.seconds = calloc(r.count, sizeof *r.seconds);
  for (size_t i = 0; i < r.count; i++)
    if (!rs_number_read(table->fields[i * table->columns + (size_t)column], &r.seconds[i])) end("no number");
  rs_table_free(table);
  free(cells);
  free(text);
  free(config);
  free(timings);
  return r;
}

/* The place of a cell among those that were recorded: of the same model, method, length, source and heads. */
static double seconds_of(const recorded *r, const rs_cell *recorded_cells, const rs_cell *cell) {
  for (size_t i = 0; i < r->count; i++) {
    const size_t *a = recorded_cells[i].axis, *b = cell->axis;
    bool same = recorded_cells[i].group == cell->group && a[RS_BY_SEED] == b[RS_BY_SEED] % r->experiment->seed_count;
    for (int axis = 0; axis < RS_AXIS_COUNT && same; axis++) same = axis == RS_BY_SEED || a[axis] == b[axis];
    if (same) return r->seconds[i];
  }
  return 0;
}

/* ---- the simulation ---------------------------------------------------------------------------------------------- */

typedef struct rank {
  double free;    /* when it asks for more */
  size_t portion; /* that it has, from 1 */
} rank;

/* The next to ask: a heap by time would be faster, and this takes seconds. */
static size_t next_rank(const rank *ranks, size_t count) {
  size_t next = 0;
  for (size_t i = 1; i < count; i++)
    if (ranks[i].free < ranks[next].free) next = i;
  return next;
}

typedef struct outcome {
  double end, work, longest_portion;
} outcome;

/* What a portion takes: the seconds of its cells, and those of making queries and keys, `rate` for each planned flop.
 */
static double seconds_of_portion(const rs_schedule *s, const rs_portion *p, const double *seconds, double rate) {
  double took = 0, own = 0;
  for (size_t i = 0; i < p->count; i++) {
    took += seconds[s->units.order[p->first + i]];
    own += s->units.costs.items[s->units.order[p->first + i]].own;
  }
  return took + rate * fmax(0, p->cost - own);
}

static outcome simulate(rs_schedule *s, const double *seconds, double rate, size_t count, double message) {
  rank *ranks = calloc(count, sizeof *ranks);
  outcome o = {0};
  double server = 0; /* when rank 0 has handled what it was told */
  for (size_t portion, ended = 0; ended < count;) {
    size_t r = next_rank(ranks, count);
    if (ranks[r].portion > 0) rs_schedule_done(s, ranks[r].portion - 1);
    ranks[r].portion = 0;
    server = fmax(server, ranks[r].free) + handling;
    if (!rs_schedule_next(s, &portion)) { /* sweeps of rows have no portion that waits for another */
      ranks[r].free = INFINITY;
      ended++;
      continue;
    }
    double took = seconds_of_portion(s, &s->items[portion], seconds, rate);
    ranks[r] = (rank){server + message + took, portion + 1};
    o.end = fmax(o.end, ranks[r].free);
    o.work += took;
    o.longest_portion = fmax(o.longest_portion, took);
  }
  free(ranks);
  return o;
}

int main(int count, char **words) {
  if (count < 2) end("simulate_ranks RESULTS [RANKS] [SEEDS] [MESSAGE_SECONDS]");
  recorded r = read_results(words[1]);
  size_t ranks = count > 2 ? strtoul(words[2], NULL, 10) : 1024, seeds = count > 3 ? strtoul(words[3], NULL, 10) : 1000;
  double message = count > 4 ? strtod(words[4], NULL) : 0.004, longest = 0;
  size_t own = 0, cell_count;
  rs_cell *recorded_cells, *cells;
  rs_schedule schedule;
  rs_err err = {0};
  if (ranks == 0 || seeds == 0) end("RANKS and SEEDS count from 1");
  if (rs_experiment_cells(r.experiment, &recorded_cells, &own, &err) != RS_OK) end(err.message);
  rs_experiment large = *r.experiment;
  large.seeds = calloc(seeds, sizeof *large.seeds);
  large.seed_count = seeds;
  if (rs_experiment_cells(&large, &cells, &cell_count, &err) != RS_OK) end(err.message);
  double *seconds = calloc(cell_count, sizeof *seconds);
  for (size_t i = 0; i < cell_count; i++)
    longest = fmax(longest, seconds[i] = seconds_of(&r, recorded_cells, &cells[i]));
  if (rs_schedule_make(&large, cells, cell_count, ranks, &schedule, &err) != RS_OK) end(err.message);
  double planned = 0, recorded_seconds = 0;
  for (size_t i = 0; i < cell_count; i++) {
    planned += schedule.units.costs.items[i].own;
    recorded_seconds += seconds[i];
  }
  outcome o = simulate(&schedule, seconds, recorded_seconds / planned, ranks, message);
  double ideal = o.work / (double)ranks;
  printf("ranks %zu\ncells %zu\nportions %zu\nwork %.1f s\nlongest cell %.3f s\nlongest portion %.3f s\nend %.2f s\n"
         "end without idling %.2f s\nidle %.2f %%\n",
         ranks, cell_count, schedule.count, o.work, longest, o.longest_portion, o.end, ideal,
         100 * (1 - ideal / o.end));
  rs_schedule_clear(&schedule);
  free(seconds);
  free(cells);
  free(recorded_cells);
  free(large.seeds);
  free(r.seconds);
  rs_experiment_free(r.experiment);
  return 0;
}
