/* The folder that a run writes into. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_TARGET_H
#define ROPESCOPE_SWEEP_TARGET_H

#include "ledger.h"

/* Refuses a folder in which something stands under our names that no run has made, or that is no file. RS_IO,
 * RS_MEMORY. */
rs_status rs_target_check(const rs_experiment *experiment, const char *directory, rs_err *err);

/* Writes the cells that are done, in their order, as the set of files of a folder that this process has locked, and
 * says in `summary` what became of them. What stood there is replaced as one; results that are there stay where cells
 * ran out of memory, unless a part is wanted: RS_MEMORY then. RS_IO, RS_MEMORY, RS_INPUT for a record that does not fit
 * its cell. */
rs_status rs_target_write(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                          rs_err *err);

#endif
