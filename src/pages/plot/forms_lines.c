/* forms_lines.c: from series to strokes, and what their numbers span. All series are laid on one grid of x values (or,
 * when there are too many, of narrow steps of the x axis, of which each series keeps its lowest and highest point). On
 * that grid it shows which lines run on top of each other; those share the stretch by turns, dash by dash and marker by
 * marker. */
#include "forms.h"

#include <math.h>
#include <string.h>

/* ---- span -------------------------------------------------------------------------------------------------------- */

#define LARGE 10 /* shares and cosines near zero are next to nothing, and are to look so */
#define GAP 100  /* times as large as the largest of the others: these have three pixels of three hundred */

void rs_plot_series_span(const rs_plot_series *series, size_t count, rs_plot_extent *x, rs_plot_extent *y, bool *log) {
  rs_plot_extent band = {0};
  for (size_t s = 0; s < count; s++) {
    for (size_t i = 0; i < series[s].count; i++) {
      const rs_plot_point *point = &series[s].points[i];
      rs_plot_extent_add(x, point->x);
      rs_plot_extent_add(y, point->y);
      rs_plot_extent_add(&band, point->low);
      rs_plot_extent_add(&band, point->high);
    }
  }
  *log = *log && y->low >= 0 && y->positive > 0;
  if (!band.any) return;
  /* On a log axis the foot of mean -+ error, which may be negative, is not worth a break. */
  rs_plot_extent_add(y, *log ? band.positive : band.low);
  rs_plot_extent_add(y, band.high);
}

static double largest_size(const rs_plot_series *series) {
  double largest = 0;
  for (size_t i = 0; i < series->count; i++) largest = fmax(largest, fabs(series->points[i].y)); /* without NaN */
  return largest;
}

/* The largest size below `limit` that a series has; 0: none. */
static double next_size(const rs_plot_series *series, size_t count, double limit) {
  double next = 0;
  for (size_t s = 0; s < count; s++) {
    double size = largest_size(&series[s]);
    if (size < limit) next = fmax(next, size);
  }
  return next;
}

/* Series of at least this size. */
static size_t count_from(const rs_plot_series *series, size_t count, double size) {
  size_t found = 0;
  for (size_t s = 0; s < count; s++) found += largest_size(&series[s]) >= size;
  return found;
}

