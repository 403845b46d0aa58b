#!/usr/bin/env bash
# command_two_processes.sh - two processes on one SQLite file: one works a
# queue, the other waits; when the first one stops or is killed the second goes
# on, and every message is handled once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_pair.c pair.so
export PAWL_STORE=sqlite:$work/two.db

# pings FIRST LAST
pings()
{
    local n
    for n in $(seq "$1" "$2"); do
        echo "{\"n\":$n}"
    done | "$build_dir/pawl" send --to left --type ping --lines >"$work/out" 2>"$work/err" ||
        die "sending $1 to $2"
}

start first "$work/pair.so"
first=$pid
pings 1 100
poll 20 has_ready finished 100 || die "finished: $(queue_ready finished), not 100"
start second "$work/pair.so"
second=$pid
poll 10 grep -q "endpoint 'left': process $first works its queue" "$work/second.log" ||
    die "the second one does not say which process has the queue"

echo "== both are there, nothing is handled twice"
pings 101 300
poll 30 has_ready finished 300 || die "finished: $(queue_ready finished), not 300"
has dead 0 || die "dead letters: $(number dead)"

echo "== the first one stops, the second goes on"
stop "$first" TERM 0
pings 301 400
poll 30 has_ready finished 400 || die "finished: $(queue_ready finished), not 400"
grep -q "endpoint 'left': this process works its queue now" "$work/second.log" ||
    die "the second one does not say that it took over"

echo "== the second one is killed, a third goes on"
start third "$work/pair.so"
third=$pid
kill -KILL "$second"
wait "$second" 2>/dev/null
pings 401 500
poll 40 has_ready finished 500 || die "finished: $(queue_ready finished), not 500"
has dead 0 || die "dead letters: $(number dead)"
stop "$third" TERM 0

echo "== every number came once"
build_sql
"$work/sql" "$work/two.db" "SELECT count(DISTINCT body) FROM pawl_queue WHERE queue = 'finished'" \
    >"$work/out" 2>"$work/err" || die "the queue cannot be read"
[ "$(cat "$work/out")" = 500 ] || die "distinct messages: $(cat "$work/out"), not 500"
