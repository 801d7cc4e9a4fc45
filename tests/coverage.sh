#!/usr/bin/env bash
# How much of src the fast suite runs, and the faults of tests/fault: one call for each chain of FRAMES (default 4)
# functions that lead to it, in the first command that has it. Builds with gcov's counters, runs both, prints the shares of
# lines and of branches, and writes what was not reached to FOLDER/coverage.txt (a line a file) and
# FOLDER/coverage/index.html. One test, failing_run, cannot hold in such a build: the limits that it sets meet gcov's own
# files.
#
#     apt-get install gcovr                 # once, as root; libopenmpi-dev for what runs on ranks
#     tests/coverage.sh [FOLDER [SUITE...]] # default: build-coverage fast
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$root/build-coverage}
shift || true
suites=("${@:-fast}")

command -v gcovr >/dev/null || { echo 'coverage: needs gcovr'; exit 77; }
again=()
if [ -f "$folder/build.ninja" ]; then again=(--reconfigure); fi
# Threads count without losing any; -O1 keeps what loops over numbers bearable.
meson setup --wrap-mode=nofallback "${again[@]}" -Dtests=enabled -Dmpi=auto -Dbuildtype=debug -Doptimization=1 \
    -Db_coverage=true -Dc_args=-fprofile-update=atomic "$folder" "$root" >/dev/null
find "$folder" -name '*.gcda' ! -path '*/embed.p/*' ! -path '*/page_bytes.p/*' -delete
ninja -C "$folder" # which runs two programs of src
chosen=()
for suite in "${suites[@]}"; do chosen+=(--suite "$suite"); done
status=0
meson test -C "$folder" --timeout-multiplier 5 "${chosen[@]}" || status=$?
python3 "$root/tests/fault/fault.py" "$folder/ropescope" "$folder/tests/fault/fault_shim.so" --ways "${FRAMES:-4}" \
    --distinct --once --until-exit || status=$?

mkdir -p -- "$folder/coverage"
gcovr --root "$root" --object-directory "$folder" --filter "$root/src/" --gcov-ignore-parse-errors \
    --exclude-unreachable-branches --json "$folder/coverage.json" --txt "$folder/coverage.txt" \
    --html-details "$folder/coverage/index.html" --print-summary "$folder/src" "$folder/ropescope.p"
exit "$status"
