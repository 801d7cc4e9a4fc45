/* Norms of rows, and their gradients. Sums over a row run in lanes, each over every WIDTH-th number: they err by at
 * most (width / WIDTH + 4) roundings of the sum of absolute values. */
#include "net.h"

/* The numbers of one row about its mean: their mean square. */
static real mean_square(const real *x, size_t width, real mean) {
  vec sum = all(0);
  for (size_t i = 0; i < width; i += WIDTH) {
    vec about = load_first(x + i, width - i) - all(mean);
    if (width - i < WIDTH) about = first_lanes(about, width - i);
    sum = fused(about, about, sum);
  }
  return sum_of(sum) / (real)width;
}

static real mean_of(const real *x, size_t width) {
  vec sum = all(0);
  for (size_t i = 0; i < width; i += WIDTH) sum += load_first(x + i, width - i);
  return sum_of(sum) / (real)width;
}

/* The factors of numbers [i, i + left) of a row: weight + lift, or 1. */
RS_INLINE vec factors(const rs_norm_call *call, size_t i, size_t left) {
  return call->weight == NULL ? all(1) : load_first((const real *)call->weight + i, left) + all((real)call->lift);
}

/* Statistics of at most WIDTH rows; roots are taken side by side. */
static void measure_rows(const rs_norm_call *call, const real *x, size_t rows, real *mean, real *scale) {
  real square[WIDTH] = {0};
  for (size_t r = 0; r < rows; r++, x += call->x_step) {
    real middle = call->centred ? mean_of(x, call->width) : 0;
    if (call->centred) mean[r] = middle;
    square[r] = mean_square(x, call->width, middle);
  }
  store_first(scale, all(1) / square_root(load(square) + all((real)call->epsilon)), rows);
}

static void scale_row(const rs_norm_call *call, const real *x, real mean, real scale, real *y) {
  const real *bias = call->bias;
  for (size_t i = 0; i < call->width; i += WIDTH) {
    size_t left = call->width - i;
    vec n = (load_first(x + i, left) - all(mean)) * all(scale), by = factors(call, i, left);
    store_first(y + i, bias != NULL ? fused(n, by, load_first(bias + i, left)) : n * by, left);
  }
}

void NET(norm)(const rs_norm_call *call, void *y, size_t y_step) {
  const real *x = call->x;
  real *mean = call->mean, *scale = call->scale;
  for (size_t row = 0; row < call->rows; row++) {
    size_t left = call->rows - row;
    if (row % WIDTH == 0)
      measure_rows(call, x + row * call->x_step, left < WIDTH ? left : WIDTH, call->centred ? mean + row : NULL,
                   scale + row);
    scale_row(call, x + row * call->x_step, call->centred ? mean[row] : 0, scale[row], (real *)y + row * y_step);
  }
}

/* One row as the pass back reads it. */
typedef struct row {
  const real *x, *dy;
  real mean, scale;
} row;

static row row_at(const rs_norm_call *call, const void *dy, size_t dy_step, size_t index) {
  return (row){.x = (const real *)call->x + index * call->x_step,
               .dy = (const real *)dy + index * dy_step,
               .mean = call->centred ? ((const real *)call->mean)[index] : 0,
               .scale = ((const real *)call->scale)[index]};
}

/* With n = (x - mean) scale and g = dy (weight + lift): the means of g and of g n. */
static void mean_gradients(const rs_norm_call *call, const row *r, real *of_g, real *of_gn) {
  vec sum = all(0), product = all(0);
  for (size_t i = 0; i < call->width; i += WIDTH) {
    size_t left = call->width - i;
    vec g = load_first(r->dy + i, left) * factors(call, i, left);
    sum += g;
    product = fused(g, (load_first(r->x + i, left) - all(r->mean)) * all(r->scale), product);
  }
  *of_g = call->centred ? sum_of(sum) / (real)call->width : 0;
  *of_gn = sum_of(product) / (real)call->width;
}

/* dx += scale (g - mean g - n mean(g n)), where the mean of g is taken off because the mean of x is. */
void NET(norm_back)(const rs_norm_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step, void *dweight,
                    void *dbias) {
  real *to_weight = dweight, *to_bias = dbias;
  for (size_t index = 0; index < call->rows; index++) {
    row r = row_at(call, dy, dy_step, index);
    real *to = (real *)dx + index * dx_step, of_g, of_gn;
    mean_gradients(call, &r, &of_g, &of_gn);
    for (size_t i = 0; i < call->width; i += WIDTH) {
      size_t left = call->width - i;
      vec g = load_first(r.dy + i, left), n = (load_first(r.x + i, left) - all(r.mean)) * all(r.scale);
      vec change = fused(-n, all(of_gn), fused(g, factors(call, i, left), all(-of_g)));
      store_first(to + i, fused(all(r.scale), change, load_first(to + i, left)), left);
      if (to_weight != NULL) store_first(to_weight + i, fused(g, n, load_first(to_weight + i, left)), left);
      if (to_bias != NULL) store_first(to_bias + i, load_first(to_bias + i, left) + g, left);
    }
  }
}
