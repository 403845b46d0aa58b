# upgrade.sh - `pawl saga verify-upgrade` on the rows of app_upgrade.c. Sourced by a test that has set
# `store`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

at=(--store "$store")
build_app app_upgrade.c old.so
app()
{
    [ -e "$work/$1.so" ] || build_app app_upgrade.c "$1.so" "${@:2}"
    new=$work/$1.so
}

# verify CODE REGEX NAME FLAG ...: the program with these changes; more options stand in `more`.
more=()
verify()
{
    local code=$1 regex=$2
    shift 2
    app "$@"
    expect "$code" "$regex" pawl saga verify-upgrade --app "$new" "${at[@]}" "${more[@]}"
}
# has_line REGEX ...: what was printed last has them all.
has_line()
{
    local regex
    for regex in "$@"; do
        grep -qE -- "$regex" "$work/out" || die "no line like '$regex'"
    done
}

echo "== rows of every kind"
expect 0 '' pawl schema apply "${at[@]}" --app "$work/old.so"
start old "$work/old.so" "${at[@]}" --route "desk=sqlite:$work/no/desk.db#desk"
for i in 1 2 3; do
    echo "{\"order_id\":\"o-$i\",\"number\":$i,\"dozens\":$((i * 20000)),\"note\":\"n\",\"stage\":\"paid\"," \
        "\"card\":\"4711-$i\",\"lines\":[{\"item\":\"a\",\"dozens\":$((i == 1 ? 40000 : 1))}]}"
done >"$work/places"
expect 0 '' pawl send "${at[@]}" --to shop --type place --lines --body-file "$work/places"
expect 0 '' pawl send "${at[@]}" --to shop --type entry --body '{"account":"a-1","cents":40000}'
expect 0 '' pawl send "${at[@]}" --to desk --type cancel --body '{"order_id":"o-9"}'
poll 20 has messages 5 "${at[@]}" || die "not all messages were handled"
poll 20 has aggregator_rows 3 "${at[@]}" || die "the aggregator did not collect them"
has_alarm() { pawl events list --json "${at[@]}" 2>/dev/null | grep -q 'pawl.alarm_raised'; }
poll 20 has_alarm || die "no word that the route to desk is away"
stop "$pid" TERM 0
expect 0 '' pawl send "${at[@]}" --to shop --type place \
    --body '{"order_id":"o-7","number":7,"dozens":40000,"note":"x","stage":"paid"}'
expect 0 '' pawl send "${at[@]}" --to desk --type cancel --body '{"order_id":"o-8"}'
# The store's numbers, without the time of the look and the ages that health tells.
numbers()
{
    pawl stats --json "${at[@]}" | sed -E 's/"at":"[^"]*",//; s/,"health":.*//'
}
before=$(numbers)

echo "== the program that runs"
verify 0 '^18 rows: 0 findings, 0 warnings$' old
[ "$(wc -l <"$work/out")" = 1 ] || die "it found something"

echo "== a renamed member without an upcaster"
verify 1 '^pawl: 3 findings: the program cannot go on with what is stored$' renamed -DRENAMED
has_line '^unread-member: saga Order of version 1, note: .* 3 rows$' \
    '^unread-member: message place of version 1, note: .* 1 row$' \
    '^unread-member: aggregator place of version 1, note: .* 3 rows$' \
    '^    [0-9a-f-]{36}: note: record order does not know it, and remark, which could hold its value, is missing' \
    '^18 rows: 3 findings, 0 warnings$'
more=(--removed Order.note --removed place.note)
verify 0 '^18 rows: 0 findings, 0 warnings$' renamed
more=()

echo "== a renamed member where others are new, too: those that could hold its value are named, three of them"
verify 1 '^pawl: 3 findings: the program cannot go on with what is stored$' among -DAMONG
has_line '^unread-member: saga Order of version 1, note: .* 3 rows$' \
    '^    [0-9a-f-]{36}: note: record order does not know it, and several that could hold its value are missing, remark, memo, aside: was it renamed to one of them\?$'

