/* What determines a cell's numbers, as a key by which its record is found again. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CELL_KEY_H
#define ROPESCOPE_SWEEP_CELL_KEY_H

#include "journal.h"
#include "run.h"

/* Raised when a record holds something else, a key is made in another way, or last digits change whatever the kinds. */
enum { RS_CELL_SCHEMA = 3 };

/* The roles of all cells (count,), in their order. RS_MEMORY. */
rs_status rs_cell_roles_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_cell_role *roles,
                             rs_err *err);

/* The keys of all cells (count,) as the instruction set `isa` computes them: the SHA-256 of the config of the cell
 * alone with every default, names and labels left out; of the versions of program, record and all kinds that take part,
 * that instruction set, the bytes of files that are read, the fingerprints of checkpoints, and its role. RS_IO where a
 * checkpoint cannot be read, RS_MEMORY. */
rs_status rs_cell_keys_make(const rs_experiment *experiment, const char *isa, const rs_cell *cells,
                            const rs_cell_role *roles, size_t count, rs_cell_key *keys, rs_err *err);

#endif
