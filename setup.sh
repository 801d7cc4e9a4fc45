#!/usr/bin/env bash
# Takes a machine with nothing but Debian's or Ubuntu's base system to a running ropescope: finds what is missing,
# installs it with apt-get, configures and compiles build/, then runs the demo sweep or every test.
# stdout carries only what was asked for (the demo's table, the test results, or the commands of --dry-run);
# everything else goes to stderr. Exit status: 0 done, 1 something failed or is missing, 2 wrong use.
set -euo pipefail

MESON_NEEDED=1.0.1 # as in meson.build; Debian 12 has it
BUILD=build
DEMO=quickstart # the name of the built-in demo, so the folder below results/
TRAINED=results/trained-demo # the model that the demo trains and reads

# One line per requirement: for (build, test, or what all else works without: picture, for PNG and PDF, chart, for charts
# in pages, explore, for its page, and python, for that package and its tests) | found by | Debian | Fedora | Arch |
# Homebrew | source. Found by "tool NAME" on the PATH, "module NAME" in pkg-config, "python NAME" by Python, "header NAME"
# by the compiler, "script NAME" by a folder of scripts, "font" by a file of one, or "cc" by compiling a C17 program with
# OpenMP. A "?" where we know of no package: the source is named
# instead.
#
# Charts are drawn by dygraphs. uPlot is smaller, but only npm has it, and this script downloads nothing apart from apt's
# packages; Debian's libjs-d3 is of 2016, node-d3 takes 38 packages, and its Chart.js has no zoom. libjs-dygraphs is one
# package of the same version in Debian 12 and 13.
REQUIREMENTS='
build|cc|gcc libc6-dev|gcc|gcc|gcc|https://gcc.gnu.org
build|tool meson|meson|meson|meson|meson|https://mesonbuild.com
build|tool ninja|ninja-build|ninja-build|ninja|ninja|https://ninja-build.org
build|tool pkg-config|pkg-config|pkgconf-pkg-config|pkgconf|pkgconf|http://pkgconf.org
build|module gsl|libgsl-dev|gsl-devel|gsl|gsl|https://www.gnu.org/software/gsl
build|module yaml-0.1|libyaml-dev|libyaml-devel|libyaml|libyaml|https://pyyaml.org/wiki/LibYAML
build|module jansson|libjansson-dev|jansson-devel|jansson|jansson|https://github.com/akheron/jansson
build|header Random123/philox.h|librandom123-dev|Random123-devel|?|?|https://github.com/DEShawResearch/random123
build|module nettle|nettle-dev|nettle-devel|nettle|nettle|https://www.lysator.liu.se/~nisse/nettle
build|module zlib|zlib1g-dev|zlib-devel|zlib|zlib|https://zlib.net
chart|script dygraphs|libjs-dygraphs|?|?|?|https://dygraphs.com (meson setup build -Ddygraphs=FOLDER)
picture|module librsvg-2.0|librsvg2-dev|librsvg2-devel|librsvg|librsvg|https://gitlab.gnome.org/GNOME/librsvg
picture|font|fonts-dejavu-core|dejavu-sans-fonts|ttf-dejavu|?|https://dejavu-fonts.github.io
explore|module libmicrohttpd|libmicrohttpd-dev|libmicrohttpd-devel|libmicrohttpd|libmicrohttpd|https://www.gnu.org/software/libmicrohttpd/
test|module criterion|libcriterion-dev|?|?|criterion|https://github.com/Snaipe/Criterion
python|python numpy|python3-numpy|python3-numpy|python-numpy|numpy|https://numpy.org
python|python cffi|python3-cffi|python3-cffi|python-cffi|cffi|https://cffi.readthedocs.io
python|python pytest|python3-pytest|python3-pytest|python-pytest|?|https://pytest.org
python|module python3|python3-dev|python3-devel|python|python|https://www.python.org
'

