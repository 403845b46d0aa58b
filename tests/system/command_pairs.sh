#!/usr/bin/env bash
# command_pairs.sh - options that select rows, by their effect: each alone and each two of them. What operators do with
# the rows that two options select is done with these alone, and a selection that is gone on with is the same.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/pairs.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply
now=$(date +%s)

# rows FIRST LAST STATEMENT: sixteen rows or so, one for each number; @b0 is its lowest bit and so on, @n the number, @ago
# the microseconds of a time as many hours ago as the number says.
rows()
{
    local all='' one n
    for n in $(seq "$1" "$2"); do
        one=${3//@b0/$((n & 1))} one=${one//@b1/$((n >> 1 & 1))} one=${one//@b2/$((n >> 2 & 1))}
        one=${one//@b3/$((n >> 3 & 1))} one=${one//@ago/$(((now - n * 3600) * 1000000))} one=${one//@n/$n}
        all+="$one;"
    done
    "$work/sql" "$work/pairs.db" "begin; $all commit" || die "no rows"
}

# pairs KEY COMMAND ...: the table on standard input, as pairs.py has it.
pairs()
{
    local key=$1
    shift
    python3 "$source_dir/tests/support/pairs.py" "$key" "$build_dir/pawl" "$@" --json >"$work/out" 2>"$work/err" ||
        die "options of pawl $1 $2 select other rows"
    tail -n 1 "$work/out"
}
# bits PREFIX BIT: the numbers from 0 to 15 that have the bit.
bits()
{
    local n
    for n in $(seq 0 15); do
        [ $((n >> $2 & 1)) = 0 ] || printf '%s%d ' "$1" "$n"
    done
}
span() { seq -f "$1%g" -s ' ' "$2" "$3"; }
at() { date -u -d "@$((now - $1 * 3600 + 1800))" +%Y-%m-%dT%H:%M:%SZ; } # between hour $1 and the next younger one

echo "== dead letters"
rows 0 15 "insert into pawl_dead values ('e@b2', 'q', 'd@n', 't@b0', '', '', 'C@b1', 1, 0, @ago, 'went @b3', '[]', '{}', '{}')"
letters=$work/letters
cat >"$letters" <<EOT
--type t1 | $(bits d 0)
--code C1 | $(bits d 1)
--endpoint e1 | $(bits d 2)
--error 'ent 1' | $(bits d 3)
--since $(at 9) | $(span d 0 8)
--until $(at 3) | $(span d 3 15)
--newer 11h | $(span d 0 10)
--older 90m | $(span d 2 15)
--newer 5h | $(span d 0 4)
--older 330m | $(span d 6 15)
EOT
pairs message_id dead list <"$letters"
for action in retry discard; do
    pairs matching dead $action --all --dry-run <"$letters"
done
expect 0 '"message_id":"d15"' pawl dead list --limit 1 --json
expect 0 '"message_id":"d11"' pawl dead list --limit 1 --code C1 --since "$(at 13)" --json

echo "== what is left of a selection is settled by the command that goes on, and nothing else"
cp "$work/pairs.db" "$work/whole.db"
selections=("--type t1 --since $(at 9)" "--code C1 --newer 11h" "--endpoint e1 --until $(at 3)" "--error 'ent 1' --older 90m"
    "--since $(at 9) --newer 11h" "--until $(at 3) --older 90m" "--newer 11h --rate 9000 --reason \"it's\"")
for selection in "${selections[@]}"; do
    cp "$work/whole.db" "$work/pairs.db"
    eval "expect 0 '' pawl dead discard --all --dry-run --json $selection"
    count=$(sed -nE 's/.*"matching":([0-9]+).*/\1/p' "$work/out")
    eval "expect 0 '^discarded $count dead letters' pawl dead discard --all --yes $selection"
    [ "$(number dead)" = $((16 - count)) ] || die "$(number dead) letters are left of $selection"
    command=$(sed -nE 's/.* this goes on: pawl (.*)/\1/p' "$work/err")
    cp "$work/whole.db" "$work/pairs.db"
    eval "expect 0 '^discarded $count dead letters' pawl $command --yes"
done
cp "$work/whole.db" "$work/pairs.db"
rm -f "$work"/pairs.db-*

echo "== rows of the outbox"
rows 0 15 "insert into pawl_outbox values (@n + 1, '0d150000-0000-4000-8000-0000000000' || printf('%02x', @n),
    case @b3 when 0 then 'dead' else 'pending' end, @b1 + 1, 0, @ago, @ago, null, 'S/' || @b2, @n, 0, 'e@b2', 'to@b1', 0, 'm@n',
    't@b0', '', 'c@b3', '{}', '{}')"
ids() { sed 's/[0-9][0-9]*/$((&+1))/g; s/.*/echo "&"/' <<<"$*" | bash; }
cat >"$work/outbox" <<EOT
--type t1 | $(ids "$(bits '' 0)")
--destination to1 | $(ids "$(bits '' 1)")
--attempts 2 | $(ids "$(bits '' 1)")
--endpoint e1 | $(ids "$(bits '' 2)")
--source S/1 | $(ids "$(bits '' 2)")
--causation-id c1 | $(ids "$(bits '' 3)")
--state pending | $(ids "$(bits '' 3)")
--state dead,blocked | 1 2 3 4 5 6 7 8
--id 4 | 4
--dispatch-id 0d150000-0000-4000-8000-00000000000d | 14
EOT
{ cat "$work/outbox"; echo "--after 5 | $(seq -s ' ' 6 16)"; } | pairs id outbox list

echo "== timeouts"
rows 0 15 "insert into pawl_timeouts values ('0d150000-0000-4000-8000-0000000000' || printf('%02x', @n), 1,
    '0d150000-0000-4000-8000-0000000001' || printf('%02x', @n), 'S@b0', 'n@b1', 'd@b2', @ago, 0, null, null, null, '', '{}')"
