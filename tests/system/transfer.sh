#!/usr/bin/env bash
# transfer.sh - the example `transfer` on SQLite: killed, it comes to the same; and the
# report says so when it does not.
#
#   PAWL_TEST_SEED=N bash transfer.sh     the same choices once more
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/transfer.sh"
need_sqlite
store=sqlite:$work/transfer.db

refuse() # CODE REGEX ARGUMENT ...
{
    local wanted=$1 regex=$2 found
    shift 2
    transfer "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = "$wanted" ] || die "exit code $found instead of $wanted: $*"
    tail -n 1 "$work/err" | grep -qE -- "^transfer: .*$regex" || die "no last line '$regex': $*"
}

echo "== words"
transfer --help >"$work/out" 2>"$work/err" || die "--help fails"
grep -q -e '--runners N' "$work/out" || die "--help does not list the options"
! grep -q -e '--run ' "$work/out" || die "--help lists what is not for people"
refuse 2 "no option '--krash'" --krash 3
refuse 2 "'3' is not an option" 3
refuse 2 "--accounts: money moves between 2" --accounts 1
refuse 2 "'memory:x' is gone with the process" --store memory:x
refuse 2 "--check: 'x' is not the name of a run" --check x --seed 1
refuse 2 "--check: the --seed" --check 00000000
refuse 2 "--resume: 'x' is not the name of a run" --resume x --seed 1
refuse 2 "--resume: the --seed" --resume 00000000
refuse 2 "one of them" --check 00000000 --resume 00000000 --seed 1
refuse 3 nosuchscheme --store nosuchscheme:x

echo "== killed"
moves 200 3 --store "$store"
[ "$(count failed)" -gt 0 ] || die "no transfer of too little money"
! grep -vE ' of its workers crashed| crashed while it ran this (message|timeout) in isolation ' "$work/err" || die "something else than the kills on standard error"
moves 60 4 --accounts 2 --runners 1 --store "$store"

echo "== overdue"
moves 60 1 --late 1ms --store "$store"
[ "$(count overdue)" -gt 0 ] || die "no timeout came"

build_sql
left=$("$work/sql" "$work/transfer.db" "SELECT count(*) FROM sqlite_master WHERE name LIKE 'transfer%'")
[ "$left" = 0 ] || die "$left tables and indexes were left"

echo "== not verified"
# A report that cannot fail would prove nothing: a run that was verified is changed by
# hand, one thing at a time, and read again.
PAWL_TEST_SEED=3 moves 200 0 --accounts 10 --keep --store "$store"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | cut -d' ' -f2)
again=(--check "$run" --seed 3 --transfers 200 --accounts 10 --store "$store")
transfer "${again[@]}" >"$work/out" 2>"$work/err" || die "not verified when read again"
differs() # STATEMENT REGEX
{
    cp "$work/transfer.db" "$work/before.db"
    "$work/sql" "$work/transfer.db" "${1//@/transfer_${run}_}" || die "cannot change: $1"
    transfer "${again[@]}" >"$work/out" 2>"$work/err"
    [ $? = 1 ] || die "verified after: $1"
    [[ $(tail -n 1 "$work/out") == "NOT verified"* ]] || die "the last line after: $1"
    grep -qE "^differs: ($2)" "$work/out" || die "no line 'differs: $2' after: $1"
    transfer "${again[@]}" --json >"$work/out" 2>"$work/err"
    [ $? = 1 ] || die "--json: verified after: $1"
    grep -q '^{.*"verified":false}$' "$work/out" || die "--json: after: $1"
    cp "$work/before.db" "$work/transfer.db"
    rm -f "$work/transfer.db-wal" "$work/transfer.db-shm"
}
last="(SELECT max(Seq) FROM \"@events\" WHERE Type ="
# Once more, behind the last event of its stream.
copy="INSERT INTO \"@events\" (Stream, Version, Type, TypeVersion, MessageId, CorrelationId, CausationId,
    DispatchId, At, Headers, Body) SELECT Stream, (SELECT max(Version) + 1 FROM \"@events\" AS other
    WHERE other.Stream = \"@events\".Stream), Type, TypeVersion, MessageId, CorrelationId, CausationId,
    DispatchId, At, Headers, Body FROM \"@events\" WHERE Seq = $last"
differs "$copy 'pawl.completed')" 'Transfer/[0-9]+: version [0-9]+: pawl.completed after over'
differs "DELETE FROM \"@events\" WHERE Seq = $last 'pawl.completed')" 'Transfer/[0-9]+: is (done|failed|refunded), not settled'
differs "DELETE FROM \"@events\" WHERE Seq = $last 'credited')" 'Transfer/[0-9]+: version [0-9]+: done, but the money was taken$'
differs "DELETE FROM \"@events\" WHERE Seq = $last 'debited')" 'Transfer/[0-9]+: version 2: withdrawn, but the money was not moved$'
differs "DELETE FROM \"@events\" WHERE Seq = $last 'requested')" 'Account/[0-9]+: version [0-9]+: debited by transfer [0-9]+, which is nothing|Transfer/[0-9]+: version 2: follows version 0'
differs "DELETE FROM \"@events\" WHERE Stream = 'Account/1' AND Version = 1" 'Account/1: version 2: follows version 0|Account/1: was never opened'
for type in debited credited credited_back; do
    differs "UPDATE \"@events\" SET Body = json_set(Body, '\$.cents', 1 + json_extract(Body, '\$.cents'))
        WHERE Seq = $last '$type')" "Account/[0-9]+: version [0-9]+: $type [0-9]+ cents, asked for were"
    differs "UPDATE \"@events\" SET DispatchId = '00000000-0000-5000-8000-000000000001'
        WHERE Seq = $last '$type')" "Account/[0-9]+: version [0-9]+: $type by another dispatch"
    differs "$copy '$type')" \
        "Account/[0-9]+: version [0-9]+: $type by transfer [0-9]+ a second time"
done
differs "UPDATE \"@events\" SET Type = 'failed', Body = '{}' WHERE Seq = $last 'done')" \
    'Transfer/[0-9]+: version 3: failed after withdrawn'
differs "UPDATE \"@folds\" SET State = json_set(State, '\$.cents', 1) WHERE rowid = (SELECT min(rowid) FROM \"@folds\")" \
    'Account/[0-9]+: loaded as '