usage() {
    cat <<'HELP'
Usage: ./setup.sh [--dry-run] demo|test|build

  demo    install what is missing, compile, train a small model and read it far, run the built-in
          demo sweep, plot it, write its report
  test    install what is missing (and the test library), compile, run every test
  build   install what is missing and compile build/ropescope, no more

  -n, --dry-run   print the commands, change nothing
  -h, --help      print this

Installs with apt-get on Debian and Ubuntu (through sudo unless you are root), downloads nothing else, and removes
nothing. On other systems it names the packages and stops if any is missing. CC=clang picks a compiler.
HELP
}

say() { printf 'setup: %s\n' "$*" >&2; }

# stop WHAT_FAILED WHAT_TO_DO...: one line each, then exit 1.
stop() {
    say "error: $1"
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

# Prints a command as it can be pasted into a shell.
show() {
    local out='' word
    for word in "$@"; do
        case $word in
        '' | *[!A-Za-z0-9_./=:+,@%-]*) out+=" '${word//\'/\'\\\'\'}'" ;;
        *) out+=" $word" ;;
        esac
    done
    printf '%s\n' "${out# }"
}

# Runs a command with its chatter on stderr; with --dry-run prints it instead.
step() {
    if $dry_run; then
        show "$@"
    else
        printf '+ %s\n' "$(show "$@")" >&2
        "$@" >&2 </dev/null
    fi
}

# The same, for the commands whose stdout is what the user asked for.
step_output() {
    if $dry_run; then
        show "$@"
    else
        printf '+ %s\n' "$(show "$@")" >&2
        "$@" </dev/null
    fi
}

have() { command -v "$1" >/dev/null 2>&1; }

is_debian() { have apt-get && have dpkg-query; }

# installed PACKAGE: does dpkg have it, whole? (Several architectures give several lines.)
installed() {
    local states
    states=$(dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null) || return 1
    case $'\n'$states$'\n' in *$'\n'installed$'\n'*) return 0 ;; *) return 1 ;; esac
}

# compiles COMPILER...: does it make a C17 program with OpenMP? (CC may hold flags, so it is split into words.)
compiles() {
    have "$1" && printf '%s\n' '#include <math.h>' '#include <omp.h>' \
        'int main(int n, char **a) { (void)a; return omp_get_max_threads() < 1 || sqrt(n) < 0; }' |
        "$@" -std=c17 -fopenmp -x c - -lm -o "$scratch/probe" >/dev/null 2>&1
}

# Sets `compiler` to the first that works, in meson's own order; CC, when set, is the only candidate.
find_compiler() {
    local candidate
    compiler=()
    if [ -n "${CC:-}" ]; then
        read -r -a candidate <<<"$CC"
        if compiles "${candidate[@]}"; then compiler=("${candidate[@]}"); fi
        return
    fi
    for candidate in cc gcc clang; do
        if compiles "$candidate"; then
            compiler=("$candidate")
            return
        fi
    done
}

# is_there HOW NAME: is this requirement met, whatever brought it?
is_there() {
    local -a flags
    read -r -a flags <<<"${CPPFLAGS:-}"
    case $1 in
    cc) [ ${#compiler[@]} -gt 0 ] ;;
    tool) have "$2" ;;
    module) have pkg-config && pkg-config --exists "$2" ;;
    python) /usr/bin/python3 -c "import $2" 2>/dev/null || python3 -c "import $2" 2>/dev/null ;;
    script) [ -d "/usr/share/javascript/$2" ] ;;
    font) [ "$(uname -s)" = Darwin ] || find /usr/share/fonts -name '*.[to]tf' 2>/dev/null | grep -q . ;;
    header)
        [ ${#compiler[@]} -gt 0 ] && printf '#include <%s>\n' "$2" |
            "${compiler[@]}" ${flags[@]+"${flags[@]}"} -E -x c - -o "$scratch/header" >/dev/null 2>&1
        ;;
    esac
}

# lost PURPOSE: what a build without it lacks; fails where there is no build without it.
lost() {
    case $1 in
    picture) echo 'pictures as SVG alone, no PNG and PDF' ;;
    chart) echo 'reports with still pictures, no charts' ;;
    explore) echo 'no ropescope explore' ;;
    python) echo 'no Python package and no tests of it' ;;
    *) return 1 ;;
    esac
}

