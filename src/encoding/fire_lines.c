#include "kinds.h"

#include <math.h>
#include <stdlib.h>

static int by_place(const void *a, const void *b) {
  const rs_fire_switch *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* The units that switch at u > 0, in order. */
static size_t find_switches(const rs_fire_net *net, rs_fire_switch *found) {
  size_t count = 0;
  for (size_t k = 0; k < net->units; k++) {
    double at = -net->b1[k] / net->w1[k];
    if (at > 0 && at < INFINITY) found[count++] = (rs_fire_switch){at, k};
  }
  qsort(found, count, sizeof *found, by_place);
  return count;
}

/* The line under way. */
typedef struct line {
  rs_sum slope, height;
} line;

/* Adds a unit, or takes it away (sign -1): its products are rounded, and cancel exactly. */
static void add_unit(const rs_fire_net *net, size_t unit, double sign, line *sums) {
  rs_sum_add(&sums->slope, sign * (net->w2[unit] * net->w1[unit]));
  rs_sum_add(&sums->height, sign * (net->w2[unit] * net->b1[unit]));
}

static void end_line(const line *sums, double from, rs_fire_lines *lines) {
  lines->from[lines->count] = from;
  lines->slope[lines->count] = rs_sum_total(&sums->slope);
  lines->height[lines->count++] = rs_sum_total(&sums->height);
}

void rs_fire_lines_fill(const rs_fire_net *net, rs_fire_switch *scratch, rs_fire_lines *lines) {
  line sums = {0};
  size_t switches = find_switches(net, scratch);
  rs_sum_add(&sums.height, net->b2);
  for (size_t k = 0; k < net->units; k++)
    if (net->b1[k] > 0 || (net->b1[k] == 0 && net->w1[k] > 0)) add_unit(net, k, 1, &sums);
  lines->count = 0;
  end_line(&sums, 0, lines);
  for (size_t i = 0; i < switches; i++) {
    size_t unit = scratch[i].unit;
    add_unit(net, unit, net->w1[unit] > 0 ? 1 : -1, &sums);
    end_line(&sums, scratch[i].at, lines);
  }
}

/* The first of `logs` from `first` on that is not below `least`. */
static size_t first_from(const double *logs, double least, size_t first, size_t count) {
  while (first < count) {
    size_t middle = first + (count - first) / 2;
    if (logs[middle] < least)
      first = middle + 1;
    else
      count = middle;
  }
  return first;
}

/* The last line that holds at `log`. */
static size_t line_at(const rs_fire_lines *lines, double log, double norm) {
  size_t first = 1, end = lines->count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (lines->from[middle] * norm <= log)
      first = middle + 1;
    else
      end = middle;
  }
  return first - 1;
}

void rs_fire_lines_read(const rs_fire_lines *lines, const double *logs, double norm, size_t count, bool down,
                        double *out) {
  size_t first = 0;
  if (count == 0) return;
  for (size_t i = line_at(lines, logs[0], norm); first < count; i++) {
    bool last = i + 1 == lines->count;
    double least = last ? 0 : lines->from[i + 1] * norm, slope = lines->slope[i] / norm, height = lines->height[i];
    size_t end = last || logs[count - 1] < least ? count : first_from(logs, least, first, count);
    if (down)
      for (; first < end; first++) out[-(ptrdiff_t)first] = slope * logs[first] + height;
    else
      for (; first < end; first++) out[first] = slope * logs[first] + height;
  }
}
