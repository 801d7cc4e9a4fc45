/* draw.h: one picture of the list, from its numbers to shapes. */
#ifndef ROPESCOPE_PLOT_DRAW_H
#define ROPESCOPE_PLOT_DRAW_H

#include "list.h"
#include "picture.h"
#include "style.h"

/* Draws the item, whose column `measure` holds, into the zeroed `picture`, and writes its words and numbers as members
 * of the object that `numbers` is at; either may be NULL. `styles`: of the data's methods. */
rs_status rs_plot_draw(rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_style *styles,
                       rs_plot_picture *picture, rs_json *numbers, rs_err *err);

#endif
