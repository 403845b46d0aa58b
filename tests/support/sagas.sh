# sagas.sh - `pawl saga list|show` on the rows of upgrade.sh, behind which it is sourced.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

saga()
{
    local action=$1
    shift
    expect 0 '' pawl saga "$action" --app "$work/old.so" "${at[@]}" "$@"
}
id_of() { sed -nE "s|.*\"saga\":\"Order/$1\".*\"id\":\"([^\"]*)\".*|\1|p" "$work/sagas"; }

echo "== sagas, for people"
saga list
lines 4
has_line '^saga +id +version +state of +written by +begun$' \
    '^Order/o-1 +[0-9a-f-]{36} +1  1\.0 +[0-9.]+ +[0-9T:-]+Z \([0-9.]+ (m|ms|s) ago\)$'
saga list --limit 2
lines 3
expect 0 '' pawl saga list --app "$build_dir/orders.so" "${at[@]}"
grep -q '^no saga matches$' "$work/err" || die "no word that there is none"

echo "== sagas, for programs"
saga list --json --type Order
cp "$work/out" "$work/sagas"
lines 3
has_line '^\{"saga":"Order/o-2","type":"Order","table":"shop_Order","value":"o-2","transitional":null,"id":"[0-9a-f-]{36}","version":1,"type_version":"1.0","persistence_version":"[0-9.]+","begun":"[^"]+Z","state_size":[0-9]+\}$'
saga list --json --type Order --limit 1
first=$(sed -E 's/.*"id":"([^"]*)".*/\1/' "$work/out")
saga list --json --type Order --after "$first"
[ "$(cat "$work/out")" = "$(tail -n 2 "$work/sagas")" ] || die "not those behind the first"
grep -qF "$first" "$work/out" && die "the first is there again"

echo "== one saga"
saga show Order/o-1
has_line '^saga +Order/o-1$' '^type version +1\.0$' '^persistence version +[0-9.]+$' '^original message id +[0-9a-f-]{36}$' \
    '^timeout +due +attempts +id$' '^late +[0-9T:-]+Z \(in [0-9]+ d\) +0  [0-9a-f-]{36}$'
grep -q '"4711' "$work/out" && die "a secret that nobody asked for"
saga show Order/o-1 --json
lines 1
has_line '"original_message_id":"[0-9a-f-]{36}","metadata":\{[^}]*"SagaType":"Order"' '"card":"\*\*\*"' \
    '"state":\{.*"lines":\[\{("item":"a"|,|"dozens":40000){3}\}\]' \
    '\},"timeouts":\[\{"timeout":"late","due":"[^"]+Z","attempts":0,"id":"[0-9a-f-]{36}"\}\]\}$'
saga show Order/o-1 --json --reveal
has_line '"card":"4711-1"'
saga show "Order/$(id_of o-3)"
has_line '^saga +Order/o-3$'
expect 6 '^pawl: .*there is no saga Order/o-9$' pawl saga show Order/o-9 --app "$work/old.so" "${at[@]}"
expect 2 "old.so has no saga 'Ordr'; did you mean Order\?$" pawl saga show Ordr/o-1 --app "$work/old.so" "${at[@]}"
expect 2 "old.so has no saga 'Ordr'; did you mean Order\?$" pawl saga list --type Ordr --app "$work/old.so" "${at[@]}"
expect 0 '"state":\{.*"note":"\*\*\*".*\}' pawl saga show Order/o-1 --json --app "$work/renamed.so" "${at[@]}"

echo "== other verbs name it by its value"
of_app=(--app "$work/old.so" "${at[@]}")
expect 0 '^[0-9a-f-]{36} .* late +Order/o-1 +'"$(id_of o-1)" pawl timeout list --saga Order/o-1 "${of_app[@]}"
lines 2
expect 0 '"saga_type":"Order","saga_id":"'"$(id_of o-1)"'","saga":"Order/o-1","destination"' pawl timeout list --json "${of_app[@]}"
expect 0 '"saga":null,' pawl timeout list --saga "Order/$(id_of o-1)" --json "${at[@]}"
lines 1
of_one=$(sed -nE 's/.*"id":"([^"]*)".*/\1/p' "$work/out")
expect 0 '^saga +Order/o-1$' pawl timeout show "$of_one" "${of_app[@]}"
expect 6 'there is no saga Order/o-9; one that ended is named by its id$' pawl timeout list --saga Order/o-9 "${of_app[@]}"
expect 2 'Order/o-1: a correlation value is looked up in the tables of --app' pawl timeout list --saga Order/o-1 "${at[@]}"
expect 2 "'o-1' is not TYPE/VALUE" pawl timeout list --saga o-1 "${of_app[@]}"
expect 2 '--saga-prefix: tables are named with --app' pawl timeout list --saga-prefix x "${at[@]}"
expect 0 '"source":"Order/[0-9a-f-]{36}","saga":"Order/o-[0-9]",' pawl outbox list --json "${of_app[@]}"
sent_by=$(sed -nE 's/.*"saga":"(Order[^"]*)".*/\1/p' "$work/out" | head -n 1)
sent=$(grep -c "\"saga\":\"$sent_by\"" "$work/out")
expect 0 " $sent_by " pawl outbox list --saga "$sent_by" "${of_app[@]}"
lines $((sent + 1))
expect 0 '"saga":null,' pawl outbox list --saga "Order/$(id_of "${sent_by#Order/}")" --json "${at[@]}"
lines "$sent"
expect 6 'there is no saga Order/o-9; ' pawl outbox discard --all --yes --saga Order/o-9 "${of_app[@]}"
expect 2 'a correlation value is looked up' pawl outbox list --saga "$sent_by" "${at[@]}"
expect 2 'is not TYPE/VALUE or TYPE/ID' pawl outbox list --saga "$(id_of o-1)" "${of_app[@]}"
expect 2 'give one of them' pawl outbox list --saga "$sent_by" --source x "${of_app[@]}"
expect 2 '--saga is empty' pawl outbox list --saga '' "${of_app[@]}"

echo "== one is deleted"
gone=$(id_of o-2)
saga delete Order/o-2 --yes --reason 'never paid'
has_line "^deleted saga Order/o-2, id $gone, version 1, with 1 timeout$" '^queued messages for it no longer find a saga: '
expect 6 '^pawl: .*there is no saga Order/o-2$' pawl saga show Order/o-2 --app "$work/old.so" "${at[@]}"
expect 6 '^pawl: .*there is no saga Order/o-2$' pawl saga delete Order/o-2 --yes --app "$work/old.so" "${at[@]}"
saga show "Order/$gone"
has_line "^saga Order/$gone is not there any more$" '^deleted .* never paid$'
saga show "Order/$gone" --json
has_line '^\{"actions":\[\{"action":"deleted","at":"[^"]+Z","by":"[^"]+","reason":"never paid"\}\]\}$'
expect 0 '' pawl timeout list --saga "$gone" "${at[@]}" --json
lines 0
expect 2 'delete asks first, and standard input is not a terminal: give --yes$' pawl saga delete "Order/$(id_of o-3)" --app "$work/old.so" "${at[@]}" </dev/null
saga delete "Order/$(id_of o-3)" --yes --json
has_line "^\\{\"deleted\":\"Order/$(id_of o-3)\",\"id\":\"$(id_of o-3)\",\"version\":1,\"timeouts\":1,\"outbox\":[0-9]+\\}\$"
saga list --type Order --json
lines 1
