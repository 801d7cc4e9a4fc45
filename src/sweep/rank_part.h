/* What ranks say to each other, and what one of them runs. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_RANK_PART_H
#define ROPESCOPE_SWEEP_RANK_PART_H

#include "portions.h"
#include "ranks.h"

/* Tags of messages. HELLO: the digest of what is to be run, then the instruction set. ASK: the portion at hand is done,
 * or there is none. RECORD: the number of a cell, then its record. FAIL: a status, then a message. JOIN: the number of
 * a cell that all work on together. WORK: numbers of cells. */
enum {
  RS_RANK_HELLO = 1,
  RS_RANK_ASK,
  RS_RANK_RECORD,
  RS_RANK_FAIL,
  RS_RANK_BYE,
  RS_RANK_JOIN,
  RS_RANK_WORK,
  RS_RANK_END
};

/* Sleeps between two looks for messages, longer each time. Begin with 0. */
extern const long rs_rank_longest_nap; /* ns */
void rs_rank_nap(long *ns);

/* Of what all ranks must agree in. */
void rs_rank_digest(const rs_ledger *ledger, uint8_t digest[32]);

/* Cells that are handed to a rank, some at a time: those that are to be done and of no others. What is made for some is
 * kept for the next. Begin with `ledger` and `watch` alone; release with rs_rank_part_clear. */
typedef struct rs_rank_part {
  rs_ledger *ledger; /* borrowed */
  rs_trained_watch watch;
  rs_portions *portions; /* of simulated heads; NULL before the first */
} rs_rank_part;

/* As rs_portions_work, rs_trained_run. */
rs_status rs_rank_part_run(rs_rank_part *part, rs_err *err);

/* This rank's share of what all ranks do together: the rows of a cell, or the training that it reads. `stop` (NULL:
 * never) is asked for an end. As rs_rank_part_run. */
rs_status rs_rank_part_join(rs_rank_part *part, rs_ranks *ranks, size_t cell, bool (*stop)(void *context),
                            void *context, rs_err *err);
void rs_rank_part_clear(rs_rank_part *part);

#endif
