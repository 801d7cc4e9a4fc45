/* paper_legend.c: what lines and colours mean. A legend has a sample of each line beside its method's name, in the
 * order of the methods, which is the same in all pictures; long names are wrapped, a tall list is set in columns. A bar
 * has the colours of a map beside the values that they stand for. */
#include "data.h"
#include "paper.h"

#include <math.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum { ROW = 22, COLUMN_GAP = 24, SAMPLE = 38, SAMPLE_GAP = 9, WIDEST = 220, TALLEST = 560 };

#define MARKER_RADIUS 3.6

static const rs_plot_letters letters = {.size = 14, .row = 17};

static const char *entry_text(const rs_plot_series *series, rs_plot_picture *picture) {
  rs_text text = {0};
  rs_text_printf(&text, "%s%s", series->label, series->count == 0 ? " (no data)" : "");
  return rs_plot_keep(&picture->memory, &text);
}

/* Height of one entry, and its width as far as that is more than `*width`. */
static double measure_entry(const rs_plot_series *series, double *width, rs_plot_picture *picture) {
  size_t rows = rs_plot_rows_count(entry_text(series, picture), &letters, WIDEST, width);
  return ROW - letters.row + (double)rows * letters.row;
}

void rs_plot_legend_measure(rs_plot_legend *legend, const rs_plot_series *series, size_t count,
                            rs_plot_picture *picture) {
  double text = 0, total = 0, tallest = 0;
  for (size_t i = 0; i < count; i++) {
    double height = measure_entry(&series[i], &text, picture);
    total += height;
    tallest = fmax(tallest, height);
  }
  double columns = fmax(ceil(total / TALLEST), 1);
  *legend = (rs_plot_legend){.series = series, .count = count, .column_width = SAMPLE + SAMPLE_GAP + text};
  legend->height = columns > 1 ? total / columns + tallest : total;
  legend->width = columns * (legend->column_width + COLUMN_GAP) - COLUMN_GAP;
}

static void draw_entry(const rs_plot_series *series, double x, double y, rs_plot_picture *picture) {
  const rs_plot_style *style = &series->style;
  const double middle = y + ROW / 2.0;
  if (series->count > 0) {
    rs_plot_shape *line =
        rs_plot_segment_add(picture, x, middle, x + SAMPLE, middle, style->colour, RS_PLOT_LINE_WIDTH);
    line->dashes = style->dashes;
    memcpy(line->dash, style->dash, sizeof line->dash);
    rs_plot_markers_add(picture, style, MARKER_RADIUS);
    rs_plot_point_add(picture, x + SAMPLE / 2.0, middle);
  }
  rs_plot_rows_add(picture, x + SAMPLE + SAMPLE_GAP, middle + 0.36 * letters.size, entry_text(series, picture),
                   &letters, WIDEST, series->count > 0 ? RS_PLOT_INK : RS_PLOT_SOFT);
}

void rs_plot_legend_draw(const rs_plot_legend *legend, double left, double top, rs_plot_picture *picture) {
  double x = left, y = top, ignored = 0;
  for (size_t i = 0; i < legend->count; i++) {
    double height = measure_entry(&legend->series[i], &ignored, picture);
    if (y + height > top + legend->height + 0.5) {
      x += legend->column_width + COLUMN_GAP;
      y = top;
    }
    draw_entry(&legend->series[i], x, y, picture);
    y += height;
  }
}

/* ---- colours ----------------------------------------------------------------------------------------------------- */

#define CIE_DARK 16.0, 18.0, -40.0 /* L*, a*, b*: navy */
#define CIE_LIGHT 92.0, -8.0, 50.0 /* pale yellow; still darker than paper */
#define CIE_BULGE 15.0             /* a* of the middle below the straight line: a hint of green */

/* CIE XYZ over the white point from the lightness function's value (CIE 15:2004, eq. 8.3 to 8.11 turned round) above
 * 6 / 29, where all colours of the way are. */
static double unfold(double f) {
  return f * f * f;
}

/* A linear share of light as a byte (IEC 61966-2-1, sRGB). */
static uint32_t encode(double light) {
  double inside = fmin(fmax(light, 0), 1);
  double value = inside <= 0.0031308 ? 12.92 * inside : 1.055 * pow(inside, 1 / 2.4) - 0.055;
  return (uint32_t)lround(255 * value);
}

/* CIELAB under D65 to sRGB, with the matrix of IEC 61966-2-1. */
static uint32_t from_lab(double lightness, double a, double b) {
  double fy = (lightness + 16) / 116;
  double x = 0.95047 * unfold(fy + a / 500), y = unfold(fy), z = 1.08883 * unfold(fy - b / 200);
  return encode(3.2406 * x - 1.5372 * y - 0.4986 * z) << 16 | encode(-0.9689 * x + 1.8758 * y + 0.0415 * z) << 8 |
         encode(0.0557 * x - 0.2040 * y + 1.0570 * z);
}

/* A way through CIELAB on which lightness grows evenly, so that it is read the same in grey, and which goes from blue
 * to yellow, the axis that protan and deutan eyes keep; steps of colour (CIE76) differ by less than a quarter. */
