/* How far the angles of this context are from any that training showed: of a pair, the largest distance on the circle
 * from an angle between the last query and a key to the nearest of positions 0 .. L0 - 1. Resonance RoPE, Wang et al.,
 * arXiv:2403.00071, section 4: a pair that went full circle in training (pre-critical) still shows new angles, between
 * the old ones, unless its wavelength is a whole number of tokens.
 *
 * Training is the model's plain RoPE, with whole wavelengths where this recipe has them. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

/* 2^-64 of a turn in rad. */
#define RAD (2 * M_PI * 0x1p-64)

/* The frequency that training had. */
static double trained_omega(const rs_encoding *encoding, size_t pair) {
  double omega = encoding->omega_trained[pair];
  bool whole = encoding->wavelengths == RS_WAVES_WHOLE;
  return whole ? 2 * M_PI / fmax(1, rint(2 * M_PI / omega)) : omega;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The angles of training in ascending order, as 2^-64 of a turn. */
static void fill_seen(double omega, size_t count, uint64_t *seen) {
  rs_turns turn = rs_turns_of(omega);
  for (size_t m = 0; m < count; m++) seen[m] = rs_turns_times(turn, m).high;
  qsort(seen, count, sizeof *seen, ascending);
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* To the nearest of `seen`, either way round: differences wrap as angles do. */
static uint64_t distance_to(const uint64_t *seen, size_t count, uint64_t angle) {
  size_t low = 0, high = count; /* the first that is not below the angle lies in [low, high] */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (seen[middle] < angle)
      low = middle + 1;
    else
      high = middle;
  }
  uint64_t above = seen[low < count ? low : 0] - angle, below = angle - seen[low > 0 ? low - 1 : count - 1];
  return least(above, below);
}

static double gap_of(const rs_encoding *encoding, size_t pair, const double *distances, uint64_t *seen) {
  size_t trained = (size_t)encoding->train_length;
  double omega = encoding->omega[pair];
  rs_turns turn = rs_turns_of(omega);
  uint64_t most = 0;
  fill_seen(trained_omega(encoding, pair), trained, seen);
  for (size_t n = 0; n < encoding->length; n++) {
    uint64_t gap = distance_to(seen, trained, rs_turns_at(turn, omega, distances[n]).high);
    if (gap > most) most = gap;
  }
  return (double)most * RAD;
}

static rs_status add_pairs(const rs_encoding *encoding, double *distances, uint64_t *seen, rs_result *result,
                           rs_err *err) {
  double pairs = 0, largest = 0;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    if (j == 0 || encoding->axis[j] != encoding->axis[j - 1]) rs_last_distances(encoding, encoding->axis[j], distances);
    double gap = gap_of(encoding, j, distances, seen), wavelength = 2 * M_PI / trained_omega(encoding, j);
    bool full_circle = wavelength < encoding->train_length;
    double row[] = {(double)j, wavelength, gap};
    pairs += full_circle;
    if (full_circle) largest = fmax(largest, gap);
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  result->value[0] = pairs > 0 ? largest : NAN;
  result->value[1] = pairs;
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  result->value[0] = result->value[1] = NAN;
  if (!rs_trained_on_tokens(encoding)) return RS_OK;
  double *distances = rs_alloc(encoding->length, sizeof *distances, err);
  uint64_t *seen = rs_alloc((size_t)encoding->train_length, sizeof *seen, err);
  rs_status status = distances != NULL && seen != NULL ? add_pairs(encoding, distances, seen, result, err) : RS_MEMORY;
  free(seen);
  free(distances);
  return status;
}

static const rs_column scalars[] = {
    RS_COLUMN("feature_gap_rad", "rad",
              "largest distance, over pre-critical pairs and all keys, from the last query's angle to the nearest that "
              "training showed at a whole position",
              .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("pre_critical_pairs", "pairs", "pairs whose trained wavelength is below train_length", .integer = true),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("trained_wavelength_tokens", "tokens", "2 pi / omega of plain RoPE, whole where this recipe's are",
              .log_axis = true),
    RS_COLUMN("gap_rad", "rad", "the pair's largest distance to the nearest angle of training", .log_axis = true),
};

const rs_metric_kind rs_metric_feature_gap = {
    .kind = {.name = "feature_gap",
             .summary = "how far the angles of this context are from those that training showed",
             .reference = "Resonance RoPE, arXiv:2403.00071, section 4",
             .version = 1},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
