/* bar.c: colours for the values of maps, the bar that explains them, and values as text on their colour. */
#include "forms.h"

#include "paper.h"

#include <math.h>
#include <string.h>

enum { BAR_WIDTH = 16, TICK = 4, TICK_MINOR = 2, LABEL_GAP = 5, NAME_GAP = 9, NAME_SIZE = 14 };
enum { LEAST_POWER = 4 }; /* more digits than 0.0001 has are no help on a cell; nor are five before the point: */
#define LARGEST_NUMBER 1e5

static const uint32_t WHITE = 0xFFFFFF;

static void fit_numbers(rs_plot_shades *shades, const rs_plot_map *map) {
  double largest = fmax(fabs(map->low), fabs(map->high));
  if (shades->scale.scale != RS_PLOT_LINEAR || !(largest > 0) || largest >= LARGEST_NUMBER) return;
  shades->power = (int)fmin(ceil(log10(largest)) - 2, 0);
  shades->texts = shades->power >= -LEAST_POWER;
}

void rs_plot_shades_fit(rs_plot_shades *shades, const rs_plot_map *map, bool log, bool whole) {
  rs_plot_extent extent = {0};
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

rs_text rs_plot_shade_text(const rs_plot_shades *shades, double value) {
  rs_text text = {0};
  rs_plot_decimal(llround(value / pow(10, shades->power)), shades->power, &text);
  return text;
}

void rs_plot_shade_text_add(rs_plot_picture *picture, const rs_plot_shades *shades, double value, const rs_text *text,
                            double x, double y, double size) {
  uint32_t colour = rs_plot_level_of(shades, value) < RS_PLOT_LEVELS / 2 ? WHITE : RS_PLOT_INK;
  picture->failed = picture->failed || text->failed;
  rs_plot_text_add(picture, x, y + 0.36 * size, rs_text_string(text), text->length, size, RS_PLOT_MIDDLE, colour);
}

void rs_plot_missing_add(rs_plot_picture *picture, double x, double y, double width, double height) {
  rs_plot_segment_add(picture, x + 1, y + height - 1, x + width - 1, y + 1, 0xB3B3B3, 1);
}

/* ---- the bar ----------------------------------------------------------------------------------------------------- */

double rs_plot_bar_width(const rs_plot_shades *shades) {
  return BAR_WIDTH + TICK + LABEL_GAP + rs_plot_ticks_width(&shades->scale) + NAME_GAP + NAME_SIZE;
}

static void draw_colours(rs_plot_picture *picture, double left, double top, double height) {
  for (double y = 0; y < height; y++) {
    size_t level = (size_t)lround((1 - (y + 0.5) / height) * (RS_PLOT_LEVELS - 1));
    rs_plot_shape_add(picture, RS_PLOT_CELLS, rs_plot_level_colour(level), BAR_WIDTH)->tall = 1;
    rs_plot_point_add(picture, left, top + y);
  }
}

static void draw_tick(rs_plot_picture *picture, const rs_plot_tick *tick, double x) {
  double length = tick->label[0] != '\0' ? TICK : TICK_MINOR;
  rs_plot_segment_add(picture, x + 1, tick->pixel, x + 1 + length, tick->pixel, RS_PLOT_AXIS, 1);
  if (tick->label[0] == '\0') return;
  rs_plot_shape *text =
      rs_plot_text_add(picture, x + TICK + LABEL_GAP, tick->pixel + 0.36 * RS_PLOT_TICK_SIZE, tick->label,
                       strlen(tick->label), RS_PLOT_TICK_SIZE, RS_PLOT_START, RS_PLOT_INK);
  rs_plot_power_add(picture, text, tick->power);
}

void rs_plot_bar_add(rs_plot_picture *picture, const rs_plot_shades *shades, double left, double top, const char *name,
                     const char *unit) {
  double height = floor(fabs(shades->scale.stop - shades->scale.start)), right = left + BAR_WIDTH;
  double after = right + TICK + LABEL_GAP + rs_plot_ticks_width(&shades->scale) + NAME_GAP + 0.75 * NAME_SIZE;
  rs_text words = {0};
  draw_colours(picture, left, top, height);
  rs_plot_box_add(picture, left, top, right, top + height);
  for (size_t i = 0; i < shades->scale.count; i++) draw_tick(picture, &shades->scale.ticks[i], right);
  rs_text_puts(&words, name);
  if (*rs_plot_unit(unit) != '\0') rs_text_printf(&words, " (%s)", unit);
  picture->failed = picture->failed || words.failed || shades->scale.failed;
  rs_plot_text_add(picture, after, top + height / 2, rs_text_string(&words), words.length, NAME_SIZE, RS_PLOT_MIDDLE,
                   RS_PLOT_INK)
      ->upright = true;
  rs_text_clear(&words);
}
