/* What a change of rotary angles costs a trained model that is not trained again: a prediction from angles alone.
 *
 *   O = 1/J sum over pairs with L0 w_j < 2 pi of min(max(0, p(L-1) w'_j - L0 w_j), 2 pi) / 2 pi
 *   E = sum over m = 1..8 of (1/m)/H_8 1/J sum_j (1 - cos(w'_j p(m) - w_j m))
 *   A = O + 5 E - ln(f)/100
 *
 * for J pairs, w_j of plain RoPE at the trained length L0, w'_j here, p(m) the distance at which the last query sees
 * the key m back, and f what its logits are multiplied by. O is in turns that no training has shown, E says how far
 * heads that look 1 to 8 tokens back are turned; the weights 5 and 1/100 are guesses from small models, no law. */
#include "metrics.h"

#include <math.h>

enum { NEAR = 8 };

static const double near_weight = 5, temperature_weight = 0.01;

/* How far pair j turns between the last query and the key m back, rad. */
static double turned(const rs_encoding *encoding, size_t pair, size_t m) {
  size_t query = encoding->length - 1, key = query - m, axes = encoding->axes, axis = encoding->axis[pair];
  size_t view = rs_encoding_view(encoding, query, key);
  double distance = encoding->pos_q[view][query * axes + axis] - encoding->pos_k[view][key * axes + axis];
  return distance * encoding->omega[pair];
}

static double new_angles(const rs_encoding *encoding, size_t pairs) {
  const double turn = 2 * M_PI;
  double sum = 0;
  for (size_t j = 0; j < pairs; j++) {
    double trained = encoding->train_length * encoding->omega_trained[j];
    if (trained < turn) sum += fmin(fmax(0, turned(encoding, j, encoding->length - 1) - trained), turn) / turn;
  }
  return sum / (double)pairs;
}

static double near_turn(const rs_encoding *encoding, size_t pairs) {
  double sum = 0, weights = 0;
  for (size_t m = 1; m <= NEAR && m < encoding->length; m++) {
    double lost = 0;
    for (size_t j = 0; j < pairs; j++) lost += 1 - cos(turned(encoding, j, m) - encoding->omega_trained[j] * (double)m);
    sum += lost / (double)pairs / (double)m;
    weights += 1 / (double)m;
  }
  return weights > 0 ? sum / weights : 0;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  const rs_encoding *encoding = in->encoding;
  size_t pairs = encoding->rotary_dim / 2;
  result->value[0] = result->value[1] = result->value[2] = NAN;
  /* Pairs that mix axes, or read places of their own, have no one distance. */
  if (pairs == 0 || encoding->own_places || encoding->axis_weight != NULL) return RS_OK;
  double factor = rs_logit_factor(encoding, encoding->length - 1);
  double hot = isnan(factor) ? encoding->amp * encoding->amp * encoding->logit_scale[encoding->length - 1] : factor;
  result->value[1] = new_angles(encoding, pairs);
  result->value[2] = near_turn(encoding, pairs);
  result->value[0] = result->value[1] + near_weight * result->value[2] - temperature_weight * log(hot);
  return RS_OK;
}

static const rs_column scalars[] = {
    {.name = "zero_shot_damage",
     .unit = "1",
     .summary = "new_angle_turns + 5 near_turn - ln(factor on the logits) / 100: orders changes of one model at one "
                "length, and is no loss",
     .better = RS_LOWER},
    {.name = "new_angle_turns",
     .unit = "1",
     .summary =
         "mean over pairs of the turns, 1 at most, by which the farthest key passes the angles of train_length; 0 "
         "for pairs that went full circle there",
     .better = RS_LOWER},
    {.name = "near_turn",
     .unit = "1",
     .summary = "mean over pairs and keys m = 1 .. 8 back, weighted by 1/m, of 1 - cos of what their angle differs by "
                "from plain RoPE's",
     .better = RS_LOWER},
};

const rs_metric_kind rs_metric_zero_shot_damage = {
    .kind = {.name = "zero_shot_damage",
             .summary = "what a change of rotary angles costs a model that is not trained again, predicted from angles",
             .reference = "no paper's: a prediction that experiments put to the test",
             .version = 1},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .finish = finish,
};