echo "== a narrowed integer"
verify 1 '^pawl: 6 findings' narrowed -DNARROWED
has_line '^undecodable: saga Order of version 1, dozens: cannot be decoded; 2 rows$' \
    '^undecodable: saga Order of version 1, lines\[\]\.dozens: cannot be decoded; 1 row$' \
    '^    [0-9a-f-]{36}: lines\[0\]\.dozens: expected integer from -32768 to 32767, got 40000$' \
    '^undecodable: message place of version 1, dozens: .* 1 row$' \
    '^undecodable: event posted of version 1, cents: .* 1 row$' '^    Ledger/a-1, number [12]: cents: ' \
    '^undecodable: aggregator place of version 1, dozens: .* 2 rows$' \
    '^warnings:$' '^passed-over: snapshot Ledger of version 1, cents: .* 1 row$'

echo "== a message type that nobody handles any more"
verify 1 '^pawl: 3 findings' removed -DREMOVED_TYPE
has_line '^unhandled: message cancel: has no handler; 1 row$' \
    '^unhandled: outbox cancel: has no handler; 3 rows$' \
    '^unhandled: dead cancel: has no handler; 1 row$'
verify 1 '^pawl: 2 findings' routed -DREMOVED_TYPE -DROUTED
has_line '^unhandled: outbox cancel: has no handler; 3 rows$' '^    [0-9]+: endpoint desk handles no message of this type$' \
    '^foreign: message cancel, desk: '
for leads in ABROAD OUTBOUND; do # nobody here receives what leaves the store
    verify 1 '^pawl: 2 findings' "$leads" -DREMOVED_TYPE "-D$leads"
    ! grep -q ' outbox ' "$work/out" || die "$leads: rows that another program receives"
done

echo "== a value of an enum that is gone"
verify 1 '^pawl: 3 findings' enum -DREMOVED_ENUM
has_line '^undecodable: saga Order of version 1, stage: .* 3 rows$' \
    'stage: expected one of new, done, got text of 4 bytes$'

echo "== another default: with the old program, rows without the member are found"
verify 0 '^18 rows: 0 findings, 0 warnings$' misread -DMISREAD
more=(--from "$work/old.so")
verify 1 '^pawl: 4 findings' misread
has_line '^misread: saga Order of version 1, stage: is read as another value than was stored$' \
    '^    it is left out of rows where it was new, and they read as paid: keep the default, or raise .version and' \
    '^misread: saga Order of version 1, card: [a-z ]*$' '^misread: message place of version 1, stage: [a-z ]*$' \
    '^misread: message place of version 1, card: is read as another value than was stored; 1 row$' \
    '^    it is left out of rows where it was empty, and they read as unset: ' '^    [0-9a-f-]{36}: card: it is left out$'
more=(--from "$work/old.so" --intended Order.stage --intended place.stage --intended Order.card)
verify 1 '^pawl: 1 finding: ' misread
more=()

echo "== a correlation property switched too early, and in its step"
verify 1 '^pawl: 1 finding: ' switched -DSWITCHED
has_line '^unreachable: saga Order, number: is not found by its correlation value; 3 rows$' \
    '^    [0-9a-f-]{36}: no row is found by number 1'
verify 0 '^18 rows: 0 findings' both -DBOTH

echo "== another version, without an upcaster and with one"
verify 1 '^pawl: 4 findings' version -DVERSION
has_line '^unread-version: saga Order of version 1: .* 3 rows$' \
    '^unread-version: message place of version 1: ' '^unread-version: event posted of version 1: ' \
    'this program has version 2 and no upcast from older ones$' '^passed-over: snapshot Ledger of version 1: '
verify 0 '^18 rows: 0 findings, 0 warnings$' handled -DHANDLED

