#!/usr/bin/env bash
# command_versions.sh - a message that waits for a newer program: `why`, `doctor`, `stats` and readiness say so, with both
# versions, whether it is the message's or its saga's state's; with that program it is handled, and nothing is found.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
build_app app_upgrade.c old.so
build_app app_upgrade.c new.so -DVERSION -DUPCAST
export PAWL_STORE=sqlite:$work/versions.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply --app "$work/old.so"
sql() { "$work/sql" "$work/versions.db" "$1" || die "no sql"; }
body='{"order_id":"o-1","dozens":1,"note":"n","number":1,"stage":"paid","lines":[],"card":"c"}'

# tells ID TEXT: why, doctor, stats and readiness say what the message waits for.
tells()
{
    waits() { pawl why "$1" --json 2>/dev/null | grep -q '"error":"EVERSION: '; }
    poll 20 waits "$1" || die "$1 does not wait: $(pawl why "$1" --json)"
    expect 0 '"waits_for":"a program of endpoint shop that reads its version: no worker that read it does"' pawl why "$1" --json
    grep -qE "\"error\":\"EVERSION: $2" "$work/out" || die "the versions are not said"
    grep -qE '"next":"tried again .*until such a program runs"' "$work/out" || die "it is said to be handled"
    pawl doctor --json >"$work/out" 2>"$work/err"
    grep -qE "\"check\":\"versions\",\"level\":\"warn\",\"text\":\"queue shop: 1 message waits for a program [^:]*no worker of it does \\(upgrade 1\\.4\\): the oldest is $1 \\(place\\), due [^:]*: EVERSION: $2" \
        "$work/out" || die "doctor does not say it"
    expect 0 '^  degraded  version_wait +queue shop: ' pawl stats --health version_wait=1ms
    grep -qE "^  degraded  version_wait +queue shop: $2" "$work/out" || die "stats does not say the versions"
    expect 0 '"name":"version_wait","status":"degraded"' pawl stats --json --health version_wait=1ms
    expect 0 '"name":"version_wait","status":"healthy"' pawl stats --json --health version_wait=off
}
handled() { has_ready shop 0 && ! pawl why "$1" --json 2>/dev/null | grep -q '"place":"queue"'; }
well() { pawl doctor --json | grep -q '"check":"versions","level":"ok"'; }

echo "== a message of a newer version"
start old "$work/old.so"
expect 0 '' pawl send --to shop --type place --id m-1 --header pawl.version=2 --body "$body"
tells m-1 'message place: place of version 2: this program has version 1'
if [ -e "$build_dir/libpawl-observe.so" ]; then
    start watch "$work/old.so" --http 0 --health version_wait=1ms
    watch=$pid
    port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/watch.log")
    not_ready()
    {
        exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
        printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
        grep -qE '"name":"version_wait","status":"degraded","reason":"queue shop: message place: place of version 2' <&3
    }
    poll 20 not_ready || die "readiness does not name it"
    stop "$watch" TERM 0
fi
stop "${started[0]}" TERM 0
seq 300 | sed 's/.*/{"n":&}/' | pawl send --to shop --type filler --delay 5s --lines >/dev/null || die "nothing is sent"
sql "update pawl_queue set Due = (strftime('%s', 'now') + 13) * 1000000 where MessageId = 'm-1'"
expect 0 '^  degraded  version_wait +queue shop: message place: place of version 2' pawl stats --health version_wait=1ms
sql "delete from pawl_queue where Type = 'filler'"
start new "$work/new.so"
poll 40 handled m-1 || die "the newer program does not handle it: $(pawl why m-1 --json)"
poll 20 well || die "doctor finds a message that was handled"
stop "$pid" TERM 0

echo "== a state of a newer version"
start old "$work/old.so"
expect 0 '' pawl send --to shop --type place --id m-2 --body "$body"
tells m-2 'saga Order .*of version 2: '
stop "$pid" TERM 0
start new "$work/new.so"
poll 40 handled m-2 || die "the newer program does not handle it: $(pawl why m-2 --json)"
poll 20 well || die "doctor finds a message that was handled"
stop "$pid" TERM 0
expect 0 '^health' pawl stats
! grep -q version_wait "$work/out" || die "stats names what was handled"
echo "ok"
