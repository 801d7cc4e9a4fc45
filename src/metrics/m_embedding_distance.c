/* Whether no two positions have the same embedding, and by how much: the smallest distance between two rows of the
 * table, and which. Every pair is compared.
 *
 * Where each channel is one sine or cosine the distance depends on the offset alone: |PE(n + k) - PE(n)|^2 = sum over
 * pairs of 4 sin^2(k omega / 2); on a grid the offset's rows and columns add their own, so that the smallest is along
 * one of them. Other rows are sorted by the channel that varies most, in which rows must be closer than the smallest
 * distance so far. Inner products of whole tiles of them say which pairs may be as near as that, by |a|^2 + |b|^2 - 2
 * ab and what rounding may do to it; these alone are subtracted number by number, so that the answer owes nothing to
 * the instruction set. */
#include "kernel/kernel.h"
#include "metric_list.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products of numbers that are taken at most: some minutes. */
static const double most_products = 1e12;

enum { BLOCK = 16, AT_ONCE = 64 }; /* channels between two looks at a sum; rows of a tile, or filled at once */

/* The nearest two so far; places count from the first position. */
typedef struct nearest {
  double square; /* of the distance; infinite: none yet */
  size_t place, other;
} nearest;

static void consider(nearest *n, double square, size_t a, size_t b) {
  size_t place = a < b ? a : b, other = a < b ? b : a;
  bool earlier = place < n->place || (place == n->place && other < n->other);
  if (square < n->square || (square == n->square && earlier)) *n = (nearest){square, place, other};
}

/* ---- sines and cosines ------------------------------------------------------------------------------------------- */

/* Half frequencies of the cosines on one axis, into `halves` (width,). */
static size_t half_frequencies(const rs_encoding *encoding, size_t axis, double *halves) {
  rs_embed_wave wave;
  size_t count = 0;
  for (size_t i = 0; rs_encoding_wave(encoding, i, &wave); i++)
    if (wave.cosine && wave.axis == axis) halves[count++] = wave.omega / 2;
  return count;
}

/* Whether each channel that has waves has one. */
static bool is_single(const rs_encoding *encoding) {
  rs_embed_wave wave;
  size_t before = SIZE_MAX, i = 0;
  for (; rs_encoding_wave(encoding, i, &wave) && wave.channel != before; i++) before = wave.channel;
  return i > 0 && !rs_encoding_wave(encoding, i, &wave);
}

static rs_status search_offsets(const rs_encoding *encoding, const rs_position_set *set, nearest *n, rs_err *err) {
  RS_FREED double *halves = rs_alloc(encoding->width, sizeof *halves, err);
  const size_t extents[RS_AXES] = {set->count, set->rows, set->columns}, steps[RS_AXES] = {1, set->columns, 1};
  if (halves == NULL) return RS_MEMORY;
  for (size_t axis = 0; axis < RS_AXES; axis++) {
    size_t count = half_frequencies(encoding, axis, halves);
    for (size_t k = 1; k < extents[axis] && count > 0; k++) {
      double square = 0;
      for (size_t i = 0; i < count; i++) {
        double cosine, sine;
        rs_cos_sin((double)k, halves[i], &cosine, &sine);
        square += 4 * sine * sine;
      }
      consider(n, square, 0, k * steps[axis]);
    }
  }
  return RS_OK;
}

/* ---- other tables ------------------------------------------------------------------------------------------------ */

typedef struct sorted_row {
  double key; /* its number in the channel that varies most */
  size_t place;
} sorted_row;

static int by_key(const void *a, const void *b) {
  const sorted_row *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->place < y->place ? -1 : 1;
}

static size_t most_varied(const double *rows, size_t count, size_t width) {
  size_t best = 0;
  double most = -1;
  for (size_t c = 0; c < width; c++) {
    rs_moments moments = {0};
    for (size_t i = 0; i < count; i++) rs_moments_add(&moments, rows[i * width + c]);
    if (moments.squares > most) best = c;
    most = fmax(most, moments.squares);
  }
  return best;
}

