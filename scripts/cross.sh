#!/usr/bin/env bash
# cross.sh ARCH - builds pawl for another processor with Debian's cross compiler, and runs its unit tests and
# `pawl conformance` on memory and SQLite under qemu-user; i386 without it where the kernel can.
#
#   ARCH   arm64, i386 (32 bits) or s390x (the most significant byte first); or musl, the other C library of this
#          processor: the order example is linked with the single source file and the memory store, without SQLite,
#          which Debian does not have for musl, and run in an empty root folder
#
# Nothing is installed: what the machine lacks of compiler and emulator, and the libraries of the other processor,
# are downloaded by apt from the mirror that it uses, and unpacked into a folder of their own,
# /var/tmp/pawl-cross-UID (PAWL_CROSS_ROOT names another): 150 MB to download and 500 MB of disk for
# the first ARCH. yyjson, which Debian 12 does not have, is compiled from the source of Debian 13.
# The build is in build/cross/ARCH.
#
# Exit code: 0 all passed, 1 a build or a test failed, 2 usage, 77 the packages cannot be had,
# with PAWL_REQUIRE=all, too.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=scripts/install.sh
. scripts/install.sh
unset PAWL_REQUIRE "${!PAWL_TEST_@}" # no servers

arch=${1:-}
case $arch in
arm64) triple=aarch64-linux-gnu compiler=gcc-aarch64-linux-gnu emulator=qemu-aarch64-static ;;
i386) triple=i686-linux-gnu compiler=gcc-i686-linux-gnu emulator=qemu-i386-static ;;
s390x) triple=s390x-linux-gnu compiler=gcc-s390x-linux-gnu emulator=qemu-s390x-static ;;
musl) triple=$(uname -m)-linux-musl compiler=musl-tools emulator=true ;;
*)
    say "usage: scripts/cross.sh arm64 | i386 | s390x | musl"
    exit 2
    ;;
esac
multiarch=${triple/i686/i386}
fixture=${PAWL_CROSS_ROOT:-/var/tmp/pawl-cross-$(id -u)}
tools=$fixture/$arch/tools
root=$fixture/$arch/root
build=build/cross/$arch

# ---- The packages ------------------------------------------------------------------

# cross_apt ARCH STATUS WORD ...: apt-get for the architecture, as on a machine with this list of packages.
cross_apt()
{
    local of=$1 status=$2
    shift 2
    apt-get -qq -o "Dir::Etc::SourceList=$new/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State=$new" -o "Dir::State::status=$status" -o "Dir::Cache=$new/cache" \
        -o "APT::Architecture=$of" -o "APT::Architectures::=$of" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Retries=3 "$@" >&2 </dev/null
}

# unpack ARCH STATUS INTO PACKAGE ...: the packages, and what they need that is not in the status.
unpack()
{
    local of=$1 status=$2 into=$3 package
    shift 3
    say "unpacking $* for $of"
    mkdir -p "$into" "$new/tools" "$new/lists/partial" "$new/cache/archives/partial"
    echo "deb [arch=$of] $mirror bookworm main" >"$new/sources.list"
    cross_apt "$of" "$status" update &&
        cross_apt "$of" "$status" -y --no-install-recommends --download-only install "$@" || return 1
    for package in "$new"/cache/archives/*.deb; do
        [ ! -e "$package" ] || dpkg-deb -x "$package" "$into" || return 1
    done
    rm -rf "$new/cache" "$new/lists"
}

# The compiler and the emulator that this machine lacks. A compiler of Debian finds its own files beside it,
# and its libraries where the loader is told.
make_tools()
{
    command -v "$triple-gcc" >/dev/null ||
        unpack "$native" /var/lib/dpkg/status "$new/tools" "$compiler" || return 1
    command -v "$emulator" >/dev/null || [ -x "$fixture/qemu/$emulator" ] && return
    unpack "$native" /var/lib/dpkg/status "$new/qemu" qemu-user-static &&
        mkdir -p "$fixture/qemu" &&
        mv "$new"/qemu/usr/bin/qemu-{aarch64,i386,s390x}-static "$fixture/qemu/"
}

# yyjson's source: one file and its header, into the folder.
fetch_yyjson() # INTO
{
    echo "deb-src $mirror trixie main" >"$new/sources.list"
    mkdir -p "$new/lists/partial" "$new/cache/archives/partial" "$new/yyjson"
    (cd "$new/yyjson" && cross_apt "$native" /dev/null update &&
        cross_apt "$native" /dev/null --tar-only --download-only source yyjson && tar -xf ./*.orig.tar.*) || return 1
    find "$new/yyjson" -path '*/src/yyjson.[ch]' -exec cp -t "$1" {} +
}

