# queue.sh - what `pawl queue` says and does, on the empty store PAWL_STORE. Sourced behind command.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

build_fill
build_app app_dead.c dead.so
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_SEEN=$work/seen

# send ID TYPE OPTION ...: a message to the queue billing.
send()
{
    local id=$1 type=$2
    shift 2
    expect 0 '' pawl send --to billing --type "$type" --id "$id" --body '{"n":1}' "$@"
}

# warned TEXT: the last command warned so, an expression.
warned()
{
    grep -qE "$1" "$work/err" || die "it does not warn: $1"
}

# peeked WANTED OPTION ...: the ids of the messages that peek shows, in order.
peeked()
{
    local wanted=$1 found
    shift
    expect 0 '' pawl queue peek billing --json "$@"
    found=$(sed -E 's/^\{"message_id":"([^"]*)",.*/\1/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "messages '$found' instead of '$wanted': $*"
}

echo "== wrong words"
expect 2 "did you mean show billing\?" pawl queue list billing
expect 2 "pawl queue show needs one QUEUE, got 0" pawl queue show
expect 2 "pawl queue peek needs one QUEUE, got 0" pawl queue peek
expect 2 "QUEUE is empty" pawl queue show ''
expect 2 "--type is empty" pawl queue peek billing --type ''
expect 2 "--id is empty" pawl queue peek billing --id ''
expect 2 "--due.*'noon'" pawl queue peek billing --due noon
expect 2 "pawl queue list has no option --reveal: it is for peek" pawl queue list --reveal

echo "== an empty store"
expect 0 '' pawl queue list
grep -qx 'there is no queue' "$work/err" || die "it does not say that there is none"
expect 0 '' pawl queue list --json
lines 0
expect 6 "there is no queue billing" pawl queue show billing
expect 6 "there is no queue billing" pawl queue peek billing
lines 0

echo "== a queue that nobody reads"
send m-1 charge
send m-2 parcel
send m-3 charge --delay 2h
expect 0 '^queue +ready +scheduled +oldest +workers +state +dead letters$' pawl queue list
expect 0 '^billing +2 +1 +[^ ]+ .*ago\) +0 +no consumer +0$' pawl queue list
expect 0 '^\{"queue":"billing","ready":2,"scheduled":1,"oldest":"[^"]*Z","workers":0,"state":"no consumer","dead":0,"types":0,"paused":null,"paused_by":null,"paused_reason":null\}$' \
    pawl queue list --json
expect 0 '^next +nothing: no worker of an endpoint that reads it is alive' pawl queue show billing
expect 0 '"types":0,.*"next":"nothing: no worker' pawl queue show billing --json

echo "== peek"
peeked 'm-1 m-2 m-3 '
peeked 'm-1 m-3 ' --type charge
peeked 'm-2 ' --id m-2
peeked 'm-3 ' --due later
peeked 'm-1 m-2 ' --due now
peeked 'm-1 ' --limit 1
expect 0 '^message id +type +attempts +due +waits +last error$' pawl queue peek billing
expect 0 '^m-3 +charge +0 .*scheduled: due in ' pawl queue peek billing
expect 0 '"attempts":0,"crashes":0,"due":"[^"]*Z","waits":"due","error":null,"seq":[0-9]+,"placed":"[^"]*Z","waiting_since":null,"key":null,"behind":null,"holds":0,"correlation_id":[^,]*,"causation_id":null,"body_size":7\}$' \
    pawl queue peek billing --json --limit 1
! grep -q '"n"' "$work/out" || die "a body that nobody asked for"
expect 0 '"body":"\{\\"n\\":1\}"\}$' pawl queue peek billing --json --reveal --id m-2
expect 0 '^body +\{"n":1\}$' pawl queue peek billing --reveal --id m-2
peeked 'm-1 m-2 m-3 '

echo "== pause and resume"
expect 2 "pawl queue pause needs one QUEUE, got 0" pawl queue pause
expect 2 "pawl queue show has no option --reason: it is for move, pause, purge, resume" pawl queue show billing --reason x
expect 6 "there is no queue biling" pawl queue pause biling
expect 0 '^resumed queue billing$' pawl queue resume billing
grep -qx 'queue billing is not paused' "$work/err" || die "it does not say that it was not paused"
expect 0 '^paused queue billing$' pawl queue pause billing --reason 'the bank is away'
expect 0 '^\{"done":"paused","queue":"billing"\}$' pawl queue pause billing --json --reason again
grep -q 'queue billing is paused since 2.*, by ' "$work/err" || die "it does not say that it is paused"
expect 0 '^billing +2 +1 .* 0 +paused +0$' pawl queue list
expect 0 '"state":"paused",.*"paused":"2[^"]*Z","paused_by":"[^"]+","paused_reason":"the bank is away","next":"nothing: it is paused.*"actions":\[\{"action":"paused","at":"2[^"]*","by":"[^"]+","reason":"the bank is away"\}\]' \
    pawl queue show billing --json
expect 0 '^paused +2.*the bank is away' pawl queue show billing
expect 0 '^next +nothing: it is paused, until `pawl queue resume .billing.`' pawl queue show billing
expect 0 'queue billing is paused since 2[^ ]*Z, by .*: the bank is away' pawl why m-3
grep -q '^run: pawl queue resume billing' "$work/out" || die "why does not say how to go on"
expect 0 '^billing +2 +1 .*  paused$' pawl stats
expect 0 '"queue":"billing",.*"paused":true' pawl stats --json
expect 0 '' pawl send --to stray --type pallet --id s-1 --body '{"n":1}'
warned '^pawl: queue stray has no consumer just now: what is in it waits$'
expect 0 '' pawl send --to billing --type pallet --id s-2 --body '{"n":1}' --json
warned "^pawl: queue billing is paused, by .*: what is in it waits for .pawl queue resume 'billing'."
lines 1
expect 0 '^discarded 1 message' pawl queue purge billing --type pallet --discard --yes
expect 0 '^moved 1 message' pawl queue move stray billing --yes
warned "^pawl: queue billing is paused, by .*: what is in it waits for .pawl queue resume 'billing'."
expect 0 '^discarded 1 message' pawl queue purge billing --type pallet --discard --yes
expect 0 '^resumed queue billing$' pawl queue resume billing --reason mended

echo "== dead letters, and a reader"
fill letters 3
expect 0 '^billing .* 3$' pawl queue list
expect 0 '^would be retried: 3 dead letters' pawl dead retry --all --dry-run
warned '^pawl: queue billing has no consumer just now: what is in it waits$'
[ "$(wc -l <"$work/err")" = 1 ] || die "it is said more than once"
expect 2 "give --yes" pawl dead retry --all
[ "$(grep -c 'queue billing has no consumer' "$work/err")" = 1 ] || die "it is not said before it is asked"
expect 0 '^would be discarded: 3 dead letters' pawl dead discard --all --dry-run
[ ! -s "$work/err" ] || die "discard sends nothing, and warns: $(cat "$work/err")"
touch "$work/closed"
start app "$work/dead.so"
poll 60 has_ready billing 0 || die "the queue is not empty"
expect 0 '^\{"queue":"billing","ready":0,"scheduled":[1-9][0-9]*,"oldest":null,"workers":[1-9][0-9]*,"state":"read",' \
    pawl queue list --json
expect 0 '' pawl send --to billing --type parcel --id s-3 --body '{"n":1}'
[ ! -s "$work/err" ] || die "a queue that is read is warned of: $(cat "$work/err")"
poll 60 has_ready billing 0 || die "the queue is not empty"
expect 0 'nothing is due now: `pawl queue peek .billing.` says what each waits for' pawl queue show billing
stop "$pid" TERM 0

echo "== purge and move"
expect 2 "pawl queue move needs QUEUE TO, got 1" pawl queue move billing
expect 2 "are in it already" pawl queue move billing billing
expect 2 "pawl queue purge needs one QUEUE, got 2" pawl queue purge billing x
expect 6 "there is no queue biling" pawl queue purge biling --yes
expect 0 '^dead-lettered 0 messages of queue biling$' pawl queue purge biling --last 7 --yes
for n in 1 2 3 4 5; do
    expect 0 '' pawl send --to wrong --type parcel --id "w-$n" --body '{"n":1}'
done
expect 0 '' pawl send --to wrong --type note --id w-6 --body '{"n":1}' --delay 2h
expect 2 "--yes" pawl queue purge wrong
expect 0 '^would be dead-lettered: 5 messages of queue wrong$' pawl queue purge wrong --type parcel --dry-run
last=$(pawl queue peek wrong --json --id w-3 | sed -E 's/.*"seq":([0-9]+).*/\1/')
expect 0 '^moved 3 messages of queue wrong to right$' pawl queue move wrong right --last "$last" --rate 1000 --yes
warned '^pawl: queue right has no consumer just now: what is in it waits$'
expect 0 '^\{"queue":"wrong","dead_lettered":1,"left":0,"copies":0,"due_at":"[^"]*","last":[1-9][0-9]*\}$' pawl queue purge wrong --due later --yes --json --reason 'a slip'
expect 0 'PURGED.*a slip' pawl dead list
expect 0 '^discarded 2 messages of queue wrong$' pawl queue purge wrong --discard --yes
expect 0 '' pawl send --to wrong --type parcel --id w-5 --body '{"n":1}'
expect 0 '' pawl send --to wrong --type parcel --id w-7 --body '{"n":1}'
expect 0 '^dead-lettered 1 message of queue wrong; 1 was a copy of a message with a record, and is deleted$' \
    pawl queue purge wrong --yes
expect 0 '^discarded 1 dead letter$' pawl dead discard w-7
expect 0 '^\{"queue":"right","ready":3,' pawl queue show right --json
found=$(pawl queue peek right --json | sed -E 's/^\{"message_id":"([^"]*)",.*/\1/' | tr '\n' ' ')
[ "$found" = 'w-1 w-2 w-3 ' ] || die "'$found' were moved"
expect 0 '^retried 1 dead letter$' pawl dead retry w-6
expect 0 '"actions":\[\{"action":"moved",.*"action":"dead_lettered",.*"reason":"a slip"\},\{"action":"discarded",' \
    pawl queue show wrong --json

echo "== conditions on the body"
expect 2 "'4711' has no '='" pawl queue purge wrong --where 4711
expect 2 "pawl queue peek has no option --where: it is for move, purge" pawl queue peek wrong --where a=1
for n in $(seq 300); do echo "{\"n\":$n,\"customer\":$((n % 100))}"; done |
    pawl send --to many --type parcel --lines >/dev/null || die "nothing is sent"
expect 0 '' pawl send --to many --type note --id n-7 --body '{"customer":7}'
expect 0 '^would be dead-lettered: 4 messages of queue many$' pawl queue purge many --where customer=7 --dry-run
expect 0 '^discarded 3 messages of queue many$' \
    pawl queue purge many --where customer=7 --where type=parcel --discard --yes
expect 0 '^moved 1 message of queue many to few$' pawl queue move many few --where id=n-7 --yes
expect 0 '^would be dead-lettered: 0 messages of queue many$' pawl queue purge many --where customer=7 --dry-run
expect 0 '^\{"queue":"many","ready":297,' pawl queue show many --json
expect 0 '' pawl queue peek many --reveal --limit 150
[ "$(grep -c '^message id ' "$work/out")" = 150 ] || die "not 150 pages, but $(grep -c '^message id ' "$work/out")"
[ "$(grep -c '^body  *{' "$work/out")" = 150 ] && [ "$(grep -c '^$' "$work/out")" = 149 ] || die "no body on each page, or no line between them"
[ ! -s "$work/err" ] || die "it says more than was asked for"
expect 0 '' pawl queue peek many --reveal
[ "$(grep -c '^message id ' "$work/out")" = 100 ] || die "not 100 pages"
grep -qx 'these are 100; there are more: --limit N shows N' "$work/err" || die "it does not say that there are more"
expect 0 '^discarded 297 messages of queue many$' pawl queue purge many --discard --yes
expect 0 '^discarded 1 message of queue few$' pawl queue purge few --discard --yes

echo "== a purge in pages, interrupted and gone on"
expect 0 '' pawl queue purge billing --discard --yes
expect 0 '' pawl dead discard --all --yes
fill letters 900 1000
expect 0 '^retried 900 dead letters$' pawl dead retry --all --yes
by_workers=$(number dead_ever)
expect 0 '^\{"queue":"billing","matching":300,"left":0,"last":[1-9][0-9]*\}$' \
    pawl queue purge billing --type charge --dry-run --json
"$build_dir/pawl" queue purge billing --type charge --rate 100 --yes >"$work/out" 2>"$work/err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -ge 50 ]' || die "nothing is purged"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is interrupted"
some=$(number dead)
[ "$some" -lt 300 ] || die "it did not stop"
last=$(sed -nE "s/^pawl: .*after $some of 300 messages were dead-lettered; --last ([0-9]+) goes on: interrupted\$/\1/p" \
    "$work/err")
[ -n "$last" ] || die "it does not say how to go on"
grep -qx "pawl: if it is interrupted, the same command with --last $last goes on" "$work/err" ||
    die "it does not say at first how to go on"
send new charge
before=$(date +%s)
expect 0 "^dead-lettered $((300 - some)) messages of queue billing\$" \
    pawl queue purge billing --type charge --last "$last" --rate 100 --yes
[ $(($(date +%s) - before + 1)) -ge $(((300 - some) / 100)) ] || die "it was faster than asked for"
[ "$(number dead)" = 300 ] || die "not each of the kind is a dead letter"
expect 0 '^dead letters now +300$' pawl stats
expect 0 "^dead letters by workers +$by_workers\$" pawl stats # an operator made those
peeked 'new ' --type charge
expect 0 '^moved 601 messages of queue billing to elsewhere$' pawl queue move billing elsewhere --due now --yes
expect 0 '^\{"queue":"elsewhere","discarded":601,"left":0,' pawl queue purge elsewhere --discard --yes --json
[ "$(number dead)" = 300 ] || die "what was discarded is a dead letter"

echo "== a paused queue and its worker"
expect 0 '^paused queue billing$' pawl queue pause billing
send m-9 charge
start app "$work/dead.so"
poll 60 grep -q 'queue billing is paused: nothing more' "$work/app.log" ||
    die "the worker does not say that it is paused"
expect 0 '^\{"queue":"billing","ready":1,' pawl queue show billing --json
expect 0 '^resumed queue billing$' pawl queue resume billing --reason 'it goes on'
poll 60 has_ready billing 0 || die "it does not go on"
expect 0 '"reason":"mended"\},.*"reason":"it goes on"\}\]' pawl queue show billing --json
stop "$pid" TERM 0
