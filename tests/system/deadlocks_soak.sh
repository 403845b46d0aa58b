#!/usr/bin/env bash
# deadlocks_soak.sh - two processes that work one store, on MariaDB and MySQL: of 1,000 messages no
# more than one meets a deadlock, by the server's own count.
#
#   PAWL_TEST_TRANSFERS=N bash deadlocks_soak.sh     fewer than those of 20,000 messages
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/transfer.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"
transfers=${PAWL_TEST_TRANSFERS:-5000}
messages=$((transfers * 4)) # start, debit, credit and its answer, of a transfer that nothing stops

declare -A counter=(
    [mariadb]="select variable_value from information_schema.global_status where variable_name = 'innodb_deadlocks'"
    [mysql]="select count from information_schema.innodb_metrics where name = 'lock_deadlocks'"
)

# run SERVER
run()
{
    local before after variable=PAWL_TEST_${1^^}
    mysql_server "$1"
    own_mysql deadlocks
    before=$(sql "${counter[$1]}")
    moves "$transfers" 0 --runners 2 --store "${!variable%/*}/$database"
    after=$(sql "${counter[$1]}")
    echo "$1: $((after - before)) deadlocks, $messages messages"
    [ $(((after - before) * 1000)) -le "$messages" ] || die "$1: more than one deadlock in 1,000 messages"
}

run mariadb
run mysql
