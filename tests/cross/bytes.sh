#!/usr/bin/env bash
# Builds the program by each compiler at each -O level, and compares the bytes of what it writes: every method, source and
# metric (every.yaml), views and masks (sweep.yaml), models in training (trained.yaml), curves that are fitted
# (fits.yaml), in each instruction set of the machine. Prints a line for each build, with one number for all its CSV
# files; those of one set must be equal.
#
#     tests/cross/bytes.sh FOLDER [COMPILER...]      # default: gcc clang; LEVELS='0 1 2 3'
#     tests/cross/bytes.sh --run PROGRAM FOLDER      # those of a program that is there
#
# SETS names the instruction sets ('generic'), RUN what starts the program (an emulator). Status 1: bytes differ.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
read -r -a before <<<"${RUN-}"

# system: what this runs on, as in "Debian 12 x86_64, glibc 2.36".
system() {
    local name
    name=$(. /etc/os-release && echo "${ID^} ${VERSION_ID-}")
    printf '%s, %s' "$name" "$(getconf GNU_LIBC_VERSION)"
}

# sums PROGRAM FOLDER ISA: the SHA-256 of every CSV file but the timings, by name.
sums() {
    local program=$1 out=$2 isa=$3 config solver
    local common=(--quiet --isa "$isa" --checkpoints "$out/checkpoints")
    rm -rf -- "$out"
    mkdir -p -- "$out"
    for config in every sweep trained; do
        "${before[@]}" "$program" run "$here/$config.yaml" "${common[@]}" --out "$out/$config" || return
    done
    for solver in svd normal gram_f32 sums; do
        "${before[@]}" "$program" run "$here/fits.yaml" "${common[@]}" --out "$out/fits-$solver" \
            --set "metrics=[{name: least_squares_blowup, solver: $solver, ridge: 1}]" || return
    done
    rm -r -- "$out"/*/timings.csv "$out"/*/.ropescope
    (cd -- "$out" && find . -name '*.csv' | LC_ALL=C sort | xargs sha256sum) >"$out/sums"
}

# compared PROGRAM FOLDER WHAT: one line for each set; against the first of the same set in $all, the files that differ.
failed=0
compared() {
    local program=$1 folder=$2 what=$3 isa
    for isa in ${SETS-generic v3 v4 neon}; do
        if ! "${before[@]}" "$program" plan "$here/sweep.yaml" --isa "$isa" >/dev/null 2>&1 && [ "$isa" != generic ]; then
            continue # the machine has no such set
        fi
        sums "$program" "$folder/out-$isa" "$isa"
        printf '%-34s %-8s %.16s\n' "$what" "$isa" "$(sha256sum <"$folder/out-$isa/sums")"
        if [ ! -f "$all/first-$isa" ]; then cp -- "$folder/out-$isa/sums" "$all/first-$isa"; fi
        cmp -s -- "$all/first-$isa" "$folder/out-$isa/sums" && continue
        failed=1
        { diff -- "$all/first-$isa" "$folder/out-$isa/sums" || true; } | sed -n 's/^> [0-9a-f]* /    differs: /p'
    done
}

if [ "${1-}" = --run ]; then
    mkdir -p -- "$3"
    all=$3
    compared "$2" "$3" "$(system)"
    exit "$failed"
fi

mkdir -p -- "${1:?a folder}"
all=$(cd -- "$1" && pwd)
shift
rm -f -- "$all"/first-*
printf '%s\n' "$(system)"
for compiler in "${@:-gcc clang}"; do
    for name in $compiler; do
        for level in ${LEVELS-0 1 2 3}; do
            folder=$all/$name-O$level again=()
            if [ -f "$folder/build.ninja" ]; then again=(--reconfigure); fi
            CC=$name meson setup "${again[@]}" -Doptimization="$level" -Dtests=disabled -Dexplore=disabled -Dlibrsvg=disabled \
                -Dcharts=disabled "$folder" "$root" >"$all/log" 2>&1 || { cat -- "$all/log"; exit 2; }
            nice ninja -C "$folder" ropescope >"$all/log" 2>&1 || { cat -- "$all/log"; exit 2; }
            compared "$folder/ropescope" "$folder" "$("$name" -dumpfullversion -dumpversion | sed "s/^/$name /") -O$level"
        done
    done
done
exit "$failed"
