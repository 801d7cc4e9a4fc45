/* What feed-forward layers do between their matrices, number by number. Values err by at most 3 roundings of 1 + |x|,
 * slopes by 5 of 1 (relu2's by 1 of itself); a number that is none stays none. */
#include "net.h"

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

void NET(curve)(const rs_curve_call *call, void *y, size_t y_step) {
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

void NET(curve_back)(const rs_curve_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step) {
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
