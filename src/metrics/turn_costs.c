/* What a change of rotary angles costs: the three terms of the predictors zero_shot_damage and lookback_damage, whose
 * files say what they are. The last one asks for a sum of waves at each key, for which there is a kernel wherever keys
 * stand at whole distances. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 20, LARGEST_TABLE = 1 << 26 }; /* distances */

/* c(m): how well the key m back fits a head that looks one back, in [-1, 1]. */
static double fit(const rs_encoding *encoding, size_t m) {
  size_t pairs = encoding->rotary_dim / 2;
  double sum = 0;
  for (size_t j = 0; j < pairs; j++) sum += cos(rs_turned(encoding, j, m) - encoding->omega_trained[j]);
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
  double logit = rs_last_logit_factor(encoding) * 2 * log(encoding->train_length), there = fit(encoding, 1), sum = 0;
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
  if (!rs_turns_readable(encoding) || encoding->length < 2) return RS_OK;
  costs->near = rs_near_turn(encoding);
  costs->out = rs_new_angle_turns(encoding);
  return lookback(encoding, &costs->far, err);
}

double rs_turn_costs_sum(const rs_turn_costs *costs, const rs_turn_costs *weights) {
  return weights->out * costs->out + weights->near * costs->near + weights->far * costs->far;
}
