/* How far a head's logit can lie from the straight line between two whole positions, against Position Interpolation's
 * theorem 2.1 (Chen et al., arXiv:2306.15595, section 2.3, appendix B). Of a(s) = Re sum_j h_j e^(i omega_j s) with all
 * |h_j| <= 1, halfway between two positions:
 *   - the most there is, sum_j (1 - cos(omega_j / 2)): each pair errs by |e^(i omega/2) - (1 + e^(i omega)) / 2| =
 *     1 - cos(omega/2) at most, and h_j = e^(-i omega_j / 2) makes all of them do so at once;
 *   - the theorem's bound, R / (32 ln c). Its proof takes c^x <= 1 + x ln c, which holds the other way round;
 *   - what the proof gives without that step: a'' is at most sum_j omega_j^2, so sum_j omega_j^2 / 8.
 * The theorem compares its bound with one on extrapolation, 2 B(s) with B(s) = sum_k |sum_{j<k} e^(i omega_j s)|, which
 * it takes to be at least 2 R: half of `decay`'s roformer_bound is B / R. */
#include "metric_list.h"

#include <math.h>

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  const rs_encoding *encoding = in->encoding;
  /* That of the ladder with the same ends, whatever is between; NaN of a single pair, or where the last stands still.
   */
  double base = rs_ladder_base(encoding->omega, encoding->rotary_dim / 2, INFINITY);
  double most = 0, curvature = 0, dims = (double)encoding->rotary_dim;
  for (size_t i = 0; i < 5; i++) result->value[i] = NAN;
  if (encoding->rotary_dim == 0) return RS_OK;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double quarter = sin(encoding->omega[j] / 4);
    most += 2 * quarter * quarter; /* 1 - cos without cancellation */
    curvature += encoding->omega[j] * encoding->omega[j];
  }
  result->value[0] = most;
  result->value[1] = base > 1 ? dims / (32 * log(base)) : NAN;
  result->value[2] = curvature / 8;
  result->value[3] = 2 * dims / result->value[1];
  result->value[4] = 2 * dims / result->value[2];
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("interpolation_error_most", "1",
              "largest distance of a head with coefficients up to 1 from the line between two positions: sum_j (1 - "
              "cos(omega_j / 2))"),
    RS_COLUMN("interpolation_bound_printed", "1",
              "the bound of the theorem, R / (32 ln c), c the base of the ladder between the fastest and slowest pair"),
    RS_COLUMN("interpolation_bound_proved", "1", "sum_j omega_j^2 / 8, which does bound it"),
    RS_COLUMN("extrapolation_ratio_printed", "1",
              "2 R, the theorem's extrapolation bound, over interpolation_bound_printed"),
    RS_COLUMN("extrapolation_ratio_proved", "1", "2 R over interpolation_bound_proved"),
};

const rs_metric_kind rs_metric_interpolation_bound = {
    .kind = {.name = "interpolation_bound",
             .summary = "what linear interpolation between positions can err by, and bounds on it",
             .reference = "Position Interpolation, arXiv:2306.15595, theorem 2.1",
             .version = 1},
    RS_SCALARS(scalars),
    .finish = finish,
};
