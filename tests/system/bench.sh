#!/usr/bin/env bash
# bench.sh - `pawl bench` with small numbers: what it prints, its exit codes, and
# that it leaves nothing behind. The figures of so short a run say nothing, so
# the only thing asked of them is that ratio, limit and exit code agree; when a
# limit is broken is tested in tests/unit/bench/test_bench_verdict.c.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

# member NAME: of the one JSON object in $work/out.
member()
{
    grep -oE "\"$1\":(\"[^\"]*\"|[^,}]+)" "$work/out" | cut -d: -f2-
}

is_number()
{
    [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] && [[ ! $1 =~ ^0(\.0+)?$ ]]
}

only_these_files()
{
    local found
    found=$(cd "$work" && echo *)
    [ "$found" = "$1" ] || die "files in the folder: $found, should be: $1"
}

# run_json CODES ARGUMENT ...: one line, one object; the exit code is one of CODES.
run_json()
{
    local codes=$1 code
    shift
    pawl bench "$@" --json >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [[ " $codes " == *" $code "* ]] || die "exit code $code instead of $codes: bench $*"
    [ "$(wc -l <"$work/out")" = 1 ] || die "not one line: bench $*"
    grep -qE '^\{.*\}$' "$work/out" || die "no object: bench $*"
    grep 'warning:' "$work/err" && die "a warning: bench $*"
    is_number "$(member messages_per_s)" || die "messages_per_s is $(member messages_per_s)"
    echo $code >"$work/code"
    check_keys bench
}

check_verdict()
{
    local ratio broken
    is_number "$(member limit_per_s)" || die "limit_per_s is $(member limit_per_s)"
    check_quotient ratio messages_per_s limit_per_s
    ratio=$(member ratio)
    broken=$(awk "BEGIN { print ($ratio > 1.0505 ? 1 : $ratio < 1.0495 ? 0 : \"either\") }")
    [ "$broken" = either ] || [ "$(cat "$work/code")" = "$broken" ] ||
        die "exit code $(cat "$work/code") with ratio $ratio"
    [ "$(cat "$work/code")" = 0 ] || grep -q "the limit is broken" "$work/err" ||
        die "nothing says that the limit is broken"
}

# check_numbers NAME ...: members that are numbers above 0.
check_numbers()
{
    local name
    for name; do
        is_number "$(member "$name")" || die "$name is $(member "$name"): $(cat "$work/out")"
    done
}

# check_quotient RATIO ABOVE BELOW: the one is the other two, divided, as far as
# the digits go.
check_quotient()
{
    check_numbers "$@"
    awk "BEGIN { r = $(member "$2") / $(member "$3"); d = r - $(member "$1")
        exit !(d < 0.001 + 0.01 * r && -d < 0.001 + 0.01 * r) }" ||
        die "$1 is $(member "$1"): $(cat "$work/out")"
}

# check_times PREFIX: six times of latency, each no shorter than the one before it; a handler begins
# before its commit ends.
check_times()
{
    local prefix=$1 kind percent
    for kind in handler commit; do
        for percent in 50 90 99; do
            check_numbers "$prefix${kind}_p${percent}_ms"
        done
        at_most "$prefix${kind}_p50_ms" "$prefix${kind}_p90_ms"
        at_most "$prefix${kind}_p90_ms" "$prefix${kind}_p99_ms"
    done
    at_most "${prefix}handler_p50_ms" "${prefix}commit_p50_ms"
    at_most "${prefix}handler_p99_ms" "${prefix}commit_p99_ms"
}

at_most()
{
    awk "BEGIN { exit !($(member "$1") <= $(member "$2")) }" || die "$1 is over $2: $(cat "$work/out")"
}

