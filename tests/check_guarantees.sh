#!/usr/bin/env bash
# check_guarantees.sh - every item of docs/GUARANTEES.md has a test or waits for
# something named, and every test that is named, or names an item, is there.
# `tests/guarantees.py --write` lists the tests anew.
#
# SPDX-License-Identifier: Apache-2.0
set -u
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed; the guarantees are not checked"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
fi
exec python3 "$(dirname "$0")/guarantees.py"
