/* Queries and keys of the caller's, whatever their type and strides, or those of a file where they are, and what a
 * recipe makes of them. */
#include "api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

struct ropescope_array {
  char *path;
  rs_tensor_file file;
};

/* The type as rows have it; false: rows have none such. */
static bool find_dtype(rs_dtype stored, ropescope_dtype *dtype) {
  static const struct {
    rs_dtype stored;
    ropescope_dtype dtype;
  } dtypes[] = {{RS_DTYPE_F64, ROPESCOPE_F64},
                {RS_DTYPE_F32, ROPESCOPE_F32},
                {RS_DTYPE_BF16, ROPESCOPE_BF16},
                {RS_DTYPE_F16, ROPESCOPE_F16}};
  for (size_t i = 0; i < RS_COUNT(dtypes); i++) {
    if (dtypes[i].stored != stored) continue;
    *dtype = dtypes[i].dtype;
    return true;
  }
  return false;
}

static rs_status check_tensor(const char *path, const rs_stored_tensor *tensor, rs_err *err) {
  ropescope_dtype dtype;
  if (!find_dtype(tensor->dtype, &dtype))
    return rs_fail(err, RS_UNSUPPORTED, "%s: holds %s, and rows are F64, F32, BF16 or F16", path,
                   rs_dtype_words[tensor->dtype]);
  if (tensor->rank == 0 || tensor->rank > 3)
    return rs_fail(err, RS_UNSUPPORTED, "%s: has %zu axes, and rows have (heads,) tokens and dims", path, tensor->rank);
  if (tensor->count > 0 && (uintptr_t)tensor->data % (tensor->bytes / tensor->count) != 0)
    return rs_fail(err, RS_UNSUPPORTED, "%s: its numbers are not aligned to their size", path);
  return RS_OK;
}

static rs_status open_file(const char *path, const char *tensor, ropescope_array *array, rs_err *err) {
  if (path == NULL) return rs_fail_on(err, RS_INPUT, "path", "is missing");
  if (tensor == NULL && !rs_is_npy(path))
    return rs_fail_on(err, RS_INPUT, "tensor", "is missing: %s has several", path);
  array->path = rs_strdup(path, err);
  if (array->path == NULL) return RS_MEMORY;
  RS_TRY(rs_tensor_file_map(array->path, rs_api_word(tensor), &array->file, err));
  return check_tensor(path, &array->file.tensor, err);
}

ropescope_status ropescope_array_open(const char *path, const char *tensor, ropescope_array **array,
                                      ropescope_error **error) {
  rs_err err = {0};
  *array = rs_alloc(1, sizeof **array, &err);
  rs_status status = *array != NULL ? open_file(path, tensor, *array, &err) : RS_MEMORY;
  return RS_API_END(status, array, ropescope_array_free, error, &err, NULL);
}

void ropescope_array_free(ropescope_array *array) {
  if (array == NULL) return;
  rs_tensor_file_clear(&array->file);
  free(array->path);
  free(array);
}

RS_API_GET(size_t, ropescope_array_rank, array, array->file.tensor.rank);

size_t ropescope_array_extent(const ropescope_array *array, size_t axis) {
  return axis < array->file.tensor.rank ? array->file.tensor.shape[axis] : 0;
}

ropescope_rows ropescope_array_rows(const ropescope_array *array) {
  const rs_stored_tensor *tensor = &array->file.tensor;
  size_t dims = tensor->shape[tensor->rank - 1], tokens = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
  ropescope_rows rows = {.data = tensor->data,
                         .head_stride = (ptrdiff_t)(tokens * dims),
                         .token_stride = (ptrdiff_t)dims,
                         .dim_stride = 1};
  (void)find_dtype(tensor->dtype, &rows.dtype);
  return rows;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Which numbers of an array are wanted, and what for. */
typedef struct row_part {
  const ropescope_rows *rows;
  const char *name; /* for messages: "q" */
  size_t head;
  const size_t *tokens; /* (count,) row `tokens[i] - first`; NULL: row i */
  size_t first, count, dims;
  double factor; /* multiplies all */
} row_part;

/* Numbers below which threads cost more than they bring. */
static const double WORTH_THREADS = 1e5;

static size_t row_of(const row_part *part, size_t index) {
  return part->tokens != NULL ? part->tokens[index] - part->first : index;
}

/* From the start of the data, in numbers. */
static ptrdiff_t place(const row_part *part, size_t index) {
  return (ptrdiff_t)part->head * part->rows->head_stride + (ptrdiff_t)row_of(part, index) * part->rows->token_stride;
}

/* Where it stands as (count, dims) doubles already; NULL: nowhere. */
static const double *part_there(const row_part *part) {
  const ropescope_rows *rows = part->rows;
  bool plain = rows->dtype == ROPESCOPE_F64 && part->factor == 1 && part->tokens == NULL && rows->dim_stride == 1 &&
               (rows->token_stride == (ptrdiff_t)part->dims || part->count == 1);
  return plain ? (const double *)rows->data + place(part, 0) : NULL;
}

/* 16 bits as a number. The largest exponent is that of infinities and NaN. */
static double from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float number;
  memcpy(&number, &wide, sizeof number);
  return number;
}

