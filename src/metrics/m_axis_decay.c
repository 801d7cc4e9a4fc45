/* What each axis of M-RoPE can tell apart: the mean cosine over the pairs that read time, rows or columns, against the
 * distance along that axis. An axis resolves neighbours where its curve falls soon, and keeps far ones apart where it
 * does not come back up. Time on the fast pairs (Qwen2-VL, arXiv:2409.12191, section 2.1) falls at once and recurs; on
 * the slow ones (VideoRoPE, arXiv:2502.05173, section 4) it does neither. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { T, H, W };

typedef struct params {
  size_t reach, far; /* ids */
  double threshold;
  rs_distance_rows rows;
} params;

typedef struct axis_curves {
  const rs_encoding *encoding;
  const params *asked;
  double *mean[RS_AXES]; /* (reach,) mean cosine at each distance; NaN on an axis that no pair reads. Owned. */
} axis_curves;

/* What one axis comes to. */
typedef struct axis_traits {
  double first_negative, recurrence, resolution; /* NaN where there is none below the reach */
} axis_traits;

static double mean_cosine(const rs_encoding *encoding, size_t axis, size_t distance) {
  double sum = 0, count = 0, cosine, sine;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double weight = rs_axis_weight(encoding, j, axis);
    if (weight == 0) continue;
    rs_encoding_cos_sin(encoding, j, weight * (double)distance, &cosine, &sine);
    sum += cosine;
    count++;
  }
  return count > 0 ? sum / count : NAN;
}

static rs_status make_curves(const rs_metric_in *in, axis_curves *c, rs_err *err) {
  *c = (axis_curves){.encoding = in->encoding, .asked = in->params};
  for (size_t a = 0; a < RS_AXES; a++) {
    c->mean[a] = rs_alloc(c->asked->reach, sizeof *c->mean[a], err);
    if (c->mean[a] == NULL) return RS_MEMORY;
    for (size_t d = 0; d < c->asked->reach; d++) c->mean[a][d] = mean_cosine(c->encoding, a, d);
  }
  return RS_OK;
}

static void clear_curves(axis_curves *c) {
  for (size_t a = 0; a < RS_AXES; a++) free(c->mean[a]);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static double first_below(const axis_curves *c, size_t axis, double level) {
  for (size_t d = 1; d < c->asked->reach; d++)
    if (c->mean[axis][d] < level) return (double)d;
  return NAN;
}

static axis_traits traits_of(const axis_curves *c, size_t axis) {
  axis_traits traits = {first_below(c, axis, 0), NAN, first_below(c, axis, c->asked->threshold)};
  for (size_t d = c->asked->far; d < c->asked->reach; d++)
    traits.recurrence = fmax(traits.recurrence, c->mean[axis][d]);
  return traits;
}

/* The worse of rows and columns; an axis that never falls below the threshold is the worse. */
static axis_traits worse(axis_traits a, axis_traits b) {
  bool resolved = !isnan(a.resolution) && !isnan(b.resolution);
  return (axis_traits){fmin(a.first_negative, b.first_negative), fmax(a.recurrence, b.recurrence),
                       resolved ? fmax(a.resolution, b.resolution) : NAN};
}

/* The largest difference between rows and columns before `far`. */
static double spatial_gap(const axis_curves *c) {
  double gap = NAN;
  for (size_t d = 1; d < c->asked->far && d < c->asked->reach; d++)
    gap = fmax(gap, fabs(c->mean[H][d] - c->mean[W][d]));
  return gap;
}

static void report(const axis_curves *c, rs_result *result) {
  const axis_traits time = traits_of(c, T), space = worse(traits_of(c, H), traits_of(c, W));
  const double values[] = {time.first_negative, time.recurrence,  time.resolution, space.first_negative,
                           space.recurrence,    space.resolution, spatial_gap(c)};
  for (size_t i = 0; i < RS_COUNT(values); i++) result->value[i] = values[i];
}

/* ---- the curve --------------------------------------------------------------------------------------------------- */

static rs_status add_distance(const axis_curves *c, size_t d, rs_curve *curve, rs_err *err) {
  double row[] = {(double)d, c->mean[T][d], c->mean[H][d], c->mean[W][d]};
  return rs_curve_add(curve, row, err);
}

static rs_status add_distances(const axis_curves *c, rs_curve *curve, rs_err *err) {
  bool all = c->asked->rows.distances == RS_DISTANCES_ALL;
  size_t *edges = NULL, bins = c->asked->reach;
  rs_status status = RS_OK;
  if (!all) status = rs_log_edges(c->asked->reach, c->asked->rows.per_octave, &edges, &bins, err);
  for (size_t i = 0; i < bins && status == RS_OK; i++) status = add_distance(c, all ? i : edges[i], curve, err);
  free(edges);
  return status;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  axis_curves curves;
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (!rs_axes_readable(in->encoding)) return RS_OK;
  rs_status status = make_curves(in, &curves, err);
  if (status == RS_OK) status = add_distances(&curves, &result->curve, err);
  if (status == RS_OK) report(&curves, result);
  clear_curves(&curves);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)in;
  const params *p = given;
  return rs_distance_rows_most(&p->rows, p->reach);
}

