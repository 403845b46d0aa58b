#!/usr/bin/env bash
# galera.sh - a cluster of three MariaDB servers that replicate by Galera (the packages of
# mariadb.sh and galera-4), on loopback.
#
#   galera.sh start|stop|restart|crash DIR PORT [NODE]
#
# Verbs as in mariadb.sh; with NODE (1 to 3) they are about that node alone, and a start
# prints the URL all the same. It has the ports PORT to PORT + 8: those of clients, then of the
# group, then of changes that a node missed.
#
# Where no node runs, a start makes a new cluster of the first one's data; the others are filled from
# it. A node that comes back gets what it missed, or, after a crash, the whole data anew.
#
# SPDX-License-Identifier: Apache-2.0
PATH=$PATH:/usr/sbin # where Debian puts the server, outside an ordinary user's path
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage='usage: galera.sh start|stop|restart|crash DIR PORT [1|2|3]'
[[ $# -ge 3 && $# -le 4 && ${4:-1} == [123] ]] || { echo "$usage" >&2; exit 1; }
cluster=$2 first=$3
provider=/usr/lib/galera/libgalera_smm.so
group=()
for node in 1 2 3; do
    group+=("127.0.0.1:$((first + 2 + node))")
done

client()
{
    mariadb "$@"
}

# The other nodes begin with no data.
server_make()
{
    if [ "$node" = 1 ]; then
        mariadb-install-db --no-defaults "--user=$(id -un)" "--datadir=$1" \
            --auth-root-authentication-method=normal --skip-test-db
    else
        mkdir "$1"
    fi
}

# The group's times stay what they are: a node that is killed is given up after five seconds, and the
# cluster stands still that long. With shorter ones a busy machine loses nodes that live.
server_start()
{
    local IFS=,
    local -a options=("base_port=${group[node - 1]#*:}" "gmcast.listen_addr=tcp://${group[node - 1]}"
        "ist.recv_addr=127.0.0.1:$((first + 5 + node))" gcache.size=32M)
    PATH=$here:$PATH setsid mariadbd "${settings[@]}" --innodb-buffer-pool-size=64M --wsrep-on=ON \
        "--wsrep-provider=$provider" "--wsrep-provider-options=$(printf '%s;' "${options[@]}")" \
        --wsrep-cluster-name=pawl "--wsrep-cluster-address=gcomm://${group[*]}" ${new_cluster:-} \
        "--wsrep-node-name=node$node" --wsrep-node-address=127.0.0.1 --wsrep-sst-method=copy \
        --binlog-format=ROW --innodb-autoinc-lock-mode=2 </dev/null >/dev/null 2>&1 &
}

# node VERB NUMBER
node()
{
    local node=$2
    (
        # shellcheck source=tests/servers/mysqld.sh
        . "$here/mysqld.sh" "$1" "$cluster/node$node" $((first + node - 1))
        run mariadb
    )
}

is_down()
{
    local folder
    for folder in /proc/[0-9]*/cwd; do
        case $(readlink "$folder") in "$cluster"/node[123]/data) return 1 ;; esac
    done
}

# The first node's data are the cluster's: whatever the others have may be of another history.
start()
{
    local number
    if is_down; then
        rm -rf "$cluster"/node[23]/data "$cluster"/node1/data/{grastate.dat,gvwstate.dat,galera.cache}
        new_cluster=--wsrep-new-cluster node start 1
    fi
    for number in "$@"; do
        node start "$number"
    done
}

# The first is the last to stop, so that it has all there is.
stop()
{
    local number
    for number in $(printf '%s\n' "$@" | sort -r); do
        node "$how" "$number"
    done
}

set -eu
verb=$1 how=stop nodes=(${4:-1 2 3})
mkdir -p "$cluster"
cluster=$(cd "$cluster" && pwd -P)
case $verb in
start) start "${nodes[@]}" ;;
stop) stop "${nodes[@]}" ;;
restart) stop "${nodes[@]}" && start "${nodes[@]}" ;;
crash) how=crash stop "${nodes[@]}" ;;
*) echo "$usage" >&2 && exit 1 ;;
esac >/dev/null
[[ $verb != *start ]] || echo "mariadb://root@127.0.0.1:$first,127.0.0.1:$((first + 1)),127.0.0.1:$((first + 2))/test"
