#!/usr/bin/env bash
# Runs fuzz targets, each from its corpus, for so many seconds: fuzz.sh BUILD SECONDS [TARGET...]. BUILD is configured
# with -Dfuzz=enabled; FUZZ_FLAGS are more options for libFuzzer, like -max_len=128. New inputs are kept in
# BUILD/fuzz/TARGET, findings in BUILD/fuzz/findings; a table of executions and findings goes to stdout, and each line of
# it behind BUILD/fuzz/counts. With 0 seconds, nothing is run, and the table sums what was counted so far.
# Exit status: 0 nothing was found, 1 something was, 2 wrong use.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 2 ] || [ ! -d "$1/tests/fuzz" ] || [[ ! $2 =~ ^[0-9]+$ ]]; then
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
if ((seconds == 0)); then
    awk '{ runs[$1] += $2; took[$1] += $3; found[$1] += $5; all += $2; bad += $5 }
        END { for (t in runs) printf "%-14s %12d %8d s %8d\n", t, runs[t], took[t], found[t] | "sort"
              close("sort"); printf "%-14s %12d %10s %8d\n", "all", all, "", bad }' counts
    exit 0
fi
found=0
printf '%-14s %12s %9s %9s %9s\n' target executions seconds features findings
for target; do
    mkdir -p -- "$target"
    # The least memory that a target is refused is what a small machine would have; an input has a second, and more
    # where sanitizers slow it down.
    # shellcheck disable=SC2046,SC2086 # folders and options, none or several
    "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -use_value_profile=1 -close_fd_mask=3 -print_final_stats=1 -report_slow_units=2 \
        -artifact_prefix="$PWD/findings/$target-" ${FUZZ_FLAGS:-} "$PWD/$target" "$here/corpus/$target" \
        $(seeds_of "$target") >"$target.log" 2>&1 </dev/null || found=1
    awk -v target="$target" '
        /number_of_executed_units/ { runs = $2 } /average_exec_per_sec/ { rate = $2 }
        / ft: / { for (i = 1; i < NF; i++) if ($i == "ft:") features = $(i + 1) }
        /Test unit written to/ && !/slow-unit/ { findings++ }
        END { printf "%-14s %12d %9d %9d %9d\n", target, runs, (rate > 0 ? runs / rate : 0), features, findings }' "$target.log" |
        tee -a counts
done
exit $found
