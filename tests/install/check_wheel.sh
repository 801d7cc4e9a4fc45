#!/usr/bin/env bash
# A wheel from scratch, without a network: made of the sources, installed into an environment of its own, and tested there.
# check_wheel.sh ROOT PYTHON VERSION. Status 77: this Python has no meson-python or pip (Debian: python3-mesonpy,
# python3-pip, python3-venv). Compiled without optimizing, which is what takes the time.
set -euo pipefail
root=$(realpath -- "$1") python=$2 version=$3
for module in mesonpy pip ensurepip cffi numpy pytest; do
    "$python" -c "import $module" 2>/dev/null || { echo "wheel: skipped: $python has no $module"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
fail() {
    printf 'wheel: %s\n' "$*" >&2
    exit 1
}

# The sources as they are committed or not, without what was built of them.
mkdir -- "$scratch/source" "$scratch/elsewhere"
tar -C "$root" --exclude './build*' --exclude ./results --exclude ./.git --exclude './obj-*' -cf - . | tar -C "$scratch/source" -xf -
mkdir -- "$scratch/source/results"
cd -- "$scratch/source"
CFLAGS=-O0 "$python" -m pip wheel --no-build-isolation --no-index --no-deps --quiet --wheel-dir "$scratch/wheels" . \
    >"$scratch/log" 2>&1 || fail "$(tail -n 40 -- "$scratch/log")"
wheel=$(echo "$scratch"/wheels/*.whl)
case ${wheel##*/} in
"ropescope-${version/-/}-"*) ;;
*) fail "${wheel##*/} is not of version $version" ;;
esac
"$python" - "$wheel" "${version/-/}" <<'CHECK' || fail 'not all is in it'
import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
about = f"ropescope-{sys.argv[2]}.dist-info/"
wanted = [about + name for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")]
wanted += ["ropescope/__init__.py", "ropescope/py.typed"]
missing = [name for name in wanted if name not in names]
if not any(name.startswith(about) and name.endswith("LICENSE") for name in names): missing.append("LICENSE")
if not any(name.startswith("ropescope/_native") for name in names): missing.append("the module in C")
strange = [name for name in names if not name.startswith(("ropescope/", about))]
if missing or strange: sys.exit(f"missing: {missing}, strange: {strange}")
CHECK

"$python" -m venv --system-site-packages "$scratch/environment"
"$scratch/environment/bin/python" -m pip install --no-index --no-deps --quiet "$wheel" >"$scratch/log" 2>&1 || fail "$(cat -- "$scratch/log")"
cd -- "$scratch/elsewhere"
unset PYTHONPATH LD_LIBRARY_PATH
"$scratch/environment/bin/python" "$root/python/tests/run.py" "$root"
"$scratch/environment/bin/python" - "${version/-/}" "$scratch" <<'CHECK'
import importlib.metadata, sys, ropescope
assert importlib.metadata.version("ropescope") == sys.argv[1], importlib.metadata.version("ropescope")
assert ropescope.__file__.startswith(sys.argv[2]), ropescope.__file__
CHECK
echo "wheel: ${wheel##*/} is made offline, holds its licence, and passes the tests where it is installed"
