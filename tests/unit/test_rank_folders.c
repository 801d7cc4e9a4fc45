/* test_rank_folders.c: what ranks of MPI leave in a folder, and how later runs find it. tests/mpi runs them as they
 * are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/run/costs.h"
#include "../../src/run/ledger.h"
#include "../fixtures/runs.h"
#include "kernel/kernel.h"

TestSuite(rank_folders, .init = enter_folder, .fini = leave_folder);

static const char yaml[] = TINY "methods: [rope, alibi, nope]\nlengths: [8, 16]\nseeds: 2\n"
                                "sources: [needle, gaussian]\nmetrics: [entropy]\nqueries: all\n";
enum { CELLS = 24 };

static rs_experiment *experiment_of(const char *config) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_config_read(config, "t.yaml", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s %s",
               err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  return experiment;
}

static rs_status run_into(const rs_experiment *experiment, const char *out, rs_sweep_shard shard, bool fresh,
                          rs_run_summary *summary, rs_err *err) {
  const rs_run_options options = {.directory = out, .shard = shard, .resume = !fresh};
  return rs_run(experiment, &options, summary, err);
}

/* A job of three ranks that was killed: rank 0 had done nothing, and the others a half each. */
static rs_experiment *leave_halves(const char *out) {
  rs_experiment *experiment = experiment_of(yaml);
  rs_run_summary summary;
  char folder[64];
  for (size_t i = 1; i <= 2; i++) {
    snprintf(folder, sizeof folder, "%s/.ropescope/rank-%zu", out, i);
    cr_assert_eq(run_into(experiment, folder, (rs_sweep_shard){i, 2}, false, &summary, NULL), RS_OK);
  }
  return experiment;
}

static void expect_same_file(const char *name) {
  size_t a, b;
  char *got = read_path("o", name, &a), *want = read_path("w", name, &b);
  cr_expect(a == b && memcmp(got, want, a) == 0, "%s", name);
  free(got);
  free(want);
}

Test(rank_folders, journals__are_those_of_the_next_run) {
  rs_experiment *experiment = leave_halves("o");
  rs_run_summary summary;
  rs_err err = {0};
  cr_assert_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, &err), RS_OK, "%s", err.message);
  cr_expect(summary.resumed == CELLS && summary.done == CELLS);
  cr_expect(!exists("o/.ropescope/rank-1") && !exists("o/.ropescope/rank-2"));
  cr_assert_eq(run_into(experiment, "w", (rs_sweep_shard){0}, false, &summary, NULL), RS_OK);
  expect_same_file("summary.csv");
  cr_assert_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, NULL), RS_OK);
  cr_expect_eq(summary.resumed, CELLS);
  rs_experiment_free(experiment);
}

/* Of cells that both have, and with the end of one torn. */
Test(rank_folders, torn_journal__lacks_its_end) {
  enum { SEAL = 64 };
  rs_experiment *experiment = leave_halves("o");
  rs_run_summary summary;
  size_t length;
  static const char journal[] = "o/.ropescope/rank-2/.ropescope/journal";
  free(read_path("o/.ropescope/rank-2/.ropescope", "journal", &length));
  cr_assert_eq(truncate(journal, (off_t)(length - SEAL - 1)), 0);
  cr_assert_eq(run_into(experiment, "o", (rs_sweep_shard){1, 2}, false, &summary, NULL), RS_OK);
  cr_expect_eq(summary.resumed, summary.cells);
  cr_assert_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, NULL), RS_OK);
  cr_expect_eq(summary.resumed, CELLS - 1);
  rs_experiment_free(experiment);
}

Test(rank_folders, damaged_journal__ends_the_run_and_stays_unless_fresh) {
  rs_experiment *experiment = leave_halves("o");
  rs_run_summary summary;
  rs_err err = {0};
  FILE *file = fopen("o/.ropescope/rank-1/.ropescope/journal", "r+b");
  cr_assert(file != NULL && fseek(file, 100, SEEK_SET) == 0 && fputc(~'x', file) != EOF && fclose(file) == 0);
  cr_expect_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, &err), RS_INPUT);
  cr_expect(strncmp(err.message, "o/.ropescope/rank-1/.ropescope/journal: record 1, at byte", 57) == 0, "%s",
            err.message);
  cr_expect(exists("o/.ropescope/rank-1") && exists("o/.ropescope/rank-2"));
  cr_assert_eq(run_into(experiment, "o", (rs_sweep_shard){0}, true, &summary, NULL), RS_OK);
  cr_expect(summary.resumed == 0 && !exists("o/.ropescope/rank-1") && !exists("o/.ropescope/rank-2"));
  rs_experiment_free(experiment);
}

