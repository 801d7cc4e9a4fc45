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

/* Keys, query and needle of a source whose state is an rs_given_rows: copies of the rows. */
void rs_given_keys(const rs_source_in *in, size_t begin, size_t end, double *out);
void rs_given_query(const rs_source_in *in, size_t position, double *out);
rs_score_rule rs_given_rule(const rs_source_in *in);
size_t rs_given_needle(const rs_source_in *in, size_t position, const double *query, double *key);

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

/* ---- turned back ----------------------------------------------------------------------------------------------- */

/* Rows of queries and keys that were rotated, turned back. */

/* How rows were turned. */
typedef struct rs_turned {
  const rs_recipe *recipe; /* resolved for the model */
  const rs_model *model;
  const rs_token_layout *tokens; /* of the rows; NULL: text */
  rs_format format;              /* of cosines and sines; angles are in double where these are, else in float */
  size_t from, count;            /* position of the first row; rows */
} rs_turned;

typedef struct rs_turned_back {
  rs_encoding *encoding;
  size_t from;
  double *turns; /* (threads, 2, RS_STEPS, R/2) */
} rs_turned_back;

/* RS_UNSUPPORTED, with the reason, for a method whose rows cannot be turned back; RS_INPUT for one that turns none. */
rs_status rs_turned_check(const rs_recipe *recipe, rs_err *err);

/* What turns such rows back, which rs_turned_check has accepted. RS_DOMAIN where the recipe is undefined for so many
 * tokens, RS_MEMORY. Release with rs_turned_back_clear, also after a failure. */
rs_status rs_turned_back_make(const rs_turned *turned, rs_turned_back *back, rs_err *err);
void rs_turned_back_clear(rs_turned_back *back);

/* Turns rows [begin, end) of one head (end - begin, D) back in place: exactly what rs_encoding_rotate_token did to
 * each, amp and gains divided out. Any thread, no allocation. */
void rs_turn_back(const rs_turned_back *back, rs_side side, size_t begin, size_t end, double *rows);

#endif
