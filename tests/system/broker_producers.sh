#!/usr/bin/env bash
# broker_producers.sh - the shipped producer in Python sends to queues that it does not make: of an endpoint that is ordered, and of one
# that was made by hand; and makes the one that is not there. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
need_server rabbitmq
/usr/bin/python3 -c 'import pika' 2>/dev/null || skip "python3-pika is not installed"
export PAWL_STORE=sqlite:$work/pair.db PAWL_DRIVER_PATH=$build_dir
build_app app_pair.c pair.so
expect 0 "" pawl schema apply
server=${PAWL_TEST_RABBITMQ%/}
queue=$(own_name producers)

# do_queue CALL: on the channel of a connection of its own.
do_queue()
{
    timeout 60 /usr/bin/python3 -c "
import sys, pika
pika.BlockingConnection(pika.URLParameters(sys.argv[1])).channel().$1" "$server/%2F" >"$work/said" 2>&1 ||
        { cp "$work/said" "$work/err"; die "$1"; }
}

remove_queues()
{
    do_queue "queue_delete('$queue')" 2>/dev/null
    finish
}
trap remove_queues EXIT

produce()
{
    timeout 60 /usr/bin/python3 "$source_dir/examples/interop/producer.py" "$server/%2F" "$queue" ping "$1" 10 \
        >"$work/out" 2>"$work/err" || die "the producer fails: $2"
}

produce 1 "no queue is there yet"
do_queue "queue_delete('$queue')"
echo "== of an ordered endpoint"
start ordered "$work/pair.so" --endpoint left --ordered header:key --transport "$server/#$queue"
is_declared()
{
    do_queue "queue_declare('$queue', passive=True)" 2>/dev/null
}
poll 20 grep -q "is running" "$work/ordered.log"
sleep 1
is_declared
produce 11 "the queue of an ordered endpoint"
poll 20 has_ready right 10 || die "$(queue_ready right) are handled: $(tail -n 2 "$work/ordered.log")"
stop "$pid" TERM 0
do_queue "queue_delete('$queue')"
echo "== made by hand"
do_queue "queue_declare('$queue', durable=True)"
produce 21 "a queue that was made by hand"
