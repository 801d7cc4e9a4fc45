/* events.h: what a summary says of a point of a curve. */
#ifndef ROPESCOPE_PLOT_EVENTS_H
#define ROPESCOPE_PLOT_EVENTS_H

#include "series.h"

/* Sets the event of each series of a curve that the summary knows one of: the first violation of a mean cosine. */
rs_status rs_plot_events_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                              rs_err *err);

/* What the curve's events are, in words; NULL: it has none. */
const char *rs_plot_events_words(const rs_plot_measure *measure);

#endif
