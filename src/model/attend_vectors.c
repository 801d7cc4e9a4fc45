/* Vectors of distance in attention. A tile's queries are multiplied by the vectors of all distances that lie between
 * them and the tile's keys, one product (rows, window), of which each pair of a query and a key reads the column of its
 * distance; on the way back, and for values, what pairs hold is gathered by column first. Keys that read the vectors
 * have a product (columns, window) of the same kind. */
#include "attend.h"

/* Columns [begin, begin + count) of the vectors: the distances from queries [query, query + rows) to keys [key, key +
 * columns). */
typedef struct window {
  size_t query, rows, key, columns;
  size_t begin, count;
} window;

static window window_of(const rs_attend *attend, const rs_tile *tile, size_t row, size_t count, size_t columns) {
  const rs_vectors *form = &attend->vectors.form;
  window w = {.query = tile->query + row, .rows = count, .key = tile->key, .columns = columns};
  w.begin = rs_vector_column(form, w.query + count - 1, w.key);
  w.count = rs_vector_column(form, w.query, w.key + columns - 1) + 1 - w.begin;
  return w;
}

/* Where in the window a query meets the keys: [0, first), which are too far before it, all in column `low`, which is
 * that of key `first`, too; [first, past) in one column after the other; the others in column `high`. */
typedef struct meeting {
  size_t first, past, low, high;
} meeting;

static meeting meet(const rs_attend *attend, const window *w, size_t r) {
  const rs_vectors *form = &attend->vectors.form;
  size_t query = w->query + r, before = query > form->reach ? query - form->reach : 0, after = query + form->reach;
  meeting m = {.low = rs_vector_column(form, query, w->key) - w->begin,
               .high = rs_vector_column(form, query, w->key + w->columns - 1) - w->begin};
  m.first = before > w->key ? before - w->key : 0; /* the first key within reach, */
  m.past = after >= w->key ? after - w->key + 1 : 0;
  if (m.first > w->columns) m.first = w->columns;
  if (m.past > w->columns) m.past = w->columns;
  if (m.past < m.first) m.past = m.first;
  return m;
}

/* pairs[c] += factor * by[column of c]. */
static void spread(const meeting *m, size_t columns, real factor, const real *by, real *pairs) {
  for (size_t c = 0; c < m->first; c++) pairs[c] += factor * by[m->low];
  for (size_t c = m->first; c < m->past; c++) pairs[c] += factor * by[m->low + (c - m->first)];
  for (size_t c = m->past; c < columns; c++) pairs[c] += factor * by[m->high];
}

/* by[column of c] += factor * pairs[c]. */
static void collect(const meeting *m, size_t columns, real factor, const real *pairs, real *by) {
  for (size_t c = 0; c < m->first; c++) by[m->low] += factor * pairs[c];
  for (size_t c = m->first; c < m->past; c++) by[m->low + (c - m->first)] += factor * pairs[c];
  for (size_t c = m->past; c < columns; c++) by[m->high] += factor * pairs[c];
}

/* (rows, window) */
enum { STEP = 2 * RS_TILE };

static size_t table_of(const rs_attend_work *work) {
  return work->attend->vectors.form.tables > 1 ? work->head : 0;
}

/* (D, window) of a table that is turned over, with step C. */
static rs_matrix turned_at(const rs_attend_work *work, const void *turned, size_t table, const window *w) {
  size_t columns = work->attend->vectors.columns;
  return (rs_matrix){(real *)turned + table * work->dims * columns + w->begin, columns};
}

/* (window, D) */
static rs_matrix rows_at(const rs_attend_work *work, const void *rows, size_t table, const window *w) {
  return (rs_matrix){(real *)rows + (table * work->attend->vectors.columns + w->begin) * work->dims, work->dims};
}

static rs_matrix by_window(const rs_attend_work *work) {
  return (rs_matrix){rs_part_at(work, work->attend->room.distances), STEP};
}

/* The queries that read vectors, (tile, D). */
static real *readers(const rs_attend_work *work) {
  return rs_tile_at(work, work->attend->room.readers, 0);
}

/* c (rows, columns) = a^T b, plus c, for a (depth, rows) and b (depth, columns). */
static void multiply_turned(const rs_attend_work *work, size_t rows, size_t columns, size_t depth, rs_matrix a,
                            rs_matrix b, rs_matrix c, bool add) {
  work->net->product(&(rs_product){.rows = rows,
                                   .columns = columns,
                                   .depth = depth,
                                   .a = a.numbers,
                                   .a_step = a.step,
                                   .a_turned = true,
                                   .b = b.numbers,
                                   .b_step = b.step,
                                   .c = c.numbers,
                                   .c_step = c.step,
                                   .add = add});
}

