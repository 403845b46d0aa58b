#!/usr/bin/env bash
# bench.sh - `pawl bench` with small numbers: what it prints, its exit codes, and
# that it leaves nothing behind. The figures of so short a run say nothing, so
# the only thing asked of them is that ratio, limit and exit code agree; when a
# limit is broken is tested in tests/unit/test_bench_verdict.c.
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
    is_number "$(member messages_per_s)" || die "messages_per_s is $(member messages_per_s)"
    echo $code >"$work/code"
}

check_verdict()
{
    local ratio computed broken
    is_number "$(member limit_per_s)" || die "limit_per_s is $(member limit_per_s)"
    ratio=$(member ratio)
    is_number "$ratio" || die "ratio is $ratio"
    computed=$(awk "BEGIN { r = $(member messages_per_s) / $(member limit_per_s);
        print (r - $ratio < 0.001 && $ratio - r < 0.001) }")
    [ "$computed" = 1 ] || die "ratio is $ratio"
    broken=$(awk "BEGIN { print ($ratio > 1.0505 ? 1 : $ratio < 1.0495 ? 0 : \"either\") }")
    [ "$broken" = either ] || [ "$(cat "$work/code")" = "$broken" ] ||
        die "exit code $(cat "$work/code") with ratio $ratio"
    [ "$(cat "$work/code")" = 0 ] || grep -q "the limit is broken" "$work/err" ||
        die "nothing says that the limit is broken"
}

for workload in saga-step outbox-drain timeouts; do
    echo "== $workload, memory"
    run_json 0 $workload --store memory:bench --messages 100 --batch 16 --rounds 2
    [ "$(member limit_per_s)" = null ] || die "a limit on memory: $(member limit_per_s)"
    [ "$(member ratio)" = null ] || die "a ratio on memory: $(member ratio)"
    [ -n "$(member no_limit)" ] || die "no reason for no limit"
done
expect 0 'no limit: ' pawl bench saga-step --store memory:bench --messages 7 --rounds 1

echo "== refusals"
expect 2 "no store" pawl bench saga-step
expect 3 "nosuchscheme" pawl bench saga-step --store nosuchscheme:x
expect 2 "is no URL of a store" pawl bench saga-step --store bench.db
expect 2 "is no WORKLOAD" pawl bench saga-stop --store memory:bench

need_sqlite
store=sqlite:$work/bench.db
for workload in saga-step outbox-drain timeouts; do
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

echo "== odd numbers"
for arguments in "--messages 1 --batch 1 --rounds 1" "--messages 13 --batch 5 --rounds 2" \
    "--messages 6 --batch 4096 --rounds 1"; do
    # shellcheck disable=SC2086
    run_json "0 1" saga-step --store "$store" $arguments
    check_verdict
done

echo "== a table for people"
pawl bench timeouts --store "$store" --messages 100 --rounds 1 >"$work/out" 2>"$work/err"
for line in '^timeouts on .*: 100 messages, 256 a batch, 1 rounds, seed [0-9]+$' \
    '^  pawl +[0-9]+ /s$' '^  limit +[0-9]+ /s$' '^  ratio +[0-9.]+$'; do
    grep -qE "$line" "$work/out" || die "no line like '$line'"
done

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

echo "== interrupted"
rm "$work"/*
"$build_dir/pawl" bench saga-step --store "$store" --messages 20000000 \
    >"$work/out" 2>"$work/err" </dev/null &
started+=($!)
poll 20 test -e "$work/bench.db-bench-0" || die "the benchmark does not begin"
stop "${started[0]}" INT 5
grep -q "interrupted" "$work/err" || die "nothing says that it was interrupted"
only_these_files "err out"
echo "ok"
