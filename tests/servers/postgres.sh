#!/usr/bin/env bash
# postgres.sh - a PostgreSQL of the tests' own: on loopback, with a data folder
# and a port of its own. The machine's own clusters are left alone.
#
#   postgres.sh start|stop|restart|crash|promote DIR PORT
#   postgres.sh follow DIR PORT PRIMARY-PORT
#
#   start    makes the data folder when it is not there, starts, prints the URL
#   stop     ends every session and stops; a server that does not run is stopped
#   restart  stop and start
#   crash    stops without a checkpoint, as after a power cut; start recovers
#   follow   makes the data folder a copy of the server at PRIMARY-PORT, starts it as its
#            standby `pawl`, prints the URL; whoever wants to wait for it says so there
#            (synchronous_standby_names)
#   promote  makes a standby a server of its own
#
# The URL's user postgres needs no password and may do anything. PostgreSQL does
# not run as root: started by root it runs as the user postgres, who must be able
# to enter DIR.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

die()
{
    echo "postgres.sh: $*" >&2
    exit 1
}

[ $# = 3 ] || { [ $# = 4 ] && [ "$1" = follow ]; } ||
    die "usage: postgres.sh start|stop|restart|crash|promote DIR PORT | follow DIR PORT PRIMARY-PORT"
verb=$1 dir=$2 port=$3 primary=${4:-}
export PGCTLTIMEOUT=120 # recovery after a crash may have a lot to read

as_postgres()
{
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

# The programs of the version that made the data folder; the newest for a new one.
find_programs()
{
    local version='*'
    [ ! -e "$data/PG_VERSION" ] || version=$(cat "$data/PG_VERSION")
    bin=$(compgen -G "/usr/lib/postgresql/$version/bin" | sort -V | tail -n 1)
    [ -n "$bin" ] || die "no PostgreSQL ${version/\*/} in /usr/lib/postgresql" \
        "(if another version made $dir, remove that folder)"
}

# A process id outlives its server in the file, and may be another program's by
# now. The server and its sessions work in the data folder: that tells.
is_running()
{
    local pid
    pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || return 1
    [ "/proc/${pid:-none}/cwd" -ef "$data" ]
}

is_used()
{
    local folder
    for folder in /proc/[0-9]*/cwd; do
        [ ! "$folder" -ef "$data" ] || return 0
    done
    return 1
}

# PostgreSQL trusts a stale file when its number is in use again, or belongs to a
# zombie. It must stay until the sessions of a killed server are gone as well.
forget_killed_server()
{
    local tries=100
    while is_used; do
        [ $((tries--)) -gt 0 ] || die "processes of a killed server still work in $data"
        sleep 0.1
    done
    as_postgres rm -f "$data/postmaster.pid"
}

# Text sorts by language where no collation is said, as in most real databases:
# a column that needs the order of bytes has to ask for it. The folder gets its
# name when it is complete, so a start that was killed leaves nothing half made.
make_data()
{
    as_postgres rm -rf "$data.new"
    as_postgres "$bin/initdb" -D "$data.new" -U postgres -A trust -E UTF8 --locale=C.UTF-8 \
        --locale-provider=icu --icu-locale=en >/dev/null
    echo "include 'pawl.conf'" | as_postgres tee -a "$data.new/postgresql.conf" >/dev/null
    as_postgres mv "$data.new" "$data"
}

# A copy is complete when it has its name, too. The port is in pawl.conf, which is written anew.
copy_data()
{
    [ ! -e "$data/PG_VERSION" ] || die "there are data in $dir already"
    as_postgres rm -rf "$data.new"
    as_postgres "$bin/pg_basebackup" -D "$data.new" -R -X stream -c fast \
        -d "host=127.0.0.1 port=$primary user=postgres application_name=pawl" >&2
    as_postgres mv "$data.new" "$data"
}

# Everything else is the default, fsync above all. 128 MB of buffers and 1 GB of
# log are small for any server in use: with them the tests and the bench would
# time evictions and checkpoints that come every few seconds. A session whose
# statements are to be counted says so: those of all tests would be too many.
configure()
{
    as_postgres tee "$data/pawl.conf" >/dev/null <<END
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
port = $port
max_connections = 200
max_prepared_transactions = 10
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.track = none
shared_buffers = 256MB
max_wal_size = 2GB
END
}

start()
{
    [ -e "$data/PG_VERSION" ] || make_data
    if ! is_running; then
        configure
        forget_killed_server
        as_postgres "$bin/pg_ctl" -D "$data" -l "$dir/log" -w start >/dev/null 2>&1 ||
            { tail -n 20 "$dir/log" >&2; die "PostgreSQL does not start in $dir at port $port"; }
    elif [ "$(sed -n 4p "$data/postmaster.pid")" != "$port" ]; then
        die "PostgreSQL runs in $dir at port $(sed -n 4p "$data/postmaster.pid"), not $port"
    fi
    echo "postgres://postgres@127.0.0.1:$port/postgres"
}

# halt MODE
halt()
{
    ! is_running || as_postgres "$bin/pg_ctl" -D "$data" -m "$1" -w stop >/dev/null
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd) data=$dir/data
[ "$(id -u)" != 0 ] || chown postgres "$dir"
cd / # the user postgres may not enter where we are
as_postgres test -w "$dir" || die "who runs PostgreSQL may not write into $dir"
find_programs
case $verb in
start) start ;;
follow) copy_data && start ;;
promote) as_postgres "$bin/pg_ctl" -D "$data" -w promote >/dev/null ;;
stop) halt fast ;;
restart) halt fast && start ;;
crash) halt immediate ;;
*) die "unknown verb '$verb'" ;;
esac
