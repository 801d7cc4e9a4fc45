/* Norms of rows and their gradients: every instruction set, floats and doubles, against plain loops in long double and
 * against differences of themselves. */
#include "../nets.h"

typedef struct normed {
  grid x, weight, bias, mean, scale, y, dy, dx, dweight, dbias;
  grid dx_before, dweight_before, dbias_before;
  rs_norm_call call;
} normed;

enum { CENTRED = 1, WEIGHTED = 2, BIASED = 4, WAYS = 8, MOST_WIDTH = 70 };

/* Both ways through one norm; gradients are added to numbers that are there. */
static normed normed_of(const net_set *set, uint64_t *state, size_t rows, size_t width, size_t way) {
  normed n = {.x = grid_drawn(set, state, rows, width, -2, 3),
              .weight = grid_drawn(set, state, 1, width, -1, 1),
              .bias = grid_drawn(set, state, 1, width, -1, 1),
              .mean = grid_of(set, state, 1, rows),
              .scale = grid_of(set, state, 1, rows),
              .y = grid_of(set, state, rows, width),
              .dy = grid_drawn(set, state, rows, width, -1, 1),
              .dx = grid_drawn(set, state, rows, width, -1, 1),
              .dweight = grid_drawn(set, state, 1, width, -1, 1),
              .dbias = grid_drawn(set, state, 1, width, -1, 1)};
  n.dx_before = grid_copy(&n.dx);
  n.dweight_before = grid_copy(&n.dweight);
  n.dbias_before = grid_copy(&n.dbias);
  n.call = (rs_norm_call){.rows = rows,
                          .width = width,
                          .centred = way & CENTRED,
                          .epsilon = 0.01,
                          .weight = way & WEIGHTED ? grid_start(&n.weight) : NULL,
                          .lift = way & BIASED ? 1 : 0,
                          .bias = way & BIASED ? grid_start(&n.bias) : NULL,
                          .x = grid_start(&n.x),
                          .x_step = n.x.step,
                          .mean = way & CENTRED ? grid_start(&n.mean) : NULL,
                          .scale = grid_start(&n.scale)};
  set->net->norm(&n.call, grid_start(&n.y), n.y.step);
  set->net->norm_back(&n.call, grid_start(&n.dy), n.dy.step, grid_start(&n.dx), n.dx.step, grid_start(&n.dweight),
                      grid_start(&n.dbias));
  return n;
}

/* Statistics of rows that have none stay as they were. */
static void normed_end(normed *n) {
  if (!n->call.centred) n->mean.columns = 0;
  GRIDS_END(&n->x, &n->weight, &n->bias, &n->mean, &n->scale, &n->y, &n->dy, &n->dx, &n->dweight, &n->dbias,
            &n->dx_before, &n->dweight_before, &n->dbias_before);
}

static long double factor_at(const normed *n, size_t i) {
  return n->call.weight == NULL ? 1 : (long double)grid_at(&n->weight, 0, i) + n->call.lift;
}

typedef struct statistics {
  long double mean, scale, of_g, of_gn; /* means of g = dy (weight + lift) and of g (x - mean) scale */
  long double size_of_g;                /* the mean of |g| */
} statistics;

static statistics statistics_of(const normed *n, size_t row) {
  statistics s = {0};
  long double squares = 0, width = n->call.width;
  for (size_t i = 0; i < n->call.width && n->call.centred; i++) s.mean += grid_at(&n->x, row, i) / width;
  for (size_t i = 0; i < n->call.width; i++) squares += powl(grid_at(&n->x, row, i) - s.mean, 2) / width;
  s.scale = 1 / sqrtl(squares + n->call.epsilon);
  for (size_t i = 0; i < n->call.width; i++) {
    long double g = grid_at(&n->dy, row, i) * factor_at(n, i) / width;
    s.of_g += n->call.centred ? g : 0;
    s.of_gn += g * (grid_at(&n->x, row, i) - s.mean) * s.scale;
    s.size_of_g += fabsl(g);
  }
  return s;
}

/* A sum over the row errs by at most width roundings of its largest part; the rest by some more. Rows are of numbers up
 * to 3, so that no row's scale is above 10 nor its scaled numbers above `largest`. */
static void check_row(const net_set *set, const normed *n, size_t row) {
  statistics s = statistics_of(n, row);
  long double bound = (n->call.width + 12) * set->u, largest = sqrtl(n->call.width);
  near(set, grid_at(&n->scale, 0, row), s.scale, bound * s.scale * (1 + 9 * s.scale * s.scale), "scale");
  if (n->call.centred) near(set, grid_at(&n->mean, 0, row), s.mean, bound * 3, "mean");
  bound *= 3 + 9 * s.scale * s.scale;
  for (size_t i = 0; i < n->call.width; i++) {
    long double about = (grid_at(&n->x, row, i) - s.mean) * s.scale, factor = factor_at(n, i);
    long double bias = n->call.bias != NULL ? grid_at(&n->bias, 0, i) : 0;
    near(set, grid_at(&n->y, row, i), about * factor + bias, bound * (largest + s.scale) * 2, "y");
    long double g = grid_at(&n->dy, row, i) * factor, change = s.scale * (g - s.of_g - about * s.of_gn);
    near(set, grid_at(&n->dx, row, i) - grid_at(&n->dx_before, row, i), change,
         bound * (1 + s.scale) * (2 + s.size_of_g * largest * largest), "dx");
  }
}

