#!/usr/bin/env bash
# Looks for data races: the program under ThreadSanitizer, which archer (a part of LLVM's OpenMP) tells what OpenMP's
# barriers, locks and reductions order. GNU's OpenMP is of no use here: ThreadSanitizer does not see its synchronisation
# and calls everything a race.
#
#     apt-get install clang libomp-dev      # once, as root
#     tests/race/check.sh [FOLDER]          # default: build-race; status 77: clang or archer is missing
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$root/build-race}

command -v clang >/dev/null || { echo 'race: needs clang'; exit 77; }
major=$(clang -dumpversion)
archer=/usr/lib/llvm-${major%%.*}/lib/libarcher.so
[ -f "$archer" ] || { echo "race: needs libomp-dev, for $archer"; exit 77; }

again=()
if [ -f "$folder/build.ninja" ]; then again=(--reconfigure); fi
CC=clang meson setup --wrap-mode=nofallback "${again[@]}" -Dbuildtype=debugoptimized -Dopenmp=enabled \
    -Db_sanitize=thread -Db_lundef=false -Dtests=disabled "$folder" "$root" >/dev/null
library=$(ninja -C "$folder" -t targets all | sed -n 's/^\(src\/api\/libropescope\.so\.[0-9.]*\): .*/\1/p')
ninja -C "$folder" ropescope "$library"
clang -std=c11 -g -O1 -fsanitize=thread -I"$root/include" "$root/tests/race/beside.c" -o "$folder/beside" \
    "$folder/$library" -lpthread "-Wl,-rpath,$folder/src/api"

# Libraries that were not compiled with ThreadSanitizer (OpenMP's own) are left out, as archer's manual says.
export OMP_TOOL_LIBRARIES=$archer ARCHER_OPTIONS='verbose=1' KMP_BLOCKTIME=0
export TSAN_OPTIONS='ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66'

# watched ARGUMENT...: the program with four threads.
watched() { watch "$folder/ropescope" "$@" --threads 4; }

# watch COMMAND...: archer must have been there, and nothing reported.
watch() {
    local status=0 begin=$SECONDS
    "$@" >"$folder/log" 2>&1 || status=$?
    if [ "$status" -ne 0 ] || grep -q 'ThreadSanitizer' "$folder/log"; then
        head -n 60 -- "$folder/log"
        printf 'race: FAILED: %s\n' "$*"
        exit 1
    fi
    grep -q 'Archer detected' "$folder/log" || { echo 'race: archer did not start'; exit 1; }
    printf '%3d s: %s\n' $((SECONDS - begin)) "$*"
}

# sweep LENGTH SEEDS METHODS [LINE [QUERIES]]: every observable. With one seed, threads share what is inside a cell,
# where it is large enough; with more they take a seed each.
sweep() {
    cat >"$folder/sweep.yaml" <<YAML
name: race
model: {head_dim: 64, heads: 2, train_length: 10000}
lengths: [$1]
seeds: $2
methods: $3
sources: [{name: needle, depth: 0.5, from: 0.75}]
metrics: [decay, first_violation, ood_angles, local_resolution, entropy, effective_tokens, distance_mass, needle,
  score_by_distance, sink_mass]
queries: {random: ${5:-32}}
${4:-}
YAML
    printf 'length %s, %s seeds, %s %s\n' "$1" "$2" "$3" "${4:-}"
    watched run "$folder/sweep.yaml" --out "$folder/out" --force
}

some='[rope, alibi]'
every='[rope, self_extend, {name: yarn, scale: 4, logit_scale: log_n}, xpos, alibi, t5, fire, sinusoidal, learned]'
sweep 200 4 "$every"
sweep 9000 1 "$every"
for mask in bidirectional cross '{window: 3000}' '{window: 3000, sinks: 4}'; do
    sweep 100 4 "$some" "mask: $mask"
    sweep 9000 1 "$some" "mask: $mask"
done
# Rows and bins enough for each metric to be a thread's.
sweep 2000 1 "$some" 'bins_per_octave: 64' 200
# Tables are made cell by cell, each by one thread unless OpenMP may nest; only then sums of waves are shared out.
OMP_MAX_ACTIVE_LEVELS=2 sweep 150000 1 "$some" '' 4
watched bench --quick --rounds 1
# Threads of a program's own that call the library, each with a team of its own.
OMP_NUM_THREADS=4 watch "$folder/beside"
echo "race: none in $SECONDS s"
