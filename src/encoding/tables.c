/* What kinds with tables share: how lists, grids and seeds are checked, and learned tables given or drawn. */
#include "kinds.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Learned position tables as they are before training, or as they were trained and given, and the grids of those that
 * have one. Shared by the kinds of learned embeddings and biases.
 *
 * truncated_normal cuts at 2 standard deviations, as JAX's truncated_normal and timm's trunc_normal_tf_ do, and does
 * not stretch the rest back to init_sd (its own deviation is 0.88 init_sd). torch's and timm's trunc_normal_(std =
 * 0.02) cuts at -2 and 2 themselves, 100 standard deviations away: no different from normal. xavier: Glorot and Bengio,
 * AISTATS 2010, eq. 16, for a table (rows, width) as torch reads its fans. */

const char *const rs_table_init_words[RS_TABLE_INITS + 1] = {[RS_INIT_NORMAL] = "normal",
                                                             [RS_INIT_TRUNCATED_NORMAL] = "truncated_normal",
                                                             [RS_INIT_ZEROS] = "zeros",
                                                             [RS_INIT_XAVIER] = "xavier"};

const char *const rs_grid_words[RS_GRID_RULES + 1] = {[RS_GRID_OWN] = "own"};
const char *const rs_resize_words[RS_RESIZES + 1] = {[RS_BICUBIC] = "bicubic",
                                                     [RS_BILINEAR] = "bilinear",
                                                     [RS_BICUBIC_ANTIALIAS] = "bicubic_antialias",
                                                     [RS_BICUBIC_ALIGN] = "bicubic_align",
                                                     [RS_CROP] = "none"};

#define CUT 2.0 /* standard deviations */

enum { MOST_PATCHES = 1024 * 1024 }; /* far above any published table (64 x 64) */

rs_status rs_table_grid_check(const rs_binding *binding, size_t offset, bool joint, rs_err *err) {
  const rs_real_list *grid = (const rs_real_list *)((const char *)binding->fields + offset);
  if (grid->list == NULL) return RS_OK;
  if (grid->count != 2) return rs_binding_fail(binding, offset, err, "must be [rows, columns]");
  if (grid->list[0] != floor(grid->list[0]) || grid->list[1] != floor(grid->list[1]))
    return rs_binding_fail(binding, offset, err, "must be whole numbers");
  if (joint && grid->list[0] * grid->list[1] > MOST_PATCHES)
    return rs_binding_fail(binding, offset, err, "has more than %d patches", MOST_PATCHES);
  return RS_OK;
}

rs_status rs_learned_table_check(const rs_binding *binding, size_t block, const rs_model *model, size_t parts,
                                 rs_err *err) {
  const rs_learned_table *learned = (const rs_learned_table *)((const char *)binding->fields + block);
  size_t init = block + offsetof(rs_learned_table, init), sd = block + offsetof(rs_learned_table, init_sd);
  size_t seed = block + offsetof(rs_learned_table, table_seed);
  size_t width = rs_model_width(model);
  bool zeros = learned->init == RS_INIT_ZEROS;
  if (learned->table.list != NULL) {
    RS_TRY(rs_binding_unused(binding, init, "a table", err));
    RS_TRY(rs_binding_unused(binding, sd, "a table", err));
    RS_TRY(rs_binding_unused(binding, seed, "a table", err));
    if (learned->table.count % (width / parts) == 0) return RS_OK;
    return rs_binding_fail(binding, block + offsetof(rs_learned_table, table), err,
                           "has %zu numbers: not whole rows of heads * head_dim%s = %zu", learned->table.count,
                           parts == 2 ? " / 2" : "", width / parts);
  }
  if (zeros) RS_TRY(rs_binding_unused(binding, seed, "init: zeros", err));
  if (!zeros && learned->init != RS_INIT_XAVIER) return RS_OK;
  return rs_binding_unused(binding, sd, zeros ? "init: zeros" : "init: xavier", err);
}

/* A normal number within the cut, from a uniform one in [0, 1): the inverse of its distribution. */
static double truncated(double share) {
  double below = gsl_cdf_ugaussian_P(-CUT);
  return gsl_cdf_ugaussian_Pinv(below + share * (1 - 2 * below));
}

void rs_learned_table_draw(const rs_learned_table *learned, rs_purpose purpose, size_t above, size_t rows, size_t width,
                           size_t first, size_t count, double *out) {
  rs_stream stream = {.seed = learned->table_seed, .purpose = purpose};
  rs_table_init init = learned->init;
  double bound = sqrt(6 / (double)(rows + width));
  uint64_t start = (uint64_t)(above + first) * width;
  if (init == RS_INIT_NORMAL) rs_gaussian_fill(stream, start, count * width, out);
  for (size_t i = 0; i < count * width; i++) {
    if (init == RS_INIT_ZEROS)
      out[i] = 0;
    else if (init == RS_INIT_XAVIER)
      out[i] = bound * (2 * rs_uniform(stream, start + i) - 1);
    else
      out[i] = learned->init_sd * (init == RS_INIT_NORMAL ? out[i] : truncated(rs_uniform(stream, start + i)));
  }
}

