#!/usr/bin/env bash
# replay_postgres_soak.sh - pawl-replay on a PostgreSQL of its own that is
# restarted, and crashes, while a log is replayed and killed on it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
need_server postgres
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || skip "no PostgreSQL to start here"
command -v psql >/dev/null || skip "no psql to end sessions with"

# The servers' user must be able to enter the folder of the data, and those of TMPDIR may be
# closed to it.
servers=$(mktemp -d /tmp/pawl-servers-XXXXXX)
chmod 755 "$servers"
port=$(free_port)
server()
{
    "$source_dir/tests/servers/postgres.sh" "$1" "$servers/postgres" "$port" >"$work/server" 2>&1
}
pooler_port=$(free_port)
pooler()
{
    "$source_dir/tests/servers/pgbouncer.sh" "$1" "$servers/pgbouncer" "$pooler_port" "$port" \
        >"$work/pooler" 2>&1
}
finish_server()
{
    [ ! -e "$servers/pgbouncer" ] || pooler crash
    server crash
    rm -rf "$servers"
    finish
}
trap finish_server EXIT
server start || die "no server: $(cat "$work/server")"
url=$(cat "$work/server")

log=$(shared receipt.csv)
counts=(8577 1434 1470 10 177)
if [ -z "$log" ]; then
    log=$example
    counts=(2331 300 327 9 51)
fi

restart()
{
    server restart
}
crash()
{
    server crash
    sleep 0.5
    server start
}
outage()
{
    server stop
    sleep 4
    server start
}
end_sessions()
{
    psql -XAtq "$url" -c "select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()" >/dev/null
}

# trouble COMMAND SECONDS TIMES: in the background.
trouble()
{
    local times=$3
    while [ $((times--)) -gt 0 ]; do
        sleep "$2"
        "$1"
    done
}

# during COMMAND SECONDS TIMES KILLS ARGUMENT ...: a replay that has to be verified.
during()
{
    echo "== $1, $4 kills"
    trouble "$1" "$2" "$3" &
    started+=($!)
    local kills=$4
    shift 4
    verify "${counts[@]}" "$kills" "$log" "$@"
    wait "${started[-1]}"
    grep -q '; trying again$' "$work/err" || die "it never met the trouble"
    grep -qE '^pawl-replay: going on after [0-9.]+ s$' "$work/err" ||
        die "it does not say that it goes on"
}

echo "== quiet"
verify "${counts[@]}" 0 "$log" --store "$url" --archive "$url"
verify "${counts[@]}" 10 "$log" --crash 10 --store "$url" --archive "$url"
verify "${counts[@]}" 10 "$log" --crash 10 --store "$url"

few=(--batch-messages 16 --store "$url" --archive "$url")
during end_sessions 0.2 30 0 "${few[@]}"
during restart 0.7 5 0 "${few[@]}"
during crash 0.7 5 0 "${few[@]}"
during outage 1 3 0 "${few[@]}"
during end_sessions 0.2 30 10 --crash 10 "${few[@]}"
during restart 0.7 5 10 --crash 10 "${few[@]}"
during crash 0.7 5 10 --crash 10 "${few[@]}"
# The outbox of a store that is well, to an archive that is not.
during end_sessions 0.1 10 0 --batch-messages 8 --archive "$url"

# A pooler's server sessions end; its clients' do. A killed process is known to be
# dead after 15 s only.
if [ -x /usr/sbin/pgbouncer ]; then
    pooler start || die "no pooler: $(cat "$work/pooler")"
    pooled=$(cat "$work/pooler")
    during end_sessions 0.4 10 0 --batch-messages 16 --store "$pooled" --archive "$pooled"
    echo "== pooled, 2 kills"
    verify "${counts[@]}" 2 "$log" --crash 2 --store "$pooled" --archive "$pooled"
fi
left=$(psql -XAtq "$url" -c "select count(*) from pg_tables where tablename like 'replay%'")
[ "$left" = 0 ] || die "$left tables were left"
