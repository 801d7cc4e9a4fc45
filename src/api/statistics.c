/* Statistics of given queries and keys under a recipe: what was asked is checked, observed, and handed out, with what
 * metrics come to as frames. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static rs_metric_in input(const rs_api_observed *o, const rs_encoding *of_head, size_t metric) {
  return (rs_metric_in){.encoding = of_head,
                        .params = o->metrics.items[metric].params,
                        .heads = o->heads,
                        .head_count = o->asked->heads,
                        .edges = o->edges,
                        .bins = o->bins,
                        .seed = o->asked->seed};
}

static rs_status metrics_begin(rs_api_observed *observed, rs_err *err) {
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
    RS_OWNED(rs_text) name = {0};
    const rs_api_column column = {columns[i].name, columns[i].unit, columns[i].summary, columns[i].integer};
    RS_TRY(use(frame, &column, err));
    rs_text_printf(&name, "%s_se", columns[i].name);
    const rs_api_column error = {.name = rs_text_string(&name),
                                 .unit = columns[i].unit,
                                 .summary = "standard error of the mean, rows taken as independent"};
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK && columns[i].sampled) status = use(frame, &error, err);
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
  RS_FREED double *values = rs_alloc(2 * count, sizeof *values, err);
  RS_TRY(values != NULL ? rs_api_frame_begin(&statistics->summary, err) : RS_MEMORY);
  take_values(o, values);
  RS_TRY(use_scalars(o, statistics->summary, rs_api_frame_add, err));
  RS_TRY(rs_api_frame_fill(statistics->summary, values, 1, err));
  return use_scalars(o, statistics->summary, rs_api_frame_describe, err);
}

static rs_status metrics_end(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err) {
  const rs_encoding of_head = rs_encoding_of_head(observed->encoding, 0);
  for (size_t m = 0; m < observed->metrics.count; m++) {
    const rs_metric_kind *kind = observed->metrics.items[m].metric;
    const rs_metric_in in = input(observed, &of_head, m);
    RS_TRY(kind->finish(&in, observed->states[m], &observed->results[m], err));
  }
  RS_TRY(make_summary(observed, statistics, err));
  return make_curves(observed, statistics, err);
}

enum { USUAL_FIRST_KEYS = 4, USUAL_BINS = 4, MOST_BINS = 64 };

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static rs_status check_shapes(const ropescope_attention *asked, rs_err *err) {
  RS_TRY(rs_api_sized(asked, sizeof *asked, "ropescope_attention", err));
  if (asked->recipe == NULL) return rs_fail_on(err, RS_INPUT, "recipe", "is missing");
  if (asked->q.data == NULL || asked->k.data == NULL)
    return rs_fail_on(err, RS_INPUT, asked->q.data == NULL ? "q" : "k", "has no data");
  if ((unsigned)asked->q.dtype > ROPESCOPE_F16 || (unsigned)asked->k.dtype > ROPESCOPE_F16)
    return rs_fail_on(err, RS_INPUT, (unsigned)asked->q.dtype > ROPESCOPE_F16 ? "q" : "k", "has a dtype that is none");
  if (asked->length == 0) return rs_fail_on(err, RS_INPUT, "length", "is 0: there are no keys");
  size_t dims = ropescope_recipe_head_dim(asked->recipe), heads = ropescope_recipe_heads(asked->recipe);
  if (asked->head_dim != dims)
    return rs_fail_on(err, RS_INPUT, "head_dim", "is %zu, and the recipe's %zu", asked->head_dim, dims);
  if (asked->heads == 0 || asked->heads > heads)
    return rs_fail_on(err, RS_INPUT, "heads", "is %zu, and the recipe's %zu", asked->heads, heads);
  if (asked->kv_heads > 0 && asked->heads % asked->kv_heads != 0)
    return rs_fail_on(err, RS_INPUT, "kv_heads", "is %zu, which does not divide %zu heads", asked->kv_heads,
                      asked->heads);
  if (asked->bins_per_octave > MOST_BINS) return rs_fail_on(err, RS_INPUT, "bins_per_octave", "is more than 64");
  if (isnan(asked->softmax_scale) || isinf(asked->softmax_scale) || !(asked->soft_cap >= 0) || isinf(asked->soft_cap))
    return rs_fail_on(err, RS_INPUT, asked->soft_cap >= 0 ? "softmax_scale" : "soft_cap", "must be finite");
  if (isnan(asked->epsilon) || asked->epsilon >= 1) return rs_fail_on(err, RS_INPUT, "epsilon", "must be below 1");
  for (size_t h = 0; asked->learned_sinks != NULL && h < asked->heads; h++)
    if (!isfinite(asked->learned_sinks[h]))
      return rs_fail_on(err, RS_INPUT, "learned_sinks", "has a number that is not finite, of head %zu", h);
  return RS_OK;
}

/* Rows of q: as many as there are keys unless it is said. */
static rs_status find_queries(rs_api_observed *o, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  size_t rows = asked->query_tokens > 0 ? asked->query_tokens : asked->length;
  if (rows > asked->length || asked->first_query > asked->length - rows)
    return rs_fail_on(err, RS_INPUT, "query_tokens", "%zu rows from position %zu are not among %zu tokens", rows,
                      asked->first_query, asked->length);
  o->query_count = asked->queries != NULL ? asked->query_count : rows;
  if (o->query_count == 0) return rs_fail_on(err, RS_INPUT, "query_count", "is 0: no query is observed");
  o->queries = rs_arena_take(&o->arena, o->query_count, sizeof *o->queries);
  o->heads = rs_arena_take(&o->arena, asked->heads, sizeof *o->heads);
  RS_TRY(rs_arena_check(&o->arena, err));
  for (size_t h = 0; h < asked->heads; h++) o->heads[h] = h;
  for (size_t i = 0; i < o->query_count; i++) {
    size_t position = asked->queries != NULL ? asked->queries[i] : asked->first_query + i;
    o->queries[i] = position;
    if (position < asked->first_query || position - asked->first_query >= rows)
      return rs_fail_on(err, RS_INPUT, "queries", "has %zu, which is not among the rows of q", position);
    if (i > 0 && position <= o->queries[i - 1])
      return rs_fail_on(err, RS_INPUT, "queries", "must ascend: %zu follows %zu", position, o->queries[i - 1]);
  }
  for (size_t i = 0; asked->targets != NULL && i < o->query_count; i++)
    if (asked->targets[i] != ROPESCOPE_NO_TARGET && asked->targets[i] >= asked->length)
      return rs_fail_on(err, RS_INPUT, "targets", "has %zu, and there are %zu keys", asked->targets[i], asked->length);
  return RS_OK;
}

