#!/usr/bin/env bash
# broker_trouble.sh - an endpoint reads a queue of RabbitMQ over TLS: an authority that is not the server's is
# refused, which doctor tells, the queue is deleted under the consumer, and RabbitMQ is short of memory for a while. E27, O23.
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
says_alarm()
{
    pawl doctor --json 2>/dev/null |
        grep -q '"check":"alarms","level":"warn","text":"endpoint left takes nothing from its broker, since .*no connection: '
}
poll 40 says_alarm || die "doctor does not tell of it: $(pawl doctor)"
stop "$pid" TERM 0

echo "== over TLS"
start reader "$work/pair.so" --endpoint left --transport "$tls?ssl-ca=$rabbit_folder/tls/cert.pem#desk"
is_read()
{
    [ "$(rabbit_queues | awk '$1 == "desk" { print $3 }')" = 1 ]
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
    rabbit_eval 'io:format("~w~n", [rabbit_alarm:get_alarms()])' | grep -q "resource_limit,memory"
}
poll 20 sleep_until_alarm || die "no alarm: $(cat "$work/said")"
# What reads goes on while nobody may publish.
is_read || die "the reader has gone"
[ "$(grep -c "nothing is taken" "$work/reader.log")" = 1 ] || die "reading stopped with the alarm"
# A publisher waits, says so once for each attempt, each later than the one before, and goes on by itself.
reader=$pid
start writer "$work/pair.so" --store "sqlite:$work/writer.db" --endpoint left --outbox-delay 2s \
    --route "right=$rabbit_url/?timeout=1#right"
expect 0 '' pawl send --store "sqlite:$work/writer.db" --to left --type ping --id held --body '{"n":1}'
poll 30 says "takes no messages for now (connection.blocked), it is low on memory" writer || die "the log does not tell of the alarm"
sleep 3
[ "$(grep -cE ' (warning|error) ' "$work/writer.log")" -le 3 ] || die "errors in a loop: $(cat "$work/writer.log")"
pawl outbox list --store "sqlite:$work/writer.db" --json --state pending,blocked >"$work/out" && lines 1
rabbit_control set_vm_memory_high_watermark 0.6 >"$work/said" 2>&1 || die "the alarm does not end"
is_read || die "the reader has gone with the end of the alarm"
is_sent()
{
    pawl outbox list --store "sqlite:$work/writer.db" --json --state dispatched 2>/dev/null | grep -q '"right"'
}
poll 20 is_sent || die "the outbox does not go on: $(tail -n 2 "$work/writer.log")"
stop "$pid" TERM 0
pid=$reader

stop "$pid" TERM 0
echo "ok"
