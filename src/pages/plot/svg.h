/* svg.h: a picture as SVG. */
#ifndef ROPESCOPE_PLOT_SVG_H
#define ROPESCOPE_PLOT_SVG_H

#include "picture.h"

void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out);

#endif
