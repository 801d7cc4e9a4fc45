#!/bin/sh
# check_release.sh ROOT VERSION DATE: the version and its date stand in several files; are they the same in all?
# VERSION is meson's, like 1.0.0-rc1; DATE as in manual pages, like "November 23, 2026".
set -eu
cd -- "$1"
version=$2
day=$(LC_ALL=C date -d "$3" +%Y-%m-%d)
wrong=0

# expect FILE LINE: the file has this line.
expect() {
    if ! grep -qxF -- "$2" "$1"; then
        echo "$1: has no line: $2" >&2
        wrong=1
    fi
}

expect CITATION.cff "version: $version"
expect CITATION.cff "date-released: \"$day\""
expect pyproject.toml "version = '$(printf '%s\n' "$version" | tr -d -)' # of meson.build, as Python writes it"
for part in MAJOR.1 MINOR.2 PATCH.3; do
    number=$(printf '%s\n' "${version%%-*}" | cut -d . -f "${part#*.}")
    if ! grep -q "^#define ROPESCOPE_VERSION_${part%.*} $number " include/ropescope.h; then
        echo "include/ropescope.h: ROPESCOPE_VERSION_${part%.*} is not $number" >&2
        wrong=1
    fi
done
first=$(grep -m 1 '^## [0-9]' CHANGELOG.md)
if [ "$first" != "## $version ($day)" ]; then
    echo "CHANGELOG.md: begins with '$first', not '## $version ($day)'" >&2
    wrong=1
fi
# Debian sorts 1.0.0~rc1 before 1.0.0, and counts packages of one version behind the last '-'.
debian=$(printf '%s\n' "$version" | sed 's/-/~/')
first=$(head -n 1 debian/changelog)
case $first in
"ropescope ($debian-"*) ;;
*)
    echo "debian/changelog: begins with '$first', not 'ropescope ($debian-1)'" >&2
    wrong=1
    ;;
esac
# Debian's tools compare what a package exports with a list of its own.
sed -n 's/^ \(.*\)@Base .*/\1/p' debian/libropescope1.symbols | diff - tests/api/symbols.txt >&2 || {
    echo 'debian/libropescope1.symbols: names other functions than tests/api/symbols.txt' >&2
    wrong=1
}
exit "$wrong"
