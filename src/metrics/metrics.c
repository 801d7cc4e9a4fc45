/* The table of metrics: adding one is one file and one line here. */
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rs_metric_kind *const kinds[] = {
    &rs_metric_decay,
    &rs_metric_first_violation,
    &rs_metric_violations,
    &rs_metric_base_bound,
    &rs_metric_critical_dim,
    &rs_metric_ood_angles,
    &rs_metric_local_resolution,
    &rs_metric_position_similarity,
    &rs_metric_position_pca,
    &rs_metric_embedding,
    &rs_metric_channel_axes,
    &rs_metric_position_frequency,
    &rs_metric_score_by_distance,
    &rs_metric_distance_mass,
    &rs_metric_entropy,
    &rs_metric_effective_tokens,
    &rs_metric_needle,
    &rs_metric_sink_mass,
    &rs_metric_grid_decay,
    &rs_metric_axis_decay,
    &rs_metric_axis_wavelengths,
    &rs_metric_frame_decay,
    &rs_metric_id_growth,
    &rs_metric_frequencies,
    &rs_metric_angle_shift,
    &rs_metric_receptive_field,
    &rs_metric_attention_resolution,
    &rs_metric_argmax_distance,
    &rs_metric_entropy_scaling,
    &rs_metric_temperature_law,
    &rs_metric_sphere_entropy,
    &rs_metric_simplex_contraction,
    &rs_metric_feature_gap,
    &rs_metric_phase_error,
    &rs_metric_shift_invariance,
    &rs_metric_alias,
    &rs_metric_interpolation_bound,
    &rs_metric_least_squares_blowup,
    &rs_metric_calibration,
};

const rs_metric_kind *const *rs_metric_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_metric_kind *rs_metric_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

void rs_result_mean(rs_result *result, size_t index, const rs_moments *moments) {
  result->value[index] = rs_moments_mean(moments);
  result->error[index] = rs_moments_se(moments);
}

/* Chan, Golub and LeVeque, 1979. */
void rs_moments_join(rs_moments *into, double count, double mean, double squares) {
  if (count == 0) return;
  double total = into->count + count, shift = mean - into->mean;
  into->squares += squares + shift * shift * into->count * count / total;
  into->mean += shift * count / total;
  into->count = total;
}

double rs_mean_bias(const rs_metric_in *in, size_t query, size_t key) {
  double sum = in->encoding->method->bias != NULL ? 0 : NAN, bias;
  for (size_t i = 0; i < in->head_count; i++) {
    rs_encoding_bias_row(in->encoding, in->heads[i], query, key, key + 1, &bias);
    sum += bias;
  }
  return sum / (double)in->head_count;
}

rs_status rs_curve_add(rs_curve *curve, const double *row, rs_err *err) {
  void *cells = curve->cells;
  rs_status status = rs_grow(&cells, &curve->capacity, (curve->rows + 1) * curve->columns, sizeof *row, err);
  if (status != RS_OK) return status;
  curve->cells = cells;
  memcpy(curve->cells + curve->rows++ * curve->columns, row, curve->columns * sizeof *row);
  return RS_OK;
}

void rs_curve_clear(rs_curve *curve) {
  free(curve->cells);
  *curve = (rs_curve){.columns = curve->columns};
}
