/* The metrics (one file each) and what they share. Private to the metrics layer. */
#ifndef ROPESCOPE_METRICS_METRICS_H
#define ROPESCOPE_METRICS_METRICS_H

#include "ropescope/metrics.h"

extern const rs_metric_kind rs_metric_alias, rs_metric_angle_shift, rs_metric_argmax_distance,
    rs_metric_attention_resolution, rs_metric_axis_decay, rs_metric_axis_wavelengths, rs_metric_base_bound,
    rs_metric_calibration, rs_metric_channel_axes, rs_metric_critical_dim, rs_metric_decay, rs_metric_distance_mass,
    rs_metric_effective_tokens, rs_metric_embedding, rs_metric_entropy, rs_metric_entropy_scaling,
    rs_metric_feature_gap, rs_metric_first_violation, rs_metric_frame_decay, rs_metric_frequencies,
    rs_metric_grid_decay, rs_metric_id_growth, rs_metric_interpolation_bound, rs_metric_least_squares_blowup,
    rs_metric_local_resolution, rs_metric_needle, rs_metric_ood_angles, rs_metric_phase_error,
    rs_metric_position_frequency, rs_metric_position_pca, rs_metric_position_similarity, rs_metric_receptive_field,
    rs_metric_score_by_distance, rs_metric_shift_invariance, rs_metric_simplex_contraction, rs_metric_sink_mass,
    rs_metric_sphere_entropy, rs_metric_temperature_law, rs_metric_violations;

/* Scalar `index` becomes the mean of the sample with its standard error. */
void rs_result_mean(rs_result *result, size_t index, const rs_moments *moments);

/* Joins another sample, given by its count, mean and sum of squared deviations. */
void rs_moments_join(rs_moments *into, double count, double mean, double squares);

/* What the encoding multiplies a query's logits by, before any bias: amp^2 times the logit scale. NaN where no one
 * number does: an amp other than 1 is on the rotary dims alone, and the head has others. */
double rs_logit_factor(const rs_encoding *encoding, size_t query);

/* The last query's logits (L,) in `head` by distance when all contents are equal: `content` (nats, the logit of equal
 * contents that nothing turns) times the mean cosine, the encoding's factor, and the bias; up to a constant of the row,
 * which amp would not put on pairs that stand still. RS_MEMORY. */
rs_status rs_equal_logits(const rs_encoding *encoding, size_t head, double content, double *logits, rs_err *err);

/* The parameter that says what `content` is, and its value. */
#define RS_CONTENT_PARAM                                                                                               \
  {                                                                                                                    \
    .name = "content", .type = RS_REAL, .unit = "nats", RS_WORD_LIST("sqrt_dim"), .min = 0, .max = 1e6,                \
    .fallback = "sqrt_dim",                                                                                            \
    .summary = "logit of two equal contents that nothing turns; sqrt_dim: sqrt(D), of contents 1 in every dim"         \
  }
double rs_content_logit(const rs_metric_in *in);

/* The bias between two tokens in nats, either order, mean over the simulated heads; NaN where the method has none. */
double rs_mean_bias(const rs_metric_in *in, size_t query, size_t key);

/* The positions that metrics of positions look at: `count` tokens from `begin` on. */
typedef struct rs_position_set {
  size_t begin, count, rows, columns; /* rows * columns = count, or 0 for a sequence */
} rs_position_set;

/* The first frame of the first picture; all tokens where there is none. */
rs_position_set rs_positions_of(const rs_encoding *encoding);

/* Relative positions (L,) of all keys on an axis, as the last query sees them through its views. */
void rs_last_distances(const rs_encoding *encoding, size_t axis, double *out);

/* Place i of `most` spread evenly over `count`, both ends included; i itself where count <= most. */
size_t rs_even_sample(size_t i, size_t most, size_t count);

/* Whether train_length counts what the pairs were trained on: rotation by tokens, not by patches of a picture. */
bool rs_trained_on_tokens(const rs_encoding *encoding);

/* Whether each pair turns by a fixed rate along the axes t, h, w: one view, no gains, no coordinates of its own. */
bool rs_axes_readable(const rs_encoding *encoding);

/* How far pair j moves along its coordinate for each id of the axis: 0 where it does not read it; time is the only axis
 * of encodings that have one. */
double rs_axis_weight(const rs_encoding *encoding, size_t pair, size_t axis);

/* The columns that index a curve over distance bins. */
#define RS_BIN_COLUMNS                                                                                                 \
  {.name = "distance_tokens", .unit = "tokens", .summary = "first distance of the bin", .log_axis = true}, {           \
    .name = "distance_end_tokens", .unit = "tokens", .summary = "first distance past the bin"                          \
  }

#endif
