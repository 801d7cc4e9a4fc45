/* paper_ticks.c: the range of an axis, its way from numbers to pixels, and its ticks. A log axis keeps a strip at its
 * start, beyond a break, for what it cannot show in its place: zeros, and numbers so far below the largest that showing
 * them would squash all others. Of ticks, candidates go from dense to sparse; the first whose labels do not touch is
 * taken. They are integers times a power of ten or two, so that 0.3 is never 0.30000000000000004, and no locale and no
 * rounding leaves a mark. */
#include "paper.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  double floor = extent->high * pow(10, -(extent->decades > 0 ? extent->decades : DECADES)),
         bottom = fmax(extent->positive, floor);
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
  rs_plot_extent shown = extent->any ? *extent : (rs_plot_extent){.any = true, .high = 1, .positive = 1};
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

/* Lays a fitted axis between two pixels; it has no ticks yet. */
static void span(rs_plot_axis *axis, double start, double stop) {
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

/* ---- numbers as words -------------------------------------------------------------------------------------------- */

#define MINUS "\u2212"
#define TIMES_TEN "\u00d710" /* four digits, then the 10 */

const char *rs_plot_unit(const char *unit) {
  return strcmp(unit, "1") == 0 ? "" : unit;
}

void rs_plot_tokens(double tokens, rs_text *out) {
  const double kilo = 1024, mega = 1048576;
  if (tokens >= mega && fmod(tokens, mega / 2) == 0) {
    rs_text_number(out, tokens / mega);
    rs_text_puts(out, "M");
  } else if (tokens >= kilo && fmod(tokens, kilo) == 0) {
    rs_text_number(out, tokens / kilo);
    rs_text_puts(out, "k");
  } else {
    rs_text_number(out, tokens);
  }
}

void rs_plot_decimal(long long n, int exponent, rs_text *out) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", n < 0 ? -n : n);
  int length = (int)strlen(digits), whole = length + exponent;
  if (n < 0) rs_text_puts(out, MINUS);
  if (n == 0) {
    rs_text_puts(out, "0");
  } else if (exponent >= 0) {
    rs_text_puts(out, digits);
    for (int i = 0; i < exponent; i++) rs_text_puts(out, "0");
  } else {
    rs_text_add(out, whole > 0 ? digits : "0", whole > 0 ? (size_t)whole : 1);
    rs_text_puts(out, ".");
    for (int i = whole; i < 0; i++) rs_text_puts(out, "0");
    rs_text_puts(out, digits + (whole > 0 ? whole : 0));
  }
}

static void put_power(int exponent, char power[RS_PLOT_POWER_CHARS]) {
  bool fits = exponent > -1000 && exponent < 1000; /* double ends at 308 */
  snprintf(power, RS_PLOT_POWER_CHARS, "%s%d", exponent < 0 ? MINUS : "", fits ? abs(exponent) : 0);
}

