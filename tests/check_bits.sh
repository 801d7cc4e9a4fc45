#!/bin/sh
# Usage: tests/check_bits.sh [SOURCE_ROOT]
# Fails on a call of a function of the C library (glibc 2.36) or of GSL (2.7) that was seen to give other bits on aarch64
# than on x86-64; base.h has the same of ours. Pictures may use them: src/pages/plot rounds what it draws. Prints file:line of
# each call; one inside a comment counts too.
set -eu

cd -- "${1:-$(dirname -- "$0")/..}"
functions='exp2|hypot|cabs|lgamma|lgamma_r|erf|tanhf|gsl_(linalg|blas|eigen|sf|min|fit|multifit)_[A-Za-z0-9_]*'
functions=$functions'|gsl_stats_(mean|variance|sd|covariance|correlation)|gsl_cdf_[a-z]*_[PQ]inv'
found=$(grep -rnE "(^|[^A-Za-z0-9_])($functions)\(" include src --include='*.[ch]' | grep -v '^src/pages/plot/' || true)
if [ -n "$found" ]; then
    printf '%s\n' "$found" 'check_bits: take the function of base/base.h or src/base/factors.h' >&2
    exit 1
fi
echo 'check_bits: no function whose bits are known to depend on the machine'
