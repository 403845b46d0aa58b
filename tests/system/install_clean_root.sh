#!/usr/bin/env bash
# install_clean_root.sh - what docs/building.md and README.md say, typed by root in a Debian 12 that has nothing: what is
# needed is installed, pawl is built and installed, an application is built and run, the demo and the quick start print
# what README.md shows; then the prefix is moved and used (tests/support/installed.sh).
#
# The root is made once by debootstrap, with what building needs, and kept in clean_root/base of
# the build folder (450 MB); each run works in a copy. PAWL_CLEAN_ROOT names another folder for
# both. A root cannot be had without being root, without debootstrap or without the right to mount:
# then the test is skipped, with PAWL_REQUIRE=all, too.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source_dir=${PAWL_SOURCE_DIR:?}
folder=${PAWL_CLEAN_ROOT:-${PAWL_BUILD_DIR:?}/clean_root}
base=$folder/base root=$folder/run log=$folder/log
building=$source_dir/docs/building.md page=$source_dir/README.md
# shellcheck source=tests/support/readme.sh
. "$source_dir/tests/support/readme.sh"
# shellcheck source=scripts/install.sh
. "$source_dir/scripts/install.sh"

cannot()
{
    echo "skipped: $*"
    exit 77
}

die()
{
    echo "FAILED: $*"
    [ ! -s "$log" ] || tail -n 40 "$log" | sed 's/^/  /'
    exit 1
}

# What apt could have given is missing only where the network is away.
failed()
{
    tail -n 5 "$log" | sed 's/^/  /'
    [ "${PAWL_REQUIRE:-}" != all ] || die "$*"
    cannot "$*"
}

# inside ROOT COMMAND: in the root, with /proc, in a namespace of its own: with the command all
# that it started and mounted is gone. PATH is that of a login.
inside()
{
    # shellcheck disable=SC2016 # expanded inside
    timeout 900 unshare --mount --pid --fork --kill-child -- bash -c '
        mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$2"' \
        inside "$1" "$2" </dev/null
}

[ "$(id -u)" = 0 ] || cannot "only root can make a clean Debian"
unshare --mount --pid --fork --kill-child -- true 2>/dev/null || cannot "no right to mount"
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
: >"$log"

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
    local mirror
    command -v debootstrap >/dev/null || {
        has_candidate debootstrap && failed "debootstrap is not installed"
        cannot "no debootstrap to make a clean Debian with"
    }
    mirror=$(debian_mirror)
    rm -rf --one-file-system "$folder/new"
    timeout 900 debootstrap --variant=minbase bookworm "$folder/new" \
        ${mirror:+"$mirror"} >"$log" 2>&1 </dev/null ||
        failed "no clean Debian from ${mirror:-the mirror of debootstrap itself}"
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
rm -rf --one-file-system "$root"
trap 'rm -rf --one-file-system "$root"' EXIT
cp -a --reflink=auto "$base" "$root" || die "no room for a copy of $base"
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
