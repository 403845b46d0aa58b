#!/usr/bin/env bash
# sbom.sh - scripts/sbom.py writes a well-formed SPDX 2.3 document, the same bytes each time, with the libraries that
# the binaries of the build are linked with.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
command -v dpkg-query >/dev/null || skip "no dpkg: libraries are of no Debian package"
export SOURCE_DATE_EPOCH=1767225600

echo "== the same bytes each time"
python3 "$source_dir/scripts/sbom.py" "$build_dir" >"$work/first" || die "no document"
python3 "$source_dir/scripts/sbom.py" "$build_dir" >"$work/second" || die "no second document"
cmp "$work/first" "$work/second" || die "two documents of one build differ"

echo "== well-formed"
python3 "$source_dir/tests/support/spdx.py" <"$work/first" || die "the document is not well-formed"
for break in 's/SPDX-2.3/SPDX-9/' 's/"relationshipType": "DYNAMIC_LINK"/"relationshipType": "LINKS"/' \
    's/"SPDXID": "SPDXRef-pawl"/"SPDXID": "SPDXRef-other"/' '/"downloadLocation"/d' 's/T00:00:00Z/ 00:00/' \
    's/"MIT"/"Expat"/'; do
    sed "$break" "$work/first" | python3 "$source_dir/tests/support/spdx.py" >/dev/null && die "$break passes"
done
grep -q '"created": "2026-01-01T00:00:00Z"' "$work/first" || die "the time is not SOURCE_DATE_EPOCH"

echo "== licences"
# declared NAME LICENCE: the document says this licence of Debian's package, if it has the package.
declared()
{
    python3 -c '
import json, sys
for p in json.load(sys.stdin)["packages"]:
    if p["name"] == sys.argv[1] and p["licenseDeclared"] != sys.argv[2]:
        sys.exit(p["name"] + ": " + p["licenseDeclared"])
' "$1" "$2" <"$work/first" || die "the licence is not $2"
}
declared libmariadb3 LGPL-2.0-or-later # the server, of the same source package, is GPL-2.0-only
declared libpq5 PostgreSQL

echo "== it has what the loader needs"
# packages_of NAME: those that the package is linked with.
packages_of()
{
    python3 -c '
import json, sys
for r in json.load(sys.stdin)["relationships"]:
    if r["spdxElementId"] == "SPDXRef-" + sys.argv[1]:
        print(r["relatedSpdxElement"])
' "$1" <"$work/first"
}
library_package=$(basename "$source_dir"/debian/libpawl*.symbols .symbols)
for file in "$build_dir"/{pawl,libpawl.so,libpawl-*.so}; do
    name=$(basename "$file" .so)
    case $name in
        libpawl-bench*) continue ;;
        libpawl-mongo) package=$library_package-driver-mongodb ;;
        libpawl-*) package=$library_package-driver-${name#libpawl-} ;;
        libpawl) package=$library_package ;;
        *) package=$name ;;
    esac
    packages_of "$package" >"$work/packages"
    # Of the libraries that the file's own header names, those of Debian's packages.
    for library in $(objdump -p "$file" | awk '$1 == "NEEDED" && $2 !~ /^libpawl/ { print $2 }'); do
        path=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
        owner=$( (dpkg-query -S "$(realpath "$path")" || dpkg-query -S "$path") 2>/dev/null | head -n 1 | cut -d: -f1)
        [ -n "$owner" ] || die "$library is of no package"
        grep -qx "SPDXRef-debian-$owner" "$work/packages" || die "$name needs $library of $owner: not there"
    done
done

echo "== packages that were built"
if command -v dpkg-deb >/dev/null; then
    mkdir -p "$work/deb/DEBIAN"
    printf '%s\n' 'Package: pawl' 'Version: 0.0.1-7' 'Architecture: all' 'Maintainer: a <a@b.invalid>' 'Description: x' \
        >"$work/deb/DEBIAN/control"
    dpkg-deb -b "$work/deb" "$work/pawl.deb" >"$work/out" 2>&1 || die "no package to look at"
    python3 "$source_dir/scripts/sbom.py" "$build_dir" "$work/pawl.deb" >"$work/third" || die "no document"
    python3 "$source_dir/tests/support/spdx.py" <"$work/third" || die "the document is not well-formed"
    grep -q "\"checksumValue\": \"$(sha256sum <"$work/pawl.deb" | cut -d' ' -f1)\"" "$work/third" || die "another digest"
    grep -q '"versionInfo": "0.0.1-7"' "$work/third" || die "not the package's version"
fi
