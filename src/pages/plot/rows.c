/* rows.c: names of rows at the left of the plot area, right-aligned; long ones are wrapped. */
#include "forms.h"

#include "paper.h"

#include <math.h>

enum { SIZE = 14, ROW = 17, WIDEST = 170, GAP = 8 };

double rs_plot_row_names_width(const char *const *names, size_t count, double *tallest) {
  double widest = 0;
  *tallest = ROW;
  for (size_t i = 0; i < count; i++) {
    const char *rest = names[i];
    for (size_t row = 1; *rest != '\0'; row++) {
      const char *start = rest;
      size_t length = rs_plot_wrap(start, SIZE, false, WIDEST, &rest);
      widest = fmax(widest, rs_plot_text_width(start, length, SIZE, false));
      *tallest = fmax(*tallest, (double)row * ROW);
    }
  }
  return widest + GAP;
}

void rs_plot_row_name_add(const rs_plot_page *page, const char *name, double y, uint32_t colour) {
  double rows = (double)rs_plot_rows_count(name, SIZE, false, WIDEST), base = y - (rows - 1) / 2 * ROW + 0.36 * SIZE;
  while (*name != '\0') {
    const char *start = name;
    size_t length = rs_plot_wrap(start, SIZE, false, WIDEST, &name);
    rs_plot_text_add(page->picture, page->left - GAP, base, start, length, SIZE, RS_PLOT_END, colour);
    base += ROW;
  }
}
