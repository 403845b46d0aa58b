#!/usr/bin/env bash
# command_restart.sh - `pawl run --restart`: a parent that starts the endpoints' process again when
# it died, says so where histories get it from, passes signals on, and speaks to systemd for it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_sqlite
ulimit -c 0
# A sanitizer makes an exit code of a signal otherwise.
for options in ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS; do
    export "$options=${!options:+${!options}:}handle_segv=0"
done
build_app app_deaths.c deaths.so
export PAWL_STORE=sqlite:$work/restart.db
app=$work/deaths.so
expect 0 "" pawl schema apply

child() # PARENT: into $child, once there is one that runs
{
    child=$(pgrep -P "$1" | head -n 1)
    [ -n "$child" ]
}

says() # REGEX [COUNT]: the log of `parent` has so many lines like it
{
    [ "$(grep -cE "$1" "$work/parent.log")" -ge "${2:-1}" ]
}

events() # REGEX: of the deaths that were noted
{
    pawl events list --type pawl.worker_died --json 2>/dev/null | grep -qE "$1"
}

echo "== a process that is killed is started again, and its death is noted"
start parent "$app" --restart
parent=$pid
child "$parent" || die "there is no child"
first=$child
kill -KILL "$first"
poll 20 says "endpoint 'left' is running" 2 || die "it is not started again"
says "^[^ ]+ warning process $first was killed by signal 9 \(SIGKILL\); it is started again in 0\.[24] s$" ||
    die "no word of the death"
poll 10 events '"type":"pawl.worker_died"' || die "the death is not in the journal"
stream=$(pawl events list --type pawl.worker_died --json | grep -oE 'pawl.process/[0-9a-f-]{36}' | head -n 1)
expect 0 '' pawl events list --stream "$stream" --json
[ -n "$stream" ] || die "no stream of the process"

echo "== a signal is passed on, and the child is awaited"
child "$parent" || die "there is no second child"
[ "$child" != "$first" ] || die "the child is the one that was killed"
stop "$parent" TERM 0
is_gone "$child" || die "the child runs on"
says "endpoint 'left' stopped" || die "it did not stop in order"
has workers 0 || die "workers are left"

echo "== a note that the store lets wait is written beside the next child"
build_sql
start parent "$app" --restart
parent=$pid
child "$parent" || die "there is no child"
first=$child
mkfifo "$work/hold"
"$work/sql" "$work/restart.db" hold <"$work/hold" >"$work/held" &
started+=($!)
exec 7>"$work/hold"
poll 10 grep -q held "$work/held" || die "the write lock is not held"
kill -KILL "$first"
two_run() # the writer of the note, and the next child
{
    [ "$(pgrep -P "$parent" | wc -l)" = 2 ]
}
poll 20 two_run || die "the next child waits for the note"
notes()
{
    pawl events list --type pawl.worker_died --json 2>/dev/null | grep -c seq
}
before=$(notes)
exec 7>&-
is_noted() # once more
{
    [ "$(notes)" -gt "$before" ]
}
poll 20 is_noted || die "the note is not written behind the lock"
poll 20 says "endpoint 'left' is running" 2 || die "it is not started again"
stop "$parent" TERM 0

echo "== a log whose reader is gone ends neither the parent nor a child"
mkfifo "$work/pipe"
head -n 1 <"$work/pipe" >/dev/null &
reader=$!
"$build_dir/pawl" run "$app" --restart 2>"$work/pipe" </dev/null &
parent=$!
started+=("$parent")
poll 20 is_gone "$reader" || die "the log has no line"
expect 0 '' pawl send --to left --type bite --body '{"n":1}'
poll 20 has_ready finished 1 || die "it ends with the log's reader"
child "$parent" || die "there is no child"
first=$child
before=$(notes)
kill -KILL "$first"
poll 20 is_noted || die "the death is not noted"
is_another() { child "$parent" && [ "$child" != "$first" ]; }
poll 20 is_another || die "it is not started again"
expect 0 '' pawl send --to left --type bite --body '{"n":2}'
poll 20 has_ready finished 2 || die "the next child ends"
stop "$parent" HUP 0 # as the terminal is gone

echo "== a stop while the application is loaded is no death"
cat >"$work/late.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void load_late(void) { fclose(fopen(getenv("PAWL_TEST_LOADED"), "w")); sleep(20); }
END
$cc -shared -fPIC -o "$work/late.so" "$work/late.c" || die "no application that is late"
export PAWL_TEST_LOADED=$work/loaded
before=$(notes)
for option in --restart --create=yes; do
    "$build_dir/pawl" run "$work/late.so" $option 2>"$work/parent.log" </dev/null &
    started+=("$!")
    poll 20 test -e "$work/loaded" || die "it is not loaded"
    rm "$work/loaded"
    stop "$!" TERM 0
done
[ "$(notes)" = "$before" ] || die "a death is noted"
! says . || die "it says: $(cat "$work/parent.log")"

