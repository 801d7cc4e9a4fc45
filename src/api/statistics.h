/* What was observed of given queries and keys. Private to the api layer. */
#ifndef ROPESCOPE_API_STATISTICS_H
#define ROPESCOPE_API_STATISTICS_H

#include "recipe.h"

enum { RS_API_OBSERVABLES = ROPESCOPE_SKIPPED_WEIGHT + 1 };

/* A curve with the name of its metric (static). */
typedef struct rs_api_curve {
  const char *name;
  ropescope_frame *frame;
} rs_api_curve;

struct ropescope_statistics {
  size_t heads, queries, bins;
  double *values;           /* (heads, RS_API_OBSERVABLES, queries) */
  double *edges;            /* (bins + 1,) */
  double *mass;             /* (heads, queries, bins), or NULL */
  ropescope_frame *summary; /* NULL without metrics */
  rs_api_curve *curves;     /* (curve_count,) */
  size_t curve_count;
};

/* What is observed, beside the caller's struct, which has been checked. */
typedef struct rs_api_observed {
  const ropescope_attention *asked;
  rs_encoding *encoding;
  rs_mask mask;
  size_t *queries, query_count; /* positions */
  size_t *edges, bins;          /* of distance */
  size_t kv_heads;
  double factor; /* on queries */
  rs_variants metrics;
  rs_row_needs needs;
  size_t first_keys;
  size_t *heads;      /* (asked->heads,) 0, 1, ... */
  void **states;      /* (metrics.count,) of the metrics that observe */
  rs_result *results; /* (metrics.count,) */
} rs_api_observed;

/* Everything but what metrics come to. RS_INPUT, RS_DOMAIN, RS_UNSUPPORTED, RS_MEMORY. */
rs_status rs_api_observe(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err);

/* The states of the metrics, before; and their frames, after. */
rs_status rs_api_metrics_begin(rs_api_observed *observed, rs_err *err);
rs_status rs_api_metrics_end(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err);

#endif
