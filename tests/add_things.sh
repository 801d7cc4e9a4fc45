#!/usr/bin/env bash
# Does what "Adding things" in src/README.md says, in a copy of the tree: writes the files and lines that stand there,
# builds, and sees that the program has what was added and computes it. The page marks what goes where:
#
#   <!-- file: src/encoding/kinds/freq_slowed.c -->              the next block is this new file
#   <!-- line: src/encoding/method.c after: methods[] -->         the next block goes behind the line that holds this
#
# add_things.sh [FOLDER]: the copy is FOLDER (kept, and used again) or a temporary one
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
copy=${1:-$scratch/tree}

fail() {
    printf 'add_things: %s\n' "$*" >&2
    exit 1
}

# Every file that git knows; the pages of docs print what stands in results.
copy_tree() {
    mkdir -p -- "$copy"
    rm -rf -- "${copy:?}"/{src,include,tests,configs}
    (cd -- "$root" && git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$copy" --)
}

# apply MARKER: puts the block in $scratch/block where the marker says.
apply() {
    local file text
    if [[ $1 =~ ^\<!--\ file:\ (.*)\ --\>$ ]]; then
        file=${BASH_REMATCH[1]}
        [ ! -e "$copy/$file" ] || fail "$file is there already"
        cp -- "$scratch/block" "$copy/$file"
    elif [[ $1 =~ ^\<!--\ line:\ ([^ ]*)\ after:\ (.*)\ --\>$ ]]; then
        file=${BASH_REMATCH[1]} text=${BASH_REMATCH[2]}
        awk -v text="$text" -v block="$scratch/block" '
            { print }
            !found && index($0, text) { found = 1; while ((getline line < block) > 0) print line }
            END { exit !found }' "$copy/$file" >"$scratch/file" || fail "no line of $file holds: $text"
        cp -- "$scratch/file" "$copy/$file"
    fi
}

# Follows the page. A block is what stands between two fences; its marker is the line before it.
follow() {
    local line marker='' inside=false blocks=0
    while IFS= read -r line; do
        if $inside && [ "$line" = '```' ]; then
            inside=false
            apply "$marker"
            marker='' blocks=$((blocks + 1))
        elif $inside; then
            printf '%s\n' "$line" >>"$scratch/block"
        elif [[ $line == '```'* && -n $marker ]]; then
            inside=true
            : >"$scratch/block"
        elif [[ $line =~ ^\<!--\ (file|line):\  ]]; then
            marker=$line
        fi
    done <"$root/src/README.md"
    [ "$blocks" -gt 0 ] || fail 'src/README.md marks nothing to add'
    printf 'added what %d blocks of src/README.md say\n' "$blocks"
}

build() {
    if [ ! -f build/build.ninja ]; then meson setup --wrap-mode=nofallback -Dtests=enabled -Dwerror=true build >"$scratch/log"; fi
    ninja -C build ropescope tests/test_{encoding,specs,specs_metrics,sources,metrics,tasks,tiny} >"$scratch/log" || {
        cat -- "$scratch/log"
        fail 'what was added does not build'
    }
}

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
    printf 'ok: %s: %s\n' "$1" "$2"
}

# listed LIST NAME
listed() { build/ropescope list "$1" | grep -x -- "$2" >"$scratch/found" || fail "list $1 has no $2"; }

# value RUN COLUMN KEY WANTED [KEY WANTED]: from the summary of a run, where each key column has its value.
value() {
    awk -F, -v column="$2" -v key="$3" -v wanted="$4" -v other="${5:-$3}" -v also="${6:-$4}" '
        NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
        $place[key] == wanted && $place[other] == also { print $place[column] }' "results/$1/summary.csv"
}

# within WHAT GOT LEAST MOST
within() {
    awk -v got="$2" -v least="$3" -v most="$4" 'BEGIN { exit !(got >= least && got <= most) }' ||
        fail "$1 is '$2', not $3 to $4"
    printf 'ok: %s: %s\n' "$1" "$2"
}

# A model learns the tally of 4 bits in a second or two, and has not met longer ones.
learn() {
    cat >learned.yaml <<'CONFIG'
name: learned
checkpoint: {method: sinusoidal, width: 32, heads: 2, blocks: 1, train: {steps: 400, length: 4, rate: 0.01}}
task: {name: tally, modulus: 3}
lengths: [4, 64]
metrics: [accuracy]
CONFIG
    build/ropescope run learned.yaml --quiet --isa generic
    within 'accuracy of counting 4 bits modulo 3' "$(value learned accuracy length_tokens 4)" 0.95 1
    within 'accuracy of counting 64, where chance is a third' "$(value learned accuracy length_tokens 64)" 0.25 0.5
    same 'chance' "$(value learned chance_accuracy length_tokens 4)" 0.3333333333333333
}

try() {
    meson compile -C build docs >"$scratch/log" 2>&1 || fail "$(cat -- "$scratch/log")"
    grep -q '^| `slowed` |' docs/reference/methods.md || fail 'docs/reference/methods.md has no slowed'
    listed methods slowed
    listed kinds 'frequencies slowed'
    listed sources level
    listed metrics slowest_wavelength
    listed tasks tally
    cat >added.yaml <<'CONFIG'
name: added
model: llama-2-7b
lengths: [32k]
methods: [rope, {name: pi, factor: 8}, {name: slowed, slowness: 8}]
sources: [constant, {name: level, level: 0}, {name: level, label: level 1}]
queries: {last: 1}
metrics: [first_violation, {name: slowest_wavelength, turns: 2}, entropy]
CONFIG
    build/ropescope run added.yaml --quiet --isa generic
    same 'first violation under slowed, as under pi' "$(value added first_violation_tokens method slowed source constant)" \
        "$(value added first_violation_tokens method pi source constant)"
    same 'two turns of the slowest pair, 4 pi 10000^(126/128)' \
        "$(printf '%.6g' "$(value added slowest_wavelength_tokens method rope source constant)")" 108820
    same 'entropy at level 0, ln 32768' \
        "$(printf '%.9g' "$(value added entropy_nats method rope source level)")" 10.3972077
    same 'entropy at level 1, as of constant' "$(value added entropy_nats method slowed source 'level 1')" \
        "$(value added entropy_nats method pi source constant)"
    learn
    meson test -C build --no-rebuild encoding specs specs_metrics sources metrics tasks tiny >"$scratch/log" 2>&1 || {
        cat -- "$scratch/log"
        fail 'tests fail with what was added'
    }
    printf 'ok: the tests of encodings, specs, sources, metrics and tasks, and the tiny worlds\n'
}

copy_tree
follow
cd -- "$copy"
build
try
