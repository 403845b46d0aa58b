#!/usr/bin/env bash
# command_aggregator.sh - pawl aggregator: partitions, and what to do with one that is dead.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_aggregator.c aggregator.so
export PAWL_STORE=sqlite:$work/aggregator.db PAWL_DRIVER_PATH=$build_dir PAWL_TEST_CLOSED=$work/closed

# partition NAME REGEX: its object has that in it.
partition()
{
    pawl aggregator list --json --app "$work/aggregator.so" 2>/dev/null | grep "^{\"partition\":\"$1\"" >"$work/out"
    grep -qE -- "$2" "$work/out"
}
post() # DEPOT N
{
    expect 0 '' pawl send --to post --type parcel --body "{\"depot\":\"$1\",\"n\":$2}"
}

echo "== wrong words"
expect 2 "pawl aggregator needs ACTION; valid are list, remove, run-now, show" pawl aggregator
expect 2 "pawl aggregator list takes options, not 'vans'; did you mean show vans\?" pawl aggregator list vans
for action in show run-now remove; do
    expect 2 "pawl aggregator $action needs one PARTITION, got 0" pawl aggregator $action
    expect 2 "PARTITION is empty" pawl aggregator $action ''
    expect 2 "PARTITION: byte 0 is not UTF-8" pawl aggregator $action $'\xff'
done
expect 2 "--aggregator is empty" pawl aggregator list --aggregator ''
expect 2 "has no option --yes: it is for remove" pawl aggregator run-now vans --yes
expect 2 "--reason: it has 5000 bytes, limit 300" pawl aggregator run-now vans --reason "$(printf '%05000d' 0)"
expect 3 "aggregator.db: No such file" pawl aggregator list
[ ! -e "$work/aggregator.db" ] || die "looking made a database"

echo "== none"
expect 0 '' pawl schema apply
expect 0 '' pawl aggregator list
grep -q '^no partition matches$' "$work/err" || die "no word that there is none"
for action in show run-now "remove --yes"; do
    # shellcheck disable=SC2086
    expect 6 "there is no aggregator partition 'vans/kiel'$" pawl aggregator $action vans/kiel
done

echo "== one collects, one is dead"
touch "$PAWL_TEST_CLOSED"
start app "$work/aggregator.so"
post kiel 1
for number in 1 2 3; do post bonn "$number"; done
poll 30 partition vans/bonn '"state":"dead"' || die "no dead partition"
partition vans/bonn '"aggregator":"vans","state":"dead","rows":3,"size":3,"max":5,"period":7200000000,"oldest":"[^"]+Z","due":null,"attempts":1,"error":"the van for 3 parcels is broken"\}$' ||
    die "not why"
poll 30 partition vans/kiel '"state":"collecting","rows":1,.*"due":"[^"]+Z","attempts":0,"error":null\}$' || die "not kiel"
expect 0 '^vans/bonn +dead +3 ' pawl aggregator list --aggregator vans
lines 3
expect 0 '^\{"partition":"vans/bonn",.*"size":null,"max":null,"period":null' pawl aggregator list --dead --json
lines 1
expect 0 '^\{"partition":"vans/bonn"' pawl aggregator list --limit 1 --json
lines 1
expect 0 '' pawl aggregator list --aggregator van --json
lines 0
expect 0 "^next +nothing is handed over by itself: .pawl aggregator run-now 'vans/bonn'. starts it again" pawl aggregator show vans/bonn
expect 0 '"next":"handed over in [12][0-9.]* h; now: `pawl aggregator run-now .vans/kiel.`","actions":\[\]\}$' pawl aggregator show vans/kiel --json

echo "== it starts again"
rm "$PAWL_TEST_CLOSED"
expect 0 '^run now partition vans/bonn with 3 rows$' pawl aggregator run-now vans/bonn --reason 'the van is mended'
is_gone_from_list() { ! partition "$1" .; }
poll 40 is_gone_from_list vans/bonn || die "a released partition was not handed over"
expect 0 '^run_now +[0-9T:-]+Z \([^)]*\) +[^ ]+ +the van is mended$' pawl aggregator show vans/bonn
grep -qx 'partition vans/bonn has no rows now' "$work/out" || die "not that it is gone"
expect 0 '^\{"actions":\[\{"action":"run_now","at":"[^"]+","by":"[^"]+","reason":"the van is mended"\}\]\}$' pawl aggregator show vans/bonn --json
expect 0 '^\{"run_now":"vans/kiel","rows":1\}$' pawl aggregator run-now vans/kiel --json
poll 40 is_gone_from_list vans/kiel || die "a partition that was not full was not handed over"
stop "$pid" TERM 0

echo "== one is thrown away"
touch "$PAWL_TEST_CLOSED"
start app "$work/aggregator.so"
post kiel 2
for number in 4 5 6; do post bonn "$number"; done
poll 30 partition vans/bonn '"state":"dead"' || die "no dead partition"
stop "$pid" TERM 0
expect 0 '"waits_for":"somebody who runs it now: it is dead after 1 flush".*"next":"nothing"' pawl why vans/bonn --json
expect 0 '"waits_for":"more messages, or its time".*"next":"nothing, until a worker that has the aggregator runs"' pawl why vans/kiel --json
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("update pawl_aggregator_flush set Attempts = 2 where Partition = ?", ["vans/kiel"])' "$work/aggregator.db"
expect 0 '"waits_for":"its next attempt: the last 2 flushes failed".*"next":"nothing, until a worker that has the aggregator runs"' pawl why vans/kiel --json
expect 2 'remove asks first, and standard input is not a terminal: give --yes$' pawl aggregator remove vans/bonn
partition vans/bonn '"rows":3' || die "rows went without an answer"
for lot in "bonn 3 rows" "kiel 1 row"; do
    read -r name rows <<<"$lot"
    asked "remove $rows of partition vans/$name in .*, for good?" aggregator remove "vans/$name"
    answered no 1
    partition "vans/$name" "\"rows\":${rows% *}" || die "rows went although the answer was no"
done
expect 0 '^removed partition vans/bonn with 3 rows$' pawl aggregator remove vans/bonn --yes --reason 'a test'
partition vans/bonn . && die "a removed partition is there"
expect 6 "there is no aggregator partition 'vans/bonn'$" pawl aggregator remove vans/bonn --yes
expect 0 '^removed .* a test$' pawl aggregator show vans/bonn
queue=$(pawl queue list --json | sed -nE '1s/.*"queue":"([^"]*)".*/\1/p')
expect 0 '' pawl queue pause "$queue"
expect 0 '' pawl queue resume "$queue"
expect 0 '"findings":\[\],"more":0,"warnings":\[\]' pawl saga verify-upgrade --app "$work/aggregator.so" --json
