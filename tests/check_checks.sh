#!/bin/sh
# Usage: tests/check_checks.sh
# Plants in a small source tree what check_layers.sh, check_circles.sh and docs/check_results.sh are there to
# refuse, one offence at a time.
# Fails where one of them lets it pass, or refuses the tree without it.
set -eu

tests=$(cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
failed=0

# file NAME LINE...: a file of the tree.
file() {
    mkdir -p -- "$tree/$(dirname -- "$1")"
    name=$1
    shift
    printf '%s\n' "$@" >"$tree/$name"
}

# A tree that is in order: kernel/angle.c uses base/text.c, and kernel/sum.c.
begin() {
    rm -rf -- "${tree:?}/src" "$tree/include"
    file include/ropescope.h 'int rs_version(void);'
    file src/base/base.h 'void rs_text_add(int);' '#define RS_ADD(x) rs_text_add(x)'
    file src/kernel/kernel.h '#include "base/base.h"' 'double rs_angle(double);' 'double rs_sum(double);'
    file src/base/text.c '#include "base/base.h"' 'void rs_text_add(int x) {' '  (void)x;' '}'
    file src/kernel/angle.c '#include "kernel/kernel.h"' 'double rs_angle(double x) {' '  return rs_sum(x);' '}'
    file src/kernel/sum.c '#include "kernel/kernel.h"' 'double rs_sum(double x) {' '  RS_ADD(1);' '  return x;' '}'
}

# expect SCRIPT STATUS TEXT WHAT: what the script says of the tree.
expect() {
    status=0
    said=$("$tests/$1" "$tree" 2>&1) || status=$?
    case $said in
    *"$3"*) [ "$status" -eq "$2" ] && return ;;
    esac
    printf '%s: %s: status %d (expected %d, "%s"):\n%s\n' "$1" "$4" "$status" "$2" "$3" "$said" >&2
    failed=1
}

begin
expect check_layers.sh 0 'keep the layers' 'a tree in order'
expect check_circles.sh 0 'no circle' 'a tree in order'

begin
file src/base/text.c '#include "kernel/kernel.h"' 'void rs_text_add(int x) {' '  (void)x;' '}'
expect check_layers.sh 1 'base may not include kernel/kernel.h' 'an #include upwards'

begin
file src/kernel/angle.h '#include "sum.h"'
file src/kernel/sum.h '#include "angle.h"'
expect check_layers.sh 1 'closes an include cycle' 'headers that include each other'

begin
file src/encoding/kinds.h 'int x;'
file src/encoding/encoding.h '#include "kernel/kernel.h"'
file src/encoding/recipe.c '#include "encoding/encoding.h"' '#include "kinds.h"'
expect check_layers.sh 0 'keep the layers' 'a private header in order'
file src/kernel/sum.c '#include "encoding/encoding.h"'
expect check_layers.sh 1 'kernel may not include encoding/encoding.h' 'an #include upwards of a header'

begin
file src/encoding/kinds.h 'int x;'
file src/encoding/encoding.h '#include "kinds.h"'
expect check_layers.sh 1 'the header of encoding includes the private src/encoding/kinds.h' 'a private header that leaks'

begin
file src/encoding/kinds.h 'int x;'
file src/attention/x.c '#include "encoding/kinds.h"'
expect check_layers.sh 1 'which is private to encoding' 'a private header of another layer'

begin
file src/kernel/sum.c '#include "../base/base.h"' 'double rs_sum(double x) {' '  return x;' '}'
expect check_layers.sh 1 'write it as "base/base.h"' 'a header of a layer by another way'

begin
file include/ropescope/base.h 'int x;'
expect check_layers.sh 1 'a header outside the layers' 'a public header of no layer'

begin
file src/elsewhere/x.c 'int x;'
expect check_layers.sh 1 'unknown folder' 'a folder of no layer'

begin
file src/kernel/sum.c 'double rs_sum(double x) {' '  return x > 0 ? rs_angle(-x) : x;' '}'
expect check_circles.sh 1 'src/kernel/sum.c:2: uses rs_angle of src/kernel/angle.c' 'functions that use each other'

begin
file src/kernel/sum.c 'static double (*use)(double) = RS_TURN;' 'double rs_sum(double x) {' '  return x;' '}'
file src/kernel/angle.h '#define RS_TURN '\\ '  rs_angle'
expect check_circles.sh 1 'circle of 2 files' 'a circle by way of a macro'

begin
file src/kernel/sum.h 'static inline double rs_twice(double x) {' '  return rs_angle(x);' '}'
file src/kernel/sum.c 'double rs_sum(double x) {' '  return rs_twice(x);' '}'
expect check_circles.sh 1 'uses rs_angle of src/kernel/angle.c' 'a circle by way of an inline function'

begin
file src/kernel/kinds.c 'extern const int rs_kind_a;' 'const int *const rs_kinds[] = {&rs_kind_a};'
file src/kernel/kind_a.c 'const int rs_kind_a = sizeof rs_kinds;'
expect check_circles.sh 1 'src/kernel/kind_a.c:1: uses rs_kinds of src/kernel/kinds.c' 'a table and what it lists'

begin
file src/kernel/sum.c '/* rs_angle */ static double rs_angle_of(double x) {' '  return x; // rs_angle' '}' \
    'double rs_sum(double x) {' '  return rs_angle_of(x) + sizeof "rs_angle";' '}'
file src/kernel/angle.c 'static double rs_angle_of(double x) {' '  return x;' '}' 'double rs_angle(double x) {' \
    '  return rs_angle_of(rs_sum(x));' '}'
expect check_circles.sh 0 'no circle' 'names in comments, texts and static functions'

if command -v git >/dev/null; then
    begin
    git init -q "$tree"
    file README.md '[a table](results/a/summary.csv) and [a folder](results/a/)'
    file experiments/b/README.md '![a picture](../../results/a/plots/b.svg)'
    file results/a/summary.csv 'method,loss_nats'
    file results/a/plots/b.svg '<svg/>'
    file tests/none ''
    file docs/none ''
    git -C "$tree" add results/a/summary.csv
    expect docs/check_results.sh 1 'experiments/b/README.md: cites results/a/plots/b.svg, which git does not know' 'a picture that is here alone'
    git -C "$tree" add results/a/plots/b.svg
    expect docs/check_results.sh 0 '3 links to results' 'results that git knows'
    git -C "$tree" rm -q --cached results/a/summary.csv
    expect docs/check_results.sh 1 'README.md: cites results/a/summary.csv, which git does not know' 'a table that is here alone'
    rm -rf -- "${tree:?}/.git"
    expect docs/check_results.sh 77 'skipped' 'a tree without git'
fi

[ "$failed" -eq 0 ] && echo 'check_checks: what is planted is refused'
exit "$failed"