# yyjson as a library of the other processor.
make_yyjson()
{
    local to=$new/root/usr
    fetch_yyjson "$to/include" &&
        "$new/cc" -O2 -fPIC -shared -Wl,-soname,libyyjson.so.0 -o "$to/lib/$multiarch/libyyjson.so.0" \
            "$to/include/yyjson.c" &&
        ln -s libyyjson.so.0 "$to/lib/$multiarch/libyyjson.so" &&
        printf '%s\n' 'Name: yyjson' 'Description: JSON' 'Version: 0.10.0' 'Libs: -lyyjson' \
            >"$to/lib/$multiarch/pkgconfig/yyjson.pc"
}

# A link to a file of the other machine's /lib leads to this machine's.
make_links_relative()
{
    local link
    find "$1" -type l -lname '/*' | while read -r link; do
        ln -sfr "$1$(readlink "$link")" "$link"
    done
}

# fill: tools, root, and the compiler `cc` and `pkg-config` that use them, in $new.
fill()
{
    make_tools && unpack "$arch" "$new/none" "$new/root" libc6-dev libgcc-12-dev libsqlite3-dev libcmocka-dev \
        libexpat1-dev zlib1g-dev uthash-dev || return 1
    make_links_relative "$new/root"
    cat >"$new/cc" <<END
#!/bin/sh
here=\$(dirname "\$0")
PATH=\$PATH:\$here/tools/usr/bin
export LD_LIBRARY_PATH=\$here/tools/usr/lib/$(uname -m)-linux-gnu
exec $triple-gcc --sysroot="\$here/root" "\$@"
END
    cat >"$new/pkg-config" <<END
#!/bin/sh
root=\$(dirname "\$0")/root
export PKG_CONFIG_SYSROOT_DIR=\$root PKG_CONFIG_LIBDIR=\$root/usr/lib/$multiarch/pkgconfig:\$root/usr/share/pkgconfig
exec pkg-config "\$@"
END
    chmod 755 "$new/cc" "$new/pkg-config"
    make_yyjson
}

# The same for musl: its package tells gcc by a file of options where it lies.
fill_musl()
{
    mkdir -p "$new/root/usr/include" "$new/tools"
    make_tools && fetch_yyjson "$new/root/usr/include" || return 1
    local options=$new/tools/usr/lib/$triple/musl-gcc.specs
    if [ -e "$options" ]; then
        sed -i "s#/usr/#$tools/usr/#g" "$options"
        printf '#!/bin/sh\nexec gcc "$@" -specs "%s"\n' "$tools/usr/lib/$triple/musl-gcc.specs" >"$new/cc"
    else
        printf '#!/bin/sh\nexec %s-gcc "$@"\n' "$triple" >"$new/cc"
    fi
    chmod 755 "$new/cc"
}