# run_others STORE: the workloads that no loop is measured beside. Their runs fail
# when a message was lost or handled twice.
run_others()
{
    local at=$1
    echo "== hot-saga, $at"
    run_json 0 hot-saga --store "$at" --messages 301 --senders 3 --sender-batch 7 --workers 2 \
        --batch 16 --rounds 2
    check_quotient ratio_to_saga_step messages_per_s saga_step_per_s
    check_numbers sent_per_s
    [[ $(member conflicts_per_1000) =~ ^[0-9.]+$ ]] || die "conflicts: $(cat "$work/out")"
    run_json 0 hot-saga --store "$at" --messages 2 --senders 5 --rounds 1

    echo "== processes, $at"
    if [[ $at == memory:* ]]; then
        expect 2 'another process cannot open a store in memory' pawl bench processes --store "$at" --messages 7
    else
        run_json 0 processes --store "$at" --messages 301 --processes 3 --batch 16 --rounds 1
        check_quotient ratio_to_alone messages_per_s alone_per_s
        [[ $(member conflicts_per_1000) =~ ^[0-9.]+$ ]] || die "conflicts: $(cat "$work/out")"
    fi

    echo "== history, $at"
    run_json 0 history --store "$at" --messages 300 --batch 32 --rounds 2
    check_quotient ratio_to_saga_step messages_per_s saga_step_per_s

    echo "== latency, $at"
    run_json "0 1" latency --store "$at" --seconds 2 --rate 100 --rounds 1
    [ "$(member messages)" = 200 ] || die "messages is $(member messages)"
    check_times ""

    echo "== steady, $at"
    run_json 0 steady --store "$at" --seconds 6 --rate 100 --snapshot 2 # not even a disk that hesitates fails it
    [ "$(member messages)" = 600 ] || die "messages is $(member messages)"
    check_quotient claims_ratio handled_last handled_first
    check_numbers claim_p99_first_ms claim_p99_last_ms claim_p99_ratio sent_per_s

    echo "== retention, $at"
    run_json 0 retention --store "$at" --messages 300 --marks 9001 --batch 32 --rounds 1
    check_quotient ratio_to_unswept messages_per_s unswept_per_s
    [[ $(member swept) =~ ^[0-9]+$ ]] || die "swept is $(member swept)"
    [ "$(member swept)" -le 9001 ] || die "swept is $(member swept)"

    echo "== lateness of timeouts, $at"
    run_json "0 1" timeouts --store "$at" --messages 300 --pending 4001 --due 299 --rate 1000 \
        --rounds 1
    [ "$(member due_per_s)" = 1000.0 ] || die "due_per_s is $(member due_per_s)"
    check_numbers p99_lateness_ms
    [ "$(member fired)" = 299 ] || die "fired is $(member fired)"
    [ "$(member fired_twice)" = 0 ] || die "fired_twice is $(member fired_twice)"
    run_json "0 1" timeouts --store "$at" --messages 300 --due 10 --seconds 1 --rounds 1
    [ "$(member due_per_s)" = 10.0 ] || die "due_per_s is $(member due_per_s)"
    run_json "0 1" timeouts --store "$at" --messages 300 --due 300 --rounds 1
    check_numbers due_per_s
}

for workload in saga-step no-op outbox-drain timeouts append; do
    echo "== $workload, memory"
    run_json 0 $workload --store memory:bench --messages 100 --batch 16 --rounds 2
    [ "$(member limit_per_s)" = null ] || die "a limit on memory: $(member limit_per_s)"
    [ "$(member ratio)" = null ] || die "a ratio on memory: $(member ratio)"
    [ -n "$(member no_limit)" ] || die "no reason for no limit"
done
expect 0 'no limit: ' pawl bench saga-step --store memory:bench --messages 7 --rounds 1
run_others memory:bench

echo "== refusals"
expect 2 "no store" pawl bench saga-step
expect 3 "nosuchscheme" pawl bench saga-step --store nosuchscheme:x
expect 2 "is not a URL of a store" pawl bench saga-step --store bench.db
expect 2 "is not a valid WORKLOAD" pawl bench saga-stop --store memory:bench
expect 2 "due are 11 timeouts, the limit is that of the messages, 10" \
    pawl bench timeouts --store memory:bench --messages 10 --due 11

need_sqlite
store=sqlite:$work/bench.db
for workload in saga-step no-op outbox-drain timeouts append; do
    echo "== $workload, SQLite"
    run_json "0 1" $workload --store "$store" --messages 500 --batch 64 --rounds 1
    for name in workload store messages batch rounds seed; do
        [ -n "$(member $name)" ] || die "no member $name"
    done
    [ "$(member workload)" = "\"$workload\"" ] || die "workload is $(member workload)"
    [ "$(member messages)" = 500 ] || die "messages is $(member messages)"
    check_verdict
    only_these_files "code err out"
