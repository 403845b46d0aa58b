#!/usr/bin/env bash
# command_schema.sh - schema print, apply, verify and drop, there and back.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
file=$work/schema.db
at=(--store "sqlite:$file")
app=(--app "$build_dir/orders.so")
tables()
{
    "$work/sql" "$file" \
        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master
         WHERE name NOT LIKE 'sqlite_%' ORDER BY 1"
}

echo "== print needs no store and makes none"
expect 0 '(CREATE TABLE|create table)' pawl schema print --dialect sqlite
cp "$work/out" "$work/system.sql"
expect 0 'orders_OrderSaga' pawl schema print --dialect sqlite "${app[@]}"
cp "$work/out" "$work/all.sql"
expect 0 '(CREATE TABLE|create table)' pawl schema print "${at[@]}"
cmp -s "$work/out" "$work/system.sql" || die "--dialect and --store print another script"
[ ! -e "$file" ] || die "print made a database"
expect 0 'shop_queue' pawl schema print --dialect sqlite --prefix shop_
expect 0 'x_OrderSaga' pawl schema print --dialect sqlite "${app[@]}" --saga-prefix x_

echo "== the script that drops them"
expect 0 'drop table if exists "orders_OrderSaga"' pawl schema print --drop --dialect sqlite "${app[@]}"
cp "$work/out" "$work/drop.sql"
expect 2 '^pawl: --drop is for print, not for apply$' pawl schema apply --drop "${at[@]}"

echo "== apply"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
expect 0 '' pawl schema verify "${at[@]}" "${app[@]}"
tables >"$work/applied"
grep -q 'table orders_OrderSaga' "$work/applied" || die "no saga table"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
tables | cmp -s - "$work/applied" || die "a second apply changed something"

echo "== the printed script makes the same tables"
mv "$file" "$work/first.db"
: >"$file"
"$work/sql" "$file" "$(cat "$work/all.sql")" || die "the script does not run"
expect 0 '' pawl schema verify "${at[@]}" "${app[@]}"
tables | cmp -s - "$work/applied" || die "the printed script makes other tables than apply"

echo "== verify names what is missing"
"$work/sql" "$file" 'DROP TABLE orders_OrderSaga'
expect 4 "run: pawl schema apply --store 'sqlite:$file' --app ${app[1]}\$" pawl schema verify "${at[@]}" "${app[@]}"
grep -q 'orders_OrderSaga' "$work/out" || die "the missing table is not named"
expect 0 '' pawl schema verify "${at[@]}"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
expect 0 '' pawl schema verify "${at[@]}" "${app[@]}"

echo "== the printed script drops them"
cp "$file" "$work/whole.db"
"$work/sql" "$file" "$(cat "$work/drop.sql")" || die "the script does not run"
[ -z "$(tables)" ] || die "the script left $(tables)"
"$work/sql" "$file" "$(cat "$work/drop.sql")" || die "the script does not run twice"
mv "$work/whole.db" "$file"

echo "== drop"
expect 2 'give --yes' pawl schema drop "${at[@]}" "${app[@]}"
tables | cmp -s - "$work/applied" || die "drop did not wait for the answer"
expect 0 '' pawl schema drop "${at[@]}" "${app[@]}" --yes
[ -z "$(tables)" ] || die "drop left $(tables)"
expect 0 '' pawl schema drop "${at[@]}" "${app[@]}" --yes
expect 4 "run: pawl schema apply --store 'sqlite:$file'\$" pawl schema verify "${at[@]}"

echo "== tables of an earlier version"
file=$work/old.db
at=(--store "sqlite:$file")
: >"$file"
"$work/sql" "$file" "$(cat "$PAWL_SOURCE_DIR/tests/contract/schema_1_sqlite.sql")" || die "the script does not run"
expect 4 'has version 1, this program needs version 3; run: pawl schema apply --store .sqlite:.*old.db.$' pawl stats "${at[@]}"
expect 4 'the schema has 9 differences' pawl schema verify "${at[@]}"
grep -q 'column AttemptsBefore is missing' "$work/out" || die "the missing column is not named"
expect 0 '' pawl schema apply "${at[@]}"
expect 0 '' pawl schema verify "${at[@]}"
expect 0 '' pawl stats "${at[@]}"

echo "== what is to be run names the prefix"
expect 4 "table shop_schema is missing or incomplete; run: pawl schema apply --store 'sqlite:$file' --prefix 'shop_'\$" \
    pawl stats "${at[@]}" --prefix shop_
expect 4 "--prefix ''\$" pawl stats "${at[@]}" --prefix ''

echo "== one driver for two schemes"
if [ -e "$build_dir/libpawl-mysql.so" ]; then
    expect 0 'collate utf8mb4_0900_bin' pawl schema print --dialect mysql "${app[@]}"
    expect 0 'collate utf8mb4_nopad_bin' pawl schema print --store mariadb://someone@nowhere/x "${app[@]}"
    expect 3 '^pawl: mariadb: mariadb://someone@nowhere.invalid/x: no connection to nowhere.invalid' \
        pawl schema apply --store mariadb://someone@nowhere.invalid/x
fi
