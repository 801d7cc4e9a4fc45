#!/usr/bin/env bash
# Pages for readers against the tree and the program: what the program prints is fresh, links lead somewhere, files that
# are named are there, configs that are shown are good ones, docs/config.md has every key, README.md is short.
# check_pages.sh ROOT PROGRAM
set -euo pipefail

root=$(realpath -- "$1")
program=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$root"
wrong=0

report() {
    printf '%s\n' "$*" >&2
    wrong=1
}

# anchors PAGE: what its headings are called in links, as GitHub calls them.
anchors() {
    sed -n 's/^#\{1,6\} //p' -- "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# check_links PAGE: every link into this tree leads to a file and, after #, to a heading of it.
check_links() {
    local page=$1 target file anchor
    while IFS= read -r target; do
        case $target in http*) continue ;; esac
        file=${target%%#*} anchor=''
        if [[ $target == *#* ]]; then anchor=${target#*#}; fi
        file=${file:+$(dirname -- "$page")/$file}
        file=${file:-$page}
        if [ ! -e "$file" ]; then
            report "$page: the link $target leads nowhere"
        elif [ -n "$anchor" ] && ! anchors "$file" | grep -xF -- "$anchor" >"$scratch/found"; then
            report "$page: the link $target leads to no heading"
        fi
    done <<<"$(grep -o ']([^) ]*)' -- "$page" | sed 's/^](//; s/)$//' | sort -u)"
}

# check_names PAGE: every source and script that it names is in the tree, or one that it tells to add.
check_names() {
    local page=$1 name
    while IFS= read -r name; do
        [ -n "$name" ] || continue
        if ! grep -E "/${name//./\\.}\$" "$scratch/tree" >"$scratch/found" &&
            ! grep -F -- "<!-- file: src/$name -->" "$page" >"$scratch/found"; then
            report "$page: names $name, which is not there"
        fi
    done <<<"$(grep -oE '`[a-z_0-9/]+\.(c|h|sh|build)`' -- "$page" | tr -d '`' | sort -u)"
}

# check_configs PAGE: every block of YAML is a config that the program takes. Files that it names are of the tree.
check_configs() {
    local page=$1 config
    rm -f -- "$scratch"/config-*
    ln -sfn -- "$root/tests" "$root/experiments" "$scratch"
    awk -v stem="$scratch/config-" '
        /^```/ { inside = 0 }
        inside { print > (stem count ".yaml") }
        /^```yaml/ { inside = 1; count++ }' "$page"
    for config in "$scratch"/config-*.yaml; do
        [ -e "$config" ] || continue
        "$program" plan "$config" >"$scratch/out" 2>&1 || report "$page: a config is not good: $(cat -- "$scratch/out")"
    done
}

# keys YAML: the keys that the program knows where no_such_key stands, told by its complaint about that.
keys() {
    printf '%s\n' "$1" >"$scratch/keys.yaml"
    { "$program" plan "$scratch/keys.yaml" 2>&1 || true; } | sed -n 's/.*no_such_key (it has \(.*\))$/\1/p' | tr -d ' ' | tr ',' '\n'
}

# The table of docs/config.md has the keys of a config, no more and no fewer; the others are told of there.
check_keys() {
    local page=docs/config.md known told config key
    known=$(keys $'model: gpt2\nno_such_key: 1' | sort | paste -sd ' ')
    told=$(sed -n '/^## Keys/,/^## Model/s/^| `\([a-z_]*\)`.*/\1/p' "$page" | sort | paste -sd ' ')
    [ -n "$known" ] || report 'the program does not tell the keys of a config'
    if [ "$known" != "$told" ]; then report "$page: has the keys $told where a config has $known"; fi
    for config in 'model: {no_such_key: 1}' 'tokens: [{text: 1, no_such_key: 1}]' 'precision: {no_such_key: 1}' \
        'engine: {no_such_key: 1}' 'queries: {no_such_key: 1}' 'lengths: {from: 1, to: 2, no_such_key: 1}'; do
        for key in $(keys "$config"); do
            grep -qw -- "$key" "$page" || report "$page: does not tell of the key $key"
        done
    done
}

find "$root"/{src,include,tests,docs} -type f >"$scratch/tree"
while IFS= read -r page; do check_links "$page"; done <<<"$(find README.md docs src experiments tests -name '*.md')"
for page in README.md docs/*.md docs/reference/*.md; do check_configs "$page"; done
for page in README.md docs/*.md docs/reference/*.md src/README.md; do check_names "$page"; done
check_keys
docs/generate.sh "$program" --check || wrong=1
lines=$(wc -l <README.md)
if [ "$lines" -gt 140 ]; then report "README.md has $lines lines; it is to be read in half a minute, in at most 140"; fi
exit "$wrong"
