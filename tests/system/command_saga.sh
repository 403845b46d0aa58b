#!/usr/bin/env bash
# command_saga.sh - pawl saga verify-upgrade: each thing that it finds, and what it passes; list and show.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
store=sqlite:$work/upgrade.db
. "$source_dir/tests/support/upgrade.sh"
. "$source_dir/tests/support/sagas.sh"

echo "== refused"
expect 2 '^pawl: pawl saga verify-upgrade needs --app NEW.so' pawl saga verify-upgrade "${at[@]}"
expect 2 '^pawl: no store: give --store URL' pawl saga verify-upgrade --app "$work/old.so"
expect 2 "^pawl: --removed: 'note' is not TYPE.MEMBER$" \
    pawl saga verify-upgrade --app "$work/old.so" "${at[@]}" --removed note
expect 2 "^pawl: --intended: 'note' is not TYPE.MEMBER$" \
    pawl saga verify-upgrade --app "$work/old.so" "${at[@]}" --intended note
expect 2 'not within 1 and 10000000' pawl saga verify-upgrade --app "$work/old.so" "${at[@]}" --rate 0
expect 2 'is not a valid ACTION; valid are delete, history, list, show, verify-upgrade' pawl saga 000000000
expect 2 '^pawl: pawl saga list needs --app APP.so' pawl saga list "${at[@]}"
expect 2 '^pawl: pawl saga show needs --app APP.so' pawl saga show Order/o-1 "${at[@]}"
expect 2 '^pawl: pawl saga delete needs --app APP.so' pawl saga delete Order/o-1 "${at[@]}"
expect 2 'pawl saga delete needs one TYPE/VALUE' pawl saga delete --app "$work/old.so" "${at[@]}"
expect 2 'takes options, not .Order/o-1.; did you mean show Order/o-1\?$' pawl saga list Order/o-1
expect 2 'pawl saga show needs one TYPE/VALUE' pawl saga show --app "$work/old.so" "${at[@]}"
for word in Order Order/ /o-1; do
    expect 2 "'$word' is not TYPE/VALUE" pawl saga show "$word" --app "$work/old.so" "${at[@]}"
done
expect 2 'TYPE/VALUE: byte 6 is not UTF-8' pawl saga show $'Order/\xff' --app "$work/old.so" "${at[@]}"
expect 2 "is empty: leave it out" pawl saga list --type '' --app "$work/old.so" "${at[@]}"
expect 2 "give TABLE/ID, or --type TYPE" pawl saga list --after x --app "$work/old.so" "${at[@]}"
expect 2 "'x' is not the id of a saga" pawl saga list --after shop_Order/x --app "$work/old.so" "${at[@]}"
expect 2 "old.so has no table 'shop_Orders' of sagas" \
    pawl saga list --after shop_Orders/01a213f8-2546-7001-b8d7-efe6e10c5328 --app "$work/old.so" "${at[@]}"
expect 2 "'x' is not the id of a saga" pawl saga list --after x --type Order --app "$work/old.so" "${at[@]}"
expect 3 'none.db' pawl saga list --app "$work/old.so" --store "sqlite:$work/none.db"
expect 3 '^pawl: ' pawl saga verify-upgrade --app "$work/old.so" --store "sqlite:$work/none.db"
expect 2 'cannot load' pawl saga verify-upgrade --app "$work/none.so" "${at[@]}"

echo "== the tables of two programs, without a store"
# compare CODE REGEX NAME FLAG ...
compare()
{
    local code=$1 regex=$2
    shift 2
    app "$@"
    expect "$code" '' pawl saga verify-upgrade --app "$new" --from "$work/old.so"
    has_line "$regex" "^0 rows: "
    [ -z "$(grep -v '^ ' "$work/out" | sort | uniq -d)" ] || die "a line is printed twice"
}
compare 0 '^0 rows: 0 findings, 0 warnings$' old
compare 1 '^unread-member: saga Order of version 1, note: .* renamed$' renamed
has_line '^    record order does not have it, and has a new remark: was it renamed\?$' \
    '^unread-member: message place of version 1, note: '