/* (columns, window) = keys of the tile times the vectors. */
static void multiply_keys(const rs_attend_work *work, const rs_tile *tile, const window *w) {
  const rs_attend *attend = work->attend;
  rs_matrix panel = {rs_tokens_at(work, attend->room.key_panels, 0) + tile->key * work->dims, RS_TILE};
  multiply_turned(work, w->columns, w->count, work->dims, panel,
                  turned_at(work, attend->vectors.turned, table_of(work), w), by_window(work), false);
}

/* ---- forwards ---------------------------------------------------------------------------------------------------- */

void rs_load_readers(const rs_attend_work *work, size_t count) {
  const rs_attend *attend = work->attend;
  const rs_attend_vectors *vectors = &attend->vectors;
  const real *factor = rs_rows_at(work, RS_ROW_FACTOR);
  real *queries = rs_tile_at(work, attend->room.queries, 0), *reading = readers(work);
  if (!vectors->form.added) return; /* then both are one */
  const real *u = (const real *)vectors->added + work->head * work->dims, *v = u + attend->shape.heads * work->dims;
  for (size_t r = 0; r < count; r++)
    for (size_t d = 0; d < work->dims; d++) {
      size_t i = r * work->dims + d;
      reading[i] = queries[i] + factor[r] * v[d];
      queries[i] += factor[r] * u[d];
    }
}

void rs_add_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns) {
  const rs_attend *attend = work->attend;
  const real *factor = rs_rows_at(work, RS_ROW_FACTOR) + row;
  real *logits = rs_part_at(work, attend->room.logits) + row * RS_TILE;
  window w = window_of(attend, tile, row, count, columns);
  rs_matrix by = by_window(work);
  rs_multiply(work, count, w.count, work->dims, (rs_matrix){readers(work) + row * work->dims, work->dims},
              turned_at(work, attend->vectors.turned, table_of(work), &w), by, false);
  for (size_t r = 0; r < count; r++) {
    meeting m = meet(attend, &w, r);
    spread(&m, columns, 1, by.numbers + r * STEP, logits + r * RS_TILE);
  }
  if (!attend->vectors.form.keys) return;
  multiply_keys(work, tile, &w);
  for (size_t r = 0; r < count; r++)
    for (size_t c = 0; c < columns; c++) {
      size_t column = rs_vector_column(&attend->vectors.form, w.query + r, w.key + c) - w.begin;
      logits[r * RS_TILE + c] += factor[r] * by.numbers[c * STEP + column];
    }
}

/* (count, window) = what pairs hold, by distance. */
static rs_matrix by_distance(const rs_attend_work *work, const window *w, const real *pairs) {
  rs_matrix by = by_window(work);
  for (size_t r = 0; r < w->rows; r++) {
    meeting m = meet(work->attend, w, r);
    memset(by.numbers + r * STEP, 0, w->count * sizeof(real));
    collect(&m, w->columns, 1, pairs + r * RS_TILE, by.numbers + r * STEP);
  }
  return by;
}

void rs_gather_value_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                             real *out) {
  const rs_attend *attend = work->attend;
  window w = window_of(attend, tile, row, count, columns);
  rs_matrix by = by_distance(work, &w, rs_part_at(work, attend->room.logits) + row * RS_TILE);
  rs_multiply(work, count, work->dims, w.count, by, rows_at(work, attend->vectors.value_rows, 0, &w),
              (rs_matrix){out, work->dims}, true);
}

/* ---- backwards --------------------------------------------------------------------------------------------------- */

void rs_add_value_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns) {
  const rs_attend *attend = work->attend;
  real *dlogits = rs_part_at(work, attend->room.dlogits) + row * RS_TILE;
  const real *dout = rs_part_at(work, attend->room.out) + row * work->dims;
  window w = window_of(attend, tile, row, count, columns);
  rs_matrix by = by_window(work);
  rs_multiply(work, count, w.count, work->dims, (rs_matrix){(real *)dout, work->dims},
              turned_at(work, attend->vectors.value_turned, 0, &w), by, false);
  for (size_t r = 0; r < count; r++) {
    meeting m = meet(attend, &w, r);
    spread(&m, columns, 1, by.numbers + r * STEP, dlogits + r * RS_TILE);
  }
}

/* What the scale of the head gets of keys that read vectors; the product of those stands by the window. */
static void pass_scale(const rs_attend_work *work, const window *w, const real *dlogits, double *into) {
  const rs_attend *attend = work->attend;
  rs_matrix by = by_window(work);
  for (size_t r = 0; r < w->rows; r++) {
    double sum = 0;
    for (size_t c = 0; c < w->columns; c++) {
      size_t column = rs_vector_column(&attend->vectors.form, w->query + r, w->key + c) - w->begin;
      sum += (double)(dlogits[r * RS_TILE + c] * by.numbers[c * STEP + column]);
    }
    into[work->head] += attend->scale[w->query + r] * sum;
  }
}

