/* What the float formats of an engine do to the angles: how far the angle of a pair, computed in the encoding's
 * precision, is from frequency times position. float32 has 24 bits: at position 2^20 half a last place of pair 0 is
 * 0.03 rad, and a frequency that was rounded to float32 is off by as much again; a product carried from pair to pair,
 * as ggml's, by more. vLLM and others keep float32 for this reason, and bfloat16 fails: Wang et al., arXiv:2411.13476,
 * section 3.
 *
 * Whole positions below the length, and the length itself: at a power of 2 the product is not rounded and what is left
 * is the frequency's error. Bent positions are not applied. */
#include "metric_list.h"

#include <math.h>

enum { AT_LENGTH, NEAR_END, SCALARS };

typedef struct params {
  size_t positions; /* tokens */
} params;

/* |angle - omega position|; the exact product's second half is its rounding error. */
static double error_at(const rs_encoding *encoding, size_t pair, size_t position) {
  double omega = encoding->omega_exact[pair], exact = (double)position * omega;
  double lost = fma((double)position, omega, -exact);
  double rounded = rs_round(encoding->precision.positions, (double)position);
  return fabs(rs_encoding_angle(encoding, pair, rounded) - exact - lost);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  const params *p = in->params;
  size_t length = encoding->length, first = length > p->positions ? length - p->positions : 0;
  for (size_t i = 0; i < SCALARS; i++) result->value[i] = NAN;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double at_length = error_at(encoding, j, length), near_end = 0;
    for (size_t m = first; m < length; m++) near_end = fmax(near_end, error_at(encoding, j, m));
    double row[] = {(double)j, at_length, near_end};
    result->value[AT_LENGTH] = fmax(result->value[AT_LENGTH], at_length); /* fmax leaves the NaN */
    result->value[NEAR_END] = fmax(result->value[NEAR_END], near_end);
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, positions), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "1024",
     .summary = "the last so many positions are searched"},
};

static const rs_column scalars[] = {
    [AT_LENGTH] = RS_COLUMN("phase_error_at_length_rad", "rad",
                            "largest error of any pair's angle at the position that equals the length",
                            .log_axis = true, .better = RS_LOWER),
    [NEAR_END] = RS_COLUMN("phase_error_rad", "rad", "largest error of any pair's angle at the last positions",
                           .log_axis = true, .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("error_at_length_rad", "rad", "|angle - omega position| at the position that equals the length",
              .log_axis = true),
    RS_COLUMN("error_rad", "rad", "the largest at the last positions", .log_axis = true),
};

const rs_metric_kind rs_metric_phase_error = {
    .kind = {.name = "phase_error",
             .summary = "how far angles computed in the encoding's precision are from the exact ones",
             .reference = "Wang et al., arXiv:2411.13476, section 3; ggml, ggml_rope_cache_init",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