compare 1 '^narrowed: saga Order of version 1, dozens: takes fewer values than before$' narrowed
has_line '^narrowed: saga Order of version 1, lines\[\]\.dozens: ' '^narrowed: event posted of version 1, cents: ' \
    '^narrowed: snapshot Ledger of version 1, cents: ' '^narrowed: message place of version 1, dozens: '
expect 0 '^0 rows: 0 findings' pawl saga verify-upgrade --app "$work/old.so" --from "$work/narrowed.so"
compare 1 '^removed: message cancel: is not in the new program$' removed
compare 1 '^narrowed: saga Order of version 1, stage: ' enum
has_line "^    enum stage has no 'paid' any more$"
compare 1 '^misread: saga Order of version 1, stage: ' misread
compare 1 '^correlation: saga Order, number: ' switched
compare 0 '^0 rows: 0 findings' both
expect 0 '^0 rows: 0 findings' pawl saga verify-upgrade --app "$work/switched.so" --from "$work/both.so"
compare 1 '^no-upcast: saga Order of version 1: ' version
has_line '^    version 1 becomes 2, without an upcaster$'
expect 1 '' pawl saga verify-upgrade --app "$work/old.so" --from "$work/handled.so"
has_line '^    version 2 becomes 1, and there is no way back$'
compare 0 '^0 rows: 0 findings' handled
compare 1 '^removed: timeout Order, late: ' no_timeout
compare 1 '^removed: saga Order: ' no_saga
compare 1 '^removed: event posted: ' no_event
compare 1 '^removed: aggregator sums: ' no_aggregator
expect 1 '' pawl saga verify-upgrade --app "$build_dir/orders.so" --from "$work/old.so"
has_line '^removed: endpoint shop, shop: ' '^removed: endpoint desk, desk: '
expect 2 '^pawl: --resume: there are no rows to go on with' \
    pawl saga verify-upgrade --app "$work/old.so" --from "$work/old.so" --resume "$work/f"

echo "== many sagas, page by page"
all_begun()
{
    pawl saga list --json --type Order --app "$work/old.so" "${at[@]}" >"$work/sagas"
    [ "$(wc -l <"$work/sagas")" = 152 ]
}
for i in $(seq 150); do
    echo "{\"order_id\":\"p-$i\",\"number\":$((100 + i))}"
