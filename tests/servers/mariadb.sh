#!/usr/bin/env bash
# mariadb.sh - a MariaDB of the tests' own, of the packages mariadb-server-core and
# mariadb-client-core.
#
#   mariadb.sh start|stop|restart|crash DIR PORT
#
#   start    makes the data folder when it is not there, starts, prints the URL, of the database test
#   stop     ends every session and stops; a server that does not run is stopped
#   restart  stop and start
#   crash    ends it at once, as after a power cut; start recovers
#
# The user root needs no password. The server's character set stays what it is where nobody
# says one (latin1): a table that needs another has to ask for it.
#
# SPDX-License-Identifier: Apache-2.0
PATH=$PATH:/usr/sbin # where Debian puts the server, outside an ordinary user's path
# shellcheck source=tests/servers/mysqld.sh
. "$(dirname "${BASH_SOURCE[0]}")/mysqld.sh"

client()
{
    mariadb "$@"
}

server_make()
{
    mariadb-install-db --no-defaults "--user=$(id -un)" "--datadir=$1" \
        --auth-root-authentication-method=normal --skip-test-db
}

server_start()
{
    setsid mariadbd "${settings[@]}" --innodb-log-file-size=256M </dev/null >/dev/null 2>&1 &
}

run mariadb
