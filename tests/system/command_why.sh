#!/usr/bin/env bash
# command_why.sh - what `pawl why` says about an id in each place where it can be, and that its commands do
# what they say.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_fill
build_sql
build_app app_dead.c dead.so
long=$(printf 'b%.0s' {1..198}) # a lease of that name is leased under a hash
build_app app_dead.c long.so "-DENDPOINT=\"$long\""
build_app app_dead.c till.so '-DENDPOINT="till"' '-DQUEUE="tills"'
export PAWL_STORE=sqlite:$work/why.db PAWL_DRIVER_PATH=$build_dir
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_AWAY=$work/away PAWL_TEST_SEEN=$work/seen

# why N ID OPTION ...: so many places, as JSON.
why()
{
    local wanted=$1
    shift
    expect 0 '' pawl why --json "$@"
    lines "$wanted"
}

# says LINE KEY TEXT
says()
{
    sed -n "$1p" "$work/out" | grep -qE -- "\"$2\":\"$3" || die "place $1: $2 is not '$3'"
}

# paste LINE N: runs a command that was said.
paste_line()
{
    local run
    run=$(sed -n "$1p" "$work/out" | python3 -c 'import json,sys; print(json.load(sys.stdin)["run"][int(sys.argv[1])])' "$2")
    PATH=$build_dir:$PATH bash -c "$run" >"$work/pasted" 2>&1 || die "'$run' fails: $(cat "$work/pasted")"
}

# id_of FILTER: the first message id of `sql`.
sql() { "$work/sql" "$work/why.db" "$1" || die "no sql: $1"; }

echo "== wrong words"
expect 2 "pawl why needs ID" pawl why
expect 2 "ID is empty" pawl why ''
expect 2 "not UTF-8" pawl why $'\xff'
expect 2 "--saga-prefix goes with --app" pawl why x --saga-prefix y
expect 3 "typo.db" pawl why x --store "sqlite:$work/typo.db"
[ ! -e "$work/typo.db" ] || die "why made a database of a mistyped path"

pawl schema apply 2>"$work/err" || die "no schema"
expect 6 "'nowhere' is not a dead letter, .*sagas are found with --app APP.so$" pawl why nowhere
expect 6 "'nowhere' is not a dead letter, .*and no saga of this program$" pawl why nowhere --app "$work/dead.so"

echo "== the outbox"
fill outbox
why 1 1
says 1 place outbox
says 1 name 'row 1, pending, ChargeCard for billing, of endpoint shop'
says 1 waits_for 'its delivery'
says 1 error 'connection '
says 1 claimed_by nobody
says 1 next "next attempt in [0-9.]+ h, once endpoint 'shop' runs"
why 1 2
says 1 next "blocked behind row 1 of the same ordering key"
grep -qF "\"pawl why 1 --store 'sqlite:" "$work/out" || die "the row before it is not offered"
why 2 Order/1
says 1 place 'outbox, of this ordering key'
says 2 name 'row 2, blocked'
why 5 order-1
says 3 place 'outbox, sent by its handler'
why 1 0d150000-0000-4000-8000-000000000003
says 1 waits_for 'somebody who retries or discards it'
says 1 error 'no such account'
paste_line 1 1
why 1 3
says 1 name 'row 3, pending'
sql "update pawl_outbox set DispatchId = '19b50000-0000-7000-8000-000000000003' where Id = 3"
why 1 19b50000-0000-7000-8000-000000000003
says 1 name 'row 3, pending'
why 1 5
paste_line 1 2
why 1 5
says 1 waits_for 'nothing: it was discarded'
why 1 4
says 1 waits_for 'nothing: it was delivered'
expect 0 '^run: pawl outbox show 4 --store .sqlite:' pawl why 4
sql "delete from pawl_outbox"

echo "== streams"
fill events
why 1 Account/7
says 1 place stream
says 1 name 'Account/7, version 3, last event'
paste_line 1 0
grep -q Account/7 "$work/pasted" || die "no events of the stream"

