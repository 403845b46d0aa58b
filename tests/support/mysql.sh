# mysql.sh - databases of a test's own on MariaDB and MySQL. Sourced, after command.sh.
#
#   mysql_server NAME    mariadb or mysql: the server of PAWL_TEST_MARIADB or PAWL_TEST_MYSQL
#   own_mysql NAME       a database of this test's own there, dropped at the end of the test
#   sql STATEMENTS       runs them in it by the server's own client; without header, tabs between
#   sql_refused CODE STATEMENT   the server refuses it, with that error
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck source=scripts/mysql_root.sh
. "$source_dir/scripts/mysql_root.sh"
mysql_databases=()

# A URL without password: that of a server of the tests.
mysql_server()
{
    local variable=PAWL_TEST_${1^^} login program=$1
    need_server "$1"
    [ "$1" != mysql ] || program=$(mysql_root)/mysql
    command -v "$program" >/dev/null || program=mysql
    command -v "$program" >/dev/null || skip "no client to talk to $1 with"
    login=${!variable#*://}
    [[ $login =~ ^([^@:/]+)@([^:/]+):([0-9]+)/ ]] || die "$variable is ${!variable}"
    mysql_client=("$program" --no-defaults -u "${BASH_REMATCH[1]}" -h "${BASH_REMATCH[2]}"
        -P "${BASH_REMATCH[3]}")
}

sql()
{
    "${mysql_client[@]}" --default-character-set=utf8mb4 -N -B "$database" -e "$1" </dev/null
}

sql_refused()
{
    ! sql "$2" >"$work/out" 2>"$work/err" || die "it was done: $2"
    grep -q "^ERROR $1 " "$work/err" || die "another error than $1: $2"
}

own_mysql()
{
    database=$(own_name "$1")
    "${mysql_client[@]}" -e "create database $database" || die "no database on the server"
    mysql_databases+=("$database")
}

mysql_finish()
{
    local one
    for one in "${mysql_databases[@]}"; do
        "${mysql_client[@]}" -e "drop database if exists $one"
    done
    mysql_databases=()
    database='' # finish would look for it on PostgreSQL
}
trap 'mysql_finish; finish' EXIT
