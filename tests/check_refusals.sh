#!/usr/bin/env bash
# check_refusals.sh - programs that the compiler must refuse, because a wrong
# type in them would otherwise be found by a crash.
#
# Each file of tests/must_not_compile begins with
#
#   /* must not compile: WHY | expected: REGEX */
#
# and fails to compile, without -Werror, with a message that REGEX matches
# (alternatives for the compilers with |). Compiled with -DPAWL_CONTROL the same
# file must pass, so that it is the one wrong line that is refused; a file that
# does not mention PAWL_CONTROL is compared with a control program that only
# includes the header.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
programs_min=10

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile()
{
    LC_ALL=C "$cc" -std=c17 -I "$here/../include" -fsyntax-only "$@" 2>"$work/messages"
}

# Prints what is wrong with one program, nothing when it is refused as it should.
complaint()
{
    local header regex
    header=$(head -n 1 "$1")
    if ! [[ $header =~ ^'/* must not compile: '.+' | expected: '(.+)' */'$ ]]; then
        echo "its first line is not '/* must not compile: WHY | expected: REGEX */'"
        return
    fi
    regex=${BASH_REMATCH[1]}
    if grep -q PAWL_CONTROL "$1" && ! compile -DPAWL_CONTROL "$1"; then
        echo "it does not compile with -DPAWL_CONTROL either: $(head -n 3 "$work/messages")"
    elif compile "$1"; then
        echo "it compiles"
    elif ! grep -qE -- "$regex" "$work/messages"; then
        echo "no message matches '$regex': $(cat "$work/messages")"
    fi
}

# The check can fail: a program that compiles, one refused for another reason,
# one whose control is wrong too.
first='/* must not compile: self-test | expected: incompatible|undeclared */'
self_test()
{
    printf '%s\n%s\n' "$first" "$2" >"$work/self.c"
    local found
    found=$(complaint "$work/self.c")
    if [ "${found:+refused}" != "$1" ]; then
        echo "self-test: '$2' gave '$found'"
        exit 1
    fi
}
self_test '' 'int x = unknown_name;'
self_test refused 'int x = 1;'
self_test refused 'int x = ;'
self_test refused 'int x = unknown_name; /* PAWL_CONTROL */'

if [ ! -e "$here/../include/pawl/pawl.h" ]; then
    echo "no include/pawl/pawl.h"
    exit 0
fi
echo '#include "pawl/pawl.h"' >"$work/control.c"
if ! compile "$work/control.c"; then
    echo "the control program does not compile: $(cat "$work/messages")"
    exit 1
fi

result=0
count=0
for program in "$here"/must_not_compile/*.c; do
    [ -e "$program" ] || continue
    count=$((count + 1))
    found=$(complaint "$program")
    if [ -n "$found" ]; then
        echo "$(basename "$program"): $found"
        result=1
    fi
done
if [ $count -lt $programs_min ]; then
    echo "tests/must_not_compile holds $count programs; there must be $programs_min"
    result=1
fi
echo "$count programs"
exit $result
