#!/usr/bin/env bash
# format.sh [--check] - formats every C file of the project, or with --check
# only says which are not formatted. Needs clang-format 14: other versions
# disagree about details. Exit code 77: clang-format 14 is not there.
#
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 2

formatter=''
for candidate in clang-format-14 clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "clang-format 14 is not installed; the format is not checked"
    exit 77
fi

mapfile -d '' -t files < <(find src include tests bench examples -name node_modules -prune -o -name '*.[ch]' -print0 | sort -z)
if [ "${1:-}" != --check ]; then
    exec "$formatter" -i "${files[@]}"
fi

"$formatter" --dry-run -Werror "${files[@]}" 2>&1 | sed -n 's/^\(.*\):[0-9]*:[0-9]*: error:.*/\1/p' | sort -u |
    sed 's/$/: not formatted; run scripts\/format.sh/'
exit "${PIPESTATUS[0]}"
