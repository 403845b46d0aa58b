# operator.sh - situations that an operator meets, sourced by tests of one store: each is brought about, and a
# table has what why, doctor and stats must say of it.
#
# Set before: PAWL_STORE, and sql TEXT, which quotes names as standard SQL does. Where the store is a server:
# crash and recover; role, the URL of a user that take_right makes, with a worker's rights except to insert into
# pawl_timeouts, and give_right, which adds it.
# situations.sh has those whose remedy is pasted: a receiver that is away, a pause. A full disk needs one that can
# be mounted: command_disk_full.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

export PAWL_DRIVER_PATH=$build_dir
ulimit -c 0
# A sanitizer makes an exit code of a signal otherwise.
for options in ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS; do
    export "$options=${!options:+${!options}:}handle_segv=0"
done
build_app app_idle.c idle.so
build_app app_idle.c newer.so -DNEWER
build_app app_projection.c projection.so
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_SEEN=$work/seen
app=(--app "$work/idle.so")
options=(--immediate-retries 0 --delayed-retries 0 --version-delay 500ms)
http=()
limits=(--health queue_age=1ms --health version_wait=1ms --health projection_failing=1ms --health queue_paused=1ms)
[ ! -e "$build_dir/libpawl-observe.so" ] || http=(--http 0) # else the rows of metrics are left out

# ---- The table --------------------------------------------------------------------------------------

