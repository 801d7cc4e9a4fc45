/* Sums of gradients, their squares, and AdamW: every instruction set, floats and doubles, against plain loops. */
#include "../nets.h"

static void check_add(const net_set *set, uint64_t *state) {
  for (size_t count = 0; count <= 70; count++) {
    grid x = grid_drawn(set, state, 1, count, -1, 1), into = grid_drawn(set, state, 1, count, -1, 1);
    grid before = grid_copy(&into);
    set->net->add(grid_start(&x), count, grid_start(&into));
    for (size_t i = 0; i < count; i++) {
      double sum = grid_at(&x, 0, i) + grid_at(&before, 0, i);
      cr_assert(grid_at(&into, 0, i) == (set->bits == 32 ? (float)sum : sum), "%s: %zu of %zu", set->isa, i, count);
    }
    GRIDS_END(&x, &into, &before);
  }
}

Test(net_update, add__each_sum_rounded_once) {
  with_every_net(check_add);
}

/* In 16 lanes: floats have the same sum in every set. */
static double defined_squares(const grid *x) {
  double sums[16] = {0}, total = 0;
  for (size_t i = 0; i < x->columns; i++) sums[i % 16] += grid_at(x, 0, i) * grid_at(x, 0, i);
  for (size_t i = 0; i < 16; i++) total += sums[i];
  return total;
}

static void check_squares(const net_set *set, uint64_t *state) {
  for (size_t count = 0; count <= 200; count++) {
    grid x = grid_drawn(set, state, 1, count, -3, 3);
    double got = set->net->squares(grid_start(&x), count), want = defined_squares(&x);
    if (set->bits == 32 || strcmp(set->isa, "generic") == 0)
      cr_assert(got == want, "%s, %zu bits, %zu: got %.17g, expected %.17g", set->isa, set->bits, count, got, want);
    near(set, got, want, (count + 16) * 0x1p-53 * want, "squares");
    grid_end(&x);
  }
}

Test(net_update, squares__same_bits_from_floats_in_every_set) {
  with_every_net(check_squares);
}

/* ---- AdamW ------------------------------------------------------------------------------------------------------- */

typedef struct weights {
  grid values, first, second;
} weights;

/* Some steps in, so that moments are there. Squares are positive. */
static weights weights_of(const net_set *set, uint64_t *state, size_t count) {
  return (weights){grid_drawn(set, state, 1, count, -1, 1), grid_drawn(set, state, 1, count, -0.1, 0.1),
                   grid_drawn(set, state, 1, count, 0, 0.1)};
}

/* Moments are sums of two products and err by 4 roundings of their parts; the step by those of the moments, and 8. */
static void check_step(const net_set *set, const rs_adam *a, const grid *gradient, const weights *before,
                       const weights *after) {
  for (size_t i = 0; i < gradient->columns; i++) {
    long double g = grid_at(gradient, 0, i) * a->gradient, value = grid_at(&before->values, 0, i);
    long double kept1 = grid_at(&before->first, 0, i) * a->beta1, new1 = g * (1 - a->beta1);
    long double kept2 = grid_at(&before->second, 0, i) * a->beta2, new2 = g * g * (1 - a->beta2);
    long double root = sqrtl((kept2 + new2) * a->fix2) + a->epsilon, step = a->rate * a->fix1 / root;
    near(set, grid_at(&after->first, 0, i), kept1 + new1, 4 * set->u * (fabsl(kept1) + fabsl(new1)), "first");
    near(set, grid_at(&after->second, 0, i), kept2 + new2, 5 * set->u * (kept2 + new2), "second");
    near(set, grid_at(&after->values, 0, i), value * a->keep - step * (kept1 + new1),
         3 * set->u * fabsl(value) + 16 * set->u * step * (fabsl(kept1) + fabsl(new1)), "value");
  }
}

static void check_adam(const net_set *set, uint64_t *state) {
  for (size_t count = 0; count <= 70; count++) {
    rs_adam adam = {.rate = draw_real(state, 0.01, 0.1),
                    .beta1 = draw_real(state, 0.5, 0.9),
                    .beta2 = draw_real(state, 0.5, 0.98),
                    .epsilon = draw_real(state, 0.001, 0.1),
                    .keep = draw_real(state, 0.5, 1),
                    .gradient = draw_real(state, 0.1, 1),
                    .fix1 = draw_real(state, 1, 9),
                    .fix2 = draw_real(state, 1, 9)};
    grid gradient = grid_drawn(set, state, 1, count, -1, 1);
    weights after = weights_of(set, state, count);
    weights before = {grid_copy(&after.values), grid_copy(&after.first), grid_copy(&after.second)};
    set->net->adam(&adam, grid_start(&gradient), count, grid_start(&after.values), grid_start(&after.first),
                   grid_start(&after.second));
    check_step(set, &adam, &gradient, &before, &after);
    GRIDS_END(&gradient, &after.values, &after.first, &after.second, &before.values, &before.first, &before.second);
  }
}

Test(net_update, adam__is_the_formula) {
  with_every_net(check_adam);
}
