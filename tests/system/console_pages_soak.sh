#!/usr/bin/env bash
# console_pages_soak.sh - no page of the console violates a rule of accessibility that axe-core checks, in light and dark; and
# with PAWL_TEST_WRITE_PICTURES=docs/console the pictures of docs/console.md are taken anew.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/console.sh"
need_browser
command -v npm >/dev/null || skip "npm is not installed"
(cd "$work" && npm pack axe-core@4 >"$work/npm" 2>&1 && tar -xzf axe-core-*.tgz package/axe.min.js) || skip "npm has no axe-core: $(tail -n 1 "$work/npm")"

cd "$work" || exit 1
export PAWL_STORE=sqlite:orders.db # as the pictures have it
example
fill letters 30
fill timeouts 3
fill outbox
expect 0 '' pawl bulk start --reason "the bank is back" -- dead retry --all --type charge --rate 5
start orders "$build_dir/orders.so" --history 1d
running=$pid
console --app "$build_dir/orders.so" --write
[ -z "${PAWL_TEST_WRITE_PICTURES:-}" ] || story pictures "$source_dir/$PAWL_TEST_WRITE_PICTURES"
story axe "$work/package/axe.min.js"
stop "$pid" TERM 0
stop "$running" TERM 0
