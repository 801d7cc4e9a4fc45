#!/bin/sh
# Usage: tests/docs/check_results.sh ROOT
# Every file of results/ to which a page links is known to git: what a run has written stands there as well, so that the
# link leads somewhere on the machine that wrote it and nowhere in a copy. Outside of a git tree it says so and ends with
# status 77, "skipped".
set -eu

cd -- "$1"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ]; then
    echo 'check_results: skipped: not in a git tree of this project'
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
git ls-files -- results >"$scratch/known"
find README.md docs src experiments tests -name '*.md' >"$scratch/pages"
wrong=0
cited=0
while IFS= read -r page; do
    grep -o '](\(\.\./\)*results/[^) #]*' -- "$page" | sed 's/^.*(//; s/^\(\.\.\/\)*//; s/\/$//' | sort -u >"$scratch/links" || true
    while IFS= read -r link; do
        cited=$((cited + 1))
        grep -qxF -- "$link" "$scratch/known" && continue
        grep -qF -- "$link/" "$scratch/known" && continue
        printf '%s: cites %s, which git does not know (git add -f %s)\n' "$page" "$link" "$link" >&2
        wrong=1
    done <"$scratch/links"
done <"$scratch/pages"
[ "$wrong" -eq 0 ] && printf 'check_results: %d links to results, all known to git\n' "$cited"
exit "$wrong"
