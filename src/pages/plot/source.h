/* source.h: what a picture says of its queries and keys, or of the checkpoint and task in their place. */
#ifndef ROPESCOPE_PLOT_SOURCE_H
#define ROPESCOPE_PLOT_SOURCE_H

#include "family.h"

/* The name of the source, or what is common to the names of a family; "": of none. Borrows. */
const char *rs_plot_source_name(const rs_plot_measure *measure, const rs_plot_choice *choice);

/* Appends to that name the phrases of the manifest that hold for all sources shown: ": a copy of the query, depth 0.5".
 * What the name says already is left out; a name that does not tell the kind gets it: " (needle): ...". Nothing where
 * the values come from tables alone. */
void rs_plot_source_caption(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out);

/* Appends the name of a model and, where it is a checkpoint, what the manifest says of it: "rope: trained here, 1000
 * steps at 64 tokens, 103872 parameters". Of several checkpoints that one method reads: the method and what holds for
 * all; "trained", which the phrases say, is left out. */
void rs_plot_model_caption(const rs_plot_data *data, size_t model, rs_text *out);

/* Adds what a value that is read from the task, whatever the source, is read from: "dictionary: 64 sequences a cell".
 * Nothing for other values. */
void rs_plot_task_caption(const rs_plot_measure *measure, rs_text *out);

#endif
