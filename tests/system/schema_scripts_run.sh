#!/usr/bin/env bash
# schema_scripts_run.sh - the scripts in tests/golden/schema run as they are on SQLite and PostgreSQL, by
# psql there: twice and by two at once, and make tables that `schema verify` finds no difference in;
# a script that fails leaves nothing. MySQL and MariaDB: schema_scripts.sh.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
golden=$source_dir/tests/golden/schema
need_sqlite
build_sql

# verify DIALECT URL: the sagas are those of the scripts.
verify()
{
    "$build_dir/tests/contract/test_schema_scripts" verify "$1" "$2" >"$work/out" 2>"$work/err"
}

echo "== sqlite"
file=$work/golden.db
run_sqlite()
{
    "$work/sql" "$file" "$(cat "$golden/$1")" >/dev/null 2>"$work/err" || die "$1 does not run"
}
: >"$file"
run_sqlite sqlite.sql
verify sqlite "sqlite:$file" || die "the tables are not as they should be"
"$work/sql" "$file" "insert into shop_Int values ('i', '{}', '{}', '1', '1', 1, 7)" || die "no row"
run_sqlite sqlite.sql
verify sqlite "sqlite:$file" || die "the second run changed the tables"
[ "$("$work/sql" "$file" 'select Correlation_Number from shop_Int')" = 7 ] || die "the row is gone"
"$work/sql" "$file" 'drop index "Index_shop_Int_Correlation_Number"' || die "no such index"
! verify sqlite "sqlite:$file" || die "verify misses an index"
grep -q 'index Index_shop_Int_Correlation_Number is missing' "$work/out" || die "the index is not named"
run_sqlite sqlite_drop.sql
run_sqlite sqlite_drop.sql
[ -z "$("$work/sql" "$file" "select name from sqlite_schema where name not like 'sqlite_%'")" ] ||
    die "the script left a table"

echo "== postgres"
own_database schema_scripts
run_postgres()
{
    psql -XqAt -v ON_ERROR_STOP=1 -f "$golden/$1" "$url" >"$work/out" 2>"$work/err" ||
        die "$1 does not run"
    [ ! -s "$work/err" ] || die "$1 says something"
}
relations()
{
    psql -XqAt "$url" -c "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
}
run_postgres postgres.sql
verify postgres "$url" || die "the tables are not as they should be"
psql -XqAt "$url" -c "insert into \"shop_Int\" values (gen_random_uuid(), '{}', '{}', '1', '1', 1, 7)" ||
    die "no row"
run_postgres postgres.sql
verify postgres "$url" || die "the second run changed the tables"
[ "$(psql -XqAt "$url" -c 'select "Correlation_Number" from "shop_Int"')" = 7 ] || die "the row is gone"
psql -XqAt "$url" -c 'alter table "shop_Two" drop column "Correlation_OrderNumber"' || die "no such column"
! verify postgres "$url" || die "verify misses a column"
run_postgres postgres.sql
verify postgres "$url" || die "the column did not come back"
run_postgres postgres_drop.sql
run_postgres postgres_drop.sql
[ "$(relations)" = 0 ] || die "the script left a table"

psql -XqAt "$url" -c 'create view "shop_Text" as select 1 as "Id"' || die "no view"
! psql -XqAt -f "$golden/postgres.sql" "$url" >/dev/null 2>"$work/err" ||
    grep -q ERROR "$work/err" || die "a view is no table of a saga"
[ "$(relations)" = 1 ] || die "a script that failed left tables"
psql -XqAt "$url" -c 'drop view "shop_Text"' || die "no view"

psql -XqAt -v ON_ERROR_STOP=1 -f "$golden/postgres.sql" "$url" >"$work/one" 2>&1 &
one=$!
psql -XqAt -v ON_ERROR_STOP=1 -f "$golden/postgres.sql" "$url" >"$work/two" 2>&1 &
two=$!
wait "$one" && wait "$two" || { cat "$work/one" "$work/two"; die "one of two fails"; }
verify postgres "$url" || die "two at once made other tables"
