#!/usr/bin/env bash
# command_health.sh - health of a store that is stuck: `pawl stats`, `pawl stats --watch`, /readyz
# and the log say the same, by limits of the operator's own.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_pair.c pair.so
export PAWL_STORE=sqlite:$work/health.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply

echo "== O23 a queue that nobody reads"
expect 0 '^health +healthy$' pawl stats
expect 0 '^sent' pawl send --to biling --type x --body '{}'
expect 0 '^health +healthy$' pawl stats --health no_worker=off
expect 0 '^  degraded  queue_no_consumer +queue biling: ready for [0-9]+ s without a consumer' \
    pawl stats --health queue_no_consumer=1ms
expect 0 '^health +unhealthy$' pawl stats --health queue_no_consumer=1ms/2ms
expect 0 '"health":"unhealthy","checks":\[.*"name":"queue_no_consumer","status":"unhealthy","value":[0-9]+,"reason":"queue biling' \
    pawl stats --json --health queue_no_consumer=1ms/2ms
expect 0 ' degraded$' pawl stats --watch --every 100ms --count 1 --health queue_no_consumer=1ms
expect 0 '^health +healthy$' pawl stats --health queue_no_consumer=off --health no_worker=off
is_idle() { pawl stats | grep -qE '^  degraded  no_worker +messages, timeouts or partitions have been due for [0-9]+ s and no worker is alive'; }
poll 20 is_idle || die "a message is due, no worker is alive, and stats says nothing of it"

echo "== O23 a dead letter warns, and keeps nobody from being ready"
expect 0 '^sent' pawl send --to left --type riddle --body '{}'

# get PATH: the page with its headers in $work/page.
get()
{
    exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
    tr -d '\r' <&3 >"$work/page"
    exec 3>&-
}
page()
{
    grep -qE -- "$1" "$work/page" || die "no line '$1' in $(cat "$work/page")"
}
is_ready_with()
{
    get /readyz && grep -qE -- "$1" "$work/page"
}
if [ -e "$build_dir/libpawl-observe.so" ]; then
    printf '%s\n' 'health = queue_no_consumer=1ms' 'health = dead_letters=5/5' '[left]' 'workers = 1' \
        >"$work/health.conf"
    start ready "$work/pair.so" --http 0 --config "$work/health.conf" --health dead_letters=1
    run=$pid
    poll 10 grep -q "/metrics on 127.0.0.1 port" "$work/ready.log" || die "no port in the log"
    port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/ready.log")
    poll 20 is_ready_with '"name":"dead_letters","status":"degraded","reason":"dead letters: 1, the limit is 1"' ||
        die "no dead letter: $(cat "$work/page")"
    page '^HTTP/1.1 200 '
    page '"name":"queue_no_consumer","status":"degraded","reason":"queue biling'
    grep -q 'warning health: dead_letters is degraded: dead letters: 1, the limit is 1$' \
        "$work/ready.log" || die "no line of the log"
    expect 0 '' pawl dead discard --all --endpoint left --yes --reason 'a test'
    poll 20 is_ready_with '"name":"dead_letters","status":"healthy"' || die "the letter is there"
    grep -q 'info health: dead_letters is healthy again$' "$work/ready.log" ||
        die "no line that it is well"
    [ "$(grep -c 'health: queue_no_consumer' "$work/ready.log")" = 1 ] ||
        die "a state that stays is said again"
    stop "$run" TERM 0
    start unready "$work/pair.so" --http 0 --health queue_no_consumer=1ms/1ms
    run=$pid
    poll 10 grep -q "/metrics on 127.0.0.1 port" "$work/unready.log" || die "no port in the log"
    port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/unready.log")
    poll 20 is_ready_with '^HTTP/1.1 503 ' || die "ready: $(cat "$work/page")"
    stop "$run" TERM 0
else
    echo "the module observe is not built: no /readyz"
fi

echo "== limits that are none"
for verb in stats "run $work/pair.so"; do
    # shellcheck disable=SC2086 # words
    {
        expect 2 "--health: there is no check 'queue_aeg'; did you mean queue_age\?$" pawl $verb --health queue_aeg=5m
        expect 2 "--health: queue_age has no limit: expected queue_age=LIMIT or queue_age=LIMIT/LIMIT$" \
            pawl $verb --health queue_age
        expect 2 "--health: queue_age: expected a duration like 5m or off, got '5'$" pawl $verb --health queue_age=5
        expect 2 "--health: queue_age: expected a duration like 5m or off, got ''$" pawl $verb --health queue_age=5m/
        expect 2 "--health: dead_letters: expected a number from 1 or off, got '0'$" pawl $verb --health dead_letters=0
        expect 2 "--health: dead_letters: expected a number from 1 or off, got '5m'$" pawl $verb --health dead_letters=5m
        expect 2 "health, dead_letters: the count ends at 100000, and never reaches 100001$" \
            pawl $verb --health dead_letters=1/100001
        expect 2 "--health: dead_letters is given twice$" pawl $verb --health dead_letters=1 --health dead_letters=2
        expect 2 "pawl: health, queue_age: unhealthy from 1ms is below degraded from 2ms$" \
            pawl $verb --health queue_age=2ms/1ms
    }
done
echo 'health = queue_age=x' >"$work/bad.conf"
expect 2 "bad.conf:1: queue_age: expected a duration" pawl run "$work/pair.so" --config "$work/bad.conf"
printf '[left]\nhealth = queue_age=5m\n' >"$work/bad.conf"
expect 2 "bad.conf:2: health is for all endpoints: give it above the first .ENDPOINT.$" \
    pawl run "$work/pair.so" --config "$work/bad.conf"
printf 'health = queue_age=5m\nhealth = queue_age=6m\n' >"$work/bad.conf"
expect 2 "bad.conf:2: queue_age is given twice$" pawl run "$work/pair.so" --config "$work/bad.conf"
echo "health says what is stuck"
