/* width.h: how wide text is. */
#ifndef ROPESCOPE_PLOT_WIDTH_H
#define ROPESCOPE_PLOT_WIDTH_H

#include "base/base.h"

/* Width in pixels of the first `length` bytes of UTF-8 text in the widest of the common sans-serif fonts. */
double rs_plot_text_width(const char *text, size_t length, double size, bool bold);

/* Bytes of the first line when `text` is wrapped at `width` pixels; `*next` is where the second starts. */
size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next);

#endif
