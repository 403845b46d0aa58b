#!/usr/bin/env bash
# rabbitmq_cluster.sh - three nodes of RabbitMQ on loopback that are one cluster, each as rabbitmq.sh runs it.
#
#   rabbitmq_cluster.sh start|stop|crash DIR PORT [NODE ...]   all nodes, or those: 1, 2, 3
#   rabbitmq_cluster.sh part|heal DIR PORT NODE                 cuts the node off the others, which keep their clients
#   rabbitmq_cluster.sh control DIR PORT NODE WORD ...          rabbitmqctl on the node
#
#   start    makes the cluster when it is not there, prints the URL of the three nodes. PORT is AMQP of node 1, PORT + 4 that of
#            node 2, PORT + 8 of node 3; PORT + 2 is the port mapper's of all
#   part     the others get another cookie, so that no connection between the two sides comes about again until heal
#
# The smaller side of a partition pauses, as RabbitMQ's own documentation advises for a cluster (pause_minority).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
usage="usage: rabbitmq_cluster.sh start|stop|crash|part|heal|control DIR PORT [NODE ...]"
[ $# -ge 3 ] || { echo "$usage" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
verb=$1 cluster=$2 first=$3
shift 3
mkdir -p "$cluster"
cluster=$(cd "$cluster" && pwd -P)
cookie=OFTHETESTSALONE

# node VERB NUMBER [WORD ...]
node()
{
    local how=$1 number=$2
    shift 2
    PAWL_RABBITMQ_NODE=pawl$number PAWL_RABBITMQ_MAPPER=$((first + 2)) \
        PAWL_RABBITMQ_CONFIG='cluster_partition_handling = pause_minority' \
        "$here/rabbitmq.sh" "$how" "$cluster/$number" $((first + 4 * (number - 1))) "$@"
}

# The port mapper is the cluster's, so that the end of a node does not take it from the others.
start_mapper()
{
    PAWL_RABBITMQ_FOLDER=$cluster ERL_EPMD_ADDRESS=127.0.0.1 epmd -port $((first + 2)) -names >/dev/null 2>&1 ||
        PAWL_RABBITMQ_FOLDER=$cluster ERL_EPMD_ADDRESS=127.0.0.1 epmd -port $((first + 2)) -daemon
}

stop_mapper()
{
    local file pid
    grep -lzxF "PAWL_RABBITMQ_FOLDER=$cluster" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
        pid=${file//[^0-9]/}
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != epmd ] || kill -KILL "$pid"
    done
}

start_node()
{
    local number=$1 home=$cluster/$1/home
    mkdir -p "$home"
    [ -e "$home/.erlang.cookie" ] || (umask 077 && printf %s "$cookie" >"$home/.erlang.cookie")
    node start "$number"
    [ "$number" = 1 ] || [ -e "$cluster/$number/is_joined" ] || join "$number"
}

join()
{
    node control "$1" stop_app
    node control "$1" reset
    node control "$1" join_cluster pawl1@localhost
    node control "$1" start_app
    touch "$cluster/$1/is_joined"
}

# cut NUMBER COOKIE: the node expects this cookie of the others, and gives it to them; then they part.
cut_off()
{
    local other
    for other in 1 2 3; do
        [ "$other" = "$1" ] || node control "$1" eval \
            "erlang:set_cookie('pawl$other@localhost', '$2'), erlang:disconnect_node('pawl$other@localhost')."
    done
}

case $verb in
control) node control "$@" && exit 0 || exit 1 ;;
part) cut_off "$1" ANOTHER >/dev/null ;;
heal) cut_off "$1" "$cookie" >/dev/null ;;
start)
    start_mapper
    for number in "${@:-1}"; do start_node "$number"; done >/dev/null
    [ $# -gt 0 ] || for number in 2 3; do start_node "$number"; done >/dev/null
    echo "amqp://guest:guest@127.0.0.1:$first,127.0.0.1:$((first + 4)),127.0.0.1:$((first + 8))/"
    ;;
stop | crash)
    [ $# -gt 0 ] || set -- 3 2 1
    for number; do node "$verb" "$number"; done
    [ $# -lt 3 ] || stop_mapper
    ;;
*) echo "$usage" >&2 && exit 1 ;;
esac