# The folder gets its name when it is complete.
make_fixture()
{
    mirror=$(debian_mirror)
    native=$(dpkg --print-architecture)
    [ -n "$mirror" ] || { say "apt knows no mirror of Debian 12"; return 77; }
    mkdir -p "$fixture" && exec 8>>"$fixture/$arch.lock" && flock 8 || return 1
    [ ! -x "$fixture/$arch/cc" ] || return 0
    new=$(mktemp -d "$fixture/$arch.XXXXXX") || return 1
    : >"$new/none"
    if "$1"; then
        rm -rf "$new"/{none,qemu,yyjson,cache,lists,sources.list}
        chmod 755 "$new" && rm -rf "${fixture:?}/$arch" && mv "$new" "$fixture/$arch"
        return
    fi
    rm -rf "$new"
    say "the packages for $arch cannot be had"
    return 77
}

# ---- The build and the tests -----------------------------------------------------------

configure()
{
    cmake -S . -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" \
        -DCMAKE_C_COMPILER="$fixture/$arch/cc" -DPKG_CONFIG_EXECUTABLE="$fixture/$arch/pkg-config" \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$(IFS=';' && echo "${runner[*]}")" \
        -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -g1' \
        -DPAWL_SQLITE=ON -DPAWL_TESTS=ON -DPAWL_WERROR=ON -DPAWL_EXPORT_INTERNALS=ON
}

# Tests start the command by its path, for which this machine has no emulator, or no loader.
wrap_command()
{
    [ "$(head -c 4 "$build/pawl" | tail -c 3)" = ELF ] || return 0
    mv "$build/pawl" "$build/pawl.elf" && cat >"$build/pawl" <<END && chmod 755 "$build/pawl"
#!/bin/sh
exec ${runner[*]} $name_option "\$0" "\$(dirname "\$0")/pawl.elf" "\$@"
END
}

conformance() # URL
{
    say "pawl conformance --store $1"
    "$build/pawl" conformance --store "$1"
}

# The order example, as one program that needs nothing.
test_musl()
{
    local file empty
    python3 scripts/amalgamate.py "$build" || return 1
    for file in examples/orders/*.[ch]; do
        sed -e 's|<pawl/[a-z]*[.]h>|"pawl.h"|' "$file" >"$build/$(basename "$file")"
    done
    "$fixture/musl/cc" -std=c17 -O2 -static -Wall -Wextra -Werror -DPAWL_OMIT_SQLITE -I "$root/usr/include" \
        -o "$build/orders" "$build"/{main,orders,pawl}.c "$root/usr/include/yyjson.c" || return 1
    empty=$(mktemp -d) && cp "$build/orders" "$empty/" || return 1
    if [ "$(id -u)" = 0 ]; then
        chroot "$empty" /orders
    else
        "$empty/orders"
    fi | tail -n 1 | grep "^25 orders placed, 0 still open"
    file=$?
    rm -rf "$empty"
    return "$file"
}

mkdir -p "$build"
if [ "$arch" = musl ]; then
    make_fixture fill_musl || exit $?
    test_musl
    exit
fi
make_fixture fill || exit $?
runner=("$(command -v "$emulator" || echo "$fixture/qemu/$emulator")" -L "$root") name_option=-0
if [ "$arch" = i386 ] && "$root/lib/ld-linux.so.2" --version >/dev/null 2>&1; then
    # This machine's kernel runs it. qemu-i386 7.2 damages a block of some megabytes that is made larger (mremap; with
    # MALLOC_MMAP_MAX_=0 it does not), and the program whose handler of a signal is taken back.
    runner=("$root/lib/ld-linux.so.2" --library-path "$root/lib/$multiarch:$root/usr/lib/$multiarch")
    name_option=--argv0
fi
say "building in $build"
configure >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 1; }
ninja -C "$build" -k 0 -j "${PAWL_JOBS:-$(nproc)}" tests_unit >&2 || exit 1
wrap_command || exit 1
failed=0
ctest --test-dir "$build" -L '^unit$' -j "${PAWL_JOBS:-$(nproc)}" --no-tests=error --output-on-failure || failed=1
conformance memory: || failed=1
file=$(mktemp -d)
conformance "sqlite:$file/conformance.db" || failed=1
rm -rf "$file"
exit $failed
