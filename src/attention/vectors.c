/* Vectors of distance in the engine: those of the job's head as one table, and what they add to a row of logits. The
 * queries of tiles have u already (load.c); what reads the table goes the way of biases that are no function of
 * distance, for it depends on the content. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

rs_status rs_vector_table_load(rs_vector_table *vectors, const rs_attention_job *job, rs_err *err) {
  const rs_encoding *encoding = job->encoding;
  vectors->any = job->mask.kind != RS_CROSS && rs_encoding_vectors(encoding, &vectors->form);
  vectors->u = vectors->v = NULL;
  if (!vectors->any) return RS_OK;
  if (job->soft_cap != 0)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s adds vectors of distance to products, which a soft cap would bend with them",
                   encoding->method->name);
  size_t table = vectors->form.tables > 1 ? job->head : 0, columns = rs_vector_columns(&vectors->form);
  RS_TRY(rs_reals_reserve(&vectors->table, columns, encoding->head_dim * sizeof(double), err));
  rs_vector_part part = {table, 1, 0, columns};
  rs_encoding_vectors_fill(encoding, &part, vectors->table.data, columns);
  rs_encoding_vectors_added(encoding, job->head, &vectors->u, &vectors->v);
  return RS_OK;
}

double rs_vector_norm(const rs_vector_table *vectors, size_t dims) {
  size_t columns = rs_vector_columns(&vectors->form);
  const double *table = vectors->table.data;
  double most = 0;
  for (size_t c = 0; c < columns; c++) {
    double squares = 0;
    for (size_t d = 0; d < dims; d++) squares += table[d * columns + c] * table[d * columns + c];
    if (!(squares <= most)) most = isnan(squares) ? INFINITY : squares;
  }
  return sqrt(most);
}

enum { RUN = 64 }; /* keys at a time */

/* Some keys that one query reads, at most RUN. */
typedef struct run {
  size_t query, begin, end;    /* positions */
  size_t first, past, columns; /* keys [first, past) stand at columns of their own; the others at the ends */
} run;

/* sum[n - begin] += the query's number x times that of each key's vector, a row (C,) of the table. */
static void add_query(const run *r, double x, const double *row, double *sum) {
  for (size_t n = r->begin; n < r->first; n++) sum[n - r->begin] += x * row[0];
  const double *from = row + (r->columns / 2 + r->first - r->query);
  for (size_t i = 0; i < r->past - r->first; i++) sum[r->first - r->begin + i] += x * from[i];
  for (size_t n = r->past; n < r->end; n++) sum[n - r->begin] += x * row[r->columns - 1];
}

/* The same with numbers of the keys, `step` apart. */
static void add_keys(const run *r, const double *key, const double *embedded, size_t step, const double *row,
                     double *sum) {
  for (size_t n = r->begin; n < r->end; n++, key += step) {
    size_t column = n < r->first ? 0 : n < r->past ? r->columns / 2 + n - r->query : r->columns - 1;
    double x = embedded != NULL ? *key + embedded[(n - r->begin) * step] : *key;
    sum[n - r->begin] += x * row[column];
  }
}

static run run_of(const rs_vectors *form, size_t query, size_t begin, size_t end) {
  size_t before = query > form->reach ? query - form->reach : 0, after = query + form->reach + 1;
  run r = {.query = query, .begin = begin, .end = end, .columns = rs_vector_columns(form)};
  r.first = before < begin ? begin : before < end ? before : end;
  r.past = after < r.first ? r.first : after < end ? after : end;
  return r;
}

void rs_vector_row(const rs_loaded_job *loaded, size_t index, size_t begin, size_t end, const double *key,
                   double *row) {
  const rs_attention_job *job = &loaded->job;
  const rs_vector_table *vectors = &loaded->vectors;
  const rs_encoding *encoding = job->encoding;
  size_t dims = loaded->dims, columns = rs_vector_columns(&vectors->form), m = job->queries[index];
  double scale = rs_encoding_head_scale(encoding, job->head) * encoding->logit_scale[m] / sqrt((double)dims);
  for (size_t n = begin, next; n < end; n = next) {
    double sum[RUN] = {0};
    next = end - n < RUN ? end : n + RUN;
    run r = run_of(&vectors->form, m, n, next);
    for (size_t d = 0; d < dims; d++) {
      const double *of_dim = (const double *)vectors->table.data + d * columns;
      const double *embedded = job->projection != NULL ? job->projection->k + n * dims + d : NULL;
      double x = job->q[index * dims + d] + (job->projection != NULL ? job->projection->q[index * dims + d] : 0);
      add_query(&r, x + (vectors->v != NULL ? vectors->v[d] : 0), of_dim, sum);
      if (vectors->form.keys) add_keys(&r, key + (n - begin) * dims + d, embedded, dims, of_dim, sum);
    }
    for (size_t i = 0; i < next - n; i++) row[n - begin + i] += scale * sum[i];
  }
}
