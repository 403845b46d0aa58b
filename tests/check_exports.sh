#!/usr/bin/env bash
# check_exports.sh - an installed library exports public names, those of src/store/core and
# what is declared with PAWL_API. The command is linked against a library that exports all while
# there are tests, so this reads its objects: what it calls must be exported there too.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
objects=${PAWL_BUILD_DIR:-$top/build}/CMakeFiles
cd "$top" || exit 2
if [ ! -d "$objects/pawl_command.dir" ]; then
    echo "no objects of the command in $objects"
    exit 77
fi

# Names in the objects of the sources that are read: KIND as nm says it, TARGET.
names()
{
    sed "s|.*|$objects/$2.dir/&.o|" | xargs nm | awk -v kind="^[$1]$" '
        NF > 1 && $(NF - 1) ~ kind && $NF ~ /^pawl__/ { print $NF }' | sort -u
}
called=$(find src/cli -name '*.c' | names U pawl_command)
hidden=$(find src/{base,record,workflow,engine,runtime} -name '*.c' | names TDRB pawl)
if [ -z "$called" ] || [ -z "$hidden" ]; then
    echo "no names found in $objects"
    exit 1
fi
bad=0
for name in $(comm -12 <(echo "$called") <(echo "$hidden")); do
    if ! grep -rqE "^PAWL_API .*\b$name\(" src --include='*.h'; then
        echo "$name: the command calls it, and an installed library does not export it"
        bad=1
    fi
done
exit $bad
