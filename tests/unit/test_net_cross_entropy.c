/* Cross-entropy and its gradient: every instruction set, floats and doubles, against plain loops in long double and
 * against differences of itself. */
#include "../nets.h"

enum { MOST_ROWS = 20 };

typedef struct entropies {
  grid logits, gradient; /* as they were, and what became of them */
  int32_t targets[MOST_ROWS], answers[MOST_ROWS];
  double losses[MOST_ROWS], weight;
} entropies;

static void compute(const net_set *set, entropies *e) {
  set->net->cross_entropy(grid_start(&e->gradient), e->gradient.step, e->gradient.rows, e->gradient.columns, e->targets,
                          e->weight, e->losses, e->answers);
}

static entropies drawn(const net_set *set, uint64_t *state, size_t rows, size_t classes, double most, double weight) {
  entropies e = {.logits = grid_drawn(set, state, rows, classes, -most, most), .weight = weight};
  e.gradient = grid_copy(&e.logits);
  for (size_t r = 0; r < rows; r++)
    e.targets[r] = draw_size(state, 0, 3) == 0 ? -1 : (int32_t)draw_size(state, 0, classes - 1);
  compute(set, &e);
  return e;
}

static void entropies_end(entropies *e) {
  GRIDS_END(&e->logits, &e->gradient);
}

/* The first of the largest. */
static size_t answer_at(const entropies *e, size_t row) {
  size_t best = 0;
  for (size_t c = 1; c < e->logits.columns; c++)
    if (grid_at(&e->logits, row, c) > grid_at(&e->logits, row, best)) best = c;
  return best;
}

/* Powers err as at soften, each class's share of their sum too; 1024 classes are summed in `real` at most, in lanes.
 * The logarithm errs by 3 roundings of double, the rest of the loss by 2. */
static void check_row(const net_set *set, const entropies *e, size_t row) {
  size_t classes = e->logits.columns, target = (size_t)e->targets[row], best = answer_at(e, row);
  long double top = grid_at(&e->logits, row, best), sum = 0, size = fabs(e->weight);
  for (size_t c = 0; c < classes; c++) sum += expl(grid_at(&e->logits, row, c) - top);
  long double adding = (classes < 1024 ? classes : 1024) / 2 + 8;
  long double loss = e->targets[row] < 0 ? NAN : logl(sum) + (top - grid_at(&e->logits, row, target));
  cr_assert_eq(e->answers[row], (int32_t)best, "%s: answer %d, not %zu", set->isa, (int)e->answers[row], best);
  if (e->targets[row] < 0)
    cr_assert(isnan(e->losses[row]), "%s: the loss without a target is %g", set->isa, e->losses[row]);
  else
    near(set, e->losses[row], loss, (adding + 5) * set->u + 0x1p-53L * (3 * logl(sum) + 2 * loss), "loss");
  for (size_t c = 0; c < classes; c++) {
    long double p = expl(grid_at(&e->logits, row, c) - top) / sum;
    long double want = e->targets[row] < 0 ? 0 : e->weight * (p - (c == target));
    if (e->weight == 0)
      cr_assert(grid_at(&e->gradient, row, c) == grid_at(&e->logits, row, c), "%s: a logit has changed", set->isa);
    else
      near(set, grid_at(&e->gradient, row, c), want,
           e->targets[row] < 0 ? 0 : set->u * size * (6 + p * adding + (c == target)), "gradient");
  }
}

static void check_drawn(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 120; i++) {
    entropies e = drawn(set, state, draw_size(state, 1, MOST_ROWS), draw_size(state, 1, 70), i % 3 ? 5 : 150,
                        i % 2 ? draw_real(state, -2, 2) : 0);
    for (size_t r = 0; r < e.logits.rows; r++) check_row(set, &e, r);
    entropies_end(&e);
  }
}

Test(net_cross_entropy, drawn_logits__losses_answers_and_gradients_are_the_formula) {
  with_every_net(check_drawn);
}

static void check_many_classes(const net_set *set, uint64_t *state) {
  static const size_t counts[] = {1023, 1024, 1025, 2048, 5000};
  for (size_t i = 0; i < RS_COUNT(counts); i++)
    for (size_t kept = 0; kept < 2; kept++) {
      entropies e = drawn(set, state, 3, counts[i], 3, kept);
      for (size_t r = 0; r < 3; r++) check_row(set, &e, r);
      entropies_end(&e);
    }
}

