#!/usr/bin/env bash
# amalgamation.sh - the library in two files (scripts/amalgamate.py): the application of README.md is compiled with
# them by gcc and clang without a warning, and runs in memory and on SQLite; stores that are not in it
# are named in errors; and the command passes the contract suite with pawl.c as its library, on SQLite every day
# the cases of queues and sagas.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
source_dir=${PAWL_SOURCE_DIR:?} build=${PAWL_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
pkg-config --exists sqlite3 || { echo "no sqlite3"; exit 77; }

die()
{
    echo "FAILED: $*"
    exit 1
}

echo "== the same sources make the same files"
"$source_dir/scripts/amalgamate.py" "$work"
python3 "$source_dir/scripts/amalgamate.py" "$work/again"
cmp "$work/pawl.c" "$work/again/pawl.c"
cmp "$work/pawl.h" "$work/again/pawl.h"
wc -lc "$work"/pawl.[ch]

cd "$work"
for file in "$source_dir"/examples/orders/*.[ch]; do
    sed -e 's|<pawl/[a-z]*[.]h>|"pawl.h"|' "$file" >"$(basename "$file")"
done

# places_orders PROGRAM STORE
places_orders()
{
    "$1" "$2" >out || die "$1 $2: $(cat out)"
    [ "$(tail -n 1 out)" = "25 orders placed, 0 still open" ] || die "$1 $2 says: $(cat out)"
}

echo "== no header of a compiler's own, such as those of its sanitizers"
"${CC:-cc}" -std=c17 -M pawl.c >headers
! grep -n sanitizer headers || die "pawl.c needs these headers"

strict=(-std=c17 -Wall -Wextra -Werror)
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "no $cc"; continue; }
    echo "== $cc"
    TIMEFORMAT="$cc compiled pawl.c in %U s of processor time, %R s in all"
    time $cc "${strict[@]}" -fPIC -c pawl.c
    $cc "${strict[@]}" -o "by_$cc" main.c orders.c pawl.o -lsqlite3 -lyyjson
    places_orders "./by_$cc" memory:
    places_orders "./by_$cc" "sqlite:$cc.db"
done

echo "== stores and modules that are not in it"
cat >others.c <<'END'
#include "pawl.h"

#include <stdio.h>

int main(void)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    pawl_code   code  = pawl_store_open("postgres://user@host/shop", NULL, &store, &error);
    printf("%d %s\n", code == PAWL_EUNREACHABLE, error.text);
    code = pawl_store_load("/tmp/libpawl-mine.so", &error);
    printf("%d %s\n", code == PAWL_EUNREACHABLE, error.text);
    return 0;
}
END
cc=clang # pawl.o is its own if there are both
command -v clang >/dev/null || cc=gcc
$cc "${strict[@]}" -o others others.c pawl.o -lsqlite3 -lyyjson
./others >out
diff out - <<'END' || die "other errors"
1 no driver for 'postgres://': postgres is not linked into this program, which has memory, sqlite
1 load of a driver: /tmp/libpawl-mine.so: this program loads no modules, its drivers are linked in
END

echo "== memory alone"
$cc "${strict[@]}" -DPAWL_OMIT_SQLITE -o memory main.c orders.c pawl.c -lyyjson
places_orders ./memory memory:
! ./memory sqlite:x.db 2>out || die "SQLite is in it"
grep -q "sqlite is not linked into this program, which has memory$" out || die "$(cat out)"

echo "== the contract suite"
soname=$(objdump -p "$build/libpawl.so" | awk '/SONAME/ { print $2 }')
$cc -shared -Wl,-soname,"$soname" -o "$soname" pawl.o -lsqlite3 -lyyjson
export LD_LIBRARY_PATH=$work
ldd "$build/pawl" | grep -q "$work/$soname" || die "the command takes another library: $(ldd "$build/pawl")"
"$build/pawl" conformance --store memory: >out || die "$(cat out)"
tail -n 1 out
cases=("queue: " "saga: ")
[ -z "${PAWL_TEST_WHOLE:-}" ] || cases=(": ")
for case in "${cases[@]}"; do
    "$build/pawl" conformance --store "sqlite:$work/conformance.db" --case "$case" >out || die "$(cat out)"
    tail -n 1 out
done
