/* Pieces of manifest.json. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_MANIFEST_H
#define ROPESCOPE_SWEEP_MANIFEST_H

#include "output.h"

#include <jansson.h>

/* RS_MEMORY, with its message. */
rs_status rs_manifest_no_memory(rs_err *err);

/* Appends an entry, and takes it; one that could not be made (NULL) fails here. RS_MEMORY. */
rs_status rs_manifest_append(json_t *list, json_t *entry, rs_err *err);

/* Sets a key likewise. */
rs_status rs_manifest_set(json_t *object, const char *key, json_t *value, rs_err *err);

/* Adds the kinds that take part, with their versions, and the files that lists were read from. RS_MEMORY. */
rs_status rs_manifest_kinds(json_t *kinds, const rs_experiment *experiment, rs_err *err);
rs_status rs_manifest_inputs(json_t *inputs, const rs_experiment *experiment, rs_err *err);

/* An object as text, or NULL without memory. Release with free(). */
char *rs_manifest_dump(const json_t *object);

/* Whether the task has fewer sequences to read, at some length, than the config asks for. RS_MEMORY, RS_IO. */
rs_status rs_manifest_fewer(const rs_experiment *experiment, bool *fewer, rs_err *err);

/* The experiment's task: its kind, parameters, parts, and the best loss at each length, null where nobody knows. */
rs_status rs_manifest_task(const rs_experiment *experiment, json_t *task, rs_err *err);

/* Its checkpoints: parameters of shape and training, how many numbers they have, what captions say of them, and which
 * instruction sets computed the weights that cells read. */
rs_status rs_manifest_checkpoints(const rs_experiment *experiment, const rs_totals *totals, json_t *checkpoints,
                                  rs_err *err);

#endif
