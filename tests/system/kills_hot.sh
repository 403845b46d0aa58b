#!/usr/bin/env bash
# kills_hot.sh - sagas that three processes want at the same time, of which twelve are killed: each message counts once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

need_sqlite
export PAWL_DRIVER_PATH=$build_dir PAWL_STORE=sqlite:$work/kills.db
messages=6000 us=100 pause=0.1 how=() is_hot=yes
. "$source_dir/tests/support/kills.sh"
messages=4000
if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_schema kills_hot
    PAWL_STORE=$store
    . "$source_dir/tests/support/kills.sh"
fi
for server in mariadb mysql; do
    variable=PAWL_TEST_${server^^}
    [ -n "${!variable:-}" ] || continue
    mysql_server "$server"
    own_mysql kills_hot
    PAWL_STORE=${!variable%/*}/$database
    . "$source_dir/tests/support/kills.sh"
done
