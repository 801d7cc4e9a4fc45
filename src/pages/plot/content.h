/* content.h: the numbers of one picture, in the form in which it shows them. */
#ifndef ROPESCOPE_PLOT_CONTENT_H
#define ROPESCOPE_PLOT_CONTENT_H

#include "family.h"
#include "map.h"
#include "series.h"

typedef enum rs_plot_form {
  RS_PLOT_LINES,
  RS_PLOT_DOTS,  /* one row a method, where all have values at one place alone; or one row a category */
  RS_PLOT_HEAT,  /* over two numbers */
  RS_PLOT_STRIPS /* colours over one number, one strip a method */
} rs_plot_form;

/* Zero-initialise; release with rs_plot_content_clear, after a failure too. */
typedef struct rs_plot_content {
  rs_plot_form form;
  rs_plot_set set; /* of lines and dots */
  rs_plot_map map; /* of the other two */
} rs_plot_content;

/* Reads what `choice` shows of `measure`; of a family, `measure` gets its places. */
rs_status rs_plot_content_read(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                               rs_err *err);
void rs_plot_content_clear(rs_plot_content *content);

/* Whether there is a value to show; and whether that says nothing: there is but one number, or all methods have the
 * same line, or means of samples that are too few, at too few places, for a trend. */
bool rs_plot_content_any(const rs_plot_content *content);
bool rs_plot_content_plain(const rs_plot_content *content);

#endif
