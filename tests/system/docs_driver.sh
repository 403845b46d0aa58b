#!/usr/bin/env bash
# docs_driver.sh - the module of docs/writing-a-store-driver.md is loaded, and refused as the
# page says; the cases that the page names are there.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/docs/writing-a-store-driver.md

echo "== the module"
awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$page" >"$work/mine.c"
"$cc" -std=c17 -Wall -Wextra -Werror -shared -fPIC -I "$source_dir/include" -o "$work/mine.so" "$work/mine.c" \
    >"$work/out" 2>"$work/err" || die "does not compile"
next=$(sed -n 's/^    \(open, .* may not be absent\)$/\1/p' "$page")
[ -n "$next" ] || die "the page does not show which functions are missing"
expect 2 "$next" pawl --load "$work/mine.so" stats --store mine:here

echo "== found by its scheme"
mkdir "$work/drivers"
cp "$work/mine.so" "$work/drivers/libpawl-mine.so"
PAWL_DRIVER_PATH=$work/drivers expect 2 "$next" pawl stats --store mine:here

echo "== the cases"
grep -ohE 'SUITE_CASES\("[a-z_ ]+"' "$source_dir"/src/conformance/*/*.c | cut -d '"' -f 2 >"$work/nouns"
grep -E '^Cases: |--case [a-z]+$' "$page" | grep -oE '`[a-z]+`|--case [a-z]+' | sed -E 's/`|--case //g' \
    >"$work/named"
[ "$(wc -l <"$work/named")" -ge 15 ] || die "no cases are named"
while read -r noun; do
    grep -qx "$noun" "$work/nouns" || die "there are no cases of '$noun'"
done <"$work/named"
