/* Which query positions are observed. */
#include "ropescope/attention.h"

#include "purposes.h"

#include <stdlib.h>

/* `number` positions out of `length` in ascending order, each set equally likely: Knuth's selection sampling (TAOCP 2,
 * algorithm 3.4.2 S). */
static void draw(size_t number, size_t length, uint64_t seed, size_t *out) {
  rs_stream stream = {.seed = seed, .purpose = RS_PURPOSE_QUERY_POSITIONS};
  size_t chosen = 0;
  for (size_t m = 0; chosen < number; m++)
    if ((double)(length - m) * rs_uniform(stream, m) < (double)(number - chosen)) out[chosen++] = m;
}

rs_status rs_queries_select(const rs_query_set *set, size_t length, uint64_t seed, size_t **queries, size_t *count,
                            rs_err *err) {
  bool all = set->choice == RS_QUERIES_ALL, every = set->choice == RS_QUERIES_EVERY;
  size_t number = all || (!every && set->number > length) ? length : set->number;
  *count = every ? (length + number - 1) / number : number;
  *queries = rs_alloc(*count, sizeof **queries, err);
  if (*queries == NULL) return RS_MEMORY;
  if (set->choice == RS_QUERIES_RANDOM) {
    draw(number, length, seed, *queries);
    return RS_OK;
  }
  size_t step = every ? number : 1;
  for (size_t i = 0; i < *count; i++) (*queries)[i] = length - 1 - (*count - 1 - i) * step;
  return RS_OK;
}
