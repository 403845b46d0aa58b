#!/usr/bin/env bash
# docs_programs.sh - the pages of docs/ whose blocks of C are one program: it compiles and says
# what the page says that it prints.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

programs=0
for page in "$source_dir"/docs/*.md; do
    name=$(basename "$page" .md)
    awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$page" >"$work/$name.c"
    grep -q '^int main(void)' "$work/$name.c" || continue
    echo "== $name"
    programs=$((programs + 1))
    flags=()
    if grep -q '<sqlite3.h>' "$work/$name.c"; then
        need_sqlite
        pkg-config --exists sqlite3 || skip "no SQLite to compile $name.md with"
        read -ra flags <<<"$(pkg-config --cflags --libs sqlite3)"
    fi
    build_program "$work/$name.c" "$name" "${flags[@]}"
    "$work/$name" >"$work/out" 2>"$work/err" || die "exit code $?"
    [ ! -s "$work/err" ] || die "something on standard error"
    [ "$(wc -l <"$work/out")" = 1 ] || die "not one line"
    grep -qF "It prints \`$(cat "$work/out")\`." "$page" || die "the page says that it prints something else"
done
[ "$programs" -ge 2 ] || die "$programs pages have a program; sagas.md and processes.md do"
