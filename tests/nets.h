/* What tests of the loops of networks share: every instruction set with both reals, and matrices of either real between
 * guards. */
#ifndef ROPESCOPE_TESTS_NETS_H
#define ROPESCOPE_TESTS_NETS_H

#include "golden.h"
#include "kernel/kernel.h"

#include <sys/mman.h>
#include <unistd.h>

/* ---- sets -------------------------------------------------------------------------------------------------------- */

typedef struct net_set {
  const char *isa;
  const rs_net_kernel *net;
  size_t bits; /* of its real */
  double u;    /* half the step from 1 to the next number: what one rounding errs by, relative */
} net_set;

static inline net_set net_set_of(const char *isa, size_t bits) {
  const rs_kernels *kernels = rs_kernels_get();
  net_set set = {isa, bits == 32 ? kernels->net_f32 : kernels->net_f64, bits, bits == 32 ? 0x1p-24 : 0x1p-53};
  cr_assert_eq(set.net->real_bytes, bits / 8);
  return set;
}

/* Runs a check with each set that this machine runs, in floats and in doubles. */
static inline void with_every_net(void (*check)(const net_set *set, uint64_t *state)) {
  uint64_t state = 12;
  for (size_t i = 0; rs_isa_name(i) != NULL; i++)
    for (size_t bits = 32; bits <= 64; bits += 32) {
      cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
      net_set set = net_set_of(rs_isa_name(i), bits);
      check(&set, &state);
    }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

/* Fails where a number is farther from the exact one than the bound. */
static inline void near(const net_set *set, double got, long double want, long double bound, const char *what) {
  cr_assert(fabsl(got - want) <= bound, "%s, %zu bits, %s: got %.17g, expected %.17Lg within %Lg", set->isa, set->bits,
            what, got, want, bound);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

enum { GRID_GUARD = 24 };

/* Rows of numbers among others that are none, whose bits must stay: a loop that reads them spoils its result, one that
 * writes them is caught. Behind the last number memory ends: nothing may be read there, either. */
typedef struct grid {
  size_t bytes; /* of a number */
  size_t rows, columns, step;
  size_t size;  /* numbers in all, of which the first GRID_GUARD stand before the matrix */
  void *memory; /* of the first */
  void *pages;
  size_t mapped; /* bytes */
} grid;

/* Memory for the grid's numbers, up to a page that may not be touched. Release with grid_end. */
static inline void grid_map(grid *g) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = g->size * g->bytes;
  g->mapped = (bytes + page - 1) / page * page + page;
  g->pages = mmap(NULL, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(g->pages != MAP_FAILED);
  char *end = (char *)g->pages + g->mapped - page;
  cr_assert_eq(mprotect(end, page, PROT_NONE), 0);
  g->memory = end - bytes;
}

/* Numbers are none, yet. */
static inline grid grid_with_step(const net_set *set, size_t rows, size_t columns, size_t step) {
  grid g = {.bytes = set->net->real_bytes, .rows = rows, .columns = columns, .step = step};
  g.size = GRID_GUARD + (rows > 0 && columns > 0 ? (rows - 1) * step + columns : 0);
  grid_map(&g);
  memset(g.memory, 0xff, g.size * g.bytes);
  return g;
}

static inline grid grid_of(const net_set *set, uint64_t *state, size_t rows, size_t columns) {
  return grid_with_step(set, rows, columns, columns + draw_size(state, columns == 0, 9));
}

static inline void *grid_start(const grid *g) {
  return (char *)g->memory + GRID_GUARD * g->bytes;
}

static inline double grid_at(const grid *g, size_t row, size_t column) {
  size_t place = GRID_GUARD + row * g->step + column;
  return g->bytes == 4 ? (double)((float *)g->memory)[place] : ((double *)g->memory)[place];
}

static inline void grid_put(const grid *g, size_t row, size_t column, double value) {
  size_t place = GRID_GUARD + row * g->step + column;
  if (g->bytes == 4)
    ((float *)g->memory)[place] = (float)value;
  else
    ((double *)g->memory)[place] = value;
}

/* Numbers of [least, most]. */
static inline grid grid_drawn(const net_set *set, uint64_t *state, size_t rows, size_t columns, double least,
                              double most) {
  grid g = grid_of(set, state, rows, columns);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) grid_put(&g, r, c, draw_real(state, least, most));
  return g;
}

static inline grid grid_copy(const grid *g) {
  grid copy = *g;
  grid_map(&copy);
  memcpy(copy.memory, g->memory, g->size * g->bytes);
  return copy;
}

/* Fails where a guard has changed; frees. */
static inline void grid_end(grid *g) {
  const unsigned char *byte = g->memory;
  for (size_t i = 0; i < g->size; i++) {
    size_t place = i - GRID_GUARD;
    bool inside = i >= GRID_GUARD && place / g->step < g->rows && place % g->step < g->columns;
    for (size_t b = 0; b < g->bytes && !inside; b++)
      cr_assert_eq(byte[i * g->bytes + b], 0xff, "a guard of %zu x %zu was written", g->rows, g->columns);
  }
  munmap(g->pages, g->mapped);
  *g = (grid){0};
}

static inline void grids_end(size_t count, grid *const *grids) {
  for (size_t i = 0; i < count; i++) grid_end(grids[i]);
}

#define GRIDS_END(...) grids_end(sizeof((grid *[]){__VA_ARGS__}) / sizeof(grid *), (grid *const[]){__VA_ARGS__})

#endif
