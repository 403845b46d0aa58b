#!/usr/bin/env bash
# command_dead.sh - pawl dead on SQLite: looking at dead letters, and what an operator does with
# them; one kind of 10,000 in bulk.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/dead.db PAWL_DRIVER_PATH=$build_dir
expect 3 "dead.db: No such file" pawl dead list
[ ! -e "$work/dead.db" ] || die "looking made a database"
expect 0 '' pawl schema apply

echo "== a retry that was done is said, even if nobody can tell who reads the queue: a script would do it again"
rename()
{
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("alter table %s rename to %s" % (sys.argv[2], sys.argv[3]))' \
        "$work/dead.db" "$1" "$2" || die "$1 is not renamed"
}
expect 0 '' pawl send --to blind --type t --id blind-1 --body '{}'
expect 0 '' pawl queue purge blind --yes
rename pawl_subscriptions away
expect 0 '^retried 1 dead letter$' pawl dead retry blind-1
rename away pawl_subscriptions
expect 0 '' pawl queue purge blind --yes
echo '{"n":2}' >"$work/body.json"
rename pawl_subscriptions away
expect 0 '^edited 1 dead letter$' pawl dead edit blind-1 --body-file "$work/body.json"

echo "== letters by the thousand"
export PAWL_STORE=sqlite:$work/letters.db
expect 0 '' pawl schema apply
letters=10000
. "$source_dir/tests/support/dead.sh"
