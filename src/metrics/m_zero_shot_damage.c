/* What a change of rotary angles costs a trained model that is not trained again: a prediction from angles alone.
 *
 *   O = 1/J sum over pairs with L0 w_j < 2 pi of min(max(0, p(L-1) w'_j - L0 w_j), 2 pi) / 2 pi
 *   E = sum over m = 1..8 of (1/m)/H_8 1/J sum_j (1 - cos(w'_j p(m) - w_j m))
 *   A = O + 5 E - ln(f)/100
 *
 * for J pairs, w_j of plain RoPE at the trained length L0, w'_j here, p(m) the distance at which the last query sees
 * the key m back, and f what its logits are multiplied by. O is in turns that no training has shown, E says how far
 * heads that look 1 to 8 tokens back are turned; the weights 5 and 1/100 are guesses from small models, no law. */
#include "metric_list.h"

#include <math.h>

static const double near_weight = 5, temperature_weight = 0.01;

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  const rs_encoding *encoding = in->encoding;
  result->value[0] = result->value[1] = result->value[2] = NAN;
  if (!rs_turns_readable(encoding)) return RS_OK;
  result->value[1] = rs_new_angle_turns(encoding);
  result->value[2] = rs_near_turn(encoding);
  result->value[0] =
      result->value[1] + near_weight * result->value[2] - temperature_weight * log(rs_last_logit_factor(encoding));
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("zero_shot_damage", "1",
              "new_angle_turns + 5 near_turn - ln(factor on the logits) / 100: orders changes of one model at one "
              "length, and is no loss",
              .better = RS_LOWER),
    RS_COLUMN("new_angle_turns", "1",
              "mean over pairs of the turns, 1 at most, by which the farthest key passes the angles of train_length; 0 "
              "for pairs that went full circle there",
              .better = RS_LOWER),
    RS_COLUMN("near_turn", "1",
              "mean over pairs and keys m = 1 .. 8 back, weighted by 1/m, of 1 - cos of what their angle differs by "
              "from plain RoPE's",
              .better = RS_LOWER),
};

const rs_metric_kind rs_metric_zero_shot_damage = {
    .kind = {.name = "zero_shot_damage",
             .summary = "what a change of rotary angles costs a model that is not trained again, predicted from angles",
             .reference = "no paper's: a prediction that experiments put to the test",
             .version = 1},
    RS_SCALARS(scalars),
    .finish = finish,
};
