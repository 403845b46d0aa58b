#!/usr/bin/env bash
# command_run.sh - run, send, stats and the signals.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_pair.c pair.so
export PAWL_STORE=sqlite:$work/run.db

echo "== two endpoints in one process"
start pair "$work/pair.so" --workers 2
pair=$pid
for name in left right; do
    poll 10 grep -q "endpoint '$name' is running" "$work/pair.log" || die "$name does not run"
done
expect 0 '^sent one to left$' pawl send --to left --type ping --body '{"n":1}' --id one
expect 0 '"id":"two"' pawl send --to left --type ping --body '{"n":2}' --id two --json
poll 20 has_ready finished 2 || die "two pings did not make two finished ones"
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":1}' --id one
for n in $(seq 1 600); do
    echo "{\"n\":$n}"
done >"$work/lines"
expect 0 '"sent":600,' pawl send --to left --type ping --lines --body-file "$work/lines" --json
poll 30 has_ready finished 602 || die "finished: $(queue_ready finished), not 602"
expect 0 '^messages handled +1[0-9]+$' pawl stats
expect 0 '^finished +602 ' pawl stats

echo "== without tables the command that makes them is said whole"
tables="run: pawl schema apply --store 'sqlite:.*/bare.db'"
: >"$work/bare.db"
expect 4 "is missing or incomplete; $tables --app $work/pair.so\$" \
    pawl run "$work/pair.so" --create no --store "sqlite:$work/bare.db"
expect 4 "$tables --prefix 'x_' --app $work/pair.so --saga-prefix y_\$" \
    pawl run "$work/pair.so" --create no --store "sqlite:$work/bare.db" --prefix x_ --saga-prefix y_
advice=$(sed 's/.*run: //' "$work/err")
expect 0 '' eval "$advice"
start whole "$work/pair.so" --create no --store "sqlite:$work/bare.db" --prefix x_ --saga-prefix y_
stop "$pid" TERM 0

echo "== a destination that nobody reads is warned about, once"
warned="endpoint right sends to 'finished', which no endpoint of this store reads"
[ "$(grep -c "$warned" "$work/pair.log")" = 1 ] || die "not one warning of finished"
! grep -q "sends to 'right'" "$work/pair.log" || die "a warning of right, which is read"

echo "== a bad line: what was committed before it stays"
head -n 300 "$work/lines" >"$work/bad_lines"
echo '{"n":' >>"$work/bad_lines"
expect 2 'after 256 messages were sent: line 301 of .*: not JSON' \
    pawl send --to idle --type ping --lines --body-file "$work/bad_lines"
has_ready idle 256 || die "idle: $(queue_ready idle), not 256"

head -c 20 /dev/zero >"$work/nul_lines"
echo >>"$work/nul_lines"
mkfifo "$work/endless"
"$build_dir/pawl" send --to broken --type ping --lines --body-file "$work/endless" >"$work/out" 2>"$work/err" &
pid=$!
exec 7>"$work/endless"
seq 20000 | sed 's/.*/{"n":&}/' >&7
poll 20 eval '[ "$(queue_ready broken)" -ge 1024 ]' || die "nothing is sent"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "another exit code than 5"
exec 7>&-
grep -qE "after $(queue_ready broken) messages were sent: interrupted\$" "$work/err" || die "it does not say how many are sent"
expect 2 'line 1 of .*: not JSON' pawl send --to idle --type ping --lines --body-file "$work/nul_lines"
has_ready idle 256 || die "idle: $(queue_ready idle), not 256"

echo "== lines of a slow producer are sent as they come"
mkfifo "$work/slow"
"$build_dir/pawl" send --to slow --type ping --lines <"$work/slow" >"$work/out" 2>"$work/err" &
pid=$!
exec 7>"$work/slow"
printf '{"n":1}\n\n{"n":2}\n{"n":' >&7
poll 20 has_ready slow 2 || die "slow: $(queue_ready slow), not 2"
printf '3}\n{"n"' >&7
poll 20 has_ready slow 3 || die "slow: $(queue_ready slow), not 3"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "another exit code than 5"
exec 7>&-
grep -q ": after 3 messages were sent: interrupted\$" "$work/err" || die "it does not say how many are sent"
has_ready slow 3 || die "slow: $(queue_ready slow), not 3"

echo "== closed standard streams"
# A file of the store would be standard input: what is in it is no message.
timeout 20 "$build_dir/pawl" send --to idle --type ping --lines <&- >"$work/out" 2>"$work/err"
[ $? = 2 ] || die "no input is a success"
grep -q 'cannot read standard input: Bad file descriptor$' "$work/err" || die "it does not say what it could not read"
"$build_dir/pawl" send --to idle --type ping --body 1 --id closed >&- 2>"$work/err"
[ $? = 5 ] || die "no output is a success"
"$build_dir/pawl" send --to idle --type ping --body 1 2>&- | grep -q '^sent ' || die "no words of failures is a failure"
has_ready idle 258 || die "idle: $(queue_ready idle), not 258"

