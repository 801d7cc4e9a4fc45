/* Cross-entropy of rows of logits, and its gradient in their place. */
#include "net.h"

#include <math.h>

static real largest_in(const real *x, size_t count) {
  real most = -INFINITY;
  for (size_t i = 0; i < count; i++) most = x[i] > most ? x[i] : most;
  return most;
}

static int32_t first_of(const real *x, size_t count, real value) {
  for (size_t i = 0; i < count; i++)
    if (x[i] == value) return (int32_t)i;
  return 0;
}

/* The sum of e^(x - top); these stay in the place of x where `kept`. */
static double sum_powers(real *x, size_t count, real top, bool kept) {
  double total = 0;
  for (size_t i = 0; i < count; i += WIDTH) {
    size_t left = count - i;
    vec weight = power_of_e(load_first(x + i, left) - all(top));
    if (kept) store_first(x + i, weight, left);
    total += sum_of(left < WIDTH ? first_lanes(weight, left) : weight);
  }
  return total;
}

/* Weights become those of a gradient: times `factor`; 0 for 0, whatever they are. */
static void multiply_by(real *x, size_t count, real factor) {
  for (size_t i = 0; i < count; i++) x[i] = factor == 0 ? 0 : x[i] * factor;
}

void NET(cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer) {
  for (size_t row = 0; row < rows; row++) {
    real *x = (real *)logits + row * step, top = largest_in(x, classes);
    bool wanted = targets[row] >= 0;
    real logit = wanted ? x[targets[row]] : 0;
    if (answer != NULL) answer[row] = first_of(x, classes, top);
    double sum = sum_powers(x, classes, top, weight != 0);
    loss[row] = wanted ? log(sum) + ((double)top - logit) : NAN;
    if (weight == 0) continue;
    multiply_by(x, classes, wanted ? (real)(weight / sum) : 0);
    if (wanted) x[targets[row]] -= (real)weight;
  }
}
