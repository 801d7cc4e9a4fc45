/* Matrices: their products, and what carries, turns and widens them on the way. A tile of c stays in registers while it
 * sums over the depth: lanes are columns, numbers of a are broadcast. A panel of b, as wide as a tile, is copied side
 * by side where many tiles read it, and at the edge, where zeros stand in for columns that are not there.
 *
 * An element is summed over the depth in one order, whatever tile it falls into: it depends on its row of a and its
 * column of b alone, and errs by at most depth + 2 roundings of the sum of absolute values. */
#include "net.h"

#include <endian.h>
#include <string.h>

/* ---- matrices turned over ---------------------------------------------------------------------------------------- */

/* A square of WIDTH x WIDTH numbers at a time in registers. */

/* Interleaving row i with row i + WIDTH / 2 moves the highest bit of a number's row to the lowest of its column, and
 * each bit of its column one up: after log2(WIDTH) rounds rows are columns. */
RS_INLINE void turn_square(vec square[WIDTH]) {
#pragma GCC unroll 4
  for (size_t round = 1; round < WIDTH; round *= 2) {
    vec next[WIDTH];
#pragma GCC unroll 8
    for (size_t i = 0; i < WIDTH / 2; i++) interleave(square[i], square[i + WIDTH / 2], &next[2 * i], &next[2 * i + 1]);
#pragma GCC unroll 16
    for (size_t i = 0; i < WIDTH; i++) square[i] = next[i];
  }
}

/* The square at the edge has fewer rows or columns: others read as zeros, and are not written. */
RS_INLINE void turn_part(const real *from, size_t step, size_t rows, size_t columns, real *to, size_t to_step) {
  vec square[WIDTH];
#pragma GCC unroll 16
  for (size_t i = 0; i < WIDTH; i++) square[i] = i < rows ? load_first(from + i * step, columns) : all(0);
  turn_square(square);
#pragma GCC unroll 16
  for (size_t i = 0; i < WIDTH; i++)
    if (i < columns) store_first(to + i * to_step, square[i], rows);
}

void NET(turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step) {
  for (size_t row = 0; row < rows; row += WIDTH)
    for (size_t column = 0; column < columns; column += WIDTH) {
      const real *from = (const real *)x + row * step + column;
      real *to = (real *)out + column * out_step + row;
      if (rows - row >= WIDTH && columns - column >= WIDTH)
        turn_part(from, step, WIDTH, WIDTH, to, out_step);
      else
        turn_part(from, step, rows - row, columns - column, to, out_step);
    }
}

/* ---- numbers of files -------------------------------------------------------------------------------------------- */

/* As numbers that are computed with. The loops are such as compilers make vectors of. */

RS_INLINE real from_f64(const char *bytes) {
  uint64_t bits;
  double number;
  memcpy(&bits, bytes, sizeof bits);
  bits = le64toh(bits);
  memcpy(&number, &bits, sizeof number);
  return (real)number;
}