Test(rank_folders, rank_that_still_runs__is_waited_for) {
  rs_experiment *experiment = leave_halves("o");
  rs_run_summary summary;
  rs_folder_lock lock;
  rs_err err = {0};
  cr_assert_eq(rs_folder_lock_take("o/.ropescope/rank-2", &lock, NULL), RS_OK);
  cr_expect_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, &err), RS_BUSY);
  cr_expect(strncmp(err.message, "o/.ropescope/rank-2: process ", 29) == 0, "%s", err.message);
  rs_folder_lock_drop(&lock);
  cr_expect_eq(run_into(experiment, "o", (rs_sweep_shard){0}, false, &summary, NULL), RS_OK);
  cr_expect_eq(summary.resumed, CELLS);
  rs_experiment_free(experiment);
}

/* ---- the ledger of the first ------------------------------------------------------------------------------------- */

static void open_ledger(const rs_experiment *experiment, rs_ledger *ledger) {
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, ledger, NULL), RS_OK);
  cr_assert_eq(rs_make_directories("o", NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(ledger, "o", true, NULL), RS_OK);
}

/* One that is lost may be slow alone. */
Test(rank_folders, rank_of_this_run_that_goes_on__keeps_its_journal) {
  rs_experiment *experiment = leave_halves("o");
  rs_ledger ledger;
  rs_folder_lock lock;
  open_ledger(experiment, &ledger);
  cr_assert_eq(rs_folder_lock_take("o/.ropescope/rank-1", &lock, NULL), RS_OK);
  cr_expect_eq(rs_rank_folders_merge(&ledger, "o", true, NULL), RS_OK);
  cr_expect(ledger.done > 0 && ledger.done < CELLS);
  cr_expect(exists("o/.ropescope/rank-1") && exists("o/.ropescope/rank-2"));
  rs_folder_lock_drop(&lock);
  cr_expect_eq(rs_rank_folders_merge(&ledger, "o", true, NULL), RS_OK);
  cr_expect(ledger.done == CELLS && !exists("o/.ropescope/rank-1"));
  rs_ledger_close(&ledger);
  rs_experiment_free(experiment);
}

/* A cell that had no memory is done for this run, and for no later one; cells of other configs are kept. */
static void leave_starved(const rs_experiment *experiment, const rs_experiment *other) {
  rs_folder_lock lock;
  cr_assert_eq(rs_rank_folders_make("o", 2, NULL), RS_OK);
  for (size_t i = 0; i < 2; i++) {
    const rs_experiment *e = i == 0 ? experiment : other;
    rs_ledger of_rank;
    rs_cell_state state;
    cr_assert_eq(rs_ledger_make(e, rs_kernels_get()->isa, &of_rank, NULL), RS_OK);
    if (i == 0) cr_assert_eq(rs_rank_folder_open(&of_rank, "o", 1, &lock, NULL), RS_OK);
    if (i == 0) rs_folder_lock_drop(&lock);
    if (i == 1) cr_assert_eq(rs_ledger_open(&of_rank, "o/.ropescope/rank-1", false, NULL), RS_OK);
    cr_assert_eq(rs_ledger_state(&of_rank, 0, &state, NULL), RS_OK);
    state.status = i == 0 ? RS_MEMORY : RS_OK;
    cr_assert_eq(rs_ledger_add(&of_rank, &state, NULL), RS_OK);
    rs_cell_state_clear(e, &state);
    rs_ledger_close(&of_rank);
  }
}

