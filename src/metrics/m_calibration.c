/* Heads that training made, moved unchanged: a head is fitted to a wanted curve of logits within the trained length
 * under plain RoPE of the model, and then read at the length at hand under the method's encoding. The wanted curve is a
 * function of distance in tokens alone, at every length: a head that looked 100 tokens back is wanted to look 100
 * tokens back. A method that divides positions by s shows such a head the distance x / s instead, so it keeps a curve
 * of relative distance and stretches one of tokens: what the numbers then say is how much. Position Interpolation,
 * arXiv:2306.15595, section 2.3 and appendix C, fits noise so. */
#include "kernel/kernel.h"

#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_calibrated head;
  size_t per_octave;
} params;

typedef struct curves {
  size_t trained, length, reach; /* reach: the larger of both */
  const params *asked;
  double *wanted; /* (reach,) nats by distance; NaN beyond training for noise */
  double *fitted; /* (trained,) the head under plain RoPE of the model */
  double *got;    /* (length,) the head under the encoding */
} curves;

/* ---- the head ---------------------------------------------------------------------------------------------------- */

/* As far as training or the length goes; noise as far as training. */
static void fill_wanted(const rs_metric_in *in, curves *c) {
  const rs_wanted *wanted = &c->asked->head.wanted;
  bool noise = wanted->curve == RS_WANTED_NOISE;
  rs_wanted_fill(wanted, (rs_stream){in->seed, RS_PURPOSE_CURVE, 0}, c->reach, c->wanted);
  for (size_t x = c->trained; x < c->reach && noise; x++) c->wanted[x] = NAN;
}

static rs_status fit_head(const rs_metric_in *in, const curves *c, rs_wave_fit *head, rs_err *err) {
  rs_wave_fit_in given = {.omega = in->encoding->omega_trained,
                          .waves = in->encoding->rotary_dim / 2,
                          .wanted = c->wanted,
                          .count = c->trained,
                          .ridge = c->asked->head.ridge};
  given.solver = rs_wave_fit_solver(given.count, given.waves, given.ridge);
  return rs_wave_fit_create(&given, head, err);
}

/* A head whose pairs turn by the distance alone is a sum of waves, which has a kernel: out[x] = factor times it. */
static rs_status sum_waves(const double *omega, const rs_wave_fit *head, double factor, size_t count, double *out,
                           rs_err *err) {
  rs_wave *waves = rs_alloc(head->waves, sizeof *waves, err);
  rs_decay *decay = NULL;
  for (size_t j = 0; j < head->waves && waves != NULL; j++)
    waves[j] = (rs_wave){.amplitude = factor * hypot(head->cosine[j], head->sine[j]),
                         .omega = omega[j],
                         .phase = -atan2(head->sine[j], head->cosine[j])};
  rs_status status = waves != NULL ? rs_decay_create(waves, head->waves, &decay, err) : RS_MEMORY;
  if (status == RS_OK) rs_decay_range(decay, 0, count, out);
  rs_decay_free(decay);
  free(waves);
  return status;
}

static rs_status read_head(const rs_encoding *encoding, const rs_wave_fit *head, curves *c, rs_err *err) {
  size_t last = c->length - 1;
  RS_TRY(sum_waves(encoding->omega_trained, head, 1, c->trained, c->fitted, err));
  if (rs_encoding_of_distance(encoding)) {
    double factor = encoding->amp * encoding->amp * encoding->logit_scale[last];
    return sum_waves(encoding->omega, head, factor, c->length, c->got, err);
  }
#pragma omp parallel for schedule(static) if (c->length >= 1 << 14)
  for (size_t x = 0; x < c->length; x++) c->got[x] = rs_calibrated_logit(encoding, head, last, last - x);
  return RS_OK;
}

/* ---- what became of it ------------------------------------------------------------------------------------------- */

/* Root of the mean squared difference over distances [begin, end); NaN where there are none. */
static double rms(const double *a, const double *b, size_t begin, size_t end) {
  rs_sum sum = {0};
  for (size_t x = begin; x < end; x++) rs_sum_add(&sum, (a[x] - b[x]) * (a[x] - b[x]));
  return end > begin ? sqrt(rs_sum_total(&sum) / (double)(end - begin)) : NAN;
}

static double largest(const double *logits, size_t begin, size_t end) {
  double most = NAN;
  for (size_t x = begin; x < end; x++) most = fmax(most, fabs(logits[x]));
  return most;
}

static double log_sum_exp(const double *logits, size_t count) {
  double most = -INFINITY;
  rs_sum sum = {0};
  for (size_t x = 0; x < count; x++) most = fmax(most, logits[x]);
  for (size_t x = 0; x < count; x++) rs_sum_add(&sum, exp(logits[x] - most));
  return most + log(rs_sum_total(&sum));
}

/* KL(wanted || got), and the weight both give to the same keys, sum_x min. NaN where the wanted curve is. */
static void compare_weights(const curves *c, double *divergence, double *shared) {
  double of_wanted = log_sum_exp(c->wanted, c->length), of_got = log_sum_exp(c->got, c->length);
  rs_sum kl = {0}, both = {0};
  for (size_t x = 0; x < c->length; x++) {
    double wanted = c->wanted[x] - of_wanted, got = c->got[x] - of_got;
    rs_sum_add(&kl, exp(wanted) * (wanted - got));
    rs_sum_add(&both, exp(wanted < got || isnan(wanted) ? wanted : got));
  }
  *divergence = rs_sum_total(&kl);
  *shared = rs_sum_total(&both);
}

