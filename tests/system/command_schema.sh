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
expect 2 'pawl schema apply has no option --drop: it is for print$' pawl schema apply --drop "${at[@]}"

echo "== every dialect, without a driver"
mkdir "$work/alone" && cp "$build_dir/pawl" "$build_dir"/libpawl.so* "$build_dir/orders.so" "$work/alone/"
for dialect in mariadb mssql mysql oracle postgres sqlite; do
    expect 0 '(orders_OrderSaga|ORDERS_ORDERSAGA)' env -u PAWL_DRIVER_PATH "$work/alone/pawl" schema print \
        --dialect "$dialect" --app "$work/alone/orders.so"
done
expect 0 'create table \[shop\]\.\[pawl_queue\]' pawl schema print --dialect mssql --schema shop
expect 2 "SQLite 3.37 or later has no schemas within a database: 'shop' is none" \
    pawl schema print --dialect sqlite --schema shop
expect 2 'schema is empty' pawl schema print --dialect postgres --schema ''
expect 2 'pawl schema apply has no option --schema: it is for print$' pawl schema apply --schema shop "${at[@]}"
expect 2 '^pawl: --kind: this store.s driver prints its script whole' pawl schema print --store memory: --kind sagas

echo "== some kinds of tables"
expect 0 'pawl_timeouts' pawl schema print --dialect sqlite "${app[@]}" --kind sagas,timeouts
[ "$(grep -c '^create table' "$work/out")" = 2 ] || die "not two tables"
expect 2 "^pawl: --kind: 'saga' is not a valid KIND; did you mean sagas\\?$" pawl schema print --dialect sqlite --kind saga
expect 2 "^pawl: --kind: '' is not a valid KIND" pawl schema print --dialect sqlite --kind outbox,