echo "== what nobody would handle"
verify 1 '^pawl: 1 finding: ' no_timeout -DNO_TIMEOUT
has_line "^unhandled: timeout Order, late: .* 3 rows$" "saga Order knows no timeout 'late'$"
verify 1 '^pawl: 1 finding: ' no_saga -DNO_SAGA
has_line "^unhandled: timeout Order, late: .* 3 rows$" "endpoint shop has no saga Order$"
verify 1 '^pawl: 1 finding: ' no_event -DNO_EVENT
has_line "^unhandled: event posted: " "process Ledger has no function in .apply$"
verify 0 '^18 rows: 0 findings, 1 warnings$' no_aggregator -DNO_AGGREGATOR
has_line "^foreign: aggregator place, sums: .* 3 rows$"
expect 0 'foreign: message place, shop: ' pawl saga verify-upgrade --app "$build_dir/orders.so" "${at[@]}"

echo "== for programs"
expect 1 '' pawl saga verify-upgrade --json --app "$work/narrowed.so" "${at[@]}"
[ "$(wc -l <"$work/out")" = 1 ] || die "not one object"
has_line '^\{"rows":18,"findings":\[\{"reason":"undecodable","kind":"saga","type":"Order","version":1,"member":"' \
    '"warnings":\[\{"reason":"passed-over","kind":"snapshot"'

echo "== no faster than asked for, and nothing is written"
begun=$(date +%s%N)
more=(--rate 10)
verify 0 '^18 rows: 0 findings' old
[ $((($(date +%s%N) - begun) / 1000000)) -ge 1700 ] || die "18 rows at 10 in a second took less than 1.7 s"
more=()
[ "$(numbers)" = "$before" ] || die "the store is not as it was"

echo "== gone on with, after an interruption"
more=(--resume "$work/cursor")
echo mine >"$work/victim"
ln -sf "$work/victim" "$work/cursor.part"
"$build_dir/pawl" saga verify-upgrade --app "$work/narrowed.so" "${at[@]}" "${more[@]}" --rate 1 \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
started+=("$pid")
poll 20 grep -q '"rows":[5-9]' "$work/cursor" 2>/dev/null || die "it writes no cursor"
stop "$pid" TERM 5
[ ! -s "$work/out" ] || die "an interrupted run reports"
[ "$(cat "$work/victim")" = mine ] || die "a link was followed"
[ "$(stat -c %a "$work/cursor")" = 600 ] || die "others may read the cursor"
[ "$(tail -n 1 "$work/err")" = "pawl: interrupted; nothing was written to the store; run the same command to resume from $work/cursor" ] ||
    die "it does not say what it left"
sed -i -E 's/"rows":/&1000/' "$work/cursor"
cp "$work/cursor" "$work/cursor.kept"
verify 1 '^pawl: 6 findings' narrowed
has_line '^undecodable: saga Order of version 1, dozens: .* 2 rows$' \
    '^undecodable: aggregator place of version 1, dozens: .* 2 rows$' '^10018 rows: 6 findings, 1 warnings$'
[ ! -e "$work/cursor" ] || die "the cursor is left"

echo "== gone on with beside --from: what both programs' tables tell is said once"
more=(--from "$work/old.so")
verify 1 '' narrowed
cp "$work/out" "$work/whole"
more=(--resume "$work/cursor" --from "$work/old.so")
"$build_dir/pawl" saga verify-upgrade --app "$work/narrowed.so" "${at[@]}" "${more[@]}" --rate 1 \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
started+=("$pid")
poll 20 grep -q '"rows":[5-9]' "$work/cursor" 2>/dev/null || die "it writes no cursor"
stop "$pid" TERM 5
verify 1 '' narrowed
cmp -s "$work/out" "$work/whole" || die "gone on with it says something else: $(diff "$work/whole" "$work/out")"

echo "== a file to go on with that is another's"
more=(--resume "$work/cursor")
cp "$work/cursor.kept" "$work/cursor"
expect 2 "^pawl: --resume: .*/cursor is of a run with --app '.*/narrowed.so .digest [0-9a-f]{16}.', this one has '.*/old.so .*'; remove" \
    pawl saga verify-upgrade --app "$work/old.so" "${at[@]}" "${more[@]}"
for words in "--from $work/old.so" '--saga-prefix other_' '--removed Order.note' '--intended Order.stage'; do
    # shellcheck disable=SC2086 # two words
    expect 2 "^pawl: --resume: .*/cursor is of a run with ${words% *} '', this one has '${words#* }.*'; remove" \
        pawl saga verify-upgrade --app "$work/narrowed.so" "${at[@]}" "${more[@]}" $words
