#!/usr/bin/env bash
# Writes what the program prints into README.md, the pages of docs/, experiments/README.md and a page of experiments. A page
# says what belongs there:
#
#   <!-- insert: build/ropescope list models --markdown -->        what the command prints, as it is
#   <!-- output: build/ropescope solve base --length 128k | ... --> the command and what it prints, as a block of text
#   <!-- end -->
#
# generate.sh PROGRAM           refreshes the pages; `meson compile docs` runs it
# generate.sh PROGRAM --check   changes nothing; exit status 1, with the differences, where a page is stale
set -euo pipefail

program=$(realpath -- "$1")
check=${2:-}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# Commands run beside what their arguments name, and leave their results there. What runs or reads a model uses the
# instruction set that every machine has, so that its last digits are the same on all of them.
mkdir -p -- "$scratch/build"
cat >"$scratch/build/ropescope" <<WRAPPER
#!/bin/sh
case " \$* " in " run "* | *" --checkpoint "*) set -- "\$@" --isa generic ;; esac
exec "$program" "\$@"
WRAPPER
chmod +x -- "$scratch/build/ropescope"
ln -s -- "$root/configs" "$root/experiments" "$root/share" "$root/tests" "$root/tools" "$scratch"
# What takes long to run is read where it was committed.
mkdir -- "$scratch/results"
for folder in "$root"/results/{train-and-extend,train-short-test-long-full,images-larger-than-trained-full,sinusoid-or-rope-on-pictures} \
    "$root"/results/{does-the-order-scale,published-checkpoint}-*full; do
    ln -sfn -- "$folder" "$scratch/results"
done

fail() {
    printf 'docs: %s\n' "$*" >&2
    exit 1
}

# run COMMAND: what it prints; `compare` ends with 1 where its sides differ.
run() {
    local status=0
    (cd -- "$scratch" && bash -c "$1" 2>"$scratch/errors") || status=$?
    if [ "$status" -gt 1 ]; then fail "$1 ends with status $status: $(cat -- "$scratch/errors")"; fi
}

# block KIND COMMAND: what stands between two markers.
block() {
    run "$2" >"$scratch/printed"
    [ -s "$scratch/printed" ] || fail "$2 prints nothing: $(cat -- "$scratch/errors")"
    if [ "$1" = insert ]; then
        cat -- "$scratch/printed"
    else
        printf '```text\n$ %s\n' "$2"
        cat -- "$scratch/printed"
        printf '```\n'
    fi
}

# page FILE: the page with every block made anew.
page() {
    local line within='' marker='^<!-- (insert|output): (.*) -->$'
    while IFS= read -r line; do
        if [ "$line" = '<!-- end -->' ]; then within=''; fi
        if [ -z "$within" ]; then printf '%s\n' "$line"; fi
        if [[ $line =~ $marker ]]; then
            [ -z "$within" ] || fail "$1: $line stands before the <!-- end --> of: $within"
            within=$line
            block "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        fi
    done <"$1"
    [ -z "$within" ] || fail "$1: no <!-- end --> follows $within"
}

stale=()
for file in "$root"/README.md "$root"/docs/*.md "$root"/docs/reference/*.md "$root"/experiments/README.md \
    "$root"/experiments/extrapolation/does-the-order-scale/README.md; do
    page "$file" >"$scratch/page"
    if cmp -s -- "$file" "$scratch/page"; then continue; fi
    stale+=("${file#"$root"/}")
    if [ "$check" = --check ]; then
        diff -u --label "$file" --label 'what the program prints' -- "$file" "$scratch/page" | head -n 40 || true
    else
        cat -- "$scratch/page" >"$file"
        printf 'docs: refreshed %s\n' "${file#"$root"/}"
    fi
done

if [ "$check" = --check ] && [ ${#stale[@]} -gt 0 ]; then
    fail "stale: ${stale[*]} (refresh with: meson compile -C build docs)"
fi
