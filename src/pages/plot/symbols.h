/* symbols.h: formulas as they are printed, from formulas as they are typed. */
#ifndef ROPESCOPE_PLOT_SYMBOLS_H
#define ROPESCOPE_PLOT_SYMBOLS_H

#include "base/base.h"

/* Appends `text` with its formulas in symbols: "sum_j cos(angle_j)" as "Σⱼ cos(θⱼ)", "2 pi / omega_j" as "2π / ωⱼ". */
void rs_plot_symbols(const char *text, rs_text *out);

#endif
