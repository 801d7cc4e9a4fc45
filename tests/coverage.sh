#!/usr/bin/env bash
# How much of src the fast suite runs: builds with gcov's counters, runs the suite, prints the shares of lines and of
# branches, and writes what was not reached to FOLDER/coverage.txt (a line a file) and FOLDER/coverage/index.html.
#
#     apt-get install gcovr                 # once, as root
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
meson setup --wrap-mode=nofallback "${again[@]}" -Dtests=enabled -Dbuildtype=debug -Doptimization=1 \
    -Db_coverage=true -Dc_args=-fprofile-update=atomic "$folder" "$root" >/dev/null
ninja -C "$folder"
find "$folder" -name '*.gcda' -delete
chosen=()
for suite in "${suites[@]}"; do chosen+=(--suite "$suite"); done
status=0
meson test -C "$folder" --timeout-multiplier 5 "${chosen[@]}" || status=$?

mkdir -p -- "$folder/coverage"
gcovr --root "$root" --object-directory "$folder" --filter "$root/src/" --gcov-ignore-parse-errors \
    --exclude-unreachable-branches --json "$folder/coverage.json" --txt "$folder/coverage.txt" \
    --html-details "$folder/coverage/index.html" --print-summary "$folder/src" "$folder/ropescope.p"
exit "$status"
