# situations.sh - eleven prepared situations, sourced by tests of one store: doctor, stats, readiness and why
# name each, and the remedy that was printed, pasted, mends it. What an operator has to do first (the bank
# opens, the receiver gets its tables) is done by the test; what only a server has is left out elsewhere.
#
# Set before: PAWL_STORE; sql TEXT and ago SECONDS (a time of the past, in SQL); is_server.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

export PAWL_DRIVER_PATH=$build_dir PAWL_TEST_SEEN=$work/seen
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_AWAY=$work/away
for app in pair dead shop projection aggregator; do
    build_app app_$app.c $app.so
done
limits=(--health retry_age=1ms --health outbox_blocked=1 --health outbox_lag=1ms --health projection_failing=1ms
    --health transaction_age=1s --health queue_paused=1ms
    --health breaker_open=1ms --health route_away=1ms)

# ---- What is said ---------------------------------------------------------------------------------

# doctor LEVEL CHECK TEXT: a line of it; it stays in $work/out.
doctor()
{
    pawl doctor --json --transactions 1s >"$work/out" 2>"$work/err"
    grep -qE "\"check\":\"$2\",\"level\":\"$1\",\"text\":\"[^\"]*$3" "$work/out"
}
says_doctor()
{
    poll 20 doctor "$@" || die "doctor has no $1 of $2: $3"
}
well() # CHECK
{
    pawl doctor --json --transactions 1s 2>/dev/null | grep -q "\"check\":\"$1\",\"level\":\"ok\""
}
is_mended()
{
    poll 30 well "$1" || { pawl doctor >"$work/out" 2>&1; die "doctor: $1 is not mended"; }
}

# get: the page of readiness of the process whose log is $watcher.log.
get()
{
    exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    tr -d '\r' <&3 >"$work/page"
    exec 3>&-
}
is_named() # CHECK: readiness has it
{
    get && grep -qE "\"name\":\"$1\",\"status\":\"(degraded|unhealthy)\"" "$work/page"
}
in_stats()
{
    pawl stats --json "${limits[@]}" 2>/dev/null | grep -qE "\"name\":\"$1\",\"status\":\"(degraded|unhealthy)\""
}
# health CHECK: stats and readiness name it.
health()
{
    poll 20 in_stats "$1" || { pawl stats "${limits[@]}" >"$work/out"; die "stats does not name $1"; }
    [ -z "$port" ] || poll 20 is_named "$1" || { cp "$work/page" "$work/out"; die "readiness does not name $1"; }
}

# why ID KEY TEXT
why()
{
    local id=$1 key=$2 text=$3
    shift 3
    expect 0 "\"$key\":\"[^\"]*$text" pawl why "$id" --json "$@"
}

# ---- The remedy -----------------------------------------------------------------------------------

# remedy FILTER [N]: the first command of a line that was printed last, the N-th one of `why`.
remedy()
{
    grep -E "$1" "$work/out" | head -n 1 | python3 -c '
import json, sys
row = json.load(sys.stdin)
print(row["remedy"] if "remedy" in row else row["run"][int(sys.argv[1])])' "${2:-0}"
}
paste_it() # COMMAND
{
    [ -n "$1" ] || die "no remedy"
    PATH=$build_dir:$PATH bash -c "$1" >"$work/pasted" 2>&1 ||
        { cp "$work/pasted" "$work/err"; die "the remedy fails: $1"; }
}
# run_it COMMAND APP [OPTION]: a remedy that runs the application, of which it cannot know the name.
run_it()
{
    local command=$1
    [[ $command == "pawl run APP.so "* ]] || die "another remedy: $command"
    command=${command/APP.so/$2}
    command=${command/=URL/=$far}
    : >"$work/remedy.log"
    PATH=$build_dir:$PATH bash -c "exec $command ${3:-}" 2>"$work/remedy.log" </dev/null &
    pid=$!
    started+=("$pid")
    poll 20 grep -q "is running" "$work/remedy.log" ||
        { cp "$work/remedy.log" "$work/err"; die "the remedy does not start: $command"; }
}

