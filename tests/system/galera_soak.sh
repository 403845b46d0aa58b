#!/usr/bin/env bash
# galera_soak.sh - pawl on a Galera cluster of its own, of three nodes: a log that is replayed while
# its node is killed, stopped, or stands still, and the contract suite.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
need_server galera
command -v mariadb >/dev/null || skip "no client to talk to the nodes with"

servers=$(mktemp -d /tmp/pawl-servers-XXXXXX)
# free_ports: the first of nine.
free_ports()
{
    local port next
    while port=$((20000 + RANDOM % 12000)); do
        for next in {0..8}; do
            ! (exec 3<>"/dev/tcp/127.0.0.1/$((port + next))") 2>/dev/null || continue 2
        done
        echo $port
        return
    done
}
port=$(free_ports)
# server VERB [NODE]
server()
{
    "$source_dir/tests/servers/galera.sh" "$1" "$servers" "$port" "${@:2}" >"$work/server" 2>&1
}
signal_node() # NODE SIGNAL
{
    local folder
    for folder in /proc/[0-9]*; do
        [ ! "$folder/cwd" -ef "$servers/node$1/data" ] || kill "-$2" "${folder#/proc/}"
    done
}
finish_servers()
{
    signal_node 1 CONT # a node that stands still hears no other signal
    server crash
    rm -rf "$servers"
    finish
}
trap finish_servers EXIT
server start || die "no cluster: $(cat "$work/server")"
url=$(cat "$work/server")

log=$(shared receipt.csv)
counts=(8577 1434 1470 10 177)
if [ -z "$log" ]; then
    log=$example
    counts=(2331 300 327 9 51)
fi

# Longer than the group waits for it, so that the others go on without it.
kill_node()
{
    server crash 1
    sleep 8
    server start 1
}
stop_node()
{
    server restart 1
}
# Long enough to be cut off. It comes back by itself.
stand_still()
{
    signal_node 1 STOP
    sleep 12
    signal_node 1 CONT
}

# during COMMAND SECONDS KILLS ARGUMENT ...: a replay that has to be verified.
during()
{
    echo "== $1, $3 kills"
    (sleep "$2" && "$1") &
    local trouble=$! kills=$3
    shift 3
    verify "${counts[@]}" "$kills" "$log" --store "$url" "$@"
    cat "$work/out"
    kill -0 "$trouble" 2>/dev/null || [ "$kills" != 0 ] || grep -q 'trying again$' "$work/err" ||
        die "it never met the trouble"
    wait "$trouble" || die "the node does not come back: $(cat "$work/server")"
}

echo "== quiet"
verify "${counts[@]}" 0 "$log" --store "$url"
cat "$work/out"
during kill_node 5 0 --batch-messages 64
during stop_node 5 0 --batch-messages 64
during stand_still 5 0 --batch-messages 64
during kill_node 5 4 --batch-messages 64 --crash 4

echo "== conformance"
pawl conformance --store "$url" >"$work/out" 2>&1 || die "$(grep -A1 ^FAIL "$work/out")"
tail -n 1 "$work/out"
left=$(mariadb --no-defaults -h 127.0.0.1 -P "$port" -u root -N -B \
    -e "select count(*) from information_schema.tables where table_schema = 'test'")
[ "$left" = 0 ] || die "$left tables were left"
