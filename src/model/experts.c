/* Feed-forward layers of experts, forwards: each reads the rows that chose it, all at a time. */
#include "layers.h"

#include <math.h>
#include <string.h>

/* Whether expert `a` comes before `b`: by score, the first of equals. */
static bool is_before(const real *scores, size_t a, size_t b) {
  return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

/* The best expert behind `last` in that order; `last` may be `count`: the best of all. */
static size_t next_best(const real *scores, size_t count, size_t last) {
  size_t best = count;
  for (size_t e = 0; e < count; e++)
    if ((last == count || is_before(scores, last, e)) && (best == count || is_before(scores, e, best))) best = e;
  return best;
}

/* The softmax of the row's largest `used` scores, in their places; 0 in the others. */
static void weigh_row(const rs_experts *experts, real *scores) {
  size_t count = experts->count, first = next_best(scores, count, count), last = first;
  real top = scores[first], least, sum = 0;
  for (size_t k = 1; k < experts->used; k++) last = next_best(scores, count, last);
  least = scores[last];
  for (size_t e = 0; e < count; e++) {
    bool chosen = scores[e] > least || (scores[e] == least && e <= last);
    scores[e] = chosen ? (real)exp((double)(scores[e] - top)) : 0;
    sum += scores[e];
  }
  for (size_t e = 0; e < count; e++) scores[e] /= sum;
}

/* Of one group, the two largest numbers' sum. */
static real best_two(const real *choices, size_t count) {
  size_t first = next_best(choices, count, count), second = next_best(choices, count, first);
  return choices[first] + (second < count ? choices[second] : 0);
}

/* What is outside the groups whose best two have most gets 0 (modeling_deepseek_v3.py). */
static void leave_groups(const rs_experts *experts, real *choices) {
  size_t each = experts->count / experts->groups, last = experts->groups;
  real *groups = choices + experts->count;
  for (size_t g = 0; g < experts->groups; g++) groups[g] = best_two(choices + g * each, each);
  for (size_t k = 0; k < experts->groups_used; k++) last = next_best(groups, experts->groups, last);
  for (size_t g = 0; g < experts->groups; g++)
    if (is_before(groups, last, g)) memset(choices + g * each, 0, each * sizeof *choices);
}

/* Sigmoids of the chosen scores; `steering` and groups have a say in who is chosen alone. */
static void weigh_sigmoids(const rs_experts *experts, const real *steering, real *choices, real *scores) {
  size_t count = experts->count, last = count;
  real sum = 0;
  for (size_t e = 0; e < count; e++) {
    scores[e] = (real)(1 / (1 + exp(-(double)scores[e])));
    choices[e] = scores[e] + steering[e];
  }
  leave_groups(experts, choices);
  for (size_t k = 0; k < experts->used; k++) last = next_best(choices, count, last);
  for (size_t e = 0; e < count; e++) {
    if (is_before(choices, last, e)) scores[e] = 0;
    sum += scores[e];
  }
  real factor = (real)(experts->normed ? experts->scale / ((double)sum + 1e-20) : experts->scale);
  for (size_t e = 0; e < count; e++) scores[e] *= factor;
}

/* Rows of gates g, then ups u: (u + 1) g sigmoid(1.702 g), both clamped (modeling_gpt_oss.py). */
static void clamp_rows(double limit, size_t rows, size_t width, const real *x, real *y) {
  const double steepness = 1.702;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < width; i++) {
      double gate = fmin((double)x[2 * r * width + i], limit);
      double up = fmax(fmin((double)x[(2 * r + 1) * width + i], limit), -limit);
      y[r * width + i] = (real)((up + 1) * gate / (1 + exp(-steepness * gate)));
    }
}

/* `said` = what one expert says of rows x. */
static void read_expert(const rs_context *context, const rs_feed_forward *shape, const rs_linear_place *up,
                        const rs_linear_place *down, size_t rows, rs_rows x, const rs_block_work *work, real *said) {
  size_t d = up->inputs, width = down->inputs;
  rs_linear(context, up, rows, x, (rs_rows){work->up, 2 * width}, false);
  const rs_curve_call call = {.curve = (rs_curve_kind)shape->activation,
                              .gated = true,
                              .rows = rows,
                              .width = width,
                              .x = work->up,
                              .x_step = 2 * width};
  if (shape->experts.limit > 0)
    clamp_rows(shape->experts.limit, rows, width, work->up, work->active);
  else
    rs_real_kernel()->curve(&call, work->active, width);
  rs_linear(context, down, rows, (rs_rows){work->active, width}, (rs_rows){said, d}, false);
}

/* The weight of each expert for each row. */
static void weigh(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place, size_t rows,
                  rs_rows x, const rs_experts_work *w) {
  const real *values = context->transformer->values;
  size_t count = shape->experts.count;
  rs_linear(context, &place->router, rows, x, (rs_rows){w->scores, count}, false);
  for (size_t r = 0; r < rows; r++)
    if (shape->experts.sigmoid)
      weigh_sigmoids(&shape->experts, values + place->steering, w->choices, w->scores + r * count);
    else
      weigh_row(&shape->experts, w->scores + r * count);
}

void rs_experts_read(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place, size_t rows,
                     rs_rows x, const rs_block_work *work) {
  const rs_experts_work *w = &work->experts;
  size_t d = place->router.inputs, count = shape->experts.count, readers[RS_PIECE];
  weigh(context, shape, place, rows, x, w);
  if (shape->experts.shared > 0)
    read_expert(context, shape, &place->shared_up, &place->shared_down, rows, x, work, w->mixed);
  else
    memset(w->mixed, 0, rows * d * sizeof *w->mixed);
  for (size_t e = 0; e < count; e++) {
    size_t found = 0;
    for (size_t r = 0; r < rows; r++) {
      if (w->scores[r * count + e] == 0) continue;
      memcpy(w->gathered + found * d, x.data + r * x.step, d * sizeof *w->gathered);
      readers[found++] = r;
    }
    if (found == 0) continue;
    read_expert(context, shape, &place->experts[2 * e], &place->experts[2 * e + 1], found, (rs_rows){w->gathered, d},
                work, w->said);
    for (size_t k = 0; k < found; k++)
      for (size_t i = 0; i < d; i++)
        w->mixed[readers[k] * d + i] += w->scores[readers[k] * count + e] * w->said[k * d + i];
  }
}
