/* Transformer-XL's relative positions: sinusoids of the distance, projected for each head. Dai et al.,
 * arXiv:1901.02860, section 3.3:
 *
 *   A(m, n) = q.k + q.(W_r R[m - n]) + u.k + v.(W_r R[m - n]),   over sqrt(D)
 *
 * R[x] of width d holds sin(x w_j), then cos(x w_j), with w_j = 10000^(-2j/d), as the authors' code has it. W_r, u and
 * v are learned, in each layer of their own (untie_r of that code); keys behind the query, which their models do not
 * see, stand at negative distances, as in XLNet (arXiv:1906.08237). */
#include "encoding/kinds.h"

#include <math.h>

static const double base = 10000; /* arXiv:1706.03762, section 3.5 */

typedef struct params {
  size_t clip; /* tokens; RS_NO_COUNT: none */
  rs_real_list projection, content_bias, position_bias;
  double init_sd;
  size_t table_seed;
} params;

typedef struct state {
  size_t reach, heads, dims, width;
  const double *projection; /* (H D, d) W_r */
  const double *u, *v;      /* (H, D) */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  size_t all = model->heads * model->head_dim, width = model->width > 0 ? model->width : all;
  RS_TRY(rs_vector_list_check(binding, offsetof(params, projection), all, width, err));
  RS_TRY(rs_vector_list_check(binding, offsetof(params, content_bias), model->heads, model->head_dim, err));
  RS_TRY(rs_vector_list_check(binding, offsetof(params, position_bias), model->heads, model->head_dim, err));
  if (p->projection.list == NULL || p->content_bias.list == NULL || p->position_bias.list == NULL) return RS_OK;
  RS_TRY(rs_binding_unused(binding, offsetof(params, init_sd), "projection, content_bias and position_bias", err));
  return rs_binding_unused(binding, offsetof(params, table_seed), "projection, content_bias and position_bias", err);
}

static bool by_layer(const rs_settings *settings, const char **seed) {
  bool drawn = rs_setting(settings, "projection")->list == NULL || rs_setting(settings, "content_bias")->list == NULL ||
               rs_setting(settings, "position_bias")->list == NULL;
  *seed = drawn ? "table_seed" : NULL;
  return true;
}

static size_t table_size(const rs_stage_in *in) {
  return in->heads * in->head_dim * (in->width + 2);
}

static void form(const rs_stage_in *in, rs_vectors *vectors) {
  size_t clip = ((const params *)in->params)->clip;
  *vectors = (rs_vectors){.reach = clip < in->length ? clip : in->length - 1, .tables = in->heads, .added = true};
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  size_t all = in->heads * in->head_dim;
  double *u = table + all * in->width, *v = u + all;
  rs_vectors vectors;
  form(in, &vectors);
  rs_vector_table_fill(&p->projection, p->table_seed, 0, p->init_sd, all * in->width, table);
  rs_vector_table_fill(&p->content_bias, p->table_seed, 1, p->init_sd, all, u);
  rs_vector_table_fill(&p->position_bias, p->table_seed, 2, p->init_sd, all, v);
  *(state *)out = (state){.reach = vectors.reach,
                          .heads = in->heads,
                          .dims = in->head_dim,
                          .width = in->width,
                          .projection = table,
                          .u = u,
                          .v = v};
  return RS_OK;
}

static void added(const void *prepared, size_t head, const double **u, const double **v) {
  const state *s = prepared;
  *u = s->u + head * s->dims;
  *v = s->v + head * s->dims;
}

/* ---- waves ------------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 64, PAIRS = 32 }; /* of R at a time, on the stack */

/* Columns [column, column + columns) of R turned over, sines and cosines of pairs [pair, pair + pairs). */
typedef struct waves {
  size_t column, columns, pair, pairs;
  double sine[PAIRS * COLUMNS], cosine[PAIRS * COLUMNS];
} waves;

static double omega_of(const state *s, size_t pair) {
  return pow(base, -2 * (double)pair / (double)s->width);
}

/* m - n of a column. */
static double distance_of(const state *s, size_t column) {
  return (double)s->reach - (double)column;
}

/* (pairs, columns). */
static void fill_by_pair(const state *s, waves *w) {
  double distance[COLUMNS], omega[COLUMNS];
  for (size_t c = 0; c < w->columns; c++) distance[c] = distance_of(s, w->column + c);
  for (size_t j = 0; j < w->pairs; j++) {
    for (size_t c = 0; c < w->columns; c++) omega[c] = omega_of(s, w->pair + j);
    rs_kernels_get()->rotate->cos_sin(distance, omega, w->columns, w->cosine + j * COLUMNS, w->sine + j * COLUMNS);
  }
}

