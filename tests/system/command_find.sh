#!/usr/bin/env bash
# command_find.sh - pawl find on SQLite: messages by what is in them, wherever they are.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/find.db PAWL_DRIVER_PATH=$build_dir
expect 3 "find.db: No such file" pawl find a=1
[ ! -e "$work/find.db" ] || die "find made a database of a mistyped path"
expect 0 "" pawl schema apply
. "$source_dir/tests/support/find.sh"

echo "== a store that fails on the way"
"$work/sql" "$work/find.db" 'alter table pawl_outbox rename to gone' || die "no sql"
expect 4 "pawl_outbox" pawl find customer_id=4
grep -qE '^queue  *q-4 ' "$work/out" || die "what was found before is not said"
grep -q "^to go on: pawl find 'customer_id=4' --after outbox --store " "$work/err" || die "no word of how it goes on"
"$work/sql" "$work/find.db" 'alter table gone rename to pawl_outbox' || die "no sql"
expect 0 '' pawl find customer_id=1 --after outbox
grep -q '^aggregator  *a-1 ' "$work/out" || die "it does not go on behind the queues"
grep -q '^queue ' "$work/out" && die "it begins anew"
exit 0
