# find.sh - what `pawl find` finds, and how it goes on after it stopped, on the empty store PAWL_STORE. Sourced behind
# command.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

build_fill

# found WANTED OPTION ...: places and ids of the messages that are found, in order; `end` is the line behind them.
found()
{
    local wanted=$1 got
    shift
    expect 0 '' pawl find --json "$@"
    got=$(sed -nE 's/^\{"place":"([a-z]*)","message_id":"([^"]*)".*/\1:\2/p' "$work/out" | tr '\n' ' ')
    [ "$got" = "${wanted:+$wanted }" ] || die "found '$got' instead of '$wanted': $*"
    grep -q secret "$work/out" "$work/err" && die "a body is shown: $*"
    tail -n 1 "$work/out" >"$work/end"
}

# says KEY VALUE: of the line behind the messages.
says()
{
    grep -qE "\"$1\":$2[,}]" "$work/end" || die "$1 is not $2: $(cat "$work/end")"
}

# found_again WANTED N OPTION ...: of one search that stops again and again, and goes on by the command that it says: so
# many messages, each once, in more than N pieces.
found_again()
{
    local wanted=$1 pieces=$2 run tries=0
    shift 2
    run="pawl find --json $*"
    : >"$work/all"
    while [ -n "$run" ]; do
        [ $((tries++)) -lt 2000 ] || die "it never ends: $run"
        PATH=$build_dir:$PATH bash -c "$run" >"$work/out" 2>"$work/err"
        case $? in
        0) ;;
        5) grep -q "^pawl: .*stopped early, after 0 us: [0-9]* messages read, " "$work/err" || die "no word of it: $run" ;;
        *) die "it fails: $run" ;;
        esac
        sed '$d' "$work/out" >>"$work/all"
        run=$(sed -nE '$s/.*,"run":"(.*)"\}$/\1/p' "$work/out")
    done
    [ "$tries" -gt "$pieces" ] || die "it ended after $tries pieces: $*"
    [ "$(wc -l <"$work/all")" = "$wanted" ] || die "$(wc -l <"$work/all") messages, not $wanted, in $tries pieces: $*"
    [ -z "$(sed -E 's/,"type".*//' "$work/all" | sort | uniq -d)" ] || die "a message is found twice: $*"
}

echo "== wrong words"
expect 2 "pawl find needs NAME=VALUE: customer_id=4711" pawl find
expect 2 "'customer_id' has no '=': give NAME=VALUE" pawl find customer_id
expect 2 "customer_id: the value is empty" pawl find customer_id=
expect 2 "the name before '=' is empty" pawl find =4711
expect 2 "a\.\.b: a step of the path is empty" pawl find a..b=1
expect 2 "--queue: is empty|empty" pawl find a=1 --queue ''
expect 2 "--since: " pawl find a=1 --since yesterday
expect 2 "--in: 'inbox' is not a valid PLACE" pawl find a=1 --in inbox
expect 2 "--limit: 0 is not within" pawl find a=1 --limit 0
for cursor in nowhere:1 queue: queue:x queue:1/2 dead:1 dead:x:a/b dead:9:billing/m-1 dead:7:billing outbox:-1; do
    expect 2 "--after: '$cursor' is not a cursor of this search" pawl find a=1 --after "$cursor"
done
expect 2 "--after: 'queue:5' is not a cursor" pawl find a=1 --queue billing --after queue:5
expect 2 "--after: --in leaves queue out" pawl find a=1 --in dead --after queue:5

echo "== nothing there"
found "" customer_id=4711
says found 0
says read 0
says is_complete true
says after null
expect 0 '' pawl find customer_id=4711
grep -q '^no message matches$' "$work/err" || die "no word that there is none"
grep -q '^read: 0 dead letters, 0 messages in queues, 0 outbox rows, 0 messages in aggregators, 0 events$' "$work/err" ||
    die "no word of where it looked"

fill queue 60
fill letters 30
fill letters 5 100 archive/2
fill outbox
fill collected 3
fill events

echo "== by a member of the body"
found "queue:q-4" customer_id=4
found "aggregator:a-1" customer_id=1 --in aggregator
found "dead:m-4" n=4
found "dead:m-104" n=104
found "queue:q-2 queue:q-12 queue:q-22 queue:q-32 queue:q-42 queue:q-52 aggregator:a-2" of.trip=2
found "queue:q-22" of.trip=2 customer_id=22
found "" 'customer_id="4"'
found "outbox:m-1 outbox:m-2 outbox:m-3 outbox:m-4 outbox:m-5 outbox:m-6" card=4711-secret --in outbox
found "" customer_id=9
says unreadable 6
says is_complete true
expect 0 '' pawl find customer_id=9
grep -q '; 6 bodies are not JSON$' "$work/err" || die "no word of bodies that are no JSON"

echo "== by the message's own"
found "queue:q-4 queue:q-5" correlation=c-2
found "queue:q-7" id=q-7
found "dead:m-101 dead:m-104" type=note --queue archive/2
found "queue:q-3" type=charge header:tenant=blue causation=order-1 customer_id=3
found "" header:tenant=red
found "" type=charg
expect 0 '' pawl find header:tenant=blue --limit 200 --json
lines 105