/* Keys that read vectors. */
static void pass_keys(const rs_attend_work *work, const rs_tile *tile, const window *w, size_t row, rs_matrix table,
                      rs_attend_sums *sums) {
  const rs_attend *attend = work->attend;
  const real *factor = rs_rows_at(work, RS_ROW_FACTOR) + row;
  const real *dlogits = rs_part_at(work, attend->room.dlogits) + row * RS_TILE;
  rs_matrix by = by_window(work), keys = {rs_tokens_at(work, attend->room.keys, 0) + w->key * work->dims, work->dims};
  rs_matrix dkeys = {rs_tokens_at(work, attend->room.dkeys, 0) + w->key * work->dims, work->dims};
  if (attend->scale_learned && sums != NULL) {
    multiply_keys(work, tile, w);
    pass_scale(work, w, dlogits, sums->head_scale);
  }
  for (size_t c = 0; c < w->columns; c++) memset(by.numbers + c * STEP, 0, w->count * sizeof(real));
  for (size_t r = 0; r < w->rows; r++)
    for (size_t c = 0; c < w->columns; c++) {
      size_t column = rs_vector_column(&attend->vectors.form, w->query + r, w->key + c) - w->begin;
      by.numbers[c * STEP + column] += factor[r] * dlogits[r * RS_TILE + c];
    }
  rs_multiply(work, w->columns, work->dims, w->count, by, rows_at(work, attend->vectors.rows, table_of(work), w), dkeys,
              true);
  if (sums != NULL) multiply_turned(work, work->dims, w->count, w->columns, keys, by, table, true);
}

void rs_pass_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, rs_attend_sums *sums) {
  const rs_attend *attend = work->attend;
  const rs_attend_vectors *vectors = &attend->vectors;
  size_t columns = rs_tile_columns(tile, row, count), dims = work->dims;
  if (columns == 0) return;
  window w = window_of(attend, tile, row, count, columns);
  rs_matrix reading = {readers(work) + row * dims, dims};
  rs_matrix dreading = {rs_tile_at(work, attend->room.dreaders, 0) + row * dims, dims};
  rs_matrix dout = {rs_part_at(work, attend->room.out) + row * dims, dims};
  rs_matrix by = by_distance(work, &w, rs_part_at(work, attend->room.dlogits) + row * RS_TILE);
  rs_matrix table = {NULL, 0};
  rs_multiply(work, count, dims, w.count, by, rows_at(work, vectors->rows, table_of(work), &w), dreading, true);
  if (sums != NULL) {
    table = turned_at(work, sums->vectors, table_of(work), &w);
    multiply_turned(work, dims, w.count, count, reading, by, table, true);
  }
  if (vectors->form.keys) pass_keys(work, tile, &w, row, table, sums);
  if (!vectors->form.values || sums == NULL) return;
  by = by_distance(work, &w, rs_part_at(work, attend->room.logits) + row * RS_TILE);
  multiply_turned(work, dims, w.count, count, dout, by, turned_at(work, sums->value_vectors, 0, &w), true);
}

/* The added vectors get their share of the gradients by the queries that they are added to, and so does the head's
 * scale. */
static void pass_added(const rs_attend_work *work, size_t r, double scale, const real *by, const real *added,
                       double *into, rs_attend_sums *sums) {
  real factor = rs_rows_at(work, RS_ROW_FACTOR)[r];
  double sum = 0;
  for (size_t d = 0; d < work->dims; d++) {
    into[d] += (double)(factor * by[d]);
    sum += (double)(by[d] * added[d]);
  }
  if (work->attend->scale_learned) sums->head_scale[work->head] += scale * sum;
}

void rs_finish_readers(const rs_attend_work *work, size_t first, size_t count, rs_attend_sums *sums) {
  const rs_attend *attend = work->attend;
  size_t dims = work->dims, all = attend->shape.heads * dims;
  if (!attend->vectors.form.added) return;
  const real *u = (const real *)attend->vectors.added + work->head * dims, *v = u + all;
  real *dqueries = rs_tile_at(work, attend->room.dqueries, 0), *dreading = rs_tile_at(work, attend->room.dreaders, 0);
  for (size_t r = 0; r < count && sums != NULL; r++) {
    double *du = sums->added + work->head * dims, scale = attend->scale[first + r];
    pass_added(work, r, scale, dqueries + r * dims, u, du, sums);
    pass_added(work, r, scale, dreading + r * dims, v, du + all, sums);
  }
  work->net->add(dreading, count * dims, dqueries);
}
