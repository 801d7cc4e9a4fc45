/* svg.h: a picture as SVG. */
#ifndef ROPESCOPE_PLOT_SVG_H
#define ROPESCOPE_PLOT_SVG_H

#include "picture.h"

/* Appends text that is safe within XML; what XML or UTF-8 does not allow becomes U+FFFD. */
void rs_plot_xml_escape(const char *text, rs_text *out);
void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out);

#endif