# situation | tool | about | what it must say
#   why ID KEY     the value of that key, of any answer
#   doctor LEVEL   a line of that check: the text
#   stats          a check of health and its status
#   metrics        a series and its value
table()
{
    cat <<'END'
poison|why l-1|error|REJECT: a way of -1 km
poison|why l-1|waits_for|somebody who retries or discards it
poison|why Trip/1|next|1 dead letter is of it, the last l-1 \(leg\)
poison|doctor fail|dead_letters|1 message is dead-lettered
poison|stats|dead_letters|degraded
poison|metrics|pawl_dead_letters|1
poison|metrics|pawl_messages_dead_total|1
wrong JSON|why l-2|error|EDECODE: message leg: km: expected integer
wrong JSON|why Trip/2|error|EDECODE: message leg: km: expected integer
wrong JSON|why Trip/2|place|dead letter of the saga, by its key of.trip
wrong JSON|doctor fail|dead_letters|1 message is dead-lettered
wrong JSON|stats|dead_letters|degraded
crash|why b-1|error|ECRASHED: its process crashed 3 times while it ran in isolation
crash|doctor fail|dead_letters|1 message is dead-lettered
crash|stats|dead_letters|degraded
slow handler|why n-1|claimed_by|worker [0-9a-f-]{36} \(pid [0-9]+\)
slow handler|why trips|next|its workers, 2 with the service of each process, handle what is due
slow handler|why trips|claimed_by|\(pid [0-9]+\), worker .*; one of each process is its service
slow handler|doctor ok|queues|no queue with messages is without a consumer
slow handler|doctor ok|dead_letters|there is none
slow handler|stats|queue_no_consumer|healthy
slow handler|metrics|pawl_queue_workers\{queue="trips"\}|2
slow handler|metrics|pawl_dead_letters|0
stuck saga|why Trip/3|next|nothing wakes it by itself, only a message: its timeout late was cancelled by .*: by mistake
stuck saga|why Trip/3|waits_for|it has no timeout
stuck saga|doctor warn|sagas|nothing wakes 1 saga of Trip: .* the oldest is Trip/3
stuck saga|stats|dead_letters|healthy
state changed by SQL|why Trip/4|error|EDECODE: saga Trip .*: trip: expected integer, got
state changed by SQL|doctor fail|dead_letters|1 message is dead-lettered
state changed by SQL|stats|dead_letters|degraded
key changed by SQL|why Trip/5|next|1 dead letter is of it, the last l-5 \(leg\)
key changed by SQL|why l-5|error|trip.*5.*77|trip.*77.*5
key changed by SQL|doctor fail|dead_letters|1 message is dead-lettered
old program, new state|why Trip/6|waits_for|a newer program wrote its state, of version 2.0, and .*idle.so reads version 1
old program, new state|why l-6|waits_for|a program of endpoint trips that reads its version: no worker that read it does
old program, new state|why l-6|error|EVERSION: saga Trip .*version 2.*version 1
old program, new state|doctor warn|versions|queue trips: 1 message waits for a program .*the oldest is l-6 \(leg\)
old program, new state|stats|version_wait|degraded
old program, new state|doctor ok|dead_letters|there is none
old program, new state|stats|dead_letters|healthy
200 letters|doctor fail|dead_letters|200 messages are dead-lettered
200 letters|stats|dead_letters|degraded
200 letters|why LETTER|error|EDECODE: message leg: km
200 letters|metrics|pawl_dead_letters|200
newer message|why r-7|waits_for|a program of endpoint trips that reads its version: no worker that read it does
newer message|why r-7|error|EVERSION: message report: report of version 2: this program has version 1
newer message|why r-7|next|tried again .*until such a program runs
newer message|doctor warn|versions|queue trips: 1 message waits for a program .*the oldest is r-7 \(report\)
newer message|stats|version_wait|degraded
version 2 with a renamed member|why l-11|waits_for|a program of endpoint trips that reads its version: no worker that read it does
version 2 with a renamed member|why l-11|error|EVERSION: saga Trip .*of version 1: this program has version 2 and no upcast
version 2 with a renamed member|doctor warn|versions|queue trips: 1 message waits for a program .*the oldest is l-11 \(leg\)
version 2 with a renamed member|stats|version_wait|degraded
rolling deploy|why l-7|place|inbox
rolling deploy|doctor ok|versions|.
rolling deploy|doctor ok|dead_letters|there is none
rolling deploy|stats|version_wait|healthy
pause|why l-8|waits_for|queue trips is paused since .*, by .*: the bank asked
pause|why l-8|next|nothing, until the queue is resumed
pause|why trips|next|nothing, until the queue is resumed
pause|doctor warn|paused|queue trips has 1 message and is paused, since .*: the bank asked
pause|stats|queue_paused|degraded
after a crash of the store|why Trip/9|waits_for|.
after a crash of the store|doctor ok|connection|.
after a crash of the store|doctor ok|workers|.
after a crash of the store|doctor ok|dead_letters|there is none
after a crash of the store|stats|no_worker|healthy
a missing right|why g-10|place|queue
a missing right|why g-10|waits_for|a worker that is free
a missing right|doctor fail|rights|role shop may not do what a worker does: insert on
a missing right|doctor ok|workers|1 live
a missing right|stats|queue_age|degraded
projection fails|why names|waits_for|event [0-9]+, noted of stream Box/b-1, which it fails at
projection fails|doctor fail|projections|projection names fails at event [0-9]+ .*EPERSIST: the bank is closed for number 7
projection fails|stats|projection_failing|degraded
projection fails|metrics|pawl_projection_lag_events\{projection="names"\}|1
projection rebuilt|why all|next|.
projection rebuilt|doctor ok|projections|.
projection rebuilt|stats|projection_failing|healthy
END
}

# ---- What is said -----------------------------------------------------------------------------------

says() # TOOL WORD ABOUT TEXT
{
    local level
    case $1 in
    why) pawl why "$2" --json "${app[@]}" 2>/dev/null | grep -qE "\"$3\":\"[^\"]*($4)" ;;
    doctor) pawl doctor --json "${app[@]}" 2>/dev/null | grep -qE "\"check\":\"$3\",\"level\":\"$2\",\"text\":\"[^\"]*($4)" ;;
    stats)
        level=$4
        [ "$level" != degraded ] || level='(degraded|unhealthy)'
        pawl stats --json "${limits[@]}" 2>/dev/null | grep -qE "\"name\":\"$3\",\"status\":\"$level\"" ;;
    metrics)
        exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
        printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
        tr -d '\r' <&3 | grep -qE "^$3 $4$" ;;
    esac
}

