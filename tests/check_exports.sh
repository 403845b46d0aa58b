#!/usr/bin/env bash
# check_exports.sh - an installed library exports public names alone, those of debian/libpawl*.symbols. What modules and
# the command call of its internal functions stands in the files of which they have copies (copied_files in
# CMakeLists.txt). While there are tests the library exports all, so this reads what was built of it: each
# `pawl__` name that is called from outside is in such a file, and these files call no others and keep no state.
# Nothing that was built looks for libraries in the current folder.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=${PAWL_BUILD_DIR:-$top/build}
cd "$top" || exit 2
if [ ! -e "$build/pawl" ]; then
    echo "no command in $build"
    exit 77
fi
bad=0
say()
{
    echo "$*"
    bad=1
}

mapfile -t copied < <(sed -n '/^set(copied_files/,/)$/p' CMakeLists.txt | sed 's/^set(copied_files//' |
    tr -d ')' | tr -s ' \n' '\n\n' | sed -n "s|..*|$build/CMakeFiles/pawl.dir/src/&.c.o|p")
[ ${#copied[@]} -gt 10 ] || { echo "no list of files in CMakeLists.txt"; exit 1; }

# names KIND FILE ...: internal names that objects define (T, D, R, B) or call (U).
names()
{
    local kind=$1
    shift
    nm "$@" | awk -v kind="^[$kind]$" 'NF > 1 && $(NF - 1) ~ kind && $NF ~ /^pawl__/ { print $NF }' | sort -u
}
called=$({
    names U -D "$build/pawl" "$build"/libpawl-*.so | comm -23 - <(names TDRB -D "$build/libpawl-bench.so")
    names U "${copied[@]}"
} | sort -u)
[ "$(wc -l <<<"$called")" -gt 50 ] || { echo "no names found in $build"; exit 1; }
for name in $(comm -23 <(echo "$called") <(names TDRB "${copied[@]}")); do
    say "$name: a module or the command calls it, and none of the copied files has it"
done
# url_tls.c remembers what it warned of: another copy warns of another driver's URLs.
for object in "${copied[@]}"; do
    [[ $object = */url_tls.c.o ]] || ! nm "$object" | grep -E ' [bBC] ' ||
        say "$object keeps a state, so there may be no second copy of it"
done

# An empty element of a RUNPATH is the current folder.
found=$(for file in "$build/pawl" "$build"/libpawl*.so; do
    objdump -p "$file" | awk -v file="$file" '/R(UN)?PATH/ { print file, $2 }'
done)
[ -n "$found" ] || say "no RUNPATH found in $build"
grep -E ' :|::|:$' <<<"$found" && say "these look for libraries in the current folder, too"

symbols=(debian/libpawl*.symbols)
exported=$(nm -D --defined-only "$build/libpawl.so" | awk '$NF ~ /^pawl_[^_]/ { print $NF }' | sort -u)
listed=$(sed -nE 's/^ (pawl_[a-z0-9_]+)@.*/\1/p' "${symbols[0]}" | sort)
for name in $(comm -23 <(echo "$exported") <(echo "$listed")); do
    say "$name: libpawl.so exports it, and ${symbols[0]} does not have it: add it with today's version"
done
for name in $(comm -13 <(echo "$exported") <(echo "$listed")); do
    say "$name: ${symbols[0]} has it, and libpawl.so does not export it: programs that call it break (docs/versions.md)"
done
exit $bad
