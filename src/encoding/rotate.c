/* Heads rotated in place, all of a run of tokens at once: what an inference engine does to its queries and keys. */
#include "kernel/kernel.h"
#include "kinds.h"

#include <stdlib.h>

enum { TOKENS = 16 }; /* whose table is made at a time: small enough to stay in the first-level cache */

static void rotate_tokens(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end,
                          size_t heads, double *table, float *x) {
  size_t pairs = encoding->rotary_dim / 2;
  rs_turn_shape shape = {end - begin, heads, encoding->head_dim, pairs, encoding->pair_layout == RS_INTERLEAVED};
  rs_encoding_turns(encoding, side, view, begin, end, table, table + TOKENS * pairs);
  rs_kernels_get()->rotate->turn_f32(&shape, table, table + TOKENS * pairs, x);
}

rs_status rs_rotate_heads(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t count,
                          size_t heads, float *x, rs_err *err) {
  size_t blocks = (count + TOKENS - 1) / TOKENS, row = heads * encoding->head_dim;
  bool failed = false;
  if (encoding->rotary_dim == 0) return RS_OK;
#pragma omp parallel reduction(|| : failed)
  {
    double *table = aligned_alloc(TOKENS * sizeof *table, TOKENS * encoding->rotary_dim * sizeof *table);
    failed = table == NULL;
#pragma omp for schedule(static)
    for (size_t b = 0; b < blocks; b++) {
      size_t first = b * TOKENS, last = first + TOKENS < count ? first + TOKENS : count;
      if (table != NULL)
        rotate_tokens(encoding, side, view, begin + first, begin + last, heads, table, x + first * row);
    }
    free(table);
  }
  return failed ? rs_fail(err, RS_MEMORY, "out of memory: a table of %d tokens a thread", TOKENS) : RS_OK;
}