echo "== queues"
expect 0 '' pawl send --to billing --type charge --id m-1 --body '{"n":1}'
why 1 m-1
says 1 place queue
says 1 name 'billing, message m-1 \(charge\)'
says 1 waits_for 'a worker that is free'
says 1 next 'nothing, until a worker of its endpoint runs'
expect 0 '' pawl send --to billing --type charge --id "it's" --body '{"n":2}' --delay 1h
why 1 "it's"
says 1 waits_for 'its time, in '
says 1 next 'nothing, until a worker of its endpoint runs'
seq 1100 | sed 's/.*/{"n":&}/' >"$work/many"
expect 0 '' pawl send --to elsewhere --type charge --lines --body-file "$work/many"
expect 0 '' pawl send --to elsewhere --type charge --id behind --body '{"n":9}'
why 1 behind
says 1 name 'elsewhere, message behind'
expect 0 '' pawl send --to billing --type charge --id behind --body '{"n":4}'
why 2 behind
sql "delete from pawl_queue where Queue = 'elsewhere'"
touch "$PAWL_TEST_AWAY"
start app "$work/dead.so" --immediate-retries 0
retried() { pawl why m-1 --json 2>/dev/null | grep -q '"waits_for":"its next run'; }
poll 20 retried || die "no retry"
why 1 m-1
says 1 waits_for 'its next run, in .*: [1-9] failed'
says 1 error 'EUNREACHABLE: the bank is away'
says 1 claimed_by 'nobody, or one of worker [0-9a-f-]{36} \(pid [1-9]'
says 1 next 'a worker handles it in '
paste_line 1 0
expect 0 '' pawl send --to billing --type cooked --id x-1 --delay 1h --body '{}'
sql "update pawl_queue set WaitingSince = Due where MessageId = 'x-1'"
why 1 x-1
says 1 waits_for 'a worker that handles type cooked: process [1-9][0-9]*, which reads the queue, does not'
sql "delete from pawl_queue where MessageId = 'x-1'"
rm "$PAWL_TEST_AWAY"

echo "== rows of the outbox are held by the leader of their endpoint, those that nobody delivers by nobody"
for row in 21/pending/billing 22/held/billing 23/dead/billing 24/dispatched/billing 25/discarded/billing 26/pending/shop \
    27/pending/"$long"; do
    IFS=/ read -r id state endpoint <<<"$row"
    sql "insert into pawl_outbox values ($id, '0d150000-0000-4000-8000-0000000001$id', '$state', 1, 9000000000000000, 0, 0,
        case when '$state' in ('dispatched', 'discarded') then strftime('%s', 'now') * 1000000 end, 'S/1', $id, 0, '$endpoint', 'far', 0, 'o-$id', 't', '',
        '', '{}', '{}')"
done
app=$pid
start leads "$work/dead.so" --route far=outbox:
led() { pawl why 21 --json | grep -q '"claimed_by":"worker [0-9a-f-]*, which leads the outbox"'; }
poll 20 led || die "the leader is not said: $(pawl why 21 --json)"
why 1 22
says 1 name 'row 22, blocked, '
says 1 claimed_by 'worker [0-9a-f-]{36}, which leads the outbox'
for id in 23 24 25 26 27; do
    why 1 $id
    says 1 claimed_by nobody
done
stop "$pid" TERM 0
start long "$work/long.so" --route far=outbox:
led_too() { pawl why 27 --json | grep -q '"claimed_by":"worker [0-9a-f-]*, which leads the outbox"'; }
poll 20 led_too || die "the leader of a long name is not said: $(pawl why 27 --json)"
stop "$pid" TERM 0
pid=$app
sql "delete from pawl_outbox"

