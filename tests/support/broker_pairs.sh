# broker_pairs.sh - what tests share in which several processes read one queue of RabbitMQ, where replies come right behind the
# messages that begin their sagas. Sourced, behind rabbit.sh.
#
#   pairs_begin              the application, its producer, and a RabbitMQ of the test's own
#   pairs_start NAME         two processes on $PAWL_STORE, which read the queue NAME
#   pairs_run COUNT GAP      COUNT pairs, replies GAP ms behind: each reply is handled
#   pairs_run COUNT GAP cut TIMES       the same, and the connections of both processes are cut so often meanwhile
#   pairs_run COUNT GAP replace SIGNAL  the same, and one process ends by the signal, and another one begins
#   pairs_end                both processes end, and the log tells of no reply that was dropped
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
pairs_begin()
{
    /usr/bin/python3 -c 'import pika' 2>/dev/null || skip "python3-pika is not installed"
    export PAWL_DRIVER_PATH=$build_dir
    build_app app_answers.c answers.so
    rabbit_begin
}

# Sends the pairs one behind the other, and what is not confirmed again.
pairs_produce() # FIRST COUNT GAP
{
    timeout 900 /usr/bin/python3 - "$rabbit_url/%2F" "$pairs_queue" "$@" >>"$work/produced" 2>&1 <<'PY'
import sys
import time

import pika

url, queue = sys.argv[1:3]
first, count, gap = int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]) / 1000
channel = None


def send(kind, number):
    global channel
    while True:
        try:
            if channel is None:
                channel = pika.BlockingConnection(pika.URLParameters(url)).channel()
                channel.confirm_delivery()
            properties = pika.BasicProperties(message_id=f"{kind}-{number}", type=kind, delivery_mode=2)
            channel.basic_publish("", queue, f'{{"n": {number}}}'.encode(), properties, mandatory=True)
            return
        except pika.exceptions.AMQPError as failure:
            print(kind, number, repr(failure))
            channel = None
            time.sleep(0.1)


for number in range(first, first + count):
    send("begun", number)
    time.sleep(gap)
    send("answered", number)
PY
}

# Cuts the connections of endpoints.
pairs_cut() # TIMES
{
    rabbit_eval "
[begin
     timer:sleep(500),
     [catch rabbit_networking:close_connection(rabbit_misc:pget(pid, I), \"cut by a test\") ||
         I <- rabbit_networking:connection_info_all([pid, client_properties]),
         {<<\"connection_name\">>, longstr, <<\"pawl inbound\">>} <- rabbit_misc:pget(client_properties, I)]
 end || _ <- lists:seq(1, $1)]" >"$work/cut" 2>&1 || { cp "$work/cut" "$work/err"; die "no connection is cut"; }
}

pairs_are_read()
{
    [ "$(rabbit_queues | awk -v name="$pairs_queue" '$1 == name { print $3 }')" = 2 ]
}

pairs_begin_process()
{
    start "$pairs_queue-$((++pairs_processes))" "$work/answers.so" --transport "$rabbit_url/#$pairs_queue"
}

pairs_start()
{
    pairs_queue=$1 pairs_sent=0 pairs_processes=0
    expect 0 "" pawl schema apply --app "$work/answers.so"
    pairs_begin_process
    pairs_first=$pid
    pairs_begin_process
    poll 20 pairs_are_read || die "no two processes read the queue"
}

# The older process ends in the middle, and a newer one begins.
pairs_replace() # SIGNAL
{
    local codes=([9]=137 [15]=0) other=$pid
    sleep 0.3
    kill "-$1" "$pairs_first"
    poll 30 is_gone "$pairs_first" || die "a process does not end"
    wait "$pairs_first" 2>/dev/null
    [ $? = "${codes[$1]}" ] || die "it ends with another code"
    pairs_begin_process
    pairs_first=$other
}

# All are handled, or one is lost.
pairs_are_done()
{
    has_ready finished "$pairs_sent" || grep -q "dropped: no" "$work/$pairs_queue"-[12].log
}

pairs_run()
{
    local count=$1 gap=$2 producer
    echo "== $pairs_queue: $*"
    pairs_produce $((pairs_sent + 1)) "$count" "$gap" &
    producer=$!
    rabbit_users+=("$producer")
    pairs_sent=$((pairs_sent + count))
    shift 2
    [ $# = 0 ] || "pairs_$@"
    wait "$producer" || { cp "$work/produced" "$work/err"; die "not all are sent"; }
    poll 60 pairs_are_done && has_ready finished "$pairs_sent" || {
        cat "$work/$pairs_queue"-[12].log | tail -n 20 >"$work/err"
        die "$(queue_ready finished) of $pairs_sent replies are handled, and $(queue_ready asking) wait"
    }
}

pairs_end()
{
    stop "$pairs_first" TERM 0
    stop "$pid" TERM 0
    ! grep -h "dropped: no" "$work/$pairs_queue"-[12].log >"$work/err" || die "replies are lost"
}
