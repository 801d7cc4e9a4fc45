/* Statistics of given queries and keys under a recipe: what was asked is checked, observed, and handed out. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

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

static rs_status prepare(rs_api_observed *o, rs_problems *problems, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  RS_TRY(check_shapes(asked, err));
  o->kv_heads = asked->kv_heads > 0 ? asked->kv_heads : asked->heads;
  o->factor = asked->softmax_scale != 0 ? asked->softmax_scale * sqrt((double)asked->head_dim) : 1;
  RS_TRY(find_queries(o, err));
  RS_TRY(find_mask(o, err));
  RS_TRY(find_metrics(o, problems, err));
  RS_TRY(find_tables(o, err));
  return rs_api_metrics_begin(o, err);
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
  return rs_api_metrics_end(o, statistics, err);
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

size_t ropescope_statistics_heads(const ropescope_statistics *statistics) {
  return statistics->heads;
}

size_t ropescope_statistics_queries(const ropescope_statistics *statistics) {
  return statistics->queries;
}

size_t ropescope_statistics_bins(const ropescope_statistics *statistics) {
  return statistics->bins;
}

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

const ropescope_frame *ropescope_statistics_summary(const ropescope_statistics *statistics) {
  return statistics->summary;
}

const ropescope_frame *ropescope_statistics_curve(const ropescope_statistics *statistics, size_t index) {
  return index < statistics->curve_count ? statistics->curves[index].frame : NULL;
}

const char *ropescope_statistics_curve_name(const ropescope_statistics *statistics, size_t index) {
  return index < statistics->curve_count ? statistics->curves[index].name : NULL;
}
