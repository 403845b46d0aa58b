# deaths.sh - handlers that take their process with them: messages of which some kill whoever runs
# them, four workers in two processes that are started again. Sourced after command.sh; a test sets
#
#   PAWL_STORE    the store
#   messages      how many; every `apart`-th kills
#   seconds       for all of it on an idle machine
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

ulimit -c 0
build_app app_deaths.c deaths.so
deadly=$((messages / apart))

# Messages of which the middle one of each `apart` kills, by SIGABRT and SIGSEGV in turns.
bites()
{
    local n
    for ((n = 0; n < messages; n++)); do
        [ $((n % apart)) = $((apart / 2)) ] && kills=$((1 + n / apart % 2)) || kills=0
        echo "{\"n\":$n,\"kills\":$kills}"
    done | "$build_dir/pawl" send --to left --type bite --lines >"$work/out" 2>"$work/err" ||
        die "sending"
}

# run_again NAME: a process is started again until the file `stop` is there.
run_again()
{
    while [ ! -e "$work/stop" ]; do
        "$build_dir/pawl" run "$work/deaths.so" --workers 2 </dev/null 2>>"$work/$1.log"
        echo $? >>"$work/ends"
        sleep 0.2
    done
}

is_over()
{
    has_ready left 0 && has dead "$deadly" && has_ready finished $((messages - deadly))
}

bites
run_again one &
one=$!
run_again two &
two=$!
begin=$(date +%s)
poll "$seconds" is_over || { touch "$work/stop"; pkill -KILL -P "$one"; pkill -KILL -P "$two"
    tail -n 3 "$work/one.log" "$work/two.log" | cut -c1-300
    die "left: $(queue_ready left), finished: $(queue_ready finished), dead: $(number dead), not 0, $((messages - deadly)), $deadly"; }
touch "$work/stop"
pkill -TERM -P "$one"
pkill -TERM -P "$two"
wait "$one" "$two"
echo "$messages messages, $deadly of which kill: over after $(($(date +%s) - begin)) s and $(grep -cE '^(134|139)$' "$work/ends") deaths"

echo "== each letter names its deaths, and only deadly messages are letters"
expect 0 '' pawl dead list --code EDIED --json
lines "$deadly"
[ "$(grep -c '"deaths":3,' "$work/out")" = "$deadly" ] || die "letters without three deaths"
letter=$(grep -oE '"message_id":"[^"]*"' "$work/out" | head -n 1 | cut -d'"' -f4)
expect 0 'died while it ran this message alone' pawl dead show "$letter" --json
grep -qhE "endpoint left: message $letter of type bite: process [0-9]+ died while it ran" \
    "$work/one.log" "$work/two.log" || die "no log names the message in hand"

echo "== the others were handled once"
has messages "$messages" || die "messages handled: $(number messages), not $messages"
