#!/usr/bin/env bash
# command_bulk.sh - pawl bulk on SQLite: a frozen selection, worked off, interrupted, gone on with and stopped.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/bulk.db PAWL_DRIVER_PATH=$build_dir
expect 3 "bulk.db: No such file or directory" pawl bulk list
expect 0 '' pawl schema apply
build_fill
me=$(id -un)

# id_of: of the action that was begun last.
id_of()
{
    sed -nE 's/^\{"id":"([0-9a-f]{8})".*/\1/p' "$work/out"
}

# state_is ID STATE DONE
state_is()
{
    pawl bulk show "$1" --json >"$work/shown" 2>/dev/null && grep -q "\"state\":\"$2\",\"done\":$3," "$work/shown"
}

echo "== wrong words"
expect 2 "behind --, one of: dead retry, dead discard, queue purge, queue move" pawl bulk start
expect 2 "one of: dead retry" pawl bulk start -- dead list
expect 2 "one of: dead retry" pawl bulk start -- saga delete
expect 2 "^pawl: --yes does not belong to the words" pawl bulk start -- dead retry --yes
expect 2 "^pawl: --store does not belong" pawl bulk start -- dead retry --store=sqlite:other.db
expect 2 "^pawl: --reason does not belong" pawl bulk start -- dead retry --reason x
expect 2 "^pawl: --app does not belong" pawl bulk start -- dead retry --saga order/1 --app=evil.so
expect 2 "give --all or message IDs, not both" pawl bulk start -- dead retry --type x -- m-1
expect 2 "dead discard: say which, by --all or what they have in common" pawl bulk start -- dead discard
expect 2 "dead discard: say which, by --all or what they have in common" pawl bulk start -- dead discard --rate 50
expect 2 "dead retry: say which, by --all" pawl bulk start -- dead retry --saga-prefix=x --deadline 5s
expect 2 "dead retry: say which, by --all" pawl bulk start -- dead retry -- --type
for word in --help -h; do expect 2 "^pawl: $word does not belong" pawl bulk start -- queue move billing other $word; done
expect 2 "no option --nonsense" pawl bulk start -- dead retry --type x --nonsense
expect 2 "pawl bulk run needs one ID" pawl bulk run
expect 2 "pawl bulk list takes options, not 'x'" pawl bulk list x
expect 6 "there is no bulk action 12345678: pawl bulk list" pawl bulk run 12345678
expect 6 "there is no bulk action 12345678" pawl bulk show 12345678
expect 6 "there is no bulk action 12345678" pawl bulk stop 12345678
expect 0 '' pawl bulk list --json
lines 0

echo "== the selection is frozen, and nothing is done before it runs"
fill letters 30
expect 0 '^\{"id":"[0-9a-f]{8}","total":10\}$' pawl bulk start --reason "the bank's fault" --json -- dead retry --type charge
id=$(id_of)
expect 0 "\"id\":\"$id\",\"state\":\"open\",\"done\":0,\"total\":10,\"left\":null,\"command\":\"dead retry --until=[^\"]*Z --all --type charge\",\"started\":\"[^\"]*Z\",\"ended\":null,\"by\":\"$me\",\"reason\":\"the bank's fault\",\"result\":null" \
    pawl bulk list --open --json
[ "$(number dead)" = 30 ] || die "something was done already"
expect 0 "^\{\"id\":\"$id\",\"result\":\{\"retried\":10,\"no_longer_dead\":0,\"already_queued\":0,\"unsendable\":0\}\}\$" pawl bulk run "$id" --json
[ "$(number dead)" = 20 ] || die "letters of another kind were taken"
state_is "$id" finished 10 || die "it is not finished: $(cat "$work/shown")"
grep -q '"total":10,"left":0,' "$work/shown" || die "another number is left: $(cat "$work/shown")"
grep -q '"actions":\[{"action":"started",.*"action":"finished"' "$work/shown" || die "its course is not there"
expect 6 "bulk action $id is finished" pawl bulk run "$id"
expect 6 "bulk action $id is finished already" pawl bulk stop "$id"
expect 0 '' pawl bulk list --open --json
lines 0
expect 0 "\"by\":\"$me\",\"reason\":\"the bank's fault\"" pawl dead show m-0 --endpoint billing --json

echo "== an action that is interrupted goes on where it stands"
fill letters 900 1000
expect 0 '"total":310\}$' pawl bulk start --json -- dead retry --type parcel --rate 100
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 880 ]' || die "nothing is retried"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is interrupted: $(cat "$work/run.err")"
left=$(number dead)
[ "$left" -gt 610 ] || die "it did not stop"
state_is "$id" open $((920 - left)) || die "it tells another number than it did: $(cat "$work/shown")"
expect 0 "\"id\":\"$id\",\"state\":\"open\"" pawl bulk list --open --json
expect 0 "\"retried\":$((left - 610))," pawl bulk run "$id" --json
[ "$(number dead)" = 610 ] || die "not each of the kind was retried"
[ "$(queue_ready billing)" = 320 ] || die "$(queue_ready billing) messages are in the queue: some were sent twice, or not"

