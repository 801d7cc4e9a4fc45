#!/bin/sh
# Usage: tests/api/symbols.sh LIBRARY HEADER LIST
# libropescope.so exports what ropescope.h declares and LIST names, and nothing else; the header is good C11 and C++.
set -eu
library=$1 header=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$work/exported"
grep -oE '\bropescope_[a-z0-9_]+\(' "$header" | tr -d '(' | LC_ALL=C sort -u >"$work/declared"
diff -u "$work/declared" "$work/exported" || { echo 'symbols: the library exports other names than ropescope.h declares' >&2; exit 1; }
diff -u "$list" "$work/exported" || { echo "symbols: $list names others: a name that went breaks programs" >&2; exit 1; }
"${CC:-cc}" -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c "$header"
if command -v "${CXX:-c++}" >/dev/null; then
    "${CXX:-c++}" -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ "$header"
fi
echo "symbols: $(wc -l <"$list") functions"
