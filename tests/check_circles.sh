#!/usr/bin/env bash
# check_circles.sh - no circles of files that call each other in a layer, but those that the
# head of a file explains (check_circles.py).
#
# SPDX-License-Identifier: Apache-2.0
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed; circles of files are not looked for"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
fi
exec python3 "$top/tests/check_circles.py" "$top"
