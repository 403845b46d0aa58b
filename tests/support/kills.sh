# kills.sh - processes that are killed from outside, by an operator or for want of memory, cost little: a backlog
# is handled by three processes, once untouched, once while twelve of them are killed. Sourced after
# command.sh; a test sets
#
#   PAWL_STORE    the store
#   messages      how many
#   us            microseconds that each of them takes, so that the backlog outlasts the kills
#   pause         seconds between two kills
#   more          seconds that the kills may cost on an idle machine; unset: any time, as in the tests of every day
#   how           options of `pawl run`
#   is_ordered    the endpoint is ordered, and all messages have one key: their order is looked at; else unset
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

[ -e "$work/deaths.so" ] || build_app app_deaths.c deaths.so
kills=12

now_ms()
{
    date +%s%3N
}

fill()
{
    seq "$messages" | sed "s/.*/{\"n\":&,\"kills\":0,\"us\":$us}/" |
        "$build_dir/pawl" send --to left --type bite --lines >"$work/out" 2>"$work/err" || die "sending"
}

run_one() # INDEX
{
    "$build_dir/pawl" run "$work/deaths.so" "${how[@]}" </dev/null 2>>"$work/run.log" &
    pids[$1]=$!
    started+=($!)
}

# Kills the processes in turns, each of which is started again at once. Sets killed_at: the time of the last kill.
kill_some()
{
    local i at
    for ((i = 0; i < kills; i++)); do
        sleep "$pause"
        at=$((i % 3))
        kill -KILL "${pids[$at]}" 2>/dev/null || die "process $at ended by itself"
        killed_at=$(now_ms)
        wait "${pids[$at]}" 2>/dev/null
        run_one "$at"
    done
}

# Writes the time at which all is finished to a file of its own, while others kill.
watch_end() # FINISHED BEGIN
{
    until [ "$(queue_ready finished)" = "$1" ] && has_ready left 0; do
        [ $(($(now_ms) - $2)) -lt 300000 ] || return
        sleep 0.05
    done
    now_ms >"$work/over"
}

# Sets took: the milliseconds until all is finished.
run_all() # WITH-KILLS FINISHED
{
    local begin i watcher
    begin=$(now_ms)
    rm -f "$work/over"
    pids=()
    for i in 0 1 2; do run_one "$i"; done
    watch_end "$2" "$begin" &
    watcher=$!
    [ "$1" = 0 ] || kill_some
    wait "$watcher"
    [ -s "$work/over" ] || die "left: $(queue_ready left), finished: $(queue_ready finished)"
    took=$(($(cat "$work/over") - begin)) last=$((${killed_at:-$begin} - begin))
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null
}

fill
run_all 0 "$messages"
clean=$took
fill
run_all 1 $((2 * messages))
echo "${PAWL_STORE%%:*}, $messages messages ${how[*]}: $clean ms; with $kills kills, the last after $last ms: $took ms"
[ "$last" -lt "$took" ] || die "the last kill came after $last ms, when all was done after $took ms: it met no backlog"
has messages $((2 * messages)) || die "messages handled: $(number messages), not $((2 * messages))"
has dead 0 || die "$(number dead) dead letters of messages that kill nobody"
if [ -n "${is_ordered:-}" ]; then
    pawl queue peek finished --reveal --json | python3 -c '
import json, sys
rows = sorted((row["seq"], row["body"]) for row in map(json.loads, sys.stdin))
for _, body in rows:
    print((body if isinstance(body, dict) else json.loads(body))["n"])' >"$work/order"
    { seq "$messages"; seq "$messages"; } | cmp - "$work/order" >"$work/err" 2>&1 || die "messages of one key in another order"
fi
limit=$((${more:-0} * 1000 * ${PAWL_TEST_SLOWER:-1}))
[ "$limit" = 0 ] || [ $((took - clean)) -le "$limit" ] || die "the kills cost $((took - clean)) ms, more than $limit"
