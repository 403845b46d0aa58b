#!/usr/bin/env bash
# check_format.sh - every C file is as clang-format 14 would write it.
# scripts/format.sh repairs what this finds.
#
# SPDX-License-Identifier: Apache-2.0
set -u
root=$(dirname "$0")/..

# The check can fail: badly written code is refused by the same settings.
formatter=$(command -v clang-format-14 || command -v clang-format)
if [ -n "$formatter" ] && "$formatter" --version | grep -q 'version 14\.'; then
    if echo 'int  f( ){return 1;}' |
        "$formatter" --style="file:$root/.clang-format" --dry-run -Werror 2>/dev/null; then
        echo "self-test: badly written code passed"
        exit 1
    fi
fi

"$root/scripts/format.sh" --check
result=$?
if [ $result = 77 ] && [ "${PAWL_REQUIRE:-}" = all ]; then
    exit 1
fi
exit $result
