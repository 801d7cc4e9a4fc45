/* What ranks have in common. */
#include "ranks.h"

void rs_rank_digest(const rs_ledger *ledger, uint8_t digest[32]) {
  rs_sha256_digest((const rs_bytes[]){{ledger->keys, ledger->count * sizeof *ledger->keys},
                                      {ledger->others, ledger->count * sizeof *ledger->others}},
                   2, digest);
}

static rs_status run(rs_rank_part *part, size_t cell, rs_team *team, rs_err *err) {
  if (part->ledger->experiment->checkpoints != NULL)
    return team != NULL ? rs_trained_join(part->ledger, &part->watch, cell, team, err)
                        : rs_trained_run(part->ledger, &part->watch, err);
  if (part->portions == NULL) RS_TRY(rs_portions_open(part->ledger, &part->watch, &part->portions, err));
  rs_portions_join(part->portions, team);
  rs_status status = rs_portions_work(part->portions, err);
  rs_portions_join(part->portions, NULL);
  return status;
}

rs_status rs_rank_part_run(rs_rank_part *part, rs_err *err) {
  return run(part, 0, NULL, err);
}

/* ---- together ---------------------------------------------------------------------------------------------------- */

typedef struct rank_team {
  rs_ranks *ranks;
  const rs_trained_watch *user;
} rank_team;

static rs_status gather(void *context, rs_status status, void *data, const size_t *begins) {
  const rank_team *t = context;
  if (status == RS_OK && rs_trained_stopped(t->user)) status = RS_STOPPED;
  int worst = rs_ranks_agree(t->ranks, (int)status);
  return worst == RS_OK && data != NULL ? rs_ranks_spread(t->ranks, data, begins) : (rs_status)worst;
}

/* Whoever ends before the others have heard of it says so. */
rs_status rs_rank_part_join(rs_rank_part *part, rs_ranks *ranks, size_t cell, const rs_trained_watch *user,
                            rs_err *err) {
  rank_team with = {ranks, user};
  rs_team team = {.member = rs_ranks_rank(ranks), .members = rs_ranks_count(ranks), .gather = gather, .context = &with};
  part->ledger->others[cell] = false;
  rs_status status = run(part, cell, &team, err);
  part->ledger->others[cell] = true;
  if (team.calls == 0) (void)rs_team_agree(&team, status != RS_OK ? status : RS_MEMORY, NULL);
  return status;
}

void rs_rank_part_clear(rs_rank_part *part) {
  rs_portions_close(part->portions);
  part->portions = NULL;
}
