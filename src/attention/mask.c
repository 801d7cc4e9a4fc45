/* Masks as ranges of keys, and which query positions are observed. */
#include "attention/attention.h"

#include <stdlib.h>
#include <string.h>

bool rs_mask_sees_ahead(const rs_mask *mask) {
  return mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_BAND;
}

size_t rs_mask_ranges(const rs_mask *mask, size_t length, size_t query, rs_range out[2]) {
  size_t end = mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_CROSS ? length : query + 1;
  bool windowed = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS || mask->kind == RS_BAND;
  if (mask->kind == RS_BAND) end = mask->window < length - query ? query + mask->window : length;
  size_t begin = windowed && query + 1 > mask->window ? query + 1 - mask->window : 0;
  if (mask->kind == RS_CHUNKS) begin = query - query % mask->window;
  size_t sinks = mask->kind == RS_WINDOW_SINKS ? mask->sinks : 0;
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
