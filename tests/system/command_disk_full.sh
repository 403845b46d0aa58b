#!/usr/bin/env bash
# command_disk_full.sh - a disk that is full: exit 5, what was committed stays,
# and the work goes on when there is room again. Needs root, for a disk of 1 MiB.
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
