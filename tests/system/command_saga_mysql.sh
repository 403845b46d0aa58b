#!/usr/bin/env bash
# command_saga_mysql.sh - pawl saga on MariaDB and MySQL.
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
    own_mysql saga
    store=${!variable%/*}/$database
    echo "==== $1"
    . "$source_dir/tests/support/upgrade.sh"
    . "$source_dir/tests/support/sagas.sh"
}

run mariadb
run mysql
