#!/usr/bin/env bash
# situations.sh - prepared situations on a PostgreSQL server: why, doctor and stats name each, and the remedy
# that they say, pasted, mends it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_database situations
build_app app_dead.c dead.so
export PAWL_STORE=$url PAWL_DRIVER_PATH=$build_dir
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_AWAY=$work/away PAWL_TEST_SEEN=$work/seen
# The operator's own login.
PGUSER=$(sed -E 's|^[a-z]+://([^@:/]*).*|\1|' <<<"$url")
export PGUSER
sql() { psql -XAtq "$url" -c "$1" || die "no sql: $1"; }

# doctor LEVEL CHECK TEXT: a line of it; the exit code is that of the level.
doctor()
{
    local level=$1 check=$2 text=$3
    shift 3
    pawl doctor --json "$@" >"$work/out" 2>"$work/err"
    [ $? = "$([ "$level" = fail ] && echo 1 || echo 0)" ] || die "another exit code: $check"
    grep -qE "\"check\":\"$check\",\"level\":\"$level\",\"text\":\"[^\"]*$text" "$work/out" ||
        die "doctor has no $level of $check: $text"
}

well() # CHECK [OPTION ...]
{
    local check=$1
    shift
    pawl doctor --json "$@" 2>/dev/null | grep -q "\"check\":\"$check\",\"level\":\"ok\""
}

# stats CHECK: it is not healthy there, and says why.
stats() { expect 0 "\"name\":\"$1\",\"status\":\"(degraded|unhealthy)\"" pawl stats --json; }

why() # KEY TEXT ID
{
    expect 0 "\"$1\":\"[^\"]*$2" pawl why "$3" --json "${@:4}"
}

# remedy FILTER N: the first command in a line of what was printed last.
remedy()
{
    grep -E "$1" "$work/out" | head -n 1 | python3 -c '
import json, sys
row = json.load(sys.stdin)
print(row["remedy"] if "remedy" in row else row["run"][int(sys.argv[1])])' "${2:-0}"
}

paste_it() # COMMAND
{
    [ -n "$1" ] || die "no remedy"
    PATH=$build_dir:$PATH bash -c "$1" >"$work/pasted" 2>&1 ||
        { cp "$work/pasted" "$work/err"; die "the remedy fails: $1"; }
}

pawl schema apply --app "$build_dir/orders.so" 2>"$work/err" || die "no schema"
poll 20 well connection || die "no store"

echo "== a table without its index"
sql "drop index pawl_queue_due"
doctor fail schema pawl_queue_due
paste_it "$(remedy '"check":"schema"')"
poll 20 well schema || die "the schema is not mended"

echo "== a dead letter"
touch "$PAWL_TEST_CLOSED"
start app "$work/dead.so" --immediate-retries 0
expect 0 '' pawl send --to billing --type charge --id m-1 --body '{"n":1}'
poll 20 has dead 1 || die "no letter"
doctor fail dead_letters '1 message is dead-lettered'
stats dead_letters
why error 'REJECT: the bank is closed' m-1
rm "$PAWL_TEST_CLOSED"
paste_it "$(remedy 'dead letter' 1)"
poll 20 grep -q 'charge 1' "$PAWL_TEST_SEEN" || die "the letter is not handled"
poll 20 well dead_letters || die "a letter is left"

echo "== a waiting retry"
touch "$PAWL_TEST_AWAY"
expect 0 '' pawl send --to billing --type charge --id m-2 --body '{"n":2}'
retried() { pawl why m-2 --json 2>/dev/null | grep -q '"waits_for":"its next run'; }
poll 20 retried || die "no retry"
why error 'EUNREACHABLE: the bank is away' m-2
why next 'a worker handles it in' m-2
expect 0 '"queue":"billing","ready":0,"scheduled":1' pawl stats --json
rm "$PAWL_TEST_AWAY"
stop "$pid" TERM 0
sql "delete from pawl_queue"

