#!/usr/bin/env bash
# command_projection.sh - pawl projection: how far projections are, and what one waits for.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
build_app app_projection.c projection.so
export PAWL_STORE=sqlite:$work/projection.db PAWL_DRIVER_PATH=$build_dir PAWL_TEST_CLOSED=$work/closed PAWL_TEST_SEEN=$work/seen

# has_projection NAME REGEX: the object of the projection has that in it.
has_projection()
{
    pawl projection list --json 2>/dev/null | grep "^{\"projection\":\"$1\"" >"$work/out"
    grep -qE -- "$2" "$work/out"
}

# saw COUNT: projection "all" was called for so many events.
saw()
{
    [ "$(wc -l <"$PAWL_TEST_SEEN")" -ge "$1" ]
}

echo "== wrong words"
expect 2 "pawl projection needs ACTION; valid are list, rebuild, restart, show" pawl projection
expect 2 "pawl projection show needs one NAME, got 0" pawl projection show
expect 2 "pawl projection list takes options, not 'names'; did you mean show names\?" pawl projection list names
expect 2 "NAME is empty" pawl projection show ''
expect 2 "NAME: byte 0 is not UTF-8" pawl projection show $'\xff'
expect 2 "pawl projection restart needs one NAME, got 0" pawl projection restart
expect 2 "pawl projection rebuild needs one NAME, got 0" pawl projection rebuild
expect 2 "--from: '0' is not a global position" pawl projection rebuild names --from 0 --yes
expect 2 "--from: 'first' is not a global position" pawl projection rebuild names --from first --yes
expect 2 "--reason: byte 0 is not UTF-8" pawl projection restart names --reason $'\xff'
expect 3 "projection.db: No such file" pawl projection list
expect 3 "projection.db: No such file" pawl projection restart names
[ ! -e "$work/projection.db" ] || die "looking made a database"

echo "== none"
expect 0 '' pawl schema apply
expect 0 '' pawl projection list
grep -q '^no projection ran here$' "$work/err" || die "no word that there is none"
expect 0 '' pawl projection list --json
lines 0
expect 6 "there is no projection 'names'; none ran here$" pawl projection show names
expect 6 "there is no projection 'names'; none ran here$" pawl projection restart names
expect 6 "there is no projection 'names'; none ran here$" pawl projection rebuild names --yes

echo "== one fails"
touch "$PAWL_TEST_CLOSED"
start app "$work/projection.so"
for number in 1 2 3; do
    expect 0 '' pawl send --to boxes --type put --body "{\"box\":\"b-1\",\"number\":$number}"
done
poll 20 has_projection all '"state":"read","position":3,"lag":0' || die "projection all does not read"
poll 20 has_projection names '"state":"failing","position":0,"lag":3,"last":3' || die "projection names does not fail"
grep -qE '"failing_since":"[^"]+Z","failed_at":"[^"]+Z","attempts":[0-9]+,"next_attempt":"[^"]+Z","event_position":1,"event_stream":"Box/b-1","event_version":1,"event_type":"noted","endpoint":"boxes","code":"EPERSIST","error":"the bank is closed for number 1"\}$' "$work/out" ||
    die "not why"
has_projection names '"worker":"[0-9a-f-]{36}"' || die "not who reads"
expect 0 '^names +failing +0 +3 .*the bank is closed for number 1$' pawl projection list
expect 0 '^all +read +3 +0$' pawl projection list
lines 3
expect 0 '^next +(in .*|about now it is tried again:) event Box/b-1, version 1, and all behind it wait for it: ' pawl projection show names
grep -qE "^event stream +Box/b-1$" "$work/out" || die "not which event"
expect 0 '"next":"it waits for events","actions":\[\]\}$' pawl projection show all --json
expect 6 "there is no projection 'nams'; there are: all, names$" pawl projection show nams

