# upgrade_store.sh - tables of the oldest version that a database has had, with rows of each kind, are upgraded by
# this program, which then handles what is in them. Sourced, after command.sh, by a test that has
#
#   store            the URL of an empty database
#   old_version      the version of its tables
#   put              runs the statements of standard input there
#   ask STATEMENT    prints a number
#   time_of WORD     the database's form of epoch, past, now and later
#
# and calls  upgrade_store FILE ...  with the tables.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
need_sqlite # the messages to another system come there
app=$build_dir/orders.so at=(--store "$store")
kept=(queue dead inbox outbox outbox_attempts timeouts aggregator aggregator_flush subscriptions workers leases)

# with_times FILE ...: the files, with times in place of their words.
with_times()
{
    local word
    local -a edits=()
    for word in epoch past now later; do
        edits+=(-e "s/@$word\\b/$(time_of $word)/g")
    done
    sed "${edits[@]}" "$@"
}

counts()
{
    local table
    for table in "${kept[@]/#/pawl_}" orders_OrderSaga; do
        echo "$table $(ask "select count(*) from \"$table\"")"
    done
}

asks() # VALUE STATEMENT
{
    [ "$(ask "$2")" = "$1" ]
}

# becomes VALUE STATEMENT
becomes()
{
    poll 30 asks "$@" || { cp "$work/new.log" "$work/err"; die "$(ask "$2") instead of $1: $2"; }
}

upgrade_store()
{
    echo "== tables of version $old_version are refused, and stay as they are"
    with_times "$@" "$source_dir/tests/system/upgrade/rows.sql" | put || die "no tables of version $old_version"
    counts >"$work/before"
    expect 4 "its schema has version $old_version, this program needs version [0-9]+; run: pawl schema apply" \
        pawl stats "${at[@]}"
    pawl schema verify "${at[@]}" --app "$app" >"$work/out" 2>"$work/err"
    [ $? = 1 ] || die "verify finds no difference"
    asks "$old_version" 'select "Version" from "pawl_schema"' || die "the version was raised"

    echo "== upgraded: every row is there"
    expect 0 '' pawl schema apply "${at[@]}" --app "$app"
    expect 0 '' pawl schema verify "${at[@]}" --app "$app"
    counts >"$work/after"
    diff "$work/before" "$work/after" || die "rows were lost"
    expect 0 '"messages":6,' pawl stats --json "${at[@]}"
    expect 0 '"error":"42 cents paid, 4200 due"' pawl dead list --json "${at[@]}"

    echo "== its messages are handled, and one of them is a duplicate"
    expect 0 '' pawl schema apply --store "sqlite:$work/far.db"
    start new "$app" "${at[@]}" --route "billing=sqlite:$work/far.db#billing"
    becomes 0 'select count(*) from "pawl_queue" where "Queue" = '"'orders'"
    becomes 1 'select count(*) from "orders_OrderSaga" where "Correlation_order_id" = '"'o-3'"
    asks 0 'select count(*) from "orders_OrderSaga" where "Correlation_order_id" = '"'o-9'" || die "a duplicate was handled"

    echo "== its timeout fires, its aggregator is flushed, its outbox is delivered"
    becomes 0 'select count(*) from "orders_OrderSaga" where "Correlation_order_id" = '"'o-4'"
    becomes 0 'select count(*) from "orders_OrderSaga" where "Correlation_order_id" = '"'o-2'"
    becomes 1 'select count(*) from "pawl_queue" where "Type" = '"'shipment'"
    poll 30 has_ready billing 2 --store "sqlite:$work/far.db" || die "the outbox is not delivered"

    echo "== its dead letters are tried again"
    expect 0 '' pawl outbox retry "$(ask 'select "Id" from "pawl_outbox" where "State" = '"'dead'")" "${at[@]}"
    poll 30 has_ready billing 3 --store "sqlite:$work/far.db" || die "the dead row of the outbox is not delivered"
    echo '{"order_ref":"o-1","cents":4200}' >"$work/body"
    expect 0 '' pawl dead edit pay-1 --body-file "$work/body" "${at[@]}"
    becomes 0 'select count(*) from "pawl_timeouts" where "CorrelationId" = '"'place-1'"
    becomes 1 'select count(*) from "pawl_aggregator" where "CorrelationId" = '"'pay-1'"
    becomes 2 'select count(*) from "orders_OrderSaga"'
    asks 0 'select count(*) from "pawl_dead"' || die "a dead letter is left"
    stop "$pid" TERM 0
}
