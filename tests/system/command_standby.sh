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
# worker ID PROCESS SEEN: the row of a worker. A process of 0 lives by its heartbeats.
worker()
{
    psql -XAtq "$PAWL_STORE" -c "insert into pawl_workers (\"Id\", \"Endpoint\", \"Types\", \"Epoch\", \"Process\", \
        \"Pid\", \"LastCommit\", \"Seen\", \"Messages\", \"Timeouts\", \"Flushes\", \"Failures\", \"Conflicts\", \"Dead\") \
        values ($1, 'desk', '[]', 1, $2, 0, null, $3, 0, 0, 0, 0, 0, 0)" || die "no worker"
}
worker "'00000000-0000-0000-0000-000000000001'" 77 "now() - interval '1 hour'"
worker "'00000000-0000-0000-0000-000000000002'" 0 "now() - interval '1 hour'"
[ -z "$(pawl worker list --json 2>/dev/null)" ] || die "a worker without a lock lives"
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

echo "== a worker lives whose row is there, as locks are not replicated"
pawl worker list --json >"$work/out" || die "no workers"
grep -q '^{"id":"[0-]*1"' "$work/out" || die "the worker with a lock is dead"
! grep -q '^{"id":"[0-]*2"' "$work/out" || die "a worker without a heartbeat lives"
expect 0 '^workers alive +1$' pawl stats
