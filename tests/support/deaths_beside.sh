# deaths_beside.sh - timeouts and a flush that take their process with them, in two processes that
# `pawl run --restart` starts again. Sourced after command.sh; a test sets
#
#   PAWL_STORE    the store, whose shared tables are there
#   sagas         how many; every `apart`-th has a timeout that kills
#   seconds       for all of it on an idle machine
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

ulimit -c 0
# A sanitizer makes an exit code of a signal otherwise.
for options in ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS; do
    export "$options=${!options:+${!options}:}handle_segv=0"
done
build_app app_deaths_beside.c deaths.so
deadly=$((sagas / apart))
export PAWL_TEST_RED=$work/red
expect 0 '' pawl schema apply --app "$work/deaths.so"

parks()
{
    local n
    for ((n = 1; n <= sagas; n++)); do
        echo "{\"n\":$n,\"kills\":$((n % apart == apart / 2))}"
    done | "$build_dir/pawl" send --to left --type park --lines >"$work/out" 2>"$work/err" ||
        die "sending"
}

# Three of each colour.
crates()
{
    local n colour
    for colour in blue green red yellow; do
        for n in 1 2 3; do echo "{\"n\":$n,\"colour\":\"$colour\"}"; done
    done | "$build_dir/pawl" send --to left --type crate --lines >"$work/out" 2>"$work/err" ||
        die "sending"
}

run_again() # NAME
{
    "$build_dir/pawl" run "$work/deaths.so" --restart --workers 2 --batch 8 \
        </dev/null 2>"$work/$1.log" &
    started+=($!)
}

is_over()
{
    has dead "$deadly" && has_ready finished $((sagas - deadly)) && has_ready packed 3 &&
        has flushes_dead 1
}

said() # TEXT: how many lines of both logs have it
{
    cat "$work/one.log" "$work/two.log" | grep -cE "$1"
}

touch "$PAWL_TEST_RED"
parks
crates
run_again one
run_again two
begin=$(date +%s)
poll "$seconds" is_over || {
    tail -n 5 "$work/one.log" "$work/two.log" | cut -c1-300
    die "dead: $(number dead), finished: $(queue_ready finished), packed: $(queue_ready packed), partitions dead: $(number flushes_dead), not $deadly, $((sagas - deadly)), 3, 1"; }
echo "over after $(($(date +%s) - begin)) s and $(said 'was killed by signal .*; it is started again') deaths"

echo "== each letter of a timeout names its deaths"
expect 0 '' pawl dead list --code ECRASHED --json
lines "$deadly"
[ "$(grep -c '"crashes":3,' "$work/out")" = "$deadly" ] || die "letters without three deaths"
grep -oE '"message_id":"[^"]*"' "$work/out" | cut -d'"' -f4 >"$work/letters"
while read -r letter; do
    expect 0 '' pawl dead show "$letter" --reveal --json
    [ "$(grep -oF "was killed by signal 6 (SIGABRT) while it ran this timeout in isolation (worker " \
        "$work/out" | wc -l)" = 3 ] || die "the history of letter $letter does not have three deaths"
    [ "$(said "endpoint left: timeout $letter of type late: process [0-9]+ was killed by signal 6")" = 3 ] ||
        die "no log names the timeout in flight and the signal: $letter"
done <"$work/letters"

echo "== the partition is dead, with the signal and the worker"
expect 0 '"state":"dead"' pawl aggregator show crates/red --json
for part in 'its process crashed 3 times while it ran in isolation, limit 3; process ' \
    'was killed by signal 6 (SIGABRT) while it ran this flush in isolation (worker '; do
    grep -qF "$part" "$work/out" || die "the partition's error does not have '$part'"
done
[ "$(said 'endpoint left: flush crates/red: process [0-9]+ was killed by signal 6 .* in isolation .*; crash [123] of it')" = 3 ] ||
    die "no log names the flush in flight and the signal"
expect 0 '' pawl events list --stream pawl.alone/crates/red --json
grep -q pawl.flush_alone "$work/out" || die "no stamps of the flush"

echo "== released, it runs again"
rm "$PAWL_TEST_RED"
expect 0 '' pawl aggregator run-now crates/red --reason mended
is_packed()
{
    has_ready packed 4 && has flushes_dead 0
}
poll 40 is_packed || die "the released partition is not handed over"

kill -TERM "${started[@]}"
for pid in "${started[@]}"; do
    wait "$pid" || die "exit code $? of the parent of a process that stopped in order"
done

echo "== all others were handled once"
has_ready finished $((sagas - deadly)) || die "sagas finished: $(queue_ready finished)"
has_ready packed 4 || die "vans: $(queue_ready packed)"
has dead "$deadly" || die "letters: $(number dead)"
