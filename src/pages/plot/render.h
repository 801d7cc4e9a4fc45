/* render.h: an SVG as a PNG or a PDF, by librsvg and cairo. Both are left out of builds that do not find them. */
#ifndef ROPESCOPE_PLOT_RENDER_H
#define ROPESCOPE_PLOT_RENDER_H

#include "pages/pages.h"

/* Turns SVG text of `width` x `height` CSS pixels into RS_PLOT_PNG, twice as many pixels each way, or RS_PLOT_PDF, a
 * page of that size at 96 pixels an inch. Appends the file's bytes to `out`; the same bytes for the same SVG, fonts and
 * libraries. RS_UNSUPPORTED, RS_INTERNAL (librsvg's or cairo's own words), RS_MEMORY. */
rs_status rs_plot_render(const rs_text *svg, double width, double height, rs_plot_format format, rs_text *out,
                         rs_err *err);

#endif