static void put_scientific(long long n, int exponent, int decimals, rs_text *out, char power[RS_PLOT_POWER_CHARS]) {
  power[0] = '\0';
  rs_plot_decimal(n, -decimals, out);
  if (n == 0) return;
  rs_text_puts(out, TIMES_TEN);
  put_power(exponent + decimals, power);
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

enum { MOST = 12, LEVELS = 24, ROW = 32, ROOM = 8 }; /* labels at the densest; pixels between rows; between labels */

double rs_plot_tick_width(const rs_plot_tick *tick) {
  return rs_plot_text_width(tick->label, strlen(tick->label), RS_PLOT_TICK_SIZE, false) +
         rs_plot_text_width(tick->power, strlen(tick->power), RS_PLOT_TICK_SIZE * 0.75, false);
}

double rs_plot_ticks_width(const rs_plot_axis *axis) {
  double widest = 0;
  for (size_t i = 0; i < axis->count; i++) widest = fmax(widest, rs_plot_tick_width(&axis->ticks[i]));
  return widest;
}

static rs_plot_tick *add_tick_at(rs_plot_axis *axis, double pixel) {
  if (axis->count == RS_PLOT_TICKS) axis->count--; /* cannot happen: the levels limit their number */
  rs_plot_tick *tick = &axis->ticks[axis->count++];
  *tick = (rs_plot_tick){.pixel = pixel};
  return tick;
}

static rs_plot_tick *add_tick(rs_plot_axis *axis, double value) {
  return add_tick_at(axis, rs_plot_axis_pixel(axis, value));
}

/* Moves a finished label into a tick; one that does not fit (it cannot) is left out. */
static void set_label(rs_plot_axis *axis, rs_plot_tick *tick, rs_text *label) {
  axis->failed = axis->failed || label->failed;
  if (!label->failed && label->length < sizeof tick->label) strcpy(tick->label, rs_text_string(label));
  rs_text_clear(label);
}

static void label_tokens(rs_plot_axis *axis, rs_plot_tick *tick, double value) {
  rs_text label = {0};
  rs_plot_tokens(value, &label);
  char last = label.length > 0 ? label.data[label.length - 1] : '\0';
  if (last == 'k' || last == 'M') axis->kilo = true;
  set_label(axis, tick, &label);
}

static double times_ten_to(double n, int exponent) {
  return exponent < 0 ? n / pow(10, -exponent) : n * pow(10, exponent);
}

/* ---- linear ------------------------------------------------------------------------------------------------------ */

/* n * 10^exponent in the style that suits the largest label of its axis, most * 10^exponent. */
static void label_decimal(rs_plot_axis *axis, rs_plot_tick *tick, long long n, int exponent, long long most) {
  int digits = 1;
  for (long long rest = most; rest >= 10; rest /= 10) digits++;
  bool large = exponent >= 0 && digits + exponent > 6, small = exponent < 0 && digits + exponent < -2;
  rs_text label = {0};
  if (large || small)
    put_scientific(n, exponent, digits - 1, &label, tick->power);
  else
    rs_plot_decimal(n, exponent, &label);
  set_label(axis, tick, &label);
}

/* Steps of 1, 2, 5, 10, ... times a power of ten; level 0 gives about MOST. */
static void make_decimal(rs_plot_axis *axis, int level) {
  static const int steps[] = {1, 2, 5};
  int exponent = (int)floor(log10((axis->high - axis->low) / MOST)) + level / 3;
  double step = times_ten_to(steps[level % 3], exponent);
  if (axis->whole && exponent < 0) return;
  long long first = (long long)ceil(axis->low / step - 1e-9), last = (long long)floor(axis->high / step + 1e-9);
  if (last - first > 4 * MOST) return;
  long long most = llabs(first) > llabs(last) ? llabs(first) : llabs(last);
  for (long long k = first; k <= last; k++) {
    long long n = k * steps[level % 3];
    label_decimal(axis, add_tick(axis, times_ten_to((double)n, exponent)), n, exponent, most * steps[level % 3]);
  }
}

/* Steps of a power of two, for tokens. */
static void make_binary(rs_plot_axis *axis, int level) {
  double step = exp2(floor(log2((axis->high - axis->low) / MOST)) + level);
  for (double k = ceil(axis->low / step - 1e-9); k * step <= axis->high * (1 + 1e-9); k++) {
    if (axis->count > 4 * MOST) return;
    label_tokens(axis, add_tick(axis, k * step), k * step);
  }
}

static void make_linear(rs_plot_axis *axis, int level) {
  if (axis->tokens && axis->high - axis->low >= 4096)
    make_binary(axis, level);
  else
    make_decimal(axis, level);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

/* Powers of 2^(level+1), counted from 1 (so 1k, 4k, 16k or 1, 16, 256, 4k), the others as minor ticks. */
static void make_octaves(rs_plot_axis *axis, int level) {
  int first = (int)ceil(log2(axis->low) - 1e-9), last = (int)floor(log2(axis->high) + 1e-9);
  for (int e = first; e <= last && axis->count < RS_PLOT_TICKS - 1; e++) {
    rs_plot_tick *tick = add_tick(axis, exp2(e));
    if (e % (level + 1) == 0) label_tokens(axis, tick, exp2(e));
  }
}

static void label_power(rs_plot_axis *axis, rs_plot_tick *tick, int mantissa, int exponent) {
  bool plain = axis->low >= 0.9e-3 && axis->high <= 1.1e5;
  rs_text label = {0};
  if (plain) {
    rs_plot_decimal(mantissa, exponent, &label);
  } else if (mantissa > 1) {
    put_scientific(mantissa, exponent, 0, &label, tick->power);
  } else {
    rs_text_puts(&label, "10");
    put_power(exponent, tick->power);
  }
  set_label(axis, tick, &label);
}

/* Level 0: also 2 and 5 times each power of ten; then each, every second, third, fifth, ... power. */
static void make_decades(rs_plot_axis *axis, int level) {
  static const int strides[] = {1, 1, 2, 3, 5, 10, 20, 50, 100};
  int stride = strides[level < (int)RS_COUNT(strides) ? level : (int)RS_COUNT(strides) - 1];
  int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
  bool minor = last - first <= 9;
  for (int e = first; e <= last; e++) {
    for (int m = 1; m <= (minor ? 9 : 1); m++) {
      double value = times_ten_to(m, e);
      if (value < axis->low * (1 - 1e-9) || value > axis->high * (1 + 1e-9) || axis->count == RS_PLOT_TICKS - 1)
        continue;
      rs_plot_tick *tick = add_tick(axis, value);
      if ((m == 1 && e % stride == 0) || (level == 0 && (m == 2 || m == 5))) label_power(axis, tick, m, e);
    }
  }
}

/* ---- symlog ------------------------------------------------------------------------------------------------------ */

static void add_power(rs_plot_axis *axis, int sign, int mantissa, int exponent) {
  if (mantissa % 10 == 0) mantissa /= 10, exponent++;
  double value = sign * times_ten_to(mantissa, exponent);
  if (value < axis->low || value > axis->high || axis->count == RS_PLOT_TICKS - 1) return;
  rs_plot_tick *tick = add_tick(axis, value);
  label_decimal(axis, tick, sign * mantissa, exponent, mantissa);
}

/* Zero, both bends, and every `stride`-th power of ten beyond them; at level 0 half a bend, too. From low to high. The
 * power that is only twice a bend of 5 is left out: their labels would touch. */
static void make_symlog(rs_plot_axis *axis, int level) {
  int power = (int)floor(log10(axis->bend) + 1e-9), unit = (int)lround(axis->bend / times_ten_to(1, power));
  int first = power + (unit == 5 ? 2 : 1), last = (int)floor(log10(fmax(fabs(axis->low), fabs(axis->high)))),
      stride = level > 1 ? level : 1;
  for (int e = last - (last - first) % stride; e >= first; e -= stride) add_power(axis, -1, 1, e);
  add_power(axis, -1, unit, power);
  if (level == 0) add_power(axis, -1, 5 * unit, power - 1);
  add_tick(axis, 0);
  strcpy(axis->ticks[axis->count - 1].label, "0");
  if (level == 0) add_power(axis, 1, 5 * unit, power - 1);
  add_power(axis, 1, unit, power);
  for (int e = first; e <= last; e += stride) add_power(axis, 1, 1, e);
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static size_t count_labels(const rs_plot_axis *axis) {
  size_t count = 0;
  for (size_t i = 0; i < axis->count; i++) count += axis->ticks[i].label[0] != '\0';
  return count;
}

static bool have_room(const rs_plot_axis *axis, const rs_plot_tick *a, const rs_plot_tick *b) {
  double needed = axis->vertical ? ROW : (rs_plot_tick_width(a) + rs_plot_tick_width(b)) / 2 + ROOM;
  return fabs(a->pixel - b->pixel) >= needed;
}

static bool fits(const rs_plot_axis *axis) {
  const rs_plot_tick *before = NULL;
  for (size_t i = 0; i < axis->count; i++) {
    if (axis->ticks[i].label[0] == '\0') continue;
    if (before != NULL && !have_room(axis, before, &axis->ticks[i])) return false;
    before = &axis->ticks[i];
  }
  return count_labels(axis) <= MOST;
}

static void remake(rs_plot_axis *axis, void (*make)(rs_plot_axis *, int), int level) {
  axis->count = 0;
  axis->kilo = false;
  make(axis, level);
}

/* Takes the label from each tick that is too near to the last one with a label. */
static void thin(rs_plot_axis *axis) {
  const rs_plot_tick *before = NULL;
  for (size_t i = 0; i < axis->count; i++) {
    rs_plot_tick *tick = &axis->ticks[i];
    if (tick->label[0] == '\0') continue;
    if (before == NULL || have_room(axis, before, tick))
      before = tick;
    else
      tick->label[0] = tick->power[0] = '\0';
  }
}

/* Takes the densest level that fits with at least two labels. Wide labels may fit at none: then the sparsest with two,
 * thinned. False if there is none such. */
static bool choose(rs_plot_axis *axis, void (*make)(rs_plot_axis *, int)) {
  for (int level = 0; level < LEVELS; level++) {
    remake(axis, make, level);
    if (fits(axis) && count_labels(axis) >= 2) return true;
  }
  for (int level = LEVELS - 1; level >= 0; level--) {
    remake(axis, make, level);
    if (count_labels(axis) < 2) continue;
    thin(axis);
    if (count_labels(axis) >= 2) return true;
  }
  axis->count = 0;
  return false;
}

/* All the numbers are one: say which, to six digits. */
static void make_single(rs_plot_axis *axis) {
  rs_plot_tick *tick = add_tick(axis, axis->only);
  if (axis->tokens || axis->only == 0) {
    label_tokens(axis, tick, axis->only);
    return;
  }
  int exponent = (int)floor(log10(fabs(axis->only))) - 5;
  long long n = llround(axis->only / times_ten_to(1, exponent));
  for (; n % 10 == 0; n /= 10) exponent++;
  label_decimal(axis, tick, n, exponent, llabs(n));
}

/* The strip for zeros, or for what is below the range, in a place of its own; ticks too near to it lose their label. */
static void add_rail(rs_plot_axis *axis) {
  rs_plot_tick rail = {.pixel = axis->rail_at, .label = "0"};
  if (axis->floor) {
    strcpy(rail.label, "<10");
    put_power(axis->floor_power, rail.power);
  }
  for (size_t i = 0; i < axis->count; i++) {
    if (!have_room(axis, &rail, &axis->ticks[i]) && axis->ticks[i].label[0] != '\0' && count_labels(axis) > 2)
      axis->ticks[i].label[0] = axis->ticks[i].power[0] = '\0';
  }
  *add_tick_at(axis, rail.pixel) = rail;
}

static void make_ticks(rs_plot_axis *axis) {
  axis->count = 0;
  axis->kilo = false;
  bool done = false;
  if (axis->single && !axis->vertical) {
    make_single(axis);
    done = true;
  }
  if (axis->scale == RS_PLOT_SYMLOG) done = choose(axis, make_symlog);
  if (!done && axis->scale == RS_PLOT_LOG2) done = choose(axis, make_octaves);
  if (!done && axis->scale == RS_PLOT_LOG10) done = choose(axis, make_decades);
  if (!done) choose(axis, make_linear);
  if (axis->rail) add_rail(axis);
}

void rs_plot_axis_place(rs_plot_axis *axis, double start, double stop) {
  span(axis, start, stop);
  make_ticks(axis);
}

void rs_plot_axis_mark(rs_plot_axis *axis, double start, double stop, const rs_plot_mark *marks, size_t count) {
  span(axis, start, stop);
  axis->count = 0;
  axis->kilo = false;
  for (size_t i = 0; i < count && axis->count < RS_PLOT_TICKS - 1; i++) {
    if (marks[i].value < axis->low || marks[i].value > axis->high) continue;
    rs_plot_tick *tick = add_tick(axis, marks[i].value);
    memcpy(tick->label, marks[i].label, sizeof tick->label);
  }
  thin(axis);
}

void rs_plot_axis_name(const rs_plot_axis *axis, const char *name, const char *unit, rs_text *label) {
  unit = rs_plot_unit(unit);
  rs_text_puts(label, name);
  if (*unit != '\0') rs_text_printf(label, " (%s%s)", unit, axis->kilo ? ", 1k = 1024" : "");
  if (axis->scale != RS_PLOT_SYMLOG) return;
  rs_text_puts(label, ", log beyond ");
  if (axis->low < -axis->bend) rs_text_puts(label, "±");
  rs_text_number(label, axis->bend);
}
