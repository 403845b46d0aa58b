#!/usr/bin/env bash
# install_clean_root.sh - what docs/building.md and README.md say, typed by root in a Debian 12 that has nothing: what is
# needed is installed, pawl is built and installed, an application is built and run, the demo and the quick start print
# what README.md shows; then the prefix is moved and used (tests/support/installed.sh).
#
# The root is made once, with what building needs, and kept in clean_root/base of the build folder (450 MB); each run
# works in a copy (tests/support/clean_root.sh).
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/clean_root.sh"
base=$folder/base
building=$source_dir/docs/building.md page=$source_dir/README.md
# shellcheck source=tests/support/readme.sh
. "$source_dir/tests/support/readme.sh"

# The sources as they are cloned: without what was built.
copy_sources() # ROOT
{
    rm -rf "$1/root/pawl"
    mkdir -p "$1/root/pawl"
    tar -C "$source_dir" --exclude=./build --exclude=./.git --exclude=node_modules -c . |
        tar -C "$1/root/pawl" -x
}

make_base()
{
    make_plain
    rm -rf --one-file-system "$folder/new"
    cp -a --reflink=auto "$folder/plain" "$folder/new" || die "no room for a copy of $folder/plain"
    copy_sources "$folder/new"
    inside "$folder/new" "cd ~/pawl && $install_line && apt-get -qq clean" >"$log" 2>&1 ||
        failed "what building needs cannot be installed"
    rm -rf "$folder/new/root/pawl" "$folder/new/var/lib/apt/lists"/* "$folder/new/usr/share/doc"/* \
        "$folder/new/usr/share/locale"/*
    rm -rf --one-file-system "$base"
    mv "$folder/new" "$base"
    echo "$needed" >"$base/root/needed"
}

# The commands of a page from a line that begins so to the next empty one; root needs no sudo.
block() # PAGE BEGINNING
{
    awk -v beginning="    $2" 'index($0, beginning) == 1 { is_in = 1 } is_in && NF == 0 { exit } is_in' "$1" |
        sed -e 's/^    //' -e 's/^sudo //'
}

install_line=$(block "$building" 'sudo scripts/install.sh build')
build_lines=$(block "$building" 'cmake --preset release')
use_lines=$(block "$building" 'export PATH=/opt/pawl/bin')
[ -n "$install_line" ] && [ -n "$build_lines" ] && [ -n "$use_lines" ] || die "docs/building.md says something else"
prefix=/opt/pawl
grep -q -- "--prefix $prefix\$" <<<"$build_lines" || die "another prefix"

echo "== a clean Debian"
needed=$(echo "$needed_things" | grep '^build' | sha256sum)
[ "$needed" = "$(cat "$base/root/needed" 2>/dev/null)" ] || make_base
copy_root "$base"
chmod 700 "$root/root" # as a new user's first try is: nobody else may enter
copy_sources "$root"

echo "== what docs/building.md says"
inside "$root" "cd ~/pawl; $install_line; $build_lines" >"$log" 2>&1 || die "it does not build"
for name in pawl orders orders.so transfer pawl-replay enlist \
    libpawl-{sqlite,postgres,mysql,observe,rabbitmq,bench,bench-sqlite,bench-postgres}.so; do
    [ -e "$root/root/pawl/build/release/$name" ] || die "no $name in build/release"
done
inside "$root" "cd ~/pawl; $use_lines" >"$log" 2>&1 || die "what is installed does not work"
grep -q '^sent ' "$log" || die "nothing was sent"

echo "== what README.md says"
readme_quick >"$root/root/quick.sh" || die "no quick start in README.md"
inside "$root" "cd ~/pawl; ./demo" >"$log" 2>&1 || die "the demo"
readme_compare_demo "$log" || die "the demo prints something else than README.md shows"
inside "$root" "cd ~/pawl; ./demo examples/replay/example.csv --crash 10" >"$log" 2>&1 || die "the demo with kills"
readme_compare_demo "$log" || die "after ten kills the demo prints something else"
inside "$root" "cd ~/pawl; bash -m ~/quick.sh" >"$log" 2>&1 || die "the quick start"
readme_compare_quick "$log" || die "the quick start prints something else than README.md shows"

echo "== moved"
mv "$root$prefix" "$root/opt/moved"
inside "$root" "bash ~/pawl/tests/support/installed.sh /opt/moved /tmp/user" >"$log" 2>&1 ||
    die "what was moved does not work"
tail -n 1 "$log"
