/* Online softmax, its gradient, and cross-entropy: every instruction set, floats and doubles, against plain loops in
 * long double and against differences of themselves. */
#include "../nets.h"

/* ---- rows of tiles ----------------------------------------------------------------------------------------------- */

/* Logits of some rows, in tiles side by side, and which columns of each tile a row sees. */
enum { TILES = 3, MOST_ROWS = 40 };

typedef struct softened {
  grid logits, weights[TILES], top, sum, shrink[TILES];
  uint32_t begin[TILES][MOST_ROWS], end[TILES][MOST_ROWS];
  size_t rows, columns; /* of a tile */
} softened;

/* Now and then everything, nothing, one column, or an end before the beginning. */
static void draw_span(uint64_t *state, size_t columns, uint32_t *begin, uint32_t *end) {
  size_t a = draw_size(state, 0, columns - 1), b = draw_size(state, a, columns), kind = draw_size(state, 0, 7);
  *begin = (uint32_t)(kind == 0 ? 0 : kind == 3 ? b : a);
  *end = (uint32_t)(kind == 0 ? columns : kind == 1 || kind == 3 ? a : kind == 2 ? a + 1 : b);
}

static bool is_seen(const softened *s, size_t tile, size_t row, size_t column) {
  return column >= s->begin[tile][row] && column < s->end[tile][row];
}

static rs_soft_tile tile_of(softened *s, size_t tile) {
  return (rs_soft_tile){s->rows,        s->columns,  grid_start(&s->weights[tile]), s->weights[tile].step,
                        s->begin[tile], s->end[tile]};
}

static softened drawn(const net_set *set, uint64_t *state, size_t rows, size_t columns, double most) {
  softened s = {.logits = grid_drawn(set, state, rows, TILES * columns, -most, most),
                .top = grid_of(set, state, 1, rows),
                .sum = grid_of(set, state, 1, rows),
                .rows = rows,
                .columns = columns};
  for (size_t r = 0; r < rows; r++) {
    grid_put(&s.top, 0, r, -INFINITY);
    grid_put(&s.sum, 0, r, 0);
    for (size_t t = 0; t < TILES; t++) draw_span(state, columns, &s.begin[t][r], &s.end[t][r]);
  }
  for (size_t t = 0; t < TILES; t++) {
    s.weights[t] = grid_of(set, state, rows, columns);
    s.shrink[t] = grid_of(set, state, 1, rows);
  }
  return s;
}

/* Unseen logits are none: they must not matter. */
static void soften_tile(const net_set *set, softened *s, size_t t) {
  for (size_t r = 0; r < s->rows; r++)
    for (size_t c = 0; c < s->columns; c++)
      grid_put(&s->weights[t], r, c, is_seen(s, t, r, c) ? grid_at(&s->logits, r, t * s->columns + c) : NAN);
  rs_soft_tile tile = tile_of(s, t);
  set->net->soften(&tile, grid_start(&s->top), grid_start(&s->sum), grid_start(&s->shrink[t]));
}

/* `tiles`: how many were softened; the others' numbers must still be none. */
static void softened_end(softened *s, size_t tiles) {
  for (size_t t = tiles; t < TILES; t++) s->weights[t].rows = s->shrink[t].rows = 0;
  GRIDS_END(&s->logits, &s->top, &s->sum, &s->weights[0], &s->weights[1], &s->weights[2], &s->shrink[0], &s->shrink[1],
            &s->shrink[2]);
}

/* The largest logit that a row has seen in tiles before `end`. */
static double top_at(const softened *s, size_t row, size_t end) {
  double top = -INFINITY;
  for (size_t t = 0; t < end; t++)
    for (size_t c = 0; c < s->columns; c++)
      if (is_seen(s, t, row, c)) top = fmax(top, grid_at(&s->logits, row, t * s->columns + c));
  return top;
}

static long double power(double logit, double top) {
  return logit == -INFINITY ? 0 : expl((long double)logit - top);
}

static long double sum_at(const softened *s, size_t row, size_t end, double top) {
  long double sum = 0;
  for (size_t t = 0; t < end; t++)
    for (size_t c = 0; c < s->columns; c++)
      if (is_seen(s, t, row, c)) sum += power(grid_at(&s->logits, row, t * s->columns + c), top);
  return sum;
}

/* A weight e^-x errs by 3 roundings and x of them, at most (3 + 1/e) in units of the largest weight, and is 0 below the
 * least normal number; sums by that of each of their terms, and a rounding a column. */