/* ---- biases ------------------------------------------------------------------------------------------------------ */

/* What biases with learned numbers share. There are no trained weights here: numbers are given, or drawn as the
 * published code initialises them. */

const char *const rs_bias_sd_words[RS_BIAS_SDS + 1] = {[RS_SD_INV_SQRT_WIDTH] = "inv_sqrt_width"};

rs_stream rs_bias_stream(size_t table_seed, size_t head) {
  return (rs_stream){.seed = table_seed, .purpose = RS_PURPOSE_BIASES, .head = (uint32_t)head};
}

bool rs_always_by_distance(const void *state) {
  (void)state;
  return true;
}

rs_status rs_bias_list_check(const rs_binding *binding, size_t offset, size_t rows, size_t heads, rs_err *err) {
  const rs_real_list *given = (const rs_real_list *)((const char *)binding->fields + offset);
  if (given->list == NULL || given->count == rows * heads) return RS_OK;
  return rs_binding_fail(binding, offset, err, "has %zu number%s, but %zu heads need %zu each", given->count,
                         given->count == 1 ? "" : "s", heads, rows);
}

rs_status rs_learned_bias_check(const rs_binding *binding, size_t block, rs_err *err) {
  const rs_learned_bias *learned = (const rs_learned_bias *)((const char *)binding->fields + block);
  if (learned->values.list == NULL) return RS_OK;
  RS_TRY(rs_binding_unused(binding, block + offsetof(rs_learned_bias, init_sd), "values", err));
  return rs_binding_unused(binding, block + offsetof(rs_learned_bias, table_seed), "values", err);
}

/* N(0, init_sd^2), each head from a stream of its own. */
static void draw_table(const rs_stage_in *in, const rs_learned_bias *learned, size_t rows, double *table) {
  enum { RUN = 256 };
  bool by_width = learned->init_sd.word == RS_SD_INV_SQRT_WIDTH;
  double sd = by_width ? 1 / sqrt((double)in->width) : learned->init_sd.number, run[RUN];
  for (size_t h = 0; h < in->heads; h++)
    for (size_t begin = 0; begin < rows; begin += RUN) {
      size_t count = rows - begin < RUN ? rows - begin : RUN;
      rs_gaussian_fill(rs_bias_stream(learned->table_seed, h), begin, count, run);
      for (size_t i = 0; i < count; i++) table[(begin + i) * in->heads + h] = sd * run[i];
    }
}

rs_status rs_learned_bias_fill(const rs_stage_in *in, const rs_learned_bias *learned, size_t rows, double *table,
                               rs_err *err) {
  const rs_real_list *values = &learned->values;
  size_t heads = in->heads;
  if (values->list != NULL && values->count != rows * heads) /* how many rows there are may depend on the pictures */
    return rs_fail(err, RS_DOMAIN, "%s: values has %zu number%s, but %zu heads need %zu each", in->method,
                   values->count, values->count == 1 ? "" : "s", heads, rows);
  if (values->list != NULL)
    memcpy(table, values->list, rows * heads * sizeof *table);
  else
    draw_table(in, learned, rows, table);
  return RS_OK;
}

double rs_head_number(const rs_real_list *list, size_t table_seed, size_t head, uint64_t index, double span) {
  return list->list != NULL ? list->list[head] : span * rs_uniform(rs_bias_stream(table_seed, head), index);
}

/* ---- vectors of distance ----------------------------------------------------------------------------------------- */

rs_status rs_vector_list_check(const rs_binding *binding, size_t offset, size_t rows, size_t columns, rs_err *err) {
  const rs_real_list *given = (const rs_real_list *)((const char *)binding->fields + offset);
  if (given->list == NULL || given->count == rows * columns) return RS_OK;
  return rs_binding_fail(binding, offset, err, "has %zu number%s, but %zu rows of %zu are %zu", given->count,
                         given->count == 1 ? "" : "s", rows, columns, rows * columns);
}

void rs_vector_table_fill(const rs_real_list *list, size_t table_seed, uint32_t stream, double sd, size_t count,
                          double *out) {
  const rs_stream numbers = {.seed = table_seed, .purpose = RS_PURPOSE_VECTORS, .head = stream};
  if (list->list == NULL) rs_gaussian_fill(numbers, 0, count, out);
  for (size_t i = 0; i < count; i++) out[i] = list->list != NULL ? list->list[i] : sd * out[i];
}
