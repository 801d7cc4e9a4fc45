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
# ---- the same bytes ----
for config in rows tables trained; do
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

# ---- a slow rank, a lost rank, and an end ----
# What each rank says stands in a file of its own: Open MPI's launcher hands nothing on while it ends a job.
# shellcheck disable=SC2016
apart='exec "$@" 2> said.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}'
# shellcheck disable=SC2086
start() {
    env --default-signal=INT mpirun $oversubscribe -n 3 bash -c "$apart" - "$program" run rows.yaml --set seeds=24 --fresh --out many 2> messages &
    mpi=$!
}

journals=(many/.ropescope/journal many/.ropescope/rank-{1,2}/.ropescope/journal)

# Records of a journal.
count() { { LC_ALL=C grep -oaP '\xc5cel' "$1" 2> /dev/null || true; } | wc -l; }

# The processes of the job that is on, once all have recorded so many cells.
job() {
    local journal records
    for ((i = 0; i < 1000; i++)); do
        # shellcheck disable=SC2207 # numbers
        children=($(pgrep -P "$mpi" || true))
        records=0
        for journal in "${journals[@]}"; do
            [ "$(count "$journal")" -lt "$1" ] || records=$((records + 1))
        done
        if [ ${#children[@]} -eq 3 ] && [ "$records" -eq 3 ]; then return; fi
        sleep 0.01
    done
    fail 'the ranks do not begin'
}

# ended WHAT: the job ends badly, what was done is kept, and on RANKS (0: without MPI) it goes on to the same bytes.
ended() {
    local done=0 kept journal
    for journal in "${journals[@]}"; do done=$((done + $(count "$journal"))); done
    "${@:3}" || true
    if wait "$mpi"; then fail "status 0: $1"; fi
    [ ! -e many/summary.csv ] || fail "results: $1"
    if [ "$2" -gt 0 ]; then ranks "$2" rows.yaml --set seeds=24 --out many || fail "no run behind: $1"
    else "$program" run rows.yaml --set seeds=24 --out many 2> messages || fail "no run behind: $1"; fi
    kept=$(sed -n 's/ of 720 cells were done before.*//p' messages)
    [ "${kept:-0}" -ge "$done" ] || fail "${kept:-0} of $done cells are kept: $1"
    same whole many || fail "other bytes behind: $1"
    [ ! -e many/.ropescope/rank-1 ] || fail "a rank's journal is left behind: $1"
    rm -rf many
}
# What rank 0 has said, or another.
says() { grep -q "$1" "said.${2:-0}" || fail "not said: $1"; }

"$program" run rows.yaml --set seeds=24 --out whole --quiet
start
job 1
kill -STOP "${children[2]}"
sleep 1
kill -CONT "${children[2]}"
wait "$mpi" || fail 'with a slow rank'
same whole many || fail 'with a slow rank: other bytes'

rm -rf many
for lost in 2 1 0; do
    start
    job 20
    ended "rank $lost is killed" $((2 * lost)) kill -KILL "${children[lost]}"
    [ "$lost" -eq 0 ] || says ' of 720 cells are done: the same command goes on'
done
# To each rank: Open MPI's launcher takes a second to hand on its own, in which a fast machine does the rest. SIGINT is
# ignored in a script's background unless somebody says otherwise.
for signal in INT TERM; do
    start
    job 20
    ended "SIG$signal" 3 kill "-$signal" "${children[@]}"
    says ' of 720 cells are done: the same command goes on'
done
start
job 20
ended 'SIGTERM to one rank' 1 kill -TERM "${children[1]}"
says ' of 720 cells are done: the same command goes on'

start
job 20
ended 'a rank without room' 0 prlimit --fsize=1000 --pid "${children[2]}"
says 'rank 2: many/.ropescope/rank-2/.ropescope/journal: cannot write: File too large' 2
says 'another rank has failed'

start
job 20
rm -r many/.ropescope/rank-1/.ropescope
if wait "$mpi"; then fail 'a journal that is gone'; fi
says ' of 720 cells are missing that other ranks have done: many is not their folder'
ranks 2 rows.yaml --set seeds=24 --out many || fail 'no run behind a journal that is gone'
same whole many || fail 'other bytes behind a journal that is gone'
rm -rf many

start
job 20
kill -KILL "${children[1]}"
wait "$mpi" || true
ranks 2 rows.yaml --set seeds=24 --out many --fresh || fail '--fresh behind a lost rank'
[ "$(grep -c 'were done before' messages)" -eq 0 ] || fail '--fresh has kept journals of ranks'

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
grep -q 'rank 1: another config, program or instruction set than rank 0 has' messages || fail 'two instruction sets'
mkdir here there
# shellcheck disable=SC2086
mpirun $oversubscribe -n 1 -wdir here "$program" run ../rows.yaml --out o : -n 1 -wdir there "$program" run ../rows.yaml \
    --out o 2> messages && fail 'two folders'
grep -q 'rank 1: o/.ropescope/rank-1, which rank 0 has made, is not there' messages || fail 'two folders'
echo 'check_ranks: the same bytes on 1, 2, 3 and 5 ranks, with a slow one, and behind the loss of each'