RS_INLINE float single(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

RS_INLINE real from_f32(const char *bytes) {
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return (real)single(le32toh(bits));
}

RS_INLINE uint32_t half_bits(const char *bytes) {
  uint16_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le16toh(bits);
}

RS_INLINE real from_bf16(const char *bytes) {
  return (real)single(half_bits(bytes) << 16);
}

/* Exponents count from -15, those of binary32 from -127: a product sets that right, for subnormals too. The sign goes
 * beside it. */
RS_INLINE real from_f16(const char *bytes) {
  uint32_t bits = half_bits(bytes), sign = (bits & 0x8000) << 16, magnitude;
  float size = single((bits & 0x7fff) << 13) * 0x1p112f;
  memcpy(&magnitude, &size, sizeof magnitude);
  return (real)single(magnitude | sign);
}

RS_INLINE void widen_all(real (*from)(const char *), const char *numbers, size_t bytes, size_t count, real *out) {
  for (size_t i = 0; i < count; i++) out[i] = from(numbers + i * bytes);
}

RS_INLINE void widen_step(real (*from)(const char *), const char *numbers, size_t size, size_t step, size_t count,
                          real *out) {
  if (step == 1)
    widen_all(from, numbers, size, count, out);
  else
    widen_all(from, numbers, step * size, count, out);
}

void NET(widen)(const void *numbers, rs_format format, size_t step, size_t count, void *out) {
  switch (format) {
  case RS_F64: widen_step(from_f64, numbers, sizeof(double), step, count, out); break;
  case RS_F32: widen_step(from_f32, numbers, sizeof(float), step, count, out); break;
  case RS_BF16: widen_step(from_bf16, numbers, sizeof(uint16_t), step, count, out); break;
  case RS_F16: widen_step(from_f16, numbers, sizeof(uint16_t), step, count, out); break;
  }
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

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
enum { LINE = 64 / sizeof(real) }; /* of a cache */

/* The depth is walked in sections, so that a panel stays in the nearest cache; in shorter ones where a is turned, whose
 * lines then are as many as the depth. */
enum { SECTION = 256, TURNED_SECTION = 64 };

/* Copying a panel pays where more tiles read it than these; or, where its rows are a multiple of CROWD bytes apart and
 * so drive each other out of the cache, than those. */
enum { TILES = 8, CROWDED_TILES = 2, CROWD = 4096 };

/* Numbers of a that every panel reads before the next come: they stay in the second cache. A matrix of as many panels
 * does not, so each panel is asked for while the one before it is in use. */
enum { BLOCK = 1 << 16 };

/* The columns of one tile in one section. */
typedef struct panel {
  const real *a; /* its first row, or column where turned */
  size_t a_step;
  const real *b;
  size_t b_step, depth;
  real *c;
  size_t c_step;
  bool add;
  const real *next; /* the panel to ask for; else NULL */
} panel;

/* The shape is constant where this is inlined. The tile of c, whose rows lie far apart, is asked for before it is
 * needed: a gradient of more than the second cache takes a tenth less time so. */
RS_INLINE void multiply_tile(panel p, size_t rows, size_t vectors, bool turned) {
  vec sums[ROWS * VECTORS];
#pragma GCC unroll 16
  for (size_t i = 0; i < rows * VECTORS; i++) sums[i] = all(0);
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) __builtin_prefetch(p.c + r * p.c_step + v * WIDTH, 1);
  for (size_t k = 0; k < p.depth; k++, p.b += p.b_step, p.a += turned ? p.a_step : 1) {
    vec column[VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) column[v] = load(p.b + v * WIDTH);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; v++)
        sums[r * VECTORS + v] = fused(column[v], all(p.a[turned ? r : r * p.a_step]), sums[r * VECTORS + v]);
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; r++, p.c += p.c_step)
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
      vec sum = sums[r * VECTORS + v];
      store(p.c + v * WIDTH, p.add ? sum + load(p.c + v * WIDTH) : sum);
    }
}

