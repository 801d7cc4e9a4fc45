/* numbers.h: what a picture shows, as JSON, in the form that rs_plot_views_read states. */
#ifndef ROPESCOPE_PLOT_NUMBERS_H
#define ROPESCOPE_PLOT_NUMBERS_H

#include "chart.h"
#include "heat.h"
#include "io/io.h"

/* Write members of the object that `json` is at. */
void rs_plot_chart_numbers(const rs_plot_chart *chart, bool dots, rs_json *json);
void rs_plot_heat_numbers(const rs_plot_heat *heat, bool strips, rs_json *json);

#endif