done >"$work/places"
expect 0 '' pawl send "${at[@]}" --to shop --type place --lines --body-file "$work/places"
start old "$work/old.so" "${at[@]}" --route "desk=sqlite:$work/no/desk.db#desk"
poll 20 all_begun || die "$(wc -l <"$work/sagas") sagas are listed, not 152"
stop "$pid" TERM 0
[ "$(grep -oE '"id":"[^"]*"' "$work/sagas" | sort -u | wc -l)" = 152 ] || die "a saga is listed twice"
expect 1 '' pawl saga verify-upgrade --app "$work/misread.so" --from "$work/old.so" "${at[@]}"
has_line '^misread: saga Order of version 1, stage: .*; 15[0-9] rows$' '^    and 1[0-9]* more rows$' \
    '^    [0-9a-f-]{36}: stage: it is left out, which meant new and means paid$'
rename()
{
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("alter table %s rename to %s" % (sys.argv[2], sys.argv[3]))' \
        "$work/upgrade.db" "$1" "$2" || die "$1 is not renamed"
}
rename pawl_inbox away # a count that fails is only for the line of progress
expect 1 '' pawl saga verify-upgrade --app "$work/misread.so" --from "$work/old.so" "${at[@]}"
has_line '^misread: saga Order of version 1, stage: .*; 15[0-9] rows$'
rename away pawl_inbox
expect 2 "^pawl: --resume: .*$work/no/f" \
    pawl saga verify-upgrade --app "$work/misread.so" --from "$work/old.so" "${at[@]}" --resume "$work/no/f"
expect 0 '' pawl saga list --app "$work/old.so" "${at[@]}"
lines 101
grep -q '^these are 100; there are more' "$work/err" || die "no word about the rest"

echo "== page by page through two tables"
app twice -DTWICE
store=sqlite:$work/twice.db at=(--store "sqlite:$work/twice.db" --app "$work/twice.so")
expect 0 '' pawl schema apply "${at[@]}"
start twice "$work/twice.so" --store "$store"
for i in 1 2 3 4 5 6; do # the later ones stand in the first table
    expect 0 '' pawl send --store "$store" --to "$([ "$i" -gt 3 ] && echo desk || echo shop)" --type place --body "{\"order_id\":\"o-$i\",\"number\":$i}"
done
all_begun() { pawl saga list --json "${at[@]}" >"$work/sagas" && [ "$(wc -l <"$work/sagas")" = 6 ]; }
poll 20 all_begun || die "$(wc -l <"$work/sagas") sagas are listed, not 6"
stop "$pid" TERM 0
for type in '' Order; do
    after=() pages=0
    : >"$work/paged"
    while [ "$pages" -lt 9 ] && expect 0 '' pawl saga list --json --limit 2 "${at[@]}" ${type:+--type "$type"} "${after[@]}" && [ -s "$work/out" ]; do
        cat "$work/out" >>"$work/paged"
        after=(--after "$(sed -nE '$s|.*"table":"([^"]*)".*"id":"([^"]*)".*|\1/\2|p' "$work/out")")
        pages=$((pages + 1))
    done
    [ "$pages" = 3 ] || die "$pages pages of two, not 3"
    cmp -s "$work/paged" "$work/sagas" || die "pages ${type:+of a type }have other sagas: $(cat "$work/paged")"
done

echo "== a transitional property that is secret"
app hidden -DHIDDEN
store=sqlite:$work/hidden.db at=(--store "sqlite:$work/hidden.db" --app "$work/hidden.so")
expect 0 '' pawl schema apply "${at[@]}"
start hidden "$work/hidden.so" --store "$store"
expect 0 '' pawl send --store "$store" --to shop --type place --body '{"order_id":"o-1","number":1,"card":"4711-1"}'
begun() { pawl saga show Order/o-1 "${at[@]}" >"$work/out" 2>&1; }
poll 20 begun || die "no saga"
stop "$pid" TERM 0
for words in list 'show Order/o-1'; do
    # shellcheck disable=SC2086 # two words
    expect 0 '' pawl saga $words "${at[@]}"
    ! grep -q 4711 "$work/out" || die "a secret that nobody asked for"
    # shellcheck disable=SC2086
    expect 0 '"value":"o-1","transitional":"\*\*\*"' pawl saga $words --json "${at[@]}"
    ! grep -q 4711 "$work/out" || die "a secret that nobody asked for"
done
expect 0 '"transitional":"4711-1"' pawl saga show Order/o-1 --json --reveal "${at[@]}"

echo "== a delete that is interrupted says that something may be gone, a list that nothing was written"
asked 'delete saga Order/o-1' saga delete Order/o-1 "${at[@]}"
answered $'\003' 5
grep -q 'pawl: interrupted; what was committed stays' "$work/screen" || die "it says something else: $(cat "$work/screen")"

echo "== a saga whose name has a slash"
app slashed -DSLASHED
store=sqlite:$work/slashed.db at=(--store "sqlite:$work/slashed.db" --app "$work/slashed.so")
expect 0 '' pawl schema apply "${at[@]}"
start slashed "$work/slashed.so" --store "$store" --history 1d
expect 0 '' pawl send --store "$store" --to shop --type place --body '{"order_id":"o/1","number":1}'
begun() { pawl saga show Shop/Order/o/1 "${at[@]}" >"$work/out" 2>&1; }
poll 20 begun || die "no saga: $(cat "$work/out")"
stop "$pid" TERM 0
expect 0 'place' pawl saga history Shop/Order/o/1 "${at[@]}"
expect 0 'Shop/Order/o/1' pawl why Shop/Order/o/1 "${at[@]}"
expect 0 '^set' pawl timeout set --saga Shop/Order/o/1 --name late --by 1d --reason r "${at[@]}"
expect 0 'late' pawl timeout list --saga Shop/Order/o/1 "${at[@]}"
expect 0 '' pawl dead list --saga Shop/Order/o/1 "${at[@]}"
for word in Shop/Orders/1 Shop/Offer/o/1; do
    expect 2 "has no saga 'Shop'" pawl saga show "$word" "${at[@]}"
done
expect 0 '' pawl saga delete Shop/Order/o/1 --yes --reason r "${at[@]}"
