/* page.c: title, definition and subtitle above the plot area, names of axes and ticks at its sides. The area has the
 * size that its picture asks for; what stands around it makes room for itself, and the picture is as large as all that.
 * Sizes suit a column of a paper: at 8.5 cm the smallest text is about 4.5 points high, at 17 cm it is as large as body
 * text. */
#include "paper.h"

#include <math.h>
#include <string.h>

enum { EDGE = 16, TITLE_SIZE = 17, TITLE_ROW = 23, NOTE_SIZE = 13, NOTE_ROW = 18, NAME_SIZE = 15, NAME_ROW = 19 };
enum { SIDE_SIZE = 14, SIDE_ROW = 17, SIDE_WIDEST = 170, SIDE_GAP = 8 }; /* of names of rows */
enum { TITLES_GAP = 12, LABEL_GAP = 4, NAME_GAP = 8 };

/* From the bottom of the area to the baseline of tick labels, and to that of the axis' name. */
enum { LABEL_BASE = RS_PLOT_TICK_LENGTH + 3 + RS_PLOT_TICK_SIZE, NAME_BASE = LABEL_BASE + NAME_GAP + NAME_SIZE };

double rs_plot_crisp(double pixel) {
  return floor(pixel) + 0.5;
}

/* Height of the rows above the area, when they are `width` wide. */
static double titles_height(const rs_plot_head *head, double width) {
  size_t titles = rs_plot_rows_count(head->title, TITLE_SIZE, true, width);
  size_t notes = rs_plot_rows_count(head->definition, NOTE_SIZE, false, width);
  notes += rs_plot_rows_count(head->subtitle, NOTE_SIZE, false, width);
  return (double)titles * TITLE_ROW + (double)notes * NOTE_ROW;
}

static void draw_titles(const rs_plot_page *page, double width) {
  rs_plot_picture *picture = page->picture;
  double y = EDGE + TITLE_SIZE - 2;
  rs_text_puts(&picture->title, page->head->title);
  rs_text_puts(&picture->description, page->head->description);
  y = rs_plot_rows_add(picture, page->left, y, page->head->title, TITLE_SIZE, TITLE_ROW, true, width, RS_PLOT_INK);
  y += NOTE_ROW - TITLE_ROW + 2;
  y = rs_plot_rows_add(picture, page->left, y, page->head->definition, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_INK);
  rs_plot_rows_add(picture, page->left, y, page->head->subtitle, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_SOFT);
}

void rs_plot_page_place(rs_plot_page *page, const rs_plot_room *room) {
  rs_plot_picture *picture = page->picture;
  size_t name_rows = rs_plot_rows_count(room->y_name, NAME_SIZE, false, room->height);
  page->left = ceil(EDGE + (double)name_rows * NAME_ROW + (name_rows > 0 ? 6 : 0) + room->labels);
  page->right = page->left + room->width;
  double width = ceil(fmax(room->width + room->beside, room->titles));
  picture->width = page->left + width + EDGE;
  page->top = EDGE + titles_height(page->head, width) + TITLES_GAP + room->over;
  page->bottom = page->top + room->height;
  picture->height = ceil(fmax(page->bottom + NAME_BASE + 5, page->top + room->beside_height) + EDGE);
  draw_titles(page, width);
}

void rs_plot_page_names(const rs_plot_page *page, const char *x_name, const char *y_name) {
  double x = EDGE + 0.75 * NAME_SIZE, middle = (page->top + page->bottom) / 2;
  while (*y_name != '\0') {
    const char *start = y_name;
    size_t length = rs_plot_wrap(start, NAME_SIZE, false, page->bottom - page->top, &y_name);
    rs_plot_text_add(page->picture, x, middle, start, length, NAME_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK)->upright = true;
    x += NAME_ROW;
  }
  rs_plot_text_add(page->picture, (page->left + page->right) / 2, page->bottom + NAME_BASE, x_name, strlen(x_name),
                   NAME_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK);
}

