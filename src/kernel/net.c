/* What networks do between their products: norms, curves, updates; and the table of their loops. */
#include "net.h"

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* Norms of rows, and their gradients. Sums over a row run in lanes, each over every WIDTH-th number: they err by at
 * most (width / WIDTH + 4) roundings of the sum of absolute values. */

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

static void norm(const rs_norm_call *call, void *y, size_t y_step) {
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
typedef struct norm_row {
  const real *x, *dy;
  real mean, scale;
} norm_row;

static norm_row row_at(const rs_norm_call *call, const void *dy, size_t dy_step, size_t index) {
  return (norm_row){.x = (const real *)call->x + index * call->x_step,
                    .dy = (const real *)dy + index * dy_step,
                    .mean = call->centred ? ((const real *)call->mean)[index] : 0,
                    .scale = ((const real *)call->scale)[index]};
}

/* With n = (x - mean) scale and g = dy (weight + lift): the means of g and of g n. */
static void mean_gradients(const rs_norm_call *call, const norm_row *r, real *of_g, real *of_gn) {
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
static void norm_back(const rs_norm_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step, void *dweight,
                      void *dbias) {
  real *to_weight = dweight, *to_bias = dbias;
  for (size_t index = 0; index < call->rows; index++) {
    norm_row r = row_at(call, dy, dy_step, index);
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

/* ---- curves ------------------------------------------------------------------------------------------------------ */

/* What feed-forward layers do between their matrices, number by number. Values err by at most 3 roundings of 1 + |x|,
 * slopes by 5 of 1 (relu2's by 1 of itself); a number that is none stays none. */

/* e^LEAST still is a number. */
#if RS_REAL_BITS == 32
enum { LEAST = 80 };
#else
enum { LEAST = 700 };
#endif

/* A curve and its slope at x. */
typedef struct bend {
  vec value, slope;
} bend;

/* x sigma(t) with slope sigma + x sigma (1 - sigma) dt/dx, where sigma = 1 / (1 + e^-t), and 1 - sigma = sigma e^-t
 * does not cancel. e^-t errs the more the larger |t|, and matters the less. Below t = -LEAST sigma stays what it is
 * there, less than 2e-35. */
RS_INLINE bend swish(vec x, vec t, vec dt) {
  vec e = power_of_e(-larger(all(-LEAST), t)), sigma = reciprocal(all(1) + e);
  return (bend){x * sigma, fused(x * dt, sigma * sigma * e, sigma)};
}

RS_INLINE bend silu(vec x) {
  return swish(x, x, all(1));
}

/* x (1 + tanh(t / 2)) / 2 = x sigma(t), t = root (x + 0.044715 x^3) with root = 2 sqrt(2 / pi). */
RS_INLINE bend gelu_tanh(vec x, double root) {
  const vec outer = all((real)root), cube = all((real)(0.044715 * root));
  vec square = x * x;
  return swish(x, x * fused(cube, square, outer), fused(all(3) * cube, square, outer));
}

/* x Phi(x) with slope Phi(x) + x phi(x). For z = |x| and s = (z - k) / (z + k), Phi(-z) e^(z^2 / 2) is a polynomial of
 * s to 7e-9 (k = 3) or 2e-16 (k = 5): Remez exchange in the relative error, in 50 digits, up to where e^(-z^2 / 2) is
 * 0. */
RS_INLINE bend gelu(vec x) {
#if RS_REAL_BITS == 32
  static const real coefficients[] = {0.1215139477f,    -0.2064026179f,  0.1232250217f,     -0.04621331381f,
                                      0.006132183029f,  0.002904702621f, -0.0009841826568f, -0.0003399112913f,
                                      0.0001160372604f, 5.415078108e-5f};
  const vec k = all(3);
#else
  static const real coefficients[] = {0.07691930497500629782,   -0.1434575552640116275,     0.1160688118860021123,
                                      -0.08088387726416057275,  0.04785535228424994191,     -0.0234139004867532389,
                                      0.00899137054879065158,   -0.00237884436902206385,    0.0002195507565344917337,
                                      0.000134276934267634777,  -0.00006042759027184307016, 9.608926324409318526e-7,
                                      6.64477121526945155e-6,   -1.268862588595000122e-6,   -6.757205688047531305e-7,
                                      2.410339705430156796e-7,  7.766124409748083378e-8,    -3.639403369804388052e-8,
                                      -1.095458868525562077e-8, 3.785854655091605546e-9,    1.38854185300814528e-9};
  const vec k = all(5);
#endif
  vec z = larger(-x, x), e = power_of_e(all((real)-0.5) * z * z);
  vec s = fused(all(-2) * k, reciprocal(z + k), all(1)),
      beyond = e * polynomial(coefficients, RS_COUNT(coefficients), s);
  vec below = choose(x > all(0), all(1) - beyond, beyond);
  return (bend){fused(-z, beyond, larger(all(0), x)), fused(x * e, all((real)0.39894228040143267794), below)};
}

RS_INLINE bend relu(vec x) {
  return (bend){larger(all(0), x), choose(x > all(0), all(1), all(0))};
}

/* relu(x)^2 */
RS_INLINE bend relu2(vec x) {
  vec y = larger(all(0), x);
  return (bend){y * y, all(2) * y};
}

/* Below `edge` e^x - 1 - x errs by a rounding of 1 + |x|, times `negative`. */
RS_INLINE bend xielu(const rs_xielu *learned, vec x) {
  const vec positive = all((real)learned->positive), negative = all((real)learned->negative);
  const vec slope = all((real)learned->slope), edge = all((real)learned->edge);
  vec e = power_of_e(larger(choose(x < edge, x, edge), all(-LEAST)));
  vec above = x * (positive * x + slope), below = negative * (e - all(1) - x) + slope * x;
  vec rises = choose(x < edge, e, all(0)) - all(1);
  return (bend){choose(x > all(0), above, below),
                choose(x > all(0), all(2) * positive * x + slope, negative * rises + slope)};
}

RS_INLINE bend bend_at(rs_curve_kind curve, const rs_curve_call *call, vec x) {
  switch (curve) {
  case RS_CURVE_XIELU: return xielu(&call->xielu, x);
  case RS_CURVE_GELU: return gelu(x);
  case RS_CURVE_GELU_TANH: return gelu_tanh(x, 1.5957691216057307118);
  case RS_CURVE_GELU_BLOOM: return gelu_tanh(x, 2 * 0.79788456); /* cut short in modeling_bloom.py */
  case RS_CURVE_RELU: return relu(x);
  case RS_CURVE_RELU2: return relu2(x);
  default: return silu(x);
  }
}

/* One curve for all rows: what it is does not change inside the loops. */
RS_INLINE void bend_rows(const rs_curve_call *call, rs_curve_kind curve, real *y, size_t y_step) {
  for (size_t row = 0; row < call->rows; row++) {
    const real *x = (const real *)call->x + row * call->x_step;
    real *slopes = call->slopes != NULL ? (real *)call->slopes + row * call->x_step : NULL;
    for (size_t i = 0; i < call->width; i += WIDTH) {
      size_t left = call->width - i;
      bend b = bend_at(curve, call, load_first(x + i, left));
      vec gate = call->gated ? load_first(x + call->width + i, left) : all(1);
      if (slopes != NULL) store_first(slopes + i, call->gated ? b.slope * gate : b.slope, left);
      if (slopes != NULL && call->gated) store_first(slopes + call->width + i, b.value, left);
      store_first(y + row * y_step + i, call->gated ? b.value * gate : b.value, left);
    }
  }
}

static void curve(const rs_curve_call *call, void *y, size_t y_step) {
  switch (call->curve) {
  case RS_CURVE_GELU: bend_rows(call, RS_CURVE_GELU, y, y_step); break;
  case RS_CURVE_GELU_TANH: bend_rows(call, RS_CURVE_GELU_TANH, y, y_step); break;
  case RS_CURVE_RELU: bend_rows(call, RS_CURVE_RELU, y, y_step); break;
  case RS_CURVE_SILU: bend_rows(call, RS_CURVE_SILU, y, y_step); break;
  case RS_CURVE_GELU_BLOOM: bend_rows(call, RS_CURVE_GELU_BLOOM, y, y_step); break;
  case RS_CURVE_RELU2: bend_rows(call, RS_CURVE_RELU2, y, y_step); break;
  case RS_CURVE_XIELU: bend_rows(call, RS_CURVE_XIELU, y, y_step); break;
  }
}

static void curve_back(const rs_curve_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step) {
  for (size_t row = 0; row < call->rows; row++) {
    const real *slopes = (const real *)call->slopes + row * call->x_step, *from = (const real *)dy + row * dy_step;
    real *to = (real *)dx + row * dx_step;
    for (size_t i = 0; i < call->width; i += WIDTH) {
      size_t left = call->width - i;
      vec g = load_first(from + i, left);
      store_first(to + i, g * load_first(slopes + i, left), left);
      if (call->gated) store_first(to + call->width + i, g * load_first(slopes + call->width + i, left), left);
    }
  }
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static void add(const void *x, size_t count, void *into) {
  const real *from = x;
  real *to = into;
  for (size_t i = 0; i < count; i += WIDTH)
    store_first(to + i, load_first(to + i, count - i) + load_first(from + i, count - i), count - i);
}

/* In lanes of their own, as many in every set: squares of floats are exact in double, so that all sets have the same
 * sum of them. */
static double squares(const void *x, size_t count) {
  enum { LANES = 16 };
  const real *numbers = x;
  double sums[LANES] = {0}, total = 0;
  size_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (size_t lane = 0; lane < LANES; lane++)
      sums[lane] = fused_double(numbers[i + lane], numbers[i + lane], sums[lane]);
  for (; i < count; i++) sums[i % LANES] = fused_double(numbers[i], numbers[i], sums[i % LANES]);
  for (size_t lane = 0; lane < LANES; lane++) total += sums[lane];
  return total;
}

static void adam(const rs_adam *adam, const void *gradient, size_t count, void *values, void *first, void *second) {
  const real *g = gradient;
  real *value = values, *mean = first, *square = second;
  const vec beta1 = all((real)adam->beta1), rest1 = all((real)(1 - adam->beta1));
  const vec beta2 = all((real)adam->beta2), rest2 = all((real)(1 - adam->beta2));
  const vec rate = all((real)(adam->rate * adam->fix1)), fix2 = all((real)adam->fix2);
  const vec epsilon = all((real)adam->epsilon), kept = all((real)adam->keep), clip = all((real)adam->gradient);
  for (size_t i = 0; i < count; i += WIDTH) {
    size_t left = count - i;
    vec d = load_first(g + i, left) * clip;
    vec m = fused(load_first(mean + i, left), beta1, d * rest1);
    vec v = fused(load_first(square + i, left), beta2, d * d * rest2);
    store_first(mean + i, m, left);
    store_first(square + i, v, left);
    vec step = rate * m / (square_root(v * fix2) + epsilon);
    store_first(value + i, fused(load_first(value + i, left), kept, -step), left);
  }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

extern const rs_net_kernel RS_OF_REAL(rs_net);
const rs_net_kernel RS_OF_REAL(rs_net) = {
    .real_bytes = sizeof(real),
    .product = NET(product),
    .panels = NET(panels),
    .widen = NET(widen),
    .turn_over = NET(turn_over),
    .turn_rows = NET(turn_rows),
    .norm = norm,
    .norm_back = norm_back,
    .curve = curve,
    .curve_back = curve_back,
    .soften = NET(soften),
    .soften_back = NET(soften_back),
    .scale_rows = NET(scale_rows),
    .cap_rows = NET(cap_rows),
    .cross_entropy = NET(cross_entropy),
    .add = add,
    .squares = squares,
    .adam = adam,
};
