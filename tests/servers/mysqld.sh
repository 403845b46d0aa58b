# mysqld.sh - what mariadb.sh and mysql.sh have in common: a server of the tests' own on
# loopback, with a data folder and a port of its own. The machine's servers are left alone.
# Sourced, by the program that then has the arguments VERB DIR PORT and defines
#
#   server_make FOLDER   makes the data folder
#   server_start         starts the server, in the background, with $settings
#   client ARGUMENT ...  its command-line client
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
set -eu

die()
{
    echo "$(basename "$0"): $*" >&2
    exit 1
}

[ $# = 3 ] || die "usage: $(basename "$0") start|stop|restart|crash DIR PORT"
verb=$1 dir=$2 port=$3
mkdir -p "$dir"
dir=$(cd "$dir" && pwd) data=$dir/data

# What is not said is the default, the log flushed at each commit above all. The buffers and the log
# are small for any server in use: with the defaults the tests and the bench would time
# evictions and checkpoints. Root may start it, and then it runs as root.
# shellcheck disable=SC2034 # the sourcing program's
settings=(--no-defaults "--user=$(id -un)" "--datadir=$data" "--port=$port"
    --bind-address=127.0.0.1 "--socket=$dir/socket" "--pid-file=$dir/pid" "--log-error=$dir/log.err"
    --max-connections=200 --innodb-buffer-pool-size=256M --max-allowed-packet=64M)

# A process id may be another program's by now. The server works in its data folder.
is_running()
{
    local pid
    pid=$(cat "$dir/pid" 2>/dev/null) || return 1
    [ "/proc/${pid:-none}/cwd" -ef "$data" ]
}

# Its file of the process id may be gone, or not be there yet.
server_pids()
{
    local folder
    for folder in /proc/[0-9]*/cwd; do
        [ ! "$folder" -ef "$data" ] || basename "$(dirname "$folder")"
    done
}

is_gone()
{
    [ -z "$(server_pids)" ]
}

# within_120_s COMMAND ...: until it succeeds. Recovery may have a lot to read.
within_120_s()
{
    local tries=1200
    until "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.1
    done
}

ask()
{
    client --no-defaults -h 127.0.0.1 -P "$port" -u root "$@" </dev/null
}

# By a change: a node of a cluster reads before it may be used.
answers()
{
    ask -e 'create database if not exists test' >/dev/null 2>&1
}

# One that cannot start is not waited for.
answers_or_ended()
{
    answers || ! kill -0 "$started" 2>/dev/null
}

# The folder gets its name when it is complete: a start that was killed leaves nothing half made.
make_data()
{
    rm -rf "$data.new"
    server_make "$data.new" >"$dir/make.log" 2>&1 || { tail -n 20 "$dir/make.log" >&2; die "no data folder in $dir"; }
    mv "$data.new" "$data"
}

start()
{
    [ -e "$data" ] || make_data
    if ! is_running; then
        [ -z "$(server_pids)" ] || die "processes of another server work in $data"
        rm -f "$dir/pid"
        server_start
        started=$!
        within_120_s answers_or_ended && answers ||
            { tail -n 20 "$dir/log.err" >&2; die "it does not start in $dir at port $port"; }
    fi
    answers || die "it runs in $dir at another port than $port"
    echo "$1://root@127.0.0.1:$port/test"
}

# halt SIGNAL
halt()
{
    local pid
    for pid in $(server_pids); do
        kill "-$1" "$pid" 2>/dev/null || true
    done
    within_120_s is_gone || die "it does not stop in $dir"
}

# run SCHEME
run()
{
    case $verb in
    start) start "$1" ;;
    stop) halt TERM ;;
    restart) halt TERM && start "$1" ;;
    crash) halt KILL ;;
    *) die "unknown verb '$verb'" ;;
    esac
}
