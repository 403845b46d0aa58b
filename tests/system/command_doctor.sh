#!/usr/bin/env bash
# command_doctor.sh - what `pawl doctor` finds about a store and what waits in it, and that its remedies
# mend it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_fill
build_sql
build_app app_dead.c dead.so
export PAWL_STORE=sqlite:$work/doctor.db PAWL_DRIVER_PATH=$build_dir
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_SEEN=$work/seen PAWL_TEST_AWAY=$work/away

# well: nothing fails, and nothing is said on standard error.
well()
{
    expect 0 '' pawl doctor "$@"
    ! grep -qvE '^OK ' "$work/out" || die "something is not OK"
    [ ! -s "$work/err" ] || die "something is said"
}

# finds LEVEL CHECK TEXT [REMEDY]: a line of `pawl doctor --json`.
finds()
{
    local line
    line=$(grep -E "^\\{\"check\":\"$2\",\"level\":\"$1\",\"text\":\"[^\"]*$3" "$work/out") ||
        die "no $1 of $2: $3"
    [ -z "${4:-}" ] || grep -qF -- "\"remedy\":\"$4" <<<"$line" || die "another remedy: $line"
}

# sick TEXT: something fails, and the last line says how much.
sick()
{
    expect 1 'findings must be dealt with$' pawl doctor --json "$@"
}

echo "== no store"
expect 2 "no store" env -u PAWL_STORE "$build_dir/pawl" doctor
expect 2 "pawl doctor has no option --fix" pawl doctor --fix
expect 2 "transactions" pawl doctor --transactions often
sick --store "sqlite:$work/typo.db"
finds fail connection "typo.db: No such file or directory"
[ ! -e "$work/typo.db" ] || die "doctor made a database of a mistyped path"
sick --store "nosuchscheme://me:hush@host/x"
finds fail connection nosuchscheme
! grep -q hush "$work/out" "$work/err" || die "the password is shown"

echo "== a store that is well"
pawl schema apply 2>"$work/err" || die "no schema"
well
well --thorough
grep -qE '^OK    file  ' "$work/out" || die "the file was not read"
expect 0 '^OK    connection .*connected to sqlite:' pawl doctor
expect 0 '' pawl doctor --json
finds ok schema "tables and indexes are those of this pawl"
grep -q '"remedy":null}$' "$work/out" || die "no null of a remedy"
mkdir "$work/locked"
cp "$work/doctor.db" "$work/locked/x.db"
chmod 444 "$work/locked/x.db"
keep_to_modes "$build_dir/pawl" doctor --json --store "sqlite:$work/locked/x.db" >"$work/out" 2>"$work/err"
[ $? = 1 ] || die "a file that cannot be written is well"
finds fail "(rights|connection)" "x.db"

