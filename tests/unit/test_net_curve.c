/* Activations and their gradients: every instruction set, floats and doubles, against their formulas in long double and
 * against differences of themselves. */
#include "../nets.h"

static const rs_curve_kind curves[] = {RS_CURVE_GELU, RS_CURVE_GELU_TANH,  RS_CURVE_RELU,
                                       RS_CURVE_SILU, RS_CURVE_GELU_BLOOM, RS_CURVE_RELU2};

static long double logistic(long double x) {
  return 1 / (1 + expl(-x));
}

static long double curve_at(rs_curve_kind curve, long double x) {
  switch (curve) {
  case RS_CURVE_GELU: return x * erfcl(-x * sqrtl(0.5L)) / 2;
  case RS_CURVE_GELU_TANH: return x * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x))) / 2;
  case RS_CURVE_GELU_BLOOM: return x * (1 + tanhl(0.79788456L * (x + 0.044715L * x * x * x))) / 2;
  case RS_CURVE_RELU: return x > 0 ? x : 0;
  case RS_CURVE_RELU2: return x > 0 ? x * x : 0;
  default: return x * logistic(x);
  }
}

static long double slope_at(rs_curve_kind curve, long double x) {
  const long double pi = acosl(-1), t = 2 * sqrtl(2 / pi) * (x + 0.044715L * x * x * x);
  const long double cut = 2 * 0.79788456L * (x + 0.044715L * x * x * x);
  switch (curve) {
  case RS_CURVE_GELU: return erfcl(-x * sqrtl(0.5L)) / 2 + x * expl(-x * x / 2) / sqrtl(2 * pi);
  case RS_CURVE_GELU_TANH:
    return logistic(t) + x * logistic(t) * logistic(-t) * 2 * sqrtl(2 / pi) * (1 + 3 * 0.044715L * x * x);
  case RS_CURVE_GELU_BLOOM:
    return logistic(cut) + x * logistic(cut) * logistic(-cut) * 2 * 0.79788456L * (1 + 3 * 0.044715L * x * x);
  case RS_CURVE_RELU: return x > 0;
  case RS_CURVE_RELU2: return x > 0 ? 2 * x : 0;
  default: return logistic(x) + x * logistic(x) * logistic(-x);
  }
}

typedef struct bent {
  grid x, slopes, y, dy, dx;
  rs_curve_call call;
} bent;

/* Both ways through one curve. */
static bent bent_of(const net_set *set, uint64_t *state, rs_curve_kind curve, bool gated, size_t rows, size_t width,
                    double most) {
  size_t columns = gated ? 2 * width : width;
  bent b = {.x = grid_drawn(set, state, rows, columns, -most, most),
            .y = grid_of(set, state, rows, width),
            .dy = grid_drawn(set, state, rows, width, -1, 1),
            .dx = grid_of(set, state, rows, columns)};
  b.slopes = grid_with_step(set, rows, columns, b.x.step);
  b.call = (rs_curve_call){curve, gated, rows, width, grid_start(&b.x), b.x.step, grid_start(&b.slopes), {0, 0, 0, 0}};
  set->net->curve(&b.call, grid_start(&b.y), b.y.step);
  set->net->curve_back(&b.call, grid_start(&b.dy), b.dy.step, grid_start(&b.dx), b.dx.step);
  return b;
}

/* The bounds that stand at the curves, and a rounding for each factor. */
static void check_bent(const net_set *set, const bent *b) {
  for (size_t r = 0; r < b->call.rows; r++)
    for (size_t i = 0; i < b->call.width; i++) {
      double x = grid_at(&b->x, r, i), gate = b->call.gated ? grid_at(&b->x, r, b->call.width + i) : 1;
      double dy = grid_at(&b->dy, r, i);
      long double value = curve_at(b->call.curve, x), slope = slope_at(b->call.curve, x);
      double size = b->call.curve == RS_CURVE_RELU2 ? fabs(x) : 1;
      long double bound = 4 * set->u * (1 + fabs(x)) * size, bound_of_slope = 7 * set->u * fmax(size, 1);
      near(set, grid_at(&b->y, r, i), value * gate, bound * fabs(gate), "value");
      near(set, grid_at(&b->dx, r, i), dy * gate * slope, bound_of_slope * fabs(dy * gate), "slope");
      if (b->call.gated) near(set, grid_at(&b->dx, r, b->call.width + i), dy * value, bound * fabs(dy), "gate");
    }
}