# ---- Situations -----------------------------------------------------------------------------------

pawl schema apply --app "$build_dir/orders.so" 2>"$work/err" || die "no schema"
port=
if [ -e "$build_dir/libpawl-observe.so" ]; then
    start watcher "$work/pair.so" --http 0 "${limits[@]}"
    poll 10 grep -q "/metrics on 127.0.0.1 port" "$work/watcher.log" || die "no port in the log"
    port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/watcher.log")
else
    echo "the module observe is not built: no /readyz"
fi
far=sqlite:$work/far/far.db
[ -x "$work/sql" ] || build_sql
far_sql() { "$work/sql" "$work/far/far.db" "$1" || die "no sql in far.db: $1"; }
mkdir "$work/far"
pawl schema apply --store "$far" 2>"$work/err" || die "no schema of the receiver"

echo "== O23 1: an expired lease"
app=(--app "$build_dir/orders.so")
start app "$build_dir/orders.so"
expect 0 '' pawl send --to orders --type place_order --body '{"order_id":"b-9","warehouse":"north","total_cents":5}'
began() { pawl why OrderSaga/b-9 "${app[@]}" >/dev/null 2>&1; }
poll 20 began || die "no saga"
stop "$pid" TERM 0
sql 'delete from pawl_queue'
sql "update pawl_timeouts set \"Due\" = $(ago 180), \"Owner\" = '019a0000-0000-7000-8000-0000000000aa', \"LeaseExpires\" = $(ago 120)"
says_doctor warn leases "1 timeouts? of orders"
health timeouts_late
why OrderSaga/b-9 waits_for 'a worker: the lease of the one that had it ran out' "${app[@]}"
run_it "$(remedy '"place":"timeout"')" "$build_dir/orders.so"
is_mended leases
ended() { ! began; }
poll 20 ended || die "the saga does not end"
stop "$pid" TERM 0
sql 'delete from pawl_queue'

echo "== O23 2: a waiting retry"
touch "$PAWL_TEST_AWAY"
start app "$work/dead.so" --immediate-retries 0 --retry-delay 3s
expect 0 '' pawl send --to billing --type charge --id m-2 --body '{"n":2}'
says_doctor warn retries 'queue billing: 1 message failed .* the oldest is m-2 .charge.*: the bank is away'
again=$(remedy '"check":"retries"')
health retry_age
paste_it "$again"
grep -qE 'EUNREACHABLE: the bank is away' "$work/pasted" || die "the remedy does not say the error"
rm "$PAWL_TEST_AWAY"
poll 20 grep -q 'charge 2' "$PAWL_TEST_SEEN" || die "it is not tried again"
is_mended retries
stop "$pid" TERM 0

echo "== O23 3: a source that is held back"
far_sql "create trigger is_full before insert on pawl_queue begin select raise(abort, 'is full'); end"
start app "$work/shop.so" --route far="$far" --outbox-delay 1s
for n in 1 2; do
    expect 0 '' pawl send --to shop --type sell --body "{\"customer\":\"c-1\",\"number\":$n}"
done
says_doctor warn sources '1 row waits behind an earlier one of the ordering key Cart/c-1: blocked behind row 1'
again=$(remedy '"check":"sources"')
health outbox_blocked
why 2 next 'blocked behind row 1 of the same ordering key'
paste_it "$again"
grep -q 'is full' "$work/pasted" || die "the remedy does not say the error of row 1"
far_sql 'drop trigger is_full'
is_mended sources
poll 20 has_ready far 2 --store "$far" || die "the rows are not delivered"
stop "$pid" TERM 0