static void add_label(const rs_plot_page *page, const rs_plot_tick *tick, double x, double y, rs_plot_anchor anchor) {
  rs_plot_shape *text =
      rs_plot_text_add(page->picture, x, y, tick->label, strlen(tick->label), RS_PLOT_TICK_SIZE, anchor, RS_PLOT_INK);
  rs_plot_power_add(page->picture, text, tick->power);
}

void rs_plot_page_tick_x(const rs_plot_page *page, const rs_plot_tick *tick, double x, double bottom) {
  bool major = tick->label[0] != '\0';
  double length = major ? RS_PLOT_TICK_LENGTH : RS_PLOT_TICK_MINOR;
  rs_plot_segment_add(page->picture, rs_plot_crisp(x), bottom, rs_plot_crisp(x), bottom + length, RS_PLOT_AXIS, 1);
  if (major) add_label(page, tick, x, bottom + LABEL_BASE, RS_PLOT_MIDDLE);
}

void rs_plot_page_tick_y(const rs_plot_page *page, const rs_plot_tick *tick, double left, double y) {
  bool major = tick->label[0] != '\0';
  double length = major ? RS_PLOT_TICK_LENGTH : RS_PLOT_TICK_MINOR;
  rs_plot_segment_add(page->picture, left - length, rs_plot_crisp(y), left, rs_plot_crisp(y), RS_PLOT_AXIS, 1);
  if (major) add_label(page, tick, left - RS_PLOT_TICK_LENGTH - LABEL_GAP, y + 0.36 * RS_PLOT_TICK_SIZE, RS_PLOT_END);
}

double rs_plot_row_names_width(const char *const *names, size_t count, double *tallest) {
  double widest = 0;
  *tallest = SIDE_ROW;
  for (size_t i = 0; i < count; i++) {
    const char *rest = names[i];
    for (size_t row = 1; *rest != '\0'; row++) {
      const char *start = rest;
      size_t length = rs_plot_wrap(start, SIDE_SIZE, false, SIDE_WIDEST, &rest);
      widest = fmax(widest, rs_plot_text_width(start, length, SIDE_SIZE, false));
      *tallest = fmax(*tallest, (double)row * SIDE_ROW);
    }
  }
  return widest + SIDE_GAP;
}

void rs_plot_row_name_add(const rs_plot_page *page, const char *name, double y, uint32_t colour) {
  double rows = (double)rs_plot_rows_count(name, SIDE_SIZE, false, SIDE_WIDEST),
         base = y - (rows - 1) / 2 * SIDE_ROW + 0.36 * SIDE_SIZE;
  while (*name != '\0') {
    const char *start = name;
    size_t length = rs_plot_wrap(start, SIDE_SIZE, false, SIDE_WIDEST, &name);
    rs_plot_text_add(page->picture, page->left - SIDE_GAP, base, start, length, SIDE_SIZE, RS_PLOT_END, colour);
    base += SIDE_ROW;
  }
}

void rs_plot_box_add(rs_plot_picture *picture, double left, double top, double right, double bottom) {
  rs_plot_shape_add(picture, RS_PLOT_LINE, RS_PLOT_AXIS, 1);
  rs_plot_point_add(picture, left - 0.5, top - 0.5);
  rs_plot_point_add(picture, right + 0.5, top - 0.5);
  rs_plot_point_add(picture, right + 0.5, bottom + 0.5);
  rs_plot_point_add(picture, left - 0.5, bottom + 0.5);
  rs_plot_point_add(picture, left - 0.5, top - 1);
}

void rs_plot_break_add(rs_plot_picture *picture, double x, double y, bool vertical) {
  enum { HALF = 5, SLANT = 2, APART = 2 };
  for (int side = -1; side <= 1; side++) {
    double width = side == 0 ? 3 : 1, dx = vertical ? 0 : side * APART, dy = vertical ? side * APART : 0;
    double ax = vertical ? HALF : SLANT, ay = vertical ? SLANT : HALF;
    rs_plot_segment_add(picture, x - ax + dx, y + ay + dy, x + ax + dx, y - ay + dy,
                        side == 0 ? 0xFFFFFF : RS_PLOT_AXIS, width);
  }
}