echo "== an exit that nobody asked for is a death, in the letter's history"
start parent "$app" --restart --crashes-max 1
before=$(queue_ready finished)
expect 0 '' pawl send --to left --type bite --body '{"n":1,"kills":5}' # nor is the end of a handler's own process a stop
poll 5 has_ready finished $((before + 1)) || die "a process that a handler begins does not end by SIGTERM"
expect 0 '' pawl send --to left --type bite --body '{"n":1,"kills":3}' --id seven
poll 30 has dead 1 || die "no dead letter"
expect 0 'process [0-9]+ exited with code 7 while it ran this message in isolation \(worker' pawl dead show seven --json
says 'warning process [0-9]+ exited with code 7; it is started again' || die "no word of the exit"
expect 0 '' pawl send --to left --type bite --body '{"n":1,"kills":4}' --id zero
poll 30 has dead 2 || die "a handler that calls exit(0) ends the parent"
expect 0 'process [0-9]+ exited with code 0 while it ran this message' pawl dead show zero --json
expect 0 '' pawl send --to left --type bite --body '{"n":1,"kills":6}' --id two
poll 30 has dead 3 || die "a handler that calls exit(2) ends the parent"
expect 0 'process [0-9]+ exited with code 2 while it ran this message' pawl dead show two --json
stop "$pid" INT 0

echo "== a child that alone is told to stop is not started again"
start parent "$app" --restart
child "$pid" || die "there is no child"
kill -TERM "$child"
poll 20 is_gone "$pid" || die "the parent goes on without its child"
says "info process $child was told to stop: it is not started again$" || die "no word of the end"

echo "== what says why it ends is not started again"
expect 2 '--json goes with' pawl run "$app" --restart --json
mkfifo "$work/settings"
for file in - /dev/stdin "$work/settings"; do # what can be read once only
    timeout 60 "$build_dir/pawl" run "$app" --restart --config "$file" < <(echo 'workers = 2') >"$work/out" 2>"$work/err"
    [ $? = 2 ] || die "another exit code than 2 for --config $file"
    grep -qE "^pawl: --config $file: each process of --restart reads it again" "$work/err" || die "no word of --config $file"
done
expect 2 'cannot read .*: No such file' pawl run "$app" --restart --config "$work/none"
expect 0 'workers +2 ' pawl run "$app" --restart --config <(echo 'workers = 2') --show-options
expect 4 'schema' pawl run "$app" --restart --create no --prefix other_
! grep -q 'started again' "$work/err" || die "a missing schema is tried again"
expect 0 'restart|crashes-max' pawl run "$app" --restart --show-options
expect 0 '' pawl help run
grep -qE '^  --restart +run it in a child' "$work/out" || die "no help"

echo "== what dies as soon as it starts is started later and later; a stop ends the pause"
cat >"$work/early.c" <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void die_early(void) { abort(); }
END
$cc -shared -fPIC -o "$work/early.so" "$work/early.c" || die "no application that dies"
"$build_dir/pawl" run "$work/early.so" --restart 2>"$work/parent.log" &
pid=$!
started+=("$pid")
poll 20 says 'was killed by signal 6 \(SIGABRT\); it is started again in 1\.6 s$' || die "the pause does not double"
says 'in 0\.2 s$' && says 'in 0\.8 s$' || die "the first pauses are not those"
stop "$pid" TERM 0

echo "== a parent that is killed takes its child along, in order"
start parent "$app" --restart
child "$pid" || die "there is no child"
{ kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
poll 20 is_gone "$child" || die "the child of a killed parent runs on"
says "endpoint 'left' stopped" || die "it did not stop in order"

echo "== systemd hears of the child by its parent alone"
cat >"$work/manager.py" <<'END'
import socket, struct, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
listener.bind(sys.argv[1])
with open(sys.argv[2], "w", buffering=1) as said:
    said.write("listening\n")
    while True:
        text, more, _, _ = listener.recvmsg(4096, 100)
        said.write("%d %s\n" % (struct.unpack("iii", more[0][2])[0], text.decode()))
END
python3 "$work/manager.py" "$work/manager" "$work/said" &
started+=($!)
told() # LINE [COUNT]
{
    [ "$(grep -csx "$1" "$work/said")" = "${2:-1}" ]
}
poll 10 told listening || die "the manager does not listen"
export NOTIFY_SOCKET=$work/manager
start parent "$app" --restart
unset NOTIFY_SOCKET
poll 10 told "$pid READY=1" || die "not told by the parent that it runs: $(cat "$work/said")"
child "$pid" || die "there is no child"
kill -SEGV "$child"
poll 20 told "$pid READY=1" 2 || die "not told that it runs again: $(cat "$work/said")"
stop "$pid" TERM 0
poll 10 told "$pid STOPPING=1" || die "not told that it stops"
[ "$(wc -l <"$work/said")" = 4 ] || die "told something else: $(cat "$work/said")"

echo "== a death after the stop was asked for is the parent's exit code"
start parent "$app" --restart
child "$pid" || die "there is no child"
kill -STOP "$child" # it dies before it can stop in order
poll 20 grep -q '^State:.T' "/proc/$child/status" || die "the child goes on"
kill -TERM "$pid"
is_passed_on() # SIGTERM waits in the child
{
    grep -q '^ShdPnd:.*4000$' "/proc/$child/status"
}
poll 20 is_passed_on || die "the signal is not passed on"
kill -KILL "$child"
poll 20 is_gone "$pid" || die "the parent goes on without its child"
wait "$pid"
[ $? = 137 ] || die "another exit code than 137"
says 'warning process [0-9]+ was killed by signal 9 \(SIGKILL\), told to stop$' || die "no word of it"
