/* Cross-entropy of rows of logits, and its gradient in their place. */
#include "net.h"
#include "row.h"

#include <math.h>

/* Logits of which one `real` sums the powers; sums of so many are added in double. */
enum { SECTION = 1024 };

/* ln of a positive normal number within 3 roundings. 2^e m with m in [1/sqrt 2, sqrt 2) has the logarithm e ln 2 + 2
 * artanh w, w = (m - 1) / (m + 1), whose series in w^2 < 0.03 ends below a rounding. The C library's depends on the
 * machine. */
static double logarithm(double x) {
  int exponent;
  double m = frexp(x, &exponent), series = 0;
  if (m < M_SQRT1_2) {
    m *= 2;
    exponent--;
  }
  double w = (m - 1) / (m + 1), square = w * w;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
  return exponent * M_LN2 + 2 * (w + w * series);
}

static int32_t first_of(const real *x, size_t count, real value) {
  for (size_t i = 0; i < count; i++)
    if (x[i] == value) return (int32_t)i;
  return 0;
}

static double sum_row(real *x, size_t count, real top, bool kept) {
  double total = 0;
  for (size_t i = 0; i < count; i += SECTION) {
    size_t section = count - i < SECTION ? count - i : SECTION;
    span seen = {0, section, section, false};
    total += kept ? sum_powers(x + i, seen, top, true) : sum_powers(x + i, seen, top, false);
  }
  return total;
}

static void multiply_by(real *x, size_t count, real factor) {
  for (size_t i = 0; i < count; i += WIDTH) store_first(x + i, load_first(x + i, count - i) * all(factor), count - i);
}

void NET(cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer) {
  for (size_t row = 0; row < rows; row++) {
    real *x = (real *)logits + row * step, top = largest_in(x, (span){0, classes, classes, false}, -(real)INFINITY);
    bool wanted = targets[row] >= 0;
    real logit = wanted ? x[targets[row]] : 0;
    if (answer != NULL) answer[row] = first_of(x, classes, top);
    loss[row] = NAN;
    if (!wanted) {
      if (weight != 0) clear(x, 0, classes);
      continue;
    }
    double sum = sum_row(x, classes, top, weight != 0);
    loss[row] = logarithm(sum) + ((double)top - logit);
    if (weight == 0) continue;
    multiply_by(x, classes, (real)(weight / sum));
    x[targets[row]] -= (real)weight;
  }
}