echo "== a file for each table"
expect 0 '' pawl schema print --dialect sqlite "${app[@]}" --files "$work/files"
[ "$(ls "$work/files/create" | wc -l) $(ls "$work/files/drop" | wc -l)" = '17 17' ] || die "not 17 files each"
grep -q '34 files' "$work/err" || die "it does not say what was written"
: >"$work/files.db"
for script in "$work/files/create"/*.sql "$work/files/create"/*.sql; do
    "$work/sql" "$work/files.db" "$(cat "$script")" >/dev/null || die "$script does not run"
done
expect 0 '' pawl schema verify --store "sqlite:$work/files.db" "${app[@]}"
for script in "$work/files/drop"/*.sql "$work/files/drop"/*.sql; do
    "$work/sql" "$work/files.db" "$(cat "$script")" >/dev/null || die "$script does not run"
done
[ -z "$("$work/sql" "$work/files.db" "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")" ] ||
    die "the files left a table"
cp -r "$work/files" "$work/same"
expect 0 '' pawl schema print --dialect sqlite "${app[@]}" --files "$work/files"
diff -r "$work/files" "$work/same" || die "the second time others"
expect 0 '' pawl schema print --dialect sqlite "${app[@]}" --files "$work/kinds" --kind outbox
[ "$(ls "$work/kinds/drop")" = "$(printf '94_pawl_outbox_attempts.sql\n95_pawl_outbox.sql')" ] || die "other files"
rm -rf "$work/linked" && mkdir -p "$work/linked/create"
for script in "$work/files/create"/*.sql; do # of somebody who may write to the folder
    echo mine >"$work/victim"
    ln -s "$work/victim" "$work/linked/create/$(basename "$script").part"
    ln -s "$work/victim" "$work/linked/create/$(basename "$script")"
done
(umask 000 && exec "$build_dir/pawl" schema print --dialect sqlite "${app[@]}" --files "$work/linked") >"$work/out" 2>"$work/err" ||
    die "a link in the way stops it"
[ "$(cat "$work/victim")" = mine ] || die "a link was followed"
rm "$work/linked/create"/*.part
diff -r "$work/files" "$work/linked" || die "other files where links were"
[ -z "$(find "$work/linked" -type l -o -type f ! -perm 600 -o -type d -perm -022)" ] || die "others may read or write: $(ls -lR "$work/linked")"
expect 2 '^pawl: --files writes the files that drop as well' pawl schema print --dialect sqlite --files "$work/f" --drop
expect 2 "^pawl: make folder $work/no/f: No such file or directory$" pawl schema print --dialect sqlite --files "$work/no/f"
expect 2 'has no schemas' pawl schema print --dialect mysql --files "$work/f" --schema x
[ ! -e "$work/f" ] || die "a refused command made a folder"

echo "== a dry run says what apply would run, and runs nothing"
expect 0 '^create table if not exists "orders_OrderSaga"' pawl schema apply "${at[@]}" "${app[@]}" --dry-run
[ ! -e "$file" ] || die "a dry run made a database"
grep -q "^pawl: sqlite:$file: apply would run these statements; none was run\$" "$work/err" || die "it does not say so"
cp "$work/out" "$work/dry.sql"
: >"$work/dry.db"
"$work/sql" "$work/dry.db" "$(cat "$work/dry.sql")" || die "what it said does not run"
expect 0 '' pawl schema verify --store "sqlite:$work/dry.db" "${app[@]}"
expect 0 '' pawl schema apply --store "sqlite:$work/dry.db" "${app[@]}" --dry-run
[ ! -s "$work/out" ] || die "there is nothing to do, and it says a statement"
grep -q 'there is nothing to do$' "$work/err" || die "it does not say so"
"$work/sql" "$work/dry.db" 'ALTER TABLE pawl_queue DROP COLUMN History; UPDATE pawl_schema SET Version = 2'
expect 0 '^-- table pawl_queue: column History is missing$' pawl schema apply --store "sqlite:$work/dry.db" --dry-run
grep -q '^alter table "pawl_queue" add column "History"' "$work/out" || die "no column is added"
expect 1 'the schema has 2 differences' pawl schema verify --store "sqlite:$work/dry.db"
"$work/sql" "$work/dry.db" 'DROP TABLE orders_OrderSaga; CREATE TABLE orders_OrderSaga (x INTEGER)'
expect 4 'it is there without the column' pawl schema apply --store "sqlite:$work/dry.db" "${app[@]}" --dry-run
expect 2 '^pawl: memory: this store has no tables: there is no statement to say$' pawl schema apply --store memory: --dry-run
expect 2 'pawl schema verify has no option --dry-run: it is for apply$' pawl schema verify "${at[@]}" --dry-run

echo "== apply"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
grep -q ': the tables were made, or brought up to date$' "$work/err" || die "new tables are said to be there"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
grep -q ': the tables were there, nothing was to be done$' "$work/err" || die "it does not say that they were there"
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
expect 1 "run: pawl schema apply --store 'sqlite:$file' --app ${app[1]}\$" pawl schema verify "${at[@]}" "${app[@]}"
grep -q 'orders_OrderSaga' "$work/out" || die "the missing table is not named"
expect 4 "OrderSaga is missing .* run: pawl schema apply --store 'sqlite:$file' --app ${app[1]}\$" \
    pawl run "${app[1]}" "${at[@]}" --create no
expect 0 '' pawl schema verify "${at[@]}"
expect 0 '' pawl schema apply "${at[@]}" "${app[@]}"
expect 0 '' pawl schema verify "${at[@]}" "${app[@]}"

echo "== d30: columns of properties that went"
gone=(--store "sqlite:$work/gone.db")
cp "$file" "$work/gone.db"
"$work/sql" "$work/gone.db" 'ALTER TABLE orders_OrderSaga ADD COLUMN Correlation_gone TEXT'
expect 0 'column Correlation_gone is of no correlation property .* pawl schema apply --purge drops it$' \
    pawl schema verify "${gone[@]}" "${app[@]}"
expect 2 'pawl schema verify has no option --purge: it is for apply$' pawl schema verify --purge "${gone[@]}" "${app[@]}"
"$work/sql" "$work/gone.db" "INSERT INTO orders_OrderSaga (Id, Metadata, Data, PersistenceVersion, SagaTypeVersion,
    Concurrency, Correlation_gone) VALUES ('0190f5fe-0000-7000-8000-000000000001', '{}', '{}', '1', '1', 1, 'x')"
none='saga OrderSaga: in table orders_OrderSaga 1 row has a value of gone and none of order_id: no message would find'
expect 4 "$none" pawl run "${app[1]}" "${gone[@]}"
expect 4 "$none" pawl schema apply --purge "${gone[@]}" "${app[@]}"
expect 1 'the schema has 1 difference' pawl schema verify "${gone[@]}" "${app[@]}"
grep -q "$none" "$work/out" || die "verify does not say it"
"$work/sql" "$work/gone.db" 'DELETE FROM orders_OrderSaga'
expect 0 '' pawl schema apply --purge "${gone[@]}" "${app[@]}"
expect 0 '' pawl schema verify "${gone[@]}" "${app[@]}"
[ ! -s "$work/out" ] || die "the column is there still"

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
expect 1 "run: pawl schema apply --store 'sqlite:$file'\$" pawl schema verify "${at[@]}"

echo "== tables of an earlier version"
file=$work/old.db
at=(--store "sqlite:$file")
: >"$file"
"$work/sql" "$file" "$(cat "$PAWL_SOURCE_DIR/tests/contract/schema_1_sqlite.sql")" || die "the script does not run"
expect 4 'has version 1, this program needs version 5; run: pawl schema apply --store .sqlite:.*old.db.$' pawl stats "${at[@]}"
expect 1 'the schema has 17 differences' pawl schema verify "${at[@]}"
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
