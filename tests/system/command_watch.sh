#!/usr/bin/env bash
# command_watch.sh - pawl stats --watch: its picture on a terminal, its lines elsewhere, and the
# terminal as it was, however it ends.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
command -v python3 >/dev/null || skip "no python3 to play a terminal"
export PAWL_STORE=sqlite:$work/watch.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply
expect 0 '^sent' pawl send --to billing --type x --body '{}'
expect 0 '^sent' pawl send --to billing --type x --body '{}' --delay 1h

# watched COLUMNS LINES OPTION ...: what the terminal shall do is standard input.
watched()
{
    local columns=$1 lines=$2
    shift 2
    python3 "$source_dir/tests/support/terminal.py" "$columns" "$lines" \
        "$build_dir/pawl" stats --watch "$@" >"$work/out" 2>"$work/err"
}

echo "== the picture has 80 columns, and q ends it"
watched 80 24 --every 100ms <<END || die "the picture"
expect ^pawl stats sqlite:.*every 100 ms$
expect ^per second +0 +0 +0 +0 +0 +0$
expect ^ever +0 +0 +0 +0 +0 +0$
expect ^outbox +pending 0 +blocked 0 +dead 0 +oldest -$
expect ^timeouts +pending 0 +due +0 +late +-$
expect ^aggregators +messages 0 +partitions dead 0$
expect ^store +dead letters 0 +deduplication records 0 +workers 0$
expect ^queue +ready +scheduled +oldest +workers$
expect ^billing +1 +1 +[0-9.]+ [a-z]+ +0 +no consumer$
modes raw
keys q
end 0
modes plain
END
echo 'expect ^pawl stats' | watched 80 24 && die "a command that goes on passes for one that ended"
echo 'expect ^nothing of the kind' | watched 80 24 --count 1 && die "a picture that is not there is seen"

echo "== it follows what happens; another key looks at once"
watched 80 24 --every 1h <<END || die "a key"
expect ^billing
refuse ^shipping
run $build_dir/pawl send --to shipping --type x --body '{}' >$work/sent
keys x
expect ^shipping +1 .* no consumer$
keys q
end 0
END
watched 80 24 --every 100ms <<END || die "a new message"
expect ^shipping +1
run $build_dir/pawl send --to shipping --type x --body '{}' >$work/sent
expect ^shipping +2
keys q
end 0
END

echo "== a new size draws again without a look; a small screen loses the end"
watched 80 24 --every 1h <<END || die "a new size"
expect ^billing
size 60 8
expect ^per second
expect ^outbox
refuse ^billing
refuse ^timeouts
size 100 30
expect ^billing
keys q
end 0
END

echo "== signals leave the terminal as it was, and Ctrl-Z lends it to the shell"
for signal in INT TERM HUP QUIT; do
    printf '%s\n' 'expect ^billing' 'modes raw' "signal $signal" 'end 0' 'modes plain' |
        watched 80 24 --every 1h || die "SIG$signal"
done
watched 80 24 --every 1h <<END || die "SIGTSTP"
expect ^billing
modes raw
signal TSTP
stopped
modes raw
expect ^billing
keys q
end 0
END

echo "== a failure is said in the picture, and a store that is back is seen"
build_sql
watched 80 24 --every 100ms <<END || die "a store that fails"
expect ^billing
run $work/sql $work/watch.db 'alter table pawl_inbox rename to gone' >$work/sent
expect ^no answer .*pawl_inbox
refuse ^billing
run $work/sql $work/watch.db 'alter table gone rename to pawl_inbox' >$work/sent
expect ^per second +0 +0
expect ^billing
refuse ^no answer
keys q
end 0
END

echo "== a store that is not there is a line, and no screen"
printf '%s\n' 'end 3' | watched 80 24 --store "sqlite:$work/none.db" ||
    die "a store that is not there"

echo "== elsewhere: a line for each look, headings every 20, JSON"
expect 0 '^at +handled/s +failed/s +confl/s +ready +scheduled +oldest +outbox +dead +workers +health$' \
    pawl stats --watch --every 100ms --count 3
lines 4
grep -qE '^[0-9T:-]+Z +- +- +- +3 +1 .* 0 +0 +0 [a-z]+$' "$work/out" || die "no first line"
[ "$(grep -cE '^[0-9T:-]+Z +0 +0 +0 +3 +1 ' "$work/out")" = 2 ] || die "no two lines with rates"
expect 0 '' pawl stats --watch --every 100ms --count 21
[ "$(grep -c '^at ' "$work/out")" = 2 ] || die "not two headings of 21 lines"
expect 0 '^\{"at":"[^"]+Z","count_max":100000,"messages":0,' pawl stats --watch --every 100ms --count 2 --json
lines 2
"$build_dir/pawl" stats --watch --every 1h >"$work/lines" 2>"$work/err" </dev/null &
watcher=$!
started+=("$watcher")
poll 20 grep -q '^2' "$work/lines" || die "a line waits in a buffer"
stop $watcher TERM 0
expect 5 '^pawl: cannot write to standard output$' bash -c '"$@" >/dev/full' - \
    "$build_dir/pawl" stats --watch --every 100ms --count 2

echo "== options that do not belong together"
expect 2 '.--every is for --watch$' pawl stats --every 5s
expect 2 '.--count is for --watch$' pawl stats --count 5
expect 2 'every.*100ms' pawl stats --watch --every 1ms
echo "a store is watched"
