# transfer.sh - what the tests of the example `transfer` share. Sourced.
#
#   transfer    the program
#   moves       runs it with --json and checks the report: verified, nothing else said
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

transfer()
{
    "$build_dir/transfer" "$@"
}

# count KEY: a number of the report in $work/out.
count()
{
    grep -oE "\"$1\":[0-9]+" "$work/out" | cut -d: -f2
}

# moves TRANSFERS KILLS ARGUMENT ...
moves()
{
    local transfers=$1 kills=$2 seed=${PAWL_TEST_SEED:-$((RANDOM * 32768 + RANDOM + 1))} found
    local -a crash=()
    shift 2
    [ "$kills" = 0 ] || crash=(--crash "$kills")
    echo "PAWL_TEST_SEED=$seed: $transfers transfers, $kills kills: $*"
    transfer --json --seed "$seed" --transfers "$transfers" "${crash[@]}" "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = 0 ] || die "exit code $found: $*"
    grep -qE "^\{\"transfers\":$transfers,.*\"kills\":$kills,\"verified\":true\}\$" "$work/out" ||
        die "another report than $transfers transfers, $kills kills"
    [ "$(wc -l <"$work/out")" = 1 ] || die "more than one line on standard output"
    [ $(($(count "done") + $(count failed) + $(count refunded))) = "$transfers" ] ||
        die "the outcomes are not $transfers"
    cat "$work/out"
}
