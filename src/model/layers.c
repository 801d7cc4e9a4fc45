/* Layers: three products of a matrix each, and norms of rows that stand in larger rows, as heads do. */
#include "context.h"
#include "work.h"

#include <string.h>

/* ---- linear layers ----------------------------------------------------------------------------------------------- */

enum {
  ROWS =
      1024, /* of a product that turns what it reads: so many pay for it, and their inputs stay in the second cache */
  OUTPUTS = 128 /* whole panels of every set; so many are one thread's at a time */
};

/* Part of a layer: outputs [begin, end) of some rows. */
typedef struct share {
  const rs_context *context;
  const rs_linear_place *place;
  size_t begin, end, rows;
  rs_rows x, y;
  bool add;
} share;

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* y = the bias in every row, plus y where `add`. */
static void add_bias(const share *s) {
  const real *bias = (const real *)s->context->transformer->values + s->place->bias + s->begin;
  for (size_t r = 0; r < s->rows; r++) {
    real *row = s->y.data + r * s->y.step + s->begin;
    if (!s->add) memset(row, 0, (s->end - s->begin) * sizeof *row);
    rs_real_kernel()->add(bias, s->end - s->begin, row);
  }
}

static rs_product product_of(const share *s, size_t output, size_t count) {
  return (rs_product){.rows = s->rows,
                      .columns = count,
                      .depth = s->place->inputs,
                      .a = s->x.data,
                      .a_step = s->x.step,
                      .c = s->y.data + output,
                      .c_step = s->y.step,
                      .add = s->add || s->place->bias != RS_NOWHERE};
}

/* Outputs of rows that are blocks of numbers, as many as are one thread's. They are widened in sections as long as the
 * product sums them in, so that sums are those of the same numbers in floats. */
static void multiply_blocks(const share *s, const rs_mapped_matrix *matrix, size_t output, size_t row, size_t count) {
  enum { SECTION = 256 };
  float numbers[OUTPUTS * SECTION];
  for (size_t k = 0; k < s->place->inputs; k += SECTION) {
    size_t depth = smaller(SECTION, s->place->inputs - k);
    for (size_t i = 0; i < count; i++) rs_mapped_blocks(matrix, row + i, k, depth, numbers + i * depth);
    const rs_stored_matrix stored = {numbers, RS_F32, 1, depth};
    rs_product product = product_of(s, output, count);
    product.a = s->x.data + k;
    product.depth = depth;
    product.add |= k > 0;
    product.b_stored = &stored;
    rs_real_kernel()->product(&product);
  }
}

/* Outputs that the tensor, whose first is output `start`, gives: in runs of rows that stand side by side. */
static void multiply_mapped(const share *s, size_t tensor, size_t start) {
  const rs_transformer *t = s->context->transformer;
  const rs_mapped_matrix *matrix = &t->matrices[tensor];
  size_t end = smaller(s->end, start + t->tensors[tensor].rows), count;
  if (matrix->blocks != NULL) {
    size_t first = s->begin > start ? s->begin : start;
    if (first < end) multiply_blocks(s, matrix, first, first - start, end - first);
    return;
  }
  for (size_t output = s->begin > start ? s->begin : start; output < end; output += count) {
    rs_stored_matrix stored;
    count = rs_mapped_rows(matrix, output - start, end - output, &stored);
    rs_product product = product_of(s, output, count);
    product.b_stored = &stored;
    rs_real_kernel()->product(&product);
  }
}

static void multiply(const share *s) {
  const rs_transformer *t = s->context->transformer;
  const rs_linear_place *place = s->place;
  if (place->bias != RS_NOWHERE) add_bias(s);
  if (!t->mapped) {
    rs_product product = product_of(s, s->begin, s->end - s->begin);
    product.b = (const real *)s->context->turned + place->weight + s->begin * place->inputs;
    product.b_panels = true;
    rs_real_kernel()->product(&product);
    return;
  }
  for (size_t p = 0, start = 0; p < place->parts; start += t->tensors[place->first + p].rows, p++)
    multiply_mapped(s, place->first + p, start);
}

void rs_linear(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y, bool add) {
  const share all = {context, place, 0, place->outputs, rows, x, y, add};
  bool team = rs_share_threads() > 1 && rows * place->outputs > (size_t)RS_SHARE * OUTPUTS;
  if (!team && !context->transformer->mapped) {
    multiply(&all);
    return;
  }
  size_t groups = (place->outputs + OUTPUTS - 1) / OUTPUTS, tasks = groups * ((rows + ROWS - 1) / ROWS);
#pragma omp parallel for schedule(dynamic, 1) if (team)
  for (size_t i = 0; i < tasks; i++) {
    size_t row = i / groups * ROWS;
    share part = all;
    part.begin = i % groups * OUTPUTS;
    part.end = smaller(place->outputs, part.begin + OUTPUTS);
    part.rows = smaller(ROWS, rows - row);
    part.x.data += row * x.step;
    part.y.data += row * y.step;
    multiply(&part);
  }
}

