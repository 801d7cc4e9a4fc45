/* Metrics over the rows of the caller's, and what they come to as frames. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

static rs_metric_in input(const rs_api_observed *o, const rs_encoding *of_head, size_t metric) {
  return (rs_metric_in){.encoding = of_head,
                        .params = o->metrics.items[metric].params,
                        .heads = o->heads,
                        .head_count = o->asked->heads,
                        .edges = o->edges,
                        .bins = o->bins,
                        .seed = o->asked->seed};
}

rs_status rs_api_metrics_begin(rs_api_observed *observed, rs_err *err) {
  const rs_encoding of_head = rs_encoding_of_head(observed->encoding, 0);
  observed->states = rs_alloc(observed->metrics.count, sizeof *observed->states, err);
  observed->results = rs_alloc(observed->metrics.count, sizeof *observed->results, err);
  if (observed->states == NULL || observed->results == NULL) return RS_MEMORY;
  for (size_t m = 0; m < observed->metrics.count; m++) {
    const rs_metric_kind *kind = observed->metrics.items[m].metric;
    const rs_metric_in in = input(observed, &of_head, m);
    for (size_t i = 0; i < RS_METRIC_SCALARS; i++) observed->results[m].value[i] = observed->results[m].error[i] = NAN;
    for (size_t i = 0; i < kind->curve_count; i++) observed->results[m].curve.columns += 1 + kind->curve[i].sampled;
    if (rs_metric_observes(kind)) RS_TRY(kind->prepare(&in, &observed->states[m], err));
  }
  return RS_OK;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* What a pass over the columns of a metric does with each, its standard error too. */
typedef rs_status (*column_use)(ropescope_frame *frame, const rs_api_column *column, rs_err *err);

static rs_status use_columns(ropescope_frame *frame, const rs_column *columns, size_t count, column_use use,
                             rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    rs_text name = {0};
    const rs_api_column column = {columns[i].name, columns[i].unit, columns[i].summary, columns[i].integer};
    RS_TRY(use(frame, &column, err));
    rs_text_printf(&name, "%s_se", columns[i].name);
    const rs_api_column error = {.name = rs_text_string(&name),
                                 .unit = columns[i].unit,
                                 .summary = "standard error of the mean, rows taken as independent"};
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK && columns[i].sampled) status = use(frame, &error, err);
    rs_text_clear(&name);
    if (status != RS_OK) return status;
  }
  return RS_OK;
}

static rs_status make_curve(const rs_metric_kind *kind, const rs_curve *curve, rs_api_curve *out, rs_err *err) {
  out->name = kind->kind.name;
  RS_TRY(rs_api_frame_begin(&out->frame, err));
  RS_TRY(use_columns(out->frame, kind->curve, kind->curve_count, rs_api_frame_add, err));
  RS_TRY(rs_api_frame_fill(out->frame, curve->cells, curve->rows, err));
  return use_columns(out->frame, kind->curve, kind->curve_count, rs_api_frame_describe, err);
}

static rs_status make_curves(const rs_api_observed *o, ropescope_statistics *statistics, rs_err *err) {
  statistics->curves = rs_alloc(o->metrics.count, sizeof *statistics->curves, err);
  if (statistics->curves == NULL) return RS_MEMORY;
  for (size_t m = 0; m < o->metrics.count; m++) {
    const rs_metric_kind *kind = o->metrics.items[m].metric;
    if (kind->curve_count == 0) continue;
    RS_TRY(make_curve(kind, &o->results[m].curve, &statistics->curves[statistics->curve_count++], err));
  }
  return RS_OK;
}

static rs_status use_scalars(const rs_api_observed *o, ropescope_frame *frame, column_use use, rs_err *err) {
  for (size_t m = 0; m < o->metrics.count; m++) {
    const rs_metric_kind *kind = o->metrics.items[m].metric;
    RS_TRY(use_columns(frame, kind->scalars, kind->scalar_count, use, err));
  }
  return RS_OK;
}

/* The one row of the summary; `values` holds all of it. */
static void take_values(const rs_api_observed *o, double *values) {
  for (size_t m = 0; m < o->metrics.count; m++)
    for (size_t i = 0; i < o->metrics.items[m].metric->scalar_count; i++) {
      *values++ = o->results[m].value[i];
      if (o->metrics.items[m].metric->scalars[i].sampled) *values++ = o->results[m].error[i];
    }
}

static rs_status make_summary(const rs_api_observed *o, ropescope_statistics *statistics, rs_err *err) {
  size_t count = 0;
  for (size_t m = 0; m < o->metrics.count; m++) count += o->metrics.items[m].metric->scalar_count;
  if (count == 0) return RS_OK;
  double *values = rs_alloc(2 * count, sizeof *values, err);
  rs_status status = values != NULL ? rs_api_frame_begin(&statistics->summary, err) : RS_MEMORY;
  if (status == RS_OK) take_values(o, values);
  if (status == RS_OK) status = use_scalars(o, statistics->summary, rs_api_frame_add, err);
  if (status == RS_OK) status = rs_api_frame_fill(statistics->summary, values, 1, err);
  if (status == RS_OK) status = use_scalars(o, statistics->summary, rs_api_frame_describe, err);
  free(values);
  return status;
}

rs_status rs_api_metrics_end(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err) {
  const rs_encoding of_head = rs_encoding_of_head(observed->encoding, 0);
  for (size_t m = 0; m < observed->metrics.count; m++) {
    const rs_metric_kind *kind = observed->metrics.items[m].metric;
    const rs_metric_in in = input(observed, &of_head, m);
    RS_TRY(kind->finish(&in, observed->states[m], &observed->results[m], err));
  }
  RS_TRY(make_summary(observed, statistics, err));
  return make_curves(observed, statistics, err);
}
