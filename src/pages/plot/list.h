/* list.h: the pictures that a folder's results give, by name, before any is drawn. */
#ifndef ROPESCOPE_PLOT_LIST_H
#define ROPESCOPE_PLOT_LIST_H

#include "content.h"
#include "pages/pages.h"
#include "sweep.h"

typedef struct rs_plot_item {
  const rs_plot_file *file;     /* borrowed */
  const rs_plot_column *column; /* borrowed */
  rs_plot_choice choice;
  bool plain; /* it says nothing: rs_plot_content_plain */
  char *name; /* of its files, without an ending; no other has it. Owned. */
} rs_plot_item;

/* Zero-initialise; release with rs_plot_list_clear, after a failure too. */
typedef struct rs_plot_list {
  rs_plot_item *items; /* those of one column stand together. Owned. */
  size_t count, capacity;
  rs_plot_families families; /* that the items' choices borrow */
  rs_plot_sweep sweep;       /* likewise */
} rs_plot_list;

#define RS_PLOT_EVERY_LENGTH (-1.0)

/* Lists the pictures of all values, curves at `length` tokens (0: at the longest that has data, picture by picture;
 * RS_PLOT_EVERY_LENGTH: one picture for each length, the shortest first).
 * Notes say what has no picture, and why. RS_MEMORY. */
rs_status rs_plot_list_read(const rs_plot_data *data, double length, rs_plot_list *list, rs_plot_report *report,
                            rs_err *err);

/* Leaves the items that options->only means; where it names none, those that say something, or, with options->all,
 * each. RS_INPUT: a name that means no picture. */
rs_status rs_plot_list_filter(rs_plot_list *list, const rs_plot_options *options, rs_plot_report *report, rs_err *err);
void rs_plot_list_clear(rs_plot_list *list);

#endif
