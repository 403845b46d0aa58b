#!/usr/bin/env bash
# command_disk_full.sh - a disk that is full: a sender ends with exit code 5, what was committed stays; workers
# wait, say so once, and go on by themselves when there is room again. Needs root, for a disk of 1 MiB.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
[ "$(id -u)" = 0 ] || skip "not root: no small disk can be mounted"
disk=$work/disk
mkdir "$disk"
mount -t tmpfs -o size=1m tmpfs "$disk" 2>"$work/err" ||
    skip "no small disk can be mounted here: $(head -n 1 "$work/err")"
finish_disk()
{
    umount "$disk" 2>/dev/null || umount -l "$disk" 2>/dev/null
    finish
}
trap finish_disk EXIT

store=sqlite:$disk/full.db
expect 0 '' pawl schema apply --store "$store"
body=$(printf '{"text":"%01000d"}' 0)
yes "$body" | head -n 4000 >"$work/lines"

expect 5 "$disk/full.db" pawl send --store "$store" --to q --type t --lines --body-file "$work/lines"
sent=$(grep -oE 'after [0-9]+ messages were sent' "$work/err" | grep -oE '[0-9]+')
[ -n "$sent" ] || die "the last line does not say how many were sent"
if [ "$sent" -le 0 ] || [ "$sent" -ge 4000 ]; then
    die "$sent messages were sent"
fi

mount -o remount,size=32m "$disk" || die "no more room for the disk"
expect 0 "\"queue\":\"q\",\"ready\":$sent," pawl stats --json --store "$store"
expect 0 '^sent ' pawl send --store "$store" --to q --type t --body '{}'
expect 0 "\"queue\":\"q\",\"ready\":$((sent + 1))," pawl stats --json --store "$store"
expect 0 '' pawl schema verify --store "$store"

echo "== workers wait"
build_app app_deaths.c deaths.so
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
bites=500
seq $bites | sed 's/.*/{"n":&}/' >"$work/bites"
expect 0 '' pawl send --to left --type bite --delay 5s --lines --body-file "$work/bites"
"$build_dir/pawl" run "$work/deaths.so" --workers 2 </dev/null 2>"$work/run.log" &
worker=$!
started+=($worker)
works()
{
    pawl worker list 2>/dev/null | grep -q left
}
poll 30 works || { cat "$work/run.log"; die "no worker is alive"; }
dd if=/dev/zero of="$disk/ballast" bs=4k 2>/dev/null
waits()
{
    grep -q "; it waits for room in sqlite:$disk/full.db: free some, or enlarge the disk" "$work/run.log"
}
poll 60 waits || { cat "$work/run.log"; die "no line says that it waits for room"; }
sleep 6 # longer than its longest pause
kill -0 $worker 2>/dev/null || { cat "$work/run.log"; die "the process has ended"; }
[ "$(grep -c 'it waits for room' "$work/run.log")" = 1 ] ||
    { cat "$work/run.log"; die "it is not said once"; }
expect 0 '^  degraded  queue_age +queue left' pawl stats --health queue_age=1s
expect 0 '^waits for +its workers$' pawl why left
expect 1 'findings must be dealt with$' pawl doctor
grep -q '^FAIL  disk  *0 MB are free$' "$work/out" || die "doctor does not say that the disk is full"

echo "== and go on by themselves"
rm "$disk/ballast"
is_done()
{
    has_ready left 0
}
poll 60 is_done || { cat "$work/run.log"; die "left: $(queue_ready left)"; }
is_back() # said by the last thread, whose pause may end after the other one emptied the queue
{
    grep -q 'endpoint left: back after [0-9]* ' "$work/run.log"
}
poll 30 is_back || { cat "$work/run.log"; die "it does not say that it is back"; }
has dead 0 || die "$(number dead) dead letters of a full disk"
expect 0 "\"queue\":\"q\",\"ready\":$((sent + 1))," pawl stats --json
kill -TERM $worker
wait $worker || die "exit code $?"
