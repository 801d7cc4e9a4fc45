#!/usr/bin/env bash
# A few commands under valgrind: reads of what was never written, which ASan does not see, and what is lost at the end.
# Seconds in all. Instructions are the generic ones, as valgrind knows no AVX-512; one thread, for OpenMP keeps what it
# has given to threads.
#
#     apt-get install valgrind              # once, as root
#     tests/memcheck.sh PROGRAM             # as build/ropescope; status 77: valgrind is missing
set -euo pipefail
program=$(realpath -- "$1")
tests=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
command -v valgrind >/dev/null || { echo 'memcheck: needs valgrind'; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
cat >small.yaml <<'YAML'
name: small
model: {heads: 2, head_dim: 8, rope_theta: 10000, train_length: 16}
methods: [rope, {name: yarn, factor: 2}, alibi, self_extend, sinusoidal, xpos, t5]
lengths: [16, 32]
sources: [gaussian, needle]
seeds: 2
metrics: [entropy, decay, needle, ood_angles]
YAML
cat >trained.yaml <<'YAML'
name: trained
checkpoint: {method: rope, heads: 1, head_dim: 4, width: 4, train: {steps: 2, length: 16, sequences: 2}}
task: copy
lengths: [16]
methods: [trained, alibi]
metrics: [loss]
YAML

watched() {
    local status=0 begin=$SECONDS
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        "$program" "$@" --isa generic --threads 1 >log 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        head -n 60 log
        printf 'memcheck: FAILED (status %d): ropescope %s\n' "$status" "$*"
        exit 1
    fi
    printf '%3d s: %s\n' $((SECONDS - begin)) "$*"
}

model=$tests/golden/models/llama3/config.json
watched run small.yaml --out new --quiet
watched run small.yaml --out new --quiet --force --set seeds=3
watched run trained.yaml --out trained --quiet
watched plot new --format svg --quiet
watched report new --quiet
watched verify new
watched table new entropy_nats
watched check "$model" --format json
watched explain "$model" --length 32k
watched convert "$model" --to vllm
watched list methods --json
echo "memcheck: nothing in $SECONDS s"
