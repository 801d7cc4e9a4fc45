/* The engine over the heads of the caller's: their rows, one head at a time, then what the engine sees. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_AT_ONCE = 1 << 14 };

/* Room for one head, where its rows are not doubles already. */
typedef struct room {
  double *q, *k;
  size_t *needles; /* (Q,) where queries seek keys; else NULL */
  rs_engine *engine;
} room;

static void room_clear(room *r) {
  free(r->q);
  free(r->k);
  free(r->needles);
  rs_engine_free(r->engine);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The numbers of a part: where they are, or in *spare, which is made when it is first needed. */
static rs_status find_numbers(const rs_api_part *part, double **spare, const double **numbers, rs_err *err) {
  *numbers = rs_api_part_there(part);
  if (*numbers == NULL) {
    if (*spare == NULL) *spare = rs_alloc(part->count, part->dims * sizeof **spare, err);
    if (*spare == NULL) return RS_MEMORY;
    rs_api_part_read(part, *spare);
    *numbers = *spare;
  }
  return rs_api_part_check(part, *numbers, err);
}

static rs_status read_head(const rs_api_observed *o, size_t head, room *r, rs_attention_job *job, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  size_t first = o->queries[0], last = o->queries[o->query_count - 1];
  bool neighbours = last - first == o->query_count - 1 && first == asked->first_query; /* their rows are the array's */
  const rs_api_part q = {.rows = &asked->q,
                         .name = "q",
                         .head = head,
                         .tokens = neighbours ? NULL : o->queries,
                         .first = asked->first_query,
                         .count = o->query_count,
                         .dims = asked->head_dim,
                         .factor = o->factor};
  const rs_api_part k = {.rows = &asked->k,
                         .name = "k",
                         .head = head / (asked->heads / o->kv_heads),
                         .count = asked->length,
                         .dims = asked->head_dim,
                         .factor = 1};
  RS_TRY(find_numbers(&q, &r->q, &job->q, err));
  return find_numbers(&k, &r->k, &job->k, err);
}

/* ---- what is seen ------------------------------------------------------------------------------------------------ */

/* A target that the mask hides has no logit. */
static void keep_row(const rs_api_observed *o, const rs_row *row, size_t index, ropescope_statistics *statistics) {
  double seen[RS_API_OBSERVABLES];
  for (size_t i = 0; i < RS_API_OBSERVABLES; i++) seen[i] = NAN;
  seen[ROPESCOPE_QUERY_POSITION] = (double)row->query;
  seen[ROPESCOPE_KEYS] = (double)row->keys;
  seen[ROPESCOPE_MAX_LOGIT] = row->max_logit;
  seen[ROPESCOPE_LOG_SUM_EXP] = row->log_sum_exp;
  seen[ROPESCOPE_ENTROPY] = row->entropy;
  seen[ROPESCOPE_ARGMAX] = (double)row->argmax;
  seen[ROPESCOPE_FIRST_WEIGHT] = row->sink_weight;
  seen[ROPESCOPE_LEARNED_WEIGHT] = row->learned_weight;
  seen[ROPESCOPE_SKIPPED_WEIGHT] = row->skipped_weight;
  if (row->needle_planted && row->has_needle) {
    seen[ROPESCOPE_TARGET_DISTANCE] = (double)row->needle_distance;
    seen[ROPESCOPE_TARGET_LOGIT] = row->needle_logit;
    seen[ROPESCOPE_TARGET_WEIGHT] = row->needle_weight;
    seen[ROPESCOPE_TARGET_RANK] = (double)row->needle_rank;
  }
  double *values = statistics->values + row->head * RS_API_OBSERVABLES * statistics->queries + index;
  for (size_t i = 0; i < RS_API_OBSERVABLES; i++) values[i * statistics->queries] = seen[i];
  double *mass = statistics->mass;
  for (size_t b = 0; mass != NULL && b < o->bins; b++)
    mass[(row->head * statistics->queries + index) * o->bins + b] = row->bin_weight[b];
}

static void show_row(const rs_api_observed *o, const rs_row *row) {
  for (size_t m = 0; m < o->metrics.count; m++) {
    const rs_metric_kind *kind = o->metrics.items[m].metric;
    if (kind->row != NULL) kind->row(o->states[m], row);
  }
}

static void show_content(const rs_api_observed *o, const rs_attention_job *job) {
  const rs_head_content shown = {job->head, job->query_count, o->asked->length, job->q, job->k};
  for (size_t m = 0; m < o->metrics.count; m++) {
    const rs_metric_kind *kind = o->metrics.items[m].metric;
    if (kind->content != NULL) kind->content(o->states[m], &shown);
  }
}

/* Some thousands of rows at a time. */
static rs_status observe_rows(const rs_api_observed *o, const rs_attention_job *job, rs_engine *engine,
                              ropescope_statistics *statistics, rs_err *err) {
  RS_TRY(rs_engine_load(engine, job, err));
  for (size_t first = 0; first < job->query_count; first += ROWS_AT_ONCE) {
    size_t count = job->query_count - first < ROWS_AT_ONCE ? job->query_count - first : ROWS_AT_ONCE;
    rs_observation *seen;
    RS_TRY(rs_engine_observe(engine, first, count, &seen, err));
    for (size_t i = 0; i < seen->count; i++) {
      keep_row(o, &seen->rows[i], first + i, statistics);
      show_row(o, &seen->rows[i]);
    }
    rs_observation_free(seen);
  }
  return RS_OK;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

static rs_attention_job describe_job(const rs_api_observed *o, size_t head, const room *r) {
  const ropescope_attention *asked = o->asked;
  return (rs_attention_job){.encoding = o->encoding,
                            .head = head,
                            .mask = o->mask,
                            .queries = o->queries,
                            .query_count = o->query_count,
                            .needle_at = r->needles,
                            .edges = o->edges,
                            .bins = o->bins,
                            .soft_cap = asked->soft_cap,
                            .learned_sink = asked->learned_sinks != NULL ? &asked->learned_sinks[head] : NULL,
                            .sinks = o->first_keys,
                            .local = o->needs.local,
                            .tops = o->needs.tops,
                            .top_count = o->needs.top_count,
                            .moments = o->needs.moments,
                            .scores = asked->exact ? RS_SCORES_F64 : RS_SCORES_AUTO,
                            .epsilon = asked->epsilon == 0  ? RS_EPSILON
                                       : asked->epsilon < 0 ? 0
                                                            : asked->epsilon};
}

static rs_status make_room(const rs_api_observed *o, room *r, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  RS_TRY(rs_engine_create(asked->length, asked->head_dim, o->encoding->views, &r->engine, err));
  if (asked->targets == NULL) return RS_OK;
  r->needles = rs_alloc(o->query_count, sizeof *r->needles, err);
  if (r->needles == NULL) return RS_MEMORY;
  for (size_t i = 0; i < o->query_count; i++)
    r->needles[i] = asked->targets[i] == ROPESCOPE_NO_TARGET ? RS_NO_NEEDLE : asked->targets[i];
  return RS_OK;
}

rs_status rs_api_observe(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err) {
  room r = {0};
  rs_status status = make_room(observed, &r, err);
  for (size_t head = 0; head < observed->asked->heads && status == RS_OK; head++) {
    rs_attention_job job = describe_job(observed, head, &r);
    status = read_head(observed, head, &r, &job, err);
    if (status != RS_OK) break;
    show_content(observed, &job);
    status = observe_rows(observed, &job, r.engine, statistics, err);
  }
  room_clear(&r);
  return status;
}
