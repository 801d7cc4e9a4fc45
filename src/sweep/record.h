/* A cell's results as bytes of a journal. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_RECORD_H
#define ROPESCOPE_SWEEP_RECORD_H

#include "run.h"

/* Adds what a run has found for a cell: status and message, values, errors, curves, times. */
void rs_cell_record_write(const rs_experiment *experiment, const rs_cell_state *state, rs_text *record);

/* Puts it into a state of the same cell, made by rs_cell_state_make. RS_INPUT where it is not of such a cell,
 * RS_MEMORY. */
rs_status rs_cell_record_read(const rs_experiment *experiment, const uint8_t *record, size_t length,
                              rs_cell_state *state, rs_err *err);

/* Whether a record stands for its cell from now on. A cell that had no memory, or whose files could not be read, is
 * tried again. */
bool rs_cell_record_holds(const uint8_t *record, size_t length);

/* What a record says, as a SHA-256, but for the seconds that it took: two that were computed apart agree in it. */
void rs_cell_record_digest(const uint8_t *record, size_t length, uint8_t digest[32]);

#endif
