#!/usr/bin/env bash
# What `meson install` gives, moved elsewhere and used there: the program finds what came with it, manual pages, completion.
# check_install.sh ROOT BUILD PYTHON VERSION
set -euo pipefail
python=$3 version=$4
root=$(realpath -- "$1")
build=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
unset ROPESCOPE_DATADIR COLUMNS
wrong=0

report() {
    printf '%s\n' "$*" >&2
    wrong=1
}

if ! command -v meson >/dev/null; then
    echo 'install: skipped: no meson here'
    exit 77
fi

# The tree is moved, so that the configured prefix leads nowhere.
DESTDIR=$scratch/staged meson install -C "$build" --no-rebuild --quiet >"$scratch/log" 2>&1 || {
    cat -- "$scratch/log" >&2
    exit 1
}
program=$(find "$scratch/staged" -path '*/bin/ropescope')
configured=${program%/bin/ropescope} configured=${configured#"$scratch/staged"}
mv -- "$scratch/staged$configured" "$scratch/moved"
prefix=$scratch/moved
program=$prefix/bin/ropescope
libraries=$(find "$prefix" -name 'libropescope.so*' -printf '%h\n' | head -n 1)
export LD_LIBRARY_PATH=${libraries:+$libraries:}${LD_LIBRARY_PATH:-}
mkdir -- "$scratch/elsewhere"
cd -- "$scratch/elsewhere"

# expect STATUS TEXT COMMAND...: what the command ends with, and a part of what it says.
expect() {
    local status=0 want=$1 text=$2
    shift 2
    "$@" >"$scratch/out" 2>&1 || status=$?
    if [ "$status" -ne "$want" ] || ! grep -qF -- "$text" "$scratch/out"; then
        report "$*: status $status, not $want, or without '$text': $(cat -- "$scratch/out")"
    fi
}

check_data() {
    local before after
    expect 0 'mae-table ' "$program" reproduce --list --quiet
    cut -d ' ' -f 1 "$scratch/out" >"$scratch/names"
    (cd -- "$root/experiments" && printf '%s\n' */*/expected.csv | sed 's,.*/\(.*\)/.*,\1,') | cmp - "$scratch/names" ||
        report 'reproduce --list does not list the experiments of the tree'
    before=$(cd -- "$prefix" && find . -type f | sort | sha256sum)
    expect 0 'agrees' "$program" reproduce roformer-decay
    [ -s results/roformer-decay/reproduced.csv ] || report 'reproduce left no results in the folder that it was called in'
    after=$(cd -- "$prefix" && find . -type f | sort | sha256sum)
    [ "$before" = "$after" ] || report 'a run has written into the installed tree'
    expect 0 "config: $prefix/share/ropescope/configs/precision.yaml" "$program" plan precision
    expect 0 "config: $prefix/share/ropescope/experiments/extrapolation/flip-flop/config.yaml" "$program" plan flip-flop
    expect 0 "config: $prefix/share/ropescope/configs/images.yaml" "$program" plan configs/images.yaml
    expect 2 'presicion: cannot read' "$program" plan presicion
    expect 2 './precision: cannot read' "$program" plan ./precision
    # A file of one's own comes first, and so does a folder that is named.
    printf 'name: mine\nmodel: gpt2\nmethods: [rope]\nlengths: [8]\nmetrics: [decay]\n' >precision
    expect 0 'mine' "$program" plan precision
    mkdir -p experiments other/experiments/one
    expect 0 'mae-table ' "$program" reproduce --list # a folder of that name with other things in it
    cp -- "$root/experiments/vision/mae-table/expected.csv" other/experiments/one
    expect 0 'one' env ROPESCOPE_DATADIR=other "$program" reproduce --list
    if grep -q mae-table "$scratch/out"; then report 'ROPESCOPE_DATADIR does not come first'; fi
    cp -r other/experiments/one experiments
    expect 0 'one' "$program" reproduce --list
    if grep -q mae-table "$scratch/out"; then report 'experiments here do not come first'; fi
    rm -rf experiments
    # Through a link, as in ~/bin.
    ln -s -- "$program" link
    expect 0 'mae-table ' ./link reproduce --list
}

# A page for each command; links between the documents lead somewhere, but for those to what sources alone have.
check_documents() {
    local page target folder=$prefix/share/doc/ropescope
    { echo ropescope.1 && "$program" --complete '' | sed 's/\t.*//; s/^/ropescope-/; s/$/.1/'; } | sort >"$scratch/want"
    (cd -- "$prefix/share/man/man1" && ls) | sort | diff "$scratch/want" - || report 'manual pages are not those of the commands'
    if command -v mandoc >/dev/null; then
        # Pages are looked for where the system has its own.
        mandoc -T lint -W style "$prefix"/share/man/man1/*.1 | grep -v 'referenced manual not found' && report 'mandoc finds fault'
    fi
    for page in "$folder"/*.md "$folder"/docs/*.md; do
        while IFS= read -r target; do
            case $target in http* | *results/* | '#'* | *src/* | *tests/* | *tools/* | *LICENSE | *.ci/* | '') continue ;; esac
            [ -e "$(dirname -- "$page")/${target%%#*}" ] || report "$page: the link $target leads nowhere"
        done <<<"$(grep -o ']([^) ]*)' -- "$page" | sed 's/^](//; s/)$//' | sort -u)"
    done
}

# bash_offers WORD... = CANDIDATES: what bash completes the last word to.
bash_offers() {
    local got words=() want
    while [ "$1" != '->' ]; do
        words+=("$1")
        shift
    done
    shift
    want=$*
    got=$(PATH=$prefix/bin:$PATH bash --norc -c '
        . "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ropescope
        printf "%s\n" "${COMPREPLY[@]}"' bash "$prefix/share/bash-completion/completions/ropescope" "${words[@]}" | LC_ALL=C sort | paste -sd ' ')
    [ "$got" = "$want" ] || report "bash: ${words[*]}: offers '$got', not '$want'"
}

check_bash() {
    mkdir -p 'my results' sub
    : >a.yaml
    : >'b c.yml'
    : >d.json
    printf 'method,entropy_nats\nrope,1\n' >'my results/summary.csv'
    bash_offers ropescope ve '->' verify version
    bash_offers ropescope show --model llama-3.1 '->' llama-3.1-8b
    bash_offers ropescope show --model = llama-3.1 '->' llama-3.1-8b
    bash_offers ropescope table 'my results' ent '->' entropy_nats
    bash_offers ropescope table 'my results' --where m '->' method=
    bash_offers ropescope report m '->' 'my results'
    bash_offers ropescope run a '->' a.yaml alibi-heads alibi-windows attention-maps attention-mass
    bash_offers ropescope run 'b' '->' 'b c.yml' base-and-reach base-bound bfloat16-shift
    bash_offers ropescope run s '->' short-context-damage simulated-against-learned sinusoid-claims sinusoid-or-rope-on-pictures sub superficial-length
    bash_offers ropescope check d '->' d.json
    bash_offers ropescope run --out s '->' sub
    bash_offers "$program" help v '->' verify version
    bash_offers ropescope frobnicate '' '->' ''
}

check_zsh() {
    command -v zsh >/dev/null || return 0
    local file=$prefix/share/zsh/site-functions/_ropescope
    zsh -n "$file" || report 'zsh does not read its completion'
    # Its own functions print what they were given.
    PATH=$prefix/bin:$PATH zsh -f -c '
        _describe() { print -l -- "${(@P)4}" }
        _files() { print files "$@" }
        compset() { : }
        complete_words() { local -a words=("$@"); local CURRENT=$#words; source "$FILE_OF_IT" }
        FILE_OF_IT=$1
        complete_words ropescope ver
        complete_words ropescope show --model=llama-3.1
        complete_words ropescope run --out ""
        complete_words ropescope check ""' zsh "$file" >"$scratch/zsh" 2>&1 || report "zsh: $(cat -- "$scratch/zsh")"
    diff - "$scratch/zsh" <<'WANT' || report 'zsh offers other words'
verify:is every file of a results folder what its manifest.json says
version:print the version (as -V and --version do)
--model=llama-3.1-8b
files -/
files -g *.(json)
WANT
}

check_fish() {
    command -v fish >/dev/null || return 0
    local file=$prefix/share/fish/vendor_completions.d/ropescope.fish
    fish --no-execute "$file" || report 'fish does not read its completion'
    PATH=$prefix/bin:$PATH HOME=$scratch fish --no-config -c "
        source '$file'
        for line in 'ropescope ver' 'ropescope show --model=llama-3.1' 'ropescope run --out s' 'ropescope check d' 'ropescope check --threads=2 d'
            complete -C \$line
        end" >"$scratch/fish" 2>&1 || report "fish: $(cat -- "$scratch/fish")"
    sed -i 's/\t.*//' "$scratch/fish"
    diff - "$scratch/fish" <<'WANT' || report 'fish offers other words'
verify
version
--model=llama-3.1-8b
sub/
d.json
d.json
WANT
}

# The package of Python finds its library by itself (but in /usr, where the loader looks); pip knows its version, and
# pytest its plugin.
check_python() {
    local package path=$LD_LIBRARY_PATH
    if [ "$configured" != /usr ]; then path=; fi
    package=$(find "$prefix" -path '*/ropescope/__init__.py')
    if [ -z "$package" ]; then return 0; fi # built without
    LD_LIBRARY_PATH=$path PYTHONPATH="${package%/ropescope/__init__.py}" PYTHONDONTWRITEBYTECODE=1 "$python" - "$prefix" \
        "$version" >"$scratch/out" 2>&1 <<'CHECK' || report "python: $(cat -- "$scratch/out")"
import importlib.metadata as metadata
import sys
import ropescope

prefix, version = sys.argv[1:]
assert ropescope.__file__.startswith(prefix), ropescope.__file__
assert ropescope.__version__ == version, ropescope.__version__
assert metadata.version("ropescope") == version.replace("-", ""), metadata.version("ropescope")
plugins = [point.value for point in metadata.distribution("ropescope").entry_points if point.group == "pytest11"]
assert plugins == ["ropescope.pytest_plugin"], plugins
assert len(ropescope.frequencies("llama-2-7b")) == 64
CHECK
}

check_data
check_python
check_documents
check_bash
check_zsh
check_fish
exit "$wrong"
