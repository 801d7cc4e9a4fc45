/* test_masks.c: masks by brute force, and query sets. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/attention.h"

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* The definitions of attention.h, key by key; of tokens of one id those before the query are seen. */
static bool sees(const rs_mask *mask, size_t m, size_t n) {
  double query = mask->ids != NULL ? mask->ids[m] : (double)m, key = mask->ids != NULL ? mask->ids[n] : (double)n;
  double window = (double)mask->window;
  switch (mask->kind) {
  case RS_BIDIRECTIONAL:
  case RS_CROSS: return true;
  case RS_CAUSAL: return n <= m;
  case RS_WINDOW: return n <= m && query - key < window;
  case RS_CHUNKS: return n <= m && floor(key / window) == floor(query / window);
  case RS_BAND: return fabs(query - key) < window;
  default: return n <= m && (query - key < window || key < (double)mask->sinks);
  }
}

static void check_mask(const rs_mask *mask, size_t length, size_t m) {
  rs_range ranges[2];
  size_t count = rs_mask_ranges(mask, length, m, ranges);
  cr_assert(count == 1 || count == 2);
  for (size_t i = 0; i < count; i++) cr_assert(ranges[i].begin < ranges[i].end && ranges[i].end <= length);
  cr_assert(count == 1 || ranges[0].end < ranges[1].begin, "two ranges that touch are one");
  for (size_t n = 0; n < length; n++) {
    bool inside = false;
    for (size_t i = 0; i < count; i++) inside |= n >= ranges[i].begin && n < ranges[i].end;
    if (inside != sees(mask, m, n))
      cr_assert_fail("kind %d, window %zu, sinks %zu, length %zu: query %zu, key %zu", (int)mask->kind, mask->window,
                     mask->sinks, length, m, n);
  }
}

Test(mask, tiny_worlds__ranges__are_the_keys_of_the_definition) {
  enum { MOST = 9 };
  for (rs_mask_kind kind = RS_CAUSAL; kind <= RS_BAND; kind++)
    for (size_t length = 1; length <= MOST; length++)
      for (size_t window = 1; window <= MOST + 2; window++)
        for (size_t sinks = 1; sinks <= MOST + 2; sinks++)
          for (size_t m = 0; m < length; m++) check_mask(&(rs_mask){kind, window, sinks, NULL}, length, m);
}

Test(mask, ids__stand_in_the_place_of_numbers) {
  enum { LENGTH = 9 };
  static const double lists[][LENGTH] = {{0, 1, 2, 3, 4, 5, 6, 7, 8},
                                         {3, 4, 5, 6, 7, 8, 9, 10, 11},
                                         {0, 2, 3, 7, 8, 9, 14, 15, 40},
                                         {-7, -6, -3, -1, 0, .5, 1, 4, 4.25},
                                         {0, 0, 0, 1, 1, 2, 5, 5, 5}};
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (rs_mask_kind kind = RS_CAUSAL; kind <= RS_BAND; kind++)
      for (size_t window = 1; window <= LENGTH + 2; window++)
        for (size_t sinks = 1; sinks <= LENGTH + 2; sinks++)
          for (size_t m = 0; m < LENGTH; m++) check_mask(&(rs_mask){kind, window, sinks, lists[i]}, LENGTH, m);
}

