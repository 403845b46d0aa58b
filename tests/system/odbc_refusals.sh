#!/usr/bin/env bash
# odbc_refusals.sh - stores behind ODBC that cannot be opened: one line names the cause and the remedy, with the exit
# code of the kind of trouble, and no output has a password. Those that need a server are tried on MariaDB.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
export PAWL_DRIVER_PATH=$build_dir
driver=$build_dir/tests/support/driver/scripted_odbc.so
[ -e "$driver" ] || skip "built without unixODBC"

# refused CODE REGEX URL: by a verb that reads, one that writes and one that makes tables.
refused()
{
    local code=$1 regex=$2 url=$3 verb
    for verb in stats "send --to q --type t --body {}" "schema verify"; do
        # shellcheck disable=SC2086
        expect "$code" "$regex" pawl $verb --store "$url"
        [ "$(wc -l <"$work/err")" = 1 ] || die "more than one line: $url"
        ! grep -qE 'hush|sec;ret|S3cr' "$work/out" "$work/err" || die "a password is shown: $url"
    done
}

# scripted RULES: sets url to the scripted driver's, whose script has these rules.
scripted()
{
    scripts=$((scripts + 1))
    printf 'name libmaodbc.so\n%s\n' "$1" >"$work/script.$scripts"
    url="odbc:Driver=$driver;Script=$work/script.$scripts;UID=shop;PWD=hush?dialect=mysql"
}
scripts=0
session()
{
    printf '%s\n' "on select version()*" "  row '$1' session '16777216' '$2' '0' '4711'" "on set session *" "on *wsrep_on*" "  row null" \
        "on select left(sha2*" "  row 'id'" "on select table_name,*" "  columns 7"
}

echo "== configuration"
refused 2 "dialect is 'cobol', may be mysql" "odbc:shop?dialect=cobol"
refused 2 "'\?dialect=' is missing at the end: mysql, postgres, mssql or oracle" "odbc:DSN=shop;PWD=hush"
refused 2 "neither a data source nor a connection string" "odbc:?dialect=mysql"
refused 3 "no source .*pawl_none.*odbcinst -q -s|state IM002.*odbcinst -q -s" "odbc:pawl_none?dialect=mysql"
refused 3 "PWD=\*\*\*.*state IM002.*odbcinst -q -s" "odbc:DSN=pawl_none;PWD=hush?dialect=mysql"
refused 3 "Can't open lib '/nowhere.so'.*install the driver" "odbc:Driver=/nowhere.so;PWD=hush?dialect=mysql"
refused 3 "PWD=\*\*\*.*install the driver" "odbc:Driver=/nowhere.so;PWD={sec;ret?dialect=x};Server=h?dialect=mysql"
refused 3 "state IM002|Can't open lib" "odbc:Driver={pawl none};UID=a;PWD={S3cr{et};Database=b?dialect=mysql"
scripted "name libdb2o.so"
refused 2 "the driver is 'libdb2o.so', whose failures pawl cannot read" "$url"

echo "== as servers refuse"
scripted "$(printf 'on connect *\n  error 08S01 20009 Unable to connect: Adaptive Server is unavailable\n  error 08001 0 Unable to connect to data source')"
refused 3 "Adaptive Server is unavailable.*see that the server runs" "$url"
scripted "$(printf 'on connect *\n  error HY000 2002 No server there')"
refused 3 "No server there .*error 2002.*see that the server runs" "$url"
scripted "$(printf 'on connect *\n  error')"
refused 3 "no reason given .*see that the server runs" "$url"
scripted "$(printf 'on connect *\n  error HYT00 0 Login timeout expired')"
refused 3 "Login timeout expired.*see that the server runs" "$url"
scripted "$(printf 'on connect *\n  error 28000 1045 Access denied for user shop')"
refused 3 "Access denied .*error 1045.*user and password are right" "$url"
scripted "$(printf 'on connect *\n  error 42000 1044 Access denied to database shop')"
refused 3 "Access denied to database shop.*lets this user in" "$url"
scripted "$(printf 'on connect *\n  error 42000 1049 Unknown database shop')"
refused 3 "Unknown database shop.*make the database" "$url"
scripted "$(printf 'on connect *\n  error 08004 1040 Too many connections')"
refused 3 "Too many connections.*see that the server runs" "$url"
scripted "$(session 10.11.6-MariaDB '')"
refused 2 "no database: name one by Database=" "$url"
scripted "$(session 10.5.9-MariaDB shop)"
refused 3 "the server is .*10.5.9.*at least .*10.6.*is needed" "$url"
scripted "$(session 8.0.0 shop)"
refused 3 "the server is .*8.0.0.*at least .*8.0.1.*is needed" "$url"
scripted "$(printf "on *wsrep_on*\n  row '1'\n%s" "$(session 10.11.6-MariaDB shop)")"
refused 2 "the server is a node of a Galera cluster, which pawl reaches by mariadb:// alone" "$url"
scripted "$(session 10.11.6-MariaDB shop)"
expect 4 "table shop.pawl_schema is missing or incomplete; run: pawl schema apply --store .*" pawl stats --store "$url"
! grep -q hush "$work/out" "$work/err" || die "a password is shown: $url"
scripted "$(printf 'on select table_name,*\n  error 42000 1142 SELECT command denied to user shop\n%s' "$(session 10.11.6-MariaDB shop)")"
refused 3 "SELECT command denied to user shop .error 1142" "$url"

