/* A rank's part of a sweep: what it runs of what rank 0 hands out, and, on another rank than that, what it says of it.
 */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

size_t rs_ranks_rank(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->rank : 0;
}

size_t rs_ranks_count(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->count : 1;
}

size_t rs_ranks_local(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->local : 1;
}

void rs_rank_digest(const rs_ledger *ledger, uint8_t digest[32]) {
  rs_sha256_digest((const rs_bytes[]){{ledger->keys, ledger->count * sizeof *ledger->keys},
                                      {ledger->others, ledger->count * sizeof *ledger->others}},
                   2, digest);
}

rs_status rs_rank_part_run(rs_rank_part *part, rs_err *err) {
  if (part->ledger->experiment->checkpoints != NULL) return rs_trained_run(part->ledger, &part->watch, err);
  if (part->portions == NULL) RS_TRY(rs_portions_open(part->ledger, &part->watch, &part->portions, err));
  return rs_portions_work(part->portions, err);
}

void rs_rank_part_clear(rs_rank_part *part) {
  rs_portions_close(part->portions);
  part->portions = NULL;
}

/* ---- another rank than the one that has the folder --------------------------------------------------------------- */

typedef struct worker {
  rs_ranks *ranks;
  const rs_trained_watch *watch;
  rs_rank_part part;
  pthread_mutex_t lock; /* held while messages are sent or looked for */
  _Atomic bool ended;   /* rank 0 has said so */
  double looked;        /* when messages were looked for last, while working */
} worker;

static rs_status send(worker *w, int tag, const void *data, size_t length, rs_err *err) {
  (void)pthread_mutex_lock(&w->lock);
  rs_status status = rs_ranks_send(w->ranks, 0, tag, data, length, err);
  (void)pthread_mutex_unlock(&w->lock);
  return status;
}

static rs_status send_record(void *context, size_t cell, const rs_text *record, rs_err *err) {
  worker *w = context;
  rs_text words = {0};
  uint64_t number = cell;
  rs_text_add(&words, (const char *)&number, sizeof number);
  rs_text_add(&words, rs_text_string(record), record->length);
  rs_status status = rs_text_check(record, err);
  if (status == RS_OK) status = rs_text_check(&words, err);
  if (status == RS_OK) status = send(w, RS_RANK_RECORD, rs_text_string(&words), words.length, err);
  rs_text_clear(&words);
  return status;
}

static void ignore_progress(void *context, double work, size_t cells) {
  (void)context, (void)work, (void)cells;
}

/* While it works, no message but the end can come. */
static bool worker_stop(void *context) {
  static const double interval = 0.1; /* seconds */
  worker *w = context;
  if (pthread_mutex_trylock(&w->lock) == 0) {
    double t = rs_seconds();
    bool there = false;
    rs_rank_message message;
    if (!w->ended && t - w->looked > interval && rs_ranks_receive(w->ranks, &there, &message, NULL) == RS_OK && there) {
      w->ended = true;
      free(message.data);
    }
    if (t - w->looked > interval) w->looked = t;
    (void)pthread_mutex_unlock(&w->lock);
  }
  return w->ended || rs_trained_stopped(w->watch);
}

static rs_status work(worker *w, const rs_rank_message *message, rs_err *err) {
  size_t count = message->length / sizeof(uint64_t);
  const uint64_t *cells = (const uint64_t *)(const void *)message->data; /* as rs_alloc aligns it */
  bool *others = w->part.ledger->others;
  for (size_t i = 0; i < count; i++) others[cells[i]] = false;
  w->looked = rs_seconds();
  rs_status status = rs_rank_part_run(&w->part, err);
  for (size_t i = 0; i < count; i++) others[cells[i]] = true;
  return status;
}

static rs_status receive(worker *w, rs_rank_message *message, rs_err *err) {
  long ns = 0;
  for (;;) {
    bool there;
    RS_TRY(rs_ranks_receive(w->ranks, &there, message, err));
    if (there) return RS_OK;
    if (rs_trained_stopped(w->watch)) return rs_fail(err, RS_STOPPED, "stopped");
    rs_rank_nap(&ns, RS_RANK_NAP);
  }
}

/* Takes portions until the end. */
static rs_status work_on(worker *w, rs_err *err) {
  while (!w->ended) {
    rs_rank_message message;
    RS_TRY(receive(w, &message, err));
    w->ended = message.tag == RS_RANK_END;
    rs_status status = message.tag == RS_RANK_WORK ? work(w, &message, err) : RS_OK;
    free(message.data);
    if (w->ended) break;
    RS_TRY(status);
    RS_TRY(send(w, RS_RANK_ASK, "", 0, err));
  }
  return RS_OK;
}

static rs_status greet(worker *w, const rs_ledger *ledger, rs_err *err) {
  rs_text words = {0};
  uint8_t digest[32];
  rs_rank_digest(ledger, digest);
  rs_text_add(&words, (const char *)digest, sizeof digest);
  rs_text_puts(&words, ledger->isa);
  rs_status status = rs_text_check(&words, err);
  if (status == RS_OK) status = send(w, RS_RANK_HELLO, rs_text_string(&words), words.length, err);
  rs_text_clear(&words);
  return status;
}

rs_status rs_ranks_refuse(rs_ranks *ranks, const rs_err *why) {
  char words[1 + sizeof why->message];
  size_t length = strlen(why->message);
  words[0] = (char)why->status;
  memcpy(words + 1, why->message, length);
  (void)rs_ranks_send(ranks, 0, RS_RANK_FAIL, words, 1 + length, NULL);
  return why->status;
}

rs_status rs_ranks_work(rs_ranks *ranks, rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err) {
  worker w = {.ranks = ranks, .watch = watch, .lock = PTHREAD_MUTEX_INITIALIZER};
  w.part = (rs_rank_part){.ledger = ledger,
                          .watch = {ignore_progress, worker_stop, &w, watch->checkpoints, watch->training}};
  rs_err why = {0};
  rs_status status = greet(&w, ledger, &why);
  for (size_t i = 0; i < ledger->count; i++) rs_ledger_leave(ledger, i);
  ledger->send = send_record;
  ledger->context = &w;
  if (status == RS_OK) status = work_on(&w, &why);
  rs_rank_part_clear(&w.part);
  if (status == RS_OK) return send(&w, RS_RANK_BYE, "", 0, err);
  return rs_fail(err, rs_ranks_refuse(ranks, &why), "%s", why.message);
}