static rs_status find_mask(rs_api_observed *o, rs_err *err) {
  static const rs_mask_kind kinds[] = {
      [ROPESCOPE_MASK_CAUSAL] = RS_CAUSAL, [ROPESCOPE_MASK_BIDIRECTIONAL] = RS_BIDIRECTIONAL,
      [ROPESCOPE_MASK_WINDOW] = RS_WINDOW, [ROPESCOPE_MASK_WINDOW_SINKS] = RS_WINDOW_SINKS,
      [ROPESCOPE_MASK_CROSS] = RS_CROSS,   [ROPESCOPE_MASK_CHUNKS] = RS_CHUNKS,
      [ROPESCOPE_MASK_BAND] = RS_BAND};
  const ropescope_attention *asked = o->asked;
  const rs_subject *subject = &asked->recipe->subject;
  ropescope_mask mask = asked->mask;
  bool sized = mask == ROPESCOPE_MASK_WINDOW || mask == ROPESCOPE_MASK_WINDOW_SINKS || mask == ROPESCOPE_MASK_CHUNKS ||
               mask == ROPESCOPE_MASK_BAND;
  if ((unsigned)mask >= RS_COUNT(kinds)) return rs_fail_on(err, RS_INPUT, "mask", "is none");
  if (!sized && asked->window > 0) return rs_fail_on(err, RS_INPUT, "window", "is of no use to this mask");
  if (sized && asked->window == 0) return rs_fail_on(err, RS_INPUT, "window", "is missing");
  if ((mask == ROPESCOPE_MASK_WINDOW_SINKS) != (asked->sinks > 0))
    return rs_fail_on(err, RS_INPUT, "sinks", asked->sinks > 0 ? "are of no use to this mask" : "are missing");
  o->mask = (rs_mask){.kind = kinds[mask], .window = asked->window, .sinks = asked->sinks};
  if (mask != ROPESCOPE_MASK_OF_LAYER) return RS_OK;
  const rs_layer_kind *layer = &subject->profile.kinds[subject->kind];
  if (layer->compression > 0)
    return rs_fail_on(err, RS_UNSUPPORTED, "mask", "no mask here is what layers of %s see", subject->model.name);
  o->mask = layer->mask;
  return RS_OK;
}