Test(mask, huge_window_and_sinks__ranges__do_not_overflow) {
  static const size_t sizes[] = {1, 1000, SIZE_MAX - 1, SIZE_MAX};
  for (size_t w = 0; w < RS_COUNT(sizes); w++) check_mask(&(rs_mask){RS_BAND, sizes[w], 0, NULL}, 20, 11);
  for (size_t w = 0; w < RS_COUNT(sizes); w++)
    for (size_t s = 0; s < RS_COUNT(sizes); s++)
      for (rs_mask_kind kind = RS_WINDOW; kind <= RS_WINDOW_SINKS; kind++)
        check_mask(&(rs_mask){kind, sizes[w], sizes[s], NULL}, 20, 11);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static size_t *select_queries(rs_query_choice choice, size_t number, size_t length, uint64_t seed, size_t *count) {
  rs_query_set set = {choice, number};
  size_t *queries = NULL;
  cr_assert_eq(rs_queries_select(&set, length, seed, &queries, count, NULL), RS_OK);
  for (size_t i = 0; i < *count; i++) cr_assert(queries[i] < length && (i == 0 || queries[i] > queries[i - 1]));
  return queries;
}

static bool listed(const size_t *queries, size_t count, size_t m) {
  for (size_t i = 0; i < count; i++)
    if (queries[i] == m) return true;
  return false;
}

static void check_queries(rs_query_choice choice, size_t number, size_t length) {
  size_t count, expected = 0, *queries = select_queries(choice, number, length, 7, &count);
  for (size_t m = 0; m < length; m++) {
    bool wanted = choice == RS_QUERIES_ALL || (choice == RS_QUERIES_LAST && length - m <= number) ||
                  (choice == RS_QUERIES_EVERY && (length - 1 - m) % number == 0);
    expected += wanted;
    cr_assert_eq(listed(queries, count, m), wanted, "choice %d of %zu, length %zu: %zu", choice, number, length, m);
  }
  cr_assert_eq(count, expected);
  cr_assert_eq(queries[count - 1], length - 1);
  free(queries);
}

Test(queries, all_last_every__positions__are_those_asked_for_and_end_with_the_last) {
  for (rs_query_choice choice = RS_QUERIES_ALL; choice <= RS_QUERIES_EVERY; choice++)
    for (size_t length = 1; length <= 17; length++)
      for (size_t number = 1; number <= 20; number++) check_queries(choice, number, length);
}

Test(queries, random__positions__are_distinct_and_as_many_as_asked) {
  for (size_t length = 1; length <= 40; length++)
    for (size_t number = 1; number <= 45; number++) {
      size_t count, again, *queries = select_queries(RS_QUERIES_RANDOM, number, length, number, &count);
      size_t *repeated = select_queries(RS_QUERIES_RANDOM, number, length, number, &again);
      cr_assert_eq(count, number < length ? number : length);
      cr_assert(count == again && memcmp(queries, repeated, count * sizeof *queries) == 0);
      free(queries);
      free(repeated);
    }
}

/* Each position in K/L of the draws, each pair of positions in K(K-1)/(L(L-1)) of them. */
Test(queries, random__over_seeds__every_set_is_equally_likely) {
  enum { LENGTH = 7, NUMBER = 3, SEEDS = 40000 };
  size_t seen[LENGTH][LENGTH] = {{0}};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    size_t count, *queries = select_queries(RS_QUERIES_RANDOM, NUMBER, LENGTH, seed, &count);
    for (size_t i = 0; i < count; i++)
      for (size_t j = 0; j <= i; j++) seen[queries[i]][queries[j]]++;
    free(queries);
  }
  for (size_t a = 0; a < LENGTH; a++)
    for (size_t b = 0; b <= a; b++) {
      double p = a == b ? NUMBER / (double)LENGTH : NUMBER * (NUMBER - 1.0) / (LENGTH * (LENGTH - 1.0));
      cr_assert_float_eq(seen[a][b] / (double)SEEDS, p, 5 * sqrt(p * (1 - p) / SEEDS), "%zu %zu", a, b);
    }
}

/* Numbers that runs of earlier versions had: a config's seed must go on choosing them. */
Test(queries, random__known_seeds__are_the_positions_of_old) {
  static const struct {
    size_t number, length;
    uint64_t seed;
    size_t positions[10];
  } cases[] = {
      {4, 10, 0, {0, 2, 3, 7}},
      {8, 100, 5, {30, 33, 36, 54, 68, 73, 75, 98}},
      {10, 100000, 123456789, {7055, 15546, 27431, 30252, 48394, 54988, 62788, 73430, 75947, 89640}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t count, *queries = select_queries(RS_QUERIES_RANDOM, cases[i].number, cases[i].length, cases[i].seed, &count);
    cr_assert_eq(count, cases[i].number);
    for (size_t q = 0; q < count; q++) cr_assert_eq(queries[q], cases[i].positions[q], "case %zu: %zu", i, queries[q]);
    free(queries);
  }
}
