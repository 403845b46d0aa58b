# kills.sh - processes that are killed from outside, by an operator or for want of memory, cost little: a backlog
# is handled by three processes while twelve of them are killed. Sourced after command.sh; a test sets
#
#   PAWL_STORE    the store
#   messages      how many
#   us            microseconds that each of them takes, so that the backlog outlasts the kills
#   pause         seconds between two kills
#   more          seconds that the kills may cost on an idle machine, against a backlog of which none is killed; unset:
#                 any time, as in the tests of every day
#   how           options of `pawl run`
#   is_ordered    the endpoint is ordered, and all messages have one key: their order is looked at; else unset
#   is_hot        the messages are for twelve sagas that all feed one more, each of which counts them; else unset
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

app=deaths queue=left type=bite more_of='"kills":0' each=1 counter=messages # `each`: messages handled for one that is sent
# What a killed worker's commit refused last is never taken off its count of messages.
[ -z "${is_hot:-}" ] || app=hot queue=table type=crumb more_of='"eater":"e-%d"' each=2 counter=inbox
[ -e "$work/$app.so" ] || build_app "app_$app.c" "$app.so"
expect 0 "" pawl schema apply --app "$work/$app.so"
kills=12

now_ms()
{
    date +%s%3N
}

fill()
{
    seq "$messages" | awk -v form="{\"n\":%d,\"us\":$us,$more_of}" '{ print sprintf(form, $1, $1 % 12) }' |
        "$build_dir/pawl" send --to "$queue" --type "$type" --lines >"$work/out" 2>"$work/err" || die "sending"
    sent=$((sent + messages))
}

run_one() # INDEX
{
    "$build_dir/pawl" run "$work/$app.so" "${how[@]}" </dev/null 2>>"$work/run.log" &
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
    until [ "$(queue_ready finished)" = "$1" ] && has_ready "$queue" 0; do
        [ $(($(now_ms) - $2)) -lt 300000 ] || return
        sleep 0.1
    done
    now_ms >"$work/over"
}

# Sets took: the milliseconds until all is finished.
run_all() # WITH-KILLS
{
    local begin i watcher
    begin=$(now_ms)
    rm -f "$work/over"
    pids=()
    for i in 0 1 2; do run_one "$i"; done
    watch_end "$sent" "$begin" &
    watcher=$!
    [ "$1" = 0 ] || kill_some
    wait "$watcher"
    [ -s "$work/over" ] || die "left: $(queue_ready "$queue"), finished: $(queue_ready finished)"
    took=$(($(cat "$work/over") - begin)) last=$((${killed_at:-$begin} - begin))
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null
}

sent=0 clean=0
if [ -n "${more:-}" ]; then
    fill
    run_all 0
    clean=$took
fi
fill
run_all 1
echo "${PAWL_STORE%%:*}, $messages messages ${how[*]}: ${more:+$clean ms; }with $kills kills, the last after $last ms: $took ms"
[ "$last" -lt "$took" ] || die "the last kill came after $last ms, when all was done after $took ms: it met no backlog"
has $counter $((each * sent)) || die "messages handled: $(number $counter), not $((each * sent))"
has dead 0 || die "$(number dead) dead letters of messages that kill nobody"
if [ -n "${is_ordered:-}" ]; then
    pawl queue peek finished --reveal --json | python3 -c '
import json, sys
rows = sorted((row["seq"], row["body"]) for row in map(json.loads, sys.stdin))
for _, body in rows:
    print((body if isinstance(body, dict) else json.loads(body))["n"])' >"$work/order"
    { [ -z "${more:-}" ] || seq "$messages"; seq "$messages"; } | cmp - "$work/order" >"$work/err" 2>&1 || die "messages of one key in another order"
fi
if [ -n "${is_hot:-}" ]; then
    expect 0 "\"crumbs\":$sent[,}]" pawl saga show Eater/all --app "$work/hot.so" --reveal --json
    for ((i = 0; i < 12; i++)); do
        pawl saga show "Eater/e-$i" --app "$work/hot.so" --reveal --json
    done | sed -nE 's/.*"crumbs":([0-9]+).*/\1/p' | awk '{ sum += $1 } END { print sum }' >"$work/crumbs"
    [ "$(cat "$work/crumbs")" = $sent ] || die "the sagas counted $(cat "$work/crumbs"), not $sent"
fi
limit=$((${more:-0} * 1000 * ${PAWL_TEST_SLOWER:-1}))
[ "$limit" = 0 ] || [ $((took - clean)) -le "$limit" ] || die "the kills cost $((took - clean)) ms, more than $limit"
