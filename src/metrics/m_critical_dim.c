/* Which pairs went full circle in training, and how far that carries. Dims below d_extra = 2 ceil((R/2) log_b(L0 / 2
 * pi)) belong to pairs whose whole period lies within training; the next pair, number d_extra / 2, is the first that
 * does not, and Liu et al. ("Scaling Laws of RoPE-based Extrapolation", arXiv:2310.05209, theorem 2) let
 * the model reach as far as that pair's period at the base it is run with: T_extra = 2 pi base^(d_extra / R). LongRoPE2
 * (arXiv:2502.20082, section 3.1) calls the same dim the theoretical critical one.
 *
 * Their bases beta_1, beta_2, beta_3 are those at which the slowest pair turns by a quarter, a half and a
 * whole circle within training, its frequency taken as 1 / base. */
#include "metric_list.h"

#include <math.h>

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  const rs_encoding *encoding = in->encoding;
  size_t pairs = encoding->rotary_dim / 2;
  size_t critical = rs_critical_pair(encoding->omega_trained, pairs, encoding->train_length);
  for (size_t i = 0; i < 7; i++) result->value[i] = NAN;
  /* As for angles out of range: sections and grids share the pairs out among axes, which train_length does not count.
   */
  if (pairs == 0 || encoding->axes > 1) return RS_OK;
  double trained = encoding->train_length;
  result->value[0] = 2 * (double)critical;
  if (critical < pairs && encoding->omega[critical] > 0) result->value[1] = 2 * M_PI / encoding->omega[critical];
  result->value[2] = trained / (M_PI / 2);
  result->value[3] = trained / M_PI;
  result->value[4] = trained / (2 * M_PI);
  result->value[5] = 2 * M_PI / encoding->omega_trained[pairs - 1];
  result->value[6] = trained / result->value[5];
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("critical_dim", "1",
              "rotary dims whose pairs went full circle in training: 2 ceil((R/2) log_base(train_length / 2 pi))",
              .integer = true),
    RS_COLUMN(
        "critical_period_tokens", "tokens",
        "period of the first pair that did not, as the method turns it; empty where all did, and where it stands still",
        .log_axis = true, .better = RS_HIGHER),
    RS_COLUMN("quarter_turn_base", "1",
              "base at which the slowest pair (omega = 1 / base) turns pi/2 in training: beta_1"),
    RS_COLUMN("half_turn_base", "1", "base at which it turns pi: beta_2"),
    RS_COLUMN("full_turn_base", "1", "base at which it turns 2 pi: beta_3"),
    RS_COLUMN("slowest_period_tokens", "tokens", "period of the slowest pair in training", .log_axis = true),
    RS_COLUMN("slowest_trained_share", "1", "share of that period that training covered"),
};

const rs_metric_kind rs_metric_critical_dim = {
    .kind = {.name = "critical_dim",
             .summary = "which pairs went full circle in training, and how far the next one reaches",
             .reference = "Liu et al., arXiv:2310.05209, theorem 2; LongRoPE2, arXiv:2502.20082, section "
                          "3.1"},
    RS_SCALARS(scalars),
    .finish = finish,
};
