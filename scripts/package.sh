#!/usr/bin/env bash
# package.sh - builds the Debian packages that debian/control names, and their source package.
#
#   scripts/package.sh [FOLDER]     into FOLDER, by default build/packages
#
# The sources are the files of the folder that git does not ignore; without git, all but the folder `build`. Two runs on
# the same sources, in any folder and at any time, make the same packages: all times are that of debian/changelog.
# Where apt has no yyjson (Debian 12), FOLDER gets the package of Debian 13 as well, which `apt install FOLDER/*.deb`
# then installs. DEB_BUILD_OPTIONS is handed to dpkg-buildpackage; packages with debug symbols are not made.
#
# Exit code: 0 built, 1 the build failed, 2 usage or a package that cannot be installed.
#
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail
umask 022
cd "$(dirname "$0")/.."
# shellcheck source=scripts/install.sh
. scripts/install.sh
[ $# -le 1 ] || { say "usage: scripts/package.sh [FOLDER]"; exit 2; }
folder=$(realpath -m "${1:-build/packages}")
install_missing build package

version=$(dpkg-parsechangelog -S Version)
upstream=${version%-*}
if ! grep -q "^project(pawl VERSION $upstream " CMakeLists.txt; then
    say "debian/changelog begins with $version, and CMakeLists.txt has another version"
    exit 1
fi
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=$(nproc)} noautodbgsym"

# Paths of the sources, each with a NUL at its end. A file that was deleted is in git's index still.
sources()
{
    if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
        git ls-files -z --cached --others --exclude-standard
    else
        find . -path ./build -prune -o \( -type f -o -type l \) -print0
    fi | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/pawl-$upstream
mkdir "$tree"
sources | tar --null -T - -c | tar -C "$tree" -x
chmod -R u+w,go=rX "$tree"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --exclude="pawl-$upstream/debian" -cJf "$work/pawl_$upstream.orig.tar.xz" "pawl-$upstream"

say "building the packages of pawl $version"
if ! (cd "$tree" && dpkg-buildpackage --build=full -us -uc) >"$work/log" 2>&1; then
    tail -n 60 "$work/log" >&2
    exit 1
fi
mkdir -p "$folder"
rm -f "$folder"/*.deb "$folder"/pawl_*
find "$work" -maxdepth 1 -type f ! -name log -exec mv -t "$folder" {} +
[ -n "$(apt-cache madison libyyjson0)" ] || (cd "$folder" && download_from_trixie libyyjson0)
say "the packages are in $folder"