# Each row of the situation is looked at; the exit code of doctor is that of its findings.
look_at() # SITUATION
{
    local name about text words word count=0
    while IFS='|' read -r name words about text; do
        [ "$name" = "$1" ] || continue
        [ "$words" != metrics ] || [ ${#http[@]} -gt 0 ] || continue
        words=${words/LETTER/${letter:-}}
        word=${words#* }
        poll 4 says "${words%% *}" "$word" "$about" "$text" || {
            [ "${words%% *}" = why ] || word=
            pawl ${words%% *} ${word:+"$word"} >"$work/out" 2>&1
            die "$1: $words does not say of $about: $text"; }
        count=$((count + 1))
    done < <(table)
    [ "$count" -gt 2 ] || die "$1 stands $count times in the table"
    echo "$1: $count answers"
}
post() { expect 0 '' pawl send --to trips --type "$1" --id "$2" --body "$3"; }
is_there() { pawl saga show "$1" "${app[@]}" >/dev/null 2>&1; }
# run_app NAME APP: its pages are at $port.
run_app()
{
    start "$@" "${options[@]}" "${http[@]}"
    port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/$1.log")
}
begin() # TRIP
{
    post begin "g-$1" "{\"trip\":$1}"
    poll 20 is_there "Trip/$1" || die "no saga $1"
}
clear_letters()
{
    expect 0 '' pawl dead discard --all --yes
}

# ---- Situations ---------------------------------------------------------------------------------------

expect 0 '' pawl schema apply "${app[@]}"
run_app app "$work/idle.so"

begin 1
post leg l-1 '{"of":{"trip":1},"km":-1}'
look_at poison
clear_letters

begin 2
post leg l-2 '{"of":{"trip":2},"km":"many"}'
look_at 'wrong JSON'
clear_letters

touch "$PAWL_TEST_CLOSED"
post nap n-1 '{"n":1}'
look_at 'slow handler'
rm "$PAWL_TEST_CLOSED"
rested() { has_ready trips 0; }
is_taken() { pawl why "$1" --json "${app[@]}" 2>/dev/null | grep -q '"place":"inbox"'; }
poll 20 rested || die "the handler does not end"

begin 3
expect 0 '' pawl timeout cancel --all --saga Trip/3 --yes --reason 'by mistake' "${app[@]}"
id=$(pawl saga show Trip/3 "${app[@]}" --json | sed -E 's/.*"id":"([^"]*)","version".*/\1/')
sql "update \"trips_Trip\" set \"Metadata\" = replace(\"Metadata\", '\"Changed\":\"2', '\"Changed\":\"1') where \"Correlation_trip\" = 3"
look_at 'stuck saga'
expect 0 '' pawl timeout set --saga "Trip/$id" --name late --by 1h "${app[@]}"
poll 4 says doctor ok sagas 'has a timeout' || die "the saga is not mended"

begin 4
sql "update \"trips_Trip\" set \"Data\" = '{\"trip\":\"four\"}' where \"Correlation_trip\" = 4"
post leg l-4 '{"of":{"trip":4},"km":3}'
look_at 'state changed by SQL'
clear_letters

begin 5
sql "update \"trips_Trip\" set \"Data\" = '{\"trip\":77}' where \"Correlation_trip\" = 5"
post leg l-5 '{"of":{"trip":5},"km":3}'
look_at 'key changed by SQL'
clear_letters

for ((n = 0; n < 200; n++)); do
    echo '{"of":{"trip":1},"km":"many"}'
done >"$work/bodies"
expect 0 '' pawl send --to trips --type leg --lines --body-file "$work/bodies"
poll 20 has dead 200 || die "no letters: $(number dead)"
letter=$(pawl dead list --limit 1 --json | sed -E 's/^\{"message_id":"([^"]*)".*/\1/')
look_at '200 letters'
expect 0 '^discarded 200 dead letters$' pawl dead discard --all --type leg --yes
poll 4 says doctor ok dead_letters 'there is none' || die "letters are left"
stop "$pid" TERM 0

"$build_dir/pawl" run "$work/idle.so" --restart "${options[@]}" </dev/null 2>"$work/crash.log" &
pid=$!
started+=("$pid")
post bite b-1 '{"n":1}'
poll 20 has dead 1 || die "the message that kills is not given up"
look_at crash
clear_letters
stop "$pid" TERM 0

start newer "$work/newer.so" "${options[@]}"
begin 6
stop "$pid" TERM 0
start app "$work/idle.so" "${options[@]}"
post leg l-6 '{"of":{"trip":6},"km":3}'
look_at 'old program, new state'
expect 1 '1 finding' pawl saga verify-upgrade --app "$work/newer.so"
stop "$pid" TERM 0
expect 0 '' pawl queue purge trips --discard --yes
run_app app "$work/idle.so"
expect 0 '' pawl send --to trips --type report --id r-7 --header pawl.version=2 --body '{"text":"new"}'
look_at 'newer message'
stop "$pid" TERM 0
expect 0 '' pawl queue purge trips --discard --yes

start app "$work/idle.so" "${options[@]}"
begin 11
stop "$pid" TERM 0
expect 1 '1 finding' pawl saga verify-upgrade --app "$work/newer.so"
start newer "$work/newer.so" "${options[@]}"
post leg l-11 '{"of":{"trip":11},"km":3}'
look_at 'version 2 with a renamed member'
stop "$pid" TERM 0
start app "$work/idle.so" "${options[@]}" # the version before, put back
poll 20 is_taken l-11 || die "the program of the version before does not handle it"
stop "$pid" TERM 0

start older "$work/idle.so" "${options[@]}"
older=$pid
start newer "$work/newer.so" "${options[@]}"
post leg l-7 '{"of":{"trip":6},"km":3}'
stop "$older" TERM 0
poll 20 is_taken l-7 || die "the newer program does not take what waited for it"
look_at 'rolling deploy'
stop "$pid" TERM 0

run_app app "$work/idle.so"
expect 0 '' pawl queue pause trips --reason 'the bank asked'
post leg l-8 '{"of":{"trip":1},"km":3}'
look_at pause
expect 0 '' pawl queue resume trips
poll 20 rested || die "the message is not handled"
if [ "$(type -t crash)" = function ]; then
    begin 9
    crash
    expect 1 '1 of 1 findings' pawl doctor
    grep -qE '^FAIL +connection .*onnection refused' "$work/out" || die "doctor does not name the connection"
    expect 3 'onnection refused' pawl why Trip/9 "${app[@]}"
    expect 3 'onnection refused' pawl stats
    poll 20 grep -q 'endpoint trips: .*; trying again' "$work/app.log" || die "the log does not name the store"
    recover
    post leg l-9 '{"of":{"trip":9},"km":3}'
    poll 30 rested || die "the worker does not go on"
    look_at 'after a crash of the store'
fi
stop "$pid" TERM 0

if [ "$(type -t take_right)" = function ]; then
    take_right
    start denied "$work/idle.so" "${options[@]}" --store "$role"
    post begin g-10 '{"trip":10}'
    poll 20 grep -q 'permission denied for table pawl_timeouts .*; trying again' "$work/denied.log" ||
        die "the log does not name the right"
    PAWL_STORE=$role look_at 'a missing right'
    has dead 0 || die "a message is given up for a right of its program"
    give_right
    poll 30 is_there Trip/10 || die "the worker does not go on"
    stop "$pid" TERM 0
fi

expect 0 '' pawl schema apply --app "$work/projection.so"
touch "$PAWL_TEST_CLOSED"
run_app projection "$work/projection.so"
expect 0 '' pawl send --to boxes --type put --body '{"box":"b-1","number":7}'
look_at 'projection fails'
rm "$PAWL_TEST_CLOSED"
expect 0 '^projection all reads [0-9]+ events? again, from global position 1$' pawl projection rebuild all --while-read --yes
poll 30 says doctor ok projections . || die "the projection still fails"
again() { [ "$(grep -c '^7$' "$PAWL_TEST_SEEN")" = 2 ]; }
poll 20 again || die "the event is not read again"
look_at 'projection rebuilt'
stop "$pid" TERM 0
echo "each situation is told of by why, doctor and stats"
