/* A sweep on several ranks. Rank 0 hands out portions to whoever asks, itself among them, and appends what comes back
 * to the journal; the files are written from that, so that they are the same bytes for any number of ranks. A rank
 * sends each record when the cell is done: what was received outlives the rank. */
#include "costs.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

/* ---- dealing ----------------------------------------------------------------------------------------------------- */

/* What rank 0 knows of another. */
typedef struct player {
  bool waiting, told, gone; /* for a portion; that there is an end; and it has ended */
  size_t portion;           /* that it has, from 1; 0: none */
} player;

typedef struct deal {
  rs_arena arena; /* of the lists here and in the view */
  rs_ranks *ranks;
  rs_ledger *ledger, view; /* of all, and of the portion that rank 0 itself has */
  const rs_trained_watch *watch;
  rs_rank_part part; /* what rank 0 itself has */
  rs_schedule schedule;
  size_t *cells;        /* numbers of those that are to be done, by the schedule's indices */
  player *players;      /* (ranks,) */
  size_t left;          /* other ranks that have not ended */
  uint8_t digest[32];   /* of what all run */
  pthread_mutex_t lock; /* of all that follows, and of the schedule */
  rs_err err;           /* what ends the run before its end */
  bool unsynced;        /* records wait for the disk */
  size_t cells_done;    /* by others, and not told of yet */
  double work_done;
} deal;

static void lock(deal *d) {
  (void)pthread_mutex_lock(&d->lock);
}

static void unlock(deal *d) {
  (void)pthread_mutex_unlock(&d->lock);
}

static void fail(deal *d, rs_status status, const char *message) {
  lock(d);
  if (status != RS_OK) (void)rs_fail(&d->err, status, "%s", message);
  unlock(d);
}

static void fail_if_stopped(deal *d) {
  if (rs_trained_stopped(d->watch)) fail(d, RS_STOPPED, "stopped");
}

static bool has_failed(deal *d) {
  lock(d);
  bool failed = d->err.status != RS_OK;
  unlock(d);
  return failed;
}

/* ---- what others say --------------------------------------------------------------------------------------------- */

static rs_status take_hello(deal *d, const rs_rank_message *message, rs_err *err) {
  size_t size = sizeof d->digest;
  if (message->length >= size && memcmp(message->data, d->digest, size) == 0) return RS_OK;
  int length = message->length > size ? (int)(message->length - size) : 0;
  return rs_fail(err, RS_INPUT,
                 "rank %zu has another config, program or instruction set (%.*s there, %s here) than rank 0: the same "
                 "files and options on all machines, and --isa where they differ",
                 message->rank, length, length > 0 ? (const char *)message->data + size : "", d->ledger->isa);
}

static rs_status take_record(deal *d, const rs_rank_message *message, rs_err *err) {
  uint64_t cell;
  rs_text record = {0};
  if (message->length < sizeof cell) return rs_fail(err, RS_INTERNAL, "rank %zu sent no record", message->rank);
  memcpy(&cell, message->data, sizeof cell);
  if (cell >= d->ledger->count) return rs_fail(err, RS_INTERNAL, "rank %zu sent cell %zu", message->rank, (size_t)cell);
  rs_text_add(&record, (const char *)message->data + sizeof cell, message->length - sizeof cell);
  rs_status status = rs_ledger_put(d->ledger, (size_t)cell, &record, err);
  rs_text_clear(&record);
  RS_TRY(status);
  lock(d);
  d->unsynced = true;
  d->cells_done++;
  d->work_done += d->ledger->weights[cell];
  unlock(d);
  return RS_OK;
}

static rs_status take_failure(const rs_rank_message *message, rs_err *err) {
  rs_status status = message->length > 0 ? (rs_status)message->data[0] : RS_INTERNAL;
  int length = message->length > 1 ? (int)(message->length - 1) : 0;
  if (status == RS_STOPPED) return rs_fail(err, status, "%.*s", length, (const char *)message->data + 1);
  return rs_fail(err, status, "rank %zu: %.*s", message->rank, length, (const char *)message->data + 1);
}

static void take_message(deal *d, const rs_rank_message *message) {
  player *p = &d->players[message->rank];
  rs_err why = {0};
  rs_status status = RS_OK;
  if (message->tag == RS_RANK_HELLO) status = take_hello(d, message, &why);
  if (message->tag == RS_RANK_RECORD) status = take_record(d, message, &why);
  if (message->tag == RS_RANK_FAIL) status = take_failure(message, &why);
  lock(d);
  if (message->tag == RS_RANK_ASK && p->portion > 0) rs_schedule_done(&d->schedule, p->portion - 1);
  if (message->tag == RS_RANK_ASK) p->portion = 0;
  unlock(d);
  if (message->tag == RS_RANK_HELLO || message->tag == RS_RANK_ASK) p->waiting = true;
  if (message->tag == RS_RANK_FAIL || message->tag == RS_RANK_BYE) {
    p->gone = true;
    d->left--;
  }
  fail(d, status, why.message);
}