echo "== a restart tries now"
expect 6 "nothing blocks projection all: it is at global position 3$" pawl projection restart all
expect 0 '^restarted projection names at event Box/b-1, version 1$' pawl projection restart names --reason 'the bank opens'
poll 20 has_projection names '"attempts":[12],' || die "its tries are not counted anew"
expect 0 '"restarted":"names","event_position":1\}$' pawl projection restart names --json
expect 0 '^restarted .* the bank opens$' pawl projection show names
expect 0 '"actions":\[\{"action":"restarted","at":"[^"]+Z","by":"[^"]+","reason":"the bank opens"\},' pawl projection show names --json
expect 6 'worker [0-9a-f-]{36} reads for projection all: stop the programs .*; with a .reset, or handlers that write the same rows again: --while-read$' pawl projection rebuild all --yes

echo "== nobody reads"
poll 20 has_projection all '"position":5,"lag":0' || die "all does not read on"
stop "$pid" TERM 0
has_projection names '"state":"failing".*"worker":null' || die "a dead worker reads"
expect 0 '^next +nothing by itself, as no worker that runs the projection is alive; event Box/b-1' pawl projection show names
has_projection all '"state":"no consumer","position":5,"lag":0,"last":5,"worker":null,"failing_since":null' || die "who reads all"
expect 0 '"next":"nothing by itself: no worker that runs the projection is alive","actions":\[\]\}$' pawl projection show all --json
# What a terminal would obey, in a copy.
"$work/sql" "$work/projection.db" "vacuum into '$work/calm.db'" || die "no copy"
"$work/sql" "$work/calm.db" "update pawl_folds set State = replace(State, 'Box/b-1', 'Box/b\u001b-1')" || die "no sql"
expect 0 '^restarted projection names at event Box/b\?-1, version 1; ' pawl projection restart names --store "sqlite:$work/calm.db"

echo "== an upgrade does not ask whose row that is"
expect 0 '"rows":6,"findings":\[\],"more":0,"warnings":\[\]' pawl saga verify-upgrade --app "$work/projection.so" --json

echo "== it goes on"
rm "$PAWL_TEST_CLOSED"
start app "$work/projection.so"
poll 20 has_projection names '"state":"read","position":5,"lag":0,"last":5,"worker":"[0-9a-f-]{36}","failing_since":null,"failed_at":null,"attempts":null' ||
    die "names does not go on"

echo "== one begins anew"
seen=$(wc -l <"$PAWL_TEST_SEEN")
expect 0 '^projection all reads 5 events again, from global position 1$' pawl projection rebuild all --while-read --yes
poll 20 saw $((seen + 3)) || die "it does not read again"
poll 20 has_projection all '"state":"read".*"lag":0' || die "it does not come to the end"
stop "$pid" TERM 0
expect 2 'rebuild asks first, and standard input is not a terminal: give --yes$' pawl projection rebuild all </dev/null
expect 2 'projection all has read up to global position [0-9]+, so it cannot go back to 99$' pawl projection rebuild all --from 99 --yes
expect 6 "no event is of 2999-01-01T00:00:00Z or later$" pawl projection rebuild all --from 2999-01-01T00:00:00Z --yes
expect 0 '^\{"rebuilt":"all","from":2,"events":[0-9]+\}$' pawl projection rebuild all --from 2 --yes --json
has_projection all '"state":"no consumer","position":1' || die "not set back"
start app "$work/projection.so"
poll 20 saw $((seen + 5)) || die "it does not read on from event 2"
poll 20 has_projection all '"lag":0' || die "it does not come to the end"
stop "$pid" TERM 0
[ "$(wc -l <"$PAWL_TEST_SEEN")" -eq $((seen + 5)) ] || die "it read event 1 again"
expect 0 '^projection all reads [0-9]+ events again, from global position 1, once a worker runs it$' pawl projection rebuild all --from 2020-01-01T00:00:00Z --yes --reason 'a new column'
expect 0 '^rebuilt .* a new column$' pawl projection show all
expect 0 '"findings":\[\],"more":0,"warnings":\[\]' pawl saga verify-upgrade --app "$work/projection.so" --json
