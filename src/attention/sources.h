/* The kinds of query/key sources (one file each) and what they share. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_SOURCES_H
#define ROPESCOPE_ATTENTION_SOURCES_H

#include "ropescope/attention.h"

extern const rs_source_kind rs_source_band, rs_source_calibrated, rs_source_constant, rs_source_gap, rs_source_gaussian,
    rs_source_gaussian_mean, rs_source_grid, rs_source_lookback, rs_source_needle;

/* iid N(0, 1) keys [begin, end) and query: the content most sources start from, the same numbers for the same seed and
 * head whatever the source. */
void rs_gaussian_keys(const rs_source_in *in, size_t begin, size_t end, double *out);
void rs_gaussian_query(const rs_source_in *in, size_t position, double *out);

/* Moves the energy of `rows` vectors (rows, D) into the rotary pairs of the settings' `from` .. `to`, keeping its
 * expected size; and the check that the band is not empty. */
void rs_band_limit(const rs_source_in *in, size_t rows, double *out);
rs_status rs_band_check(const rs_settings *settings, rs_err *err);

#endif
