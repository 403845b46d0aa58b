#!/usr/bin/env bash
# command_queue_unfit.sh - pawl queue purge, purge --discard and move take the messages around a row that another program
# wrote, and that no store would take.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/queue.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply

# One row without an id, one with an overlong type, one with a large body and history, and good ones around them.
fill() {
    for n in 1 noid 2 type 3 body 4; do expect 0 '' pawl send --to "$1" --type parcel --id "$1-$n" --body '{}'; done
    sqlite3 "$work/queue.db" "update pawl_queue set Type = printf('%.300c', 't') where MessageId = '$1-type';
        update pawl_queue set Body = hex(zeroblob(8400000)), History = hex(zeroblob(8400000)) where MessageId = '$1-body';
        update pawl_queue set MessageId = '' where MessageId = '$1-noid';"
}

echo "== purge: each is a dead letter, which tells what it lacks"
fill desk
expect 0 '^dead-lettered 7 messages of queue desk$' pawl queue purge desk --yes --reason spring
expect 0 '' pawl queue peek desk
warned '^no message matches$'
expect 0 "purged by .*; field 'type' has 300 bytes, the limit is 200: spring" pawl dead list --json
grep -q "; field 'message id' has 0 bytes, the limit is 1 to 200: spring" "$work/out" || die "nothing of the id: $(cat "$work/out")"
grep -q "; its body has 16800000 bytes, the limit is 16777216: " "$work/out" || die "nothing of the body: $(cat "$work/out")"
[ "$(grep -o '"message_id":"[^"]' "$work/out" | wc -l)" = 7 ] || die "not all have an id: $(cat "$work/out")"

echo "== discard: they are gone"
fill till
expect 0 '^discarded 7 messages of queue till$' pawl queue purge till --discard --yes
expect 6 'there is no queue till' pawl queue peek till

echo "== move: they stay, and that is said"
fill line
expect 0 '^moved 4 messages of queue line to other; 3 were in flight, gone, or cannot be sent as they are$' pawl queue move line other --yes
expect 0 '^dead-lettered 3 messages of queue line$' pawl queue purge line --yes
