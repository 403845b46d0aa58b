#!/usr/bin/env bash
# install.sh - what a packager does: configures without options for tests and exported names,
# installs into a prefix, moves that, and uses it as somebody who has only the installation
# (tests/support/installed.sh). Then once more with no optional driver.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
source_dir=${PAWL_SOURCE_DIR:?} cc=${CC:-cc}
work=${PAWL_BUILD_DIR:?}/install_check
configured=$work/configured first=$work/first moved=$work/moved/here
rm -rf "$work/user" "$work/preset" "$work/plain" "$configured" "$first" "$work/moved"
mkdir -p "$work/moved"

die()
{
    echo "FAILED: $*"
    exit 1
}

build()
{
    cmake --fresh -S "$source_dir" -B "$work/build" -G Ninja --log-level=WARNING \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
        -DCMAKE_INSTALL_PREFIX="$configured" -DCMAKE_INSTALL_LIBDIR=lib \
        -DPAWL_WERROR=ON "$@" >/dev/null
    ninja -C "$work/build" -j 2 >"$work/log" || { cat "$work/log"; return 1; }
}

# All modules that this machine has the libraries for are linked into libpawl.a.
static=memory
for module in sqlite:sqlite3 postgres:libpq mysql:libmariadb odbc:odbc mongo:libmongoc-1.0 rabbitmq:librabbitmq \
    "observe:libmicrohttpd libcurl"; do
    # shellcheck disable=SC2086 # several packages
    pkg-config --exists ${module#*:} && static+=";${module%%:*}"
done

echo "== install"
build -DPAWL_{SQLITE,POSTGRES,MYSQL,ODBC,MONGO,OBSERVE,RABBITMQ}=AUTO -DPAWL_STATIC_DRIVERS="$static"
cmake --install "$work/build" --prefix "$first" >/dev/null
diff -r "$source_dir/include" "$first/include" || die "the installed headers are others"
diff -r -x CMakeLists.txt -x node_modules -x __pycache__ "$source_dir/examples" "$first/share/doc/pawl/examples" ||
    die "the installed examples are others"
# One unversioned name, one for the loader, one with the full version.
test -L "$first/lib/libpawl.so" && test -L "$first/lib/libpawl.so.5"
for file in man/man1/pawl.1 man/man1/pawl-run.1 bash-completion/completions/pawl zsh/site-functions/_pawl \
    fish/vendor_completions.d/pawl.fish; do
    test -s "$first/share/$file" || die "share/$file is not installed"
done
test -s "$first/lib/systemd/system/pawl@.service"
test -s "$first/share/pawl/grafana/pawl.json"
foreign=$(nm -D --defined-only "$first/lib/libpawl.so" | awk '{ print $3 }' |
    grep -vE '^(pawl_[^_].*@@PAWL_5|PAWL_5(@@PAWL_5)?)$' || true)
[ -z "$foreign" ] || die "libpawl.so exports names that are not public ones of PAWL_5: $foreign"

echo "== what is installed knows no prefix but the configured one, and that from the library alone"
names=$(grep -rlF -e "$first" -e "$configured" "$first" | grep -vE '/libpawl\.(so|a)' || true)
[ -z "$names" ] || die "these name a prefix: $names"
paths=$(for file in "$first"/bin/* "$first"/lib/*.so "$first"/lib/pawl/5/*.so; do
    objdump -p "$file" | awk -v file="$file" '/R(UN)?PATH/ && ($2 !~ /^\$ORIGIN/ || $2 ~ /::|:$/) { print file, $2 }'
done)
[ -z "$paths" ] || die "these look for libraries in fixed folders, or the current one: $paths"

echo "== the versions that find_package takes it for"
# accepts VERSION: a program that asks for this one gets the library.
accepts()
{
    printf 'include("%s")\nif(NOT PACKAGE_VERSION_COMPATIBLE)\n message(FATAL_ERROR " ")\nendif()\n' \
        "$first/lib/cmake/pawl/pawlConfigVersion.cmake" >"$work/accepts.cmake"
    cmake -DPACKAGE_FIND_VERSION="$1" -P "$work/accepts.cmake" 2>/dev/null
}
accepts 0.2.0 || die "a program that was written for the first version of this ABI is refused"
if accepts 0.1.9 || accepts 99.0; then
    die "a program that was written for another ABI, or for a newer version, gets this library"
fi
mv "$first" "$moved"
if [ -e "$moved/lib/pawl/5/libpawl-sqlite.so" ]; then
    CC=$cc bash "$source_dir/tests/support/installed.sh" "$moved" "$work/user"

    echo "== the configured folder, for a library that lies elsewhere"
    store=sqlite:$work/user/configured.db
    mkdir "$work/user/lib"
    cp -P "$moved"/lib/libpawl.so* "$work/user/lib/"
    look()
    {
        env -u PAWL_DRIVER_PATH LD_LIBRARY_PATH="$work/user/lib" "$moved/bin/pawl" schema apply --store "$store"
    }
    # The command's RUNPATH comes after LD_LIBRARY_PATH.
    look >"$work/log" 2>&1 && die "a driver that is nowhere was found"
    grep -q "looked for libpawl-sqlite.so in $work/user/lib, $work/user/lib/pawl/5, $configured/lib/pawl/5 and " "$work/log" ||
        die "$(cat "$work/log")"
    mkdir -p "$configured/lib"
    cp -r "$moved/lib/pawl" "$configured/lib/"
    look
fi

if [[ $static == *sqlite* && $static == *rabbitmq* ]]; then
    echo "== the tables of the modules in libpawl.a"
    cat >"$work/tables.c" <<'END'
#include <pawl/driver.h>

#include <stdio.h>

int main(void)
{
    pawl_error              error = PAWL_ERROR_INIT;
    const pawl_inbound_ops *ops   = NULL;
    pawl_store             *store = NULL;
    if (pawl_inbound_find("amqp://h/", &ops, &error) == PAWL_OK)
        puts(ops->scheme);
    (void)pawl_store_open("none://", NULL, &store, &error);
    puts(error.text);
    return 0;
}
END
    export PKG_CONFIG_PATH=$moved/lib/pkgconfig
    # shellcheck disable=SC2046 # words
    "$cc" -std=c17 -Wall -Wextra -Werror -o "$work/tables" "$work/tables.c" $(pkg-config --cflags --libs pawl-static)
    "$work/tables" >"$work/log"
    diff - "$work/log" <<END || die "libpawl.a has other tables"
amqp
no driver for 'none://': none is not linked into this program, which has ${static//;/, }
END
    echo "== a prefix with a space"
    rm -rf "$work/a space"
    cp -r "$moved" "$work/a space"
    for package in pawl pawl-static; do
        eval "\"$cc\" -o \"$work/tables\" \"$work/tables.c\" $(PKG_CONFIG_PATH="$work/a space/lib/pkgconfig" pkg-config --cflags --libs $package)" ||
            die "$package.pc in a prefix with a space"
    done
    ldd "$work/tables" | grep libpawl && die "-l:libpawl.a links the shared library"
fi

echo "== no optional driver"
rm -f "$work/build"/libpawl-*.so
build -DPAWL_{SQLITE,POSTGRES,MYSQL,ODBC,MONGO,OBSERVE,RABBITMQ}=OFF -DPAWL_STATIC_DRIVERS=memory \
    -DCMAKE_INSTALL_LIBDIR=lib/deep/er
if ls "$work/build"/libpawl-*.so | grep -v '/libpawl-bench\.so$'; then
    die "a driver was built with PAWL_SQLITE=OFF"
fi
"$work/build/pawl" bench append --store memory: --messages 10 --rounds 1 >/dev/null

(cd "$source_dir" && cmake --preset release -B "$work/preset" -DPAWL_SQLITE=OFF) >"$work/log" 2>&1 ||
    die "the preset release asks for SQLite: $(cat "$work/log")"
grep -q '^-- libpawl[.]a: not built' "$work/log" || die "$(cat "$work/log")"
grep -q '^PAWL_WERROR:[A-Z]*=OFF' "$work/preset/CMakeCache.txt" || die "a new compiler's warning stops an installation"
cmake -S "$source_dir" -B "$work/plain" >"$work/log" 2>&1 || die "not configured without options: $(cat "$work/log")"
for option in TESTS WERROR EXPORT_INTERNALS; do
    grep -q "^PAWL_$option:[A-Z]*=OFF" "$work/plain/CMakeCache.txt" || die "without options PAWL_$option is not OFF"
done

echo "== libraries in a folder of another depth"
cmake --install "$work/build" --prefix "$first" >/dev/null
"$first/bin/pawl" version >/dev/null
"$first/bin/pawl" bench append --store memory: --messages 10 --rounds 1 >/dev/null
nm "$first/lib/deep/er/libpawl.a" 2>/dev/null | grep -E ' U (dlopen|sqlite3_)' && die "libpawl.a for memory alone needs these"
said=$(PKG_CONFIG_PATH=$first/lib/deep/er/pkgconfig pkg-config --variable=prefix pawl)
[ "$(realpath "$said")" = "$(realpath "$first")" ] || die "pkg-config says that the prefix is $said"

if pkg-config --exists sqlite3; then
    echo "== a project that includes pawl, says no kind of build, and has targets that are named like those of the examples"
    rm -rf "$work/project/prefix"
    mkdir -p "$work/project"
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user C)
add_subdirectory("$source_dir" pawl \${excluded})
add_executable(orders "$source_dir/examples/orders/orders.c" "$source_dir/examples/orders/main.c" asserts.c)
target_link_libraries(orders PRIVATE pawl::pawl)
foreach(name IN ITEMS transfer enlist example_support orders_parts orders_module billing_module demo)
    add_custom_target(\${name})
endforeach()
END
    printf '%s\n' '#ifdef NDEBUG' '#error "its asserts are off"' '#endif' 'extern int one_name;' >"$work/project/asserts.c"
    cmake -S "$work/project" -B "$work/project/build" -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER="$cc" \
        -DPAWL_{POSTGRES,MYSQL,ODBC,MONGO,OBSERVE,RABBITMQ}=OFF -Dexcluded= \
        -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O0 -DNDEBUG" >"$work/log" 2>&1 || die "$(cat "$work/log")"
    ninja -C "$work/project/build" -t commands pawl | grep -q -e '-O0 -DNDEBUG .*/store/core/module[.]c' ||
        die "pawl in another project is not built as it is alone"
    cmake --install "$work/project/build" --prefix "$work/project/prefix" >"$work/log" 2>&1 || die "$(cat "$work/log")"
    ! find "$work/project/prefix" -type f 2>/dev/null | grep . || die "pawl is installed with the project"
    cmake "$work/project/build" -Dexcluded=EXCLUDE_FROM_ALL >"$work/log" 2>&1 || die "$(cat "$work/log")"
    rm -f "$work/project/build/pawl/pawl" "$work/project/build/pawl"/libpawl-*.so
    ninja -C "$work/project/build" -j 2 >"$work/log" || die "$(cat "$work/log")"
    [ ! -e "$work/project/build/pawl/pawl" ] || die "the command is built, which nothing needs"
    "$work/project/build/orders" "sqlite:$work/project.db" >"$work/log"
    [ "$(tail -n 1 "$work/log")" = "25 orders placed, 0 still open" ] || die "the program says: $(cat "$work/log")"
fi
