#!/usr/bin/env bash
# command_version.sh - `pawl version --json` lists the modules that are found, each with its file and the versions
# of the libraries that it loads; of one that cannot be loaded it tells why.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

# drivers: name, file and error of each driver, or "-", and its libraries as name=version.
drivers()
{
    python3 -c '
import json, sys
for d in json.load(sys.stdin)["drivers"]:
    print(d["name"], d["file"], d["error"] or "-", *("%s=%s" % (l["name"], l["version"]) for l in d["libraries"]))
    for library in d["libraries"]:
        assert library["file"].startswith("/"), library
' <"$work/out"
}

echo "== every module of the build"
unset PAWL_DRIVER_PATH
expect 0 . pawl version --json
drivers >"$work/drivers" || die "no list of drivers"
cut -d' ' -f1 "$work/drivers" >"$work/found"
for file in "$build_dir"/libpawl-*.so; do
    name=$(basename "$file" .so)
    [[ $name == libpawl-bench* ]] || echo "${name#libpawl-}"
done | LC_ALL=C sort >"$work/built"
cmp -s "$work/found" "$work/built" || die "found: $(tr '\n' ' ' <"$work/found"), built: $(tr '\n' ' ' <"$work/built")"

echo "== the libraries' versions are those of pkg-config"
while read -r name file error libraries; do
    [ "$file" = "$build_dir/libpawl-$name.so" ] || die "$name: $file"
    [ "$error" = - ] || die "$name: $error"
    [ -n "$libraries" ] || die "$name has no library"
    for library in $libraries; do
        wanted=$(pkg-config --modversion "${library%%=*}")
        [ "${library#*=}" = "$wanted" ] || [ "$library" = odbc=None ] || die "$name: $library, pkg-config says $wanted"
    done
done <"$work/drivers"

echo "== a module that cannot be loaded"
mkdir "$work/here"
cp "$build_dir"/libpawl.so.? "$work/here/"
echo "no object" >"$work/here/libpawl-sqlite.so"
LD_LIBRARY_PATH=$work/here expect 0 . pawl version --json
grep -q "\"name\":\"sqlite\",\"file\":\"$work/here/libpawl-sqlite.so\",\"libraries\":\[\],\"error\":\"[^\"]" "$work/out" ||
    die "the broken module is not told"
