/* Soft caps: logits through a hyperbolic tangent. */
#include "net.h"

void NET(cap_rows)(double cap, size_t rows, size_t columns, void *x, size_t step, void *slopes) {
  const vec most = all((real)cap), by_cap = all((real)(1 / cap));
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < columns; i += WIDTH) {
      size_t place = row * step + i, left = columns - i;
      vec slope, level = tanh_of(load_first((real *)x + place, left) * by_cap, &slope);
      store_first((real *)x + place, most * level, left);
      if (slopes != NULL) store_first((real *)slopes + place, slope, left);
    }
}
