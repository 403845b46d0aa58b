#!/usr/bin/env bash
# command_find_mysql.sh - pawl find on MariaDB and MySQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

# run SERVER
run()
{
    local variable=PAWL_TEST_${1^^}
    mysql_server "$1"
    own_mysql find
    export PAWL_STORE=${!variable%/*}/$database?ssl-mode=disabled PAWL_DRIVER_PATH=$build_dir # hundreds of connections
    echo "==== $1"
    expect 0 "" pawl schema apply
    . "$source_dir/tests/support/find.sh"
}

run mysql
run mariadb