echo "== a queue that nobody reads"
expect 0 '' pawl send --to billing --type charge --id m-3 --body '{"n":3}'
sql "update pawl_queue set \"Due\" = now() - interval '2 minutes'"
doctor fail queues 'queue billing has no consumer: 1 message waits'
doctor fail workers 'none lives, and 1 message'
stats queue_no_consumer
why next 'nothing, until a worker of its endpoint runs' m-3
[[ $(remedy '"place":"queue"') == "pawl run APP.so --store "* ]] || die "another remedy"
start app "$work/dead.so"
poll 20 well queues || die "the message is not handled"
poll 20 grep -q 'charge 3' "$PAWL_TEST_SEEN" || die "the message is not handled"
stop "$pid" TERM 0

echo "== a lease that ran out"
app=(--app "$build_dir/orders.so")
start app "$build_dir/orders.so"
expect 0 '' pawl send --to orders --type place_order --body '{"order_id":"b-9","warehouse":"north","total_cents":5}'
began() { pawl why OrderSaga/b-9 "${app[@]}" >/dev/null 2>&1; }
poll 20 began || die "no saga"
stop "$pid" TERM 0
sql "delete from pawl_queue"
sql "update pawl_timeouts set \"Due\" = now() - interval '3 minutes', \"Owner\" = gen_random_uuid(),
    \"LeaseExpires\" = now() - interval '2 minutes'"
pawl doctor --json >"$work/out" 2>"$work/err"
grep -qE '"check":"leases","level":"warn","text":"1 timeouts of orders are leased by nobody' "$work/out" ||
    die "doctor does not name the lease"
stats timeouts_late
why waits_for 'a worker: the lease of the one that had it ran out' OrderSaga/b-9 "${app[@]}"
why next 'nothing, until a worker of the endpoint runs' OrderSaga/b-9 "${app[@]}"
[[ $(remedy '"place":"timeout"') == "pawl run APP.so --store "* ]] || die "another remedy"
start app "$build_dir/orders.so"
poll 20 well leases || die "the timeout is not handled"
ended() { ! began; }
poll 20 ended || die "the saga does not end"
stop "$pid" TERM 0
sql "delete from pawl_queue"

echo "== an outbox row that is dead, and one behind another"
build_fill
fill outbox
doctor fail outbox '2 rows are dead'
grep -qE '"level":"warn","text":"1 row waits behind an earlier one of the ordering key' "$work/out" ||
    die "doctor does not name the held row"
stats outbox_dead
why next 'blocked behind row 1 of the same ordering key' 2
why error 'no such account' 3
paste_it "$(remedy '"place":"outbox"' 1)"
why waits_for 'its delivery' 3
why waits_for 'somebody who retries or discards it' 5
paste_it "$(remedy '"place":"outbox"' 2)"
expect 0 '"outbox_dead":0,' pawl stats --json
sql "delete from pawl_outbox"

echo "== a transaction that stays open"
PGAPPNAME='night report' psql -XAtq "$url" -c "begin" -c "select 1" -c "select pg_sleep(600)" >/dev/null 2>&1 &
started+=("$!")
open() { pawl doctor --json --transactions 0s 2>/dev/null | grep -q 'a transaction of night report (user'; }
poll 20 open || die "doctor does not name the transaction"
doctor fail transactions 'a transaction of night report' --transactions 0s
paste_it "$(remedy 'night report')"
closed() { ! open; }
poll 20 closed || die "the transaction stays open"
poll 20 well transactions || die "a transaction is open"

echo "== a role without rights"
role=${database}
sql "create role $role login; grant select on all tables in schema public to $role"
worker=$(sed -E "s|//[^@]*@|//$role@|" <<<"$url")
for check in rights sequences; do
    doctor fail $check "may not" --store "$worker"
    while remedy=$(remedy "\"check\":\"$check\",\"level\":\"fail\"" 2>/dev/null) && [ -n "$remedy" ]; do
        paste_it "$remedy"
        pawl doctor --json --store "$worker" >"$work/out" 2>"$work/err"
    done
done
expect 0 '' pawl doctor --store "$worker"

echo "ok"
