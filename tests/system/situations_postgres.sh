#!/usr/bin/env bash
# situations_postgres.sh - prepared situations on PostgreSQL: each is named, and the remedy mends it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
own_database situations_ten
export PAWL_STORE=$url
# The operator's own login.
PGUSER=$(sed -E 's|^[a-z]+://([^@:/]*).*|\1|' <<<"$url")
export PGUSER
sql() { psql -XAtq "$url" -c "$1" || die "no sql: $1"; }
ago() { echo "now() - interval '$1 seconds'"; }
# shellcheck disable=SC2034 # situations.sh reads it
is_server=yes
# shellcheck source=tests/support/situations.sh
. "$source_dir/tests/support/situations.sh"
