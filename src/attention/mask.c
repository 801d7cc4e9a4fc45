/* Masks as ranges of keys, and which query positions are observed. */
#include "attention/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rs_mask_sees_ahead(const rs_mask *mask) {
  return mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_BAND;
}

/* The first of `length` tokens whose id is at least `least`, or above it; `length`: none is. */
static size_t first_from(const double *ids, size_t length, double least, bool above) {
  size_t low = 0, high = length;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (above ? ids[middle] > least : ids[middle] >= least)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The keys from `begin` to `end` - 1 that the query sees but for sinks, and how many of those there are, as ids say. */
static void look_by_ids(const rs_mask *mask, size_t length, size_t query, size_t *begin, size_t *end, size_t *sinks) {
  const double *ids = mask->ids;
  double id = ids[query], window = (double)mask->window;
  bool windowed = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS || mask->kind == RS_BAND;
  if (mask->kind == RS_BAND) *end = first_from(ids, length, id + window, false);
  if (windowed) *begin = first_from(ids, query + 1, id - window, true);
  if (mask->kind == RS_CHUNKS) *begin = first_from(ids, query + 1, floor(id / window) * window, false);
  if (mask->kind == RS_WINDOW_SINKS) *sinks = first_from(ids, query + 1, (double)mask->sinks, false);
}

static void look_by_index(const rs_mask *mask, size_t length, size_t query, size_t *begin, size_t *end, size_t *sinks) {
  bool windowed = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS || mask->kind == RS_BAND;
  if (mask->kind == RS_BAND) *end = mask->window < length - query ? query + mask->window : length;
  if (windowed && query + 1 > mask->window) *begin = query + 1 - mask->window;
  if (mask->kind == RS_CHUNKS) *begin = query - query % mask->window;
  if (mask->kind == RS_WINDOW_SINKS) *sinks = mask->sinks;
}

size_t rs_mask_ranges(const rs_mask *mask, size_t length, size_t query, rs_range out[2]) {
  size_t end = mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_CROSS ? length : query + 1, begin = 0, sinks = 0;
  if (mask->ids != NULL)
    look_by_ids(mask, length, query, &begin, &end, &sinks);
  else
    look_by_index(mask, length, query, &begin, &end, &sinks);
  if (sinks >= begin) begin = 0; /* the sinks touch the window: one range, up to where either reaches */
  if (begin == 0 || sinks == 0) {
    out[0] = (rs_range){begin, end};
    return 1;
  }
  out[0] = (rs_range){0, sinks};
  out[1] = (rs_range){begin, end};
  return 2;
}

static rs_range intersect(rs_range a, rs_range b) {
  rs_range both = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (rs_range){0, 0};
}

void rs_mask_views(const rs_mask *mask, const rs_encoding *encoding, size_t length, size_t query,
                   rs_range seen[RS_VIEWS][2]) {
  rs_range ranges[2];
  rs_segment segments[RS_VIEWS] = {{0, length, 0}};
  size_t range_count = rs_mask_ranges(mask, length, query, ranges), segment_count = 1;
  if (encoding != NULL) segment_count = rs_encoding_segments(encoding, query, segments);
  memset(seen, 0, RS_VIEWS * sizeof *seen);
  for (size_t s = 0; s < segment_count; s++)
    for (size_t r = 0; r < range_count; r++)
      seen[segments[s].view][r] = intersect((rs_range){segments[s].begin, segments[s].end}, ranges[r]);
}

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
