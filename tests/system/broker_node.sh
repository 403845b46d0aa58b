#!/usr/bin/env bash
# broker_node.sh - programs in Node exchange messages with an endpoint through RabbitMQ, in both directions: what they send is
# understood by its properties, or by the headers of NServiceBus and ServiceConnect, and these are written on the way out. E28.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
need_server rabbitmq
[ -e "$build_dir/libpawl-rabbitmq.so" ] || skip "the module for RabbitMQ is not built"
# Node 20 and its packages are not apt's: without them the test is left out, whatever PAWL_REQUIRE says.
leave_out()
{
    PAWL_REQUIRE='' skip "$@"
}
command -v node >/dev/null && command -v npm >/dev/null || leave_out "no node and npm to run programs with"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || leave_out "node is older than 20"
npm ping >"$work/npm" 2>&1 || leave_out "the npm registry cannot be reached: $(tail -n 1 "$work/npm")"
mkdir "$work/interop"
cp "$source_dir"/examples/interop/*.mjs "$source_dir"/examples/interop/package*.json "$work/interop"
(cd "$work/interop" && npm ci --no-audit --no-fund >"$work/npm" 2>&1) || leave_out "npm ci: $(tail -n 1 "$work/npm")"

export PAWL_STORE=sqlite:$work/pair.db PAWL_DRIVER_PATH=$build_dir
build_app app_pair.c pair.so
server=${PAWL_TEST_RABBITMQ%/}
in=$(own_name node_in) out=$(own_name node_out)
remove_queues()
{
    (cd "$work/interop" && node --input-type=module - "$server/%2F" "$in" "$out") <<'END' >"$work/said" 2>&1
import amqp from "amqplib";
const [url, ...queues] = process.argv.slice(2);
const connection = await amqp.connect(url);
const channel = await connection.createChannel();
for (const queue of queues) await channel.deleteQueue(queue);
await connection.close();
END
    finish
}
trap remove_queues EXIT

produce()
{
    node "$work/interop/producer.mjs" "$server/%2F" "$in" ping "$@" >"$work/said" 2>&1 ||
        { cp "$work/said" "$work/err"; die "nothing is produced: $*"; }
}
# consume COUNT: lines in $work/read, by the numbers of the messages.
consume()
{
    node "$work/interop/consumer.mjs" "$server/%2F" "$out" "$1" >"$work/read" 2>"$work/err" || die "$1 are not consumed"
}
# reads TEXT COUNT
reads()
{
    [ "$(grep -cF "$1" "$work/read")" = "$2" ] || { cp "$work/read" "$work/err"; die "not $2 lines with $1"; }
}
numbers()
{
    grep -oE '"n":[0-9]+' "$work/read" | cut -d: -f2 | sort -n | tr '\n' ' '
}

echo "== in by properties, out with the headers of NServiceBus"
expect 0 "" pawl schema apply
start desk "$work/pair.so" --endpoint left --transport "$server/#$in" --route "right=$server/?headers=nservicebus#$out"
produce 1 5
consume 5
[ "$(numbers)" = "1 2 3 4 5 " ] || die "other messages: $(numbers)"
reads '"type":"pong","correlation_id":"example","content_type":"application/json","persistent":true' 5
reads '"NServiceBus.EnclosedMessageTypes":"pong"' 5
reads '"NServiceBus.ConversationId":"example"' 5
reads '"NServiceBus.RelatedTo":"ping-3"' 1
stop "$pid" TERM 0

echo "== in by the headers of both, out with those of ServiceConnect"
start desk "$work/pair.so" --endpoint left --transport "$server/#$in" --route "right=$server/?headers=serviceconnect#$out"
produce 6 3 nservicebus
produce 9 3 serviceconnect
produce 9 3 serviceconnect # again, under the same ids
consume 6
[ "$(numbers)" = "6 7 8 9 10 11 " ] || die "other messages: $(numbers)"
reads '"correlation_id":"example"' 6
reads '"FullTypeName":"pong"' 6
reads '"CorrelationId":"example"' 6
reads '"pawl.causation_id":"ping-11"' 1
produce 12 1 # behind the copies, which are dropped
consume 1
[ "$(numbers)" = "12 " ] || die "other messages: $(numbers)"
stop "$pid" TERM 0
has messages 12 || die "$(number messages) messages are handled"
has dead 0 || die "there are dead letters"
