#!/usr/bin/env bash
# mongodb.sh - a server of the MongoDB protocol of the tests' own, on loopback: DocumentDB, out of the folder
# that scripts/mysql_root.sh makes, behind mongodb_gateway.py.
#
#   mongodb.sh start|stop|restart|crash DIR PORT
#
#   start    makes the data folder when it is not there (two seconds), starts, prints the URL
#   stop     ends every session and stops; a server that does not run is stopped
#   restart  stop and start
#   crash    kills all of it; start recovers
#
# Everybody may do everything without a password. Beside the replica set at PORT the same data is there at PORT+2
# as a standalone server, at PORT+3 as a replica set of MongoDB 3.6, at PORT+4 as the router of a sharded cluster.
# At PORT+1 is PostgreSQL, which does not run as root: started by root it runs as the user postgres, who must be
# able to enter DIR.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/mysql_root.sh
. "$scripts/../../scripts/mysql_root.sh"
programs=$(mysql_root)/pg

die()
{
    echo "mongodb.sh: $*" >&2
    exit 1
}

[ $# = 3 ] || die "usage: mongodb.sh start|stop|restart|crash DIR PORT"
verb=$1 dir=$2 port=$3
engine="host=127.0.0.1 port=$((port + 1)) user=postgres dbname=postgres"

as_postgres()
{
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

# within_60_s COMMAND ...: until it succeeds.
within_60_s()
{
    local tries=600
    until "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.1
    done
}

# pids FOLDER: the processes that work in it.
pids()
{
    local folder
    for folder in /proc/[0-9]*/cwd; do
        [ ! "$folder" -ef "$1" ] || basename "$(dirname "$folder")"
    done
}

is_gone()
{
    [ -z "$(pids "$data")$(pids "$dir/gateway")" ]
}

listens()
{
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

# A start that cannot succeed is not waited for.
listens_or_ended()
{
    listens || ! kill -0 "$gateway" 2>/dev/null
}

# The folder gets its name when it is complete. A text's order is that of its bytes, as in MongoDB.
make_data()
{
    as_postgres rm -rf "$data.new"
    as_postgres "$programs/initdb" -D "$data.new" -U postgres -A trust -E UTF8 --no-locale >"$dir/make.log" 2>&1 ||
        { tail -n 20 "$dir/make.log" >&2; die "no data folder in $dir"; }
    echo "include 'pawl.conf'" | as_postgres tee -a "$data.new/postgresql.conf" >/dev/null
    as_postgres mv "$data.new" "$data"
}

configure()
{
    as_postgres tee "$data/pawl.conf" >/dev/null <<END
shared_preload_libraries = 'pg_cron, pg_documentdb_core, pg_documentdb'
cron.database_name = 'postgres'
# The gateway builds indexes at once; a look for others each second is a process each.
cron.launch_active_jobs = off
documentdb.enableBackgroundWorker = off
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
port = $((port + 1))
max_connections = 300
shared_buffers = 128MB
max_wal_size = 2GB
END
}

start_engine()
{
    [ -e "$data/PG_VERSION" ] || make_data
    configure
    as_postgres rm -f "$data/postmaster.pid"
    as_postgres "$programs/pg_ctl" -D "$data" -l "$dir/log" -w -t 120 start >/dev/null 2>&1 ||
        { tail -n 20 "$dir/log" >&2; die "DocumentDB does not start in $dir at port $((port + 1))"; }
    "$programs/psql" -q "$engine" \
        -c 'SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS documentdb CASCADE' >&2
}

# MongoDB gives a transaction of a killed client a minute, in which its documents are held; the tests give it twenty seconds.
# Python is the system's, which has the packages bson and psycopg2.
start_gateway()
{
    mkdir -p "$dir/gateway"
    cd "$dir/gateway"
    setsid /usr/bin/python3 "$scripts/mongodb_gateway.py" --transaction-seconds 20 "replica:$port" \
        "standalone:$((port + 2))" "old:$((port + 3))" "mongos:$((port + 4))" "$engine" \
        </dev/null >"$dir/gateway/log" 2>&1 &
    gateway=$!
    within_60_s listens_or_ended && listens ||
        { tail -n 20 "$dir/gateway/log" >&2; die "the gateway does not start in $dir at port $port"; }
}

start()
{
    if is_gone; then
        start_engine
        start_gateway
    elif ! listens || ! grep -qx "port = $((port + 1))" "$data/pawl.conf"; then
        die "a server works in $dir already, at another port than $port"
    fi
    echo "mongodb://127.0.0.1:$port/test?replicaSet=rs0"
}

# halt GATEWAY-SIGNAL ENGINE-SIGNAL. The gateway ignores INT, as all that a script starts in the background.
halt()
{
    local pid
    for pid in $(pids "$dir/gateway"); do
        kill "-$1" "$pid" 2>/dev/null || true
    done
    for pid in $(pids "$data"); do
        kill "-$2" "$pid" 2>/dev/null || true
    done
    within_60_s is_gone || die "it does not stop in $dir"
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd) data=$dir/data
[ "$(id -u)" != 0 ] || chown postgres "$dir"
cd / # the user postgres may not enter where we are
as_postgres test -w "$dir" || die "who runs PostgreSQL may not write into $dir"
case $verb in
start) start ;;
stop) halt TERM INT ;;
restart) halt TERM INT && start ;;
crash) halt KILL KILL ;;
*) die "unknown verb '$verb'" ;;
esac
