#!/bin/sh
# Usage: tests/api/abi.sh SOURCE_ROOT [--write]
# What a program that was built against an earlier libropescope relies on: functions, their arguments, the layout of
# structs, the numbers of enums. Compares it with libropescope.abi, that of the last release (before the first one: of
# its candidate). New functions may come; anything else breaks programs and asks for a new major version, then for
# --write, which a release does in any case. Status 77: libabigail is missing (Debian: apt-get install abigail-tools),
# or the machine is none of those that the file is of.
#
# The library is made once more with what libabigail reads, whatever the build itself has.
set -eu
source=$1 write=${2:-}
baseline=$source/tests/api/libropescope.abi
command -v abidw >/dev/null && command -v abidiff >/dev/null || { echo 'abi: needs abidw and abidiff'; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo 'abi: libropescope.abi is of x86_64'; exit 77; }

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/include" # of its own: what other headers declare is private
cp -- "$source/include/ropescope.h" "$work/include"
flags="-g -O0 -std=c17 -D_GNU_SOURCE -fPIC -fvisibility=hidden -w -ffile-prefix-map=$source=. -DROPESCOPE_VERSION=\"abi\""
for file in "$source"/src/api/*.c; do
    # shellcheck disable=SC2086 # flags are words
    ${CC:-cc} $flags -I"$work/include" -I"$source/include" -I"$source/src" -c "$file" -o "$work/$(basename -- "$file" .c).o"
done
${CC:-cc} -shared -Wl,--version-script="$source/src/api/exports.map" -Wl,-soname,libropescope.so.1 -Wl,-z,lazy \
    -o "$work/libropescope.so.1" "$work"/*.o
abidw --headers-dir "$work/include" --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-elf-needed --exported-interfaces-only --drop-undefined-syms --out-file "$work/new.abi" "$work/libropescope.so.1"

if [ "$write" = --write ]; then
    cp -- "$work/new.abi" "$baseline"
    echo "abi: $baseline"
    exit 0
fi
status=0
abidiff --no-added-syms "$baseline" "$work/new.abi" || status=$?
[ "$status" -eq 0 ] || { echo "abi: programs that use the last release would break (abidiff: $status)" >&2; exit 1; }
echo 'abi: as it was, or with more functions'
