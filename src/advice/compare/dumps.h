/* Files of what an engine has computed. Private to the compare layer. */
#ifndef ROPESCOPE_COMPARE_DUMPS_H
#define ROPESCOPE_COMPARE_DUMPS_H

#include "advice/advice.h"

/* Whether `text` ends in `ending` and is more than that. */
bool rs_dump_ends(const char *text, const char *ending);

/* Reads a file of frequencies, of buffers inv_freq (`layers`: of which layer; NULL: the first), or of cos and sin into
 * s->spectrum, s->buffers and s->read. RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_dump_read(rs_contender *s, const char *layers, rs_err *err);

/* The buffers of a checkpoint (a file, or an index), none where it has none. Cleared on failure. */
rs_status rs_buffers_read(const rs_safetensors *checkpoint, rs_buffers *buffers, rs_err *err);
void rs_buffers_clear(rs_buffers *buffers);

/* A table of cos and one of sin: number i of row p is number base + p * stride + i * step of its tensor. */
typedef struct rs_cos_sin_table {
  const rs_stored_tensor *tensor[2];
  size_t base[2], rows, width, stride, step;
  bool axes; /* of three axes that hold the same, as those of M-RoPE do for text */
} rs_cos_sin_table;

/* In rs_spectrum.beyond of a table whose first rows turn otherwise: "other frequencies at its first 4 positions". */
extern const char rs_other_first_rows[];

/* Recovers frequencies, attention factor, layout, the first position and what positions were rounded to. RS_INPUT where
 * the tables are none of rotations. `read` gets what was seen. */
rs_status rs_cos_sin_read(const rs_cos_sin_table *table, rs_spectrum *spectrum, char read[240], rs_err *err);

#endif
