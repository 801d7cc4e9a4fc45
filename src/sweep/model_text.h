/* What the heads of a source's own checkpoint hold while it reads a text. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_MODEL_TEXT_H
#define ROPESCOPE_SWEEP_MODEL_TEXT_H

#include "sweep/sweep.h"

/* The model that was read last: sources of one checkpoint, and lengths, share it. Zero-initialise; release with
 * rs_text_model_clear. */
typedef struct rs_text_model {
  const char *folder;  /* borrowed from the source; NULL: none yet */
  rs_format precision; /* that was asked for */
  rs_transformer *transformer;
} rs_text_model;

void rs_text_model_clear(rs_text_model *model);

/* Queries and keys of one block, for the text's first tokens. */
typedef struct rs_text_rows {
  rs_head_shape shape;
  double *q, *k; /* (L, H, D), (L, K, D); owned */
  double *sinks; /* (H,) learned by the block, where it has such; owned */
} rs_text_rows;

/* Reads the first `length` tokens of the source's text with its model. RS_DOMAIN where the text is shorter; RS_INPUT,
 * RS_IO, RS_UNSUPPORTED, RS_MEMORY. Release with rs_text_rows_clear, also after a failure. */
rs_status rs_text_rows_read(rs_text_model *model, const rs_model_source *source, size_t length, rs_text_rows *rows,
                            rs_err *err);
void rs_text_rows_clear(rs_text_rows *rows);

#endif