echo "== O23 4: receivers that are away, and a missing route"
mv "$work/far" "$work/far.away"
start app "$work/shop.so" --route far="$far" --outbox-delay 1s
expect 0 '' pawl send --to shop --type sell --body '{"customer":"c-1","number":3}'
says_doctor warn alarms "endpoint shop cannot deliver, receivers are unavailable, since .*: route 'far': sqlite: .*far.db: unable to open"
paste_it "$(remedy '"check":"alarms"')"
grep -q "route 'far'" "$work/pasted" || die "the remedy does not say which"
health route_away
why 3 waits_for "its receiver, which is unavailable since .*: route 'far': sqlite: .*far.db: unable to open"
why 3 next 'tries the receiver by itself'
paste_it "$(remedy '"place":"outbox"' 1)"
grep -q "route 'far'" "$work/pasted" || die "the remedy of why does not say which"
expect 0 "^next +its receiver is unavailable since .*: the outbox tries it by itself.*route 'far': sqlite: " pawl outbox show 3
expect 0 '' pawl send --to shop --type sell --body '{"customer":"c-2","number":4}'
has_row() { pawl outbox show "$1" >/dev/null 2>&1; }
poll 20 has_row 4 || die "no row 4"
sql "update pawl_outbox set \"Destination\" = 'near' where \"Id\" = 4"
why 4 waits_for 'its delivery' # by a route that is not one of the alarm
stop "$pid" TERM 0
start app "$work/shop.so" --route far="$far" --route near="sqlite:$work/gone/near.db" --outbox-delay 1s
both_are_away() { pawl why 4 --json | grep -q "its receiver, which is unavailable since .*route 'near': sqlite: "; }
poll 30 both_are_away || die "the alarm does not name the second route"
why 3 waits_for "its receiver, which is unavailable since .*: route 'far': sqlite: .*far.db: unable to open"
says_doctor warn alarms "endpoint shop cannot deliver, receivers are unavailable, since .*: route '(far': .*; route 'near|near': .*; route 'far)': "
sql "update pawl_outbox set \"Destination\" = 'far' where \"Id\" = 4"
expect 0 '"id":3,.*"attempts":0,' pawl outbox list --state pending --json
stop "$pid" TERM 0
mv "$work/far.away" "$work/far"
start app "$work/shop.so" --route other="$far" --outbox-delay 1s
says_doctor fail routes 'endpoint shop has no route named far: row 3'
again=$(remedy '"check":"routes"')
health outbox_lag
why 3 error 'no route to another store is named .far'
stop "$pid" TERM 0
run_it "$again" "$work/shop.so"
poll 30 has_ready far 4 --store "$far" || die "the rows are not delivered"
is_mended routes
stop "$pid" TERM 0

echo "== O23 5: a dead letter"
touch "$PAWL_TEST_CLOSED"
start app "$work/dead.so" --immediate-retries 0
expect 0 '' pawl send --to billing --type charge --id m-5 --body '{"n":5}'
says_doctor fail dead_letters '1 message is dead-lettered'
health dead_letters
rm "$PAWL_TEST_CLOSED"
why m-5 error 'REJECT: the bank is closed'
paste_it "$(remedy '"place":"dead letter"' 1)"
poll 20 grep -q 'charge 5' "$PAWL_TEST_SEEN" || die "the letter is not handled"
is_mended dead_letters

echo "== O23 6: a paused queue"
expect 0 '' pawl queue pause billing --reason 'the bank rests'
stop "$pid" TERM 0
start app "$work/dead.so" --immediate-retries 0
expect 0 '' pawl send --to billing --type charge --id m-6 --body '{"n":6}'
says_doctor warn paused 'queue billing has 1 message and is paused, since .*: the bank rests'
again=$(remedy '"check":"paused"')
health queue_paused
why m-6 waits_for 'queue billing is paused since'
paste_it "$again"
poll 20 grep -q 'charge 6' "$PAWL_TEST_SEEN" || die "the message is not handled"
is_mended paused
stop "$pid" TERM 0

echo "== O23 7: a projection that fails"
touch "$PAWL_TEST_CLOSED"
start app "$work/projection.so"
expect 0 '' pawl send --to boxes --type put --body '{"box":"b-1","number":7}'
says_doctor fail projections 'projection names fails at event [0-9]+ .*EPERSIST: the bank is closed for number 7'
again=$(remedy '"check":"projections","level":"fail"')
health projection_failing
why names waits_for 'event [0-9]+, noted of stream Box/b-1, which it fails at'
rm "$PAWL_TEST_CLOSED"
PATH=$build_dir:$PATH bash -c "$again" >"$work/pasted" 2>&1 ||
    grep -q 'nothing blocks projection names' "$work/pasted" || # it was tried again just now
    paste_it "$again"
