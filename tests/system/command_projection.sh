#!/usr/bin/env bash
# command_projection.sh - pawl projection: how far projections are, and what one waits for.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_projection.c projection.so
export PAWL_STORE=sqlite:$work/projection.db PAWL_DRIVER_PATH=$build_dir PAWL_TEST_CLOSED=$work/closed

# has_projection NAME REGEX: the object of the projection has that in it.
has_projection()
{
    pawl projection list --json 2>/dev/null | grep "^{\"projection\":\"$1\"" >"$work/out"
    grep -qE -- "$2" "$work/out"
}

echo "== wrong words"
expect 2 "pawl projection needs ACTION; valid are list, show" pawl projection
expect 2 "pawl projection show needs the projection's NAME" pawl projection show
expect 2 "pawl projection list takes options, not 'names'; did you mean show names\?" pawl projection list names
expect 2 "NAME is empty" pawl projection show ''
expect 2 "NAME: byte 0 is no UTF-8" pawl projection show $'\xff'
expect 3 "projection.db: No such file" pawl projection list
[ ! -e "$work/projection.db" ] || die "looking made a database"

echo "== none"
expect 0 '' pawl schema apply
expect 0 '' pawl projection list
grep -q '^no projection ran here$' "$work/err" || die "no word that there is none"
expect 0 '' pawl projection list --json
lines 0
expect 6 "there is no projection 'names'; none ran here$" pawl projection show names

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
expect 0 '"next":"it waits for events"\}$' pawl projection show all --json
expect 6 "there is no projection 'nams'; there are: all, names$" pawl projection show nams

echo "== nobody reads"
stop "$pid" TERM 0
has_projection names '"state":"failing".*"worker":null' || die "a dead worker reads"
expect 0 '^next +nothing by itself, as no worker that runs the projection is alive; event Box/b-1' pawl projection show names
has_projection all '"state":"unread","position":3,"lag":0,"last":3,"worker":null,"failing_since":null' || die "who reads all"
expect 0 '"next":"nothing by itself: no worker that runs the projection is alive"\}$' pawl projection show all --json

echo "== an upgrade does not ask whose row that is"
expect 0 '"rows":4,"findings":\[\],"more":0,"warnings":\[\]' pawl saga verify-upgrade --app "$work/projection.so" --json

echo "== it goes on"
rm "$PAWL_TEST_CLOSED"
start app "$work/projection.so"
poll 20 has_projection names '"state":"read","position":3,"lag":0,"last":3,"worker":"[0-9a-f-]{36}","failing_since":null,"failed_at":null,"attempts":null' ||
    die "names does not go on"
stop "$pid" TERM 0
