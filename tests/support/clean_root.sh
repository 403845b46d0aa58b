# clean_root.sh - a Debian 12 that has nothing, for the tests that install something in it. Sourced.
#
#   inside ROOT COMMAND    runs it in the root
#   make_plain             $folder/plain, by debootstrap, once (150 MB)
#   copy_root FROM         the run's own copy, $root, which is removed at its end
#
# The folder is clean_root of the build folder, or PAWL_CLEAN_ROOT. A root cannot be had without being root, without
# debootstrap or without the right to mount: then the test is skipped, with PAWL_REQUIRE=all, too.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
set -u
source_dir=${PAWL_SOURCE_DIR:?}
folder=${PAWL_CLEAN_ROOT:-${PAWL_BUILD_DIR:?}/clean_root}
root=$folder/run log=$folder/log
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

# In the root, with /proc, in a namespace of its own: with the command all
# that it started and mounted is gone. PATH is that of a login.
inside()
{
    # shellcheck disable=SC2016 # expanded inside
    timeout 900 unshare --mount --pid --fork --kill-child -- bash -c '
        mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb \
            DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$2"' \
        inside "$1" "$2" </dev/null
}

[ "$(id -u)" = 0 ] || cannot "only root can make a clean Debian"
unshare --mount --pid --fork --kill-child -- true 2>/dev/null || cannot "no right to mount"
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
: >"$log"

make_plain()
{
    local mirror
    [ ! -e "$folder/plain" ] || return 0
    command -v debootstrap >/dev/null || {
        has_candidate debootstrap && failed "debootstrap is not installed"
        cannot "no debootstrap to make a clean Debian with"
    }
    mirror=$(debian_mirror)
    rm -rf --one-file-system "$folder/new"
    timeout 900 debootstrap --variant=minbase bookworm "$folder/new" \
        ${mirror:+"$mirror"} >"$log" 2>&1 </dev/null ||
        failed "no clean Debian from ${mirror:-the mirror of debootstrap itself}"
    mv "$folder/new" "$folder/plain"
}

copy_root()
{
    rm -rf --one-file-system "$root"
    trap 'rm -rf --one-file-system "$root"' EXIT
    cp -a --reflink=auto "$1" "$root" || die "no room for a copy of $1"
}