echo "== an answer that cannot be written says what was sent"
# to_nobody REGEX OPTION ...: a pipe that is not read any more.
mkfifo "$work/unread"
to_nobody()
{
    local regex=$1
    shift
    exec 7<>"$work/unread" 8>"$work/unread" 7<&-
    "$build_dir/pawl" send --to unread --type ping "$@" >&8 2>"$work/err"
    [ $? = 5 ] || die "no answer is a success"
    exec 8>&-
    grep -qE "$regex, but cannot write to standard output: Broken pipe\$" "$work/err" || die "it does not say '$regex'"
}
to_nobody 'message [0-9a-f-]{36} was sent' --body 1
to_nobody 'message told was sent' --body 1 --id told --json
to_nobody '2 messages were sent' --lines <<<$'1\n2'
has_ready unread 4 || die "unread: $(queue_ready unread), not 4"

echo "== later, and what nobody knows"
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":3}' --delay 1h
expect 0 '"queue":"left","ready":0,"scheduled":1' pawl stats --json
expect 0 '^sent ' pawl send --to left --type riddle --body '{}' --header a=b --correlation c
poll 20 has dead 1 || die "a type that nobody knows is not a dead letter"

echo "== the first signal stops gracefully"
stop "$pair" TERM 0
for name in left right; do
    grep -q "endpoint '$name' stopped" "$work/pair.log" || die "no word that $name stopped"
done
has workers 0 || die "workers are left: $(number workers)"

echo "== SIGINT as well, and one endpoint only; each call of the store is a line"
! grep -q 'queue_claim' "$work/pair.log" || die "calls of the store are told that nobody asked for"
start left "$work/pair.so" --endpoint left --log trace
poll 10 grep -qE ' debug sqlite: worker [0-9a-f-]{36}: queue_claim: OK after [0-9]+ us$' "$work/left.log" ||
    die "no line of a claim"
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":4}'
poll 20 has_ready right 1 || die "left did not run alone"
stop "$pid" INT 0
has_ready right 1 || die "right ran, but only left was asked for"
! grep -q "right" "$work/left.log" || die "right is in the log of left"

echo "== a route says that the name is right"
before=$(queue_ready finished)
start right "$work/pair.so" --route finished=#finished
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":5}'
poll 20 has_ready finished $((before + 2)) || die "finished: $(queue_ready finished), not $((before + 2))"
stop "$pid" HUP 0
! grep -q "sends to" "$work/right.log" || die "a warning, and there is a route"

echo "== the second signal stops at once"
export PAWL_TEST_BUSY=$work/busy
start stubborn "$work/pair.so" --endpoint left
expect 0 '^sent ' pawl send --to left --type stubborn --body '{}' --id stubborn
poll 20 test -e "$work/busy" || die "the stubborn handler does not run"
kill -TERM "$pid"
kill -INT "$pid" # the same stop, as it comes within half a second
sleep 0.6
is_gone "$pid" && die "the first signal did not wait for the handler"
stop "$pid" INT 5
grep -q 'at once by a second signal' "$work/stubborn.log" || die "the second signal waits for the handler"
rm -f "$work/busy"

echo "== what does not return is given up, by name"
start patient "$work/pair.so" --endpoint left --stop-wait 200ms
poll 20 test -e "$work/busy" || die "the stubborn handler does not run again"
stop "$pid" TERM 5
grep -q "message stubborn of type stubborn is in handler on_stubborn for" "$work/patient.log" ||
    die "what was given up is not named"
has workers 0 || die "workers are left: $(number workers)"
rm -f "$work/busy"

echo "== and nothing is lost by it"
trap '' HUP # as nohup does
start again "$work/pair.so" --endpoint left
trap - HUP
poll 30 test -e "$work/busy" || die "the message of the stopped process does not come again"
rm -f "$work/busy"
poll 20 has_ready left 0 || die "left: $(queue_ready left) messages are left"
kill -HUP "$pid"
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":6}'
poll 3 has_ready left 0 || die "SIGHUP was to be ignored"
stop "$pid" TERM 0

echo "== a signal to parent and child of --restart is one stop"
start both "$work/pair.so" --endpoint left --restart
child=$(pgrep -P "$pid")
expect 0 '^sent ' pawl send --to left --type stubborn --body '{}'
poll 20 test -e "$work/busy" || die "the stubborn handler does not run"
kill -TERM "$pid"
kill -INT "$child"
sleep 0.1
is_gone "$child" && die "the child does not wait for the handler"
rm -f "$work/busy"
poll 20 is_gone "$pid" || die "it does not stop"
wait "$pid" || die "exit code $? of what stopped in order"