is_mended projections
stop "$pid" TERM 0

echo "== O23 8: a dead partition"
touch "$PAWL_TEST_CLOSED"
start app "$work/aggregator.so"
for n in 1 2 3; do
    expect 0 '' pawl send --to post --type parcel --body "{\"depot\":\"bonn\",\"n\":$n}"
done
says_doctor fail partitions 'partition vans/bonn is dead after 1 flush: the 3 messages that it collected stay: the van'
again=$(remedy '"check":"partitions"')
health partitions_dead
why vans/bonn waits_for 'somebody who runs it now'
rm "$PAWL_TEST_CLOSED"
paste_it "$again"
is_mended partitions
handed() { has aggregator_rows 0; }
poll 20 handed || die "the parcels are not handed over"
stop "$pid" TERM 0

echo "== O23 11: a breaker that is open"
touch "$PAWL_TEST_AWAY"
start app "$work/dead.so" --immediate-retries 0 --retry-delay 1s --breaker-rate 50 --breaker-window 2 --breaker-pause 3s --breaker-probes 1
expect 0 '' pawl send --to billing --type charge --id m-11 --body '{"n":11}'
expect 0 '' pawl send --to billing --type charge --id m-12 --body '{"n":12}'
says_doctor warn alarms 'endpoint billing claims nothing, its breaker is open, since .*: charge: EUNREACHABLE: the bank is away; it probes by itself'
again=$(remedy '"check":"alarms"')
health breaker_open
why m-12 waits_for 'the breaker of endpoint billing is open since .*: the bank is away'
why m-12 next 'the endpoint probes by itself, one message at a time'
paste_it "$again"
grep -q 'the bank is away' "$work/pasted" || die "the remedy does not say the error"
rm "$PAWL_TEST_AWAY"
is_mended alarms
poll 30 grep -q 'charge 12' "$PAWL_TEST_SEEN" || die "the message is not handled"
stop "$pid" TERM 0

if [ "$is_server" = yes ]; then
    echo "== O23 9: a transaction that stays open"
    PGAPPNAME='night report' psql -XAtq "$url" -c "begin" -c "select 1" -c "select pg_sleep(600)" >/dev/null 2>&1 &
    started+=("$!")
    says_doctor fail transactions 'a transaction of night report'
    again=$(remedy 'night report')
    health transaction_age
    paste_it "$again"
    is_mended transactions

    echo "== O23 10: clocks that differ"
    "$cc" -std=c17 -D_GNU_SOURCE -Wall -Wextra -shared -fPIC -o "$work/shift.so" \
        "$source_dir/tests/system/shift_clock.c" || die "shift_clock.c does not compile"
    shifted=(env "LD_PRELOAD=$work/shift.so" "ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0")
    shifted_says() # VERB TEXT; a slow answer of the server takes from the difference
    {
        "${shifted[@]}" "$build_dir/pawl" "$1" --json >"$work/out" 2>"$work/err"
        grep -qE "$2" "$work/out"
    }
    poll 20 shifted_says doctor '"check":"clock","level":"fail","text":"the server.s clock is [67]\.[0-9]+ s behind this one.s.*chronyc makestep' ||
        die "doctor does not name the clock"
    poll 20 shifted_says stats '"name":"clock_offset","status":"degraded"' || die "stats does not name the clock"
    if [ -n "$port" ]; then
        : >"$work/shifted.log"
        "${shifted[@]}" "$build_dir/pawl" run "$work/pair.so" --http 0 2>"$work/shifted.log" </dev/null &
        pid=$!
        started+=("$pid")
        poll 20 grep -q "/metrics on 127.0.0.1 port" "$work/shifted.log" || die "no port in the log"
        port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/shifted.log")
        poll 20 is_named clock_offset || die "readiness does not name the clock"
        stop "$pid" TERM 0
    fi
    poll 20 well clock || die "the clocks differ"
fi
echo "each is named, and each remedy mends"