Test(rank_folders, starved_cell__is_done_for_this_run_alone) {
  rs_experiment *experiment = experiment_of(yaml),
                *other = experiment_of(TINY "methods: [rope]\nlengths: [32]\nmetrics: [decay]\n");
  for (int now = 0; now <= 1; now++) {
    rs_ledger ledger, of_other;
    leave_starved(experiment, other);
    open_ledger(experiment, &ledger);
    cr_expect_eq(rs_rank_folders_merge(&ledger, "o", now, NULL), RS_OK);
    cr_expect_eq(ledger.done, now);
    cr_expect_eq(ledger.places[0] != 0, now);
    rs_ledger_close(&ledger);
    cr_assert_eq(rs_ledger_make(other, rs_kernels_get()->isa, &of_other, NULL), RS_OK);
    cr_assert_eq(rs_ledger_open(&of_other, "o", false, NULL), RS_OK);
    cr_expect_eq(of_other.done, 1);
    rs_ledger_close(&of_other);
  }
  rs_experiment_free(experiment);
  rs_experiment_free(other);
}

Test(rank_folders, last_record_of_a_cell__counts) {
  static const rs_status statuses[] = {RS_DOMAIN, RS_UNSUPPORTED};
  rs_experiment *experiment = experiment_of(yaml);
  rs_ledger of_rank, ledger;
  rs_folder_lock lock;
  rs_cell_state state;
  cr_assert_eq(rs_rank_folders_make("o", 2, NULL), RS_OK);
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &of_rank, NULL), RS_OK);
  cr_assert_eq(rs_rank_folder_open(&of_rank, "o", 1, &lock, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(statuses); i++) {
    cr_assert_eq(rs_ledger_state(&of_rank, 0, &state, NULL), RS_OK);
    state.status = statuses[i];
    cr_assert_eq(rs_ledger_add(&of_rank, &state, NULL), RS_OK);
    rs_cell_state_clear(experiment, &state);
  }
  rs_folder_lock_drop(&lock);
  rs_ledger_close(&of_rank);
  open_ledger(experiment, &ledger);
  cr_assert_eq(rs_rank_folders_merge(&ledger, "o", false, NULL), RS_OK);
  cr_expect_eq(ledger.done, 1);
  cr_assert_eq(rs_ledger_read(&ledger, 0, &state, NULL), RS_OK);
  cr_expect_eq(state.status, RS_UNSUPPORTED);
  rs_cell_state_clear(experiment, &state);
  rs_ledger_close(&ledger);
  rs_experiment_free(experiment);
}

Test(rank_folders, folder_that_is_not_seen__is_refused) {
  rs_experiment *experiment = experiment_of(yaml);
  rs_ledger ledger;
  rs_folder_lock lock;
  rs_err err = {0};
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, NULL), RS_OK);
  cr_assert_eq(rs_rank_folders_make("o", 2, NULL), RS_OK);
  cr_expect_eq(rs_rank_folder_open(&ledger, "o", 2, &lock, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "o/.ropescope/rank-2, which rank 0 has made, is not there: all machines must share its "
                                "file system");
  rs_ledger_close(&ledger);
  rs_experiment_free(experiment);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Each cell in one unit, the largest first; a unit for each where cells allow it. */
Test(rank_folders, units__are_dealt_the_largest_first) {
  static const size_t among[] = {1, 2, 7, 24, 1000};
  rs_experiment *experiment = experiment_of(yaml);
  rs_cell *cells;
  size_t count;
  cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
  for (size_t a = 0; a < RS_COUNT(among); a++) {
    rs_units units;
    size_t times[CELLS] = {0};
    cr_assert_eq(rs_units_cut(experiment, cells, count, among[a], 64, &units, NULL), RS_OK);
    cr_expect_geq(units.count, among[a] < CELLS ? among[a] : CELLS);
    for (size_t u = 0; u < units.count; u++) {
      const rs_unit *unit = &units.items[u], *before = &units.items[u - (u > 0)];
      cr_expect_leq(unit->own + unit->making, before->own + before->making);
      for (size_t i = 0; i < unit->count; i++) times[units.order[unit->first + i]]++;
    }
    for (size_t i = 0; i < CELLS; i++) cr_expect_eq(times[i], 1, "cell %zu is in %zu units", i, times[i]);
    rs_units_clear(&units);
  }
  free(cells);
  rs_experiment_free(experiment);
}
