/* What feed-forward layers do between their matrices, number by number. */
#include "net.h"

#include <math.h>

/* A curve and its slope at x. */
typedef struct bend {
  vec value, slope;
} bend;

/* sigma(x) = 1 / (1 + e^-x), from e^-|x|, which cannot overflow; *rest is 1 - sigma(x), without cancellation. */
RS_INLINE vec logistic(vec x, vec *rest) {
  vec e = power_of_e(choose(x > all(0), -x, x)), whole = all(1) / (all(1) + e), part = e * whole;
  *rest = choose(x > all(0), part, whole);
  return choose(x > all(0), whole, part);
}

/* x sigma(t) with slope sigma + x sigma (1 - sigma) dt/dx. */
RS_INLINE bend swish(vec x, vec t, vec dt) {
  vec rest, part = logistic(t, &rest);
  return (bend){x * part, part + x * part * rest * dt};
}

RS_INLINE bend silu(vec x) {
  return swish(x, x, all(1));
}

/* x (1 + tanh(t)) / 2 = x sigma(2 t), t = sqrt(2 / pi) (x + 0.044715 x^3). */
RS_INLINE bend gelu_tanh(vec x) {
  const vec outer = all((real)1.5957691216057307), inner = all((real)0.044715);
  vec square = x * x;
  return swish(x, outer * (x + inner * x * square), outer * (all(1) + all(3) * inner * square));
}

/* x Phi(x) with slope Phi(x) + x phi(x). */
RS_INLINE bend gelu(vec x) {
  vec below, density;
  for (size_t i = 0; i < WIDTH; i++) {
    below[i] = (real)(0.5 * erfc(-M_SQRT1_2 * x[i]));
    density[i] = (real)(exp(-0.5 * x[i] * x[i]) / sqrt(2 * M_PI));
  }
  return (bend){x * below, below + x * density};
}

RS_INLINE bend relu(vec x) {
  return (bend){larger(all(0), x), choose(x > all(0), all(1), all(0))};
}

RS_INLINE bend bend_at(rs_curve_kind curve, vec x) {
  switch (curve) {
  case RS_CURVE_GELU: return gelu(x);
  case RS_CURVE_GELU_TANH: return gelu_tanh(x);
  case RS_CURVE_RELU: return relu(x);
  default: return silu(x);
  }
}

/* One curve for all rows: what it is does not change inside the loops. */
RS_INLINE void bend_rows(const rs_curve_call *call, rs_curve_kind curve, real *y, size_t y_step) {
  for (size_t row = 0; row < call->rows; row++) {
    const real *x = (const real *)call->x + row * call->x_step;
    for (size_t i = 0; i < call->width; i += WIDTH) {
      size_t left = call->width - i;
      vec value = bend_at(curve, load_first(x + i, left)).value;
      if (call->gated) value *= load_first(x + call->width + i, left);
      store_first(y + row * y_step + i, value, left);
    }
  }
}

RS_INLINE void unbend_rows(const rs_curve_call *call, rs_curve_kind curve, const real *dy, size_t dy_step, real *dx,
                           size_t dx_step) {
  for (size_t row = 0; row < call->rows; row++) {
    const real *x = (const real *)call->x + row * call->x_step;
    for (size_t i = 0; i < call->width; i += WIDTH) {
      size_t left = call->width - i;
      vec g = load_first(dy + row * dy_step + i, left);
      bend at = bend_at(curve, load_first(x + i, left));
      real *to = dx + row * dx_step + i;
      if (call->gated) {
        vec gate = load_first(x + call->width + i, left);
        store_first(to + call->width, g * at.value, left);
        g *= gate;
      }
      store_first(to, g * at.slope, left);
    }
  }
}

void NET(curve)(const rs_curve_call *call, void *y, size_t y_step) {
  switch (call->curve) {
  case RS_CURVE_GELU: bend_rows(call, RS_CURVE_GELU, y, y_step); break;
  case RS_CURVE_GELU_TANH: bend_rows(call, RS_CURVE_GELU_TANH, y, y_step); break;
  case RS_CURVE_RELU: bend_rows(call, RS_CURVE_RELU, y, y_step); break;
  case RS_CURVE_SILU: bend_rows(call, RS_CURVE_SILU, y, y_step); break;
  }
}

void NET(curve_back)(const rs_curve_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step) {
  switch (call->curve) {
  case RS_CURVE_GELU: unbend_rows(call, RS_CURVE_GELU, dy, dy_step, dx, dx_step); break;
  case RS_CURVE_GELU_TANH: unbend_rows(call, RS_CURVE_GELU_TANH, dy, dy_step, dx, dx_step); break;
  case RS_CURVE_RELU: unbend_rows(call, RS_CURVE_RELU, dy, dy_step, dx, dx_step); break;
  case RS_CURVE_SILU: unbend_rows(call, RS_CURVE_SILU, dy, dy_step, dx, dx_step); break;
  }
}
