#!/usr/bin/env bash
# deaths_mariadb.sh - a handler that kills its process on some messages, on MariaDB: these become dead letters,
# all others are handled once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

mysql_server mariadb
own_mysql deaths
export PAWL_STORE=${PAWL_TEST_MARIADB%/*}/$database PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
messages=60 apart=60 seconds=60
. "$source_dir/tests/support/deaths.sh"
