/* One solver of wave_fit.c. Private to the math layer. */
#ifndef ROPESCOPE_MATH_WAVE_SUMS_H
#define ROPESCOPE_MATH_WAVE_SUMS_H

#include "ropescope/math.h"

#include <gsl/gsl_vector.h>

/* The coefficients (2 waves,), sines first; NaN where the system is singular. RS_MEMORY. */
rs_status rs_wave_sums_solve(const rs_wave_fit_in *in, gsl_vector *solution, rs_err *err);

#endif
