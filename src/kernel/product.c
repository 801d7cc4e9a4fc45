/* Products of matrices. A tile of c stays in registers while it sums over the depth: lanes are columns, numbers of a
 * are broadcast. A panel of b, as wide as a tile, is copied side by side where many tiles read it, and at the edge,
 * where zeros stand in for columns that are not there.
 *
 * An element is summed over the depth in one order, whatever tile it falls into: it depends on its row of a and its
 * column of b alone, and errs by at most depth + 2 roundings of the sum of absolute values. */
#include "net.h"

/* ROWS x VECTORS sums, VECTORS vectors of b and a broadcast number fill the registers (32 on v4 and neon, else 16), and
 * are enough chains to hide the latency of a multiply-add. */
#if defined(__AVX512F__)
enum { VECTORS = 2, ROWS = 8 };
#elif defined(__aarch64__) && defined(RS_FUSED)
enum { VECTORS = 4, ROWS = 4 };
#else
enum { VECTORS = 2, ROWS = 6 };
#endif
enum { COLUMNS = VECTORS * WIDTH };

/* The depth is walked in sections, so that a panel stays in the nearest cache; in shorter ones where a is turned, whose
 * lines then are as many as the depth. */
enum { SECTION = 256, TURNED_SECTION = 64 };

/* Copying a panel pays where more tiles read it than these; or, where its rows are a multiple of CROWD bytes apart and
 * so drive each other out of the cache, than those. */
enum { TILES = 8, CROWDED_TILES = 2, CROWD = 4096 };

/* The columns of one tile in one section. */
typedef struct panel {
  const real *a; /* its first row, or column where turned */
  size_t a_step;
  const real *b;
  size_t b_step, depth;
  real *c;
  size_t c_step;
  bool add;
} panel;

/* The shape is constant where this is inlined. */
RS_INLINE void multiply_tile(panel p, size_t rows, size_t vectors, bool turned) {
  vec sums[ROWS * VECTORS];
#pragma GCC unroll 16
  for (size_t i = 0; i < rows * VECTORS; i++) sums[i] = all(0);
  for (size_t k = 0; k < p.depth; k++, p.b += p.b_step, p.a += turned ? p.a_step : 1) {
    vec column[VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) column[v] = load(p.b + v * WIDTH);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; v++) sums[r * VECTORS + v] += column[v] * p.a[turned ? r : r * p.a_step];
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; r++, p.c += p.c_step)
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
      vec sum = sums[r * VECTORS + v];
      store(p.c + v * WIDTH, p.add ? sum + load(p.c + v * WIDTH) : sum);
    }
}

/* All tiles of a panel; the last may have fewer rows. */
RS_INLINE void multiply_tiles(panel p, size_t rows, size_t vectors, bool turned) {
  for (; rows >= ROWS; rows -= ROWS) {
    multiply_tile(p, ROWS, vectors, turned);
    p.a += ROWS * (turned ? 1 : p.a_step);
    p.c += ROWS * p.c_step;
  }
  switch (rows % ROWS) {
#define RS_LAST_TILE(count)                                                                                            \
  case count: multiply_tile(p, count % ROWS, vectors, turned); break;
    RS_LAST_TILE(1)
    RS_LAST_TILE(2)
    RS_LAST_TILE(3)
    RS_LAST_TILE(4)
    RS_LAST_TILE(5)
    RS_LAST_TILE(6)
    RS_LAST_TILE(7)
#undef RS_LAST_TILE
  }
}

_Static_assert((int)ROWS <= 8, "the last tile has at most 7 rows");

static void multiply(const panel *p, size_t rows, size_t vectors, bool turned) {
  if (vectors == 1)
    turned ? multiply_tiles(*p, rows, 1, true) : multiply_tiles(*p, rows, 1, false);
  else
    turned ? multiply_tiles(*p, rows, VECTORS, true) : multiply_tiles(*p, rows, VECTORS, false);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* A panel of which c has but the first columns: each tile is made elsewhere, as if c held zeros. */
static void multiply_edge(const panel *p, size_t rows, size_t columns, size_t vectors, bool turned) {
  real tile[ROWS * COLUMNS], *c = p->c;
  panel edge = *p;
  edge.c = tile;
  edge.c_step = COLUMNS;
  edge.add = false;
  for (size_t first = 0; first < rows; first += ROWS) {
    size_t count = least(rows - first, ROWS);
    multiply(&edge, count, vectors, turned);
    edge.a += ROWS * (turned ? 1 : p->a_step);
    for (size_t r = 0; r < count; r++, c += p->c_step)
      for (size_t i = 0; i < columns; i += WIDTH) {
        vec sum = load(tile + r * COLUMNS + i);
        store_first(c + i, p->add ? sum + load_first(c + i, columns - i) : sum, columns - i);
      }
  }
}

/* Copies a panel of b to where its rows are side by side. */
static void pack(panel *p, size_t columns, size_t vectors, real *packed) {
  size_t step = vectors * WIDTH;
  for (size_t k = 0; k < p->depth; k++)
    for (size_t i = 0; i < step; i += WIDTH)
      store(packed + k * step + i, load_first(p->b + k * p->b_step + i, i < columns ? columns - i : 0));
  p->b = packed;
  p->b_step = step;
}

static void multiply_panel(panel *p, size_t rows, size_t columns, bool turned) {
  real packed[SECTION * COLUMNS] __attribute__((aligned(RS_VECTOR_BYTES)));
  size_t vectors = columns <= WIDTH ? 1 : VECTORS;
  bool edge = columns < vectors * WIDTH, crowded = p->b_step * sizeof(real) % CROWD == 0;
  if (edge || rows > (size_t)(crowded ? CROWDED_TILES : TILES) * ROWS) pack(p, columns, vectors, packed);
  if (edge)
    multiply_edge(p, rows, columns, vectors, turned);
  else
    multiply(p, rows, vectors, turned);
}

void NET(product)(const rs_product *product) {
  const real *a = product->a, *b = product->b;
  size_t section = product->a_turned ? TURNED_SECTION : SECTION, begin = 0;
  do {
    for (size_t column = 0; column < product->columns; column += COLUMNS) {
      panel p = {.a = a + begin * (product->a_turned ? product->a_step : 1),
                 .a_step = product->a_step,
                 .b = b + begin * product->b_step + column,
                 .b_step = product->b_step,
                 .depth = least(product->depth - begin, section),
                 .c = (real *)product->c + column,
                 .c_step = product->c_step,
                 .add = product->add || begin > 0};
      multiply_panel(&p, product->rows, least(product->columns - column, COLUMNS), product->a_turned);
    }
    begin += section;
  } while (begin < product->depth);
}
