#!/usr/bin/env bash
# bench_broker.sh - `pawl bench broker` with small numbers: its output, that each follow-up is in the queue once (the
# benchmark counts them itself), that nothing stays behind, and refusals.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"

need_sqlite
rabbit_begin
broker="$rabbit_url/?connect-timeout=60" # the benchmark does not log in again
store=sqlite:$work/bench.db

# number NAME: a member above 0 of the object in $work/out.
number()
{
    grep -qE "\"$1\":[0-9.]*[1-9]" "$work/out" || die "$1 is no number above 0: $(cat "$work/out")"
}

echo "== beside the bare loop"
for arguments in "--messages 500 --batch 64 --rounds 2" "--messages 1 --rounds 1 --seconds 1 --rate 50"; do
    code=0
    # shellcheck disable=SC2086
    pawl bench broker --store "$store" --transport "$broker" $arguments --json \
        >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ $code = 0 ] || grep -q "the limit is broken" "$work/err" || die "exit code $code: $arguments"
    for name in messages_per_s limit_per_s ratio saga_step_per_s saga_step_ratio broker_handler_p50_ms broker_handler_p99_ms \
        broker_commit_p50_ms broker_commit_p99_ms handler_p50_ms commit_p99_ms; do
        number "$name"
    done
    check_keys bench
done
rabbit_has_no pawl_bench_ || die "a queue is left"
[ -z "$(compgen -G "$work/bench.db*")" ] || die "a file is left"

echo "== refusals"
expect 2 "no broker is named: --transport amqp://host/ is missing" pawl bench broker --store "$store"
expect 3 "no connection" pawl bench broker --store "$store" --transport amqp://127.0.0.1:1/ --messages 10
expect 2 "no broker is known by the scheme 'nosuch'" \
    pawl bench broker --store "$store" --transport nosuch://host/ --messages 10

echo "== interrupted"
"$build_dir/pawl" bench broker --store "$store" --transport "$broker" --messages 20000000 \
    >"$work/out" 2>"$work/err" </dev/null &
started+=($!)
begun()
{
    rabbit_queues | grep -q pawl_bench_from && [ -e "$work/bench.db-bench-1" ]
}
poll 20 begun || die "the benchmark does not begin"
stop "${started[0]}" INT 5
grep -q "interrupted" "$work/err" || die "nothing says that it was interrupted"
rabbit_has_no pawl_bench_ || die "a queue is left"
echo "ok"
