/* What a method does to each rotary pair: its frequency, wavelength and divisor beside those of training, and how much
 * of the division by s it got. YaRN, arXiv:2309.00071, eq. 19 writes every by-parts scheme so:
 *
 *   omega = trained ((1 - gamma) + gamma / s),   gamma = 0: kept, 1: divided by s
 *
 * gamma, the base and the ramp are read off the finished table, not off the parameters: they are what an engine that
 * loads this table runs with. What is done to positions (interpolate: positions) is not seen here. */
#include "metric_list.h"

#include <math.h>

enum { BASE, NTK_FACTOR, AMPLITUDE, LOGIT_GAIN, KEPT, BLENDED, DIVIDED, RAMP_LOW, RAMP_HIGH, SCALARS };

/* Relative. Frequencies that float32 code computes are off by up to 1e-6 (rs_causes_find says ggml's by 9e-6). */
#define SAME 1e-5

static double interpolated(const rs_encoding *encoding, size_t pair) {
  double s = encoding->scale, ratio = encoding->omega[pair] / encoding->omega_trained[pair];
  return s == 1 ? NAN : (1 - ratio) / (1 - 1 / s); /* s NaN: the method has none */
}

/* A straight line through blended pairs: gamma rises by `slope` a pair from 0 at `low`. */
typedef struct line {
  double low, slope;
} line;

/* The line through the first and the last blended pair. */
static line ramp_through(const rs_encoding *encoding, size_t first, size_t last) {
  double from = interpolated(encoding, first), slope = (interpolated(encoding, last) - from) / (double)(last - first);
  return (line){(double)first - from / slope, slope};
}

/* Whether every pair is where the line, cut at 0 and 1, says. */
static bool is_ramp(const rs_encoding *encoding, line ramp) {
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double wanted = fmin(fmax(((double)j - ramp.low) * ramp.slope, 0), 1);
    if (!(fabs(interpolated(encoding, j) - wanted) < SAME)) return false;
  }
  return true;
}

/* How many pairs are kept, blended and divided, and the ramp among the blended. */
static void find_bands(const rs_encoding *encoding, double *value) {
  size_t pairs = encoding->rotary_dim / 2, first = pairs, last = 0;
  if (isnan(encoding->scale) || encoding->scale == 1) return;
  value[KEPT] = value[BLENDED] = value[DIVIDED] = 0;
  for (size_t j = 0; j < pairs; j++) {
    double gamma = interpolated(encoding, j);
    bool kept = fabs(gamma) < SAME, divided = fabs(gamma - 1) < SAME, blended = !kept && !divided;
    value[KEPT] += kept;
    value[DIVIDED] += divided;
    value[BLENDED] += blended;
    if (blended && first == pairs) first = j;
    if (blended) last = j;
  }
  if (first >= last) return;
  line ramp = ramp_through(encoding, first, last);
  if (!is_ramp(encoding, ramp)) return;
  value[RAMP_LOW] = ramp.low;
  value[RAMP_HIGH] = ramp.low + 1 / ramp.slope;
}

static rs_status add_pairs(const rs_encoding *encoding, rs_curve *curve, rs_err *err) {
  bool known = rs_trained_on_tokens(encoding);
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double omega = encoding->omega[j], trained = known ? encoding->omega_trained[j] : NAN;
    double wavelength = omega > 0 ? 2 * M_PI / omega : NAN, divisor = omega > 0 ? trained / omega : NAN;
    double row[] = {(double)j,
                    encoding->own_places ? NAN : encoding->axis[j],
                    omega,
                    trained,
                    wavelength,
                    divisor,
                    interpolated(encoding, j),
                    encoding->train_length * trained / (2 * M_PI)};
    RS_TRY(rs_curve_add(curve, row, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  size_t pairs = encoding->rotary_dim / 2;
  for (size_t i = 0; i < SCALARS; i++) result->value[i] = NAN;
  if (pairs == 0) return RS_OK;
  double base = rs_ladder_base(encoding->omega, pairs, SAME);
  double theta = rs_trained_on_tokens(encoding) ? rs_ladder_base(encoding->omega_trained, pairs, SAME) : NAN;
  result->value[BASE] = base;
  result->value[NTK_FACTOR] = rs_factor_ntk(theta, pairs, base);
  result->value[AMPLITUDE] = encoding->amp;
  result->value[LOGIT_GAIN] = rs_logit_factor(encoding, encoding->length - 1);
  find_bands(encoding, result->value);
  return add_pairs(encoding, &result->curve, err);
}

static const rs_column scalars[] = {
    [BASE] =
        RS_COLUMN("ladder_base", "1",
                  "base of omega_j = c base^(-2j/R); empty where the frequencies are no such ladder", .log_axis = true),
    [NTK_FACTOR] =
        RS_COLUMN("ntk_factor", "1", "the s whose NTK-aware base theta s^(R/(R-2)) ladder_base is", .log_axis = true),
    [AMPLITUDE] = RS_COLUMN("amplitude", "1", "what multiplies cos and sin"),
    [LOGIT_GAIN] = RS_COLUMN("logit_gain", "1",
                             "what multiplies the last query's logits: amplitude^2 times its logit scale (logit_factor "
                             "of entropy_scaling); empty where the amplitude is on a part of the head alone"),
    [KEPT] = RS_COLUMN("kept_pairs", "",
                       "pairs whose frequency is that of training; empty, as the next two, without an s other than 1",
                       .integer = true),
    [BLENDED] = RS_COLUMN("blended_pairs", "", "pairs that are neither kept nor divided by s", .integer = true),
    [DIVIDED] = RS_COLUMN("divided_pairs", "", "pairs whose frequency is divided by s", .integer = true),
    [RAMP_LOW] = RS_COLUMN("ramp_low", "",
                           "pair index at which the straight line through the blended pairs' `interpolated` is 0; "
                           "empty where they are on no line that, cut at 0 and 1, gives all pairs"),
    [RAMP_HIGH] = RS_COLUMN("ramp_high", "", "pair index at which that line is 1"),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("axis", "",
              "position the pair reads: 0 time (or text), 1 row, 2 column; empty where each pair has its own "
              "(rope_mixed, cached_keys)",
              .integer = true),
    RS_COLUMN("omega_rad_per_token", "rad/token", "its frequency", .log_axis = true),
    RS_COLUMN("trained_rad_per_token", "rad/token",
              "plain RoPE's of the model; empty, as what follows from it, where pairs turn by patches",
              .log_axis = true),
    RS_COLUMN("wavelength_tokens", "tokens", "2 pi / omega; empty where the pair does not turn", .log_axis = true),
    RS_COLUMN("divisor", "1", "trained / omega; empty where it does not turn", .log_axis = true),
    RS_COLUMN(
        "interpolated", "1",
        "gamma in omega = trained ((1 - gamma) + gamma / s): 0 kept, 1 divided by s; empty without an s other than 1",
        .map = RS_MAP_STRIP),
    RS_COLUMN("turns_in_training", "1", "train_length / trained wavelength", .log_axis = true),
};

const rs_metric_kind rs_metric_frequencies = {
    .kind = {.name = "frequencies",
             .summary = "the frequency table pair by pair: what was kept, blended and divided, the base, the amplitude",
             .reference = "YaRN, arXiv:2309.00071v2, sections 3.1 to 3.3"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
