/* Position Interpolation as the paper has it: positions divided by s. arXiv:2306.15595, eq. 4. Active for
 * `interpolate: positions`; otherwise freq_linear.c divides the frequencies. */
#include "encoding/kinds.h"

typedef struct state {
  double divisor;
} state;

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const rs_interpolation *p = in->params;
  (void)err;
  *(state *)out = (state){p->interpolate == RS_INTERPOLATE_POSITIONS ? in->scale : 1};
  return RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  (void)err;
  for (size_t i = 0; i < positions->length * positions->axes; i++) {
    positions->q[0][i] /= s->divisor;
    positions->k[0][i] /= s->divisor;
  }
  return RS_OK;
}

const rs_pos_kind rs_pos_linear = {
    .kind = {.name = "linear",
             .summary = "positions divided by s",
             .reference = "Position Interpolation, arXiv:2306.15595, eq. 4",
             RS_KIND(rs_interpolation_specs, rs_interpolation)},
    .scaled = true,
    .views = 1,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
};
