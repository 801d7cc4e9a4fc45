#!/usr/bin/env bash
# Compiles the program and its tests for aarch64 with warnings as errors and, where qemu is, runs them there; then tells
# whether its numbers, of generic and of neon, are those of this machine within 1e-9 (numbers.sh). Changes nothing on the
# system: the libraries for aarch64 are downloaded with an apt configuration of our own and unpacked below FOLDER.
#
#     apt-get install gcc-aarch64-linux-gnu qemu-user      # once, as root
#     tests/cross/aarch64.sh [FOLDER]                      # default: build-aarch64
#     NUMBERS_ONLY=1 tests/cross/aarch64.sh [FOLDER]       # no tests: numbers.sh alone, some minutes
#
# Criterion's tests do not start under qemu's user mode; include/criterion/criterion.h stands in for it.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
mkdir -p -- "${1:-$root/build-aarch64}"
folder=$(cd -- "${1:-$root/build-aarch64}" && pwd)
sysroot=$folder/sysroot libraries=$folder/sysroot/usr/lib/aarch64-linux-gnu
packages=(libc6-dev libgomp1 libgsl-dev libyaml-dev libjansson-dev nettle-dev librandom123-dev zlib1g-dev)
# Those that need no program of ours beside them; of the engine's, which take minutes in emulation, the broadest case.
tests=(math subsets wave_fit kernel_decay kernel_rotate net_cap net_cross_entropy net_curve net_norm
       net_product net_softmax net_turn_rows net_update turns waves masks sources source_shapes projection metrics
       decay ood rows needle vision attend transformer contexts places tiny laws published golden_frequencies
       golden_mrope golden_biases golden_embeddings golden_attention golden_models 'engine random_jobs')

command -v aarch64-linux-gnu-gcc >/dev/null || { echo 'aarch64: needs gcc-aarch64-linux-gnu' >&2; exit 1; }

# Debian's packages for arm64 with all that they depend on: an empty status file says that nothing is installed yet.
# Hooks of the system's own configuration are left out, its proxies are not.
download() {
    mkdir -p "$folder"/apt/{state/lists,cache/archives}/partial
    : >"$folder/apt/status"
    local suite
    suite=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || suite=bookworm
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
        >"$folder/apt/sources.list"
    cat >"$folder/apt/apt.conf" <<CONF
#clear APT::Architectures;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Architecture "arm64";
APT::Architectures:: "arm64";
APT::Sandbox::User "";
Dir::State "$folder/apt/state";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
CONF
    apt-get -q -c "$folder/apt/apt.conf" update
    apt-get -q -c "$folder/apt/apt.conf" install -y --no-install-recommends --download-only "${packages[@]}"
}

unpack() {
    local archive to link
    rm -rf -- "$sysroot"
    mkdir -- "$sysroot"
    for archive in "$folder"/apt/cache/archives/*.deb; do dpkg-deb -x "$archive" "$sysroot"; done
    # Links to /lib/... mean the sysroot's.
    find "$sysroot" -lname '/*' -printf '%l\t%p\n' |
        while IFS=$'\t' read -r to link; do ln -sfn -- "$sysroot$to" "$link"; done
}

# After unpack: meson finds the stand-in as it would find Criterion. Through it gcc 12 takes what a function returns for
# a pointer to that function's variable.
add_stand_in() {
    cp -r -- "$here/include/criterion" "$sysroot/usr/include/"
    printf '%s\n' 'Name: criterion' 'Description: stand-in' 'Version: 0' 'Cflags: -Wno-dangling-pointer' \
        >"$libraries/pkgconfig/criterion.pc"
}

write_cross_file() {
    cat >"$folder/cross.ini" <<CROSS
[constants]
sysroot = '$sysroot'
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=' + sysroot]
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = sysroot
pkg_config_libdir = '$libraries/pkgconfig:' + sysroot + '/usr/share/pkgconfig'
needs_exe_wrapper = true
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
CROSS
}

# build NAME TARGET OPTION...: configures and compiles below FOLDER.
build() {
    local name=$1 target=$2 again=()
    shift 2
    if [ -f "$folder/$name/build.ninja" ]; then again=(--reconfigure); fi
    meson setup --wrap-mode=nofallback "${again[@]}" -Dwerror=true "$@" "$folder/$name" "$root"
    ninja -C "$folder/$name" "$target"
}

emulate() { qemu-aarch64 -L "$sysroot" "$@"; }

# numbers: those of generic here, then there, and of neon there.
numbers() {
    rm -rf -- "$folder/numbers"
    SETS=generic "$here/numbers.sh" --run "$folder/native/ropescope" "$folder/numbers"
    SETS='generic neon' RUN="qemu-aarch64 -L $sysroot" \
        "$here/numbers.sh" --run "$folder/aarch64/ropescope" "$folder/numbers"
}

if [ ! -f "$folder/sysroot-done" ]; then
    download
    unpack
    : >"$folder/sysroot-done"
fi
add_stand_in
write_cross_file
if [ -n "${NUMBERS_ONLY-}" ]; then
    build aarch64 ropescope --cross-file "$folder/cross.ini" -Dtests=disabled
    build native ropescope -Dtests=disabled
    numbers
    exit
fi
build aarch64 all --cross-file "$folder/cross.ini" -Dtests=enabled
build native all -Dtests=disabled

if ! command -v qemu-aarch64 >/dev/null; then
    echo 'aarch64: compiles; nothing was run, for want of qemu-aarch64 (qemu-user)'
    exit 0
fi
emulate "$folder/aarch64/ropescope" version
export ROPESCOPE_TESTS=$root/tests ROPESCOPE_JOBS=300
for line in "${tests[@]}"; do
    read -r -a words <<<"$line"
    printf '%s: ' "$line"
    begin=$SECONDS
    emulate "$folder/aarch64/tests/test_${words[0]}" "${words[@]:1}"
    printf '    %d s\n' $((SECONDS - begin))
done
numbers
echo 'aarch64: all good'