echo "== the schema"
"$work/sql" "$work/doctor.db" "drop index pawl_queue_due" || die "no sql"
sick
finds fail schema "pawl_queue_due" "pawl schema apply --store 'sqlite:$work/doctor.db'"
remedy=$(sed -nE 's/.*"check":"schema".*"remedy":"([^"]*)".*/\1/p' "$work/out" | head -n 1)
PATH=$build_dir:$PATH bash -c "$remedy" 2>"$work/err" || die "the remedy fails: $remedy"
well
"$work/sql" "$work/doctor.db" "drop table pawl_leases" || die "no sql"
sick
finds fail schema "pawl_leases" "pawl schema apply"
PATH=$build_dir:$PATH bash -c "$(sed -nE 's/.*"remedy":"([^"]*)".*/\1/p' "$work/out")" 2>"$work/err"
well
"$work/sql" "$work/doctor.db" "drop index pawl_queue_due; create index pawl_queue_due on pawl_queue (Queue)" || die "no sql"
sick
finds fail schema "pawl_queue_due"
grep -q "schema apply" "$work/out" && die "apply is named, which changes no index that is there"
"$work/sql" "$work/doctor.db" "drop index pawl_queue_due" || die "no sql"
expect 0 '' pawl schema apply
well

echo "== nobody reads"
expect 0 '' pawl send --to billing --type charge --body '{"n":1}'
sick
finds fail workers "none lives, and 1 message" "pawl run APP.so --store 'sqlite:"
mkfifo "$work/lines"
pawl send --to billing --type charge --lines --body-file "$work/lines" >"$work/sent" 2>&1 &
sender=$!
started+=("$sender")
exec 8>"$work/lines"
seq 9000 | sed 's/.*/{"n":&}/' >&8 # some commits, of which the first makes it a worker
sends() { pawl worker list --json | grep -q .; }
poll 10 sends || die "the sender is no worker"
sick
finds fail workers "none lives, and [0-9]+ messages" "pawl run APP.so --store 'sqlite:"
exec 8>&-
wait "$sender" || die "$(cat "$work/sent")"
"$work/sql" "$work/doctor.db" "delete from pawl_queue" || die "no sql"
expect 0 '' pawl send --to billing --type charge --body '{"n":1}'
sick
finds fail queues "queue billing has no consumer: 1 message waits, and no endpoint of this store ever read it"
start app "$work/dead.so"
poll 60 has_ready billing 0 || die "the queue is not empty"
well
expect 0 '' pawl send --to biling --type charge --body '{"n":1}'
sick
finds fail queues "queue biling has no consumer: 1 message waits, and no endpoint of this store ever read it"
finds ok workers "[1-9] live"
"$work/sql" "$work/doctor.db" "delete from pawl_queue" || die "no sql"

echo "== many queues: the first of them, and how many more there are"
for i in {1..12}; do expect 0 '' pawl send --to "nobodys$i" --type charge --body '{"n":1}'; done
sick
[ "$(grep -c 'has no consumer' "$work/out")" = 10 ] || die "not ten queues are named"
finds fail queues "2 more findings like these"
"$work/sql" "$work/doctor.db" "delete from pawl_queue" || die "no sql"

echo "== a queue is read by the endpoint that said so, not by another one that handles the same type"
for reader in audit reader:audit reader:billing; do
    "$work/sql" "$work/doctor.db" "insert into pawl_subscriptions values ('charge', 'audit'), ('$reader', 'audit'), ('reader:billing', 'tills')" || die "no sql"
    expect 0 '' pawl send --to audit --type charge --body '{"n":1}'
    cp "$work/err" "$work/said"
    pawl doctor --json >"$work/out" 2>"$work/err"
    if [ $reader = reader:billing ]; then
        ! grep -q audit "$work/out" "$work/said" || die "queue audit is not known to be read"
    else
        finds fail queues "queue audit has no consumer: 1 message waits\""
        grep -q '^pawl: queue audit has no consumer just now' "$work/said" || die "send does not say that nobody reads the queue"
    fi
    "$work/sql" "$work/doctor.db" "delete from pawl_queue; delete from pawl_subscriptions where Queue in ('audit', 'tills')" || die "no sql"
done
well

echo "== what is dead"
touch "$PAWL_TEST_CLOSED"
expect 0 '' pawl send --to billing --type charge --body '{"n":2}'
poll 60 has dead 1 || die "no letter"
sick
finds fail dead_letters "1 message is dead-lettered" "pawl dead list --store 'sqlite:"
rm "$PAWL_TEST_CLOSED"
expect 0 '' pawl dead retry --all --yes
poll 60 has_ready billing 0 || die "the queue is not empty"
well
echo "== what is tried again"
touch "$PAWL_TEST_AWAY"
expect 0 '' pawl send --to billing --type charge --id "it's 3" --body '{"n":3}'
retried() { pawl stats --json | grep -q '"retried":1,'; }
poll 60 retried || die "no retry"
expect 0 '' pawl doctor --json
finds warn retries "queue billing: 1 message failed and waits to be tried again, the oldest is it's 3 .charge., due [0-9.]+ [a-z]+ ago, tried again in [0-9.]+ [a-z]+: the bank is away" \
    "pawl why 'it'\\\\''s 3' --store"
stop "$pid" TERM 0
"$work/sql" "$work/doctor.db" "update pawl_queue set Placed = Placed - 8 * 86400000000" || die "no sql"
sick
finds warn retention "queue billing: a message that is tried again was due 8 d ago" "pawl queue peek billing --store"
"$work/sql" "$work/doctor.db" "update pawl_queue set Due = Due + 7200 * 1000000" || die "no sql"
seq 200 | sed 's/.*/{"n":&}/' | pawl send --to billing --type charge --delay 1h --lines >"$work/sent" 2>&1 || die "nothing is sent"
sick
finds warn retries "queue billing: 1 message failed and waits to be tried again, behind the 200 that are due next: the oldest was due 8 d ago" \
    "pawl queue peek billing --due later --store"
finds ok versions "queue billing: none of the 200 messages that are due next waits for a program that reads its version; the others were not checked"
"$work/sql" "$work/doctor.db" "delete from pawl_queue" || die "no sql"
rm "$PAWL_TEST_AWAY"

echo "== a timeout that is tried again"
sql() { "$work/sql" "$work/doctor.db" "$1" || die "no sql: $1"; }
row="1, null, 'Order', 'late', 'billing', 9000000000000000, 0, null, null, null, '', '{}'"
sql "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000001', $row)"
expect 0 '' pawl doctor --json
finds ok retries "no message or timeout waits to be tried again"
sql "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000002', $row)"
sql "update pawl_timeouts set Attempts = 3, Due = Due + 1 where Id like '%2'"
expect 0 '' pawl doctor --json
finds warn retries "1 timeout failed and waits to be tried again, the first is late of Order, for endpoint billing: 3 failed, due in [0-9.]+ d; the log has the error" \
    "pawl why 019a0000-0000-7000-8000-000000000002 --store"
sql "update pawl_timeouts set Attempts = 1 where Id like '%1'"
for i in $(seq 100 299); do echo "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000$i', $row);"; done >"$work/many.sql"
sql "$(cat "$work/many.sql")"
sql "update pawl_timeouts set Due = Due + 2 where Id > '019a0000-0000-7000-8000-000000000099'"
expect 0 '' pawl doctor --json
finds warn retries "at least 2 timeouts failed and wait to be tried again, the first is late of Order, for endpoint billing: 1 failed" \
    "pawl why 019a0000-0000-7000-8000-000000000001 --store"
sql "delete from pawl_timeouts"

echo "== a projection that fails"
build_app app_projection.c projection.so
touch "$PAWL_TEST_CLOSED"
start boxes "$work/projection.so"
expect 0 '' pawl send --to boxes --type put --body '{"box":"b-1","number":7}'
failing() { pawl projection list --json | grep -q '"EPERSIST"'; }
poll 60 failing || die "the projection does not fail"
sick
finds fail projections "projection names fails at event [0-9]+ .noted of stream Box/b-1., first .* ago: EPERSIST: the bank is closed for number 7" \
    "pawl projection restart names --store"
rm "$PAWL_TEST_CLOSED"
is_well() { pawl doctor >/dev/null 2>&1; }
poll 60 is_well || die "the projection goes on failing"
stop "$pid" TERM 0

echo "== the outbox, and partitions"
fill outbox
sick
finds fail outbox "nobody delivers what endpoint shop produced, row 1" "pawl run APP.so"
finds fail outbox "2 rows are dead" "pawl outbox list --state dead --store"
finds warn sources "1 row waits behind an earlier one of the ordering key Order/1: blocked behind row 1" "pawl why 1 --store"
finds ok routes "no row waits for a route"
finds ok retention "nothing waits for longer"
"$work/sql" "$work/doctor.db" "update pawl_outbox set At = At - 8 * 86400000000 where Id = 1" || die "no sql"
sick
finds warn retention "the oldest pending outbox row is from 8 d ago" "pawl outbox list --state pending --limit 1"
"$work/sql" "$work/doctor.db" "insert into pawl_outbox_attempts (OutboxId, Attempt, Outcome, At, Duration, Error)
    select Id, 2, 'transient', At, 0, 'no route to another store is named ''x''' from pawl_outbox where Id = 1" ||
    die "no sql"
sick
finds fail routes "endpoint shop has no route named [a-z]+: row 1 and others" "pawl run APP.so --route"
"$work/sql" "$work/doctor.db" "delete from pawl_outbox_attempts; update pawl_outbox set Endpoint = 'billing', Attempts = 0
    where Id = 1" || die "no sql"
start app "$work/dead.so"
sick
finds fail routes "endpoint billing has no route named [a-z]+: row 1 and others" "pawl run APP.so --route"
expect 0 'waits for +a program of endpoint billing with the route' pawl why 1
grep -q '^run: pawl run APP.so --route .[a-z]*=URL' "$work/out" || die "no command with the route"
stop "$pid" TERM 0
"$work/sql" "$work/doctor.db" "delete from pawl_outbox where Id <> 1" || die "no sql"
# rows N: as many copies of row 1 behind it.
rows()
{
    "$work/sql" "$work/doctor.db" "with recursive n(i) as (select 1 union all select i + 1 from n where i < $1)
        insert into pawl_outbox select 100 + i, printf('00000000-0000-4000-8000-%012d', i), State, Attempts, NextAttempt, Due, At, DispatchedAt, Source,
            Version, \"Index\", $2, Destination, AttemptsBefore, MessageId, Type, CorrelationId, CausationId, Headers, Body
        from pawl_outbox, n where Id = 1" || die "no sql"
}
rows 1500 "case when i = 1500 then 'lost' else Endpoint end"
start app "$work/dead.so"
sick
finds fail outbox "nobody delivers what endpoint lost produced, row 1600 and others"
! grep -q 'what endpoint billing produced' "$work/out" || die "an endpoint with a worker is named"
"$work/sql" "$work/doctor.db" "delete from pawl_outbox where Id <> 1" || die "no sql"
rows 10001 Endpoint
sick
finds ok outbox "none of the 10000 oldest pending rows is without a worker; the others were not checked"
stop "$pid" TERM 0
"$work/sql" "$work/doctor.db" "delete from pawl_outbox" || die "no sql"
"$work/sql" "$work/doctor.db" "insert into pawl_aggregator_flush values ('all', 'batch', 1, 9, 1, 'x')" ||
    die "no sql"
sick
finds fail partitions "partition all is dead after 9 flushes: the 0 messages that it collected stay: x" \
    "pawl aggregator run-now all --store"
for n in 1 2 3 4 5 6 7 8 9 10 11; do
    "$work/sql" "$work/doctor.db" "insert into pawl_aggregator_flush values ('all/$n', 'batch', 1, 9, 1, 'x')" ||
        die "no sql"
done
sick
finds fail partitions "2 more are dead" "pawl aggregator list --dead --store"
"$work/sql" "$work/doctor.db" "delete from pawl_aggregator_flush" || die "no sql"
now=$(date +%s)
add_partition() # DUE
{
    "$work/sql" "$work/doctor.db" "insert into pawl_aggregator_flush values ('all/$1', 'batch', ${1}000000, 0, 0, '')" ||
        die "no sql"
}
add_partition $((now + 3600))
well
add_partition $((now - 1))
sick
finds fail workers "none lives, and 1 message, timeout, delivery, partition or event is due"
finds ok partitions "no partition of an aggregator is dead, long overdue"
add_partition $((now - 90))
sick
finds fail workers "none lives, and 2 messages, timeouts, deliveries, partitions or events are due" "pawl run APP.so --store 'sqlite:"
finds warn partitions "2 partitions are due, the earliest since 1\\.[0-9]+ m ago: no worker has the aggregator" "pawl aggregator list --store"
"$work/sql" "$work/doctor.db" "update pawl_checkpoints set Position = Position - 1" || die "no sql"
sick
finds fail workers "none lives, and 4 messages, timeouts, deliveries, partitions or events are due"
"$work/sql" "$work/doctor.db" "update pawl_checkpoints set Position = Position + 1" || die "no sql"
"$work/sql" "$work/doctor.db" "delete from pawl_aggregator_flush" || die "no sql"
fill collected 1
"$work/sql" "$work/doctor.db" "update pawl_aggregator_flush set Error = 'field n: no number'" || die "no sql"
expect 0 '' pawl doctor --json
finds warn partitions "partition sums/x: messages that cannot be decoded stay, of 1 that it has: field n: no number" "pawl aggregator show sums/x --store"
for state in "Dead = 1" "Dead = 0, Attempts = 1"; do
    "$work/sql" "$work/doctor.db" "update pawl_aggregator_flush set $state" || die "no sql"
    pawl doctor --json >"$work/out" 2>"$work/err"
    ! grep -q 'cannot be decoded stay' "$work/out" || die "a flush that failed left messages"
done
"$work/sql" "$work/doctor.db" "delete from pawl_aggregator_flush; delete from pawl_aggregator" || die "no sql"

echo "== timeouts"
"$work/sql" "$work/doctor.db" "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000001',
    1, null, '', 't', 'nowhere', 9000000000000000, 0, null, null, null, '', '{}')" || die "no sql"
sick
finds fail timeouts "timeouts lead to nowhere, which no endpoint of this store handles"
"$work/sql" "$work/doctor.db" "delete from pawl_timeouts" || die "no sql"
well

echo "== counts of rows end at 100,000, whatever the tables hold"
fill queue 1
numbers='with recursive t (n) as (select 1 union all select n + 1 from t where n < 100000) '
"$work/sql" "$work/doctor.db" "insert into pawl_queue (Queue, Due, Placed, Attempts, Deaths, WaitingSince, MessageId, Type,
    CorrelationId, CausationId, Error, History, Headers, Body) $numbers select Queue, Due + n, Placed, 0, 0, 0, 'c-' || n, Type,
    '', '', '', null, '{}', '{}' from pawl_queue, t" || die "no sql"
