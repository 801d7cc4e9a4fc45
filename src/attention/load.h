/* Filling a loaded job. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_LOAD_H
#define ROPESCOPE_ATTENTION_LOAD_H

#include "worker.h"

/* The work of rs_load_keys, in multiply-adds. */
double rs_load_work(const rs_loaded_job *loaded);

/* Fills the keys, for which there is room, and their norms, with `threads` of these workers (threads,), which are
 * ready. */
void rs_load_keys(rs_loaded_job *loaded, const rs_worker *workers, size_t threads);

#endif
