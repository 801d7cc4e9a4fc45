/* format.h: the formats of pictures. */
#ifndef ROPESCOPE_PLOT_FORMAT_H
#define ROPESCOPE_PLOT_FORMAT_H

#include "pages/pages.h"

/* "svg"; and the format of a file by its ending, 0: none. */
const char *rs_plot_format_name(rs_plot_format format);
unsigned rs_plot_format_of(const char *file);

#endif
