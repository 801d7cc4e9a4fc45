/* paper_page.c: how wide text is, and what all pictures have around their plot area: title, definition and subtitle
 * above, names of axes and ticks at its sides. The area has the size that its picture asks for; what stands around it
 * makes room for itself, and the picture is as large as all that. Sizes suit a column of a paper: at 8.5 cm the
 * smallest text is about 4.5 points high, at 17 cm it is as large as body text.
 *
 * An SVG is set in whatever sans-serif font its reader has; the widths here are those of DejaVu Sans, the widest of the
 * usual ones (Helvetica and Arial are about 10 % narrower), so that text may end early but never runs into something.
 */
#include "paper.h"

#include <math.h>
#include <string.h>

/* ---- width ------------------------------------------------------------------------------------------------------- */

/* Advance widths of U+0020..U+007E in DejaVu Sans 2.37, in 1/1000 of the font size (its hmtx table). */
static const short widths[95] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                                 636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                                 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                                 603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                                 500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                                 635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};

/* DejaVu Sans Bold is wider by 7 % ('0') to 18 % ('i'). */
#define BOLD 1.13

static bool is_continuation(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The width of the character that starts with this byte: Latin, Greek and Cyrillic letters are at most 0.84 wide, the
 * scripts of three and more bytes up to a whole square. */
static double character_width(char byte) {
  unsigned char lead = (unsigned char)byte;
  if (lead >= 0xE0) return 1;
  if (lead >= 0x80) return 0.84;
  return lead >= 0x20 && lead < 0x7F ? widths[lead - 0x20] / 1000.0 : 1;
}

double rs_plot_text_width(const char *text, size_t length, double size, bool bold) {
  double width = 0;
  for (size_t i = 0; i < length; i++)
    if (!is_continuation(text[i])) width += character_width(text[i]);
  return width * size * (bold ? BOLD : 1);
}

/* Bytes of as many whole characters as fit; at least one. */
static size_t fitting(const char *text, double size, bool bold, double width) {
  size_t length = 0;
  while (text[length] != '\0') {
    size_t next = length + 1;
    while (is_continuation(text[next])) next++;
    if (length > 0 && rs_plot_text_width(text, next, size, bold) > width) return length;
    length = next;
  }
  return length;
}

/* Where a word that is too long is cut, within the first `length` bytes: behind the last sign that joins its parts. */
static size_t cut_word(const char *text, size_t length) {
  for (size_t cut = length; cut > 1; cut--)
    if (strchr("_-/=,", text[cut - 1]) != NULL) return cut;
  return length;
}

size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next) {
  size_t length = fitting(text, size, bold, width), cut = length;
  if (text[length] != '\0') {
    while (cut > 0 && text[cut] != ' ') cut--;
    if (cut == 0) cut = cut_word(text, length);
  }
  *next = text + cut;
  while (**next == ' ') ++*next;
  return cut;
}

size_t rs_plot_rows_count(const char *text, const rs_plot_letters *letters, double width, double *widest) {
  size_t rows = 0;
  for (const char *next; *text != '\0'; text = next, rows++) {
    size_t length = rs_plot_wrap(text, letters->size, letters->bold, width, &next);
    if (widest != NULL) *widest = fmax(*widest, rs_plot_text_width(text, length, letters->size, letters->bold));
  }
  return rows;
}

double rs_plot_rows_add(rs_plot_picture *picture, double x, double y, const char *text, const rs_plot_letters *letters,
                        double width, uint32_t colour) {
  for (const char *next; *text != '\0'; text = next) {
    size_t length = rs_plot_wrap(text, letters->size, letters->bold, width, &next);
    rs_plot_shape *shape = rs_plot_text_add(picture, x, y, text, letters->size, letters->anchor, colour);
    if (shape->text != NULL) shape->text[length] = '\0';
    shape->bold = letters->bold;
    shape->upright = letters->upright;
    *(letters->upright ? &x : &y) += letters->row;
  }
  return y;
}

/* ---- page -------------------------------------------------------------------------------------------------------- */

enum { EDGE = 16, TITLES_GAP = 12, LABEL_GAP = 4, NAME_GAP = 8, SIDE_WIDEST = 170, SIDE_GAP = 8 };

/* Of titles, of what stands below them, of axes, of rows. */
static const rs_plot_letters title = {.size = 17, .row = 23, .bold = true}, note = {.size = 13, .row = 18};
static const rs_plot_letters name = {.size = 15, .row = 19, .anchor = RS_PLOT_MIDDLE, .upright = true};
static const rs_plot_letters side = {.size = 14, .row = 17, .anchor = RS_PLOT_END};

