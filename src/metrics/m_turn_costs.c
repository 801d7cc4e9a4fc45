/* What a change of rotary angles costs a trained model that is not trained again: predictions from angles alone.
 *
 *   O = 1/J sum over pairs with L0 w_j < 2 pi of min(max(0, p(L-1) w'_j - L0 w_j), 2 pi) / 2 pi
 *   E = sum over m = 1..8 of (1/m)/H_8 1/J sum_j (1 - cos(w'_j p(m) - w_j m))
 *   A = O + 5 E - ln(f)/100
 *
 * for J pairs, w_j of plain RoPE at the trained length L0, w'_j here, p(m) the distance at which the last query sees
 * the key m back, and f what its logits are multiplied by. O is in turns that no training has shown, E says how far
 * heads that look 1 to 8 tokens back are turned; the weights 5 and 1/100 are guesses from small models, no law.
 *
 * By a head that looks one token back:
 *
 *   B = ln sum over keys m of exp(f K (c(m) - c(1))),   c(m) = 1/J sum_j cos(p(m) w'_j - w_j),   K = 2 ln L0
 *   loss_damage = O + 2 E + B/50,   needle_damage = O + B/10
 *
 * B is -ln of the weight that the last query gives to the key
 * before it, in a head whose content is turned so that plain RoPE at L0 tokens looks there, every pair as strong. Its
 * logit K stands above L0 unrelated keys so that they get 1/L0 together. One number so holds three losses: the near key
 * turned away, other keys turned into its place, and dispersion, which a factor f on the logits removes. To look
 * something up takes such a head (Olsson et al., arXiv:2209.11895), which is why needles may ask for more of B. K is an
 * argument, the weights 2, 1/50 and 1/10 are fits to small models: no law. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR = 8, CHUNK = 1 << 20, LARGEST_TABLE = 1 << 26 }; /* distances */

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* Pairs that mix axes, or read places of their own, have no one distance. */
static bool readable(const rs_encoding *encoding) {
  return encoding->rotary_dim > 1 && !encoding->own_places && encoding->axis_weight == NULL;
}

static double turned(const rs_encoding *encoding, size_t pair, size_t m) {
  size_t query = encoding->length - 1, key = query - m, axes = encoding->axes, axis = encoding->axis[pair];
  size_t view = rs_encoding_view(encoding, query, key);
  double distance = encoding->pos_q[view][query * axes + axis] - encoding->pos_k[view][key * axes + axis];
  return distance * encoding->omega[pair];
}

static double new_angle_turns(const rs_encoding *encoding) {
  const double turn = 2 * M_PI;
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0;
  for (size_t j = 0; j < pairs; j++) {
    double trained = encoding->train_length * encoding->omega_trained[j];
    if (trained < turn) sum += fmin(fmax(0, turned(encoding, j, encoding->length - 1) - trained), turn) / turn;
  }
  return sum / (double)pairs;
}

static double near_turn(const rs_encoding *encoding) {
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0, weights = 0;
  for (size_t m = 1; m <= NEAR && m < encoding->length; m++) {
    double lost = 0;
    for (size_t j = 0; j < pairs; j++) lost += 1 - cos(turned(encoding, j, m) - encoding->omega_trained[j] * (double)m);
    sum += lost / (double)pairs / (double)m;
    weights += 1 / (double)m;
  }
  return weights > 0 ? sum / weights : 0;
}

static double last_logit_factor(const rs_encoding *encoding) {
  size_t last = encoding->length - 1;
  double factor = rs_logit_factor(encoding, last);
  return isnan(factor) ? encoding->amp * encoding->amp * encoding->logit_scale[last] : factor;
}

/* ---- the head that looks one back: a sum of waves at each key, with a kernel wherever keys stand at whole distances
 */

/* c(m): how well the key m back fits a head that looks one back, in [-1, 1]. */
static double fit(const rs_encoding *encoding, size_t m) {
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0;
  for (size_t j = 0; j < pairs; j++) sum += cos(turned(encoding, j, m) - encoding->omega_trained[j]);
  return sum / (double)pairs;
}

/* The waves of c by distance, R/2 c(d) = sum_j cos(d w'_j - w_j). */
static rs_status fit_waves(const rs_encoding *encoding, rs_decay **decay, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  rs_wave *waves = rs_alloc(pairs, sizeof *waves, err);
  *decay = NULL;
  if (waves == NULL) return RS_MEMORY;
  for (size_t j = 0; j < pairs; j++) waves[j] = (rs_wave){1, encoding->omega[j], -encoding->omega_trained[j]};
  rs_status status = rs_decay_create(waves, pairs, decay, err);
  free(waves);
  return status;
}

/* Adds exp(logit (c(m) - there)) of each key where the key m back stands at m. */
static rs_status sum_by_distance(const rs_encoding *encoding, const rs_decay *decay, double logit, double there,
                                 double *sum, rs_err *err) {
  size_t chunk = encoding->length < CHUNK ? encoding->length : CHUNK;
  double pairs = (double)encoding->rotary_dim / 2, *fits = rs_alloc(chunk, sizeof *fits, err);
  if (fits == NULL) return RS_MEMORY;
  for (size_t begin = 0; begin < encoding->length; begin += CHUNK) {
    size_t count = encoding->length - begin < CHUNK ? encoding->length - begin : CHUNK;
    rs_decay_range(decay, begin, count, fits);
    for (size_t i = 0; i < count; i++) *sum += exp(logit * (fits[i] / pairs - there));
  }
  free(fits);
  return RS_OK;
}