# Reads the table and fills `packages` (Debian's names of what is missing) and `missing` (the table's own lines). What is
# optional is installed with the rest where apt has it; nowhere does its lack stop the build.
find_missing() {
    local purpose how debian rest name words
    packages=() missing=() optional=' '
    find_compiler
    while IFS='|' read -r purpose how debian rest; do
        [ -n "$purpose" ] || continue
        if [[ $purpose == test || $purpose == python ]] && [ "$task" != test ]; then continue; fi
        read -r -a words <<<"$how"
        if is_there "${words[@]}"; then continue; fi
        if lost "$purpose" >/dev/null && { $tried || ! is_debian; }; then
            say "without $how (optional): $(lost "$purpose"); its source: ${rest##*|}"
            continue
        fi
        missing+=("$how|$debian|$rest")
        if lost "$purpose" >/dev/null; then optional+="$debian "; fi
        read -r -a words <<<"$debian"
        for name in "${words[@]}"; do
            if ! is_debian || ! installed "$name"; then packages+=("$name"); fi
        done
    done <<<"$REQUIREMENTS"
}

# older VERSION THAN: compares the first three numbers.
older() {
    local -a a b
    local i
    IFS=.- read -r -a a <<<"${1%%[!0-9.]*}"
    IFS=.- read -r -a b <<<"$2"
    for i in 0 1 2; do
        if ((10#${a[i]:-0} < 10#${b[i]:-0})); then return 0; fi
        if ((10#${a[i]:-0} > 10#${b[i]:-0})); then return 1; fi
    done
    return 1
}

stop_old_meson() {
    stop "$1; ropescope needs meson $MESON_NEEDED or newer" \
        'Debian 12 (bookworm), Ubuntu 23.04 and later have one. On an older system, get one for yourself:' \
        '  apt-get install python3-venv          # with sudo unless you are root' \
        '  python3 -m venv ~/meson' \
        "  ~/meson/bin/pip install 'meson>=$MESON_NEEDED'" \
        "  PATH=\$HOME/meson/bin:\$PATH ./setup.sh $task"
}

check_meson() {
    local version
    have meson || return 0 # a dry run on a bare system
    version=$(meson --version 2>/dev/null) || stop 'meson is there but does not start' \
        'See what it says with: meson --version' 'On Debian or Ubuntu: apt-get install --reinstall meson'
    if older "$version" "$MESON_NEEDED"; then stop_old_meson "$(command -v meson) is $version"; fi
}

# candidate PACKAGE: the version apt would install; nothing when it knows none.
candidate() {
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | sed '/^(none)$/d'
}

# Names what apt cannot give before anything is installed.
check_candidates() {
    local name unknown=() known=() version
    for name in "${packages[@]}"; do
        version=$(candidate "$name")
        if [ -z "$version" ] && [[ $optional == *" $name "* ]]; then
            say "apt knows no package named $name (optional)"
            continue
        fi
        known+=("$name")
        if [ -z "$version" ]; then
            unknown+=("$name")
        elif [ "$name" = meson ] && older "$version" "$MESON_NEEDED"; then
            stop_old_meson "the meson of this system's packages is $version"
        fi
    done
    [ ${#unknown[@]} -eq 0 ] || stop "apt knows no package named: ${unknown[*]}" \
        "If apt-get update could not fetch its lists (see above), the network or a proxy is the cause." \
        "On Ubuntu they are in 'universe': sudo add-apt-repository universe" \
        'Debian 12 (bookworm) and later have them in main: look at /etc/apt/sources.list and /etc/apt/sources.list.d' \
        "Then run ./setup.sh $task again."
    packages=(${known[@]+"${known[@]}"})
}

install_missing() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! $dry_run && ! have sudo; then
            stop "these packages are missing and only root may install them: ${packages[*]}" \
                'There is no sudo here. As root, run:' \
                "  apt-get update && apt-get install --no-install-recommends ${packages[*]}" \
                "then run ./setup.sh $task again."
        fi
        as_root=(sudo)
    fi
    # No prompt may wait for an answer, and a package manager at work (a new Ubuntu's updates) is waited for.
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    local apt=("${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300)

    step "${apt[@]}" update || stop 'apt-get update failed' \
        'Is the network up, and are the hosts in /etc/apt/sources.list* right? (apt-get said why above.)' \
        "Then run ./setup.sh $task again."
    if ! $dry_run; then check_candidates; fi
    if [ ${#packages[@]} -eq 0 ]; then return; fi
    step "${apt[@]}" install -y --no-install-recommends "${packages[@]}" || stop 'apt-get install failed' \
        "apt-get said why above. As root, 'dpkg --configure -a' and 'apt-get -f install' mend an interrupted install." \
        "Then run ./setup.sh $task again."
}

# Anything but Debian and Ubuntu: names the packages in that system's words, and stops.
name_and_stop() {
    local id='' column=1 command='' entry how names rest known=() unknown=() source
    if [ -r /etc/os-release ]; then
        id=" $(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' /etc/os-release | tr -d '"' | tr '\n' ' ')"
    fi
    if [ "$(uname -s)" = Darwin ]; then id=' homebrew '; fi
    case $id in
    *' fedora '*) column=3 command='sudo dnf install' ;;
    *' arch '*) column=4 command='sudo pacman -S --needed' ;;
    *' homebrew '*) column=5 command='brew install' ;;
    esac
    for entry in "${missing[@]}"; do
        IFS='|' read -r how rest <<<"$entry"
        names=$(printf '%s\n' "$entry" | cut -d '|' -f "$((column == 1 ? 2 : column))")
        source=${entry##*|}
        if [ "$names" = '?' ]; then unknown+=("${how##* }: $source"); else known+=("$names"); fi
    done
    say 'error: this is neither Debian nor Ubuntu (no apt-get), so nothing was installed; what is missing:'
    if [ ${#known[@]} -gt 0 ]; then
        if [ -n "$command" ]; then
            printf '         %s %s\n' "$command" "${known[*]}" >&2
        else
            printf '         (by the names that Debian gives them) %s\n' "${known[*]}" >&2
        fi
    fi
    for entry in ${unknown[@]+"${unknown[@]}"}; do printf '         %s\n' "$entry" >&2; done
    if [ "$column" -eq 5 ]; then
        printf "       Apple's own compiler has no OpenMP: CC=gcc-14 ./setup.sh %s, with brew's number.\n" "$task" >&2
    fi
    printf '       Install these, then run ./setup.sh %s again.\n' "$task" >&2
    exit 1
}

install_requirements() {
    find_missing
    if [ ${#missing[@]} -eq 0 ]; then
        say 'all requirements are here'
        return
    fi
    if [ -n "${CC:-}" ] && [ ${#compiler[@]} -eq 0 ]; then
        case ${CC%% *} in
        cc | gcc) ;; # those can be installed
        *) stop "CC=$CC is not installed, or makes no C17 program with OpenMP" \
            'Unset CC to let this script choose, or install what it lacks (on Debian: clang libc6-dev libomp-dev).' ;;
        esac
    fi
    is_debian || name_and_stop
    if [ ${#packages[@]} -eq 0 ]; then
        stop "installed, and yet not found: $(printf '%s; ' "${missing[@]%%|*}")" \
            'Does PKG_CONFIG_PATH, CC or CPPFLAGS point elsewhere? Unset them, or see: pkg-config --debug --exists gsl'
    fi
    say "will install with apt-get: ${packages[*]}"
    install_missing
    if $dry_run; then return; fi
    tried=true
    find_missing
    [ ${#missing[@]} -eq 0 ] || stop "still not found after the install: $(printf '%s; ' "${missing[@]%%|*}")" \
        'Does PKG_CONFIG_PATH, CC or CPPFLAGS point elsewhere? Unset them and try again.'
}

configure() {
    # Only the packages named above: meson is never to download a subproject.
    local setup=(meson setup --wrap-mode=nofallback)
    if [ "$task" = test ]; then setup+=(-Dtests=enabled); fi
    # Meson looks for cc, then gcc, then clang; tell it only where it would take one that does not work.
    if [ -z "${CC:-}" ] && [ ${#compiler[@]} -gt 0 ] && [ "${compiler[0]}" != cc ] && have cc; then
        export CC=${compiler[0]}
    fi
    if [ -f "$BUILD/build.ninja" ] && [ -f "$BUILD/meson-private/coredata.dat" ]; then
        say "using $BUILD/ again (remove that folder to start over)"
        if [ "$task" != test ]; then return; fi # ninja itself sees when meson.build has changed
        setup+=(--reconfigure)
    fi
    step "${setup[@]}" "$BUILD" || stop 'meson could not configure the build' \
        "It said why above; the details are in $BUILD/meson-logs/meson-log.txt" \
        "If $BUILD/ comes from another machine or another meson: rm -rf $BUILD, then ./setup.sh $task"
}

compile() {
    local target=()
    if [ "$task" != test ]; then target=(ropescope); fi
    step ninja -C "$BUILD" ${target[@]+"${target[@]}"} || stop 'the program does not compile' \
        "The first message with 'error:' above is the cause; please report it together with: cc --version" \
        "If $BUILD/ comes from another machine or another meson: rm -rf $BUILD, then ./setup.sh $task"
}

# A trained model comes first: what follows it is simulated, and asks no model.
run_demo() {
    step "$BUILD/ropescope" run train-and-extend --out "$TRAINED" --force || stop 'the first run failed' \
        "It said why above. The folder results/ must be writable: $PWD/results"
    if ! $dry_run; then
        printf 'A model trained here at 64 tokens (103,872 weights, one seed, one task), read at 1024 without more training.\n'
        printf 'Loss, and less that of reading the last 64 tokens alone (window); below 0, reading on helps. trained: unchanged. Published models: docs/extrapolation.md\n\n'
    fi
    step_output "$BUILD/ropescope" table "$TRAINED" loss_nats loss_difference_nats recall needle_accuracy \
        --where length_tokens=1k || stop 'the table failed' "It said why above. The numbers are in $TRAINED"
    if ! $dry_run; then printf '\nAngles and simulated heads, which no trained model was asked about (method by method):\n\n'; fi
    step_output "$BUILD/ropescope" run --print --force || stop 'the demo sweep failed' \
        "It said why above. The folder results/ must be writable: $PWD/results"
    step "$BUILD/ropescope" plot "results/$DEMO" || stop 'the plot failed' \
        "It said why above. The numbers are in results/$DEMO; again: $BUILD/ropescope plot results/$DEMO"
    step_output "$BUILD/ropescope" report "results/$DEMO" || stop 'the report failed' \
        "It said why above. The numbers are in results/$DEMO; again: $BUILD/ropescope report results/$DEMO"
    if ! $dry_run; then say "the demo is in results/$DEMO; open its report.html in a browser; next: $BUILD/ropescope --help"; fi
}

run_tests() {
    step_output meson test -C "$BUILD" --print-errorlogs || stop 'tests failed' \
        "The whole log is $BUILD/meson-logs/testlog.txt; one test again: meson test -C $BUILD --verbose NAME"
}

task='' dry_run=false tried=false
for argument in "$@"; do
    case $argument in
    demo | test | build)
        if [ -n "$task" ]; then
            say "error: one of demo, test and build, not both $task and $argument"
            exit 2
        fi
        task=$argument
        ;;
    -n | --dry-run) dry_run=true ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        say "error: unknown argument '$argument'; it takes demo, test or build: ./setup.sh --help"
        exit 2
        ;;
    esac
done
if [ -z "$task" ]; then
    usage >&2
    exit 2
fi

cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

if have meson; then check_meson; fi
install_requirements
check_meson
configure
compile
case $task in
demo) run_demo ;;
test) run_tests ;;
build) if ! $dry_run; then say "done: $BUILD/ropescope --help"; fi ;;
esac
