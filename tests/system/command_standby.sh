#!/usr/bin/env bash
# command_standby.sh - what the command says of a PostgreSQL server that is a standby, which can only be read.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_server postgres
compgen -G '/usr/lib/postgresql/*/bin/pg_basebackup' >/dev/null || skip "no PostgreSQL to start here"
command -v psql >/dev/null || skip "no psql to talk to the servers with"

# The servers' user must be able to enter the folder of the data.
servers=$(mktemp -d /tmp/pawl-servers-XXXXXX)
chmod 755 "$servers"
# server VERB NAME PORT [PRIMARY-PORT]
server()
{
    "$source_dir/tests/servers/postgres.sh" "$1" "$servers/$2" "${@:3}" >"$work/server" 2>&1 ||
        die "$1 $2: $(cat "$work/server")"
}
finish_servers()
{
    local name
    for name in "$servers"/*; do
        "$source_dir/tests/servers/postgres.sh" crash "$name" 0 >/dev/null 2>&1
    done
    rm -rf "$servers"
    finish
}
trap finish_servers EXIT

first=$(free_port)
server start first "$first"
export PAWL_STORE=postgres://postgres@127.0.0.1:$first/postgres PAWL_DRIVER_PATH=$build_dir
pawl schema apply 2>"$work/err" || die "no schema"
second=$(free_port)
server follow second "$second" "$first"
export PAWL_STORE=postgres://postgres@127.0.0.1:$second/postgres

echo "== doctor says all that it found"
expect 1 'findings? must be dealt with$' pawl doctor --json
for line in '"rights","level":"ok"' '"server","level":"fail","text":"this server is a standby' '"fsync","level":"ok"' \
    '"pooler","level":"ok"' '"notify","level":"ok","text":"not used on a server that can only be read'; do
    grep -qF -- "$line" "$work/out" || die "doctor does not say $line"
done
! grep -q '"check":"driver"' "$work/out" || die "the look at the server was not ended"
