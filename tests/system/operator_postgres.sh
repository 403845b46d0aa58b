#!/usr/bin/env bash
# operator_postgres.sh - situations that an operator meets, on PostgreSQL: what why, doctor and stats say of each.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_database operator
export PAWL_STORE=$url
sql() { psql -XAtq "$url" -c "$1" || die "no sql: $1"; }
crash()
{
    sql "select pg_terminate_backend(pid) from pg_stat_activity where datname = '$database' and pid <> pg_backend_pid()" >/dev/null
}
# shellcheck source=tests/support/operator.sh
. "$source_dir/tests/support/operator.sh"
