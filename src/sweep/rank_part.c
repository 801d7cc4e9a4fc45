/* What ranks have in common. */
#include "ranks.h"

#include <time.h>

const long rs_rank_longest_nap = 2000000;

void rs_rank_nap(long *ns) {
  *ns = *ns == 0 ? 20000 : *ns * 2 < rs_rank_longest_nap ? *ns * 2 : rs_rank_longest_nap;
  nanosleep(&(struct timespec){0, *ns}, NULL);
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

/* ---- together ---------------------------------------------------------------------------------------------------- */

typedef struct rank_team {
  rs_ranks *ranks;
  bool (*stop)(void *context);
  void *context;
} rank_team;

static rs_status gather(void *context, rs_status status, void *data, const size_t *begins) {
  const rank_team *t = context;
  if (status == RS_OK && t->stop != NULL && t->stop(t->context)) status = RS_STOPPED;
  int worst = rs_ranks_agree(t->ranks, (int)status);
  return worst == RS_OK && data != NULL ? rs_ranks_spread(t->ranks, data, begins) : (rs_status)worst;
}

static rs_status join(rs_rank_part *part, size_t cell, rs_team *team, rs_err *err) {
  if (part->ledger->experiment->checkpoints != NULL)
    return rs_trained_join(part->ledger, &part->watch, cell, team, err);
  if (part->portions == NULL) RS_TRY(rs_portions_open(part->ledger, &part->watch, &part->portions, err));
  rs_portions_join(part->portions, team);
  rs_status status = rs_portions_work(part->portions, err);
  rs_portions_join(part->portions, NULL);
  return status;
}

/* Whoever ends before the others have heard of it says so. */
rs_status rs_rank_part_join(rs_rank_part *part, rs_ranks *ranks, size_t cell, bool (*stop)(void *context),
                            void *context, rs_err *err) {
  rank_team with = {ranks, stop, context};
  rs_team team = {.member = rs_ranks_rank(ranks), .members = rs_ranks_count(ranks), .gather = gather, .context = &with};
  part->ledger->others[cell] = false;
  rs_status status = join(part, cell, &team, err);
  part->ledger->others[cell] = true;
  if (team.calls == 0) (void)rs_team_agree(&team, status != RS_OK ? status : RS_MEMORY, NULL);
  return status;
}

void rs_rank_part_clear(rs_rank_part *part) {
  rs_portions_close(part->portions);
  part->portions = NULL;
}
