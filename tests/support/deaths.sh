# deaths.sh - handlers that take their process with them: messages of which some kill whoever runs
# them, four workers in two processes that `pawl run --restart` starts again. Sourced after command.sh; a test sets
#
#   PAWL_STORE    the store
#   messages      how many; every `apart`-th kills
#   seconds       for all of it on an idle machine
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

ulimit -c 0
# A sanitizer makes an exit code of a signal otherwise.
for options in ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS; do
    export "$options=${!options:+${!options}:}handle_segv=0"
done
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

run_again() # NAME
{
    "$build_dir/pawl" run "$work/deaths.so" --restart --workers 2 </dev/null 2>"$work/$1.log" &
    started+=($!)
}

is_over()
{
    has_ready left 0 && has dead "$deadly" && has_ready finished $((messages - deadly))
}

bites
run_again one
run_again two
begin=$(date +%s)
poll "$seconds" is_over || {
    tail -n 3 "$work/one.log" "$work/two.log" | cut -c1-300
    die "left: $(queue_ready left), finished: $(queue_ready finished), dead: $(number dead), not 0, $((messages - deadly)), $deadly"; }
kill -TERM "${started[@]}"
for pid in "${started[@]}"; do
    wait "$pid" || die "exit code $? of the parent of a process that stopped in order"
done
deaths=$(cat "$work/one.log" "$work/two.log" | grep -cE 'process [0-9]+ was killed by signal (6|11) .*; it is started again in [0-9.]+ s')
echo "$messages messages, $deadly of which kill: over after $(($(date +%s) - begin)) s and $deaths deaths"
[ "$deaths" -ge $((3 * deadly)) ] || die "$deaths deaths said, of $deadly messages"

echo "== each letter names its deaths, and only deadly messages are letters"
expect 0 '' pawl dead list --code ECRASHED --json
lines "$deadly"
[ "$(grep -c '"crashes":3,' "$work/out")" = "$deadly" ] || die "letters without three deaths"
pawl dead list --code ECRASHED --json | grep -oE '"message_id":"[^"]*"' | cut -d'"' -f4 >"$work/letters"
while read -r letter; do
    expect 0 'kills[^0-9]*[12]' pawl dead show "$letter" --reveal --json
    grep -qE 'kills[^0-9]*1' "$work/out" && signal='signal 6 (SIGABRT)' || signal='signal 11 (SIGSEGV)'
    [ "$(grep -oF "was killed by $signal while it ran this message in isolation (worker " "$work/out" | wc -l)" = 3 ] ||
        die "the history of letter $letter does not have $signal three times"
    [ "$(grep -hE "endpoint left: message $letter of type bite: process [0-9]+ was killed by signal" \
        "$work/one.log" "$work/two.log" | grep -cF "by $signal while it ran")" = 3 ] ||
        die "no log names the message in hand and the signal: $letter"
done <"$work/letters"
[ "$(wc -l <"$work/letters")" = "$deadly" ] || die "not $deadly letters looked at"

echo "== the others were handled once"
has messages "$messages" || die "messages handled: $(number messages), not $messages"
