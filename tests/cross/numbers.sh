#!/usr/bin/env bash
# Builds the program by each compiler at each -O level, and compares the numbers of what it writes: every method, source
# and metric (every.yaml), views and masks (sweep.yaml), models in training (trained.yaml), curves that are fitted
# (fits.yaml), in each instruction set of the machine. Scores are doubles. All agree with those of the first set of the
# first build within 1e-9 of themselves, and what is said of models that were trained in floats within 1e-3.
#
#     tests/cross/numbers.sh FOLDER [COMPILER...]      # default: gcc clang; LEVELS='0 1 2 3'
#     tests/cross/numbers.sh --run PROGRAM FOLDER      # those of a program that is there
#
# SETS names the instruction sets ('generic'), RUN what starts the program (an emulator). Status 1: numbers differ.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
read -r -a before <<<"${RUN-}"

# write PROGRAM FOLDER ISA: every CSV file but the timings.
write() {
    local program=$1 out=$2 isa=$3 config ridge
    local common=(--quiet --isa "$isa" --checkpoints "$out/checkpoints")
    rm -rf -- "$out"
    mkdir -p -- "$out"
    for config in every sweep; do
        "${before[@]}" "$program" run "$here/$config.yaml" "${common[@]}" --set engine.scores=f64 --out "$out/$config"
    done
    "${before[@]}" "$program" run "$here/trained.yaml" "${common[@]}" --out "$out/trained"
    for ridge in 0.01 1; do
        "${before[@]}" "$program" run "$here/fits.yaml" "${common[@]}" --out "$out/fits-$ridge" \
            --set "metrics=[{name: calibration, wanted: noise, ridge: $ridge}]"
    done
    rm -r -- "$out"/*/timings.csv "$out"/*/.ropescope
}

# compared PROGRAM FOLDER WHAT: one line for each set, and the files that differ from the first's in $all.
failed=0
compared() {
    local program=$1 folder=$2 what=$3 isa file bound worst
    for isa in ${SETS-generic v3 v4 neon}; do
        if ! "${before[@]}" "$program" plan "$here/sweep.yaml" --isa "$isa" >/dev/null 2>&1 && [ "$isa" != generic ]; then
            continue # the machine has no such set
        fi
        write "$program" "$folder/out-$isa" "$isa"
        if [ ! -d "$all/first" ]; then cp -r -- "$folder/out-$isa" "$all/first"; fi
        worst=0
        while read -r file; do
            bound=1e-9
            case $file in ./trained/* | ./checkpoints/*) bound=1e-3 ;; esac
            "$here/compare_csv.awk" -v bound=$bound "$all/first/$file" "$folder/out-$isa/$file" || worst=1
        done < <(cd -- "$folder/out-$isa" && find . -name '*.csv' | LC_ALL=C sort)
        printf '%-34s %-8s %s\n' "$what" "$isa" "$([ $worst -eq 0 ] && echo agrees || echo DIFFERS)"
        if [ $worst -ne 0 ]; then failed=1; fi
    done
}

if [ "${1-}" = --run ]; then
    mkdir -p -- "$3"
    all=$3
    compared "$2" "$3" "$2"
    exit "$failed"
fi

mkdir -p -- "${1:?a folder}"
all=$(cd -- "$1" && pwd)
shift
rm -rf -- "$all/first"
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