static void check_curves(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 200; i++) {
    double most = i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 60;
    bent b = bent_of(set, state, curves[i % RS_COUNT(curves)], i / RS_COUNT(curves) % 2, draw_size(state, 1, 9),
                     draw_size(state, 1, 70), most);
    check_bent(set, &b);
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, drawn_numbers__value_and_slope_are_the_formula) {
  with_every_net(check_curves);
}

/* ---- accuracy ---------------------------------------------------------------------------------------------------- */

/* Dense numbers where curves bend, and far out. */
static void check_line(const net_set *set, uint64_t *state) {
  enum { NUMBERS = 40001 };
  for (size_t c = 0; c < RS_COUNT(curves); c++) {
    bent b = bent_of(set, state, curves[c], false, 1, NUMBERS, 1);
    for (size_t i = 0; i < NUMBERS; i++) {
      grid_put(&b.x, 0, i, ((double)i - NUMBERS / 2) * (i % 2 ? 1e-3 : 1e-2));
      grid_put(&b.dy, 0, i, 1);
    }
    set->net->curve(&b.call, grid_start(&b.y), b.y.step);
    set->net->curve_back(&b.call, grid_start(&b.dy), b.dy.step, grid_start(&b.dx), b.dx.step);
    check_bent(set, &b);
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, from_minus_200_to_200__within_the_bound) {
  with_every_net(check_line);
}

static void check_ends(const net_set *set, uint64_t *state) {
  for (size_t c = 0; c < RS_COUNT(curves); c++) {
    const double x[] = {0, -1e4, 1e4, NAN, -0.0};
    bent b = bent_of(set, state, curves[c], false, 1, RS_COUNT(x), 1);
    for (size_t i = 0; i < RS_COUNT(x); i++) grid_put(&b.x, 0, i, x[i]);
    set->net->curve(&b.call, grid_start(&b.y), b.y.step);
    set->net->curve_back(&b.call, grid_start(&b.dy), b.dy.step, grid_start(&b.dx), b.dx.step);
    cr_assert(grid_at(&b.y, 0, 0) == 0 && grid_at(&b.y, 0, 4) == 0);
    cr_assert_lt(fabs(grid_at(&b.y, 0, 1)), 1e-30);
    cr_assert_lt(fabs(grid_at(&b.dx, 0, 1)), 1e-30);
    double far = grid_at(&b.x, 0, 2), dy = grid_at(&b.dy, 0, 2);
    bool square = curves[c] == RS_CURVE_RELU2;
    cr_assert(grid_at(&b.y, 0, 2) == (square ? far * far : far));
    near(set, grid_at(&b.dx, 0, 2), square ? 2 * far * dy : dy, square ? 2 * far * set->u : 0, "slope");
    cr_assert(isnan(grid_at(&b.y, 0, 3)), "%s: curve %zu lost a number that is none", set->isa, c);
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, ends__are_zero_and_x_and_none) {
  with_every_net(check_ends);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The sum of dy y at x with one number moved. */
static double sum_moved(const net_set *set, bent *b, size_t column, double change) {
  double x = grid_at(&b->x, 0, column), sum = 0;
  grid_put(&b->x, 0, column, x + change);
  set->net->curve(&b->call, grid_start(&b->y), b->y.step);
  grid_put(&b->x, 0, column, x);
  for (size_t i = 0; i < b->call.width; i++) sum += grid_at(&b->dy, 0, i) * grid_at(&b->y, 0, i);
  return sum;
}

static void check_differences(const net_set *set, uint64_t *state) {
  const double h = 1e-5;
  if (set->bits == 32) return;
  for (size_t i = 0; i < 2 * RS_COUNT(curves); i++) {
    bent b = bent_of(set, state, curves[i / 2], i % 2, 1, 31, 4);
    for (size_t c = 0; c < b.x.columns; c++) {
      double difference = (sum_moved(set, &b, c, h) - sum_moved(set, &b, c, -h)) / (2 * h);
      near(set, grid_at(&b.dx, 0, c), difference, 1e-8, "gradient");
    }
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, gradients__are_central_differences) {
  with_every_net(check_differences);
}

static void check_in_place(const net_set *set, uint64_t *state) {
  for (size_t c = 0; c < RS_COUNT(curves); c++) {
    bent b = bent_of(set, state, curves[c], false, 5, 37, 4);
    set->net->curve_back(&b.call, grid_start(&b.dy), b.dy.step, grid_start(&b.dy), b.dy.step);
    for (size_t r = 0; r < 5; r++)
      for (size_t i = 0; i < 37; i++) cr_assert(grid_at(&b.dy, r, i) == grid_at(&b.dx, r, i));
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, dx_in_the_place_of_dy__same_numbers) {
  with_every_net(check_in_place);
}

/* Slopes that take the place of x are those that stand elsewhere, and y is the same without them. */
static void check_slopes(const net_set *set, uint64_t *state) {
  for (size_t c = 0; c < 2 * RS_COUNT(curves); c++) {
    bent b = bent_of(set, state, curves[c / 2], c % 2, 5, 37, 4);
    grid y = grid_of(set, state, 5, 37);
    rs_curve_call alone = b.call, in_place = b.call;
    alone.slopes = NULL;
    in_place.slopes = grid_start(&b.x);
    set->net->curve(&alone, grid_start(&y), y.step);
    for (size_t r = 0; r < 5; r++)
      for (size_t i = 0; i < 37; i++) cr_assert(grid_at(&b.y, r, i) == grid_at(&y, r, i));
    set->net->curve(&in_place, grid_start(&y), y.step);
    for (size_t r = 0; r < 5; r++) {
      for (size_t i = 0; i < 37; i++) cr_assert(grid_at(&b.y, r, i) == grid_at(&y, r, i));
      for (size_t i = 0; i < b.x.columns; i++) cr_assert(grid_at(&b.x, r, i) == grid_at(&b.slopes, r, i));
    }
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx, &y);
  }
}

Test(net_curve, slopes__in_the_place_of_x_or_elsewhere_or_none) {
  with_every_net(check_slopes);
}

/* ---- xielu ------------------------------------------------------------------------------------------------------- */

/* As arXiv:2411.13010 has it, with what is left of e^x - 1 - x where x is above `edge`. */
static void check_xielu(const net_set *set, uint64_t *state) {
  static const rs_xielu learned[] = {{0.8, 1.3, 0.5, -1e-6}, {2.5, 0.6, -0.25, -0.5}};
  for (size_t k = 0; k < RS_COUNT(learned); k++) {
    const rs_xielu *l = &learned[k];
    bent b = bent_of(set, state, RS_CURVE_RELU, k == 1, 3, 301, k == 0 ? 4 : 60);
    b.call.curve = RS_CURVE_XIELU;
    b.call.xielu = *l;
    grid_put(&b.x, 0, 0, -1e4);
    grid_put(&b.x, 0, 1, NAN);
    set->net->curve(&b.call, grid_start(&b.y), b.y.step);
    for (size_t r = 0; r < 3; r++)
      for (size_t i = 0; i < 301; i++) {
        long double x = grid_at(&b.x, r, i), gate = k == 1 ? grid_at(&b.x, r, 301 + i) : 1;
        long double low = x < (long double)l->edge ? x : (long double)l->edge, bound = 20 * set->u * (1 + x * x);
        long double value = x > 0 ? l->positive * x * x + l->slope * x : l->negative * (expm1l(low) - x) + l->slope * x;
        long double rises = x < (long double)l->edge ? expl(x) - 1 : -1;
        long double slope = x > 0 ? 2 * l->positive * x + l->slope : l->negative * rises + l->slope;
        if (isnan(x))
          cr_assert(isnan(grid_at(&b.y, r, i)));
        else
          near(set, grid_at(&b.y, r, i), value * gate, bound * fabsl(gate), "value");
        if (!isnan(x)) near(set, grid_at(&b.slopes, r, i), slope * gate, bound * fabsl(gate), "slope");
      }
    GRIDS_END(&b.x, &b.slopes, &b.y, &b.dy, &b.dx);
  }
}

Test(net_curve, xielu__value_and_slope_are_the_formula) {
  with_every_net(check_xielu);
}