/* ---- what they are told ------------------------------------------------------------------------------------------ */

static rs_status send_portion(deal *d, size_t rank, size_t portion, rs_err *err) {
  const rs_portion *p = &d->schedule.items[portion];
  uint64_t *numbers = rs_alloc(p->count, sizeof *numbers, err);
  if (numbers == NULL) return RS_MEMORY;
  for (size_t i = 0; i < p->count; i++) numbers[i] = d->cells[d->schedule.units.order[p->first + i]];
  d->players[rank].waiting = false;
  rs_status status = rs_ranks_send(d->ranks, rank, RS_RANK_WORK, numbers, p->count * sizeof *numbers, err);
  free(numbers);
  return status;
}

/* Every rank that waits gets a portion, or the end; all get the end where the run has failed. */
static rs_status answer(deal *d, size_t rank, rs_err *err) {
  player *p = &d->players[rank];
  size_t portion = 0;
  if (p->gone || p->told) return RS_OK;
  lock(d);
  bool failed = d->err.status != RS_OK, given = !failed && p->waiting && rs_schedule_next(&d->schedule, &portion);
  bool left = rs_schedule_left(&d->schedule);
  if (given) p->portion = portion + 1;
  unlock(d);
  if (given) return send_portion(d, rank, portion, err);
  if (!failed && (!p->waiting || left)) return RS_OK;
  p->told = true;
  p->waiting = false;
  return rs_ranks_send(d->ranks, rank, RS_RANK_END, "", 0, err);
}

static rs_status bring_to_disk(deal *d, rs_err *err) {
  lock(d);
  bool unsynced = d->unsynced;
  d->unsynced = false;
  unlock(d);
  return unsynced ? rs_ledger_sync(d->ledger, err) : RS_OK;
}

/* The other thread of rank 0, which has all messages: answers until every rank has ended. */
static void *serve(void *context) {
  enum { MOST_BEFORE_DISK = 64 };
  deal *d = context;
  size_t taken = 0;
  long ns = 0;
  while (d->left > 0) {
    rs_rank_message message;
    rs_err why = {0};
    bool there = false;
    rs_status status = rs_ranks_receive(d->ranks, &there, &message, &why);
    if (there) {
      take_message(d, &message);
      free(message.data);
      ns = 0;
      taken++;
    } else {
      rs_rank_nap(&ns, RS_RANK_NAP);
    }
    if (status == RS_OK && (!there || taken % MOST_BEFORE_DISK == 0)) status = bring_to_disk(d, &why);
    for (size_t r = 1; r < rs_ranks_count(d->ranks) && status == RS_OK; r++) status = answer(d, r, &why);
    fail(d, status, why.message);
  }
  return NULL;
}

/* ---- rank 0's own part ------------------------------------------------------------------------------------------- */

static rs_status put_own(void *context, size_t cell, const rs_text *record, rs_err *err) {
  deal *d = context;
  RS_TRY(rs_ledger_put(d->ledger, cell, record, err));
  lock(d);
  d->unsynced = true;
  unlock(d);
  return RS_OK;
}

/* Tells of what others have done, too. */
static void advance(void *context, double work, size_t cells) {
  deal *d = context;
  lock(d);
  work += d->work_done;
  cells += d->cells_done;
  d->work_done = 0;
  d->cells_done = 0;
  unlock(d);
  d->watch->advance(d->watch->context, work, cells);
}

static bool stop(void *context) {
  deal *d = context;
  return has_failed(d) || rs_trained_stopped(d->watch);
}

static rs_status run_own(deal *d, size_t portion, rs_err *err) {
  const rs_portion *p = &d->schedule.items[portion];
  const size_t *order = d->schedule.units.order + p->first;
  for (size_t i = 0; i < p->count; i++) d->view.others[d->cells[order[i]]] = false;
  rs_status status = rs_rank_part_run(&d->part, err);
  for (size_t i = 0; i < p->count; i++) d->view.others[d->cells[order[i]]] = true;
  return status;
}