echo "== an action that somebody stops"
expect 0 '"total":310\}$' pawl bulk start --json -- dead discard --type note --rate 100
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 580 ]' || die "nothing is discarded"
expect 0 '^stopped; what was done stays$' pawl bulk stop "$id" --reason "wrong kind"
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is stopped"
grep -qx "pawl: sqlite:.*bulk action $id was stopped" "$work/run.err" || die "it does not say why: $(cat "$work/run.err")"
left=$(number dead)
[ "$left" -gt 300 ] || die "it was not stopped"
state_is "$id" stopped $((610 - left)) || die "it tells another number than it did: $(cat "$work/shown")"
grep -q '"left":null,' "$work/shown" || die "it tells how many are left: $(cat "$work/shown")"
expect 6 "bulk action $id is stopped" pawl bulk run "$id"
expect 0 '"action":"stopped".*"reason":"wrong kind"' pawl bulk show "$id" --json

echo "== messages in a queue"
expect 0 '"total":320\}$' pawl bulk start --json -- queue move billing elsewhere
id=$(id_of)
expect 0 '--last=' pawl bulk show "$id"
expect 0 '' pawl send --to billing --type later --id later --body '{}'
expect 0 '"moved":320' pawl bulk run "$id" --json
[ "$(queue_ready billing)" = 1 ] || die "a message that was sent later was moved"
expect 6 "there is no queue nowhere" pawl bulk start -- queue purge nowhere
expect 0 '' pawl send --to short --type later --id later --body '{}'
expect 0 '"total":1\}$' pawl bulk start --json -- queue move short elsewhere
id=$(id_of)
expect 0 '' pawl queue purge short --discard --yes
expect 6 "there is no queue short" pawl queue show short
expect 0 '"moved":0' pawl bulk run "$id" --json

echo "== the queue stands behind --"
expect 0 '"total":[1-9][0-9]*\}$' pawl bulk start --json -- queue move --type charge -- elsewhere charged
expect 0 '^\{.*"moved":[1-9].*\}$' pawl bulk run "$(id_of)"
lines 1

echo "== a selection of nothing is no action"
before=$(pawl bulk list --json | wc -l)
expect 0 '^\{"id":null,"total":0\}$' pawl bulk start --json -- dead retry --type late
expect 0 '^nothing matches: no bulk action was begun$' pawl bulk start -- queue purge billing --where type=late
expect 0 '' pawl bulk list --json
lines "$before"

echo "== ages and times to come are frozen too"
expect 0 '"total":[1-9]' pawl bulk start --json -- dead discard --newer 30d --until 2999-01-01T00:00:00Z
id=$(id_of)
expect 0 '"command":"dead discard --until=20[0-8][^ ]* --since=20[^ ]* --all","started"' pawl bulk show "$id" --json
expect 0 '"total":1\}$' pawl bulk start --json -- queue purge billing --last 999999
expect 0 '"command":"queue purge --last=[0-9]{1,5} billing","started"' pawl bulk show "$(id_of)" --json
before=$(number dead)
expect 0 '' pawl send --to late --type late --id late --body '{}'
expect 0 '' pawl queue purge late --yes
expect 0 "\"discarded\":$before," pawl bulk run "$id" --json
expect 0 '"code"' pawl dead list --type late --json
fill letters 90 5000

echo "== what --due selects is frozen: a message that becomes due later is not of it"
expect 2 "--due-at is for --due" pawl queue purge soon --due-at 2026-01-01T00:00:00Z --dry-run
for id in due-1 due-2; do expect 0 '' pawl send --to soon --type due --id $id --body '{}'; done
expect 0 '' pawl send --to soon --type due --id later-1 --body '{}' --delay 4s
expect 0 '^would be discarded: 2 messages of queue soon, as of 20[0-9T:.-]*Z$' pawl queue purge soon --due now --discard --dry-run
expect 0 '"total":2\}$' pawl bulk start --json -- queue purge soon --due now --discard --rate 50
id=$(id_of)
expect 0 '"command":"queue purge --last=[0-9]* --due-at=20[0-9T:.-]*Z soon --due now --discard' pawl bulk show "$id" --json
poll 60 has_ready soon 3 || die "the message does not become due"
expect 0 '"discarded":2,"left":0,"due_at":"20[0-9T:.-]*Z","last":' pawl bulk run "$id" --json
expect 0 '"message_id":"later-1"' pawl queue peek soon --json
lines 1
for id in due-3 due-4 due-5; do expect 0 '' pawl send --to soon --type due --id $id --body '{}'; done
at=$(date -u +%Y-%m-%dT%H:%M:%SZ -d '1 hour')
expect 0 '"matching":4,"left":0,"due_at":"20' pawl queue purge soon --due now --due-at "$at" --dry-run --json
expect 0 '^\{"queue":"soon","matching":0,' pawl queue purge soon --due later --due-at "$at" --dry-run --json
expect 0 '^moved 4 messages of queue soon to done$' pawl queue move soon done --due now --due-at "$at" --rate 1000 --yes
grep -Eq '^pawl: if it is interrupted, the same command with --last [0-9]+ --due-at 20[0-9T:.-]+Z goes on$' "$work/err" ||
    die "it does not say how to go on: $(cat "$work/err")"

