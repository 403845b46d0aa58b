#!/usr/bin/env bash
# example_enlist.sh - examples/enlist: what is sent in the caller's transaction, by
# the program and by the trigger, arrives when that is committed.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_server postgres
[ -x "$build_dir/enlist" ] || skip "enlist was not built (it needs libpq)"
own_database pawl_enlist

# says LINE ...: the program, and all that it prints.
says()
{
    "$build_dir/enlist" "$url" >"$work/out" 2>"$work/err" || die "exit code $?"
    [ ! -s "$work/err" ] || die "something on standard error"
    printf '%s\n' "$@" >"$work/expected"
    diff "$work/expected" "$work/out" || die "it says something else"
}

echo "== without tables"
"$build_dir/enlist" "$url" >"$work/out" 2>"$work/err"
[ $? = 4 ] || die "another exit code than 4 without tables"
grep -q 'pawl schema apply' "$work/err" || die "it does not say what to do"

echo "== the program"
expect 0 '' pawl schema apply --store "$url"
says "order 1 of 4200 cents: commit" "order 2 of 9900 cents: rollback" \
    "arrived: order 1, 4200 cents"
[ "$(psql -XAtq "$url" -c 'select string_agg(id::text, $$ $$) from enlist_orders')" = 1 ] ||
    die "another row than that of order 1"

echo "== the trigger"
for _ in 1 2; do # it may be run again
    psql -Xq -v ON_ERROR_STOP=1 "$url" -f "$source_dir/examples/enlist/trigger.sql" \
        >"$work/out" 2>"$work/err" || die "trigger.sql"
done
paid="update enlist_orders set is_paid = true where id = 1"
psql -Xq "$url" -c "begin; $paid; rollback" || die "the update"
says "order 3 of 4200 cents: commit" "order 4 of 9900 cents: rollback" \
    "arrived: order 3, 4200 cents"
psql -Xq "$url" -c "$paid" -c "$paid" || die "the update"
says "order 5 of 4200 cents: commit" "order 6 of 9900 cents: rollback" \
    "arrived: order 1 is paid" "arrived: order 5, 4200 cents"

echo "== by hand, and by a role that may do nothing else"
psql -XAtq -v ON_ERROR_STOP=1 "$url" >"$work/out" 2>"$work/err" <<END || die "the statements"
create role $database;
grant insert, select ("Queue", "MessageId") on pawl_queue to $database;
grant usage on sequence "pawl_queue_Seq_seq" to $database;
set role $database;
select pawl_send('enlist', 'order_paid', '{"order_id": 8}', message_id => 'by-hand');
reset role;
drop owned by $database;
drop role $database;
END
[ "$(cat "$work/out")" = by-hand ] || die "it returns another id"
says "order 7 of 4200 cents: commit" "order 8 of 9900 cents: rollback" \
    "arrived: order 8 is paid" "arrived: order 7, 4200 cents"
