/* The files of a run, written as its cells come. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_OUTPUT_H
#define ROPESCOPE_SWEEP_OUTPUT_H

#include "run.h"

#include "io/io.h"

/* What computed the weights that a model's cells read. */
typedef struct rs_arithmetic {
  size_t model;
  char words[RS_ARITHMETIC];
} rs_arithmetic;

/* What the cells come to together. */
typedef struct rs_totals {
  size_t written, failed, starved; /* failed: without values; starved: of those, for want of memory */
  size_t first_failed;             /* its number, where one failed, and */
  char message[RS_CELL_MESSAGE];   /* what is wrong with it */
  size_t single, twice;            /* cells whose scores were floats, and doubles */
  double error, weight;            /* the largest error of a score, and weight that was left out */
  rs_arithmetic *arithmetic;       /* (arithmetic_count,) */
  size_t arithmetic_count, arithmetic_capacity;
} rs_totals;

/* Files that are being written. */
typedef struct rs_output {
  const rs_experiment *experiment;
  const char *directory; /* where they are made, */
  const char *shown;     /* and what they are for; borrowed, as the experiment */
  rs_out_file **files;   /* (count,) NULL: a metric without a curve */
  size_t *rows, count;
  rs_file_sums *sums; /* (sum_count,) of files that are whole */
  size_t sum_count;
  size_t cells;    /* of the experiment */
  const char *isa; /* that computed them; borrowed */
  rs_totals totals;
} rs_output;

/* Whether a file called so belongs to a run, of whatever config. */
bool rs_is_run_file(const char *name);

/* Makes the files in an empty folder, with their headers; messages say that they are of `shown`. Release with
 * rs_output_clear, also after a failure. */
rs_status rs_output_begin(const rs_experiment *experiment, const char *directory, const char *shown, rs_output *output,
                          rs_err *err);
void rs_output_clear(rs_output *output);

/* Adds cell number `number`. Cells come in their order. */
rs_status rs_output_add(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err);

/* Ends the files, and writes config.yaml (the resolved config) and manifest.json, which has the sums of all. */
rs_status rs_output_end(rs_output *output, rs_err *err);

/* manifest.json as text; `config` is what config.yaml holds. */
rs_status rs_manifest_write(const rs_output *output, const rs_text *config, rs_text *json, rs_err *err);

#endif
