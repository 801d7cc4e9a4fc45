/* After how many ids a pair comes round, along the axis it reads. What an axis can tell apart lies between its shortest
 * wavelength and its longest: below the one distances blur, beyond the other they repeat. Qwen2-VL, arXiv:2409.12191,
 * section 2.1; that its time has the fast pairs alone is VideoRoPE's objection (arXiv:2502.05173, section 3). */
#include "metric_list.h"

#include <math.h>

/* Infinite where the pair stands still along the axis. */
static double wavelength(const rs_encoding *encoding, size_t pair, size_t axis) {
  return 2 * M_PI / (encoding->omega[pair] * rs_axis_weight(encoding, pair, axis));
}

static rs_status add_pair(const rs_encoding *encoding, size_t pair, rs_result *result, rs_err *err) {
  double row[1 + RS_AXES] = {(double)pair};
  for (size_t a = 0; a < RS_AXES; a++) {
    double length = wavelength(encoding, pair, a);
    bool turns = isfinite(length);
    row[1 + a] = turns ? length : NAN;
    if (!turns) continue;
    result->value[2 * a] = fmin(result->value[2 * a], length);
    result->value[2 * a + 1] = fmax(result->value[2 * a + 1], length);
  }
  return rs_curve_add(&result->curve, row, err);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (!rs_axes_readable(in->encoding)) return RS_OK;
  for (size_t j = 0; j < in->encoding->rotary_dim / 2; j++) RS_TRY(add_pair(in->encoding, j, result, err));
  return RS_OK;
}

#define AXIS_SCALARS(axis, what)                                                                                       \
  {.name = axis "_shortest_wavelength_ids",                                                                            \
   .unit = "ids",                                                                                                      \
   .summary = "fewest ids after which a pair that reads " what " comes round; empty where none does",                  \
   .log_axis = true},                                                                                                  \
  {                                                                                                                    \
    .name = axis "_longest_wavelength_ids", .unit = "ids",                                                             \
    .summary = "most ids after which a pair that reads " what " comes round", .log_axis = true                         \
  }

static const rs_column scalars[] = {
    AXIS_SCALARS("t", "time (all pairs, where there is one axis)"),
    AXIS_SCALARS("h", "rows"),
    AXIS_SCALARS("w", "columns"),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j", .integer = true),
    RS_COLUMN("t_wavelength_ids", "ids", "2 pi / omega_j along time; empty where the pair does not read it",
              .log_axis = true),
    RS_COLUMN("h_wavelength_ids", "ids", "2 pi / omega_j along rows; empty where the pair does not read them",
              .log_axis = true),
    RS_COLUMN("w_wavelength_ids", "ids", "2 pi / omega_j along columns; empty where the pair does not read them",
              .log_axis = true),
};

const rs_metric_kind rs_metric_axis_wavelengths = {
    .kind = {.name = "axis_wavelengths",
             .summary = "which pairs read time, rows and columns, and after how many ids they come round",
             .reference = "Qwen2-VL, arXiv:2409.12191, section 2.1; VideoRoPE, arXiv:2502.05173, section 3"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
