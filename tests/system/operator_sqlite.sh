#!/usr/bin/env bash
# operator_sqlite.sh - situations that an operator meets, on SQLite: what why, doctor and stats say of each.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/operator.db
sql() { "$work/sql" "$work/operator.db" "$1" || die "no sql: $1"; }
# shellcheck source=tests/support/operator.sh
. "$source_dir/tests/support/operator.sh"
