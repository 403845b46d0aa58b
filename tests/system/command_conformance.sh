#!/usr/bin/env bash
# command_conformance.sh - `pawl conformance`: the contract suite on a store of
# the user's own, and modules of one's own that `pawl --load` loads.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

# Every line is one object with the four members; what did not pass says why.
is_json()
{
    local text='"([^"\\]|\\.)*"' line
    line="^\{\"item\":(\"[ATSODEM][0-9]+\"|null),\"group\":($text|null),\"case\":($text|null),\"result\":"
    ! grep -vE "$line(\"pass\",\"reason\":null|\"(fail|not_applicable)\",\"reason\":$text)\}$" \
        "$work/out"
}

echo "== memory"
expect 0 '^cases: [1-9][0-9]* pass, 0 fail, [1-9][0-9]* not applicable; items: 1[0-9]* pass' \
    pawl conformance --store memory: --seed 1
[ "$(grep -cE '^[ATSODEM][0-9]+ +(pass|not_applicable) +[0-9]+' "$work/out")" = 198 ] ||
    die "not each of the 198 items has a line"
if grep -E '^[ATSODEM][0-9]+ +not_applicable +[0-9]+ *$' "$work/out"; then
    die "an item has no reason"
fi
expect 0 '"item":"A1","group":"aggregator[^"]*","case":"A1 ' pawl conformance --store memory: --json
is_json || die "not one object a line"
# One case sends what a rebuilt projection may send otherwise, which is warned of.
if grep -v 'was sent before with another type or body' "$work/err"; then
    die "something on standard error"
fi
for number in 1 27; do
    grep -q "\"item\":\"A$number\"" "$work/out" || die "A$number is not there"
done
grep -q '"item":"D10","group":null,"case":null,"result":"not_applicable","reason":"about the schema; ' "$work/out" ||
    die "D10 does not say why no case is about it"
grep -q roadmap "$work/out" && die "it tells of the project instead of the store"

echo "== some of it"
expect 0 '^E9 +pass +[1-9]' pawl conformance --store memory: --case 'subscription: '
[ "$(wc -l <"$work/out")" = 3 ] || die "more than was asked for"
expect 2 "no case is named like 'nonsuch'" pawl conformance --store memory: --case nonsuch
expect 2 'expected 1 to 20' pawl conformance --store memory: --prefix ''
expect 2 "may hold letters" pawl conformance --store memory: --prefix 'a b'

echo "== a store with a defect"
cp "$build_dir/tests/support/driver/careless.so" "$work/libpawl-careless.so"

# A driver of one's own is loaded before the verb, by its path.
cp "$build_dir/tests/support/driver/careless.so" "$work/own.so"
expect 1 'failed; seed' pawl --load "$work/own.so" conformance --store careless: --seed 5
expect 2 '^pawl: --load needs the path of a driver$' pawl --load
expect 2 'the path of the driver to load is empty$' pawl --load '' stats --store memory:
expect 2 'the path of the driver to load has 5000 bytes, the limit is 4095' pawl --load "$(printf 'x%.0s' {1..5000})" stats --store memory:
expect 3 'no-such' pawl --load "$work/no-such.so" stats --store careless:

# All tables of a module are loaded, and a bad one is refused with its own reason.
modules=$build_dir/tests/support/driver
reads=(run "$build_dir/orders.so" --store memory: --transport tiny:x --show-options)
expect 2 "no broker is known by the scheme 'tiny'" pawl "${reads[@]}"
expect 0 'transport +tiny:x' pawl --load "$modules/tiny.so" "${reads[@]}"
expect 2 'deaf.so: inbound transport .deaf.: open, close, take, settle, leave and an inbound_size of ' \
    pawl --load "$modules/deaf.so" stats --store memory:
expect 2 'nameless.so has no symbol pawl_store_driver, pawl_transport_driver or pawl_inbound_driver$' \
    pawl --load "$modules/nameless.so" stats --store memory:
