/* The solvers of wave_fit.c that make normal equations. */
#ifndef ROPESCOPE_MATH_WAVE_SOLVERS_H
#define ROPESCOPE_MATH_WAVE_SOLVERS_H

#include "base/base.h"

/* The coefficients (2 waves,), sines first, not all finite where the system is singular. RS_MEMORY. */
rs_status rs_wave_sums_solve(const rs_wave_fit_in *in, double *solution, rs_err *err);

/* The same by the functions (2 waves, count), a row for each. */
rs_status rs_wave_normal_solve(const rs_wave_fit_in *in, const double *functions, double *solution, rs_err *err);

#endif
