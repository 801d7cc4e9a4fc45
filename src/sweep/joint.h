/* What all ranks do together before they are dealt the rest: cells and trainings that take so long that ranks would
 * wait for whoever had them. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_JOINT_H
#define ROPESCOPE_SWEEP_JOINT_H

#include "ledger.h"

typedef struct rs_joint {
  size_t *cells; /* (count,) of the ledger: whose rows are shared, or the training that they read; owned */
  size_t count;
} rs_joint;

/* Of the cells that are to be done, the longest first. `checkpoints`: where trained models are kept (NULL: nowhere, and
 * no training is shared). Release with rs_joint_clear, also after a failure. RS_MEMORY, and what a task fails with. */
rs_status rs_joint_choose(const rs_ledger *ledger, const char *checkpoints, size_t ranks, rs_joint *joint, rs_err *err);
void rs_joint_clear(rs_joint *joint);

#endif
