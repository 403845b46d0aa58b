#!/usr/bin/env bash
# docs_operating.sh - the questions of docs/OPERATING.md, asked of an SQLite store.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/operating.db
sql() { "$work/sql" "$work/operating.db" "$1" || die "no sql: $1"; }
ago() { echo "$((($(date +%s) - $1) * 1000000))"; }
# shellcheck source=tests/support/questions.sh
. "$source_dir/tests/support/questions.sh"
