/* The two kernels of KERPLE (Chi et al., arXiv:2205.09921) have two learned numbers for each head. Bounds and draws are
 * those of the authors' code (github.com/chijames/KERPLE 25be3d7). That code is causal; |m - n| carries it to keys
 * after the query. Private to the encoding layer. */
#ifndef ROPESCOPE_ENCODING_KERPLE_H
#define ROPESCOPE_ENCODING_KERPLE_H

#include "params.h"

enum { RS_KERPLE_NUMBERS = 2 };

/* The code's eps: both numbers are clamped to it from below, at every use. */
#define RS_KERPLE_LEAST 0.01

typedef struct rs_kerple_params {
  rs_real_list numbers[RS_KERPLE_NUMBERS]; /* (H,) each; unset: drawn */
  size_t table_seed;
} rs_kerple_params;

typedef struct rs_kerple_state {
  size_t heads;
  const double *table; /* (RS_KERPLE_NUMBERS, H) as given, not clamped */
} rs_kerple_state;

/* Of a kind whose parameters are rs_kerple_params, its two numbers first. */
rs_status rs_kerple_check(const rs_binding *binding, const rs_model *model, rs_err *err);

size_t rs_kerple_table_size(const rs_stage_in *in);

/* Fills the table, which the state borrows, with what is given, else drawn from [0, span[i]). */
void rs_kerple_prepare(const rs_stage_in *in, const double span[RS_KERPLE_NUMBERS], double *table,
                       rs_kerple_state *state);

/* Number `index` of a head, as given. */
double rs_kerple_number(const rs_kerple_state *state, size_t index, size_t head);

/* Lists both, by these names. */
size_t rs_kerple_learned(const rs_kerple_state *state, const char *const names[RS_KERPLE_NUMBERS],
                         rs_learned out[RS_LEARNED]);

#endif
