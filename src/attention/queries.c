/* Which query positions are observed. */
#include "attention/attention.h"

#include <stdlib.h>

const char *const rs_query_choice_words[RS_QUERY_CHOICES + 1] = {
    [RS_QUERIES_ALL] = "all", [RS_QUERIES_LAST] = "last", [RS_QUERIES_EVERY] = "every", [RS_QUERIES_RANDOM] = "random"};

rs_status rs_queries_select(const rs_query_set *set, size_t length, uint64_t seed, size_t **queries, size_t *count,
                            rs_err *err) {
  bool all = set->choice == RS_QUERIES_ALL, every = set->choice == RS_QUERIES_EVERY;
  size_t number = all || (!every && set->number > length) ? length : set->number;
  *count = every ? (length + number - 1) / number : number;
  *queries = rs_alloc(*count, sizeof **queries, err);
  if (*queries == NULL) return RS_MEMORY;
  if (set->choice == RS_QUERIES_RANDOM) {
    rs_subset((rs_stream){.seed = seed, .purpose = RS_PURPOSE_QUERY_POSITIONS}, number, length, *queries);
    return RS_OK;
  }
  size_t step = every ? number : 1;
  for (size_t i = 0; i < *count; i++) (*queries)[i] = length - 1 - (*count - 1 - i) * step;
  return RS_OK;
}