uint32_t rs_plot_level_colour(size_t level) {
  static const double dark[] = {CIE_DARK}, light[] = {CIE_LIGHT};
  double t = (double)level / (RS_PLOT_LEVELS - 1), lab[3];
  for (size_t i = 0; i < 3; i++) lab[i] = dark[i] + t * (light[i] - dark[i]);
  return from_lab(lab[0], lab[1] - CIE_BULGE * 4 * t * (1 - t), lab[2]);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum { LEAST_POWER = 4 }; /* more digits than 0.0001 has are no help on a cell; nor are five before the point: */
#define LARGEST_NUMBER 1e5

static void fit_numbers(rs_plot_shades *shades, const rs_plot_map *map) {
  double largest = fmax(fabs(map->low), fabs(map->high));
  if (shades->scale.scale != RS_PLOT_LINEAR || !(largest > 0) || largest >= LARGEST_NUMBER) return;
  shades->power = (int)fmin(ceil(log10(largest)) - 2, 0);
  shades->texts = shades->power >= -LEAST_POWER;
}

void rs_plot_shades_fit(rs_plot_shades *shades, const rs_plot_map *map, bool log, bool whole, int decades) {
  rs_plot_extent extent = {.decades = decades};
  size_t count = map->count * map->panel.count * map->x.count * map->y.count;
  double low = whole ? fmin(map->low, 0) : map->low, high = whole ? fmax(map->high, 1) : map->high;
  *shades = (rs_plot_shades){0};
  for (size_t i = 0; i < count; i++) rs_plot_extent_add(&extent, map->values[i]);
  if (!log) rs_plot_extent_add(&extent, low);
  if (!log) rs_plot_extent_add(&extent, high);
  rs_plot_axis_fit(&shades->scale, &extent, log, false, true);
  fit_numbers(shades, map);
  if (shades->scale.single || shades->scale.scale != RS_PLOT_LINEAR) return;
  shades->scale.low = low;
  shades->scale.high = high;
}

size_t rs_plot_level_of(const rs_plot_shades *shades, double value) {
  const rs_plot_axis *scale = &shades->scale;
  double share = (rs_plot_axis_pixel(scale, value) - scale->start) / (scale->stop - scale->start);
  return (size_t)lround(fmin(fmax(share, 0), 1) * (RS_PLOT_LEVELS - 1));
}

const char *rs_plot_shade_text(const rs_plot_shades *shades, double value, rs_arena *memory) {
  rs_text text = {0};
  rs_plot_decimal(llround(value / pow(10, shades->power)), shades->power, &text);
  return rs_plot_keep(memory, &text);
}

void rs_plot_shade_text_add(rs_plot_picture *picture, const rs_plot_shades *shades, double value, const char *text,
                            double x, double y, double size) {
  uint32_t colour = rs_plot_level_of(shades, value) < RS_PLOT_LEVELS / 2 ? 0xFFFFFF : RS_PLOT_INK;
  rs_plot_text_add(picture, x, y + 0.36 * size, text, size, RS_PLOT_MIDDLE, colour);
}

/* ---- the bar ----------------------------------------------------------------------------------------------------- */

enum { BAR_WIDTH = 16, TICK = 4, TICK_MINOR = 2, LABEL_GAP = 5, NAME_GAP = 9, NAME_SIZE = 14 };

double rs_plot_bar_width(const rs_plot_shades *shades) {
  return BAR_WIDTH + TICK + LABEL_GAP + rs_plot_ticks_width(&shades->scale) + NAME_GAP + NAME_SIZE;
}

static void draw_tick(rs_plot_picture *picture, const rs_plot_tick *tick, double x) {
  bool major = tick->label[0] != '\0';
  rs_plot_segment_add(picture, x + 1, tick->pixel, x + 1 + (major ? TICK : TICK_MINOR), tick->pixel, RS_PLOT_AXIS, 1);
  if (major)
    rs_plot_label_add(picture, x + TICK + LABEL_GAP, tick->pixel + 0.36 * RS_PLOT_TICK_SIZE, tick, RS_PLOT_START);
}

void rs_plot_bar_add(rs_plot_picture *picture, const rs_plot_shades *shades, double left, double top, const char *name,
                     const char *unit) {
  double height = floor(fabs(shades->scale.stop - shades->scale.start)), right = left + BAR_WIDTH;
  rs_text words = {0};
  for (double y = 0; y < height; y++) {
    size_t level = (size_t)lround((1 - (y + 0.5) / height) * (RS_PLOT_LEVELS - 1));
    rs_plot_shape_add(picture, RS_PLOT_CELLS, rs_plot_level_colour(level), BAR_WIDTH)->tall = 1;
    rs_plot_point_add(picture, left, top + y);
  }
  rs_plot_box_add(picture, left, top, right, top + height);
  for (size_t i = 0; i < shades->scale.count; i++) draw_tick(picture, &shades->scale.ticks[i], right);
  picture->memory.failed |= shades->scale.failed;
  rs_text_puts(&words, name);
  if (*rs_plot_unit(unit) != '\0') rs_text_printf(&words, " (%s)", unit);
  rs_plot_text_add(picture, left + rs_plot_bar_width(shades) - 0.25 * NAME_SIZE, top + height / 2,
                   rs_plot_keep(&picture->memory, &words), NAME_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK)
      ->upright = true;
}