"$work/sql" "$work/doctor.db" "insert into pawl_dead (Endpoint, Queue, MessageId, Type, CorrelationId, CausationId, Code,
    Attempts, Deaths, At, Error, History, Headers, Body) $numbers select 'billing', 'billing', 'd-' || n, 'charge', '', '', 'X',
    1, 0, n, 'x', '[]', '{}', '{}' from t" || die "no sql"
sick
finds fail queues 'queue billing has no consumer: 100000\+ messages wait'
finds fail dead_letters '100000\+ messages are dead-lettered'
finds fail workers 'none lives, and 100000\+ messages'
"$work/sql" "$work/doctor.db" "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, Source, Version, \"Index\",
    Endpoint, Destination, MessageId, Type, CorrelationId, CausationId, Headers, Body) $numbers select 'o-' || n, 'dead', 1, 0, 0, n,
    '', 0, 0, 'billing', 'mail', 'o-' || n, 'note', '', '', '{}', '{}' from t" || die "no sql"
expect 0 '' pawl queue pause billing
sick
finds fail outbox '100000\+ rows are dead: not delivered'
finds warn paused 'queue billing has 100000\+ messages and is paused'
"$work/sql" "$work/doctor.db" "delete from pawl_outbox where State = 'dead'" || die "no sql"
expect 0 '' pawl queue resume billing
expect 0 '^dead letters now +100000\+$' pawl stats
grep -qE "^deduplication records +[0-9]{1,3}$" "$work/out" || die "a small count ends, too"
grep -qE '^billing +100000\+ +0 +0 ' "$work/out" || die "the queue's count"
expect 0 '"count_max":100000,.*"dead":100000,.*"queue":"billing","ready":100000,' pawl stats --json
expect 0 ' 100.0 k\+ +0 .* 100.0 k\+ ' pawl stats --watch --count 1
expect 0 '^billing +100000\+ +0 .* 100000\+$' pawl queue list
expect 0 'billing, 100000\+ due, 0 scheduled' pawl why billing
expect 0 'billing, message c-99999 ' pawl why c-99999
expect 0 'endpoint billing, message d-99999 ' pawl why d-99999
"$work/sql" "$work/doctor.db" "delete from pawl_queue where MessageId = 'c-1'; delete from pawl_dead where MessageId = 'd-1';
    delete from pawl_queue where MessageId = 'c-2'" || die "no sql"
expect 0 '^dead letters now +99999$' pawl stats
grep -qE '^billing +99999 ' "$work/out" || die "a count that has not ended"

echo "ok"
