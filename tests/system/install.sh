#!/usr/bin/env bash
# install.sh - what a packager does: configures without tests and without
# exported internals, installs, and builds a program of its own with pkg-config
# and with the CMake package. Then once more with no optional driver.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
source_dir=${PAWL_SOURCE_DIR:?} cc=${CC:-cc}
work=${PAWL_BUILD_DIR:?}/install_check
prefix=$work/prefix
rm -rf "$work/user" "$prefix"
mkdir -p "$work/user"

build()
{
    cmake -S "$source_dir" -B "$work/build" -G Ninja --log-level=WARNING \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib -DPAWL_TESTS=OFF -DPAWL_EXPORT_INTERNALS=OFF -DPAWL_WERROR=ON "$@"
    ninja -C "$work/build" -j 2 >"$work/log" || { cat "$work/log"; return 1; }
}

echo "== install"
build -DPAWL_SQLITE=AUTO
cmake --install "$work/build" >/dev/null
test -e "$prefix/include/pawl/base.h"
# One unversioned name, one for the loader, one with the full version.
test -L "$prefix/lib/libpawl.so" && test -L "$prefix/lib/libpawl.so.0"
foreign=$(nm -D --defined-only "$prefix/lib/libpawl.so" | awk '{ print $3 }' | grep -v '^pawl_' || true)
if [ -n "$foreign" ]; then
    echo "libpawl.so exports names that are not its own: $foreign"
    exit 1
fi
if [ -e "$prefix/bin/pawl" ]; then
    "$prefix/bin/pawl" version
fi

cat >"$work/user/main.c" <<'END'
#include <pawl/base.h>
#include <stdio.h>

int main(void)
{
    return puts(pawl_code_name(PAWL_OK)) < 0;
}
END

echo "== pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs pawl)"
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -o "$work/user/by_pkg_config" "$work/user/main.c" "${flags[@]}"
test "$(LD_LIBRARY_PATH=$prefix/lib "$work/user/by_pkg_config")" = OK

echo "== CMake package"
cat >"$work/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(pawl 0.1 REQUIRED)
add_executable(by_cmake main.c)
target_link_libraries(by_cmake PRIVATE pawl::pawl)
END
cmake -S "$work/user" -B "$work/user/build" -G Ninja --log-level=WARNING \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix"
ninja -C "$work/user/build" >/dev/null
test "$("$work/user/build/by_cmake")" = OK

echo "== no optional driver"
rm -f "$work/build"/libpawl-*.so
build -DPAWL_SQLITE=OFF -DPAWL_POSTGRES=OFF -DPAWL_OBSERVE=OFF
if ls "$work/build"/libpawl-*.so 2>/dev/null; then
    echo "a driver was built with PAWL_SQLITE=OFF"
    exit 1
fi