echo "== a value that looks like an option is a value"
python3 - "$work/bulk.db" "--until" "--all" "it's; touch $work/touched" <<'EOF' || die "no letters with such errors"
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    store.execute("create temp table copied as select * from pawl_dead where Type = 'charge' limit 1")
    for i, text in enumerate(sys.argv[2:]):
        store.execute("update copied set MessageId = ?, Error = ?", (f"error-{i}", text))
        store.execute("insert into pawl_dead select * from copied")
EOF
expect 0 '"total":1\}$' pawl bulk start --json -- dead retry --error --until --type charge
id=$(id_of)
expect 0 '"command":"dead retry --until=[^ ]*Z --all --error --until --type charge"' pawl bulk show "$id" --json
expect 0 '"retried":1,' pawl bulk run "$id" --json
expect 0 '"total":1\}$' pawl bulk start --json -- dead retry --error --all
expect 0 '"command":"dead retry --until=[^ ]*Z --all --error --all"' pawl bulk show "$(id_of)" --json
expect 0 '' pawl bulk stop "$(id_of)"
expect 2 "dead retry: say which, by --all" pawl bulk start -- dead retry --deadline --type

echo "== a command that is pasted has the same words"
expect 0 '"total":1\}$' pawl bulk start --json -- dead retry --error "it's; touch $work/touched"
id=$(id_of)
expect 0 '' pawl bulk show "$id" --json
command=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["command"])' "$work/out")
PATH=$build_dir:$PATH bash -c "pawl $command --yes" >"$work/pasted" 2>&1 || die "'$command' fails: $(cat "$work/pasted")"
[ ! -e "$work/touched" ] || die "'$command' does more"
grep -q '^retried 1 ' "$work/pasted" || die "'$command' selects nothing: $(cat "$work/pasted")"
expect 0 '' pawl bulk stop "$id"
expect 0 '' pawl dead discard error-1 --reason "no more of it"

echo "== the words come from the store: no others run"
expect 0 '' pawl bulk start --json -- dead retry --type charge
id=$(id_of)
for words in '["schema","drop","--yes"]' '["dead","retry","--all","--app=./evil.so"]' '["run"]' '[1,2]' '{}'; do
    python3 - "$work/bulk.db" "pawl.bulk/$id" "$words" <<'EOF' || die "the words are not changed"
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    (headers,) = store.execute("select Headers from pawl_events where Stream = ?", sys.argv[2:3]).fetchone()
    headers = json.dumps({**json.loads(headers), "words": sys.argv[3]})
    store.execute("update pawl_events set Headers = ? where Stream = ?", (headers, sys.argv[2]))
EOF
    expect 2 "bulk action $id: .*does not belong to the words|bulk action $id: .*one of: dead retry|$id has no words" \
        pawl bulk run "$id"
done
expect 0 '' pawl bulk stop "$id"
[ "$(number dead)" = 91 ] || die "words that were not of a bulk action ran"

echo "== a driver that is loaded by its path is loaded by the process of the action, too"
mkdir "$work/alone"
cp -L "$build_dir"/libpawl.so.* "$work/alone"
far() { LD_LIBRARY_PATH=$work/alone PAWL_DRIVER_PATH='' "$build_dir/pawl" "$@"; }
if ! far stats >/dev/null 2>&1; then # the library has no driver beside it
    expect 0 '"total":1\}$' far --load "$build_dir/libpawl-sqlite.so" bulk start --json -- dead retry --type late
    expect 0 '^stopped' far --load "$build_dir/libpawl-sqlite.so" bulk stop "$(id_of)"
fi

