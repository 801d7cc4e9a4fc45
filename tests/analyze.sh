#!/usr/bin/env bash
# What three readers find in src without running it: clang-tidy (.clang-tidy says what it looks for), gcc -fanalyzer and
# cppcheck. A finding is a failure; each tool that is missing is named and left out. Up to twenty minutes of one core, so
# it is run by hand.
#
#     apt-get install clang-tidy cppcheck   # once, as root; clang-tidy 14, gcc 12 and cppcheck 2.10 are clean
#     tests/analyze.sh [BUILD [TOOL...]]    # default: build-analyze tidy gcc cppcheck
#
# Of gcc's analyzer is left out what it gets wrong here:
#   null-argument, null-dereference   after a status of RS_OK it takes what a function has set for NULL
#   use-of-uninitialized-value, shift-count-overflow   lanes of vectors are set one by one, and are no 2 bits wide
# What cppcheck gets wrong stands in cppcheck.supp. It does not read the arrays that the build makes of files, which hold
# no code and took it most of the time.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build-analyze}
shift || true
tools=("$@")
if [ ${#tools[@]} -eq 0 ]; then tools=(tidy gcc cppcheck); fi

if [ ! -f "$build/build.ninja" ]; then
    meson setup --wrap-mode=nofallback -Dtests=disabled -Dpython=disabled "$build" "$root" >/dev/null
fi
ninja -C "$build" ropescope >/dev/null # makes the sources that are made
failed=0

# fails NAME LOG PATTERN: whether the log has a line that is a finding.
fails() {
    if grep -E -- "$3" "$2" | sort -u; then
        printf 'analyze: %s: findings, see %s\n' "$1" "$2"
        failed=1
    else
        printf 'analyze: %s: nothing found\n' "$1"
    fi
}

tidy() {
    local log=$build/tidy.log
    run-clang-tidy -p "$build" -quiet "$root/src/.*" >"$log" 2>&1 || true
    [ -s "$log" ] || { echo 'analyze: clang-tidy said nothing at all' && failed=1; }
    fails clang-tidy "$log" '(error|warning): '
}

# The commands of the build, each source once, making nothing.
analyzer_commands() {
    python3 - "$build/compile_commands.json" <<'PYTHON'
import json, shlex, sys
seen = set()
for entry in json.load(open(sys.argv[1])):
    if "/src/" not in entry["file"] or not entry["file"].endswith(".c") or entry["file"] in seen:
        continue
    seen.add(entry["file"])
    words, skip = ["gcc"], False
    for word in shlex.split(entry["command"])[1:]:
        if skip or word in ("-o", "-MF", "-MQ"):
            skip = not skip
        elif word not in ("-MD", "cc", "gcc"):
            words.append({"-c": "-S", "-O3": "-O1"}.get(word, word))
    print(shlex.join(words + ["-o", "/dev/null", "-fanalyzer", "-fdiagnostics-plain-output", "-fdiagnostics-color=never",
                              "-Wno-analyzer-null-argument", "-Wno-analyzer-null-dereference",
                              "-Wno-analyzer-use-of-uninitialized-value", "-Wno-analyzer-shift-count-overflow"]))
PYTHON
}

gcc_analyzer() {
    local log=$build/analyzer.log
    analyzer_commands >"$build/analyzer.commands"
    [ -s "$build/analyzer.commands" ] || { echo 'analyze: no commands to analyze' && failed=1; }
    (cd -- "$build" && xargs -P "$(nproc)" -d '\n' -n 1 sh -c 'eval "$1"' sh <analyzer.commands) >"$log" 2>&1 || failed=1
    fails 'gcc -fanalyzer' "$log" '(error|warning): '
}

check() {
    local log=$build/cppcheck.log
    mkdir -p -- "$build/cppcheck"
    cppcheck --project="$build/compile_commands.json" --file-filter="$root/src/*" --cppcheck-build-dir="$build/cppcheck" \
        --enable=warning,performance,portability --suppressions-list="$root/tests/cppcheck.supp" --quiet \
        --template='{file}:{line}: {severity}: {id}: {message}' >"$log" 2>&1 || failed=1
    fails cppcheck "$log" '.'
}

# with PROGRAM FUNCTION: a tool that is not there is named.
with() { if command -v "$1" >/dev/null; then "$2"; else echo "analyze: no $1"; fi; }

for tool in "${tools[@]}"; do
    case $tool in
    tidy) with run-clang-tidy tidy ;;
    gcc) with gcc gcc_analyzer ;;
    cppcheck) with cppcheck check ;;
    *) echo "analyze: no tool $tool" && exit 2 ;;
    esac
done
exit "$failed"