double rs_plot_series_bend(const rs_plot_series *series, size_t count) {
  double above = next_size(series, count, INFINITY);
  for (double below; (below = next_size(series, count, above)) > 0; above = below) {
    bool few = 2 * count_from(series, count, above) < count_from(series, count, below) + 1;
    if (above < GAP * below || above <= LARGE || !few) continue;
    double power = pow(10, floor(log10(below) + 1e-9)), share = below / power * (1 - 1e-9);
    return (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
  }
  return 0;
}

rs_plot_extent rs_plot_values_fit(const rs_plot_chart *chart, rs_plot_axis *axis, bool vertical) {
  rs_plot_extent x = {0}, y = {0};
  bool log = chart->y_log, tokens = strcmp(chart->y_unit, "tokens") == 0;
  rs_plot_series_span(chart->series, chart->count, &x, &y, &log);
  if (chart->level_name != NULL) rs_plot_extent_add(&y, chart->level);
  double bend = log ? 0 : rs_plot_series_bend(chart->series, chart->count);
  if (bend > 0)
    rs_plot_axis_fit_symlog(axis, &y, bend, tokens, vertical);
  else
    rs_plot_axis_fit(axis, &y, log, tokens, vertical);
  return x;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum { STEPS = RS_PLOT_MAX_POINTS / 2 }; /* two points each */

enum { MARK_ALL = 16, MARKS = 6 }; /* up to so many x values all are marked; beyond, so many per line */

#define SHARED_WIDTH 2.4 /* a shared stretch is a little wider, so that its short dashes are seen */
#define MARKER_RADIUS 3.3
#define EVENT_RADIUS 5.5
#define NEAR 0.5 /* pixels: lines closer than this look like one */
#define BAND_OPACITY 0.15
#define BAR_STEP 6     /* pixels between the bars of two series at one x, at most; */
#define BARS_SHARE 0.5 /* all of them take this part of the way to the next x, */
#define BARS_WIDEST 72 /* and no more than this */
#define BUSY 12        /* times the width of the plot that a line runs up and down within its steps, to be drawn thin */
#define BUSY_WIDTH 1
#define BUSY_OPACITY 0.6

/* One series at one place of the grid: its lowest and highest point there, in the order of x. Pixels. */
typedef struct spot {
  size_t count; /* 0: none; 1; 2: x[1], y[1] differ from x[0], y[0] */
  double x[2], y[2];
  double low, high; /* of the band; high <= low, as pixels go down */
  bool gap;         /* no value, though there is a row */
  bool few;         /* of too few samples to be joined */
} spot;

typedef struct grid {
  const rs_plot_series *series;
  size_t count;
  const rs_plot_axis *x, *y;
  rs_arena memory;
  rs_plot_ranks xs; /* all x values */
  size_t places;
  double gap;  /* the least distance of two x values, pixels */
  spot *spots; /* (series, places) */
  rs_plot_picture *picture;
} grid;

double rs_plot_bars_reach(const rs_plot_series *series, size_t count) {
  size_t filled = 0;
  for (size_t s = 0; s < count; s++) filled += series[s].count > 0 && series[s].bars;
  return filled > 0 ? fmin(BAR_STEP * (double)(filled - 1), BARS_WIDEST) / 2 : 0;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

static rs_status find_xs(grid *g, rs_err *err) {
  size_t total = 0, used = 0;
  for (size_t s = 0; s < g->count; s++) total += g->series[s].count;
  double *xs = rs_arena_take(&g->memory, total, sizeof *xs);
  RS_TRY(rs_arena_check(&g->memory, err));
  for (size_t s = 0; s < g->count; s++)
    for (size_t i = 0; i < g->series[s].count; i++) xs[used++] = g->series[s].points[i].x;
  RS_TRY(rs_plot_ranks_read(xs, total, &g->memory, &g->xs, err));
  g->places = g->xs.count <= RS_PLOT_MAX_POINTS ? g->xs.count : STEPS;
  g->gap = g->x->stop - g->x->start;
  for (size_t i = 1; i < g->xs.count; i++)
    g->gap = fmin(g->gap, rs_plot_axis_pixel(g->x, g->xs.items[i]) - rs_plot_axis_pixel(g->x, g->xs.items[i - 1]));
  return RS_OK;
}

static size_t place_of(const grid *g, double x) {
  if (g->xs.count <= RS_PLOT_MAX_POINTS) return rs_plot_rank(&g->xs, x);
  double pixel = rs_plot_axis_pixel(g->x, x);
  if (pixel < g->x->base) return 0; /* the strip for zeros has a place of its own */
  return 1 + (size_t)((pixel - g->x->base) / (g->x->stop - g->x->base) * (STEPS - 2));
}

static void add_point(const grid *g, spot *to, const rs_plot_point *point) {
  if (isnan(point->y)) {
    to->gap = true;
    return;
  }
  double x = rs_plot_axis_pixel(g->x, point->x), y = rs_plot_axis_pixel(g->y, point->y);
  double low = rs_plot_axis_pixel(g->y, point->low), high = rs_plot_axis_pixel(g->y, point->high);
  bool first = to->count == 0;
  to->count = 1;
  to->few = to->few || rs_plot_is_few(point);
  to->low = first ? low : fmax(to->low, low);
  to->high = first ? high : fmin(to->high, high);
  for (int end = 0; end < 2; end++) {
    if (!first && (end == 0 ? y >= to->y[0] : y <= to->y[1])) continue;
    to->x[end] = x;
    to->y[end] = y;
  }
}

static void order_ends(spot *here) {
  if (here->count == 0 || here->y[0] == here->y[1]) return;
  here->count = 2;
  if (here->x[0] < here->x[1]) return;
  double x = here->x[0], y = here->y[0];
  here->x[0] = here->x[1], here->y[0] = here->y[1];
  here->x[1] = x, here->y[1] = y;
}

/* How far `rank` of `count` stands beside the middle. */
static double aside(size_t rank, size_t count, double step) {
  return ((double)rank - (double)(count - 1) / 2) * step;
}

/* Where the place says nothing but "here" (the strip for zeros, or the only x there is) the series stand side by side,
 * as in a table; and where bars would hide each other. */
static void spread(const grid *g, spot *here, size_t rank, size_t count, bool bars) {
  double strip = 2 * (g->x->rail_at - g->x->start - MARKER_RADIUS), plot = 0.9 * (g->x->stop - g->x->start);
  bool in_strip = g->x->rail && here->x[0] < g->x->base, dodged = bars && !in_strip && !g->x->single;
  if (here->count == 0 || !(in_strip || g->x->single || dodged)) return;
  double room = in_strip ? strip : dodged ? fmin(BARS_SHARE * g->gap, BARS_WIDEST) : plot;
  double most = in_strip ? 2.2 * MARKER_RADIUS : dodged ? BAR_STEP : 34;
  double shift = aside(rank, count, fmin(most, room / (double)count));
  here->x[0] += shift;
  here->x[1] += shift;
}

static void fill_row(const grid *g, size_t s, size_t rank, size_t count) {
  const rs_plot_series *series = &g->series[s];
  spot *row = &g->spots[s * g->places];
  for (size_t i = 0; i < series->count; i++) add_point(g, &row[place_of(g, series->points[i].x)], &series->points[i]);
  for (size_t i = 0; i < g->places; i++) {
    order_ends(&row[i]);
    spread(g, &row[i], rank, count, series->bars);
  }
}

static rs_status fill_grid(grid *g, rs_err *err) {
  size_t filled = 0, rank = 0;
  RS_TRY(find_xs(g, err));
  if (g->places > 0 && g->count > SIZE_MAX / g->places) return rs_fail(err, RS_MEMORY, "too many points");
  g->spots = rs_arena_take(&g->memory, g->count * g->places, sizeof *g->spots);
  RS_TRY(rs_arena_check(&g->memory, err));
  for (size_t s = 0; s < g->count; s++) filled += g->series[s].count > 0;
  for (size_t s = 0; s < g->count; s++)
    if (g->series[s].count > 0) fill_row(g, s, rank++, filled);
  return RS_OK;
}

/* ---- walking a line ---------------------------------------------------------------------------------------------- */

static const spot *spot_at(const grid *g, size_t series, size_t place) {
  return &g->spots[series * g->places + place];
}

static size_t next_spot(const grid *g, size_t series, size_t from) {
  while (from < g->places && spot_at(g, series, from)->count == 0) from++;
  return from;
}

/* True if the line goes on from spot `a` to `b`, the next one: no gap, and no break of the axis, between them,
 * and both of enough samples. */
static bool joined(const grid *g, size_t series, size_t a, size_t b) {
  if (b >= g->places || spot_at(g, series, a)->few || spot_at(g, series, b)->few) return false;
  for (size_t i = a + 1; i < b; i++)
    if (spot_at(g, series, i)->gap) return false;
  return !g->x->rail || spot_at(g, series, a)->x[0] >= g->x->base;
}

/* The last place of the stretch of joined spots that starts at `a`. */
static size_t stretch_end(const grid *g, size_t series, size_t a) {
  for (;;) {
    size_t b = next_spot(g, series, a + 1);
    if (!joined(g, series, a, b)) return a;
    a = b;
  }
}

static bool same_spot(const spot *a, const spot *b) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if (fabs(a->x[i] - b->x[i]) > NEAR || fabs(a->y[i] - b->y[i]) > NEAR) return false;
  return true;
}

/* Which series run through this spot of `series`, as bits; itself included. Beyond 64 series nobody takes turns. */
static uint64_t twins_at(const grid *g, size_t series, size_t place) {
  uint64_t bits = 0;
  for (size_t t = 0; t < g->count && t < 64; t++)
    if (same_spot(spot_at(g, series, place), spot_at(g, t, place))) bits |= (uint64_t)1 << t;
  return series < 64 ? bits : 0;
}

/* Number of twins, and how many of them come before `series`. */
static size_t turn_of(uint64_t twins, size_t series, size_t *rank) {
  size_t count = 0;
  *rank = 0;
  for (size_t t = 0; t < 64; t++) {
    if (!(twins >> t & 1)) continue;
    if (t < series) ++*rank;
    count++;
  }
  return count;
}

/* ---- bands ------------------------------------------------------------------------------------------------------- */

static void draw_error_bar(const grid *g, const spot *here, uint32_t colour) {
  enum { CAP = 3 };
  double x = here->x[0];
  if (here->low - here->high < NEAR) return;
  rs_plot_segment_add(g->picture, x, here->low, x, here->high, colour, 1);
  rs_plot_segment_add(g->picture, x - CAP, here->low, x + CAP, here->low, colour, 1);
  rs_plot_segment_add(g->picture, x - CAP, here->high, x + CAP, here->high, colour, 1);
}

/* One point of a band's edge; of bins a step, from the bin's start to the next one's. The lower edge is walked
 * backwards. */
static void add_edge(const grid *g, size_t series, size_t i, size_t last, bool upper) {
  const spot *here = spot_at(g, series, i);
  double y = upper ? here->high : here->low, start = here->x[0], end = start;
  if (g->series[series].bins && i < last) end = spot_at(g, series, next_spot(g, series, i + 1))->x[0];
  rs_plot_point_add(g->picture, upper ? start : end, y);
  if (end > start) rs_plot_point_add(g->picture, upper ? end : start, y);
}

static void draw_band(const grid *g, size_t series, size_t a, size_t b, uint32_t colour) {
  bool seen = false;
  for (size_t i = a; i <= b; i = next_spot(g, series, i + 1))
    if (spot_at(g, series, i)->low - spot_at(g, series, i)->high >= NEAR) seen = true;
  if (!seen) return;
  rs_plot_shape_add(g->picture, RS_PLOT_AREA, colour, 0)->opacity = BAND_OPACITY;
  for (size_t i = a; i <= b; i = next_spot(g, series, i + 1)) add_edge(g, series, i, b, true);
  for (size_t i = b + 1; i-- > a;)
    if (spot_at(g, series, i)->count > 0) add_edge(g, series, i, b, false);
}

static void draw_bands(const grid *g, size_t series) {
  uint32_t colour = g->series[series].style.colour;
  bool bars = g->series[series].bars;
  for (size_t a = next_spot(g, series, 0), b; a < g->places; a = next_spot(g, series, b + 1)) {
    b = bars ? a : stretch_end(g, series, a);
    if (a == b)
      draw_error_bar(g, spot_at(g, series, a), colour);
    else
      draw_band(g, series, a, b, colour);
  }
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* True for a line that runs up and down all the time: its dashes would be noise, and it would hide all others. So does
 * one through samples of an envelope. */
static bool is_busy(const grid *g, size_t series) {
  double ink = 0;
  if (g->series[series].bins) return true;
  for (size_t i = 0; i < g->places; i++) {
    const spot *here = spot_at(g, series, i);
    if (here->count == 2) ink += fabs(here->y[1] - here->y[0]);
  }
  return ink > BUSY * (g->x->stop - g->x->start);
}

/* Starts a path in the method's own dash or, shared with others, in a dash that leaves room for theirs. */
static void start_path(const grid *g, size_t series, uint64_t twins, bool busy) {
  rs_plot_style style = g->series[series].style;
  size_t rank, count = turn_of(twins, series, &rank);
  rs_plot_shape *path =
      rs_plot_shape_add(g->picture, RS_PLOT_LINE, style.colour, busy ? BUSY_WIDTH : RS_PLOT_LINE_WIDTH);
  path->opacity = busy ? BUSY_OPACITY : 1;
  path->dashes = busy ? 0 : style.dashes;
  memcpy(path->dash, style.dash, sizeof path->dash);
  if (count < 2) return;
  double on = fmin(fmax(36.0 / (double)count, 4), 9);
  path->size = busy ? BUSY_WIDTH : SHARED_WIDTH;
  path->dashes = 2;
  path->dash[0] = on;
  path->dash[1] = on * (double)(count - 1);
  path->lead = on * (double)rank;
}

static void add_ends(const grid *g, const spot *here, bool only_last) {
  for (size_t i = only_last ? here->count - 1 : 0; i < here->count; i++)
    rs_plot_point_add(g->picture, here->x[i], here->y[i]);
}

/* A stretch is cut into paths wherever others join or leave it. */
static void draw_stretch(const grid *g, size_t series, size_t a, size_t b, bool busy) {
  uint64_t here = twins_at(g, series, a), shared = 0;
  for (size_t i = a, next; i < b; i = next) {
    next = next_spot(g, series, i + 1);
    uint64_t there = twins_at(g, series, next), both = here & there;
    if (i == a || both != shared) {
      start_path(g, series, both, busy);
      add_ends(g, spot_at(g, series, i), i != a);
    }
    add_ends(g, spot_at(g, series, next), false);
    here = there;
    shared = both;
  }
}

static void draw_lines(const grid *g, size_t series) {
  bool busy = is_busy(g, series);
  for (size_t a = next_spot(g, series, 0), b; a < g->places; a = next_spot(g, series, b + 1)) {
    b = stretch_end(g, series, a);
    if (a < b) draw_stretch(g, series, a, b, busy);
  }
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* Where there are few spots twins take turns; a spot that is all there is of its line steps aside instead. */
static void draw_marker(const grid *g, size_t series, size_t place, bool alone) {
  size_t rank, count = turn_of(twins_at(g, series, place), series, &rank);
  double step = alone && count >= 2 ? aside(rank, count, 2.2 * MARKER_RADIUS) : 0;
  const spot *here = spot_at(g, series, place);
  if (count < 2 || alone || place % count == rank) rs_plot_point_add(g->picture, here->x[0] + step, here->y[0]);
}

/* With many spots, every so many pixels, each series from another start. */
static void draw_markers(const grid *g, size_t series) {
  rs_plot_markers_add(g->picture, &g->series[series].style, MARKER_RADIUS);
  double spacing = (g->x->stop - g->x->base) / MARKS;
  double due = g->x->base + spacing * ((double)series + 0.5) / (double)g->count;
  for (size_t a = next_spot(g, series, 0), b; a < g->places; a = next_spot(g, series, b + 1)) {
    b = stretch_end(g, series, a);
    for (size_t i = a; i <= b; i = next_spot(g, series, i + 1)) {
      double x = spot_at(g, series, i)->x[0];
      if (g->places <= MARK_ALL || a == b)
        draw_marker(g, series, i, a == b);
      else if (x >= due)
        rs_plot_point_add(g->picture, x, spot_at(g, series, i)->y[0]);
      while (due <= x) due += spacing;
    }
  }
}

/* A ring in the line's colour at the height of zero, around the place of its event. */
static void draw_event(const grid *g, size_t series) {
  enum { CORNERS = 24 };
  const rs_plot_series *line = &g->series[series];
  if (!line->has_event || line->count == 0) return;
  double x = rs_plot_axis_pixel(g->x, line->event), y = rs_plot_axis_pixel(g->y, 0);
  rs_plot_shape_add(g->picture, RS_PLOT_LINE, line->style.colour, RS_PLOT_LINE_WIDTH);
  for (size_t i = 0; i <= CORNERS; i++) {
    double turn = 6.283185307179586 * (double)i / CORNERS;
    rs_plot_point_add(g->picture, x + EVENT_RADIUS * cos(turn), y + EVENT_RADIUS * sin(turn));
  }
}

rs_status rs_plot_lines_draw(const rs_plot_series *series, size_t count, const rs_plot_axis *x, const rs_plot_axis *y,
                             rs_plot_picture *picture, rs_err *err) {
  grid g = {.series = series, .count = count, .x = x, .y = y, .picture = picture};
  rs_status status = fill_grid(&g, err);
  for (size_t s = 0; s < count && status == RS_OK; s++) draw_bands(&g, s);
  for (size_t s = 0; s < count && status == RS_OK; s++) draw_lines(&g, s);
  for (size_t s = 0; s < count && status == RS_OK; s++) draw_markers(&g, s);
  for (size_t s = 0; s < count && status == RS_OK; s++) draw_event(&g, s);
  rs_arena_clear(&g.memory);
  return status;
}
