# replay.sh - what the tests of pawl-replay share. Sourced.
#
#   replay          the program
#   refuse          runs it, checks exit code and last line of standard error
#   verify          runs it with --json, checks the report and that nothing else
#                   is on standard output
#   shared          where a log of the shared data is, empty when it is not there
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

[ -x "$build_dir/pawl-replay" ] || skip "pawl-replay was not built (it needs expat and zlib)"
# shellcheck disable=SC2034
example=$source_dir/examples/replay/example.csv
export TMPDIR=$work # where the program makes its folders

replay()
{
    "$build_dir/pawl-replay" "$@"
}

# refuse CODE REGEX ARGUMENT ...
refuse()
{
    local wanted=$1 regex=$2 found line
    shift 2
    replay "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = "$wanted" ] || die "exit code $found instead of $wanted: $*"
    [ ! -s "$work/out" ] || die "something on standard output: $*"
    line=$(tail -n 1 "$work/err")
    if [[ $line != "pawl-replay: "* ]] || ! grep -qE -- "$regex" <<<"$line"; then
        die "the last line is not 'pawl-replay: ... $regex': $*"
    fi
    no_folder_left
}

no_folder_left()
{
    local left
    left=$(find "$work" -maxdepth 1 -name 'pawl-replay-*')
    [ -z "$left" ] || die "a work folder was left: $left"
}

# verify EVENTS CASES CLOSINGS GROUPS BATCHES KILLS ARGUMENT ...
verify()
{
    local counts="\"events\":$1,\"cases\":$2,\"closings\":$3,\"groups\":$4,\"batches\":$5,\"archived\":$3"
    local end="\"verified\":true,\"kills\":$6" found
    shift 6
    replay --json "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = 0 ] || die "exit code $found: $*"
    [ "$(wc -l <"$work/out")" = 1 ] || die "more than one line on standard output: $*"
    grep -qE "^\{$counts,\"messages\":[0-9]+,\"messages_per_s\":[0-9]+,$end\}\$" "$work/out" ||
        die "another report than $counts ... $end: $*"
}

# A clone without the shared data is a good clone: PAWL_REQUIRE does not ask for
# data that it cannot install. What ran before this passed.
without_shared()
{
    echo "skipped from here: $*"
    exit 77
}

shared()
{
    local path=${PAWL_SHARED:-$source_dir/../shared}/data/$1
    [ ! -r "$path" ] || echo "$path"
}
