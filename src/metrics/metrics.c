/* The metrics by name, and what they share. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &rs_metric_##name,
static const rs_metric_kind *const kinds[] = {RS_METRICS(ENTRY)};

const rs_metric_kind *const *rs_metric_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_metric_kind *rs_metric_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

rs_status rs_row_needs_add(rs_row_needs *needs, const rs_metric_kind *kind, const void *params, rs_err *err) {
  size_t sinks = kind->sinks != NULL ? kind->sinks(params) : 0;
  needs->rows |= kind->row != NULL;
  needs->content |= kind->content != NULL;
  needs->moments |= kind->needs_moments;
  if (needs->sinks > 0 && sinks > 0 && sinks != needs->sinks)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s needs the weight of the first %zu keys, and another metric that of %zu (rows hold one of them)",
                   kind->kind.name, sinks, needs->sinks);
  if (sinks > 0) needs->sinks = sinks;
  if (kind->wants != NULL) kind->wants(params, needs);
  return RS_OK;
}

rs_status rs_state_make(size_t size, void **state, rs_err *err) {
  *state = rs_alloc(1, size, err);
  return *state != NULL ? RS_OK : RS_MEMORY;
}

rs_status rs_bin_samples_make(const rs_metric_in *in, void **state, rs_err *err) {
  RS_TRY(rs_state_make(sizeof(rs_bin_samples) + in->bins * sizeof(rs_moments), state, err));
  ((rs_bin_samples *)*state)->count = in->bins;
  return RS_OK;
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

double rs_logit_factor(const rs_encoding *encoding, size_t query) {
  bool all = encoding->amp == 1 || encoding->rotary_dim == encoding->head_dim;
  return all ? encoding->amp * encoding->amp * encoding->logit_scale[query] : NAN;
}

const char *const rs_distance_words[RS_DISTANCE_CHOICES + 1] = {[RS_DISTANCES_LOG] = "log", [RS_DISTANCES_ALL] = "all"};

size_t rs_distance_rows_most(const rs_distance_rows *rows, size_t end) {
  return rows->distances == RS_DISTANCES_ALL ? end : rs_log_bins(end, rows->per_octave);
}

size_t rs_rows_of_pairs(const void *params, const rs_curve_in *in) {
  (void)params;
  return in->pairs;
}

size_t rs_rows_of_bins(const void *params, const rs_curve_in *in) {
  (void)params;
  return in->bins;
}

rs_status rs_curve_add(rs_curve *curve, const double *row, rs_err *err) {
  rs_status status = RS_GROW(curve->cells, &curve->capacity, (curve->rows + 1) * curve->columns, err);
  if (status != RS_OK) return status;
  memcpy(curve->cells + curve->rows++ * curve->columns, row, curve->columns * sizeof *row);
  return RS_OK;
}

void rs_curve_clear(rs_curve *curve) {
  free(curve->cells);
  *curve = (rs_curve){.columns = curve->columns};
}

/* ---- axes: M-RoPE gives a pair one, RoPE-Mixed a direction ------------------------------------------------------- */

bool rs_trained_on_tokens(const rs_encoding *encoding) {
  const rs_freq_kind *kind = encoding->method->freq;
  return kind != NULL && kind->axis == NULL && kind->mix == NULL;
}

bool rs_axes_readable(const rs_encoding *encoding) {
  bool mixed = encoding->axis_weight != NULL;
  return encoding->rotary_dim > 0 && encoding->views == 1 && encoding->gain_q[0] == NULL &&
         (mixed || !encoding->own_places);
}

double rs_axis_weight(const rs_encoding *encoding, size_t pair, size_t axis) {
  if (encoding->axis_weight == NULL) return encoding->axis[pair] == axis;
  return fabs(encoding->axis_weight[pair * RS_AXES + axis]);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

rs_position_set rs_positions_of(const rs_token_layout *tokens, size_t length) {
  rs_position_set set = {.count = length};
  size_t begin;
  const rs_token_run *picture = rs_token_layout_picture(tokens, &begin);
  if (picture == NULL || begin + picture->rows * picture->columns > length) return set;
  return (rs_position_set){begin, picture->rows * picture->columns, picture->rows, picture->columns};
}

size_t rs_even_sample(size_t i, size_t most, size_t count) {
  if (count <= most) return i;
  return most > 1 ? i * (count - 1) / (most - 1) : 0;
}

static size_t at_most(size_t count, size_t most) {
  return count < most ? count : most;
}

size_t rs_positions_shown(const rs_position_set *set, size_t side, size_t tokens) {
  return set->rows > 0 ? at_most(set->rows, side) * at_most(set->columns, side) : at_most(set->count, tokens);
}

size_t rs_position_shown(const rs_position_set *set, size_t side, size_t tokens, size_t i) {
  size_t across = at_most(set->columns, side);
  if (set->rows == 0) return rs_even_sample(i, tokens, set->count);
  return rs_even_sample(i / across, side, set->rows) * set->columns + rs_even_sample(i % across, side, set->columns);
}

void rs_last_distances(const rs_encoding *encoding, size_t axis, double *out) {
  size_t last = encoding->length - 1, axes = encoding->axes;
  rs_segment segments[RS_VIEWS];
  size_t count = rs_encoding_segments(encoding, last, segments);
  for (size_t i = 0; i < count; i++) {
    const double *q = encoding->pos_q[segments[i].view], *k = encoding->pos_k[segments[i].view];
    for (size_t n = segments[i].begin; n < segments[i].end; n++) out[n] = q[last * axes + axis] - k[n * axes + axis];
  }
}
