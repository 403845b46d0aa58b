# command.sh - what the tests of the command share. Sourced.
#
#   work          a folder of this test's own, removed at its end
#   pawl          the command
#   expect        runs something and checks exit code and last line of stderr
#   poll          waits, bounded, until a command succeeds
#   start, stop   a `pawl run` in the background
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

set -u
source_dir=${PAWL_SOURCE_DIR:?} build_dir=${PAWL_BUILD_DIR:?} cc=${CC:-cc}
work=$(mktemp -d)
started=()
unset PAWL_STORE

finish()
{
    local pid
    for pid in "${started[@]}"; do
        kill -KILL "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap finish EXIT

die()
{
    echo "FAILED: $*"
    for file in out err; do
        [ -s "$work/$file" ] && sed "s/^/  $file: /" "$work/$file"
    done
    exit 1
}

pawl()
{
    "$build_dir/pawl" "$@"
}

# A test that cannot run here says why; PAWL_REQUIRE=all wants it to run.
skip()
{
    echo "skipped: $*"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
}

# expect CODE REGEX COMMAND ...: the exit code, and the last line of standard
# error, which begins "pawl: " on a failure. With code 0, REGEX is for stdout.
expect()
{
    local wanted=$1 regex=$2 found line
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = "$wanted" ] || die "exit code $found instead of $wanted: $*"
    line=$(tail -n 1 "$work/err")
    if [ "$wanted" = 0 ]; then
        [ -z "$regex" ] || grep -qE -- "$regex" "$work/out" || die "no output like '$regex': $*"
    elif [[ $line != "pawl: "* ]] || ! grep -qE -- "$regex" <<<"$line"; then
        die "the last line is not 'pawl: ... $regex': $*"
    fi
}

# poll SECONDS COMMAND ...: until it succeeds.
poll()
{
    local tries=$(($1 * 20))
    shift
    while ! "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.05
    done
}

# number KEY [OPTION ...]: one number of `pawl stats --json`.
number()
{
    local key=$1
    shift
    pawl stats --json "$@" 2>/dev/null | grep -oE "\"$key\":-?[0-9]+" | head -n 1 | cut -d: -f2
}

# has KEY VALUE [OPTION ...]
has()
{
    local key=$1 value=$2
    shift 2
    [ "$(number "$key" "$@")" = "$value" ]
}

# queue_ready QUEUE [OPTION ...]: its messages that are due; 0 when it is unknown.
queue_ready()
{
    local queue=$1 found
    shift
    found=$(pawl stats --json "$@" 2>/dev/null |
        grep -oE "\"queue\":\"$queue\",\"ready\":[0-9]+" | grep -oE '[0-9]+$')
    echo "${found:-0}"
}

has_ready()
{
    local queue=$1 value=$2
    shift 2
    [ "$(queue_ready "$queue" "$@")" = "$value" ]
}

# start NAME APP OPTION ...: `pawl run`, its log in $work/NAME.log, its process
# id in $pid. Returns when all its endpoints run.
start()
{
    local name=$1
    shift
    : >"$work/$name.log"
    "$build_dir/pawl" run "$@" 2>"$work/$name.log" </dev/null &
    pid=$!
    started+=("$pid")
    poll 20 grep -q "is running" "$work/$name.log" ||
        { cp "$work/$name.log" "$work/err"; die "$name does not start"; }
}

# stop PID SIGNAL CODE: sends the signal, waits, checks the exit code.
is_gone()
{
    ! kill -0 "$1" 2>/dev/null
}
stop()
{
    local found
    kill "-$2" "$1"
    poll 30 is_gone "$1" || die "process $1 does not stop on SIG$2"
    wait "$1"
    found=$?
    [ $found = "$3" ] || die "exit code $found instead of $3 after SIG$2"
}

# build_app SOURCE NAME [FLAG ...]: a shared object from tests/system.
build_app()
{
    local source=$1 name=$2
    shift 2
    "$cc" -std=c17 -D_GNU_SOURCE -Wall -Wextra -shared -fPIC "$@" -I "$source_dir/include" \
        -o "$work/$name" "$source_dir/tests/system/$source" -L "$build_dir" -lpawl ||
        die "$source does not compile"
}

# build_sql: the tool `sql`, see sql_tool.c. Needs the SQLite headers.
build_sql()
{
    local -a flags
    pkg-config --exists sqlite3 2>/dev/null || skip "no sqlite3 to damage a database with"
    read -ra flags <<<"$(pkg-config --cflags --libs sqlite3)"
    "$cc" -std=c17 -D_GNU_SOURCE -Wall -Wextra -o "$work/sql" \
        "$source_dir/tests/system/sql_tool.c" "${flags[@]}" || die "sql_tool.c does not compile"
}

need_sqlite()
{
    [ -e "$build_dir/libpawl-sqlite.so" ] || skip "the SQLite driver was not built"
}

need_server() # NAME
{
    local variable=PAWL_TEST_${1^^}
    [ -z "${!variable:-}" ] || return 0
    case " ${PAWL_MISSING_SERVERS:-} " in
    *" $1 "*) echo "skipped: no $1 here"; exit 77 ;;
    esac
    skip "$variable names no server"
}
