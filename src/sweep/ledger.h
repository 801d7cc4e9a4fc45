/* The cells of a run: what each is, which are to be done here, and which are done. It has some hundred bytes for a
 * cell, however many there are; results stand in the journal. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_LEDGER_H
#define ROPESCOPE_SWEEP_LEDGER_H

#include "cell_key.h"

#include <pthread.h>

typedef struct rs_ledger {
  const rs_experiment *experiment; /* borrowed */
  const char *isa;                 /* the instruction set whose numbers these are; borrowed */
  rs_cell *cells;                  /* (count,) as all here */
  rs_cell_role *roles;
  rs_cell_key *keys;
  bool *others;     /* cells that are done elsewhere: of another shard, by another rank */
  uint64_t *places; /* of records in the journal; 0: the cell is to be done */
  double *weights;  /* in the progress of the run, of those; no unit */
  size_t *by_key;   /* indices in the order of keys */
  size_t count;
  size_t wanted, done, resumed; /* cells that are not of others, and of those */
  rs_journal journal;
  /* Where records go in place of the journal; NULL: into the journal. */
  rs_status (*send)(void *context, size_t cell, const rs_text *record, rs_err *err);
  void *context;
  pthread_mutex_t lock; /* held while a record is added or brought to the disk */
} rs_ledger;

/* Lists the cells, none of which is of others or done; no journal is open. Close it in any case. RS_IO where a
 * checkpoint cannot be read, RS_MEMORY. */
rs_status rs_ledger_make(const rs_experiment *experiment, const char *isa, rs_ledger *ledger, rs_err *err);
void rs_ledger_close(rs_ledger *ledger);

/* Leaves a cell to others. Before the journal is opened. */
void rs_ledger_leave(rs_ledger *ledger, size_t cell);

/* Opens the journal of a folder and finds the cells that are done in it; none where `fresh`. As rs_journal_open. */
rs_status rs_ledger_open(rs_ledger *ledger, const char *directory, bool fresh, rs_err *err);

/* The cells (*count,) that have a key, in their order. Borrows; none where no cell has it. */
const size_t *rs_ledger_find(const rs_ledger *ledger, const rs_cell_key *key, size_t *count);

/* Whether a cell is to be done here, and is not done yet. */
static inline bool rs_ledger_pending(const rs_ledger *ledger, size_t cell) {
  return ledger->places[cell] == 0 && !ledger->others[cell];
}

/* A state for cell number `index`, nothing done yet. Release with rs_cell_state_clear, also after a failure. */
rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

/* Records what a cell came to. RS_IO, RS_MEMORY, and what `send` fails with. */
rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err);

/* The same of a record that was made elsewhere. */
rs_status rs_ledger_put(rs_ledger *ledger, size_t cell, const rs_text *record, rs_err *err);

/* Brings what was added to the disk. RS_IO. */
rs_status rs_ledger_sync(rs_ledger *ledger, rs_err *err);

/* Drops the oldest records of other configs from the journal where all of them take more than 256 MiB. After it no
 * record can be read. RS_IO, RS_MEMORY: the journal is as it was. */
rs_status rs_ledger_compact(rs_ledger *ledger, rs_err *err);

/* Reads into a new state what is recorded of the cell. */
rs_status rs_ledger_read(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

#endif