static void check_tile(const net_set *set, const softened *s, size_t t) {
  long double bound = 5 * set->u;
  for (size_t r = 0; r < s->rows; r++) {
    double before = top_at(s, r, t), top = top_at(s, r, t + 1);
    cr_assert(grid_at(&s->top, 0, r) == top, "%s: top %g, not %g", set->isa, grid_at(&s->top, 0, r), top);
    near(set, grid_at(&s->shrink[t], 0, r), top == -INFINITY ? 1 : power(before, top), bound, "shrink");
    long double sum = sum_at(s, r, t + 1, top);
    near(set, grid_at(&s->sum, 0, r), sum, bound * sum * (4 + s->columns), "sum");
    for (size_t c = 0; c < s->columns; c++) {
      double weight = grid_at(&s->weights[t], r, c), logit = grid_at(&s->logits, r, t * s->columns + c);
      if (is_seen(s, t, r, c) && logit > -INFINITY)
        near(set, weight, power(logit, top), bound, "weight");
      else
        cr_assert(weight == 0, "%s: unseen weight %g", set->isa, weight);
    }
  }
}

static void check_online(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 90; i++) {
    softened s = drawn(set, state, draw_size(state, 1, MOST_ROWS), draw_size(state, 1, 70), i % 3 ? 5 : 150);
    for (size_t t = 0; t < TILES; t++) {
      soften_tile(set, &s, t);
      check_tile(set, &s, t);
    }
    softened_end(&s, TILES);
  }
}

Test(net_softmax, tiles_one_after_the_other__are_the_softmax) {
  with_every_net(check_online);
}

/* Logits of -infinity are as if unseen, alone in a row or among others; equal logits weigh 1. */
static void check_special_logits(const net_set *set, uint64_t *state) {
  softened s = drawn(set, state, 4, 19, 1);
  for (size_t t = 0; t < TILES; t++)
    for (size_t r = 0; r < 4; r++) {
      s.begin[t][r] = 0;
      s.end[t][r] = 19;
      for (size_t c = 0; c < 19; c++) {
        double logit = r == 0 || (r == 1 && t == 0) || (r == 2 && c % 2) ? -INFINITY : r == 3 ? 0.7 : r * 0.1 + c;
        grid_put(&s.logits, r, t * 19 + c, logit);
      }
    }
  for (size_t t = 0; t < TILES; t++) {
    soften_tile(set, &s, t);
    check_tile(set, &s, t);
  }
  cr_assert(grid_at(&s.sum, 0, 0) == 0 && grid_at(&s.sum, 0, 3) == TILES * 19);
  softened_end(&s, TILES);
}

Test(net_softmax, logits_of_minus_infinity_and_equal_ones__weigh_0_and_1) {
  with_every_net(check_special_logits);
}

static void check_none(const net_set *set, uint64_t *state) {
  softened s = drawn(set, state, 3, 19, 1);
  for (size_t r = 0; r < 3; r++) {
    s.begin[0][r] = 0;
    s.end[0][r] = 19;
  }
  grid_put(&s.logits, 1, 7, NAN);
  soften_tile(set, &s, 0);
  cr_assert(isnan(grid_at(&s.sum, 0, 1)), "%s: a logit that is none got lost", set->isa);
  cr_assert(isfinite(grid_at(&s.sum, 0, 0)) && isfinite(grid_at(&s.sum, 0, 2)));
  softened_end(&s, 1);
}

Test(net_softmax, a_logit_that_is_none__spoils_its_row_alone) {
  with_every_net(check_none);
}

/* ---- the way back ------------------------------------------------------------------------------------------------ */

/* p and p (dp - dot) of the first tile, whose level stands for all tiles. */
static void check_back_row(const net_set *set, const softened *s, const grid *dp, const grid *gradient, size_t row,
                           double level, double dot) {
  for (size_t c = 0; c < s->columns; c++) {
    double weight = grid_at(&s->weights[0], row, c), got = grid_at(gradient, row, c);
    if (!is_seen(s, 0, row, c)) {
      cr_assert(weight == 0 && got == 0, "%s: unseen weight %g, gradient %g", set->isa, weight, got);
      continue;
    }
    long double p = power(grid_at(&s->logits, row, c), level), about = grid_at(dp, row, c) - (long double)dot;
    near(set, weight, p, 5 * set->u, "weight");
    near(set, got, p * about, 5 * set->u * fabsl(about) + 2 * set->u * p * (fabs(dot) + 1), "gradient");
  }
}

