#!/usr/bin/env bash
# check_sizes.sh [--write] [ROOT] - docs/sizes.txt has a line for each folder of sources, with its number of lines. A
# folder that has more fails, so that growth is a line of the commit that others read.
#
#   --write  writes docs/sizes.txt anew, from what is there
#
# The check is first tried on a made-up tree.
#
# SPDX-License-Identifier: Apache-2.0
set -u
write=
[ "${1:-}" != --write ] || { write=yes; shift; }
root=${1:-$(dirname "$0")/..}

# sizes ROOT: "folder lines", without what is built and the golden files, which are written by a test.
sizes()
{
    (
        cd "$1" || exit
        find bench cmake docs examples include scripts src tests -type f \
            \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.js' -o -name '*.txt' -o -name '*.sql' -o \
            -name '*.md' -o -name '*.cmake' -o -name '*.mjs' \) \
            ! -path 'tests/golden/*' ! -path '*/node_modules/*' ! -path docs/sizes.txt -print0 2>/dev/null |
            xargs -0 awk 'FNR == 1 { folder = FILENAME; sub("/[^/]*$", "", folder) }
                { lines[folder]++ }
                END { for (folder in lines) print folder, lines[folder] }' |
            awk '{ lines[$1] += $2 } END { for (folder in lines) print folder, lines[folder] }' | LC_ALL=C sort
    )
}

# check ROOT: prints what is wrong.
check()
{
    sizes "$1" | awk '
        NR == FNR { if ($0 !~ /^#/ && NF == 2) limit[$1] = $2; next }
        {
            seen[$1] = 1
            if (!($1 in limit))
                printf "docs/sizes.txt has no line for %s, which has %d lines\n", $1, $2
            else if ($2 > limit[$1])
                printf("%s has %d lines, %d more than docs/sizes.txt says: " \
                       "shorten it, or change its line there\n", $1, $2, $2 - limit[$1])
        }
        END {
            for (folder in limit)
                if (!(folder in seen))
                    printf "docs/sizes.txt has a line for %s, which has no sources\n", folder
        }' "$1/docs/sizes.txt" -
}

try_out()
{
    local tree found
    tree=$(mktemp -d)
    mkdir -p "$tree"/{docs,src/a,src/b}
    printf '1\n2\n' >"$tree/src/a/x.c"
    printf '1\n' >"$tree/src/b/y.h"
    printf '# words\nsrc/a 2\nsrc/b 1\n' >"$tree/docs/sizes.txt"
    found=$(check "$tree")
    printf '3\n' >>"$tree/src/a/x.c"
    found="$found|$(check "$tree")"
    printf '# words\nsrc/a 3\nsrc/c 1\n' >"$tree/docs/sizes.txt"
    found="$found|$(check "$tree")"
    rm -rf "$tree"
    [ "$found" = "|src/a has 3 lines, 1 more than docs/sizes.txt says: shorten it, or change its line there|\
docs/sizes.txt has no line for src/b, which has 1 lines
docs/sizes.txt has a line for src/c, which has no sources" ] || { echo "the check does not work: $found"; exit 1; }
}

try_out
if [ -n "$write" ]; then
    {
        echo "# Lines of each folder of sources. tests/check_sizes.sh fails where a folder has more than its line says;"
        echo "# tests/check_sizes.sh --write writes this file anew."
        sizes "$root"
    } >"$root/docs/sizes.txt.new" && mv "$root/docs/sizes.txt.new" "$root/docs/sizes.txt"
    exit
fi
found=$(check "$root")
[ -z "$found" ] || { echo "$found"; exit 1; }