/* The squared distance, or infinity once it is beyond `most`. */
static double squared_distance(const double *a, const double *b, size_t width, double most) {
  double sums[4] = {0};
  for (size_t c = 0; c < width;) {
    size_t end = width - c > BLOCK ? c + BLOCK : width;
    for (; c + 4 <= end; c += 4)
      for (size_t i = 0; i < 4; i++) sums[i] += (a[c + i] - b[c + i]) * (a[c + i] - b[c + i]);
    for (; c < end; c++) sums[0] += (a[c] - b[c]) * (a[c] - b[c]);
    if ((sums[0] + sums[1]) + (sums[2] + sums[3]) > most) return INFINITY;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Rows in the order of their keys, (count, width), and their squared lengths; tiles of AT_ONCE of them. */
typedef struct tiles {
  size_t count, width;
  sorted_row *order; /* (count,) */
  double *rows, *squares;
  double *panels, *products; /* (AT_ONCE, width); (AT_ONCE, AT_ONCE) */
} tiles;

static tiles sort_rows(const double *rows, size_t count, size_t width, rs_arena *arena) {
  tiles t = {.count = count, .width = width};
  size_t channel = most_varied(rows, count, width);
  t.order = rs_arena_take(arena, count, sizeof *t.order);
  t.rows = rs_arena_take(arena, count, width * sizeof *t.rows);
  t.squares = rs_arena_take(arena, count, sizeof *t.squares);
  t.panels = rs_arena_take(arena, AT_ONCE, width * sizeof *t.panels);
  t.products = rs_arena_take(arena, AT_ONCE, AT_ONCE * sizeof *t.products);
  if (arena->failed) return t;
  for (size_t i = 0; i < count; i++) t.order[i] = (sorted_row){rows[i * width + channel], i};
  qsort(t.order, count, sizeof *t.order, by_key);
  for (size_t i = 0; i < count; i++) {
    memcpy(t.rows + i * width, rows + t.order[i].place * width, width * sizeof *rows);
    for (size_t c = 0; c < width; c++) t.squares[i] += t.rows[i * width + c] * t.rows[i * width + c];
  }
  return t;
}

/* Rows from `first` on with those from `second` on, each pair once. Roundings: (width + 2) of |ab| in a product, width
 * of a squared length, width + 3 of the distance that they stand for, and few more; |ab| is half of both squares at
 * most. */
static void compare_tiles(const tiles *t, size_t first, size_t second, nearest *n) {
  size_t rows = t->count - first < AT_ONCE ? t->count - first : AT_ONCE;
  size_t columns = t->count - second < AT_ONCE ? t->count - second : AT_ONCE, width = t->width;
  double rounding = 4 * ((double)width + 4) * DBL_EPSILON / 2;
  const double *a = t->rows + first * width, *b = t->rows + second * width;
  rs_kernels_get()->net_f64->panels(b, width, columns, t->panels);
  rs_kernels_get()->net_f64->product(&(rs_product){.rows = rows,
                                                   .columns = columns,
                                                   .depth = width,
                                                   .a = a,
                                                   .a_step = width,
                                                   .b = t->panels,
                                                   .b_panels = true,
                                                   .c = t->products,
                                                   .c_step = AT_ONCE});
  for (size_t i = 0; i < rows; i++)
    for (size_t j = first == second ? i + 1 : 0; j < columns; j++) {
      double both = t->squares[first + i] + t->squares[second + j];
      if (both - 2 * t->products[i * AT_ONCE + j] - rounding * both > n->square) continue;
      double square = squared_distance(a + i * width, b + j * width, width, n->square);
      consider(n, square, t->order[first + i].place, t->order[second + j].place);
    }
}

/* Neighbours first: they are near where the table is smooth. */
static rs_status search_pairs(const double *rows, size_t count, size_t width, nearest *n, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  tiles t = sort_rows(rows, count, width, &arena);
  RS_TRY(rs_arena_check(&arena, err));
  for (size_t i = 0; i + 1 < count; i++)
    consider(n, squared_distance(rows + i * width, rows + (i + 1) * width, width, n->square), i, i + 1);
  for (size_t first = 0; first < count; first += AT_ONCE)
    for (size_t second = first; second < count; second += AT_ONCE) {
      size_t last = first + AT_ONCE < count ? first + AT_ONCE - 1 : count - 1;
      double apart = second > first ? t.order[second].key - t.order[last].key : 0;
      if (apart * apart > n->square) break;
      compare_tiles(&t, first, second, n);
    }
  return RS_OK;
}

/* ---- the metric -------------------------------------------------------------------------------------------------- */

/* The range of all numbers, in values 3 and 4; rows are filled into `rows`, all of them where `keep`, else block over
 * block. */
static rs_status scan(const rs_encoding *encoding, const rs_position_set *set, bool keep, double *rows,
                      rs_result *result, rs_err *err) {
  double *least = &result->value[3], *largest = &result->value[4];
  for (size_t begin = 0; begin < set->count; begin += AT_ONCE) {
    size_t count = set->count - begin < AT_ONCE ? set->count - begin : AT_ONCE;
    double *block = rows + (keep ? begin * encoding->width : 0);
    RS_TRY(rs_encoding_embed(encoding, set->begin + begin, count, block, err));
    for (size_t i = 0; i < count * encoding->width; i++) {
      *least = fmin(*least, block[i]);
      *largest = fmax(*largest, block[i]);
    }
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  const rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  size_t width = encoding->width;
  bool single = is_single(encoding);
  nearest n = {.square = INFINITY};
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (encoding->method->embed == NULL) return RS_OK;
  if (!single && (double)set.count * (double)set.count / 2 * (double)width > most_products)
    return rs_fail(err, RS_DOMAIN,
                   "embedding_distance: all pairs of %zu rows of %zu numbers take too long: choose a "
                   "smaller length",
                   set.count, width);
  RS_FREED double *rows = rs_alloc(single ? AT_ONCE : set.count, width * sizeof *rows, err);
  if (rows == NULL) return RS_MEMORY;
  RS_TRY(scan(encoding, &set, !single, rows, result, err));
  RS_TRY(single ? search_offsets(encoding, &set, &n, err) : search_pairs(rows, set.count, width, &n, err));
  if (isinf(n.square)) return RS_OK;
  result->value[0] = sqrt(n.square);
  result->value[1] = (double)(set.begin + n.place);
  result->value[2] = (double)(set.begin + n.other);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("embedding_least_distance", "1",
              "smallest distance between the embeddings of two positions; 0 where two have the same",
              .better = RS_HIGHER),
    RS_COLUMN("embedding_nearest_token", "",
              "the first position of the two, of the first two where several are as near", .integer = true),
    RS_COLUMN("embedding_nearest_other_token", "", "the second", .integer = true),
    RS_COLUMN("embedding_least_value", "1", "smallest number of the table"),
    RS_COLUMN("embedding_largest_value", "1", "largest"),
};

const rs_metric_kind rs_metric_embedding_distance = {
    .kind = {.name = "embedding_distance",
             .summary =
                 "the two positions whose embeddings are nearest, of the first frame of the first picture, else of "
                 "the sequence",
             .reference = "Attention Is All You Need, arXiv:1706.03762, section 3.5 (that positions are told apart)"},
    RS_SCALARS(scalars),
    .finish = finish,
};
