#!/usr/bin/env bash
# broker_trouble.sh - an endpoint reads a queue of RabbitMQ over TLS: an authority that is not the server's is
# refused, the queue is deleted under the consumer, and RabbitMQ is short of memory for a while. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/pair.db PAWL_DRIVER_PATH=$build_dir
build_app app_pair.c pair.so
rabbit_begin
tls=amqps://guest:guest@localhost:$((rabbit_port + 3))/
expect 0 "" pawl schema apply

says()
{
    grep -q "$1" "$work/$2.log"
}

echo "== an authority that is not the server's"
mkdir -p "$work/tls"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$work/tls/key.pem" \
    -out "$work/tls/other.pem" >"$work/said" 2>&1 || die "no certificate"
start other "$work/pair.so" --endpoint left --transport "$tls?ssl-ca=$work/tls/other.pem"
poll 20 says "no connection: .*: is it the port of TLS, and does ssl-ca name its authority" other || die "the wrong authority is not told"
stop "$pid" TERM 0

echo "== over TLS"
start reader "$work/pair.so" --endpoint left --transport "$tls?ssl-ca=$rabbit_folder/tls/cert.pem#desk"
is_read()
{
    [ "$(rabbit_control list_queues name consumers | awk '$1 == "desk" { print $2 }')" = 1 ]
}
poll 20 is_read || die "the queue is not read: $(tail -n 2 "$work/reader.log")"

echo "== the queue is deleted under the consumer"
rabbit_control delete_queue desk >"$work/said" 2>&1 || die "the queue cannot be deleted"
poll 20 says "nothing is taken from queue desk of the broker: .* ended the consumer: the queue was deleted, or has moved" reader ||
    die "the log does not tell of the cancellation"
poll 20 is_read || die "the queue is not declared and read again"
poll 20 says "queue desk of the broker is read again" reader || die "the log does not tell the end"

echo "== RabbitMQ is short of memory"
rabbit_control set_vm_memory_high_watermark 0 >"$work/said" 2>&1 || die "no alarm"
sleep_until_alarm()
{
    rabbit_control status 2>/dev/null | grep -qi "memory alarm"
}
poll 20 sleep_until_alarm || die "no alarm: $(cat "$work/said")"
# What reads goes on while nobody may publish.
is_read || die "the reader has gone"
[ "$(grep -c "nothing is taken" "$work/reader.log")" = 1 ] || die "reading stopped with the alarm"
rabbit_control set_vm_memory_high_watermark 0.6 >"$work/said" 2>&1 || die "the alarm does not end"
is_read || die "the reader has gone with the end of the alarm"

stop "$pid" TERM 0
echo "ok"