done
sed 's/"prefix":"pawl_"/"prefix":"other_"/' "$work/cursor.kept" >"$work/cursor"
verify 2 "^pawl: --resume: .*/cursor is of a run with --prefix 'other_', this one has 'pawl_'; remove" narrowed
cp "$work/cursor.kept" "$work/cursor"
cp "$work/narrowed.so" "$work/kept.so"
printf x | dd of="$work/narrowed.so" bs=1 seek=$(($(stat -c %s "$new") - 1)) conv=notrunc status=none # another build
verify 2 "^pawl: --resume: .*/cursor is of a run with --app '(.*/narrowed.so .digest) .*', this one has '.*/narrowed.so .digest " narrowed
mv "$work/kept.so" "$work/narrowed.so"
cmp -s "$work/cursor" "$work/cursor.kept" || die "a file that is refused is changed"
echo '{' >"$work/cursor"
expect 2 '^pawl: --resume: .*/cursor: not JSON' \
    pawl saga verify-upgrade --app "$work/old.so" "${at[@]}" "${more[@]}"
sed 's/"stage":"[^"]*"/"stage":"sagas of others"/' "$work/cursor.kept" >"$work/cursor"
expect 2 "^pawl: .*/cursor: the application has no 'sagas of others'" \
    pawl saga verify-upgrade --app "$work/narrowed.so" "${at[@]}" "${more[@]}"
rm "$work/cursor"
more=()

echo "== live rows of a saga that the new program does not have"
expect 1 '' pawl saga verify-upgrade --app "$work/no_saga.so" --from "$work/old.so" "${at[@]}"
has_line '^removed: saga Order: ' '^    no table registers it$' '^    3 live rows in table shop_Order$'
expect 1 '' pawl saga verify-upgrade --app "$work/no_timeout.so" --from "$work/old.so" "${at[@]}"
grep -q 'live rows in table' "$work/out" && die "rows of a table that the new program has"

echo "== a row counts once, and what the comparison of two programs finds has none"
app many -DMANY
verify 1 '^pawl: 6 findings' many_narrowed -DMANY -DNARROWED
has_line '^undecodable: event posted of version 1, cents: cannot be decoded; 1 row$'
[ "$(grep -c '^    Ledger/a-1, number [12]: cents: ' "$work/out")" = 1 ] || die "an event is an example twice"
app many_removed -DMANY -DREMOVED_TYPE
expect 1 '' pawl saga verify-upgrade --app "$new" --from "$work/many.so" "${at[@]}"
has_line '^removed: message cancel: is not in the new program$' '^unhandled: outbox cancel: has no handler; 3 rows$'
[ "$(grep -c '^    no handler takes it$' "$work/out")" = 1 ] || die "one text is printed for each endpoint"
grep -q 'more row' "$work/out" && die "rows that are none are counted"
expect 1 '' pawl saga verify-upgrade --json --app "$new" --from "$work/many.so" "${at[@]}"
has_line '"reason":"removed","kind":"message","type":"cancel","version":0,"member":"","count":0,' \
    '"reason":"unhandled","kind":"outbox","type":"cancel","version":0,"member":"","count":3,'

echo "== rows beyond the examples are counted"
for i in 1 2 3 4; do
    expect 0 '' pawl send "${at[@]}" --to desk --type cancel --body '{"order_id":"o-9"}'
done
expect 1 '' pawl saga verify-upgrade --app "$work/removed.so" "${at[@]}"
has_line '^unhandled: message cancel: has no handler; 5 rows$' '^    and 2 more rows$'
for i in 1 2 3; do
    expect 0 '' pawl send "${at[@]}" --to shop --type place --body '{"order_id":"o-7","stage":"paid"}'
done
expect 1 '' pawl saga verify-upgrade --app "$work/misread.so" --from "$work/old.so" "${at[@]}"
has_line '^misread: message place of version 1, card: is read as another value than was stored; 4 rows$' \
    '^    and 2 more rows$'