done

run_others "$store"
echo "== latency beside the loop, and with a sender in another process"
run_json "0 1" latency --store "$store" --seconds 1 --rate 50 --rounds 2
check_verdict
check_times limit_
run_json "0 1" latency --store "$store" --seconds 1 --rate 50 --rounds 1 --apart
check_times ""
expect 2 "another process cannot send to a store in memory" \
    pawl bench latency --store memory:bench --seconds 1 --apart
only_these_files "code err out"

echo "== with rows before"
for workload in retention saga-step timeouts outbox-drain; do
    run_json 0 $workload --store "$store" --messages 100 --grown 4001 --rounds 2
    check_quotient ratio_to_empty messages_per_s empty_per_s
    [ "$(member limit_per_s)" = null ] || die "a limit beside an empty store: $(cat "$work/out")"
    only_these_files "code err out"
done
expect 2 "append has no option --grown" pawl bench append --store "$store" --grown 1
expect 2 "this one loses them with its last handle" pawl bench saga-step --store memory:bench --grown 1

echo "== odd numbers"
for arguments in "--messages 1 --batch 1 --rounds 1" "--messages 13 --batch 5 --rounds 2" \
    "--messages 6 --batch 4096 --rounds 1"; do
    for workload in saga-step no-op append; do
        # shellcheck disable=SC2086
        run_json "0 1" $workload --store "$store" $arguments
        check_verdict
    done
done

echo "== a table for people"
pawl bench timeouts --store "$store" --messages 100 --rounds 1 >"$work/out" 2>"$work/err"
for line in '^timeouts on .*: 100 messages, 256 a batch, 1 rounds, seed [0-9]+$' \
    '^  pawl +[0-9]+ /s$' '^  limit +[0-9]+ /s$' '^  ratio +[0-9.]+$'; do
    grep -qE "$line" "$work/out" || die "no line like '$line'"
done

pawl bench timeouts --store "$store" --messages 100 --due 50 --rounds 1 >"$work/out" 2>"$work/err"
grep -qE '^  p99_lateness_ms +[0-9.]+$' "$work/out" || die "no lateness in the table"

echo "== what is there stays"
echo mine >"$work/bench.db"
run_json "0 1" saga-step --store "$store" --messages 10 --rounds 1
[ "$(cat "$work/bench.db")" = mine ] || die "the file of the URL was touched"
for number in 0 1 2; do
    echo mine >"$work/bench.db-bench-$number"
    expect 2 "bench.db-bench-$number exists" pawl bench saga-step --store "$store" --messages 10
    [ "$(cat "$work/bench.db-bench-$number")" = mine ] || die "bench-$number was touched"
    rm "$work/bench.db-bench-$number"
done
expect 3 "$work/no/such" pawl bench saga-step --store "sqlite:$work/no/such/x.db" --messages 10

# interrupt ARGUMENT ...: says so, ends soon and leaves nothing.
interrupt()
{
    rm -f "$work"/*
    "$build_dir/pawl" bench "$@" --store "$store" >"$work/out" 2>"$work/err" </dev/null &
    started+=($!)
    poll 20 test -e "$work/$file" || die "the benchmark does not begin: $*"
    stop "${started[-1]}" INT 5
    grep -q "interrupted" "$work/err" || die "nothing says that it was interrupted: $*"
    only_these_files "err out"
}

echo "== interrupted"
file=bench.db-bench-0
interrupt saga-step --messages 20000000
interrupt retention --marks 20000000
interrupt timeouts --pending 20000000 --messages 100
interrupt timeouts --grown 20000000 --messages 100
file=bench.db-bench-1
interrupt hot-saga --messages 20000000
interrupt steady
interrupt latency --seconds 3600
interrupt latency --seconds 3600 --apart
interrupt timeouts --messages 100 --due 2 --seconds 3600 --rounds 1
interrupt append --messages 2000000
echo "ok"