static void check_sums(const net_set *set, const normed *n) {
  long double weight[MOST_WIDTH], bias[MOST_WIDTH], size[MOST_WIDTH];
  for (size_t i = 0; i < n->call.width; i++) {
    weight[i] = grid_at(&n->dweight_before, 0, i);
    bias[i] = grid_at(&n->dbias_before, 0, i);
    size[i] = 2;
  }
  for (size_t r = 0; r < n->call.rows; r++) {
    statistics s = statistics_of(n, r);
    for (size_t i = 0; i < n->call.width; i++) {
      long double about = (grid_at(&n->x, r, i) - s.mean) * s.scale;
      weight[i] += grid_at(&n->dy, r, i) * about;
      bias[i] += grid_at(&n->dy, r, i);
      size[i] += (1 + fabsl(about) + s.scale) * (3 + 9 * s.scale * s.scale);
    }
  }
  for (size_t i = 0; i < n->call.width; i++) {
    long double bound = (n->call.rows + n->call.width + 12) * set->u * size[i];
    near(set, grid_at(&n->dweight, 0, i), weight[i], bound, "dweight");
    near(set, grid_at(&n->dbias, 0, i), bias[i], bound, "dbias");
  }
}

static void check_norms(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 160; i++) {
    normed n = normed_of(set, state, draw_size(state, 1, i % 4 ? 9 : 40), draw_size(state, 1, MOST_WIDTH), i % WAYS);
    for (size_t r = 0; r < n.call.rows; r++) check_row(set, &n, r);
    check_sums(set, &n);
    normed_end(&n);
  }
}

Test(net_norm, drawn_rows__value_and_gradients_are_the_formula) {
  with_every_net(check_norms);
}

/* What is not wanted is not written. */
static void check_unwanted(const net_set *set, uint64_t *state) {
  normed n = normed_of(set, state, 5, 37, CENTRED | WEIGHTED), other = n;
  other.dx = grid_copy(&n.dx_before);
  set->net->norm_back(&n.call, grid_start(&n.dy), n.dy.step, grid_start(&other.dx), other.dx.step, NULL, NULL);
  for (size_t r = 0; r < 5; r++)
    for (size_t i = 0; i < 37; i++) cr_assert(grid_at(&other.dx, r, i) == grid_at(&n.dx, r, i));
  grid_end(&other.dx);
  normed_end(&n);
}

Test(net_norm, weights_gradients_not_wanted__dx_is_the_same) {
  with_every_net(check_unwanted);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The sum of dy y with one number of `moved` changed. */
static double sum_moved(const net_set *set, normed *n, const grid *moved, size_t row, size_t column, double change) {
  double before = grid_at(moved, row, column), sum = 0;
  grid_put(moved, row, column, before + change);
  set->net->norm(&n->call, grid_start(&n->y), n->y.step);
  grid_put(moved, row, column, before);
  for (size_t r = 0; r < n->call.rows; r++)
    for (size_t i = 0; i < n->call.width; i++) sum += grid_at(&n->dy, r, i) * grid_at(&n->y, r, i);
  return sum;
}

static void check_difference(const net_set *set, normed *n, const grid *moved, const grid *gradient, const grid *before,
                             size_t row, size_t column) {
  const double h = 1e-5;
  double difference = (sum_moved(set, n, moved, row, column, h) - sum_moved(set, n, moved, row, column, -h)) / (2 * h);
  near(set, grid_at(gradient, row, column) - grid_at(before, row, column), difference, 2e-8, "gradient");
}

static void check_differences(const net_set *set, uint64_t *state) {
  if (set->bits == 32) return;
  for (size_t way = 0; way < WAYS; way++) {
    normed n = normed_of(set, state, 3, 21, way);
    for (size_t i = 0; i < 21; i++) {
      for (size_t r = 0; r < 3; r++) check_difference(set, &n, &n.x, &n.dx, &n.dx_before, r, i);
      if (way & WEIGHTED) check_difference(set, &n, &n.weight, &n.dweight, &n.dweight_before, 0, i);
      if (way & BIASED) check_difference(set, &n, &n.bias, &n.dbias, &n.dbias_before, 0, i);
    }
    normed_end(&n);
  }
}

Test(net_norm, gradients__are_central_differences) {
  with_every_net(check_differences);
}