/* From the bottom of the area to the baseline of tick labels, and to that of the axis' name. */
enum { LABEL_BASE = RS_PLOT_TICK_LENGTH + 3 + RS_PLOT_TICK_SIZE, NAME_BASE = LABEL_BASE + NAME_GAP + 15 };

double rs_plot_crisp(double pixel) {
  return floor(pixel) + 0.5;
}

static void draw_titles(const rs_plot_page *page, double width) {
  rs_plot_picture *picture = page->picture;
  const rs_plot_head *head = page->head;
  picture->title = rs_arena_text(&picture->memory, head->title);
  picture->description = rs_arena_text(&picture->memory, head->description);
  double y = rs_plot_rows_add(picture, page->left, EDGE + title.size - 2, head->title, &title, width, RS_PLOT_INK);
  y = rs_plot_rows_add(picture, page->left, y + note.row - title.row + 2, head->definition, &note, width, RS_PLOT_INK);
  rs_plot_rows_add(picture, page->left, y, head->subtitle, &note, width, RS_PLOT_SOFT);
}

void rs_plot_page_place(rs_plot_page *page, const rs_plot_room *room) {
  rs_plot_picture *picture = page->picture;
  size_t name_rows = rs_plot_rows_count(room->y_name, &name, room->height, NULL);
  page->left = ceil(EDGE + (double)name_rows * name.row + (name_rows > 0 ? 6 : 0) + room->labels);
  page->right = page->left + room->width;
  double width = ceil(fmax(room->width + room->beside, room->titles));
  picture->width = page->left + width + EDGE;
  size_t titles = rs_plot_rows_count(page->head->title, &title, width, NULL);
  size_t notes = rs_plot_rows_count(page->head->definition, &note, width, NULL) +
                 rs_plot_rows_count(page->head->subtitle, &note, width, NULL);
  page->top = EDGE + ((double)titles * title.row + (double)notes * note.row) + TITLES_GAP + room->over;
  page->bottom = page->top + room->height;
  picture->height = ceil(fmax(page->bottom + NAME_BASE + 5, page->top + room->beside_height) + EDGE);
  draw_titles(page, width);
}

void rs_plot_page_names(const rs_plot_page *page, const char *x_name, const char *y_name) {
  rs_plot_rows_add(page->picture, EDGE + 0.75 * name.size, (page->top + page->bottom) / 2, y_name, &name,
                   page->bottom - page->top, RS_PLOT_INK);
  rs_plot_text_add(page->picture, (page->left + page->right) / 2, page->bottom + NAME_BASE, x_name, name.size,
                   RS_PLOT_MIDDLE, RS_PLOT_INK);
}

void rs_plot_page_tick(const rs_plot_page *page, const rs_plot_tick *tick, bool vertical, double x, double y) {
  bool major = tick->label[0] != '\0';
  double length = major ? RS_PLOT_TICK_LENGTH : RS_PLOT_TICK_MINOR, at = rs_plot_crisp(vertical ? y : x);
  if (vertical)
    rs_plot_segment_add(page->picture, x - length, at, x, at, RS_PLOT_AXIS, 1);
  else
    rs_plot_segment_add(page->picture, at, y, at, y + length, RS_PLOT_AXIS, 1);
  if (major && vertical)
    rs_plot_label_add(page->picture, x - RS_PLOT_TICK_LENGTH - LABEL_GAP, y + 0.36 * RS_PLOT_TICK_SIZE, tick,
                      RS_PLOT_END);
  else if (major)
    rs_plot_label_add(page->picture, x, y + LABEL_BASE, tick, RS_PLOT_MIDDLE);
}

double rs_plot_row_names_width(const char *const *names, size_t count, double *tallest) {
  double widest = 0;
  *tallest = side.row;
  for (size_t i = 0; i < count; i++)
    *tallest = fmax(*tallest, (double)rs_plot_rows_count(names[i], &side, SIDE_WIDEST, &widest) * side.row);
  return widest + SIDE_GAP;
}

void rs_plot_row_name_add(const rs_plot_page *page, const char *words, double y, uint32_t colour) {
  double rows = (double)rs_plot_rows_count(words, &side, SIDE_WIDEST, NULL);
  rs_plot_rows_add(page->picture, page->left - SIDE_GAP, y - (rows - 1) / 2 * side.row + 0.36 * side.size, words, &side,
                   SIDE_WIDEST, colour);
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
  for (int part = -1; part <= 1; part++) {
    double width = part == 0 ? 3 : 1, dx = vertical ? 0 : part * APART, dy = vertical ? part * APART : 0;
    double ax = vertical ? HALF : SLANT, ay = vertical ? SLANT : HALF;
    rs_plot_segment_add(picture, x - ax + dx, y + ay + dy, x + ax + dx, y - ay + dy,
                        part == 0 ? 0xFFFFFF : RS_PLOT_AXIS, width);
  }
}
