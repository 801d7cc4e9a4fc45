/* axis.c: the range of an axis and its way from numbers to pixels. A log axis keeps a strip at its start, beyond a
 * break, for what it cannot show in its place: zeros, and numbers so far below the largest that showing them would
 * squash all others. */
#include "paper.h"

#include <float.h>
#include <math.h>

/* A log axis shows this many decades: below 2^-53 ~ 1e-16 of the largest a number is lost when added to it in double,
 * and the attention of a strongly biased head falls to 1e-300 within one context. */
#define DECADES 16

#define PAD_VERTICAL 0.05 /* of the range, on both sides: a line on the frame is hard to see */
#define PAD_HORIZONTAL 0.025

#define FLAT 1e-9 /* a relative range below this is drawn as a constant: its ticks would need ten digits */

/* Pixels from the start of the axis to `low`, and to the strip's tick. At x = 0 the methods stand side by side. */
enum { RAIL_GAP = 26, RAIL_AT = 8, RAIL_GAP_X = 64, RAIL_AT_X = 26 };

void rs_plot_extent_add(rs_plot_extent *extent, double value) {
  if (isnan(value)) return;
  extent->low = extent->any ? fmin(extent->low, value) : value;
  extent->high = extent->any ? fmax(extent->high, value) : value;
  extent->any = true;
  extent->broken = extent->broken || value != floor(value);
  if (value > 0 && (!(extent->positive > 0) || value < extent->positive)) extent->positive = value;
}

static double pad_of(const rs_plot_axis *axis) {
  return axis->vertical ? PAD_VERTICAL : PAD_HORIZONTAL;
}

/* Padding must not suggest negative values for a quantity that has none; small positive ones are seen best from zero.
 * A little room stays below, or else small values would lie on the axis. */
static void meet_zero(rs_plot_axis *axis, const rs_plot_extent *extent) {
  double room = 0.4 * pad_of(axis) * fmax(fabs(extent->low), fabs(extent->high));
  bool small_low = axis->vertical && extent->low < 0.25 * extent->high;
  bool small_high = axis->vertical && extent->high > 0.25 * extent->low;
  if (extent->low > 0 && (axis->low < 0 || small_low)) axis->low = -room;
  if (extent->high < 0 && (axis->high > 0 || small_high)) axis->high = room;
}

static void fit_linear(rs_plot_axis *axis, const rs_plot_extent *extent) {
  double span = extent->high - extent->low, largest = fmax(fabs(extent->low), fabs(extent->high));
  axis->single = span <= FLAT * largest;
  double pad = axis->single ? (largest > 0 ? largest / 20 : 1) : span * pad_of(axis);
  axis->low = extent->low - pad;
  axis->high = extent->high + pad;
  if (!axis->single) meet_zero(axis, extent);
}

static void fit_log(rs_plot_axis *axis, const rs_plot_extent *extent) {
  double floor = extent->high * pow(10, -DECADES), bottom = fmax(extent->positive, floor);
  axis->floor = extent->positive < floor;
  axis->floor_power = (int)ceil(log10(floor));
  axis->rail = axis->floor || extent->low <= 0;
  double low = log2(bottom), high = log2(extent->high);
  axis->single = high - low <= FLAT;
  double pad = axis->single ? 0.5 : (high - low) * pad_of(axis);
  axis->low = fmax(exp2(low - pad), DBL_MIN);
  axis->high = fmin(exp2(high + pad), DBL_MAX);
}

void rs_plot_axis_fit(rs_plot_axis *axis, const rs_plot_extent *extent, bool log, bool tokens, bool vertical) {
  *axis = (rs_plot_axis){.tokens = tokens, .vertical = vertical};
  rs_plot_extent shown = extent->any ? *extent : (rs_plot_extent){true, 0, 1, 1, false};
  bool possible = shown.low >= 0 && shown.positive > 0;
  bool octaves = tokens && shown.positive >= 0.25; /* powers of two below that have too many digits to be read */
  if (log && possible) axis->scale = octaves ? RS_PLOT_LOG2 : RS_PLOT_LOG10;
  axis->only = shown.high;
  if (axis->scale == RS_PLOT_LINEAR)
    fit_linear(axis, &shown);
  else
    fit_log(axis, &shown);
  /* Around a small single number there is nothing else; upright, 0 and 1 are more likely shares than counts. */
  bool room = axis->single ? axis->high - axis->low >= 2 : !vertical || extent->high - extent->low > 1;
  axis->whole = extent->any && !extent->broken && room;
}

/* Where a number of a symlog axis stands, without unit: +-1 at the bends, and a decade beyond them as long as what is
 * between zero and a bend. */
static double fold(const rs_plot_axis *axis, double value) {
  double size = fabs(value) / axis->bend;
  return copysign(size <= 1 ? size : 1 + log10(size), value);
}

void rs_plot_axis_fit_symlog(rs_plot_axis *axis, const rs_plot_extent *extent, double bend, bool tokens,
                             bool vertical) {
  *axis = (rs_plot_axis){.scale = RS_PLOT_SYMLOG, .tokens = tokens, .vertical = vertical, .bend = bend};
  axis->low = fmin(extent->low, 0) * 1.25 - bend / 10; /* a tenth of a decade beyond the last number */
  axis->high = fmax(extent->high, 0) * 1.25 + bend / 10;
}

void rs_plot_axis_span(rs_plot_axis *axis, double start, double stop) {
  double direction = stop < start ? -1 : 1;
  axis->start = start;
  axis->stop = stop;
  axis->base = axis->rail ? start + direction * (axis->vertical ? RAIL_GAP : RAIL_GAP_X) : start;
  axis->rail_at = axis->rail ? start + direction * (axis->vertical ? RAIL_AT : RAIL_AT_X) : start;
}

double rs_plot_axis_pixel(const rs_plot_axis *axis, double value) {
  double share;
  if (axis->scale == RS_PLOT_LINEAR)
    share = (value - axis->low) / (axis->high - axis->low);
  else if (axis->scale == RS_PLOT_SYMLOG)
    share = (fold(axis, value) - fold(axis, axis->low)) / (fold(axis, axis->high) - fold(axis, axis->low));
  else if (value < axis->low)
    return axis->rail_at;
  else
    share = (log2(value) - log2(axis->low)) / (log2(axis->high) - log2(axis->low));
  return axis->base + fmin(fmax(share, 0), 1) * (axis->stop - axis->base);
}
