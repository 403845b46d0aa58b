#!/usr/bin/env bash
# command_modules.sh - the command starts without any database's library, and finds its
# modules (drivers, observe, bench) beside the library, in `pawl/5` beside it, then in
# PAWL_DRIVER_PATH; when one is missing it says where it looked.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
unset PAWL_DRIVER_PATH

echo "== no database's library"
for file in pawl libpawl.so libpawl-bench.so; do
    ! ldd "$build_dir/$file" | grep -E 'libpq|libsqlite3|libmariadb|libmysqlclient|libodbc|libcurl|libmicrohttpd|librabbitmq' ||
        die "$file starts with that"
done

# A command and a library with no modules at all. The sanitizer's build finds its library as
# the plain one does.
lib=$work/alone/lib
mkdir -p "$lib/pawl/5" "$work/alone/bin" "$work/given"
lib=$(realpath "$lib")
cp "$build_dir/pawl" "$work/alone/bin/"
cp -P "$build_dir"/libpawl.so* "$lib/"
alone()
{
    LD_LIBRARY_PATH=$lib "$work/alone/bin/pawl" "$@"
}
bench=(bench saga-step --messages 10 --rounds 1 --store)

echo "== nothing is installed"
expect 3 "no driver for 'sqlite:': install the package libpawl5-driver-sqlite, or load your own \(a store.s driver or a transport: pawl --load FILE VERB\); looked for \
libpawl-sqlite.so in $lib, $lib/pawl/5, /[^ ]* and PAWL_DRIVER_PATH \(not set\)" alone stats --store sqlite:x
build_app app_pair.c pair.so
expect 2 "route 'r': no driver for 'amqps://': install the package libpawl5-driver-rabbitmq, " \
    alone run "$work/pair.so" --store memory:x --route r=amqps://x
expect 2 "'amqps://' is not a store: RabbitMQ is a transport, for a route" alone stats --store amqps://x
expect 3 "no driver for 'mongodb://': install the package libpawl5-driver-mongodb, " alone stats --store mongodb://x/y
expect 3 "no module for benchmarks: install the package pawl; looked for libpawl-bench.so in $lib, " \
    alone "${bench[@]}" memory:
export PAWL_DRIVER_PATH=/nowhere::/else
expect 3 "PAWL_DRIVER_PATH \(/nowhere, /else\)" alone stats --store sqlite:x
unset PAWL_DRIVER_PATH

echo "== benchmarks"
cp "$build_dir/libpawl-bench.so" "$lib/pawl/5/"
benched()
{
    alone "${bench[@]}" "$@" >"$work/out" 2>"$work/err"
    case $? in
    0) ;;
    1) grep -q "the limit is broken" "$work/err" || die "bench $*" ;;
    *) die "bench $*" ;;
    esac
    grep -qE '^  pawl +[0-9]+ /s$' "$work/out" || die "no figure"
}
benched memory:
expect 3 "no driver for 'sqlite:'" alone "${bench[@]}" "sqlite:$work/b.db"
printf '%s\n' '#include <stddef.h>' 'struct { size_t size, options; void *run; } pawl_bench_module' \
    '= {sizeof pawl_bench_module, 8, 0};' >"$work/other.c"
"$cc" -shared -fPIC -o "$work/given/libpawl-bench.so" "$work/other.c" || die "no module"
mv "$lib/pawl/5/libpawl-bench.so" "$work/"
PAWL_DRIVER_PATH=$work/given expect 2 'libpawl-bench.so was built for another pawl: its options have 8 bytes' \
    alone "${bench[@]}" memory:
mv "$work/libpawl-bench.so" "$lib/"

echo "== a file that is no module"
cp "$build_dir/tests/support/driver/tiny.so" "$lib/libpawl-observe.so"
expect 2 'has no symbol pawl_observe_module' alone run "$work/pair.so" --store memory:x --http 0
rm "$lib/libpawl-observe.so"

need_sqlite
echo "== drivers: beside the library, in pawl/5, in PAWL_DRIVER_PATH"
look=(alone schema apply --store "sqlite:$work/look.db")
for folder in "$lib" "$lib/pawl/5" "$work/given"; do
    expect 3 "no driver for 'sqlite:'" "${look[@]}"
    cp "$build_dir/libpawl-sqlite.so" "$folder/"
    PAWL_DRIVER_PATH=/nowhere:$work/given expect 0 '' "${look[@]}"
    rm "$folder/libpawl-sqlite.so"
done
mkdir "$lib/pawl/6" && cp "$build_dir/libpawl-sqlite.so" "$lib/pawl/" && cp "$build_dir/libpawl-sqlite.so" "$lib/pawl/6/"
expect 3 "no driver for 'sqlite:'" "${look[@]}" # modules of another ABI are not looked at
cp "$build_dir/libpawl-sqlite.so" "$lib/pawl/5/"
echo "no module" >"$work/given/libpawl-sqlite.so"
PAWL_DRIVER_PATH=$work/given expect 0 '' "${look[@]}"

echo "== a kind of store without benchmarks"
expect 2 "no benchmarks for a store of the kind 'sqlite': install the package libpawl5-driver-sqlite, if there is \
one; looked for libpawl-bench-sqlite.so in $lib, " alone "${bench[@]}" "sqlite:$work/b.db"
cp "$build_dir/libpawl-bench-sqlite.so" "$lib/pawl/5/"
benched "sqlite:$work/b.db"
grep -qE '^  limit +[0-9]+ /s$' "$work/out" || die "no loop beside it"
printf '%s\n' '#include <stddef.h>' 'size_t pawl_bench_kind = 8;' >"$work/other.c"
"$cc" -shared -fPIC -o "$lib/pawl/5/libpawl-bench-sqlite.so" "$work/other.c" || die "no module"
expect 2 'libpawl-bench-sqlite.so was built for another pawl: its table .*has 8 bytes' \
    alone "${bench[@]}" "sqlite:$work/b.db"
echo "ok"