echo "== PostgreSQL"
# postgres RULES: sets url to a server's, behind the scripted driver.
postgres()
{
    scripts=$((scripts + 1))
    printf 'name psqlodbca.so\n%s\n' "$1" >"$work/script.$scripts"
    url="odbc:Driver=$driver;Script=$work/script.$scripts;UID=shop;PWD=hush?dialect=postgres"
}
postgres "$(printf 'on connect *\n  error 08001 101 FATAL: password authentication failed for user "shop"')"
refused 3 "password authentication failed .*state 08001.*user and password are right" "$url"
postgres "$(printf 'on connect *\n  error 08001 101 FATAL: database "shop" does not exist')"
refused 3 "does not exist .*state 08001.*that the database is there" "$url"
postgres "$(printf "on select pg_backend_pid()*\n  row session '130009' 'public'\non set client_encoding*")"
refused 3 "the server is PostgreSQL 13.*at least 14 is needed: name another" "$url"
postgres "$(printf 'on connect *\n  error 08001 101 Connection refused')"
refused 3 "Connection refused .*state 08001.*see that the server runs there" "$url"

echo "== SQL Server"
# mssql RULES: sets url to a server's, behind the scripted driver.
mssql()
{
    scripts=$((scripts + 1))
    printf 'name libtdsodbc.so\n%s\n' "$1" >"$work/script.$scripts"
    url="mssql://shop:hush@db/shop?driver=$driver&attributes=Script%3D$work/script.$scripts"
}
# mssql_session VERSION LEVEL
mssql_session()
{
    printf '%s\n' "on select case when cast*" "  row '$1' session '$2' 'shop'" "on set quoted_identifier*" "on select convert*" "  row 'id'" \
        "on select t.name, *" "  columns 7"
}
refused 3 "Can't open lib '/nowhere.so'.*install the driver" "mssql://shop:hush@db/shop?driver=/nowhere.so"
refused 3 "Can't open lib|state IM002" "mssql://shop:hush@db/shop?driver=pawl%20none"
refused 2 "unknown option 'encryption', known: attributes, create, driver" "mssql://shop:hush@db/shop?encryption=on"
refused 2 "no database is named: mssql://host/database" "mssql://shop:hush@db"
refused 2 "must be written as %25, %2F, %3F and %40|cannot be read" "mssql://shop:hu%sh@db/shop"
mssql "$(printf 'on connect *\n  error 08S01 20009 Adaptive Server is unavailable\n  error 08001 0 Unable to connect')"
refused 3 "mssql://shop:\*\*\*@db.*Adaptive Server is unavailable .*20009.*see that the server runs" "$url"
mssql "$(printf "on connect *\n  error 42000 18456 Login failed for user 'shop'\n  error 08001 0 Unable to connect")"
refused 3 "Login failed for user .*18456.*user and password are right" "$url"
mssql "$(printf 'on connect *\n  error 42000 4060 Cannot open database shop\n  error 08001 0 Unable to connect')"
refused 3 "Cannot open database shop.*make the database" "$url"
mssql "$(mssql_session 12 120)"
refused 3 "version 12, at least 13 .2016. is needed: name another server" "$url"
mssql "$(mssql_session 14 110)"
refused 3 "compatibility level 110, at least 130 is needed: alter database .shop. set compatibility_level = 130" "$url"
mssql "$(mssql_session 14 130)"
expect 4 "table dbo.pawl_schema is missing or incomplete; run: pawl schema apply --store .*" pawl stats --store "$url"
! grep -q hush "$work/out" "$work/err" || die "a password is shown"
mssql "$(printf 'on select t.name, *\n  error 42000 229 The SELECT permission was denied\n%s' "$(mssql_session 14 130)")"
refused 3 "SELECT permission was denied .error 229" "$url"

echo "== on MariaDB"
if [ -z "${PAWL_TEST_MARIADB:-}" ]; then
    need_server mariadb
fi
real=$(compgen -G '/usr/lib/*/odbc/libmaodbc.so' | head -n 1)
[ -n "$real" ] || skip "odbc-mariadb is not installed"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"
mysql_server mariadb
own_mysql odbc_refusals
[[ $PAWL_TEST_MARIADB =~ ^[a-z]+://([^@:/]+)@([^:/]+):([0-9]+)/ ]] || die "PAWL_TEST_MARIADB is $PAWL_TEST_MARIADB"
user=${BASH_REMATCH[1]} host=${BASH_REMATCH[2]} port=${BASH_REMATCH[3]}
# to ATTRIBUTES: the URL with these behind its own.
to()
{
    echo "odbc:Driver=$real;Server=$host;Port=$port;UID=$user;Database=$database$1?dialect=mysql"
}
refused 3 "error 2002.*see that the server runs" "$(to ';Port=1;PWD=hush')"
refused 3 "Access denied.*error 1045.*user and password are right" "$(to ';UID=nobody_here;PWD=hush')"
refused 3 "error 1045.*user and password are right" "$(to ';UID=nobody_here;PWD={sec;ret?dialect=x}')"
refused 3 "Unknown database.*error 1049.*make the database" "$(to ';Database=pawl_none')"
expect 4 "table $database.pawl_schema is missing or incomplete; run: pawl schema apply" pawl stats --store "$(to '')"
stranger=odbc_${database: -20}
sql "create user '$stranger'@'%' identified by 'S3cr;et'"
refused 3 "Access denied for user '$stranger'.*to database.*error 1044" "$(to ";UID=$stranger;PWD={S3cr;et}")"
expect 0 '' pawl schema apply --store "$(to '')"
sql "grant select on $database.pawl_schema to '$stranger'@'%'"
expect 3 "command denied to user '$stranger'" pawl stats --store "$(to ";UID=$stranger;PWD={S3cr;et}")"
! grep -q S3cr "$work/out" "$work/err" || die "a password is shown"
sql "drop user '$stranger'@'%'"
echo "ok"
