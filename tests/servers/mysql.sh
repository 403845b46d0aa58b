#!/usr/bin/env bash
# mysql.sh - a MySQL of the tests' own, out of the folder that scripts/mysql_root.sh makes.
#
#   mysql.sh start|stop|restart|crash DIR PORT
#
# Verbs as in mariadb.sh. The user root needs no password.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=tests/servers/mysqld.sh
. "$(dirname "${BASH_SOURCE[0]}")/mysqld.sh"
# shellcheck source=scripts/mysql_root.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/mysql_root.sh"
root=$(mysql_root)

# Where things lie: it was built for other folders.
folders=("--basedir=$root/usr" "--plugin-dir=$root/usr/lib/mysql/plugin"
    "--character-sets-dir=$root/usr/share/mysql/charsets" "--lc-messages-dir=$root/usr/share/mysql"
    --secure-file-priv=NULL --mysqlx=OFF)

client()
{
    "$root/mysql" "$@"
}

server_make()
{
    "$root/mysqld" "${settings[@]}" "${folders[@]}" "--datadir=$1" --log-error="$dir/make.log" \
        --initialize-insecure
}

# The binary log is on by default, and stays it; a test's is of no use an hour later.
server_start()
{
    setsid "$root/mysqld" "${settings[@]}" "${folders[@]}" --innodb-redo-log-capacity=256M \
        --binlog-expire-logs-seconds=3600 </dev/null >/dev/null 2>&1 &
}

run mysql