/* Exponents count from -15, those of binary32 from -127: a product sets that right, for subnormals too. */
static double from_f16(uint16_t bits) {
  uint32_t wide = (bits & 0x7fffU) << 13;
  float number;
  if ((bits & 0x7c00U) == 0x7c00U) return NAN;
  memcpy(&number, &wide, sizeof number);
  return ((bits & 0x8000U) != 0 ? -1.0 : 1.0) * (double)(number * 0x1p112f);
}

static void read_row(const row_part *part, size_t index, double *out) {
  const ropescope_rows *rows = part->rows;
  ptrdiff_t from = place(part, index), step = rows->dim_stride, dims = (ptrdiff_t)part->dims;
  if (rows->dtype == ROPESCOPE_F64)
    for (ptrdiff_t d = 0; d < dims; d++) out[d] = part->factor * ((const double *)rows->data)[from + d * step];
  else if (rows->dtype == ROPESCOPE_F32)
    for (ptrdiff_t d = 0; d < dims; d++) out[d] = part->factor * (double)((const float *)rows->data)[from + d * step];
  else if (rows->dtype == ROPESCOPE_BF16)
    for (ptrdiff_t d = 0; d < dims; d++)
      out[d] = part->factor * from_bf16(((const uint16_t *)rows->data)[from + d * step]);
  else
    for (ptrdiff_t d = 0; d < dims; d++)
      out[d] = part->factor * from_f16(((const uint16_t *)rows->data)[from + d * step]);
}

static void part_read(const row_part *part, double *out) {
#pragma omp parallel for schedule(static) if ((double)part->count * (double)part->dims >= WORTH_THREADS)
  for (size_t i = 0; i < part->count; i++) read_row(part, i, out + i * part->dims);
}

/* RS_INPUT with the place of a number of (count, dims) that is not finite. */
static rs_status part_check(const row_part *part, const double *numbers, rs_err *err) {
  size_t count = part->count * part->dims, wrong = count;
#pragma omp parallel for schedule(static) reduction(min : wrong) if ((double)count >= WORTH_THREADS)
  for (size_t i = 0; i < count; i++)
    if (!isfinite(numbers[i]) && i < wrong) wrong = i;
  if (wrong == count) return RS_OK;
  return rs_fail_on(err, RS_INPUT, part->name, "has a number that is not finite, at head %zu, token %zu, dim %zu",
                    part->head, row_of(part, wrong / part->dims), wrong % part->dims);
}

/* ---- observing --------------------------------------------------------------------------------------------------- */

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
static rs_status find_numbers(const row_part *part, double **spare, const double **numbers, rs_err *err) {
  *numbers = part_there(part);
  if (*numbers == NULL) {
    if (*spare == NULL) *spare = rs_alloc(part->count, part->dims * sizeof **spare, err);
    if (*spare == NULL) return RS_MEMORY;
    part_read(part, *spare);
    *numbers = *spare;
  }
  return part_check(part, *numbers, err);
}

static rs_status read_head(const rs_api_observed *o, size_t head, room *r, rs_attention_job *job, rs_err *err) {
  const ropescope_attention *asked = o->asked;
  size_t first = o->queries[0], last = o->queries[o->query_count - 1];
  bool neighbours = last - first == o->query_count - 1 && first == asked->first_query; /* their rows are the array's */
  const row_part q = {.rows = &asked->q,
                      .name = "q",
                      .head = head,
                      .tokens = neighbours ? NULL : o->queries,
                      .first = asked->first_query,
                      .count = o->query_count,
                      .dims = asked->head_dim,
                      .factor = o->factor};
  const row_part k = {.rows = &asked->k,
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
                            .map_queries = o->needs.map_queries,
                            .map_keys = o->needs.map_keys,
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
  RS_OWNED(room) r = {0};
  rs_status status = make_room(observed, &r, err);
  for (size_t head = 0; head < observed->asked->heads && status == RS_OK; head++) {
    rs_attention_job job = describe_job(observed, head, &r);
    status = read_head(observed, head, &r, &job, err);
    if (status != RS_OK) break;
    show_content(observed, &job);
    status = observe_rows(observed, &job, r.engine, statistics, err);
  }
  return status;
}