Test(net_cross_entropy, more_classes_than_a_section__are_the_formula) {
  with_every_net(check_many_classes);
}

/* One class, and equal logits, of which the first is the answer; -infinity, which has no weight. */
static void check_special_rows(const net_set *set, uint64_t *state) {
  entropies one = drawn(set, state, 1, 1, 3, 0.5), e = drawn(set, state, 3, 41, 3, 1);
  one.targets[0] = 0;
  grid_put(&one.gradient, 0, 0, 2.5);
  compute(set, &one);
  cr_assert(one.losses[0] == 0 && one.answers[0] == 0 && grid_at(&one.gradient, 0, 0) == 0);
  for (size_t c = 0; c < 41; c++) {
    grid_put(&e.logits, 0, c, -1.25);
    grid_put(&e.logits, 1, c, c == 20 || c == 33 ? 2 : 1);
    grid_put(&e.logits, 2, c, c % 3 ? -INFINITY : 0);
  }
  entropies_end(&(entropies){e.gradient, grid_copy(&e.logits), {0}, {0}, {0}, 0});
  e.gradient = grid_copy(&e.logits);
  for (size_t r = 0; r < 3; r++) e.targets[r] = (int32_t)(3 * r);
  compute(set, &e);
  for (size_t r = 0; r < 3; r++) check_row(set, &e, r);
  near(set, e.losses[0], logl(41), 30 * set->u, "the loss of equal logits");
  cr_assert(e.answers[0] == 0 && e.answers[1] == 20 && e.answers[2] == 0);
  cr_assert(grid_at(&e.gradient, 2, 1) == 0);
  entropies_end(&one);
  entropies_end(&e);
}

Test(net_cross_entropy, one_class_equal_logits_minus_infinity__are_the_formula) {
  with_every_net(check_special_rows);
}

static void check_no_answers(const net_set *set, uint64_t *state) {
  entropies e = drawn(set, state, 4, 19, 3, 0);
  double losses[4];
  set->net->cross_entropy(grid_start(&e.gradient), e.gradient.step, 4, 19, e.targets, 0, losses, NULL);
  for (size_t r = 0; r < 4; r++) cr_assert(losses[r] == e.losses[r] || e.targets[r] < 0);
  grid_put(&e.gradient, 2, 18, NAN);
  e.targets[2] = 0;
  compute(set, &e);
  cr_assert(isnan(e.losses[2]), "%s: a logit that is none got lost", set->isa);
  entropies_end(&e);
}

Test(net_cross_entropy, answers_not_wanted_and_no_number__same_losses_and_none) {
  with_every_net(check_no_answers);
}

/* The loss of the first row with one logit moved. */
static double loss_moved(const net_set *set, const entropies *e, size_t column, double change) {
  double loss;
  grid moved = grid_copy(&e->logits);
  grid_put(&moved, 0, column, grid_at(&moved, 0, column) + change);
  set->net->cross_entropy(grid_start(&moved), moved.step, 1, moved.columns, e->targets, 0, &loss, NULL);
  grid_end(&moved);
  return loss;
}

static void check_differences(const net_set *set, uint64_t *state) {
  const double h = 1e-5;
  if (set->bits == 32) return;
  for (size_t i = 0; i < 5; i++) {
    entropies e = drawn(set, state, 1, draw_size(state, 2, 50), 3, 1);
    e.targets[0] = (int32_t)draw_size(state, 0, e.logits.columns - 1);
    grid_end(&e.gradient);
    e.gradient = grid_copy(&e.logits);
    compute(set, &e);
    for (size_t c = 0; c < e.logits.columns; c++) {
      double difference = (loss_moved(set, &e, c, h) - loss_moved(set, &e, c, -h)) / (2 * h);
      near(set, grid_at(&e.gradient, 0, c), difference, 1e-9, "gradient");
    }
    entropies_end(&e);
  }
}

Test(net_cross_entropy, gradients__are_central_differences) {
  with_every_net(check_differences);
}
