/* The kinds of query/key sources, one file each, and what they share. */
#ifndef ROPESCOPE_ATTENTION_SOURCES_H
#define ROPESCOPE_ATTENTION_SOURCES_H

#include "attention/attention.h"

/* ---- sources --------------------------------------------------------------------------------------------------- */

/* The kinds of query/key sources (one file each) and what they share. */

/* The sources, in the order of `ropescope list`. A source is one file, one line here and its name in meson.build. */
/* clang-format off */
#define RS_SOURCES(source) \
  source(constant) \
  source(gaussian) \
  source(gaussian_mean) \
  source(needle) \
  source(band) \
  source(grid) \
  source(lookback) \
  source(gap) \
  source(calibrated) \
  source(model) \
  source(tensors)
/* clang-format on */

#define RS_DECLARE_SOURCE(name) extern const rs_source_kind rs_source_##name;
RS_SOURCES(RS_DECLARE_SOURCE)

/* iid N(0, 1) keys [begin, end) and query: the content most sources start from, the same numbers for the same seed and
 * head whatever the source. They read no state. */
void rs_gaussian_keys(const rs_source_in *in, size_t begin, size_t end, double *out);
void rs_gaussian_query(const rs_source_in *in, size_t position, double *out);

/* A band of rotary pairs as shares of them, 0 (the fastest) to 1: parameters that sources share. */
typedef struct rs_band {
  double from, to;
} rs_band;

/* RS_INPUT, with `to` as subject, where the band at `offset` of the bound struct is empty. */
rs_status rs_band_check(const rs_binding *binding, size_t offset, rs_err *err);

/* Pairs [first, last) of a head, at least one, and what keeps the expected size of what is moved into them. */
typedef struct rs_band_pairs {
  size_t first, last;
  double gain;
} rs_band_pairs;

rs_band_pairs rs_band_find(const rs_band *band, const rs_source_in *in);

/* Moves the energy of `rows` vectors (rows, D) into these pairs. */
void rs_band_limit(const rs_source_in *in, const rs_band_pairs *pairs, size_t rows, double *out);

/* "content in the slow quarter of the pairs" */
void rs_band_caption(const rs_band *band, rs_text *out);

#endif