cp "$modules/nameless.so" "$work/libpawl-nameless.so"
export PAWL_DRIVER_PATH=$work:${PAWL_DRIVER_PATH:-}
expect 2 'libpawl-nameless.so has no symbol pawl_store_driver' pawl stats --store nameless:x
expect 2 'a transport is loaded by pawl --load FILE VERB alone' pawl stats --store nameless:x
expect 1 '^pawl: [1-9][0-9]* cases? failed; seed 5$' pawl conformance --store careless: --seed 5
grep -qE '^T5 +fail +[1-9]' "$work/out" || die "T5 did not fail"
grep -qE '^A1 +pass' "$work/out" || die "A1 did not pass"
expect 1 'failed; seed' pawl conformance --store careless: --case 'T5 ' --json
is_json || die "not one object a line"
grep -q '"item":"T5",.*"result":"fail","reason":"src/conformance/store/timeout.c' "$work/out" || die "no reason"

# The one case that takes long is named before it ends.
expect 1 'failed; seed' pawl conformance --store careless:slow --case 'timeout: T4 T5 '
[ "$(grep -c '^pawl: case 1 of 1 takes longer than 10 s: timeout: T4 T5 ' "$work/err")" = 1 ] ||
    die "the case that takes long is not named"

# A case in which the driver crashes is named, with what drops the tables.
"$build_dir/pawl" conformance --store careless:crash --case 'timeout: T4 T5 ' --prefix mine_ >"$work/out" 2>"$work/err" &&
    die "the crash is no failure"
grep -q '^pawl: it crashed in case 1 of 1, which counts as failed: timeout: T4 T5 ' "$work/err" || die "the case is not named"
grep -q '^pawl: the tables whose names begin with mine_ may be left; .* --drop ' "$work/err" ||
    die "it does not say how to drop the tables"

echo "== a store that cannot be used"
expect 3 'pawl has none of that name, but memory, sqlite, ' pawl conformance --store nowhere://x
expect 2 'no store: give --store' pawl conformance

need_sqlite
build_sql
file=$work/conf.db
at=(--store "sqlite:$file")
tables()
{
    "$work/sql" "$file" "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1"
}

echo "== sqlite"
expect 0 '^cases: [1-9][0-9]* pass, 0 fail, 11 not applicable' pawl conformance "${at[@]}"
[ -z "$(tables)" ] || die "it left $(tables)"
expect 3 'unable to open' pawl conformance --store "sqlite:$work/nowhere/x.db"
echo "no database at all, and long enough to tell" >"$work/text"
expect 3 'not a database' pawl conformance --store "sqlite:$work/text"

echo "== a signal ends it, and it leaves no tables"
for signal in TERM INT; do
    : >"$work/out"
    # A shell starts background commands with SIGINT ignored.
    env --default-signal=INT "$build_dir/pawl" conformance "${at[@]}" --json >"$work/out" 2>"$work/err" &
    pid=$!
    poll 20 test -s "$work/out" || die "no case ends"
    kill -$signal $pid
    wait $pid
    [ $? = 5 ] || die "another exit code than 5 after SIG$signal"
    grep -qE '^pawl: .*interrupted after [1-9][0-9]* of [0-9]+ cases, 0 failed; its tables are dropped$' "$work/err" ||
        die "it does not say where it was interrupted"
    [ -z "$(tables)" ] || die "SIG$signal left $(tables)"
done

echo "== tables that are there already"
"$work/sql" "$file" 'CREATE TABLE orders(id INTEGER); CREATE TABLE pawl_conf_Order(id INTEGER)'
expect 6 'holds tables whose names begin with pawl_conf_' pawl conformance "${at[@]}"
expect 0 '^E9 +pass' pawl conformance "${at[@]}" --prefix mine_ --case 'subscription: '
for prefix in outbox_ x_ table; do # part of tables' own names, of names of indexes, of the sentences about them
    expect 0 '^E9 +pass' pawl conformance "${at[@]}" --prefix $prefix --case 'subscription: '
done
[ "$(tables)" = $'orders\npawl_conf_Order' ] || die "it touched what is not its own: $(tables)"
expect 0 '' pawl conformance "${at[@]}" --drop
[ "$(tables)" = orders ] || die "--drop left $(tables)"
expect 0 '^E9 +pass' pawl conformance "${at[@]}" --case 'subscription: '