echo "== of one queue, and since a time"
found "queue:q-3 queue:q-13 queue:q-23 queue:q-33 queue:q-43 queue:q-53" of.trip=3 --queue shipping
found "" of.trip=3 --queue billing
found "aggregator:a-2" of.trip=2 --queue sums
found "outbox:m-4" id=m-4 --queue shop
expect 0 '' pawl find header:tenant=blue --in queue,dead --since 2h --limit 200 --json
lines 61
expect 0 '' pawl find header:tenant=blue --in queue,dead --since 2020-01-01T00:00:00Z --limit 200 --json
lines 96
found "" header:tenant=blue --in queue --since 10m

echo "== it stops, and goes on where it stopped"
found_again 104 10 header:tenant=blue --limit 10
found_again 60 5 header:tenant=blue --in queue --limit 11
found_again 30 5 header:tenant=blue --queue shipping --in queue,dead --since 2d --limit 5
found_again 35 34 header:tenant=blue --in dead --limit 1
found_again 7 5 of.trip=2 --deadline 0s
expect 5 "stopped early, after 0 us: 16 messages read, 0 found" pawl find customer_id=4711 --in queue --deadline 0s
grep -q '^no message matches so far$' "$work/err" || die "no word that it is not sure"
grep -qE "^to go on: pawl find 'customer_id=4711' --in queue --deadline 0d --after queue:[0-9]+ --store '" "$work/err" ||
    die "no word of how it goes on"
expect 5 "stopped early, after 0 us: 16 messages read, 0 found" pawl find customer_id=4711 --deadline 0s
grep -q '^read: 16 dead letters; not yet messages in queues, outbox rows, messages in aggregators, events$' "$work/err" ||
    die "no word of how much was read"

echo "== for people"
expect 0 '^dead +m-20 +note +billing +[^ ]+ \([^)]*\) +EUNREACHABLE +no route to the bank$' pawl find n=20
grep -q '^in  *message id  *type  *queue  *at  *state  *last error$' "$work/out" || die "no heading"
grep -q '^what one of them waits for: pawl why MESSAGE-ID$' "$work/err" || die "no word of pawl why"
expect 0 '^queue .*  due$' pawl find customer_id=4
expect 0 '^aggregator .*  collected$' pawl find customer_id=1 --in aggregator
expect 0 '^outbox .*  dispatched' pawl find id=m-4 --in outbox
expect 0 '' pawl find header:tenant=blue --limit 2
grep -qE "^these are 2, there may be more; to go on: pawl find .* --limit 2 --after dead:9:archive/2/m-101 " "$work/err" ||
    die "no word that there are more"

echo "== what operators did"
echo '{"n":77}' >"$work/body"
pawl dead discard m-0 --endpoint billing --reason 'paid in cash' >"$work/out" 2>&1 || die "not discarded"
pawl dead edit m-1 --endpoint billing --body-file "$work/body" >"$work/out" 2>&1 || die "not edited"
pawl dead retry m-2 --endpoint billing >"$work/out" 2>&1 || die "not retried"
found "history:m-0" n=0
found "history:m-1" n=1
found "queue:m-1" n=77
found "queue:m-2 history:m-2" id=m-2 --in queue,history
found "history:m-2 history:m-1 history:m-0" correlation=c-1 --in history
found_again 3 3 correlation=c-1 --in history --limit 1
found "" 'header:reason=paid in cash'
found "" card=4711-secret --in history
found "history:m-0" type=charge --in history --queue billing
expect 0 '^history +m-0 +charge +billing .*  discarded by ' pawl find n=0

echo "== the commands that it says"
expect 0 '' pawl find header:tenant=blue --limit 200 --json
sed '$d' "$work/out" | python3 -c '
import json, sys
rows = {}
for line in sys.stdin:
    row = json.loads(line)
    rows.setdefault(row["place"], row["run"])
print("\n".join(rows.values()))' >"$work/runs"
[ "$(wc -l <"$work/runs")" = 4 ] || die "not one command of each place"
while read -r run; do
    PATH=$build_dir:$PATH bash -c "$run" >"$work/out" 2>"$work/err" || die "it fails: $run"
done <"$work/runs"

echo "== by an id, which is one of each endpoint and of each queue"
fill letters 1 20 archive/2
fill queue 1 7
found "dead:m-20 dead:m-20" id=m-20 --in dead
says read 2
found "queue:q-7 queue:q-7" id=q-7 --in queue
found "queue:q-7" id=q-7 --in queue --queue billing
found "" id=q-7 --in queue --queue nowhere
found "" id=q-7 type=charg
for place in dead:endpoint:archive/2:billing:m-20 queue:queue:shipping:billing:q-7; do
    IFS=: read -r place key first second id <<<"$place"
    expect 0 "\"$key\":\"$first\"" pawl find id="$id" --in "$place" --limit 1 --json
    run=$(sed -nE '$s/.*,"run":"(.*)"\}$/\1/p' "$work/out")
    PATH=$build_dir:$PATH bash -c "$run" >"$work/out" 2>"$work/err" || die "it fails: $run"
    grep -q "\"$key\":\"$second\"" "$work/out" || die "the second message is not found: $run"
    ! grep -q "\"$key\":\"$first\"" "$work/out" || die "the first message is found again: $run"
done
