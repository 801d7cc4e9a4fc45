#!/usr/bin/env bash
# Usage: tests/mpi/check_ranks.sh PROGRAM
# Runs sweeps on several ranks of MPI: the same bytes as one process for any number of them, also where a rank is slow,
# where one is killed and the run goes on, and where mistakes are made. Exit status 77 (skipped) without mpirun.
set -euo pipefail

program=$(realpath "${1:-build/ropescope}")
command -v mpirun > /dev/null || exit 77
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "check_ranks: $1" >&2
    [ ! -e messages ] || cat messages >&2
    exit 1
}

# ranks N ARGUMENTS...: the program on N ranks. MPICH's mpirun knows no --oversubscribe and needs none.
oversubscribe=--oversubscribe
mpirun --version 2>&1 | grep -q 'Open MPI' || oversubscribe=
# shellcheck disable=SC2086 # a flag or none
ranks() { timeout 120 mpirun $oversubscribe -n "$1" "$program" run "${@:2}" 2> messages; }

# Whether the CSV files of two folders are the same but for timings.csv.
same() {
    for file in "$1"/*.csv; do
        case $file in */timings.csv) continue ;; esac
        cmp -s "$file" "$2/${file##*/}" || return 1
    done
}

cat > rows.yaml <<'YAML'
name: rows
model: {head_dim: 32, heads: 2, train_length: 256}
methods: [rope, alibi, sinusoidal]
lengths: [64, 256, 1k, 2k, 4k]
seeds: 4
sources: [needle, gaussian]
metrics: [entropy, decay, needle, distance_mass]
YAML
cat > tables.yaml <<'YAML'
name: tables
model: {head_dim: 16, heads: 2, train_length: 256}
methods: [rope, yarn, ntk, alibi]
lengths: [64, 256, 1k]
metrics: [decay, ood_angles, id_growth]
YAML
cat > trained.yaml <<'YAML'
name: trained
task: {name: copy, symbols: 3}
sequences: 4
lengths: [4, 6, 8]
seeds: 3
methods: [trained, alibi]
metrics: [loss, entropy, decay]
sources: [{name: model, layer: 0}, gaussian]
checkpoint: {method: [rope, nope], width: 8, blocks: 1, heads: 2, train: {steps: 20, length: 4, sequences: 2}}
YAML
# Of these one cell, or one training, takes so long that all ranks share it.
cat > large.yaml <<'YAML'
name: large
model: {head_dim: 32, heads: 2, train_length: 256}
methods: [alibi, sinusoidal]
lengths: [256, 8k]
queries: all
sources: [needle]
metrics: [entropy, decay, needle, distance_mass]
YAML
cat > joint.yaml <<'YAML'
name: joint
task: {name: copy, symbols: 8}
sequences: 4
lengths: [16]
methods: [trained, alibi]
metrics: [loss]
checkpoint: {method: rope, width: 64, blocks: 2, heads: 2, train: {steps: 60, length: 16, sequences: 10}}
YAML

# ---- the same bytes ----
for config in rows tables trained large joint; do
    "$program" run "$config.yaml" --out "$config" --checkpoints one --quiet
    for count in 1 2 3 5; do
        ranks "$count" "$config.yaml" --out many --checkpoints "many-$count" --quiet || fail "$config on $count ranks"
        same "$config" many || fail "$config on $count ranks: other bytes"
        "$program" verify many --quiet || fail "$config on $count ranks: sums"
        for model in "many-$count"/*/model.safetensors; do
            [ ! -e "$model" ] || cmp -s "$model" "one${model#"many-$count"}" || fail "$config on $count ranks: weights"
        done
        rm -rf many "many-$count"
    done
done
ranks 2 rows.yaml --shard 1/2 --out shard-1 --quiet || fail 'a shard on 2 ranks'
"$program" run rows.yaml --shard 2/2 --out shard-2 --quiet
"$program" merge shard-1 shard-2 --out many --quiet || fail 'merge of a shard on 2 ranks'
same rows many || fail 'a shard on 2 ranks: other bytes'
rm -rf many

# ---- a slow rank, a lost rank ----
# shellcheck disable=SC2086
start() { mpirun $oversubscribe -n 3 "$program" run rows.yaml --set seeds=24 --fresh --out many 2> messages & mpi=$!; }

# The processes of the job that is on, once all have begun.
job() {
    for ((i = 0; i < 500; i++)); do
        # shellcheck disable=SC2207 # numbers
        children=($(pgrep -P "$mpi" || true))
        if [ ${#children[@]} -eq 3 ] && [ -s many/.ropescope/journal ]; then return; fi
        sleep 0.01
    done
    fail 'the ranks do not begin'
}

"$program" run rows.yaml --set seeds=24 --out whole --quiet
start
job
kill -STOP "${children[2]}"
sleep 1
kill -CONT "${children[2]}"
wait "$mpi" || fail 'with a slow rank'
same whole many || fail 'with a slow rank: other bytes'

for lost in 2 1 0; do
    rm -rf many
    start
    job
    for ((i = 0; i < 1000; i++)); do
        if [ "$(stat -c %s many/.ropescope/journal)" -gt 100000 ]; then break; fi
        sleep 0.01
    done
    before=$(stat -c %s many/.ropescope/journal)
    kill -KILL "${children[lost]}" || true
    if wait "$mpi"; then continue; fi # it was over
    [ ! -e many/summary.csv ] || fail "results of a job that lost rank $lost"
    [ "$(stat -c %s many/.ropescope/journal)" -ge "$before" ] || fail "records are lost with rank $lost"
    ranks 2 rows.yaml --set seeds=24 --out many || fail "no run behind the loss of rank $lost"
    grep -q 'of 720 cells were done before' messages || fail "nothing was kept at the loss of rank $lost"
    same whole many || fail "other bytes behind the loss of rank $lost"
done

# ---- mistakes ----
expect() { # STATUS WORDS COUNT ARGUMENTS...
    local status=0
    ranks "${@:3}" || status=$?
    [ "$status" -eq "$1" ] || fail "status $status, not $1: ${*:4}"
    [ "$(grep -c "$2" messages)" -eq 1 ] || fail "not said once: $2"
}
expect 2 'nothing.yaml: cannot read' 3 nothing.yaml
expect 2 'holds the results of another config' 3 tables.yaml --out rows
expect 2 'parts count from 1/2 to 2/2' 1 rows.yaml --shard 3/2
mkdir locked && mkdir locked/.ropescope && touch locked/.ropescope/lock
exec 9< locked/.ropescope/lock
flock 9
expect 75 'is running into this folder' 3 rows.yaml --out locked
exec 9<&-
ranks 1 rows.yaml --out other : -n 1 "$program" run rows.yaml --isa generic --out other && fail 'two instruction sets'
grep -q 'rank 1 has another config, program or instruction set' messages || fail 'two instruction sets'
echo 'check_ranks: the same bytes on 1, 2, 3 and 5 ranks, with a slow one, and behind the loss of each'