static void check_back(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 60; i++) {
    softened s = drawn(set, state, draw_size(state, 1, MOST_ROWS), draw_size(state, 1, 70), i % 3 ? 5 : 150);
    grid level = grid_of(set, state, 1, s.rows), dot = grid_drawn(set, state, 1, s.rows, -1, 1);
    grid dp = grid_drawn(set, state, s.rows, s.columns, -1, 1), gradient = grid_copy(&dp);
    for (size_t c = 0; c < TILES * s.columns && i % 2; c++) grid_put(&s.logits, 0, c, -INFINITY);
    for (size_t r = 0; r < s.rows; r++) {
      double top = top_at(&s, r, TILES);
      grid_put(&level, 0, r, (double)(top == -INFINITY ? top : top + logl(sum_at(&s, r, TILES, top))));
      for (size_t c = 0; c < s.columns; c++) {
        grid_put(&s.weights[0], r, c, is_seen(&s, 0, r, c) ? grid_at(&s.logits, r, c) : NAN);
        if (!is_seen(&s, 0, r, c)) grid_put(&gradient, r, c, NAN);
      }
    }
    rs_soft_tile tile = tile_of(&s, 0);
    set->net->soften_back(&tile, grid_start(&level), grid_start(&dot), grid_start(&gradient), gradient.step);
    for (size_t r = 0; r < s.rows; r++)
      check_back_row(set, &s, &dp, &gradient, r, grid_at(&level, 0, r), grid_at(&dot, 0, r));
    s.shrink[0].rows = 0;
    softened_end(&s, 1);
    GRIDS_END(&level, &dot, &dp, &gradient);
  }
}

Test(net_softmax, way_back__weights_and_gradients_are_the_formula) {
  with_every_net(check_back);
}

/* The sum of p v over a row, by the way forward, with one logit moved. */
static double mean_moved(const net_set *set, softened *s, const grid *v, size_t column, double change) {
  double logit = grid_at(&s->logits, 0, column), sum = 0;
  grid_put(&s->logits, 0, column, logit + change);
  grid_put(&s->top, 0, 0, -INFINITY);
  grid_put(&s->sum, 0, 0, 0);
  soften_tile(set, s, 0);
  grid_put(&s->logits, 0, column, logit);
  for (size_t c = 0; c < s->columns; c++) sum += grid_at(&s->weights[0], 0, c) * grid_at(v, 0, c);
  return sum / grid_at(&s->sum, 0, 0);
}

static void check_differences(const net_set *set, uint64_t *state) {
  const double h = 1e-5;
  if (set->bits == 32) return;
  softened s = drawn(set, state, 1, 29, 2);
  s.begin[0][0] = 3;
  s.end[0][0] = 24;
  grid v = grid_drawn(set, state, 1, 29, -1, 1), gradient = grid_copy(&v);
  grid level = grid_of(set, state, 1, 1), dot = grid_of(set, state, 1, 1);
  double differences[29];
  for (size_t c = 0; c < 29; c++)
    differences[c] = (mean_moved(set, &s, &v, c, h) - mean_moved(set, &s, &v, c, -h)) / (2 * h);
  grid_put(&dot, 0, 0, mean_moved(set, &s, &v, 0, 0));
  grid_put(&level, 0, 0, grid_at(&s.top, 0, 0) + log(grid_at(&s.sum, 0, 0)));
  for (size_t c = 0; c < 29; c++) grid_put(&s.weights[0], 0, c, grid_at(&s.logits, 0, c));
  rs_soft_tile tile = tile_of(&s, 0);
  set->net->soften_back(&tile, grid_start(&level), grid_start(&dot), grid_start(&gradient), gradient.step);
  for (size_t c = 0; c < 29; c++) near(set, grid_at(&gradient, 0, c), differences[c], 1e-9, "gradient");
  softened_end(&s, 1);
  GRIDS_END(&v, &gradient, &level, &dot);
}

Test(net_softmax, gradients__are_central_differences) {
  with_every_net(check_differences);
}

static void check_scaled(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 60; i++) {
    grid x = grid_drawn(set, state, draw_size(state, 1, 9), draw_size(state, 1, 70), -1, 1), before = grid_copy(&x);
    grid factor = grid_drawn(set, state, 1, x.rows, -2, 2);
    set->net->scale_rows(grid_start(&x), x.step, x.rows, x.columns, grid_start(&factor));
    for (size_t r = 0; r < x.rows; r++)
      for (size_t c = 0; c < x.columns; c++) {
        double product = grid_at(&before, r, c) * grid_at(&factor, 0, r);
        cr_assert(grid_at(&x, r, c) == (set->bits == 32 ? (float)product : product));
      }
    GRIDS_END(&x, &before, &factor);
  }
}

Test(net_softmax, scaled_rows__each_number_rounded_once) {
  with_every_net(check_scaled);
}
