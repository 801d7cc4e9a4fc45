/* The cells of simulated heads, portion by portion. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_PORTIONS_H
#define ROPESCOPE_SWEEP_PORTIONS_H

#include "ledger.h"
#include "trained.h"

/* Runs every cell of the ledger that is to be done, the shortest lengths first: of each model and length some at a
 * time, which are recorded, and on the disk, before the next. RS_INTERNAL, RS_IO, RS_MEMORY, RS_STOPPED. */
rs_status rs_portions_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

#endif
