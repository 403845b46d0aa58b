#!/usr/bin/env bash
# command_schedule.sh - pawl schedule on SQLite: what an operator adds, pauses, resumes, runs and removes,
# and the schedules of a program's table.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
[ -e /usr/share/zoneinfo/Europe/Berlin ] || skip "no tzdata"
export PAWL_STORE=sqlite:$work/schedule.db PAWL_DRIVER_PATH=$build_dir
build_app app_schedule.c office.so

echo "== looking makes nothing"
expect 3 "schedule.db: No such file" pawl schedule list
[ ! -e "$work/schedule.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
expect 0 '' pawl schedule list
grep -qx 'there is no schedule' "$work/err" || die "no word of it"
expect 0 '' pawl schedule list --json
lines 0

echo "== wrong words are refused before the store is opened"
export PAWL_STORE=sqlite:$work/none.db
add='pawl schedule add n --to office --type tick'
expect 2 "pawl schedule list takes options, not 'n'; did you mean show n\?" pawl schedule list n
expect 2 'pawl schedule show needs one NAME, got 0' pawl schedule show
expect 2 'NAME is empty' pawl schedule show ''
expect 2 'pawl schedule add needs --to QUEUE and --type TYPE' pawl schedule add n --to office
expect 2 'needs --cron LINE or --every DURATION, one of them' $add --body '{}'
expect 2 'needs --cron LINE or --every DURATION, one of them' $add --body '{}' --every 1h --cron @daily
expect 2 'needs --body JSON or --body-file FILE, one of them' $add --every 1h
expect 2 'needs --body JSON or --body-file FILE, one of them' $add --every 1h --body '{}' --body-file x
expect 2 "'al' is not a valid POLICY; did you mean all\?" $add --every 1h --body '{}' --missed al
expect 2 '^pawl: --body: ' $add --every 1h --body '{'
expect 2 'no such.json' $add --every 1h --body-file "$work/no such.json"
export PAWL_STORE=sqlite:$work/schedule.db

echo "== add"
expect 2 "cron line '0 25 \* \* \*': hour '25' is none of 0 to 23" $add --body '{}' --cron '0 25 * * *'
expect 6 "time zone 'Europe/Atlantis': there is no file of it" \
    $add --body '{}' --cron @daily --zone Europe/Atlantis
for every in 0s 1ms 500ms 36501d; do
    expect 2 "^pawl: --every: $every is not within 1s and 36500d$" $add --body '{}' --every $every
done
expect 0 '^added office/n$' $add --body '{"number":7}' --cron '30 4 * * mon' --zone Europe/Berlin \
    --missed all --missed-max 3 --reason 'ticket 7'
grep -q '^pawl: queue office has no consumer just now' "$work/err" || die "add does not say that nobody reads the queue"
expect 6 'there is a schedule office/n already' $add --body '{}' --every 1h
echo '{"number":8}' >"$work/body.json"
expect 0 '^\{"done":"added","id":"office/h"\}$' \
    pawl schedule add h --to office --type tick --every 90m --body-file "$work/body.json" --json
expect 0 '' pawl schedule add n --to other --type tick --every 1h --body '{}'

echo "== a schedule is no timeout"
expect 0 '' pawl timeout list --json
lines 0
expect 0 '' pawl timeout list
grep -qx 'no timeout matches' "$work/err" || die "no word that there is none"
expect 0 '^cancelled 0 timeouts$' pawl timeout cancel --all --yes
row=935ee9cc-6579-50f7-971c-ed63b817e60b # made of office/n
expect 6 "$row is the next time of schedule office/n: see .pawl schedule.$" pawl timeout cancel "$row"
expect 6 "$row is the next time of schedule" pawl timeout show "$row"

echo "== list and show"
expect 0 '^office/n +30 4 \* \* mon Europe/Berlin +all +tick +active +.* +operator$' pawl schedule list
expect 0 '^office/h +every 1.5 h +once +tick +active' pawl schedule list
expect 0 '' pawl schedule list --to other --json
lines 1
expect 0 '"id":"office/n","queue":"office","name":"n","plan":"30 4 \* \* mon Europe/Berlin","cron":"30 4 \* \* mon","zone":"Europe/Berlin","every":null,"missed":"all","missed_max":3,"type":"tick","state":"active","next":"20[^"]*T0[23]:30:00.000000Z","by":"operator","changed_by":"[^"]+","changed_at":"[^"]+Z","reason":"ticket 7","body_size":12' \
    pawl schedule list --json
expect 2 'schedules office/n and other/n are named n: say QUEUE/NAME' pawl schedule show n
expect 6 'there is no schedule nobody' pawl schedule show nobody
expect 0 '^body size +1[23]' pawl schedule show h
! grep -q number "$work/out" || die "the body is shown"
expect 0 '^upcoming +20' pawl schedule show office/n
expect 0 'number":7' pawl schedule show office/n --reveal
expect 0 '"upcoming":\[("20[^"]*",?){5}\]' pawl schedule show office/n --json

echo "== pause, run, resume, remove"
expect 0 '^paused office/h$' pawl schedule pause h --reason 'too loud'
expect 0 '"state":"paused","next":null,"by":"operator".*"reason":"too loud"' pawl schedule list --json
expect 0 '^waits for +the end of its pause: .* paused it at 20.*: too loud$' pawl why office/h
grep -q '^run: pawl schedule resume office/h' "$work/out" || die "no word how it is resumed"
expect 0 '^added office/a\?\?\?b$' pawl schedule add $'a\xe2\x80\xaeb' --to office --type tick --body '{}' --every 1h
expect 0 '^removed office/a\?\?\?b$' pawl schedule remove $'a\xe2\x80\xaeb'
expect 0 '^sent one message of office/h$' pawl schedule run h --reason 'to see it'
grep -q '^pawl: queue office has no consumer just now' "$work/err" || die "run does not say that nobody reads the queue"
has_ready office 1 || die "nothing was sent"
expect 0 '^resumed office/h$' pawl schedule resume h
expect 0 '"id":"office/h".*"state":"active","next":"20' pawl schedule list --json
expect 0 '"place":"schedule","name":"office/h, message tick for queue office","waits_for":"its time, [^"]*","since":null,.*"next":"nothing, until a worker of the endpoint runs"' \
    pawl why h --json
expect 0 '' pawl queue pause office --reason night
expect 0 'night' pawl why h
expect 0 '' pawl queue resume office
expect 0 '^removed other/n$' pawl schedule remove other/n --reason 'its queue is gone'
expect 6 'there is no schedule other/n' pawl schedule remove other/n

echo "== what was done is said, even if nobody can tell who reads the queue: a script would do it again"
rename()
{
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("alter table %s rename to %s" % (sys.argv[2], sys.argv[3]))' \
        "$work/schedule.db" "$1" "$2" || die "$1 is not renamed"
}
rename pawl_subscriptions away
expect 0 '^sent one message of office/h$' pawl schedule run h
expect 0 '^added office/blind$' pawl schedule add blind --to office --type tick --every 1h --body '{}'
rename away pawl_subscriptions
expect 0 '^removed office/blind$' pawl schedule remove blind
has_ready office 2 || die "not one message was sent"

echo "== who changed it, when and why, after its removal, too"
expect 0 '^ *added +20' pawl schedule show h
expect 0 '"actions":\[\{"action":"added",.*"action":"paused",.*"reason":"too loud".*"action":"run",.*"reason":"to see it".*"action":"resumed",' \
    pawl schedule show office/h --json
expect 0 '^schedule other/n is gone$' pawl schedule show other/n
grep -qE '^ *removed +20.* its queue is gone$' "$work/out" || die "the removal is not told"
expect 0 '^\{"actions":\[\{"action":"added",.*"action":"removed",.*"reason":"its queue is gone"\}\]\}$' \
    pawl schedule show other/n --json
expect 0 '"stream":"pawl.schedule/other/n"' pawl events list --type pawl.schedule_removed --json

echo "== the table of a program"
start office "$work/office.so"
handled()
{
    pawl worker list --json 2>/dev/null | grep -qE '"messages":([4-9]|[1-9][0-9]+)'
}
poll 60 handled || die "the second does not come"
expect 0 '"id":"office/nightly".*"missed":"skip".*"by":"table","changed_by":null' pawl schedule list --json
expect 2 'stands in the table of a program that runs' pawl schedule remove nightly
expect 0 '' pawl schedule pause second
stop "$pid" TERM 0
start office "$work/office.so"
expect 0 '"id":"office/second".*"state":"paused"' pawl schedule list --json
stop "$pid" TERM 0
expect 0 '^removed office/nightly$' pawl schedule remove nightly
