/* The cells of simulated heads, portion by portion. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_PORTIONS_H
#define ROPESCOPE_SWEEP_PORTIONS_H

#include "ledger.h"
#include "trained.h"

/* Cells of a ledger that are run some at a time. What those of one model and length share (encodings, projections, what
 * tables came to, a text's model) is kept until cells of another are run. */
typedef struct rs_portions rs_portions;

/* Borrows both until it is closed (NULL is fine). RS_MEMORY. */
rs_status rs_portions_open(rs_ledger *ledger, const rs_trained_watch *watch, rs_portions **portions, rs_err *err);
void rs_portions_close(rs_portions *portions);

/* Whose members run cells together from now on, all of them the same cells, of which the first records what they come
 * to; NULL: nobody. It is the team, then, that wants an end. */
void rs_portions_join(rs_portions *portions, rs_team *team);

/* Runs every cell that is to be done now. As rs_portions_run. */
rs_status rs_portions_work(rs_portions *portions, rs_err *err);

/* Runs every cell of the ledger that is to be done, the shortest lengths first: of each model and length some at a
 * time, which are recorded, and on the disk, before the next. RS_INTERNAL, RS_IO, RS_MEMORY, RS_STOPPED. */
rs_status rs_portions_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

#endif