/* Keys with a larger logit than the one at the wanted curve's top; NaN where it has none within the length. */
static double peak_rank(const curves *c) {
  const rs_wanted *wanted = &c->asked->head.wanted;
  double rank = 0;
  size_t peak = wanted->curve == RS_WANTED_PEAK ? (size_t)rint(wanted->top) : 0;
  if ((wanted->curve != RS_WANTED_PEAK && wanted->curve != RS_WANTED_LOCAL) || peak >= c->length) return NAN;
  for (size_t x = 0; x < c->length; x++) rank += c->got[x] > c->got[peak];
  return rank;
}

/* The distance of the largest logit, the first of equals. */
static double argmax(const curves *c) {
  size_t top = 0;
  for (size_t x = 1; x < c->length; x++)
    if (c->got[x] > c->got[top]) top = x;
  return (double)top;
}

static rs_status report(const curves *c, rs_result *result, rs_err *err) {
  size_t inner = c->trained < c->length ? c->trained : c->length, *edges, bins;
  result->value[0] = rms(c->fitted, c->wanted, 0, c->trained);
  result->value[1] = rms(c->got, c->wanted, 0, inner);
  result->value[2] = rms(c->got, c->wanted, inner, c->length);
  result->value[3] = largest(c->got, inner, c->length) / largest(c->fitted, 0, c->trained);
  compare_weights(c, &result->value[4], &result->value[5]);
  result->value[6] = peak_rank(c);
  result->value[7] = argmax(c);
  RS_TRY(rs_log_edges(c->length, c->asked->per_octave, &edges, &bins, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < bins && status == RS_OK; i++) {
    size_t x = edges[i];
    double row[] = {(double)x, c->wanted[x], x < c->trained ? c->fitted[x] : NAN, c->got[x]};
    status = rs_curve_add(&result->curve, row, err);
  }
  free(edges);
  return status;
}

static rs_status measure(const rs_metric_in *in, curves *c, rs_result *result, rs_err *err) {
  rs_wave_fit head;
  fill_wanted(in, c);
  RS_TRY(fit_head(in, c, &head, err));
  rs_status status = read_head(in->encoding, &head, c, err);
  rs_wave_fit_clear(&head);
  return status == RS_OK ? report(c, result, err) : status;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  curves c = {.trained = (size_t)in->encoding->train_length, .length = in->encoding->length, .asked = in->params};
  for (size_t i = 0; i < 8; i++) result->value[i] = NAN;
  if (!rs_trained_on_tokens(in->encoding)) return RS_OK;
  c.reach = c.length > c.trained ? c.length : c.trained;
  c.wanted = rs_alloc(c.reach, sizeof *c.wanted, err);
  c.got = rs_alloc(c.length, sizeof *c.got, err);
  c.fitted = rs_alloc(c.trained, sizeof *c.fitted, err);
  bool room = c.wanted != NULL && c.got != NULL && c.fitted != NULL;
  rs_status status = room ? measure(in, &c, result, err) : RS_MEMORY;
  free(c.wanted);
  free(c.got);
  free(c.fitted);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  return rs_log_bins(in->length, p->per_octave);
}

static const rs_param specs[] = {
    RS_CALIBRATED_SPECS(params, head),
    {RS_FIELD(params, per_octave), .unit = "1", .min = 1, .max = 1024, .fallback = "8",
     .summary = "distances of the curve in each doubling"},
};

static const rs_column scalars[] = {
    RS_COLUMN("calibration_fit_nats", "nats",
              "rms difference of the fitted head from the wanted curve where it was fitted: plain RoPE, distances "
              "below train_length"),
    RS_COLUMN("calibration_inside_nats", "nats",
              "rms difference from the wanted curve under the method, distances below train_length",
              .better = RS_LOWER),
    RS_COLUMN("calibration_outside_nats", "nats", "the same at distances from train_length on", .better = RS_LOWER),
    RS_COLUMN("calibration_blowup", "1", "largest |logit| from train_length on, over the largest of the fitted head",
              .better = RS_LOWER),
    RS_COLUMN("calibration_kl_nats", "nats",
              "KL divergence of the last query's weights from those of the wanted curve, KL(wanted || got)",
              .better = RS_LOWER),
    RS_COLUMN("calibration_shared_weight", "1",
              "weight that wanted and got give to the same keys, sum of the smaller of the two", .better = RS_HIGHER),
    RS_COLUMN("calibration_peak_rank", "1",
              "keys with a larger logit than the one at the wanted curve's top (0: it is found); local and peak alone",
              .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("calibration_argmax_tokens", "tokens", "distance of the largest logit", .log_axis = true),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_tokens", "tokens", "m - n, of the last query", .integer = true, .log_axis = true),
    RS_COLUMN("wanted_nats", "nats", "the wanted curve; empty for noise beyond train_length"),
    RS_COLUMN("fitted_nats", "nats", "the head under plain RoPE; empty beyond train_length"),
    RS_COLUMN("got_nats", "nats", "the head under the method, amp and logit scale included"),
};

const rs_metric_kind rs_metric_calibration = {
    .kind = {.name = "calibration",
             .summary = "a head fitted to a wanted curve within train_length, then moved to this length unchanged",
             .reference = "fitted as in Position Interpolation, arXiv:2306.15595, appendix C",
             RS_KIND(specs, params)},
    .draws = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
