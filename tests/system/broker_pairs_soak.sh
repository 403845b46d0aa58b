#!/usr/bin/env bash
# broker_pairs_soak.sh - as broker_pairs.sh, of 1,000 pairs each, on SQLite, PostgreSQL and MariaDB, with 20 cuts of the
# connections. E3.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"
# shellcheck source=tests/support/broker_pairs.sh
. "$source_dir/tests/support/broker_pairs.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

need_sqlite
mysql_server mariadb
pairs_begin
trap 'mysql_finish; rabbit_end' EXIT

all_of()
{
    export PAWL_STORE=$2
    pairs_start "$1"
    for gap in 10 3 0; do
        pairs_run 1000 $gap
    done
    pairs_run 1000 3 cut 20
    pairs_run 1000 0 replace 15
    pairs_run 1000 0 replace 9
    pairs_end
}

all_of on_sqlite "sqlite:$work/pairs.db"
own_mysql broker_pairs
all_of on_mariadb "${PAWL_TEST_MARIADB%/*}/$database"
mysql_finish
own_schema broker_pairs
all_of on_postgres "$store"
