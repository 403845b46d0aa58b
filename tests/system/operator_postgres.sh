#!/usr/bin/env bash
# operator_postgres.sh - situations that an operator meets, on a PostgreSQL of its own, which crashes: what why,
# doctor and stats say of each.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_psql
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || skip "no PostgreSQL to start here"
# The servers' user must be able to enter the folder of the data.
servers=$(mktemp -d /tmp/pawl-servers-XXXXXX)
chmod 755 "$servers"
port_of_server=$(free_port)
server()
{
    "$source_dir/tests/servers/postgres.sh" "$1" "$servers/postgres" "$port_of_server" >"$work/server" 2>&1
}
finish_server()
{
    server crash
    rm -rf "$servers"
    finish
}
trap finish_server EXIT
server start || die "no server: $(cat "$work/server")"
url=$(cat "$work/server")
export PAWL_STORE=$url
sql() { psql -XAtq "$url" -c "$1" || die "no sql: $1"; }
crash() { server crash || die "the server does not end: $(cat "$work/server")"; }
recover() { server start || die "the server does not start again: $(cat "$work/server")"; }
role=${url/postgres@/shop@}
take_right()
{
    sql 'create role shop login' >/dev/null
    pawl schema print --dialect postgres --rights worker --to shop "${app[@]}" 2>/dev/null | psql -XAtq "$url" >/dev/null ||
        die "no rights"
    sql 'revoke insert on pawl_timeouts from shop' >/dev/null
}
give_right() { sql 'grant insert on pawl_timeouts to shop' >/dev/null; }
# shellcheck source=tests/support/operator.sh
. "$source_dir/tests/support/operator.sh"