echo "== dead letters, and what was handled"
touch "$PAWL_TEST_CLOSED"
expect 0 '' pawl send --to billing --type charge --id "dead's" --body '{"n":3}'
poll 20 has dead 1 || die "no letter"
why 2 "dead's"
says 1 place 'dead letter'
says 1 name "of endpoint billing, message dead's \(charge\)"
says 1 error 'REJECT: the bank is closed'
says 1 next nothing
says 2 place inbox
says 2 waits_for 'nothing: it was handled, dropped or dead-lettered'
pawl dead show "dead's" >"$work/shown"
grep -qF "\`pawl dead retry 'dead'\\''s' --endpoint billing\`" "$work/shown" || die "the id is no word of a shell"
rm "$PAWL_TEST_CLOSED"
paste_line 1 1
poll 20 has_ready billing 0 || die "the letter is not handled"
poll 20 grep -q 'charge 3' "$PAWL_TEST_SEEN" || die "the letter is not handled"

echo "== a letter without a type, as a broker's message may be, can only be discarded"
sql "insert into pawl_dead select 'far', 'far', 'bare', '', '', '', 'REJECT', 0, 0, 1, 'it has no type', '[]', '{}', 'x'"
expect 0 "^next  *nothing by itself: .pawl dead discard 'bare' --endpoint far. removes it: it has no type or queue$" pawl dead show bare
why 1 bare
says 1 name 'of endpoint far, message bare without a type"'
says 1 waits_for 'somebody who discards it: it has no type or queue"'
grep -q 'pawl dead retry' "$work/out" && die "a retry is offered, which is refused"
paste_line 1 1
grep -qx 'discarded 1 dead letter' "$work/pasted" || die "it is not discarded: $(cat "$work/pasted")"

echo "== an id that looks like an option, and one that looks like a command"
hostile="\$(touch $work/touched) '\`x\`"
touch "$PAWL_TEST_CLOSED"
for id in --all "$hostile"; do expect 0 '' pawl send --to billing --type charge --id "$id" --body '{"n":33}'; done
poll 20 has dead 2 || die "no letters"
rm "$PAWL_TEST_CLOSED"
expect 0 '' pawl dead show -- --all
command=$(sed -nE 's/.*`(pawl dead retry .*)`.*/\1/p' "$work/out")
why 2 -- --all
paste_line 1 0
grep -q 'message id  *--all$' "$work/pasted" || die "another letter is shown: $(cat "$work/pasted")"
PATH=$build_dir:$PATH bash -c "$command" >"$work/pasted" 2>&1 || die "'$command' fails: $(cat "$work/pasted")"
grep -qx 'retried 1 dead letter' "$work/pasted" || die "'$command' does something else: $(cat "$work/pasted")"
why 2 "$hostile"
paste_line 1 0
grep -qF "$hostile" "$work/pasted" || die "another letter is shown: $(cat "$work/pasted")"
[ ! -e "$work/touched" ] || die "the command does more"
expect 0 '' pawl dead discard "$hostile"
poll 20 has_ready billing 0 || die "the letter is not handled"

echo "== what was retried is handled"
why 1 "dead's"
says 1 place inbox
stop "$pid" TERM 0

echo "== timeouts"
sql "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000001', 1, null, 'Order', 'late',
    'billing', 9000000000000000, 0, null, null, null, '', '{}')"
sql "insert into pawl_timeouts values ('019a0000-0000-7000-8000-000000000002', 1,
    '019a0000-0000-7000-8000-0000000000ff', 'Order', 'late', 'billing', 1, 0,
    '019a0000-0000-7000-8000-0000000000aa', 2, null, '', '{}')"
