/* Feed-forward layers of experts, forwards: each reads the rows that chose it, all at a time. */
#include "work.h"

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

/* What a group is worth: its best expert's weight, or the sum of its best two. */
static real worth(const rs_experts *experts, const real *choices, size_t count) {
  size_t first = next_best(choices, count, count), second = next_best(choices, count, first);
  bool two = !experts->grouped_by_best && second < count;
  return choices[first] + (two ? choices[second] : 0);
}

/* What is outside the best groups gets 0 (modeling_deepseek_v3.py). */
static void leave_groups(const rs_experts *experts, real *choices) {
  if (experts->groups == 0) return;
  size_t each = experts->count / experts->groups, last = experts->groups;
  real *groups = choices + experts->count;
  for (size_t g = 0; g < experts->groups; g++) groups[g] = worth(experts, choices + g * each, each);
  for (size_t k = 0; k < experts->groups_used; k++) last = next_best(groups, experts->groups, last);
  for (size_t g = 0; g < experts->groups; g++)
    if (is_before(groups, last, g)) memset(choices + g * each, 0, each * sizeof *choices);
}

/* The softmax of a row's scores, or the sigmoid of each. */
static void squash(const rs_experts *experts, real *scores) {
  real top = scores[next_best(scores, experts->count, experts->count)], sum = 0;
  for (size_t e = 0; e < experts->count; e++) {
    scores[e] = (real)(experts->sigmoid ? 1 / (1 + exp(-(double)scores[e])) : exp((double)(scores[e] - top)));
    sum += scores[e];
  }
  for (size_t e = 0; e < experts->count && !experts->sigmoid; e++) scores[e] /= sum;
}

/* modeling_phimoe.py: each choice is weighed among those not chosen before it that come near it. */
static void mix_row(const rs_experts *experts, real *choices, real *scores) {
  size_t count = experts->count, last = count;
  memcpy(choices, scores, count * sizeof *choices);
  memset(scores, 0, count * sizeof *scores);
  for (size_t k = 0; k < experts->used; k++) {
    size_t best = next_best(choices, count, last);
    double top = (double)choices[best], sum = 0;
    for (size_t e = 0; e < count; e++) {
      double behind = top - (double)choices[e], scale = fmax(fabs((double)choices[e]), top);
      bool before = last != count && (e == last || is_before(choices, e, last));
      if (!before && !(behind / scale > experts->tolerance)) sum += exp(-behind);
    }
    scores[best] = (real)(1 / sum);
    last = best;
  }
}

/* Scores of a row become the weights of those that are chosen, and 0. `steering` (count,) or NULL. */
static void weigh_row(const rs_experts *experts, const real *steering, real *choices, real *scores) {
  size_t count = experts->count, last = count;
  real sum = 0;
  squash(experts, scores);
  for (size_t e = 0; e < count; e++) choices[e] = scores[e] + (steering != NULL ? steering[e] : 0);
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
  for (size_t r = 0; r < rows && shape->experts.mixed; r++) mix_row(&shape->experts, w->choices, w->scores + r * count);
  for (size_t r = 0; r < rows && !shape->experts.mixed; r++)
    weigh_row(&shape->experts, shape->experts.steered ? values + place->steering : NULL, w->choices,
              w->scores + r * count);
}

/* w->mixed = what the expert of all rows says of them, or zeros. */
static void read_shared(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place,
                        size_t rows, rs_rows x, const rs_block_work *work) {
  const rs_experts_work *w = &work->experts;
  size_t d = place->router.inputs;
  if (shape->experts.shared == 0) {
    memset(w->mixed, 0, rows * d * sizeof *w->mixed);
    return;
  }
  read_expert(context, shape, &place->shared_up, &place->shared_down, rows, x, work, w->mixed);
  if (!shape->experts.shared_gated) return;
  rs_linear(context, &place->shared_gate, rows, x, (rs_rows){w->gates, 1}, false);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++) w->mixed[r * d + i] *= (real)(1 / (1 + exp(-(double)w->gates[r])));
}

/* The rows that chose expert `e`, side by side in w->gathered, and which they are. Returns how many. */
static size_t gather(const rs_experts *experts, const rs_experts_work *w, size_t e, size_t rows, rs_rows x, size_t d,
                     size_t *readers) {
  size_t found = 0;
  for (size_t r = 0; r < rows; r++) {
    real weight = w->scores[r * experts->count + e], *to = w->gathered + found * d;
    if (weight == 0) continue;
    for (size_t i = 0; i < d; i++) to[i] = (experts->scaled_inputs ? weight : 1) * x.data[r * x.step + i];
    readers[found++] = r;
  }
  return found;
}

void rs_experts_read(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place, size_t rows,
                     rs_rows x, const rs_block_work *work) {
  const rs_experts *experts = &shape->experts;
  const rs_experts_work *w = &work->experts;
  size_t d = place->router.inputs, readers[RS_PIECE];
  weigh(context, shape, place, rows, x, w);
  read_shared(context, shape, place, rows, x, work);
  for (size_t e = 0; e < experts->count; e++) {
    size_t found = gather(experts, w, e, rows, x, d, readers);
    if (found == 0) continue;
    read_expert(context, shape, &place->experts[2 * e], &place->experts[2 * e + 1], found, (rs_rows){w->gathered, d},
                work, w->said);
    for (size_t k = 0; k < found; k++) {
      real weight = experts->scaled_inputs ? 1 : w->scores[readers[k] * experts->count + e];
      for (size_t i = 0; i < d; i++) w->mixed[readers[k] * d + i] += weight * w->said[k * d + i];
    }
  }
}
