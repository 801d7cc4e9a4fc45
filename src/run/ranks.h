/* Processes that run a sweep together. */
#ifndef ROPESCOPE_RUN_RANKS_H
#define ROPESCOPE_RUN_RANKS_H

#include "ledger.h"
#include "work.h"

/* Rank 0 has the folder, hands out portions of cells and takes the records of what is done. What carries the messages
 * is ranks_mpi.c, or nothing, ranks_none.c. */

/* What MPI says of this process. */
struct rs_ranks {
  int rank, count, local;
};

/* ---- messages ---------------------------------------------------------------------------------------------------- */

typedef struct rs_rank_message {
  size_t rank; /* that it came from */
  int tag;
  uint8_t *data; /* (length,) owned */
  size_t length;
} rs_rank_message;

/* Sends, and returns when `data` may be changed. From one thread at a time, as the next. RS_IO, RS_MEMORY. */
rs_status rs_ranks_send(rs_ranks *ranks, size_t rank, int tag, const void *data, size_t length, rs_err *err);

/* Takes a message that is there; *there false: none is. Messages of one rank come in their order. RS_IO, RS_MEMORY. */
rs_status rs_ranks_receive(rs_ranks *ranks, bool *there, rs_rank_message *message, rs_err *err);

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Runs every cell of rank 0's ledger that is to be done, here and by all other ranks, and ends these. As
 * rs_portions_run, rs_trained_run; RS_INPUT where a rank has another config, program or instruction set. */
rs_status rs_ranks_deal(rs_ranks *ranks, rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

/* Ends the other ranks where there is nothing to deal. */
rs_status rs_ranks_dismiss(rs_ranks *ranks, rs_err *err);

/* Another rank's part: runs what rank 0 hands out, until there is no more. */
rs_status rs_ranks_work(rs_ranks *ranks, rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

/* Of a rank that cannot begin: tells rank 0 of `why`, and returns its status. */
rs_status rs_ranks_refuse(rs_ranks *ranks, const rs_err *why);

/* How many processes a launcher of MPI has started, by its environment; 0: none has. */
size_t rs_ranks_launched(void);

/* ---- a rank's part ----------------------------------------------------------------------------------------------- */

/* Tags of messages. HELLO: the digest of what is to be run, then the instruction set. ASK: the portion at hand is done,
 * or there is none. RECORD: the number of a cell, then its record. FAIL: a status, then a message.  WORK: numbers of
 * cells. */
enum { RS_RANK_HELLO = 1, RS_RANK_ASK, RS_RANK_RECORD, RS_RANK_FAIL, RS_RANK_BYE, RS_RANK_WORK, RS_RANK_END };

/* Sleeps between two looks for messages, twice as long each time, `longest` ns at most. Begin with 0. */
enum { RS_RANK_NAP = 2000000 };
void rs_rank_nap(long *ns, long longest);

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

void rs_rank_part_clear(rs_rank_part *part);

#endif
