#!/usr/bin/env bash
# command_queue.sh - pawl queue on SQLite: which queues there are, who reads them, and their messages
# without claiming them.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/queue.db PAWL_DRIVER_PATH=$build_dir
expect 3 "queue.db: No such file or directory; pawl schema apply makes it" pawl queue list
[ ! -e "$work/queue.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
. "$source_dir/tests/support/queue.sh"

echo "== what a terminal would obey, and an accent that has no width"
for id in $'a\033[2Jb' $'e\xcc\x81xx'; do expect 0 '' pawl send --to calm --type parcel --id "$id" --body '{}'; done
expect 0 '^a\?\[2Jb +parcel ' pawl queue peek calm
grep -q $'^e\xcc\x81xx         parcel ' "$work/out" || die "columns are not below each other"
expect 0 '' pawl queue purge calm --yes

echo "== a condition, and a body that is not JSON"
for n in 1 2; do expect 0 '' pawl send --to odd --type parcel --id "o-$n" --body '{"n":1}'; done
"$work/sql" "$work/queue.db" "update pawl_queue set "Body" = 'n=1' where "MessageId" = 'o-2'" || die "no sql"
expect 0 '^would be dead-lettered: 0 messages of queue odd$' pawl queue purge odd --where n=2 --dry-run
warned '^pawl: 1 message is not compared: the body is not JSON$'
expect 0 '^moved 1 message of queue odd to even$' pawl queue move odd even --where id=o-2 --yes
! grep -q compared "$work/err" || die "a condition on an id reads bodies"
