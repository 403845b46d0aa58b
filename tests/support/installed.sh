#!/usr/bin/env bash
# installed.sh PREFIX WORK - what a user does with an installation: starts the command, builds an
# application with pkg-config and one with find_package, and runs both on SQLite. Nothing of the
# build is used: the application's sources are those that were installed.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
prefix=$1 work=$2 cc=${CC:-cc}
orders=$prefix/share/doc/pawl/examples/orders
unset PAWL_STORE PAWL_DRIVER_PATH LD_LIBRARY_PATH
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig
rm -rf "$work"
mkdir -p "$work/cmake"
cd "$work"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

die()
{
    echo "FAILED: $*"
    exit 1
}

# handles MODULE FILE: `pawl run` with the application handles a message that is sent to it.
handles()
{
    local module=$1 store=sqlite:$2 tries=600 runner
    pawl schema apply --app "$module" --store "$store"
    pawl run "$module" --store "$store" 2>"$2.log" &
    runner=$!
    pawl send --store "$store" --to orders --type place_order \
        --body '{"order_id": "o-1", "warehouse": "north", "total_cents": 4200}'
    until pawl stats --store "$store" --json 2>&1 | grep -q '"saga":"OrderSaga","rows":1\|"messages":1,'; do
        [ $((tries--)) -gt 0 ] && kill -0 $runner || die "the message is not handled: $(cat "$2.log")"
        sleep 0.1
    done
    kill -TERM $runner
    wait $runner || die "pawl run ended with $?: $(cat "$2.log")"
}

echo "== the command"
[ "$(command -v pawl)" = "$prefix/bin/pawl" ] || die "no pawl in $prefix/bin"
pawl version
! ldd "$prefix/bin/pawl" | grep -E 'libpq|libsqlite3' || die "it starts with a database's library"
for driver in sqlite bench bench-sqlite; do
    [ -e "$(pkg-config --variable=driverdir pawl)/libpawl-$driver.so" ] || die "no module $driver"
done
code=0
pawl bench saga-step --store sqlite:bench.db --messages 200 --rounds 1 >bench.log 2>&1 || code=$?
[ $code = 0 ] || grep -q "the limit is broken" bench.log || die "pawl bench: $(cat bench.log)"
grep -q '^  limit ' bench.log || die "no loop beside pawl: $(cat bench.log)"

echo "== an application by pkg-config"
read -ra flags <<<"$(pkg-config --cflags --libs pawl)"
strict=(-std=c17 -Wall -Wextra -Wpedantic -Werror)
for door in pawl operate driver test; do
    echo "#include <pawl/$door.h>" | "$cc" "${strict[@]}" -fsyntax-only -x c - "${flags[@]}" || die "pawl/$door.h"
done
"$cc" "${strict[@]}" -shared -fPIC -o by_pkg_config.so "$orders/orders.c" "${flags[@]}"
handles ./by_pkg_config.so by_pkg_config.db
"$cc" "${strict[@]}" -o by_pkg_config "$orders"/*.c "${flags[@]}" \
    "-Wl,-rpath,$(pkg-config --variable=libdir pawl)"
./by_pkg_config sqlite:program.db >by_pkg_config.out
[ "$(tail -n 1 by_pkg_config.out)" = "25 orders placed, 0 still open" ] ||
    die "the program says: $(cat by_pkg_config.out)"

echo "== the examples, each by the line at the head of its file"
cp -r "$orders/.." examples
for file in examples/{*/main,billing/billing}.c; do
    line=$(sed -n '/with an installed pawl:$/,/SPDX/s/^ \*     //p' "$file" | tr -d '\\\n')
    [ -n "$line" ] || die "$file says no line to compile it"
    # shellcheck disable=SC2046 # words
    pkg-config --exists $(sed -n 's/.*--libs \(.*\))$/\1/p' <<<"$line") || { echo "$file: not all packages"; continue; }
    (cd "${file%/*}" && eval "$line -Wall -Wextra -Werror -Wl,-rpath,$(pkg-config --variable=libdir pawl)") || die "$file: $line"
done
[ ! -e examples/transfer/transfer ] || examples/transfer/transfer --transfers 20 --runners 1 --store sqlite:transfer.db >transfer.out ||
    die "transfer: $(cat transfer.out)"
[ ! -e examples/replay/pawl-replay ] || examples/replay/pawl-replay examples/replay/example.csv --work replayed >replay.out ||
    die "pawl-replay: $(cat replay.out)"
pawl topology print --app examples/billing/billing.so >/dev/null || die "billing.so"

if [ -e "$prefix/lib/pkgconfig/pawl-static.pc" ]; then
    echo "== a program with the library in it"
    read -ra flags <<<"$(pkg-config --cflags --libs pawl-static)"
    "$cc" "${strict[@]}" -o linked "$orders"/*.c "${flags[@]}"
    ! ldd linked | grep libpawl || die "it needs a library of pawl"
    PAWL_DRIVER_PATH=/nowhere ./linked sqlite:linked.db >linked.out
    [ "$(tail -n 1 linked.out)" = "25 orders placed, 0 still open" ] ||
        die "the program says: $(cat linked.out)"
fi

echo "== an application by find_package"
cat >cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(pawl 0.2 REQUIRED)
add_library(by_cmake_module MODULE "$orders/orders.c")
set_target_properties(by_cmake_module PROPERTIES PREFIX "" OUTPUT_NAME by_cmake)
target_link_libraries(by_cmake_module PRIVATE pawl::pawl)
add_executable(by_cmake "$orders/orders.c" "$orders/main.c")
target_link_libraries(by_cmake PRIVATE pawl::pawl)
END
cmake -S cmake -B cmake/build -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || die "find_package: $(cat cmake.log)"
ninja -C cmake/build >cmake.log || die "$(cat cmake.log)"
handles cmake/build/by_cmake.so by_cmake.db
cmake/build/by_cmake sqlite:cmake.db >by_cmake.out
[ "$(tail -n 1 by_cmake.out)" = "25 orders placed, 0 still open" ] ||
    die "the program says: $(cat by_cmake.out)"
echo "installed: ok"
