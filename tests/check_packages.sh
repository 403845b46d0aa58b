#!/usr/bin/env bash
# check_packages.sh [ROOT] - debian/ fits the sources: its version and ABI are theirs, each module is in the package
# that the command names when it is missing (src/store/core/module.c), and Build-Depends has the libraries of pawl. What
# building needs is named by scripts/install.sh, with the way to install it.
# tests/check_exports.sh compares the symbols file with the library, tests/system/packages_soak.sh builds the packages.
#
# The check is first tried on a copy, one violation at a time.
#
# SPDX-License-Identifier: Apache-2.0
set -u
root=${1:-$(dirname "$0")/..}

# check ROOT: prints what is wrong.
check()
(
    cd "$1" || exit
    abi=$(sed -nE 's/^#define PAWL_ABI ([0-9]+)u$/\1/p' include/pawl/api.h)
    version=$(sed -nE 's/^project\(pawl VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
    since=$(sed -nE 's/^set\(abi_since ([0-9.]+)\).*/\1/p' CMakeLists.txt)
    [ -n "$abi" ] && [ -n "$version" ] && [ -n "$since" ] || echo "no ABI or no version is stated"
    sed -n 1p debian/changelog | grep -q "^pawl ($version-" || echo "debian/changelog does not begin with $version"
    grep -qx "| $abi | $since |" docs/versions.md || echo "docs/versions.md has no line for ABI $abi since $since"
    sed -n 1p "debian/libpawl$abi.symbols" 2>&1 | grep -q "^libpawl.so.$abi libpawl$abi " ||
        echo "debian/libpawl$abi.symbols is not of libpawl.so.$abi"

    packages=$(sed -n 's/^Package: //p' debian/control)
    for file in debian/*.install; do
        grep -qxF "$(basename "$file" .install)" <<<"$packages" || echo "$file is of no package of debian/control"
    done
    for package in $packages; do
        [ -e "debian/$package.install" ] || echo "the package $package has no file debian/$package.install"
    done
    grep -qx "libpawl$abi" <<<"$packages" || echo "debian/control has no package libpawl$abi"
    sed -nE 's/^pawl_driver\(([a-z]+) .*/\1/p; s/^pawl_bench_kind\(([a-z]+) .*/bench-\1/p' CMakeLists.txt \
        cmake/PawlBench.cmake | while read -r module; do
        package=libpawl$abi-driver-${module#bench-}
        grep -qs "/libpawl-$module\.so$" "debian/${package/%-mongo/-mongodb}.install" ||
            echo "libpawl-$module.so is not in the package ${package/%-mongo/-mongodb}"
    done

    # gcc and its library are there wherever packages are built; the others are for tests and examples.
    built_with=$(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \([a-z0-9.+-]*\).*/\1/p' debian/control)
    sed -nE 's/^build .* ([a-z0-9.+-]+)$/\1/p' scripts/install.sh |
        grep -vxE 'gcc|libc6-dev|libcmocka-dev|libexpat1-dev|zlib1g-dev|uthash-dev' | while read -r package; do
        grep -qxF "$package" <<<"$built_with" || echo "Build-Depends of debian/control lacks $package"
    done
)

# try EXPECTED FILE EXPRESSION: sed changes the file of a copy.
try()
{
    local found
    cp -r "$tree/whole" "$tree/tried"
    sed -i -E "$3" "$tree/tried/$2"
    found=$(check "$tree/tried")
    rm -r "$tree/tried"
    [ "$found" = "$1" ] || { echo "the check does not work: $found, not $1"; exit 1; }
}

# A user who is not root is told the command that installs what is missing.
told()
(
    . "$root/scripts/install.sh"
    needed_things='build command no-such-program its-package'
    id() { echo 1000; }
    apt-get() { false; }
    install_missing build 2>&1
)
told | grep -qx "check_packages.sh: or let apt do it: sudo .*/scripts/install.sh build" || { told; exit 1; }

found=$(check "$root")
[ -z "$found" ] || { echo "$found"; exit 1; }
abi=$(sed -nE 's/^#define PAWL_ABI ([0-9]+)u$/\1/p' "$root/include/pawl/api.h")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/whole/include/pawl"
cp -r "$root"/{CMakeLists.txt,cmake,debian,docs,scripts} "$tree/whole/"
cp "$root/include/pawl/api.h" "$tree/whole/include/pawl/"
try "debian/changelog does not begin with 99.1" CMakeLists.txt 's/^(project\(pawl VERSION )[0-9.]+/\199.1/'
try "libpawl-more.so is not in the package libpawl$abi-driver-more" CMakeLists.txt '$apawl_driver(more PACKAGE more)'
try "libpawl-bench-mongo.so is not in the package libpawl$abi-driver-mongodb" \
    debian/libpawl$abi-driver-mongodb.install '/bench/d'
try "the package extra has no file debian/extra.install" debian/control '$a\\nPackage: extra'
try "Build-Depends of debian/control lacks libpq-dev" debian/control '/libpq-dev/d'
