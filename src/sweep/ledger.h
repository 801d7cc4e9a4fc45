/* The cells of a run: what each is, and which are done. It has some hundred bytes for a cell, however many there are;
 * results stand in the journal. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_LEDGER_H
#define ROPESCOPE_SWEEP_LEDGER_H

#include "cell_key.h"

typedef struct rs_ledger {
  const rs_experiment *experiment; /* borrowed */
  rs_cell *cells;                  /* (count,) as all here */
  rs_cell_role *roles;
  rs_cell_key *keys;
  uint64_t *places; /* of records in the journal; 0: the cell is to be done */
  double *weights;  /* in the progress of the run, of those; no unit */
  size_t *by_key;   /* indices in the order of keys */
  size_t count, done, resumed;
  rs_journal journal;
} rs_ledger;

/* Opens the journal of a folder and finds the cells that are done in it; none where `fresh`. Close it in any case. As
 * rs_journal_open, rs_cell_keys_make. */
rs_status rs_ledger_open(const rs_experiment *experiment, const char *directory, bool fresh, rs_ledger *ledger,
                         rs_err *err);
void rs_ledger_close(rs_ledger *ledger);

/* A state for cell number `index`, nothing done yet. Release with rs_cell_state_clear, also after a failure. */
rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

/* Records what a cell came to. Call from one thread at a time. RS_IO, RS_MEMORY. */
rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err);

/* Drops the oldest records of other configs from the journal where all of them take more than 256 MiB. After it no
 * record can be read. RS_IO, RS_MEMORY: the journal is as it was. */
rs_status rs_ledger_compact(rs_ledger *ledger, rs_err *err);

/* Reads into a new state what is recorded of the cell. */
rs_status rs_ledger_read(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

#endif