/* The distance of the key m back, where all axes have one. */
static double distance_of(const rs_encoding *encoding, size_t m) {
  size_t query = encoding->length - 1, view = rs_encoding_view(encoding, query, query - m);
  return encoding->pos_q[view][query] - encoding->pos_k[view][query - m];
}

/* The largest distance from the last query where all are whole and have a table; infinite where not. */
static double largest_distance(const rs_encoding *encoding) {
  double largest = 0;
  for (size_t m = 0; encoding->axes == 1 && m < encoding->length; m++) {
    double distance = distance_of(encoding, m);
    if (distance < 0 || distance != floor(distance) || distance >= LARGEST_TABLE) return INFINITY;
    largest = fmax(largest, distance);
  }
  return encoding->axes == 1 ? largest : INFINITY;
}

/* Positions that are moved: many keys stand at few distances. */
static rs_status sum_by_table(const rs_encoding *encoding, const rs_decay *decay, double largest, double logit,
                              double there, double *sum, rs_err *err) {
  size_t count = (size_t)largest + 1;
  double pairs = (double)encoding->rotary_dim / 2, *fits = rs_alloc(count, sizeof *fits, err);
  if (fits == NULL) return RS_MEMORY;
  rs_decay_range(decay, 0, count, fits);
  for (size_t m = 0; m < encoding->length; m++)
    *sum += exp(logit * (fits[(size_t)distance_of(encoding, m)] / pairs - there));
  free(fits);
  return RS_OK;
}

/* B, nats, for two tokens or more. */
static rs_status lookback(const rs_encoding *encoding, double *nats, rs_err *err) {
  double logit = last_logit_factor(encoding) * 2 * log(encoding->train_length), there = fit(encoding, 1), sum = 0;
  bool by_distance = rs_encoding_of_distance(encoding);
  double largest = by_distance ? INFINITY : largest_distance(encoding);
  rs_decay *decay = NULL;
  rs_status status = by_distance || isfinite(largest) ? fit_waves(encoding, &decay, err) : RS_OK;
  if (status == RS_OK && by_distance)
    status = sum_by_distance(encoding, decay, logit, there, &sum, err);
  else if (status == RS_OK && decay != NULL)
    status = sum_by_table(encoding, decay, largest, logit, there, &sum, err);
  else
    for (size_t m = 0; m < encoding->length; m++) sum += exp(logit * (fit(encoding, m) - there));
  rs_decay_free(decay);
  *nats = log(sum);
  return status;
}

rs_status rs_turn_costs_find(const rs_encoding *encoding, rs_turn_costs *costs, rs_err *err) {
  *costs = (rs_turn_costs){NAN, NAN, NAN};
  if (!readable(encoding) || encoding->length < 2) return RS_OK;
  costs->near = near_turn(encoding);
  costs->out = new_angle_turns(encoding);
  return lookback(encoding, &costs->far, err);
}

double rs_turn_costs_sum(const rs_turn_costs *costs, const rs_turn_costs *weights) {
  return weights->out * costs->out + weights->near * costs->near + weights->far * costs->far;
}

/* ---- zero_shot_damage -------------------------------------------------------------------------------------------- */

static const double near_weight = 5, temperature_weight = 0.01;

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  const rs_encoding *encoding = in->encoding;
  result->value[0] = result->value[1] = result->value[2] = NAN;
  if (!readable(encoding)) return RS_OK;
  result->value[1] = new_angle_turns(encoding);
  result->value[2] = near_turn(encoding);
  result->value[0] =
      result->value[1] + near_weight * result->value[2] - temperature_weight * log(last_logit_factor(encoding));
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
             .reference = "no paper's: a prediction that experiments put to the test"},
    RS_SCALARS(scalars),
    .finish = finish,
};

/* ---- lookback_damage --------------------------------------------------------------------------------------------- */

const rs_turn_costs rs_loss_weights = {.near = 2, .far = 0.02, .out = 1};
const rs_turn_costs rs_needle_weights = {.near = 0, .far = 0.1, .out = 1};

static rs_status finish_lookback(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  rs_turn_costs costs;
  RS_TRY(rs_turn_costs_find(in->encoding, &costs, err));
  result->value[0] = costs.far;
  result->value[1] = rs_turn_costs_sum(&costs, &rs_loss_weights);
  result->value[2] = rs_turn_costs_sum(&costs, &rs_needle_weights);
  return RS_OK;
}

static const rs_column scalars_lookback[] = {
    RS_COLUMN("lookback_nats", "nats",
              "-ln of the last query's weight on the key before it, in a head with logit 2 ln train_length that plain "
              "RoPE lets look there",
              .better = RS_LOWER),
    RS_COLUMN("loss_damage", "1",
              "new_angle_turns + 2 near_turn + lookback_nats / 50: orders changes of one model at one length by loss, "
              "and is no loss",
              .better = RS_LOWER),
    RS_COLUMN("needle_damage", "1", "new_angle_turns + lookback_nats / 10: orders them by needles that are missed",
              .better = RS_LOWER),
};

const rs_metric_kind rs_metric_lookback_damage = {
    .kind =
        {.name = "lookback_damage",
         .summary = "what a change of rotary angles costs a model that is not trained again, by a head that looks "
                    "one token back",
         .reference =
             "no paper's: fitted to two seeds of experiments/extrapolation/extend-without-training, put to the test in "
             "experiments/extrapolation/what-predicts-loss"},
    RS_SCALARS(scalars_lookback),
    .finish = finish_lookback,
};
