#!/bin/sh
# Usage: tests/api/installed.sh SOURCE_ROOT BUILD_ROOT
# Installs BUILD_ROOT into a folder that is then moved, builds examples/ against what stands there, shared and static,
# runs each, and compares what they print with what the program prints. Seconds.
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
fail() {
    printf 'installed: %s\n' "$*" >&2
    exit 1
}

DESTDIR=$work/first meson install -C "$build" --no-rebuild --quiet
prefix=$(find "$work/first" -name ropescope.pc -print | head -n 1)
[ -n "$prefix" ] || fail 'no ropescope.pc was installed'
folder=${prefix%/pkgconfig/ropescope.pc}
mv "$work/first" "$work/moved"
folder=$work/moved${folder#"$work/first"}
PKG_CONFIG_PATH=$folder/pkgconfig LD_LIBRARY_PATH=$folder
export PKG_CONFIG_PATH LD_LIBRARY_PATH
include=$(pkg-config --variable=includedir ropescope)
[ -f "$include/ropescope.h" ] || fail "no ropescope.h in $include: ropescope.pc does not follow where it stands"
[ ! -e "$include/ropescope" ] || fail 'headers of the project itself were installed'

printf '{"model_type": "llama", "num_attention_heads": 8, "hidden_size": 512, "rope_theta": 500000.0,
 "max_position_embeddings": 8192, "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
 "original_max_position_embeddings": 2048}}' >"$work/config.json"
program=$(find "$work/moved" -path '*/bin/ropescope' -print | head -n 1)

# The same numbers as the program's.
check() {
    "$1/inv_freq" "$work/config.json" >"$work/inv_freq" 2>/dev/null
    "$program" show frequencies --hf "$work/config.json" --csv 2>/dev/null | tail -n +2 | cut -d, -f3 >"$work/expected"
    awk 'NR == FNR { wanted[NR] = $1; next } { n++; if ($1 != wanted[FNR] && ($1 - wanted[FNR])^2 > 1e-30) exit 1 }
         END { exit n == 32 ? 0 : 1 }' "$work/expected" "$work/inv_freq" || fail "$1/inv_freq differs from show frequencies"
    "$1/inv_freq" "$work/none.json" 2>"$work/why" && fail 'a file that is not there was read'
    grep -q 'none.json' "$work/why" || fail 'the message does not name the file'
    "$1/sweep" >"$work/sweep"
    [ "$(wc -l <"$work/sweep")" -eq 6 ] || fail "$1/sweep did not print six cells"
    grep -q "^yarn factor=4	8192	0$" "$work/sweep" || fail "$1/sweep: $(cat "$work/sweep")"
    "$1/method" >"$work/method"
    grep -q 'stretched stretch=4' "$work/method" || fail "$1/method: $(cat "$work/method")"
    "$1/statistics" "$work/q.npy" "$work/k.npy" >"$work/entropy"
    # Keys of zero are seen alike: the entropy is the logarithm of their number.
    awk '{ d = $2 - log($1 + 1); if (d * d > 1e-12) exit 1; n++ } END { exit n == 3 ? 0 : 1 }' "$work/entropy" ||
        fail "$1/statistics: $(cat "$work/entropy")"
}

# zeros ROWS FILE: float32 of shape (ROWS, 128).
zeros() {
    header="{'descr': '<f4', 'fortran_order': False, 'shape': ($1, 128), }"
    printf '\223NUMPY\001\000v\000%-117s\n' "$header" >"$2"
    head -c "$(($1 * 512))" /dev/zero >>"$2"
}
zeros 3 "$work/q.npy"
zeros 40 "$work/k.npy"

meson setup "$work/shared" "$source/examples" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
ninja -C "$work/shared" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
check "$work/shared"
if ldd "$work/shared/sweep" 2>/dev/null | grep -q 'libropescope.*not found'; then fail 'libropescope was not found'; fi

# The static library needs what Requires.private and Libs.private say, and nothing else.
mkdir "$work/static"
for name in inv_freq method statistics sweep; do
    # shellcheck disable=SC2046 # flags are words
    "${CC:-cc}" -std=c11 -o "$work/static/$name" "$source/examples/$name.c" $(pkg-config --cflags ropescope) \
        "$folder/libropescope.a" $(pkg-config --libs --static ropescope | sed 's/-lropescope//') >"$work/log" 2>&1 ||
        fail "$name: $(cat "$work/log")"
done
check "$work/static"
echo 'installed: the examples are built against the installed library, shared and static, and say what the program says'