why 1 019a0000-0000-7000-8000-000000000001
says 1 place timeout
says 1 name '019a0000-0000-7000-8000-000000000001, late of Order, for endpoint billing'
says 1 waits_for 'its time, in '
paste_line 1 1
grep -q '^name  *late$' "$work/pasted" || die "another timeout is shown"
sed -n 1p "$work/out" | grep -q '"pawl timeout run-now 019a0000-0000-7000-8000-000000000001 ' || die "it cannot be released"
why 1 019a0000-0000-7000-8000-000000000002
grep -q 'timeout run-now' "$work/out" && die "what is due is to be released"
sql "update pawl_timeouts set Attempts = 2 where Id = '019a0000-0000-7000-8000-000000000001'"
why 1 019a0000-0000-7000-8000-000000000001
says 1 waits_for 'its next run, in .*: 2 failed; the log has the error'
sql "update pawl_timeouts set Attempts = 0 where Id = '019a0000-0000-7000-8000-000000000001'"
sql "update pawl_timeouts set Attempts = 2 where Id = '019a0000-0000-7000-8000-000000000002'"
why 1 019a0000-0000-7000-8000-000000000002
says 1 waits_for 'a worker: the lease'
says 1 waits_for 'a worker: the lease of the one that had it ran out'
says 1 next 'nothing, until a worker of the endpoint runs'
why 1 Order/019a0000-0000-7000-8000-0000000000ff
says 1 name '019a0000-0000-7000-8000-000000000002, late of Order'
sql "update pawl_timeouts set LeaseExpires = 9000000000000000 where LeaseExpires = 2"
why 1 019a0000-0000-7000-8000-000000000002
says 1 claimed_by 'session 019a0000-0000-7000-8000-0000000000aa, for another '
sql "delete from pawl_timeouts"

echo "== sagas"
at=(--app "$build_dir/orders.so")
start app "$build_dir/orders.so"
expect 0 '' pawl send --to orders --type place_order --id order-9 --body '{"order_id":"b-9","warehouse":"north","total_cents":5}'
began() { pawl why OrderSaga/b-9 "${at[@]}" >/dev/null 2>&1; }
poll 20 began || die "no saga"
expect 0 '' pawl why --json b-9 "${at[@]}"
says 1 place saga
says 1 name 'OrderSaga/b-9, version 1, id [0-9a-f-]{36}'
grep -qF "\"run\":[\"pawl saga show OrderSaga/b-9 --app $build_dir/orders.so --store " "$work/out" ||
    die "no word of what the saga did"
paste_line 1 0
grep -q '^value  *b-9$' "$work/pasted" || die "the command shows another saga"
grep -q '"pawl saga history OrderSaga/b-9 --app ' "$work/out" || die "no word of its history"
says 2 place timeout
says 2 waits_for 'its time, in '
id=$(sed -nE '1s|.*"name":"OrderSaga[^"]*, id ([0-9a-f-]{36}).*|\1|p' "$work/out")
cp "$work/out" "$work/first"
expect 0 '' pawl why --json "$id" "${at[@]}"
sed -E 's/in [0-9.]+ [a-z]+//' "$work/out" >"$work/second"
sed -E 's/in [0-9.]+ [a-z]+//' "$work/first" | cmp -s - "$work/second" || die "another answer by id"
expect 0 '' pawl why --json "OrderSaga/$id"
says 1 place timeout
expect 6 'no saga of this program' pawl why OrderSaga/b-8 "${at[@]}"
expect 0 '' pawl why --json "$id" "${at[@]}" --saga-prefix orders_
grep -q "orders.so --saga-prefix orders_ --store " "$work/out" || die "the command lacks the prefix"

echo "== a queue"
why 1 orders
says 1 place queue
says 1 name 'orders, 0 due, 0 scheduled'
says 1 waits_for messages
says 1 claimed_by 'worker [0-9a-f-]{36} .pid '
says 1 next 'nothing: it is empty'
stop "$pid" TERM 0
start till "$work/till.so"
why 1 tills
says 1 name 'tills, 0 due, 0 scheduled'
says 1 claimed_by 'worker [0-9a-f-]{36} .pid '
stop "$pid" TERM 0

