#!/usr/bin/env bash
# pgbouncer.sh - PgBouncer in transaction pooling, on loopback, in front of the
# PostgreSQL at PG_PORT.
#
#   pgbouncer.sh start|stop|crash DIR PORT PG_PORT
#
# start prints the URL; stop and crash (SIGKILL) cut its connections. Every
# database and every role of the server behind it is there, without password; the
# database `pgbouncer` takes its own commands (PAUSE, KILL, SHOW POOLS). PgBouncer
# does not run as root: started by root it runs as the user postgres, who must be
# able to enter DIR.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

die()
{
    echo "pgbouncer.sh: $*" >&2
    exit 1
}

[ $# = 4 ] || die "usage: pgbouncer.sh start|stop|crash DIR PORT PG_PORT"
verb=$1 dir=$2 port=$3 pg_port=$4
PATH=$PATH:/usr/sbin # where Debian puts it, outside an ordinary user's path

as_postgres()
{
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

# The process id in the file may be another program's by now.
is_running()
{
    pid=$(cat "$dir/pid" 2>/dev/null) || return 1
    tr '\0' ' ' <"/proc/${pid:-none}/cmdline" 2>/dev/null | grep -qF " $dir/pgbouncer.ini "
}

# 40 connections to the server carry up to 500 of the tests: a session's state
# (a lock, a setting, a prepared statement) does not stay with its client. What
# is not said is as users have it: a client that sends the start-up parameter
# `options` is refused, where ignoring it would hide that its settings are lost.
configure()
{
    echo '"postgres" ""' | as_postgres tee "$dir/users" >/dev/null
    as_postgres tee "$dir/pgbouncer.ini" >/dev/null <<END
[databases]
* = host=127.0.0.1 port=$pg_port auth_user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $dir/users
admin_users = postgres
pool_mode = transaction
max_client_conn = 500
default_pool_size = 40
logfile = $dir/log
pidfile = $dir/pid
END
}

# within_60_s COMMAND ...: until it succeeds.
within_60_s()
{
    local tries=1200
    until "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.05
    done
}

listens()
{
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

is_gone()
{
    ! is_running
}

start()
{
    if ! is_running; then
        configure
        as_postgres rm -f "$dir/pid"
        if ! as_postgres pgbouncer -d -q "$dir/pgbouncer.ini" || ! within_60_s is_running ||
            ! within_60_s listens; then
            tail -n 20 "$dir/log" >&2
            die "PgBouncer does not start in $dir at port $port"
        fi
    elif ! grep -qx "listen_port = $port" "$dir/pgbouncer.ini" ||
        ! grep -q " port=$pg_port " "$dir/pgbouncer.ini"; then
        die "PgBouncer runs in $dir already, at other ports than $port and $pg_port"
    fi
    echo "postgres://postgres@127.0.0.1:$port/postgres?pooler=transaction"
}

stop()
{
    is_running || return 0
    kill -TERM "$pid"
    within_60_s is_gone || kill -KILL "$pid"
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ "$(id -u)" != 0 ] || chown postgres "$dir"
cd / # the user postgres may not enter where we are
as_postgres test -w "$dir" || die "who runs PgBouncer may not write into $dir"
case $verb in
start) start ;;
stop) stop ;;
crash) ! is_running || kill -KILL "$pid" ;;
*) die "unknown verb '$verb'" ;;
esac