/* Works until nothing is left to give. */
static void play(deal *d) {
  long ns = 0;
  for (bool left = true; left;) {
    size_t portion;
    rs_err why = {0};
    fail_if_stopped(d);
    lock(d);
    bool failed = d->err.status != RS_OK, given = !failed && rs_schedule_next(&d->schedule, &portion);
    left = !failed && (given || rs_schedule_left(&d->schedule));
    unlock(d);
    if (given) {
      rs_status status = run_own(d, portion, &why);
      fail(d, status, why.message);
      lock(d);
      if (status == RS_OK) rs_schedule_done(&d->schedule, portion);
      unlock(d);
      ns = 0;
    } else if (left) {
      rs_rank_nap(&ns, RS_RANK_NAP);
    }
    advance(d, 0, 0);
  }
}

/* Waits for the others, who may still work. */
static void await(deal *d, pthread_t server) {
  while (pthread_tryjoin_np(server, NULL) != 0) {
    long ns = RS_RANK_NAP;
    fail_if_stopped(d);
    rs_rank_nap(&ns, RS_RANK_NAP);
    advance(d, 0, 0);
  }
  advance(d, 0, 0);
}

/* ---- the whole deal ---------------------------------------------------------------------------------------------- */

static rs_status make(deal *d, rs_err *err) {
  size_t count = d->ledger->count;
  d->part = (rs_rank_part){.ledger = &d->view, .watch = {advance, stop, d, d->watch->checkpoints, d->watch->training}};
  rs_rank_digest(d->ledger, d->digest);
  d->view = *d->ledger;
  d->view.journal = (rs_journal){.file = -1};
  d->view.send = put_own;
  d->view.context = d;
  d->view.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  d->view.others = rs_arena_take(&d->arena, count, sizeof(bool));
  d->view.places = rs_arena_take(&d->arena, count, sizeof *d->view.places);
  d->cells = rs_arena_take(&d->arena, count, sizeof *d->cells);
  d->players = rs_arena_take(&d->arena, rs_ranks_count(d->ranks), sizeof *d->players);
  RS_TRY(rs_arena_check(&d->arena, err));
  memset(d->view.others, true, count * sizeof(bool));
  return RS_OK;
}

static rs_status make_schedule(deal *d, rs_err *err) {
  const rs_ledger *ledger = d->ledger;
  size_t count = 0;
  rs_cell *cells = rs_arena_take(&d->arena, ledger->count, sizeof *cells);
  RS_TRY(rs_arena_check(&d->arena, err));
  for (size_t i = 0; i < ledger->count; i++) {
    if (!rs_ledger_pending(ledger, i)) continue;
    cells[count] = ledger->cells[i];
    d->cells[count++] = i;
  }
  return rs_schedule_make(ledger->experiment, cells, count, rs_ranks_count(d->ranks), &d->schedule, err);
}

/* Other ranks are told of the end, whatever has failed. */
static void deal_rest(deal *d) {
  pthread_t server;
  rs_err why = {0};
  fail(d, make_schedule(d, &why), why.message);
  if (pthread_create(&server, NULL, serve, d) != 0) {
    fail(d, RS_MEMORY, "no thread for the messages of other ranks");
    (void)serve(d);
  } else {
    play(d);
    await(d, server);
  }
}

rs_status rs_ranks_deal(rs_ranks *ranks, rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err) {
  deal d = {.ranks = ranks,
            .ledger = ledger,
            .watch = watch,
            .left = rs_ranks_count(ranks) - 1,
            .lock = PTHREAD_MUTEX_INITIALIZER};
  rs_status status = make(&d, err);
  if (status != RS_OK) {
    rs_err late = {0};
    (void)rs_ranks_dismiss(ranks, &late);
  } else {
    deal_rest(&d);
    status = rs_ledger_sync(ledger, &d.err);
    if (d.err.status != RS_OK) status = rs_fail(err, d.err.status, "%s", d.err.message);
  }
  rs_rank_part_clear(&d.part);
  rs_schedule_clear(&d.schedule);
  rs_arena_clear(&d.arena);
  return status;
}

rs_status rs_ranks_dismiss(rs_ranks *ranks, rs_err *err) {
  size_t left = rs_ranks_count(ranks) - 1;
  long ns = 0;
  while (left > 0) {
    rs_rank_message message;
    bool there;
    RS_TRY(rs_ranks_receive(ranks, &there, &message, err));
    if (!there) {
      rs_rank_nap(&ns, RS_RANK_NAP);
      continue;
    }
    free(message.data);
    left -= message.tag == RS_RANK_BYE || message.tag == RS_RANK_FAIL;
    if (message.tag == RS_RANK_HELLO || message.tag == RS_RANK_ASK)
      RS_TRY(rs_ranks_send(ranks, message.rank, RS_RANK_END, "", 0, err));
  }
  return RS_OK;
}