echo "== a handler that hangs keeps its message, and those of its batch"
start till "$work/till.so" --ordered property:n
led_in_order() { pawl worker list --json | grep -q '"ordered/tills"'; }
poll 20 led_in_order || die "nobody leads the ordered queue"
kill -STOP "$pid"
expect 0 '' pawl send --to tills --type charge --id hung --body '{"n":9}'
why 1 hung
says 1 waits_for 'a worker that is free'
sql "update pawl_queue set Due = Due - 9000000 where MessageId = 'hung'"
why 1 hung
says 1 waits_for 'a worker that is free'
sql "update pawl_queue set Due = Due - 2000000 where MessageId = 'hung'"
why 1 hung
says 1 waits_for 'its turn, behind messages that are due before it, or a handler that runs'
says 1 next 'a worker handles it; where the log of these processes names a handler that hangs, end its process'
says 1 claimed_by "nobody, or worker [0-9a-f-]{36} \(pid $pid\), which leads the ordered queue"
sql "update pawl_queue set WaitingSince = Due where MessageId = 'hung'"
why 1 hung
says 1 waits_for 'the message that begins its saga'
sql "update pawl_queue set WaitingSince = 0 where MessageId = 'hung'"
worker=$(pawl worker list --json | sed -n '1s/.*"id":"\([0-9a-f-]*\)".*/\1/p')
# marked WORKER: as one that runs it isolated leaves the row.
marked()
{
    sql "update pawl_queue set Deaths = 1, History = '[{\"attempt\":1,\"at\":\"2026-11-30T03:00:00Z\",\"code\":\"ECRASHED\",\"error\":\"in flight, isolated\",\"worker\":\"$1\",\"epoch\":1,\"pid\":7}]' where MessageId = 'hung'"
    why 1 hung
}
marked "$worker"
says 1 waits_for 'the end of its handler: it runs isolated, as processes crashed before'
says 1 since '2026-11-30T03:00:00'
says 1 claimed_by "worker $worker \(pid $pid\)"
grep -q ECRASHED "$work/out" && die "a message that runs is said to have crashed a process"
marked 019a0000-0000-7000-8000-0000000000ee
says 1 waits_for 'its turn, .* or a handler that runs'
says 1 error 'ECRASHED'
sql "update pawl_queue set Deaths = 0, History = '[]' where MessageId = 'hung'"
kill -CONT "$pid"
poll 20 has_ready tills 0 || die "the message is not handled"
stop "$pid" TERM 0
expect 0 '' pawl send --to tills --type charge --id hung --body '{"n":9}'
sql "update pawl_queue set Due = Due - 11000000 where MessageId = 'hung'"
why 1 hung
says 1 waits_for 'a worker that is free'
expect 0 '' pawl queue purge tills --discard --yes

touch "$PAWL_TEST_AWAY"
expect 0 '' pawl send --to tills --type charge --id stuck-9 --body '{"n":9}'
start till "$work/till.so" --breaker-rate 1 --breaker-window 1 --breaker-pause 1h --breaker-pause-max 1h
tells_of_it() { pawl why stuck-9 --json 2>/dev/null | grep -q 'the breaker of endpoint till is open since '; }
poll 60 tells_of_it || die "no word of the open breaker: $(pawl why stuck-9)"
why 1 stuck-9
grep -qF '"run":["pawl events show pawl.alarm/till --store ' "$work/out" || die "another command"
stop "$pid" TERM 0
rm "$PAWL_TEST_AWAY"
expect 0 '' pawl queue purge tills --discard --yes
expect 0 '' pawl send --to biling --type charge --body '{"n":1}'
why 1 biling
says 1 name 'biling, 1 due, 0 scheduled'
says 1 waits_for 'a worker that reads it'
says 1 claimed_by nobody
says 1 next 'nothing: no worker of an endpoint that reads it is alive'
grep -qF '"run":["pawl run APP.so --store ' "$work/out" || die "no word of a worker that reads it"
paste_line 1 1
expect 0 '' pawl queue pause biling --reason 'it is misspelt'
why 1 biling
says 1 waits_for 'a worker that reads it; queue biling is paused since .*: it is misspelt'
paste_line 1 0
expect 0 '' pawl send --to biling --type charge --delay 2h --body '{"n":1}'
expect 0 '' pawl queue show biling
grep -q '^state  *no consumer$' "$work/out" || die "it was not resumed"

