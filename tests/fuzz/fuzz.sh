#!/usr/bin/env bash
# Runs fuzz targets, each from its corpus, for so many seconds: fuzz.sh BUILD SECONDS [TARGET...]. BUILD is configured
# with -Dfuzz=enabled. New inputs are kept in BUILD/fuzz/TARGET, findings in BUILD/fuzz/findings; a table of executions
# and findings goes to stdout. Exit status: 0 nothing was found, 1 something was, 2 wrong use.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 2 ] || [ ! -d "$1/tests/fuzz" ]; then
    echo "usage: fuzz.sh BUILD SECONDS [TARGET...] (BUILD: CC=clang meson setup -Dfuzz=enabled -Dopenmp=disabled BUILD)" >&2
    exit 2
fi
build=$(cd -- "$1" && pwd) seconds=$2
shift 2
if [ $# -eq 0 ]; then
    for path in "$build"/tests/fuzz/fuzz_*; do [ -x "$path" ] && [ -f "$path" ] && set -- "$@" "${path##*/fuzz_}"; done
fi

# Files of the repository from which a search goes on as well.
seeds_of() {
    case $1 in
    config_json | convert | checkpoint) echo "$here/../data/hf" ;;
    config) echo "$here/../../configs" ;;
    esac
}

mkdir -p -- "$build/fuzz/findings"
cd -- "$build/fuzz"
found=0
printf '%-14s %12s %10s %9s %9s\n' target executions per_second features findings
for target; do
    mkdir -p -- "$target"
    # The least memory that a target is refused is what a small machine would have; an input has a second, and more
    # where sanitizers slow it down.
    "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -use_value_profile=1 -close_fd_mask=3 -print_final_stats=1 -report_slow_units=2 \
        -artifact_prefix="$PWD/findings/$target-" "$PWD/$target" "$here/corpus/$target" $(seeds_of "$target") \
        >"$target.log" 2>&1 </dev/null || found=1
    awk -v target="$target" '
        /number_of_executed_units/ { runs = $2 } /average_exec_per_sec/ { rate = $2 }
        / ft: / { for (i = 1; i < NF; i++) if ($i == "ft:") features = $(i + 1) }
        /Test unit written to/ { findings++ }
        END { printf "%-14s %12d %10d %9d %9d\n", target, runs, rate, features, findings }' "$target.log"
done
exit $found
