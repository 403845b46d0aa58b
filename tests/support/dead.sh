# dead.sh - what `pawl dead` says and does, on the empty store PAWL_STORE. Sourced behind command.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

build_fill
build_app app_dead.c dead.so
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_SEEN=$work/seen

# ids WANTED OPTION ...: the ids of the letters that are listed, in order.
ids()
{
    local wanted=$1 found
    shift
    expect 0 '' pawl dead list --json "$@"
    found=$(sed -E 's/^\{"message_id":"([^"]*)",.*/\1/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "letters '$found' instead of '$wanted': $*"
}

# left N: so many letters are left.
left()
{
    local found
    found=$(number dead)
    [ "$found" = "$1" ] || die "$found letters are left, not $1"
}

has_left()
{
    [ "$(number dead)" -le "$1" ]
}

# handle: an endpoint runs until its queue is empty.
handle()
{
    start app "$work/dead.so"
    poll 120 has_ready billing 0 || die "the queue is not empty"
    stop "$pid" TERM 0
}

echo "== wrong words"
expect 2 "pawl dead show needs one ID, got 0" pawl dead show
expect 2 "did you mean show m-1\?" pawl dead list m-1
expect 2 "pawl dead retry needs message IDs, or --all" pawl dead retry
expect 2 "give --all or message IDs, not both" pawl dead retry --all m-1
expect 2 "a filter goes with --all, not with dead letters that are named" pawl dead discard m-1 --type x
expect 2 "--yes goes with --all" pawl dead discard m-1 --yes
expect 2 "--rate goes with --all" pawl dead retry m-1 --rate 5
expect 2 "--dry-run goes with --all" pawl dead retry m-1 --dry-run
expect 2 "not within 1 and 1000000" pawl dead retry --all --rate 0
expect 2 "--until: .*'noon'" pawl dead list --until noon
expect 2 "--since: .*'noon'" pawl dead list --since noon
expect 2 "pawl dead edit needs one ID, got 2" pawl dead edit m-1 m-2
expect 2 "pawl dead edit needs --body-file FILE" pawl dead edit m-1
expect 2 "pawl dead list has no option --yes: it is for discard, retry" pawl dead list --yes
expect 2 "--reason: it has 301 bytes, limit 300" pawl dead retry m-1 --reason "$(printf '%0301d' 1)"
for option in code endpoint error since type until; do
    expect 2 "--$option is empty: leave it out to match all" \
        pawl dead discard --all --yes "--$option" ''
done
expect 2 "ID is empty" pawl dead retry ''

echo "== list"
expect 0 '' pawl dead list
lines 0
fill letters 6
expect 0 '^message id +endpoint +type +at +attempts +code +error$' pawl dead list
lines 7
expect 0 '^m-0 +billing +charge +.* +6  REJECT +the bank is closed$' pawl dead list
expect 0 '^\{"message_id":"m-0","endpoint":"billing","queue":"billing","type":"charge","at":"[^"]*Z","attempts":6,"crashes":0,"code":"REJECT","error":"the bank is closed","correlation_id":"c-1","causation_id":null,"body_size":7\}$' \
    pawl dead list --json --limit 1
ids 'm-0 m-1 m-2 m-3 m-4 m-5 '
ids 'm-0 m-3 ' --type charge
ids 'm-2 m-5 ' --code EUNREACHABLE
[ ! -s "$work/err" ] || die "a code is warned of: $(cat "$work/err")"
for code in PURGED '?'; do
    ids '' --code "$code"
    [ ! -s "$work/err" ] || die "a code is warned of: $(cat "$work/err")"
done
ids '' --code EUNREACHABEL
grep -qx "pawl: warning: --code: no code of this version is 'EUNREACHABEL'; did you mean EUNREACHABLE?" "$work/err" || die "no warning"
expect 0 '^would be discarded: 0 dead letters' pawl dead discard --all --code OK --dry-run
grep -q "^pawl: warning: --code: no code of this version is 'OK'; valid are RETRY, " "$work/err" || die "no warning"
ids 'm-2 m-5 ' --error 'route to'
ids 'm-1 m-4 ' --error closed --type parcel --endpoint billing
ids '' --endpoint other
ids '' --newer 1h
ids 'm-0 m-1 m-2 m-3 m-4 m-5 ' --older 1h
at=$(pawl dead list --json | sed -nE 's/.*"m-2".*"at":"([^"]*)".*/\1/p')
ids 'm-0 m-1 m-2 ' --until "$at"
ids 'm-2 m-3 m-4 m-5 ' --since "$at"
for action in list 'discard --all --yes'; do
    # shellcheck disable=SC2086 # two words
    expect 2 "--until: nothing is as old as 1970-01-01T00:00:00Z" pawl dead $action --until 1970-01-01T00:00:00Z
done
ids '' --until 1970-01-01T00:00:00.000001Z
ids 'm-0 m-1 m-2 m-3 m-4 m-5 '

echo "== show"
expect 6 "there is no dead letter m-9: pawl why ID searches everything, pawl dead show ID --endpoint NAME" pawl dead show m-9
expect 6 "there is no dead letter m-1 of endpoint other: pawl why ID searches everything$" pawl dead show m-1 --endpoint other
expect 0 "^next +nothing by itself: .pawl dead retry 'm-1' --endpoint billing. sends it to queue billing; no worker" \
    pawl dead show m-1
grep -qE '^ +1 +2026-01-01T09:00:00Z +REJECT +closed$' "$work/out" || die "no history"
! grep -q '"n"' "$work/out" || die "a body that nobody asked for"
expect 0 '"headers":\{"tenant":"blue"\},"next":"nothing[^"]*","body":"\{\\"n\\":1\}","history":\[\{"attempt":1,"at":"2026[^}]*"code":"REJECT","error":"closed"\}\],"actions":\[\]\}$' \
    pawl dead show m-1 --json --reveal

echo "== retry of one, who and why"
expect 6 "there is no dead letter m-9" pawl dead retry m-1 m-9
left 6
expect 0 '^retried 1 dead letter$' pawl dead retry m-1 --reason "the bank's open"
grep -q '^pawl: queue billing has no consumer just now' "$work/err" || die "retry does not say that nobody reads the queue"
left 5
expect 6 "there is no dead letter m-1" pawl dead retry m-1
expect 0 "^retried +.* +$(id -un) +the bank's open$" pawl dead show m-1 --endpoint billing
handle
grep -qx 'parcel 1' "$work/seen" || die "the retried letter was not handled"
[ "$(wc -l <"$work/seen")" = 1 ] || die "more was handled"

echo "== retry of one that dies again"
touch "$work/closed"
expect 0 '^\{"retried":2,"no_longer_dead":0,"already_queued":0,"unsendable":0\}$' pawl dead retry m-0 m-3 m-0 --json
handle
left 5
expect 0 '"error":"the bank is closed".*"actions":\[\{"action":"retried","at":"[^"]*Z","by":"[^"]*","reason":null\}\]\}$' \
    pawl dead show m-0 --json
rm "$work/closed"

echo "== a copy of the message is in its queue"
expect 0 '' pawl send --to billing --type parcel --body '{"n":4}' --id m-4
expect 6 "queue billing.*message m-4 is in it already" pawl dead retry m-4
expect 0 '^retried 0 dead letters; 1 stays: a copy of the message is in its queue already' \
    pawl dead retry --all --type parcel --yes
expect 0 '^\{"retried":0,"no_longer_dead":0,"already_queued":1,"unsendable":0\}$' \
    pawl dead retry --all --type parcel --yes --json
left 5
handle

echo "== letters whose time is over: a worker would drop them"
over="the time of 1 of the dead letters is over (header pawl.expires): a worker drops it"
for year in 2026 2126; do
    expect 0 '' pawl send --to late --type parcel --body '{"n":4}' --id "y-$year" --header "pawl.expires=$year-01-01T00:00:00Z"
done
says_over()
{
    expect 0 '' pawl queue purge late --yes
    expect 0 '' pawl dead "$@"
    grep -qF "pawl: warning: $over" "$work/err" || die "no warning of the time: dead $*"
}
says_over retry y-2026 y-2126
says_over retry --all --type parcel --endpoint late --yes
says_over edit y-2026 --body-file <(printf '{"n":5}')
expect 0 '' pawl queue purge late --yes
expect 0 '' pawl dead discard y-2026
[ ! -s "$work/err" ] || die "a discard warns: $(cat "$work/err")"
expect 0 '' pawl dead retry y-2126
grep -q 'is over' "$work/err" && die "a time to come is over"
expect 0 '' pawl queue purge late --yes --discard

echo "== edit"
printf '{"n":' >"$work/bad.json"
printf '{"m":7}' >"$work/other.json"
printf '{"n":77}' >"$work/good.json"
expect 2 "bad.json: not JSON" pawl dead edit m-0 --body-file "$work/bad.json"
expect 2 "none.json" pawl dead edit m-0 --body-file "$work/none.json"
expect 2 "other.json: the new body cannot be decoded" \
    pawl dead edit m-0 --body-file "$work/other.json" --app "$work/dead.so"
left 5
expect 0 '^edited 1 dead letter$' \
    pawl dead edit m-0 --body-file "$work/good.json" --app "$work/dead.so" --reason typo
handle
grep -qx 'charge 77' "$work/seen" || die "the edited letter was not handled with its new body"
expect 0 '^edited +.*typo$' pawl dead show m-0 --endpoint billing
expect 0 '"body":"\{\\"n\\":0\}"' pawl events show pawl.dead/billing/m-0 2 --reveal --json
left 4

echo "== discard"
expect 2 "discard --all asks first" pawl dead discard --all
expect 0 '^would be discarded: 2 dead letters until ' \
    pawl dead discard --all --code EUNREACHABLE --dry-run
expect 0 '^\{"matching":2,"until":"[^"]*Z"\}$' pawl dead discard --all --type note --dry-run --json
left 4
expect 0 '^discarded 1 dead letter$' pawl dead discard m-2 --reason 'not needed'
expect 0 '^discarded +.*not needed$' pawl dead show m-2 --endpoint billing
expect 0 '"body":"\{\\"n\\":2\}"' pawl events show pawl.dead/billing/m-2 1 --reveal --json
expect 0 '^discarded 1 dead letter$' pawl dead discard --all --code EUNREACHABLE --yes
left 2
expect 0 '^discarded 2 dead letters$' pawl dead discard --all --yes
left 0
expect 0 '^discarded 0 dead letters$' pawl dead discard --all --yes

echo "== one kind of three in bulk, interrupted and gone on"
rm "$work/seen"
fill letters "$letters" 12
kind=$(((letters + 2) / 3)) # 12 divides by three: the first is a charge
expect 0 "would be retried: $kind dead letters" pawl dead retry --all --type charge --dry-run
"$build_dir/pawl" dead retry --all --type charge --rate 500 --reason "it's open" --yes \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
poll 60 has_left $((letters - 300)) || die "nothing is retried"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is interrupted"
grep -qE "^pawl: .*after [0-9]+ of $kind dead letters were retried; --until [^ ]*Z goes on: interrupted$" \
    "$work/err" || die "it does not say how far it came"
some=$(number dead)
[ "$some" -gt $((letters - kind)) ] || die "it did not stop"
again=$(sed -n 's/^pawl: if it is interrupted, this goes on: //p' "$work/err")
[ -n "$again" ] || die "it does not say how to go on"
grep -qF " --store '" <<<"$again" || die "it does not say in which store: $again"
before=$(date +%s)
expect 0 "^retried $((some - letters + kind)) dead letters$" eval "$again --yes"
[ $(($(date +%s) - before + 1)) -ge $(((some - letters + kind) / 500)) ] || die "it was faster than asked for"
left $((letters - kind))
handle
[ "$(sort -u "$work/seen" | wc -l)" = "$kind" ] || die "not each of the kind was handled"
[ "$(wc -l <"$work/seen")" = "$kind" ] || die "one was handled twice"
! grep -qv '^charge ' "$work/seen" || die "another kind was handled"
expect 0 "^retried +.*it's open$" pawl dead show m-12 --endpoint billing

echo "== what dies again meanwhile is not taken twice"
touch "$work/closed"
start app "$work/dead.so"
at=$(pawl dead list --json --limit 20 | tail -n 1 | sed -E 's/.*"at":"([^"]*)".*/\1/')
expect 0 '^retried 20 dead letters$' pawl dead retry --all --until "$at" --rate 40 --yes
poll 60 has_ready billing 0 || die "the queue is not empty"
poll 60 eval "[ \$(number dead) = $((letters - kind)) ]" || die "they did not die again"
stop "$pid" TERM 0
ids '' --until "$at"
