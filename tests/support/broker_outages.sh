# broker_outages.sh - what tests share that take the store, or RabbitMQ, away from an endpoint in the middle of many messages. Sourced,
# behind rabbit.sh.
#
#   outages_begin       the application, its tables in $PAWL_STORE
#   outages_send COUNT  in the background, from several producers, until all are confirmed
#   outages_at COUNT    waits until so many are handled
#   outages_tell WHAT   waits until the log says that nothing is taken, and of WHAT
#   outages_verify N    each of N messages is handled once, RabbitMQ and the queue are empty, the log is short
#
# An outage is told by `outages_handled`, which the test defines: the numbers of the messages that were handled, a line each.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
outages_queue=left

outages_begin()
{
    /usr/bin/python3 -c 'import pika' 2>/dev/null || skip "python3-pika is not installed"
    export PAWL_DRIVER_PATH=$build_dir
    build_app app_pair.c pair.so
    expect 0 "" pawl schema apply
}

# produce FIRST COUNT: some at a time, until they are confirmed, again under the same ids.
produce()
{
    local first=$1 last=$(($1 + $2)) size=250
    for (( ; first < last; first += size)); do
        until timeout 120 /usr/bin/python3 "$source_dir/examples/interop/producer.py" "$rabbit_url/%2F" \
            "$outages_queue" ping "$first" $size >>"$work/produced" 2>&1; do
            sleep 1 # RabbitMQ is away, and needs the machine to come back
        done
    done
}

outages_send()
{
    local count=$1 part=$(($1 / 4)) i
    for ((i = 0; i < count; i += part)); do
        produce $((i + 1)) $part &
        rabbit_users+=($!)
    done
}

has_handled()
{
    local handled
    handled=$(outages_handled 2>/dev/null | wc -l)
    [ "${handled:-0}" -ge "$1" ]
}

outages_at()
{
    poll 120 has_handled "$1" ||
        { cp "$work/desk.log" "$work/err"; die "$1 are not handled: $(outages_handled | wc -l)"; }
}

outages_tell()
{
    poll 60 grep -qE "nothing is taken from queue $outages_queue of the broker: .*$1" "$work/desk.log" ||
        { cp "$work/desk.log" "$work/err"; die "the log does not tell of $1"; }
}

outages_verify()
{
    local count=$1 lines
    outages_at "$count"
    wait "${rabbit_users[@]}"
    poll 60 grep -q "queue $outages_queue of the broker is read again" "$work/desk.log" || die "the log does not tell the end"
    stop "$pid" TERM 0
    outages_handled | sort -n >"$work/handled"
    seq "$count" | diff - "$work/handled" >"$work/err" || die "not each once"
    lines=$(wc -l <"$work/desk.log")
    [ "$lines" -lt 100 ] || { cp "$work/desk.log" "$work/err"; die "$lines lines of the log"; }
    echo "$count messages handled once; $lines lines of the log"
}
