#!/usr/bin/env bash
# docs_processes.sh - the program of docs/processes.md, all its blocks of C, compiles
# and says what the page says.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/docs/processes.md

awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$page" >"$work/shop.c"
[ "$(grep -c '^static const pawl_\(entity\|process\|projection\|application\) ' "$work/shop.c")" = 4 ] ||
    die "not the blocks of the page"
build_program "$work/shop.c" shop
"$work/shop" >"$work/out" 2>"$work/err" || die "exit code $?"
[ ! -s "$work/err" ] || die "something on standard error"
[ "$(wc -l <"$work/out")" = 1 ] || die "not one line"
grep -qF "It prints \`$(cat "$work/out")\`." "$page" || die "the page says that it prints something else"