/* (columns, pairs). */
static void fill_by_column(const state *s, waves *w) {
  double omega[PAIRS];
  for (size_t j = 0; j < w->pairs; j++) omega[j] = omega_of(s, w->pair + j);
  for (size_t c = 0; c < w->columns; c++)
    rs_kernels_get()->rotate->cos_sin_at(distance_of(s, w->column + c), omega, w->pairs, w->cosine + c * PAIRS,
                                         w->sine + c * PAIRS);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* W_r of some heads times the columns; an odd width has a last number of 0. */
static void fill(const void *prepared, const rs_vector_part *part, double *out, size_t step) {
  const state *s = prepared;
  const double *projection = s->projection + part->table * s->dims * s->width;
  size_t all = s->width / 2;
  waves w;
  rs_product product = {.rows = part->tables * s->dims, .a_step = s->width, .b_step = COLUMNS, .c_step = step};
  for (w.column = part->begin; w.column < part->end; w.column += w.columns) {
    w.columns = product.columns = least(COLUMNS, part->end - w.column);
    product.c = out + (w.column - part->begin);
    for (size_t row = 0; row < product.rows; row++)
      for (size_t c = 0; c < w.columns; c++) ((double *)product.c)[row * step + c] = 0;
    product.add = true;
    for (w.pair = 0; w.pair < all; w.pair += w.pairs) {
      w.pairs = product.depth = least(PAIRS, all - w.pair);
      fill_by_pair(s, &w);
      product.a = projection + w.pair, product.b = w.sine;
      rs_kernels_get()->net_f64->product(&product);
      product.a = projection + all + w.pair, product.b = w.cosine;
      rs_kernels_get()->net_f64->product(&product);
    }
  }
}

/* ---- what training changes --------------------------------------------------------------------------------------- */

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"vectors.projection", s->heads * s->dims, s->width};
  out[1] = (rs_learned){"vectors.content_bias", s->heads, s->dims};
  out[2] = (rs_learned){"vectors.position_bias", s->heads, s->dims};
  return 3;
}

static void gradient(const void *prepared, const rs_vector_gradients *by, double *const *learned_arrays) {
  const state *s = prepared;
  size_t columns = 2 * s->reach + 1, all = s->width / 2, rows = s->heads * s->dims;
  waves w;
  rs_product product = {.rows = rows, .a_step = columns, .b_step = PAIRS, .c_step = s->width, .add = true};
  for (w.column = 0; w.column < columns; w.column += w.columns) {
    w.columns = product.depth = least(COLUMNS, columns - w.column);
    product.a = by->r + w.column;
    for (w.pair = 0; w.pair < all; w.pair += w.pairs) {
      w.pairs = product.columns = least(PAIRS, all - w.pair);
      fill_by_column(s, &w);
      product.b = w.sine, product.c = learned_arrays[0] + w.pair;
      rs_kernels_get()->net_f64->product(&product);
      product.b = w.cosine, product.c = learned_arrays[0] + all + w.pair;
      rs_kernels_get()->net_f64->product(&product);
    }
  }
  for (size_t i = 0; i < rows; i++) learned_arrays[1][i] += by->u[i];
  for (size_t i = 0; i < rows; i++) learned_arrays[2][i] += by->v[i];
}

static const rs_param specs[] = {
    {RS_FIELD(params, clip), .unit = "tokens", .min = 1, .max = 1e9,
     .summary = "distances beyond it count as it (clamp_len of the authors' code; default: none do)"},
    {RS_FIELD(params, projection), .unit = "1", .min = -1e30, .max = 1e30,
     .summary = "W_r, a row of the model's width for each of the heads' dims: a list, or a file (default: drawn)"},
    {RS_FIELD(params, content_bias), .unit = "1", .min = -1e30, .max = 1e30,
     .summary = "u, head_dim numbers for each head, which keys are multiplied by (default: drawn)"},
    {RS_FIELD(params, position_bias), .unit = "1", .min = -1e30, .max = 1e30,
     .summary = "v, as content_bias, which the projected sinusoids are multiplied by"},
    {RS_FIELD(params, init_sd), .unit = "1", .min = 0, .max = 1e6, .fallback = "0.02",
     .summary = "standard deviation of what is drawn (0.02: the authors' code)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_vector_kind rs_vectors_transformer_xl = {
    .kind = {.name = "transformer_xl",
             .summary =
                 "sinusoids of the distance, projected for each head, and a vector each that stands for the query",
             .reference = "Transformer-XL, Dai et al., arXiv:1901.02860, section 3.3",
             RS_KIND(specs, params)},
    .check = check,
    .by_layer = by_layer,
    .state_size = sizeof(state),
    .table_size = table_size,
    .prepare = prepare,
    .form = form,
    .fill = fill,
    .added = added,
    .learned = learned,
    .gradient = gradient,
};
