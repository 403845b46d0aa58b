#!/usr/bin/env bash
# replay_mongodb.sh - pawl-replay on MongoDB: the report is what it is on any store, also when in the middle the server
# loses answers of commits, ends transactions, or does not know what became of a commit.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
need_server mongodb
server=$PAWL_TEST_MONGODB

# gateway FAULT ...: another door to the same data, at a port of its own, whose commands fail so; $store is its URL.
gateway()
{
    local faults=() fault port engine tries=0
    for fault in "$@"; do
        faults+=(--fail "$fault")
    done
    engine=$(sed -E 's#^mongodb://[^/?]*:([0-9]+).*#\1#' <<<"$server")
    [ -z "${gateway_pid:-}" ] || kill "$gateway_pid"
    until port=$((20000 + RANDOM % 12000)) && start_gateway "$port" "$engine" "${faults[@]}"; do
        [ $((tries++)) -lt 20 ] || die "no gateway starts: $(tail -n 3 "$work/gateway")"
    done
    store="mongodb://127.0.0.1:$port/replay_mongodb?replicaSet=rs0"
}

# start_gateway PORT ENGINE OPTION ...: false when the port is taken. Another program may answer at it: the gateway says
# itself that it listens.
start_gateway()
{
    local port=$1 engine=$2
    shift 2
    rm -f "$work/gateway" # the one before says "listening" too
    /usr/bin/python3 "$source_dir/tests/servers/mongodb_gateway.py" --transaction-seconds 5 "$@" "replica:$port" \
        "host=127.0.0.1 port=$((engine + 1)) user=postgres dbname=postgres" >"$work/gateway" 2>&1 &
    gateway_pid=$!
    started+=("$gateway_pid")
    poll 20 listens_or_ended && kill -0 "$gateway_pid" 2>/dev/null
}

listens_or_ended()
{
    grep -qsx listening "$work/gateway" || ! kill -0 "$gateway_pid" 2>/dev/null
}

# struck COUNT: so many faults came.
struck()
{
    local found
    found=$(grep -c '^fault: ' "$work/gateway")
    [ "$found" = "$1" ] || die "$found faults came instead of $1: $(cat "$work/gateway")"
}

# Without the rate, and without the messages handled, which depend on how the batches fall.
report()
{
    sed -E 's/"messages(_per_s)?":[0-9]+,//g' "$work/out"
}

# same_report: as without a fault.
same_report()
{
    diff <(report) "$work/undisturbed" >&2 || die "another report than without a fault"
}

example_on()
{
    verify 2331 300 327 9 51 "$1" "$example" --batch-messages 64 --store "$store" --archive "$store" "${@:2}"
}

echo "== undisturbed"
gateway
example_on 0
[ ! -s "$work/err" ] || die "something on standard error"
report >"$work/undisturbed"
struck 0

echo "== answers of commits are lost, and a commit"
gateway commitTransaction:lost:20 commitTransaction:lost:30 commitTransaction:cut:30
example_on 0
same_report
struck 3

echo "== transactions end with a transient error"
gateway insert:transient:30 update:transient:40 delete:transient:10 commitTransaction:transient:25
example_on 0
same_report
struck 4

echo "== the results of commits are unknown"
gateway commitTransaction:unknown:20 commitTransaction:unknown:20 commitTransaction:unknown:20 \
    commitTransaction:unknown:30
example_on 0
same_report
struck 4
