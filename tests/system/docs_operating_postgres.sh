#!/usr/bin/env bash
# docs_operating_postgres.sh - the questions of docs/OPERATING.md, asked of a PostgreSQL server.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_database operating
export PAWL_STORE=$url
sql() { psql -XAtq "$url" -c "$1" || die "no sql: $1"; }
ago() { echo "now() - interval '$1 seconds'"; }
# shellcheck source=tests/support/questions.sh
. "$source_dir/tests/support/questions.sh"