uuids() { local n; for n in $*; do printf '0d150000-0000-4000-8000-0000000000%02x ' "$n"; done; }
cat >"$work/timeouts" <<EOT
--saga-type S1 | $(uuids "$(bits '' 0)")
--name n1 | $(uuids "$(bits '' 1)")
--destination d1 | $(uuids "$(bits '' 2)")
--since $(at 9) | $(uuids "$(seq 0 8)")
--until $(at 3) | $(uuids "$(seq 3 15)")
EOT
pairs id timeout list <"$work/timeouts"
for action in cancel run-now "move --by 1h"; do
    # shellcheck disable=SC2086 # words
    pairs matching timeout $action --all --dry-run <"$work/timeouts"
done

echo "== messages of a queue"
rows 0 15 "insert into pawl_queue values (@n + 1, 'q', case @b1 when 0 then @ago else 9000000000000000 end, @ago, 0, 0, 0, 'd@n',
    't@b0', '', '', '', null, '{}', '{}')"
cat >"$work/queue" <<EOT
--type t1 | $(bits d 0)
--due later | $(bits d 1)
--due now | d0 d1 d4 d5 d8 d9 d12 d13
EOT
{ cat "$work/queue"; echo "--id d5 | d5"; } | pairs message_id queue peek q
{ cat "$work/queue"; echo "--last 9 | $(span d 0 8)"; } >"$work/some"
pairs matching queue purge q --dry-run <"$work/some"
pairs matching queue move q other --dry-run <"$work/some"

echo "== events"
rows 0 15 "insert into pawl_events values (@n + 1, 'S/' || @b0, @n + 1, 'T@b1', 1, 'm@b2', 'c@b3', '', null, @ago, @n + 1, '{}', '{}')"
cat >"$work/events" <<EOT
--type T1 | $(ids "$(bits '' 1)")
--message-id m1 | $(ids "$(bits '' 2)")
--correlation-id c1 | $(ids "$(bits '' 3)")
EOT
for order in '' --backward --by-position; do
    # shellcheck disable=SC2086 # no word, or one
    pairs seq events list $order <"$work/events"
done
{ cat "$work/events"; printf '%s\n' "--stream S/1 | $(ids "$(bits '' 0)")" "--after 5 | $(seq -s ' ' 6 16)"; } |
    pairs seq events list
expect 2 'give --stream or --by-position' pawl events list --stream S/1 --by-position

echo "== tables of one endpoint"
build_app app_upgrade.c upgrade.so
app=(--app "$work/upgrade.so")
table() { "$work/sql" "$work/pairs.db" "select count(*) from sqlite_master where type = 'table' and name = '$1'"; }
expect 0 '"shop_Order"' pawl schema print --dialect sqlite "${app[@]}" --endpoint shop
expect 0 '"x_Order"' pawl schema print --dialect sqlite "${app[@]}" --endpoint shop --saga-prefix x_
expect 0 '' pawl schema print --dialect sqlite "${app[@]}" --endpoint desk --saga-prefix x_
! grep -q Order "$work/out" || die "a table of another endpoint is printed"
expect 0 '' pawl schema apply "${app[@]}" --endpoint desk
[ "$(table shop_Order)" = 0 ] || die "a table of another endpoint is made"
expect 0 '' pawl schema apply "${app[@]}" --endpoint shop --saga-prefix x_
expect 0 '' pawl schema apply "${app[@]}" --endpoint shop
[ "$(table shop_Order)$(table x_Order)" = 11 ] || die "the tables are not made"
"$work/sql" "$work/pairs.db" "drop table x_Order"
expect 0 '' pawl schema verify "${app[@]}" --endpoint desk --saga-prefix x_
expect 1 'schema has' pawl schema verify "${app[@]}" --endpoint shop --saga-prefix x_
expect 2 'not without --yes|--yes' pawl schema drop "${app[@]}" --endpoint desk
expect 0 '' pawl schema drop "${app[@]}" --endpoint desk --yes
[ "$(table shop_Order)" = 1 ] || die "drop takes the sagas of another endpoint"
expect 0 '' pawl schema drop "${app[@]}" --endpoint shop --yes
[ "$(table shop_Order)" = 0 ] || die "drop leaves the sagas of the endpoint"
echo "ok"
