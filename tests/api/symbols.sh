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
# No global state of its own, but for what is named here (GSL has its error handler, which is off). Sanitizers bring
# theirs.
#   c_locale, c_locale_once  the locale "C", made once, by whichever thread needs it first
#   chosen                   the instruction set of the program's --isa; nothing of ropescope.h sets it
#   no_memory...             the error that is told where there is no memory for one; never changed
cat >"$work/known" <<'KNOWN'
c_locale
c_locale_once
chosen
no_memory
no_memory_message
KNOWN
if command -v objdump >/dev/null && ! nm "$library" | grep -qE '__(asan|ubsan|tsan|gcov)_'; then
    objdump -t "$library" | awk 'NF > 3 && ($(NF - 2) == ".bss" || $(NF - 2) == ".data") { print $NF }' | grep -v '^[_.]' |
        grep -v '^completed\.[0-9]*$' | LC_ALL=C sort -u >"$work/writable"
    diff -u "$work/known" "$work/writable" || { echo 'symbols: the library has other global state' >&2; exit 1; }
fi
"${CC:-cc}" -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c "$header"
if command -v "${CXX:-c++}" >/dev/null; then
    "${CXX:-c++}" -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ "$header"
fi
echo "symbols: $(wc -l <"$list") functions"