/* ---- what it says of itself -------------------------------------------------------------------------------------- */

static const rs_param specs[] = {
    {RS_FIELD(params, reach), .unit = "ids", .min = 2, .max = 16777216, /* beyond any published context */
     .fallback = "4096", .summary = "every distance below this is looked at"},
    {RS_FIELD(params, far), .unit = "ids", .min = 1, .max = 16777216, .fallback = "64",
     .summary = "from here on a likeness counts as a recurrence"},
    {RS_FIELD(params, threshold), .unit = "1", .min = -1, .max = 1, .fallback = "0.9",
     .summary = "mean cosine below which two ids count as told apart"},
    RS_DISTANCE_SPECS(params, rows),
};

static const rs_column scalars[] = {
    RS_COLUMN("temporal_first_negative_ids", "ids",
              "first distance in time with a negative mean cosine; empty when there is none below reach",
              .log_axis = true),
    RS_COLUMN("temporal_far_recurrence", "1", "largest mean cosine in time at distances from far on, below reach",
              .better = RS_LOWER),
    RS_COLUMN("temporal_resolution_ids", "ids",
              "least distance in time whose mean cosine is below the threshold; empty when there is none below reach",
              .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("spatial_first_negative_ids", "ids", "as in time, of rows or columns, whichever comes first",
              .log_axis = true),
    RS_COLUMN("spatial_far_recurrence", "1", "as in time, of rows or columns, whichever is larger", .better = RS_LOWER),
    RS_COLUMN("spatial_resolution_ids", "ids",
              "as in time, of rows or columns, whichever comes last; empty when either has none", .log_axis = true,
              .better = RS_LOWER),
    RS_COLUMN("spatial_gap", "1",
              "largest difference between the mean cosines of rows and of columns at one distance, 1 .. far - 1; 0 "
              "where both are treated alike",
              .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_ids", "ids", "distance along the axis, in position ids as keys are turned by",
              .log_axis = true),
    RS_COLUMN("temporal_mean_cosine", "1",
              "mean of cos(distance * omega_j) over the pairs that read time; all pairs, where there is one axis"),
    RS_COLUMN("row_mean_cosine", "1",
              "mean of cos(distance * omega_j) over the pairs that read rows; empty where none does"),
    RS_COLUMN("column_mean_cosine", "1",
              "mean of cos(distance * omega_j) over the pairs that read columns; empty where none does"),
};

const rs_metric_kind rs_metric_axis_decay = {
    .kind = {.name = "axis_decay",
             .summary = "mean cosine along time, rows and columns, each over the pairs that read it",
             .reference = "Qwen2-VL, arXiv:2409.12191, section 2.1; VideoRoPE, arXiv:2502.05173, sections 3 and 4",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
