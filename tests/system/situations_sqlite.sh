#!/usr/bin/env bash
# situations_sqlite.sh - the prepared situations that a store without a server can be in, on SQLite.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/situations.db
sql() { "$work/sql" "$work/situations.db" "$1" || die "no sql: $1"; }
ago() { echo "$((($(date +%s) - $1) * 1000000))"; }
# shellcheck disable=SC2034 # situations.sh reads it
is_server=no
# shellcheck source=tests/support/situations.sh
. "$source_dir/tests/support/situations.sh"