/* The first keys that are summed: those of a metric that sums some, else the caller's. */
static rs_status find_metrics(rs_api_observed *o, rs_problems *problems, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  o->first_keys = asked->first_keys > 0 ? asked->first_keys : USUAL_FIRST_KEYS;
  if (asked->metrics == NULL) return RS_OK;
  RS_TRY(rs_metrics_read(asked->metrics, "metrics", &o->metrics, problems, err));
  for (size_t m = 0; m < o->metrics.count; m++)
    RS_TRY(rs_row_needs_add(&o->needs, o->metrics.items[m].metric, o->metrics.items[m].params, err));
  if (o->needs.sinks == 0 || o->needs.sinks == o->first_keys) return RS_OK;
  if (asked->first_keys > 0)
    return rs_fail_on(err, RS_INPUT, "first_keys", "is %zu, where a metric sums %zu", asked->first_keys,
                      o->needs.sinks);
  o->first_keys = o->needs.sinks;
  return RS_OK;
}

static rs_status find_tables(rs_api_observed *o, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  const rs_subject *subject = &asked->recipe->subject;
  if (subject->recipe.method->embed != NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s adds to the tokens, before queries and keys are made: these have it in them already (take the "
                   "method nope)",
                   subject->recipe.method->name);
  RS_TRY(rs_encoding_create(&subject->recipe, &subject->model, asked->length, &subject->tokens, &subject->precision,
                            &o->encoding, err));
  return rs_log_edges(asked->length, asked->bins_per_octave > 0 ? asked->bins_per_octave : USUAL_BINS, &o->edges,
                      &o->bins, err);
}

/* Queries that a map lacks are those that the caller leaves out. */
static rs_status fit_metrics(const rs_api_observed *o, rs_err *err) {
  const rs_model *model = &o->asked->recipe->subject.model;
  const rs_curve_in in = {.length = o->asked->length,
                          .pairs = o->asked->head_dim / 2,
                          .heads = model->heads,
                          .width = model->heads * model->head_dim,
                          .bins = o->bins,
                          .observed = o->asked->heads,
                          .tokens = &o->encoding->tokens};
  for (size_t m = 0; m < o->metrics.count; m++) {
    const rs_variant *metric = &o->metrics.items[m];
    rs_err why = {0};
    if (metric->metric->fit != NULL && metric->metric->fit(metric->params, &in, &why) != RS_OK)
      return rs_fail_on(err, why.status, "metrics", "%s %s", metric->metric->kind.name, why.message);
  }
  return RS_OK;
}

static rs_status prepare(rs_api_observed *o, rs_problems *problems, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  RS_TRY(check_shapes(asked, err));
  o->kv_heads = asked->kv_heads > 0 ? asked->kv_heads : asked->heads;
  o->factor = asked->softmax_scale != 0 ? asked->softmax_scale * sqrt((double)asked->head_dim) : 1;
  RS_TRY(find_queries(o, err));
  RS_TRY(find_mask(o, err));
  RS_TRY(find_metrics(o, problems, err));
  RS_TRY(find_tables(o, err));
  RS_TRY(fit_metrics(o, err));
  return metrics_begin(o, err);
}

static void observed_clear(rs_api_observed *o) {
  for (size_t m = 0; m < o->metrics.count; m++) {
    if (o->states != NULL) free(o->states[m]);
    if (o->results != NULL) rs_curve_clear(&o->results[m].curve);
  }
  rs_variants_clear(&o->metrics);
  rs_encoding_free(o->encoding);
  rs_arena_clear(&o->arena);
  free(o->edges);
  free(o->states);
  free(o->results);
}

/* ---- what comes of it -------------------------------------------------------------------------------------------- */

static rs_status observe(rs_api_observed *o, ropescope_statistics *statistics, rs_problems *problems, rs_err *err) {
  RS_TRY(prepare(o, problems, err));
  size_t rows = o->asked->heads * o->query_count;
  statistics->heads = o->asked->heads;
  statistics->queries = o->query_count;
  statistics->bins = o->bins;
  statistics->values = rs_arena_take(&statistics->arena, rows, RS_API_OBSERVABLES * sizeof(double));
  statistics->edges = rs_arena_take(&statistics->arena, o->bins + 1, sizeof(double));
  if (o->asked->by_distance) statistics->mass = rs_arena_take(&statistics->arena, rows, o->bins * sizeof(double));
  RS_TRY(rs_arena_check(&statistics->arena, err));
  for (size_t b = 0; b <= o->bins; b++) statistics->edges[b] = (double)o->edges[b];
  RS_TRY(rs_api_observe(o, statistics, err));
  return metrics_end(o, statistics, err);
}

ropescope_status ropescope_statistics_create(const ropescope_attention *attention, ropescope_statistics **statistics,
                                             ropescope_error **error) {
  rs_api_observed observed = {.asked = attention};
  rs_problems problems = {0};
  rs_err err = {0};
  int threads =
      rs_api_threads_limit(attention != NULL && attention->size == sizeof *attention ? attention->threads : 0);
  *statistics = rs_alloc(1, sizeof **statistics, &err);
  rs_status status = *statistics != NULL ? observe(&observed, *statistics, &problems, &err) : RS_MEMORY;
  observed_clear(&observed);
  rs_api_threads_restore(threads);
  return RS_API_END(status, statistics, ropescope_statistics_free, error, &err, &problems);
}

void ropescope_statistics_free(ropescope_statistics *statistics) {
  if (statistics == NULL) return;
  for (size_t i = 0; i < statistics->curve_count; i++) rs_api_frame_free(statistics->curves[i].frame);
  rs_api_frame_free(statistics->summary);
  free(statistics->curves);
  rs_arena_clear(&statistics->arena);
  free(statistics);
}

RS_API_GET(size_t, ropescope_statistics_heads, statistics, statistics->heads);
RS_API_GET(size_t, ropescope_statistics_queries, statistics, statistics->queries);
RS_API_GET(size_t, ropescope_statistics_bins, statistics, statistics->bins);

size_t ropescope_statistics_values(const ropescope_statistics *statistics, size_t head, ropescope_observable observable,
                                   double *out, size_t capacity) {
  if (head >= statistics->heads || (unsigned)observable >= RS_API_OBSERVABLES) return 0;
  size_t from = (head * RS_API_OBSERVABLES + (size_t)observable) * statistics->queries;
  return rs_api_copy(statistics->values + from, statistics->queries, out, capacity);
}

size_t ropescope_statistics_edges(const ropescope_statistics *statistics, double *out, size_t capacity) {
  return rs_api_copy(statistics->edges, statistics->bins + 1, out, capacity);
}

size_t ropescope_statistics_mass(const ropescope_statistics *statistics, size_t head, double *out, size_t capacity) {
  size_t count = statistics->queries * statistics->bins;
  if (head >= statistics->heads || statistics->mass == NULL) return 0;
  return rs_api_copy(statistics->mass + head * count, count, out, capacity);
}

RS_API_GET(const ropescope_frame *, ropescope_statistics_summary, statistics, statistics->summary);
RS_API_AT(const ropescope_frame *, ropescope_statistics_curve, statistics, statistics->curve_count,
          statistics->curves[index].frame);

const char *ropescope_statistics_curve_name(const ropescope_statistics *statistics, size_t index) {
  return index < statistics->curve_count ? statistics->curves[index].name : NULL;
}
