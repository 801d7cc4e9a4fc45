/* One sweep on several ranks, in a folder that all of them see, so that machines share its file system. All cut what is
 * to be done into the same units, the largest first, and take the next by a shared number. Each records what it has
 * done in a journal of its own; when all have ended, rank 0 takes the records into its journal, from which the files
 * are written. Who is killed so loses no finished cell: the next run, on however many ranks, finds the journals. */
#include "costs.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* Above the number of any unit: all is over. */
static const double no_more = 1e15;

/* In the place of a digest, from rank 0. */
static const uint8_t nothing[32];

typedef struct deal {
  rs_arena arena; /* of the lists here */
  rs_ranks *ranks;
  bool first; /* rank 0, whose ledger has the folder's journal */
  rs_ledger *ledger;
  const char *directory;
  const rs_trained_watch *user;
  rs_trained_watch watch;
  bool *pending; /* (cells,) what is to be done, as rank 0 finds it, */
  size_t *cells; /* and the numbers of those cells, by the units' indices */
  rs_units units;
  rs_portions *portions;   /* NULL before the first, and of checkpoints */
  double told;             /* seconds of the clock, when others were told */
  double done[RS_TALLIES]; /* what they were not told of */
  double seen[RS_TALLIES]; /* what all have done, as the user was told */
  _Atomic bool over;
} deal;

static bool stop(void *context) {
  const deal *d = context;
  return d->over || rs_trained_stopped(d->user);
}

/* The user hears of what all ranks have done. */
static void advance(void *context, double work, size_t cells) {
  static const double interval = 0.1; /* seconds */
  deal *d = context;
  double before[RS_TALLIES];
  d->done[RS_CELLS] += (double)cells;
  d->done[RS_WORK] += work;
  if (rs_seconds() - d->told < interval) return;
  memcpy(before, d->seen, sizeof before);
  for (rs_tally i = 0; i < RS_TALLIES; i++) {
    d->seen[i] = rs_ranks_add(d->ranks, i, d->done[i]) + d->done[i];
    d->done[i] = 0;
  }
  d->over = d->seen[RS_NEXT] >= no_more;
  d->told = rs_seconds();
  d->user->advance(d->user->context, d->seen[RS_WORK] - before[RS_WORK],
                   (size_t)(d->seen[RS_CELLS] - before[RS_CELLS]));
}

/* While it waits for others; whether this process is told to end. */
static bool wait_on(void *context) {
  advance(context, 0, 0);
  return rs_trained_stopped(((const deal *)context)->user);
}

/* Whether all ranks go on, of which `why` says what is wrong on this one. That is for it to tell; rank 0 tells what is
 * wrong where nobody else does. */