echo "== a partition, and whether a worker may hand it over"
partition() # DUE ATTEMPTS [ERROR]
{
    sql "delete from pawl_aggregator_flush"
    sql "insert into pawl_aggregator_flush values ('vans/kiel', 'vans', $1, $2, 0, '${3:-}')"
    why 1 vans/kiel
}
late=$((($(date +%s) - 90) * 1000000))
partition $((late + 7200000000)) 0
says 1 waits_for 'more messages, or its time'
says 1 claimed_by 'nobody"'
says 1 next 'nothing, until a worker that has the aggregator runs'
grep -q '"pawl run APP.so --store' "$work/out" || die "no word of a worker"
partition $late 1
says 1 waits_for 'a worker that has aggregator vans: due 1\.[0-9]+ m ago'
says 1 next 'nothing, until a worker that has the aggregator runs'
start app "$work/dead.so"
partition $late 0
says 1 waits_for 'a worker that has aggregator vans: due 1\.[0-9]+ m ago'
says 1 next 'a worker that has the aggregator hands it over'
partition $((late + 7200000000)) 0
says 1 next 'handed over in [0-9.]+ h at the latest'
partition $((late + 7200000000)) 2
says 1 next 'handed over again in [0-9.]+ h'
partition $((late + 7200000000)) 0 'field n: no number'
says 1 waits_for 'more messages, or its time; some of its messages cannot be decoded and stay'
says 1 error 'field n: no number'
says 1 next 'handed over in [0-9.]+ h at the latest; those that cannot be decoded are tried again then'
grep -q '"pawl aggregator show vans/kiel' "$work/out" || die "no word of the partition"
partition $((late + 7200000000)) 2 'field n: no number'
says 1 waits_for 'its next attempt: the last 2 flushes failed"'
! grep -q 'pawl run' "$work/out" || die "a worker is to be run, and one lives"
stop "$pid" TERM 0
sql "delete from pawl_aggregator_flush"

echo "== collected, and handled long ago"
fill collected 150
why 1 a-140
says 1 place aggregator
says 1 name 'sums, message a-140 \(charge\)'
says 1 waits_for 'the flush of its partition'
says 1 next 'nothing, until a worker that has the aggregator runs'
grep -q '"pawl run APP.so --store' "$work/out" || die "no word of a worker"
paste_line 1 0
sql "update pawl_aggregator_flush set Error = 'field n: no number'"
start app "$work/dead.so"
why 1 a-140
says 1 waits_for 'the flush of its partition; messages of partition sums/x that cannot be decoded stay there'
says 1 error 'field n: no number'
says 1 next 'handed over with its partition, unless that is dead or it cannot be decoded'
paste_line 1 0
grep -q '^partition  *sums/x$' "$work/pasted" || die "another partition is shown: $(cat "$work/pasted")"
stop "$pid" TERM 0
sql "update pawl_aggregator_flush set Error = ''"
sql "insert into pawl_inbox values ('billing', 'a-140', 'handled', 1), ('billing', 'b-1', 'handled', 1)"
why 2 a-140
says 2 place inbox
says 2 waits_for 'nothing: an aggregator has it'
why 1 b-1
says 1 waits_for 'nothing: it was handled'
sql "delete from pawl_aggregator"
fill collected 20100
why 1 b-1
says 1 waits_for 'nothing, unless an aggregator has it'
paste_line 1 1
expect 6 'collected or handled \(aggregators have more' pawl why nowhere
sql "insert into pawl_history (Endpoint, Source, MessageId, Type, Kind, Outcome, Version, Attempts, Duration, At, Error, Out)
    values ('billing', '', 'old-1', 'charge', 'message', 'handled', 0, 0, 5, 1700000000000000, '', '')"
why 1 old-1
says 1 place history
says 1 name 'endpoint billing, message charge: handled'
says 1 since 2023-11-14
says 1 waits_for 'nothing, unless an aggregator has it'
paste_line 1 0
sql "delete from pawl_aggregator"
why 1 old-1
says 1 waits_for 'nothing: it is not in the store any more'

echo "ok"
