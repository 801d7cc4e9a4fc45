/* The metrics (one file each) and what they share. */
#ifndef ROPESCOPE_METRICS_METRICS_H
#define ROPESCOPE_METRICS_METRICS_H

#include "metrics/metrics.h"

/* The metrics, in the order of `ropescope list`. A metric is one file, one line here and its name in meson.build. */
/* clang-format off */
#define RS_METRICS(metric) \
  metric(decay) \
  metric(first_violation) \
  metric(violations) \
  metric(base_bound) \
  metric(critical_dim) \
  metric(ood_angles) \
  metric(local_resolution) \
  metric(zero_shot_damage) \
  metric(lookback_damage) \
  metric(position_similarity) \
  metric(similarity_matrix) \
  metric(position_pca) \
  metric(position_components) \
  metric(embedding) \
  metric(embedding_shift) \
  metric(embedding_distance) \
  metric(embedding_columns) \
  metric(channel_axes) \
  metric(position_frequency) \
  metric(score_by_distance) \
  metric(distance_mass) \
  metric(entropy) \
  metric(effective_tokens) \
  metric(needle) \
  metric(sink_mass) \
  metric(segment_mass) \
  metric(top_mass) \
  metric(attention_map) \
  metric(attention_grid) \
  metric(attention_rollout) \
  metric(rollout_grid) \
  metric(retrieval) \
  metric(pair_norms) \
  metric(massive_values) \
  metric(grid_decay) \
  metric(axis_decay) \
  metric(axis_wavelengths) \
  metric(frame_decay) \
  metric(id_growth) \
  metric(frequencies) \
  metric(receptive_field) \
  metric(argmax_distance) \
  metric(entropy_scaling) \
  metric(phase_error) \
  metric(shift_invariance) \
  metric(alias) \
  metric(calibration) \
  metric(loss) \
  metric(last_tenth_loss) \
  metric(loss_difference) \
  metric(loss_by_position) \
  metric(repeated_loss) \
  metric(long_perplexity) \
  metric(accuracy) \
  metric(generalisation) \
  metric(recall) \
  metric(recall_by_distance) \
  metric(needle_accuracy) \
  metric(resolution)
/* clang-format on */

#define RS_DECLARE_METRIC(name) extern const rs_metric_kind rs_metric_##name;
RS_METRICS(RS_DECLARE_METRIC)

/* A column: its name, its unit, and what follows `.summary =`. */
#define RS_COLUMN(column, of_unit, ...)                                                                                \
  { .name = (column), .unit = (of_unit), .summary = __VA_ARGS__ }

/* Members of a rs_metric_kind: its scalars; its curve, whose first `index` columns are its index. */
#define RS_SCALARS(columns) .scalars = (columns), .scalar_count = RS_COUNT(columns)
#define RS_CURVE(columns, index) .curve = (columns), .curve_count = RS_COUNT(columns), .index_count = (index)

/* A state of `size` bytes, zeroed. RS_MEMORY. */
rs_status rs_state_make(size_t size, void **state, rs_err *err);

/* The state of metrics that take samples in each bin of distances. */
typedef struct rs_bin_samples {
  size_t count;
  rs_moments all, bins[]; /* bins: (count,); all: of every bin, for metrics that fill it */
} rs_bin_samples;

/* Their prepare. */
rs_status rs_bin_samples_make(const rs_metric_in *in, void **state, rs_err *err);

/* Scalar `index` becomes the mean of the sample with its standard error. */
void rs_result_mean(rs_result *result, size_t index, const rs_moments *moments);

/* Joins another sample, given by its count, mean and sum of squared deviations. */
void rs_moments_join(rs_moments *into, double count, double mean, double squares);

/* What the encoding multiplies a query's logits by, before any bias: amp^2 times the logit scale. NaN where no one
 * number does: an amp other than 1 is on the rotary dims alone, and the head has others. */
double rs_logit_factor(const rs_encoding *encoding, size_t query);

/* Which distances a curve has rows for: a block of parameters. */
typedef enum rs_distance_choice { RS_DISTANCES_LOG, RS_DISTANCES_ALL, RS_DISTANCE_CHOICES } rs_distance_choice;
extern const char *const rs_distance_words[RS_DISTANCE_CHOICES + 1];

typedef struct rs_distance_rows {
  rs_distance_choice distances;
  size_t per_octave; /* log-spaced ones in each doubling */
} rs_distance_rows;

/* At most how many rows that makes for distances below `end`. */
size_t rs_distance_rows_most(const rs_distance_rows *rows, size_t end);

/* Their specs, for a struct that holds them as its field `block`. */
#define RS_DISTANCE_SPECS(structure, block)                                                                            \
  {RS_FIELD_IN(structure, block, distances), .unit = "", RS_WORDS(rs_distance_words), .fallback = "log",               \
   .summary = "rows of the curve: log-spaced distances, or every one"},                                                \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, per_octave), .unit = "1", .min = 1, .max = 1024, .fallback = "16",                   \
                                               .summary = "log-spaced distances in each doubling"                      \
  }

/* The bias between two tokens in nats, either order, mean over the simulated heads; NaN where the method has none. */
double rs_mean_bias(const rs_metric_in *in, size_t query, size_t key);

/* curve_rows of curves with a row for each pair, or for each bin of distances. */
size_t rs_rows_of_pairs(const void *params, const rs_curve_in *in);
size_t rs_rows_of_bins(const void *params, const rs_curve_in *in);

/* The positions that metrics of positions look at: `count` tokens from `begin` on. */
typedef struct rs_position_set {
  size_t begin, count, rows, columns; /* rows * columns = count, or 0 for a sequence */
} rs_position_set;

/* The first frame of the first picture; all tokens where there is none. */
rs_position_set rs_positions_of(const rs_token_layout *tokens, size_t length);

/* Positions that are shown, in order, of a picture at most `side` rows and columns, of a sequence at most `tokens`: how
 * many, and where in the set number i stands. */
size_t rs_positions_shown(const rs_position_set *set, size_t side, size_t tokens);
size_t rs_position_shown(const rs_position_set *set, size_t side, size_t tokens, size_t i);

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
  {.name = "distance_tokens",                                                                                          \
   .unit = "tokens",                                                                                                   \
   .integer = true,                                                                                                    \
   .summary = "first distance of the bin",                                                                             \
   .log_axis = true},                                                                                                  \
  {                                                                                                                    \
    .name = "distance_end_tokens", .unit = "tokens", .integer = true, .summary = "first distance past the bin",        \
    .map = RS_MAP_BIN_END                                                                                              \
  }

#endif
