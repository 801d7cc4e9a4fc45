/* The network kernels' carrying of rows, of every instruction set this machine runs: turned, scaled and added as the
 * formula says, and nothing else written. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../golden.h"
#include "kernel/kernel.h"

enum { ROWS = 3, WIDTH = 90, GAP = 5, STEP = WIDTH + GAP };

/* Numbers as the kernel has them, and in double. */
typedef struct numbers {
  float f32[ROWS * STEP];
  double f64[ROWS * STEP];
} numbers;

static void draw(numbers *out, uint64_t *state) {
  for (size_t i = 0; i < RS_COUNT(out->f64); i++) out->f64[i] = out->f32[i] = (float)draw_real(state, -1, 1);
}

static const void *of_format(const numbers *n, bool single) {
  return single ? (const void *)n->f32 : n->f64;
}

static double number_at(const numbers *n, bool single, size_t place) {
  return single ? n->f32[place] : n->f64[place];
}

/* What number `place` of row `r` becomes. */
static double expected(const rs_row_turn *turn, const numbers table[2], const double *x, const double *factor, size_t r,
                       size_t place) {
  size_t pairs = turn->pairs, pair = turn->interleaved ? place / 2 : place % (pairs > 0 ? pairs : 1);
  bool second = turn->interleaved ? place % 2 == 1 : place >= pairs;
  double scale = turn->factor != NULL ? factor[r] : 1;
  if (place >= 2 * pairs) return scale * x[place];
  double c = table[0].f64[r * pairs + pair], s = table[1].f64[r * pairs + pair] * (turn->back ? -1 : 1);
  double a = x[turn->interleaved ? 2 * pair : pair], b = x[turn->interleaved ? 2 * pair + 1 : pair + pairs];
  return scale * (second ? a * s + b * c : a * c - b * s);
}

static void check(const char *isa, const rs_net_kernel *net, bool single, rs_row_turn turn, bool in_place,
                  uint64_t *state) {
  numbers x, y, before, table[2], factor;
  draw(&x, state);
  draw(&y, state);
  draw(&table[0], state);
  draw(&table[1], state);
  draw(&factor, state);
  if (in_place) y = x;
  before = y;
  turn.cosine = of_format(&table[0], single);
  turn.sine = of_format(&table[1], single);
  if (turn.factor != NULL) turn.factor = of_format(&factor, single);
  net->turn_rows(&turn, of_format(in_place ? &y : &x, single), STEP, (void *)of_format(&y, single), STEP);
  for (size_t i = 0; i < ROWS * STEP; i++) {
    size_t r = i / STEP, place = i % STEP;
    bool written = r < turn.rows && place < turn.width;
    double want = before.f64[i];
    if (written) want = (turn.add ? want : 0) + expected(&turn, table, x.f64 + r * STEP, factor.f64, r, place);
    double slack = !written ? 0 : single ? 4e-7 : 1e-15, got = number_at(&y, single, i);
    cr_assert(fabs(got - want) <= slack, "%s, f%d: %zu x %zu, %zu pairs, number %zu: %.17g, should be %.17g", isa,
              single ? 32 : 64, turn.rows, turn.width, turn.pairs, i, got, want);
  }
}

static void check_shapes(const char *isa, const rs_net_kernel *net, bool single) {
  uint64_t state = 11;
  for (size_t pairs = 0; pairs <= WIDTH / 2; pairs++)
    for (int variant = 0; variant < 32; variant++) {
      size_t width = 2 * pairs + draw_size(&state, 0, WIDTH - 2 * pairs);
      rs_row_turn turn = {.rows = draw_size(&state, 0, ROWS),
                          .width = width,
                          .pairs = pairs,
                          .interleaved = variant & 1,
                          .back = variant & 2,
                          .factor = variant & 4 ? &state : NULL,
                          .add = variant & 8};
      check(isa, net, single, turn, variant & 16, &state);
    }
}

Test(net_turn_rows, every_width_and_way__are_the_formula) {
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    check_shapes(rs_isa_name(i), rs_kernels_get()->net_f32, true);
    check_shapes(rs_isa_name(i), rs_kernels_get()->net_f64, false);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}
