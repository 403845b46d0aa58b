#!/usr/bin/env bash
# replay_postgres.sh - pawl-replay on PostgreSQL: the report is what it is on any
# store, killed, behind a pooler, and while its back ends are ended on the way.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"

# pg STATEMENT: the rows, each as "a|b".
pg()
{
    psql -XAtq "$url" -c "$1"
}

# So that what is left can be counted. The sessions of this test have a name, so that
# no other's are ended.
own_schema replay_test
store="$store&application_name=$schema"

no_tables_left()
{
    [ "$(pg "select count(*) from pg_tables where schemaname = '$schema'")" = 0 ] ||
        die "tables were left in $schema"
}

echo "== the example"
verify 2331 300 327 9 51 0 "$example" --store "$store" --archive "$store"
[ ! -s "$work/err" ] || die "something on standard error"
verify 2331 300 327 9 51 0 "$example" --store memory:a --archive "$store"
no_tables_left

echo "== killed"
verify 2331 300 327 9 51 3 "$example" --crash 3 --store "$store" --archive "$store"
no_tables_left

echo "== its sessions ended on the way"
# Up to ten times, as soon as there is one again, once the first one has made its tables.
has_begun()
{
    [ "$(pg "select count(*) > 0 from pg_tables where schemaname = '$schema'")" = t ]
}
end_sessions()
{
    local ended=0
    until has_begun || [ -e "$work/over" ]; do
        sleep 0.02
    done
    while [ $ended -lt 10 ] && [ ! -e "$work/over" ]; do
        [ -z "$(pg "select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = '$schema'")" ] || ended=$((ended + 1))
        sleep 0.2
    done
}
verify_ended() # URL
{
    rm -f "$work/over"
    end_sessions &
    started+=($!)
    verify 2331 300 327 9 51 0 "$example" --batch-messages 16 --store "$1" --archive "$1"
    : >"$work/over"
    wait "${started[-1]}"
    grep -q '; trying again$' "$work/err" || die "no session was ended"
    grep -qE '^pawl-replay: going on after [0-9.]+ s$' "$work/err" || die "it does not say that it goes on"
    no_tables_left
}
verify_ended "$store"

echo "== lent sessions: killed, and ended on the way"
verify 2331 300 327 9 51 3 "$example" --crash 3 --store "$store&sessions=2" --archive "$store&sessions=2"
verify_ended "$store&sessions=2"

echo "== kept, and gone on with"
verify 2331 300 327 9 51 0 "$example" --keep --store "$store" --archive "$store"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | cut -d' ' -f2)
pg "update $schema.\"replay_${run}_ArchivedCase\" set \"Data\" = jsonb_set(\"Data\", '{closings}', '9')
    where \"Id\" = (select \"Id\" from $schema.\"replay_${run}_ArchivedCase\" limit 1)" >/dev/null ||
    die "the archive cannot be changed"
replay "$example" --store "$store" --archive "$store" --run "$run" >"$work/out" 2>"$work/err"
[ $? = 1 ] || die "verified with a case that was changed"
grep -qE '^differs: case .*: 9 closings of ' "$work/out" || die "it does not say which case"

echo "== refused"
refuse 3 '127.0.0.1.*refused' "$example" --store postgres://postgres@127.0.0.1:1/postgres
refuse 3 'no_such_database' "$example" --store "$store&dbname=no_such_database"

echo "== behind a pooler"
need_server pgbouncer
separator='?'
[[ $PAWL_TEST_PGBOUNCER != *\?* ]] || separator='&'
pooled="$PAWL_TEST_PGBOUNCER${separator}schema=$schema"
verify 2331 300 327 9 51 0 "$example" --store "$pooled" --archive "$store"