echo "== another user began it"
expect 0 '"total":1\}$' pawl bulk start --json -- dead discard --type late
id=$(id_of)
python3 - "$work/bulk.db" "pawl.bulk/$id" "$me" <<'EOF' || die "it has no other user"
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    store.execute("update pawl_events set Headers = replace(Headers, ?, '\"alice\"') where Stream = ?", (f'"{sys.argv[3]}"', sys.argv[2]))
EOF
expect 0 '"discarded":1,' pawl bulk run "$id" --json
expect 0 "\"action\":\"discarded\",\"at\":\"[^\"]*\",\"by\":\"$me \(alice\)\"" pawl dead show late --endpoint late --json

echo "== two at once: each letter once, and one end"
expect 0 '"total":30\}$' pawl bulk start --json -- dead retry --type parcel --rate 20
id=$(id_of)
pids=()
for i in 1 2; do
    "$build_dir/pawl" bulk run "$id" --json >"$work/run$i.out" 2>"$work/run$i.err" </dev/null &
    pids+=($!)
done
for i in 1 2; do wait "${pids[i - 1]}" || die "run $i ended with $?: $(cat "$work/run$i.err")"; done
state_is "$id" finished 30 || die "it is not finished: $(cat "$work/shown")"
[ "$(grep -o '"action":"finished"' "$work/shown" | wc -l)" = 1 ] || die "it ended twice: $(cat "$work/shown")"
[ "$(number dead)" = 60 ] || die "not each was retried"

echo "== a run that is killed leaves nobody who goes on; the next one says how many are done in all"
expect 0 '"total":30\}$' pawl bulk start --json -- dead discard --type charge --rate 2
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 56 ]' || die "nothing is discarded"
child=$(pgrep -P $pid)
kill -KILL $pid
wait $pid 2>/dev/null
left=$(number dead)
poll 3 is_gone "$child" || die "the process of a run that was killed goes on"
[ $((left - $(number dead))) -le 2 ] || die "the process of a run that was killed went on for a while"
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval 'pawl bulk show "$id" --json | grep -q "\"done\":[1-9]"' || die "it says nothing about how far it is"
state_is "$id" open '2[3-9]' || die "those of the first run are not counted: $(cat "$work/shown")"
wait $pid || die "it did not end well: $(cat "$work/run.err")"
[ "$(number dead)" = 30 ] || die "not each was discarded"

echo "== a process of an action that is killed"
expect 0 '"total":30\}$' pawl bulk start --json -- dead discard --rate 2 --all
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 28 ]' || die "nothing is discarded"
kill -KILL "$(pgrep -P $pid)"
wait $pid
[ $? = 5 ] || die "another exit code than 5: $(cat "$work/run.err")"
[ "$(cat "$work/run.err")" = "pawl: $PAWL_STORE: the process of the action was killed; what was committed stays" ] ||
    die "it says something else: $(cat "$work/run.err")"

echo "== what is left as it was is not done"
fill letters 30 9000
twice=$(pawl dead list --type parcel --json --limit 1 | sed -E 's/^\{"message_id":"([^"]*)".*/\1/')
expect 0 '' pawl send --to billing --type parcel --id "$twice" --body '{"n":1}'
expect 0 '"total":10\}$' pawl bulk start --json -- dead retry --type parcel
id=$(id_of)
expect 0 '"retried":9,"no_longer_dead":0,"already_queued":1,' pawl bulk run "$id" --json
state_is "$id" finished 9 || die "it says something else: $(cat "$work/shown")"

echo "== the actions that were started together are listed, each of them, the newest first"
before=$(pawl bulk list --json | wc -l)
for i in 1 2 3 4 5 6; do
    "$build_dir/pawl" bulk start --json --reason "r$i" -- dead discard --all >>"$work/started" 2>&1 &
done
wait
[ "$(grep -c '"total":' "$work/started")" = 6 ] || die "not each was started: $(cat "$work/started")"
expect 0 '' pawl bulk list --json
lines $((before + 6))
sed -nE 's/.*"started":"([^"]*)".*/\1/p' "$work/out" | sort -rc || die "they are not in order"
newest=$(sed -nE '1s/^\{"id":"([^"]*)".*/\1/p' "$work/out")
expect 0 "\"id\":\"$newest\"" pawl bulk list --limit 1 --json
lines 1
expect 0 '' pawl events list --operators --limit 100 --json
[ "$(grep -c 'pawl.bulk_list' "$work/out")" = 0 ] || die "the list is an action of an operator"

echo "== an action whose stream is gone is passed over"
python3 - "$work/bulk.db" "pawl.bulk/$newest" <<'END' || die "its events are not deleted"
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    count = store.execute("delete from pawl_events where Stream = ?", sys.argv[2:]).rowcount
sys.exit(count < 1)
END
expect 0 '' pawl bulk list --json
lines $((before + 5))
