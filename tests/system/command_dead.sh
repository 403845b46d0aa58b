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

echo "== large letters are not all in memory"
export PAWL_STORE=sqlite:$work/large.db
expect 0 '' pawl schema apply
python3 - "$work/large.db" "$build_dir/pawl" <<'EOF' || die "large letters fill the memory"
import os, sqlite3, subprocess, sys
with sqlite3.connect(sys.argv[1]) as store: # small ones at the end
    store.execute("""with recursive t (n) as (select 1 union all select n + 1 from t where n < 600) insert into pawl_dead (Endpoint,
        Queue, MessageId, Type, CorrelationId, CausationId, Code, Attempts, Deaths, At, Error, History, Headers, Body) select 'billing',
        'billing', 'l-' || n, 'charge', '', '', 'X', 1, 0, n, 'x', '[]', '{}',
        case when n <= 150 then '"' || hex(zeroblob(case when n <= 28 then 500000 else 1000000 end)) || '"' else '{}' end from t""")
store.close()
def run(*words):
    run_one = subprocess.Popen([sys.argv[2], "dead", "discard", "--all", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = run_one.stdout.read().decode()
    most = os.wait4(run_one.pid, 0)[2].ru_maxrss // 1024
    print(said.strip(), most, "MB")
    return said, most
counted, discarded = run("--dry-run"), run("--yes")
sys.exit("600 dead letters" not in counted[0] or "600 dead letters" not in discarded[0] or max(counted[1], discarded[1]) > 150)
EOF
rm "$work/large.db"*

echo "== letters by the thousand"
export PAWL_STORE=sqlite:$work/letters.db
expect 0 '' pawl schema apply
letters=10000
. "$source_dir/tests/support/dead.sh"
