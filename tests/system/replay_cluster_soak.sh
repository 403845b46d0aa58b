#!/usr/bin/env bash
# replay_cluster_soak.sh - pawl-replay --transport through three RabbitMQ nodes with a quorum queue: the program is killed ten
# times, the node that it uses is killed, and later cut off from the others. On SQLite and on PostgreSQL. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"

need_sqlite
need_server rabbitmq
[ -e "$build_dir/libpawl-rabbitmq.so" ] || skip "the module for RabbitMQ is not built"
folder=$(mktemp -d /dev/shm/pawl-cluster-XXXXXX 2>/dev/null) || folder=$work/cluster
trouble=

cluster()
{
    local verb=$1
    shift
    bash "$source_dir/tests/servers/rabbitmq_cluster.sh" "$verb" "$folder" "$port" "$@"
}

end_cluster()
{
    [ -z "$trouble" ] || kill "$trouble" 2>/dev/null
    cluster crash >/dev/null 2>&1
    rm -rf "$folder"
    finish
}
trap end_cluster EXIT

tries=3
until port=$((20000 + (RANDOM * 12) % 12000)) && cluster start >"$work/said" 2>&1; do
    [ $((tries--)) -gt 0 ] || { cp "$work/said" "$work/err"; die "no cluster"; }
done
nodes=$(tail -n 1 "$work/said")

# killed N: the N-th child is dead.
killed()
{
    poll 600 grep -q "kill $1 of" "$work/err"
}

# Each for long enough that the program notices: its calls have an end of ten seconds.
make_trouble()
{
    killed 1 && cluster crash 1 && sleep 12 && cluster start 1 &&
        killed 4 && cluster part 1 && touch "$work/is_parted" && sleep 25 && cluster heal 1
}

through_trouble()
{
    : >"$work/err"
    rm -f "$work/is_parted"
    make_trouble >"$work/trouble" 2>&1 &
    trouble=$!
    verify "$@" --crash 10 --transport "$nodes"
    [ -e "$work/is_parted" ] || die "the replay ended before the node was cut off"
    wait "$trouble" || { cat "$work/trouble"; die "a node was not killed, or not cut off"; }
    trouble=
    nodes_are_whole()
    {
        [ "$(cluster control 2 cluster_status --formatter json 2>/dev/null | grep -o '"running_nodes":\[[^]]*\]' | grep -o pawl | wc -l)" = 3 ]
    }
    poll 60 nodes_are_whole || die "the nodes are not together again"
    [ -z "$(cluster control 2 list_queues name | grep replay_)" ] || die "a queue is left"
}

log=$(shared receipt.csv)
[ -n "$log" ] || without_shared "the example log is too short for two troubles in the middle"
counts=(8577 1434 1470 10 177 10)

echo "== on SQLite"
through_trouble "${counts[@]}" "$log"
echo "== on PostgreSQL"
need_psql
own_schema replay_cluster
through_trouble "${counts[@]}" "$log" --store "$store" --archive "$store"
echo "ok"
