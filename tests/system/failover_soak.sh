#!/usr/bin/env bash
# failover_soak.sh - a log is replayed on two PostgreSQL servers, a primary and its synchronous
# standby. In the middle the primary dies, or stands still, and the standby becomes the server:
# the report is the same.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
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
# signal_all FOLDER SIGNAL: to all processes of the server there.
signal_all()
{
    local folder
    for folder in /proc/[0-9]*; do
        [ ! "$folder/cwd" -ef "$1/data" ] || kill "-$2" "${folder#/proc/}"
    done
}
finish_servers()
{
    local name
    for name in "$servers"/*; do
        signal_all "$name" CONT # a server that stands still hears no other signal
        "$source_dir/tests/servers/postgres.sh" crash "$name" 0 >/dev/null 2>&1
    done
    rm -rf "$servers"
    finish
}
trap finish_servers EXIT

ask() # PORT STATEMENT
{
    psql -XAtq "postgres://postgres@127.0.0.1:$1/postgres" -c "$2"
}
is_synchronous() # PORT
{
    [ "$(ask "$1" "select sync_state from pg_stat_replication")" = sync ]
}

# pair NAME: a primary, $first, whose commits wait for its standby, $second.
pair()
{
    first=$(free_port)
    server start "$1-1" "$first"
    second=$(free_port)
    server follow "$1-2" "$second" "$first"
    ask "$first" "alter system set synchronous_standby_names = 'pawl'" &&
        ask "$first" "select pg_reload_conf()" >/dev/null || die "no synchronous replication"
    poll 30 is_synchronous "$first" || die "the standby does not follow"
    url="postgres://postgres@127.0.0.1:$first,127.0.0.1:$second/postgres?target_session_attrs=read-write"
}

log=$(shared receipt.csv)
counts=(8577 1434 1470 10 177)
if [ -z "$log" ]; then
    log=$example
    counts=(2331 300 327 9 51)
fi

# How many messages were handled: 0 until there are tables.
handled() # PORT
{
    local prefix
    prefix=$(ask "$1" "select left(tablename, -7) from pg_tables where tablename like 'replay%\_workers' limit 1")
    [ -n "$prefix" ] || { echo 0; return; }
    ask "$1" "select coalesce(sum(\"Messages\"), 0) from \"${prefix}workers\""
}
has_handled() # PORT COUNT
{
    [ "$(handled "$1" 2>/dev/null)" -ge "$2" ] 2>/dev/null
}

# What becomes of the primary: it dies, or its machine stands still and answers nothing.
dies()
{
    server crash "$@"
}
freezes()
{
    signal_all "$servers/$1" STOP
}

# fail_over NAME HOW: in the background, in the middle of the replay.
fail_over()
{
    poll 60 has_handled "$first" $((${counts[0]} / 3)) || return 1
    "$2" "$1-1" "$first"
    local at
    at=$(date +%s%N)
    server promote "$1-2" "$second"
    echo "$(handled "$second") messages handled at the fail-over, promoted in" \
        "$((($(date +%s%N) - at) / 1000000)) ms" >"$work/promoted"
}

# during NAME HOW KILLS ARGUMENT ...: a replay that has to be verified. An argument "=" is the URL.
during()
{
    local how=$2 kills=$3
    echo "== $1: the primary $how, $kills kills"
    pair "$1"
    fail_over "$1" "$how" &
    started+=($!)
    shift 3
    verify "${counts[@]}" "$kills" "$log" --batch-messages 16 --store "$url" "${@/#=/$url}"
    wait "${started[-1]}" || die "no fail-over"
    grep -q '; trying again$' "$work/err" || die "it never met the trouble"
    cat "$work/promoted"
    grep -E 'going on after' "$work/err" || die "it does not say that it goes on"
    cat "$work/out"
}

during plain dies 0
during archived dies 0 --archive =
during killed dies 5 --archive = --crash 5
during frozen freezes 0
