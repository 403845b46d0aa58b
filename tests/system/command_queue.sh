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
expect 0 '' pawl send --to $'c\033[2Jd' --type parcel --body '{}'
warned '^pawl: queue c\?\[2Jd has no consumer just now: what is in it waits$'
expect 0 '^c\?\[2Jd +1 ' pawl queue list
expect 0 '^c\?\[2Jd +1 ' pawl stats
PAWL_CONSOLE_USER=$'a\033nn' expect 0 '' pawl queue pause $'c\033[2Jd'
expect 0 '' pawl send --to $'c\033[2Jd' --type parcel --body '{}'
warned '^pawl: queue c\?\[2Jd is paused, by '
! grep -q $'\033' "$work/err" || die "a terminal would obey the warning"
expect 0 '' pawl queue pause $'c\033[2Jd'
warned ' is paused since .*, by .* \(a\?nn\)$'
expect 0 '' pawl queue resume $'c\033[2Jd'
expect 0 '' pawl queue purge $'c\033[2Jd' --yes

echo "== the command that goes on with a queue is one whatever its name has"
odd="it's; touch $work/touched"
expect 0 '' pawl send --to "$odd" --type parcel --id odd --body '{"n":1}'
expect 0 '^paused queue ' pawl queue pause "$odd"
expect 0 '' pawl queue show "$odd"
cp "$work/out" "$work/shown"
expect 0 '' pawl send --to "$odd" --type parcel --id odd2 --body '{"n":1}'
for said in shown err; do
    command=$(sed -nE 's/.*`(pawl queue resume .*)`.*/\1/p' "$work/$said")
    PATH=$build_dir:$PATH bash -c "$command" >"$work/pasted" 2>&1 || die "'$command' fails: $(cat "$work/pasted")"
    grep -qxF "resumed queue $odd" "$work/pasted" || die "'$command' does something else: $(cat "$work/pasted")"
    [ ! -e "$work/touched" ] || die "'$command' does more"
done
expect 0 '' pawl queue purge "$odd" --discard --yes

echo "== a condition, and a body that is not JSON"
for n in 1 2; do expect 0 '' pawl send --to odd --type parcel --id "o-$n" --body '{"n":1}'; done
"$work/sql" "$work/queue.db" "update pawl_queue set "Body" = 'n=1' where "MessageId" = 'o-2'" || die "no sql"
expect 0 '^would be dead-lettered: 0 messages of queue odd$' pawl queue purge odd --where n=2 --dry-run
warned '^pawl: 1 message is not compared: the body is not JSON$'
expect 0 '^moved 1 message of queue odd to even$' pawl queue move odd even --where id=o-2 --yes
! grep -q compared "$work/err" || die "a condition on an id reads bodies"
