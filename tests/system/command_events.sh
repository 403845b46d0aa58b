#!/usr/bin/env bash
# command_events.sh - looking at the journal.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_fill
export PAWL_STORE=sqlite:$work/events.db PAWL_DRIVER_PATH=$build_dir

# events WANTED OPTION ...: stream:version of those that are listed, in order.
events()
{
    local wanted=$1 found
    shift
    expect 0 '' pawl events list --json "$@"
    found=$(sed -E 's/.*"stream":"([^"]+)","version":([0-9]+),.*/\1:\2/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "events '$found' instead of '$wanted': $*"
}

echo "== wrong words"
expect 2 "pawl events needs ACTION; valid are list, show" pawl events
expect 2 "pawl events show needs STREAM \[VERSION\], got 0" pawl events show
expect 2 "did you mean show Account/7\?" pawl events list Account/7
expect 2 "'first' is not a version of an event: they begin at 1" pawl events show Account/7 first
expect 2 "'0' is not a version" pawl events show Account/7 0
expect 2 "give --stream or --by-position" pawl events list --stream Account/7 --by-position
expect 2 "pawl events list has no option --reveal: it is for show" pawl events list --reveal
for option in stream type message-id correlation-id; do
    expect 2 "--$option is empty: leave it out to match all" pawl events list "--$option" ''
    expect 2 "--$option: byte 1 is not UTF-8" pawl events list "--$option" $'x\xff'
done
expect 2 "STREAM is empty" pawl events show ''
expect 2 "STREAM: byte 8 is not UTF-8" pawl events show $'Account/\xff'
expect 3 "events.db: No such file" pawl events list
[ ! -e "$work/events.db" ] || die "looking made a database"

echo "== list"
expect 0 '' pawl schema apply
expect 0 '' pawl events list
grep -q '^no event matches$' "$work/err" || die "no word that nothing matches"
fill events
expect 0 '^seq  global position  stream     version  type       at +message id$' pawl events list
lines 5
expect 0 '^  3 +3  Account/7 +2  Deposited  [0-9T:-]+Z \(3(\.[0-9])? m ago\)  m-3$' pawl events list
! grep -q ' $' "$work/out" || die "blanks at the end of a line"
events 'Account/7:1 Account/8:1 Account/7:2 Account/7:3 '
events 'Account/7:1 Account/7:2 Account/7:3 ' --stream Account/7
events 'Account/7:2 Account/7:3 ' --stream Account/7 --after 1
events 'Account/7:3 Account/7:2 ' --stream Account/7 --backward --limit 2
events 'Account/7:1 ' --stream Account/7 --backward --after 2
events 'Account/7:3 Account/7:2 Account/8:1 Account/7:1 ' --backward
events 'Account/7:1 Account/8:1 ' --by-position --limit 2
events 'Account/7:3 ' --by-position --after 3
events 'Account/7:1 Account/8:1 Account/7:2 Account/7:3 ' --after 0
events 'Account/7:1 Account/8:1 ' --type Opened
events 'Account/8:1 ' --message-id m-2
events 'Account/7:1 Account/8:1 Account/7:2 Account/7:3 ' --correlation-id c-1
events '' --stream Account/6
! grep -q 4711 "$work/out" || die "a body in a list"
expect 0 '^\{"seq":1,"position":1,"stream":"Account/7","version":1,"type":"Opened","type_version":2,"at":"[^"]+Z","message_id":"m-1","correlation_id":"c-1","causation_id":null,"dispatch_id":null,"body_size":22\}$' \
    pawl events list --json --limit 1

echo "== show"
expect 0 'show STREAM .VERSION. +all events of the stream, or one of them$' pawl events --help
expect 0 '^body size +22 bytes; --reveal shows it$' pawl events show Account/7
[ "$(grep -c '^version  ' "$work/out")" = 3 ] || die "not three events"
! grep -q 4711 "$work/out" || die "a body that nobody asked for"
expect 0 '^body +\{"card":"4711-secret"\}$' pawl events show Account/7 2 --reveal
[ "$(grep -c '^version  ' "$work/out")" = 1 ] || die "not one event"
expect 0 '"type":"Deposited".*"headers":\{"tenant":"blue"\},"body":"\{\\"card\\"' \
    pawl events show Account/7 2 --reveal --json
lines 1
expect 6 'stream Account/7: there is no version 9$' pawl events show Account/7 9
expect 6 'stream Account/6: there is no event$' pawl events show Account/6

echo "== many, page by page"
fill events 250
expect 0 '' pawl events list
lines 101
grep -q '^these are 100; there are more' "$work/err" || die "no word about the rest"
expect 0 '' pawl events list --stream Account/9 --limit 250
lines 251
[ ! -s "$work/err" ] || die "a word about a rest that is not there"
expect 0 '' pawl events list --stream Account/9 --backward --json
lines 250
[ "$(sed -E 's/.*"version":([0-9]+),.*/\1/' "$work/out")" = "$(seq 250 -1 1)" ] || die "not every one once"
expect 0 '' pawl events show Account/9 --json
lines 250
[ "$(sed -E 's/.*"version":([0-9]+),.*/\1/' "$work/out")" = "$(seq 250)" ] || die "not every one once"

echo "== what operators did"
export PAWL_STORE=sqlite:$work/operators.db
expect 0 '' pawl schema apply
expect 0 '' pawl events list --operators
grep -q '^no action matches$' "$work/err" || die "no word that nobody did anything"
fill letters 3
fill events
expect 0 '' pawl queue pause billing --reason "the bank is down"
expect 0 '' pawl queue resume billing
expect 0 '' pawl dead discard --all --yes --reason "no use"
expect 0 '^seq +at +action +stream +version +by +reason$' pawl events list --operators
lines 6
expect 0 '' pawl events list --operators --json
[ "$(sed -E 's/.*"action":"([a-z_]+)",.*/\1/' "$work/out" | tr '\n' ' ')" = "dead_discarded dead_discarded dead_discarded queue_resumed queue_paused " ] ||
    die "other actions"
paused=$(tail -n 1 "$work/out")
[[ $paused == '{"seq":'*',"stream":"pawl.queue/billing","version":1,"by":"'"$(id -un)"'","reason":"the bank is down"}' ]] || die "who and why"
resumed=$(sed -nE '4s/^\{"seq":([0-9]+),.*/\1/p' "$work/out")
expect 0 '"action":"queue_paused"' pawl events list --operators --json --after "$resumed"
lines 1
expect 0 '"action":"dead_discarded"' pawl events list --operators --json --limit 2
lines 2
for option in "--stream x" "--type x" "--message-id x" "--correlation-id x" --by-position; do
    # shellcheck disable=SC2086
    expect 2 "--operators goes with --after and --limit, not with other filters" pawl events list --operators $option
done
python3 - "$work/operators.db" <<'EOF' || die "no events"
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    columns = [row[1] for row in store.execute("pragma table_info(pawl_events)") if row[1] != "Seq"]
    for stream, count in ("pawl.process/w-1", 1), ("Account/many", 99999):  # of a crash, and of the application
        own = {"Stream": f"'{stream}'", "Version": "i", "Headers": """'{"by":"ann"}'"""}
        store.execute(f"with recursive n(i) as (select 1 union all select i + 1 from n where i < {count}) insert into pawl_events "
                      f"({', '.join(columns)}) select {', '.join(own.get(name, name) for name in columns)} from n, "
                      "(select * from pawl_events where Stream = 'Account/7' limit 1)")
EOF
expect 0 '' pawl events list --operators --json
lines 0
after=$(sed -nE 's/^the newest 100000 events were read; older ones: --after ([0-9]+)$/\1/p' "$work/err")
expect 0 '' pawl events list --operators --json --after "${after:?}"
lines 5
[ ! -s "$work/err" ] || die "a word about older events that are not there"
expect 0 '' pawl events list --operators --json --after 100001
lines 5
[ ! -s "$work/err" ] || die "a word about older events where all were read"
