#!/bin/sh
# Usage: tests/check_bits.sh [SOURCE_ROOT]
# Fails on a call of a function of the C library that was seen to give other bits on aarch64 than on x86-64 (glibc 2.36);
# math.h has the same of ours. Pictures may use them: src/plot rounds what it draws. Prints file:line of each call; one
# inside a comment counts too.
set -eu

cd -- "${1:-$(dirname -- "$0")/..}"
functions='exp2|hypot|cabs|lgamma|lgamma_r|erf|tanhf'
found=$(grep -rnE "(^|[^A-Za-z0-9_])($functions)\(" include src --include='*.[ch]' | grep -v '^src/plot/' || true)
if [ -n "$found" ]; then
    printf '%s\n' "$found" 'check_bits: take rs_exp2, rs_hypot or rs_log_gamma (ropescope/math.h)' >&2
    exit 1
fi
echo 'check_bits: no function whose bits are known to depend on the machine'
