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

static void put_header(const rs_column *columns, size_t count, rs_text *csv) {
  rs_text name = {0};
  for (size_t i = 0; i < count; i++) {
    rs_csv_text(csv, columns[i].name);
    name.length = 0;
    rs_text_printf(&name, "%s_se", columns[i].name);
    if (columns[i].sampled) rs_csv_text(csv, rs_text_string(&name));
  }
  csv->failed |= name.failed;
  rs_text_clear(&name);
}

static rs_status describe(ropescope_frame *frame, const rs_column *columns, size_t count, rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    rs_text name = {0};
    const rs_api_column column = {columns[i].name, columns[i].unit, columns[i].summary, columns[i].integer};
    RS_TRY(rs_api_frame_describe(frame, &column, err));
    rs_text_printf(&name, "%s_se", columns[i].name);
    const rs_api_column error = {.name = rs_text_string(&name),
                                 .unit = columns[i].unit,
                                 .summary = "standard error of the mean, rows taken as independent"};
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK && columns[i].sampled) status = rs_api_frame_describe(frame, &error, err);
    rs_text_clear(&name);
    if (status != RS_OK) return status;
  }
  return RS_OK;
}

static rs_status make_frame(rs_text *csv, const char *name, ropescope_frame **frame, rs_err *err) {
  rs_status status = rs_text_check(csv, err);
  if (status == RS_OK) status = rs_api_frame_make(rs_text_string(csv), csv->length, name, frame, err);
  rs_text_clear(csv);
  return status;
}

static rs_status make_curve(const rs_metric_kind *kind, const rs_curve *curve, rs_api_curve *out, rs_err *err) {
  rs_text csv = {0};
  out->name = kind->kind.name;
  put_header(kind->curve, kind->curve_count, &csv);
  rs_csv_end_row(&csv);
  for (size_t r = 0; r < curve->rows; r++) {
    for (size_t c = 0; c < curve->columns; c++) rs_csv_number(&csv, curve->cells[r * curve->columns + c]);
    rs_csv_end_row(&csv);
  }
  RS_TRY(make_frame(&csv, out->name, &out->frame, err));
  return describe(out->frame, kind->curve, kind->curve_count, err);
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

static size_t count_scalars(const rs_api_observed *o) {
  size_t count = 0;
  for (size_t m = 0; m < o->metrics.count; m++) count += o->metrics.items[m].metric->scalar_count;
  return count;
}

static rs_status make_summary(const rs_api_observed *o, ropescope_statistics *statistics, rs_err *err) {
  rs_text csv = {0};
  if (count_scalars(o) == 0) return RS_OK;
  for (size_t m = 0; m < o->metrics.count; m++)
    put_header(o->metrics.items[m].metric->scalars, o->metrics.items[m].metric->scalar_count, &csv);
  rs_csv_end_row(&csv);
  for (size_t m = 0; m < o->metrics.count; m++)
    for (size_t i = 0; i < o->metrics.items[m].metric->scalar_count; i++) {
      rs_csv_number(&csv, o->results[m].value[i]);
      if (o->metrics.items[m].metric->scalars[i].sampled) rs_csv_number(&csv, o->results[m].error[i]);
    }
  rs_csv_end_row(&csv);
  RS_TRY(make_frame(&csv, "summary", &statistics->summary, err));
  for (size_t m = 0; m < o->metrics.count; m++)
    RS_TRY(describe(statistics->summary, o->metrics.items[m].metric->scalars, o->metrics.items[m].metric->scalar_count,
                    err));
  return RS_OK;
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
