/* Processes that run a sweep together, as messages between them. Rank 0 has the folder, hands out portions of cells and
 * takes the records of what is done. Private to the sweep layer; what carries the messages is ranks_mpi.c, or nothing,
 * ranks_none.c. */
#ifndef ROPESCOPE_SWEEP_RANKS_H
#define ROPESCOPE_SWEEP_RANKS_H

#include "ledger.h"
#include "trained.h"

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

/* Gives all ranks the bytes of each, when all have called this: rank r's are [begins[r], begins[r + 1]) of data. From
 * the thread that has the messages. RS_IO. */
rs_status rs_ranks_spread(rs_ranks *ranks, void *data, const size_t *begins);

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

#endif
