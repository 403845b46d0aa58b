#!/usr/bin/env bash
# rabbitmq.sh - a RabbitMQ of the tests' own on loopback, of the package rabbitmq-server. The machine's
# server, its Erlang cookie and its port mapper (epmd) are left alone.
#
#   rabbitmq.sh start|stop|restart|crash DIR PORT
#   rabbitmq.sh control DIR PORT WORD ...    rabbitmqctl on it
#   rabbitmq.sh eval DIR PORT EXPRESSION     prints what the expression of Erlang prints there. rabbitmqctl takes two
#                                            seconds of a core to start, this some milliseconds
#
#   start    makes what is not there, starts, prints the URL; PORT is AMQP, PORT + 1 Erlang's, PORT + 2
#            the port mapper's, PORT + 3 AMQP over TLS by the certificate DIR/tls/cert.pem, which is its own
#            authority and names localhost
#   stop     ends it; a server that does not run is stopped
#   restart  stop and start
#   crash    ends it at once, as after a power cut; start recovers
#
# For a node of a cluster (rabbitmq_cluster.sh) the environment says PAWL_RABBITMQ_NODE, the first part of its name,
# PAWL_RABBITMQ_MAPPER, the port of a port mapper that runs, and PAWL_RABBITMQ_CONFIG, a line more for its configuration.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

die()
{
    echo "rabbitmq.sh: $*" >&2
    exit 1
}

[ $# -ge 3 ] || die "usage: rabbitmq.sh start|stop|restart|crash|control|eval DIR PORT [WORD ...]"
verb=$1 dir=$2 port=$3
shift 3
mkdir -p "$dir/home" "$dir/logs" "$dir/data"
dir=$(cd "$dir" && pwd)

# The programs in this folder, as those in /usr/sbin switch to a user of the system.
sbin=$(compgen -G '/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin' | sort -V | tail -n 1)
[ -n "$sbin" ] || die "no RabbitMQ is installed"

# The node's name stays when the port changes, as the data belong to the name. `localhost` is
# known on a machine that does not know its own name.
export HOME="$dir/home" PAWL_RABBITMQ_FOLDER="$dir" RABBITMQ_NODENAME="${PAWL_RABBITMQ_NODE:-pawl}@localhost" \
    RABBITMQ_NODE_PORT="$port" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT=$((port + 1)) \
    ERL_EPMD_PORT="${PAWL_RABBITMQ_MAPPER:-$((port + 2))}" ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_MNESIA_BASE="$dir/data" \
    RABBITMQ_LOG_BASE="$dir/logs" RABBITMQ_ENABLED_PLUGINS_FILE="$dir/plugins" \
    RABBITMQ_CONFIG_FILE="$dir/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE="$dir/none" \
    LC_ALL=C.UTF-8 \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'

# The server, its helpers and its port mapper: all have the folder in their environment, as has this program.
pids()
{
    local file pid
    grep -lzxF "PAWL_RABBITMQ_FOLDER=$dir" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
        pid=${file//[^0-9]/}
        [ "$pid" = $$ ] || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = bash ] || echo "$pid"
    done
}

# server_pids: the Erlang machine that is the server.
server_pids()
{
    local pid
    for pid in $(pids); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != beam.smp ] || echo "$pid"
    done
}

is_gone()
{
    [ -z "$(server_pids)" ]
}

# It listens when everything else of it has started.
listens()
{
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

listens_or_ended()
{
    listens $((port + 3)) || ! kill -0 "$started" 2>/dev/null
}

# within_180_s COMMAND ...: until it succeeds.
within_180_s()
{
    local tries=900
    until "$@"; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.2
    done
}

make_certificate()
{
    mkdir -p "$dir/tls.new"
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$dir/tls.new/key.pem" \
        -out "$dir/tls.new/cert.pem" >"$dir/tls.log" 2>&1 ||
        { tail "$dir/tls.log" >&2; die "no certificate"; }
    mv "$dir/tls.new" "$dir/tls"
}

configure()
{
    [ -e "$dir/tls" ] || make_certificate
    echo '[].' >"$dir/plugins"
    cat >"$dir/rabbitmq.conf" <<END
listeners.tcp.1 = 127.0.0.1:$port
listeners.ssl.1 = 127.0.0.1:$((port + 3))
ssl_options.cacertfile = $dir/tls/cert.pem
ssl_options.certfile = $dir/tls/cert.pem
ssl_options.keyfile = $dir/tls/key.pem
ssl_options.verify = verify_none
disk_free_limit.absolute = 1MB
num_acceptors.tcp = 2
num_acceptors.ssl = 2
${PAWL_RABBITMQ_CONFIG:-}
END
}

start()
{
    if is_gone; then
        configure
        end_rest
        setsid "$sbin/rabbitmq-server" >"$dir/out" 2>&1 </dev/null &
        started=$!
        if ! within_180_s listens_or_ended || ! listens "$port"; then
            tail -n 20 "$dir/out" "$dir/logs/"*.log >&2
            end_rest
            die "it does not start in $dir at port $port"
        fi
    elif ! listens "$port"; then
        die "it runs in $dir at another port than $port"
    fi
    echo "amqp://guest:guest@127.0.0.1:$port/"
}

# What is left when the server is gone: the port mapper, helpers.
end_rest()
{
    local pid
    for pid in $(pids); do
        kill -KILL "$pid" 2>/dev/null || true
    done
}

# halt SIGNAL
halt()
{
    local pid
    for pid in $(server_pids); do
        kill "-$1" "$pid" 2>/dev/null || true
    done
    within_180_s is_gone || die "it does not stop in $dir"
    end_rest
}

case $verb in
start) start ;;
stop) halt TERM ;;
restart) halt TERM && start ;;
crash) halt KILL ;;
control) "$sbin/rabbitmqctl" -q "$@" ;;
eval)
    erl_call -address "localhost:$RABBITMQ_DIST_PORT" -c "$(cat "$dir/home/.erlang.cookie")" -timeout 600 \
        -fetch_stdout -no_result_term -e <<<"$1."
    ;;
*) die "unknown verb '$verb'" ;;
esac