static rs_status settle(deal *d, rs_err *why) {
  enum { FINE, STOPPED, FAILED };
  int code = why->status == RS_OK ? FINE : why->status == RS_STOPPED ? STOPPED : FAILED;
  if (!rs_ranks_meet(d->ranks, &code, wait_on, d)) return rs_fail(why, RS_STOPPED, "stopped");
  if (code == FAILED && d->first) return rs_fail(why, RS_IO, "another rank has failed");
  return code != FINE ? rs_fail(why, RS_STOPPED, "stopped") : RS_OK;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static rs_status make_units(deal *d, rs_err *err) {
  enum { PARTS = 64 }; /* of a rank */
  rs_cell *cells = rs_arena_take(&d->arena, d->ledger->count, sizeof *cells);
  size_t count = 0;
  d->cells = rs_arena_take(&d->arena, d->ledger->count, sizeof *d->cells);
  RS_TRY(rs_arena_check(&d->arena, err));
  for (size_t i = 0; i < d->ledger->count; i++) {
    if (!d->pending[i]) continue;
    cells[count] = d->ledger->cells[i];
    d->cells[count++] = i;
  }
  return rs_units_cut(d->ledger->experiment, cells, count, rs_ranks_count(d->ranks), PARTS, &d->units, err);
}

static void hand_out(const deal *d, size_t first, size_t end, bool others) {
  for (const rs_unit *unit = d->units.items + first; unit < d->units.items + end; unit++)
    for (size_t i = 0; i < unit->count; i++) d->ledger->others[d->cells[d->units.order[unit->first + i]]] = others;
}

static rs_status run_units(deal *d, size_t first, size_t end, rs_err *err) {
  rs_status status = RS_OK;
  hand_out(d, first, end, false);
  if (d->units.trained)
    status = rs_trained_run(d->ledger, &d->watch, err);
  else if (d->portions != NULL || (status = rs_portions_open(d->ledger, &d->watch, &d->portions, err)) == RS_OK)
    status = rs_portions_work(d->portions, err);
  hand_out(d, first, end, true);
  return status;
}

/* Until none is left, or a rank has ended all: what that failed with is for all to hear. Of very many units some are
 * taken at a time. */
static rs_status take_units(deal *d, rs_err *err) {
  enum { TIMES = 64 };
  size_t each = d->units.trained ? 1 : 1 + d->units.count / (TIMES * rs_ranks_count(d->ranks));
  for (double next; (next = rs_ranks_add(d->ranks, RS_NEXT, 1) * (double)each) < (double)d->units.count;) {
    size_t first = (size_t)next, left = d->units.count - first;
    rs_err why = {0};
    rs_status status = run_units(d, first, first + (each < left ? each : left), &why);
    if (status == RS_STOPPED && d->over && !rs_trained_stopped(d->user)) return RS_OK;
    if (status != RS_OK) return rs_fail(err, status, "%s", why.message);
  }
  return RS_OK;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* All ranks must agree in the digest. */
static rs_status prepare(deal *d, uint8_t digest[32], rs_err *err) {
  const rs_ledger *ledger = d->ledger;
  rs_sha256_digest((const rs_bytes[]){{ledger->keys, ledger->count * sizeof *ledger->keys}}, 1, digest);
  d->pending = rs_arena_take(&d->arena, ledger->count, sizeof *d->pending);
  RS_TRY(rs_arena_check(&d->arena, err));
  for (size_t i = 0; i < ledger->count; i++) d->pending[i] = rs_ledger_pending(ledger, i);
  return d->first ? rs_rank_folders_make(d->directory, rs_ranks_count(d->ranks), err) : RS_OK;
}

/* All ranks come together, and know what there is to do; *run false: nothing. */
static rs_status meet(deal *d, bool *run, rs_err *why) {
  uint8_t mine[32] = {0}, first[32];
  if (why->status == RS_OK) (void)prepare(d, mine, why);
  memcpy(first, mine, sizeof first);
  if (!rs_ranks_spread(d->ranks, first, sizeof first, wait_on, d)) return rs_fail(why, RS_STOPPED, "stopped");
  *run = memcmp(first, nothing, sizeof first) != 0;
  if (!*run) return why->status;
  if (memcmp(mine, first, sizeof first) != 0)
    (void)rs_fail(why, RS_INPUT,
                  "another config, program or instruction set than rank 0 has: the same files and options on all "
                  "machines, and --isa where they differ");
  RS_TRY(settle(d, why));
  bool met = rs_ranks_spread(d->ranks, d->pending, d->ledger->count * sizeof *d->pending, wait_on, d);
  return met ? RS_OK : rs_fail(why, RS_STOPPED, "stopped");
}

/* This rank's part; its journal is whole when the others hear of it. */
static rs_status take_part(deal *d, rs_err *why) {
  rs_folder_lock lock = {.file = -1};
  rs_ledger *ledger = d->ledger;
  rs_err late = {0};
  rs_status status = d->first ? RS_OK : rs_rank_folder_open(ledger, d->directory, rs_ranks_rank(d->ranks), &lock, why);
  for (size_t i = 0; i < ledger->count; i++) ledger->others[i] = ledger->others[i] || d->pending[i] || !d->first;
  if (status == RS_OK) status = make_units(d, why);
  if (status == RS_OK) status = take_units(d, why);
  if (ledger->journal.file != -1 && rs_journal_seal(&ledger->journal, &late) != RS_OK && status == RS_OK)
    status = rs_fail(why, late.status, "%s", late.message);
  if (!d->first) rs_journal_close(&ledger->journal);
  rs_folder_lock_drop(&lock);
  if (status != RS_OK) (void)rs_ranks_add(d->ranks, RS_NEXT, no_more);
  d->told = 0;
  advance(d, 0, 0);
  return settle(d, why);
}

/* Rank 0 takes what others have done, whatever has failed. */
static rs_status gather(deal *d, rs_err *why) {
  rs_ledger *ledger = d->ledger;
  rs_err late = {0};
  for (size_t i = 0; i < ledger->count; i++) ledger->others[i] = ledger->others[i] && !d->pending[i];
  rs_status status = rs_rank_folders_merge(ledger, d->directory, true, &late);
  if (status == RS_OK && why->status == RS_OK && ledger->done < ledger->wanted)
    status = rs_fail(&late, RS_IO, "%zu of %zu cells are missing that other ranks have done: %s is not their folder",
                     ledger->wanted - ledger->done, ledger->wanted, d->directory);
  return status == RS_OK ? why->status : rs_fail(why, status, "%s", late.message);
}

rs_status rs_deal_run(rs_ranks *ranks, rs_ledger *ledger, const char *directory, const rs_trained_watch *watch,
                      rs_err *why) {
  bool run = false;
  deal d = {
      .ranks = ranks, .first = rs_ranks_rank(ranks) == 0, .ledger = ledger, .directory = directory, .user = watch};
  d.watch = (rs_trained_watch){advance, stop, &d, watch->checkpoints, watch->training};
  rs_status status = meet(&d, &run, why);
  if (status == RS_OK && run) status = take_part(&d, why);
  if (run && d.first) status = gather(&d, why);
  rs_portions_close(d.portions);
  rs_units_clear(&d.units);
  rs_arena_clear(&d.arena);
  return status;
}

void rs_deal_none(rs_ranks *ranks) {
  uint8_t none[sizeof nothing] = {0};
  if (ranks != NULL) (void)rs_ranks_spread(ranks, none, sizeof none, NULL, NULL);
}
