/* What ranks have in common. */
#include "rank_part.h"

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

void rs_rank_part_clear(rs_rank_part *part) {
  rs_portions_close(part->portions);
  part->portions = NULL;
}
