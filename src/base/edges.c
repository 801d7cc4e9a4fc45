/* Log-spaced integer edges, so that 10^6 distances fit in some 70 bins. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>

rs_status rs_log_edges(size_t length, size_t per_octave, size_t **edges, size_t *count, rs_err *err) {
  void *list = NULL;
  size_t capacity = 0, used = 0;
  for (size_t step = 0, edge = 0; edge < length; step++) {
    /* Step 0 is distance 0 alone; after it 2^(step / per_octave), rounded down, each integer once. The slack keeps a
     * power of two, which exp2 may leave an ulp short, from falling to the integer below. */
    edge = step == 0 ? 0 : (size_t)floor(exp2((double)(step - 1) / (double)per_octave) + 1e-9);
    if (edge > length) edge = length;
    if (used > 0 && edge == ((size_t *)list)[used - 1]) continue;
    if (rs_grow(&list, &capacity, used + 2, sizeof **edges, err) != RS_OK) {
      free(list);
      return RS_MEMORY;
    }
    ((size_t *)list)[used++] = edge;
  }
  *edges = list;
  *count = used - 1;
  return RS_OK;
}

/* That of distance 0 and those of the steps up to the one that reaches the length. */
size_t rs_log_bins(size_t length, size_t per_octave) {
  size_t steps = (size_t)((double)per_octave * log2((double)length));
  return length < steps + 2 ? length : steps + 2;
}
