/* Grids of logarithms, drawn subsets and drawn orthonormal matrices, each against another way to the same result. */
#include "../golden.h"
#include "base/base.h"

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Every integer that is 0, `length`, or floor(2^(k / per_octave)) below it, in order; returns how many. `most` entries
 * fit. */
static size_t expected_edges(size_t length, size_t per_octave, size_t *edges, size_t most) {
  size_t count = 0;
  edges[count++] = 0;
  for (size_t k = 0;; k++) {
    size_t whole = k / per_octave;
    long double share = exp2l((long double)(k % per_octave) / (long double)per_octave);
    size_t edge = (size_t)floorl(ldexpl(share, (int)whole) + 1e-12L);
    if (edge >= length) break;
    cr_assert_lt(count + 1, most);
    if (edge > edges[count - 1]) edges[count++] = edge;
  }
  edges[count++] = length;
  return count;
}

Test(math, log_edges__lengths_and_densities__are_the_rounded_powers) {
  static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4096, 131072, 1000003, 16777216};
  static size_t expected[4096];
  for (size_t i = 0; i < RS_COUNT(lengths); i++)
    for (size_t per_octave = 1; per_octave <= 64; per_octave++) {
      size_t *edges = NULL, count = 0, wanted = expected_edges(lengths[i], per_octave, expected, RS_COUNT(expected));
      cr_assert_eq(rs_log_edges(lengths[i], per_octave, &edges, &count, NULL), RS_OK);
      cr_assert_eq(count + 1, wanted, "length %zu, %zu an octave: %zu bins", lengths[i], per_octave, count);
      size_t most = rs_log_bins(lengths[i], per_octave);
      cr_assert(most >= count && most <= lengths[i] && most <= 3 * count, "length %zu, %zu an octave: at most %zu bins",
                lengths[i], per_octave, most);
      for (size_t e = 0; e < wanted; e++)
        cr_assert_eq(edges[e], expected[e], "length %zu, %zu an octave: edge %zu is %zu, expected %zu", lengths[i],
                     per_octave, e, edges[e], expected[e]);
      free(edges);
    }
}

/* ---- subsets ----------------------------------------------------------------------------------------------------- */

/* Element i is taken iff its number lies below the share of those still wanted among those still to come. */
Test(math, subset__every_size_and_stream__ascends_and_reads_its_stream) {
  uint64_t state = 31;
  for (size_t range = 1; range <= 40; range++)
    for (size_t number = 0; number <= range; number++) {
      rs_stream stream = draw_stream(&state);
      size_t out[40], found = 0;
      rs_subset(stream, number, range, out);
      for (size_t i = 0; i < range; i++) {
        double wanted = (double)(number - found), left = (double)(range - i);
        bool taken = found < number && out[found] == i;
        cr_assert_eq(taken, rs_uniform(stream, i) * left < wanted, "%zu of %zu: %zu", number, range, i);
        found += taken;
      }
      cr_assert_eq(found, number, "%zu of %zu: %zu found", number, range, found);
    }
}

/* ---- projections ------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* Column j against the Gaussian column it was made from: R's diagonal entry, which Mezzadri's choice makes positive. */
static double diagonal(const double *gaussian, const double *columns, size_t rows, size_t count, size_t j) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++) sum += gaussian[i * count + j] * columns[j * rows + i];
  return sum;
}

Test(math, orthonormal__random_shapes__are_orthonormal_with_positive_diagonal) {
  uint64_t state = 6;
  for (size_t turn = 0; turn < 60; turn++) {
    size_t rows = draw_size(&state, 1, 96), count = draw_size(&state, 1, rows);
    double *columns = malloc(rows * count * sizeof *columns), *gaussian = malloc(rows * count * sizeof *gaussian);
    rs_stream stream = draw_stream(&state);
    cr_assert_eq(rs_orthonormal(stream, rows, count, columns, NULL), RS_OK);
    rs_gaussian_fill(stream, 0, rows * count, gaussian);
    for (size_t a = 0; a < count; a++) {
      for (size_t b = 0; b <= a; b++)
        cr_assert(close_to(dot(columns + a * rows, columns + b * rows, rows), a == b, 0, 1e-13),
                  "%zu x %zu: columns %zu and %zu", rows, count, a, b);
      cr_assert_gt(diagonal(gaussian, columns, rows, count, a), 0, "%zu x %zu: column %zu is turned over", rows, count,
                   a);
    }
    free(gaussian);
    free(columns);
  }
}

/* Gram and Schmidt's own way to the same columns: they span the Gaussian columns in order. */
Test(math, orthonormal__small_matrix__is_gram_schmidt_of_the_stream) {
  enum { ROWS = 12, COLUMNS = 5 };
  rs_stream stream = {.seed = 9};
  double columns[COLUMNS * ROWS], gaussian[ROWS * COLUMNS];
  cr_assert_eq(rs_orthonormal(stream, ROWS, COLUMNS, columns, NULL), RS_OK);
  rs_gaussian_fill(stream, 0, ROWS * COLUMNS, gaussian);
  for (size_t j = 0; j < COLUMNS; j++) {
    double left[ROWS];
    for (size_t i = 0; i < ROWS; i++) left[i] = gaussian[i * COLUMNS + j];
    for (size_t b = 0; b < j; b++) {
      double share = dot(left, columns + b * ROWS, ROWS);
      for (size_t i = 0; i < ROWS; i++) left[i] -= share * columns[b * ROWS + i];
    }
    double length = sqrt(dot(left, left, ROWS));
    for (size_t i = 0; i < ROWS; i++)
      cr_assert(close_to(columns[j * ROWS + i], left[i] / length, 0, 1e-12), "column %zu row %zu", j, i);
  }
}
