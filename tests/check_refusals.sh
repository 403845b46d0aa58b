#!/usr/bin/env bash
# check_refusals.sh - the cases of tests/must_not_compile.c are refused by the compiler.
#
# A case is a line of its own,
#
#   /* WRONG_X: WHY | expected: REGEX */
#
# and with -DWRONG_X the file fails to compile, without -Werror, with a message that REGEX
# matches. Without a case the file must pass, so that it is the one wrong line that is
# refused. Each WRONG_X that the preprocessor is asked for has its line.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
cases_min=33

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile()
{
    LC_ALL=C "$cc" -std=c17 -I "$here/../include" -fsyntax-only "$@" 2>"$work/messages"
}

# complaint FILE CASE REGEX prints what is wrong with one case, nothing when it is refused as
# it should.
complaint()
{
    if compile "-D$2" "$1"; then
        echo "it compiles"
    elif ! grep -qE -- "$3" "$work/messages"; then
        echo "no message matches '$3': $(cat "$work/messages")"
    fi
}

# Sets `cases`, how many the file has; prints what is wrong and fails when something is.
check_file()
{
    local result=0 line found asked
    cases=0
    if ! compile -Wall -Wextra -Wno-unused-parameter -Werror "$1"; then
        echo "without a case it does not compile: $(head -n 3 "$work/messages")"
        return 1
    fi
    : >"$work/names"
    while IFS= read -r line; do
        if ! [[ $line =~ ^\ *'/* '(WRONG_[A-Z_]+)': '.+' | expected: '(.+)' */'$ ]]; then
            echo "'$line' is not '/* WRONG_X: WHY | expected: REGEX */'"
            result=1
            continue
        fi
        cases=$((cases + 1))
        echo "${BASH_REMATCH[1]}" >>"$work/names"
        found=$(complaint "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")
        if [ -n "$found" ]; then
            echo "${BASH_REMATCH[1]}: $found"
            result=1
        fi
    done < <(grep -E '^ */\* WRONG' "$1")
    while read -r asked; do
        grep -qx "$asked" "$work/names" && continue
        echo "$asked has no line that says what is expected"
        result=1
    done < <(grep -E '^ *#' "$1" | grep -oE 'WRONG_[A-Z_]+' | sort -u)
    return $result
}

# The check can fail: self_test WANTED WHAT, the file on standard input.
self_test()
{
    local answer=refused
    cat >"$work/self.c"
    check_file "$work/self.c" >"$work/said" && answer=passed
    if [ "$answer" != "$1" ]; then
        echo "self-test: $2 $answer, should be $1: $(cat "$work/said")"
        exit 1
    fi
}
# one CASE-LINE WRONG RIGHT: a file of one case
one()
{
    printf '%s\n#ifdef WRONG_X\n%s\n#else\n%s\n#endif\n' "$1" "$2" "$3"
}
first='/* WRONG_X: self-test | expected: incompatible|undeclared */'
right='int x = 1;'
one "$first" 'int x = unknown_name;' "$right" | self_test passed "a case that is refused"
one "$first" 'int x = 2;' "$right" | self_test refused "a case that compiles"
one "$first" 'int x = ;' "$right" | self_test refused "a case refused for another reason"
one "$first" 'int x = unknown_name;' 'int x = unknown_name;' |
    self_test refused "a file that does not compile without a case"
one "" 'int x = unknown_name;' "$right" | self_test refused "a case without its line"
one "${first/expected/wanted}" 'int x = unknown_name;' "$right" |
    self_test refused "a line without its expression"

check_file "$here/must_not_compile.c"
result=$?
if [ $cases -lt $cases_min ]; then
    echo "tests/must_not_compile.c holds $cases cases; there must be $cases_min"
    result=1
fi
echo "$cases cases"
exit $result