/* All tiles of a panel; the last may have fewer rows. With each tile a share of the next panel is asked for. */
RS_INLINE void multiply_tiles(panel p, size_t rows, size_t vectors, bool turned) {
  size_t share = p.next != NULL ? p.depth * COLUMNS / (rows / ROWS + 1) : 0;
  for (; rows >= ROWS; rows -= ROWS) {
    for (size_t i = 0; i < share; i += LINE) __builtin_prefetch(p.next + i);
    if (p.next != NULL) p.next += share; /* even 0 is undefined beside NULL */
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
  bool shared = p->b_step != columns && rows > (size_t)(crowded ? CROWDED_TILES : TILES) * ROWS;
  if (edge || shared) pack(p, columns, vectors, packed);
  if (edge)
    multiply_edge(p, rows, columns, vectors, turned);
  else
    multiply(p, rows, vectors, turned);
}

/* ---- what files have --------------------------------------------------------------------------------------------- */

/* Columns whose panels of one section are made before rows are multiplied: they stay in the second cache beside a block
 * of a. */
enum { GROUP = 128 };

/* Columns from `column` on, numbers from k on, in panels. Numbers are widened in the file's own order, and turned over
 * where that is by columns. */
static void make_panels(const rs_stored_matrix *b, size_t column, size_t columns, size_t k, size_t depth, real *out) {
  enum { CHUNK = 64 };
  real lines[COLUMNS * CHUNK] __attribute__((aligned(RS_VECTOR_BYTES)));
  size_t bytes = rs_format_bytes(b->format);
  for (size_t first = 0; first < columns; first += COLUMNS) {
    size_t width = least(columns - first, COLUMNS);
    const char *from = (const char *)b->numbers + ((column + first) * b->output_step + k * b->input_step) * bytes;
    real *to = out + first * depth;
    for (size_t i = 0; i < depth && b->input_step != 1; i++)
      NET(widen)(from + i * b->input_step * bytes, b->format, b->output_step, width, to + i * width);
    for (size_t i = 0; i < depth && b->input_step == 1; i += CHUNK) {
      size_t count = least(depth - i, CHUNK);
      for (size_t j = 0; j < width; j++)
        NET(widen)(from + (j * b->output_step + i) * bytes, b->format, 1, count, lines + j * CHUNK);
      NET(turn_over)(lines, CHUNK, width, count, to + i * width, width);
    }
  }
}

static void multiply_stored(const rs_product *product) {
  real panels[SECTION * GROUP] __attribute__((aligned(RS_VECTOR_BYTES)));
  for (size_t column = 0; column < product->columns; column += GROUP) {
    rs_product part = *product;
    size_t k = 0;
    part.columns = least(product->columns - column, GROUP);
    part.c = (real *)product->c + column;
    part.b = panels;
    part.b_panels = true;
    part.b_stored = NULL;
    do {
      part.depth = least(product->depth - k, SECTION);
      part.a = (const real *)product->a + (product->a_turned ? k * product->a_step : k);
      part.add = product->add || k > 0;
      make_panels(product->b_stored, column, part.columns, k, part.depth, panels);
      NET(product)(&part);
      k += SECTION;
    } while (k < product->depth);
  }
}

/* ---- all of a product -------------------------------------------------------------------------------------------- */

/* What of the product begins at `row` and `column`, summed over `depth` from k on. */
static panel panel_at(const rs_product *product, size_t row, size_t column, size_t k, size_t depth) {
  const real *a = product->a, *b = product->b;
  size_t width = least(product->columns - column, COLUMNS), step = product->b_panels ? width : product->b_step;
  bool far = product->b_panels && product->columns * product->depth >= BLOCK;
  b += column * (product->b_panels ? product->depth : 1) + k * step;
  return (panel){.a = product->a_turned ? a + k * product->a_step + row : a + row * product->a_step + k,
                 .a_step = product->a_step,
                 .b = b,
                 .b_step = step,
                 .depth = depth,
                 .c = (real *)product->c + row * product->c_step + column,
                 .c_step = product->c_step,
                 .add = product->add || k > 0,
                 .next = far && column + COLUMNS < product->columns ? b + COLUMNS * product->depth : NULL};
}

void NET(product)(const rs_product *product) {
  size_t section = product->a_turned ? TURNED_SECTION : SECTION, k = 0;
  if (product->b_stored != NULL) {
    multiply_stored(product);
    return;
  }
  do {
    size_t depth = least(product->depth - k, section), block = BLOCK / (depth > 0 ? depth : 1) / ROWS * ROWS;
    for (size_t row = 0; row < product->rows; row += block)
      for (size_t column = 0; column < product->columns; column += COLUMNS) {
        panel p = panel_at(product, row, column, k, depth);
        multiply_panel(&p, least(product->rows - row, block), least(product->columns - column, COLUMNS),
                       product->a_turned);
      }
    k += section;
  } while (k < product->depth);
}

void NET(panels)(const void *x, size_t depth, size_t columns, void *out) {
  for (size_t column = 0; column < columns; column += COLUMNS) {
    size_t width = least(columns - column, COLUMNS);
    NET(turn_over)((const real *)x + column * depth, depth, width, depth, (real *)out + column * depth, width);
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Carried from one place to another, turned and scaled on the way. */

/* The first `count` lanes, at most all. */
RS_INLINE void put(real *y, vec x, size_t count, bool add) {
  store_first(y, add ? x + load_first(y, count) : x, count);
}

/* One row, its table times its factor. */
typedef struct row {
  const real *cosine, *sine;
  size_t entry; /* of its first pair there */
  const real *x;
  real *y;
  size_t pairs, width;
  vec factor, way; /* way: the factor, less than 0 on the way back */
  bool add;
} row;

RS_INLINE void turn_halves(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j;
    vec c = load_first(r->cosine + r->entry + j, left) * r->factor;
    vec s = load_first(r->sine + r->entry + j, left) * r->way;
    vec a = load_first(r->x + j, left), b = load_first(r->x + r->pairs + j, left);
    put(r->y + j, fused(a, c, -(b * s)), left, r->add);
    put(r->y + r->pairs + j, fused(a, s, b * c), left, r->add);
  }
}

RS_INLINE void turn_neighbours(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j, numbers = 2 * left, behind = numbers > WIDTH ? numbers - WIDTH : 0;
    vec c = load_first(r->cosine + r->entry + j, left) * r->factor, a;
    vec s = load_first(r->sine + r->entry + j, left) * r->way, b;
    vec first = load_first(r->x + 2 * j, numbers), second = load_first(r->x + 2 * j + WIDTH, behind);
    separate(first, second, &a, &b);
    interleave(fused(a, c, -(b * s)), fused(a, s, b * c), &first, &second);
    put(r->y + 2 * j, first, numbers, r->add);
    put(r->y + 2 * j + WIDTH, second, behind, r->add);
  }
}

RS_INLINE void carry_rest(const row *r) {
  for (size_t i = 2 * r->pairs; i < r->width; i += WIDTH)
    put(r->y + i, load_first(r->x + i, r->width - i) * r->factor, r->width - i, r->add);
}

/* Rows of one head lie far apart and come from the second cache: asked for some rows before they are carried, attention
 * of 256 tokens takes a twentieth less time. Nothing is read there, so it may lie past the end. */
RS_INLINE void prefetch(const real *from, size_t step, size_t width, bool written) {
  enum { AHEAD = 6 };
  uintptr_t place = (uintptr_t)from + AHEAD * step * sizeof(real);
  for (uintptr_t i = 0; i < width * sizeof(real); i += LINE * sizeof(real))
    written ? __builtin_prefetch((const void *)(place + i), 1) : __builtin_prefetch((const void *)(place + i));
}

/* What is constant where this is inlined costs no branch in a row. */
RS_INLINE void carry(const rs_row_turn *turn, const real *x, size_t x_step, real *y, size_t y_step, bool interleaved,
                     bool add) {
  const real *factor = turn->factor;
  const real sign = turn->back ? -1 : 1;
  row r = {turn->cosine, turn->sine, 0, x, y, turn->pairs, turn->width, all(1), all(sign), add};
  for (size_t i = 0, rows = turn->rows; i < rows; i++) {
    if (factor != NULL) {
      r.factor = all(factor[i]);
      r.way = all(sign * factor[i]);
    }
    prefetch(r.x, x_step, r.width, false);
    prefetch(r.y, y_step, r.width, true);
    if (interleaved)
      turn_neighbours(&r);
    else
      turn_halves(&r);
    carry_rest(&r);
    r.entry += r.pairs;
    r.x += x_step;
    r.y += y_step;
  }
}

void NET(turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step) {
  if (turn->interleaved)
    turn->add ? carry(turn, x, x_step, y, y_step, true, true) : carry(turn, x, x_step, y, y_step, true, false);
  else
    turn->add ? carry(turn, x, x_step, y, y_step, false, true) : carry(turn, x, x_step, y, y_step, false, false);
}
