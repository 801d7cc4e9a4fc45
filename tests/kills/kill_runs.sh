#!/bin/bash
# Usage: tests/kills/kill_runs.sh [PROGRAM] [KILLS] [SEED]
# Kills a run that takes seconds with SIGKILL, KILLS times (200) at random instants, each time in the folder of complete
# results of another config or in one without results, and goes on from what is left. After each kill the folder must
# hold a whole set or none (ropescope verify) and somebody's file must still be there; after each resume every CSV file
# must be the same bytes as those of a run that nobody killed.
set -euo pipefail

program=$(realpath "${1:-build/ropescope}") kills=${2:-200} seed=${3:-$$}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RANDOM=$seed
cat > config.yaml <<'YAML'
name: kills
model: {head_dim: 64, heads: 2, train_length: 256}
methods: [rope, yarn, alibi, sinusoidal]
lengths: [256, 512, 1k, 2k, 4k, 6k, 8k]
seeds: 6
sources: [needle, gaussian]
metrics: [entropy, distance_mass, decay, needle]
YAML

fail() {
    echo "kill_runs: $1 (seed $seed, kill $kill)" >&2
    exit 1
}

# Whether the CSV files of two folders are the same but for timings.csv.
same() {
    for file in "$1"/*.csv; do
        case $file in */timings.csv) continue ;; esac
        cmp -s "$file" "$2/${file##*/}" || return 1
    done
}

kill=0
start=$(date +%s%N)
"$program" run config.yaml --out whole --quiet
milliseconds=$((($(date +%s%N) - start) / 1000000))
"$program" run config.yaml --out other --quiet --set 'methods=[nope]' --lengths 256
mkdir folder && echo mine > folder/README.md

skipped=0
for ((kill = 1; kill <= kills; kill++)); do
    if ((RANDOM % 4 == 0)); then # begin again, with or without old results
        rm -rf folder && if ((RANDOM % 2)); then cp -r other folder; else mkdir folder; fi
        echo mine > folder/README.md
    fi
    "$program" run config.yaml --out folder --force 2> messages & process=$!
    delay=$((RANDOM * milliseconds * 11 / 10 / 32768))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    { kill -KILL "$process" && wait "$process"; } 2> /dev/null || true
    [ "$(cat folder/README.md)" = mine ] || fail "README.md is gone"
    if [ -e folder/summary.csv ]; then "$program" verify --quiet folder || fail "a mixture of results"; fi
    if grep -q 'were done before' messages; then skipped=$((skipped + 1)); fi
    if ((RANDOM % 3 == 0)); then
        "$program" run config.yaml --out folder --force --quiet || fail "no run after the kill"
        same whole folder || fail "other bytes after the kill"
        "$program" verify --quiet folder || fail "sums that do not fit"
    fi
done
"$program" run config.yaml --out folder --force --quiet
same whole folder || fail "other bytes at the end"
left=$(find . -maxdepth 1 -name '.ropescope-*' | wc -l)
((left == 0)) || fail "$left folders are left behind"
echo "kill_runs: $kills kills within $milliseconds ms, $skipped runs went on from one before (seed $seed)"