void rs_linear_back(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                    rs_rows dx, bool add, real *gradient) {
  const real *values = context->transformer->values;
  const rs_product by_input = {.rows = rows,
                               .columns = place->inputs,
                               .depth = place->outputs,
                               .a = dy.data,
                               .a_step = dy.step,
                               .b = values + place->weight,
                               .b_step = place->inputs,
                               .c = dx.data,
                               .c_step = dx.step,
                               .add = add};
  const rs_product by_weight = {.rows = place->outputs,
                                .columns = place->inputs,
                                .depth = rows,
                                .a = dy.data,
                                .a_step = dy.step,
                                .a_turned = true,
                                .b = x.data,
                                .b_step = x.step,
                                .c = gradient + place->weight,
                                .c_step = place->inputs,
                                .add = true};
  if (dx.data != NULL) rs_real_kernel()->product(&by_input);
  rs_real_kernel()->product(&by_weight);
  for (size_t r = 0; r < rows && place->bias != RS_NOWHERE; r++)
    rs_real_kernel()->add(dy.data + r * dy.step, place->outputs, gradient + place->bias);
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* The call for one part of all rows. Where parts are several, each has its share of mean and scale. */
static rs_norm_call call_of(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t width,
                            rs_rows x, const rs_norm_work *work, size_t part) {
  bool centred = norm->kind == RS_NORM_LAYER;
  size_t first = part * place.part_step;
  return (rs_norm_call){.rows = rows,
                        .width = width,
                        .centred = centred,
                        .epsilon = norm->epsilon,
                        .weight = place.weight != RS_NOWHERE ? values + place.weight + first : NULL,
                        .lift = norm->around_one ? 1 : 0,
                        .bias = place.bias != RS_NOWHERE ? values + place.bias + first : NULL,
                        .x = x.data + part * width,
                        .x_step = x.step,
                        .mean = centred ? work->mean + part * rows : NULL,
                        .scale = work->scale + part * rows};
}

rs_rows rs_norm_rows(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                     size_t width, rs_rows x, const rs_norm_work *work) {
  if (norm->kind == RS_NORM_NONE) return x;
#pragma omp parallel for schedule(static) if (rs_shares(rows))
  for (size_t first = 0; first < rows; first += RS_SHARE)
    for (size_t part = 0; part < parts; part++) {
      rs_norm_call call = call_of(values, norm, place, rows, width, x, work, part);
      call.rows = rows - first < RS_SHARE ? rows - first : RS_SHARE;
      call.x = (const real *)call.x + first * x.step;
      call.scale = (real *)call.scale + first;
      if (call.mean != NULL) call.mean = (real *)call.mean + first;
      rs_real_kernel()->norm(&call, work->y + first * parts * width + part * width, parts * width);
    }
  return (rs_rows){work->y, parts * width};
}

void rs_norm_rows_back(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                       size_t width, rs_rows x, const rs_norm_work *work, rs_rows dy, rs_rows dx, real *gradient) {
  if (norm->kind == RS_NORM_NONE) {
    for (size_t r = 0; r < rows; r++)
      rs_real_kernel()->add(dy.data + r * dy.step, parts * width, dx.data + r * dx.step);
    return;
  }
  for (size_t part = 0; part < parts; part++) {
    rs_norm_call call = call_of(values, norm, place, rows, width, x, work, part);
    size_t first = part * place.part_step;
    rs_real_kernel()->norm_back(&call, dy.data + part * width, dy.step, dx.data + part * width, dx.step,
                                place.weight != RS_NOWHERE ? gradient + place.weight + first : NULL,
                                place.bias != RS_NOWHERE ? gradient + place.bias + first : NULL);
  }
}

void rs_rows_copy(rs_rows from, size_t rows, size_t columns, rs_rows to) {
#pragma omp parallel for schedule(static) if (rs_shares(rows))
  for (size_t r = 0; r < rows; r++) memcpy(to.data + r * to.step, from.data + r * from.step, columns * sizeof(real));
}

void rs_rows_drop(rs_drop drop, size_t length, size_t rows, size_t columns, real *x) {
  enum { BLOCK = 64 };
  rs_drop of = drop;
  for (size_t r = 0; r < rows && drop.share > 0; r++) {
    of.sequence = drop.sequence + r / length;
    for (size_t i = 0; i < columns; i += BLOCK) {
      size_t count = smaller(BLOCK, columns - i);
      rs_drop_numbers(drop.share, rs_drop_kept(&of, r % length, i / BLOCK, count), count, x + r * columns + i);
    }
  }
}
