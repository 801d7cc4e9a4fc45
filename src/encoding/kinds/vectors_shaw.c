/* Vectors of clipped distance, which keys, and values, have besides their own. Shaw, Uszkoreit and Vaswani,
 * arXiv:1803.02155, equations 3 to 5, with tables that the heads of a layer share (section 3.3):
 *
 *   e(m, n) = q[m] . (k[n] + aK[clip(n - m)]) / sqrt(D),   z[m] = sum over n of w(m, n) (v[n] + aV[clip(n - m)])
 *
 * BERT's position_embedding_type relative_key (transformers 4) is this without aV, its table counted from the other
 * end; relative_key_query adds k[n] . aK[clip(n - m)], which Huang et al., arXiv:2009.13658, call method 4. */
#include "encoding/kinds.h"

#include <string.h>

/* Words of read_by: whether queries alone read the vectors, or keys as well. */
typedef enum readers { QUERIES, BOTH, READERS } readers;

typedef struct params {
  size_t clip; /* tokens */
  bool beyond, on_values;
  readers read_by;
  rs_real_list key_table, value_table; /* (2 clip + 1, D); unset: drawn */
  double init_sd;
  size_t table_seed;
} params;

typedef struct state {
  size_t clip, dims, reach;
  const double *key_table, *value_table; /* (2 clip + 1, D); value_table NULL: none */
} state;

static size_t rows_of(size_t clip) {
  return 2 * clip + 1;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  bool drawn = p->key_table.list == NULL || (p->on_values && p->value_table.list == NULL);
  RS_TRY(rs_vector_list_check(binding, offsetof(params, key_table), rows_of(p->clip), model->head_dim, err));
  if (p->on_values)
    RS_TRY(rs_vector_list_check(binding, offsetof(params, value_table), rows_of(p->clip), model->head_dim, err));
  else
    RS_TRY(rs_binding_unused(binding, offsetof(params, value_table), "on_values: false", err));
  if (drawn) return RS_OK;
  RS_TRY(rs_binding_unused(binding, offsetof(params, init_sd), "tables", err));
  return rs_binding_unused(binding, offsetof(params, table_seed), "tables", err);
}

static bool by_layer(const rs_settings *settings, const char **seed) {
  bool valued = rs_setting(settings, "on_values")->number == 1;
  bool drawn =
      rs_setting(settings, "key_table")->list == NULL || (valued && rs_setting(settings, "value_table")->list == NULL);
  *seed = drawn ? "table_seed" : NULL;
  return true;
}

static size_t table_size(const rs_stage_in *in) {
  const params *p = in->params;
  return rows_of(p->clip) * in->head_dim * (p->on_values ? 2 : 1);
}

static void form(const rs_stage_in *in, rs_vectors *vectors) {
  const params *p = in->params;
  *vectors = (rs_vectors){.reach = p->clip < in->length ? p->clip : in->length - 1,
                          .tables = 1,
                          .keys = p->read_by == BOTH,
                          .values = p->on_values};
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  size_t each = rows_of(p->clip) * in->head_dim;
  rs_vectors vectors;
  if (!p->beyond && in->length - 1 > p->clip)
    return rs_fail(err, RS_DOMAIN, "%s: distance %zu is beyond the table, which ends at %zu", in->method,
                   in->length - 1, p->clip);
  form(in, &vectors);
  rs_vector_table_fill(&p->key_table, p->table_seed, 0, p->init_sd, each, table);
  if (p->on_values) rs_vector_table_fill(&p->value_table, p->table_seed, 1, p->init_sd, each, table + each);
  *(state *)out = (state){.clip = p->clip,
                          .dims = in->head_dim,
                          .reach = vectors.reach,
                          .key_table = table,
                          .value_table = p->on_values ? table + each : NULL};
  return RS_OK;
}

/* The row of a table for the first distance that there is. */
static size_t first_row(const state *s) {
  return s->clip - s->reach;
}

static void fill(const void *prepared, const rs_vector_part *part, double *out, size_t step) {
  const state *s = prepared;
  const double *rows = s->key_table + (first_row(s) + part->begin) * s->dims;
  for (size_t c = 0; c < part->end - part->begin; c++)
    for (size_t d = 0; d < s->dims; d++) out[d * step + c] = rows[c * s->dims + d];
}

static void values(const void *prepared, double *out) {
  const state *s = prepared;
  size_t columns = rows_of(s->reach);
  const double *rows = s->value_table + first_row(s) * s->dims;
  for (size_t c = 0; c < columns; c++)
    for (size_t d = 0; d < s->dims; d++) out[d * columns + c] = rows[c * s->dims + d];
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"vectors.keys", rows_of(s->clip), s->dims};
  if (s->value_table != NULL) out[1] = (rs_learned){"vectors.values", rows_of(s->clip), s->dims};
  return s->value_table != NULL ? 2 : 1;
}

/* `by` (D, columns) into the rows of a table that there are. */
static void add_turned(const state *s, const double *by, double *table) {
  size_t columns = rows_of(s->reach);
  table += first_row(s) * s->dims;
  for (size_t d = 0; d < s->dims; d++)
    for (size_t c = 0; c < columns; c++) table[c * s->dims + d] += by[d * columns + c];
}

static void gradient(const void *prepared, const rs_vector_gradients *by, double *const *learned_arrays) {
  const state *s = prepared;
  add_turned(s, by->r, learned_arrays[0]);
  if (s->value_table != NULL) add_turned(s, by->values, learned_arrays[1]);
}

static const char *const reader_words[READERS + 1] = {[QUERIES] = "queries", [BOTH] = "both"};

static const rs_param specs[] = {
    {RS_FIELD(params, clip), .unit = "tokens", .min = 1, .max = 1e6, .fallback = "16",
     .summary = "k, distances beyond it count as it (16: the paper's base model; BERT: max_position_embeddings - 1)"},
    {RS_FIELD(params, beyond), .unit = "", .fallback = "true",
     .summary = "there are farther distances (false: longer contexts are undefined, as BERT's are)"},
    {RS_FIELD(params, on_values), .unit = "", .fallback = "true",
     .summary = "values have vectors as well (aV; BERT: false), which outputs read and scores do not"},
    {RS_FIELD(params, read_by), .unit = "", RS_WORDS(reader_words), .fallback = "queries",
     .summary = "whether queries alone are multiplied by the vectors, or keys, too (both: BERT's relative_key_query)"},
    {RS_FIELD(params, key_table), .unit = "1", .min = -1e30, .max = 1e30,
     .summary = "aK, head_dim numbers in each row; rows: n - m = -clip ... clip: a list, or a file (default: drawn)"},
    {RS_FIELD(params, value_table), .unit = "1", .min = -1e30, .max = 1e30, .summary = "aV, as key_table"},
    {RS_FIELD(params, init_sd), .unit = "1", .min = 0, .max = 1e6, .fallback = "0.02",
     .summary = "standard deviation of a drawn table's numbers (0.02: BERT)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_vector_kind rs_vectors_shaw = {
    .kind = {.name = "shaw",
             .summary = "one vector for each clipped distance, added to keys, and one to values",
             .reference = "Shaw et al., arXiv:1803.02155, section 3",
             RS_KIND(specs, params)},
    .check = check,
    .by_layer = by_layer,
    .state_size = sizeof(state),
    .table_size = table_size,
    .prepare = prepare,
    .form = form,
    .fill = fill,
    .values = values,
    .learned = learned,
    .gradient = gradient,
};
